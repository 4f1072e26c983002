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

// A Cache is one worker's front of a [Central]: Alloc and Free work on small stacks of its
// own and move half a stack to or from the Central, under its lock, when one runs empty or
// full. A block may be freed through any Cache of the same Central, whoever allocated it.
//
// Blocks are as those of Heap, and are valid until freed or until the Central is closed. One
// goroutine at a time; when its worker ends, Close takes everything home.
//
// What Free checks at once is range, alignment and class. A double free and an interior
// pointer are found when the block goes back to the Central: that panics then, from a later
// Free, Flush or Close, and naming the block, but until then the block may have been handed
// out twice. Debug builds refuse interior pointers, and blocks that lie in the same cache, at
// once. Builds with memfast find neither.
type Cache struct {
	central *Central
	base    unsafe.Pointer // the rest, down to place, is the heap's and does not change
	span    uintptr        // granules in the reservation
	ladder  *ladder
	owned   []uint8
	place   []uint8

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

// NewCache opens a cache for one worker. Cost: about 260 bytes a class in the Go heap.
func NewCache(central *Central) *Cache {
	central.mu.Lock()
	defer central.mu.Unlock()
	h := central.heap
	c := &Cache{central: central, ladder: &h.ladder}
	if h.base == nil {
		return c // as if closed
	}
	central.caches++
	c.base, c.span = h.base, h.mem.Reserved()>>granuleShift
	c.owned, c.place = h.owned, h.place
	c.rungs = uintptr(len(h.ladder.tab))
	c.stashes = make([]stash, len(h.ladder.sizes))
	for i, size := range h.ladder.sizes {
		c.stashes[i].batch = min(max(batchBytes/size, 1), batchBlocks)
	}
	return c
}

// Alloc is Heap.Alloc.
func (c *Cache) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	i := (size - 1) >> granuleShift
	mask := align - 1
	if i >= c.rungs || mask/granule|align&mask != 0 {
		return c.allocRare(size, align)
	}
	return c.pop(c.ladder.tab[i])
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
	s.n--
	p := unsafe.Add(c.base, uintptr(s.blocks[s.n%stashBlocks])<<granuleShift)
	if invariant.Debug {
		c.owner.Touch()
		invariant.Fresh(p, uintptr(c.ladder.sizes[ci]))
	}
	return p, nil
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
		return c.pop(ci)
	}
	return c.central.Alloc(size, al)
}

// Free is Heap.Free, with the double free found later: see Cache.
func (c *Cache) Free(p unsafe.Pointer, size uintptr) {
	off := uintptr(bits.RotateLeft(uint(uintptr(p)-uintptr(c.base)), -granuleShift))
	i := (size - 1) >> granuleShift
	if i >= c.rungs || off >= c.span || c.owned[off/slabGranules] != c.ladder.tab[i] {
		c.freeRare(p, size)
		return
	}
	c.push(c.ladder.tab[i], off)
}

// FreeAny is Free for a block whose size the caller does not know.
func (c *Cache) FreeAny(p unsafe.Pointer) {
	off := uintptr(bits.RotateLeft(uint(uintptr(p)-uintptr(c.base)), -granuleShift))
	if c.stashes == nil || off >= c.span {
		c.freeAnyRare(p)
		return
	}
	c.push(c.owned[off/slabGranules], off)
}

func (c *Cache) push(ci uint8, off uintptr) {
	s := &c.stashes[ci]
	if invariant.Debug {
		c.debugFree(s, off)
	}
	if s.n == 2*s.batch {
		c.flush("Free", s, s.batch)
	}
	s.blocks[s.n%stashBlocks] = uint32(off)
	s.n++
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
		if ci := c.owned[off/slabGranules]; c.ladder.serves(ci, size) {
			c.push(ci, off)
			return
		}
	}
	c.central.Free(p, size) // a block of Large, or misuse, which the heap explains
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

// Flush takes every cached block home, at a quiet moment: the end of a level, before a Trim.
func (c *Cache) Flush() {
	if c.stashes == nil {
		panic(c.closed("Flush", nil))
	}
	c.owner.Touch()
	for i := range c.stashes {
		if s := &c.stashes[i]; s.n > 0 {
			c.flush("Flush", s, s.n)
		}
	}
}

// Cached returns the blocks in the cache, which the Central counts as live, and their bytes.
func (c *Cache) Cached() (blocks int, bytes uintptr) {
	for i := range c.stashes {
		n := c.stashes[i].n
		blocks += int(n)
		bytes += uintptr(n) * uintptr(c.ladder.sizes[i])
	}
	return blocks, bytes
}

// Close takes every cached block home; the blocks that the worker handed out live on. A
// second Close does nothing. The error is always nil.
func (c *Cache) Close() error {
	if c.stashes == nil {
		return nil
	}
	c.Flush()
	c.stashes, c.rungs = nil, 0
	c.central.mu.Lock()
	defer c.central.mu.Unlock()
	c.central.caches--
	return nil
}

func (c *Cache) closed(op string, p unsafe.Pointer) *memory.Misuse {
	return &memory.Misuse{Package: "slab", Op: op, Addr: uintptr(p), Reason: "the cache is closed"}
}

// debugFree looks at once for what other builds find when the block goes home, as far as it
// can without the lock: taking it would order the workers and hide their races.
func (c *Cache) debugFree(s *stash, off uintptr) {
	c.owner.Touch()
	p := unsafe.Add(c.base, off<<granuleShift)
	block := uintptr(c.ladder.sizes[c.owned[off/slabGranules]])
	first := off/slabGranules - uintptr(c.place[off/slabGranules])
	reason := ""
	if c.place[off/slabGranules] == vacant || (off-first*slabGranules)<<granuleShift%block != 0 {
		reason = "no block starts there"
	}
	for _, cached := range s.blocks[:s.n] {
		if uintptr(cached) == off {
			reason = "double free: the block lies in this cache"
		}
	}
	if reason != "" {
		panic(&memory.Misuse{Package: "slab", Op: "Free", Addr: uintptr(p), Reason: reason})
	}
	invariant.Freed(p, block)
}
