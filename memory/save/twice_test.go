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
	"github.com/strata-go/strata/memory/slab"
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
	guarded := some(guard.New(heap, guard.Config{}))
	counted := some(compose.NewCounted(some(compose.NewLocked(guarded, nil)), compose.CountedConfig{}))
	other := some(tlsf.New(nil, tlsf.Config{Reserve: 1 << 20}))
	both := some(compose.NewFallback(heap, other))
	classes := some(slab.New(nil, slab.Config{Reserve: 8 << 20}))
	central := some(slab.NewCentral(classes))
	frames := some(arena.NewFrames(nil, arena.FramesConfig{Bytes: 1 << 16}))
	var v struct {
		A, B int64
		In   struct{ C, D int32 }
		Rng  engine.Rand
		None struct{}
	}
	list := []int{1}
	state := func(s save.State) func(set *save.Set, name string) error {
		return func(set *save.Set, name string) error { return set.Add(name, s) }
	}
	parts := map[string]func(set *save.Set, name string) error{
		"manager": state(m), "pools": state(m.State(tiers.Saved{Tiers: []tiers.Tier{tiers.Pools}})),
		"small": state(m.State(tiers.Saved{Tiers: []tiers.Tier{tiers.Slab, tiers.Level}})), "workers": state(m.State(tiers.Saved{Tiers: []tiers.Tier{tiers.Inbox}})),
		"squads": state(squads), "slab": state(m.Slab()), "large": state(save.Metadata(m.Large())), "level": state(m.Level()), "frames": state(m.Frames()),
		"registry": state(registry), "ints": state(ints), "heap": state(heap), "metadata": state(save.Metadata(heap)), "guard": state(guarded),
		"counted": state(counted), "both": state(both), "other": state(other), "central": state(central),
		"ring": state(frames), "current": state(frames.Current()), "rand": state(&v.Rng),
		"all":   func(set *save.Set, name string) error { return save.Value(set, name, &v) },
		"rng":   func(set *save.Set, name string) error { return save.Value(set, name, &v.Rng) },
		"a":     func(set *save.Set, name string) error { return save.Value(set, name, &v.A) },
		"b":     func(set *save.Set, name string) error { return save.Value(set, name, &v.B) },
		"in":    func(set *save.Set, name string) error { return save.Value(set, name, &v.In) },
		"d":     func(set *save.Set, name string) error { return save.Value(set, name, &v.In.D) },
		"none":  func(set *save.Set, name string) error { return save.Value(set, name, &v.None) },
		"list":  func(set *save.Set, name string) error { return save.Slice(set, name, &list) },
		"again": func(set *save.Set, name string) error { return save.Slice(set, name, &list) },
		"first": func(set *save.Set, name string) error { return save.Value(set, name, &list[0]) },
	}
	refused := map[string]string{ // pairs, and what both save
		"manager pools": "*pool.Pool", "manager small": "*arena.Growing", "manager workers": "*tlsf.Heap", "manager squads": `"squads"`, "manager slab": "*slab.Heap",
		"manager large": "*tlsf.Heap", "manager level": "*arena.Growing", "pools squads": `"squads"`, "small slab": "*slab.Heap", "small level": "*arena.Growing",
		"registry ints": "*pool.Pool", "heap metadata": "*tlsf.Heap", "heap guard": "*tlsf.Heap", "heap counted": "*tlsf.Heap", "heap both": "*tlsf.Heap",
		"metadata guard": "*tlsf.Heap", "metadata counted": "*tlsf.Heap", "metadata both": "*tlsf.Heap", "guard counted": "*guard.Allocator", "guard both": "*tlsf.Heap",
		"counted both": "*tlsf.Heap", "other both": "*tlsf.Heap", "ring current": "*arena.Linear", "rand all": "engine.Rand", "rand rng": "engine.Rand", "all rng": "engine.Rand",
		"all a": "int64", "all b": "int64", "all in": "struct", "all d": "int32", "in d": "int32", "list again": "*save.slice[int]",
	}
	found := 0
	for x, addX := range parts {
		for y, addY := range parts {
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
