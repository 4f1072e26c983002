package remote

import "math"

// Reset goes with the Reset of the target, before it or after it, with no Alloc in between:
//
//	heap.Reset()
//	inbox.Reset()
//
// Every block that was given to a Freer before is stale: it died with the others, and its
// address may soon be somebody else's. None of them is freed any more, whether it waits here
// or in the unfinished batch of a Freer; Stats counts those that arrive as Stale.
//
// What is caught, exactly: every Free that happens before Reset. What is given to a Freer after
// it is freed, as it must be: so a worker that keeps the address of a block that died with
// the Reset, and frees it later, frees whatever lives there by then. If nothing lives there
// the target says so, and if something else does at the drain than did at the Free, debug builds do. A Free that runs at the same time as Reset, without any order between
// the two, is of the old epoch or of the new one.
//
// Reset touches neither target nor blocks. It is also what to call when the memory of the
// target is gone and the target refuses each block: Reset drops them all, and Close then has
// nothing to free. On a closed inbox, and out of the target's FreeAny, it panics with a
// *memory.Misuse. Cost: the mutex of the registration, a step for each Freer and a
// compare-and-swap for each batch that waits.
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

// Close drains what has arrived and refuses what comes later: Freers that push then abandon
// their blocks and report memory.ErrClosed. Close the inbox before its target; the blocks
// that Freers still hold go with the target's memory. A second Close does nothing. If the
// target refuses a block, Close panics as Drain does and may be called again: it goes on
// behind that block.
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
