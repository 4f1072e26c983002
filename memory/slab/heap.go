package slab

import (
	"fmt"
	"math"
	"math/bits"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
)

// A Heap hands out blocks of a few dozen fixed sizes, its classes. Each class owns spans of
// units of 1 KiB and a stack of its free blocks; Alloc pops, Free pushes, and neither touches
// the block. The first span of a class holds one block, or 1 KiB of them; the next ones grow
// with what the class has, by an eighth of it each, up to 64 KiB.
//
// Blocks are not zeroed and are aligned to 16 bytes or what was asked for. They belong to the
// caller until the Free, Reset or Close that frees them. One goroutine at a time; workers
// share a heap through [Central] and [Cache]. A panic out of Large leaves the heap as it was.
//
// Invariants, verified by Check in this order:
//
//	(1) limit is a whole number of units, what lies below it is committed, and the maps reach
//	    that far
//	(2) every unit below limit is vacant or part of exactly one span of one class, which starts
//	    at a multiple of its step and holds a block; behind limit all are vacant
//	(3) carved <= capacity of the stack, and n <= carved, for every class
//	(4) every stack entry is the start of a block of its class, not live, and there once
//	(5) every carved block is on a stack, in the live map or lent to the Central: in one of them;
//	    while an epoch runs, the live blocks from before it are in old instead of the live map
//	(6) carved counts the blocks of the class's spans below bump
//	(7) tab and shapes are the ladder's, and no class has more live blocks than it handed out
//	(8) no unit below lowest is vacant, and lowest and limit lie within the reservation
//	(9) in debug builds, what lies below poisoned and in no live block is filled with 0xDD
//	(10) in debug builds, no live block was asked for with more bytes than its class has
type Heap struct {
	base  unsafe.Pointer // nil once closed
	limit uintptr        // granules in units that were ever taken since Reset; no block starts beyond
	rungs uintptr        // entries of tab; 0 once closed, so that every Alloc takes the slow path
	live  []uint64       // a bit per granule: a live block starts there. Empty in memfast builds
	owned []uint8        // class by unit, or noClass
	place []uint8        // by unit: units to the first of its span, or vacant
	large memory.Allocator
	_     [2]uintptr // to 128 bytes, so that no class straddles cache lines

	classes [maxClasses]class
	tab     [maxRungs]uint8 // ladder.tab, here so that a lookup is one load

	shapes  []shape // by class
	ladder  ladder
	tally   []uint16 // scratch of reclaim, by unit
	vacant  uintptr  // units below limit that belong to no class
	lowest  uintptr  // no unit below this one is vacant
	carved  uint64   // bytes in blocks that were carved
	peak    uint64   // highest carved before the last Trim or Reset
	looked  uint64   // frees counted when reclaim looked last
	futile  uint64   // frees counted when a reclaim found nothing; nothing to find until it changes
	refused uint64   // requests that failed

	poisoned uintptr // granules; debug builds only
	lives    invariant.Lives
	central  *Central // that shares this heap, or nil
	mem      page.Prefix
	owner    invariant.Owner

	undo    undo           // what a request that is refused gives back
	old     []uint64       // while an epoch runs: the live blocks from before it, which live lacks
	onShort func(all bool) // see OnShort
}

// A class is the hot half of a size class: 32 bytes, two to a cache line.
type class struct {
	stack  unsafe.Pointer // the free blocks, uint32 granules from base; in the Go heap
	allocs uint64         // successful allocations since New
	n      uint32         // depth of stack
	carved uint32         // blocks that exist: live or on stack
	bump   uint32         // granules; next block to carve from the newest span
	end    uint32         // granules; bump == end: the span is carved out
}

// A shape is the cold half of a size class.
type shape struct {
	size     uint32 // granules of a block
	units    uint32 // in the class's spans
	blocks   uint32 // that these spans have room for
	capacity uint32 // of the class's stack, in entries
	looked   uint64 // frees counted when the class was last asked for empty spans
}

// bytes returns the size of a block.
func (s *shape) bytes() uintptr { return uintptr(s.size) << granuleShift }

// nextUnits returns how large the next span of the class should be: as small as possible for
// the first one, then an eighth of what the class has, and of sizes that fit badly into a few
// units enough of them.
func (s *shape) nextUnits() uintptr {
	if s.units == 0 {
		return leastUnits(s.bytes())
	}
	return fairUnits(s.bytes(), min(uintptr(s.units)/growShare, largestUnits))
}

// spanUnits returns how many units the next span has: one block's at least, those that it fills fairly
// well, and as many as nextUnits says. The first span takes the least.
func (s *shape) spanUnits() (least, fair, want uintptr) {
	want, least = s.nextUnits(), leastUnits(s.bytes())
	return least, min(fairUnits(s.bytes(), least), want), want
}

// Config configures New.
type Config struct {
	// Reserve is the address space in bytes, and so the most that can be in use. 0 means
	// 64 MiB. It is rounded up to 64 KiB; a system that refuses as much is asked for half, and
	// half of that. At most it is 64 GiB less 64 KiB, and what an address can count.
	Reserve uintptr
	// MaxSize is the largest size in bytes that is served here, rounded up to 16. 0 means
	// 4096; at most 65536.
	MaxSize uintptr
	// Classes is the ladder of block sizes. The zero value is Geometric.
	Classes ClassTable
	// Large is passed the requests above MaxSize, and gets their blocks back. nil: they
	// fail with memory.ErrTooLarge. It is closed by whoever made it.
	Large memory.Allocator
}

// maxReserve, in bytes, keeps granule numbers within 32 bits and, where an address has no
// more bits than that, the end of a span behind the last unit.
const maxReserve uint64 = min(1<<(32+granuleShift)-largest, math.MaxUint-maxSpan*unitBytes-largest)

// New reserves address space from src; nil means page.Default(). Nothing is committed yet. The error
// wraps memory.ErrConfig for a configuration that can never work, or what src returned.
func New(src page.Source, cfg Config) (*Heap, error) {
	if cfg.Reserve == 0 {
		cfg.Reserve = 64 << 20
	}
	if cfg.MaxSize == 0 {
		cfg.MaxSize = 4096
	}
	ladder, err := newLadder(cfg.Classes, cfg.MaxSize)
	if err != nil {
		return nil, err
	}
	if cfg.Large != nil && invariant.Nil(cfg.Large) {
		return nil, fmt.Errorf("slab: new Heap: Large is a nil %T: want an allocator, or no value: %w", cfg.Large, memory.ErrConfig)
	}
	h := &Heap{ladder: ladder, rungs: uintptr(len(ladder.tab)), large: cfg.Large}
	copy(h.tab[:], ladder.tab)
	h.shapes = make([]shape, len(ladder.sizes))
	for i, size := range ladder.sizes {
		h.shapes[i].size = size >> granuleShift
	}
	if cfg.Reserve < largest || uint64(cfg.Reserve) > maxReserve {
		return nil, fmt.Errorf("slab: new Heap: Reserve %d: want %d to %d: %w", cfg.Reserve, largest, maxReserve, memory.ErrConfig)
	}
	h.mem, err = page.NewPrefix(src, align.Up(cfg.Reserve, largest), largest, 0)
	if err != nil {
		return nil, fmt.Errorf("slab: new Heap of %d bytes: %w", cfg.Reserve, err)
	}
	h.base = h.mem.Base()
	h.lives.Open(h.base, h.mem.Reserved(), granuleShift)
	h.mem.Watch(h.lost)
	return h, nil
}

// Alloc returns at least size bytes aligned to align, a power of two up to 4096; not zeroed.
// Size 0 gets a block of the smallest class. Alignments above 16 are served by the smallest
// class that is a multiple of them. The error is memory.ErrAlign, memory.ErrTooLarge above
// MaxSize (or what Large says), memory.ErrClosed, or wraps memory.ErrOutOfMemory.
//
// Cost: a table lookup, a pop and a bit set. Every 32nd block that a class never handed out
// before, its next ones are carved; when memory is refused, empty spans of other classes are
// reclaimed first, in time proportional to the free blocks. If the request fails all the same those
// classes have their spans again: nothing that Stats and Classes report has changed.
func (h *Heap) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	i := (size - 1) >> granuleShift // size 0 wraps beyond every table
	mask := align - 1
	if i >= h.rungs || mask/granule|align&mask != 0 {
		return h.allocRare(size, align)
	}
	ci := h.tab[i%maxRungs]
	c := &h.classes[ci]
	n := c.n
	if n == 0 {
		return h.allocFresh(ci, size)
	}
	n--
	off := *(*uint32)(unsafe.Add(c.stack, uintptr(n)*4))
	if invariant.Debug {
		verify(unsafe.Add(h.base, uintptr(off)<<granuleShift), h.ladder.sizes[ci])
	}
	c.n = n
	c.allocs++
	if invariant.Exact {
		*h.word(uintptr(off)) |= 1 << (off & 63)
	}
	p := unsafe.Add(h.base, uintptr(off)<<granuleShift)
	if invariant.Debug {
		h.owner.Touch()
		h.lives.Begin(uintptr(off), size)
		invariant.Fresh(p, uintptr(h.ladder.sizes[ci]))
	}
	return p, nil
}

// Free gives back a block with the size it was asked for. A nil pointer is a no-op. A block
// that is not live, an interior or foreign pointer and a size that Alloc would not have
// served from the block's class, at any alignment, panic with a *memory.Misuse. In debug builds
// every size but the requested one does.
func (h *Heap) Free(p unsafe.Pointer, size uintptr) {
	// Rotating brings stray low bits to the top: one comparison tests range and alignment.
	off := uintptr(bits.RotateLeft(uint(uintptr(p)-uintptr(h.base)), -granuleShift))
	i := (size - 1) >> granuleShift
	if i >= h.rungs || off >= h.limit || *h.owner8(off) != h.tab[i%maxRungs] || invariant.Debug && !h.wasAsked(off, size) {
		h.freeRare(p, size)
		return
	}
	if !h.push(&h.classes[h.tab[i%maxRungs]], off) {
		h.freeRare(p, size) // finds it dead again, and says so
	}
}

// FreeAny is Free for a block whose size the caller does not know. It costs no more. A block of a
// Large that is no memory.AnyFreer panics with a *memory.Misuse that says so.
func (h *Heap) FreeAny(p unsafe.Pointer) {
	off := uintptr(bits.RotateLeft(uint(uintptr(p)-uintptr(h.base)), -granuleShift))
	if off >= h.limit {
		h.freeAnyRare(p)
		return
	}
	if !h.push(&h.classes[*h.owner8(off)], off) {
		h.freeAnyRare(p)
	}
}

// push puts the block at off on its class's stack, or reports that it is not live. Without
// the live map only the push that would overrun the stack is caught.
func (h *Heap) push(c *class, off uintptr) bool {
	n := c.n
	if invariant.Exact {
		w, bit := h.word(off), uint64(1)<<(off&63)
		if *w&bit == 0 {
			return false
		}
		*w &^= bit
	} else if n >= c.carved {
		return false
	}
	if invariant.Debug {
		h.debugFree(off)
	}
	*(*uint32)(unsafe.Add(c.stack, uintptr(n)*4)) = uint32(off)
	c.n = n + 1
	return true
}

// word returns the word of the live map that holds granule off, which lies below limit. A
// checked index costs the fast paths a comparison each that the test of limit has made.
func (h *Heap) word(off uintptr) *uint64 {
	return (*uint64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(h.live)), off>>6<<3))
}

// owner8 returns the class byte of the unit that holds granule off, which lies below limit.
func (h *Heap) owner8(off uintptr) *uint8 {
	return (*uint8)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(h.owned)), off>>(unitShift-granuleShift)))
}

// verify panics where a free block was written to, and heals it, so that it may be had next.
func verify(p unsafe.Pointer, size uint32) {
	if at, ok := invariant.Intact(p, uintptr(size)); !ok {
		b := *(*byte)(unsafe.Add(p, at))
		invariant.Freed(p, uintptr(size))
		panic(&memory.Misuse{Package: "slab", Op: "Alloc", Addr: uintptr(p), Reason: fmt.Sprintf(
			"use after free: byte %d of the free block of %d bytes was written since it was freed, with %#x", at, size, b)})
	}
}

func (h *Heap) debugFree(off uintptr) {
	h.owner.Touch()
	invariant.Freed(unsafe.Add(h.base, off<<granuleShift), uintptr(h.ladder.sizes[*h.owner8(off)]))
}

// allocRare serves what the table lookup does not: size 0, wide alignments, large sizes.
//
//go:noinline
func (h *Heap) allocRare(size, al uintptr) (unsafe.Pointer, error) {
	if h.base == nil {
		return nil, memory.ErrClosed
	}
	if !align.Valid(al) {
		return nil, memory.ErrAlign
	}
	ci, ok := h.ladder.class(size, al)
	if !ok {
		if h.large != nil {
			return h.large.Alloc(size, al)
		}
		h.refused++
		return nil, memory.ErrTooLarge
	}
	if h.classes[ci].n == 0 {
		return h.allocFresh(ci, size)
	}
	return h.pop(ci, size), nil
}

// allocFresh carves blocks for a class that has none free, and hands out the first.
//
//go:noinline
func (h *Heap) allocFresh(ci uint8, size uintptr) (unsafe.Pointer, error) {
	if err := h.restock(ci); err != nil {
		h.refused++
		return nil, err
	}
	return h.pop(ci, size), nil
}

// pop is the second half of Alloc, for a class that has a free block.
func (h *Heap) pop(ci uint8, size uintptr) unsafe.Pointer {
	c := &h.classes[ci]
	off := *(*uint32)(unsafe.Add(c.stack, uintptr(c.n-1)*4))
	if invariant.Debug {
		verify(unsafe.Add(h.base, uintptr(off)<<granuleShift), h.ladder.sizes[ci])
	}
	c.n--
	c.allocs++
	if invariant.Exact {
		*h.word(uintptr(off)) |= 1 << (off & 63)
	}
	p := unsafe.Add(h.base, uintptr(off)<<granuleShift)
	if invariant.Debug {
		h.owner.Touch()
		h.lives.Begin(uintptr(off), size)
		invariant.Fresh(p, uintptr(h.ladder.sizes[ci]))
	}
	return p
}

// Base returns the address from which the offsets of blocks count, constant until Close; nil
// once closed, and where there is a Large, whose blocks lie elsewhere.
func (h *Heap) Base() unsafe.Pointer {
	if h.large != nil {
		return nil
	}
	return h.base
}

// Generation returns in debug builds how many blocks have started at p, modulo 2^32, and 0 in other
// builds and if none has. Package remote finds stale frees by it. Of an address outside the
// reservation Large is asked. Safe for concurrent use, also after Close.
func (h *Heap) Generation(p unsafe.Pointer) uint32 {
	if n := h.lives.GenerationAt(p); n != 0 {
		return n
	}
	if g, ok := h.large.(interface{ Generation(unsafe.Pointer) uint32 }); ok {
		return g.Generation(p)
	}
	return 0
}

// Owns reports whether p lies in the reservation, live or not. Blocks above MaxSize lie in
// Large, which answers for them.
func (h *Heap) Owns(p unsafe.Pointer) bool { return h.mem.Contains(p) }

// SizeOf returns the usable bytes of a live block: its class. For a block of Large it returns what
// Large says; if Large is no memory.Sizer it panics with a *memory.Misuse that says so. What is no
// live block panics too, as in Free.
func (h *Heap) SizeOf(p unsafe.Pointer) uintptr {
	if z, ok := h.large.(memory.Sizer); ok && h.base != nil && !h.mem.Contains(p) {
		return z.SizeOf(p)
	}
	off := uintptr(bits.RotateLeft(uint(uintptr(p)-uintptr(h.base)), -granuleShift))
	if off >= h.limit || h.place[off/unitGranules] == vacant || invariant.Exact && !h.isLive(off) {
		panic(h.reject("SizeOf", p, 0))
	}
	return uintptr(h.ladder.sizes[*h.owner8(off)])
}
