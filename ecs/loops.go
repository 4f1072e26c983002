package ecs

import (
	"slices"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// A loop over All or Chunks does not lock the world: nothing of it could run when its body
// panics, as it is inlined into its caller wholly, and a world would stay locked for good. It
// carries an iterator instead, which a structural change takes away: the loop then panics at its
// next step, before it touches a row that may have moved. That costs the loop one load a row: a
// bound that is read from the iterator takes the place of one in a register.

// maxCached is how many chunks a loop remembers for the next one: those of an archetype of up to 64 KiB that
// was filled entity by entity, and a power of two.
const maxCached = 8

// An iterator is the permission of one loop to go on, and says where it is. It is a filter's own, for one loop
// after the other: for a single entity, which is walked in some ns, to make one would take the longest.
type iterator struct {
	f   *filter
	cur *rowRun // what the loop goes through, one of runs
	filterPos
	tailRows uint16 // rows of a chunk that come behind those of cur, see prefetch.go
	last     bool   // no chunk with rows can come behind this one
	busy     bool   // a loop has it, or has been left by a panic and not been stopped since
	refitted bool   // the filter was configured in its loop, which stopped it

	// onlyTable is the only table that matches, and layoutVersion that of the world, when a loop last found all
	// rows in its first cached chunks, to which runs leads in their order. While it is that, they
	// hold for the next loop as well. To find out where one lies takes loads that wait for each other.
	onlyTable     *table
	layoutVersion uint64 // 0: they do not
	cached        int
	runs          [maxCached]rowRun
}

// A rowRun is rows that lie one behind the other: of a chunk, or a run of changed ones.
type rowRun struct {
	end       uintptr // of rows in the first column, by its stride
	rows      int     // that the loop may step through; both are 0 once the world has changed
	es        address
	cols      [maxFilter]address
	following *rowRun // of runs, what comes next; nil where that has to be found out, or is nothing
	it        *iterator
}

// An iteratorCache is the iterators of one filter.
//
// Invariants, verified in this order by Check of the filter:
//
//	(1) main, unless it is nil, and others are of the filter, and none is there twice
//	(2) those that are busy are in guard.running, and no others of the filter are
//	(3) if layoutVersion of main is the world's and the last row of onlyTable is in the last of the cached chunks, these
//	    are all that match, runs has their addresses, leads from each to the next and no further, and has the rows and
//	    the ends of all but the last; layoutVersion is 0 in others
type iteratorCache struct {
	main   *iterator
	others []*iterator // of loops within loops over the filter
}

// newIterator makes an iterator if main is none that a loop could take.
//
//go:noinline
func (f *filter) newIterator() *iterator {
	for i, t := range f.others {
		if t.busy {
			continue
		}
		if f.main == nil { // a change has taken it away: without one no loop finds its rows where they were
			f.main, f.others = t, slices.Delete(f.others, i, i+1)
		}
		return t
	}
	t := &iterator{f: f}
	for i := range t.runs {
		t.runs[i].it = t
	}
	if f.main == nil {
		f.main = t
	} else {
		f.others = append(f.others, t)
	}
	return t
}

// release ends the loop that has t. It is the newest one, unless a body has panicked: then
// those of the loops that it left lie above it until the world changes.
func (g *guard) release(t *iterator) {
	if n := len(g.running); n > 0 && g.running[n-1] == t {
		g.running, t.busy = g.running[:n-1], false
		return
	}
	g.releaseBelow(t)
}

//go:noinline
func (g *guard) releaseBelow(t *iterator) {
	if i := slices.Index(g.running, t); i >= 0 {
		g.running, t.busy = slices.Delete(g.running, i, i+1), false
	}
}

// stopAll stops all loops under way, or those over f alone. Their iterators are not used again,
// as a loop may hold one still.
//
//go:noinline
func (g *guard) stopAll(f *filter) {
	g.running = slices.DeleteFunc(g.running, func(t *iterator) bool {
		if f != nil && t.f != f {
			return false
		}
		t.cur.set(0, 0)
		t.refitted = f != nil
		t.f.drop(t)
		return true
	})
}

// drop forgets an iterator.
func (k *iteratorCache) drop(t *iterator) {
	if k.main == t {
		k.main = nil
	} else if i := slices.Index(k.others, t); i >= 0 {
		k.others = slices.Delete(k.others, i, i+1)
	}
}

// begin begins a loop: it brings the first chunk with rows, or the first run of changed ones; nil where there
// is none. Most of it is for a filter that finds its rows where they were when it was used last. Of one chunk
// the rows are written where no processor has to work out the address first: it would read them too early
// and begin anew, which takes 20 ns.
//
//go:noinline
func (f *filter) begin() *rowRun {
	w, t := f.w, f.main
	if t == nil || t.layoutVersion != w.store.layoutVersion || t.busy || t.onlyTable.tail != t.cached-1 || t.onlyTable.tailN == 0 || f.seen != w.store.laid || w.guard.inParallel {
		return f.step(nil)
	}
	s := &t.runs[0]
	t.cur, t.busy = s, true
	w.guard.running = append(w.guard.running, t)
	if t.cached == 1 {
		s.set(int(t.onlyTable.tailN), f.stride)
		return s
	}
	t.runs[uint(t.cached-1)%maxCached].set(int(t.onlyTable.tailN), f.stride)
	return s
}

// set has a loop step through so many rows of columns, the first of which has that stride.
func (s *rowRun) set(rows int, stride uintptr) { s.rows, s.end = rows, uintptr(rows)*stride }

// next is step for a loop that goes through s.
//
//go:noinline
func (s *rowRun) next() *rowRun {
	t := s.it
	switch {
	case s.rows == 0:
		return t.f.step(t)
	case s.following != nil:
		t.cur = s.following
		return s.following
	case t.last:
		t.f.w.guard.release(t)
		return nil
	case t.tailRows != 0:
		return t.tailRun()
	case t.f.usesTicks:
		return t.f.step(t)
	}
	return t.nextChunk()
}

// nextChunk is step for a loop that is not at its end. It is short where the next chunk is one of the same archetype:
// those that grew entity by entity have several.
func (t *iterator) nextChunk() *rowRun {
	f := t.f
	in := f.matches[t.m]
	if int(t.c) > in.tail {
		return t.nextTable()
	}
	k, n := &in.chunks[t.c], 0
	if n = int(k.cap); int(t.c) == in.tail {
		n, t.last = int(in.tailN), int(t.m)+1 == len(f.matches)
	}
	t.c++
	t.enter(k.number, f.w.store.chunks[k.number].base, n)
	if n >= prefetchMinRows && !t.last {
		t.splitTail(n)
	}
	return t.cur
}

// nextTable is step for a loop that has come to the end of an archetype. It is short when the next
// one with rows has few, in one chunk: of those it reads the first line of the table and the addresses of
// the columns, and nothing else.
func (t *iterator) nextTable() *rowRun {
	f := t.f
	for m := int(t.m) + 1; m < len(f.matches); m++ {
		in := f.matches[m]
		n := in.tailN
		if n == 0 {
			continue
		}
		t.m, t.c = uint32(m), 0
		if in.tail != 0 || n >= prefetchMinRows {
			return f.step(t)
		}
		t.c, t.cached, t.last = 1, 0, m+1 == len(f.matches)
		s := &t.runs[0]
		t.cur = s
		s.set(int(n), f.stride)
		s.following = nil
		s.es = address(uintptr(in.tailBase))
		columns := f.w.store.row(in.tailLoc >> rowBits)
		for i := 0; i < f.n; i++ {
			s.cols[i&(maxFilter-1)] = columns[f.ids[i&(maxFilter-1)]]
		}
		return s
	}
	f.w.guard.release(t)
	return nil
}

// enter has t step through the first n rows of a chunk. Where the filter finds all in one table, and in few chunks
// with few rows, it leads there from the one before, for the next loop.
func (t *iterator) enter(number uint32, base unsafe.Pointer, n int) {
	f := t.f
	w := f.w
	s := &t.runs[0]
	if t.cached == int(t.c)-1 && t.cached < maxCached && len(f.matches) == 1 && !f.usesTicks && t == f.main && (t.cached == 0 || t.cur.rows < prefetchMinRows) {
		s = &t.runs[t.cached]
		if t.cached++; t.cached > 1 {
			t.cur.following = s
		}
		if t.last {
			t.onlyTable, t.layoutVersion = f.matches[0], w.store.layoutVersion
		}
	} else {
		t.cached = 0
	}
	t.cur = s
	s.set(n, f.stride)
	s.following = nil
	s.es = address(uintptr(base))
	columns := w.store.row(number)
	for i := 0; i < f.n; i++ {
		s.cols[i&(maxFilter-1)] = columns[f.ids[i&(maxFilter-1)]]
	}
}

// step begins a loop, where t is nil, or has t go on: it brings the next chunk with rows, or the next
// run of changed ones. At the end it takes t back, and returns nil.
//
//go:noinline
func (f *filter) step(t *iterator) *rowRun {
	w := f.w
	switch {
	case t == nil:
		f.mustBeMade("All")
		w.guard.notInParallel("All")
		if f.seen != w.store.laid {
			f.update(w.store.laid)
		}
		if t = f.main; t == nil || t.busy {
			t = f.newIterator()
		}
		t.filterPos, t.layoutVersion, t.cached, t.tailRows = filterPos{}, 0, 0, 0
	case t.cur.rows == 0:
		t.refuse("All")
	}
	number, base, first, n := uint32(0), unsafe.Pointer(nil), 0, 0
	if f.usesTicks {
		t.last = false
		number, base, first, n = f.nextRun(&t.filterPos)
	} else {
		number, base, n = f.chunk(&t.m, &t.c)
		t.last = int(t.m)+1 == len(f.matches) && int(t.c) > f.matches[t.m].tail
	}
	if n == 0 {
		if t.busy {
			w.guard.release(t)
		}
		return nil
	}
	if !t.busy {
		t.busy = true
		w.guard.running = append(w.guard.running, t)
	}
	t.enter(number, base, n)
	if first > 0 {
		t.shift(uintptr(first))
	}
	if n >= prefetchMinRows && !f.usesTicks && !t.last {
		t.splitTail(n)
	}
	return t.cur
}

// shift steps from row 0 to the given one.
//
//go:noinline
func (t *iterator) shift(row uintptr) {
	f := t.f
	t.cur.es += address(row * entityBytes)
	for i := 0; i < f.n; i++ {
		t.cur.cols[i&(maxFilter-1)] += address(row * f.w.store.comps[f.ids[i&(maxFilter-1)]].size)
	}
}

// refuse panics because t was stopped.
func (t *iterator) refuse(op string) {
	reason := "the world was changed within the loop; use World.Commands, or leave the loop after the change"
	if t.refitted {
		reason = "the filter was configured within a loop over it, for example by To or Without; use Clone of the filter there, or Relation.Each"
	}
	panic(&memory.Misuse{Package: "ecs", Op: op, Reason: reason})
}

// leave ends the loop before its end. If the loop was stopped, its iterator was dropped. No loop has it now, so that
// the filter can use it again.
//
//go:noinline
func (s *rowRun) leave() {
	t := s.it
	f := t.f
	if f.w.guard.release(t); !t.busy {
		return
	}
	t.busy, t.layoutVersion = false, 0
	if f.main == nil {
		f.main = t
	} else {
		f.others = append(f.others, t)
	}
}

// chunk returns the number, the block and the rows of the chunk of match *m at position *c, or of the
// next one with rows, and steps on; no rows at the end. Of the last chunk of a table it reads
// nothing but the table.
func (f *filter) chunk(m, c *uint32) (number uint32, base unsafe.Pointer, n int) {
	for ; int(*m) < len(f.matches); *m, *c = *m+1, 0 {
		t := f.matches[*m]
		if int(*c) > t.tail || t.tailN == 0 {
			continue
		}
		if int(*c) == t.tail {
			*c++
			return t.tailLoc >> rowBits, t.tailBase, int(t.tailN)
		}
		k := &t.chunks[*c]
		*c++
		return k.number, f.w.store.chunks[k.number].base, int(k.cap)
	}
	return 0, nil, 0
}
