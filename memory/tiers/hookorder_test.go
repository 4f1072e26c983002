package tiers

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/plan"
	"github.com/strata-go/strata/memory/pool"
)

// taker allocates from every tier that has memory at a level's end, and from a pool.
type taker struct {
	m       *Manager
	tag     *Tag
	plan    *plan.Plan
	objects *pool.Pool[[3]int64]
}

func newTaker(t *testing.T, cfg Config) *taker {
	m := newManager(t, cfg)
	objects, err := NewPool[[3]int64](m, pool.Config{Name: "objects", Capacity: 100})
	must(t, err)
	return &taker{m, newTag(t, m, "a"), planOf(t, 5000), objects}
}

// takers allocate in one tier each.
var takers = map[string]func(k *taker) error{
	"static":       func(k *taker) error { _, err := k.m.Declare(k.plan); return err },
	"frame":        func(k *taker) error { _, err := k.m.Frames().Alloc(100, 16); return err },
	"level":        func(k *taker) error { _, err := k.m.Level().Alloc(1000, 16); return err },
	"tagged level": func(k *taker) error { _, err := k.tag.Level().Alloc(1000, 16); return err },
	"pools":        func(k *taker) error { _, _, err := k.objects.New(); return err },
	"new pool": func(k *taker) error {
		p, err := NewPool[[3]int64](k.m, pool.Config{Capacity: 10})
		if err == nil {
			_, _, err = p.New()
		}
		return err
	},
	"slab":   func(k *taker) error { _, err := k.m.Alloc(100, 16); return err },
	"large":  func(k *taker) error { _, err := k.tag.Alloc(10_000, 16); return err },
	"worker": func(k *taker) error { _, err := k.m.Worker(0).Alloc(10_000, 16); return err },
}

// leaves are the blocks that an EndLevel reports for each taker: the others are freed.
var leaves = map[string]string{"slab": "slab", "large": "large", "worker": "workers"}

// callers run a taker during EndLevel: the hooks of each tier, those of the level's arena, and the
// reset of a pool that is newer or older than the pool "objects".
var callers = map[string]func(k *taker, f func()){
	"pools hook":  func(k *taker, f func()) { k.m.OnReset(Pools, f) },
	"level hook":  func(k *taker, f func()) { k.m.OnReset(Level, f) },
	"arena hook":  func(k *taker, f func()) { k.m.Level().OnReset(f) },
	"static hook": func(k *taker, f func()) { k.m.OnReset(Static, f) },
	"late arena hook": func(k *taker, f func()) {
		k.m.OnReset(Static, func() { k.m.Level().OnReset(f) })
	},
	"newer reset": func(k *taker, f func()) { k.m.AddPool("resets", &Funcs{ResetFunc: f}) },
	"older reset": func(k *taker, f func()) {
		k.m.RemovePool(k.objects)
		k.m.AddPool("resets", &Funcs{ResetFunc: f})
		k.m.AddPool("objects", k.objects)
	},
}

// live counts what is left in each tier that EndLevel empties or reports on.
func (k *taker) live() map[string]uint64 {
	l := map[string]uint64{"pools": k.m.Stats(Pools).Live, "static": k.m.Stats(Static).Live, "level": k.m.Stats(Level).Live,
		"slab": k.m.Stats(Slab).Live, "large": k.m.Stats(Large).Live, "workers": k.m.Worker(0).Stats().Live}
	return l
}

func TestManager_EndLevelFreesOrReportsWhatCallbacksTake(t *testing.T) {
	for by, call := range callers {
		for tier, take := range takers {
			t.Run(strings.ReplaceAll(by+" takes "+tier, " ", "_"), func(t *testing.T) {
				k := newTaker(t, tagged())
				must(t, errors.Join(k.m.BeginLevel(), k.m.BeginFrame(), k.m.EndFrame()))
				ran := 0
				var failed error
				call(k, func() {
					if ran++; ran == 1 {
						failed = protect(func() error { return take(k) })
					}
				})
				before := k.live()
				leaks, err := k.m.EndLevel()
				must(t, err)
				if ran != 1 {
					t.Fatalf("the callback ran %d times", ran)
				}
				if failed != nil && !errors.Is(failed, ErrOrder) && !isMisuse(failed) {
					t.Fatal(failed)
				}
				must(t, k.m.Check())
				reported := map[string]uint64{"slab": leaks.Tiers[Slab].Blocks, "large": leaks.Tiers[Large].Blocks, "workers": leaks.Tiers[Inbox].Blocks}
				for _, p := range leaks.Pools {
					reported["pools"] += p.Blocks
				}
				for name, n := range k.live() {
					if n -= before[name]; n != reported[name] {
						t.Errorf("%d blocks are left in %s, reported are %d: %s", n, name, reported[name], leaks)
					}
				}
				if want := leaves[tier]; want != "" && reported[want] != 1 {
					t.Errorf("%s is not reported: %s", tier, leaks)
				}
				if strings.HasSuffix(by, " hook") && by != "late arena hook" && reported["pools"] > 0 {
					t.Errorf("what a hook took from a pool was not freed: %s", leaks)
				}
				if leaks.Any() != (reported["slab"]+reported["large"]+reported["workers"]+reported["pools"] > 0) {
					t.Errorf("Any is %t: %s", leaks.Any(), leaks)
				}
				must(t, k.m.BeginLevel())
				if used := k.m.Level().Used(); used != 0 || k.m.Static() != nil {
					t.Errorf("the next level begins with %d bytes, static %v", used, k.m.Static())
				}
				_, err = k.m.EndLevel()
				must(t, err)
			})
		}
	}
}

func isMisuse(err error) bool { return errors.As(err, new(*memory.Misuse)) }

// Every hook sees every tier as it was before the first reset, at EndLevel and at Close.
func TestManager_AllHooksRunBeforeTheFirstReset(t *testing.T) {
	for _, border := range []string{"EndLevel", "Close"} {
		m := newManager(t, small())
		var ran []string
		objects, err := NewPool[[3]int64](m, pool.Config{Capacity: 10})
		must(t, err)
		m.AddPool("resets", &Funcs{ResetFunc: func() { ran = append(ran, "reset") }})
		must(t, m.BeginLevel())
		a, err := m.Declare(planOf(t, 5000))
		must(t, err)
		a.Begin(0)
		alloc(t, m.Level(), 1000)
		_, _, err = objects.New()
		must(t, err)
		must(t, m.BeginFrame())
		alloc(t, m.Frame(), 100)
		hook := func(name string) func() {
			return func() {
				ran = append(ran, name)
				if live, used := objects.Stats().Live, m.Level().Used(); live != 1 || used != 1000 || m.Static() != a || a.Get(0) == nil || m.Frames().At(0) == nil || len(m.Frames().At(0)) != 100 {
					t.Errorf("%s, %s: %d objects, %d bytes in the level, static %v", border, name, live, used, m.Static())
				}
			}
		}
		for _, tier := range []Tier{Static, Level, Pools} {
			m.OnReset(tier, hook(tier.String()))
		}
		want := []string{"pools", "level", "static", "reset"}
		if border == "Close" {
			m.OnReset(Frame, hook("frame"))
			want = []string{"pools", "level", "frame", "static", "reset"}
		}
		must(t, m.EndFrame())
		if border == "Close" {
			must(t, m.Close())
		} else {
			_, err = m.EndLevel()
			must(t, err)
		}
		if !slices.Equal(ran, want) {
			t.Errorf("%s ran %v, want %v", border, ran, want)
		}
	}
}

// A hook may register hooks for tiers whose hooks run later; the others are refused.
func TestManager_OnResetRefusesTiersWhoseHooksHaveRun(t *testing.T) {
	m := newManager(t, small())
	f := func() {}
	var ran []string
	must(t, m.BeginLevel())
	refused := func(at string, tiers ...Tier) {
		for _, tier := range tiers {
			if err := protect(func() error { m.OnReset(tier, f); return nil }); !isMisuse(err) || !strings.Contains(fmt.Sprint(err), "tiers.OnReset") {
				t.Errorf("%s registers for %s: %v", at, tier, err)
			}
		}
	}
	m.OnReset(Pools, func() {
		m.OnReset(Level, func() { ran = append(ran, "level") })
		m.OnReset(Static, func() { ran = append(ran, "static") })
	})
	m.OnReset(Level, func() { refused("level hook", Pools) })
	m.OnReset(Static, func() { refused("static hook", Pools, Level) })
	m.AddPool("resets", &Funcs{ResetFunc: func() { refused("reset", Pools, Level, Static) }})
	_, err := m.EndLevel()
	must(t, err)
	if want := []string{"level", "static"}; !slices.Equal(ran, want) {
		t.Errorf("ran %v, want %v", ran, want)
	}
	must(t, m.BeginLevel())
	for _, tier := range hookTiers {
		m.OnReset(tier, f)
	}
	_, err = m.EndLevel()
	must(t, err)
}

// Objects taken between an EndLevel that failed and its repetition are freed by the repetition.
func TestManager_ARepeatedEndLevelFreesLaterObjects(t *testing.T) {
	k := newTaker(t, small())
	panics := true
	k.m.RemovePool(k.objects)
	k.m.AddPool("panics", &Funcs{ResetFunc: func() {
		if panics {
			panic(errInjected)
		}
	}})
	k.m.AddPool("objects", k.objects)
	must(t, k.m.BeginLevel())
	if err := protect(func() error { return endLevel(k.m) }); err != errInjected {
		t.Fatal(err)
	}
	_, _, err := k.objects.New()
	must(t, err)
	alloc(t, k.m.Level(), 1000)
	ran := 0
	k.m.OnReset(Static, func() { ran++ })
	panics = false
	leaks, err := k.m.EndLevel()
	must(t, err)
	if n := k.objects.Stats().Live; n != 0 || ran != 1 || leaks.Any() {
		t.Errorf("%d objects are left, the hook ran %d times: %s", n, ran, leaks)
	}
	must(t, k.m.Check())
}

// Nothing begins or ends, and no static memory is declared, while a callback runs.
func TestManager_DeclareFromACallbackOfABorderIsRefused(t *testing.T) {
	m := newManager(t, small())
	calls := 0
	declare := func() {
		calls++
		if _, err := m.Declare(planOf(t, 5000)); !errors.Is(err, ErrOrder) {
			t.Errorf("call %d: %v", calls, err)
		}
	}
	m.AddPool("pool", &Funcs{ResetFunc: declare})
	must(t, m.BeginLevel())
	for _, tier := range hookTiers {
		m.OnReset(tier, declare)
	}
	_, err := m.EndLevel()
	must(t, err)
	if calls != 4 {
		t.Errorf("%d calls", calls)
	}
	memtest.MustCheck(t, m)
}
