package tiers

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/plan"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/remote"
)

// errInjected is what faults are made of, whether returned or raised.
var errInjected = errors.New("injected")

// A fault strikes once, at the visit whose number is at; 0: never.
type fault struct {
	at, visits int
	where      string // where it struck
	resting    bool
}

// strikes counts a visit.
func (f *fault) strikes(where string) bool {
	if f.resting {
		return false
	}
	f.visits++
	if f.visits == f.at {
		f.where = where
		return true
	}
	return false
}

func (f *fault) panic(where string) {
	if f.strikes(where) {
		panic(errInjected)
	}
}

// A faultySource returns an error from any of its calls.
type faultySource struct {
	page.Source
	*fault
	open int
}

func (s *faultySource) err(op string) error {
	if s.strikes(op) {
		return &memory.Exhausted{Op: op, Cause: errInjected}
	}
	return nil
}

func (s *faultySource) Reserve(size uintptr) (page.Memory, error) {
	if err := s.err("Reserve"); err != nil {
		return page.Memory{}, err
	}
	s.open++
	return s.Source.Reserve(size)
}

func (s *faultySource) Commit(m page.Memory, off, size uintptr) error {
	if err := s.err("Commit"); err != nil {
		return err
	}
	return s.Source.Commit(m, off, size)
}

func (s *faultySource) Decommit(m page.Memory, off, size uintptr) error {
	if err := s.err("Decommit"); err != nil {
		return err
	}
	return s.Source.Decommit(m, off, size)
}

func (s *faultySource) Release(m page.Memory) error {
	if err := s.err("Release"); err != nil {
		return err
	}
	err := s.Source.Release(m)
	if err == nil {
		s.open--
	}
	return err
}

// A play is a manager that runs two levels with everything in them that can fail, and repeats
// each call that does.
type play struct {
	t        *testing.T
	m        *Manager
	src      *faultySource
	panics   *fault // out of callbacks
	refuse   int    // the step, from 1, before which a block is freed twice elsewhere; 0: none
	steps    int
	repeated int
	log      []string // what must be the same in every play
	pools    [3]uint64
	hooks    int
	told     int
	home     *remote.Freer
}

func newPlay(t *testing.T, panics, errs *fault) *play {
	p := &play{t: t, panics: panics, src: &faultySource{Source: page.Default(), fault: errs}}
	cfg := Config{
		Source: p.src, GC: gcpace.Config{Keep: true}, Workers: 1, SoftMark: 0.1,
		Reserve: [Count]uintptr{Static: 1 << 20, Frame: 1 << 20, Level: 2 << 20, Pools: 4 << 20, Slab: 2 << 20, Large: 4 << 20, Inbox: 4 << 20},
		OnSoft:  func(Tier, uintptr, uintptr) { panics.panic("OnSoft"); p.told++ },
	}
	p.do("New", func() (err error) { p.m, err = New(cfg); return err })
	return p
}

// do repeats a call until it works: once is enough for a fault that strikes once.
func (p *play) do(name string, call func() error) {
	p.t.Helper()
	p.steps++
	if p.refuse == p.steps && p.m != nil {
		q := alloc(p.t, p.m, 64) // freed twice here, once in the others
		p.home.FreeAny(q)
		p.home.FreeAny(q)
		must(p.t, p.home.Flush())
	}
	for try := range 3 {
		err := protect(call)
		if err == nil {
			return
		}
		if m := (*memory.Misuse)(nil); !errors.Is(err, errInjected) && !errors.As(err, &m) {
			p.t.Fatalf("%s: %v", name, err)
		}
		p.repeated++
		if try == 2 {
			p.t.Fatalf("%s still fails: %v", name, err)
		}
		p.check(name + " after " + err.Error())
	}
}

// protect turns a panic into an error.
func protect(call func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = r.(error)
		}
	}()
	return call()
}

func (p *play) check(when string) {
	p.t.Helper()
	if p.m == nil {
		return
	}
	p.panics.resting, p.src.resting = true, true
	defer func() { p.panics.resting, p.src.resting = false, false }()
	if err := p.m.Check(); err != nil {
		p.t.Fatalf("%s: Check: %v", when, err)
	}
}

// hook returns a function that counts and then may panic: it is run once, whatever happens.
func (p *play) hook(where string) func() {
	return func() { p.hooks++; p.panics.panic(where) }
}

func (p *play) block(a memory.Allocator, size uintptr) (q unsafe.Pointer) {
	p.t.Helper()
	p.do("Alloc", func() (err error) { q, err = a.Alloc(size, 16); return err })
	return q
}

// register adds three pools: one that can do everything, one made of functions, and one that
// no level resets.
func (p *play) register() {
	objects, err := pool.New[[3]int64](p.m.PoolSource(), pool.Config{Capacity: 8000})
	p.do("pool.New", func() error { return err })
	books := func(where string) func() memory.Stats {
		return func() memory.Stats { p.panics.panic(where); return objects.Stats() }
	}
	count := func(where string, n *uint64, f func() error) func() error {
		return func() error { p.panics.panic(where); *n++; return f() }
	}
	reset := count("reset objects", &p.pools[0], func() error { objects.Reset(); return nil })
	p.do("AddFuncs", func() error {
		p.m.AddPool("objects", &Funcs{StatsFunc: books("stats of objects"), ResetFunc: func() { _ = reset() }, CloseFunc: count("close of objects", &p.pools[1], objects.Close)})
		return nil
	})
	another := count("reset another", &p.pools[2], func() error { return nil })
	p.do("AddFuncs", func() error { p.m.AddPool("another", &Funcs{ResetFunc: func() { _ = another() }}); return nil })
	p.do("AddFuncs", func() error {
		p.m.AddPool("kept", &Funcs{StatsFunc: func() memory.Stats { p.panics.panic("stats of kept"); return memory.Stats{} }, CloseFunc: func() error { p.panics.panic("close of kept"); return nil }})
		return nil
	})
	for range 20 {
		p.do("pool's New", func() error { _, _, err := objects.New(); return err })
	}
}

func (p *play) run() {
	m := p.m
	p.home = m.NewFreer()
	p.register()
	passes, err := plan.Fast([]plan.Buffer{{ID: 0, Size: 300_000, Birth: 0, Death: 2}})
	must(p.t, err)
	for range 2 {
		p.do("BeginLevel", m.BeginLevel)
		p.do("Declare", func() error { _, err := m.Declare(passes); return err })
		p.do("OnReset", func() error {
			m.Level().OnReset(p.hook("level hook"))
			m.Level().OnReset(p.hook("level hook"))
			return nil
		})
		p.block(m.Level(), 600_000)
		for range 3 {
			p.frame()
		}
		var l Leaks
		p.do("EndLevel", func() (err error) { l, err = m.EndLevel(); return err })
		p.log = append(p.log, l.String())
		if m.Inspect().InLevel() || m.Static() != nil || m.level.arena.Used() != 0 {
			p.t.Fatal("the level has ended, but not all of it")
		}
	}
	p.frame()
	for _, t := range []Tier{Static, Frame, Level, Pools, Slab, Large, Inbox} {
		p.panics.resting = true
		s := m.Stats(t)
		p.panics.resting = false
		p.log = append(p.log, fmt.Sprintf("%v: %d bytes in %d of %d blocks", t, s.InUse, s.Live, s.Allocs))
	}
	p.log = append(p.log, fmt.Sprintf("frame %d, level %d", m.frame.begun, m.level.begun))
	p.do("Close", m.Close)
	p.log = append(p.log, fmt.Sprintf("pools %v, %d hooks", p.pools, p.hooks))
	if p.src.open != 0 {
		p.t.Fatalf("%d reservations are left", p.src.open)
	}
}

func (p *play) frame() {
	m := p.m
	// A buffer that is new, or comes back from its rest, takes memory, and a frame that is refused
	// has no room.
	p.src.resting = true
	p.do("BeginFrame", m.BeginFrame)
	p.src.resting = false
	m.Frame().OnReset(p.hook("frame hook"))
	m.Frame().OnReset(p.hook("frame hook"))
	p.block(m.Frame(), 200_000)
	small, large := p.block(m, 1000), p.block(m, 500_000)
	p.block(m, 300) // leaks, where there is a level
	staging := p.block(m.Worker(0), 400_000)
	p.do("Free", func() error { m.Free(staging, 400_000); return nil })
	p.home.FreeAny(small)
	p.home.FreeAny(large)
	p.do("Flush", p.home.Flush)
	p.do("EndFrame", m.EndFrame)
}

// twin plays without a fault.
func twin(t *testing.T) *play {
	p := newPlay(t, &fault{}, &fault{})
	p.run()
	if p.told < 5 || p.repeated != 0 {
		t.Fatalf("OnSoft was called %d times, %d calls were repeated", p.told, p.repeated)
	}
	return p
}

func (p *play) same(t *testing.T, want *play, what string) {
	t.Helper()
	if a, b := strings.Join(p.log, "\n"), strings.Join(want.log, "\n"); a != b {
		t.Fatalf("%s:\n%s\nwithout:\n%s", what, a, b)
	}
}

func TestManager_APanicOutOfAnyCallbackLosesNothing(t *testing.T) {
	want := twin(t)
	places := map[string]bool{}
	for at := 1; ; at++ {
		p := newPlay(t, &fault{at: at}, &fault{})
		p.run()
		if p.panics.where == "" {
			break
		}
		places[p.panics.where] = true
		p.same(t, want, fmt.Sprintf("with a panic at callback %d, %s", at, p.panics.where))
		if p.repeated != 1 {
			t.Fatalf("callback %d, %s: %d calls were repeated", at, p.panics.where, p.repeated)
		}
	}
	if len(places) != 9 {
		t.Errorf("struck at %v", places)
	}
}

func TestManager_AnErrorFromAnyCallOfTheSourceLosesNothing(t *testing.T) {
	want := twin(t)
	places := map[string]bool{}
	for at := 1; ; at++ {
		p := newPlay(t, &fault{}, &fault{at: at})
		p.run()
		if p.src.where == "" {
			break
		}
		places[p.src.where] = true
		p.same(t, want, fmt.Sprintf("with an error from call %d, %s", at, p.src.where))
	}
	if len(places) != 4 {
		t.Errorf("struck at %v", places)
	}
}

func TestNew_APanicOfTheSourceKeepsNothing(t *testing.T) {
	for call := 1; ; call++ {
		src := memtest.NewFaulty()
		src.PanicAt = call
		var m *Manager
		if err := protect(func() (err error) { m, err = New(Config{Source: src, GC: gcpace.Config{Keep: true}}); return err }); err == nil {
			must(t, m.Close())
			break
		}
		if src.Reserved() != 0 {
			t.Errorf("a panic in call %d leaves %d reservations", call, src.Reserved())
		}
	}
}

func TestEndFrame_OnSoftIsToldOnceThoughAPoolsBooksPanic(t *testing.T) {
	told, books := 0, fault{at: 1, resting: true}
	m, err := New(Config{GC: gcpace.Config{Keep: true}, OnSoft: func(Tier, uintptr, uintptr) { told++ }})
	must(t, err)
	m.AddPool("books", &Funcs{StatsFunc: func() memory.Stats { books.panic("stats"); return memory.Stats{} }})
	must(t, m.BeginFrame())
	alloc(t, m.Frame(), m.Frame().Available()-4096)
	books.resting = false
	if err := protect(m.EndFrame); err != errInjected {
		t.Errorf("EndFrame: %v", err)
	}
	must(t, m.EndFrame())
	if told != 1 {
		t.Errorf("OnSoft was called %d times for one frame", told)
	}
	must(t, m.Close())
}

func TestManager_ARefusedBlockFromElsewhereLosesNothing(t *testing.T) {
	want := twin(t)
	for at := 2; at <= want.steps; at++ { // New is the first step
		p := newPlay(t, &fault{}, &fault{})
		p.refuse = at
		func() {
			defer func() { p.refuse = 0 }()
			p.run()
		}()
		if p.repeated == 0 {
			t.Fatalf("a block freed twice before step %d was not refused", at)
		}
	}
}
