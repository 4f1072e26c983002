package ecs

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/strata-go/strata/memory"
)

// noCopy makes go vet report copies of the struct that contains it. The field has a name, as have the
// fields that tie a struct to its type arguments: Go 1.26 cannot link a program that passes reflect a
// comparable generic struct with a blank field and a local type.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// A guard decides whether a world may change its structure now.
//
// Each query has a number that is never reused. So a copy of a query can neither end it twice nor
// continue after its end.
//
// Invariants, verified in this order by check:
//
//	(1) locked is the number of open queries, plus fills, plus notifying, plus 1 while allocating,
//	    plus 1 in a parallel run, plus closedMark if the world is closed
//	(2) open queries have numbers from ended+1 to serial
//	(3) closedInRun is set only in a parallel run
//	(4) texts is at most fills
//	(5) left is empty unless the world is closed and the allocator is not known to be
//	(6) running has no nil and no iterator twice; each is busy and has rows and their end
type guard struct {
	locked      int         // structural changes are allowed if it is 0
	fills       int         // callbacks of batches in progress
	texts       int         // how many of the fills are a WriteJSON or ReadJSON
	notifying   int         // nesting depth of observers
	allocating  bool        // a call of the allocator is in progress
	inParallel  bool        // a parallel run is in progress: only closedInRun may be written
	closedInRun atomic.Bool // the allocator or Config.Pages was closed during the run; see closeItself
	serial      uint64      // number of the newest query
	ended       uint64      // EndQueries ended all queries up to this number
	running     []*iterator // loops over All and Chunks in progress
	onClosed    func()      // handles that the allocator was closed
	onPagesEnd  func()      // handles that Config.Pages was closed
	blocksGone  bool        // the allocator was closed
	left        []leftBlock // of a world that has closed itself, until Close frees them
}

// closedMark is added to locked when the world is closed. No number of queries reaches it.
const closedMark = 1 << 30

// closed reports whether the world is closed.
func (g *guard) closed() bool { return g.locked >= closedMark }

// Locked reports whether structural changes would panic. The world is locked while a query is open, while a batch is
// filled, while an observer is called, and in a parallel run. It is also locked while it calls its allocator or
// Config.Pages, and during WriteJSON, ReadJSON, WriteBinary and ReadBinary. Locked also returns true for a closed
// world.
func (w *World) Locked() bool { return w.guard.locked != 0 }

// mutable panics unless structural changes are allowed now. It stops loops in progress.
func (g *guard) mutable(op string) {
	if g.locked|len(g.running) != 0 {
		g.stopLoops(op)
	}
}

// stillMutable is mutable after a call of an observer or of Free, in an operation that returns an error if the
// allocator was closed meanwhile.
func (g *guard) stillMutable(op string) error {
	if err := g.closedItself(); err != nil {
		return err
	}
	g.mutable(op)
	return nil
}

// closedItself returns an error if the allocator was closed during the operation.
func (g *guard) closedItself() error {
	if err := g.stillOpen(); err != nil {
		return fmt.Errorf("ecs: the world closed itself: %w", err)
	}
	return nil
}

// stopLoops is the slow path of mutable.
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
		reason = "a parallel run is in progress"
	case g.allocating:
		reason = "the allocator called the world"
	case g.notifying > 0:
		reason = "the world is locked while an observer is called; use World.Commands"
	case g.texts > 0:
		reason = "the world is locked while it is written or read"
	case g.locked == g.fills:
		reason = "the world is locked while a batch is filled; use World.Commands"
	}
	panic(&memory.Misuse{Package: "ecs", Op: op, Reason: reason})
}

const closedReason = "the world is closed"

// mustBeOpen panics if the world is closed or in a parallel run. Operations that take effect in Apply
// are allowed during queries.
func (g *guard) mustBeOpen(op string) {
	if g.closed() || g.inParallel {
		g.refuse(op)
	}
}

// openQueries returns the number of open queries.
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

// openQuery locks the world for a query and returns its number.
//
//go:noinline
func (f *filter) openQuery() uint64 {
	w := f.w
	f.mustBeMade("Query")
	w.guard.notInParallel("Query")
	if f.seen != w.store.laid {
		f.update(w.store.laid)
	}
	if f.newest != 0 {
		f.nest()
	}
	w.guard.locked++
	w.guard.serial++
	f.newest = w.guard.serial
	return w.guard.serial
}

// nest moves the newest query to nested, because another one begins.
func (f *filter) nest() {
	ended := f.w.guard.ended
	if len(f.nested) > 0 && f.nested[0] <= ended {
		f.nested = slices.DeleteFunc(f.nested, func(n uint64) bool { return n <= ended })
	}
	if f.newest > ended {
		f.nested = append(f.nested, f.newest)
	}
}

// isOpen reports whether the query over f with this number is open.
func (f *filter) isOpen(number uint64) bool {
	return number > f.w.guard.ended && (number == f.newest || slices.Contains(f.nested, number))
}

// anyOpen reports whether any query over f is open.
func (f *filter) anyOpen() bool {
	ended := f.w.guard.ended
	return f.newest > ended || slices.ContainsFunc(f.nested, func(n uint64) bool { return n > ended })
}

// closeQuery closes a query over f, unless a copy of it or EndQueries did.
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

// EndQueries closes all open queries and returns their number. Call EndQueries after you have recovered a
// panic that left a query open. A query that EndQueries closed panics with a [*memory.Misuse] when it
// advances to another chunk. EndQueries panics with a [*memory.Misuse] in a parallel run.
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

// endFill notifies observers of the batch. It also does so if fill panics, because the entities exist. It returns an
// error if fill or an observer closed the allocator.
func (w *World) endFill(s span) error {
	w.guard.locked--
	w.guard.fills--
	return w.observers.notifyBatch(s)
}
