package ecs

import (
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// maxFilter is the largest number of columns that one query reads.
const maxFilter = 4

// A filter is the part of Filter1 to Filter4 that does not depend on types: which
// archetypes match, found once and extended as archetypes appear.
//
// Invariant: matches holds, in order of creation, those of the first seen tables that have
// all of need and none of deny.
type filter struct {
	w       *World
	need    uint64
	deny    uint64
	matches []*table
	seen    int
	n       int // columns read
	ids     [maxFilter]ID
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
func maskOf(w *World, op string, ids []ID) (mask uint64) {
	for _, id := range ids {
		if int(id) >= len(w.comps) {
			panic(&memory.Misuse{Package: "ecs", Op: op, Reason: "the component ID is not of this world"})
		}
		if mask>>id&1 != 0 {
			panic(&memory.Misuse{Package: "ecs", Op: op, Reason: "component " + w.comps[id].name + " is named twice"})
		}
		mask |= 1 << id
	}
	return mask
}

func (f *filter) restrict(op string, ids []ID, deny bool) {
	if deny {
		f.deny |= maskOf(f.w, op, ids)
	} else {
		f.need |= maskOf(f.w, op, ids)
	}
	f.matches, f.seen = nil, 0
}

// open locks the world for a query.
//
//go:noinline
func (f *filter) open() *filter {
	if f.seen != len(f.w.tables) {
		f.update()
	}
	f.w.open++
	return f
}

// update looks at the archetypes that appeared since the last query.
func (f *filter) update() {
	for ; f.seen < len(f.w.tables); f.seen++ {
		t := f.w.tables[f.seen]
		if t.mask&f.need != f.need || t.mask&f.deny != 0 {
			continue
		}
		f.matches = append(f.matches, t)
	}
}

// Len returns the number of entities that match now.
func (f *filter) Len() (n int) {
	f.update()
	for i := range f.matches {
		n += f.matches[i].rows()
	}
	return n
}

// A cursor is the part of Query1 to Query4 that does not depend on types.
//
// Its zero value stands before row 0 of an empty chunk, so that Get before Next, or after
// the end, is a nil dereference and not a read of foreign memory.
type cursor struct {
	row, n int // current row and rows of the current chunk
	cols   [maxFilter]unsafe.Pointer
	es     unsafe.Pointer
	f      *filter // nil once the query has ended
	m, c   int     // the match and the chunk in it that come next
}

// Next steps to the next entity. At the end it returns false and unlocks the world.
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
// is closed already; closing again does nothing.
func (q *cursor) Close() {
	if q.f != nil {
		q.f.w.open--
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
	for ; q.m < len(f.matches); q.m, q.c = q.m+1, 0 {
		t := f.matches[q.m]
		n := t.cap
		if q.c >= t.tail {
			n = t.tailN
			if q.c > t.tail || n == 0 {
				continue
			}
		}
		tc := &t.chunks[q.c]
		q.c++
		q.row, q.n, q.es = 0, int(n), tc.base
		columns := f.w.row(tc.number)
		for i := 0; i < f.n; i++ {
			q.cols[i&(maxFilter-1)] = columns[f.ids[i&(maxFilter-1)]]
		}
		return true
	}
	q.Close()
	return false
}

// RemoveAll destroys every entity that s matches and returns their number. It costs far
// less per entity than World.Remove: whole chunks go back to the allocator.
func (w *World) RemoveAll(s Selection) int {
	w.mutable("RemoveAll")
	f := s.selection()
	f.own(w, "RemoveAll")
	f.update()
	total := 0
	for i := range f.matches {
		total += w.destroyRows(f.matches[i])
	}
	return total
}

// own panics when f belongs to another world.
func (f *filter) own(w *World, op string) {
	if f.w != w {
		panic(&memory.Misuse{Package: "ecs", Op: op, Reason: "the filter belongs to another world"})
	}
}

// destroyRows destroys all entities of t. It goes backwards, so that slots come back from
// the free list in the order of the rows: creating as many again touches memory in order.
func (w *World) destroyRows(t *table) int {
	n := t.rows()
	for i := t.used() - 1; i >= 0; i-- {
		es := unsafe.Slice((*Entity)(t.chunks[i].base), t.rowsIn(i))
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
		return int(t.cap)
	}
	return int(t.tailN)
}

// clearTable forgets all rows of t, whose entities live elsewhere or no more, and keeps one chunk.
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
