package save_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/buddy"
	"github.com/strata-go/strata/memory/compose"
	"github.com/strata-go/strata/memory/container"
	"github.com/strata-go/strata/memory/freelist"
	"github.com/strata-go/strata/memory/guard"
	"github.com/strata-go/strata/memory/plan"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/slab"
	"github.com/strata-go/strata/memory/stack"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/memory/tlsf"
)

// A home is an allocator with a base, and the State that saves it.
type home struct {
	a     memory.Allocator
	state save.State
}

// homes returns all allocators with a base, compositions of them, and States that save an allocator and are none.
func homes(t *testing.T) map[string]home {
	all := map[string]home{}
	add := func(name string, a memory.Allocator, s save.State) {
		if all[name] = (home{a, s}); s == nil {
			all[name] = home{a, a.(save.State)}
		}
		if c, ok := a.(io.Closer); ok {
			t.Cleanup(func() { _ = c.Close() })
		}
	}
	heap := func() *tlsf.Heap { return some(tlsf.New(nil, tlsf.Config{Reserve: 4 << 20})) }
	classes := slab.Config{Reserve: 8 << 20, MaxSize: 64 << 10}
	add("tlsf", heap(), nil)
	add("buddy", some(buddy.New(nil, buddy.Config{Reserve: 4 << 20})), nil)
	add("freelist", some(freelist.New(nil, freelist.Config{Reserve: 4 << 20})), nil)
	add("slab", some(slab.New(nil, classes)), nil)
	add("central", some(slab.NewCentral(some(slab.New(nil, classes)))), nil)
	add("linear", some(arena.NewLinear(nil, arena.LinearConfig{Bytes: 4 << 20})), nil)
	add("growing", some(arena.NewGrowing(nil, arena.GrowingConfig{Reserve: 4 << 20})), nil)
	add("region", some(arena.NewRegion(nil, arena.RegionConfig{Reserve: 4 << 20})), nil)
	add("stepback", some(arena.NewStepBack(nil, arena.StepBackConfig{Bytes: 4 << 20})), nil)
	add("stack", some(stack.New(nil, stack.Config{Bytes: 4 << 20})), nil)
	double := some(stack.NewDouble(nil, stack.DoubleConfig{Bytes: 4 << 20}))
	add("bottom", double.Bottom(), double)
	add("guard", some(guard.New(heap(), guard.Config{})), nil)
	locked := some(compose.NewLocked(some(guard.New(heap(), guard.Config{})), nil))
	add("counted locked guard", some(compose.NewCounted(locked, compose.CountedConfig{})), nil)
	m := some(tiers.New(tiers.Config{}))
	add("manager", m, nil)
	add("tag", some(m.Tag("x")), m)
	add("state", m, m.State(tiers.Saved{Tiers: []tiers.Tier{tiers.Slab, tiers.Large}}))
	own := heap()
	add("own", own, &level{own})
	return all
}

func some[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A lair has containers, one in the other.
type lair struct {
	List  container.Vec[container.Vec[int]]
	Cells container.Map[int, int]
}

func (l *lair) fill(t *testing.T, sp *container.Space) {
	must(t, l.List.Reserve(sp, 1), l.List.Append(sp, container.Vec[int]{}))
	for i := range 6 {
		must(t, l.List.Ptr(sp, 0).Reserve(sp, 6-i), l.List.Ptr(sp, 0).Append(sp, i), l.Cells.Set(sp, i, -i))
	}
}

func (l *lair) sum(sp *container.Space) (sum int) {
	for i := range l.List.Ptr(sp, 0).Len() {
		v, _ := l.Cells.Get(sp, i)
		sum += l.List.Ptr(sp, 0).At(sp, i)*100 - v
	}
	return sum
}

// A Set with the allocator is saved and loaded, with nothing in it yet, with containers in every part, and with a world
// that has grown since. A Set without it is not.
func TestSet_DataInAnyAllocator(t *testing.T) {
	for name, x := range homes(t) {
		sp, err := container.In(x.a)
		must(t, err)
		w := some(ecs.New(x.a, ecs.Config{ChunkBytes: 16 << 10, MaxChunkBytes: 16 << 10}))
		boxes, plain := some(ecs.Register[lair](w)), some(ecs.Register[uint64](w))
		lairs := some(pool.New[lair](nil, pool.Config{Capacity: 8}))
		one, list := lair{}, make([]lair, 2)
		set := func(parts string) *save.Set {
			var s save.Set
			for part := range strings.FieldsSeq(parts) {
				must(t, map[string]func() error{
					"home":     func() error { return s.Add("home", x.state) },
					"metadata": func() error { return s.Add("home", save.Metadata(x.state)) },
					"world":    func() error { return s.Add("world", w) },
					"values":   func() error { return errors.Join(save.Value(&s, "one", &one), save.Slice(&s, "list", &list)) },
					"pool":     func() error { return s.Add("pool", lairs) },
				}[part]())
			}
			must(t, s.Seal())
			return &s
		}
		all := set("home world values pool")
		slot, same := all.NewSlot(8<<20), all.NewCanonical(8<<20)
		must(t, all.Save(slot), all.Load(slot), all.Save(same), all.Load(same))
		e, err := w.NewEntity()
		must(t, err, boxes.Add(e, lair{}))
		_, l, err := lairs.New()
		must(t, err)
		each := func() []*lair {
			cell, _ := boxes.Get(e)
			return []*lair{&one, &list[0], &list[1], l, cell}
		}
		check := func(want int) {
			t.Helper()
			for i, l := range each() {
				if got := l.sum(sp); got != want {
					t.Errorf("%s: container %d has %d, want %d", name, i, got, want)
				}
			}
			must(t, w.Check())
		}
		for _, l := range each() {
			l.fill(t, sp)
		}
		check(1515)
		must(t, all.Save(slot), all.Save(same))
		for range 5000 {
			e, err := w.NewEntity()
			must(t, err, plain.Add(e, 7))
		}
		for _, l := range each() {
			must(t, l.Cells.Set(sp, 3, 0))
		}
		check(1512)
		must(t, all.Load(same))
		check(1515)
		must(t, all.Load(slot))
		check(1515)
		for _, parts := range []string{"world", "world home", "values", "pool", "values pool home", "metadata world", "metadata values"} {
			s := set(parts)
			if err := s.Save(s.NewSlot(8 << 20)); !errors.Is(err, memory.ErrConfig) && (name != "own" && name != "bottom" && name != "state" || !strings.HasPrefix(parts, "metadata")) {
				t.Errorf("%s: a Set of %s: %v", name, parts, err)
			}
		}
		if must(t, lairs.Close()); name != "stack" && name != "stepback" && name != "bottom" { // these free the newest block only
			must(t, w.Close())
		}
	}
}

type planned struct {
	a *plan.Arena
	p unsafe.Pointer
}

func (x *planned) SaveState(c *save.Coder) {
	if p := c.Pointer(x.p, x.a.Base()); c.Loading() {
		x.p = p
	}
}

// The buffers of a plan are memory that a State saves.
func TestCoder_PointerIntoAPlan(t *testing.T) {
	a := some(plan.New(nil, some(plan.Fast([]plan.Buffer{{ID: 0, Size: 100, Birth: 0, Death: 2, Align: 16}, {ID: 1, Size: 100, Birth: 0, Death: 2, Align: 16}}))))
	defer a.Close()
	x := &planned{a, a.Get(1)}
	var set save.Set
	must(t, set.Add("plan", a), set.Add("planned", x), set.Seal())
	slot := filled(t, &set, set.NewSlot(4<<10))
	x.p = nil
	if must(t, set.Load(slot)); x.p != a.Get(1) {
		t.Errorf("%p, want %p", x.p, a.Get(1))
	}
}
