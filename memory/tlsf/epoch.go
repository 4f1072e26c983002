package tlsf

import "unsafe"

// BeginEpoch makes every block that is live now an old one; what is handed out from now on is
// young, until the next BeginEpoch. A block keeps its age through Resize. Cost: constant, and
// one store more in every Alloc. On a closed heap it panics with a *memory.Misuse.
func (h *Heap) BeginEpoch() {
	if h.closed {
		panic(h.misuse("BeginEpoch", nil, 0))
	}
	h.owner.Touch()
	h.epoch++
}

// Young yields the live blocks that were handed out since BeginEpoch, pool by pool in the
// order of addresses, with the bytes that each takes up, whole granules; without an epoch
// those are all. The heap must not be used meanwhile. Cost: proportional to the blocks.
func (h *Heap) Young(yield func(p unsafe.Pointer, size uintptr) bool) {
	for k := range h.poolCount {
		for i := h.blocks[k].next; i != uint32(k); i = h.blocks[i].next {
			x := &h.blocks[i]
			if x.state == live && x.prevFree == h.epoch &&
				!yield(unsafe.Add(h.pools[k].base, h.grain.Bytes(x.off)), h.grain.Bytes(x.size)) {
				return
			}
		}
	}
}

// OnShort has f called before Alloc refuses a request for want of memory, for an owner who
// knows of blocks that are on their way home: f may free blocks of h, and the request is tried
// once more. It must not allocate from h, nor call what holds a lock while it allocates from h, as a
// slab.Central does whose Large h is. If f panics nothing has changed. nil: nobody is asked.
func (h *Heap) OnShort(f func()) { h.onShort = f }

// askAround looks once more after OnShort's function has run.
func (h *Heap) askAround(n, step uint32) (uint32, error) {
	h.onShort()
	h.flushQuick()
	if i := h.find(n, step); i != 0 {
		return i, nil
	}
	return h.grow(n, step)
}
