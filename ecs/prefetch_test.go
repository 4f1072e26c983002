package ecs

import (
	"errors"
	"iter"
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

// TestAhead_IsTheNextLargeChunkOfTheTable follows a walk over chunks of 64 KiB and more, as a batch
// makes them, with a tag, a pointerful column and one of no size.
func TestAhead_IsTheNextLargeChunkOfTheTable(t *testing.T) {
	type nobody [0]*int
	type small struct{ _ *int } // a chunk has as many of these as of its other rows
	type part struct {
		rows   int
		from   address
		behind unsafe.Pointer
	}
	w, _ := newTestWorld(t, Config{MaxChunkBytes: 64 << 10})
	ids := []ID{must[ID](t)(w.RegisterSize("byte", 1, 1)), mustRegisterTest[burning](t, w).ID(), registerType(t, w, small{}), registerType(t, w, nobody{})}
	m := newMapper(w, ids...)
	const per = 7280 // rows of 9 bytes in 64 KiB
	if err := m.newColumns(2*per+100, true, nil); err != nil {
		t.Fatal(err)
	}
	if err := newBatch(w, 10, append(ids, mustRegisterTest[position](t, w).ID())...); err != nil {
		t.Fatal(err)
	}
	f := NewFilterOf(w, ids...)
	var got []part
	for s := f.filter.begin(); s != nil; s = s.next() {
		p := part{rows: s.rows, from: s.cols[0]}
		if number, ok := f.filter.following(&s.it.filterPos); ok {
			p.behind = w.store.column(number, ids[0])
		}
		got = append(got, p)
	}
	column := func(i int) unsafe.Pointer { return w.store.column(m.table.chunks[i].number, ids[0]) }
	at := func(i, row int) address { return address(uintptr(column(i)) + uintptr(row)) }
	// Behind the first lies a full one, which is looked at before its last rows are walked; behind that one of 16 KiB;
	// nothing is looked at in another table.
	want := []part{{per - prefetchTailRows, at(0, 0), column(1)}, {prefetchTailRows, at(0, per-prefetchTailRows), column(1)}, {per, at(1, 0), nil}, {100, at(2, 0), nil}, {10, got[len(got)-1].from, nil}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestAhead_ALoopThatIsLeftBeforeAnEndLeavesNothingToTheNext leaves loops over a chunk that is walked in two parts in
// the first, and begins anew, with the same rows and after a change.
func TestAhead_ALoopThatIsLeftBeforeAnEndLeavesNothingToTheNext(t *testing.T) {
	w, _ := newTestWorld(t, Config{MaxChunkBytes: 64 << 10})
	f := NewFilter1[byte](w)
	const n = 3 * 7281
	if err := newBatch(w, n, f.filter.ids[0]); err != nil {
		t.Fatal(err)
	}
	for _, leaveAt := range []int{0, 5000, 7281 - prefetchTailRows, 7280, 7281, n - 1} {
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

// edges makes a world with three archetypes in chunks that are walked in two parts and in one, and returns in the order
// of a walk its rows, and those beside which a step ends.
func edges(t *testing.T) (w *World, f *Filter1[byte], es []Entity, at []int) {
	w, _ = newTestWorld(t, Config{MaxChunkBytes: 64 << 10})
	f = NewFilter1[byte](w)
	one, tag, think := f.filter.ids[0], mustRegisterTest[burning](t, w).ID(), mustRegisterTest[brain](t, w).ID()
	a, b, c := newMapper(w, one), newMapper(w, one, tag), newMapper(w, one, tag, think)
	if err := errors.Join(a.newColumns(2*7281, true, nil), b.newColumns(7281+100, true, nil), c.newColumns(3*7281, true, nil)); err != nil {
		t.Fatal(err)
	}
	for i, table := range []*table{a.table, b.table, c.table} {
		for k := range table.used() {
			es = append(es, w.store.entitiesFrom(table.chunks[k].number<<rowBits, table.rowsIn(k))...)
			if n := len(es); k < table.used()-1 && i != 1 {
				at = append(at, n-prefetchTailRows-1, n-prefetchTailRows)
			}
			at = append(at, len(es)-1, len(es))
		}
	}
	return w, f, es, at[:len(at)-1]
}

// TestAhead_IsLeftAtEachEdgeInAnyWayAndTheNextLoopMeetsAll leaves loops within a loop, which goes on.
func TestAhead_IsLeftAtEachEdgeInAnyWayAndTheNextLoopMeetsAll(t *testing.T) {
	testenv.Long(t)
	w, f, es, at := edges(t)
	leave := func(row int, tr func() bool) {
		i := 0
		for range f.All() {
			if i++; i > row && tr() {
				return
			}
		}
	}
	ways := []func(row int){
		func(row int) { leave(row, func() bool { return true }) },
		func(row int) { caught(func() { leave(row, func() bool { panic("body") }) }) },
		func(row int) {
			done := make(chan bool)
			go func() {
				defer close(done)
				leave(row, func() bool { runtime.Goexit(); return true })
			}()
			<-done
		},
		func(row int) {
			next, stop := iter.Pull2(f.Chunks())
			for i := 0; i <= row; {
				part, _, _ := next()
				i += len(part)
			}
			stop()
		},
	}
	meetsAll := func(what string, row int) {
		t.Helper()
		got := make([]Entity, 0, len(es))
		for e := range f.All() {
			got = append(got, e)
		}
		parts := make([]Entity, 0, len(es))
		for part, column := range f.Chunks() {
			if parts = append(parts, part...); len(column) != len(part) || cap(column) != len(part) || cap(part) != len(part) {
				t.Errorf("%d entities have %d cells of %d", len(part), len(column), cap(column))
			}
		}
		if err := errors.Join(w.Check(), f.Check()); err != nil || !slices.Equal(got, es) || !slices.Equal(parts, es) {
			t.Fatalf("%s, left at row %d: the next loops meet %d and %d of %d, %v", what, row, len(got), len(parts), len(es), err)
		}
	}
	for n, tr := range ways {
		for k := n % testenv.Step(3); k < len(at); k += testenv.Step(3) {
			row := at[k]
			tr(row)
			meetsAll("alone", row)
			i := 0
			for e := range f.All() {
				if e != es[i] {
					t.Fatalf("row %d is %v", i, e)
				}
				if i == row {
					tr(at[n])
					meetsAll("within", row)
				}
				i++
			}
			if i != len(es) {
				t.Fatalf("a loop around one meets %d of %d", i, len(es))
			}
		}
		w.Shrink() // and nothing is under way
	}
}

// TestAhead_StopsAtTheStepAfterAChangeAtEachEdge removes and creates, in loops alone and within another, and in those
// over chunks.
func TestAhead_StopsAtTheStepAfterAChangeAtEachEdge(t *testing.T) {
	testenv.Long(t)
	w, f, es, at := edges(t)
	burns := mustRegisterTest[burning](t, w)
	for k := 0; k < len(at); k += testenv.Step(3) {
		row := at[k]
		for name, change := range map[string]func(){
			"Shrink": func() { w.Shrink() },
			"create": func() { w.Remove(must[Entity](t)(w.NewEntity())) },
			"move":   func() { w.Remove(must[Entity](t)(w.CopyEntity(es[len(es)-1]))) },
			"narrow": func() { f.Writes(burns.ID()).Writes() },
		} {
			steps, rows, want := 0, 0, changedWithin
			if name == "narrow" {
				want = configuredWithin
			}
			text := misuse(t, func() {
				for e := range f.All() {
					if e != es[steps] {
						t.Errorf("row %d is %v", steps, e)
					}
					if steps++; steps > row {
						change()
					}
				}
			})
			if text != want || steps != row+1 {
				t.Errorf("%s at row %d: %q after %d", name, row, text, steps)
			}
			text = misuse(t, func() {
				for range f.All() {
					for part := range f.Chunks() {
						if rows += len(part); rows > row {
							caught(change)
							break
						}
					}
				}
			})
			if err := errors.Join(w.Check(), f.Check()); text != want || len(w.guard.running) != 0 || err != nil {
				t.Errorf("%s at row %d: %q, %d loops, %v", name, row, text, len(w.guard.running), err)
			}
		}
	}
}

// TestAhead_EndsByTheSizeOfTheFirstColumn walks chunks in two parts whose first column has cells of no size, of an odd
// one, of many bytes, and with pointers, and stops at a change at each edge.
func TestAhead_EndsByTheSizeOfTheFirstColumn(t *testing.T) {
	t.Run("none", endsBySize[burning])
	t.Run("3", endsBySize[odd])
	t.Run("8", endsBySize[position])
	t.Run("pointers", endsBySize[brain])
}

func endsBySize[A any](t *testing.T) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 64 << 10, MaxChunkBytes: 256 << 10})
	first, second := mustRegisterTest[A](t, w), mustRegisterTest[armour](t, w)
	const n = 40000
	if err := newBatch(w, n, first.ID(), second.ID()); err != nil {
		t.Fatal(err)
	}
	f, es, parted := NewFilter2[A, armour](w), []Entity(nil), false
	var at []int // the rows beside each edge
	for s := f.filter.begin(); s != nil; s = s.next() {
		if parted = parted || s.it.tailRows != 0; s.end != uintptr(s.rows)*f.filter.stride {
			t.Errorf("%d rows end at %d", s.rows, s.end)
		}
		at = append(at, len(es), len(es)+s.rows-1)
		for i := range s.rows {
			es = append(es, *entityAt(s.es.pointer(), uint32(i)))
		}
	}
	i := 0
	for e, r := range f.All() {
		a, _ := first.Get(e)
		if h, _ := second.Get(e); i >= n || e != es[i] || r.A != a || r.B != h {
			t.Fatalf("row %d is %v, %p and %p, not %p and %p", i, e, r.A, r.B, a, h)
		}
		i++
	}
	if i != n || !parted {
		t.Fatalf("%d of %d rows, in parts: %v", i, n, parted)
	}
	for _, row := range at {
		steps := 0
		text := misuse(t, func() {
			for range f.All() {
				if steps++; steps > row {
					w.Remove(must[Entity](t)(w.NewEntity()))
				}
			}
		})
		if err := errors.Join(w.Check(), f.Check()); text != changedWithin || steps != row+1 || err != nil {
			t.Errorf("a change at row %d: %q after %d, %v", row, text, steps, err)
		}
	}
}
