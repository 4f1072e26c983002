package main

import (
	"fmt"
	"time"
	"unsafe"
)

// An order in which the blocks of a batch are freed.
type order int

const (
	inOrder order = iota
	random
)

// A batch allocates blocks of the sizes and then frees all of them.
type batch struct {
	h     heap
	sizes []uint32
	free  []uint32 // the order of frees; nil means that of the allocations
	refs  []ref
}

// batch is W1 and W9: the blocks of one batch are live, then none.
func (j *job) batch(lo, hi uint32, o order, times int) {
	b := batch{sizes: j.sizesBetween(j.live, lo, hi), refs: refs(j.live)}
	if o == random {
		b.free = j.permutation(j.live)
	}
	if j.nothing {
		j.empty()
		return
	}
	b.h = open(need{largest: uintptr(hi), bytes: uintptr(j.live) * uintptr(lo+hi) / 2, blocks: j.live, option: j.option})
	fill := b.fill
	if j.whole {
		fill = b.fillWhole
	}
	var filling time.Duration
	j.figures["pair"] = j.repeat(j.live*times, func() (took time.Duration) {
		for range times {
			start := time.Now()
			fill()
			filling = time.Since(start)
			b.release()
			took += time.Since(start)
		}
		return took
	})
	j.figures["alloc"] = float64(filling.Nanoseconds()) / float64(j.live)
	fill()
	j.readBack(b.refs, b.sizes)
	b.release()
	if j.reps > 0 && j.live <= mostTimed {
		b.timed(j)
	}
}

// mostTimed bounds the blocks whose allocations are timed one by one: to sort the times of more takes too long.
const mostTimed = 1_000_000

func (b *batch) fill() {
	h, refs := b.h, b.refs[:len(b.sizes)]
	for i, n := range b.sizes {
		p, err := h.Alloc(uintptr(n), 16)
		if err != nil {
			fail(err)
		}
		*(*uint64)(p) = uint64(i)
		refs[i] = ref(p)
	}
}

func (b *batch) fillWhole() {
	h, refs := b.h, b.refs[:len(b.sizes)]
	for i, n := range b.sizes {
		p, err := h.Alloc(uintptr(n), 16)
		if err != nil {
			fail(err)
		}
		clear(unsafe.Slice((*byte)(p), n))
		*(*uint64)(p) = uint64(i)
		refs[i] = ref(p)
	}
}

// release frees all blocks: one by one, or at once where the allocator frees so.
func (b *batch) release() {
	h, refs, sizes := b.h, b.refs, b.sizes[:len(b.refs)]
	switch {
	case atOnce:
		h.Reset()
	case b.free == nil:
		for i, p := range refs {
			h.Free(unsafe.Pointer(p), uintptr(sizes[i]))
			if collected {
				refs[i] = none
			}
		}
	default:
		for _, i := range b.free {
			h.Free(unsafe.Pointer(refs[i]), uintptr(sizes[i]))
			if collected {
				refs[i] = none
			}
		}
	}
}

// timed times each allocation of a batch.
func (b *batch) timed(j *job) {
	if ticksPerNS == 0 {
		return
	}
	ticks := table(len(b.sizes))
	h, over := b.h, overhead()
	for i, n := range b.sizes {
		begin := start()
		p, err := h.Alloc(uintptr(n), 16)
		end := stop()
		if err != nil {
			fail(err)
		}
		*(*uint64)(p) = uint64(i)
		b.refs[i], ticks[i] = ref(p), elapsed(begin, end, over)
	}
	b.release()
	j.quantiles("", ticks)
}

// aligned is W10: as W9, at multiples of 64 bytes. The sizes are multiples of 64, as aligned_alloc demands.
func (j *job) aligned() {
	b := batch{refs: refs(j.live), sizes: j.draw(j.live, func() uint32 { return (j.rng.between(16, 256) + 63) &^ 63 })}
	if j.nothing {
		j.empty()
		return
	}
	b.h = open(need{largest: 256, bytes: uintptr(j.live) * 192, blocks: j.live})
	j.figures["pair"] = j.repeat(j.live*j.ops, func() time.Duration {
		start := time.Now()
		for range j.ops {
			b.fillAligned()
			b.release()
		}
		return time.Since(start)
	})
	b.fillAligned()
	for i, p := range b.refs {
		if uintptr(p)%64 != 0 {
			fail(fmt.Errorf("block %d of %d bytes is at %#x, which is no multiple of 64", i, b.sizes[i], uintptr(p)))
		}
	}
	j.readBack(b.refs, b.sizes)
	b.release()
}

func (b *batch) fillAligned() {
	h, refs := b.h, b.refs[:len(b.sizes)]
	for i, n := range b.sizes {
		p, err := h.Alloc(uintptr(n), 64)
		if err != nil {
			fail(err)
		}
		*(*uint64)(p) = uint64(i)
		refs[i] = ref(p)
	}
}

// readBack adds the first words of the blocks to the checksum, and sets the figures of memory.
func (j *job) readBack(refs []ref, sizes []uint32) {
	live := 0.0
	for i, p := range refs {
		fold(&j.read, *(*uint64)(unsafe.Pointer(p)))
		live += float64(sizes[i])
	}
	j.figures["live"], j.figures["resident"] = live, resident()
}

// empty sets the figure of a program that has drawn its tables and allocates nothing.
func (j *job) empty() { j.figures["resident"] = resident() }
