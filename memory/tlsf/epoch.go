package tlsf

import "unsafe"

// BeginEpoch makes every live block old. Blocks that are allocated afterwards are young until the next BeginEpoch. A
// block keeps its age through Resize. Cost: constant.
func (h *Heap) BeginEpoch() {
	if h.closed {
		panic(h.misuse("BeginEpoch", nil, 0))
	}
	h.owner.Touch()
	h.epoch++
}

// Young calls yield for the live blocks that were allocated since the last BeginEpoch, until yield returns false. The
// argument size is the number of bytes that the block takes, in whole granules. The blocks are sorted by pool, and
// within a pool by address. Before the first BeginEpoch all live blocks are young. The function yield must not use the
// heap. On a closed heap Young does not call yield. Cost: proportional to the blocks, live and free.
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

// OnShort registers a function f that can free blocks of h, for example by draining a remote.Inbox. If memory is
// exhausted, Alloc calls f and tries once more before it returns a *memory.Exhausted. Resize does not call f. The
// function may free blocks of h, and must not allocate from h. If an Alloc of h can run under a lock, f must not take
// this lock: f would wait forever. An example is a slab.Central that has h as Config.Large. If f panics, the panic
// passes through Alloc. A second OnShort replaces f; nil removes f.
func (h *Heap) OnShort(f func()) { h.onShort = f }

// askAround looks once more after OnShort's function has run.
func (h *Heap) askAround(n, step uint32) (uint32, error) {
	h.onShort()
	h.flushQuick()
	if i := h.find(n, step); i != 0 {
		return i, nil
	}
	return h.more(n, step)
}
