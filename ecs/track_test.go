package ecs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// TestTrack_AllOrNothing refuses what comes too late or is too much.
func TestTrack_AllOrNothing(t *testing.T) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
	pos, br, vel := mustRegisterTest[position](t, w), mustRegisterTest[brain](t, w), mustRegisterTest[velocity](t, w)
	m := NewMap1[velocity](w)
	e := must[Entity](t)(m.NewEntity(velocity{}))
	for _, gone := range []bool{false, true} {
		if gone {
			w.Remove(e)
		}
		err := w.Track(pos.ID(), vel.ID())
		if err == nil || err.Error() != "ecs: an archetype already has component ecs.velocity; call Track before any entity has it" {
			t.Errorf("gone %v: %v", gone, err)
		}
	}
	if w.Stats().Components != 3 || !w.store.tracked.empty() || w.observers.observed != 0 {
		t.Fatal("Track has tracked some")
	}
	for _, err := range []error{w.Track(), w.Track(pos.ID()), w.Track(br.ID(), pos.ID()), w.Track(br.ID())} {
		if err != nil {
			t.Error(err)
		}
	}
	if w.Stats().Components != 5 {
		t.Errorf("%d components", w.Stats().Components)
	}
	large := must[ID](t)(w.RegisterSize("large", 1000, 8))
	if err := w.Track(large); !errors.Is(err, memory.ErrTooLarge) || !strings.Contains(err.Error(), "component large of 1000 bytes and its ticks do not fit a chunk of 1024") {
		t.Error(err)
	}
	fits := must[ID](t)(w.RegisterSize("fits", 992, 16))
	if err := w.Track(fits); err != nil {
		t.Error(err)
	}
	if _, err := w.AddID(must[Entity](t)(w.NewEntity()), fits); err != nil {
		t.Error(err)
	}
	if _, err := w.AddID(must[Entity](t)(w.NewEntity()), large); err != nil {
		t.Error(err)
	}
	var last []ID
	for i := len(w.store.comps); i < MaxComponents-1; i++ {
		last = append(last, must[ID](t)(w.RegisterSize(fmt.Sprint("number ", i), 4, 4)))
	}
	if err := w.Track(last[0], last[1]); !errors.Is(err, ErrTooManyComponents) || len(w.store.comps) != MaxComponents-1 {
		t.Errorf("%v, %d components", err, len(w.store.comps))
	}
	if err := w.Track(last[0]); err != nil {
		t.Error(err)
	}
	if err := w.Track(last[1]); !errors.Is(err, ErrTooManyComponents) {
		t.Error(err)
	}
	if _, err := Register[odd](w); !errors.Is(err, ErrTooManyComponents) {
		t.Error(err)
	}
	if _, err := w.AddID(must[Entity](t)(w.NewEntity()), last[0]); err != nil {
		t.Error(err)
	}
}

// TestTicks_AreNoComponents tries to get at companions by their IDs and names.
func TestTicks_AreNoComponents(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	pos := mustRegisterTest[position](t, w)
	if err := w.Track(pos.ID()); err != nil {
		t.Fatal(err)
	}
	br := mustRegisterTest[brain](t, w)
	m := NewMap2[position, brain](w)
	e := must[Entity](t)(m.NewEntity(position{}, brain{}))
	if ids := slices.Collect(w.IDs()); !slices.Equal(ids, []ID{pos.ID(), br.ID()}) {
		t.Error(ids)
	}
	line := w.Column(1)
	id := line.ID
	if line != (ColumnStats{Name: "ticks of ecs.position", ID: id, Size: 4, Entities: 1, Archetypes: 1, BytesUsed: 4, BytesCapacity: 4 * uint64(w.store.rowsAt(m.mapper.table, 0, 0))}) || id != w.store.comps[0].ticks.id {
		t.Errorf("%+v", line)
	}
	if _, ok := w.ID(line.Name); ok || w.Ptr(e, id) != nil || w.HasID(e, id) || w.TouchID(e, id) || w.Archetype(1).Has(id) {
		t.Error("a companion is found")
	}
	if _, ok := w.TargetID(e, id); ok {
		t.Error("a companion has a target")
	}
	for name, f := range map[string]func(){
		"With":         func() { NewFilter1[position](w).With(id) },
		"Without":      func() { NewFilter1[position](w).Without(id) },
		"NewFilterOf":  func() { NewFilterOf(w, pos.ID(), id) },
		"Removes":      func() { NewMap1[brain](w).Removes(id) },
		"Name":         func() { w.Name(id) },
		"AddID":        func() { w.AddID(e, id) },
		"RemoveID":     func() { w.RemoveID(e, id) },
		"RelateID":     func() { w.RelateID(e, id, e) },
		"To":           func() { NewFilter1[position](w).To(id, e) },
		"Track":        func() { w.Track(id) },
		"Writes":       func() { NewFilter1[position](w).Writes(id) },
		"ChangedSince": func() { NewFilter1[position](w).ChangedSince(0, id) },
	} {
		if s := misuse(t, f); !strings.Contains(s, "the world does not have this component ID") {
			t.Errorf("%s: %s", name, s)
		}
	}
	if s := w.Stats(); s.BytesUsed != 8+8+4 || w.Archetype(1).RowBytes != 8+8+4 {
		t.Errorf("%+v", s)
	}
}

func TestTicks_MisuseIsNamed(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	pos, vel := mustRegisterTest[position](t, w), mustRegisterTest[velocity](t, w)
	child := mustRelation[childOf](t, w)
	if err := w.Track(pos.ID()); err != nil {
		t.Fatal(err)
	}
	m := NewMap1[position](w)
	e := must[Entity](t)(m.NewEntity(position{}))
	f := NewFilter1[position](w)
	since := f.ChangedSince(0, pos.ID())
	open := NewFilter1[position](w)
	q := open.Query()
	defer q.Close()
	ws := newTestWorkers(t, 1)
	within := func(do func()) func() {
		return func() {
			NewFilter1[position](w).Parallel(ws, func(*Task, []Entity, []position) { do() })
		}
	}
	for _, c := range []struct {
		want string
		do   func()
	}{
		{"ecs.Track: the world does not have this component ID", func() { w.Track(77) }},
		{"ecs.Track: component ecs.velocity is named twice", func() { w.Track(vel.ID(), vel.ID()) }},
		{"ecs.Track: a parallel run", within(func() { w.Track() })},
		{"ecs.Tick: a parallel run", within(func() { w.Tick() })},
		{"ecs.ChangedSince: a parallel run", within(func() { f.ChangedSince(0, pos.ID()) })},
		{"ecs.Writes: a parallel run", within(func() { f.Writes() })},
		{"ecs.ChangedSince: name from 1 to 8 components", func() { f.ChangedSince(0) }},
		{"ecs.ChangedSince: name from 1 to 8 components", func() { f.ChangedSince(0, make([]ID, 9)...) }},
		{"ecs.ChangedSince: component ecs.position is named twice", func() { f.ChangedSince(0, pos.ID(), pos.ID()) }},
		{"ecs.ChangedSince: component ecs.velocity is not tracked; call World.Track before any entity has it", func() { f.ChangedSince(0, pos.ID(), vel.ID()) }},
		{"ecs.ChangedSince: a query over this filter is open", func() { open.ChangedSince(0, pos.ID()) }},
		{"ecs.Writes: a query over this filter is open", func() { open.Writes(pos.ID()) }},
		{"ecs.Writes: the world does not have this component ID", func() { f.Writes(99) }},
		{configuredWithin, func() {
			for range f.All() {
				f.ChangedSince(0, pos.ID())
			}
		}},
	} {
		if s := misuse(t, c.do); !strings.Contains(s, c.want) {
			t.Errorf("%q, not %q", s, c.want)
		}
	}
	q.Close()
	for op, do := range map[string]func(){
		"RemoveAll":    func() { w.RemoveAll(since) },
		"AddAll":       func() { NewMap1[velocity](w).AddAll(since, velocity{}) },
		"ExchangeAll":  func() { NewMap1[velocity](w).ExchangeAll(since, velocity{}) },
		"SetTargetAll": func() { child.SetTargetAll(since, e) },
	} {
		if s := misuse(t, do); !strings.Contains(s, "ecs."+op+": the filter has a ChangedSince, but batch operations change whole archetypes") {
			t.Error(s)
		}
	}
	if s := misuse(t, func() { m.RemoveAll(since) }); !strings.Contains(s, "ecs.RemoveAll: the filter has a ChangedSince") {
		t.Error(s)
	}
	w.Close()
	for _, do := range []func(){func() { w.Tick() }, func() { w.Track() }, func() { f.ChangedSince(0) }, func() { f.Writes() }} {
		if s := misuse(t, do); !strings.Contains(s, closedReason) {
			t.Error(s)
		}
	}
	if pos.Touch(e) || w.TouchID(e, pos.ID()) {
		t.Error("an entity of a closed world")
	}
}

// TestHash_DoesNotDependOnTicks has two worlds do the same, one of which tracks, with types on both sides
// of companions, and rows that fit its chunks differently.
func TestHash_DoesNotDependOnTicks(t *testing.T) {
	var hashes [2]uint64
	for i := range hashes {
		w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
		tag, pos := mustRegisterTest[burning](t, w), mustRegisterTest[position](t, w)
		wide := must[ID](t)(w.RegisterSize("wide", 496, 16)) // two in 1 KiB, and one with ticks
		if i == 1 {
			if err := w.Track(tag.ID(), pos.ID(), wide); err != nil {
				t.Fatal(err)
			}
		}
		child := mustRelation[childOf](t, w)
		full := must[ID](t)(w.RegisterSize("full", 480, 16))
		if i == 1 {
			if err := w.Track(child.ID()); err != nil {
				t.Fatal(err)
			}
		}
		m := NewMap2[position, velocity](w)
		if err := m.NewBatch(700, func(i int, p *position, v *velocity) { p.X, v.Y = float32(i), float32(-i) }); err != nil {
			t.Fatal(err)
		}
		es := entities(w, NewFilter1[position](w))
		for n, e := range es[:90] {
			var err error
			switch n % 3 {
			case 0:
				err = tag.Add(e, burning{})
			case 1:
				_, err = w.AddID(e, wide)
			case 2:
				if err = child.Add(e, childOf{}, es[500]); err == nil && n%2 == 0 {
					_, err = w.AddID(e, full)
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			if w.Tick(); n%9 == 0 {
				w.Remove(e)
			}
		}
		if hashes[i] = w.Hash(0); i == 1 && w.store.companions.empty() {
			t.Error("nothing is tracked")
		}
		pos.Touch(es[600])
		if w.Hash(0) != hashes[i] {
			t.Error("the hash depends on a tick")
		}
	}
	if hashes[0] != hashes[1] {
		t.Errorf("%#x and %#x", hashes[0], hashes[1])
	}
}

func TestCheck_NamesEachInvariantOfTicks(t *testing.T) {
	w, f, since := stretches(t, func(i int) (bool, bool) { return i%5 == 0, false })
	pos, vel := mustRegisterTest[position](t, w), mustRegisterTest[velocity](t, w)
	f.Writes(vel.ID()).ChangedSince(since, pos.ID())
	owner := w.store.comps[pos.ID()]
	companion := owner.ticks
	tab := f.filter.matches[0]
	stamp := &w.store.stamps(tab.chunks[1].number<<rowBits+3, 1, pos.ID())[0]
	for _, c := range []fault{
		{"component 4 id", "ticks of ecs.position has ID 9", set(&companion.id, 99)},
		{"component 4 size", "ticks of ecs.position has ID", set(&companion.size, 8)},
		{"component 4 pointers", "pointers true", set(&companion.pointerful, true)},
		{"component 4 words", "ticks of ecs.position has ID", set(&companion.words, rawWords(4))},
		{"component 4 owner", "ecs.position has the ticks of another", set(&companion.owner, w.store.comps[vel.ID()])},
		{"component 4 another", "ecs.position has the ticks of another", set(&owner.ticks, w.store.comps[vel.ID()].ticks)},
		{"component 4 of a companion", "ticks of ecs.position has the ticks of another", set(&companion.ticks, companion)},
		{"component 4 none", "by name, 4 ticks", set(&companion.owner, nil)},
		{"ticks 1 tracked", "are tracked by", set(&w.store.tracked, w.store.tracked.without(maskBit(pos.ID())))},
		{"ticks 1 hidden", "are tracked by", set(&w.store.companions, w.store.companions.with(maskBit(pos.ID())))},
		{"ticks 2", "are tracked, observed says 0x0", set(&w.observers.observed, 0)},
		{"ticks 3 ahead", "ticks: tick 2, clamped at 3", set(&w.store.clamped, 3)},
		{"ticks 3 late", "ticks: tick 1073741825, clamped at 1", set(&w.store.tick, 1<<30+1)},
		{"ticks 3 zero", "ticks: tick 4294967296, clamped at 4294967290", func() func() {
			a, b := memtest.Keep(&w.store.tick), memtest.Keep(&w.store.clamped)
			w.store.tick, w.store.clamped = 1<<32, 1<<32-6
			return func() { a(); b() }
		}},
		{"ticks 4 newer", "was written at 3, which is 4294967295 ticks before 2", set(stamp, 3)},
		{"ticks 4 older", "was written at 4294967295, which is 3 ticks before 2", set(stamp, ^Tick(0))},
		{"table 1 step", fmt.Sprintf("Hash reads %d rows at once", tab.step+1), set(&tab.step, tab.step+1)},
		{"table 1 mask", "component types", set(&tab.mask, tab.mask.with(w.store.companions))},
		{"observers 3", "observers: the book says 0x60", set(&w.observers.observed, w.observers.observed|1<<6)},
		{"relating", "relations", set(&w.store.relating, maskBit(companion.id))},
	} {
		c.test(t, w.Check)
	}
	for _, c := range []fault{
		{"lookout 1 number", "filter: it looks at 9 ticks", set(&f.filter.nStamps, 9)},
		{"lookout 1 negative", "filter: it looks at -1 ticks", set(&f.filter.nStamps, -1)},
		{"lookout 1 stamps", "filter: tick 0 that it looks at is component 0", set(&f.filter.stampIDs[0], pos.ID())},
		{"lookout 1 writes", "filter: it writes", set(&f.filter.writes, maskBit(companion.id))},
		{"lookout 1 writes more", "filter: it writes", set(&f.filter.writes, maskBit(200))},
		{"lookout 2", "watchful: false", set(&f.filter.usesTicks, false)},
		{"filter 1 deny", "filter: 2 columns", set(&f.filter.deny, maskBit(companion.id))},
	} {
		c.test(t, f.Check)
	}
	quiet := NewFilter1[position](w)
	fault{"lookout 2 quiet", "watchful: true", set(&quiet.filter.usesTicks, true)}.test(t, quiet.Check)
	var stamps [][]Tick
	for i := range tab.used() {
		stamps = append(stamps, w.store.stamps(tab.chunks[i].number<<rowBits, tab.rowsIn(i), pos.ID()))
	}
	if n := memtest.EveryNthBit(t, testenv.Step(4), w.Check, &stamps, &w.store.clock, &w.store.tracked, &w.store.companions, owner, companion); n.Named < n.Flipped*3/4 {
		t.Errorf("%+v", n)
	}
	if n := memtest.EveryNthBit(t, testenv.Step(4), f.Check, &f.filter.tickFilter.nStamps, &f.filter.tickFilter.stampIDs, &f.filter.tickFilter.writes, &f.filter.usesTicks); n.Named < tried(n, 100) {
		t.Errorf("%+v", n)
	}
}
