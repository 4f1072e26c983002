package ecs

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// stretches makes a world with chunks of several sizes, of which a filter sees two archetypes; i says which
// components of entity i, in the order of All, have changed since the returned tick.
func stretches(t testing.TB, which func(i int) (pos, br bool)) (w *World, f *Filter2[position, brain], since Tick) {
	w, _ = newTestWorld(t, Config{ChunkBytes: 1024})
	trackAll(t, w)
	f = NewFilter2[position, brain](w)
	at, think := f.filter.ids[0], f.filter.ids[1]
	for _, err := range []error{
		newBatch(w, 300, at, think, mustRegisterTest[odd](t, w).ID()), newBatch(w, 170, at, think, mustRegisterTest[burning](t, w).ID()),
		NewMap1[brain](w).NewBatch(50, nil),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	i := 0
	for _, r := range f.All() {
		*r.A, *r.B = position{X: float32(i)}, brain{Name: fmt.Sprint(i)}
		i++
	}
	pos, br := mustRegisterTest[position](t, w), mustRegisterTest[brain](t, w)
	since = w.Tick()
	i = 0
	for e := range f.All() {
		p, b := which(i)
		if p {
			pos.Touch(e)
		}
		if b {
			br.Touch(e)
		}
		i++
	}
	return w, f, since
}

// TestChangedSince_EveryLoopMeetsTheSame compares all ways to walk with a walk over everything.
func TestChangedSince_EveryLoopMeetsTheSame(t *testing.T) {
	patterns := map[string]func(i int) (bool, bool){
		"none":       func(int) (bool, bool) { return false, false },
		"all":        func(int) (bool, bool) { return true, true },
		"every one":  func(i int) (bool, bool) { return i%2 == 0, false },
		"in turn":    func(i int) (bool, bool) { return i%2 == 0, i%2 == 1 },
		"few":        func(i int) (bool, bool) { return i%97 == 0, i%61 == 3 },
		"runs":       func(i int) (bool, bool) { return i/13%2 == 0, i/29%3 == 0 },
		"the first":  func(i int) (bool, bool) { return i == 0, i == 300 },
		"the last":   func(i int) (bool, bool) { return i == 299, i == 469 },
		"an end":     func(i int) (bool, bool) { return i > 200, false },
		"other only": func(i int) (bool, bool) { return false, i%5 > 2 },
	}
	ws := newTestWorkers(t, 2)
	for name, which := range patterns {
		t.Run(name, func(t *testing.T) {
			w, f, since := stretches(t, which)
			pos, br := mustRegisterTest[position](t, w), mustRegisterTest[brain](t, w)
			everything := NewFilter2[position, brain](w)
			for _, ids := range [][]ID{{pos.ID()}, {br.ID()}, {pos.ID(), br.ID()}, {br.ID(), mustRegisterTest[burning](t, w).ID(), pos.ID()}, {mustRegisterTest[velocity](t, w).ID()}} {
				var want []Entity
				runs, wasRow := 0, int64(-2)
				i := 0
				for e := range everything.All() {
					p, b := which(i)
					hit := p && slices.Contains(ids, pos.ID()) || b && slices.Contains(ids, br.ID())
					if row := int64(w.store.index.find(e).loc); hit {
						want = append(want, e)
						if row != wasRow+1 {
							runs++
						}
						wasRow = row
					}
					i++
				}
				f.ChangedSince(since, ids...)
				meet(t, f, ws, want, runs)
			}
			// The zero Tick is before everything, what has none of the components is never met.
			if n := f.ChangedSince(0, mustRegisterTest[burning](t, w).ID()).Len(); n != 170 {
				t.Errorf("%d have the tag", n)
			}
			if n := f.ChangedSince(since+1, pos.ID(), br.ID()).Len(); n != 0 {
				t.Errorf("%d changed in the future", n)
			}
			if err := f.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

// meet holds each way to walk f to the wanted entities, and Chunks to as many runs.
func meet(t *testing.T, f *Filter2[position, brain], ws *Workers, want []Entity, runs int) {
	t.Helper()
	var all, chunks, rows, columns, bodies []Entity
	right := func(e Entity, p *position, b *brain) {
		if q, ok := (Component[position]{w: f.filter.w, comp: f.filter.w.store.comps[f.filter.ids[0]]}).Get(e); !ok || p != q || b.Name != fmt.Sprint(p.X) {
			t.Fatalf("%v is yielded with %v and %v", e, *p, *b)
		}
	}
	for e, r := range f.All() {
		right(e, r.A, r.B)
		all = append(all, e)
	}
	n := 0
	for es, c := range f.Chunks() {
		for i, e := range es {
			right(e, &c.A[i], &c.B[i])
		}
		if bs := (Component[brain]{w: f.filter.w, comp: f.filter.w.store.comps[f.filter.ids[1]]}).Column(es); &bs[0] != &c.B[0] {
			t.Error("Column of a run")
		}
		chunks = append(chunks, es...)
		n++
	}
	if n != runs {
		t.Errorf("Chunks yields %d runs, not %d", n, runs)
	}
	q := f.Query()
	for q.Next() {
		p, b := q.Get()
		right(q.Entity(), p, b)
		rows = append(rows, q.Entity())
	}
	q = f.Query()
	for q.NextChunk() {
		es, ps, bs := q.Columns()
		for i, e := range es {
			right(e, &ps[i], &bs[i])
		}
		columns = append(columns, es...)
	}
	var parts Results[[]Entity]
	parts.Prepare(f)
	f.Parallel(ws, func(task *Task, es []Entity, c Columns2[position, brain]) {
		for i, e := range es {
			right(e, &c.A[i], &c.B[i])
		}
		*parts.At(task) = append(*parts.At(task), es...)
	})
	bodies = slices.Concat(parts.Values()...)
	for name, got := range map[string][]Entity{"All": all, "Chunks": chunks, "Query": rows, "Columns": columns, "Parallel": bodies} {
		if !slices.Equal(got, want) {
			t.Errorf("%s meets %d entities, not the %d that changed, in their order", name, len(got), len(want))
		}
	}
	if f.Len() != len(want) {
		t.Errorf("Len is %d, not %d", f.Len(), len(want))
	}
	for i, e := range want {
		if f.EntityAt(i) != e {
			t.Errorf("EntityAt(%d) is %v, not %v", i, f.EntityAt(i), e)
		}
	}
	for _, i := range []int{-1, len(want)} {
		if s := misuse(t, func() { f.EntityAt(i) }); !strings.Contains(s, fmt.Sprintf("there is no entity %d of %d", i, len(want))) {
			t.Error(s)
		}
	}
}

// TestWrites_NotesWhatALoopComesTo looks at what is noted before a body runs, and what is left out.
func TestWrites_NotesWhatALoopComesTo(t *testing.T) {
	w, f, since := stretches(t, func(i int) (bool, bool) { return i%50 < 3, false })
	pos, br := mustRegisterTest[position](t, w), mustRegisterTest[brain](t, w)
	late := w.Tick()
	brains := NewFilter1[brain](w).ChangedSince(late, br.ID())
	f.Writes(br.ID()).ChangedSince(since, pos.ID())
	n := 0
	for es := range f.Chunks() {
		if n += len(es); brains.Len() != n {
			t.Fatalf("%d are noted when %d were met", brains.Len(), n)
		}
	}
	if n != 30 || brains.Len() != 30 {
		t.Errorf("%d of %d", brains.Len(), n)
	}
	late = w.Tick()
	for range f.All() {
		break
	}
	if n := brains.ChangedSince(late, br.ID()).Len(); n != 3 {
		t.Errorf("%d are noted by a loop that is left in its first run", n)
	}
	// A loop that writes what it looks at meets each entity once.
	f.Writes(pos.ID())
	n = 0
	for range f.All() {
		n++
	}
	if n != 30 {
		t.Errorf("%d entities", n)
	}
	if n := f.ChangedSince(late, pos.ID()).Len(); n != 30 {
		t.Errorf("%d were written", n)
	}
	// Writes of what nobody tracks is nothing.
	w2, _ := newTestWorld(t, Config{})
	one := NewMap1[position](w2)
	if err := one.NewBatch(100, nil); err != nil {
		t.Fatal(err)
	}
	for range NewFilter1[position](w2).Writes(one.mapper.ids[0]).All() {
		n--
	}
	if n != -70 {
		t.Errorf("%d entities", n)
	}
}

// TestParallel_TicksAreThoseOfAnyNumberOfWorkers has passes that look at ticks and write them.
func TestParallel_TicksAreThoseOfAnyNumberOfWorkers(t *testing.T) {
	type outcome struct {
		hash   uint64
		met    string
		stamps string
	}
	var first outcome
	for _, cfg := range []Config{{ChunkBytes: 1024}, {ChunkBytes: 1024, MaxChunkBytes: 1024}} {
		for _, n := range []int{1, 2, 4} {
			w, _ := newTestWorld(t, cfg)
			trackAll(t, w)
			pos, vel := mustRegisterTest[position](t, w), mustRegisterTest[velocity](t, w)
			for _, err := range []error{
				NewMap1[position](w).NewBatch(6*batchRows+1, nil),
				NewMap2[position, velocity](w).NewBatch(3*batchRows, nil),
				newBatch(w, 700, pos.ID(), vel.ID(), mustRegisterTest[brain](t, w).ID()),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			f, all := NewFilter1[position](w), NewFilter1[position](w)
			ws := newTestWorkers(t, n)
			since := w.Tick()
			for i, e := range entities(w, all) {
				if i%7 == 0 || i > 2000 && i < 5000 {
					pos.Touch(e)
				}
			}
			var got outcome
			f.Writes(pos.ID(), vel.ID())
			for round := range 3 {
				now := w.Tick()
				var met Results[[]int]
				met.Prepare(f.ChangedSince(since, pos.ID()))
				f.Parallel(ws, func(task *Task, es []Entity, ps []position) {
					for i := range es {
						ps[i].Y += float32(task.Index()+i) + float32(round)
						if (task.Index()+i)%2 == 0 {
							pos.Touch(es[i])
							vel.Set(es[i], velocity{X: 1})
						}
						*met.At(task) = append(*met.At(task), task.Index()+i)
					}
				})
				got.met += fmt.Sprint(met.Values())
				i := 0
				for _, k := range slices.Concat(met.Values()...) { // Index counts all rows, in order
					if k < i {
						t.Fatal("indices do not rise")
					}
					i = k
				}
				since = now
				for i, e := range entities(w, all) {
					if i%(round+3) == 0 {
						pos.Touch(e)
					}
				}
				w.Tick()
			}
			for e := range all.All() {
				got.stamps += fmt.Sprint(w.store.stamps(w.store.index.find(e).loc, 1, pos.ID())[0])
			}
			for e := range NewFilter1[velocity](w).All() {
				got.stamps += fmt.Sprint(w.store.stamps(w.store.index.find(e).loc, 1, vel.ID())[0])
			}
			if got.hash = w.Hash(0); first.met == "" {
				first = got
			}
			if got != first {
				t.Errorf("%+v, %d workers: another outcome", cfg, n)
			}
		}
	}
}

func TestTicks_SteadyStateAllocatesNothing(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	trackAll(t, w)
	m, vel := NewMap2[position, brain](w), mustRegisterTest[velocity](t, w)
	if err := m.NewBatch(5000, nil); err != nil {
		t.Fatal(err)
	}
	pos, ids := mustRegisterTest[position](t, w), []ID{}
	f := NewFilter1[position](w).Writes(pos.ID())
	ids = append(ids, pos.ID(), vel.ID())
	es, since := entities(w, f), Tick(0)
	ws := newTestWorkers(t, 2)
	body := func(*Task, []Entity, []position) {}
	var sink float32
	frame := func() {
		for i := 0; i < len(es); i += 7 {
			pos.Set(es[i], position{})
		}
		w.TouchID(es[1], pos.ID())
		if err := vel.Add(es[3], velocity{}); err != nil {
			t.Fatal(err)
		}
		vel.Remove(es[3])
		f.ChangedSince(since, ids...)
		f.ChangedSince(since, pos.ID(), vel.ID())
		for _, p := range f.All() {
			sink += p.X
		}
		for _, ps := range f.Chunks() {
			sink += ps[0].X
		}
		q := f.Query()
		for q.Next() {
			sink += q.Get().X
		}
		f.Parallel(ws, body)
		sink += float32(f.Len()) + float32(f.EntityAt(3).index) + float32(w.Hash(1))
		since = w.Tick()
	}
	frame()
	if n := testing.AllocsPerRun(50, frame); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
