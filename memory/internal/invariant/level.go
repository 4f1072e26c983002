// Package invariant selects the checks of a build.
//
//	-tags memfast   Fast     without the live bit of slab, pool and arena.Region
//	(default)       Default  all checks of an ordinary build
//	-tags memdebug  Debug    also fill patterns, owner words and self checks; implied by -race
//
// Level is a constant: code behind `if invariant.Debug` costs nothing in other builds and does not count
// in the inliner's budget.
package invariant

import (
	"bytes"
	"unsafe"
)

const (
	// Exact is false in memfast builds only: slab, pool and arena.Region miss some double frees there.
	Exact = Level >= 1
	// Debug is true in memdebug and race builds.
	Debug = Level >= 2
)

// Fill patterns. Other debug heaps use the same, so a reader of a dump recognizes them.
const (
	FreshByte = 0xCD // allocated and not yet written
	FreedByte = 0xDD // freed
)

// Fresh fills the size bytes at p with FreshByte in debug builds, before the block is returned by Alloc.
func Fresh(p unsafe.Pointer, size uintptr) {
	if Debug {
		fill(p, size, FreshByte)
	}
}

// Freed fills the size bytes at p with FreedByte in debug builds, when the block is freed.
func Freed(p unsafe.Pointer, size uintptr) {
	if Debug {
		fill(p, size, FreedByte)
	}
}

// Intact reports whether the size bytes at p still have the value FreedByte. If not, off is the first byte
// that was written. Outside debug builds it returns true.
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

// fill doubles the part that it has written. The race detector then sees a few ranges instead of every
// byte: the buffers of a frame are filled each frame.
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
