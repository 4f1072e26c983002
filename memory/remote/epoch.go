package remote

import "math"

// Reset drops the blocks that were freed before the target is reset. Call it before or after the Reset of the target,
// with no Alloc in between:
//
//	heap.Reset()
//	inbox.Reset()
//
// Every block that was given to a Freer before is then stale: the reset of the target has freed it, and its address
// may be allocated again. Stale blocks are not freed, neither those in the inbox nor those in the current batch of a
// Freer. Stats counts them as Stale when they arrive.
//
// Reset covers each Free that happens before it. A block that is given to a Freer after Reset is freed. So a worker
// must not keep the address of a block from before the Reset: freeing it then frees the block that has the address
// now. If there is none, the target reports the free. Debug builds also report it if the address was allocated
// between Free and the drain. A Free that runs at the same time as Reset counts as before it or after it.
//
// Reset uses neither the target nor the blocks. So it also serves if the target's memory is gone and the target
// refuses every block: Close then has nothing to free. Only the owner may call Reset. On a closed inbox, and from
// within the target's FreeAny, it panics with a *memory.Misuse. Cost: a mutex, a store for each Freer and a
// compare-and-swap for each waiting batch.
func (in *Inbox) Reset() {
	in.enter("Reset")
	in.begin()
	for in.rest != nil {
		in.drop(in.rest)
	}
	in.waits.forget()
	in.take(nil)
	for link := &in.rest; *link != nil; { // Freers may have put in some for the new epoch
		b := *link
		if b.epoch == in.epoch.Load() {
			link = &b.next
			continue
		}
		*link = b.next
		in.stale.Store(in.stale.Load() + uint64(b.n))
		in.sendHome(b)
	}
	in.publish()
}

// begin starts an epoch. The order matters: see Freer.join.
func (in *Inbox) begin() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.epoch.Store(in.epoch.Load() + 1)
	for _, h := range in.homes {
		if f := h.user.Value(); f != nil {
			f.span.Store(0)
		}
	}
}

// Close drains what has arrived and closes the inbox. Freers that push afterwards abandon their blocks, and report
// memory.ErrClosed. Close the inbox before its target. Abandoned blocks, and those in the batches of Freers, are
// released with the target's memory. A second Close does nothing. The error is always nil.
//
// If the target refuses a block, Close panics as Drain does. Call it again to continue after that block. From
// within the target's FreeAny it panics with a *memory.Misuse. Only the owner may call Close.
func (in *Inbox) Close() error {
	if in.target == nil {
		return nil
	}
	in.enter("Close")
	in.take(sealed)
	in.drain("Close", math.MaxInt)
	in.target, in.runs, in.base = nil, nil, nil
	return nil
}
