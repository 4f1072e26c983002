package ecs

import "unsafe"

// An edge is the way of a row from one table to another: which column goes where.
//
// Invariants, verified in this order by check:
//
//	(1) table.toggle[id] leads to the table that differs in component id alone, table.far
//	    to tables that differ in several, and only one edge to each
//	(2) moves and heap name exactly the columns that both tables have
type edge struct {
	to    *table
	moves []move
	heap  []*component // pointerful types that both tables have
}

// A move copies a pointer-free cell of size bytes from column to column.
type move struct {
	size uint32
	id   ID
}

// edgeBy returns the edge from t to the table that differs in component id alone.
func (w *World) edgeBy(t *table, id ID) (*edge, error) {
	if int(id) < len(t.toggle) {
		if e := t.toggle[id]; e != nil {
			return e, nil
		}
	}
	m := t.mask
	m[id>>6] ^= 1 << (id & 63)
	return w.newEdge(t, m)
}

// edgeTo returns the edge from t to the table with the given components, which differs.
func (w *World) edgeTo(t *table, m mask) (*edge, error) {
	if id, ok := t.mask.only(&m); ok {
		return w.edgeBy(t, id)
	}
	for _, e := range t.far {
		if e.to.mask == m {
			return e, nil
		}
	}
	return w.newEdge(t, m)
}

//go:noinline
func (w *World) newEdge(t *table, m mask) (*edge, error) {
	to, err := w.tableFor(m)
	if err != nil {
		return nil, err
	}
	e := edgeBetween(t, to)
	if id, ok := t.mask.only(&m); ok {
		for len(t.toggle) <= int(id) {
			t.toggle = append(t.toggle, nil)
		}
		t.toggle[id] = e
	} else {
		t.far = append(t.far, e)
	}
	return e, nil
}

func edgeBetween(t, to *table) *edge {
	e := &edge{to: to}
	for _, k := range t.columns {
		for _, l := range to.columns {
			if l.comp == k.comp && k.size > 0 {
				e.moves = append(e.moves, move{size: k.size, id: k.comp.id})
			}
		}
	}
	for _, k := range t.heap {
		if to.mask.has(k.comp.id) {
			e.heap = append(e.heap, k.comp)
		}
	}
	return e
}

// relocate moves the row of a live record along e and returns where it is now. Cells of
// components that are new to it hold old bytes: the caller writes every one, and settles.
// On error nothing has changed.
func (w *World) relocate(index uint32, r *record, e *edge) (uint32, error) {
	to := e.to
	if to.tailN == to.limit {
		if err := w.grow(to); err != nil {
			return 0, err
		}
	}
	row := to.tailN
	to.tailN++
	old, loc := r.loc, to.tailLoc+row
	*entityAt(to.tailBase, row) = Entity{index: index, gen: r.gen}
	dst, src := w.row(loc>>rowBits), w.row(old>>rowBits)
	from := uintptr(old & rowMask)
	for i := range e.moves {
		m := &e.moves[i]
		size := uintptr(m.size)
		copyRow(unsafe.Add(dst[m.id].pointer(), uintptr(row)*size), unsafe.Add(src[m.id].pointer(), from*size), size)
	}
	if len(e.heap) > 0 {
		w.moveHeap(e, loc, old, 1)
	}
	r.loc = loc
	w.vacate(old)
	return loc, nil
}

// moveHeap copies n rows of the pointerful columns that both tables have.
func (w *World) moveHeap(e *edge, to, from uint32, n int) {
	for _, comp := range e.heap {
		comp.copyCells(w.cell(to, comp.id, comp.size), w.cell(from, comp.id, comp.size), n)
	}
}

// copyRow copies one pointer-free cell. Columns start at multiples of 16, so a size that
// is a multiple of a word keeps every cell aligned to it. Cells are small: the loop takes
// a third of the time of a call to memmove at 8 and 16 bytes.
func copyRow(dst, src unsafe.Pointer, size uintptr) {
	if size&7 == 0 && size <= 64 {
		for i := uintptr(0); i < size; i += 8 {
			*(*uint64)(unsafe.Add(dst, i)) = *(*uint64)(unsafe.Add(src, i))
		}
		return
	}
	copyBytes(dst, src, size)
}

func copyBytes(dst, src unsafe.Pointer, size uintptr) {
	copy(unsafe.Slice((*byte)(dst), size), unsafe.Slice((*byte)(src), size))
}
