package main

import (
	"time"
	"unsafe"
)

// W13 is the realloc trace of malloc courses: one block grows from 4 to 600 KiB, 128 bytes at a time. After each step
// a block of 128 bytes is allocated.
const (
	growFrom, growTo, growStep = 4 << 10, 600 << 10, 128
	growSteps                  = (growTo - growFrom) / growStep
)

// growing is W13. The small blocks all stay live, or each is freed after the next one is allocated.
func (j *job) growing(keep bool) {
	steps := growSteps
	if j.ops > 1 { // a short run
		steps = j.ops
	}
	blocks := refs(steps)
	fold(&j.drawn, uint64(steps))
	if j.nothing {
		j.empty()
		return
	}
	h := open(need{largest: growTo, bytes: 2 * growTo, blocks: steps})
	var block ref
	j.figures["pair"] = j.repeat(steps, func() time.Duration {
		start := time.Now()
		block = grow(h, blocks, keep)
		took := time.Since(start)
		j.read = 0
		for i := range steps {
			fold(&j.read, *(*uint64)(unsafe.Add(unsafe.Pointer(block), growFrom+i*growStep)))
		}
		if r := resident(); r > j.figures["resident"] {
			j.figures["resident"] = r
		}
		start = time.Now()
		last := blocks[len(blocks)-1:]
		if keep {
			last = blocks
		}
		for _, p := range last {
			h.Free(unsafe.Pointer(p), growStep)
		}
		h.Free(unsafe.Pointer(block), uintptr(growFrom+steps*growStep))
		return took + time.Since(start)
	})
	j.figures["live"] = growFrom + growStep*float64(steps)
	if keep {
		j.figures["live"] += growStep * float64(steps)
	}
}

func grow(h heap, blocks []ref, keep bool) ref {
	block, err := h.Alloc(growFrom, 16)
	if err != nil {
		fail(err)
	}
	size := uintptr(growFrom)
	for i := range blocks {
		if block, err = h.Grow(block, size, size+growStep); err != nil {
			fail(err)
		}
		*(*uint64)(unsafe.Add(block, size)) = uint64(i)
		size += growStep
		p, err := h.Alloc(growStep, 16)
		if err != nil {
			fail(err)
		}
		*(*uint64)(p) = uint64(i)
		if blocks[i] = ref(p); !keep && i > 0 {
			h.Free(unsafe.Pointer(blocks[i-1]), growStep)
		}
	}
	return ref(block)
}
