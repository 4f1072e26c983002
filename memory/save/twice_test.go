package save_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/compose"
	"github.com/strata-go/strata/memory/guard"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/memory/tlsf"
)

// A State or a variable that two parts would save is refused by name, in both orders.
func TestSet_NothingIsSavedTwice(t *testing.T) {
	m := some(tiers.New(tiers.Config{Workers: 1}))
	defer m.Close()
	must(t, m.BeginLevel())
	squads := some(tiers.NewPool[squad](m, pool.Config{Capacity: 10, Name: "squads"}))
	registry := pool.NewRegistry(nil)
	ints := some(pool.Register[int](registry, pool.Config{Capacity: 10}))
	heap := some(tlsf.New(nil, tlsf.Config{Reserve: 1 << 20}))
	counted := some(compose.NewCounted(some(compose.NewLocked(some(guard.New(heap, guard.Config{})), nil)), compose.CountedConfig{}))
	both := some(compose.NewFallback(some(tlsf.New(nil, tlsf.Config{Reserve: 1 << 20})), heap))
	frames := some(arena.NewFrames(nil, arena.FramesConfig{Bytes: 1 << 16}))
	var v struct {
		A, B int64
		Rng  engine.Rand
		None struct{}
	}
	list := []int{1}
	states := map[string]save.State{
		"manager": m, "pools": m.State(tiers.Saved{Tiers: []tiers.Tier{tiers.Pools, tiers.Inbox}}), "small": m.State(tiers.Saved{Tiers: []tiers.Tier{tiers.Slab, tiers.Level}}),
		"squads": squads, "slab": m.Slab(), "large": save.Metadata(m.Large()), "level": m.Level(), "frames": m.Frames(), "registry": registry, "ints": ints,
		"heap": heap, "counted": counted, "both": both, "ring": frames, "current": frames.Current(), "rand": &v.Rng,
	}
	values := map[string]func(set *save.Set, name string) error{
		"all":   func(set *save.Set, name string) error { return save.Value(set, name, &v) },
		"b":     func(set *save.Set, name string) error { return save.Value(set, name, &v.B) },
		"a":     func(set *save.Set, name string) error { return save.Value(set, name, &v.A) },
		"none":  func(set *save.Set, name string) error { return save.Value(set, name, &v.None) },
		"list":  func(set *save.Set, name string) error { return save.Slice(set, name, &list) },
		"again": func(set *save.Set, name string) error { return save.Slice(set, name, &list) },
	}
	for name, s := range states {
		values[name] = func(set *save.Set, name string) error { return set.Add(name, s) }
	}
	refused := map[string]string{ // pairs, and what both save
		"manager pools": `"squads"`, "manager small": "*arena.Growing", "manager squads": `"squads"`, "manager slab": "*slab.Heap", "manager large": "*tlsf.Heap",
		"manager level": "*arena.Growing", "pools squads": `"squads"`, "small slab": "*slab.Heap", "small level": "*arena.Growing", "registry ints": "*pool.Pool[int]",
		"heap counted": "*tlsf.Heap", "heap both": "*tlsf.Heap", "counted both": "*tlsf.Heap", "ring current": "*arena.Linear",
		"rand all": "engine.Rand", "all a": "int64", "all b": "int64", "list again": "*save.slice[int]",
	}
	found := 0
	for x, addX := range values {
		for y, addY := range values {
			if x == y {
				continue
			}
			var set save.Set
			must(t, addX(&set, x))
			want, is := refused[x+" "+y]
			if !is {
				want, is = refused[y+" "+x]
			}
			err := addY(&set, y)
			if err == nil && !is {
				continue
			}
			if found++; !is || !errors.Is(err, memory.ErrConfig) || !strings.Contains(err.Error(), `"`+x+`" and "`+y+`" both save the `) || set.Parts() != 1 ||
				!strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), "struct {") {
				t.Errorf("%s, %s: %v; want %s", x, y, err, want)
			}
		}
	}
	if found != 2*len(refused) {
		t.Errorf("%d pairs are refused, want %d", found, 2*len(refused))
	}
	var late save.Set // a manager may get a pool after Add
	free := some(pool.New[int](m.PoolSource(), pool.Config{Capacity: 10, Name: "free"}))
	must(t, late.Add("manager", m), late.Add("free", free), late.Seal())
	m.AddPool("free", free)
	if err := late.Seal(); !errors.Is(err, memory.ErrConfig) || !strings.Contains(err.Error(), `"manager" and "free" both save the *pool.Pool[int] "free"`) || late.Save(late.NewSlot(10)) != save.ErrUnsealed {
		t.Error(err)
	}
}
