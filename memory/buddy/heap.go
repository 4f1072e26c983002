package buddy

import (
	"cmp"
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/internal/tally"
	"github.com/strata-go/strata/memory/page"
)

// A Heap allocates blocks of a fixed series of sizes. The series is the ladder of the Heap, and each size is a rung.
// The top rung is the largest size that fits the reservation. At first one block of this size is the whole Heap. A
// request splits a block down to the lowest rung that fits, and Free merges a block with its buddy as long as the buddy
// is free.
//
//	units    |0   1   2   3   4   5   6   7 | 8 …    of MinBlock bytes
//	entries  |live    |free|live|free       |        a unit's entry describes what starts there
//	lists    rung 0 -> 2    rung 2 -> 4              free blocks by rung, linked by the entries
//	mask     …0101                                   rungs whose list is not empty
//
// Blocks are not zeroed. They belong to the caller until Free, FreeAny, Reset or Close, until a state without them is
// loaded, or until the page source ends (see [page.Watched]). A Heap belongs to one goroutine at a time. A Heap is
// closed after Close, also if Close fails, and after its page source has ended. In a closed Heap, Alloc and Trim fail
// with memory.ErrClosed. If the source ends during one of these calls, the call fails in the same way. In a closed
// Heap, SizeOf, Resize, Reset, and a Free or FreeAny of a block panic with a *memory.Misuse.
//
// Builds with -race or -tags memdebug fill all free memory with 0xDD. If a byte of free memory was written, the Alloc
// or Resize that would use this memory panics with a *memory.Misuse and changes no block. The call may have committed
// memory. It has filled the free memory again, so that a repeated call can succeed. A write after the last byte of a
// live block, within its rung, is not detected.
type Heap struct {
	// Invariants, verified by Check in this order:
	//
	//	(1) the ladder follows from the system, and entries, limits and root from the reservation; the
	//	    reservation passes its own Check
	//	(2) the blocks are parts of the root, with the sides that splitting gives them, and tile the
	//	    committed units
	//	(3) no two buddies are both free: merging is immediate
	//	(4) a live block has one pointer, behind which the request fits; Binary: at its start
	//	(5) no entry but those of blocks and pointers is in use
	//	(6) a free block is on the list of its rung, once, and lists contain nothing else; a rung's bit is
	//	    set exactly if its list is not empty
	//	(7) counts agree with the live blocks
	base    unsafe.Pointer // aligned to page.BaseAlign; nil once closed
	limit   uintptr        // largest request in bytes; 0 once closed, so that every Alloc takes the slow path
	align   uintptr        // alignments up to this one follow from the unit; 0 once closed
	entries []entry        // by unit
	mask    uint64
	lists   [maxRungs]uint32 // unit of the newest free block of a rung, or none
	ladder  ladder
	grain   align.Grain // MinBlock
	system  System

	counts tally.Counts // in units
	lives  invariant.Lives
	mem    page.Prefix
	owner  invariant.Owner
}

// An entry is the metadata of a unit: 12 bytes in the Go heap.
type entry struct {
	next  uint32 // free: the next block on the list, or none. handed: bytes requested
	prev  uint32 // free: the block before it, or none. handed: units back to the block's start
	rung  uint8  // of the block that starts here
	side  side
	state state
}

// state is what starts at a unit. The zero state is nothing.
type state uint8

const (
	free   state = 1 << iota // a block on a list
	live                     // a block of the caller
	handed                   // the address that Alloc returned: the live block itself, or a place inside it
)

const none = ^uint32(0) // ends a list

// Config configures [New]. New refuses values out of range.
type Config struct {
	// Reserve is the address space in bytes. It bounds the memory in use and the size of a block. The maximum is 2^25
	// times MinBlock: 8 GiB with a MinBlock of 256. On 32-bit systems the maximum is less than 1 GiB. 0 means 64 MiB.
	// Reserve is rounded up to a size of the ladder. If the system refuses the reservation or its metadata, New halves
	// the reservation, down to 16 KiB. Of a halved reservation, only the largest size of the ladder that fits is used.
	Reserve uintptr
	// MinBlock is the size of the smallest block, and the unit of all block sizes: a power of two from 8 bytes to 16 KiB.
	// 0 means 256 bytes. The metadata takes 12 bytes for each unit of the reservation.
	MinBlock uintptr
	// System is the ladder of block sizes. The zero value is Binary.
	System System
}

const (
	minUnit = 8            // a word, the smallest unit that most programs address
	maxUnit = page.Granule // so that committed memory is whole units

	maxBytes = 1<<32 - 1 // the largest block: entry.next stores the request

	entryBytes = 12 // of metadata for a unit
	// maxUnits keeps the metadata below the 1 GiB that page.NewPrefixWithMetadata allows, also if the
	// reservation is rounded up to the next size of the ladder.
	maxUnits = 1 << 25
)

// New returns a Heap with a reservation of src; nothing is committed. If src is nil, it is page.Default(). If a field
// is out of range, the error wraps memory.ErrConfig. If src fails, the error wraps the error that
// page.NewPrefixWithMetadata returns. If the Go heap has no space for the metadata, the error wraps a
// *memory.Exhausted. If New fails, it releases the reservation. If src cannot release the reservation, the addresses
// stay reserved.
func New(src page.Source, cfg Config) (*Heap, error) {
	cfg.Reserve = cmp.Or(cfg.Reserve, 64<<20)
	cfg.MinBlock = cmp.Or(cfg.MinBlock, 256)
	if cfg.MinBlock < minUnit || cfg.MinBlock > maxUnit || cfg.MinBlock&(cfg.MinBlock-1) != 0 {
		return nil, fmt.Errorf("buddy: new Heap: MinBlock %d: want a power of two from %d to %d: %w", cfg.MinBlock, minUnit, maxUnit, memory.ErrConfig)
	}
	if cfg.System > Fibonacci {
		return nil, fmt.Errorf("buddy: new Heap: %v: want Binary or Fibonacci: %w", cfg.System, memory.ErrConfig)
	}
	// A quarter of the address space leaves space to round up.
	most := min(maxUnits*uint64(cfg.MinBlock), uint64(^uintptr(0)>>2))
	if uint64(cfg.Reserve) > most {
		return nil, fmt.Errorf("buddy: new Heap: Reserve %d: want at most %d with a MinBlock of %d: %w", cfg.Reserve, most, cfg.MinBlock, memory.ErrConfig)
	}
	grain := align.GrainOf(cfg.MinBlock)
	want := ladderOver(cfg.System, grain.Count(cfg.Reserve))
	mem, err := page.NewPrefixWithMetadata(src, grain.Bytes(want.root()), page.Granule, 0,
		func(reserved uintptr) uint64 { return uint64(reserved>>grain) * entryBytes })
	if err != nil {
		return nil, fmt.Errorf("buddy: new Heap of %d bytes: %w", cfg.Reserve, err)
	}
	h := &Heap{
		base:   mem.Base(),
		align:  min(cfg.MinBlock, memory.MaxAlign),
		ladder: ladderWithin(cfg.System, uint32(mem.Reserved()>>grain)),
		grain:  grain,
		system: cfg.System,
		mem:    mem,
	}
	root := h.ladder.root()
	h.entries = make([]entry, root)
	h.limit = uintptr(min(uint64(root)<<grain, maxBytes))
	h.dropLists()
	h.lives.Open(h.base, h.mem.Reserved(), uint(grain))
	h.mem.Watch(func() { _ = h.Close() }) // touches no block
	return h, nil
}

// Alloc returns a block of size bytes, aligned to align, a power of two up to 4096. The block is not zeroed. If size is
// 0, Alloc returns a block as for size 1. If align is invalid, the error is memory.ErrAlign. If size exceeds the top
// rung (see [Heap]) or 4 GiB less one byte, the error is memory.ErrTooLarge. If the reservation, the budget or the
// system is exhausted, or if the source fails, the error is a *memory.Exhausted. If the function of page.Limit.OnSoft
// calls Alloc during a commit of this heap, and Alloc must commit memory, Alloc panics with a *memory.Misuse.
//
// Cost: a bitmap search, and a split for each rung between the free block and the needed size. If the heap grows, the
// cost includes a system call. For an alignment above MinBlock, Alloc first looks for a free block that is large enough
// for any padding. If there is none, Alloc searches the smaller free blocks for one with a suitable address.
func (h *Heap) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	mask := align - 1
	if size-1 >= h.limit || mask >= h.align || align&mask != 0 {
		return h.allocSlow(size, align)
	}
	n := h.grain.Count(size)
	k := h.ladder.rung(n)
	rungs := h.mask >> (k & 63)
	if rungs == 0 {
		return h.allocSlow(size, align)
	}
	k += uint8(bits.TrailingZeros64(rungs))
	return h.handOut(h.split(h.lists[k], n, 1), 1, size), nil
}

// handOut makes the block p, which is on no list, that of a request of size bytes at a multiple of step, and returns
// the address.
func (h *Heap) handOut(p part, step uint32, size uintptr) unsafe.Pointer {
	at := align.UpTo(p.off, step)
	q := unsafe.Add(h.base, h.grain.Bytes(at))
	if invariant.Debug {
		h.owner.Touch()
		h.verify(p)
		h.lives.Begin(uintptr(at), size)
		invariant.Fresh(q, size)
	}
	h.entries[p.off] = entry{rung: p.rung, side: p.side, state: live}
	e := &h.entries[at]
	e.next, e.prev = uint32(size), at-p.off
	e.state |= handed
	h.counts.Out(h.ladder.size[p.rung], size)
	return q
}

// allocSlow serves what the fast path refuses: size 0, alignments above MinBlock, growth and errors.
//
//go:noinline
func (h *Heap) allocSlow(size, al uintptr) (unsafe.Pointer, error) {
	if h.base == nil {
		return nil, memory.ErrClosed
	}
	if !align.Valid(al) {
		return nil, memory.ErrAlign
	}
	if size > h.limit {
		h.counts.Failed()
		return nil, memory.ErrTooLarge
	}
	n, step := h.grain.Count(size), h.grain.Step(al)
	off := h.find(n, step)
	for off == none { // again if a function of OnSoft has used the free memory
		if err := h.grow(n, step); err != nil {
			if h.base == nil {
				return nil, memory.ErrClosed // a function of OnSoft has ended the source
			}
			if h.counts.Failed(); err == errFull {
				err = nil
			}
			return nil, &memory.Exhausted{Op: h.mem.NameOr("buddy") + ": alloc", Need: size, Have: h.largestFree(), Limit: h.mem.Reserved(), Cause: err}
		}
		off = h.find(n, step)
	}
	return h.handOut(h.split(off, n, step), step, size), nil
}

// Free frees a block and merges it up the ladder. The parameter size is the size that was requested from Alloc or the
// last successful Resize. If p is nil, Free does nothing. Free panics with a *memory.Misuse before anything changes
// if p is not a live block of this heap, or has another size. Cost: at most a merge for each rung.
func (h *Heap) Free(p unsafe.Pointer, size uintptr) {
	if p == nil {
		return
	}
	at := h.grain.Index(h.base, p)
	if at >= uint64(len(h.entries)) || h.entries[at].state&handed == 0 || uintptr(h.entries[at].next) != size {
		panic(h.misuse("Free", p, size))
	}
	h.release(uint32(at))
}

// FreeAny is [Heap.Free] for a caller who does not know the size. If p is nil, FreeAny does nothing. FreeAny panics
// as Free does, but detects no wrong size.
func (h *Heap) FreeAny(p unsafe.Pointer) {
	if p == nil {
		return
	}
	at := h.grain.Index(h.base, p)
	if at >= uint64(len(h.entries)) || h.entries[at].state&handed == 0 {
		panic(h.misuse("FreeAny", p, 0))
	}
	h.release(uint32(at))
}

// release frees the block whose pointer is at unit at.
func (h *Heap) release(at uint32) {
	e := &h.entries[at]
	size, start := uintptr(e.next), at-e.prev
	b := &h.entries[start]
	if invariant.Debug {
		h.owner.Touch()
		h.poison(start, start+h.ladder.size[b.rung])
	}
	e.state &^= handed
	b.state = 0
	h.counts.In(h.ladder.size[b.rung], size)
	h.give(part{start, b.rung, b.side})
}

// Base returns the start of the reservation, to which offsets of blocks are relative. It is constant while the heap is
// open. If the heap is closed, Base returns nil.
func (h *Heap) Base() unsafe.Pointer { return h.base }

// Generation returns the number of blocks that have started at p so far, modulo 2^32, in debug builds (-tags memdebug
// or -race). In other builds, and for an address where no block can start, it returns 0. Package remote uses Generation
// to detect stale frees. Generation is safe for concurrent use, also after Close.
func (h *Heap) Generation(p unsafe.Pointer) uint32 { return h.lives.GenerationAt(p) }

// Owns reports whether p lies in the reservation. p need not be in a live block. If the memory has been released or
// the source has ended, Owns returns false.
func (h *Heap) Owns(p unsafe.Pointer) bool { return h.mem.Contains(p) }

// SizeOf returns the requested size in bytes of the live block at p, or the new size after a successful Resize. SizeOf
// panics with a *memory.Misuse if Alloc did not return p, or if the block is freed.
func (h *Heap) SizeOf(p unsafe.Pointer) uintptr {
	at := h.grain.Index(h.base, p)
	if at >= uint64(len(h.entries)) || h.entries[at].state&handed == 0 {
		panic(h.misuse("SizeOf", p, 0))
	}
	return uintptr(h.entries[at].next)
}

// Reset frees every block and keeps the committed memory. Cost: Reset clears 12 bytes for each committed unit, however
// many blocks there are.
func (h *Heap) Reset() {
	if h.base == nil {
		panic(h.misuse("Reset", nil, 0))
	}
	h.owner.Touch()
	h.counts.Reset()
	end := h.committed()
	clear(h.entries[:end])
	h.dropLists()
	h.poison(0, end)
	h.adopt(h.ladder.whole(), 0, end)
}

// Trim returns the free memory after the last live block to the page source, in whole pages, and keeps the addresses.
// If the source fails, the error wraps the source's error, and nothing has changed. If the function of
// page.Limit.OnSoft calls Trim during a commit of this Heap, Trim does nothing and returns nil.
func (h *Heap) Trim() error {
	if h.base == nil {
		return memory.ErrClosed
	}
	h.owner.Touch()
	before := h.committed()
	if err := h.mem.Trim(h.grain.Bytes(h.tail())); err != nil {
		return fmt.Errorf("buddy: trim: %w", err)
	}
	h.abandon(h.ladder.whole(), h.committed(), before)
	clear(h.entries[h.committed():before]) // as after a load: equal states have equal entries when they grow again
	return nil
}

// Close frees every block and releases the memory. Afterwards the caller must not use pointers into the heap. If the
// memory cannot be released, Close returns an error. Close also fails if the function of page.Limit.OnSoft calls it
// during a commit of this Heap. The heap is closed nevertheless, and another Close tries again to release the memory.
// After a Close that succeeded, and after the source has ended, Close does nothing and returns nil.
func (h *Heap) Close() error {
	if h.base != nil { // touches no block: if the source has ended, they have a new owner
		h.owner.Touch()
		h.counts.Reset()
		h.dropLists()
		h.base, h.limit, h.align, h.entries = nil, 0, 0, nil
	}
	if err := h.mem.Close(); err != nil {
		return fmt.Errorf("buddy: close: %w", err)
	}
	return nil
}

// Stats returns the statistics. Peak is exact. InUse counts whole blocks, so InUse - Requested is the waste of the
// ladder. The field Free counts the bytes in free blocks. Committed memory above the block of the top rung does not
// count. Cost: constant.
func (h *Heap) Stats() memory.Stats {
	s := h.counts.Stats(h.grain)
	s.Reserved, s.Committed = uint64(h.mem.Reserved()), uint64(h.mem.Committed())
	s.LargestFree = uint64(h.largestFree())
	s.Free = uint64(h.committed())<<h.grain - s.InUse
	return s
}

// largestFree returns the largest request in bytes that a free block can serve.
func (h *Heap) largestFree() uintptr {
	if h.mask == 0 {
		return 0
	}
	return min(h.grain.Bytes(h.ladder.size[bits.Len64(h.mask)-1]), h.limit)
}
