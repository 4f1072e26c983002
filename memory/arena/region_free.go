package arena

import (
	"unsafe"

	"github.com/strata-go/strata/memory/internal/invariant"
)

// Free frees one block. If it was the last live block of its region, the region is empty again. If p is nil, Free does
// nothing. Free panics with a *memory.Misuse if p is not the start of a live block, or if the arena is closed. Free
// also panics if the end of the block, p plus size, lies beyond the bytes in use of the region. Only debug builds
// detect other wrong sizes. A wrong size does no harm in other builds, because a region counts blocks and not bytes.
//
// Debug builds check the size to the byte, except that sizes 0 and 1 are equal. Of wrong pointers, memfast builds
// detect only those that are foreign, misaligned or beyond the bytes in use. Cost: constant.
func (r *Region) Free(p unsafe.Pointer, size uintptr) {
	off := uintptr(p) - uintptr(r.base)
	k := off >> r.shift
	if k >= uintptr(len(r.regions)) || off%granuleBytes != 0 || !r.starts(off) {
		r.refuse(p, size)
		return
	}
	o := &r.regions[k]
	most := uintptr(o.used) - off&(r.RegionBytes()-1)
	if here := r.off - off; int(k) == r.current {
		most = here // a conditional move: which region it is cannot be predicted
	}
	if size > most {
		panic(r.misuse("Free", p, size))
	}
	if invariant.Debug {
		r.debugFree(p, size)
	}
	if invariant.Exact {
		g := off >> granuleShift
		r.live[g>>6] &^= 1 << (g & 63)
	}
	o.live--
	if o.live == 0 {
		r.drain(int(k))
	}
}

// refuse panics unless p is nil: it is no live block.
func (r *Region) refuse(p unsafe.Pointer, size uintptr) {
	if p != nil {
		panic(r.misuse("Free", p, size))
	}
}

func (r *Region) debugFree(p unsafe.Pointer, size uintptr) {
	r.owner.Touch()
	off := uintptr(p) - uintptr(r.base)
	if max(size, 1) != r.sizes[off] {
		panic(r.misuse("Free", p, size))
	}
	delete(r.sizes, off)
	invariant.Freed(p, size)
}

// end returns where the bytes in use of region k end, from base.
func (r *Region) end(k uintptr) uintptr {
	if int(k) == r.current {
		return r.off
	}
	return k<<r.shift + uintptr(r.regions[k].used)
}

// starts reports whether a live block starts at off, as exactly as the build allows. The region of off must exist.
func (r *Region) starts(off uintptr) bool {
	if invariant.Exact {
		g := off >> granuleShift
		return r.live[g>>6]>>(g&63)&1 != 0
	}
	return off < r.end(off>>r.shift)
}

// drain empties region k, whose last block was freed.
func (r *Region) drain(k int) {
	r.peak = max(r.peak, r.Used())
	if k == r.current {
		r.off = r.limit - r.RegionBytes()
		return
	}
	o := &r.regions[k]
	r.full -= uintptr(o.used)
	o.used = 0
	r.empty = append(r.empty, uint32(k))
	for i, at := range r.open[:r.opened] {
		if at == uint32(k) {
			r.forget(i)
			return
		}
	}
}
