package sound

import (
	"errors"
	"fmt"
	"io"
)

// Limits of files, in frames a second and bytes. They are those of FLAC's streamable subset or, if it has none, what
// the game needs: 8 MiB are a minute and a half of mono at 44.1 kHz.
const (
	MinRate  = 8000
	MaxRate  = 48000
	MaxBytes = 8 << 20 // of samples, once decoded
	maxBlock = 4608    // frames in a FLAC frame: the step of a decoder
	minBlock = 16
)

// ErrFormat reports that a file or clip cannot be played. Errors that wrap it have the reason.
var ErrFormat = errors.New("sound: not a file that can be played")

// format is the part of FLAC's STREAMINFO that matters.
type format struct {
	rate, channels int
	block          int // the most frames in a FLAC frame
	frames         int
}

// headerBytes is the signature, a block header, and STREAMINFO.
const headerBytes = 4 + 4 + 34

// readHeader reads the first headerBytes of r and checks them before anything is allocated.
func readHeader(r io.Reader, head *[headerBytes]byte) (format, error) {
	if _, err := io.ReadFull(r, head[:]); err != nil {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return format{}, fmt.Errorf("%w: the file ends inside its header of %d bytes", ErrFormat, headerBytes)
		}
		return format{}, err
	}
	return parseHeader(head)
}

func parseHeader(h *[headerBytes]byte) (format, error) {
	if string(h[:4]) != "fLaC" {
		return format{}, fmt.Errorf("%w: it begins with %q; a FLAC file begins with \"fLaC\"", ErrFormat, h[:4])
	}
	if h[4]&0x7f != 0 || int(h[5])<<16|int(h[6])<<8|int(h[7]) != 34 {
		return format{}, fmt.Errorf("%w: the first metadata block is of type %d; it must be STREAMINFO of 34 bytes", ErrFormat, h[4]&0x7f)
	}
	b := h[8:]
	least, most := int(b[0])<<8|int(b[1]), int(b[2])<<8|int(b[3])
	f := format{
		rate:     int(b[10])<<12 | int(b[11])<<4 | int(b[12])>>4,
		channels: int(b[12]>>1&7) + 1,
		block:    most,
	}
	bits := int(b[12]&1)<<4 | int(b[13])>>4 + 1
	frames := uint64(b[13]&15)<<32 | uint64(b[14])<<24 | uint64(b[15])<<16 | uint64(b[16])<<8 | uint64(b[17])
	switch {
	case f.channels > 2:
		return f, fmt.Errorf("%w: %d channels; allowed are 1 and 2", ErrFormat, f.channels)
	case f.rate < MinRate || f.rate > MaxRate:
		return f, fmt.Errorf("%w: %d Hz; allowed are %d to %d", ErrFormat, f.rate, MinRate, MaxRate)
	case bits != 16:
		return f, fmt.Errorf("%w: %d bits a sample; allowed are 16", ErrFormat, bits)
	case least < minBlock || most < least || most > maxBlock:
		return f, fmt.Errorf("%w: blocks of %d to %d frames; allowed are %d to %d", ErrFormat, least, most, minBlock, maxBlock)
	case frames == 0:
		return f, fmt.Errorf("%w: the header has no number of frames; it must have one", ErrFormat)
	case frames > MaxBytes/2/uint64(f.channels):
		return f, fmt.Errorf("%w: %d frames of %d channels; allowed are %d bytes of samples", ErrFormat, frames, f.channels, MaxBytes)
	}
	f.frames = int(frames)
	return f, nil
}

// fileBytes bounds what is read for a file of this format: the uncompressed samples, the headers of frames, and 64
// KiB for unused metadata.
func (f format) fileBytes() int64 {
	return int64(f.frames)*int64(f.channels)*2 + int64(f.frames/minBlock+1)*24 + 64<<10
}
