package ecs

import (
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

// trackAll has w track types of all kinds.
func trackAll(t testing.TB, w *World) {
	t.Helper()
	pos, arm, br := mustRegisterTest[position](t, w), mustRegisterTest[armour](t, w), mustRegisterTest[brain](t, w)
	vel, tag := mustRegisterTest[velocity](t, w), mustRegisterTest[burning](t, w)
	if err := w.Track(pos.ID(), br.ID(), tag.ID(), arm.ID(), vel.ID()); err != nil {
		t.Fatal(err)
	}
}

// changedOf returns the entities at which the component was written after since.
func changedOf(w *World, since Tick, ids ...ID) (es []Entity) {
	for e := range NewFilterOf(w, ids[0]).ChangedSince(since, ids[0]).All() {
		es = append(es, e)
	}
	return es
}

// TestTicks_NoteEachWriteOnceAndNothingElse goes through all that writes, and some that does not.
func TestTicks_NoteEachWriteOnceAndNothingElse(t *testing.T) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
	trackAll(t, w)
	child := mustRelation[childOf](t, w)
	heat := must[ID](t)(w.RegisterSize("heat", 12, 4))
	if err := w.Track(child.ID(), heat); err != nil {
		t.Fatal(err)
	}
	pos, br, tag := mustRegisterTest[position](t, w), mustRegisterTest[brain](t, w), mustRegisterTest[burning](t, w)
	m, one := NewMap2[position, brain](w), NewMap1[position](w)
	kids := NewMap2[position, childOf](w)
	all, brains := NewFilter1[position](w), NewFilter1[brain](w)
	cmd := w.Commands()
	var e, f, g Entity
	step := func(name, want string, do func()) {
		t.Helper()
		since := w.Tick()
		do()
		got := ""
		for _, c := range []struct {
			name string
			id   ID
		}{{"pos", pos.ID()}, {"brain", br.ID()}, {"tag", tag.ID()}, {"child", child.ID()}, {"heat", heat}} {
			if es := changedOf(w, since, c.id); len(es) > 0 {
				for i := range es {
					switch es[i] {
					case e:
						got += c.name + " e "
					case f:
						got += c.name + " f "
					case g:
						got += c.name + " g "
					default:
						got += c.name + " ? "
					}
				}
			}
		}
		if got = strings.TrimSpace(got); got != want {
			t.Errorf("%s: %q was written, not %q", name, got, want)
		}
		if err := w.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	try := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	step("NewEntity", "pos e brain e", func() { e = must[Entity](t)(m.NewEntity(position{}, brain{})) })
	step("NewEntity", "pos f", func() { f = must[Entity](t)(one.NewEntity(position{})) })
	step("of nothing", "", func() { g = must[Entity](t)(w.NewEntity()) })
	step("nothing", "", func() {})
	step("Get", "", func() { pos.Get(e); m.Get(e); w.Ptr(e, pos.ID()) })
	step("a loop", "", func() {
		for _, p := range all.All() {
			p.X++
		}
	})
	step("Set", "pos f", func() { pos.Set(f, position{}) })
	step("Set of what it has not", "", func() { br.Set(f, brain{}) })
	step("Touch", "pos e", func() {
		if !pos.Touch(e) || br.Touch(f) || pos.Touch(Entity{}) {
			t.Error("Touch")
		}
	})
	step("TouchID", "brain e", func() {
		if !w.TouchID(e, br.ID()) || w.TouchID(e, heat) || w.TouchID(Entity{}, heat) {
			t.Error("TouchID")
		}
	})
	step("Add", "brain f", func() { try(br.Add(f, brain{})) })
	step("Add again", "brain f", func() { try(br.Add(f, brain{})) })
	step("a tag", "tag e", func() { try(tag.Add(e, burning{})) })
	step("a tag again", "tag e", func() { try(tag.Add(e, burning{})) })
	step("Remove", "", func() { must[bool](t)(br.Remove(f)); must[bool](t)(tag.Remove(e)) })
	step("Map.Add", "pos f brain f", func() { try(m.Add(f, position{}, brain{})) })
	step("Exchange", "tag f", func() { try(NewMap1[burning](w).Removes(br.ID()).Exchange(f, burning{})) })
	step("Exchange again", "tag f", func() { try(NewMap1[burning](w).Removes(br.ID()).Exchange(f, burning{})) })
	step("AddID", "heat e", func() { must[unsafe.Pointer](t)(w.AddID(e, heat)) })
	step("AddID again", "", func() { must[unsafe.Pointer](t)(w.AddID(e, heat)) })
	step("CopyEntity", "pos g brain g heat g", func() { g = must[Entity](t)(w.CopyEntity(e)) })
	step("AddAll", "brain f brain e brain g", func() { must[int](t)(NewMap1[brain](w).AddAll(all, brain{})) })
	step("RemoveAll", "", func() { must[int](t)(NewMap1[brain](w).RemoveAll(NewFilter1[burning](w))) })
	step("AddAll of some", "brain f brain e brain g", func() { must[int](t)(NewMap1[brain](w).AddAll(all, brain{})) })
	step("ExchangeAll", "tag f tag e tag g", func() {
		must[int](t)(NewMap1[burning](w).Removes(heat).ExchangeAll(brains, burning{}))
	})
	step("commands", "pos e brain f", func() {
		AddTo(cmd, pos, e, position{})
		RemoveFrom(cmd, tag, e)
		AddTo(cmd, br, f, brain{})
		RemoveFrom(cmd, pos, g)
		try(cmd.Apply())
	})
	step("taken back", "", func() {
		AddTo(cmd, pos, g, position{})
		RemoveFrom(cmd, pos, g)
		try(cmd.Apply())
	})
	step("Spawn", "pos g", func() {
		g = must[Entity](t)(cmd.Spawn())
		AddTo(cmd, pos, g, position{})
		try(cmd.Apply())
	})
	step("a relation", "child e", func() { try(child.Add(e, childOf{}, f)) })
	step("a relation again", "child e", func() { try(child.Add(e, childOf{}, f)) })
	step("SetTarget", "child e", func() { must[bool](t)(child.SetTarget(e, g)) })
	step("SetTarget again", "child e", func() { must[bool](t)(child.SetTarget(e, g)) })
	step("RelateID", "child f", func() { must[unsafe.Pointer](t)(w.RelateID(f, child.ID(), g)) })
	step("RelateID again", "child f", func() { must[unsafe.Pointer](t)(w.RelateID(f, child.ID(), g)) })
	step("SetTargetAll", "child e child f", func() {
		must[bool](t)(child.SetTarget(e, f))
		w.Tick()
		must[int](t)(child.SetTargetAll(all, g))
	})
	step("of a mapper", "pos e child e", func() { try(kids.To(child.ID(), f).Add(e, position{}, childOf{})) })
	step("SetTargetOf", "child e", func() { SetTargetOf(cmd, child, e, g); try(cmd.Apply()) })
	step("a stale target", "", func() { SetTargetOf(cmd, child, e, Entity{}); try(cmd.Apply()) })
	step("Remove", "", func() { w.Remove(f) })
	step("Chunks that write", "pos g pos e", func() {
		for _, ps := range NewFilter1[position](w).Writes(pos.ID(), tag.ID()).Chunks() {
			ps[0].X++
		}
	})
	step("a query that writes", "brain e", func() {
		q := NewFilter1[brain](w).Writes(br.ID()).With(pos.ID()).Query()
		q.Next()
		q.Close()
	})
	step("a pass that writes", "pos g pos e", func() {
		NewFilter1[position](w).Writes(pos.ID()).Parallel(newTestWorkers(t, 2), func(*Task, []Entity, []position) {})
	})
	step("Set in a pass", "brain e", func() {
		brains.With(pos.ID()).Parallel(newTestWorkers(t, 1), func(_ *Task, es []Entity, _ []brain) { br.Set(es[0], brain{}) })
	})
	step("Len and EntityAt", "", func() { writing := NewFilter1[position](w).Writes(pos.ID()); writing.Len(); writing.EntityAt(1) })
	step("NewBatch", "pos ? pos ?", func() { try(one.NewBatch(2, nil)) })
	step("Reset", "", func() { w.Reset() })
}

// TestTicks_TravelWithTheirRows removes, moves and fills up rows of chunks of many sizes.
func TestTicks_TravelWithTheirRows(t *testing.T) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
	trackAll(t, w)
	m, pos, vel := NewMap2[position, brain](w), mustRegisterTest[position](t, w), NewMap1[velocity](w)
	want := map[Entity]uint64{}
	all := NewFilter1[position](w)
	for range 600 {
		want[must[Entity](t)(m.NewEntity(position{}, brain{}))] = w.store.tick
		w.Tick()
	}
	expect := func(name string) {
		t.Helper()
		for e := range all.All() {
			if got := w.store.stamps(w.store.index.find(e).loc, 1, pos.ID())[0]; uint64(got) != want[e] {
				t.Fatalf("%s: %v was written at %d, not %d", name, e, got, want[e])
			}
		}
		if err := w.Check(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	expect("created")
	for i, e := range entities(w, all) {
		switch {
		case i%3 == 0:
			w.Remove(e)
		case i%7 == 0:
			if err := vel.Add(e, velocity{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	expect("moved")
	must[int](t)(vel.AddAll(all, velocity{}))
	expect("AddAll")
	must[int](t)(NewMap1[brain](w).RemoveAll(all))
	expect("RemoveAll")
	w.RemoveAll(NewFilter1[position](w).Without(vel.mapper.ids[0]))
	expect("removed")
	w.Shrink()
	expect("shrunk")
}

// TestTicks_RunOver has the counter near its edges: no old stamp is ever taken for a new one.
func TestTicks_RunOver(t *testing.T) {
	for _, start := range []uint64{1, 1<<30 - 2, 1<<31 - 3, 1<<32 - 3, 1<<32 + 1<<31 - 2, 1<<40 - 2} {
		w, _ := newTestWorld(t, Config{})
		trackAll(t, w)
		w.store.tick, w.store.clamped = start, start
		m := NewMap1[position](w)
		pos := m.mapper.ids[0]
		var es []Entity
		var before []Tick
		for range 6 {
			before = append(before, w.Tick())
			es = append(es, must[Entity](t)(m.NewEntity(position{})))
		}
		for _, s := range before {
			if s == 0 {
				t.Errorf("start %d: a Tick is zero", start)
			}
		}
		for i, s := range before {
			if got := changedOf(w, s, pos); !slices.Equal(got, es[i:]) {
				t.Errorf("start %d: %v changed since moment %d", start, got, i)
			}
		}
		last := w.Tick()
		for step := range 40 { // 1<<30 ticks each
			if w.store.tick = w.store.clamped + clampEvery - 1; Tick(w.store.tick) == 0 {
				w.store.tick--
			}
			now := w.Tick()
			if err := w.Check(); err != nil {
				t.Fatalf("start %d, step %d: %v", start, step, err)
			}
			if got := changedOf(w, now, pos); len(got) != 0 {
				t.Fatalf("start %d, step %d: %v changed since now", start, step, got)
			}
			if got := changedOf(w, now-5, pos); len(got) != 0 {
				t.Fatalf("start %d, step %d: %v changed since a moment ago", start, step, got)
			}
			if got := changedOf(w, 0, pos); len(got) != 6 {
				t.Fatalf("start %d, step %d: %v were ever written", start, step, got)
			}
			if got := changedOf(w, before[2], pos); step < 1 && !slices.Equal(got, es[2:]) {
				t.Fatalf("start %d, step %d: %v changed since long ago", start, step, got)
			}
			if got := changedOf(w, last, pos); step < 3 && len(got) != 0 {
				t.Fatalf("start %d, step %d: %v changed since the last of them was written", start, step, got)
			}
			fresh := must[Entity](t)(m.NewEntity(position{}))
			if got := changedOf(w, now, pos); len(got) != 1 || got[0] != fresh {
				t.Fatalf("start %d, step %d: %v changed, not %v", start, step, got, fresh)
			}
			if got := changedOf(w, Tick(w.store.tick+7), pos); !slices.Contains(got, fresh) {
				t.Fatalf("start %d, step %d: a Tick that is to come is taken for a new one", start, step)
			}
			w.Remove(fresh)
		}
	}
}

// TestTicks_AreThereBeforeAnyoneIsTold has observers and callbacks look, and panic.
func TestTicks_AreThereBeforeAnyoneIsTold(t *testing.T) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
	trackAll(t, w)
	m, pos, br := NewMap2[position, brain](w), mustRegisterTest[position](t, w), mustRegisterTest[brain](t, w)
	all, tag := NewFilter1[position](w), mustRegisterTest[burning](t, w)
	one := NewMap1[brain](w)
	since, want, told := Tick(0), 0, 0
	id := pos.ID()
	look := func(Entity) {
		if told++; NewFilterOf(w, id).ChangedSince(since, id).Len() != want {
			t.Fatalf("%d are noted, not %d", NewFilterOf(w, id).ChangedSince(since, id).Len(), want)
		}
		if told%40 == 0 {
			panic("hook")
		}
	}
	w.OnCreate(look)
	br.OnAdd(func(e Entity, _ *brain) { look(e) })
	br.OnSet(func(e Entity, _ *brain) { look(e) })
	step := func(name string, of ID, n int, f func()) {
		t.Helper()
		since, want, id, told = w.Tick(), n, of, 0
		if r := caught(f); r != nil && r != "hook" {
			t.Fatalf("%s: %v", name, r)
		}
		if got := changedOf(w, since, of); len(got) != n || told == 0 {
			t.Errorf("%s: %d are noted, not %d, %d were told", name, len(got), n, told)
		}
		if err := w.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	step("NewBatch", pos.ID(), 100, func() { m.NewBatch(100, nil) })
	step("NewColumns", br.ID(), 90, func() { m.NewColumns(90, func([]Entity, []position, []brain) {}) })
	step("a fill that panics", br.ID(), 70, func() {
		m.NewColumns(70, func(es []Entity, _ []position, _ []brain) {
			if len(changedOf(w, since, br.ID())) != 70 {
				t.Error("not all entities of a batch are noted while it is filled")
			}
			panic("hook")
		})
	})
	step("AddAll of what they have", br.ID(), 260, func() { one.AddAll(all, brain{}) })
	es := entities(w, all)
	if _, err := one.RemoveAll(all); err != nil {
		t.Fatal(err)
	}
	step("AddAll", br.ID(), 260, func() { one.AddAll(all, brain{}) })
	for i, e := range es[:30] {
		if _, err := br.Remove(e); err != nil {
			t.Fatal(err)
		}
		step("Add", br.ID(), 1, func() { br.Add(e, brain{}) })
		step("Set", br.ID(), 1, func() { br.Set(e, brain{}) })
		told += i
		step("NewEntity", br.ID(), 1, func() { m.NewEntity(position{}, brain{}) })
		step("CopyEntity", br.ID(), 1, func() { w.CopyEntity(e) })
		step("Exchange", br.ID(), 1, func() { one.Removes(tag.ID()).Exchange(e, brain{}) })
	}
	// What is written in a fill behind a tick is newer than it.
	var within Tick
	if r := caught(func() {
		NewMap1[velocity](w).NewBatch(3, func(i int, _ *velocity) {
			if i == 1 {
				within = w.Tick()
			}
		})
	}); r != nil && r != "hook" || within == 0 {
		t.Error(r)
	}
	if got := changedOf(w, within, mustRegisterTest[velocity](t, w).ID()); len(got) != 3 {
		t.Errorf("%v were written when the batch was filled", got)
	}
}

// TestWorld_TrackedWorldsBearWhatOthersBear runs the scenarios of memory and hooks that fail at each step.
func TestWorld_TrackedWorldsBearWhatOthersBear(t *testing.T) {
	testenv.Long(t)
	refused, panics := 0, 0
	for _, persist := range []bool{false, true} {
		for _, largest := range []int{1024, 0} {
			refused += everyRefusal(t, Config{ChunkBytes: 1024, MaxChunkBytes: largest}, persist, func(w *World, step stepper) {
				trackAll(t, w)
				runScenario(t, w, step)
			})
		}
	}
	for _, inFree := range []bool{false, true} {
		panics += everyPanic(t, Config{ChunkBytes: 1024}, inFree, func(w *World, step stepper) {
			trackAll(t, w)
			life(t, w, step)
		})
	}
	if refused < 30 || panics < 20 {
		t.Errorf("%d requests failed, %d hooks panicked", refused, panics)
	}
}
