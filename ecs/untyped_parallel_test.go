package ecs

import (
	"slices"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

// untypedPass changes what is known by ID in one pass, and holds its results to the order of All.
func (m *model) untypedPass(t *rapid.T) {
	f := NewFilterOf(m.w, m.heat, m.pos.ID()).Writes(m.heat) // the model takes a new value for a write
	var want []Entity
	for e := range f.All() {
		want = append(want, e)
	}
	var met Results[[]Entity]
	met.Prepare(f)
	f.Parallel(m.teams[rapid.IntRange(0, 2).Draw(t, "workers")], func(task *Task, es []Entity, at Addresses) {
		heats, ps := unsafe.Slice((*[3]uint32)(at[0]), len(es)), unsafe.Slice((*position)(at[1]), len(es))
		for i := range es {
			heats[i][2] += uint32(ps[i].X)
		}
		*met.At(task) = append(*met.At(task), es...)
	})
	if got := slices.Concat(met.Values()...); !slices.Equal(got, want) {
		t.Fatalf("a pass meets %v", got)
	}
	for _, e := range want {
		v := m.ents[e]
		v.heat = &[3]uint32{v.heat[0], v.heat[1], v.heat[2] + uint32(v.pos.X)}
	}
}

// TestFilterOf_ParallelIsThatOfTheTypedOne sums what does not commute, over columns of each kind.
func TestFilterOf_ParallelIsThatOfTheTypedOne(t *testing.T) {
	type sum struct {
		total float32
		names int
	}
	totals := map[sum]bool{}
	for _, cfg := range []Config{{}, {ChunkBytes: 1024}, {ChunkBytes: 1024, MaxChunkBytes: 1024}} {
		w, _ := newTestWorld(t, cfg)
		const n = 3*batchRows + 100
		m := NewMap4[position, armour, brain, burning](w)
		for range 2 {
			if err := m.NewBatch(n, func(i int, p *position, a *armour, b *brain, _ *burning) {
				p.X, b.Name, a.Kind = float32(i)/7, "ab"[:i%3], byte(i)
			}); err != nil {
				t.Fatal(err)
			}
		}
		raw := must[ID](t)(w.RegisterSize("raw", 3, 1))
		for i, e := range entities(w, NewFilter1[position](w)) {
			if i%2 == 0 {
				p := must[unsafe.Pointer](t)(w.AddID(e, raw))
				*(*odd)(p) = odd{byte(i), 1, 2}
			}
		}
		pos, name, tag, arm := mustRegisterTest[position](t, w).ID(), mustRegisterTest[brain](t, w).ID(), mustRegisterTest[burning](t, w).ID(), mustRegisterTest[armour](t, w).ID()
		f, typed := NewFilterOf(w, arm, name, tag, pos, raw), NewFilter4[burning, brain, armour, position](w).With(raw)
		for _, workers := range []int{1, 2, 4} {
			ws := newTestWorkers(t, workers)
			var got, want Results[sum]
			got.Prepare(f)
			f.Parallel(ws, func(task *Task, es []Entity, at Addresses) {
				arms, brains := unsafe.Slice((*armour)(at[0]), len(es)), unsafe.Slice((*brain)(at[1]), len(es))
				ps, raws := unsafe.Slice((*position)(at[3]), len(es)), unsafe.Slice((*odd)(at[4]), len(es))
				if at[2] == nil || at[5] != nil || at[7] != nil {
					t.Errorf("addresses are %v", at)
				}
				for i, e := range es {
					if (*position)(w.Ptr(e, pos)) != &ps[i] || (*odd)(w.Ptr(e, raw)) != &raws[i] || (*armour)(w.Ptr(e, arm)) != &arms[i] {
						t.Errorf("%v is elsewhere", e)
					}
					s := got.At(task)
					s.total, s.names = s.total*1.0001+ps[i].X*float32(raws[i][0]), s.names+len(brains[i].Name)+int(arms[i].Kind)
				}
			})
			want.Prepare(typed)
			typed.Parallel(ws, func(task *Task, es []Entity, c Columns4[burning, brain, armour, position]) {
				for i, e := range es {
					s := want.At(task)
					s.total, s.names = s.total*1.0001+c.D[i].X*float32((*(*odd)(w.Ptr(e, raw)))[0]), s.names+len(c.B[i].Name)+int(c.C[i].Kind)
				}
			})
			if !slices.Equal(got.Values(), want.Values()) || f.Batches() != typed.Batches() {
				t.Errorf("%d workers: %v, not %v", workers, got.Values(), want.Values())
			}
			total := sum{}
			for _, s := range got.Values() {
				total.total, total.names = total.total+s.total, total.names+s.names
			}
			totals[total] = true
		}
	}
	if len(totals) != 1 {
		t.Error(totals)
	}
}

func TestFilterOf_ParallelMisuse(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	e := must[Entity](t)(NewMap1[position](w).NewEntity(position{}))
	f, ws := NewFilterOf(w, mustRegisterTest[position](t, w).ID()), newTestWorkers(t, 2)
	body := func(*Task, []Entity, Addresses) {}
	var kept *Task
	f.Parallel(ws, func(task *Task, _ []Entity, _ Addresses) {
		kept = task
		for want, do := range map[string]func(){
			"ecs.Remove: a parallel run is in progress":   func() { w.Remove(e) },
			"ecs.AddID: a parallel run is in progress":    func() { w.AddID(e, 0) },
			"ecs.Parallel: a parallel run is in progress": func() { f.Parallel(ws, body) },
			"ecs.With: a parallel run is in progress":     func() { f.With() },
		} {
			if text := misuse(t, do); text != want {
				t.Errorf("%q, want %q", text, want)
			}
		}
	})
	closed := newTestWorkers(t, 1)
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		want string
		do   func()
	}{
		{"ecs.Batch: a Task is valid only until its body returns", func() { kept.Batch() }},
		{"ecs.Parallel: Parallel needs workers and a body", func() { f.Parallel(nil, body) }},
		{"ecs.Parallel: Parallel needs workers and a body", func() { f.Parallel(ws, nil) }},
		{"ecs.Parallel: the workers are closed", func() { f.Parallel(closed, body) }},
	} {
		if text := misuse(t, c.do); text != c.want {
			t.Errorf("%q, want %q", text, c.want)
		}
	}
	if r := caught(func() { f.Parallel(ws, func(*Task, []Entity, Addresses) { panic("body") }) }); r != "body" || w.Locked() || w.Check() != nil || ws.Check() != nil {
		t.Errorf("%v, locked %v", r, w.Locked())
	}
}

func TestFilterOf_ParallelAllocatesNothing(t *testing.T) {
	w, typed := manyBatches(t, Config{})
	f, ws := NewFilterOf(w, mustRegisterTest[position](t, w).ID()), newTestWorkers(t, 2)
	body := func(_ *Task, es []Entity, at Addresses) {
		for i := range es {
			(*position)(unsafe.Add(at[0], uintptr(i)*unsafe.Sizeof(position{}))).Y++
		}
	}
	if n := testing.AllocsPerRun(100, func() { f.Parallel(ws, body) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	for _, p := range typed.All() {
		if p.Y != 101 {
			t.Fatalf("an entity was met %v times", p.Y)
		}
	}
}
