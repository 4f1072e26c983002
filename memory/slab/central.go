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

// A Central is a Heap behind a lock, the common store of several goroutines. Every method is
// that of Heap and may be called from any goroutine; workers put a [Cache] before it, which
// takes the lock once for a batch of blocks.
//
// Blocks that lie in caches count as live: the heap has handed them out. What a Central or a
// Cache handed out may be freed through either, and not through the Heap.
//
// The lock orders calls, and not the end of the memory itself: whoever ends the source, as the Close
// of a manager and of a [page.Carve] do, first waits for the goroutines that use the Central or a
// Cache. They would fault on their own blocks otherwise. A source that ends out of a call that the
// heap makes of it closes the Central in the midst of that.
//
// Invariant, verified by Check besides those of Heap: caches is not negative.
type Central struct {
	mu     sync.Mutex
	heap   *Heap
	lent   lending
	caches int // that are open
}

// NewCentral shares h, which belongs to the Central from now on; the blocks that h has handed
// out before are freed through the Central, too. A second call returns the same Central: two
// locks would guard nothing. Cost: 2.2 bytes of Go heap for each KiB reserved, since what caches
// read must not move; and a byte for every 16 bytes in 64 KiB with blocks that went through it;
// see [Cache]. The error says that the Go heap has no room for the former, and wraps
// memory.ErrOutOfMemory; h is as it was then. A nil h is memory.ErrConfig.
func NewCentral(h *Heap) (*Central, error) {
	if h == nil {
		return nil, fmt.Errorf("slab: new Central: the heap is nil: %w", memory.ErrConfig)
	}
	if h.central == nil {
		units := h.mem.Reserved() >> unitShift
		lent := (units*unitGranules + noteGranules - 1) / noteGranules
		if err := page.ProbeHeap(2*units + lent*unsafe.Sizeof(lending{}[0])); err != nil {
			return nil, fmt.Errorf("slab: new Central: the books of %d bytes reserved: %w", h.mem.Reserved(), err)
		}
		h.growMaps(units)
		h.central = &Central{heap: h, lent: make(lending, lent)}
	}
	return h.central, nil
}

// Alloc is Heap.Alloc.
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

// Free is Heap.Free.
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

// FreeAny is Heap.FreeAny.
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

// Base is Heap.Base.
func (c *Central) Base() unsafe.Pointer {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.heap.Base()
}

// Generation is Heap.Generation.
func (c *Central) Generation(p unsafe.Pointer) uint32 { return c.heap.Generation(p) }

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
	h := c.heap
	if off, ok := h.granule(p); ok && c.lent.state(off) == used {
		return uintptr(h.ladder.sizes[*h.owner8(off)])
	}
	return h.SizeOf(p)
}

// Trim is Heap.Trim; spans with blocks in a cache are not empty.
func (c *Central) Trim() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.heap.Trim()
}

// Reset is Heap.Reset: every cache must be closed before.
func (c *Central) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heap.Reset()
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
