package ecs

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/layout"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/tlsf"
)

// A plainCast is a world without relations, in a Set.
type plainCast struct {
	w        *World
	position Component[position]
	health   Component[health]
	tag      Component[burning]
	pairs    *Map2[position, health]
	set      save.Set
	es       []Entity
}

// basedWorld returns a world in an allocator with a base address.
func basedWorld(t testing.TB) *World {
	t.Helper()
	heap, err := tlsf.New(nil, tlsf.Config{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := New(heap, Config{MaxEntities: 5000})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(w.Close(), heap.Close()); err != nil {
			t.Error(err)
		}
	})
	return w
}

func newPlainCast(t testing.TB) *plainCast {
	c := &plainCast{}
	c.w = basedWorld(t)
	c.position, c.health = mustRegisterTest[position](t, c.w), mustRegisterTest[health](t, c.w)
	c.tag = mustRegisterTest[burning](t, c.w)
	c.pairs = NewMap2[position, health](c.w)
	if err := errors.Join(c.set.Add("world", c.w), c.set.Seal()); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *plainCast) play(t testing.TB, seed uint64, steps int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 3))
	for range steps {
		if len(c.es) == 0 || rng.IntN(3) == 0 {
			e, err := c.pairs.NewEntity(position{1, 2}, health{rng.Int32(), 3})
			if c.es = append(c.es, e); err != nil {
				t.Fatal(err)
			}
		}
		var err error
		e := c.es[rng.IntN(len(c.es))]
		switch n := rng.IntN(6); {
		case !c.w.Alive(e):
		case n == 0:
			c.w.Remove(e)
		case n == 1:
			_, err = c.position.Remove(e)
		case n == 2:
			_, err = c.health.Remove(e)
		case n == 3:
			err = c.tag.Add(e, struct{}{})
		case n == 4:
			err = c.position.Add(e, position{rng.Float32(), 0})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A world with other archetypes, in another order, goes on as the written one after it has read a file of a Set.
func TestWorld_FileOfASetGoesOnAsTheWritten(t *testing.T) {
	for seed := range uint64(10) {
		a, b := newPlainCast(t), newPlainCast(t)
		a.play(t, seed, 300)
		b.play(t, seed+100, 200)
		var file bytes.Buffer
		if err := errors.Join(a.set.Write(&file), b.set.Read(&file, nil)); err != nil {
			t.Fatal(err)
		}
		b.es = slices.Clone(a.es)
		for round := range uint64(3) {
			if err := b.w.Check(); err != nil || a.w.Hash(0) != b.w.Hash(0) || a.w.Len() != b.w.Len() {
				t.Fatalf("seed %d, round %d: %v; hash %x, want %x", seed, round, err, b.w.Hash(0), a.w.Hash(0))
			}
			a.play(t, round, 100)
			b.play(t, round, 100)
		}
	}
}

func TestWorld_FileOfASetRefusesAndRestores(t *testing.T) {
	c := newPlainCast(t)
	c.play(t, 1, 100)
	hash := c.w.Hash(0)
	wild := basedWorld(t)
	registerType(t, wild, struct{ N int64 }{})
	var other save.Set
	if err := errors.Join(other.Add("world", wild), other.Seal()); err != nil {
		t.Fatal(err)
	}
	newValue(t, wild, struct{ N int64 }{5})
	var file bytes.Buffer
	if err := other.Write(&file); err != nil {
		t.Fatal(err)
	}
	if err := c.set.Read(&file, nil); err == nil || !strings.Contains(err.Error(), "world: ") || !strings.Contains(err.Error(), "not registered") {
		t.Errorf("a world with an unknown type: %v", err)
	}
	if err := c.w.Check(); err != nil || c.w.Hash(0) != hash {
		t.Errorf("after a refused file: %v, hash %x, want %x", err, c.w.Hash(0), hash)
	}
	registerType(t, c.w, struct{ P memory.Handle[int] }{})
	if err := c.set.Portable(); err == nil || !strings.Contains(err.Error(), ".P: memory.Handle[int]: a handle") {
		t.Errorf("a component with a handle: %v", err)
	}
}

// A Set with a world knows the types of its components: a wrong name in Convert is an error, and a right one is no
// change.
func TestWorld_FileOfASetFindsWrongNamesOfConvert(t *testing.T) {
	c := newPlainCast(t)
	c.play(t, 1, 100)
	n, called := 0, 0
	hook := func(OldValue, any) error { called++; return nil }
	for _, function := range []bool{false, true} {
		var set save.Set
		err := errors.Join(set.Add("world", c.w), save.Value(&set, "n", &n))
		if function {
			err = errors.Join(err, set.AddFunc("function", func(c *save.Coder) { save.Num(c, &n) }))
		}
		var file bytes.Buffer
		var notes []string
		m := &Migration{Changed: func(s string) { notes = append(notes, s) }, Convert: map[string]func(OldValue, any) error{"ecs.health": hook}}
		if err := errors.Join(err, set.Seal(), set.Write(&file), set.Read(bytes.NewReader(file.Bytes()), m)); err != nil || called == 0 || len(notes) > 0 {
			t.Errorf("%v; %d calls; %q", err, called, notes)
		}
		m.Convert["ecs.wealth"] = hook
		err = set.Verify(&file, m)
		if noted := strings.Contains(strings.Join(notes, ""), "Convert of ecs.wealth is not used: "); noted != function || len(notes) > 1 {
			t.Errorf("a function in the Set %t: %q", function, notes)
		}
		if !function && (!errors.Is(err, layout.ErrMigration) || !strings.Contains(err.Error(), `Convert["ecs.wealth"]: no part has this type; allowed: ecs.position, ecs.health, ecs.burning, int`)) || function && err != nil {
			t.Errorf("a function in the Set %t: %v", function, err)
		}
	}
}

// An Entity that no world ever had is refused in every part of a file. A look-up would take a vacant slot for it.
func TestWorld_FileOfASetRefusesImpossibleEntities(t *testing.T) {
	type owner Entity
	type nested struct {
		Name uint32
		Of   [2]struct{ Owner owner }
	}
	bad := Entity{index: 2, gen: 2}
	for _, e := range []Entity{bad, {index: 0, gen: 1}, {index: placeholderBit, gen: 1}} {
		for place, spoil := range map[string]func(value *nested, list *[]Entity){
			"value": func(value *nested, _ *[]Entity) { value.Of[1].Owner = owner(e) },
			"list":  func(_ *nested, list *[]Entity) { (*list)[2] = e },
		} {
			w := basedWorld(t)
			value, list, set := nested{Name: 7}, []Entity{{}, {index: 900, gen: 3}, {}}, save.Set{}
			if err := errors.Join(save.Value(&set, "value", &value), save.Slice(&set, "list", &list), set.Add("world", w), set.Seal()); err != nil {
				t.Fatal(err)
			}
			var good, forged bytes.Buffer
			err := set.Write(&good)
			spoil(&value, &list)
			if err = errors.Join(err, set.Write(&forged)); err != nil {
				t.Fatal(err)
			}
			wasValue, wasList := value, slices.Clone(list)
			err = set.Read(bytes.NewReader(forged.Bytes()), nil)
			if !errors.Is(err, save.ErrLayout) || !strings.Contains(err.Error(), "save: "+place) || !strings.Contains(err.Error(), "it contains "+quote(e)) {
				t.Errorf("%v in the %s: %v", e, place, err)
			}
			if value != wasValue || !slices.Equal(list, wasList) {
				t.Errorf("%v in the %s: a refused file has changed a variable", e, place)
			}
			if err := set.Verify(&forged, nil); !errors.Is(err, save.ErrLayout) {
				t.Errorf("%v in the %s: Verify: %v", e, place, err)
			}
			if err := set.Read(&good, nil); err != nil || value.Name != 7 || value.Of[1].Owner != (owner{}) || list[1].index != 900 {
				t.Errorf("a stale and a zero Entity: %v, %v, %v", err, value, list)
			}
		}
	}
}
