package ecs

import (
	"reflect"
	"runtime"
	"strings"
	"testing"
	"unsafe"
)

// twoArchetypes makes a world whose positions lie in two archetypes.
func twoArchetypes(t *testing.T) (*World, *Filter1[position], Component[velocity]) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
	if err := NewMap1[position](w).NewBatch(100, nil); err != nil {
		t.Fatal(err)
	}
	if err := NewMap2[position, velocity](w).NewBatch(100, nil); err != nil {
		t.Fatal(err)
	}
	return w, NewFilter1[position](w), mustRegisterTest[velocity](t, w)
}

func TestFilter_IsNotNarrowedUnderItsQuery(t *testing.T) {
	w, f, vel := twoArchetypes(t)
	for op, narrow := range map[string]func(...ID) *Filter1[position]{"With": f.With, "Without": f.Without} {
		n := 0
		q := f.Query()
		for q.Next() {
			if n++; n == 50 {
				want := "ecs." + op + ": a query over this filter is open; narrow a filter before its queries, or create another"
				if text := misuse(t, func() { narrow(vel.ID()) }); text != want {
					t.Errorf("%q, want %q", text, want)
				}
				inner := f.Query()
				inner.Next()
				misuse(t, func() { narrow(vel.ID()) })
				inner.Close()
				misuse(t, func() { narrow(vel.ID()) }) // the outer one is open still
				other := NewFilter1[position](w).With(vel.ID())
				if other.Len() != 100 {
					t.Error("another filter cannot be narrowed meanwhile")
				}
			}
		}
		if n != 200 || f.Len() != 200 {
			t.Errorf("%s: the query saw %d of 200", op, n)
		}
	}
	if err := f.Check(); err != nil {
		t.Error(err)
	}
	if n := f.With(vel.ID()).Len(); n != 100 {
		t.Errorf("narrowed once no query is open: %d", n)
	}
	if text := misuse(t, func() { f.Without(63) }); text != "ecs.Without: the world does not have this component ID" || !f.filter.deny.empty() {
		t.Error(text)
	}
}

//go:noinline
func duplicate[T any](p *T) *T {
	c := new(T)
	reflect.ValueOf(c).Elem().Set(reflect.ValueOf(p).Elem())
	return c
}

func TestQuery_CopyNeitherLocksForGoodNorGoesOn(t *testing.T) {
	w, f, _ := twoArchetypes(t)
	q := f.Query()
	q.Next()
	c := duplicate(&q)
	for q.Next() {
	}
	if w.Locked() {
		t.Fatal("a query that ran to its end leaves the world locked")
	}
	unrelated := f.Query()
	c.Close()
	if !w.Locked() || w.guard.locked != 1 {
		t.Fatal("the copy ended another walk")
	}
	unrelated.Close()
	if w.Locked() {
		t.Fatalf("open is %d", w.guard.locked)
	}
	q = f.Query()
	q.Next()
	c = duplicate(&q)
	q.Close()
	c2 := duplicate(c)
	if text := misuse(t, func() { c.NextChunk() }); text != "ecs.Next: the query was closed by a copy of it or by World.EndQueries" {
		t.Error(text)
	}
	text := misuse(t, func() {
		for range 1000 {
			c2.Next()
		}
	})
	if !strings.HasPrefix(text, "ecs.Next: the query was closed") || c2.Next() || c2.NextChunk() {
		t.Error("a copy goes on past its chunk")
	}
	// Copies of the outer of two walks over one filter.
	outer := f.Query()
	c = duplicate(&outer)
	inner := f.Query()
	c.Close()
	outer.Close()
	if w.guard.locked != 1 || !f.filter.anyOpen() {
		t.Errorf("open is %d with one walk under way", w.guard.locked)
	}
	inner.Close()
	if w.guard.locked != 0 || f.filter.anyOpen() || len(f.filter.nested) != 0 {
		t.Errorf("open is %d", w.guard.locked)
	}
	must[Entity](t)(w.NewEntity())
	if err := f.Check(); err != nil {
		t.Error(err)
	}
}

func TestEndQueries_FreesAWorldThatAPanicLeftLocked(t *testing.T) {
	w, f, _ := twoArchetypes(t)
	var lost *Query1[position]
	func() {
		defer func() { recover() }()
		outer := f.Query()
		lost = &outer
		for outer.Next() {
			q := NewFilter1[velocity](w).Query()
			for q.Next() {
				panic("out of the loop")
			}
		}
	}()
	inner := f.Query()
	if !w.Locked() || w.EndQueries() != 3 || w.Locked() || w.EndQueries() != 0 {
		t.Fatalf("open is %d", w.guard.locked)
	}
	inner.Close()
	if w.guard.locked != 0 {
		t.Fatal("an ended query was ended twice")
	}
	misuse(t, func() {
		for range 1000 {
			lost.Next()
		}
	})
	f.With(0) // nothing is open
	again := f.Query()
	deep := f.Query()
	if len(f.filter.nested) != 1 || w.EndQueries() != 2 {
		t.Errorf("%d walks beside another", len(f.filter.nested))
	}
	again.Close()
	deep.Close()
	if w.Locked() {
		t.Error("still locked")
	}
	n := 0
	q := f.Query()
	for q.Next() {
		r := f.Query()
		for r.Next() {
			n++
		}
	}
	if n != 200*200 || w.Locked() || f.Check() != nil || len(f.filter.nested) != 0 {
		t.Errorf("%d visits, nested %v, %v", n, f.filter.nested, f.Check())
	}
}

func TestEndQueries_LeavesABatchLocked(t *testing.T) {
	w, f, _ := twoArchetypes(t)
	m := NewMap1[position](w)
	if err := m.NewColumns(5, func(es []Entity, ps []position) {
		q := f.Query()
		q.Next()
		if w.EndQueries() != 1 || !w.Locked() {
			t.Error("the query inside a batch")
		}
		want := "ecs.Remove: the world is locked while a batch is filled; use World.Commands"
		if text := misuse(t, func() { w.Remove(es[0]) }); text != want {
			t.Errorf("%q, want %q", text, want)
		}
		if err := w.Check(); err != nil {
			t.Error(err)
		}
		e := must[Entity](t)(w.Commands().Spawn())
		w.Commands().Destroy(e)
	}); err != nil || w.Locked() {
		t.Error(err, w.Locked())
	}
	if err := w.Commands().Apply(); err != nil {
		t.Error(err)
	}
}

// TestQuery_WhateverIsCalledMeanwhile calls everything that is not structural under a query
// and sees it visit every entity once.
func TestQuery_WhateverIsCalledMeanwhile(t *testing.T) {
	w, f, vel := twoArchetypes(t)
	mustRegisterTest[health](t, w)
	seen := map[Entity]bool{}
	q := f.Query()
	for q.Next() {
		e := q.Entity()
		if seen[e] {
			t.Fatalf("%v twice", e)
		}
		seen[e] = true
		switch len(seen) {
		case 20:
			registerMany(t, w) // widens the directory under the columns
		case 30:
			NewMap2[position, health](w).Get(e)
			NewFilter2[position, velocity](w).Without(3).Len()
		case 40:
			w.Stats()
			w.Hash(0)
			w.Column(0)
			w.Archetype(0)
		case 50:
			if err := w.Check(); err != nil {
				t.Fatal(err)
			}
		case 60:
			cmd := w.Commands()
			for range 300 {
				AddTo(cmd, vel, must[Entity](t)(cmd.Spawn()), velocity{})
			}
			RemoveFrom(cmd, vel, e)
			cmd.Destroy(e)
		case 70:
			SetResource(w, new(int))
			if Resource[int](w) == nil {
				t.Error("no resource")
			}
			SetResource[int](w, nil)
		}
		q.Get().X++
		vel.Set(e, velocity{1, 1})
	}
	if len(seen) != 200 || w.Locked() {
		t.Errorf("%d of 200", len(seen))
	}
	w.Commands().Discard()
}

var sunk Entity // or the read would be left out

func TestQuery_AfterItsEnd(t *testing.T) {
	w, f, _ := twoArchetypes(t)
	q := f.Query()
	for q.NextChunk() {
	}
	for range 3 {
		if q.Next() || q.NextChunk() {
			t.Fatal("goes on")
		}
		if es, ps := q.Columns(); len(es)+len(ps) != 0 {
			t.Error("columns after the end")
		}
		q.Close()
	}
	if runtime.GOARCH == "wasm" {
		return // address 0 can be read
	}
	for name, read := range map[string]func(){"Get": func() { q.Get().X++ }, "Entity": func() { sunk = q.Entity() }} {
		func() {
			defer func() {
				if r, ok := recover().(error); !ok || !strings.Contains(r.Error(), "nil pointer") {
					t.Errorf("%s after the end: %v", name, r)
				}
			}()
			read()
		}()
	}
	if w.Locked() || w.guard.locked != 0 {
		t.Error("locked")
	}
}

func TestQuery_ChunkThenEntityGoesOnFromTheFirst(t *testing.T) {
	_, f, _ := twoArchetypes(t)
	q := f.Query()
	q.NextChunk()
	es, _ := q.Columns()
	if q.Entity() != es[0] || !q.Next() || q.Entity() != es[1] {
		t.Error("NextChunk does not stand on the first entity")
	}
	q.Close()
}

// TestTypes_DoNotConvert: a Component of a small type that becomes one of a large type would
// write past its column.
func TestTypes_DoNotConvert(t *testing.T) {
	for _, c := range []struct{ from, to reflect.Type }{
		{reflect.TypeFor[Component[odd]](), reflect.TypeFor[Component[brain]]()},
		{reflect.TypeFor[Filter1[burning]](), reflect.TypeFor[Filter1[brain]]()},
		{reflect.TypeFor[*Filter2[position, velocity]](), reflect.TypeFor[*Filter2[position, brain]]()},
		{reflect.TypeFor[*Filter4[burning, brain, armour, position]](), reflect.TypeFor[*Filter4[brain, armour, velocity, position]]()},
		{reflect.TypeFor[Query1[burning]](), reflect.TypeFor[Query1[brain]]()},
		{reflect.TypeFor[*Query3[burning, armour, position]](), reflect.TypeFor[*Query3[brain, armour, position]]()},
		{reflect.TypeFor[Map1[burning]](), reflect.TypeFor[Map1[brain]]()},
		{reflect.TypeFor[*Map1[burning]](), reflect.TypeFor[*Map1[brain]]()},
		{reflect.TypeFor[*Map4[position, velocity, armour, brain]](), reflect.TypeFor[*Map4[position, armour, brain, burning]]()},
		{reflect.TypeFor[Events[position]](), reflect.TypeFor[Events[brain]]()},
		{reflect.TypeFor[*Filter1[brain]](), reflect.TypeFor[*Map1[brain]]()},
	} {
		if c.from.ConvertibleTo(c.to) {
			t.Errorf("%v converts to %v", c.from, c.to)
		}
	}
	if unsafe.Sizeof(Component[brain]{}) != 2*unsafe.Sizeof(uintptr(0)) {
		t.Error("a Component is not two words")
	}
	if !reflect.TypeFor[Component[brain]]().Comparable() {
		t.Error("Components cannot be compared any more")
	}
}

func TestWorlds_AreToldApart(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	other, _ := newTestWorld(t, Config{})
	m, theirs := NewMap1[position](w), NewMap1[position](other)
	f := NewFilter1[position](other)
	for op, use := range map[string]func(){
		"AddAll":    func() { m.AddAll(f, position{}) },
		"RemoveAll": func() { m.RemoveAll(f) },
	} {
		if text := misuse(t, use); text != "ecs."+op+": the filter belongs to another world" {
			t.Error(text)
		}
	}
	var e Entity
	for range 3 { // the generations of their first slot go ahead
		e = must[Entity](t)(theirs.NewEntity(position{}))
		other.Remove(e)
	}
	e = must[Entity](t)(theirs.NewEntity(position{9, 9}))
	mine := must[Entity](t)(m.NewEntity(position{1, 1}))
	if e.Index() != mine.Index() || e == mine {
		t.Fatalf("%v and %v", e, mine)
	}
	if _, ok := m.Get(e); ok || w.Alive(e) || w.Remove(e) || m.Has(e) {
		t.Error("an entity of another world is taken, though its generation says so")
	}
}

// TestEntity_OfAnotherWorldIsTakenForItsSlot asserts what the documentation of Entity says: worlds
// number alike, and an Entity of one is alive in another that has used the slot as often.
func TestEntity_OfAnotherWorldIsTakenForItsSlot(t *testing.T) {
	for _, here := range []int{0, 1, 2, 5, 100} {
		for _, there := range []int{1, 3, 100} {
			w, _ := newTestWorld(t, Config{})
			other, _ := newTestWorld(t, Config{})
			mine, theirs := NewMap1[position](w), NewMap1[position](other)
			var es []Entity
			for i := range here {
				es = append(es, must[Entity](t)(mine.NewEntity(position{float32(i), 1})))
			}
			for i := range there {
				e := must[Entity](t)(theirs.NewEntity(position{float32(i), 2}))
				p, ok := mine.Get(e)
				if ok != (i < here) || w.Alive(e) != ok {
					t.Fatalf("%d and %d entities: entity %d of the other world: alive %v", here, there, i, ok)
				}
				if ok && (e != es[i] || *p != position{float32(i), 1}) {
					t.Fatalf("%d and %d entities: %v is %v with %v", here, there, e, es[i], *p)
				}
			}
			if here > 0 { // its slot is used once more here than there
				w.Remove(es[0])
				again := must[Entity](t)(mine.NewEntity(position{}))
				if w.Alive(es[0]) || !other.Alive(es[0]) || again.Index() != es[0].Index() || other.Alive(again) {
					t.Fatalf("%d and %d entities: %v and %v", here, there, es[0], again)
				}
			}
		}
	}
}

func TestClosedWorld_RefusesEveryChange(t *testing.T) {
	w, mem := newTestWorld(t, Config{})
	m := NewMap2[position, velocity](w)
	pos, f := mustRegisterTest[position](t, w), NewFilter1[position](w)
	e := must[Entity](t)(m.NewEntity(position{}, velocity{}))
	cmd := w.Commands()
	cmd.Destroy(e)
	if err := w.Close(); err != nil || cmd.Len() != 0 {
		t.Fatal(err)
	}
	asked := mem.allocs
	for _, c := range changes(w, m, pos, f, e) {
		if text := misuse(t, c.f); text != "ecs."+c.op+": the world is closed" {
			t.Errorf("%s: %q", c.op, text)
		}
	}
	q := f.Query()
	if q.Next() || !w.Locked() || w.EndQueries() != 0 {
		t.Error("a query of a closed world")
	}
	q = f.Query()
	if w.EndQueries() != 1 || !w.Locked() {
		t.Error("EndQueries opened a closed world")
	}
	q.Close()
	if s := w.Stats(); s.Entities != 0 || s.Chunks != 0 || w.Close() != nil || mem.allocs != asked || f.Len() != 0 {
		t.Errorf("%+v", s)
	}
}

type change struct {
	op string
	f  func()
}

// changes are all structural calls and commands.
func changes(w *World, m *Map2[position, velocity], pos Component[position], f *Filter1[position], e Entity) []change {
	cmd := w.Commands()
	return append(structural(w, m, pos, f, e),
		change{"Spawn", func() { cmd.Spawn() }},
		change{"Destroy", func() { cmd.Destroy(e) }},
		change{"AddTo", func() { AddTo(cmd, pos, e, position{}) }},
		change{"RemoveFrom", func() { RemoveFrom(cmd, pos, e) }},
	)
}

func structural(w *World, m *Map2[position, velocity], pos Component[position], f *Filter1[position], e Entity) []change {
	return []change{
		{"NewEntity", func() { w.NewEntity() }},
		{"NewEntity", func() { m.NewEntity(position{}, velocity{}) }},
		{"NewBatch", func() { m.NewBatch(1, nil) }},
		{"NewBatch", func() { m.NewColumns(1, nil) }},
		{"CopyEntity", func() { w.CopyEntity(e) }},
		{"Remove", func() { w.Remove(e) }},
		{"Remove", func() { pos.Remove(e) }},
		{"Remove", func() { m.Remove(e) }},
		{"Add", func() { pos.Add(e, position{}) }},
		{"Add", func() { m.Add(e, position{}, velocity{}) }},
		{"RemoveAll", func() { w.RemoveAll(f) }},
		{"RemoveAll", func() { m.RemoveAll(f) }},
		{"AddAll", func() { m.AddAll(f, position{}, velocity{}) }},
		{"Exchange", func() { m.Exchange(e, position{}, velocity{}) }},
		{"ExchangeAll", func() { m.ExchangeAll(f, position{}, velocity{}) }},
		{"Reset", w.Reset},
		{"Shrink", func() { w.Shrink() }},
		{"Apply", func() { w.Commands().Apply() }},
		{"Discard", func() { w.Commands().Discard() }},
	}
}

func TestLockedWorld_RefusesEveryChangeAndStaysAsItWas(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	m := NewMap2[position, velocity](w)
	pos, f := mustRegisterTest[position](t, w), NewFilter1[position](w)
	e := must[Entity](t)(m.NewEntity(position{}, velocity{}))
	AddTo(w.Commands(), pos, e, position{5, 5})
	before, stats := w.Hash(0), w.Stats()
	q := f.Query()
	q.Next()
	for _, c := range append(structural(w, m, pos, f, e), change{"Close", func() { w.Close() }}) {
		want := "ecs." + c.op + ": the world is locked by an open query; use World.Commands, or end the query with Close"
		if text := misuse(t, c.f); text != want {
			t.Errorf("%q, want %q", text, want)
		}
		if w.Hash(0) != before || w.Stats() != stats || w.Check() != nil {
			t.Fatalf("%s changed the world and panicked: %v", c.op, w.Check())
		}
	}
	q.Close()
	if err := w.Commands().Apply(); err != nil || w.Locked() {
		t.Error(err)
	}
}
