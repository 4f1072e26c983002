package tiers

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/plan"
	"github.com/strata-go/strata/memory/pool"
)

// hookTiers are those that are reset, in the order in which EndLevel does it; Frame has its own time.
var hookTiers = []Tier{Pools, Level, Static}

func TestManager_HooksRunOnceNewestFirstBeforeTheirTierDies(t *testing.T) {
	m := newManager(t, small())
	var ran []string
	objects, err := NewPool[[3]int64](m, pool.Config{Capacity: 10})
	must(t, err)
	for level := range 3 {
		must(t, m.BeginLevel())
		a, err := m.Declare(planOf(t, 5000))
		must(t, err)
		p := (*byte)(alloc(t, m.Level(), 1))
		*p = 9
		_, _, err = objects.New()
		must(t, err)
		for i := range 2 {
			for _, tier := range hookTiers {
				m.OnReset(tier, func() {
					ran = append(ran, fmt.Sprintf("%s%d", tier, i))
					intact := objects.Stats().Live == 1
					if tier != Pools {
						intact = *p == 9 && m.level.arena.Live(unsafe.Pointer(p)) || tier == Static && m.static.arena != nil && a.Get(0) != nil
					}
					if !intact {
						t.Errorf("level %d: what %s has is gone before its hooks have run", level, tier)
					}
				})
			}
		}
		_, err = m.EndLevel()
		must(t, err)
		if want := "[pools1 pools0 level1 level0 static1 static0]"; fmt.Sprint(ran) != want {
			t.Errorf("%v, want %s", ran, want)
		}
		ran = ran[:0]
		must(t, m.Check())
	}
	m.OnReset(Pools, func() { ran = append(ran, "outside a level") })
	must(t, m.BeginLevel())
	m.OnReset(Static, func() { ran = append(ran, "static") })
	m.OnReset(Level, func() { ran = append(ran, "level") })
	must(t, m.BeginFrame())
	m.OnReset(Frame, func() { ran = append(ran, "frame") })
	must(t, m.EndFrame())
	must(t, m.Close())
	if want := []string{"outside a level", "level", "frame", "static"}; !slices.Equal(ran, want) {
		t.Errorf("Close ran %v, want %v", ran, want)
	}
}

func TestManager_AFramesHooksRunWhenItExpires(t *testing.T) {
	m := newManager(t, small())
	var ran []uint64
	for i := range uint64(12) {
		must(t, m.BeginFrame())
		m.OnReset(Frame, func() { ran = append(ran, i) })
		must(t, m.EndFrame())
	}
	if want := 12 - 2; len(ran) != want || !slices.IsSorted(ran) {
		t.Errorf("%v ran of 12 frames; want %d", ran, want)
	}
}

func TestManager_AHookOfARewindMayEndNothing(t *testing.T) {
	for name, rewind := range map[string]func(m *Manager, hook func()){
		"frame": func(m *Manager, hook func()) {
			mark := m.Frames().Current().Mark()
			m.OnReset(Frame, hook)
			m.Frames().Current().Rewind(mark)
		},
		"level": func(m *Manager, hook func()) {
			mark := m.Level().Mark()
			m.OnReset(Level, hook)
			m.Level().Rewind(mark)
		},
		"level, outside a frame": func(m *Manager, hook func()) {
			must(t, m.EndFrame())
			mark := m.Level().Mark()
			m.OnReset(Level, hook)
			m.Level().Rewind(mark)
			must(t, m.BeginFrame())
		},
	} {
		cfg := small()
		cfg.Frames = 1
		m := newManager(t, cfg)
		must(t, m.BeginLevel())
		must(t, m.BeginFrame())
		ran := 0
		rewind(m, func() {
			for op, call := range map[string]func() error{
				"BeginFrame": m.BeginFrame, "EndFrame": m.EndFrame, "NextFrame": m.NextFrame, "BeginLevel": m.BeginLevel, "Close": m.Close,
				"EndLevel": func() error { _, err := m.EndLevel(); return err },
				"Declare":  func() error { _, err := m.Declare(nil); return err },
			} {
				if ran++; !errors.Is(call(), ErrOrder) {
					t.Errorf("%s: %s succeeded in the hook", name, op)
				}
			}
		})
		must(t, m.EndFrame())
		if leaks, err := m.EndLevel(); ran != 7 || err != nil || leaks.Any() {
			t.Errorf("%s: %d calls; EndLevel: %v, %v", name, ran, leaks, err)
		}
	}
}

// A function of the page source runs while an allocation commits memory. Declare panicked or succeeded there.
func TestManager_DeclareIsRefusedInACallOfTheSource(t *testing.T) {
	p, err := plan.Fast([]plan.Buffer{{Size: 5000, Death: 1}})
	must(t, err)
	for name, commit := range map[string]func(m *Manager) error{
		"Declare":     func(m *Manager) error { _, err := m.Declare(p); return err },
		"Level.Alloc": func(m *Manager) error { _, err := m.Level().Alloc(1000, 8); return err },
	} {
		src := page.NewLimit(nil, 0)
		cfg := small()
		cfg.Source, cfg.Workers = src, -1
		m := newManager(t, cfg)
		must(t, m.BeginLevel())
		ran := false
		src.OnSoft(1, func(_, _ uintptr) {
			if ran {
				return
			}
			ran = true
			if _, err := m.Declare(p); !errors.Is(err, ErrOrder) {
				t.Errorf("in a commit of %s: %v", name, err)
			}
		})
		if err := commit(m); err != nil || !ran {
			t.Errorf("%s: %v; the function ran: %t", name, err, ran)
		}
		must(t, m.Check())
	}
}

func TestManager_OnResetRefusesWhatHasNoEnd(t *testing.T) {
	m := newManager(t, small())
	f := func() {}
	for _, c := range []struct {
		tier Tier
		f    func()
		want string
	}{
		{Slab, f, "the slab tier is never reset; its blocks are freed one by one"}, {Large, f, "the large tier is never reset"},
		{Inbox, f, "the inbox tier is never reset"}, {99, f, "the tier(99) tier is never reset"},
		{Pools, nil, "the hook is nil"}, {Frame, f, "outside a frame; NextFrame or BeginFrame first"},
		{Level, f, "outside a level; BeginLevel first"}, {Static, f, "outside a level; BeginLevel first"},
	} {
		memtest.Misuse(t, func() { m.OnReset(c.tier, c.f) }, "tiers.OnReset", c.want)
	}
	must(t, m.BeginLevel())
	for _, tier := range hookTiers {
		m.OnReset(tier, func() {
			if err := protect(func() error { m.OnReset(tier, f); return nil }); !errors.As(err, new(*memory.Misuse)) ||
				!strings.Contains(err.Error(), "is running: it may only allocate and free") {
				t.Errorf("%s: %v", tier, err)
			}
		})
	}
	_, err := m.EndLevel()
	must(t, err)
	must(t, m.Close())
	memtest.Misuse(t, func() { m.OnReset(Pools, f) }, "the manager is closed")
}

// In the midst of a border no other one can be crossed: from hooks, from what pools register, from
// OnSoft, and from the page source.
func TestManager_BordersAreNotCrossedFromWithinOne(t *testing.T) {
	var m *Manager
	var got []string
	refused := func() {
		for name, f := range map[string]func() error{"BeginFrame": m.BeginFrame, "Close": m.Close, "BeginLevel": m.BeginLevel, "EndFrame": m.EndFrame,
			"EndLevel": func() error { _, err := m.EndLevel(); return err }} {
			err := f()
			if !errors.Is(err, ErrOrder) {
				t.Errorf("%s: %v", name, err)
			}
			if err != nil && strings.Contains(err.Error(), name+" from a hook or a callback in ") {
				got = append(got, name)
			}
		}
	}
	m = newManager(t, small())
	m.AddPool("pool", &Funcs{ResetFunc: refused})
	for _, tier := range hookTiers {
		must(t, m.BeginLevel())
		m.OnReset(tier, refused)
		_, err := m.EndLevel()
		must(t, err)
		must(t, m.Check())
	}
	must(t, m.BeginFrame())
	m.OnReset(Frame, refused)
	must(t, m.EndFrame())
	for range 2 + arena.RestingFrames {
		must(t, m.BeginFrame())
		must(t, m.EndFrame())
	}
	if n := len(got); n < 15 || !slices.Contains(got, "BeginFrame") || !slices.Contains(got, "Close") || !slices.Contains(got, "EndLevel") {
		t.Errorf("%v", got)
	}
	must(t, m.Check())
}

// Each hook panics once: every hook runs once, EndLevel completes at the call after the last panic,
// Close at the second call.
func TestManager_AHookThatPanicsIsNotRunAgainAndNothingIsLost(t *testing.T) {
	for _, last := range []bool{false, true} {
		m := newManager(t, tagged())
		tag := newTag(t, m, "a")
		ran := map[string]int{}
		must(t, m.BeginLevel())
		_, err := m.Declare(planOf(t, 5000))
		must(t, err)
		end := func() error { _, err := m.EndLevel(); return err }
		if last {
			end = m.Close
		}
		for i := range 2 {
			for _, tier := range hookTiers {
				m.OnReset(tier, func() {
					ran[fmt.Sprint(tier, i)]++
					tag.Free(alloc(t, tag, 100), 100)
					alloc(t, m.Worker(0).Tag(tag), 300)
					panic(errInjected)
				})
			}
		}
		calls := 6
		if last {
			calls = 1 // the second one completes
		}
		for i := range calls {
			if err := protect(end); err != errInjected {
				t.Fatalf("call %d: %v", i, err)
			}
			must(t, m.Check())
			if !last && !m.Inspect().InLevel() {
				t.Fatal("the level has ended, and not all of its hooks have run")
			}
		}
		if err := end(); last {
			if !errors.Is(err, errInjected) || strings.Count(err.Error(), "tier panicked at hooks_test.go:") != 5 {
				t.Errorf("the second Close: %v", err)
			}
		} else {
			must(t, err)
		}
		if len(ran) != 6 {
			t.Errorf("%v", ran)
		}
		for name, n := range ran {
			if n != 1 {
				t.Errorf("%s ran %d times", name, n)
			}
		}
		if s := tag.Stats(); s.Allocs != 12 || !last && s.Live != 6 {
			t.Errorf("%+v", s)
		}
		must(t, m.Check())
	}
}

// A hook may end what the manager stands on: no other one runs, and nothing is touched any more.
func TestManager_AHookMayEndTheSource(t *testing.T) {
	type border struct {
		name string
		tier Tier
		want int // hooks that run
	}
	for _, c := range []border{
		{"EndLevel", Pools, 1}, {"EndLevel", Level, 2}, {"EndLevel", Static, 3}, {"BeginFrame", Frame, 1},
		{"Close", Pools, 1}, {"Close", Level, 2}, {"Close", Frame, 3}, {"Close", Static, 4},
	} {
		mem, err := page.Default().Reserve(64 << 20)
		must(t, err)
		carve, err := page.NewCarve(page.Default(), mem)
		must(t, err)
		cfg := tagged()
		cfg.Source = carve
		m, err := New(cfg)
		must(t, err)
		must(t, m.BeginLevel())
		_, err = m.Declare(planOf(t, 5000))
		must(t, err)
		alloc(t, newTag(t, m, "a"), 100)
		ran := 0
		must(t, m.BeginFrame())
		for _, other := range []Tier{Pools, Level, Frame, Static} {
			m.OnReset(other, func() { ran++ })
		}
		m.OnReset(c.tier, carve.Close)
		m.OnReset(c.tier, func() { ran++ })
		must(t, m.EndFrame())
		switch c.name {
		case "EndLevel":
			_, err = m.EndLevel()
		case "Close":
			must(t, m.Close())
			err = m.order("Close", "", "")
		default:
			for err = nil; err == nil; {
				if err = m.BeginFrame(); err == nil {
					must(t, m.EndFrame())
				}
			}
		}
		if !errors.Is(err, ErrOrder) || !strings.Contains(err.Error(), c.name+" after Close") {
			t.Errorf("%+v: %v", c, err)
		}
		if ran != c.want {
			t.Errorf("%+v: %d hooks ran", c, ran)
		}
		if m.Owns(mem.Base) || m.BeginFrame() == nil {
			t.Errorf("%+v: the manager is not closed", c)
		}
		must(t, m.Close())
		must(t, page.Default().Release(mem))
	}
}

// So may what a pool does when it is reset, or asked for its books: the call says so, and nothing
// that has ended is touched.
func TestManager_APoolMayEndTheSource(t *testing.T) {
	for _, c := range []struct {
		name  string
		stats bool
	}{{"EndLevel", false}, {"Close", false}, {"BeginLevel", true}, {"EndLevel", true}, {"BeginFrame", true}, {"EndFrame", true}} {
		mem, err := page.Default().Reserve(64 << 20)
		must(t, err)
		carve, err := page.NewCarve(page.Default(), mem)
		must(t, err)
		cfg := tagged()
		cfg.Source = carve
		m, err := New(cfg)
		must(t, err)
		_, err = NewPool[[3]int64](m, pool.Config{Name: "older", Capacity: 100})
		must(t, err)
		armed := false
		end := func(stats bool) {
			if armed && stats == c.stats {
				carve.Close()
			}
		}
		reset := func() { end(false) }
		if c.stats {
			reset = nil
		}
		m.AddPool("ender", &Funcs{StatsFunc: func() memory.Stats { end(true); return memory.Stats{} }, ResetFunc: reset})
		if c.name != "BeginLevel" {
			must(t, m.BeginLevel())
		}
		if c.name == "EndFrame" {
			must(t, m.BeginFrame())
		}
		armed = true
		switch c.name {
		case "EndLevel":
			_, err = m.EndLevel()
		case "Close":
			must(t, m.Close())
			err = m.order("Close", "", "")
		default:
			err = map[string]func() error{"BeginLevel": m.BeginLevel, "BeginFrame": m.BeginFrame, "EndFrame": m.EndFrame}[c.name]()
		}
		if !errors.Is(err, ErrOrder) || !strings.Contains(err.Error(), c.name+" after Close") || m.Owns(mem.Base) {
			t.Errorf("%+v: %v", c, err)
		}
		must(t, m.Close())
		must(t, page.Default().Release(mem))
	}
}
