package guard

import (
	"errors"

	"github.com/strata-go/strata/memory"
)

// Reset verifies and frees every block, also the blocks in quarantine. It reports damage. If a report panics, the
// reported damage is repaired, and no block is freed. Cost: proportional to the blocks and their bytes.
//
// If inner is no memory.Resetter, Reset frees all blocks with Free of inner: live blocks from the newest on, then the
// quarantine. If inner is a memory.Resetter, Reset calls Reset of inner. Hooks of inner find the blocks unchanged. If
// inner is also a memory.Owner, blocks that inner does not own are freed with Free of inner. An example are blocks of
// Config.Large of a slab.Heap. If Reset of inner panics, no block is freed. There is one exception: if Stats of inner
// then show that inner has freed some blocks, the guard forgets all blocks.
func (a *Allocator) Reset() {
	if a.ended() {
		a.fault(&memory.Misuse{Package: "guard", Op: "Reset", Reason: "the allocator is closed"})
		return
	}
	a.owner.Touch()
	site := a.sites.caller(a.cfg.Frames)
	for _, state := range []state{live, quarantined} {
		for i := a.records[state].next; i != uint32(state); i = a.records[i].next {
			a.inspect("Reset", i)
		}
	}
	z, ok := a.inner.(memory.Resetter)
	if !ok {
		a.dropAll(site, true, func(uint32) bool { return true })
		return
	}
	before, extra, returned := a.under().Committed, a.extra(), false
	defer func() {
		switch {
		case returned || a.ended():
		case a.extra() < extra: // inner has freed some blocks, as a composition whose second part panics
			a.witness = nil
			a.dropAll(site, false, func(uint32) bool { return false })
		default:
			for i := range a.records {
				if a.records[i].block != nil {
					a.repair(uint32(i)) // inner may have filled it at first
				}
			}
		}
	}()
	z.Reset()
	returned = true
	// What a hook has closed, or inner has unmapped or used again, is not touched any more.
	o, owner := a.inner.(memory.Owner)
	owned := !owner || a.witness == nil || o.Owns(a.witness)
	a.witness = nil
	s := a.under()
	a.dropAll(site, owned && s.Committed >= before && s.Live == 0, func(i uint32) bool { return owned && a.elsewhere(i) })
}

// dropAll forgets all blocks, and has inner free those for which frees returns true. If fills is true, it fills the live
// ones.
func (a *Allocator) dropAll(site uint32, fills bool, frees func(i uint32) bool) {
	for i := a.records[live].prev; i != uint32(live); i = a.records[live].prev {
		if fills {
			fill(a.records[i].bytes(), &freedPage)
		}
		if a.drop(i, frees(i)); a.closed { // by a function that inner has called
			return
		}
		a.records[i].freeSite = site
		a.frees++
	}
	for i := a.records[quarantined].next; i != uint32(quarantined); i = a.records[quarantined].next {
		a.drop(i, frees(i))
	}
}

// under returns Stats of inner, or none.
func (a *Allocator) under() (s memory.Stats) {
	if r, ok := a.inner.(memory.StatsReporter); ok {
		s = r.Stats()
	}
	return s
}

// extra returns how many more blocks inner has than the guard. It falls if inner frees blocks of the guard.
func (a *Allocator) extra() int {
	return int(a.under().Live) - (len(a.names) - a.goneCount)
}

// elsewhere reports whether inner had the block of record i from another allocator: its Reset
// leaves that one's alone.
func (a *Allocator) elsewhere(i uint32) bool {
	o, ok := a.inner.(memory.Owner)
	return ok && !o.Owns(a.records[i].start())
}

// Close verifies every block, frees the quarantine, and closes inner if it is an io.Closer. The error of Close joins
// the damage, a *LeakError if blocks are live, and the error of inner. To drop live blocks deliberately, call Reset
// before Close. Close does not free live blocks: their memory ends with inner. Even if Close returns an error, the
// allocator is closed. A second Close only closes inner again. If Free or Close of inner panics, Close panics with the
// same value, and the next Close returns the damage and the *LeakError.
func (a *Allocator) Close() error {
	if !a.ended() {
		a.report = errors.Join(append(a.damages("Close"), a.leakError())...)
		a.finish()
	}
	var errs []error
	for _, m := range a.found {
		errs = append(errs, m)
	}
	errs = append(errs, a.report)
	if c, ok := a.inner.(interface{ Close() error }); ok {
		errs = append(errs, c.Close())
	}
	a.found, a.report = nil, nil
	return errors.Join(errs...)
}

// end forgets every block.
func (a *Allocator) end() {
	a.closed = true
	a.frees = a.allocs
	a.books, a.witness = newBooks(), nil
}

// ended reports whether the allocator is closed, and closes it if inner's memory is gone: its
// blocks cannot be looked at any more. It asks for one block that inner has not got back, and
// believes no other book. The zero Allocator, which has no inner one, is as if closed.
func (a *Allocator) ended() bool {
	if a.inner == nil && !a.closed {
		a.end()
	}
	if o, ok := a.inner.(memory.Owner); ok && !a.closed && a.witness != nil && !o.Owns(a.witness) {
		a.end()
	}
	return a.closed
}
