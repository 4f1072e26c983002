package tiers

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
)

// A fiend is a registered pool of which one method calls f, and InUse what inUse says.
type fiend struct {
	method string
	f      func() error
}

func (p *fiend) call(method string) error {
	if p.method == method {
		return p.f()
	}
	return nil
}

func (p *fiend) Stats() (s memory.Stats) { _ = p.call("Stats"); return s }
func (p *fiend) Reset()                  { _ = p.call("Reset") }
func (p *fiend) Close() error            { return p.call("Close") }
func (p *fiend) InUse() error            { return p.call("InUse") }

// fiends register f where a Close calls it, and say what the error calls it.
var fiends = map[string]struct {
	add  func(m *Manager, f func() error)
	name string
}{
	"pools hook":       {func(m *Manager, f func() error) { m.OnReset(Pools, func() { _ = f() }) }, "a hook of the pools tier"},
	"level hook":       {func(m *Manager, f func() error) { m.OnReset(Level, func() { _ = f() }) }, "a hook of the level tier"},
	"frame hook":       {func(m *Manager, f func() error) { m.OnReset(Frame, func() { _ = f() }) }, "a hook of the frame tier"},
	"static hook":      {func(m *Manager, f func() error) { m.OnReset(Static, func() { _ = f() }) }, "a hook of the static tier"},
	"level arena hook": {func(m *Manager, f func() error) { m.Level().OnReset(func() { _ = f() }) }, "a hook of the level tier"},
	"late level hook": {func(m *Manager, f func() error) {
		m.AddPool("late", &Funcs{ResetFunc: func() { m.Level().OnReset(func() { _ = f() }) }})
	}, "a hook of the level's arena"},
	"late frame hook": {func(m *Manager, f func() error) {
		m.AddPool("late", &Funcs{ResetFunc: func() { m.Frames().Current().OnReset(func() { _ = f() }) }})
	}, "a hook of a frame's arena"},
	"late scratch hook": {func(m *Manager, f func() error) {
		a, _ := m.Worker(1).BeginTask()
		_ = m.Worker(1).EndTask()
		a.OnReset(func() { _ = f() })
	}, "the scratch arena of worker 1"},
	"reset": {func(m *Manager, f func() error) { m.AddPool("p", &fiend{"Reset", f}) }, `the reset of pool "p"`},
	"close": {func(m *Manager, f func() error) { m.AddPool("p", &fiend{"Close", f}) }, `pool "p"`},
	"in use": {func(m *Manager, f func() error) {
		m.AddPool("p", &fiend{"InUse", func() error { _ = f(); return nil }})
	},
		`InUse of pool "p"`},
	"reset func": {func(m *Manager, f func() error) { m.AddPool("q", &Funcs{ResetFunc: func() { _ = f() }}) }, `the reset of pool "q"`},
	"close func": {func(m *Manager, f func() error) { m.AddPool("q", &Funcs{CloseFunc: f}) }, `pool "q"`},
	"soft mark": {func(m *Manager, f func() error) {
		m.limits[Large].OnSoft(0, func(uintptr, uintptr) { _ = f() })
		m.AddPool("allocates", &Funcs{CloseFunc: func() error {
			_, err := m.Alloc(10_000, 16)
			return err
		}})
	}, `pool "allocates"`},
	"watcher of the pools": {func(m *Manager, f func() error) {
		m.PoolSource().(page.Watched).Watch(func() { _ = f() })
	}, "what is built on PoolSource"},
}

// What a fiend does at its call n, from 1.
var deeds = map[string]func(n int) error{
	"panics":           func(int) error { panic(errInjected) },
	"panics once":      func(n int) error { return panicIf(n == 1) },
	"panics with text": func(int) error { panic("text") },
	"panics with nil":  func(int) error { panic(nil) },
	"ends goroutine":   func(int) error { runtime.Goexit(); return nil },
	"ends it once": func(n int) error {
		if n == 1 {
			runtime.Goexit()
		}
		return nil
	},
	"fails": func(int) error { return errInjected },
}

func panicIf(yes bool) error {
	if yes {
		panic(errInjected)
	}
	return nil
}

// closeElsewhere calls Close on a goroutine, and returns its error or what it panicked with.
func closeElsewhere(t *testing.T, m *Manager) (err error, returned bool) {
	t.Helper()
	done := make(chan struct{}, 1)
	go func() {
		defer func() { done <- struct{}{} }()
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("panicked: %v", r)
			}
		}()
		err = m.Close()
		returned = true
	}()
	testenv.Receive(t, "Close returns", done)
	return err, returned
}

func TestManager_CloseCompletesAtTheSecondCall(t *testing.T) {
	for where, fiend := range fiends {
		for what, deed := range deeds {
			name := where + " " + what
			before := gogc()
			src := memtest.NewFaulty()
			cfg := small()
			cfg.Source = src
			m, err := New(cfg)
			must(t, err)
			must(t, errors.Join(m.BeginLevel(), m.BeginFrame()))
			others := 0
			other := func() {
				m.AddPool("other", &Funcs{ResetFunc: func() { others++ }, CloseFunc: func() error { others++; return nil }})
				for _, tier := range []Tier{Pools, Level, Static, Frame} {
					m.OnReset(tier, func() { others++ })
				}
			}
			n := 0
			other()
			fiend.add(m, func() error { n++; return deed(n) })
			other()
			must(t, m.EndFrame())
			first, returned := closeElsewhere(t, m)
			for k, w := range m.inbox.workers {
				if m.phase < closing {
					break
				}
				if _, err := w.BeginTask(); err != memory.ErrClosed || w.EndTask() != memory.ErrClosed {
					t.Fatalf("%s: BeginTask of worker %d after Close: %v", name, k, err)
				}
			}
			called, second := n, error(nil)
			if !returned || first != nil {
				called, second = n, nil
				second, returned = closeElsewhere(t, m)
			}
			if m.phase != closed || src.Reserved() != 0 {
				t.Errorf("%s: phase %d, %d reservations: %v, then %v", name, m.phase, src.Reserved(), first, second)
			}
			if now := gogc(); now != before {
				t.Errorf("%s: GOGC is %d, and was %d", name, now, before)
			}
			if others != 12 || n == 0 {
				t.Errorf("%s: it was called %d times, and %d other callbacks ran", name, n, others)
			}
			fails := n > called && !strings.HasSuffix(what, "once") && (what != "fails" || strings.HasPrefix(where, "close"))
			if returned && fails != (second != nil) || second != nil && !strings.Contains(second.Error(), fiend.name) {
				t.Errorf("%s: %v, then %v; want it to name %q: %t", name, first, second, fiend.name, fails)
			}
			if what == "panics" && second != nil && !errors.Is(second, errInjected) {
				t.Errorf("%s: %v", name, second)
			}
			must(t, errors.Join(m.Close(), m.Check()))
		}
	}
}

// A second Close runs the callbacks that are left, and its error names each that fails.
func TestManager_TheSecondCloseNamesEveryFailure(t *testing.T) {
	m := newManager(t, small())
	must(t, m.BeginLevel())
	for i := range 50 {
		m.OnReset(Level, func() { panic(fmt.Sprint("hook ", i)) })
	}
	m.AddPool("textures", &Funcs{ResetFunc: func() { panic(errInjected) }})
	m.AddPool("files", &Funcs{CloseFunc: func() error { return errInjected }})
	if err, _ := closeElsewhere(t, m); err == nil || err.Error() != "panicked: hook 49" {
		t.Errorf("the first Close: %v", err)
	}
	err, _ := closeElsewhere(t, m)
	for _, want := range []string{"tiers: close: a hook of the level tier panicked at closecallback_test.go:", ": hook 48", ": hook 17", "19 more errors"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the second Close: %v; want %q", err, want)
		}
	}
	must(t, m.Close())
}

// In use, Close changes nothing, however often it is called, and completes afterwards.
func TestManager_CloseInUseChangesNothing(t *testing.T) {
	m := newManager(t, small())
	must(t, errors.Join(m.BeginLevel(), m.BeginFrame()))
	ran := 0
	run := func() { ran++ }
	for _, tier := range []Tier{Pools, Level, Static, Frame} {
		m.OnReset(tier, run)
	}
	m.AddPool("other", &Funcs{ResetFunc: run, CloseFunc: func() error { run(); return nil }})
	query := errInjected
	m.AddPool("world", &fiend{"InUse", func() error { return query }})
	refused := func(want string, sentinel error) {
		t.Helper()
		for range 3 {
			if err := m.Close(); !errors.Is(err, sentinel) || !strings.Contains(err.Error(), want) || ran > 0 {
				t.Errorf("%v after %d callbacks; want %q", err, ran, want)
			}
			must(t, m.Check())
		}
	}
	refused("Close inside a frame; EndFrame first", ErrOrder)
	must(t, m.EndFrame())
	refused(`tiers: close: pool "world": injected`, errInjected)
	_, err := m.Worker(1).BeginTask()
	must(t, err)
	refused("Close inside a task of worker 1; EndTask first", ErrOrder)
	must(t, m.Worker(1).EndTask())
	mark := m.Level().Mark()
	m.Level().OnReset(func() { refused("Close from a hook of an arena; return from it first", ErrOrder) })
	m.Level().Rewind(mark)
	refused(`pool "world"`, errInjected)
	query = nil
	must(t, m.Close())
	if ran != 6 {
		t.Errorf("%d callbacks ran", ran)
	}
}

// A border that is called from an allocation or from the page source is refused.
func TestManager_BordersFromWithinAnAllocationAreRefused(t *testing.T) {
	src := &callingSource{Source: page.Default()}
	cfg := small()
	cfg.Source = src
	var m *Manager
	var got []error
	borders := func() {
		_, end := m.EndLevel()
		got = append(got, m.Close(), m.BeginFrame(), end)
	}
	cfg.OnSoft = func(Tier, uintptr, uintptr) { borders() }
	cfg.SoftMark = 0.01
	m, err := New(cfg)
	must(t, err)
	must(t, m.BeginLevel())
	alloc(t, m.Level(), 1<<20)
	alloc(t, m, 1<<20)
	src.call = borders
	alloc(t, m, 2<<20)
	src.call = nil
	if len(got) < 9 {
		t.Errorf("%d calls", len(got))
	}
	for _, err := range got {
		if !errors.Is(err, ErrOrder) || !strings.Contains(err.Error(), " from ") {
			t.Error(err)
		}
	}
	must(t, errors.Join(m.Check(), m.Close()))
}

// A worker holds its lock while the source commits for it: Close is refused there, and does not wait.
func TestManager_CloseFromAWorkersCommitIsRefused(t *testing.T) {
	src := &callingSource{Source: page.Default()}
	cfg := small()
	cfg.Source = src
	m, err := New(cfg)
	must(t, err)
	var got error
	src.call = func() { got, _ = closeElsewhere(t, m) }
	alloc(t, m.Worker(0), 1000)
	src.call = nil
	if !errors.Is(got, ErrOrder) || !strings.Contains(got.Error(), "Close from a call of the page source for worker 0") {
		t.Errorf("Close: %v", got)
	}
	must(t, errors.Join(m.Check(), m.Close()))
}

// A callingSource calls out of Commit.
type callingSource struct {
	page.Source
	call func()
}

func (s *callingSource) Commit(m page.Memory, off, size uintptr) error {
	if s.call != nil {
		s.call()
	}
	return s.Source.Commit(m, off, size)
}

// A callback of the first Close may begin a task. If a hook of the task then panics, the second Close ends the task.
func TestManager_CloseEndsTheTaskOfACallback(t *testing.T) {
	m, err := New(Config{Workers: 1})
	must(t, err)
	m.AddPool("p", &Funcs{ResetFunc: func() {
		a, err := m.Worker(0).BeginTask()
		must(t, err)
		a.OnReset(func() { panic(errInjected) })
	}})
	if _, returned := closeElsewhere(t, m); returned {
		t.Error("the panic did not pass through")
	}
	if err := m.Worker(0).EndTask(); err != memory.ErrClosed {
		t.Errorf("EndTask after Close: %v", err)
	}
	if err := m.Close(); m.phase != closed {
		t.Errorf("the second Close: %v", err)
	}
}
