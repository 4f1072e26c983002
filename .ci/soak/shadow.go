package main

import (
	"fmt"
	"unsafe"
)

// A block is one live allocation as the soak knows it.
type block struct {
	p     unsafe.Pointer
	size  uintptr
	align uintptr
	id    uint64
}

func (b block) String() string {
	return fmt.Sprintf("block %d at %p of %d bytes aligned to %d", b.id, b.p, b.size, b.align)
}

// A shadow is the live blocks, their contents, and the bytes that they occupy. The cost of an operation does not
// depend on the number of blocks. Blocks are selected by index, a pattern is written to and read from a few places,
// and the occupied bytes are bits, 64 to a word.
type shadow struct {
	s         *segment
	live      []block
	taken     taken
	requested uint64 // sum of the sizes
	allocs    uint64
	frees     uint64
}

// newShadow makes a shadow of an allocator with units of 1<<shift bytes: no two blocks may share a unit.
func newShadow(s *segment, shift uint) *shadow {
	return &shadow{s: s, taken: taken{shift: shift, maps: map[uintptr]*[takenWords]uint64{}}}
}

// born records a new block, and fills it.
func (h *shadow) born(p unsafe.Pointer, size, align uintptr) block {
	if p == nil {
		h.s.failf("Alloc(%d, %d) gave nil without an error", size, align)
	}
	if uintptr(p)&(align-1) != 0 {
		h.s.failf("Alloc(%d, %d) gave %p, which is not aligned", size, align, p)
	}
	h.s.ids++
	b := block{p, size, align, h.s.ids}
	if !h.taken.take(b.p, b.size) {
		h.s.failf("%v meets a live block", b)
	}
	h.allocs++
	h.requested += uint64(size)
	h.live = append(h.live, b)
	b.fill()
	return b
}

// dies verifies block i before it is freed, and removes it. The last block takes its place.
func (h *shadow) dies(i int) block {
	b := h.live[i]
	h.verify(b)
	h.taken.drop(b.p, b.size)
	h.frees++
	h.requested -= uint64(b.size)
	last := len(h.live) - 1
	h.live[i] = h.live[last]
	h.live = h.live[:last]
	return b
}

// diesAll verifies and forgets every block from the n-th on: a reset or a rewind.
func (h *shadow) diesAll(n int) {
	for len(h.live) > n {
		h.dies(len(h.live) - 1)
	}
}

// resized records that block i has another size now, of which the smaller one's bytes must
// be as they were.
func (h *shadow) resized(i int, size uintptr) {
	b := &h.live[i]
	for off := range min(b.size, size, 16) {
		if got, want := *(*byte)(unsafe.Add(b.p, off)), b.pattern(off); got != want {
			h.s.failf("byte %d of %v is %#x after a resize to %d, was %#x", off, *b, got, size, want)
		}
	}
	h.taken.drop(b.p, b.size)
	h.requested += uint64(size) - uint64(b.size)
	b.size = size
	if !h.taken.take(b.p, b.size) {
		h.s.failf("%v was resized into a live block", *b)
	}
	b.fill()
}

func (h *shadow) verify(b block) {
	if off, ok := b.intact(); !ok {
		h.s.failf("byte %d of %v is %#x, was %#x", off, b, *(*byte)(unsafe.Add(b.p, off)), b.pattern(off))
	}
}

func (h *shadow) verifyAll() {
	for _, b := range h.live {
		h.verify(b)
	}
}

// sum says what sizes rounded up by cost add up to.
func (h *shadow) sum(cost func(size, align uintptr) uintptr) (n uint64) {
	for _, b := range h.live {
		n += uint64(cost(b.size, b.align))
	}
	return n
}

// pattern is the expected byte at an offset. It depends on the block and its address, so that it differs from a
// neighbour's bytes and from those of a moved block.
func (b block) pattern(off uintptr) byte {
	return byte(mix(b.id^uint64(uintptr(b.p))+uint64(off)) >> 32)
}

// probes yields the offsets that are filled and verified. These are all of a small block. Of a large one they are 16
// bytes at either end and eight places between, which differ from block to block.
func (b block) probes(yield func(uintptr) bool) {
	if b.size <= 40 {
		for off := range b.size {
			if !yield(off) {
				return
			}
		}
		return
	}
	for off := range uintptr(16) {
		if !yield(off) || !yield(b.size-1-off) {
			return
		}
	}
	between := b.size - 32
	for k := range uint64(8) {
		if !yield(16 + uintptr(mix(b.id+k*golden))%between) {
			return
		}
	}
}

func (b block) fill() {
	for off := range b.probes {
		*(*byte)(unsafe.Add(b.p, off)) = b.pattern(off)
	}
}

func (b block) intact() (at uintptr, ok bool) {
	for off := range b.probes {
		if *(*byte)(unsafe.Add(b.p, off)) != b.pattern(off) {
			return off, false
		}
	}
	return 0, true
}

// A place is the bytes of a block that may move: its pattern depends on the block alone.
type place struct {
	bytes []byte
	id    uint64
}

// every is the step between the bytes that are filled: about a dozen in any block.
func (p place) every() int { return max(len(p.bytes)/12, 1) }

func (p place) pattern(off int) byte { return byte(mix(p.id+uint64(off)*golden) >> 32) }

func (p place) fill() {
	for off := 0; off < len(p.bytes); off += p.every() {
		p.bytes[off] = p.pattern(off)
	}
	if n := len(p.bytes); n > 0 {
		p.bytes[n-1] = p.pattern(n - 1)
	}
}

func (p place) intact() (at int, ok bool) {
	for off := 0; off < len(p.bytes); off += p.every() {
		if p.bytes[off] != p.pattern(off) {
			return off, false
		}
	}
	n := len(p.bytes)
	return n - 1, n == 0 || p.bytes[n-1] == p.pattern(n-1)
}
