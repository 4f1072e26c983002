package slab

import (
	"fmt"
	"math/bits"
	"sync"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
)

// A Central makes a [Heap] safe for concurrent use: each method except Generation and States locks a mutex and calls
// the method of Heap. Any goroutine may call a Central. To lock less often, give each goroutine a [Cache] of the
// Central: a Cache takes the lock once for a batch of blocks.
//
// Blocks in caches count as live in Stats. A block of a Central or of one of its Caches may be freed through the
// Central or any of its Caches. Such a block must not be passed to a method of the Heap.
//
// If the page source or Config.Large calls a function during a call of the heap, such as the function of
// [page.Limit.OnSoft], the lock is held. This function must not call the Central or a Cache. The lock does not protect
// against the end of the page source. Before you close the source, for example a manager or a [page.Carve], stop the
// goroutines that use the Central or a Cache. They would fault when they access their blocks.
type Central struct {
	// Invariant, verified by Check besides those of Heap: caches is not negative.

	mu     sync.Mutex
	heap   *Heap
	lent   lending
	caches int // that are open
}

// NewCentral returns a Central that shares h. After this call use the Central instead of h, also to free blocks that h
// allocated before. The function of [Heap.OnShort] is not called any more. The Central calls Config.Large with the lock
// held, in the goroutine of the caller. Other code must not use Large at the same time, unless Large is safe for
// concurrent use. A second call for h returns the existing Central. If h is closed, before this call or later, the
// Central is closed, too. NewCentral itself is not safe for concurrent use.
//
// NewCentral allocates about 2.1 bytes for each reserved KiB in the Go heap. Later each range of 64 KiB with blocks of
// the Central takes 4 KiB there, except in memfast builds.
//
// The error wraps memory.ErrConfig if h is nil, and memory.ErrOutOfMemory if the Go heap has no space for this
// metadata. If NewCentral fails, h is unchanged.
func NewCentral(h *Heap) (*Central, error) {
	if h == nil {
		return nil, fmt.Errorf("slab: new Central: the heap is nil: %w", memory.ErrConfig)
	}
	if h.central == nil {
		units := h.mem.Reserved() >> unitShift
		lent := (units*unitGranules + noteGranules - 1) / noteGranules
		if err := page.ProbeHeap(2*units + lent*unsafe.Sizeof(lending{}[0])); err != nil {
			return nil, fmt.Errorf("slab: new Central: no memory for the metadata of %d bytes reserved: %w", h.mem.Reserved(), err)
		}
		h.growMaps(units)
		h.central = &Central{heap: h, lent: make(lending, lent)}
	}
	return h.central, nil
}

// Alloc returns a block of at least size bytes. It fails and panics as [Heap.Alloc] does. Safe for concurrent use.
func (c *Central) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.heap
	p, err := h.Alloc(size, align)
	if off, ok := h.granule(p); ok && err == nil {
		c.lent.lend(off, used)
		if invariant.Exact {
			*h.word(off) &^= 1 << (off & 63)
		}
	}
	return p, err
}

// Free frees a block that was allocated from the Central or from one of its Caches. It panics as [Heap.Free] does. A
// block that was freed through a Cache is free: a second Free panics as a second Heap.Free does. Safe for concurrent
// use.
func (c *Central) Free(p unsafe.Pointer, size uintptr) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.heap
	off, ok := h.granule(p)
	if !ok || c.lent.state(off) == home {
		h.Free(p, size)
		return
	}
	if !h.serves(*h.owner8(off), off, size) || !c.takeHome(off) {
		panic(h.reject("Free", p, size))
	}
}

// FreeAny is [Central.Free] without the size. It panics as [Heap.FreeAny] does. Safe for concurrent use.
func (c *Central) FreeAny(p unsafe.Pointer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	off, ok := c.heap.granule(p)
	if !ok || c.lent.state(off) == home {
		c.heap.FreeAny(p)
		return
	}
	if !c.takeHome(off) {
		panic(c.heap.reject("FreeAny", p, 0))
	}
}

// takeHome frees a block that is lent, unless it lies in a cache or is freed there just now.
func (c *Central) takeHome(off uintptr) bool {
	if !c.lent.at(off).move(off, used, home) {
		return false
	}
	if invariant.Debug {
		c.heap.debugFree(off)
	}
	c.heap.putBack(off)
	return true
}

// Base returns the address from which offsets of blocks count, or nil, as [Heap.Base]. Safe for concurrent use.
func (c *Central) Base() unsafe.Pointer {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.heap.Base()
}

// Generation returns the result of [Heap.Generation]. It does not take the lock. Safe for concurrent use if
// Generation of Config.Large is.
func (c *Central) Generation(p unsafe.Pointer) uint32 { return c.heap.Generation(p) }

// Owns reports whether p lies in the reservation of the heap, as [Heap.Owns]. Safe for concurrent use.
func (c *Central) Owns(p unsafe.Pointer) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.heap.Owns(p)
}

// SizeOf returns the usable size of a live block in bytes. It panics as [Heap.SizeOf] does. Safe for concurrent use.
func (c *Central) SizeOf(p unsafe.Pointer) uintptr {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.heap
	if off, ok := h.granule(p); ok && c.lent.state(off) == used {
		return uintptr(h.ladder.sizes[*h.owner8(off)])
	}
	return h.SizeOf(p)
}

// Trim recycles empty spans and returns memory, as [Heap.Trim]. It fails as Heap.Trim does. Cached blocks count as
// live, so their spans are not recycled: call Flush on each Cache first. Safe for concurrent use.
func (c *Central) Trim() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.heap.Trim()
}

// Reset frees every block, as [Heap.Reset]. Reset panics with a *memory.Misuse while a Cache is open, and if the heap
// is closed. Safe for concurrent use.
func (c *Central) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heap.Reset()
}

// Classes yields the statistics of every size class, as [Heap.Classes]. The lock is held while yield runs. The
// function yield must not call the Central or one of its Caches, or close the page source: a call that takes the lock
// would deadlock. Safe for concurrent use.
func (c *Central) Classes(yield func(ClassStats) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heap.Classes(yield)
}

// Stats returns the statistics of the heap, as [Heap.Stats]. Blocks in Caches count as allocated and live. Safe for
// concurrent use.
func (c *Central) Stats() memory.Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.heap.Stats()
}

// Check returns the errors in the metadata of the heap and the Central, or nil, as [Heap.Check]. Safe for concurrent
// use.
func (c *Central) Check() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.heap.Check()
}

// Close closes the heap, and fails as [Heap.Close] does. The blocks of Config.Large stay allocated, and Large stays
// open. If the heap is open and a Cache is open, Close returns an error and changes nothing. Safe for concurrent use.
func (c *Central) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.heap.Close()
}

func (c *Central) closed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.heap.base == nil
}

// take pops up to len(out) blocks of class ci, at least one.
func (c *Central) take(ci uint8, out []uint32) (n int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.heap
	if h.base == nil {
		return 0, memory.ErrClosed
	}
	if h.classes[ci].n == 0 {
		if err := h.refill(ci); err != nil {
			h.refused++
			return 0, h.full(err, uintptr(h.ladder.sizes[ci]))
		}
	}
	h.owner.Touch()
	cl := &h.classes[ci]
	n = min(len(out), int(cl.n))
	free := cl.free()
	copy(out, free[len(free)-n:])
	cl.n -= uint32(n)
	cl.allocs += uint64(n)
	for _, off := range out[:n] {
		c.lent.lend(uintptr(off), stashed)
	}
	return n, nil
}

// give takes the blocks of a cache home. In memfast builds a block that was freed twice may be
// among them: it does not keep the others away, and is reported by a panic after them where it
// would overrun the stack.
func (c *Central) give(op string, blocks []uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.heap
	if h.base == nil {
		return
	}
	h.owner.Touch()
	var bad *memory.Misuse
	for _, b := range blocks {
		off := uintptr(b)
		if off < h.limit && h.hasRoom(off) && (!invariant.Exact || c.lent.at(off).move(off, stashed, home)) {
			h.putBack(off)
		} else if bad == nil {
			bad = h.reject(op, unsafe.Add(h.base, off<<granuleShift), 0)
		}
	}
	if bad != nil {
		panic(bad)
	}
}

// granule returns the granule that p is the start of; ok is false where that lies in no unit
// that was ever taken.
func (h *Heap) granule(p unsafe.Pointer) (off uintptr, ok bool) {
	off = uintptr(bits.RotateLeft(uint(uintptr(p)-uintptr(h.base)), -granuleShift))
	return off, off < h.limit
}

// hasRoom reports whether the stack of the class of off has room for a block.
func (h *Heap) hasRoom(off uintptr) bool {
	c := &h.classes[*h.owner8(off)]
	return c.n < c.carved
}

// putBack puts a block that was lent on its class's stack.
func (h *Heap) putBack(off uintptr) {
	c := &h.classes[*h.owner8(off)]
	*(*uint32)(unsafe.Add(c.stack, uintptr(c.n)*4)) = uint32(off)
	c.n++
}
