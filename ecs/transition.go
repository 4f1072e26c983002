package ecs

import (
	"slices"
	"unsafe"
)

// A transition is the path of a row from one table to another: which column goes where.
//
// It leads to the table that was last asked for among those with the same components: which cells
// move does not depend on targets, and a table has no transition for each of thousands of them. Where
// to has been retired since, its gen says so, and the transition is made anew when it is next taken.
//
// Invariants, verified in this order by check:
//
//	(1) table.byComponent[id] leads to a table that differs in component id, table.multi to tables
//	    that differ in several components, and only one transition to the same components; what
//	    relations they have, the first table has too, to the same targets
//	(2) table.retargeting leads to tables with a relation to a target that the first does not have,
//	    only one transition to the same components
//	(3) moves and heap name exactly the columns that both tables have
type transition struct {
	to    *table
	gen   uint32 // of to
	moves []move
	heap  []*component // pointerful types that both tables have
}

// A move copies a pointer-free cell of size bytes from column to column.
type move struct {
	size uint32
	id   ID
}

// transitionBy returns the transition from t to the table that differs in component id alone.
func (s *store) transitionBy(op string, t *table, id ID) (*transition, error) {
	if int(id) < len(t.byComponent) {
		if e := t.byComponent[id]; e != nil && e.gen == e.to.gen {
			return e, nil
		}
	}
	m := t.mask
	m[id>>6] ^= 1 << (id & 63)
	k, _ := s.keyAfter(op, t, m, nil)
	return s.transitionTo(t, k, false)
}

// transitionTo returns the transition from t to the table that k names, which keyAfter made and which differs.
func (s *store) transitionTo(t *table, k key, retargets bool) (*transition, error) {
	var e *transition
	if id, ok := t.mask.only(&k.mask); retargets {
		e = findTransition(t.retargeting, &k.mask)
	} else if !ok {
		e = findTransition(t.multi, &k.mask)
	} else if int(id) < len(t.byComponent) {
		e = t.byComponent[id]
	}
	if e != nil && e.gen == e.to.gen && e.to.targets == k.targets {
		return e, nil
	}
	return s.newTransition(t, k, retargets, e)
}

// findTransition returns the transition to the components in m.
func findTransition(edges []*transition, m *mask) *transition {
	for _, e := range edges {
		if e.to.mask == *m {
			return e
		}
	}
	return nil
}

// newTransition makes a transition, or turns the one there is towards another table.
//
//go:noinline
func (s *store) newTransition(t *table, k key, retargets bool, e *transition) (*transition, error) {
	to, err := s.tableFor(k)
	if err != nil {
		return nil, err
	}
	if e != nil {
		e.to, e.gen = to, to.gen
		return e, nil
	}
	e = transitionBetween(t, to)
	if id, ok := t.mask.only(&k.mask); retargets {
		t.retargeting = append(t.retargeting, e)
	} else if !ok {
		t.multi = append(t.multi, e)
	} else {
		if n := int(id) + 1; n > len(t.byComponent) {
			t.byComponent = slices.Grow(t.byComponent, n-len(t.byComponent))[:n]
		}
		t.byComponent[id] = e
	}
	return e, nil
}

func transitionBetween(t, to *table) *transition {
	e := &transition{to: to, gen: to.gen, moves: make([]move, 0, min(len(t.columns), len(to.columns)))}
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
// components that are new to it hold old bytes: the caller writes every one, and frees pending blocks.
// On error nothing has changed.
func (s *store) relocate(index uint32, r *record, e *transition) (uint32, error) {
	to := e.to
	if to.tailN == to.limit {
		if err := s.grow(to); err != nil {
			return 0, err
		}
	}
	row := to.tailN
	to.tailN++
	old, loc := r.loc, to.tailLoc+row
	*entityAt(to.tailBase, row) = Entity{index: index, gen: r.gen}
	dst, src := s.row(to.tailLoc>>rowBits), s.row(old>>rowBits)
	from := uintptr(old & rowMask)
	for i := range e.moves {
		m := &e.moves[i]
		size := uintptr(m.size)
		copyRow(unsafe.Add(dst[m.id].pointer(), uintptr(row)*size), unsafe.Add(src[m.id].pointer(), from*size), size)
	}
	if len(e.heap) > 0 {
		s.moveHeap(e, loc, old, 1)
	}
	r.loc = loc
	s.vacate(old)
	return loc, nil
}

// moveHeap copies n rows of the pointerful columns that both tables have.
func (s *store) moveHeap(e *transition, to, from uint32, n int) {
	for _, comp := range e.heap {
		comp.copyCells(s.cell(to, comp.id, comp.size), s.cell(from, comp.id, comp.size), n)
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
