package tlsf

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/internal/tally"
	"github.com/strata-go/strata/memory/page"
)

// A Heap allocates blocks of any size in constant time. Free coalesces a block with its free neighbours.
//
// Blocks are not zeroed. They are aligned to Config.Granule, or to the alignment of Alloc if this alignment is larger.
// A block belongs to the caller and keeps its address until Free, FreeAny, Reset, Close, the load of a state without
// it, or the end of a page source. The collector does not scan blocks, so they must not contain Go pointers. One
// goroutine at a time may call a Heap. Only Generation is safe for concurrent use.
//
// A Heap is closed after Close, and after the page source of one of its pools has ended. In a closed Heap, Alloc,
// AddPool, Trim and TrimStep fail with memory.ErrClosed. If a source ends during one of these calls, the call fails in
// the same way. In a closed Heap, Resize, SizeOf, Reset, BeginEpoch, and a Free or FreeAny of a block panic with a
// *memory.Misuse.
//
// Builds with -race or -tags memdebug fill free memory with 0xDD. If free memory was written, the Alloc or Resize that
// uses this memory panics with a *memory.Misuse. The call has filled the memory again, so that a repeated call can
// succeed. A write past the end of a live block, into the block's last granule, is not detected.
type Heap struct {
	//	bitmaps   levels 0010…1 -> lists[l] 0…0100 -> a bin that has a free block
	//	                                               |
	//	blocks   | anchors: one per bin and per pool | b | b | b | spare | b | …    32 bytes each
	//	            list of bin:  anchor <-> b <-> b <-> anchor      free blocks of about one size
	//	            ring of pool: anchor <-> b <-> b <-> anchor      all blocks, in order of address
	//
	//	starts   | 517 | 0 | 0 | 0 | 523 | 0 | …   per granule of a pool: the live block that starts
	//	memory   | live block  | free    | live …  there, or 0. No list passes through the memory.
	//
	// Invariants, verified by Check in this order:
	//
	//	(1)  the granule and the limits of the fast path follow from the configuration
	//	(2)  a pool's ring starts at offset 0, has no gaps, ends at what is committed, and its
	//	     prev links mirror its next links
	//	(3)  no two neighbours are both free: coalescing is immediate but for waiting blocks
	//	(4)  starts[b.off] names b for each live block b, and all other starts are 0
	//	(5)  a live block has the granules that its request needs and no more (with quick stacks:
	//	     at most those of the bin), and b.bin is the bin of b.size in every block
	//	(6)  a free block is on the list of its bin, or alone on one of the lists of rooms, once, and
	//	     lists contain nothing else
	//	(7)  a list's bit is set if the list is not empty, a level's if one of its lists is not;
	//	     the level of the rooms has none, so that no search by size ends there
	//	(8)  a waiting block is on the quick stack of its bin; held is their sum, and held <= budget
	//	(9)  every descriptor is an anchor, or in one ring, or spare
	//	(10) counts agree with the live blocks
	//	(11) the memory of a dropped block was returned, and no other; no two of them are neighbours, and all are on
	//	     one list of their own

	fastSize  uintptr // largest request in bytes that the fast path takes: limit, or less than outgrown; 0 once closed
	fastAlign uintptr // alignments up to this one come free with the granule; 0 once closed
	far       uint32  // granules from which a request is cut from the far end: farBytes
	quick     *quick  // nil: coalescing is never deferred
	grain     align.Grain
	poolCount int // pools in use
	lives     [maxPools]invariant.Lives
	blocks    []block // the descriptors; the first are anchors
	spare     uint32  // unused descriptors, linked by nextFree

	counts tally.Counts // in granules

	bins  bins
	pools [maxPools]pool

	config Config // with the defaults filled in
	closed bool
	owner  invariant.Owner

	epoch   uint32 // of the blocks handed out now, which live ones have in prevFree
	onShort func() // see OnShort

	limit    uintptr    // the largest request in bytes; 0 once closed
	outgrown uintptr    // the size in bytes that Resize refused last, until it was asked for; 0: none
	drops    int        // dropped blocks
	turn     uint32     // which kept block becomes an ordinary one if all 16 lists are taken
	table    page.Table // of blocks
}

// Config configures [New]. New refuses values out of range.
type Config struct {
	// Reserve is the address space of the first pool in bytes, rounded up to granules and to page.Granule. 0 means 64
	// MiB. The maximum is 2^28 times Granule: 64 GiB with a Granule of 256. On 32-bit systems the maximum is almost 2
	// GiB. If the system refuses the addresses or the metadata, New halves Reserve until the system agrees, but not
	// below Step.
	Reserve uintptr
	// Granule is the unit of block sizes and offsets: a power of two from 16 bytes to 64 KiB. 0 means 256 bytes, which
	// suits blocks above 4 KiB. Every block is rounded up to a multiple of Granule. Use 16 for many small blocks. The
	// metadata takes 4 bytes per granule committed: 1/64 of the memory with 256, and 1/4 with 16. Alignments above Granule
	// can leave a free gap before the block.
	Granule uintptr
	// Step is the least number of bytes that Alloc or Resize commits at once. If the pool or a budget has fewer bytes
	// left, all of them are committed. If the page source refuses a step, only the bytes that are needed are committed.
	// Of memory that TrimStep has returned, at most one range is committed, which may be shorter. 0 means 1 MiB, or
	// Reserve if Reserve is less. Step must not exceed Reserve.
	Step uintptr
	// QuickBytes is the number of bytes of freed blocks that may wait, not coalesced, for the next request of about
	// their size. 0 means that no block waits. QuickBytes trades footprint for speed: requests are rounded up
	// further, and a later call coalesces all waiting blocks at once. See the package comment.
	QuickBytes uintptr
	// Blocks is the number of block descriptors, of 32 bytes each, that New allocates: at most 2^24. 0 means 1024. If
	// the heap has more blocks, Alloc, Resize or TrimStep makes more descriptors. This may copy all of them: see the
	// package comment. To avoid that pause set Blocks to the highest number of live and free blocks. A range of memory
	// that TrimStep has returned counts as a block.
	Blocks int
}

// withDefaults fills in the defaults. The error names the first wrong field.
func (c Config) withDefaults() (Config, error) {
	c.Reserve = cmp.Or(c.Reserve, 64<<20)
	c.Granule = cmp.Or(c.Granule, 256)
	c.Step = cmp.Or(c.Step, min(1<<20, c.Reserve))
	c.Blocks = cmp.Or(c.Blocks, 1024)
	if c.Granule < minGranule || c.Granule > maxGranule || c.Granule&(c.Granule-1) != 0 {
		return c, fmt.Errorf("config: Granule %d: want a power of two from %d to %d: %w", c.Granule, minGranule, maxGranule, memory.ErrConfig)
	}
	if c.Step > c.Reserve {
		return c, fmt.Errorf("config: Step %d: want at most %d, the Reserve: %w", c.Step, c.Reserve, memory.ErrConfig)
	}
	if c.Blocks < 0 || c.Blocks > maxDescriptors {
		return c, fmt.Errorf("config: Blocks %d: want 1 to %d: %w", c.Blocks, maxDescriptors, memory.ErrConfig)
	}
	return c, nil
}

const (
	minGranule = 16       // the smallest alignment that C's malloc gives, too
	maxGranule = 64 << 10 // page.BaseAlign: granules are aligned because the base is
	// maxBytes is the largest block: block.req has 32 bits.
	maxBytes = 1<<32 - 1

	startBytes = 4  // metadata per granule: an entry of pool.starts
	blockBytes = 32 // metadata per block
	// page.NewPrefixWithMetadata accepts metadata of at most 1 GiB.
	maxGranules    = 1 << 28
	maxDescriptors = 1 << 24 // and as much again is left for the starts
)

// New returns an empty heap. It reserves the first pool from src and commits no memory yet. A nil src means
// page.Default(). If a field is out of range, the error wraps memory.ErrConfig. If the Go heap has no space for the
// descriptors, the error wraps a *memory.Exhausted. If src fails, the error wraps the error of src. With an error the
// heap is nil, and New releases the reservation. If src cannot release the reservation, the addresses stay reserved.
func New(src page.Source, cfg Config) (*Heap, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("tlsf: new Heap: %w", err)
	}
	h := &Heap{
		config: cfg,
		grain:  align.GrainOf(cfg.Granule),
	}
	h.fastAlign = min(cfg.Granule, memory.MaxAlign)
	h.far = h.grain.Count(farBytes)
	if cfg.QuickBytes > 0 {
		h.quick = &quick{budget: uint64(cfg.QuickBytes) >> h.grain}
	}
	if err := h.addPool(src, cfg.Reserve, anchors+cfg.Blocks); err != nil {
		return nil, err
	}
	h.growBlocks(uintptr(anchors + cfg.Blocks))
	h.blocks = h.blocks[:anchors]
	h.dropAll()
	return h, nil
}

// Alloc returns a block of size bytes, aligned to align, a power of two from 1 to 4096. The block is not zeroed. A
// size of 0 gets a block of one granule.
//
// If align is invalid, the error is memory.ErrAlign. If size exceeds the largest pool or 4 GiB - 1, the error is or
// wraps memory.ErrTooLarge: see page.Prefix.TooLarge. If the pools, a budget or the system's memory is exhausted, or a
// page source fails, the error is a *memory.Exhausted. Its Cause is the error of the source or of package page, or nil.
// A failed Alloc may have committed a part of the memory that TrimStep has returned. The function of page.Limit.OnSoft
// runs while a pool grows. If it calls Alloc or Resize, and this call must commit memory in the same pool, the call
// panics with a *memory.Misuse.
//
// Cost: constant. If no free block fits, Alloc commits memory as described at Config.Step. For more metadata it makes
// a system call, or copies the metadata: see the package comment. If the heap cannot grow, Alloc coalesces the blocks
// that wait because of Config.QuickBytes and tries again. If this fails, too, Alloc calls the function of OnShort, if
// there is one, and tries one last time.
func (h *Heap) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	mask := align - 1
	if size-1 >= h.fastSize || mask >= h.fastAlign || align&mask != 0 {
		return h.allocSlow(size, align)
	}
	n := h.grain.Count(size)
	b := binAbove(n)
	if q := h.quick; q != nil {
		n = binSize(b)
		if i := q.pop(h.blocks, b); i != 0 {
			x := &h.blocks[i]
			x.prevFree = h.epoch
			return h.handOut(i, x, size), nil
		}
	}
	i := h.blocks[h.bins.locateFree(b)].nextFree
	if i == 0 {
		return h.allocSlow(size, align)
	}
	x := &h.blocks[i]
	h.unlink(x)
	if x.size != n {
		if n >= h.far && x.next >= maxPools {
			i, x = h.splitFar(i, n)
		} else {
			x = h.split(i, n)
		}
	}
	x.prevFree = h.epoch // not in handOut, which would no longer inline
	return h.handOut(i, x, size), nil
}

// handOut makes i the live block of a request of size bytes and returns its address.
func (h *Heap) handOut(i uint32, x *block, size uintptr) unsafe.Pointer {
	home := &h.pools[x.pool&(maxPools-1)]
	p := unsafe.Add(home.base, h.grain.Bytes(x.off))
	if invariant.Debug {
		h.owner.Touch()
		h.verify(i, x, p)
		invariant.Fresh(p, size)
	}
	if invariant.Debug {
		h.lives[x.pool&(maxPools-1)].Begin(uintptr(x.off), size)
	}
	x.state = live
	x.req = uint32(size)
	h.counts.Out(x.size, size)
	home.starts[x.off] = i
	return p
}

// allocSlow serves what the fast path refuses: size 0, alignments above the granule, growth,
// the last search before giving up, and errors.
//
//go:noinline
func (h *Heap) allocSlow(size, al uintptr) (unsafe.Pointer, error) {
	if h.closed {
		return nil, memory.ErrClosed
	}
	if !align.Valid(al) {
		return nil, memory.ErrAlign
	}
	if size > h.limit {
		h.counts.Failed()
		return nil, h.pools[0].mem.TooLarge(size)
	}
	exact, step := h.grain.Count(size), h.grain.Step(al)
	n := exact
	if h.quick != nil {
		n = binSize(binAbove(exact)) // so that the quick stack can serve it again
	}
	i, grows := uint32(0), h.arrives(size)
	if grows {
		i = h.roomy(n, step)
	}
	if i == 0 {
		i = h.find(n, step)
	}
	if i == 0 && n != exact { // rounding is no reason to commit more memory
		i = h.find(exact, step)
	}
	var err error
	if i == 0 {
		i, err = h.more(n, step)
	}
	if i == 0 && (h.flushQuick() || n != exact) {
		if i = h.find(exact, step); i == 0 {
			i, err = h.more(exact, step)
		}
	}
	if i == 0 && h.onShort != nil && !h.closed {
		i, err = h.askAround(exact, step)
	}
	if h.closed {
		return nil, memory.ErrClosed // a function of OnSoft or OnShort has closed the source
	}
	if i == 0 {
		h.counts.Failed()
		full := &memory.Exhausted{Op: h.pools[0].mem.NameOr("tlsf") + ": alloc", Need: size, Have: h.largestFree(), Limit: h.reserved(), Cause: err}
		if err == nil {
			full.Op, full.Advice = h.pools[0].mem.NameOr("tlsf")+": reservation", h.pools[0].mem.Advice()
		}
		return nil, full
	}
	if !h.blocks[i].holds(n, step) {
		n = exact
	}
	i, x := h.carve(i, n, step)
	x.prevFree = h.epoch
	p := h.handOut(i, x, size)
	if grows {
		h.keepRoom(i)
	}
	return p, nil
}

// find returns a free block with n granules at a multiple of step granules, or 0.
func (h *Heap) find(n, step uint32) uint32 {
	if i := h.blocks[h.bins.locateFree(binAbove(n+step-1))].nextFree; i != 0 {
		return i
	}
	if i := h.searchExact(n, step); i != 0 {
		return i
	}
	return h.takeRoom(n, step)
}

// Free frees a block and coalesces it with its free neighbours. With Config.QuickBytes the block may wait for a later
// call that coalesces it. Size is the requested size of the block in bytes, or the new size after a successful
// Resize. Free of nil does nothing. If p is not the start of a live block of this heap, or size is wrong, Free panics
// with a *memory.Misuse and changes nothing. Cost: constant.
func (h *Heap) Free(p unsafe.Pointer, size uintptr) {
	first := &h.pools[0]
	g := h.grain.Index(first.base, p)
	if g >= uint64(len(first.starts)) {
		h.freeElsewhere(p, size)
		return
	}
	i := first.starts[g]
	x := &h.blocks[i]
	if i == 0 || uintptr(x.req) != size {
		panic(h.misuse("Free", p, size))
	}
	first.starts[g] = 0
	h.account(x, p)
	if q := h.quick; q != nil && q.push(i, x) {
		return
	}
	// coalesce, inlined by hand: no call if there is nothing to merge
	if h.blocks[x.next].state == free {
		h.mergeNext(i, x)
	}
	if h.blocks[x.prev].state == free {
		i, x = h.mergePrev(x)
	}
	h.link(i, x)
}

// freeElsewhere is Free for the pools that were added, for nil, and for pointers to no block.
//
//go:noinline
func (h *Heap) freeElsewhere(p unsafe.Pointer, size uintptr) {
	if p == nil {
		return
	}
	i := h.startOf(p)
	x := &h.blocks[i]
	if i == 0 || uintptr(x.req) != size {
		panic(h.misuse("Free", p, size))
	}
	h.pools[x.pool].starts[x.off] = 0
	h.release(i, x, p)
}

// FreeAny is Free without the size; FreeAny of nil does nothing. FreeAny makes all other checks of Free.
func (h *Heap) FreeAny(p unsafe.Pointer) {
	if p == nil {
		return
	}
	i := h.startOf(p)
	if i == 0 {
		panic(h.misuse("FreeAny", p, 0))
	}
	x := &h.blocks[i]
	h.pools[x.pool&(maxPools-1)].starts[x.off] = 0
	h.release(i, x, p)
}

// release takes back the live block i at p, whose start is cleared already.
func (h *Heap) release(i uint32, x *block, p unsafe.Pointer) {
	h.account(x, p)
	if q := h.quick; q != nil && q.push(i, x) {
		return
	}
	h.coalesce(i, x)
}

// account takes the block x at p out of the sums over live blocks.
func (h *Heap) account(x *block, p unsafe.Pointer) {
	if invariant.Debug {
		h.owner.Touch()
		invariant.Freed(p, h.grain.Bytes(x.size))
	}
	h.counts.In(x.size, uintptr(x.req))
}

// Base returns the first address of the pool, to which offsets of blocks are relative. On a heap with more than one
// pool, and on a closed heap, Base returns nil.
func (h *Heap) Base() unsafe.Pointer {
	if h.poolCount != 1 {
		return nil
	}
	return h.pools[0].base
}

// Generation returns how many blocks have started at p, modulo 2^32, in builds with -race or -tags memdebug. Package
// remote uses this number to detect stale frees. In other builds, and if no block has started at p, Generation
// returns 0. Generation is safe for concurrent use, also after Close.
func (h *Heap) Generation(p unsafe.Pointer) (n uint32) {
	for k := range h.lives {
		n += h.lives[k].GenerationAt(p) // of one pool at most
	}
	return n
}

// Owns reports whether p lies in the address space of one of the heap's pools, whether or not in a live block. After
// Close it reports whether p lies in memory that could not be released yet. Cost: proportional to the pools, at most
// 16.
func (h *Heap) Owns(p unsafe.Pointer) bool { return h.poolOf(p) != nil }

// SizeOf returns the requested size in bytes of the live block at p, or the new size after a successful Resize. If p is
// not the start of a live block, SizeOf panics with a *memory.Misuse. Cost: constant for a block of the first pool. For
// other pools it is the cost of Owns.
func (h *Heap) SizeOf(p unsafe.Pointer) uintptr {
	i := h.startOf(p)
	if i == 0 {
		panic(h.misuse("SizeOf", p, 0))
	}
	return uintptr(h.blocks[i].req)
}

// Reset frees every block and keeps the committed memory. Cost: Reset clears 4 bytes per committed granule, however
// many blocks there are.
func (h *Heap) Reset() {
	if h.closed {
		panic(h.misuse("Reset", nil, 0))
	}
	h.owner.Touch()
	h.counts.Reset()
	h.dropAll()
	h.serve(h.limit)
	if h.quick != nil {
		*h.quick = quick{budget: h.quick.budget}
	}
	for k := range h.poolCount {
		pl := &h.pools[k]
		end := h.committed(pl)
		clear(pl.starts[:end])
		h.layOut(k)
	}
}

// Close frees every block and releases the memory of every pool. Pointers into the heap are dangling afterwards. If
// memory cannot be released, Close returns the joined errors of the page sources. Close also fails if the function
// of page.Limit.OnSoft calls it during a commit of this heap. In both cases the heap is closed nevertheless, and a
// second Close tries again to release the memory. After a successful Close a second Close does nothing. If the page
// source of a pool is closed, the whole heap is closed, and the memory of its other pools is released.
func (h *Heap) Close() error {
	if !h.closed { // touches no block: if the source has ended, their addresses may be in use elsewhere
		h.owner.Touch()
		h.counts.Reset()
		h.dropAll()
		h.closed, h.quick = true, nil
		h.serve(0)
		for k := range h.poolCount { // of all, before the source of one may panic
			h.pools[k].base, h.pools[k].starts = nil, nil
			h.pools[k].table.Release()
		}
		h.blocks = slices.Clone(h.blocks) // the anchors, which calls of a closed heap read
		h.table.Release()
	}
	var errs []error
	for k := range h.poolCount {
		if err := h.pools[k].mem.Close(); err != nil {
			errs = append(errs, fmt.Errorf("tlsf: close pool %d: %w", k, err))
		}
	}
	return errors.Join(errs...)
}
