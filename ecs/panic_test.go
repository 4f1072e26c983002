package ecs

import (
	"errors"
	"testing"

	"github.com/strata-go/strata/memory"
)

func TestWorld_SurvivesAnAllocatorThatPanics(t *testing.T) {
	for _, inFree := range []bool{false, true} {
		n := everyPanic(t, Config{ChunkBytes: 1024}, inFree, func(w *World, step stepper) { life(t, w, step) })
		if n < 10 {
			t.Errorf("inFree %v: only %d panics", inFree, n)
		}
	}
}

// life uses every structural operation.
func life(t *testing.T, w *World, step stepper) {
	m, pos := NewMap3[position, armour, brain](w), mustRegisterTest[position](t, w)
	vel, tag := mustRegisterTest[velocity](t, w), mustRegisterTest[burning](t, w)
	all, cmd := NewFilter1[position](w), w.Commands()
	for range 3 {
		step("NewEntity", func() error {
			for range 13 {
				if _, err := m.NewEntity(position{1, 1}, armour{}, brain{Name: "n"}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	step("NewBatch", func() error { return m.NewBatch(200, nil) })
	es := entities(w, all)
	step("Add", func() error { return vel.Add(es[0], velocity{7, 7}) })
	if v, ok := vel.Get(es[0]); !ok || *v != (velocity{7, 7}) {
		t.Fatal("Add lost its value")
	}
	step("Remove", func() error { _, err := vel.Remove(es[0]); return err })
	step("AddAll", func() error { _, err := NewMap1[burning](w).AddAll(all, burning{}); return err })
	if n := NewFilter1[position](w).With(tag.ID()).Len(); n != all.Len() {
		t.Fatalf("AddAll reached %d of %d", n, all.Len())
	}
	step("RemoveAll of a component", func() error { _, err := NewMap1[armour](w).RemoveAll(all); return err })
	cmd.Destroy(es[1])
	AddTo(cmd, vel, es[2], velocity{1, 1})
	AddTo(cmd, pos, es[2], position{5, 5})
	RemoveFrom(cmd, pos, es[3])
	step("Spawn", func() error {
		e, err := cmd.Spawn()
		AddTo(cmd, mustRegisterTest[brain](t, w), e, brain{Name: "late"})
		return err
	})
	step("Apply", cmd.Apply)
	if cmd.Len() != 0 || w.Alive(es[1]) || *must2(vel.Get(es[2])) != (velocity{1, 1}) || *must2(pos.Get(es[2])) != (position{5, 5}) || pos.Has(es[3]) {
		t.Fatal("Apply lost a command")
	}
	step("Remove", func() error {
		for _, e := range es[4:] {
			w.Remove(e)
			if w.Alive(e) {
				t.Fatal("Remove lost its turn")
			}
		}
		return nil
	})
	step("NewBatch", func() error { return m.NewBatch(200, nil) })
	step("RemoveAll", func() error { w.RemoveAll(all); return nil })
	step("Shrink", func() error { w.Shrink(); return nil })
	step("NewBatch", func() error { return m.NewBatch(100, nil) })
	step("Reset", func() error { w.Reset(); return nil })
	if w.Len() != 0 {
		t.Fatal("Reset left entities")
	}
	step("NewBatch", func() error { return m.NewBatch(100, nil) })
	step("Close", w.Close)
	if s := w.Stats(); s.Chunks != 0 {
		t.Fatalf("%+v", s)
	}
}

func entities(w *World, f *Filter1[position]) (es []Entity) {
	q := f.Query()
	for q.Next() {
		es = append(es, q.Entity())
	}
	return es
}

func TestApply_APanicRepeatsNoCommand(t *testing.T) {
	w, mem := newTestWorld(t, Config{ChunkBytes: 1024})
	pos, vel := mustRegisterTest[position](t, w), mustRegisterTest[velocity](t, w)
	a := must[Entity](t)(NewMap1[position](w).NewEntity(position{}))
	cmd := w.Commands()
	AddTo(cmd, pos, a, position{1, 1})
	b := must[Entity](t)(cmd.Spawn())
	AddTo(cmd, vel, b, velocity{1, 1})
	mem.onAlloc = func() { panic("hook") }
	if r := caught(func() { cmd.Apply() }); r != "hook" || cmd.Len() != 2 {
		t.Fatalf("%v, %d commands wait", r, cmd.Len())
	}
	mem.onAlloc = nil
	pos.Set(a, position{2, 2}) // what an applied command wrote may have changed since
	if err := cmd.Apply(); err != nil || *must2(pos.Get(a)) != (position{2, 2}) || !vel.Has(b) {
		t.Errorf("%v, position %v", err, *must2(pos.Get(a)))
	}
}

// A step that is dropped also removes the entity of its Spawn. If an observer stops the removal, the step waits.
func TestApply_APanicInOnRemoveLosesNoSpawn(t *testing.T) {
	for name, spoil := range map[string]func(w *World, e Entity){
		"stale": func(w *World, e Entity) {
			gone := must[Entity](t)(w.NewEntity())
			w.Remove(gone)
			AddRelation(w.Commands(), mustRelation[childOf](t, w), e, childOf{}, gone)
		},
		"too large": func(w *World, e Entity) {
			AddTo(w.Commands(), mustRegisterTest[[120]uint64](t, w), e, [120]uint64{})
			AddTo(w.Commands(), mustRegisterTest[[121]uint64](t, w), e, [121]uint64{})
		},
	} {
		w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
		pos, armed, told := mustRegisterTest[position](t, w), true, 0
		pos.OnRemove(func(Entity, *position) {
			if told++; armed {
				panic("observer")
			}
		})
		cmd := w.Commands()
		e := must[Entity](t)(cmd.Spawn())
		if err := pos.Add(e, position{}); err != nil {
			t.Fatal(err)
		}
		spoil(w, e)
		waiting := cmd.Len()
		if r := caught(func() { cmd.Apply() }); r != "observer" || !w.Alive(e) || cmd.Len() != waiting {
			t.Errorf("%s: %v, alive %t, %d of %d commands wait", name, r, w.Alive(e), cmd.Len(), waiting)
		}
		armed = false
		if err := cmd.Apply(); (err != nil) != (name == "too large") || w.Alive(e) || told != 2 || cmd.Len() != 0 || len(w.observers.delayed) != 0 {
			t.Errorf("%s: then %v, alive %t, told %d times, %d commands wait", name, err, w.Alive(e), told, cmd.Len())
		}
		if err := w.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestApply_ADestroyThatWasDoneIsNotSkipped(t *testing.T) {
	w, mem := newTestWorld(t, Config{ChunkBytes: 1024})
	m, f := NewMap1[position](w), NewFilter1[position](w)
	for range 400 { // in four chunks of 1 KiB and one of 4
		must[Entity](t)(m.NewEntity(position{}))
	}
	cmd := w.Commands()
	for _, e := range entities(w, f) {
		cmd.Destroy(e)
	}
	panicked := 0
	mem.onFree = func() { panicked++; panic("hook") }
	for cmd.Len() > 0 {
		r := caught(func() {
			if err := cmd.Apply(); err != nil {
				t.Error(err)
			}
		})
		if cmd.Skipped() != 0 || w.Check() != nil {
			t.Fatalf("%v: %d skipped, %d wait, %v", r, cmd.Skipped(), cmd.Len(), w.Check())
		}
	}
	if mem.onFree = nil; panicked < 3 || w.Len() != 0 {
		t.Errorf("%d panics, %d entities", panicked, w.Len())
	}
}

func TestWorld_AllocatorThatCallsBackIsRefused(t *testing.T) {
	w, mem := newTestWorld(t, Config{ChunkBytes: 1024})
	m := NewMap2[position, velocity](w)
	pos, f := mustRegisterTest[position](t, w), NewFilter1[position](w)
	for range 200 {
		must[Entity](t)(m.NewEntity(position{}, velocity{}))
	}
	es := entities(w, f)
	calls := 0
	hook := func() {
		calls++
		for _, c := range append(structural(w, m, pos, f, es[0]), change{"Spawn", func() { w.Commands().Spawn() }}, change{"Close", func() { w.Close() }}) {
			if text := misuse(t, c.f); text != "ecs."+c.op+": the allocator called the world" {
				t.Errorf("%s: %q", c.op, text)
			}
		}
		seen := 0
		q := f.Query()
		for q.Next() {
			seen++
		}
		if err := w.Check(); err != nil || seen == 0 {
			t.Errorf("in the middle: %v, %d entities", err, seen)
		}
		w.Commands().Destroy(es[1]) // waits, and is done later
	}
	mem.onAlloc, mem.onFree = hook, hook
	if err := NewMap1[health](w).NewBatch(1, nil); err != nil {
		t.Fatal(err)
	}
	for _, e := range es[:120] {
		w.Remove(e)
	}
	if calls < 2 || w.Locked() {
		t.Errorf("%d calls", calls)
	}
	mem.onAlloc, mem.onFree = nil, nil
	if err := w.Commands().Apply(); err != nil || w.Alive(es[1]) {
		t.Error(err)
	}
}

func TestNewBatch_FillThatPanicsLeavesZeroedEntities(t *testing.T) {
	w, mem := newTestWorld(t, Config{ChunkBytes: 1024})
	dirty(mem, 8)
	m := NewMap2[position, brain](w)
	r := caught(func() {
		m.NewBatch(200, func(i int, p *position, b *brain) {
			if i == 70 {
				panic("fill")
			}
			*p, b.Name = position{1, 1}, "x"
		})
	})
	if r != "fill" || w.Locked() || w.Len() != 200 {
		t.Fatalf("%v, %d entities", r, w.Len())
	}
	n := 0
	q := NewFilter2[position, brain](w).Query()
	for q.Next() {
		p, b := q.Get()
		if n < 70 && (*p != position{1, 1} || b.Name != "x") || n >= 70 && (*p != position{} || *b != brain{}) {
			t.Fatalf("entity %d is %v %v", n, *p, *b)
		}
		n++
	}
	if err := w.Check(); err != nil {
		t.Error(err)
	}
}

// dirty leaves n blocks of old bytes for the next chunks.
func dirty(mem *testMemory, n int) {
	for range n {
		p, _ := mem.Alloc(1024, chunkAlign)
		defer mem.Free(p, 1024)
	}
}

func TestWorld_ANilBlockIsNoBlock(t *testing.T) {
	w, err := New(nothing{}, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.NewEntity(); !errors.Is(err, memory.ErrOutOfMemory) || w.Check() != nil || w.Len() != 0 {
		t.Errorf("%v, %v", err, w.Check())
	}
}
