package ecs

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// maxFilter is the largest number of columns that one query reads.
const maxFilter = 4

// A filter is the part of Filter1 to Filter4 that does not depend on types: which
// archetypes match, found once and extended as archetypes appear.
//
// Invariants, verified in this order by Check:
//
//	(1) the n columns read are components of w and of need; deny names components of w
//	(2) matches holds, in order of creation, those of the first seen tables that have all of
//	    need and none of deny, and where exact is set nothing else
//	(3) nested rises, walk is not in it, and none is newer than the world's newest
type filter struct {
	w       *World
	need    mask
	deny    mask
	exact   bool
	matches []*table
	seen    int
	n       int // columns read
	ids     [maxFilter]ID
	walk    uint64   // the newest walk over this filter; 0 when it has ended
	nested  []uint64 // walks that were open when another began
}

// A Selection is any filter: the entities that it matches now.
type Selection interface{ selection() *filter }

func (f *filter) selection() *filter { return f }

func (f *filter) init(w *World, ids ...ID) {
	f.w = w
	f.n = copy(f.ids[:], ids)
	f.need = maskOf(w, "Filter", ids)
}

// maskOf checks ids, which must all differ when they name columns.
func maskOf(w *World, op string, ids []ID) (m mask) {
	for _, id := range ids {
		if int(id) >= len(w.comps) {
			panic(&memory.Misuse{Package: "ecs", Op: op, Reason: "the component ID is not of this world"})
		}
		if m.has(id) {
			panic(&memory.Misuse{Package: "ecs", Op: op, Reason: "component " + w.comps[id].name + " is named twice"})
		}
		m = m.with(maskBit(id))
	}
	return m
}

// restrict asks for more components.
func (f *filter) restrict(op string, ids []ID, deny bool) {
	m := maskOf(f.w, op, ids)
	f.narrow(op)
	if deny {
		f.deny = f.deny.with(m)
	} else {
		f.need = f.need.with(m)
	}
}

// narrow starts the search for matches anew, which would confuse an open query, and stops
// the loops over f. The caller changes what is looked for.
func (f *filter) narrow(op string) {
	f.w.alone(op)
	if f.walked() {
		panic(&memory.Misuse{Package: "ecs", Op: op, Reason: "a query over this filter is open; narrow a filter before it is used, or make another"})
	}
	f.matches, f.seen = nil, 0
	f.w.takeAway(f)
}

// update looks at the archetypes before the given one that appeared since the last query.
func (f *filter) update(to int) {
	for ; f.seen < to; f.seen++ {
		t := f.w.tables[f.seen]
		if f.accepts(t) {
			f.matches = append(f.matches, t)
		}
	}
}

// accepts reports whether f matches the entities of t.
func (f *filter) accepts(t *table) bool {
	return t.mask.all(&f.need) && !t.mask.any(&f.deny) && (!f.exact || t.mask == f.need)
}

// Len returns the number of entities that match now.
func (f *filter) Len() (n int) {
	f.w.alone("Len")
	f.update(len(f.w.tables))
	for i := range f.matches {
		n += f.matches[i].rows()
	}
	return n
}

// EntityAt returns the entity that All would yield as number i, from 0 to Len() - 1: one drawn
// at random, say. It panics with a [*memory.Misuse] for any other i. Cost: a look at each matching
// archetype, and a binary search among the chunks of one.
func (f *filter) EntityAt(i int) Entity {
	f.w.alone("EntityAt")
	f.update(len(f.w.tables))
	left := i
	for _, t := range f.matches {
		n := t.rows()
		if left >= 0 && left < n {
			k := t.chunkOf(uint32(left))
			return *f.w.entity(t.chunks[k].number<<rowBits + uint32(left) - t.chunks[k].first)
		}
		left -= n
	}
	f.w.unclosed("EntityAt")
	panic(&memory.Misuse{Package: "ecs", Op: "EntityAt", Reason: fmt.Sprintf("there is no entity %d of %d", i, f.Len())})
}

// Check verifies the filter's books and reports every broken invariant that it finds, or
// nil. The world has a Check of its own.
func (f *filter) Check() error {
	var c checker
	c.that(f.n >= 0 && f.n <= maxFilter && f.need.with(f.deny).below(len(f.w.comps)), "filter: %d columns, need %v, deny %v", f.n, f.need, f.deny)
	for i, id := range f.ids[:min(max(f.n, 0), maxFilter)] {
		c.that(f.need.has(id), "filter: column %d is component %d", i, id)
	}
	if c.that(f.seen >= 0 && f.seen <= len(f.w.tables), "filter: %d archetypes of %d", f.seen, len(f.w.tables)) {
		again := filter{w: f.w, need: f.need, deny: f.deny, exact: f.exact}
		again.update(f.seen)
		c.that(slices.Equal(f.matches, again.matches), "filter: %d matches, not %d", len(f.matches), len(again.matches))
	}
	c.that(f.walk <= f.w.serial && slices.IsSorted(append(slices.Clone(f.nested), f.w.serial)) && !slices.Contains(f.nested, f.walk),
		"filter: walk %d beside %v of %d", f.walk, f.nested, f.w.serial)
	return c.err()
}

// A cursor is the part of Query1 to Query4 that does not depend on types.
//
// Its zero value stands before row 0 of an empty chunk, so that Get before Next, or after
// the end, is a nil dereference and not a read of foreign memory.
type cursor struct {
	noCopy noCopy
	row, n int // current row and rows of the current chunk
	cols   [maxFilter]unsafe.Pointer
	es     unsafe.Pointer
	f      *filter // nil once the query has ended
	m, c   uint32  // the match and the chunk in it that come next
	number uint64  // of the walk, see locks
}

// Next steps to the next entity. At the end it returns false and unlocks the world.
// Behind NextChunk it goes on from the chunk's first entity, which is then the current one.
func (q *cursor) Next() bool {
	q.row++
	if q.row < q.n {
		return true
	}
	return q.advance()
}

// NextChunk steps to the next chunk, skipping what is left of the current one. At the end
// it returns false and unlocks the world.
func (q *cursor) NextChunk() bool { return q.advance() }

// Entity returns the current entity.
func (q *cursor) Entity() Entity {
	return *(*Entity)(unsafe.Add(q.es, uintptr(q.row)*entityBytes))
}

// Close ends the query before its end and unlocks the world. A query that ran to its end
// is closed already; closing again, or closing a copy, does nothing.
func (q *cursor) Close() {
	if q.f != nil {
		q.f.end(q.number)
		*q = cursor{}
	}
}

// advance finds the next chunk with rows.
func (q *cursor) advance() bool {
	f := q.f
	if f == nil {
		q.row = 0
		return false
	}
	if (q.number != f.walk || f.walk <= f.w.ended) && !f.walking(q.number) {
		*q = cursor{}
		panic(&memory.Misuse{Package: "ecs", Op: "Next", Reason: "the query was ended, by a copy of it or by World.EndQueries"})
	}
	if k, n := f.chunk(&q.m, &q.c); k != nil {
		q.row, q.n, q.es = 0, n, f.w.chunks[k.number].base
		columns := f.w.row(k.number)
		for i := 0; i < f.n; i++ {
			q.cols[i&(maxFilter-1)] = columns[f.ids[i&(maxFilter-1)]].pointer()
		}
		return true
	}
	f.end(q.number)
	*q = cursor{}
	return false
}

// RemoveAll destroys every entity that s matches and returns their number. It costs far
// less per entity than World.Remove: whole chunks go back to the allocator.
func (w *World) RemoveAll(s Selection) int {
	w.mutable("RemoveAll")
	f := s.selection()
	f.own(w, "RemoveAll")
	total := 0
	for _, t := range f.matches {
		if w.observed != 0 {
			w.tellEnds(t, "RemoveAll")
		}
		total += w.destroyRows(t)
	}
	w.settle()
	return total
}

// own panics when f belongs to another world, and brings f up to date.
func (f *filter) own(w *World, op string) {
	if f.w != w {
		panic(&memory.Misuse{Package: "ecs", Op: op, Reason: "the filter belongs to another world"})
	}
	f.update(len(w.tables))
}

// destroyRows destroys all entities of t. It goes backwards, so that slots come back from
// the free list in the order of the rows: creating as many again touches memory in order.
func (w *World) destroyRows(t *table) int {
	n := t.rows()
	for i := t.used() - 1; i >= 0; i-- {
		es := w.entitiesFrom(t.chunks[i].number<<rowBits, t.rowsIn(i))
		for k := len(es) - 1; k >= 0; k-- {
			w.ents.release(es[k].index, w.ents.at(es[k].index))
		}
	}
	w.clearTable(t)
	return n
}

// rowsIn returns the number of rows in chunk i.
func (t *table) rowsIn(i int) int {
	if i < t.tail {
		return int(t.chunks[i].cap)
	}
	return int(t.tailN)
}

// clearTable forgets all rows of t, whose entities live elsewhere or no more, and keeps one
// chunk. The others wait for settle.
func (w *World) clearTable(t *table) {
	used := t.used()
	if used == 0 {
		return
	}
	for i := range t.heap {
		comp := t.heap[i].comp
		comp.clearCells(w.column(t.chunks[0].number, comp.id), t.rowsIn(0))
	}
	w.setTail(t, 0, 0)
	w.dropChunks(t, 1)
}
