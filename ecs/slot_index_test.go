package ecs

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestSlotIndex_BehavesLikeAMap sets numbers of slots near and far.
func TestSlotIndex_BehavesLikeAMap(t *testing.T) {
	var x slotIndex
	want := map[uint32]uint32{}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 5000 {
		slot := uint32(rng.IntN(200))
		if i%7 == 0 {
			slot = uint32(rng.IntN(1 << 20))
		}
		if x.at(slot) != want[slot] {
			t.Fatalf("slot %d has %d, not %d", slot, x.at(slot), want[slot])
		}
		n := uint32(rng.IntN(4))
		if x.set(slot, n); n == 0 {
			delete(want, slot)
		} else {
			want[slot] = n
		}
	}
	if !x.all(func(slot, n uint32) {
		if want[slot] != n {
			t.Errorf("slot %d has %d, not %d", slot, n, want[slot])
		}
		delete(want, slot)
	}) || len(want) != 0 {
		t.Errorf("%d slots are missing", len(want))
	}
	for _, slot := range []uint32{1 << 21, 1<<32 - 1} { // beyond all that were set
		if x.at(slot) != 0 {
			t.Errorf("slot %d has %d", slot, x.at(slot))
		}
	}
	if bytes := 4*len(x.dir) + 4*slotPage*len(x.pages); bytes > 4<<20/slotPage+4*slotPage*800 {
		t.Errorf("%d bytes", bytes)
	}
}

// TestRelation_GenerationsOfASlotAreTargets has one slot be a target again and again while children of its earlier
// generations stay, and then has those go in several orders.
func TestRelation_GenerationsOfASlotAreTargets(t *testing.T) {
	for order := range 4 {
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			w, _ := newTestWorld(t, Config{})
			child := mustRelation[childOf](t, w)
			m, f := NewMap2[position, childOf](w), NewFilter1[position](w)
			var targets, children []Entity
			for i := range 2*perSlot - 2 {
				p := must[Entity](t)(w.NewEntity())
				if targets = append(targets, p); p.Index() != targets[0].Index() {
					t.Fatalf("%v after %v", p, targets[0])
				}
				e := must[Entity](t)(m.To(child.ID(), p).NewEntity(position{X: float32(i)}, childOf{}))
				children = append(children, e)
				if n := f.To(child.ID(), p).Len(); n != 1 {
					t.Fatalf("generation %d has %d children", i, n)
				}
				if w.Remove(p); f.Len() != 0 || f.ToAny().With(child.ID()).Len() != i+1 {
					t.Fatalf("generation %d: %d entities relate to it or those before", i, f.Len())
				}
				check(t, w.Check())
			}
			vel := mustRegisterTest[velocity](t, w)
			for i, e := range children { // to tables of targets that are gone
				check(t, vel.Add(e, velocity{X: float32(i)}))
				if at := w.store.tableAt(w.store.index.find(e).loc); at.targets[0] != targets[i] || at.rows() != 1 {
					t.Fatalf("child %d relates to %v, with %d others", i, at.targets[0], at.rows()-1)
				}
			}
			check(t, w.Check())
			for k := range children {
				i := []int{k, 5 - k, k ^ 1, (k + 3) % 6}[order]
				w.Remove(children[i])
				for range 2 * sweepAfter { // tables are retired and used again
					q := must[Entity](t)(w.NewEntity())
					e := must[Entity](t)(m.To(child.ID(), q).NewEntity(position{}, childOf{}))
					if n := f.To(child.ID(), q).Len(); n != 1 || q.Index() == e.Index() {
						t.Fatalf("%v has %d children", q, n)
					}
					w.Remove(e)
					w.Remove(q)
				}
				check(t, w.Check())
			}
			if s := w.Stats(); w.Len() != 0 || s.Archetypes > 40 {
				t.Errorf("%+v", s)
			}
		})
	}
}
