package arena

import (
	"unsafe"

	"github.com/strata-go/strata/memory/internal/invariant"
)

// fitting returns the index in open of the first region that has space for the request, or -1.
func (r *Region) fitting(size, al uintptr) int {
	for i, k := range r.open[:r.opened] {
		if start := r.startIn(k, al); size <= uintptr(k+1)<<r.shift-start {
			return i
		}
	}
	return -1
}

// startIn returns where the next block of region k would start. k is not the current region. The end of a region is a
// multiple of every alignment, so the start is not beyond it.
func (r *Region) startIn(k uint32, al uintptr) uintptr {
	mask := (al - 1) | (granuleBytes - 1)
	return (uintptr(k)<<r.shift + uintptr(r.regions[k].used) + mask) &^ mask
}

// left returns the free bytes in region k, which is not current.
func (r *Region) left(k uint32) uintptr { return r.RegionBytes() - uintptr(r.regions[k].used) }

// serve allocates in the i-th of the open regions, which has the space. A region that does so often changes places with
// the current one.
func (r *Region) serve(i int, size, al uintptr) unsafe.Pointer {
	k := r.open[i]
	start := r.startIn(k, al)
	o := &r.regions[k]
	used := (start+size+granuleBytes-1)&^(granuleBytes-1) - uintptr(k)<<r.shift
	r.full += used - uintptr(o.used)
	o.used = uint32(used)
	o.live++
	r.allocs++
	if invariant.Exact {
		g := start >> granuleShift
		r.live[g>>6] |= 1 << (g & 63)
	}
	p := unsafe.Add(r.base, start)
	if invariant.Debug {
		r.owner.Touch()
		r.sizes[start] = size
		invariant.Fresh(p, size)
	}
	switch r.misses++; {
	case r.misses >= maxMisses:
		last := uint32(r.current)
		r.leave()
		r.forget(i)
		r.keep(last)
		r.enter(int(k))
	case r.left(k) == 0:
		r.forget(i)
	}
	return p
}

// leave records the bytes that the current region, which has live blocks, uses.
func (r *Region) leave() {
	used := r.currentUsed()
	r.regions[r.current].used = uint32(used)
	r.full += used
}

// enter makes region k the current one. leave was called for the previous one.
func (r *Region) enter(k int) {
	used := uintptr(r.regions[k].used)
	r.full -= used
	r.current, r.misses = k, 0
	r.limit = uintptr(k+1) << r.shift
	r.off = r.limit - r.RegionBytes() + used
}

// keep adds region k, which is not current, to open and returns its index. If open is full, k replaces the region with
// the fewest free bytes. If k has the fewest, keep returns -1.
func (r *Region) keep(k uint32) int {
	if r.left(k) == 0 {
		return -1
	}
	if r.opened == looks {
		least := 0
		for i, at := range r.open {
			if r.left(at) < r.left(r.open[least]) {
				least = i
			}
		}
		if r.left(k) <= r.left(r.open[least]) {
			return -1
		}
		r.forget(least)
	}
	r.open[r.opened] = k
	r.opened++
	return r.opened - 1
}

// forget removes the i-th region from open.
func (r *Region) forget(i int) {
	copy(r.open[i:r.opened], r.open[i+1:r.opened])
	r.opened--
}
