package slab

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
)

// A Heap is a size-class allocator: it rounds a request up to one of a few dozen block sizes, its size classes. Each
// class owns spans of 1 KiB units and a stack of its free blocks. Alloc pops a block and Free pushes it. Alloc and
// Free do not read or write the block, except in debug builds (-tags memdebug or -race).
//
// Blocks are not zeroed. A block is aligned to 16 bytes, or to a larger alignment that was passed to Alloc. It belongs
// to the caller and keeps its address until it is freed, until Reset or Close, until a state without it is loaded, or
// until the page source ends. The collector does not scan blocks, so they must not contain Go pointers. Requests above
// Config.MaxSize are left to Config.Large: Reset and Close do not free these blocks.
//
// A Heap is not safe for concurrent use: one goroutine at a time may call it. Goroutines share a heap through
// [Central] and [Cache]. If Config.Large panics, the panic passes through and the heap is unchanged.
//
// A Heap is closed after a Close that succeeded, and after its page source has ended. In a closed Heap, Alloc, Trim,
// TrimStep and Warm fail with memory.ErrClosed. If the source ends during one of these calls, the call fails in the
// same way. In a closed Heap, SizeOf, Resize, Reset, BeginEpoch, EndEpoch, and a Free or FreeAny of a block panic with
// a *memory.Misuse.
type Heap struct {
	// Invariants, verified by Check in this order:
	//
	//	(1) limit is a whole number of units, what lies below it is committed, and the maps reach
	//	    that far
	//	(2) every unit below limit is vacant, absent or part of exactly one span of one class, which starts
	//	    at a multiple of its step and holds a block; beyond limit all are vacant; the memory of absent
	//	    units was returned, and no other below limit
	//	(3) carved <= capacity of the stack, and n <= carved, for every class
	//	(4) every stack entry is the start of a block of its class, not live, and there once
	//	(5) every block that exists is on a stack, in the live map or lent to the Central: in one of them;
	//	    while an epoch runs, the live blocks from before it are in old instead of the live map
	//	(6) carved counts the blocks of the class's spans below bump
	//	(7) tab and shapes are the ladder's, and no class has more live blocks than it handed out
	//	(8) no unit below lowest is vacant, and lowest and limit lie within the reservation
	//	(9) in debug builds, what lies below poisoned and in no live block is filled with 0xDD
	//	(10) in debug builds, no live block was asked for with more bytes than its class has
	//	(11) known has each class that has a block or had one

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

	shapes []shape // by class
	ladder ladder
	tally  tally                   // scratch of reclaim
	known  [maxClasses / 64]uint64 // a bit per class that ever had a span
	totals

	lives   invariant.Lives
	central *Central // that shares this heap, or nil
	mem     page.Prefix
	owner   invariant.Owner

	undo    undo           // what a request that is refused gives back
	short   shortage       // which requests are refused
	sweep   sweep          // see Sweep
	old     []uint64       // while an epoch runs: the live blocks from before it, which live lacks
	onShort func(all bool) // see OnShort
	passing bool           // Large serves an Alloc or a Resize, and may commit memory

	relay func(size, align uintptr) (unsafe.Pointer, error) // of NewRelay: it serves Alloc; otherwise nil
}

// totals are numbers of the whole heap that a state contains. They have no padding, and are saved by one copy.
type totals struct {
	vacant   uintptr // units below limit that belong to no class
	lowest   uintptr // no unit below this one is vacant
	absent   uintptr // units below limit whose memory was returned
	poisoned uintptr // granules; debug builds only
	carved   uint64  // bytes in blocks that were carved
	peak     uint64  // highest carved before the last Trim or Reset
	looked   uint64  // frees counted when reclaim looked last
	futile   uint64  // frees counted when a reclaim found nothing; nothing to find until it changes
	squeezed uint64  // frees that pay for the squeezes so far, see maySqueeze
	refused  uint64  // requests that failed
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
	popped   uint64 // allocs of the class at the last look of the shortage
	seen     uint32 // depth of its stack then
}

// bytes returns the size of a block.
func (s *shape) bytes() uintptr { return uintptr(s.size) << granuleShift }

// nextUnits returns how large the next span of the class should be: as small as possible for the first one, then
// 1/growShare of what the class has, and of sizes that fit badly into a few units enough of them.
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

// Config configures [New]. New refuses values out of range.
type Config struct {
	// Reserve is the address space in bytes, and so a bound on the memory in use. 0 means 64 MiB. Other values must
	// be at least 64 KiB, and are rounded up to a multiple of 64 KiB. The maximum is 64 GiB less 64 KiB. On 32-bit
	// systems the maximum is almost 2 GiB. If the operating system refuses, New halves the reservation and tries again,
	// down to 64 KiB.
	Reserve uintptr
	// MaxSize is the largest request in bytes that the heap serves itself, rounded up to a multiple of 16. 0 means
	// 4096. The maximum is 65536.
	MaxSize uintptr
	// Classes selects the block sizes. The zero value is [Geometric].
	Classes ClassTable
	// Large serves the requests above MaxSize. If Large is nil, these requests fail with memory.ErrTooLarge. The heap
	// neither resets nor closes Large; the owner of Large does.
	Large memory.Allocator
}

// maxReserve, in bytes, keeps granule numbers within 32 bits and, where an address has no
// more bits than that, the end of a span behind the last unit.
const maxReserve uint64 = min(1<<(32+granuleShift)-largest, math.MaxUint-maxSpan*unitBytes-largest)

// New returns an empty heap with address space from src, and commits no memory yet. If src is nil, it is
// page.Default(). If a field is out of range, MaxSize is too large for Classes, or Large is an interface with a nil
// pointer, the error wraps memory.ErrConfig. If src fails, the error wraps the error of page.NewPrefix. If New fails,
// the heap is nil. The reservation is then released, unless src refuses that.
func New(src page.Source, cfg Config) (*Heap, error) {
	cfg.Reserve = cmp.Or(cfg.Reserve, 64<<20)
	cfg.MaxSize = cmp.Or(cfg.MaxSize, 4096)
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

// Alloc returns a block of at least size bytes, aligned to align, a power of two up to 4096. The block is not zeroed.
// If size is 0, Alloc returns a block of the smallest class. For an alignment above 16, Alloc uses the smallest class
// that fits the size and is a multiple of the alignment.
//
// If align is invalid, the error is memory.ErrAlign. For a size above MaxSize, Alloc returns the results of
// Config.Large. If Large is nil, the error is memory.ErrTooLarge. If the reservation is full, the page source refuses
// memory, or the Go heap has no space for the metadata, the error wraps memory.ErrOutOfMemory. Other errors of the
// source are returned unchanged.
//
// A failed Alloc changes at most Failures in the results of Classes and Stats, with two exceptions. Blocks that the
// function of [Heap.OnShort] has freed stay freed. If the source has granted only a part of the memory, Committed, Free
// and LargestFree can be higher. Failures does not count the errors of Large. The function of page.Limit.OnSoft runs
// during a commit. If it calls Alloc of the same heap, and this Alloc must commit memory, too, Alloc panics with a
// *memory.Misuse.
//
// Debug builds (-tags memdebug or -race) panic with a *memory.Misuse if the free block was written to. After such a
// panic the next Alloc may return this block.
//
// Cost: a table lookup, a pop and one bit. If the class has no free block, Alloc prepares up to 32 new ones, and may
// commit memory. Before a commit, Alloc may recycle empty spans of other classes, in time proportional to the free
// blocks and the KiB in use. A refused Alloc can take as long: see the table of the package comment.
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

// Free frees a block. The parameter size is the size that was requested from Alloc, or the new size of the last
// successful Resize. If p is nil, Free does nothing. The block must not be used afterwards.
//
// If size is above MaxSize and p lies outside the reservation, Free calls Free of Config.Large, if there is one. In all
// other cases Free panics with a *memory.Misuse for a double free, an interior pointer, a foreign pointer and a wrong
// size. Once Alloc has returned the address again, a second Free can free the new block. Of wrong sizes, ordinary
// builds detect only those that the class of the block never serves. Debug builds detect every wrong size. Builds with
// memfast detect less: see the package comment. Cost: constant.
func (h *Heap) Free(p unsafe.Pointer, size uintptr) {
	// Rotating brings stray low bits to the top: one comparison tests range and alignment.
	off := uintptr(bits.RotateLeft(uint(uintptr(p)-uintptr(h.base)), -granuleShift))
	i := (size - 1) >> granuleShift
	if i >= h.rungs || off >= h.limit || *h.owner8(off) != h.tab[i%maxRungs] || invariant.Debug && !h.wasAsked(off, size) {
		h.freeRare(p, size)
		return
	}
	if !h.push(&h.classes[h.tab[i%maxRungs]], off) {
		h.freeRare(p, size) // detects the double free and panics
	}
}

// FreeAny is [Heap.Free] without the size, and has the cost of Free. If p is nil, FreeAny does nothing. If p lies
// outside the reservation and Config.Large is a memory.AnyFreer, FreeAny passes p on to Large. If Large is no AnyFreer,
// FreeAny panics with a *memory.Misuse for every block of Large. For any other p that is not the start of a live block,
// FreeAny panics as Free does.
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
		if h.relay != nil {
			return h.relay(size, al)
		}
		return nil, memory.ErrClosed
	}
	if !align.Valid(al) {
		return nil, memory.ErrAlign
	}
	ci, ok := h.ladder.class(size, al)
	if !ok {
		if h.large != nil {
			return h.allocLarge(size, al)
		}
		h.refused++
		return nil, memory.ErrTooLarge
	}
	if h.classes[ci].n == 0 {
		return h.allocFresh(ci, size)
	}
	return h.pop(ci, size), nil
}

// allocLarge passes a request on to Large.
func (h *Heap) allocLarge(size, al uintptr) (unsafe.Pointer, error) {
	h.passing = true
	defer func() { h.passing = false }()
	return h.large.Alloc(size, al)
}

// allocFresh makes blocks for a class that has none free, and hands out the first.
//
//go:noinline
func (h *Heap) allocFresh(ci uint8, size uintptr) (unsafe.Pointer, error) {
	if err := h.restock(ci); err != nil {
		h.refused++
		return nil, h.full(err, size)
	}
	return h.pop(ci, size), nil
}

// full adds to an error the name of the heap and the size, if memory is short. It leaves ErrClosed as it is.
func (h *Heap) full(err error, size uintptr) error {
	if !errors.Is(err, memory.ErrOutOfMemory) {
		return err
	}
	return &memory.Exhausted{Op: h.mem.NameOr("slab") + ": alloc", Need: size, Limit: h.mem.Reserved(), Cause: err}
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

// Base returns the first address of the reservation, to count offsets of blocks. The address is constant while the
// heap is open. On a closed heap Base returns nil. If the heap has a Config.Large, Base returns nil, too, because
// blocks of Large lie outside the reservation.
func (h *Heap) Base() unsafe.Pointer {
	if h.large != nil {
		return nil
	}
	return h.base
}

// Generation returns the number of blocks that have started at p so far, modulo 2^32, in debug builds (-tags memdebug
// or -race). In other builds, and if no block has started at p, it calls Generation of Config.Large. If Large has no
// such method, the result is 0. Package remote uses Generation to detect stale frees. Generation is safe for concurrent
// use, also after Close, if Generation of Large is.
func (h *Heap) Generation(p unsafe.Pointer) uint32 {
	if n := h.lives.GenerationAt(p); n != 0 {
		return n
	}
	if g, ok := h.large.(interface{ Generation(unsafe.Pointer) uint32 }); ok {
		return g.Generation(p)
	}
	return 0
}

// Owns reports whether p lies in the heap's reservation. p need not be in a live block. Owns returns false for blocks
// of Config.Large, and on a closed heap. Cost: constant.
func (h *Heap) Owns(p unsafe.Pointer) bool { return h.mem.Contains(p) }

// SizeOf returns the usable size of a live block in bytes: the block size of its class. If p lies outside the
// reservation and Config.Large is a memory.Sizer, SizeOf returns the result of SizeOf of Large. If Large is no Sizer,
// SizeOf panics with a *memory.Misuse for every block of Large. For any other p that is not the start of a live block,
// SizeOf panics with a *memory.Misuse, too. In memfast builds SizeOf may return a size if p is a freed block or an
// interior pointer. Cost: constant.
func (h *Heap) SizeOf(p unsafe.Pointer) uintptr {
	if z, ok := h.large.(memory.Sizer); ok && h.base != nil && !h.mem.Contains(p) {
		return z.SizeOf(p)
	}
	off := uintptr(bits.RotateLeft(uint(uintptr(p)-uintptr(h.base)), -granuleShift))
	if off >= h.limit || h.place[off/unitGranules] >= absent || invariant.Exact && !h.isLive(off) {
		panic(h.reject("SizeOf", p, 0))
	}
	return uintptr(h.ladder.sizes[*h.owner8(off)])
}
