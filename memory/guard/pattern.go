package guard

import (
	"bytes"

	"github.com/strata-go/strata/memory/internal/invariant"
)

// canaryByte differs from both fill patterns and from 0; as a character, a pointer's top byte
// or a small number it is rare.
const canaryByte = 0xFD

// A pattern is a page of one byte, to copy from and compare with at the speed of both.
type pattern [4096]byte

var (
	freshPage  = patternOf(invariant.FreshByte)
	freedPage  = patternOf(invariant.FreedByte)
	canaryPage = patternOf(canaryByte)
)

func patternOf(b byte) (p pattern) {
	for i := range p {
		p[i] = b
	}
	return p
}

// fill overwrites b with the pattern.
func fill(b []byte, p *pattern) {
	for len(b) > 0 {
		b = b[copy(b, p[:]):]
	}
}

// mismatch returns the index of the first byte of b that is not the pattern's, or -1.
func mismatch(b []byte, p *pattern) int {
	for off := 0; off < len(b); off += len(p) {
		part := b[off:min(off+len(p), len(b))]
		if bytes.Equal(part, p[:len(part)]) {
			continue
		}
		for i, c := range part {
			if c != p[0] {
				return off + i
			}
		}
	}
	return -1
}
