package ecs

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// maxFilter is the largest number of columns that one query reads.
const maxFilter = 8

// A filter is the part of Filter1 to Filter8 that does not depend on types: which
// archetypes match, found once and extended as archetypes appear.
//
// Invariants, verified in this order by Check:
//
//	(1) the n columns read are components of w and of need; deny names components of w
//	(2) matches holds, in order of creation, those of the first seen tables that have all of
//	    need and none of deny, and where exact is set nothing else
//	(3) where to names targets, all are of relations in need, and matches holds instead those of the
//	    first listed tables of list that have these targets; while epoch is the world's, list is
//	    what links to the first target, or nil
//	(4) nested rises, walk is not in it, and none is newer than the world's newest
//	(5) those of lookout
//	(6) those of stock
type filter struct {
	w       *World
	need    mask
	deny    mask
	exact   bool
	matches []*table
	seen    int     // -1 where to names targets: it is to be looked at each time
	n       int     // columns read
	stride  uintptr // of the first column: bytes from one cell to the next; 1 where they take none
	ids     [maxFilter]ID
	newest  uint64   // the newest walk over this filter; 0 when it has ended
	nested  []uint64 // walks that were open when another began

	targets targetSet
	list    *targetTables
	listed  int
	epoch   uint64

	tickFilter
	iteratorCache
}

// A Selection is any filter: the entities that it matches now.
type Selection interface{ selection() *filter }

func (f *filter) selection() *filter { return f }

func (f *filter) init(w *World, ids ...ID) {
	f.w = w
	f.n = copy(f.ids[:], ids)
	f.need = w.store.maskOf("Filter", ids)
	f.stride = 1
	if len(ids) > 0 {
		f.stride = max(w.store.comps[ids[0]].size, 1)
	}
}

// maskOf checks ids, which must all differ when they name columns.
func (r *registry) maskOf(op string, ids []ID) (m mask) {
	for _, id := range ids {
		if c := r.known(op, id); m.has(id) {
			panic(&memory.Misuse{Package: "ecs", Op: op, Reason: "component " + c.name + " is named twice"})
		}
		m = m.with(maskBit(id))
	}
	return m
}

// restrict asks for more components.
func (f *filter) restrict(op string, ids []ID, deny bool) {
	m := f.w.store.maskOf(op, ids)
	f.narrow(op)
	if deny {
		f.deny = f.deny.with(m)
	} else {
		f.need = f.need.with(m)
	}
}

// narrow starts the search for matches anew. The caller changes what is looked for.
func (f *filter) narrow(op string) {
	f.interrupt(op)
	f.rewind()
}

// interrupt stops the loops over f, and panics where a query is open, which would be confused.
func (f *filter) interrupt(op string) {
	f.w.guard.notInParallel(op)
	if f.anyOpen() {
		panic(&memory.Misuse{Package: "ecs", Op: op, Reason: "a query over this filter is open; narrow a filter before it is used, or make another"})
	}
	f.w.guard.stopAll(f)
	if f.main != nil {
		f.main.layoutVersion = 0
	}
}

// rewind forgets what was found. The room for it stays, unless a batch may be walking through it.
func (f *filter) rewind() {
	if f.matches = f.matches[:0]; f.w.guard.notifying > 0 || f.w.guard.allocating {
		f.matches = nil
	}
	f.seen, f.listed, f.list = 0, 0, nil
	if f.targets.n > 0 {
		f.seen = -1
	}
}

// narrowTo narrows f to a target of relation id, in place of the one it was narrowed to.
func (f *filter) narrowTo(id ID, target Entity) {
	f.w.mustRelate("To", id)
	f.narrow("To")
	f.targets.set("To", id, target)
	f.need = f.need.with(maskBit(id))
	f.seen = -1
}

// widenToAny takes back what turn did.
func (f *filter) widenToAny() {
	f.w.guard.mustBeOpen("ToAny")
	f.narrow("ToAny")
	f.targets, f.seen = targetSet{}, 0
}

// update looks at the archetypes before the given one that appeared since the last query.
func (f *filter) update(to int) {
	if f.targets.n > 0 {
		f.updateTo()
		return
	}
	for ; f.seen < to; f.seen++ {
		t := f.w.store.tables[f.seen]
		if f.accepts(t) {
			f.matches = append(f.matches, t)
		}
	}
}

// updateTo looks at the tables of the first target that were linked since the last query. The
// list of a target has them all unless a sweep took some out, and none where the target is dead.
func (f *filter) updateTo() {
	w := f.w
	if !w.store.targetsAlive(&f.targets) {
		f.rewind()
		return
	}
	if f.list == nil || f.epoch != w.store.epoch {
		f.rewind()
		f.list, f.epoch = w.store.byTarget[f.targets.list[0]], w.store.epoch
		if f.list == nil {
			return
		}
	}
	for ; f.listed < len(f.list.tables); f.listed++ {
		if t := f.list.tables[f.listed]; f.accepts(t) && t.hasTargets(&f.targets) {
			f.matches = append(f.matches, t)
		}
	}
}

// hasTargets reports whether t has the targets in p.
func (t *table) hasTargets(p *targetSet) bool {
	for i := range p.n {
		if target, ok := t.target(p.list[i].id); !ok || target != p.list[i].target {
			return false
		}
	}
	return true
}

// accepts reports whether f matches the entities of t.
func (f *filter) accepts(t *table) bool {
	return t.mask.all(&f.need) && !t.mask.any(&f.deny) && (!f.exact || t.mask == f.need)
}

// Len returns the number of entities that match now. It looks at each matching archetype, and behind
// ChangedSince at each of their ticks.
func (f *filter) Len() (n int) {
	f.w.guard.notInParallel("Len")
	f.update(len(f.w.store.tables))
	if f.nStamps > 0 {
		_, n, _ = f.countChanged(-1)
		return n
	}
	for i := range f.matches {
		n += f.matches[i].rows()
	}
	return n
}

// EntityAt returns the entity that All would yield as number i, from 0 to Len() - 1: one drawn
// at random, say. It panics with a [*memory.Misuse] for any other i. Cost: a look at each matching
// archetype, and a binary search among the chunks of one; behind ChangedSince as Len.
func (f *filter) EntityAt(i int) Entity {
	f.w.guard.notInParallel("EntityAt")
	f.update(len(f.w.store.tables))
	if e, ok := f.entityNumber(i); ok {
		return e
	}
	f.w.guard.mustBeOpen("EntityAt")
	panic(&memory.Misuse{Package: "ecs", Op: "EntityAt", Reason: fmt.Sprintf("there is no entity %d of %d", i, f.Len())})
}

// entityNumber returns entity i of those that match.
func (f *filter) entityNumber(i int) (Entity, bool) {
	if f.nStamps > 0 {
		loc, _, ok := f.countChanged(i)
		if !ok {
			return Entity{}, false
		}
		return *f.w.store.entity(loc), true
	}
	for _, t := range f.matches {
		n := t.rows()
		if i >= 0 && i < n {
			k := t.chunkOf(uint32(i))
			return *f.w.store.entity(t.chunks[k].number<<rowBits + uint32(i) - t.chunks[k].first), true
		}
		i -= n
	}
	return Entity{}, false
}

// Check verifies the filter's books and reports every broken invariant that it finds, or
// nil. The world has a Check of its own.
func (f *filter) Check() error {
	var c checker
	named := f.need.with(f.deny)
	c.that(f.n >= 0 && f.n <= maxFilter && named.below(len(f.w.store.comps)) && !named.any(&f.w.store.companions), "filter: %d columns, need %v, deny %v", f.n, f.need, f.deny)
	for i, id := range f.ids[:min(max(f.n, 0), maxFilter)] {
		c.that(f.need.has(id), "filter: column %d is component %d", i, id)
	}
	again := filter{w: f.w, need: f.need, deny: f.deny, exact: f.exact}
	if f.targets.n != 0 {
		c.targets(f)
	} else if c.that(f.seen >= 0 && f.seen <= len(f.w.store.tables), "filter: %d archetypes of %d", f.seen, len(f.w.store.tables)) {
		again.update(f.seen)
		c.that(slices.Equal(f.matches, again.matches), "filter: %d matches, not %d", len(f.matches), len(again.matches))
	}
	c.that(f.newest <= f.w.guard.serial && slices.IsSorted(append(slices.Clone(f.nested), f.w.guard.serial)) && !slices.Contains(f.nested, f.newest),
		"filter: walk %d beside %v of %d", f.newest, f.nested, f.w.guard.serial)
	c.tickFilter(f)
	c.iteratorCache(f)
	return c.err()
}

// targets verifies invariant (3) of filter.
func (c *checker) targets(f *filter) {
	if !c.that(f.seen == -1 && f.targets.n > 0 && f.targets.n <= MaxRelations, "filter: %d archetypes seen, %d targets", f.seen, f.targets.n) {
		return
	}
	for i := range f.targets.n {
		id := f.targets.list[i].id
		c.that(f.w.store.relating.has(id) && f.need.has(id), "filter: target %d is of component %d", i, id)
	}
	if f.epoch != f.w.store.epoch || f.list == nil {
		c.that(f.epoch <= f.w.store.epoch && (f.list != nil || len(f.matches) == 0 && f.listed == 0), "filter: %d of no tables match, in epoch %d of %d", len(f.matches), f.epoch, f.w.store.epoch)
		return
	}
	if !c.that(f.list == f.w.store.byTarget[f.targets.list[0]] && f.listed >= 0 && f.listed <= len(f.list.tables),
		"filter: %d of the tables of target %v", f.listed, f.targets.list[0].target) {
		return
	}
	var want []*table
	for _, t := range f.list.tables[:f.listed] {
		if f.accepts(t) && t.hasTargets(&f.targets) {
			want = append(want, t)
		}
	}
	c.that(slices.Equal(f.matches, want), "filter: %d matches, not %d", len(f.matches), len(want))
}

// A cursor is the part of Query1 to Query8 that does not depend on types.
//
// Its zero value stands before row 0 of an empty chunk, so that Get before Next, or after
// the end, is a nil dereference and not a read of foreign memory.
type cursor struct {
	noCopy noCopy
	row, n int // current row and rows of the current chunk, or run of changed ones
	cols   [maxFilter]unsafe.Pointer
	es     unsafe.Pointer
	f      *filter // nil once the query has ended
	filterPos
	number uint64 // of the walk, see locks
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
		q.f.closeQuery(q.number)
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
	if (q.number != f.newest || f.newest <= f.w.guard.ended) && !f.isOpen(q.number) {
		*q = cursor{}
		panic(&memory.Misuse{Package: "ecs", Op: "Next", Reason: "the query was ended, by a copy of it or by World.EndQueries"})
	}
	number, base, first, n := uint32(0), unsafe.Pointer(nil), 0, 0
	if f.usesTicks {
		number, base, first, n = f.nextRun(&q.filterPos)
	} else {
		number, base, n = f.chunk(&q.m, &q.c)
	}
	if n != 0 {
		q.row, q.n, q.es = 0, n, base
		columns := f.w.store.row(number)
		for i := 0; i < f.n; i++ {
			q.cols[i&(maxFilter-1)] = columns[f.ids[i&(maxFilter-1)]].pointer()
		}
		if first > 0 {
			q.shift(uintptr(first))
		}
		return true
	}
	f.closeQuery(q.number)
	*q = cursor{}
	return false
}

// shift steps from row 0 of the chunk to the given one.
//
//go:noinline
func (q *cursor) shift(row uintptr) {
	q.es = unsafe.Add(q.es, row*entityBytes)
	for i := 0; i < q.f.n; i++ {
		q.cols[i&(maxFilter-1)] = unsafe.Add(q.cols[i&(maxFilter-1)], row*q.f.w.store.comps[q.f.ids[i&(maxFilter-1)]].size)
	}
}

// RemoveAll destroys every entity that s matches and returns their number. It costs far
// less per entity than World.Remove: whole chunks go back to the allocator.
func (w *World) RemoveAll(s Selection) int {
	w.guard.mutable("RemoveAll")
	f := s.selection()
	f.checkWorld(w, "RemoveAll")
	total := 0
	for _, t := range f.matches {
		if w.observers.observed != 0 {
			w.observers.notifyRemovals(t, "RemoveAll")
		}
		total += w.store.destroyRows(t)
	}
	w.store.freePending()
	return total
}

// checkWorld panics when f belongs to another world, and brings f up to date.
func (f *filter) checkWorld(w *World, op string) {
	if f.w != w {
		panic(&memory.Misuse{Package: "ecs", Op: op, Reason: "the filter belongs to another world"})
	}
	if f.nStamps > 0 {
		panic(&memory.Misuse{Package: "ecs", Op: op, Reason: "the filter is narrowed by ChangedSince, and batches go by archetypes; use World.Commands, or another filter"})
	}
	f.update(len(w.store.tables))
}

// destroyRows destroys all entities of t. It goes backwards, so that slots come back from
// the free list in the order of the rows: creating as many again touches memory in order.
func (s *store) destroyRows(t *table) int {
	n := t.rows()
	for i := t.used() - 1; i >= 0; i-- {
		es := s.entitiesFrom(t.chunks[i].number<<rowBits, t.rowsIn(i))
		for k := len(es) - 1; k >= 0; k-- {
			s.index.release(es[k].index, s.index.at(es[k].index))
		}
	}
	s.clearTable(t)
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
func (s *store) clearTable(t *table) {
	used := t.used()
	if used == 0 {
		return
	}
	for i := range t.heap {
		comp := t.heap[i].comp
		comp.clearCells(s.column(t.chunks[0].number, comp.id), t.rowsIn(0))
	}
	s.setTail(t, 0, 0)
	s.dropChunks(t, 1)
	s.listSpare(t)
}
