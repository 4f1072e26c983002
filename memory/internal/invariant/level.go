// Package invariant is the one dial for checks at build time.
//
//	-tags memfast   Fast     the live bit of slab and pool is dropped
//	(default)       Default  every check of SAFETY's default column
//	-tags memdebug  Debug    also fill patterns, owner words, self checks; implied by -race
//
// Level is a constant: code behind `if invariant.Debug` costs nothing when it is off, also
// in the inliner's budget.
package invariant

import (
	"bytes"
	"unsafe"
)

const (
	// Exact is false only in memfast builds: double frees of slab and pool go unseen.
	Exact = Level >= 1
	// Debug is true in memdebug and race builds.
	Debug = Level >= 2
)

// Fill patterns, as in other debug heaps so that a dump is recognised at sight.
const (
	FreshByte = 0xCD // handed out, not yet written
	FreedByte = 0xDD // given back
)

// Fresh fills a block that is about to be handed out, in debug builds.
func Fresh(p unsafe.Pointer, size uintptr) {
	if Debug {
		fill(p, size, FreshByte)
	}
}

// Freed fills a block that was given back, in debug builds.
func Freed(p unsafe.Pointer, size uintptr) {
	if Debug {
		fill(p, size, FreedByte)
	}
}

// Intact reports whether a block that is about to be handed out again still holds what Freed
// wrote, and where it does not, the first offset that was written since; in debug builds.
func Intact(p unsafe.Pointer, size uintptr) (off uintptr, ok bool) {
	if !Debug || size == 0 {
		return 0, true
	}
	s := unsafe.Slice((*byte)(p), size)
	if s[0] == FreedByte && bytes.Equal(s[1:], s[:len(s)-1]) { // each byte is the one before it
		return 0, true
	}
	for s[off] == FreedByte {
		off++
	}
	return off, false
}

// fill doubles what it has written, so that the race detector sees a few ranges and not every
// byte: a frame's buffers are filled each frame.
func fill(p unsafe.Pointer, size uintptr, b byte) {
	if size == 0 {
		return
	}
	s := unsafe.Slice((*byte)(p), size)
	s[0] = b
	for n := 1; n < len(s); n *= 2 {
		copy(s[n:], s[:n])
	}
}
