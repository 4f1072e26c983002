package main

import (
	"time"
	"unsafe"
)

// A churn has live blocks and replaces one after the other.
type churn struct {
	h     heap
	refs  []ref
	sizes []uint32 // of the live blocks
	index []uint32 // the block that an operation replaces
	next  []uint32 // the size of its successor
}

// newChurn draws the sizes and the operations.
func (j *job) newChurn(k kind) *churn {
	draw := func() uint32 { return k.draw(&j.rng) }
	c := &churn{refs: refs(j.live), sizes: j.draw(j.live, draw)}
	c.index = j.draw(j.ops, func() uint32 { return j.rng.below(j.live) })
	c.next = j.draw(j.ops, draw)
	return c
}

// populate allocates the live blocks.
func (c *churn) populate(whole bool) {
	for i, n := range c.sizes {
		p, err := c.h.Alloc(uintptr(n), 16)
		if err != nil {
			fail(err)
		}
		if whole {
			clear(unsafe.Slice((*byte)(p), n))
		}
		*(*uint64)(p) = uint64(i)
		c.refs[i] = ref(p)
	}
}

// churn is W4, W6, W7 and W12.
func (j *job) churn(k kind) {
	c := j.newChurn(k)
	if j.nothing {
		j.empty()
		return
	}
	c.h = open(need{largest: k.largest(), bytes: uintptr(j.live) * k.mean(), blocks: j.live, option: j.option})
	c.populate(j.whole)
	replace := c.replace
	switch {
	case j.whole:
		replace = c.replaceWhole
	case j.timeCalls:
		j.reps = 0
	}
	j.figures["pair"] = j.repeat(j.ops, func() time.Duration {
		start := time.Now()
		replace()
		return time.Since(start)
	})
	j.readBack(c.refs, c.sizes)
	if !j.whole {
		c.timed(j)
	}
}

func (c *churn) replace() {
	h, refs, sizes, next := c.h, c.refs, c.sizes[:len(c.refs)], c.next[:len(c.index)]
	for i, at := range c.index {
		h.Free(unsafe.Pointer(refs[at]), uintptr(sizes[at]))
		n := next[i]
		p, err := h.Alloc(uintptr(n), 16)
		if err != nil {
			fail(err)
		}
		*(*uint64)(p) = uint64(i)
		refs[at], sizes[at] = ref(p), n
	}
}

func (c *churn) replaceWhole() {
	h, refs, sizes, next := c.h, c.refs, c.sizes[:len(c.refs)], c.next[:len(c.index)]
	for i, at := range c.index {
		h.Free(unsafe.Pointer(refs[at]), uintptr(sizes[at]))
		n := next[i]
		p, err := h.Alloc(uintptr(n), 16)
		if err != nil {
			fail(err)
		}
		clear(unsafe.Slice((*byte)(p), n))
		*(*uint64)(p) = uint64(i)
		refs[at], sizes[at] = ref(p), n
	}
}

// timed times each call of Free and Alloc.
func (c *churn) timed(j *job) {
	if ticksPerNS == 0 {
		return
	}
	allocs, frees := table(len(c.index)), table(len(c.index))
	h, over := c.h, overhead()
	for i, at := range c.index {
		p, n := unsafe.Pointer(c.refs[at]), uintptr(c.sizes[at])
		begin := start()
		h.Free(p, n)
		end := stop()
		frees[i] = elapsed(begin, end, over)
		n = uintptr(c.next[i])
		begin = start()
		p, err := h.Alloc(n, 16)
		end = stop()
		if err != nil {
			fail(err)
		}
		allocs[i] = elapsed(begin, end, over)
		*(*uint64)(p) = uint64(i)
		c.refs[at], c.sizes[at] = ref(p), uint32(n)
	}
	j.quantiles("", allocs)
	j.quantiles("free ", frees)
}
