package guard

import "unsafe"

// shrinkQuarantine gives the oldest blocks in quarantine back until at most limit bytes are
// held. What was written to one is raised when inner has it back and the books agree.
func (a *Allocator) shrinkQuarantine(op string, limit uintptr) {
	for a.held > limit {
		i := a.records[quarantined].next
		found := a.damage(op, i)
		a.release(i)
		for _, m := range found {
			a.fault(m)
		}
	}
}

// release gives the memory of record i back to inner and remembers it as gone.
func (a *Allocator) release(i uint32) {
	r := &a.records[i]
	a.inner.Free(r.start(), r.total())
	a.bury(i)
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

// Quarantined returns the bytes in quarantine, canaries included.
func (a *Allocator) Quarantined() uintptr { return a.held }

// Flush verifies every block in quarantine and gives it back to inner.
func (a *Allocator) Flush() {
	a.owner.Touch()
	if !a.ended() {
		a.shrinkQuarantine("Flush", 0)
	}
}

// find returns the record of the live block at p, or raises and returns 0, an anchor of size 0.
func (a *Allocator) find(op string, p unsafe.Pointer, size uintptr) uint32 {
	a.ended()
	i, ok := a.names[uintptr(p)]
	if ok && a.records[i].state == live {
		return i
	}
	a.fault(a.stranger(op, p, size))
	return 0
}
