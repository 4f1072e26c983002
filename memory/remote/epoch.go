package remote

import "math"

// Reset drops the waiting blocks without freeing them. Call it with each Reset of the target, which frees all blocks of
// the target. The order of the two calls does not matter, but no Alloc of the target may come between them:
//
//	heap.Reset()
//	inbox.Reset()
//
// A block that was passed to a Freer before Reset is stale: its address may be allocated again. So the inbox does not
// free it. Stale blocks in the batch of a Freer are dropped later. Stats counts a stale block when it is dropped.
//
// A block that is passed to a Freer after Reset is freed. So a worker must not keep the address of a block from before
// the Reset: a later Free of this address frees the block that has the address now. If a Free runs at the same time as
// Reset, its block may be stale or not.
//
// Reset uses neither the target nor the blocks. So call it before [Inbox.Close] if the memory of the target is gone:
// otherwise the target refuses the waiting blocks, and Close panics.
//
// On a closed inbox, and from within the target's FreeAny or FreeRun, Reset panics with a *memory.Misuse. Cost: a
// mutex, a store for each Freer and a compare-and-swap for each waiting batch.
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

// Close drains the blocks that have arrived and closes the inbox. Close the inbox before its target. Freers that push
// afterwards abandon their blocks, and report memory.ErrClosed. Abandoned blocks, and blocks in the batches of Freers,
// stay live: their memory is released with that of the target. After a Close that returned, Close does nothing. The
// error is always nil.
//
// If the target refuses a block, Close panics as Drain does, and the inbox stays open. But Freers abandon their blocks
// from then on. Call Close again to continue after the refused block. From within the target's FreeAny or FreeRun,
// Close panics with a *memory.Misuse.
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
