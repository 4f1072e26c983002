package ecs

import (
	"slices"
	"testing"
	"unsafe"
)

// TestAhead_IsTheNextLargeChunkOfTheTable follows a walk over chunks of 64 KiB and more, as a batch
// makes them, with a tag, a pointerful column and one of no size.
func TestAhead_IsTheNextLargeChunkOfTheTable(t *testing.T) {
	type nobody [0]*int
	type part struct {
		rows   int
		from   address
		behind unsafe.Pointer
	}
	w, _ := newTestWorld(t, Config{MaxChunkBytes: 64 << 10})
	m := NewMap4[byte, burning, brain, nobody](w)
	const per = 7280 // rows of 9 bytes in 64 KiB
	if err := m.NewBatch(2*per+100, nil); err != nil {
		t.Fatal(err)
	}
	if err := NewMap5[byte, burning, brain, nobody, position](w).NewBatch(10, nil); err != nil {
		t.Fatal(err)
	}
	f := NewFilter4[byte, burning, brain, nobody](w)
	var got []part
	for s := f.begin(); s != nil; s = s.next() {
		p := part{rows: s.rows, from: s.cols[0]}
		if number, ok := f.behind(&s.of.spot); ok {
			p.behind = w.column(number, m.ids[0])
		}
		got = append(got, p)
	}
	column := func(i int) unsafe.Pointer { return w.column(m.table.chunks[i].number, m.ids[0]) }
	at := func(i, row int) address { return address(uintptr(column(i)) + uintptr(row)) }
	// Behind the first lies a full one, which is looked at before its last rows are walked; behind that one of 16 KiB;
	// nothing is looked at in another table.
	want := []part{{per - endRows, at(0, 0), column(1)}, {endRows, at(0, per-endRows), column(1)}, {per, at(1, 0), nil}, {100, at(2, 0), nil}, {10, got[len(got)-1].from, nil}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestAhead_ALoopThatIsLeftBeforeAnEndLeavesNothingToTheNext leaves loops over a chunk that is walked in two parts in the first,
// and begins anew, with the same rows and after a change.
func TestAhead_ALoopThatIsLeftBeforeAnEndLeavesNothingToTheNext(t *testing.T) {
	w, _ := newTestWorld(t, Config{MaxChunkBytes: 64 << 10})
	m, f := NewMap1[byte](w), NewFilter1[byte](w)
	const n = 3 * 7281
	if err := m.NewBatch(n, nil); err != nil {
		t.Fatal(err)
	}
	for _, leaveAt := range []int{0, 5000, 7281 - endRows, 7280, 7281, n - 1} {
		i := 0
		for range f.All() {
			if i++; i > leaveAt {
				break
			}
		}
		seen := map[Entity]bool{}
		for e := range f.All() {
			seen[e] = true
		}
		if len(seen) != n {
			t.Errorf("left at row %d, the next loop sees %d of %d", leaveAt, len(seen), n)
		}
		if err := w.Check(); err != nil {
			t.Fatal(err)
		}
	}
	for e := range f.All() {
		w.Remove(e)
		break
	}
	rows := 0
	for es := range f.Chunks() {
		rows += len(es)
	}
	if rows != n-1 {
		t.Errorf("after a removal Chunks sees %d of %d", rows, n-1)
	}
	if err := w.Check(); err != nil {
		t.Fatal(err)
	}
}
