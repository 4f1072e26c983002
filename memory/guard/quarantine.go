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
		if a.records[i].busy || a.lost(i) { // busy: inner has called a function that uses a
			return
		}
		a.note(op, i)
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
	for i := a.records[quarantined].next; i != uint32(quarantined) && !a.ended() && (a.records[i].busy || !a.lost(i)); i = a.records[quarantined].next {
		start, total := a.records[i].start(), a.records[i].total()
		busy := a.records[i].busy // the call that frees it goes on
		a.leave(i)
		a.bury(i)
		if start == a.witness {
			a.witness = nil
		}
		if !busy {
			a.inner.Free(start, total)
		}
	}
	done = true
	a.end()
}

// release gives the memory of record i back to inner and remembers it as gone. It returns false if inner has called a
// function that has closed the guard or inner, or that has allocated the memory again.
func (a *Allocator) release(i uint32) bool {
	start, serial := a.records[i].start(), a.records[i].serial
	a.leave(i)
	if a.freeInner(i); a.closed || start != a.witness && a.ended() || a.records[i].serial != serial {
		return false
	}
	a.bury(i)
	if o, ok := a.inner.(memory.Owner); ok && start == a.witness {
		a.witness = a.anyBlock(o, 0)
	}
	return true
}

// freeInner has inner free the memory of record i. If inner panics, the canaries and the bytes of a block in quarantine
// are put right: inner may have filled them at first.
func (a *Allocator) freeInner(i uint32) {
	serial, returned := a.records[i].serial, false
	a.records[i].busy = true
	defer func() {
		if a.closed || a.records[i].serial != serial {
			return
		}
		a.records[i].busy = false
		if !returned && !a.ended() && !a.lost(i) {
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
func (a *Allocator) drop(i uint32, free bool) bool {
	if free {
		return a.release(i)
	}
	a.bury(i)
	return true
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
	if ok && a.records[i].busy {
		a.fault(a.underway(op, i))
		return 0
	}
	if ok && a.records[i].state == live && !a.lost(i) {
		return i
	}
	a.fault(a.stranger(op, p, size))
	return 0
}
