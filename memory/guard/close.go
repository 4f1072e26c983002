package guard

import (
	"cmp"
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
// then show that inner has freed some blocks, or inner has no Stats, the guard forgets all blocks.
//
// If Stats of inner show after Reset of inner that all memory is free and committed, the guard fills the blocks with
// 0xDD. Such an inner must keep no data of its own in free memory.
func (a *Allocator) Reset() {
	if a.ended() {
		a.fault(&memory.Misuse{Package: "guard", Op: "Reset", Reason: "the allocator is closed"})
		return
	}
	a.owner.Touch()
	site := a.sites.caller(a.cfg.Frames)
	for _, state := range []state{live, quarantined} {
		for i := a.records[state].next; i != uint32(state); i = a.records[i].next {
			if a.records[i].busy {
				a.fault(a.underway("Reset", i))
				return
			}
			if a.lost(i) {
				a.Reset()
				return
			}
			a.inspect("Reset", i)
		}
	}
	z, ok := a.inner.(memory.Resetter)
	if !ok {
		a.dropAll(site, true, func(uint32) bool { return true })
		return
	}
	_, reports := a.inner.(memory.StatsReporter)
	before, extra, returned := a.under().Committed, a.extra(), false
	passed := func(i uint32) bool { return a.records[i].passed } // Reset of inner leaves these blocks alone
	defer func() {
		if returned || a.ended() {
			return
		}
		kept := false
		defer func() { // also if Stats panics
			if !kept { // inner has freed some blocks, as a composition whose second part panics, or may have
				a.witness = nil
				a.dropAll(site, false, passed)
			}
		}()
		if kept = reports && a.extra() >= extra; kept {
			for i := range a.records {
				if a.records[i].block != nil && !a.lost(uint32(i)) {
					a.repair(uint32(i)) // inner may have filled it at first
				}
			}
		}
	}()
	z.Reset()
	// What a hook has closed, or inner has unmapped or used again, is not touched any more.
	o, owner := a.inner.(memory.Owner)
	owned := !owner || a.witness == nil || o.Owns(a.witness)
	s := a.under()
	a.witness, returned = nil, true
	a.dropAll(site, owned && reports && s.Committed >= before && s.Live == 0, func(i uint32) bool { return owned && passed(i) })
}

// dropAll forgets all blocks, and has inner free those for which frees returns true. If fills is true, it fills the live
// ones.
func (a *Allocator) dropAll(site uint32, fills bool, frees func(i uint32) bool) {
	for i := a.records[live].prev; i != uint32(live); i = a.records[live].prev {
		if fills {
			fill(a.records[i].bytes(), &freedPage)
		}
		gone := a.drop(i, frees(i))
		if a.closed { // by a function that inner has called
			return
		}
		if gone {
			a.records[i].freeSite = site
			a.frees++
		}
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

// Close verifies every block, frees the quarantine, and closes inner if it is an io.Closer. The error of Close joins
// the damage, a *LeakError if blocks are live, and the error of inner. To drop live blocks deliberately, call Reset
// before Close. Close does not free live blocks: their memory ends with inner. Even if Close returns an error, the
// allocator is closed. A second Close only closes inner again. If Free or Close of inner panics, Close panics with the
// same value, and the next Close returns the damage and the *LeakError.
func (a *Allocator) Close() error {
	if !a.ended() {
		for i := range a.records {
			if a.records[i].block == nil || a.records[i].busy {
				continue
			}
			if a.lost(uint32(i)) {
				break
			}
			a.note("Close", uint32(i))
		}
		a.report = cmp.Or(a.report, a.leakError()) // a Free of inner may call Close
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

// lost reports whether the memory of record i has ended, as that of one part of inner may, and closes the allocator then.
// A block that inner never owned is believed to be there.
func (a *Allocator) lost(i uint32) bool {
	if o, ok := a.inner.(memory.Owner); ok && !a.closed && !a.records[i].passed && !o.Owns(a.records[i].start()) {
		a.end()
	}
	return a.closed
}
