package ecs

import (
	"errors"
	"fmt"
	"unsafe"
)

// Check walks all books and reports every broken invariant, joined into one error, or nil.
// It ends even on cyclic books. Cost: proportional to entities and chunks; it allocates.
func (w *World) Check() error {
	var c checker
	c.index(&w.ents)
	c.directory(w)
	rows := 0
	for i, t := range w.tables {
		c.that(t.index == i && w.byMask[t.mask] == t, "table %d: not where its mask %#x says", i, t.mask)
		c.layout(w, t)
		if c.rows(w, t) {
			c.records(w, t)
			c.vacantHeap(w, t)
		}
		c.edges(t)
		rows += t.rows()
	}
	c.that(len(w.byMask) == len(w.tables), "%d masks name %d tables", len(w.byMask), len(w.tables))
	c.that(rows == int(w.ents.live), "tables hold %d rows for %d live entities", rows, w.ents.live)
	return c.err()
}

// A checker collects findings. It stops writing them down after many: one broken link
// breaks thousands of rows.
type checker struct {
	found []error
	more  int
}

func (c *checker) that(ok bool, format string, args ...any) {
	switch {
	case ok:
	case len(c.found) < 32:
		c.found = append(c.found, fmt.Errorf("ecs: "+format, args...))
	default:
		c.more++
	}
}

func (c *checker) err() error {
	if c.more > 0 {
		c.found = append(c.found, fmt.Errorf("ecs: and %d more", c.more))
	}
	return errors.Join(c.found...)
}

// index verifies the invariants of entityIndex.
func (c *checker) index(x *entityIndex) {
	inUse := uint32(len(x.pages)) << pageShift
	if len(x.pages) > 0 {
		c.that(x.pages[0][0].gen == retiredGen, "index: slot 0 is not retired") // (1)
	}
	if inUse > 0 {
		c.that(x.bump <= inUse, "index: bump %d is past %d slots", x.bump, inUse)
	}
	onList := make(map[uint32]bool)
	for i := x.free; i != 0; i = x.at(i).loc { // (2)
		if i >= min(x.bump, inUse) || onList[i] {
			c.that(false, "index: the free list meets slot %d, which is out of range or met before", i)
			break
		}
		gen := x.at(i).gen
		c.that(gen&1 == 0 && gen != retiredGen, "index: slot %d on the free list has generation %d", i, gen)
		onList[i] = true
	}
	live := uint32(0)
	for i := uint32(1); i < inUse; i++ {
		gen := x.at(i).gen
		alive := gen&1 == 1
		if i >= x.bump { // (5)
			c.that(!alive, "index: slot %d was never used and is alive", i)
			continue
		}
		if alive {
			live++
		}
		c.that(alive || onList[i] || gen == retiredGen, "index: slot %d is neither alive nor free nor retired", i) // (3)
	}
	c.that(live == x.live, "index: %d slots are alive, the book says %d", live, x.live) // (4)
	c.that(x.live <= x.room && x.room <= x.max, "index: live %d, room %d, max %d", x.live, x.room, x.max)
}

// directory verifies that chunk numbers are taken once or free.
func (c *checker) directory(w *World) {
	free := make(map[uint32]bool)
	for i := w.freeNumber; i != 0; i = w.chunks[i-1].pos {
		if int(i) > len(w.chunks) || free[i] {
			c.that(false, "directory: the free numbers meet %d, which is out of range or met before", i-1)
			break
		}
		c.that(w.chunks[i-1].base == nil, "directory: chunk %d is free and has a block", i-1)
		free[i] = true
	}
	held := 0
	for i := range w.chunks {
		if w.chunks[i].base != nil {
			held++
		}
	}
	c.that(held == w.live, "directory: %d chunks, the book says %d", held, w.live) // (2)
	c.that(held+len(free) == len(w.chunks), "directory: %d chunks and %d free numbers of %d", held, len(free), len(w.chunks))
	c.that(len(w.columns) == len(w.chunks)*int(w.width), "directory: %d columns for %d chunks", len(w.columns), len(w.chunks)) // (3)
	owned := 0
	for _, t := range w.tables {
		owned += len(t.chunks)
	}
	c.that(owned == held, "directory: tables own %d of %d chunks", owned, held) // (1)
}

// layout verifies invariant (1) of table.
func (c *checker) layout(w *World, t *table) {
	end := uintptr(t.cap) * entityBytes
	for _, k := range t.columns {
		off := uintptr(k.off)
		if k.size == 0 {
			c.that(off == 0, "table %d: tag %s is at %d", t.index, k.comp.name, off)
			continue
		}
		c.that(off%columnAlign == 0, "table %d: column %s starts at %d", t.index, k.comp.name, off)
		c.that(off >= end, "table %d: column %s starts at %d, before the one ahead ends at %d", t.index, k.comp.name, off, end)
		end = off + uintptr(t.cap)*uintptr(k.size)
	}
	c.that(t.cap > 0 && end <= w.chunkBytes, "table %d: %d rows end at %d of %d bytes", t.index, t.cap, end, w.chunkBytes)
	mask := uint64(0)
	for _, k := range append(t.columns[:len(t.columns):len(t.columns)], t.heap...) {
		mask |= 1 << k.comp.id
	}
	c.that(mask == t.mask, "table %d: columns %#x for mask %#x", t.index, mask, t.mask)
}

// rows verifies invariants (2) to (4) of table, and whether its rows can be walked.
func (c *checker) rows(w *World, t *table) bool {
	before := len(c.found) + c.more
	n := len(t.chunks)
	c.that(t.used() <= n && t.tailN <= t.cap, "table %d: %d rows in chunk %d of %d", t.index, t.tailN, t.tail, n) // (2)
	c.that(t.tailN > 0 || t.tail == 0, "table %d: chunk %d at the end is empty", t.index, t.tail)
	c.that(n <= t.used()+1, "table %d: %d chunks for %d in use", t.index, n, t.used()) // (3)
	if n == 0 {
		c.that(t.limit == 0 && t.tailBase == nil, "table %d: a tail without a chunk", t.index)
	} else if t.tail < n {
		k := &t.chunks[t.tail]
		c.that(t.limit == t.cap && t.tailBase == k.base && t.tailLoc == k.number<<rowBits, "table %d: the tail is not chunk %d", t.index, t.tail)
	}
	for i := range t.chunks { // (4)
		k := &t.chunks[i]
		if int(k.number) >= len(w.chunks) {
			c.that(false, "table %d: chunk %d has number %d of %d", t.index, i, k.number, len(w.chunks))
			continue
		}
		d := w.chunks[k.number]
		c.that(d.table == t && d.base == k.base && int(d.pos) == i, "table %d: chunk %d is not what the directory says", t.index, i)
		c.that(uintptr(k.base)%chunkAlign == 0, "table %d: chunk %d is not aligned", t.index, i)
		c.columns(w, t, i)
	}
	return before == len(c.found)+c.more
}

// columns verifies invariant (4) of directory for chunk i of t.
func (c *checker) columns(w *World, t *table, i int) {
	want := make([]unsafe.Pointer, w.width)
	row := w.row(t.chunks[i].number)
	for _, k := range t.columns {
		want[k.comp.id] = unsafe.Add(t.chunks[i].base, uintptr(k.off))
	}
	for _, k := range t.heap {
		want[k.comp.id] = row[k.comp.id]
		c.that(row[k.comp.id] != nil, "table %d: chunk %d has no column %s", t.index, i, k.comp.name)
	}
	for id := range want {
		c.that(row[id] == want[id], "table %d: chunk %d has component %d at a wrong address", t.index, i, id)
	}
}

// records verifies invariant (5) of table.
func (c *checker) records(w *World, t *table) {
	for i := range t.used() {
		k := &t.chunks[i]
		for row, e := range unsafe.Slice((*Entity)(k.base), t.rowsIn(i)) {
			r := w.ents.find(e)
			if r == nil || e.gen&1 == 0 {
				c.that(false, "table %d: chunk %d row %d holds %v, which is not alive", t.index, i, row, e)
				continue
			}
			c.that(r.loc == k.number<<rowBits|uint32(row), "table %d: chunk %d row %d holds %v, whose record says %#x", t.index, i, row, e, r.loc)
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
			rest := int(t.cap) - n
			zero := rest == 0 || k.comp.isZero(w.cell(t.chunks[i].number<<rowBits+uint32(n), k.comp.id, k.comp.size), rest)
			c.that(zero, "table %d: chunk %d keeps a %s of an entity that left", t.index, i, k.comp.name)
		}
	}
}

// edges verifies that ways lead where their key says.
func (c *checker) edges(t *table) {
	for id, e := range t.toggle {
		c.that(e == nil || e.to.mask == t.mask^1<<id, "table %d: the way for component %d leads to mask %#x", t.index, id, maskTo(e))
	}
	for i, e := range t.far {
		for _, other := range t.far[:i] {
			c.that(other.to != e.to, "table %d: two ways to mask %#x", t.index, e.to.mask)
		}
	}
}

func maskTo(e *edge) uint64 {
	if e == nil {
		return 0
	}
	return e.to.mask
}
