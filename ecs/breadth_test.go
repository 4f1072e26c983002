package ecs

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

func TestExclusive_FollowsWithAndNewArchetypes(t *testing.T) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
	vel := mustRegisterTest[velocity](t, w)
	f := NewFilter1[position](w).Exclusive()
	must[Entity](t)(NewMap1[position](w).NewEntity(position{}))
	e := must[Entity](t)(NewMap2[position, velocity](w).NewEntity(position{}, velocity{}))
	check(t, newBatch(w, 1, mustRegisterTest[position](t, w).ID(), vel.ID(), mustRegisterTest[health](t, w).ID()))
	if n := f.Len(); n != 1 || f.Check() != nil {
		t.Errorf("%d match, %v", n, f.Check())
	}
	if f.With(vel.ID()); f.Len() != 1 || f.EntityAt(0) != e || f.Check() != nil {
		t.Errorf("%d match, %v", f.Len(), f.Check())
	}
	f.filter.exact = false
	if f.Check() == nil {
		t.Error("Check does not see that Exclusive is gone")
	}
	f.filter.exact = true
	q := f.Query()
	if text := misuse(t, func() { f.Exclusive() }); text != "ecs.Exclusive: a query over this filter is open; narrow a filter before its queries, or create another" {
		t.Error(text)
	}
	q.Close()
	text := misuse(t, func() {
		for range f.All() {
			f.Exclusive()
		}
	})
	if text != configuredWithin {
		t.Error(text)
	}
}

func TestEntityAt_IsTheOrderOfAll(t *testing.T) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
	f := NewFilter1[position](w)
	for _, n := range []int{300, 0, 77} {
		if err := NewMap1[position](w).NewBatch(n, nil); err != nil {
			t.Fatal(err)
		}
		if err := NewMap2[position, velocity](w).NewBatch(n, nil); err != nil {
			t.Fatal(err)
		}
	}
	i := 0
	for e := range f.All() {
		if f.EntityAt(i) != e {
			t.Fatalf("number %d is %v, not %v", i, f.EntityAt(i), e)
		}
		i++
	}
	if i != 754 {
		t.Fatalf("%d entities", i)
	}
	for at, want := range map[int]string{-1: "ecs.EntityAt: there is no entity -1 of 754", 754: "ecs.EntityAt: there is no entity 754 of 754"} {
		if text := misuse(t, func() { f.EntityAt(at) }); text != want {
			t.Errorf("%q, want %q", text, want)
		}
	}
}

func TestColumn_TakesPartsOfChunksAndNothingElse(t *testing.T) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
	vel, br := mustRegisterTest[velocity](t, w), mustRegisterTest[brain](t, w)
	check(t, newBatch(w, 100, mustRegisterTest[position](t, w).ID(), vel.ID(), br.ID()))
	n := float32(0)
	for _, v := range NewFilter1[velocity](w).All() {
		v.X = n
		n++
	}
	at := 0
	for es := range NewFilter1[position](w).Chunks() {
		if vs, bs := vel.Column(es), br.Column(es[1:3]); len(vs) != len(es) || vs[0].X != float32(at) || len(bs) != 2 {
			t.Errorf("%d of %d, from %v", len(vs), len(es), vs[0].X)
		}
		if vs := vel.Column(es[3:5]); len(vs) != 2 || vs[1].X != float32(at+4) {
			t.Error(vs)
		}
		if mustRegisterTest[armour](t, w).Column(es) != nil || vel.Column(nil) != nil || vel.Column(es[:0]) != nil {
			t.Error("a column out of nothing")
		}
		at += len(es)
		for name, part := range map[string][]Entity{"a copy": {es[0]}, "the dead": {{}}, "one too many": unsafe.Slice(&es[0], len(es)+1)} {
			if text := misuse(t, func() { vel.Column(part) }); text != "ecs.Column: the entities are no part of a chunk; take them from Chunks or Columns" {
				t.Errorf("%s: %q", name, text)
			}
		}
	}
}

func TestCopyEntity_CopiesEachValueOrNothing(t *testing.T) {
	w, mem := newTestWorld(t, Config{ChunkBytes: 1024, MaxEntities: 200})
	dirty(mem, 8)
	n := 7
	m, odds := NewMap4[position, armour, brain, burning](w), mustRegisterTest[odd](t, w)
	e := must[Entity](t)(m.NewEntity(position{7, 8}, armour{1, 2, 3}, brain{Name: "one", Target: &n}, burning{}))
	check(t, odds.Add(e, odd{4, 5, 6}))
	for i := 1; ; i++ {
		twin, err := w.CopyEntity(e)
		if i == 200 {
			if !errors.Is(err, ErrLimit) || w.Len() != 200 {
				t.Errorf("%v with %d", err, w.Len())
			}
			break
		}
		p, a, b, _, ok := m.Get(twin)
		o, has := odds.Get(twin)
		if err != nil || !ok || !has || *p != (position{7, 8}) || *a != (armour{1, 2, 3}) || *o != (odd{4, 5, 6}) || *b != (brain{Name: "one", Target: &n}) {
			t.Fatalf("%v: %v %v %v %v", err, p, a, o, b)
		}
		a.Kind++ // the copy is one of its own
		b.Name = "two"
	}
	w.Remove(e)
	if _, err := w.CopyEntity(e); err != ErrStale {
		t.Error(err)
	}
	if err := w.Check(); err != nil {
		t.Error(err)
	}
	w.Reset()
	bare := must[Entity](t)(w.NewEntity())
	if twin := must[Entity](t)(w.CopyEntity(bare)); !w.Alive(twin) || twin == bare {
		t.Error("an entity without components has no twin")
	}
	e = must[Entity](t)(m.NewEntity(position{}, armour{}, brain{}, burning{}))
	for range m.mapper.table.caps[0] - 1 {
		must[Entity](t)(w.CopyEntity(e))
	}
	mem.failNext(true)
	if _, err := w.CopyEntity(e); !errors.Is(err, memory.ErrOutOfMemory) || w.Check() != nil {
		t.Errorf("%v, %v", err, w.Check())
	}
}
