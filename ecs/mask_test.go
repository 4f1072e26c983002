package ecs

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestMask_BehavesLikeASet compares every method with a map.
func TestMask_BehavesLikeASet(t *testing.T) {
	ids := rapid.SliceOfN(rapid.IntRange(0, 255), 0, 6)
	rapid.Check(t, func(t *rapid.T) {
		var m, o mask
		in, other := map[ID]bool{}, map[ID]bool{}
		for _, id := range ids.Draw(t, "ids") {
			in[ID(id)] = true
			m = m.with(maskBit(ID(id)))
		}
		for _, id := range ids.Draw(t, "other") {
			other[ID(id)] = true
			o = o.with(maskBit(ID(id)))
		}
		both, without, and := m.with(o), m.without(o), m.and(o)
		all, any, differ, above, last := true, false, 0, 0, ID(0)
		for i := range MaxComponents {
			id := ID(i)
			if m.has(id) != in[id] || both.has(id) != (in[id] || other[id]) || without.has(id) != (in[id] && !other[id]) || and.has(id) != (in[id] && other[id]) {
				t.Fatalf("%v and %v differ from their sets in %d", m, o, id)
			}
			all = all && (in[id] || !other[id])
			any = any || in[id] && other[id]
			if in[id] != other[id] {
				differ++
				last = id
			}
			if in[id] {
				above = i + 1
			}
		}
		id, one := m.only(&o)
		if m.all(&o) != all || m.any(&o) != any || m.empty() != (len(in) == 0) || one != (differ == 1) || one && id != last {
			t.Fatalf("%v beside %v: all %v, any %v, empty %v, only %d %v", m, o, m.all(&o), m.any(&o), m.empty(), id, one)
		}
		if !m.below(above) || above > 0 && m.below(above-1) {
			t.Fatalf("%v is not below %d", m, above)
		}
		listed := slices.Collect(m.ids())
		if len(listed) != len(in) || !slices.IsSorted(listed) {
			t.Fatalf("%v is %v", m, listed)
		}
	})
}

func TestMask_PrintsOneNumber(t *testing.T) {
	for want, m := range map[string]mask{
		"0x0":                 {},
		"0x2000000007":        {7 | 1<<37},
		"0x10000000000000007": {7, 1},
		"0x80000000000000000000000000000000000000000000000f": {15, 0, 1 << 63},
	} {
		if m.String() != want {
			t.Errorf("%v, want %s", m, want)
		}
	}
}

// TestWorld_TypesOfEveryWordBehave uses types on both sides of each word's end in every operation.
func TestWorld_TypesOfEveryWordBehave(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	at := func(id int, v any) {
		for n := len(w.store.comps); n < id; n++ {
			must[ID](t)(w.RegisterSize(strings.Repeat("x", n+1), 1, 1))
		}
		registerType(t, w, v)
	}
	at(0, wide1{})
	at(1, position{})
	at(63, wide3{})
	at(64, wide4{})
	at(127, wide5{})
	at(128, wide6{})
	at(191, wide8{})
	at(192, wide7{})
	at(255, health{})
	all := NewMap8[wide1, wide3, wide4, wide5, wide6, wide8, wide7, health](w)
	ids := all.mapper.ids[:8]
	if want := []ID{0, 63, 64, 127, 128, 191, 192, 255}; !slices.Equal(ids, want) {
		t.Fatalf("types %v", ids)
	}
	high := Component[health]{w: w, comp: w.store.comps[255]}
	var said []string
	high.OnAdd(func(Entity, *health) { said = append(said, "add") })
	high.OnSet(func(_ Entity, v *health) { said = append(said, "set") })
	high.OnRemove(func(Entity, *health) { said = append(said, "remove") })
	e := must[Entity](t)(w.NewEntity())
	if err := high.Add(e, health{Max: 1}); err != nil {
		t.Fatal(err)
	}
	if err := all.Add(e, wide1{9}, wide3{}, wide4{}, wide5{}, wide6{}, wide8{}, wide7{}, health{Max: 2}); err != nil {
		t.Fatal(err)
	}
	f := NewFilter1[health](w).With(ids...).Exclusive()
	if f.Len() != 1 || f.EntityAt(0) != e || f.Check() != nil || !all.Has(e) || NewFilter1[health](w).Without(64).Len() != 0 {
		t.Errorf("%d match, %v", f.Len(), f.Check())
	}
	swap := NewMap1[position](w).Removes(63, 255)
	for range 2 {
		if err := swap.Exchange(e, position{}); err != nil {
			t.Fatal(err)
		}
	}
	if high.Has(e) || !swap.Has(e) || !w.HasID(e, 192) {
		t.Error("Exchange took other components")
	}
	cmd := w.Commands()
	AddTo(cmd, high, e, health{Max: 3})
	RemoveFrom(cmd, Component[wide7]{w: w, comp: w.store.comps[192]}, e)
	if err := cmd.Apply(); err != nil {
		t.Fatal(err)
	}
	if v, ok := high.Get(e); !ok || v.Max != 3 || w.HasID(e, 192) {
		t.Error("Apply changed other components")
	}
	if n, err := all.RemoveAll(NewFilter1[health](w)); n != 1 || err != nil || high.Has(e) || !swap.Has(e) {
		t.Errorf("%d, %v", n, err)
	}
	if got := strings.Join(said, " "); got != "add set remove add remove" {
		t.Error(got)
	}
	text := misuse(t, func() { newMapper(w, 255, 0).removes([]ID{0}) })
	if text != "ecs.Removes: component ecs.wide1 is what the mapper adds" {
		t.Error(text)
	}
}

func TestHash_KnowsTheTypesOfEveryWord(t *testing.T) {
	seen := map[uint64]ID{}
	for _, id := range []ID{0, 63, 64, 127, 128, 191, 192, 255} {
		w, _ := newTestWorld(t, Config{})
		registerMany(t, w)
		e := must[Entity](t)(w.NewEntity())
		p, err := w.store.addComponent(e, id, w.store.comps[id].size)
		if err != nil {
			t.Fatal(err)
		}
		for i := range w.store.comps[id].size {
			*(*byte)(unsafeAdd(p, int(i))) = 0
		}
		if other, ok := seen[w.Hash(0)]; ok {
			t.Errorf("a world of type %d hashes as one of type %d", id, other)
		}
		seen[w.Hash(0)] = id
	}
}

// A mapper remembers ways by archetype: what its Removes says holds from the next call on.
func TestExchange_FollowsRemoves(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	pos, vel := mustRegisterTest[position](t, w), mustRegisterTest[velocity](t, w)
	m := NewMap1[health](w).Removes(pos.ID())
	pair := NewMap2[position, velocity](w)
	var es [4]Entity
	for i := range es {
		es[i] = must[Entity](t)(pair.NewEntity(position{}, velocity{}))
	}
	for i, do := range []func(Entity, health) error{m.Exchange, m.Add, m.Exchange, m.Add} {
		if i == 2 {
			m.Removes(vel.ID())
		}
		if err := do(es[i], health{}); err != nil {
			t.Fatal(err)
		}
	}
	if pos.Has(es[0]) || !vel.Has(es[0]) || !pos.Has(es[1]) || !vel.Has(es[1]) || vel.Has(es[2]) || !pos.Has(es[3]) || !vel.Has(es[3]) {
		t.Error("Exchange or Add went the way of the other")
	}
	if !pos.Has(es[2]) {
		t.Error("Exchange takes what Removes named before")
	}
}
