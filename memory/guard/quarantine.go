package guard

import (
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// shrinkQuarantine gives the oldest blocks in quarantine back until at most limit bytes are
// held, and returns what was written to them, to be raised when the books agree.
func (a *Allocator) shrinkQuarantine(op string, limit uintptr) (found []*memory.Misuse) {
	for a.held > limit {
		i := a.records[quarantined].next
		written := a.damage(op, i)
		a.release(i)
		found = append(found, written...)
	}
	return found
}

// release gives the memory of record i back to inner and remembers it as gone.
func (a *Allocator) release(i uint32) {
	start := a.records[i].start()
	a.inner.Free(start, a.records[i].total())
	a.bury(i)
	if o, ok := a.inner.(memory.Owner); ok && start == a.witness {
		a.witness = a.anyBlock(o)
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

// Flush verifies every block in quarantine, returns it to inner and reports damage. After Close, Flush does nothing.
func (a *Allocator) Flush() {
	a.owner.Touch()
	if !a.ended() {
		a.raise(a.shrinkQuarantine("Flush", 0))
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
