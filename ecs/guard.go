package ecs

import (
	"slices"
	"sync/atomic"

	"github.com/strata-go/strata/memory"
)

// noCopy has go vet report a copy of the struct that it is part of. The field has a name, as
// have those that tie a struct to its type arguments: Go 1.26 does not link a program that
// asks reflect for a comparable generic struct with a blank field and a local type.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// locks say why a world may not change its structure now.
//
// Every walk, which is an open query, has a number of its own for ever: a copy of the query
// can neither end the walk twice nor go on when it has ended.
//
// Invariants, verified in this order by check:
//
//	(1) open is the number of walks under way, plus fills, plus telling, plus 1 while
//	    asking, plus 1 in a parallel pass, plus closedMark once the world is closed
//	(2) the walks under way have numbers from ended+1 to serial
//	(3) gone is set in a parallel pass alone
//	(4) texts is at most fills
type guard struct {
	locked      int         // what mutable looks at; 0 while changes are allowed
	fills       int         // callbacks of batches under way
	texts       int         // of the fills, those that are a WriteJSON or ReadJSON
	notifying   int         // observers under way, one within the other
	allocating  bool        // the allocator
	inParallel  bool        // a pass is under way: nothing here may be written, but
	closedInRun atomic.Bool // the allocator has ended in it, see lost
	serial      uint64      // of the newest walk
	ended       uint64      // EndQueries ended walks up to this one
	running     []*iterator // of loops over All and Chunks
	onClosed    func()      // called when an allocator reports that it was closed
}

// closedMark is an open count that no number of queries reaches or leaves.
const closedMark = 1 << 30

// closed reports whether the world is closed.
func (g *guard) closed() bool { return g.locked >= closedMark }

// Locked reports whether structural changes would panic: a query is open, a batch is being
// filled, an observer is told, a parallel pass is under way, or the world is closed.
func (w *World) Locked() bool { return w.guard.locked != 0 }

// mutable panics unless structural changes are allowed now.
func (g *guard) mutable(op string) {
	if g.locked|len(g.running) != 0 {
		g.stopLoops(op)
	}
}

// stopLoops stops the loops over All that are under way, where nothing forbids the change.
//
//go:noinline
func (g *guard) stopLoops(op string) {
	if g.locked != 0 {
		g.refuse(op)
	}
	g.stopAll(nil)
}

//go:noinline
func (g *guard) refuse(op string) {
	reason := "the world is locked by an open query; use World.Commands, or end the query with Close"
	switch {
	case g.closed():
		reason = closedReason
	case g.inParallel:
		reason = "a parallel pass is under way"
	case g.allocating:
		reason = "the world is in the middle of a change, asking its allocator"
	case g.notifying > 0:
		reason = "the world is locked while an observer is told; use World.Commands"
	case g.texts > 0:
		reason = "the world is locked while it is written or read as JSON"
	case g.locked == g.fills:
		reason = "the world is locked while a batch is filled; use World.Commands"
	}
	panic(&memory.Misuse{Package: "ecs", Op: op, Reason: reason})
}

const closedReason = "the world is closed"

// mustBeOpen panics when w is closed or in a pass; what only waits for Apply is allowed all the
// same while a query is open.
func (g *guard) mustBeOpen(op string) {
	if g.closed() || g.inParallel {
		g.refuse(op)
	}
}

// openQueries returns the number of walks under way.
func (g *guard) openQueries() int {
	n := g.locked - g.fills - g.notifying
	if n >= closedMark {
		n -= closedMark
	}
	if g.allocating {
		n--
	}
	if g.inParallel {
		n--
	}
	return n
}

// openQuery locks the world for a query and returns the number of its walk.
//
//go:noinline
func (f *filter) openQuery() uint64 {
	w := f.w
	w.guard.notInParallel("Query")
	if f.seen != len(w.store.tables) {
		f.update(len(w.store.tables))
	}
	if f.newest != 0 {
		f.nest()
	}
	w.guard.locked++
	w.guard.serial++
	f.newest = w.guard.serial
	return w.guard.serial
}

// nest puts the newest walk beside the others: one more begins.
func (f *filter) nest() {
	ended := f.w.guard.ended
	if len(f.nested) > 0 && f.nested[0] <= ended {
		f.nested = slices.DeleteFunc(f.nested, func(n uint64) bool { return n <= ended })
	}
	if f.newest > ended {
		f.nested = append(f.nested, f.newest)
	}
}

// isOpen reports whether the walk over f with this number is under way.
func (f *filter) isOpen(number uint64) bool {
	return number > f.w.guard.ended && (number == f.newest || slices.Contains(f.nested, number))
}

// anyOpen reports whether any walk over f is under way.
func (f *filter) anyOpen() bool {
	ended := f.w.guard.ended
	return f.newest > ended || slices.ContainsFunc(f.nested, func(n uint64) bool { return n > ended })
}

// closeQuery ends a walk over f, unless a copy of its query or EndQueries has.
func (f *filter) closeQuery(number uint64) {
	f.w.guard.notInParallel("Close")
	if number != f.newest || number <= f.w.guard.ended {
		f.closeNested(number)
		return
	}
	f.newest = 0
	f.w.guard.locked--
}

//go:noinline
func (f *filter) closeNested(number uint64) {
	for i, n := range f.nested {
		if n == number {
			f.nested = slices.Delete(f.nested, i, i+1)
			if number > f.w.guard.ended {
				f.w.guard.locked--
			}
			return
		}
	}
}

// EndQueries ends every open query and returns their number. It is for whoever recovers a
// panic that left a loop over a query without its Close: the world is usable again. A query
// that was ended so panics with a [*memory.Misuse] when it is stepped on to the next chunk.
func (w *World) EndQueries() int {
	w.guard.notInParallel("EndQueries")
	n := w.guard.openQueries()
	w.guard.locked -= n
	w.guard.ended = w.guard.serial
	return n
}

// beginFill locks the world while a batch is filled; endFill is deferred.
func (g *guard) beginFill() {
	g.locked++
	g.fills++
}

// endFill tells observers of the batch, also when the fill panics: its entities exist.
func (w *World) endFill(s span) {
	w.guard.locked--
	w.guard.fills--
	w.observers.notifyBatch(s)
}
