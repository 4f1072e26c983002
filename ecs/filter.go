package ecs

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// maxFilter is the largest number of columns that a filter reads.
const maxFilter = 8

// A filter is the part of Filter1 to Filter8 that does not depend on types. It caches the matching
// archetypes.
//
// Invariants, verified in this order by Check:
//
//	(1) the n columns are components of w and in need; deny has components of w
//	(2) matches has, in order of creation, those of the first seen tables that have all of need and
//	    none of deny, or exactly need if exact is set
//	(3) if targets is not empty, each is of a relation in need; matches then has those of the first
//	    listed tables of list that have the targets; while epoch is that of the store, list is the
//	    list of the first target, or nil
//	(4) nested is ascending, newest is not in it, and none exceeds guard.serial
//	(5) those of tickFilter
//	(6) those of iteratorCache
type filter struct {
	w       *World
	need    mask
	deny    mask
	exact   bool
	matches []*table
	skew    int     // of the store, when matches were found
	seen    int     // -1 if targets is not empty: update then looks each time
	n       int     // columns read
	stride  uintptr // bytes between cells of the first column; 1 if they are empty
	ids     [maxFilter]ID
	newest  uint64   // number of the newest open query; 0 if it was closed
	nested  []uint64 // open queries that began before it

	targets targetSet
	list    *targetTables
	listed  int
	epoch   uint64

	tickFilter
	iteratorCache
}

// A Selection is any filter: [Filter1] to Filter8 or [FilterOf]. Batch operations, such as [World.RemoveAll], change
// the entities that the filter matches at the time of the call. They panic with a [*memory.Misuse] if the filter
// belongs to another world or has a ChangedSince.
type Selection interface{ selection() *filter }

func (f *filter) init(w *World, ids ...ID) {
	f.w = w
	f.n = copy(f.ids[:], ids)
	f.need = w.store.maskOf("Filter", ids)
	f.stride = 1
	if len(ids) > 0 {
		f.stride = max(w.store.comps[ids[0]].size, 1)
	}
}

// clone returns a filter with the same criteria. A FilterOf begins as each Filter does, and is the largest of them.
func (f *filter) clone() *FilterOf {
	f.w.guard.notInParallel("Clone")
	c := new(FilterOf)
	c.filter = filter{w: f.w, need: f.need, deny: f.deny, exact: f.exact, n: f.n, stride: f.stride, ids: f.ids, targets: f.targets, tickFilter: f.tickFilter}
	c.filter.rewind()
	for i, id := range f.ids[:f.n] {
		c.sizes[i] = f.w.store.comps[id].size
	}
	return c
}

// mustBeMade panics if f is a zero Filter1 to Filter8 or FilterOf.
func (f *filter) mustBeMade(op string) {
	if f.w == nil {
		panic(&memory.Misuse{Package: "ecs", Op: op, Reason: "the filter has no world; make it with NewFilter1 to NewFilter8 or NewFilterOf"})
	}
}

// maskOf returns the set of ids, which must be known and differ.
func (r *registry) maskOf(op string, ids []ID) (m mask) {
	for _, id := range ids {
		if c := r.known(op, id); m.has(id) {
			panic(&memory.Misuse{Package: "ecs", Op: op, Reason: "component " + c.name + " is named twice"})
		}
		m = m.with(maskBit(id))
	}
	return m
}

// restrict requires or excludes more components.
func (f *filter) restrict(op string, ids []ID, deny bool) {
	f.mustBeMade(op)
	m := f.w.store.maskOf(op, ids)
	f.narrow(op)
	if deny {
		f.deny = f.deny.with(m)
	} else {
		f.need = f.need.with(m)
	}
}

// narrow restarts the search for matches. The caller then changes the criteria.
func (f *filter) narrow(op string) {
	f.interrupt(op)
	f.rewind()
}

// interrupt stops the loops over f. It panics if a query over f is open.
func (f *filter) interrupt(op string) {
	f.w.guard.notInParallel(op)
	if f.anyOpen() {
		panic(&memory.Misuse{Package: "ecs", Op: op, Reason: "a query over this filter is open; narrow a filter before its queries, or create another"})
	}
	f.w.guard.stopAll(f)
	if f.main != nil {
		f.main.layoutVersion = 0
	}
}

// rewind drops the matches. It keeps their slice for reuse, unless a batch may be iterating over it.
func (f *filter) rewind() {
	if f.matches = f.matches[:0]; f.w.guard.notifying > 0 || f.w.guard.allocating {
		f.matches = nil
	}
	f.seen, f.listed, f.list = f.skew, 0, nil
	if f.targets.n > 0 {
		f.seen = -1
	}
}

// narrowTo narrows f to a target of relation id, and replaces an earlier one.
func (f *filter) narrowTo(id ID, target Entity) {
	f.w.mustRelate("To", id)
	f.narrow("To")
	f.targets.set("To", id, target)
	f.need = f.need.with(maskBit(id))
	f.seen = -1
}

// widenToAny undoes narrowTo.
func (f *filter) widenToAny() {
	f.w.guard.mustBeOpen("ToAny")
	f.narrow("ToAny")
	f.targets, f.seen = targetSet{}, f.skew
}

// update adds the matches among the archetypes that are new since the last update, up to the given one.
func (f *filter) update(to int) {
	if f.targets.n > 0 {
		f.updateTo()
		return
	}
	if f.skew != f.w.store.skew { // a load has dropped archetypes
		f.skew = f.w.store.skew
		f.rewind()
	}
	for ; f.seen < to; f.seen++ {
		t := f.w.store.tables[f.seen-f.skew]
		if f.accepts(t) {
			f.matches = append(f.matches, t)
		}
	}
}

// updateTo adds the matches among the tables of the first target that are new since the last update. A
// target's list has all its tables except those that a sweep removed, and none if the target is stale.
func (f *filter) updateTo() {
	w := f.w
	if !w.store.targetsAlive(&f.targets) {
		f.rewind()
		return
	}
	if f.list == nil || f.epoch != w.store.epoch {
		f.rewind()
		f.list, f.epoch = w.store.tablesOf(f.targets.list[0]), w.store.epoch
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

// len is Len of the filters.
func (f *filter) len() (n int) {
	f.mustBeMade("Len")
	f.w.guard.notInParallel("Len")
	f.update(f.w.store.laid)
	if f.nStamps > 0 {
		_, n, _ = f.countChanged(-1)
		return n
	}
	for i := range f.matches {
		n += f.matches[i].rows()
	}
	return n
}

// entityAt is EntityAt of the filters.
func (f *filter) entityAt(i int) Entity {
	f.w.guard.notInParallel("EntityAt")
	f.update(f.w.store.laid)
	if e, ok := f.entityNumber(i); ok {
		return e
	}
	f.w.guard.mustBeOpen("EntityAt")
	panic(&memory.Misuse{Package: "ecs", Op: "EntityAt", Reason: fmt.Sprintf("there is no entity %d of %d", i, f.len())})
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

// check is Check of the filters.
func (f *filter) check() error {
	var c checker
	named := f.need.with(f.deny)
	c.that(f.n >= 0 && f.n <= maxFilter && named.below(len(f.w.store.comps)) && !named.any(&f.w.store.companions), "filter: %d columns, need %v, deny %v", f.n, f.need, f.deny)
	for i, id := range f.ids[:min(max(f.n, 0), maxFilter)] {
		c.that(f.need.has(id), "filter: column %d is component %d", i, id)
	}
	again := filter{w: f.w, need: f.need, deny: f.deny, exact: f.exact}
	if f.targets.n != 0 {
		c.targets(f)
	} else if c.that(f.seen >= f.skew && f.seen <= f.w.store.laid, "filter: %d archetypes of %d", f.seen, f.w.store.laid) && f.skew == f.w.store.skew {
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
		if !c.that(f.w.store.relating.has(id) && f.need.has(id), "filter: target %d is of component %d", i, id) {
			return
		}
	}
	if f.epoch != f.w.store.epoch || f.list == nil {
		c.that(f.epoch <= f.w.store.epoch && (f.list != nil || len(f.matches) == 0 && f.listed == 0), "filter: %d of no tables match, in epoch %d of %d", len(f.matches), f.epoch, f.w.store.epoch)
		return
	}
	if !c.targetLists(&f.w.store) {
		return
	}
	if !c.that(f.list == f.w.store.tablesOf(f.targets.list[0]) && f.listed >= 0 && f.listed <= len(f.list.tables),
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
// The zero value is before row 0 of an empty chunk. So Get before Next, or after the end, dereferences
// nil and does not read other memory. WebAssembly has no fault at address 0, where nothing lies.
type cursor struct {
	noCopy noCopy
	last   int // n - 1; 0 before the first chunk
	row, n int // current row of the chunk, or of the run of changed rows, which has n
	cols   [maxFilter]unsafe.Pointer
	es     unsafe.Pointer
	f      *filter // nil after the end
	filterPos
	number uint64 // of the query, see guard
}

// Next advances to the next entity and returns true. After the last entity Next ends the query and returns false, as
// do all later calls. An ended query no longer locks the world. The first call after NextChunk advances to the second
// entity of the chunk or run. At the end of a chunk Next panics with a [*memory.Misuse] if a copy of the query or
// [World.EndQueries] has closed the query, or if the world has closed itself. In a parallel run Next panics with a
// [*memory.Misuse] after the last entity.
func (q *cursor) Next() bool {
	if q.row < q.last { // compared before it is stored: a processor may wait for a row that was just stored
		q.row++
		return true
	}
	return q.advance()
}

// NextChunk skips the rest of the current chunk, advances to the first entity of the next chunk and returns true.
// With ChangedSince, unbroken runs of changed entities take the place of chunks. After the last chunk NextChunk ends
// the query and returns false, as do all later calls. An ended query no longer locks the world. NextChunk panics with
// a [*memory.Misuse] if a copy of the query or [World.EndQueries] has closed the query, or if the world has closed
// itself. In a parallel run NextChunk panics with a [*memory.Misuse] after the last chunk.
func (q *cursor) NextChunk() bool { return q.advance() }

// Entity returns the current entity. Call Entity only after Next or NextChunk returned true: otherwise
// there is no current entity, and Entity panics. In the browser it then returns an Entity without a meaning.
func (q *cursor) Entity() Entity {
	return *(*Entity)(unsafe.Add(q.es, uintptr(q.row)*entityBytes))
}

// Close ends the query, which then no longer locks the world. When Next or NextChunk has returned false, the query
// has ended already. Closing an ended query does nothing, also through a copy. In a parallel run Close of an open
// query panics with a [*memory.Misuse].
func (q *cursor) Close() {
	if q.f != nil {
		q.f.closeQuery(q.number)
		*q = cursor{}
	}
}

// advance moves to the next chunk with rows.
func (q *cursor) advance() bool {
	f := q.f
	if f == nil {
		q.row = 0
		return false
	}
	if (q.number != f.newest || f.newest <= f.w.guard.ended) && !f.isOpen(q.number) {
		*q = cursor{}
		panic(&memory.Misuse{Package: "ecs", Op: "Next", Reason: "the query was closed by a copy of it or by World.EndQueries"})
	}
	number, base, first, n := uint32(0), unsafe.Pointer(nil), 0, 0
	if f.usesTicks {
		number, base, first, n = f.nextRun(&q.filterPos)
	} else {
		number, base, n = f.chunk(&q.m, &q.c)
	}
	if n != 0 {
		q.row, q.last, q.n, q.es = 0, n-1, n, base
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

// shift moves from row 0 of the chunk to the given one.
//
//go:noinline
func (q *cursor) shift(row uintptr) {
	q.es = unsafe.Add(q.es, row*entityBytes)
	for i := 0; i < q.f.n; i++ {
		q.cols[i&(maxFilter-1)] = unsafe.Add(q.cols[i&(maxFilter-1)], row*q.f.w.store.comps[q.f.ids[i&(maxFilter-1)]].size)
	}
}

// RemoveAll destroys each entity that s matches and returns their number. RemoveAll costs far less per
// entity than World.Remove, because whole chunks are freed. RemoveAll panics with a [*memory.Misuse] if
// the world is locked, if s belongs to another world, or if s has a ChangedSince.
func (w *World) RemoveAll(s Selection) int {
	w.guard.mutable("RemoveAll")
	f := s.selection()
	f.checkWorld(w, "RemoveAll")
	total := 0
	for _, t := range f.matches {
		if w.observers.observed != 0 {
			if w.observers.notifyRemovals(t, "RemoveAll") != nil {
				w.guard.refuse("RemoveAll")
			}
		}
		total += w.store.destroyRows(t)
	}
	w.store.freePending()
	return total
}

// checkWorld panics if f belongs to another world or cannot select archetypes, and updates f.
func (f *filter) checkWorld(w *World, op string) {
	if f.w != w {
		panic(&memory.Misuse{Package: "ecs", Op: op, Reason: "the filter belongs to another world"})
	}
	if f.nStamps > 0 {
		panic(&memory.Misuse{Package: "ecs", Op: op, Reason: "the filter has a ChangedSince, but batch operations change whole archetypes; use World.Commands or another filter"})
	}
	f.update(w.store.laid)
}

// destroyRows destroys all entities of t. It goes backwards, so that slots are reused in the order of
// the rows: creating as many again accesses memory in order.
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

// clearTable removes all rows of t and keeps one chunk. The others wait for freePending. The entities
// are stored elsewhere or destroyed.
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
