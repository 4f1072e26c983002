package slab

// OnShort registers f for an owner that can free blocks of h on demand, for example by draining a remote.Inbox. The
// new function replaces the previous one. If f is nil, OnShort removes the previous function.
//
// If the size class of a request has no free block, Alloc calls f(false): f should free some blocks, if it can do so
// quickly. Before Alloc refuses a request for lack of memory, it calls f(true): f should free as many blocks as it can.
// f may free blocks of h, but must not allocate from h. If f panics, the panic passes through Alloc, and no block is
// allocated. Blocks that f has freed stay freed. For a request that Config.Large serves, and if h has a [Central], f is
// not called.
func (h *Heap) OnShort(f func(all bool)) { h.onShort = f }

// restock gives a class whose stack is empty at least one free block: one that comes home, or
// else new ones.
func (h *Heap) restock(ci uint8) error {
	if h.onShort == nil || h.central != nil {
		return h.refill(ci)
	}
	c := &h.classes[ci]
	if h.onShort(false); c.n > 0 {
		return nil
	}
	err := h.refill(ci)
	if err == nil || h.base == nil { // the source has ended: f may free nothing
		return err
	}
	if h.onShort(true); c.n > 0 {
		return nil
	}
	if h.refill(ci) == nil {
		return nil
	}
	return err
}
