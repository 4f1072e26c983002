package main

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"image"
)

// encode returns the smallest PNG file of those with one filter for all rows. The filter that image/png picks for each
// row makes files that are an eighth larger. The alpha channel is kept in an opaque picture, so that every file decodes
// to the same type.
func encode(img *image.NRGBA) ([]byte, error) {
	var best []byte
	for filter := range 5 {
		var packed bytes.Buffer
		z, err := zlib.NewWriterLevel(&packed, zlib.BestCompression)
		if err != nil {
			return nil, err
		}
		size := 4 * img.Rect.Dx()
		row, above := make([]byte, 1+size), make([]byte, size)
		for y := range img.Rect.Dy() {
			pix := img.Pix[y*img.Stride:][:size]
			row[0] = byte(filter)
			for i, v := range pix {
				var left, corner byte
				if i >= 4 {
					left, corner = pix[i-4], above[i-4]
				}
				row[1+i] = v - [...]byte{0, left, above[i], byte((int(left) + int(above[i])) / 2), paeth(left, above[i], corner)}[filter]
			}
			if _, err := z.Write(row); err != nil {
				return nil, err
			}
			above = pix
		}
		if err := z.Close(); err != nil {
			return nil, err
		}
		if best == nil || packed.Len() < len(best) {
			best = packed.Bytes()
		}
	}
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(img.Rect.Dx())), uint32(img.Rect.Dy()))
	file := []byte("\x89PNG\r\n\x1a\n")
	file = chunk(file, "IHDR", append(head, 8, 6, 0, 0, 0)) // 8 bits, colours with alpha
	file = chunk(file, "IDAT", best)
	return chunk(file, "IEND", nil), nil
}

func chunk(file []byte, name string, data []byte) []byte {
	file = binary.BigEndian.AppendUint32(file, uint32(len(data)))
	at := len(file)
	file = append(append(file, name...), data...)
	return binary.BigEndian.AppendUint32(file, crc32.ChecksumIEEE(file[at:]))
}

// paeth is PNG's filter of this name.
func paeth(left, above, corner byte) byte {
	a, b := int(above)-int(corner), int(left)-int(corner)
	switch c := a + b; {
	case abs(a) <= abs(b) && abs(a) <= abs(c):
		return left
	case abs(b) <= abs(c):
		return above
	}
	return corner
}
