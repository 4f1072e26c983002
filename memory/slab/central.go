package slab

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// A Central is a Heap behind a lock, the common store of several goroutines. Every method is
// that of Heap and may be called from any goroutine; workers put a [Cache] before it, which
// takes the lock once for a batch of blocks.
//
// Blocks that lie in caches count as live: the heap has handed them out.
type Central struct {
	mu     sync.Mutex
	heap   *Heap
	caches int // that are open
}

// NewCentral shares h, which belongs to the Central from now on.
func NewCentral(h *Heap) *Central { return &Central{heap: h} }

// Alloc is Heap.Alloc.
func (c *Central) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.heap.Alloc(size, align)
}

// Free is Heap.Free.
func (c *Central) Free(p unsafe.Pointer, size uintptr) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heap.Free(p, size)
}

// FreeAny is Heap.FreeAny.
func (c *Central) FreeAny(p unsafe.Pointer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heap.FreeAny(p)
}

// Owns is Heap.Owns.
func (c *Central) Owns(p unsafe.Pointer) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.heap.Owns(p)
}

// SizeOf is Heap.SizeOf.
func (c *Central) SizeOf(p unsafe.Pointer) uintptr {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.heap.SizeOf(p)
}

// Trim is Heap.Trim; slabs with blocks in a cache are not empty.
func (c *Central) Trim() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.heap.Trim()
}

// Classes is Heap.Classes; yield is called with the lock held and must not come back here.
func (c *Central) Classes(yield func(ClassStats) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heap.Classes(yield)
}

// Stats is Heap.Stats.
func (c *Central) Stats() memory.Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.heap.Stats()
}

// Check is Heap.Check.
func (c *Central) Check() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.heap.Check()
}

// Close is Heap.Close. While a Cache is open it fails and nothing has changed, because the
// cache would go on handing out blocks.
func (c *Central) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.caches > 0 {
		return fmt.Errorf("slab: close: %d caches are still open", c.caches)
	}
	return c.heap.Close()
}

// take pops up to len(out) blocks of class ci, at least one.
func (c *Central) take(ci uint8, out []uint32) (n int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.heap
	if h.classes[ci].n == 0 {
		if err := h.refill(ci); err != nil {
			h.refused++
			return 0, err
		}
	}
	h.owner.Touch()
	cl := &h.classes[ci]
	n = min(len(out), int(cl.n))
	free := cl.free()
	copy(out, free[len(free)-n:])
	cl.n -= uint32(n)
	cl.allocs += uint64(n)
	if invariant.Exact {
		for _, off := range out[:n] {
			*h.word(uintptr(off)) |= 1 << (off & 63)
		}
	}
	return n, nil
}

// give pushes blocks back. One that is not live does not keep the others from going home: it
// is reported by a panic after them.
func (c *Central) give(op string, blocks []uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.heap
	var bad *memory.Misuse
	for _, off := range blocks {
		if uintptr(off) < h.limit && h.push(&h.classes[*h.owner8(uintptr(off))], uintptr(off)) {
			continue
		}
		if bad == nil {
			bad = h.reject(op, unsafe.Add(h.base, uintptr(off)<<granuleShift), 0)
		}
	}
	if bad != nil {
		panic(bad)
	}
}
