package codec

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// Limits of files, in Hz and samples: 4 Mi samples are a minute and a half at 44.1 kHz.
const (
	MinRate    = 8000
	MaxRate    = 48000
	MaxSamples = 4 << 20
)

// HeaderBytes is the size of a file's header.
const HeaderBytes = 20

const (
	magic            = "SSND"
	version          = 1
	leastHop, topHop = 6, 12 // binary logarithms
)

// A Header is the begin of a file.
type Header struct {
	Rate    int // Hz
	Samples int
	Hop     int // samples of a frame
	Bytes   int // after the header
	sum     uint32
}

// ParseHeader reads a header and checks it. Errors are one line.
func ParseHeader(b *[HeaderBytes]byte) (Header, error) {
	h := Header{
		Rate:    int(binary.BigEndian.Uint16(b[6:])),
		Samples: int(min(binary.BigEndian.Uint32(b[8:]), 1<<31-1)),
		Bytes:   int(min(binary.BigEndian.Uint32(b[12:]), 1<<31-1)),
		sum:     binary.BigEndian.Uint32(b[16:]),
	}
	switch {
	case string(b[:4]) != magic:
		return h, fmt.Errorf("it begins with %q; a sound begins with %q", b[:4], magic)
	case b[4] != version:
		return h, fmt.Errorf("version %d; allowed is %d", b[4], version)
	case b[5] < leastHop || b[5] > topHop:
		return h, fmt.Errorf("frames of 2^%d samples; allowed are 2^%d to 2^%d", b[5], leastHop, topHop)
	case h.Rate < MinRate || h.Rate > MaxRate:
		return h, fmt.Errorf("%d Hz; allowed are %d to %d", h.Rate, MinRate, MaxRate)
	case h.Samples < 1 || h.Samples > MaxSamples:
		return h, fmt.Errorf("%d samples; allowed are 1 to %d", h.Samples, MaxSamples)
	case h.Bytes > 4*h.Samples+1<<16:
		return h, fmt.Errorf("%d bytes for %d samples; allowed are up to %d", h.Bytes, h.Samples, 4*h.Samples+1<<16)
	}
	h.Hop = 1 << b[5]
	return h, nil
}

// check compares data with the header's size and sum.
func (h *Header) check(data []byte) error {
	if len(data) != h.Bytes {
		return fmt.Errorf("%d bytes after the header; the header says %d", len(data), h.Bytes)
	}
	if sum := crc32.ChecksumIEEE(data); sum != h.sum {
		return fmt.Errorf("the checksum is %08x; the header says %08x", sum, h.sum)
	}
	return nil
}

func (h *Header) append(dst []byte) []byte {
	log := byte(0)
	for 1<<log < h.Hop {
		log++
	}
	dst = append(dst, magic...)
	dst = append(dst, version, log)
	dst = binary.BigEndian.AppendUint16(dst, uint16(h.Rate))
	dst = binary.BigEndian.AppendUint32(dst, uint32(h.Samples))
	dst = binary.BigEndian.AppendUint32(dst, uint32(h.Bytes))
	return binary.BigEndian.AppendUint32(dst, h.sum)
}

// frames returns the number of frames: they overlap by half, and the first begins one hop early.
func (h *Header) frames() int { return (h.Samples+h.Hop-1)/h.Hop + 1 }
