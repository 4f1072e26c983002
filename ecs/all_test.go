package ecs

import (
	"iter"
	"runtime"
	"slices"
	"testing"
)

const changedWithin = "ecs.All: the world was changed within the loop; use World.Commands, or leave the loop after the change"

// inOrder returns the entities that a query meets.
func inOrder(f *Filter1[position]) (es []Entity) { return entities(f.filter.w, f) }

// walkable makes a world with chunks of three sizes and two archetypes, one of them empty.
func walkable(t *testing.T) (*World, *Map4[position, velocity, armour, brain], *Filter1[position]) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
	if err := NewMap2[position, health](w).NewBatch(1, nil); err != nil {
		t.Fatal(err)
	}
	m := NewMap4[position, velocity, armour, brain](w)
	for i := range 500 {
		x := float32(i)
		must[Entity](t)(m.NewEntity(position{x, x}, velocity{x, 1}, armour{Value: uint64(i)}, brain{Target: &i}))
	}
	w.RemoveAll(NewFilter1[health](w))
	if err := newBatch(w, 30, mustRegisterTest[position](t, w).ID(), mustRegisterTest[burning](t, w).ID(), mustRegisterTest[odd](t, w).ID()); err != nil {
		t.Fatal(err)
	}
	return w, m, NewFilter1[position](w)
}

func TestAll_MeetsWhatAQueryMeetsInItsOrder(t *testing.T) {
	w, _, f1 := walkable(t)
	want := inOrder(f1)
	if len(want) != 530 || len(w.store.tables[2].chunks) < 6 {
		t.Fatalf("%d entities, %d chunks", len(want), len(w.store.tables[2].chunks))
	}
	var got []Entity
	for e, p := range f1.All() {
		if q, _ := mustRegisterTest[position](t, w).Get(e); q != p {
			t.Fatal("another address")
		}
		got = append(got, e)
	}
	if !slices.Equal(got, want) {
		t.Error("All of one component differs")
	}
	want = want[:500]
	i := 0
	for e, r := range NewFilter2[position, velocity](w).All() {
		if e != want[i] || r.A.X != float32(i) || r.B.X != float32(i) {
			t.Fatalf("row %d is %v of %v", i, r, e)
		}
		i++
	}
	for e, r := range NewFilter3[brain, armour, position](w).All() {
		if i--; e != want[499-i] || *r.A.Target != 499-i || r.B.Value != uint64(499-i) || r.C.X != float32(499-i) {
			t.Fatalf("row %d is %v of %v", i, r, e)
		}
	}
	for e, r := range NewFilter4[brain, armour, velocity, position](w).All() {
		if e != want[i] || *r.A.Target != i || r.B.Value != uint64(i) || r.C.X != float32(i) || r.D.X != float32(i) {
			t.Fatalf("row %d is %v of %v", i, r, e)
		}
		i++
	}
	if i != 500 || w.Locked() || len(w.guard.running) != 0 {
		t.Errorf("%d rows, %d loops", i, len(w.guard.running))
	}
	for range NewFilter1[health](w).All() {
		t.Error("an entity that is not there")
	}
}

func TestChunks_AreTheColumnsOfAQuery(t *testing.T) {
	w, _, f1 := walkable(t)
	q1 := f1.Query()
	for es, ps := range f1.Chunks() {
		q1.NextChunk()
		if qs, cs := q1.Columns(); &qs[0] != &es[0] || len(qs) != len(es) || &cs[0] != &ps[0] || len(cs) != len(ps) {
			t.Error("Chunks of one component differ")
		}
	}
	f3 := NewFilter3[brain, armour, position](w)
	q3 := f3.Query()
	for es, c := range f3.Chunks() {
		q3.NextChunk()
		if qs, bs, as, ps := q3.Columns(); len(qs) != len(es) || &bs[0] != &c.A[0] || &as[0] != &c.B[0] || &ps[0] != &c.C[0] || len(c.A)+len(c.B)+len(c.C) != 3*len(es) {
			t.Error("Chunks of three components differ")
		}
	}
	n := 0
	for es, c := range NewFilter4[brain, armour, velocity, position](w).Chunks() {
		for i := range es {
			if *c.A[i].Target != n || c.B[i].Value != uint64(n) || c.C[i].X != float32(n) || c.D[i].X != float32(n) {
				t.Fatalf("row %d", n)
			}
			n++
		}
	}
	if n != 500 || q1.NextChunk() || q3.NextChunk() || w.Locked() {
		t.Errorf("%d rows", n)
	}
}

// leavers leave a loop over f before its end, each in its own way.
var leavers = map[string]func(f *Filter1[position]){
	"break": func(f *Filter1[position]) {
		for range f.All() {
			break
		}
	},
	"return": func(f *Filter1[position]) {
		for range f.All() {
			return
		}
	},
	"outer continue": func(f *Filter1[position]) {
	outer:
		for range 3 {
			for range f.All() {
				for range f.Chunks() {
					continue outer
				}
			}
		}
	},
	"break of chunks": func(f *Filter1[position]) {
		for range f.Chunks() {
			break
		}
	},
	"pull": func(f *Filter1[position]) {
		next, stop := iter.Pull2(f.All())
		next()
		next()
		stop()
	},
	"panic": func(f *Filter1[position]) {
		defer func() { recover() }()
		for range f.All() {
			panic("body")
		}
	},
	"panic in three": func(f *Filter1[position]) {
		defer func() { recover() }()
		for range f.All() {
			for range f.Chunks() {
				for range f.All() {
					panic("body")
				}
			}
		}
	},
	"panic in a called loop": func(f *Filter1[position]) {
		for range f.All() {
			func() {
				defer func() { recover() }()
				for range f.All() {
					panic("body")
				}
			}()
		}
	},
	"Goexit": func(f *Filter1[position]) {
		done := make(chan bool)
		go func() {
			defer close(done)
			for range f.All() {
				runtime.Goexit()
			}
		}()
		<-done
	},
}

func TestAll_IsLeftInAnyWayAndTheWorldIsOpen(t *testing.T) {
	for name, leave := range leavers {
		w, m, f := walkable(t)
		for range 3 {
			leave(f)
			if w.Locked() || w.EndQueries() != 0 {
				t.Errorf("%s leaves the world locked", name)
			}
			if err := w.Check(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		n := len(inOrder(f))
		e := must[Entity](t)(m.NewEntity(position{}, velocity{}, armour{}, brain{}))
		if len(w.guard.running) != 0 {
			t.Errorf("%s: %d loops are under way when the world has changed", name, len(w.guard.running))
		}
		w.Remove(inOrder(f)[0])
		for got := range f.All() {
			if n--; got == e {
				e = Entity{}
			}
		}
		if n != 0 || !e.IsZero() {
			t.Errorf("%s: the next loop meets others", name)
		}
	}
}

func TestAll_StopsAtTheStepAfterAChange(t *testing.T) {
	w, m, f := walkable(t)
	pos := mustRegisterTest[position](t, w)
	pair := NewMap2[position, velocity](w)
	e := inOrder(f)[0]
	for _, c := range structural(w, pair, pos, f, e) {
		steps := 0
		if f.Len() == 0 {
			if err := m.NewBatch(100, nil); err != nil {
				t.Fatal(err)
			}
		}
		text := misuse(t, func() {
			for range f.All() {
				steps++
				c.f()
			}
		})
		if text != changedWithin || steps != 1 || w.Check() != nil || w.Locked() {
			t.Errorf("%s: %q after %d steps, %v", c.op, text, steps, w.Check())
		}
	}
	for range f.All() {
		w.Reset() // and leaves at once
		break
	}
	if err := m.NewBatch(3, nil); err != nil || f.Len() != 3 {
		t.Fatal(err, f.Len())
	}
	es, steps := inOrder(f), 0
	if text := misuse(t, func() {
		for range f.All() {
			if steps++; steps == 3 {
				w.Remove(es[0])
			}
		}
	}); text != changedWithin || steps != 3 {
		t.Errorf("a change in the last step: %q", text)
	}
	if text := misuse(t, func() {
		for range f.Chunks() {
			w.Remove(es[1])
		}
	}); text != changedWithin {
		t.Errorf("a change under Chunks: %q", text)
	}
}

func TestAll_AChangeStopsEveryLoopUnderWay(t *testing.T) {
	w, m, f := walkable(t)
	outer, inner, after := 0, 0, 0
	text := misuse(t, func() {
		for range f.All() {
			outer++
			if r := caught(func() {
				for e := range f.All() {
					if inner++; inner == 5 {
						w.Remove(e)
					}
				}
			}); r == nil {
				t.Error("the inner loop went on")
			}
			for range f.All() { // one that begins after the change is none of those
				after++
			}
		}
	})
	if text != changedWithin || outer != 1 || inner != 5 || after != 529 || len(w.guard.running) != 0 {
		t.Errorf("%q: %d, %d, %d steps", text, outer, inner, after)
	}
	// What is none of a change stops nothing.
	cmd, vel := w.Commands(), mustRegisterTest[velocity](t, w)
	n := 0
	for e, p := range f.All() {
		if n++; n == 100 {
			registerMany(t, w)
			NewFilter1[velocity](w).With(0).Len()
		}
		AddTo(cmd, vel, must[Entity](t)(cmd.Spawn()), velocity{})
		cmd.Destroy(e)
		w.Hash(0)
		w.Stats()
		p.X++
		m.Get(e)
	}
	if n != 529 || cmd.Apply() != nil || w.Len() != 529 {
		t.Errorf("%d steps, %d entities", n, w.Len())
	}
}

func TestAll_StopsWhenItsFilterIsNarrowed(t *testing.T) {
	w, _, f := walkable(t)
	id := mustRegisterTest[armour](t, w).ID()
	for name, narrow := range map[string]func(...ID) *Filter1[position]{"With": f.With, "Without": f.Without} {
		steps, others := 0, 0
		text := misuse(t, func() {
			for range f.All() {
				steps++
				for range NewFilter1[velocity](w).All() {
					if others++; others == 7 {
						narrow(id)
					}
				}
			}
		})
		if text != configuredWithin || steps != 1 || others != 500 {
			t.Errorf("%s: %q after %d and %d steps", name, text, steps, others)
		}
	}
	if f.Len() != 0 { // with and without
		t.Error(f.Len())
	}
}

func TestAll_StopsWhenTheMemoryGoes(t *testing.T) {
	mem := &tellingMemory{testMemory: newTestMemory(t)}
	w, m, f, es := populated(t, mem)
	steps := 0
	if text := misuse(t, func() {
		for range f.All() {
			steps++
			mem.close()
		}
	}); text != changedWithin || steps != 1 {
		t.Errorf("%q after %d steps", text, steps)
	}
	for range f.All() {
		t.Error("a closed world has entities")
	}
	isClosed(t, w, m, f, es)
}

func TestAll_IsRefusedNothingAQueryRefuses(t *testing.T) {
	w, _, f := walkable(t)
	for e := range f.All() {
		q := f.Query()
		q.Next()
		want := "ecs.Remove: the world is locked by an open query; use World.Commands, or end the query with Close"
		if text := misuse(t, func() { w.Remove(e) }); text != want {
			t.Error(text)
		}
		q.Close()
		break
	}
	steps := 0
	for range f.All() { // what was refused has changed nothing
		q := f.Query()
		q.Next()
		misuse(t, w.Reset)
		q.Close()
		steps++
	}
	if steps != 530 {
		t.Error(steps)
	}
}

// TestAll_BegunWithinTheAllocatorStopsAsTheChangeGoesOn: a change has stopped the loops before it asks for memory,
// and moves rows behind that.
func TestAll_BegunWithinTheAllocatorStopsAsTheChangeGoesOn(t *testing.T) {
	w, mem := newTestWorld(t, Config{})
	hp, f := mustRegisterTest[health](t, w), NewFilter1[position](w)
	if err := NewMap1[position](w).NewBatch(3, nil); err != nil {
		t.Fatal(err)
	}
	var next func() (Entity, *position, bool)
	stop := func() {}
	mem.onAlloc = func() {
		for range f.All() { // one that has ended by then is none of them
		}
		next, stop = iter.Pull2(f.All())
		next()
	}
	err := hp.Add(f.EntityAt(0), health{}) // the last row fills the first, and all is as before for who had three
	mem.onAlloc = nil
	if err != nil || next == nil {
		t.Fatal(err, "nothing was asked of the allocator")
	}
	defer func() { stop() }()
	if text := misuse(t, func() { next() }); text != changedWithin || len(w.guard.running) != 0 || w.Check() != nil || f.Check() != nil {
		t.Errorf("%q, %d loops, %v, %v", text, len(w.guard.running), w.Check(), f.Check())
	}
}

// TestAll_FindsRowsAfterAChangeUnderANestedLoop: the change takes the first ticket away, and the
// other one is left.
func TestAll_FindsRowsAfterAChangeUnderANestedLoop(t *testing.T) {
	w, m, _ := walkable(t)
	f := NewFilter1[velocity](w)
	n := 0
	for e := range f.All() {
		for range f.All() {
			break
		}
		m.Remove(e)
		for range f.All() {
			n++
		}
		if err := f.Check(); n != 499 || f.filter.main == nil || len(f.filter.others) != 0 || err != nil {
			t.Fatalf("%d rows, main iterator %v and %d others, %v", n, f.filter.main != nil, len(f.filter.others), err)
		}
		break
	}
	if err := f.Check(); len(f.filter.others) != 1 || err != nil {
		t.Fatalf("%d others after the loop, %v", len(f.filter.others), err)
	}
}

// TestAll_OfATagFirstMeetsEachCellOfTheOthers: a loop goes by the offset in the first column, and a tag has none.
func TestAll_OfATagFirstMeetsEachCellOfTheOthers(t *testing.T) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
	arm, at := mustRegisterTest[armour](t, w), mustRegisterTest[position](t, w)
	if err := NewMap4[position, armour, brain, burning](w).NewBatch(500, nil); err != nil {
		t.Fatal(err)
	}
	f1, f2 := NewFilter1[burning](w), NewFilter2[burning, armour](w)
	f3, f4 := NewFilter3[burning, armour, position](w), NewFilter4[burning, brain, armour, position](w)
	n := 0
	is := func(e Entity, a *burning, h *armour, p *position) {
		t.Helper()
		wantH, _ := arm.Get(e)
		wantP, _ := at.Get(e)
		if e != f1.EntityAt(n%500) || a == nil || h != nil && h != wantH || p != nil && p != wantP {
			t.Fatalf("step %d: %v has %p, %p and not %p, %p", n, e, h, p, wantH, wantP)
		}
		n++
	}
	for range 2 { // the second finds the rows where they were
		for e, a := range f1.All() {
			is(e, a, nil, nil)
		}
		for e, r := range f2.All() {
			is(e, r.A, r.B, nil)
		}
		for e, r := range f3.All() {
			is(e, r.A, r.B, r.C)
		}
		for e, r := range f4.All() {
			is(e, r.A, r.C, r.D)
		}
	}
	if n != 8*500 {
		t.Fatal(n)
	}
}
