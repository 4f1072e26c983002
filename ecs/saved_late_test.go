package ecs_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/memory/container"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/tlsf"
)

type (
	late0 struct{ A int32 }
	late1 struct{ B [3]float32 }
	late2 struct{}
	late3 struct{ C uint64 }
	late4 struct{ D uint8 }
)

// A lateWorld registers types while it plays, as filters and mappers do that are created when they are needed.
type lateWorld struct {
	*savedWorld
	set  save.Set
	late []func() ecs.ID // registers a type
	ids  []ecs.ID
	rel  []bool
}

func plainType[T any](x *lateWorld) func() ecs.ID {
	return func() ecs.ID {
		ecs.NewFilter2[savedPlace, T](x.w)
		c, _ := ecs.Register[T](x.w)
		x.rel = append(x.rel, false)
		return c.ID()
	}
}

func relationType[T any](x *lateWorld) func() ecs.ID {
	return func() ecs.ID {
		r, err := ecs.RegisterRelation[T](x.w)
		if err != nil {
			x.t.Fatal(err)
		}
		x.rel = append(x.rel, true)
		return r.ID()
	}
}

// newLateWorld returns a world that has relations from the start, or none.
func newLateWorld(t testing.TB, related bool) *lateWorld {
	x := &lateWorld{savedWorld: &savedWorld{t: t, rng: rand.New(rand.NewPCG(7, 1))}}
	if related {
		x.savedWorld = newSavedWorld(t, nil)
	} else {
		var err, err2 error
		x.heap, err = tlsf.New(nil, tlsf.Config{Reserve: 16 << 20, Granule: 1 << 10, Step: 16 << 10})
		x.w, err2 = ecs.New(x.heap, ecs.Config{MaxEntities: 20_000})
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := errors.Join(x.w.Close(), x.heap.Close()); err != nil {
				t.Error(err)
			}
		})
	}
	if err := errors.Join(x.set.Add("heap", save.Metadata(x.heap)), x.set.Add("world", x.w), x.set.Seal()); err != nil {
		t.Fatal(err)
	}
	x.late = []func() ecs.ID{plainType[late0](x), relationType[late1](x), plainType[late2](x), relationType[late3](x), plainType[late4](x)}
	return x
}

// play changes the world by the types that it has, and returns its hash.
func (x *lateWorld) play(steps int, ids int) uint64 {
	for range steps {
		e, err := ecs.Entity{}, error(nil)
		if n := x.rng.IntN(3); n == 0 || len(x.es) < 4 {
			e, err = x.w.NewEntity()
			x.es = append(x.es, e)
		} else if e = x.pick(); n == 1 && x.rng.IntN(4) == 0 {
			x.w.Remove(e)
		}
		if ids > 0 && err == nil {
			switch i := x.rng.IntN(ids); {
			case x.rng.IntN(5) == 0:
				_, err = x.w.RemoveID(e, x.ids[i])
			case x.rel[i]:
				_, err = x.w.RelateID(e, x.ids[i], x.pick())
			default:
				_, err = x.w.AddID(e, x.ids[i])
			}
		}
		if err = ignoreStale(err); err != nil {
			x.t.Fatal(err)
		}
	}
	if err := errors.Join(x.w.Check(), x.heap.Check()); err != nil {
		x.t.Fatal(err)
	}
	return x.w.Hash(0)
}

// TestWorld_LoadsStatesWithFewerTypes saves and loads while types are registered. A state of a time with fewer types
// must be restored, and the same operations after it must give the same world.
func TestWorld_LoadsStatesWithFewerTypes(t *testing.T) {
	type moment struct {
		slot        *save.Slot
		hash, after uint64
		es          []ecs.Entity
		ids         int
		seed        uint64
	}
	rounds := 120
	if testenv.Brief() {
		rounds = 40
	}
	for _, related := range []bool{false, true} {
		x := newLateWorld(t, related)
		var moments []*moment
		for round := range rounds {
			if len(x.late) > 0 && round%7 == 3 {
				x.ids, x.late = append(x.ids, x.late[0]()), x.late[1:]
			}
			if related && round%5 == 0 {
				x.program(20)
			}
			x.play(x.rng.IntN(40), len(x.ids))
			if round%2 == 0 {
				n, err := x.set.Size()
				m := &moment{slot: x.set.NewSlot(n), hash: x.w.Hash(0), es: slices.Clone(x.es), ids: len(x.ids), seed: uint64(round)}
				if err = errors.Join(err, x.set.Save(m.slot)); err != nil {
					t.Fatal(err)
				}
				moments = append(moments, m)
			}
			m := moments[x.rng.IntN(len(moments))]
			for range 2 {
				if err := errors.Join(x.set.Load(m.slot), x.w.Check(), x.heap.Check()); err != nil {
					t.Fatalf("round %d: a state of %d types of %d: %v", round, m.ids, len(x.ids), err)
				}
				x.es = append(x.es[:0], m.es...)
				if h := x.w.Hash(0); h != m.hash {
					t.Fatalf("round %d: the hash is %x, was %x", round, h, m.hash)
				}
				was := x.rng
				x.rng = rand.New(rand.NewPCG(m.seed, 0))
				after := x.play(30, m.ids)
				if x.rng = was; m.after != 0 && after != m.after {
					t.Fatalf("round %d: the state after a further load is %x, was %x", round, after, m.after)
				}
				m.after = after
			}
			if len(x.ids) > m.ids { // the later types work as before
				x.play(20, len(x.ids))
			}
		}
		if len(x.late) != 0 {
			t.Errorf("%d types were not registered", len(x.late))
		}
	}
}

// A state does not have the ticks of a component that was tracked later.
func TestWorld_LoadRefusesWhatWasTrackedLater(t *testing.T) {
	x := newLateWorld(t, false)
	id := plainType[late0](x)()
	empty := x.set.NewSlot(1 << 20)
	if err := x.set.Save(empty); err != nil {
		t.Fatal(err)
	}
	e, _ := x.w.NewEntity()
	if _, err := x.w.AddID(e, id); err != nil {
		t.Fatal(err)
	}
	full := x.set.NewSlot(1 << 20)
	if err := errors.Join(x.set.Save(full), x.set.Load(empty), x.w.Track(id)); err != nil {
		t.Fatal(err)
	}
	for range 2 { // without the archetype, and with it
		was := x.w.Hash(0)
		err := x.set.Load(full)
		if !errors.Is(err, save.ErrLayout) || !strings.Contains(err.Error(), "late0 was not tracked") || x.w.Hash(0) != was || x.w.Check() != nil {
			t.Errorf("%v, %v", err, x.w.Check())
		}
		e, _ := x.w.NewEntity()
		if _, err := x.w.AddID(e, id); err != nil {
			t.Fatal(err)
		}
	}
	if err := x.set.Load(empty); err != nil || x.w.Len() != 0 || x.w.Check() != nil {
		t.Errorf("%v, %d entities, %v", err, x.w.Len(), x.w.Check())
	}
}

// A container without its elements makes a save fail, but not the load of a state from before.
func TestWorld_LoadsAStateBeforeAContainer(t *testing.T) {
	x := newLateWorld(t, false)
	plainType[late0](x)()
	slot := x.set.NewSlot(1 << 20)
	if err := x.set.Save(slot); err != nil {
		t.Fatal(err)
	}
	ecs.NewFilter1[container.Vec[int32]](x.w)
	if err := x.set.Save(x.set.NewSlot(1 << 20)); err == nil {
		t.Error("the elements of a container were not saved, without an error")
	}
	if err := x.set.Load(slot); err != nil {
		t.Error(err)
	}
}

// TestWorld_ResetIsNotANewWorld: generations and the order of archetypes stay at a Reset, and not at a load.
func TestWorld_ResetIsNotANewWorld(t *testing.T) {
	x := newLateWorld(t, false)
	a, b := plainType[late0](x)(), plainType[late3](x)()
	begin := x.set.NewSlot(1 << 20)
	if err := x.set.Save(begin); err != nil {
		t.Fatal(err)
	}
	play := func(first, second ecs.ID) (uint64, []ecs.Entity) {
		var es []ecs.Entity
		for _, id := range []ecs.ID{first, second} {
			e, err := x.w.NewEntity()
			if _, err2 := x.w.AddID(e, id); err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			es = append(es, e)
		}
		return x.w.Hash(0), es
	}
	hash, es := play(a, b)
	x.w.Reset()
	if after, later := play(a, b); after == hash || later[0] == es[0] || x.w.Alive(es[0]) {
		t.Errorf("%v after Reset, %v in a new world", later, es)
	}
	for range 2 { // the second time other archetypes come first
		if err := x.set.Load(begin); err != nil {
			t.Fatal(err)
		}
		if again, same := play(a, b); again != hash || !slices.Equal(same, es) {
			t.Errorf("%v after a load, %v in a new world", same, es)
		}
		if err := x.set.Load(begin); err != nil {
			t.Fatal(err)
		}
		play(b, a)
	}
}
