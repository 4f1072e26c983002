package arena

import (
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
)

// A Region bumps through regions of equal size and counts the live blocks of each. A region
// whose last block is freed is empty again at once and is used next. A request that does not
// fit the current region goes to the first of up to four open ones that has the room, those
// with room left when it ran out in front of a request; then to an empty one; and a new one is
// committed when none is empty. It is for blocks that die in groups but one by one: the events of a
// tick, the parts of an effect, the messages of a connection.
//
//	base        1        2            3 = current       reserved
//	  | live: 5 | live: 0 | live: 9 ··|  live: 2 |···| - - - - - |
//	              empty     open               ^off  ^limit
//
// A block costs its size rounded up to 16 bytes, and a block of size 0 costs 16. One live
// block holds its whole region: where 1,000 blocks of 64 bytes were replaced at random, the
// regions held six times the live bytes, and 1.1 to 1.2 times where the oldest died first
// (BenchmarkRegion). Take a slab for lifetimes that mix.
//
// Blocks are not zeroed. They belong to the caller until the Free, Reset or Close that frees
// them. One goroutine at a time. After Close, or once the source has ended, every Alloc fails
// with memory.ErrClosed.
//
// Invariants, verified by Check in this order:
//
//	(1) there is no current region and off == limit == 0, or the current one holds off and
//	    ends at limit; all regions are committed
//	(2) a region has as many live bits set, all below its end of use, as it counts live
//	    blocks (not in memfast builds)
//	(3) empty holds each region that is not current and has no live block once, and no
//	    other, and has room for all of them
//	(4) full is the sum of the bytes used in the regions that are not current
//	(5) open holds up to four regions, each once, that are neither current nor empty
//	(6) the live blocks are no more than allocs, and peak <= reserved
//	(7) sizes holds as many sizes as blocks are live (debug builds)
type Region struct {
	base    unsafe.Pointer // nil once closed
	off     uintptr        // first free byte of the current region, from base
	limit   uintptr        // end of the current region, from base
	live    []uint64       // bit g is set while a live block starts at granule g
	regions []occupancy
	current int    // -1: none
	shift   uint   // a region is 1<<shift bytes
	allocs  uint64 // successful allocations since New

	empty    []uint32 // regions to use before a new one, the next one last
	open     [looks]uint32
	opened   int     // how many of open are used, the one that was left first in front
	misses   int     // requests that did not fit the current region since it is current
	full     uintptr // bytes used in the regions that are not current
	peak     uintptr // most bytes in use when a region became empty; Stats joins the current ones
	failures uint64
	sizes    map[uintptr]uintptr // of the live blocks by offset, in debug builds
	mem      page.Prefix
	owner    invariant.Owner
}

// An occupancy is the books of one region.
type occupancy struct {
	live uint32 // blocks
	used uint32 // bytes, while it is not current
}

const (
	// granuleShift: blocks are multiples of 16 bytes, so that a live bit costs 0.8 %.
	granuleShift = 4
	granuleBytes = 1 << granuleShift

	// minRegionShift: a region is whole granules of the system, so that every block of its
	// size or less fits an empty one at any alignment.
	minRegionShift = 14

	// maxRegionBytes keeps used within 32 bits.
	maxRegionBytes = 1 << 31

	// looks bounds the search of a request that does not fit. With sizes from 1 to 12 KiB at
	// random, four let 64 regions of 16 KiB hold 95 % of what a search of all of them does,
	// two 93 %, none 80 %; with sizes up to 4 KiB it is 99, 99 and 92 %.
	looks = 4

	// maxMisses: a current region that did not have the room so often makes way for one that
	// has, so that the fast path serves what is asked for; fewer let go of more room.
	maxMisses = 8

	// dregsShift: with less room than a 64th part of it no region stays current.
	dregsShift = 6
)

// RegionConfig configures NewRegion.
type RegionConfig struct {
	// RegionBytes is the size of a region and so the largest request, rounded up to a power
	// of two of at least 16 KiB; at most 2 GiB. 0 means 64 KiB.
	RegionBytes uintptr
	// Reserve is the address space, and so the most that can be in use. 0 means 64 MiB, or
	// one region where that is more. A system that refuses as much is asked for half, down
	// to one region.
	Reserve uintptr
}

// NewRegion reserves from src; nil means page.Default(). Nothing is committed yet. The error wraps
// memory.ErrConfig for a configuration that can never work, or what src returned.
func NewRegion(src page.Source, cfg RegionConfig) (*Region, error) {
	if cfg.RegionBytes == 0 {
		cfg.RegionBytes = 64 << 10
	}
	if cfg.RegionBytes > maxRegionBytes {
		return nil, fmt.Errorf("arena: new Region: RegionBytes %d: want at most %d: %w: %w", cfg.RegionBytes, uint64(maxRegionBytes), memory.ErrConfig, memory.ErrTooLarge)
	}
	size := max(align.CeilPow2(cfg.RegionBytes), 1<<minRegionShift)
	if cfg.Reserve == 0 {
		cfg.Reserve = max(64<<20, size)
	}
	if cfg.Reserve < size {
		return nil, fmt.Errorf("arena: new Region: Reserve %d: want at least %d, one region: %w", cfg.Reserve, size, memory.ErrConfig)
	}
	mem, err := page.NewPrefix(src, cfg.Reserve, size, size)
	if err != nil {
		return nil, fmt.Errorf("arena: new Region of %d bytes: %w", cfg.Reserve, err)
	}
	r := &Region{base: mem.Base(), current: -1, shift: uint(bits.TrailingZeros64(uint64(size))), mem: mem}
	if invariant.Debug {
		r.sizes = make(map[uintptr]uintptr)
	}
	r.mem.Watch(r.shut)
	return r, nil
}

// RegionBytes returns the size of a region, which is the largest request.
func (r *Region) RegionBytes() uintptr { return 1 << r.shift }

// Alloc returns size bytes aligned to align, a power of two up to 4096, and to 16 at least.
// The error is bare memory.ErrTooLarge for more than RegionBytes, memory.ErrAlign or
// memory.ErrClosed, or wraps memory.ErrOutOfMemory where no region is empty, none of the open
// ones has room, and the reservation, the budget or the system is exhausted. What is left of
// regions beyond the four open ones is lost until they are empty. Cost: constant.
func (r *Region) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	mask := (align - 1) | (granuleBytes - 1)
	start := (r.off + mask) &^ mask
	// limit is a multiple of every alignment: start cannot pass it. Size 0 wraps and goes
	// the long way.
	if mask/memory.MaxAlign|align&(align-1) != 0 || size-1 >= r.limit-start {
		return r.advance(size, align)
	}
	r.off = (start + size + granuleBytes - 1) &^ (granuleBytes - 1)
	r.allocs++
	r.regions[r.current].live++
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
	return p, nil
}

// advance makes an empty region current, in which the request then fits.
//
//go:noinline
func (r *Region) advance(size, al uintptr) (unsafe.Pointer, error) {
	switch {
	case r.base == nil:
		return nil, memory.ErrClosed
	case !align.Valid(al):
		return nil, memory.ErrAlign
	case size == 0:
		return r.Alloc(1, al)
	case size > r.RegionBytes():
		r.failures++
		return nil, memory.ErrTooLarge
	}
	if i := r.roomy(size, al); i >= 0 {
		return r.serve(i, size, al), nil
	}
	if len(r.empty) == 0 {
		if err := r.mem.Ensure(uintptr(len(r.regions)+1) << r.shift); err != nil {
			r.failures++
			return nil, err
		}
		// What the source told of it, as page.Limit.OnSoft does, may have freed.
		if r.current >= 0 && r.regions[r.current].live == 0 {
			return r.Alloc(size, al)
		}
	}
	next := len(r.regions)
	if n := len(r.empty) - 1; n >= 0 {
		next = int(r.empty[n])
		r.empty = r.empty[:n]
	} else {
		r.carve()
	}
	if r.current >= 0 && r.limit-r.off >= r.RegionBytes()>>dregsShift {
		return r.serve(r.keep(uint32(next)), size, al), nil
	}
	if last := r.current; last >= 0 { // it has live blocks, or the request would have fitted
		r.leave()
		r.keep(uint32(last))
	}
	r.enter(next)
	return r.Alloc(size, al)
}

// carve makes room in the books for one more region, which is committed, so that Free never
// allocates on the Go heap.
func (r *Region) carve() {
	n := len(r.regions) + 1
	r.regions = append(r.regions, occupancy{})
	if invariant.Exact {
		r.live = append(r.live, make([]uint64, r.RegionBytes()>>(granuleShift+6))...)
	}
	if cap(r.empty) < n {
		r.empty = make([]uint32, 0, cap(r.regions)) // nothing is empty, or no region were carved
	}
}

// currentUsed returns the bytes used in the current region; 0 where there is none.
func (r *Region) currentUsed() uintptr {
	return r.off - (r.limit - min(r.limit, r.RegionBytes()))
}

// Free frees one block, and its region with it if it was the last one there. Nil is a no-op.
// A pointer that is not the start of a live block panics with a *memory.Misuse, exactly: freed
// twice, interior, foreign. So does a size that runs past the bytes in use of the region; any
// other wrong size goes unseen and does no harm, since the region counts blocks and not bytes.
// Debug builds keep the sizes and hold it to the byte. In memfast builds only foreign and
// misaligned pointers and those behind the bytes in use are caught. Cost: constant.
func (r *Region) Free(p unsafe.Pointer, size uintptr) {
	off := uintptr(p) - uintptr(r.base)
	k := off >> r.shift
	if k >= uintptr(len(r.regions)) || off%granuleBytes != 0 || !r.starts(off) {
		r.refuse(p, size)
		return
	}
	o := &r.regions[k]
	room := uintptr(o.used) - off&(r.RegionBytes()-1)
	if here := r.off - off; int(k) == r.current {
		room = here // a conditional move: which region it is cannot be foreseen
	}
	if size > room {
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

// refuse panics for what is no live block; nil is a no-op.
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

// starts reports whether a live block starts at off, as exactly as the build allows. The
// region of off exists.
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

// Base returns the address from which the offsets of blocks count, constant until Close; nil
// once closed.
func (r *Region) Base() unsafe.Pointer { return r.base }

// Owns reports whether p lies in the reservation.
func (r *Region) Owns(p unsafe.Pointer) bool { return r.mem.Contains(p) }

// Used returns the bytes used in regions that are not empty: live blocks, padding, and dead
// blocks whose region still has a live one.
func (r *Region) Used() uintptr { return r.full + r.currentUsed() }

// Reset frees every block; committed memory is kept. Cost: clearing a bit per 16 bytes of the
// regions that were in use. On a closed arena it panics with a *memory.Misuse.
func (r *Region) Reset() {
	if r.base == nil {
		panic(r.misuse("Reset", nil, 0))
	}
	r.owner.Touch()
	r.peak = max(r.peak, r.Used())
	invariant.Freed(r.base, uintptr(len(r.regions))<<r.shift)
	clear(r.live)
	clear(r.sizes)
	r.live, r.regions, r.empty = r.live[:0], r.regions[:0], r.empty[:0]
	r.current, r.off, r.limit, r.full, r.opened, r.misses = -1, 0, 0, 0, 0, 0
}

// Close releases the memory: no pointer into the arena may be used any more. A second Close
// does nothing. If the memory cannot be released the arena is empty but open, and Close may
// be called again.
func (r *Region) Close() error {
	if r.base == nil {
		return nil
	}
	r.Reset()
	if err := r.mem.Close(); err != nil {
		return fmt.Errorf("arena: close: %w", err)
	}
	r.shut()
	return nil
}

// shut puts the books into the state of a closed arena and touches no block.
func (r *Region) shut() {
	r.peak = max(r.peak, r.Used())
	r.base, r.live, r.regions, r.empty, r.sizes = nil, nil, nil, nil, nil
	r.current, r.off, r.limit, r.full, r.opened, r.misses = -1, 0, 0, 0, 0, 0
}

// Stats derives the books; InUse is Used. Peak is exact. Cost: a pass over the regions.
func (r *Region) Stats() memory.Stats {
	used, live := r.Used(), r.count()
	return memory.Stats{
		Reserved: uint64(r.mem.Reserved()), Committed: uint64(r.mem.Committed()),
		InUse: uint64(used), Peak: uint64(max(r.peak, used)),
		Live: live, Allocs: r.allocs, Frees: r.allocs - live, Failures: r.failures,
	}
}

// count returns how many blocks are live.
func (r *Region) count() (live uint64) {
	for i := range r.regions {
		live += uint64(r.regions[i].live)
	}
	return live
}
