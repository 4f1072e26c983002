package guard

import (
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// shrinkQuarantine gives the oldest blocks in quarantine back until at most limit bytes are held. What was written to
// them waits in found, to be raised when the records agree: by a later call if inner panics.
func (a *Allocator) shrinkQuarantine(op string, limit uintptr) {
	for a.held > limit {
		i := a.records[quarantined].next
		if i == a.busy { // inner has called a function that uses a
			return
		}
		a.found = append(a.found, a.damage(op, i)...)
		a.release(i)
	}
}

// finish gives all blocks in quarantine back, and closes a. If inner refuses a block, it goes on with the others.
func (a *Allocator) finish() {
	done := false
	defer func() {
		if !done {
			a.finish()
		}
	}()
	for i := a.records[quarantined].next; i != uint32(quarantined) && !a.ended(); i = a.records[quarantined].next {
		start, total := a.records[i].start(), a.records[i].total()
		a.leave(i)
		a.bury(i)
		if start == a.witness {
			a.witness = nil
		}
		a.inner.Free(start, total)
	}
	done = true
	a.end()
}

// release gives the memory of record i back to inner and remembers it as gone, unless inner has called a function that
// has closed the guard or inner.
func (a *Allocator) release(i uint32) {
	start := a.records[i].start()
	a.leave(i)
	if a.freeInner(i); a.closed || start != a.witness && a.ended() {
		return
	}
	a.bury(i)
	if o, ok := a.inner.(memory.Owner); ok && start == a.witness {
		a.witness = a.anyBlock(o, 0)
	}
}

// freeInner has inner free the memory of record i. If inner panics, the canaries and the bytes of a block in quarantine
// are put right: inner may have filled them at first.
func (a *Allocator) freeInner(i uint32) {
	outer, returned := a.busy, false
	a.busy = i
	defer func() {
		if a.busy = outer; !returned && !a.ended() {
			a.repair(i)
		}
	}()
	a.inner.Free(a.records[i].start(), a.records[i].total())
	returned = true
}

// leave makes another block than that of record i the witness, if there is one.
func (a *Allocator) leave(i uint32) {
	if o, ok := a.inner.(memory.Owner); ok && a.records[i].start() == a.witness {
		if other := a.anyBlock(o, i); other != nil {
			a.witness = other
		}
	}
}

// drop is release, or where inner has the memory back already, what is left of it.
func (a *Allocator) drop(i uint32, free bool) {
	if free {
		a.release(i)
		return
	}
	a.bury(i)
}

// bury moves record i to those gone, and forgets the oldest beyond the history.
func (a *Allocator) bury(i uint32) {
	a.unlink(i)
	a.records[i].block = nil
	a.push(gone, i)
	if a.goneCount > a.cfg.History {
		a.forget(a.records[gone].next)
	}
}

// Quarantined returns the bytes of blocks in quarantine, with canaries. After Close, Quarantined returns 0.
func (a *Allocator) Quarantined() uintptr {
	a.ended()
	return a.held
}

// Flush verifies the blocks in quarantine, returns them to inner and reports damage. After Close, Flush does nothing.
func (a *Allocator) Flush() {
	a.owner.Touch()
	if !a.ended() {
		a.shrinkQuarantine("Flush", 0)
		a.raise()
	}
}

// find returns the record of the live block at p, or raises and returns 0, an anchor of size 0.
func (a *Allocator) find(op string, p unsafe.Pointer, size uintptr) uint32 {
	a.ended()
	i, ok := a.names[uintptr(p)]
	if ok && a.records[i].state == live && i != a.busy {
		return i
	}
	if ok && i == a.busy {
		a.fault(a.misuse(op, i, "the block is being freed or resized"+a.history(i)))
		return 0
	}
	a.fault(a.stranger(op, p, size))
	return 0
}
