package slab

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory/page"
)

// A tally has a count for each unit.
type tally struct {
	of    []uint16
	table *page.Table // of a large one
}

// tallyBytes is what a tally takes for a unit.
const tallyBytes = unsafe.Sizeof(tally{}.of[0])

// smallTally is how many units a tally counts that is made when it is needed first. A larger one exists before
// memory is short, when it is needed. It takes no memory before the first count.
const smallTally = 32 << 10

// tallied returns how far a tally must reach.
func (h *Heap) tallied() uintptr {
	return max(h.limit/unitGranules, min(uintptr(len(h.place)), smallTally))
}

// countTo makes the tally reach to unit end at least. If there is no memory for that, countTo changes nothing.
func (h *Heap) countTo(end uintptr) error {
	t := &h.tally
	if end <= uintptr(len(t.of)) {
		return nil
	}
	if t.table == nil && end <= smallTally {
		t.of = page.Lengthen(new(page.Table), t.of, end)
		return nil
	}
	if t.table == nil {
		t.table = new(h.mem.NewTable(h.mostTally()))
	}
	if !t.table.Prepare(end * tallyBytes) {
		if err := page.ProbeHeap(end * tallyBytes); err != nil {
			return err
		}
	}
	t.of = page.Lengthen(t.table, t.of, end)
	return nil
}

// mostTally returns the bytes of a tally of the whole reservation.
func (h *Heap) mostTally() uintptr { return h.mem.Reserved() >> unitShift * tallyBytes }

// release gives the memory back.
func (t *tally) release() {
	if t.table != nil {
		t.table.Release()
	}
	*t = tally{}
}

func (h *Heap) checkTally() error {
	if h.tally.table == nil {
		return nil
	}
	if err := h.tally.table.Check(h.mostTally()); err != nil {
		return fmt.Errorf("slab: tally: %w", err)
	}
	return nil
}
