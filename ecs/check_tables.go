package ecs

import (
	"slices"
	"unsafe"
)

// directory verifies invariants (1) to (3) of directory, and whether rows can be looked up.
func (c *checker) directory(w *World) bool {
	if !c.that(w.store.width >= minWidth && w.store.width <= MaxComponents && int(w.store.width) >= len(w.store.comps) &&
		len(w.store.columns) == len(w.store.chunks)*int(w.store.width), "directory: %d columns of width %d for %d chunks", len(w.store.columns), w.store.width, len(w.store.chunks)) { // (3)
		return false
	}
	for i, k := range w.store.comps {
		if !c.that(len(k.addresses) == len(w.store.chunks), "component %d: its lane is of %d chunks, not %d", i, len(k.addresses), len(w.store.chunks)) {
			return false
		}
	}
	runs, free, sound := c.segments(w)
	if !sound {
		return false
	}
	waiting := c.pending(w)
	owned, held, bytes := 0, 0, uint64(0)
	for _, t := range w.store.tables {
		owned += len(t.chunks)
	}
	for i := range w.store.chunks {
		k := &w.store.chunks[i]
		if k.table == 0 {
			c.nowhere(w, uint32(i)) // (4)
		}
		if k.base == nil || k.run == 0 {
			continue
		}
		held++
		if c.that(int64(k.class) < int64(len(w.store.sizes)), "directory: chunk %d is of class %d of %d", i, k.class, len(w.store.sizes)) {
			bytes += uint64(w.store.sizes[k.class])
		} else {
			sound = false
		}
	}
	c.that(owned+waiting+free == runs, "directory: %d chunks, of which tables own %d, %d wait and %d are free", runs, owned, waiting, free) // (1)
	c.spareList(w)
	c.that(held == w.store.live && bytes == w.store.bytes, "directory: %d chunks of %d bytes, the book says %d of %d", held, bytes, w.store.live, w.store.bytes) // (2)
	return sound
}

// pending counts the blocks that wait to be freed.
func (c *checker) pending(w *World) (n int) {
	met := make(map[uint32]bool)
	for i := w.store.directory.pending; i != 0; i = w.store.chunks[i-1].pos {
		if uint64(i) > uint64(len(w.store.chunks)) || met[i] {
			c.that(false, "directory: the waiting blocks meet %d, which is out of range or met before", i-1)
			return n
		}
		k := &w.store.chunks[i-1]
		c.that(k.base != nil && k.run != 0 && k.table == 0, "directory: chunk %d is one of the waiting blocks: block %v, table %d", i-1, k.base != nil, k.table)
		met[i] = true
		n++
	}
	return n
}

// nowhere verifies that a segment which no table has leads to no column.
func (c *checker) nowhere(w *World, number uint32) {
	for id, at := range w.store.row(number) {
		c.that(at == 0 && (id >= len(w.store.comps) || w.store.comps[id].addresses[number] == 0), "directory: segment %d has no table and has component %d", number, id)
	}
}

// tables verifies the invariants of table and edge, and (4) of directory.
func (c *checker) tables(w *World) {
	named, sound := c.byTarget(&w.store)
	if !sound { // what follows looks tables up
		return
	}
	rows, idle := 0, 0
	for i, t := range w.store.tables {
		if t.idle {
			idle++
		}
		c.that(t.index == i && (w.store.sameKey(t) == t) != t.idle, "table %d: not where its mask %v and targets say", i, t.mask)
		if !c.layout(w, t) {
			continue
		}
		if c.rows(w, t) {
			rows += t.rows()
			c.records(w, t)
			c.stamps(w, t)
			c.vacantHeap(w, t)
		}
		c.transitions(w, t)
	}
	named += len(w.store.byKey)
	c.that(named == len(w.store.tables)-idle, "%d masks and targets name %d tables, of which %d are idle", named, len(w.store.tables), idle)
	c.variants(w)
	c.that(rows == int(w.store.index.live), "tables hold %d rows for %d live entities", rows, w.store.index.live)
}

// layout verifies invariant (1) of table, and whether its cells can be found.
func (c *checker) layout(w *World, t *table) bool {
	before := c.count()
	if !c.that(t.mask.below(len(w.store.comps)) && !t.mask.any(&w.store.companions), "table %d: mask %v for %d component types", t.index, t.mask, len(w.store.comps)) {
		return false
	}
	want, err := newTable(t.mask, w.store.comps, &w.store.directory, t.mask.any(&w.store.relating))
	if err != nil {
		return c.that(false, "table %d: %v", t.index, err)
	}
	c.that(slices.Equal(t.columns, want.columns) && slices.Equal(t.heap, want.heap), "table %d: other columns than mask %v says", t.index, t.mask)
	c.that(t.caps == want.caps && t.rowBytes == want.rowBytes && t.heapBytes == want.heapBytes && t.first == want.first && t.last == want.last, "table %d: %d rows of %d bytes from class %d to %d, not %d of %d from %d to %d",
		t.index, t.caps, t.rowBytes, t.first, t.last, want.caps, want.rowBytes, want.first, want.last)
	c.that(t.step == want.step, "table %d: Hash reads %d rows at once, not %d", t.index, t.step, want.step)
	return before == c.count()
}

// rows verifies invariants (2) to (4) of table, and whether its rows can be walked.
func (c *checker) rows(w *World, t *table) bool {
	before := c.count()
	n := len(t.chunks)
	c.that(t.tail >= 0 && t.tail <= n && t.used() <= n, "table %d: %d rows in chunk %d of %d", t.index, t.tailN, t.tail, n) // (2)
	c.that(t.tailN > 0 || t.tail == 0, "table %d: chunk %d at the end is empty", t.index, t.tail)
	c.that(n-1 <= t.used() || w.guard.notifying > 0, "table %d: %d chunks for %d in use", t.index, n, t.used()) // (3)
	if !c.that(len(t.held) == n*len(t.heap), "table %d: %d columns are held for %d chunks", t.index, len(t.held), n) {
		return false
	}
	first := uint32(0)
	for i := range t.chunks { // (4)
		k := &t.chunks[i]
		if !c.that(uint64(k.number) < uint64(len(w.store.chunks)), "table %d: chunk %d has number %d of %d", t.index, i, k.number, len(w.store.chunks)) {
			continue
		}
		d := &w.store.chunks[k.number]
		if !c.that(int64(d.table) == int64(t.index)+1 && d.base != nil && int64(d.pos) == int64(i) && int(d.run)-1 == orderOf(k.cap), "table %d: chunk %d is not what the directory says", t.index, i) {
			continue
		}
		if !c.that(w.store.allows(t, d.class, k.cap) && k.first == first, "table %d: chunk %d has %d rows from %d, not %d from %d", t.index, i, k.cap, k.first, t.caps[d.class], first) {
			return false
		}
		first += k.cap
		c.that(uintptr(d.base)%chunkAlign == 0, "table %d: chunk %d is not aligned", t.index, i)
		c.columns(w, t, i)
	}
	if before != c.count() {
		return false
	}
	if n == 0 {
		c.that(t.limit == 0 && t.tailN == 0 && t.tailBase == nil && t.tailLoc == 0, "table %d: a tail without a chunk", t.index)
	} else if k := t.chunks[min(t.tail, n-1)]; true {
		c.that(t.tail < n && t.tailN <= k.cap && t.limit == k.cap && t.tailBase == w.store.chunks[k.number].base && t.tailLoc == k.number<<rowBits,
			"table %d: the tail is not chunk %d with %d rows", t.index, t.tail, t.tailN)
	}
	return before == c.count()
}

// allows reports whether a block of a class has so many rows in a chunk of any class of t.
func (d *directory) allows(t *table, block, rows uint32) bool {
	for class := range d.sizes {
		if rows > 0 && rows == d.rowsAt(t, uint32(class), block) {
			return true
		}
	}
	return false
}

// columns verifies invariant (4) of directory and (7) of table for chunk i of t.
func (c *checker) columns(w *World, t *table, i int) {
	k := &t.chunks[i]
	number, base := k.number, w.store.chunks[k.number].base
	n := uintptr(k.cap)
	end := n * entityBytes
	want := make([]address, len(w.store.comps))
	for _, col := range t.columns {
		var off uintptr
		off, end = col.place(end, n)
		want[col.comp.id] = address(uintptr(base) + off)
	}
	c.that(end <= w.store.sizes[w.store.chunks[number].class], "table %d: chunk %d ends at %d", t.index, i, end)
	for j, col := range t.heap {
		p := t.held[i*len(t.heap)+j]
		c.that(p != nil, "table %d: chunk %d has no column %s", t.index, i, col.comp.name)
		want[col.comp.id] = address(uintptr(p))
	}
	for s := range w.store.length(number) {
		first := uintptr(s) << rowBits
		if first >= n { // (4): behind the last row
			clear(want)
		}
		c.segment(w, t, i, number+s, want)
		for id := range want {
			if want[id] != 0 {
				want[id] += address(w.store.comps[id].size << rowBits)
			}
		}
		at := &w.store.chunks[number+s]
		c.that(at.table == w.store.chunks[number].table && int64(at.pos) == int64(i) && (first >= n || at.base == unsafe.Pointer(entityAt(base, uint32(first)))),
			"table %d: segment %d of chunk %d is not what the first says", t.index, s, i)
	}
}

// segment verifies the addresses of one segment of chunk i of t.
func (c *checker) segment(w *World, t *table, i int, segment uint32, want []address) {
	row := w.store.row(segment)
	for id := range row {
		at := address(0)
		if id < len(want) {
			at = want[id]
		}
		c.that(row[id] == at, "table %d: chunk %d has component %d at a wrong address", t.index, i, id)
	}
	for id, comp := range w.store.comps {
		c.that(comp.addresses[segment] == want[id], "component %d: its lane leads to a wrong address in chunk %d", id, t.chunks[i].number)
	}
}

// records verifies invariant (5) of table.
func (c *checker) records(w *World, t *table) {
	for i := range t.used() {
		loc := t.chunks[i].number << rowBits
		for row, e := range w.store.entitiesFrom(loc, t.rowsIn(i)) {
			r := w.store.index.find(e)
			if r == nil || e.gen&1 == 0 {
				c.that(false, "table %d: chunk %d row %d holds %v, which is not alive", t.index, i, row, e)
				continue
			}
			c.that(r.loc == loc|uint32(row), "table %d: chunk %d row %d holds %v, whose record says %#x", t.index, i, row, e, r.loc)
		}
	}
}

// stamps verifies invariant (4) of ticks.
func (c *checker) stamps(w *World, t *table) {
	for id := range t.mask.and(w.store.tracked).ids() {
		for i := range t.used() {
			for row, s := range w.store.stamps(t.chunks[i].number<<rowBits, t.rowsIn(i), id) {
				age := uint64(w.store.age(s))
				c.that(age < w.store.tick && age <= maxAge+w.store.tick-w.store.clamped, "table %d: chunk %d row %d was written at %d, which is %d ticks before %d", t.index, i, row, s, age, w.store.tick)
			}
		}
	}
}

// vacantHeap verifies invariant (6) of table.
func (c *checker) vacantHeap(w *World, t *table) {
	for i := range t.chunks {
		n := 0
		if i < t.used() {
			n = t.rowsIn(i)
		}
		for j := range t.heap {
			k := &t.heap[j]
			rest := int(t.chunks[i].cap) - n
			zero := rest == 0 || k.comp.isZero(w.store.cell(t.chunks[i].number<<rowBits+uint32(n), k.comp.id, k.comp.size), rest)
			c.that(zero, "table %d: chunk %d keeps a %s of an entity that left", t.index, i, k.comp.name)
		}
	}
}

// transitions verifies the invariants of transition, for the ways out of t.
func (c *checker) transitions(w *World, t *table) {
	for id, e := range t.byComponent {
		if e != nil && e.gen == e.to.gen {
			tr, one := t.mask.only(&e.to.mask)
			c.that(one && int(tr) == id && !t.retargets(e.to), "table %d: the way for component %d leads to mask %v", t.index, id, e.to.mask)
			c.transition(w, t, e)
		}
	}
	for i, e := range t.multi {
		_, one := t.mask.only(&e.to.mask)
		c.that(!one && t.mask != e.to.mask && (e.gen != e.to.gen || !t.retargets(e.to)), "table %d: the way to mask %v is not far", t.index, e.to.mask)
		c.that(findTransition(t.multi[:i], &e.to.mask) == nil, "table %d: two ways to mask %v", t.index, e.to.mask)
		c.transition(w, t, e)
	}
	for i, e := range t.retargeting {
		c.that(e.gen != e.to.gen || t.retargets(e.to), "table %d: the way to mask %v turns to no other target", t.index, e.to.mask)
		c.that(findTransition(t.retargeting[:i], &e.to.mask) == nil, "table %d: two turns to mask %v", t.index, e.to.mask)
		c.transition(w, t, e)
	}
}

// retargets reports whether to has a relation to a target that t does not have.
func (t *table) retargets(to *table) bool {
	if to.variants == nil {
		return false
	}
	for i, id := range to.variants.relations {
		if target, ok := t.target(id); !ok || target != to.targets[i&(MaxRelations-1)] {
			return true
		}
	}
	return false
}

func (c *checker) transition(w *World, t *table, e *transition) {
	if e.gen != e.to.gen { // nobody takes it
		return
	}
	want := transitionBetween(t, e.to)
	c.that(w.store.sameKey(e.to) == e.to && slices.Equal(e.moves, want.moves) && slices.Equal(e.heap, want.heap),
		"table %d: the way to mask %v moves other cells than both have", t.index, e.to.mask)
}
