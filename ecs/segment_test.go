package ecs

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

// directoryOfSegments is a world of which only the segments are used.
func directoryOfSegments() *World {
	return &World{store: store{directory: directory{width: minWidth, draft: true}}}
}

// takeTestRun is what attach does with segments alone.
func takeTestRun(w *World, order int) uint32 {
	first, ok := w.store.takeVacant(order)
	if !ok {
		w.store.extend(order, nil)
		first, _ = w.store.takeVacant(order)
	}
	for i := range w.store.chunks[first : first+1<<order] {
		w.store.chunks[int(first)+i].base = unsafe.Pointer(w)
	}
	return first
}

func giveTestRun(w *World, first uint32, order int) {
	clear(w.store.chunks[first : first+1<<order])
	w.store.giveRun(first, order)
}

// TestSegments_ModelOfRuns takes and gives runs of all orders at random and compares them with a set of
// numbers.
func TestSegments_ModelOfRuns(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			w := directoryOfSegments()
			type run struct {
				first uint32
				order int
			}
			var held []run
			owner := map[uint32]bool{}
			for step := range 3000 {
				grow := rng.IntN(3) > step/1000 // more come at first, then fewer
				if grow || len(held) == 0 {
					r := run{order: int(rng.ExpFloat64()) % (maxOrder + 1)}
					r.first = takeTestRun(w, r.order)
					for i := r.first; i < r.first+1<<r.order; i++ {
						if owner[i] {
							t.Fatalf("step %d: segment %d is taken twice", step, i)
						}
						owner[i] = true
					}
					held = append(held, r)
				} else {
					i := rng.IntN(len(held))
					r := held[i]
					held = slices.Delete(held, i, i+1)
					for k := r.first; k < r.first+1<<r.order; k++ {
						delete(owner, k)
					}
					giveTestRun(w, r.first, r.order)
				}
				if step%50 == 0 {
					var c checker
					if runs, free, _ := c.segments(w); c.err() != nil || runs-free != len(held) {
						t.Fatalf("step %d: %d runs, %d free, %d held: %v", step, runs, free, len(held), c.err())
					}
				}
			}
			for _, r := range held {
				giveTestRun(w, r.first, r.order)
			}
			n := len(w.store.chunks)
			for order, first := range w.store.vacant[:maxOrder] { // all buddies have met
				if (first != 0) != (n>>order&1 != 0) {
					t.Errorf("%d free segments: run %d is the first of order %d", n, first, order)
				}
			}
		})
	}
}

// TestSegments_LimitKnowsAlignedRuns compares hasRun at the last segments with what a run needs.
func TestSegments_LimitKnowsAlignedRuns(t *testing.T) {
	for _, c := range []struct {
		n, order int
		want     bool
	}{
		{maxSegments, 0, false}, {maxSegments - 1, 0, true}, {maxSegments - 1, 1, false}, {maxSegments - 2, 1, true},
		{maxSegments - 3, 1, true}, {maxSegments - 1<<maxOrder, maxOrder, true}, {maxSegments - 1<<maxOrder + 1, maxOrder, false},
	} {
		s := segments{chunks: unsafe.Slice((*chunk)(nil), 0)}
		s.chunks = make([]chunk, c.n)
		if got := s.hasRun(c.order); got != c.want {
			t.Errorf("%d segments: a run of order %d: %v", c.n, c.order, got)
		}
		s.vacant[maxOrder] = 1
		if !s.hasRun(c.order) {
			t.Errorf("%d segments: the free run is not found for order %d", c.n, c.order)
		}
	}
}

func TestSegments_TrimKeepsFreeRunsInOrder(t *testing.T) {
	for n := range 150 {
		w := directoryOfSegments()
		var runs []uint32
		for range 150 {
			runs = append(runs, takeTestRun(w, 0))
		}
		for i, first := range runs {
			if i%3 != 0 && i < n || i > n {
				giveTestRun(w, first, 0)
			}
		}
		w.store.trim(n + 1)
		var c checker
		if c.segments(w); c.err() != nil || len(w.store.chunks) != n+1 {
			t.Fatalf("%d segments: %v", n, c.err())
		}
		taken := -1
		for order := range maxOrder + 1 { // lower numbers first
			if first, ok := w.store.takeVacant(order); ok && order == 0 {
				taken = int(first)
			}
		}
		if taken > n {
			t.Errorf("%d segments: number %d", n, taken)
		}
	}
}

// TestGet_FollowsRowsOverSegments looks up each row of chunks of one row more and less than some segments.
func TestGet_FollowsRowsOverSegments(t *testing.T) {
	w, _ := newTestWorld(t, Config{MaxEntities: 1 << 18})
	m := NewMap3[position, burning, brain](w)
	pos, tag, brains := mustRegisterTest[position](t, w), mustRegisterTest[burning](t, w), mustRegisterTest[brain](t, w)
	n := 3*rowCount + 1
	if testenv.Short() {
		n = rowCount + 1
	}
	err := m.NewBatch(n, func(i int, p *position, _ *burning, b *brain) { p.X, b.Name = float32(i), fmt.Sprint(i) })
	if err != nil || w.Check() != nil {
		t.Fatal(err, w.Check())
	}
	all := NewFilter1[position](w)
	for i := range n {
		e := all.EntityAt(i)
		p, ok := pos.Get(e)
		b, also := brains.Get(e)
		if _, has := tag.Get(e); !ok || !also || !has || p.X != float32(i) || b.Name != fmt.Sprint(i) {
			t.Fatalf("row %d: %v %v", i, p, b)
		}
	}
	for es := range all.Chunks() { // any part of a chunk
		for _, part := range [][]Entity{es, es[len(es)/2:], es[len(es)-1:]} {
			if got := pos.Column(part); len(got) != len(part) {
				t.Fatalf("a column of %d rows for %d", len(got), len(part))
			}
		}
	}
	e, last := all.EntityAt(0), all.EntityAt(n-1)
	w.Remove(e) // the last row moves to another segment
	if p, ok := pos.Get(last); !ok || p.X != float32(n-1) || w.Check() != nil {
		t.Error(p, ok, w.Check())
	}
}
