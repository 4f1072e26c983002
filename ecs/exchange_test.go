package ecs

import (
	"errors"
	"testing"

	"github.com/strata-go/strata/memory"
)

func TestExchange_MovesOnceAndKeepsTheRest(t *testing.T) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
	pos, br, arm := mustRegisterTest[position](t, w), mustRegisterTest[brain](t, w), mustRegisterTest[armour](t, w)
	e := must[Entity](t)(NewMap3[position, armour, brain](w).NewEntity(position{1, 2}, armour{}, brain{Name: "stays"}))
	tables := w.Stats().Archetypes
	x := NewMap2[velocity, burning](w).Removes(arm.ID(), pos.ID())
	if err := x.Exchange(e, velocity{3, 4}, burning{}); err != nil || pos.Has(e) || arm.Has(e) || !x.Has(e) || must2(br.Get(e)).Name != "stays" {
		t.Errorf("%v: position %v, armour %v", err, pos.Has(e), arm.Has(e))
	}
	if n := w.Stats().Archetypes; n != tables+1 {
		t.Errorf("%d archetypes more, not the one that it ends in", n-tables)
	}
	if v, _, _ := x.Get(e); *v != (velocity{3, 4}) {
		t.Errorf("the value is %v", *v)
	}
	if err := x.Exchange(e, velocity{5, 5}, burning{}); err != nil || w.Stats().Archetypes != tables+1 {
		t.Errorf("a second time: %v, %d archetypes", err, w.Stats().Archetypes-tables)
	}
	if v, _, _ := x.Get(e); *v != (velocity{5, 5}) || w.Check() != nil {
		t.Errorf("the value is %v, %v", *v, w.Check())
	}
	if err := pos.Add(e, position{}); err != nil {
		t.Fatal(err)
	}
	// Add with the same mapper takes nothing away, though Exchange went the other way from there.
	if err := x.Exchange(e, velocity{}, burning{}); err != nil || pos.Has(e) {
		t.Errorf("%v: position %v", err, pos.Has(e))
	}
	if err := NewMap1[position](w).Removes(mustRegisterTest[burning](t, w).ID()).Add(e, position{}); err != nil || !pos.Has(e) || !x.Has(e) {
		t.Errorf("Add: %v, burning %v", err, x.Has(e))
	}
}

// TestExchange_SharesItsWayWithAdd goes from one archetype to two others by one mapper.
func TestExchange_SharesItsWayWithAdd(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	pos := mustRegisterTest[position](t, w)
	x, m := NewMap1[velocity](w).Removes(pos.ID()), NewMap1[position](w)
	for i := range 6 {
		e := must[Entity](t)(m.NewEntity(position{}))
		var err error
		if i%2 == 0 {
			err = x.Add(e, velocity{})
		} else {
			err = x.Exchange(e, velocity{})
		}
		if err != nil || pos.Has(e) != (i%2 == 0) || !x.Has(e) {
			t.Errorf("%d: %v, position %v", i, err, pos.Has(e))
		}
	}
}

func TestExchange_RefusalsChangeNothing(t *testing.T) {
	w, mem := newTestWorld(t, Config{ChunkBytes: 1024})
	pos, m := mustRegisterTest[position](t, w), NewMap1[position](w)
	e := must[Entity](t)(m.NewEntity(position{}))
	x := NewMap1[velocity](w).Removes(pos.ID())
	mem.failNext(true)
	if err := x.Exchange(e, velocity{}); !errors.Is(err, memory.ErrOutOfMemory) || !pos.Has(e) || x.Has(e) || w.Check() != nil {
		t.Errorf("%v, %v", err, w.Check())
	}
	if n, err := x.ExchangeAll(NewFilter1[position](w), velocity{}); n != 0 || !errors.Is(err, memory.ErrOutOfMemory) || !pos.Has(e) || w.Check() != nil {
		t.Errorf("%d, %v, %v", n, err, w.Check())
	}
	mem.heal()
	w.Remove(e)
	if err := x.Exchange(e, velocity{}); err != ErrStale {
		t.Error(err)
	}
}

func TestExchangeAll_WritesNoRowTwice(t *testing.T) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
	vel, tag := mustRegisterTest[velocity](t, w), mustRegisterTest[burning](t, w)
	pos := mustRegisterTest[position](t, w)
	check(t, newBatch(w, 70, pos.ID(), vel.ID(), tag.ID()))
	check(t, newBatch(w, 50, pos.ID(), vel.ID()))
	check(t, newBatch(w, 40, pos.ID(), tag.ID()))
	sets, adds := 0, 0
	vel.OnSet(func(Entity, *velocity) { sets++ })
	vel.OnAdd(func(Entity, *velocity) { adds++ })
	all := NewFilter1[position](w)
	n, err := NewMap1[velocity](w).Removes(tag.ID()).ExchangeAll(all, velocity{1, 1})
	if err != nil || n != 160 || sets != 120 || adds != 40 || NewFilter1[burning](w).Len() != 0 || w.Check() != nil {
		t.Errorf("%d changed, %d set, %d added, %v, %v", n, sets, adds, err, w.Check())
	}
	for e := range all.All() {
		if v, ok := vel.Get(e); !ok || *v != (velocity{1, 1}) {
			t.Fatalf("%v has %v", e, v)
		}
	}
}

// What an observer tells the mapper whose change it is told of is for the next call.
func TestExchange_AnObserverMayConfigureItsMapper(t *testing.T) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
	br, vel, rel := mustRegisterTest[brain](t, w), mustRegisterTest[velocity](t, w), mustRelation[likes](t, w)
	a, b := must[Entity](t)(w.NewEntity()), must[Entity](t)(w.NewEntity())
	m := NewMap2[position, likes](w)
	br.OnRemove(func(Entity, *brain) { m.Removes(vel.ID()).To(rel.ID(), b) })
	begin := func() { m.Removes(br.ID()).To(rel.ID(), a) }
	for _, err := range []error{newBatch(w, 40, br.ID(), vel.ID()), newBatch(w, 40, br.ID(), vel.ID(), mustRegisterTest[burning](t, w).ID())} {
		if err != nil {
			t.Fatal(err)
		}
	}
	all := NewFilter1[velocity](w)
	begin()
	if err := m.Exchange(all.EntityAt(33), position{1, 2}, likes{3}); err != nil {
		t.Fatal(err)
	}
	begin()
	if n, err := m.ExchangeAll(NewFilter1[brain](w), position{1, 2}, likes{3}); n != 79 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	for e := range all.All() {
		p, l, ok := m.Get(e)
		if to, _ := rel.Target(e); !ok || br.Has(e) || to != a || *p != (position{1, 2}) || l.Much != 3 {
			t.Fatalf("%v relates to %v, %v", e, to, ok)
		}
	}
	if all.Len() != 80 || w.Check() != nil {
		t.Errorf("%d entities, %v", all.Len(), w.Check())
	}
	if err := m.Exchange(all.EntityAt(0), position{}, likes{}); err != nil || all.Len() != 79 {
		t.Errorf("%v: the next call takes what it was told to", err)
	}
}

func TestExchange_AllocatesNothing(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	a := NewMap1[position](w).Removes(mustRegisterTest[velocity](t, w).ID())
	b := NewMap1[velocity](w).Removes(mustRegisterTest[position](t, w).ID())
	e := must[Entity](t)(a.NewEntity(position{}))
	if n := testing.AllocsPerRun(100, func() {
		if b.Exchange(e, velocity{}) != nil || a.Exchange(e, position{}) != nil {
			t.Fatal("refused")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestRemoves_MisuseIsNamed(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	pos, vel := mustRegisterTest[position](t, w), mustRegisterTest[velocity](t, w)
	for want, f := range map[string]func(){
		"ecs.Removes: component ecs.position is what the mapper adds": func() { NewMap1[position](w).Removes(vel.ID(), pos.ID()) },
		"ecs.Removes: component ecs.velocity is named twice":          func() { NewMap1[position](w).Removes(vel.ID(), vel.ID()) },
		"ecs.Removes: the world does not have this component ID":      func() { NewMap1[position](w).Removes(40) },
	} {
		if text := misuse(t, f); text != want {
			t.Errorf("%q, want %q", text, want)
		}
	}
}
