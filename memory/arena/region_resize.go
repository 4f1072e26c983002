package arena

import (
	"math/bits"
	"slices"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// Resize changes the size of a block in place and reports whether it did. If Resize returns false, it has changed
// nothing. A block occupies its size rounded up to a multiple of 16 bytes. Every block can change to a size that
// occupies as much or less. Only the block that was allocated last in its region can grow beyond that, as far as the
// region has space. A Free of a later block does not make an older block the last one.
//
// Misuse panics as in [Region.Free]. A nil p panics, too. Resize also panics if oldSize reaches over the start of
// another live block (memfast builds do not detect this). Cost: Resize reads a word of live bits for each KiB of
// oldSize.
func (r *Region) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	off := uintptr(p) - uintptr(r.base)
	k := off >> r.shift
	if k >= uintptr(len(r.regions)) || off%granuleBytes != 0 || !r.starts(off) || oldSize > r.end(k)-off || r.covers(off, oldSize) {
		panic(r.misuse("Resize", p, oldSize))
	}
	if invariant.Debug && max(oldSize, 1) != r.sizes[off] {
		panic(r.misuse("Resize", p, oldSize))
	}
	r.owner.Touch()
	if newSize > r.RegionBytes() {
		return false
	}
	was, now := off+align.Up(max(oldSize, 1), granuleBytes), off+align.Up(max(newSize, 1), granuleBytes)
	switch {
	case was == r.end(k):
		if now > (k+1)<<r.shift {
			return false
		}
		r.endAt(k, now)
	case now > was:
		return false
	}
	if invariant.Debug {
		r.sizes[off] = max(newSize, 1)
		if newSize > oldSize {
			invariant.Fresh(unsafe.Add(p, oldSize), newSize-oldSize)
		} else {
			invariant.Freed(unsafe.Add(p, newSize), oldSize-newSize)
		}
	}
	return true
}

// endAt moves the end of the bytes in use of region k, which has a live block.
func (r *Region) endAt(k, end uintptr) {
	r.peak = max(r.peak, r.Used())
	if int(k) == r.current {
		r.off = end
		return
	}
	o := &r.regions[k]
	used := end - k<<r.shift
	r.full += used - uintptr(o.used)
	o.used = uint32(used)
	if !slices.Contains(r.open[:r.opened], uint32(k)) {
		r.keep(uint32(k)) // it may have been full, and has space now
	}
}

// covers reports whether another live block starts within size bytes from off, as exactly as the build allows.
func (r *Region) covers(off, size uintptr) bool {
	if !invariant.Exact || size <= granuleBytes {
		return false
	}
	from, last := off>>granuleShift+1, (off+size-1)>>granuleShift
	for w := from >> 6; w <= last>>6; w++ {
		word := r.live[w]
		if w == from>>6 {
			word &= ^uint64(0) << (from & 63)
		}
		if w == last>>6 && uintptr(bits.TrailingZeros64(word)) > last&63 {
			word = 0
		}
		if word != 0 {
			return true
		}
	}
	return false
}
