package slab

import (
	"fmt"

	"github.com/strata-go/strata/memory/internal/invariant"
)

// Reset frees every block in the heap's memory and keeps the committed memory. Any class may use this memory
// afterwards. The blocks of Config.Large stay allocated. Reset ends an epoch, as [Heap.EndEpoch] does. While a [Cache]
// of the heap's [Central] is open, Reset panics with a *memory.Misuse. Cost: clearing 10 bytes of metadata for each KiB
// in use.
func (h *Heap) Reset() {
	if h.base == nil || h.openCaches() > 0 {
		panic(h.reject("Reset", nil, 0))
	}
	h.owner.Touch()
	if invariant.Debug {
		h.poisonUnits(h.limit / unitGranules)
	}
	h.vacateUnits(0, h.limit/unitGranules)
	h.forget()
	h.readHoles()
}

// forget empties the books, less the maps of classes, and touches no block.
func (h *Heap) forget() {
	h.undo.broken, h.sweep.on = true, false
	h.short.forget()
	if invariant.Exact {
		clear(h.live[:h.limit/64])
		clear(h.old)
	}
	if h.central != nil {
		h.central.lent.below(h.limit).drop()
	}
	for i := range h.ladder.sizes {
		c := &h.classes[i]
		c.n, c.carved, c.bump, c.end = 0, 0, 0, 0
		h.shapes[i].units, h.shapes[i].blocks = 0, 0
	}
	h.peak = max(h.peak, h.carved)
	h.carved, h.limit, h.vacant, h.lowest = 0, 0, 0, 0
}

// Close frees every block in the heap's memory and releases the memory. Pointers into the heap are dangling afterwards.
// Blocks of Config.Large stay allocated, and Close does not close Large. After a Close that succeeded, Close does
// nothing and returns nil.
//
// If a [Cache] of the heap's [Central] is open, Close returns an error and changes nothing. If the page source cannot
// release the memory, Close returns an error that wraps the source's error. Close also fails if the function of
// page.Limit.OnSoft calls it during a commit of this heap. In both cases all blocks are freed, the heap stays open, and
// Close can be called again.
//
// If the page source ends first, for example because a manager closes its [page.Carve], the heap and its caches are
// closed, too. A later Close returns nil.
func (h *Heap) Close() error {
	if h.base == nil {
		return nil
	}
	if n := h.openCaches(); n > 0 {
		return fmt.Errorf("slab: close: %d caches are still open", n)
	}
	h.Reset()
	if err := h.mem.Close(); err != nil {
		h.vacateUnits(0, h.limit/unitGranules)
		h.readHoles() // some of the memory may have been returned
		h.poisoned = h.limit
		return fmt.Errorf("slab: close: %w", err)
	}
	h.end()
	return nil
}

// end makes the heap a closed one.
func (h *Heap) end() {
	h.tally.release()
	h.base, h.rungs, h.poisoned, h.absent = nil, 0, 0, 0
}

// lost closes the heap after its memory has gone to somebody else. The maps that caches read
// stay as they are: they may be reading. If the source ends during a call of the source or of Large that the
// heap makes, the method of the Central that is under way has the lock.
func (h *Heap) lost() {
	if h.central != nil && !h.mem.Busy() && !h.passing {
		h.central.mu.Lock()
		defer h.central.mu.Unlock()
	}
	h.forget()
	h.end()
}

func (h *Heap) openCaches() int {
	if h.central == nil {
		return 0
	}
	return h.central.caches
}
