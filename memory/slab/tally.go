package slab

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory/page"
)

// A tally has a count for each unit.
type tally struct {
	of    []uint16
	table page.Table
}

// tallyBytes is what a tally takes for a unit.
const tallyBytes = unsafe.Sizeof(tally{}.of[0])

// smallTally is how many units a tally counts that is made when it is needed first. A larger one exists
// before memory is short, when it is needed. It takes no memory before the first count.
const smallTally = 32 << 10

// tallied returns how far a tally must reach.
func (h *Heap) tallied() uintptr {
	return max(h.limit/unitGranules, min(uintptr(len(h.place)), smallTally))
}

// newTally returns an empty tally for a heap with memory of src.
func newTally(src page.Source, reserved uintptr) tally {
	return tally{table: page.NewTable(src, reserved>>unitShift*tallyBytes)}
}

// reach makes the tally reach to unit end at least. If there is no memory for that, reach changes nothing.
func (t *tally) reach(end uintptr) error {
	if end <= uintptr(len(t.of)) {
		return nil
	}
	if !t.table.Prepare(end * tallyBytes) {
		if err := page.ProbeHeap(end * tallyBytes); err != nil {
			return err
		}
	}
	t.of = page.Lengthen(&t.table, t.of, end)
	return nil
}

// release gives the memory back.
func (t *tally) release() {
	t.table.Release()
	*t = tally{}
}

func (t *tally) check(reserved uintptr) error {
	if err := t.table.Check(reserved >> unitShift * tallyBytes); err != nil {
		return fmt.Errorf("slab: tally: %w", err)
	}
	return nil
}
