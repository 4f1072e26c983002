package freelist

import (
	"cmp"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/internal/tally"
	"github.com/strata-go/strata/memory/page"
)

// A Heap allocates blocks of any size from one list of free runs in the order of addresses. A search reads 8 bytes
// for each run, and Free finds both neighbours by binary search.
//
//	memory   | live      | free  | live | free             | - - not committed - -
//	live     | n+1 0 0 0 | 0 0 0 | n+1  | 0 0 0 0 …          by granule: 1 + requested bytes,
//	                                                         where a live block starts
//	runs       {4, 3}, {9, 7}                                the free memory: offset and size
//
// Blocks are not zeroed, and are aligned at least to Config.Granule. They belong to the caller until Free, FreeAny,
// Reset or Close, until a state without them is loaded, or until the page source ends (see [page.Watched]). A Heap
// belongs to one goroutine at a time. A Heap is closed after Close, also if Close fails, and after its page source has
// ended. In a closed Heap, Alloc and Trim fail with memory.ErrClosed. If the source ends during one of these calls, the
// call fails in the same way. In a closed Heap, SizeOf, Resize, Reset, and a Free or FreeAny of a block panic with a
// *memory.Misuse.
//
// Builds with -race or -tags memdebug fill all free memory with 0xDD. If a byte of free memory was written, the Alloc
// or Resize that would use this memory panics with a *memory.Misuse and changes no block. The call may have committed
// memory. It has filled the free memory again, so that a repeated call can succeed. A write after the last byte of a
// live block, into its last granule, is not detected.
type Heap struct {
	// Invariants, verified by Check in this order:
	//
	//	(1) the granule, the limit of the fast path and the live map follow from configuration
	//	    and reservation; the reservation passes its own Check
	//	(2) runs ascend, are not empty, and do not touch: coalescing is immediate
	//	(3) live blocks and runs tile the committed memory without gap or overlap
	//	(4) live is 0 wherever no live block starts
	//	(5) counts agree with the live blocks
	//	(6) rover lies within the committed memory
	base   unsafe.Pointer // aligned to page.BaseAlign; nil once closed
	limit  uintptr        // largest request in bytes; 0 once closed, so that every Alloc takes the slow path
	align  uintptr        // alignments up to this one follow from the granule; 0 once closed
	live   []uint32       // by granule of the reservation
	runs   []run
	rover  uint32 // NextFit: granules; where the last search ended
	grain  align.Grain
	policy Policy

	counts tally.Counts // in granules
	lives  invariant.Lives
	mem    page.Prefix
	owner  invariant.Owner
}

// Config configures [New]. New refuses values out of range.
type Config struct {
	// Reserve is the address space in bytes, and so the largest number of bytes in use. It is rounded up to a multiple
	// of 16 KiB. The maximum is 2^28 times Granule: 16 GiB with a Granule of 64. On 32-bit systems the maximum is almost
	// 2 GiB. 0 means 64 MiB. If the system refuses the reservation or its metadata, New halves the reservation, down to
	// 16 KiB.
	Reserve uintptr
	// Policy selects the free run that serves a request, among those that are large enough.
	Policy Policy
	// Granule is the unit of block sizes and offsets: a power of two from 8 bytes to 16 KiB. 0 means 64 bytes, a cache
	// line, so that no two blocks share a cache line. The size of every block is rounded up to a multiple of Granule. The
	// metadata takes 4 bytes for each reserved granule.
	Granule uintptr
}

const (
	minGranule = 8            // a word, the smallest unit that most programs address
	maxGranule = page.Granule // so that committed memory is whole granules

	// maxBytes is the largest block: the live map stores its size plus 1 in 32 bits.
	maxBytes  = 1<<32 - 2
	liveBytes = 4 // of metadata for a granule: an entry of the live map
	// maxGranules: page.NewPrefixWithMetadata allows 1 GiB of metadata at most.
	maxGranules = 1 << 28
	// firstRuns is the first capacity of the list of runs: 4 KiB. It doubles.
	firstRuns = 512
)

// New returns a Heap with a reservation of src; nothing is committed. If src is nil, it is page.Default(). If a field
// is out of range, the error wraps memory.ErrConfig. If src fails, the error wraps the error that
// page.NewPrefixWithMetadata returns. If the Go heap has no space for the metadata, the error wraps a
// *memory.Exhausted. If New fails, it releases the reservation. If src cannot release the reservation, the addresses
// stay reserved.
func New(src page.Source, cfg Config) (*Heap, error) {
	cfg.Reserve = cmp.Or(cfg.Reserve, 64<<20)
	cfg.Granule = cmp.Or(cfg.Granule, 64)
	if cfg.Granule < minGranule || cfg.Granule > maxGranule || cfg.Granule&(cfg.Granule-1) != 0 {
		return nil, fmt.Errorf("freelist: new Heap: Granule %d: want a power of two from %d to %d: %w", cfg.Granule, minGranule, maxGranule, memory.ErrConfig)
	}
	if cfg.Policy > WorstFit {
		return nil, fmt.Errorf("freelist: new Heap: %v: want FirstFit, NextFit, BestFit or WorstFit: %w", cfg.Policy, memory.ErrConfig)
	}
	if most := maxGranules * uint64(cfg.Granule); uint64(cfg.Reserve) > most {
		return nil, fmt.Errorf("freelist: new Heap: Reserve %d: want at most %d with a Granule of %d: %w", cfg.Reserve, most, cfg.Granule, memory.ErrConfig)
	}
	grain := align.GrainOf(cfg.Granule)
	mem, err := page.NewPrefixWithMetadata(src, cfg.Reserve, page.Granule, 0,
		func(reserved uintptr) uint64 { return uint64(reserved>>grain) * liveBytes })
	if err != nil {
		return nil, fmt.Errorf("freelist: new Heap of %d bytes: %w", cfg.Reserve, err)
	}
	h := &Heap{
		base:   mem.Base(),
		limit:  uintptr(min(uint64(mem.Reserved()), maxBytes)),
		align:  min(cfg.Granule, memory.MaxAlign),
		live:   make([]uint32, mem.Reserved()>>grain),
		runs:   make([]run, 0, firstRuns),
		grain:  grain,
		policy: cfg.Policy,
		mem:    mem,
	}
	h.lives.Open(h.base, h.mem.Reserved(), uint(grain))
	h.mem.Watch(func() { _ = h.Close() }) // touches no block
	return h, nil
}

// Alloc returns a block of size bytes, aligned to align, a power of two up to 4096. The block is not zeroed. If size is
// 0, Alloc returns a block of one granule. If align is invalid, the error is memory.ErrAlign. If size exceeds the
// reservation or 4 GiB less 2 bytes, the error is memory.ErrTooLarge. If the reservation, the budget or the system is
// exhausted, or if the source fails, the error is a *memory.Exhausted. Cost: proportional to the free runs, and a
// system call if the heap grows.
//
// If the function of page.Limit.OnSoft calls Alloc or Resize during a commit of this heap, and the call must commit
// memory, the call panics with a *memory.Misuse.
func (h *Heap) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	mask := align - 1
	if size-1 >= h.limit || mask >= h.align || align&mask != 0 {
		return h.allocSlow(size, align)
	}
	n := h.grain.Count(size)
	k := h.search(n, 1)
	if k < 0 {
		return h.allocSlow(size, align)
	}
	return h.handOut(k, h.runs[k].off, n, size), nil
}

// handOut makes n granules at off, which lie in run k, the live block of a request of size bytes, and returns its
// address.
func (h *Heap) handOut(k int, off, n uint32, size uintptr) unsafe.Pointer {
	p := unsafe.Add(h.base, h.grain.Bytes(off))
	if invariant.Debug {
		h.owner.Touch()
		verify("Alloc", p, h.grain.Bytes(n))
		h.lives.Begin(uintptr(off), size)
		invariant.Fresh(p, size)
	}
	h.cut(k, off, n)
	h.rover = off + n
	h.live[off] = uint32(size) + 1
	h.counts.Out(n, size)
	return p
}

// allocSlow serves what the fast path refuses: size 0, alignments above the granule, growth and errors.
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
	k := h.search(n, step)
	for k < 0 { // again if a function of OnSoft has used the free memory
		if err := h.grow(align.UpTo(h.tail(), step) + n); err != nil {
			if h.base == nil {
				return nil, memory.ErrClosed // a function of OnSoft has ended the source
			}
			if h.counts.Failed(); err == errFull {
				err = nil
			}
			return nil, &memory.Exhausted{Op: h.mem.NameOr("freelist") + ": alloc", Need: size, Have: h.largestFree(), Limit: h.mem.Reserved(), Cause: err}
		}
		if last := len(h.runs) - 1; last >= 0 && h.runs[last].holds(n, step) {
			k = last // the new memory
		}
	}
	return h.handOut(k, align.UpTo(h.runs[k].off, step), n, size), nil
}

// Free frees a block and merges it with its free neighbours. The parameter size is the size that was requested from
// Alloc or the last successful Resize. If p is nil, Free does nothing. Free panics with a *memory.Misuse before
// anything changes if p is not the start of a live block of this heap, or has another size. Cost: a binary search of
// the free runs. Unless exactly one neighbour is free, 8 bytes are moved for each run after the block.
func (h *Heap) Free(p unsafe.Pointer, size uintptr) {
	if p == nil {
		return
	}
	off := h.grain.Index(h.base, p)
	if off >= uint64(len(h.live)) || h.live[off] == 0 || uintptr(h.live[off]-1) != size {
		panic(h.misuse("Free", p, size))
	}
	h.release(uint32(off), size)
}

// FreeAny is [Heap.Free] for a caller who does not know the size. If p is nil, FreeAny does nothing. FreeAny panics
// as Free does, but detects no wrong size.
func (h *Heap) FreeAny(p unsafe.Pointer) {
	if p == nil {
		return
	}
	off := h.grain.Index(h.base, p)
	if off >= uint64(len(h.live)) || h.live[off] == 0 {
		panic(h.misuse("FreeAny", p, 0))
	}
	h.release(uint32(off), uintptr(h.live[off]-1))
}

// release frees the live block at off, requested with size bytes.
func (h *Heap) release(off uint32, size uintptr) {
	n := h.grain.Count(size)
	if invariant.Debug {
		h.owner.Touch()
		h.poison(off, off+n)
	}
	h.live[off] = 0
	h.counts.In(n, size)
	h.give(off, n)
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
// panics with a *memory.Misuse if no live block starts at p.
func (h *Heap) SizeOf(p unsafe.Pointer) uintptr {
	off := h.grain.Index(h.base, p)
	if off >= uint64(len(h.live)) || h.live[off] == 0 {
		panic(h.misuse("SizeOf", p, 0))
	}
	return uintptr(h.live[off] - 1)
}

// Reset frees every block and keeps the committed memory. Cost: Reset clears 4 bytes for each committed granule,
// however many blocks there are.
func (h *Heap) Reset() {
	if h.base == nil {
		panic(h.misuse("Reset", nil, 0))
	}
	h.owner.Touch()
	h.counts.Reset()
	h.rover = 0
	end := h.committed()
	clear(h.live[:end])
	h.runs = h.runs[:0]
	if end > 0 {
		h.poison(0, end)
		h.runs = append(h.runs, run{0, end})
	}
}

// Trim returns the free memory at the end of the heap to the page source, in whole pages, and keeps the addresses. If
// the source fails, the error wraps the source's error, and nothing has changed. If the function of page.Limit.OnSoft
// calls Trim during a commit of this Heap, Trim does nothing and returns nil.
func (h *Heap) Trim() error {
	if h.base == nil {
		return memory.ErrClosed
	}
	h.owner.Touch()
	tail := h.tail()
	if err := h.mem.Trim(h.grain.Bytes(tail)); err != nil {
		return fmt.Errorf("freelist: trim: %w", err)
	}
	end := h.committed()
	if k := len(h.runs) - 1; k >= 0 && h.runs[k].off == tail {
		h.runs[k].size = end - tail
		if end == tail {
			h.runs = h.runs[:k]
		}
	}
	h.rover = min(h.rover, end)
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
		h.rover = 0
		h.base, h.limit, h.align = nil, 0, 0
		h.live, h.runs = nil, nil
	}
	if err := h.mem.Close(); err != nil {
		return fmt.Errorf("freelist: close: %w", err)
	}
	return nil
}

// Stats returns the statistics. Peak is exact. InUse counts whole granules. Cost: proportional to the free runs,
// because of LargestFree.
func (h *Heap) Stats() memory.Stats {
	s := h.counts.Stats(h.grain)
	s.Reserved, s.Committed = uint64(h.mem.Reserved()), uint64(h.mem.Committed())
	s.LargestFree = uint64(h.largestFree())
	s.Free = uint64(h.committed())<<h.grain - s.InUse
	return s
}
