package ecs

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// TestRelation_TargetsThatComeAndGoReuseTables is the life of bullets: each target once.
func TestRelation_TargetsThatComeAndGoReuseTables(t *testing.T) {
	turns := 100_000
	if testenv.Brief() {
		turns = 5_000
	}
	w, mem := newTestWorld(t, Config{})
	child := mustRelation[childOf](t, w)
	m := NewMap2[position, childOf](w)
	f, all := NewFilter1[position](w), NewFilter1[position](w)
	keeper := must[Entity](t)(w.NewEntity())
	must[Entity](t)(m.To(child.ID(), keeper).NewEntity(position{}, childOf{}))
	add, tag := NewMap1[velocity](w), mustRegisterTest[burning](t, w)
	for i := range turns {
		p := must[Entity](t)(w.NewEntity())
		m.To(child.ID(), p)
		es := [3]Entity{}
		for k := range es {
			es[k] = must[Entity](t)(m.NewEntity(position{float32(i), float32(k)}, childOf{}))
		}
		if err := errors.Join(add.Add(es[1], velocity{}), tag.Add(es[2], burning{})); err != nil {
			t.Fatal(err)
		}
		n := 0
		for e, at := range f.To(child.ID(), p).All() {
			if at.X != float32(i) || e != es[int(at.Y)] {
				t.Fatalf("turn %d meets %v of %v", i, e, at)
			}
			n++
		}
		if n != 3 || all.Len() != 4 {
			t.Fatalf("turn %d meets %d, %d in all", i, n, all.Len())
		}
		w.Remove(p)
		if n := w.RemoveAll(f.ToAny().With(child.ID())); n != 4 {
			t.Fatalf("turn %d removes %d", i, n)
		}
		must[Entity](t)(m.To(child.ID(), keeper).NewEntity(position{}, childOf{}))
		if i%997 == 0 {
			if err := errors.Join(w.Check(), f.Check(), all.Check()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if s := w.Stats(); s.Archetypes > 100 || len(w.store.targetLists) > 100 || len(mem.live) > 100 {
		t.Errorf("%d targets leave %d tables, %d links, %d blocks", turns, s.Archetypes, len(w.store.targetLists), len(mem.live))
	}
}

func TestFirstChunkBytes_SmallFirstAndThenAsTheOthers(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want []uintptr
	}{
		{Config{}, []uintptr{1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20}},
		{Config{ChunkBytes: 8 << 10, MaxChunkBytes: 64 << 10}, []uintptr{1 << 10, 4 << 10, 8 << 10, 32 << 10, 64 << 10}},
		{Config{FirstChunkBytes: 16 << 10}, []uintptr{16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20}},
		{Config{MaxChunkBytes: 16 << 10}, []uintptr{16 << 10}},
		{Config{ChunkBytes: 2 << 10, MaxChunkBytes: 1 << 20}, []uintptr{1 << 10, 2 << 10, 8 << 10, 32 << 10, 128 << 10, 512 << 10, 1 << 20}},
	} {
		w, _ := newTestWorld(t, c.cfg)
		if !slices.Equal(w.store.sizes, c.want) {
			t.Errorf("%+v: chunks of %d", c.cfg, w.store.sizes)
		}
		child := mustRelation[childOf](t, w)
		p := must[Entity](t)(w.NewEntity())
		m := newMapper(w, child.ID(), must[ID](t)(w.RegisterSize("16", 16, 8)))
		m.setTarget(child.ID(), p)
		for range 3000 {
			_, _, err := m.spawn()
			check(t, err)
		}
		var want []uintptr // eight of a size between the first and ChunkBytes, four of each other
		for i, size := range c.want {
			n := perClass
			if i > 0 && i < int(w.store.first) {
				n = 2 * perClass
			}
			want = append(want, slices.Repeat([]uintptr{size}, n)...)
		}
		for i, k := range m.table.chunks {
			if size := w.store.sizes[w.store.chunks[k.number].class]; size != want[min(i, len(want)-1)] {
				t.Errorf("%+v: chunk %d has %d bytes", c.cfg, i, size)
			}
		}
		if k := w.store.tables[0].chunks[0]; w.store.sizes[w.store.chunks[k.number].class] != uintptr(w.store.cfg.FirstChunkBytes) {
			t.Errorf("%+v: without relations a chunk is of class %d", c.cfg, w.store.chunks[k.number].class)
		}
	}
	w, mem := newTestWorld(t, Config{})
	child := mustRelation[childOf](t, w)
	m := newMapper(w, child.ID(), must[ID](t)(w.RegisterSize("large", 1024-int(entityBytes), 1)))
	m.setTarget(child.ID(), must[Entity](t)(w.NewEntity()))
	if err := m.newColumns(3, true, nil); err != nil || w.store.sizes[w.store.chunks[m.table.chunks[0].number].class] != 4096 {
		t.Errorf("%v: a row that does not fit 1 KiB begins with 4", err)
	}
	mem.failNext(true) // where memory is out a chunk that no row fits is no help
	if err := m.newColumns(9, true, nil); !errors.Is(err, memory.ErrOutOfMemory) || w.Check() != nil {
		t.Error(err, w.Check())
	}
	mem.heal()
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{FirstChunkBytes: 512}, "ecs: Config.FirstChunkBytes is 512; it must be a power of two from 1024 to ChunkBytes, 16384"},
		{Config{FirstChunkBytes: 3000}, "FirstChunkBytes is 3000"}, {Config{FirstChunkBytes: -1}, "FirstChunkBytes is -1"},
		{Config{FirstChunkBytes: 32 << 10}, "FirstChunkBytes is 32768"},
	} {
		if _, err := New(mem, c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v", err)
		}
	}
}

// TestRelation_SteadyStateAllocatesNothing turns between targets whose tables are there.
func TestRelation_SteadyStateAllocatesNothing(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	child := mustRelation[childOf](t, w)
	ps := newEntities(t, w, 4)
	e, vel := must[Entity](t)(NewMap1[position](w).NewEntity(position{})), NewMap1[velocity](w)
	m, cmd := NewMap2[position, childOf](w), w.Commands()
	f := NewFilter1[position](w)
	step := func() {
		for _, p := range ps {
			child.Add(e, childOf{}, p)
			vel.Add(e, velocity{})
			child.SetTarget(e, ps[0])
			vel.Remove(e)
			child.Remove(e)
			n, _ := m.To(child.ID(), p).NewEntity(position{}, childOf{})
			AddRelation(cmd, child, n, childOf{}, ps[1])
			SetTargetOf(cmd, child, n, p)
			cmd.Apply()
			child.SetTargetAll(f, ps[2])
			w.Remove(n)
		}
	}
	step()
	if n := testing.AllocsPerRun(50, step); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// A way that a mapper or a table remembers leads nowhere once a table on it is another target's.
func TestRelation_WaysAreForgottenWithTheTablesThatAreRetired(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	child := mustRelation[childOf](t, w)
	m, vel, some, health1 := NewMap2[position, childOf](w), NewMap1[velocity](w), NewMap1[position](w), mustRegisterTest[health](t, w)
	tableOf := func(e Entity) *table { return w.store.tableAt(w.store.index.find(e).loc) }
	// next makes an entity of a new target until its table is the one given.
	next := func(want *table, m *Map2[position, childOf]) (e, p Entity) {
		for range 100 {
			p = must[Entity](t)(w.NewEntity())
			e = must[Entity](t)(m.To(child.ID(), p).NewEntity(position{}, childOf{}))
			if want == nil || tableOf(e) == want {
				return e, p
			}
			w.Remove(e)
			w.Remove(p)
		}
		t.Fatal("the table is not used again")
		return
	}
	for name, move := range map[string]func(e Entity) error{
		"Map.Add":       func(e Entity) error { return vel.Add(e, velocity{}) },
		"Map.Exchange":  func(e Entity) error { return vel.Exchange(e, velocity{}) },
		"Map.Remove":    func(e Entity) error { _, err := some.Remove(e); return err },
		"Component.Add": func(e Entity) error { return health1.Add(e, health{}) },
		"Apply": func(e Entity) error {
			AddTo(w.Commands(), health1, e, health{})
			return w.Commands().Apply()
		},
	} {
		e, p := next(nil, m)
		from := tableOf(e)
		if err := move(e); err != nil {
			t.Fatal(err)
		}
		w.Remove(p) // e stays where it went, and where it was is used again
		e, p = next(from, m)
		if err := move(e); err != nil {
			t.Fatal(err)
		}
		if at, ok := child.Target(e); !ok || at != p {
			t.Errorf("%s: the target of %v is %v, not %v", name, e, at, p)
		}
		if err := w.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The other way round: where the way leads to is used again.
func TestRelation_WaysToTablesThatAreRetiredAreMadeAnew(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	child, c := mustRelation[childOf](t, w), mustRegisterTest[velocity](t, w)
	m, vel := NewMap2[position, childOf](w), NewMap1[velocity](w)
	tableOf := func(e Entity) *table { return w.store.tableAt(w.store.index.find(e).loc) }
	for name, add := range map[string]func(Entity, velocity) error{"Map": vel.Add, "Component": c.Add} {
		wayThatLeadsElsewhere(t, name, w, child, m, tableOf, add)
	}
}

func wayThatLeadsElsewhere(t *testing.T, name string, w *World, child Relation[childOf], m *Map2[position, childOf], tableOf func(Entity) *table, add func(Entity, velocity) error) {
	p := must[Entity](t)(w.NewEntity())
	e := must[Entity](t)(m.To(child.ID(), p).NewEntity(position{}, childOf{}))
	stay := must[Entity](t)(m.NewEntity(position{}, childOf{}))
	if err := add(e, velocity{}); err != nil {
		t.Fatal(err)
	}
	to := tableOf(e)
	w.Remove(e)
	w.Remove(p)
	for i := 0; ; i++ {
		q := must[Entity](t)(w.NewEntity())
		e := must[Entity](t)(m.To(child.ID(), q).NewEntity(position{}, childOf{}))
		check(t, mustRegisterTest[velocity](t, w).Add(e, velocity{}))
		if tableOf(e) == to {
			break
		}
		w.Remove(e)
		w.Remove(q)
		if i == 100 {
			t.Fatal("the table is not used again")
		}
	}
	if err := add(stay, velocity{}); err != nil || tableOf(stay) == to || tableOf(stay).targets[0] != p || w.Check() != nil {
		t.Errorf("%s: %v, it went to the table of %v, not %v", name, err, tableOf(stay).targets, p)
	}
}

func TestArchetypeStats_KnowsTargets(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	child, like, friend := mustRelation[childOf](t, w), mustRelation[likes](t, w), mustRelation[knows](t, w)
	es := newEntities(t, w, 3)
	for _, err := range []error{child.Add(es[0], childOf{}, es[1]), friend.Add(es[0], knows{}, es[2])} {
		if err != nil {
			t.Fatal(err)
		}
	}
	i := w.store.tableAt(w.store.index.find(es[0]).loc).index
	expect := func(name string, r ID, want Entity) {
		t.Helper()
		if to, ok := w.Archetype(i).Target(r); to != want && ok || ok != !want.IsZero() {
			t.Errorf("%s: relation %d is to %v, %v, not %v", name, r, to, ok, want)
		}
	}
	w.Remove(es[1])
	expect("stale", child.ID(), es[1])
	expect("living", friend.ID(), es[2])
	expect("none", like.ID(), Entity{})
	must[bool](t)(child.Remove(es[0]))
	w.store.sweep(w.store.tables[i].variants)
	expect("retired", child.ID(), Entity{})
	expect("retired", friend.ID(), Entity{})
	i = 0
	expect("without relations", child.ID(), Entity{})
}

// TestFirstChunkBytes_ThousandChildrenLeaveLittleRoom has 1,000 children of 24 bytes for each target.
func TestFirstChunkBytes_ThousandChildrenLeaveLittleRoom(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	child := mustRelation[childOf](t, w)
	m := newMapper(w, child.ID(), must[ID](t)(w.RegisterSize("16", 16, 8)))
	for range 10 {
		m.setTarget(child.ID(), must[Entity](t)(w.NewEntity()))
		for range 1000 {
			_, _, err := m.spawn()
			check(t, err)
		}
	}
	if s := w.Stats(); s.BytesUsed < 240_000 || s.BytesCapacity > s.BytesUsed*11/10 {
		t.Errorf("%d bytes of chunks for %d of rows", s.BytesCapacity, s.BytesUsed)
	}
}
