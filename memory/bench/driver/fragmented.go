package main

import (
	"fmt"
	"time"
	"unsafe"
)

// few is how many blocks W11 allocates before it frees them in a drawn order.
const few = 64

// fragmented is W11: pairs of one size in a heap of which a drawn half was freed.
func (j *job) fragmented() {
	sizes, order, frees := j.sizesBetween(j.live, 16, 8192), j.permutation(j.live), j.permutation(few)
	blocks := refs(j.live)
	if j.nothing {
		j.empty()
		return
	}
	h := open(need{largest: 8192, bytes: uintptr(j.live) * 4104, blocks: j.live})
	c := churn{h: h, refs: blocks, sizes: sizes}
	c.populate(false)
	for _, i := range order[:j.live/2] {
		h.Free(unsafe.Pointer(blocks[i]), uintptr(sizes[i]))
		blocks[i] = none
	}
	var group [few]ref
	for _, size := range []uintptr{128, 243, 512, 4097} {
		j.figures[fmt.Sprint("pair ", size)] = j.repeat(j.ops*few, func() time.Duration {
			start := time.Now()
			for range j.ops {
				pairs(h, size, &group, frees)
			}
			return time.Since(start)
		})
	}
	for _, i := range order[j.live/2:] {
		fold(&j.read, *(*uint64)(unsafe.Pointer(blocks[i])))
	}
}

func pairs(h heap, size uintptr, group *[few]ref, frees []uint32) {
	for i := range group {
		p, err := h.Alloc(size, 16)
		if err != nil {
			fail(err)
		}
		*(*uint64)(p) = uint64(i)
		group[i] = ref(p)
	}
	for _, i := range frees {
		h.Free(unsafe.Pointer(group[i%few]), size)
	}
}
