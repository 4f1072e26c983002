package tiers

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/trace"
)

// An unruly is a random program whose callbacks panic, end their goroutine, or close an allocator of the manager.
type unruly struct {
	t      *testing.T
	rng    *rand.Rand
	m      *Manager
	often  bool // each callback fails; otherwise one of three
	armed  bool
	closed bool // a callback has closed an allocator
	log    []string
}

// Write is that of the trace's io.Writer.
func (f *unruly) Write(b []byte) (int, error) { f.fail("the writer"); return len(b), nil }

// fail is what each callback does.
func (f *unruly) fail(where string) {
	if !f.armed || !f.often && f.rng.IntN(3) > 0 {
		return
	}
	m, deed := f.m, f.rng.IntN(9)
	f.log = append(f.log, fmt.Sprintf("deed %d in %s", deed, where))
	switch deed {
	case 0, 1:
		panic(errInjected)
	case 2, 3:
		runtime.Goexit()
	}
	shut := []func() error{m.level.arena.Close, m.frame.ring.Close, m.slab.heap.Close, m.large.heap.Close, m.inbox.workers[0].scratch.frames.Close}[deed-4]
	f.closed = protect(shut) == nil || f.closed // an arena refuses it in its own hook
}

// do calls op on a goroutine, and reports whether it returned.
func (f *unruly) do(name string, op func() error) (returned bool) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		var err error
		defer func() {
			r := recover()
			f.log = append(f.log, fmt.Sprint(name, ": ", returned, " ", err, " ", r))
		}()
		err = op()
		returned = true
	}()
	testenv.Receive(f.t, name, done)
	return returned
}

// step makes a random call.
func (f *unruly) step(live map[uintptr]uintptr) {
	m, rng := f.m, f.rng
	hook := func() { f.fail("a hook") }
	switch rng.IntN(12) {
	case 0, 1:
		f.do("NextFrame", m.NextFrame)
	case 2:
		f.do("EndFrame", m.EndFrame)
	case 3:
		f.do("BeginLevel", m.BeginLevel)
	case 4:
		f.do("EndLevel", func() error { _, err := m.EndLevel(); return err })
	case 5:
		f.do("OnReset", func() error { m.OnReset([]Tier{Pools, Level, Frame, Static}[rng.IntN(4)], hook); return nil })
	case 6:
		m.AddPool("p", &Funcs{ResetFunc: func() { f.fail("Reset") }, CloseFunc: func() error { f.fail("Close"); return nil }})
	case 7:
		f.do("BeginTask", func() error {
			a, err := m.Worker(0).BeginTask()
			if err == nil {
				a.OnReset(hook)
			}
			return err
		})
	case 8:
		f.do("EndTask", m.Worker(0).EndTask)
	case 9:
		f.do("Worker.Alloc", func() error { _, err := m.Worker(0).Alloc(uintptr(rng.IntN(50_000)), 8); return err })
	case 10:
		f.do("Frame", func() error { _, err := m.Frame().Alloc(uintptr(rng.IntN(60_000)), 8); return err })
	case 11:
		size := uintptr(1 + rng.IntN(60_000)>>rng.IntN(10))
		f.do("Alloc", func() error {
			p, err := m.Alloc(size, 8)
			if err != nil {
				return err
			}
			for q, n := range live {
				if uintptr(p) < q+n && q < uintptr(p)+size {
					f.t.Errorf("%d bytes at %p: %d bytes are live at %#x", size, p, n, q)
				}
			}
			live[uintptr(p)] = size
			return nil
		})
	}
}

// Whatever callbacks do, Check raises no false alarm, a frame and a task can end, and the second Close completes.
func TestManager_ClosesAfterProgramsWhoseCallbacksFail(t *testing.T) {
	for seed := range 200 {
		rng, src := rand.New(rand.NewPCG(uint64(seed), 77)), memtest.NewFaulty()
		f := &unruly{t: t, rng: rng, often: seed%3 == 0}
		cfg := small()
		cfg.Source, cfg.SoftMark = src, 0.02
		cfg.OnSoft = func(Tier, uintptr, uintptr) { f.fail("OnSoft") }
		if seed%4 == 0 {
			var err error
			cfg.Trace, err = trace.NewWriter(f, trace.Header{}, trace.Config{})
			must(t, err)
		}
		var err error
		f.m, err = New(cfg)
		must(t, err)
		m, live := f.m, map[uintptr]uintptr{}
		for range 10 + rng.IntN(50) {
			f.armed = true
			f.step(live)
			f.armed = false
			if err := m.Check(); err != nil && !(f.closed && errors.Is(err, memory.ErrClosed)) {
				t.Errorf("Check: %v", err)
			}
		}
		f.armed = true
		for range 2 {
			f.do("EndFrame", m.EndFrame)
		}
		for w := m.Worker(0); w.inTask(); { // each call runs a hook
			f.do("EndTask", w.EndTask)
		}
		for range 2 {
			f.do("Close", m.Close)
		}
		if m.phase != closed || src.Reserved() != 0 {
			t.Errorf("phase %d, %d reservations", m.phase, src.Reserved())
		}
		if t.Failed() {
			t.Fatalf("seed %d: %q", seed, f.log[max(len(f.log)-12, 0):])
		}
	}
}
