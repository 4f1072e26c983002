package ecs

import (
	"fmt"
	"testing"
)

// untouched makes a world with an entity, in which types other than position and velocity are tracked or observed.
func untouched(t testing.TB, other string) (*World, Component[position], *Map2[position, velocity], Entity) {
	w, _ := newTestWorld(t, Config{})
	arm := mustRegisterTest[armour](t, w)
	pos := mustRegisterTest[position](t, w)
	m := NewMap2[position, velocity](w)
	switch other {
	case "tracked":
		if err := w.Track(arm.ID()); err != nil {
			t.Fatal(err)
		}
	case "OnRemove":
		arm.OnRemove(func(Entity, *armour) { t.Error("nothing has the component") })
	case "OnSet":
		arm.OnSet(func(Entity, *armour) { t.Error("nothing has the component") })
	}
	return w, pos, m, must[Entity](t)(m.NewEntity(position{}, velocity{}))
}

// TestObservers_OtherTypesAreNotReported: a write takes the path of a world without observers if they are about other
// types. The benchmark below has the times.
func TestObservers_OtherTypesAreNotReported(t *testing.T) {
	for _, other := range []string{"tracked", "OnRemove", "OnSet"} {
		w, pos, m, e := untouched(t, other)
		if w.reportsWrite(pos.comp) || w.reportsWrites(&m.mapper.bits) {
			t.Errorf("%s of another type: a write is reported", other)
		}
		if err := pos.Add(e, position{X: 1}); err != nil || !pos.Set(e, position{X: 2}) || m.Add(e, position{X: 3}, velocity{}) != nil || !w.Remove(e) {
			t.Error(err)
		}
	}
	w, pos, m, _ := untouched(t, "")
	for name, watch := range map[string]func() *Observer{
		"OnAdd": func() *Observer { return pos.OnAdd(func(Entity, *position) {}) },
		"OnSet": func() *Observer { return pos.OnSet(func(Entity, *position) {}) },
	} {
		o := watch()
		if !w.reportsWrite(pos.comp) || !w.reportsWrites(&m.mapper.bits) {
			t.Errorf("%s: a write is not reported", name)
		}
		if o.Stop(); w.reportsWrite(pos.comp) {
			t.Errorf("%s: a write is reported after Stop", name)
		}
	}
}

// BenchmarkOtherTypes shows what a type costs whose own writes are not observed.
func BenchmarkOtherTypes(b *testing.B) {
	for _, other := range []string{"none", "tracked", "OnRemove", "OnSet"} {
		w, pos, m, e := untouched(b, other)
		b.Run(fmt.Sprintf("Set/%s", other), func(b *testing.B) {
			for b.Loop() {
				pos.Set(e, position{X: 1})
			}
		})
		b.Run(fmt.Sprintf("Map2.Add/%s", other), func(b *testing.B) {
			for b.Loop() {
				_ = m.Add(e, position{X: 1}, velocity{})
			}
		})
		b.Run(fmt.Sprintf("create and remove/%s", other), func(b *testing.B) {
			for b.Loop() {
				e, _ := m.NewEntity(position{}, velocity{})
				w.Remove(e)
			}
		})
	}
}
