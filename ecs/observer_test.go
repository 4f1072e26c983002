package ecs

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// listen writes down what w tells of position, brain and whole entities.
func listen(w *World, pos Component[position], br Component[brain], said *[]string) {
	say := func(format string, args ...any) { *said = append(*said, fmt.Sprintf(format, args...)) }
	w.OnCreate(func(e Entity) { say("create %v", e) })
	w.OnRemove(func(e Entity) { say("destroy %v", e) })
	pos.OnAdd(func(e Entity, p *position) { say("add %v %v", e, p.X) })
	pos.OnRemove(func(e Entity, p *position) { say("remove %v %v", e, p.X) })
	pos.OnSet(func(e Entity, p *position) { say("set %v %v", e, p.X) })
	br.OnAdd(func(e Entity, b *brain) { say("add %v %s", e, b.Name) })
	br.OnRemove(func(e Entity, b *brain) { say("remove %v %s", e, b.Name) })
	br.OnSet(func(e Entity, b *brain) { say("set %v %s", e, b.Name) })
}

func TestObservers_AreToldOfEachChangeOnce(t *testing.T) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
	pos, br := mustRegisterTest[position](t, w), mustRegisterTest[brain](t, w)
	tag := mustRegisterTest[burning](t, w)
	m, single, all := NewMap2[position, brain](w), NewMap1[position](w), NewFilter1[position](w)
	cmd := w.Commands()
	var said []string
	listen(w, pos, br, &said)
	var e Entity
	for _, c := range []struct {
		want string
		do   func() error
	}{
		{"create #1.1; add #1.1 1; add #1.1 a", func() (err error) { e, err = m.NewEntity(position{X: 1}, brain{Name: "a"}); return }},
		{"set #1.1 2", func() error { pos.Set(e, position{X: 2}); return nil }},
		{"set #1.1 3", func() error { return pos.Add(e, position{X: 3}) }},
		{"", func() error { return tag.Add(e, burning{}) }},
		{"remove #1.1 a", func() error { _, err := br.Remove(e); return err }},
		{"", func() error { _, err := br.Remove(e); return err }},
		{"add #1.1 b; set #1.1 4", func() error { return m.Add(e, position{X: 4}, brain{Name: "b"}) }},
		{"set #1.1 5; set #1.1 c", func() error { return m.Add(e, position{X: 5}, brain{Name: "c"}) }},
		{"remove #1.1 5; set #1.1 d", func() error { return NewMap1[brain](w).Removes(pos.ID(), tag.ID()).Exchange(e, brain{Name: "d"}) }},
		{"remove #1.1 d; add #1.1 5", func() error {
			_, err := NewMap1[position](w).Removes(br.ID()).ExchangeAll(NewFilter1[brain](w), position{X: 5})
			return err
		}},
		{"add #1.1 c", func() error { return br.Add(e, brain{Name: "c"}) }},
		{"remove #1.1 5; remove #1.1 c", func() error { _, err := m.Remove(e); return err }},
		{"add #1.1 6", func() error { return pos.Add(e, position{X: 6}) }},
		{"create #2.1", func() error { _, err := w.NewEntity(); return err }},
		{"create #3.1; create #4.1; add #3.1 0; add #4.1 0", func() error { return single.NewBatch(2, nil) }},
		{"create #5.1; add #5.1 8", func() error { return single.NewBatch(1, func(_ int, p *position) { p.X = 8 }) }},
		{"add #1.1 d; add #3.1 d; add #4.1 d; add #5.1 d", func() error { _, err := NewMap1[brain](w).AddAll(all, brain{Name: "d"}); return err }},
		{"set #1.1 e; set #3.1 e; set #4.1 e; set #5.1 e", func() error { _, err := NewMap1[brain](w).AddAll(all, brain{Name: "e"}); return err }},
		{"remove #1.1 e; remove #3.1 e; remove #4.1 e; remove #5.1 e", func() error { _, err := NewMap1[brain](w).RemoveAll(all); return err }},
		{"", func() error {
			n, err := cmd.Spawn()
			AddTo(cmd, pos, n, position{X: 9})
			AddTo(cmd, pos, e, position{X: 7})
			RemoveFrom(cmd, pos, Entity{index: 3, gen: 1})
			AddTo(cmd, br, Entity{index: 3, gen: 1}, brain{Name: "f"})
			AddTo(cmd, br, Entity{index: 4, gen: 1}, brain{Name: "g"})
			RemoveFrom(cmd, br, Entity{index: 4, gen: 1})
			cmd.Destroy(Entity{index: 5, gen: 1})
			return err
		}},
		{"create #6.1; add #6.1 9; set #1.1 7; remove #3.1 0; add #3.1 f; remove #5.1 8; destroy #5.1", cmd.Apply},
		{"remove #1.1 7; destroy #1.1", func() error { w.Remove(e); return nil }},
		{"", func() error { w.Remove(e); pos.Set(e, position{}); return nil }},
		{"remove #4.1 0; remove #6.1 9; destroy #4.1; destroy #6.1", func() error { w.RemoveAll(all); return nil }},
		{"create #4.3; add #4.3 f", func() error { _, err := w.CopyEntity(Entity{index: 3, gen: 1}); return err }},
		{"remove #4.3 f; destroy #4.3", func() error { w.Remove(Entity{index: 4, gen: 3}); return nil }},
		{"destroy #2.1; remove #3.1 f; destroy #3.1", func() error { w.Reset(); return nil }},
		{"", func() error { _, err := cmd.Spawn(); cmd.Discard(); return err }},
		{"create #1.5; add #1.5 1; add #1.5 z", func() error { _, err := m.NewEntity(position{X: 1}, brain{Name: "z"}); return err }},
		{"", w.Close},
	} {
		said = nil
		if err := c.do(); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(said, "; "); got != c.want {
			t.Errorf("told %q\nwant %q", got, c.want)
		}
		if err := w.Check(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestObservers_AreCalledInOrderUntilStopped(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	pos := mustRegisterTest[position](t, w)
	said := ""
	var second *Observer
	first := pos.OnAdd(func(Entity, *position) {
		said += "1"
		second.Stop()
		pos.OnAdd(func(Entity, *position) { said += "3" })
	})
	second = pos.OnAdd(func(Entity, *position) { said += "2" })
	m := NewMap1[position](w)
	must[Entity](t)(m.NewEntity(position{}))
	if said != "1" {
		t.Errorf("told %q: a stopped one is not called, a new one not for what is under way", said)
	}
	first.Stop()
	first.Stop()
	must[Entity](t)(m.NewEntity(position{}))
	if said != "13" || w.Check() != nil {
		t.Errorf("told %q, %v", said, w.Check())
	}
	for _, o := range slices.Clone(w.observers.lists[addEvent]) {
		o.Stop()
	}
	if w.observers.observed != 0 || w.observers.watched != ([eventKinds]mask{}) {
		t.Errorf("nobody observes, but the book says %#x", w.observers.observed)
	}
}

// TestObserver_MayNotChangeTheWorld tries every structural change in every observer.
func TestObserver_MayNotChangeTheWorld(t *testing.T) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
	m, f := NewMap2[position, velocity](w), NewFilter1[position](w)
	pos := mustRegisterTest[position](t, w)
	must[Entity](t)(w.NewEntity())
	told := 0
	try := func(e Entity) {
		told++
		for _, c := range append(structural(w, m, pos, f, e), change{"Close", func() { w.Close() }}) {
			if text := misuse(t, c.f); text != "ecs."+c.op+": the world is locked while an observer is called; use World.Commands" {
				t.Errorf("%s: %q", c.op, text)
			}
		}
		if err := w.Check(); err != nil || !w.Alive(e) || !w.Locked() {
			t.Errorf("in the middle: %v", err)
		}
		for range f.All() {
		}
		AddTo(w.Commands(), mustRegisterTest[health](t, w), must[Entity](t)(w.Commands().Spawn()), health{})
	}
	w.OnRemove(try)
	pos.OnAdd(func(e Entity, _ *position) { try(e) })
	pos.OnRemove(func(e Entity, _ *position) { try(e) })
	pos.OnSet(func(e Entity, _ *position) { try(e) })
	e := must[Entity](t)(m.NewEntity(position{}, velocity{}))
	if err := NewMap1[position](w).NewBatch(60, nil); err != nil {
		t.Fatal(err)
	}
	pos.Set(e, position{})
	must[bool](t)(pos.Remove(e))
	if err := pos.Add(e, position{}); err != nil {
		t.Fatal(err)
	}
	must[int](t)(NewMap1[armour](w).AddAll(f, armour{}))
	must[int](t)(NewMap1[position](w).RemoveAll(f)) // into the archetype that Spawn fills
	if err := w.Commands().Apply(); err != nil {
		t.Fatal(err)
	}
	must[Entity](t)(m.NewEntity(position{}, velocity{}))
	w.RemoveAll(f)
	w.Remove(e)
	w.Reset()
	if told < 300 || w.Locked() || w.Check() != nil || w.Len() != 0 {
		t.Errorf("told %d times, locked %v, %v", told, w.Locked(), w.Check())
	}
}

// TestObserver_APanicLeavesTheWorldUsable lets the nth call of an observer panic, for every n.
func TestObserver_APanicLeavesTheWorldUsable(t *testing.T) {
	testenv.Long(t)
	for at := 1; ; at++ {
		w, mem := newTestWorld(t, Config{ChunkBytes: 1024})
		pos, br := mustRegisterTest[position](t, w), mustRegisterTest[brain](t, w)
		left := at
		hook := func() {
			if left--; left == 0 {
				panic("hook")
			}
		}
		w.OnCreate(func(Entity) { hook() })
		w.OnRemove(func(Entity) { hook() })
		pos.OnAdd(func(Entity, *position) { hook() })
		pos.OnRemove(func(Entity, *position) { hook() })
		pos.OnSet(func(Entity, *position) { hook() })
		br.OnAdd(func(Entity, *brain) { hook() })
		br.OnRemove(func(Entity, *brain) { hook() })
		if n := observedLife(t, w, pos, br); n == 0 {
			if at < 300 {
				t.Errorf("only %d calls", at)
			}
			return
		}
		if len(mem.live) != 0 {
			t.Fatalf("call %d: %d blocks are lost", at, len(mem.live))
		}
	}
}

func observedLife(t *testing.T, w *World, pos Component[position], br Component[brain]) (panics int) {
	m, one, all, cmd := NewMap2[position, brain](w), NewMap1[position](w), NewFilter1[position](w), w.Commands()
	step := func(name string, f func() error) {
		t.Helper()
		for range 2 {
			var err error
			r := caught(func() { err = f() })
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if err := w.Check(); err != nil || w.Locked() {
				t.Fatalf("%s: %v, locked %v", name, err, w.Locked())
			}
			if r == nil {
				return
			} else if r != "hook" {
				t.Fatalf("%s: %v", name, r)
			}
			panics++
		}
	}
	var e Entity
	step("NewEntity", func() (err error) { e, err = m.NewEntity(position{}, brain{}); return })
	if !w.Alive(e) {
		es := entities(w, all)
		e = es[0] // it was created when the observer panicked
	}
	step("NewBatch", func() error { return m.NewBatch(20, nil) })
	step("NewColumns", func() error { return one.NewColumns(45, func([]Entity, []position) {}) })
	step("Set", func() error { pos.Set(e, position{1, 1}); return nil })
	step("Add", func() error { return pos.Add(e, position{2, 2}) })
	step("Remove", func() error { _, err := br.Remove(e); return err })
	step("Add", func() error { return br.Add(e, brain{Name: "n"}) })
	if b, ok := br.Get(e); !ok || b.Name != "n" {
		t.Fatal("Add lost its value")
	}
	step("AddAll", func() error { _, err := NewMap1[brain](w).AddAll(all, brain{Name: "k"}); return err })
	step("RemoveAll of a component", func() error { _, err := NewMap1[brain](w).RemoveAll(all); return err })
	if n := all.Len(); n < 66 || NewFilter2[position, brain](w).Len() != 0 {
		t.Fatal("RemoveAll lost entities, or its turn")
	}
	step("Exchange", func() error { return NewMap1[armour](w).Removes(pos.ID()).Exchange(e, armour{}) })
	step("ExchangeAll", func() error {
		_, err := NewMap1[position](w).Removes(mustRegisterTest[armour](t, w).ID()).ExchangeAll(NewFilter1[armour](w), position{})
		return err
	})
	if !pos.Has(e) || NewFilter1[armour](w).Len() != 0 {
		t.Fatal("Exchange lost its turn")
	}
	RemoveFrom(cmd, pos, e)
	AddTo(cmd, br, e, brain{Name: "q"})
	cmd.Destroy(entities(w, all)[3])
	step("Apply", cmd.Apply)
	if cmd.Len() != 0 || pos.Has(e) || must2(br.Get(e)).Name != "q" {
		t.Fatal("Apply lost a command")
	}
	step("Remove", func() error { w.Remove(e); return nil })
	if w.Alive(e) {
		t.Fatal("Remove lost its turn")
	}
	step("RemoveAll", func() error { w.RemoveAll(all); return nil })
	step("NewBatch", func() error { return m.NewBatch(3, nil) })
	step("Reset", func() error { w.Reset(); return nil })
	if w.Len() != 0 {
		t.Fatal("Reset left entities")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return panics
}

func TestObservers_AreNotToldOfWhatMemoryRefuses(t *testing.T) {
	w, mem := newTestWorld(t, Config{ChunkBytes: 1024})
	pos, br := mustRegisterTest[position](t, w), mustRegisterTest[brain](t, w)
	m := NewMap2[position, brain](w)
	if err := m.NewBatch(30, nil); err != nil {
		t.Fatal(err)
	}
	e := entities(w, NewFilter1[position](w))[0]
	AddTo(w.Commands(), mustRegisterTest[velocity](t, w), e, velocity{})
	RemoveFrom(w.Commands(), pos, e)
	var said []string
	listen(w, pos, br, &said)
	mem.failNext(true)
	for i, f := range []func() error{
		func() error { _, err := NewMap1[position](w).NewEntity(position{}); return err },
		func() error { return NewMap1[position](w).NewBatch(5, nil) },
		func() error { _, err := pos.Remove(e); return err },
		func() error { _, err := m.Remove(e); return err },
		func() error { _, err := NewMap1[brain](w).RemoveAll(NewFilter1[position](w)); return err },
		func() error { _, err := NewMap1[armour](w).AddAll(NewFilter1[position](w), armour{}); return err },
		func() error { return NewMap1[armour](w).Removes(pos.ID()).Exchange(e, armour{}) },
		func() error {
			_, err := NewMap1[armour](w).Removes(pos.ID()).ExchangeAll(NewFilter1[position](w), armour{})
			return err
		},
		w.Commands().Apply,
		func() error { _, err := w.NewEntity(); return err },
	} {
		if err := f(); !errors.Is(err, memory.ErrOutOfMemory) || said != nil || w.Check() != nil {
			t.Errorf("%d: %v, told %q, %v", i, err, said, w.Check())
		}
	}
	mem.heal()
	if err := w.Commands().Apply(); err != nil || len(said) != 1 {
		t.Errorf("%v, told %q", err, said)
	}
}

// An observer of a removal may spawn the room away that was made for it.
func TestObserver_ThatSpawnsIntoTheLastMemoryFailsTheRemoval(t *testing.T) {
	w, mem := newTestWorld(t, Config{ChunkBytes: 1024})
	pos := mustRegisterTest[position](t, w)
	if err := NewMap1[position](w).NewBatch(200, nil); err != nil {
		t.Fatal(err)
	}
	all := NewFilter1[position](w)
	spawned := 0
	pos.OnRemove(func(Entity, *position) {
		if mem.failNext(true); spawned == 0 {
			for {
				if _, err := w.Commands().Spawn(); err != nil {
					return
				}
				spawned++
			}
		}
	})
	es := entities(w, all)
	for i, remove := range []func() error{
		func() error { _, err := pos.Remove(es[0]); return err },
		func() error { _, err := NewMap1[position](w).RemoveAll(all); return err },
	} {
		spawned = 0
		if err := remove(); !errors.Is(err, memory.ErrOutOfMemory) || all.Len() != 200 || spawned == 0 || w.Check() != nil || w.Locked() {
			t.Errorf("%d: %v with %d left and %d spawned, %v", i, err, all.Len(), spawned, w.Check())
		}
		mem.heal()
		w.Commands().Discard()
		w.Shrink()
	}
}

// What a batch has got for rows that then do not move is not kept.
func TestObserver_ThatSpawnsTheRoomOfABatchAwayLeavesOneSpare(t *testing.T) {
	failed := 0
	for limit := range 30 {
		w, mem := newTestWorld(t, Config{ChunkBytes: 1024, MaxChunkBytes: 1024})
		if err := NewMap2[position, velocity](w).NewBatch(300, nil); err != nil {
			t.Fatal(err)
		}
		spawned := 0
		mustRegisterTest[velocity](t, w).OnRemove(func(Entity, *velocity) {
			if _, err := w.Commands().Spawn(); err == nil {
				spawned++
			}
		})
		mem.limit = len(mem.live) + limit
		_, err := NewMap1[velocity](w).RemoveAll(NewFilter1[position](w))
		if err != nil && spawned > 0 {
			failed++
		}
		if w.Check() != nil || (NewFilter1[velocity](w).Len() == 300) != (err != nil) {
			t.Errorf("%d blocks: %v after %d, %v", limit, err, spawned, w.Check())
		}
		mem.limit = 0
	}
	if failed == 0 {
		t.Error("no batch failed after it was told")
	}
}

func TestObserver_ThatLeavesAQueryOpenStopsTheChange(t *testing.T) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
	pos, all := mustRegisterTest[position](t, w), NewFilter1[position](w)
	m := NewMap1[position](w)
	if err := m.NewBatch(20, nil); err != nil {
		t.Fatal(err)
	}
	e := entities(w, all)[0]
	pos.OnRemove(func(Entity, *position) {
		q := all.Query()
		q.Next()
	})
	cmd := w.Commands()
	for _, c := range []change{
		{"Remove", func() { w.Remove(e) }},
		{"Remove", func() { pos.Remove(e) }},
		{"RemoveAll", func() { w.RemoveAll(all) }},
		{"RemoveAll", func() { m.RemoveAll(all) }},
		{"Exchange", func() { NewMap1[armour](w).Removes(pos.ID()).Exchange(e, armour{}) }},
		{"ExchangeAll", func() { NewMap1[armour](w).Removes(pos.ID()).ExchangeAll(all, armour{}) }},
		{"Reset", w.Reset},
		{"Apply", func() { RemoveFrom(cmd, pos, e); cmd.Apply() }},
	} {
		want := "ecs." + c.op + ": the world is locked by an open query; use World.Commands, or end the query with Close"
		if text := misuse(t, c.f); text != want {
			t.Errorf("%q, want %q", text, want)
		}
		if w.EndQueries() == 0 || all.Len() != 20 || w.Check() != nil {
			t.Errorf("%s changed the world: %d left, %v", c.op, all.Len(), w.Check())
		}
	}
}

func TestObserver_ALoopWithinItEndsWithTheChange(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	pos, all := mustRegisterTest[position](t, w), NewFilter1[position](w)
	es := []Entity{must[Entity](t)(NewMap1[position](w).NewEntity(position{})), must[Entity](t)(NewMap1[position](w).NewEntity(position{}))}
	pos.OnRemove(func(Entity, *position) {
		defer func() { recover() }()
		for range all.All() {
			panic("body")
		}
	})
	w.Remove(es[0])
	if len(w.guard.running) != 0 || w.Check() != nil {
		t.Errorf("%d loops go on behind the change", len(w.guard.running))
	}
}

func TestObservers_OfABatchWhoseFillPanicsAreTold(t *testing.T) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
	told := 0
	w.OnCreate(func(Entity) { told++ })
	m := NewMap1[position](w)
	if r := caught(func() { m.NewBatch(100, func(int, *position) { panic("fill") }) }); r != "fill" || told != 100 || w.Locked() {
		t.Errorf("%v, told of %d", r, told)
	}
}

func TestObserver_WhoseAllocatorClosesTheWorld(t *testing.T) {
	for _, before := range []bool{false, true} {
		w, mem := newTestWorld(t, Config{ChunkBytes: 1024})
		pos := mustRegisterTest[position](t, w)
		m := NewMap1[position](w)
		if err := m.NewBatch(100, nil); err != nil {
			t.Fatal(err)
		}
		told := 0
		end := func(Entity, *position) {
			told++
			w.allocatorClosed()
			clear(mem.live)
		}
		if !before {
			pos.OnAdd(end)
			pos.OnAdd(end)
			if err := m.NewBatch(100, nil); !errors.Is(err, memory.ErrClosed) {
				t.Error(err)
			}
		} else {
			pos.OnRemove(end)
			pos.OnRemove(end)
			if text := misuse(t, func() { w.RemoveAll(NewFilter1[position](w)) }); text != "ecs.RemoveAll: the world is closed" {
				t.Error(text)
			}
		}
		if told != 1 || w.Len() != 0 || w.Check() != nil || w.guard.notifying != 0 {
			t.Errorf("told %d, %v", told, w.Check())
		}
	}
}

// Whatever the event, and whether the change was made before it or not.
func TestObserver_OperationsReturnErrClosed(t *testing.T) {
	type world struct {
		*World
		es  []Entity
		m   *Map2[position, velocity]
		f   *Filter1[position]
		pos Component[position]
		br  Component[brain]
		r   Relation[likes]
	}
	first := func(_ any, err error) error { return err }
	none := func(e Entity, err error) error {
		if e != (Entity{}) {
			t.Errorf("%v is returned with %v", e, err)
		}
		return err
	}
	nothing := func(p unsafe.Pointer, err error) error {
		if (p == nil) != (err != nil) {
			t.Errorf("%p is returned with %v", p, err)
		}
		return err
	}
	other, _ := newTestWorld(t, Config{})
	newValue(t, other, position{})
	var text bytes.Buffer
	if err := other.WriteJSON(&text); err != nil {
		t.Fatal(err)
	}
	const created, added, set, removed, destroyed = 1 << createEvent, 1 << addEvent, 1 << setEvent, 1 << removeEvent, 1 << destroyEvent
	for op, c := range map[string]struct {
		events uint8 // that the operation reports
		do     func(w *world) error
	}{
		"World.NewEntity":    {created, func(w *world) error { return none(w.NewEntity()) }},
		"World.CopyEntity":   {created | added, func(w *world) error { return none(w.CopyEntity(w.es[5])) }},
		"World.AddID":        {added, func(w *world) error { return nothing(w.AddID(w.es[5], w.br.ID())) }},
		"World.RelateID":     {added, func(w *world) error { return nothing(w.RelateID(w.es[5], w.r.ID(), w.es[6])) }},
		"World.RelateID set": {set, func(w *world) error { return nothing(w.RelateID(w.es[7], w.r.ID(), w.es[8])) }},
		"World.RemoveID":     {removed, func(w *world) error { return first(w.RemoveID(w.es[5], w.pos.ID())) }},
		"Spawn": {created, func(w *world) error {
			w.Commands().clear()
			_, err := w.Commands().Spawn()
			return errors.Join(err, w.Commands().Apply())
		}},
		"Apply": {set, func(w *world) error { return w.Commands().Apply() }},
		"Apply removes": {removed | destroyed, func(w *world) error {
			w.Commands().clear()
			w.Commands().Destroy(w.es[5])
			return w.Commands().Apply()
		}},
		"Component.Add":     {added, func(w *world) error { return w.br.Add(w.es[5], brain{}) }},
		"Component.Add set": {set, func(w *world) error { return w.pos.Add(w.es[5], position{}) }},
		"Component.Remove":  {removed, func(w *world) error { return first(w.pos.Remove(w.es[5])) }},
		"Relation.Add":      {added, func(w *world) error { return w.r.Add(w.es[5], likes{}, w.es[6]) }},
		"SetTarget":         {set, func(w *world) error { return first(w.r.SetTarget(w.es[7], w.es[8])) }},
		"SetTargetAll":      {set, func(w *world) error { return first(w.r.SetTargetAll(w.f, w.es[8])) }},
		"SetTargetAll same": {set, func(w *world) error { return first(w.r.SetTargetAll(w.f, w.es[6])) }},
		"Map.NewEntity":     {created | added, func(w *world) error { return none(w.m.NewEntity(position{}, velocity{})) }},
		"Map.NewBatch":      {created | added, func(w *world) error { return w.m.NewBatch(100, nil) }},
		"Map.Add":           {set, func(w *world) error { return w.m.Add(w.es[5], position{}, velocity{}) }},
		"Map.AddAll":        {added, func(w *world) error { return first(NewMap1[brain](w.World).AddAll(w.f, brain{})) }},
		"Map.AddAll set":    {set, func(w *world) error { return first(w.m.AddAll(w.f, position{}, velocity{})) }},
		"Map.Exchange": {added | removed, func(w *world) error {
			return NewMap1[brain](w.World).Removes(w.pos.ID()).Exchange(w.es[5], brain{})
		}},
		"Map.ExchangeAll": {added | removed, func(w *world) error {
			return first(NewMap1[brain](w.World).Removes(w.pos.ID()).ExchangeAll(w.f, brain{}))
		}},
		"Map.Remove":    {removed, func(w *world) error { return first(w.m.Remove(w.es[5])) }},
		"Map.RemoveAll": {removed, func(w *world) error { return first(w.m.RemoveAll(w.f)) }},
		"ReadJSON": {created | added, func(w *world) error {
			w.Reset()
			return w.ReadJSON(bytes.NewReader(text.Bytes()))
		}},
	} {
		for kind := range eventKinds {
			if c.events>>kind&1 == 0 {
				continue
			}
			mem, calls := &tellingMemory{testMemory: newTestMemory(t)}, 0
			w := &world{}
			w.World, w.m, w.f, w.es = populated(t, mem)
			w.pos, w.br, w.r = mustRegisterTest[position](t, w.World), mustRegisterTest[brain](t, w.World), mustRelation[likes](t, w.World)
			if err := w.r.Add(w.es[7], likes{}, w.es[6]); err != nil {
				t.Fatal(err)
			}
			end := func() { calls++; mem.close() }
			switch kind {
			case createEvent:
				w.OnCreate(func(Entity) { end() })
			case destroyEvent:
				w.OnRemove(func(Entity) { end() })
			case addEvent:
				w.pos.OnAdd(func(Entity, *position) { end() })
				w.br.OnAdd(func(Entity, *brain) { end() })
				w.r.OnAdd(func(Entity, *likes) { end() })
			case removeEvent:
				w.pos.OnRemove(func(Entity, *position) { end() })
			case setEvent:
				w.pos.OnSet(func(Entity, *position) { end() })
				w.r.OnSet(func(Entity, *likes) { end() })
			}
			err := c.do(w)
			if !errors.Is(err, memory.ErrClosed) || calls != 1 || w.Alive(w.es[5]) || w.Len() != 0 {
				t.Errorf("%s, event %d: %v after %d calls", op, kind, err, calls)
			}
			if err := errors.Join(w.Check(), w.Close()); err != nil {
				t.Errorf("%s, event %d: %v", op, kind, err)
			}
		}
	}
}

// Removals that return no error panic with their own name, and what the observer closed stays closed.
func TestObserver_ThatClosesTheAllocatorEndsRemovals(t *testing.T) {
	for op, remove := range map[string]func(w *World, r Relation[likes], e Entity){
		"Remove":     func(w *World, _ Relation[likes], e Entity) { w.Remove(e) },
		"RemoveAll":  func(w *World, _ Relation[likes], _ Entity) { w.RemoveAll(NewFilter1[position](w)) },
		"RemoveTree": func(_ *World, r Relation[likes], e Entity) { r.RemoveTree(e) },
		"Reset":      func(w *World, _ Relation[likes], _ Entity) { w.Reset() },
		"Discard": func(w *World, _ Relation[likes], _ Entity) {
			pos := mustRegisterTest[position](t, w) // its removal is reported, that of the entity is not
			if err := pos.Add(must[Entity](t)(w.Commands().Spawn()), position{}); err != nil {
				t.Fatal(err)
			}
			w.Commands().Discard()
		},
	} {
		mem := &tellingMemory{testMemory: newTestMemory(t)}
		w, _, _, es := populated(t, mem)
		r, calls := mustRelation[likes](t, w), 0
		if err := r.Add(es[6], likes{}, es[5]); err != nil {
			t.Fatal(err)
		}
		if op == "Discard" {
			mustRegisterTest[position](t, w).OnRemove(func(Entity, *position) { calls++; mem.close() })
		} else {
			w.OnRemove(func(Entity) { calls++; mem.close() })
		}
		if text := misuse(t, func() { remove(w, r, es[5]) }); text != "ecs."+op+": the world is closed" || calls != 1 {
			t.Errorf("%s: %q after %d calls", op, text, calls)
		}
		if err := errors.Join(w.Check(), w.Close()); err != nil || w.Len() != 0 || w.Alive(es[7]) {
			t.Errorf("%s: %d entities, %v", op, w.Len(), err)
		}
	}
}

// Reset reports each entity once and ends with an empty world, also if each report spawns another entity.
func TestObserver_ThatSpawnsDuringResetLeavesNothing(t *testing.T) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
	m := NewMap1[position](w)
	if err := m.NewBatch(500, nil); err != nil {
		t.Fatal(err)
	}
	es := append(newEntities(t, w, 300), entities(w, NewFilter1[position](w))...)
	told := map[Entity]int{}
	var spawned []Entity
	o := w.OnRemove(func(e Entity) {
		told[e]++
		n, err := w.Commands().Spawn()
		if err != nil {
			t.Fatal(err)
		}
		AddTo(w.Commands(), mustRegisterTest[position](t, w), n, position{})
		spawned = append(spawned, n)
	})
	w.Reset()
	for _, e := range es {
		if told[e] != 1 || w.Alive(e) {
			t.Fatalf("%v was reported %d times, and lives: %t", e, told[e], w.Alive(e))
		}
	}
	for _, e := range spawned {
		if told[e] > 1 || w.Alive(e) {
			t.Fatalf("%v, spawned during Reset, was reported %d times, and lives: %t", e, told[e], w.Alive(e))
		}
	}
	if err := errors.Join(w.Commands().Apply(), w.Check()); err != nil || w.Len() != 0 || len(spawned) < len(es) {
		t.Errorf("%d entities, %d were spawned, %v", w.Len(), len(spawned), err)
	}
	if o.Stop(); len(newEntities(t, w, 10)) != w.Len() {
		t.Errorf("%d entities after Reset", w.Len())
	}
}

func TestObserver_CommandsGivenDuringApplyAreCarriedOutByIt(t *testing.T) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
	pos, br := mustRegisterTest[position](t, w), mustRegisterTest[brain](t, w)
	cmd, depth := w.Commands(), 0
	again := func() {
		if depth++; depth < 100 {
			e, _ := cmd.Spawn()
			AddTo(cmd, pos, e, position{X: float32(depth)})
			AddTo(cmd, br, e, brain{Name: "again"})
			cmd.Destroy(e)
		}
	}
	w.OnRemove(func(Entity) { again() })
	e := must[Entity](t)(w.NewEntity())
	cmd.Destroy(e)
	if err := cmd.Apply(); err != nil || depth != 100 || w.Len() != 0 || cmd.Len() != 0 || w.Check() != nil {
		t.Errorf("%v, %d deep, %d entities, %v", err, depth, w.Len(), w.Check())
	}
	depth = 98
	pos.OnRemove(func(Entity, *position) { again() })
	if err := pos.Add(must[Entity](t)(cmd.Spawn()), position{}); err != nil {
		t.Fatal(err)
	}
	if cmd.Discard(); cmd.Len() != 4 || w.Len() != 1 {
		t.Errorf("%d commands of observers wait behind Discard, not 4", cmd.Len())
	}
}

func TestObservers_MisuseIsNamed(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	pos := mustRegisterTest[position](t, w)
	for _, c := range []change{
		{"OnCreate", func() { w.OnCreate(nil) }}, {"OnRemove", func() { w.OnRemove(nil) }},
		{"OnAdd", func() { pos.OnAdd(nil) }}, {"OnRemove", func() { pos.OnRemove(nil) }}, {"OnSet", func() { pos.OnSet(nil) }},
	} {
		if text := misuse(t, c.f); text != "ecs."+c.op+": the function is nil" {
			t.Error(text)
		}
	}
	o := w.OnCreate(func(Entity) {})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if text := misuse(t, func() { w.OnCreate(func(Entity) {}) }); text != "ecs.OnCreate: the world is closed" {
		t.Error(text)
	}
	if o.Stop(); w.observers.observed != 0 || w.Check() != nil {
		t.Error(w.Check())
	}
}

func TestObservers_TellingAllocatesNothing(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	pos, m := mustRegisterTest[position](t, w), NewMap1[position](w)
	n := 0
	w.OnCreate(func(Entity) { n++ })
	pos.OnAdd(func(Entity, *position) { n++ })
	pos.OnSet(func(Entity, *position) { n++ })
	pos.OnRemove(func(Entity, *position) { n++ })
	if a := testing.AllocsPerRun(100, func() {
		e, _ := m.NewEntity(position{})
		pos.Set(e, position{})
		w.Remove(e)
	}); a != 0 || n != 101*4 {
		t.Errorf("%v allocations, told %d", a, n)
	}
}

func TestCheck_NamesEachCorruptionOfObservers(t *testing.T) {
	for _, c := range []struct {
		want    string
		corrupt func(w *World, o *Observer)
	}{
		{"kind 0 has 0, the book says 0x5", func(w *World, _ *Observer) { w.observers.observed |= 1 }},
		{"kind 2 has 1, the book says 0x0", func(w *World, _ *Observer) { w.observers.observed = 0 }},
		{"is watched in kind 2, the book says 0x4", func(w *World, _ *Observer) { w.observers.watched[addEvent] = maskBit(2) }},
		{"is of kind 3", func(_ *World, o *Observer) { o.kind++ }},
		{"stopped true", func(_ *World, o *Observer) { o.w = nil }},
		{"component 3, stopped false", func(_ *World, o *Observer) { o.id = 3 }},
		{"number 0 of kind 2", func(_ *World, o *Observer) { o.size++ }},
		{"number 1 of kind 2", func(w *World, o *Observer) { w.observers.lists[addEvent] = append(w.observers.lists[addEvent], o) }},
		{"with 0 fills, 1 observers", func(w *World, _ *Observer) { w.guard.notifying++ }},
	} {
		w, _ := newTestWorld(t, Config{})
		o := mustRegisterTest[position](t, w).OnAdd(func(Entity, *position) {})
		c.corrupt(w, o)
		if err := w.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Check says %v, want %q", err, c.want)
		}
		w.observers, w.guard.notifying = observers{}, 0 // a ruined world is not closed otherwise
	}
}

// TestObserver_IsNotMadeWithinAlloc, where an addition that is half done would be told as a write.
func TestObserver_IsNotMadeWithinAlloc(t *testing.T) {
	w, mem := newTestWorld(t, Config{})
	pos, vel, m := mustRegisterTest[position](t, w), mustRegisterTest[velocity](t, w), NewMap2[position, velocity](w)
	e := must[Entity](t)(NewMap1[position](w).NewEntity(position{}))
	asked, told := 0, ""
	mem.onAlloc = func() {
		asked++
		for op, make := range map[string]func(){
			"OnAdd":    func() { vel.OnAdd(func(Entity, *velocity) { told += "add" }) },
			"OnSet":    func() { vel.OnSet(func(Entity, *velocity) { told += "set" }) },
			"OnRemove": func() { pos.OnRemove(func(Entity, *position) {}) },
			"OnCreate": func() { w.OnCreate(func(Entity) {}) },
		} {
			if text := misuse(t, make); text != "ecs."+op+": the allocator called the world" {
				t.Errorf("%s: %q", op, text)
			}
		}
	}
	if err := m.Add(e, position{}, velocity{}); err != nil {
		t.Fatal(err)
	}
	if mem.onAlloc = nil; asked != 1 || told != "" || w.observers.observed != 0 {
		t.Errorf("asked %d times, told %q", asked, told)
	}
	vel.OnAdd(func(Entity, *velocity) { told += "add" })
	if _, err := vel.Remove(e); err != nil || m.Add(e, position{}, velocity{}) != nil || told != "add" {
		t.Errorf("%v, told %q", err, told)
	}
}
