package slab

// OnShort has f called on the slow path of Alloc, for an owner who knows of blocks that are on
// their way home: with all == false where a class has no free block and new ones are about to
// be carved, and with all == true before a request is refused. f may free blocks of h and must
// not allocate from it. If f panics nothing has changed. nil: nobody is asked, and neither once h
// has a [Central]: its blocks are freed through that, whose lock is held.
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
	if err == nil {
		return nil
	}
	if h.onShort(true); c.n > 0 {
		return nil
	}
	if h.refill(ci) == nil {
		return nil
	}
	return err
}
