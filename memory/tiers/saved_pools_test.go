package tiers_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/tiers"
)

// An EndLevel that fails has reset the newer pool. The next one reports what that pool has beyond the reset.
func TestManager_LoadRestoresWhatPoolsKept(t *testing.T) {
	g := newSavedGame(t, tiers.Config{})
	var now, kept memory.Stats
	has := func(live, bytes uint64) memory.Stats {
		return memory.Stats{Allocs: live, Live: live, InUse: bytes, Committed: bytes, Reserved: bytes, Peak: bytes}
	}
	reset := func() { panic("not yet") }
	g.m.AddPool("older", &tiers.Funcs{ResetFunc: func() { reset() }})
	g.m.AddPool("newer", &tiers.Funcs{StatsFunc: func() memory.Stats { return now }, ResetFunc: func() { now = kept }})
	fail := func(left memory.Stats) {
		kept = left
		defer func() { _ = recover() }()
		_, _ = g.m.EndLevel()
	}
	fail(has(1, 10))
	slot := g.save()
	now = has(2, 20)
	err := errors.Join(g.m.BeginFrame(), g.m.EndFrame()) // the resets are no longer current
	fail(has(3, 99))
	if err = errors.Join(err, g.set.Load(slot)); err != nil {
		t.Fatal(err)
	}
	now = has(1, 10)
	reset = func() { now = has(2, 25) }
	want := tiers.PoolLeak{Pool: "newer", AfterReset: true, Leak: tiers.Leak{Blocks: 1, Bytes: 15}}
	if leaks, err := g.m.EndLevel(); err != nil || len(leaks.Pools) != 1 || leaks.Pools[0] != want {
		t.Errorf("%v, %+v, want %+v", err, leaks.Pools, want)
	}
	now = memory.Stats{}
}

// A failingState refuses its own load.
type failingState struct{ fails bool }

func (f *failingState) SaveState(c *save.Coder) {
	if f.fails {
		c.Differs("it is another")
	}
}

// A commit that the budget of the pools refused after the save has not failed in the loaded state.
func TestManager_LoadRestoresFailuresOfPools(t *testing.T) {
	cfg := tiers.Config{}
	cfg.Budget[tiers.Pools] = 64 << 10
	g := newSavedGame(t, cfg)
	slot, first, again := g.save(), g.set.NewCanonical(8<<20), g.set.NewCanonical(8<<20)
	frame := func() {
		for {
			if _, _, err := g.pool.New(); err != nil {
				break
			}
		}
		if err := errors.Join(g.m.BeginFrame(), g.m.EndFrame()); err != nil {
			t.Fatal(err)
		}
	}
	frame()
	failures := g.m.Stats(tiers.Pools).Failures
	if err := errors.Join(g.set.Save(first), g.set.Load(slot)); err != nil || failures == 0 || g.m.Stats(tiers.Pools).Failures != 0 {
		t.Errorf("%v; %d commits were refused, and %d after a load", err, failures, g.m.Stats(tiers.Pools).Failures)
	}
	frame()
	refused := g.save()
	if err := g.set.Load(refused); err != nil || g.m.Stats(tiers.Pools).Failures != failures {
		t.Errorf("%v; %d commits were refused, and %d after a load of the state itself", err, failures, g.m.Stats(tiers.Pools).Failures)
	}
	if err := g.set.Save(again); err != nil {
		t.Fatal(err)
	}
	if d, differ, err := g.set.Diff(first, again); differ || err != nil {
		t.Errorf("played again the state is another one: %v, %v", d, err)
	}
}

// A pool of the same type and capacity that was registered in place of another has none of its objects.
func TestManager_LoadRefusedWithAnotherPool(t *testing.T) {
	g := newSavedGame(t, tiers.Config{})
	slot := g.save()
	g.m.RemovePool(g.pool)
	if err := g.set.Load(slot); !errors.Is(err, save.ErrLayout) || !strings.Contains(err.Error(), "1 pools were registered, 0 are") {
		t.Errorf("%v, want ErrLayout", err)
	}
	if _, err := tiers.NewPool[[4]uint64](g.m, pool.Config{Name: g.pool.Name(), Capacity: g.pool.Cap()}); err != nil {
		t.Fatal(err)
	}
	if err := g.set.Load(slot); !errors.Is(err, save.ErrLayout) {
		t.Errorf("%v, want ErrLayout", err)
	}
	if err := g.pool.Close(); err != nil {
		t.Error(err)
	}
}

// What a worker, a tier or a pool that is left out has counted is no part of a state.
func TestManager_OthersLeaveNoTraceInAState(t *testing.T) {
	for what, c := range map[string]struct {
		cfg   tiers.Saved
		other func(g *savedGame, outside *arena.Linear) memory.Allocator
		size  uintptr
	}{
		"worker": {tiers.Saved{Workers: []int{1}}, func(g *savedGame, _ *arena.Linear) memory.Allocator { return g.m.Worker(0) }, 100},
		"twice":  {tiers.Saved{Workers: []int{1, 1}}, func(g *savedGame, _ *arena.Linear) memory.Allocator { return g.m.Worker(0) }, 100},
		"large":  {tiers.Saved{Tiers: []tiers.Tier{tiers.Slab}}, func(g *savedGame, _ *arena.Linear) memory.Allocator { return g.tag }, 9000},
		"slab":   {tiers.Saved{Tiers: []tiers.Tier{tiers.Large}}, func(g *savedGame, _ *arena.Linear) memory.Allocator { return g.tag }, 100},
		"level":  {tiers.Saved{Tiers: []tiers.Tier{tiers.Slab}}, func(g *savedGame, _ *arena.Linear) memory.Allocator { return g.tag.Level() }, 100},
		"pool":   {tiers.Saved{}, func(_ *savedGame, outside *arena.Linear) memory.Allocator { return outside }, 100},
	} {
		g := newSavedGame(t, tiers.Config{})
		outside := g.outside()
		var set save.Set
		if err := errors.Join(set.Add("memory", g.m.State(c.cfg)), set.Seal()); err != nil {
			t.Fatal(err)
		}
		slot, first, again := set.NewSlot(8<<20), set.NewCanonical(8<<20), set.NewCanonical(8<<20)
		frame := func() error {
			memtest.MustAlloc(t, g.tag, 100, 8)
			return errors.Join(g.m.BeginFrame(), g.m.EndFrame())
		}
		if err := errors.Join(frame(), set.Save(slot), frame(), set.Save(first), set.Load(slot), g.m.Check()); err != nil {
			t.Fatal(err)
		}
		memtest.MustAlloc(t, c.other(g, outside), c.size, 8)
		if err := errors.Join(frame(), set.Save(again), g.m.Check()); err != nil {
			t.Fatal(err)
		}
		if d, differ, err := set.Diff(first, again); differ || err != nil {
			t.Errorf("%s: the state has other counts: %v, %v", what, d, err)
		}
	}
}

// outside registers an arena that the manager does not save, as the pages of a ground are.
func (g *savedGame) outside() *arena.Linear {
	g.t.Helper()
	a, err := arena.NewLinear(g.m.PoolSource(), arena.LinearConfig{Bytes: 64 << 10})
	if err != nil {
		g.t.Fatal(err)
	}
	g.m.AddPool("outside", &tiers.Funcs{StatsFunc: a.Stats, CloseFunc: a.Close})
	return a
}

// What a pool that is left out has counted in other levels, or was refused, is no part of a state.
func TestManager_OtherPoolsLeaveNoTraceInAHash(t *testing.T) {
	var hashes [4]uint64
	for i := range hashes {
		cfg := tiers.Config{}
		cfg.Budget[tiers.Pools] = 1 << 20
		g := newSavedGame(t, cfg)
		outside, past := g.outside(), memory.Stats{Allocs: uint64(i / 3), Frees: uint64(i / 3)}
		g.m.AddPool("reset", &tiers.Funcs{StatsFunc: func() memory.Stats { return past }, ResetFunc: func() {}})
		_, err := g.m.EndLevel()
		if i == 1 {
			memtest.MustAlloc(t, outside, 100, 8)
		}
		if err = errors.Join(err, g.m.BeginLevel()); err != nil {
			t.Fatal(err)
		}
		if i == 2 {
			if _, err := arena.NewLinear(g.m.PoolSource(), arena.LinearConfig{Bytes: 2 << 20}); !errors.Is(err, memory.ErrOutOfMemory) {
				t.Fatalf("%v, want ErrOutOfMemory", err)
			}
		}
		if hashes[i], err = g.set.SaveHash(g.set.NewCanonical(8 << 20)); err != nil {
			t.Fatal(err)
		}
	}
	if hashes[1] != hashes[0] || hashes[2] != hashes[0] || hashes[3] != hashes[0] {
		t.Errorf("the hashes %x differ", hashes)
	}
}

// A pool that was registered only in a discarded future is no part of a state, as its hooks are not.
func TestManager_DiscardedPoolsLeaveNoTraceInAHash(t *testing.T) {
	var hashes [2]uint64
	for i := range hashes {
		g := newSavedGame(t, tiers.Config{})
		slot, gone := g.save(), &tiers.Funcs{}
		if i == 1 {
			g.m.AddPool("gone", gone)
			g.m.RemovePool(gone)
		}
		err := g.set.Load(slot)
		g.m.AddPool("late", &tiers.Funcs{})
		var err2 error
		hashes[i], err2 = g.set.SaveHash(g.set.NewCanonical(8 << 20))
		after, late := g.save(), &tiers.Funcs{}
		g.m.AddPool("later", late)
		discarded := g.save()
		g.m.RemovePool(late)
		err = errors.Join(err, err2, g.set.Load(after))
		g.m.AddPool("later", &tiers.Funcs{}) // with the number of the discarded one
		if err != nil {
			t.Fatal(err)
		}
		if err := g.set.Load(discarded); !errors.Is(err, save.ErrLayout) {
			t.Errorf("a state with a discarded pool: %v, want ErrLayout", err)
		}
	}
	if hashes[0] != hashes[1] {
		t.Errorf("the hashes %x differ", hashes)
	}
}

// After a load the leaks of a level are those of the loaded state.
func TestManager_LeaksAfterLoad(t *testing.T) {
	g := newSavedGame(t, tiers.Config{})
	memtest.MustAlloc(t, g.tag, 100, 8) // not of the level
	if _, err := g.m.EndLevel(); err != nil {
		t.Fatal(err)
	}
	if err := g.m.BeginLevel(); err != nil {
		t.Fatal(err)
	}
	blocks := func() {
		memtest.MustAlloc(t, g.tag, 100, 8)
		memtest.MustAlloc(t, g.m.Worker(1), 100, 8)
	}
	blocks()
	slot := g.save()
	blocks()
	if err := errors.Join(g.m.BeginFrame(), g.m.EndFrame(), g.set.Load(slot), g.m.Check()); err != nil {
		t.Fatal(err)
	}
	leaks, err := g.m.EndLevel()
	if err != nil || leaks.Tiers[tiers.Slab].Blocks != 1 || leaks.Tiers[tiers.Inbox].Blocks != 1 || len(leaks.Tags) != 1 || leaks.Tags[0].Blocks != 1 {
		t.Errorf("%v, %v", leaks, err)
	}
}

func TestManager_StateOfSomeTiersLeavesTheOthers(t *testing.T) {
	g := newSavedGame(t, tiers.Config{})
	var set save.Set
	if err := errors.Join(set.Add("some", g.m.State(tiers.Saved{Tiers: []tiers.Tier{tiers.Slab, tiers.Inbox}, Workers: []int{1}})), set.Seal()); err != nil {
		t.Fatal(err)
	}
	n, err := set.Size()
	slot := set.NewSlot(n)
	if err = errors.Join(err, set.Save(slot)); err != nil {
		t.Fatal(err)
	}
	_, err1 := g.m.Alloc(64, 8)
	large, err2 := g.m.Alloc(10_000, 8)
	other, err3 := g.m.Worker(0).Alloc(64, 8)
	_, err4 := g.m.Worker(1).Alloc(64, 8)
	if err = errors.Join(err1, err2, err3, err4, set.Load(slot), g.m.Check()); err != nil {
		t.Fatal(err)
	}
	if g.m.Stats(tiers.Slab).Live != 0 || g.m.Stats(tiers.Large).Live != 1 || g.m.Stats(tiers.Inbox).Live != 1 {
		t.Error("another tier or worker was loaded, or the selected ones were not")
	}
	g.m.Free(large, 10_000)
	g.m.Worker(0).Free(other, 64)
}
