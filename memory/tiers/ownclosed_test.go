package tiers_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/tiers"
)

// Check names an allocator of the manager that the program has closed, EndLevel fails, and Close closes the rest.
func TestManager_AnAllocatorThatTheProgramClosedIsNamed(t *testing.T) {
	for name, of := range map[string]func(m *tiers.Manager) func() error{
		"level tier": func(m *tiers.Manager) func() error { return m.Level().Close },
		"frame tier": func(m *tiers.Manager) func() error { return m.Frames().Close },
		"slab tier":  func(m *tiers.Manager) func() error { return m.Slab().Close },
		"large tier": func(m *tiers.Manager) func() error { return m.Large().Close },
	} {
		for again := range 2 {
			m, err := tiers.New(tiers.Config{})
			if err := errors.Join(err, m.BeginLevel(), m.Check(), of(m)()); err != nil {
				t.Fatal(err)
			}
			if err := m.Check(); !errors.Is(err, memory.ErrClosed) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: Check: %v", name, err)
			}
			for range 2 * again {
				if _, err := m.EndLevel(); !errors.Is(err, memory.ErrClosed) || !strings.Contains(err.Error(), name) {
					t.Errorf("%s: EndLevel: %v", name, err)
				}
				if err := m.NextFrame(); name == "frame tier" && (!errors.Is(err, memory.ErrClosed) || !strings.Contains(err.Error(), name)) {
					t.Errorf("NextFrame: %v", err)
				} else if err == nil {
					_ = m.EndFrame()
				}
			}
			if err := m.Close(); err != nil {
				t.Errorf("%s: Close: %v", name, err)
			}
		}
	}
	m, err := tiers.New(tiers.Config{})
	if err := errors.Join(err, m.BeginFrame(), m.Frame().Close()); err != nil {
		t.Fatal(err)
	}
	if err := m.Check(); !errors.Is(err, memory.ErrClosed) || !strings.Contains(err.Error(), "frame tier") {
		t.Errorf("one buffer: Check: %v", err)
	}
	if err := errors.Join(m.EndFrame(), m.Close()); err != nil {
		t.Error(err)
	}
}

func TestManager_AClosedPoolIsNamedAndCanBeRemoved(t *testing.T) {
	m, err := tiers.New(tiers.Config{})
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := pool.NewBlocks(m.PoolSource(), pool.BlocksConfig{Capacity: 8})
	typed, err1 := pool.New[int64](m.PoolSource(), pool.Config{Capacity: 8})
	split, err2 := pool.NewSplit[int64, int32](m.PoolSource(), pool.Config{Capacity: 8})
	if err := errors.Join(err, err1, err2); err != nil {
		t.Fatal(err)
	}
	for _, p := range []tiers.Pool{blocks, typed, split} {
		m.AddPool("p", p)
		if err := errors.Join(m.BeginLevel(), p.Close()); err != nil {
			t.Fatal(err)
		}
		const want = `pool "p" was closed while registered; call RemovePool`
		if err := m.Check(); !errors.Is(err, memory.ErrClosed) || !strings.Contains(err.Error(), want) {
			t.Errorf("%T: Check: %v", p, err)
		}
		if _, err := m.EndLevel(); !errors.Is(err, memory.ErrClosed) || !strings.Contains(err.Error(), want) {
			t.Errorf("%T: EndLevel: %v", p, err)
		}
		m.RemovePool(p)
		if _, err := m.EndLevel(); err != nil {
			t.Errorf("%T: EndLevel without the pool: %v", p, err)
		}
		memtest.Misuse(t, func() { m.AddPool("q", p) }, "tiers.AddPool", `"q": the pool is closed`)
	}
	if _, err := ecs.New(blocks, ecs.Config{}); !errors.Is(err, memory.ErrClosed) {
		t.Errorf("ecs.New of a closed pool: %v", err)
	}
	last, err := tiers.NewPool[int64](m, pool.Config{})
	if err := errors.Join(err, last.Close(), m.Close()); err != nil {
		t.Errorf("Close with a closed pool: %v", err)
	}
}

// After a Close of the slab outside a level, BeginLevel fails.
func TestBeginLevel_NamesAnAllocatorThatTheProgramClosed(t *testing.T) {
	m, err := tiers.New(tiers.Config{})
	if err := errors.Join(err, m.Slab().Close()); err != nil {
		t.Fatal(err)
	}
	if err := m.BeginLevel(); !errors.Is(err, memory.ErrClosed) || !strings.Contains(err.Error(), "slab tier") {
		t.Errorf("BeginLevel: %v", err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

// A task whose scratch arena the program has closed can end, and then the manager can be closed.
func TestWorker_AScratchArenaThatTheProgramClosedIsNamed(t *testing.T) {
	m, err := tiers.New(tiers.Config{Workers: 2})
	w := m.Worker(1)
	a, err1 := w.BeginTask()
	if err := errors.Join(err, err1); err != nil {
		t.Fatal(err)
	}
	memtest.MustAlloc(t, a, 100, 8)
	if err := errors.Join(m.Check(), a.Close()); err != nil {
		t.Fatal(err)
	}
	begin := func() error { _, err := w.BeginTask(); return err }
	for _, f := range []func() error{m.Check, w.EndTask, m.Check, begin, m.BeginLevel} {
		const want = "the program has closed the scratch arena of worker 1, which"
		if err := f(); !errors.Is(err, memory.ErrClosed) || !strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), "inbox tier") {
			t.Error(err)
		} else if n := strings.Count(err.Error(), "bytes"); n > 0 {
			t.Errorf("%v: another error", err)
		}
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

// If a callback closes an allocator of the manager, the call that runs the callback names the allocator.
func TestManager_AnAllocatorThatACallbackClosedIsNamed(t *testing.T) {
	end := func(m *tiers.Manager) error { _, err := m.EndLevel(); return err }
	for tier, of := range map[string]func(m *tiers.Manager) func() error{
		"level": func(m *tiers.Manager) func() error { return m.Level().Close },
		"frame": func(m *tiers.Manager) func() error { return m.Frames().Close },
		"slab":  func(m *tiers.Manager) func() error { return m.Slab().Close },
		"large": func(m *tiers.Manager) func() error { return m.Large().Close },
	} {
		for where, set := range map[string]func(m *tiers.Manager, f func()) (call func(*tiers.Manager) error){
			"hook": func(m *tiers.Manager, f func()) func(*tiers.Manager) error { m.OnReset(tiers.Pools, f); return end },
			"reset": func(m *tiers.Manager, f func()) func(*tiers.Manager) error {
				m.AddPool("p", &tiers.Funcs{ResetFunc: f})
				return end
			},
			"stats": func(m *tiers.Manager, f func()) func(*tiers.Manager) error {
				m.AddPool("p", &tiers.Funcs{StatsFunc: func() (s memory.Stats) { f(); return s }})
				return (*tiers.Manager).BeginFrame
			},
		} {
			m, err := tiers.New(tiers.Config{})
			if err := errors.Join(err, m.BeginLevel()); err != nil {
				t.Fatal(err)
			}
			armed, shut := false, of(m)
			call := set(m, func() {
				if armed {
					armed = false
					err = errors.Join(err, shut())
				}
			})
			armed = true
			for range 2 {
				if got := call(m); (where != "stats" || tier == "frame") && (!errors.Is(got, memory.ErrClosed) || !strings.Contains(got.Error(), tier+" tier")) {
					t.Errorf("%s closed in %s: %v", tier, where, got)
				}
			}
			if where == "stats" {
				_ = m.EndFrame()
			}
			if err := errors.Join(err, m.Close()); err != nil || armed {
				t.Errorf("%s closed in %s: Close: %v", tier, where, err)
			}
		}
	}
}

// A pool whose Stats closes the slab is a mistake, which BeginLevel names.
func TestBeginLevel_NamesAnAllocatorThatStatsClosed(t *testing.T) {
	m, err := tiers.New(tiers.Config{})
	if err != nil {
		t.Fatal(err)
	}
	armed := false
	m.AddPool("p", &tiers.Funcs{StatsFunc: func() (s memory.Stats) {
		if armed {
			armed, err = false, m.Slab().Close()
		}
		return s
	}})
	armed = true
	for range 2 {
		if err := m.BeginLevel(); !errors.Is(err, memory.ErrClosed) || !strings.Contains(err.Error(), "slab tier") {
			t.Errorf("BeginLevel: %v", err)
		}
	}
	if err := errors.Join(err, m.Close()); err != nil {
		t.Error(err)
	}
}
