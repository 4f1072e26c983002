package slab

import (
	"math/bits"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
)

const (
	// stashBlocks is the room for one class in a cache: two batches, so that a worker that
	// frees and allocates around a full or an empty stash does not take the lock each time.
	stashBlocks = 2 * batchBlocks
	batchBlocks = 32

	// batchBytes bounds a batch of large blocks: no worker hoards more than twice this per
	// class, or two blocks.
	batchBytes = 32 << 10
)

// A Cache serves the allocations of one goroutine from small stacks of free blocks. When a stack is empty or full,
// the Cache moves up to half a stack from or to its [Central], under the lock. A block of a Central or of one of its
// Caches may be freed through the Central or any of its Caches.
//
// A block has the properties of a block of [Heap]. It stays valid until it is freed, until the Central is reset or
// closed, until a state without it is loaded, or until the page source ends. The Central cannot be reset or closed
// while a Cache is open. One goroutine at a time may use a Cache. When the goroutine ends, call Close: it returns the
// cached blocks to the Central.
//
// A Cache is closed after Close, and after the page source of its heap has ended. In a closed Cache, Alloc fails with
// memory.ErrClosed. Resize, Flush, and a Free or FreeAny of a block panic with a *memory.Misuse.
//
// Free makes the checks of Heap.Free. It also detects a double free through another Cache or the Central. If two
// goroutines free one block at the same time, one call succeeds and the other call panics. If the block was allocated
// again between the two frees, the second Free frees the new block, because both blocks have one address.
//
// These checks cost one compare-and-swap per Free. In BenchmarkShared, a pair of Alloc and Free takes 44 ns, without
// the checks 22 ns, through the Central 104 ns and on the Go heap 376 ns.
//
// Builds with memfast omit the compare-and-swap. These builds check the address range and the class, and refuse
// pointers into recycled spans. They detect a double free only when blocks move to the Central, and only if the class
// would have more free blocks than exist. The Free, FreeAny, Flush or Close that moves the blocks then panics.
type Cache struct {
	// Invariants, verified by Check:
	//
	//	(1) every class has a stash, whose batch follows from its size, and n <= 2*batch
	//	(2) every block in a stash lies in a span of its class, noted as stashed
	//	(3) rungs and span are those of the heap; rungs is 0 once closed

	central *Central
	base    unsafe.Pointer // the rest, down to place, is the heap's and does not move; base is nil once closed
	span    uintptr        // granules in the reservation
	ladder  *ladder
	owned   []uint8
	place   []uint8
	lent    lending // what is lost with the heap: no notes, no memory

	rungs   uintptr // entries of ladder.tab; 0 once closed
	stashes []stash // by class; nil once closed
	owner   invariant.Owner
}

// A stash is the cached blocks of one class, newest last, in granules from base.
type stash struct {
	n      uint32
	batch  uint32 // blocks that move at once; the stash is full at twice as many
	blocks [stashBlocks]uint32
}

// NewCache opens a cache of central. central must not be nil, and the caller must close the cache. If the heap is
// closed already, NewCache returns a closed cache. NewCache is safe for concurrent use. Cost: the lock, and about
// 260 bytes per size class in the Go heap.
func NewCache(central *Central) *Cache {
	central.mu.Lock()
	defer central.mu.Unlock()
	h := central.heap
	c := &Cache{central: central, ladder: &h.ladder}
	if h.base == nil {
		return c // as if closed
	}
	central.caches++
	c.base, c.span = h.base, uintptr(len(h.owned))*unitGranules
	c.owned, c.place, c.lent = h.owned, h.place, central.lent
	c.rungs = uintptr(len(h.ladder.tab))
	c.stashes = make([]stash, len(h.ladder.sizes))
	for i, size := range h.ladder.sizes {
		c.stashes[i].batch = batchOf(size)
	}
	return c
}

// batchOf returns how many blocks of a class move at once.
func batchOf(size uint32) uint32 { return min(max(batchBytes/size, 1), batchBlocks) }

// Alloc returns a block of at least size bytes. It fails and panics as [Heap.Alloc] does.
//
// Cost: constant, without the lock. If the cache has no free block of the class, Alloc takes the lock and moves up to
// 32 blocks from the Central. For a size above MaxSize, Alloc takes the lock in each call. With the lock the cost is
// that of Heap.Alloc.
func (c *Cache) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	i := (size - 1) >> granuleShift
	mask := align - 1
	if i >= c.rungs || mask/granule|align&mask != 0 {
		return c.allocRare(size, align)
	}
	p, err := c.pop(c.ladder.tab[i])
	if invariant.Debug && err == nil {
		c.begin(p, size)
	}
	return p, err
}

// begin notes in debug builds that the block at p was asked for with size bytes.
func (c *Cache) begin(p unsafe.Pointer, size uintptr) {
	c.central.heap.lives.Begin((uintptr(p)-uintptr(c.base))>>granuleShift, size)
}

func (c *Cache) pop(ci uint8) (unsafe.Pointer, error) {
	s := &c.stashes[ci]
	if s.n == 0 {
		n, err := c.central.take(ci, s.blocks[:s.batch])
		if err != nil {
			return nil, err
		}
		s.n = uint32(n)
	}
	off := uintptr(s.blocks[(s.n-1)%stashBlocks])
	n := c.lent.at(off)
	if n == nil || !invariant.Exact && (c.owned[off/unitGranules] != ci || c.place[off/unitGranules] == vacant) {
		return c.popLost(ci)
	}
	p := unsafe.Add(c.base, off<<granuleShift)
	if invariant.Debug {
		c.owner.Touch()
		verify(p, c.ladder.sizes[ci])
		invariant.Fresh(p, uintptr(c.ladder.sizes[ci]))
	}
	if invariant.Exact {
		n.set(off, used)
	}
	s.n--
	return p, nil
}

// popLost is pop where the next block has no notes: the heap is closed, or in a memfast build
// its span was recycled because of a double free, and is not ours any more.
//
//go:noinline
func (c *Cache) popLost(ci uint8) (unsafe.Pointer, error) {
	if c.central.closed() {
		return nil, memory.ErrClosed
	}
	c.stashes[ci].n--
	return c.pop(ci)
}

//go:noinline
func (c *Cache) allocRare(size, al uintptr) (unsafe.Pointer, error) {
	if c.stashes == nil {
		return nil, memory.ErrClosed
	}
	if !align.Valid(al) {
		return nil, memory.ErrAlign
	}
	if ci, ok := c.ladder.class(size, al); ok {
		p, err := c.pop(ci)
		if invariant.Debug && err == nil {
			c.begin(p, size)
		}
		return p, err
	}
	return c.central.Alloc(size, al)
}

// Free frees a block that was allocated from the Central or from any of its Caches. It panics as [Heap.Free] does. In
// memfast builds Free also panics if it detects an earlier double free of another block. The block p is then still
// live, and Free can be repeated.
//
// Cost: one compare-and-swap. If the cache is full for the class, Free takes the lock and moves up to 32 blocks to the
// Central. Free also takes the lock for each block of Config.Large, and for each block that the Heap allocated before
// [NewCentral].
func (c *Cache) Free(p unsafe.Pointer, size uintptr) {
	off := uintptr(bits.RotateLeft(uint(uintptr(p)-uintptr(c.base)), -granuleShift))
	i := (size - 1) >> granuleShift
	if i >= c.rungs || off >= c.span || c.owned[off/unitGranules] != c.ladder.tab[i] ||
		invariant.Debug && !c.central.heap.wasAsked(off, size) || !c.push(c.ladder.tab[i], off) {
		c.freeRare(p, size)
	}
}

// FreeAny is [Cache.Free] without the size. It panics as [Heap.FreeAny] does. In memfast builds it also panics if it
// detects an earlier double free, as Free does.
func (c *Cache) FreeAny(p unsafe.Pointer) {
	off := uintptr(bits.RotateLeft(uint(uintptr(p)-uintptr(c.base)), -granuleShift))
	if c.stashes == nil || off >= c.span || !c.push(c.owned[off/unitGranules], off) {
		c.freeAnyRare(p)
	}
}

// Generation returns the result of [Heap.Generation]. It is safe for concurrent use if Generation of Config.Large
// is.
func (c *Cache) Generation(p unsafe.Pointer) uint32 { return c.central.Generation(p) }

// push puts the block at off into its stash, or reports that it is not one that is used.
func (c *Cache) push(ci uint8, off uintptr) bool {
	n := c.lent.at(off)
	if n == nil || int(ci) >= len(c.stashes) || !invariant.Exact && c.place[off/unitGranules] == vacant {
		return false
	}
	s := &c.stashes[ci]
	if s.n == 2*s.batch { // before the note changes, and not for a block that is refused
		if invariant.Exact && n.state(off) != used {
			return false
		}
		c.flush("Free", s, s.batch)
	}
	if invariant.Exact && !n.move(off, used, stashed) {
		return false
	}
	if invariant.Debug {
		c.owner.Touch()
		invariant.Freed(unsafe.Add(c.base, off<<granuleShift), uintptr(c.ladder.sizes[ci]))
	}
	s.blocks[s.n%stashBlocks] = uint32(off)
	s.n++
	return true
}

//go:noinline
func (c *Cache) freeRare(p unsafe.Pointer, size uintptr) {
	if p == nil {
		return
	}
	if c.stashes == nil {
		panic(c.closed("Free", p))
	}
	off := uintptr(p) - uintptr(c.base)
	if off%granule == 0 && off>>granuleShift < c.span {
		off >>= granuleShift
		if ci := c.owned[off/unitGranules]; c.central.heap.serves(ci, off, size) && c.push(ci, off) {
			return
		}
	}
	c.central.Free(p, size) // of Large, older than the Central, or misuse, which the heap explains
}

//go:noinline
func (c *Cache) freeAnyRare(p unsafe.Pointer) {
	if p == nil {
		return
	}
	if c.stashes == nil {
		panic(c.closed("FreeAny", p))
	}
	c.central.FreeAny(p)
}

// flush takes the k oldest blocks of a stash home: the newest are the warm ones.
func (c *Cache) flush(op string, s *stash, k uint32) {
	var batch [stashBlocks]uint32
	copy(batch[:k], s.blocks[:k])
	copy(s.blocks[:], s.blocks[k:s.n])
	s.n -= k
	c.central.give(op, batch[:k])
}

// Flush returns every cached block to the Central. Call it at the end of a level, or before Trim, so that the spans of
// these blocks can be recycled. In memfast builds Flush panics if it detects a double free. Another Flush then returns
// the other blocks. Cost: the lock is taken once, and once for each class with cached blocks.
func (c *Cache) Flush() {
	if c.stashes == nil || c.central.closed() {
		panic(c.closed("Flush", nil))
	}
	c.flushAll("Flush")
}

func (c *Cache) flushAll(op string) {
	c.owner.Touch()
	for i := range c.stashes {
		if s := &c.stashes[i]; s.n > 0 {
			c.flush(op, s, s.n)
		}
	}
}

// Cached returns the number of blocks in the cache and the sum of their sizes. The statistics of the Central count
// cached blocks as live. If the cache is closed, both results are 0. Cost: proportional to the classes.
func (c *Cache) Cached() (blocks int, bytes uintptr) {
	for i := range c.stashes {
		s := &c.stashes[i]
		if s.n == 0 || c.lent.at(uintptr(s.blocks[0])) == nil {
			continue // nothing, or lost with the heap
		}
		blocks += int(s.n)
		bytes += uintptr(s.n) * uintptr(c.ladder.sizes[i])
	}
	return blocks, bytes
}

// Close returns every cached block to the Central. Blocks that the caller has allocated stay live, and may be freed
// through the Central or another Cache. A second Close does nothing. The error is always nil. In memfast builds Close
// panics if it detects a double free. The cache then stays open, and another Close continues.
func (c *Cache) Close() error {
	if c.stashes == nil {
		return nil
	}
	c.flushAll("Close")
	c.stashes, c.rungs, c.base = nil, 0, nil // no pointer into memory that the heap will unmap
	c.central.mu.Lock()
	defer c.central.mu.Unlock()
	c.central.caches--
	return nil
}

func (c *Cache) closed(op string, p unsafe.Pointer) *memory.Misuse {
	return &memory.Misuse{Package: "slab", Op: op, Addr: uintptr(p), Reason: "the cache is closed"}
}
