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
