package ecs

import (
	"errors"
	"testing"

	"github.com/strata-go/strata/memory"
)

// TestRelation_AnAllocatorThatEndsInASweepClosesTheWorld gives blocks of retired tables back in the
// middle of a change, to an allocator that ends there: nothing of the world may be read after that.
func TestRelation_AnAllocatorThatEndsInASweepClosesTheWorld(t *testing.T) {
	for name, move := range map[string]func(w *World, child Relation[childOf], e, p Entity) error{
		"Map.Add": func(w *World, child Relation[childOf], e, p Entity) error {
			return NewMap1[childOf](w).To(child.ID(), p).Add(e, childOf{})
		},
		"Map.Exchange": func(w *World, child Relation[childOf], e, p Entity) error {
			return NewMap1[childOf](w).To(child.ID(), p).Exchange(e, childOf{})
		},
		"Map.NewEntity": func(w *World, child Relation[childOf], e, p Entity) error {
			_, err := NewMap2[position, childOf](w).To(child.ID(), p).NewEntity(position{}, childOf{})
			return err
		},
		"Relation.Add": func(w *World, child Relation[childOf], e, p Entity) error { return child.Add(e, childOf{}, p) },
		"Apply": func(w *World, child Relation[childOf], e, p Entity) error {
			AddRelation(w.Commands(), child, e, childOf{}, p)
			return w.Commands().Apply()
		},
		"AddAll": func(w *World, child Relation[childOf], e, p Entity) error {
			_, err := NewMap1[childOf](w).To(child.ID(), p).AddAll(NewFilter1[position](w).Exclusive(), childOf{})
			return err
		},
	} {
		mem := &tellingMemory{testMemory: newTestMemory(t)}
		w := must[*World](t)(New(mem, Config{ChunkBytes: 1024}))
		child, m := mustRelation[childOf](t, w), NewMap2[position, childOf](w)
		mustRegisterTest[position](t, w).OnRemove(func(Entity, *position) {})
		e, p := must[Entity](t)(NewMap1[position](w).NewEntity(position{})), must[Entity](t)(w.NewEntity())
		for range sweepAfter {
			q := must[Entity](t)(w.NewEntity())
			w.Remove(must[Entity](t)(m.To(child.ID(), q).NewEntity(position{}, childOf{})))
			w.Remove(q)
		}
		mem.onFree = func() {
			if mem.onFree = nil; !mem.closed {
				mem.close()
			}
		}
		if err := move(w, child, e, p); !errors.Is(err, memory.ErrClosed) || !mem.closed || w.Alive(e) || w.Check() != nil {
			t.Errorf("%s: %v, %v", name, err, w.Check())
		}
		if err := w.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRelation_PairsOfLivingTargetsReuseTables lets few entities meet each pair of many targets, all
// of which stay alive.
func TestRelation_PairsOfLivingTargetsReuseTables(t *testing.T) {
	w, mem := newTestWorld(t, Config{})
	child, like := mustRelation[childOf](t, w), mustRelation[likes](t, w)
	ps, es := newEntities(t, w, 40), newEntities(t, w, 3)
	f := NewFilter1[likes](w)
	for i, p := range ps {
		for k, q := range ps {
			e := es[(i+k)%len(es)]
			if err := errors.Join(child.Add(e, childOf{}, p), like.Add(e, likes{int32(k)}, q)); err != nil {
				t.Fatal(err)
			}
			n := 0
			for at, v := range f.To(child.ID(), p).To(like.ID(), q).All() {
				if n++; at != e || v.Much != int32(k) {
					t.Fatalf("%v is met, and likes %d", at, v.Much)
				}
			}
			if n != 1 {
				t.Fatalf("%d entities are met", n)
			}
		}
		if err := errors.Join(w.Check(), f.Check()); err != nil {
			t.Fatal(err)
		}
	}
	if bound := 6*len(ps) + 20; len(w.store.tables) > bound || len(mem.live) > bound {
		t.Errorf("%d pairs leave %d tables and %d blocks", len(ps)*len(ps), len(w.store.tables), len(mem.live))
	}
}
