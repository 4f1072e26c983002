package stream

import (
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"io"
)

// A Picture is a PNG as Deliver gets it. What Get gives has its size only.
type Picture struct {
	Width, Height int    // in pixels, both at least 1
	Pixels        []byte // premultiplied RGBA, 4*Width*Height bytes, row by row from the top
}

// Pictures is the kind of the PNGs that a game draws: upload hands the pixels to the GPU, on the
// game goroutine, and they are gone when it returns. drop, if not nil, is called when the
// picture goes, see Kind.Release.
func Pictures(upload func(name string, p Picture) error, drop func(name string)) Kind[Picture] {
	k := Kind[Picture]{
		Name: "picture", Decode: decodePicture,
		Deliver: func(name string, p, _ *Picture) error {
			err := upload(name, *p)
			if !errors.Is(err, ErrMore) {
				p.Pixels = nil
			}
			return err
		},
	}
	if drop != nil {
		k.Release = func(name string, _ *Picture) { drop(name) }
	}
	return k
}

// decodePicture decodes a PNG. Its size is checked before anything is allocated in proportion
// to it.
func decodePicture(r *Reader, heap *Heap) (Picture, error) {
	w, h, err := pictureSize(r)
	if err != nil {
		return Picture{}, err
	}
	if most := r.w.s.cfg.MaxBytes; w < 1 || h < 1 || int64(h) > most/4/int64(w) {
		return Picture{}, fmt.Errorf("%w: picture of %d x %d pixels, allowed are Config.MaxBytes = %d bytes of pixels", ErrTooLarge, w, h, most)
	}
	pixels, err := heap.Bytes(4 * w * h)
	if err != nil {
		return Picture{}, err
	}
	img, err := png.Decode(r)
	if err != nil && r.left == 0 && len(r.buf) == 0 { // png may call it "not enough pixel data"
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return Picture{}, whole(err)
	}
	// draw knows a fast way from each kind of picture that png returns, and premultiplies.
	dst := &image.RGBA{Pix: pixels, Stride: 4 * w, Rect: image.Rect(0, 0, w, h)}
	draw.Draw(dst, dst.Rect, img, img.Bounds().Min, draw.Src)
	return Picture{w, h, pixels}, nil
}

// pictureSize reads the size out of the header.
func pictureSize(r *Reader) (w, h int, err error) {
	head, err := r.Peek(24)
	if err != nil {
		return 0, 0, whole(err)
	}
	if string(head[:8]) != "\x89PNG\r\n\x1a\n" || string(head[12:16]) != "IHDR" {
		return 0, 0, png.FormatError("not a PNG file")
	}
	w, h = int(int32(binary.BigEndian.Uint32(head[16:]))), int(int32(binary.BigEndian.Uint32(head[20:])))
	return w, h, nil
}

// whole says of a picture that ended early that it did.
func whole(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return fmt.Errorf("the picture is truncated: %w", io.ErrUnexpectedEOF)
	}
	return err
}
