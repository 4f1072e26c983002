package tiers

import (
	"errors"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/pool"
)

var objectsConfig = pool.Config{Name: "objects", Capacity: 100}

// A fakePool is a pool whose methods are watched.
type fakePool struct {
	name   string
	log    *[]string
	books  memory.Stats
	broken error // what Close and Check return
}

func (p *fakePool) Stats() memory.Stats { return p.books }
func (p *fakePool) Reset()              { *p.log = append(*p.log, "reset "+p.name) }
func (p *fakePool) Close() error        { *p.log = append(*p.log, "close "+p.name); return p.broken }
func (p *fakePool) Check() error        { return p.broken }

func TestManager_PoolsAreResetAndClosedNewestFirst(t *testing.T) {
	m := newManager(t, small())
	var log []string
	a, b := &fakePool{name: "a", log: &log}, &fakePool{name: "b", log: &log}
	m.AddPool("a", a) // made outside a level, and reset with it all the same
	must(t, m.BeginLevel())
	m.AddPool("b", b)
	m.AddPool("none", &Funcs{})
	expect := func(want string) {
		t.Helper()
		if got := strings.Join(log, ", "); got != want {
			t.Errorf("got %s; want %s", got, want)
		}
		log = nil
	}
	_, err := m.EndLevel()
	must(t, err)
	expect("reset b, reset a")
	must(t, m.BeginLevel())
	_, err = m.EndLevel()
	must(t, err)
	expect("reset b, reset a")
	a.broken = errors.New("not yet")
	if err := m.Close(); !errors.Is(err, a.broken) || !strings.Contains(err.Error(), `tiers: close: pool "a": not yet`) {
		t.Errorf("Close = %v", err)
	}
	expect("reset b, reset a, close b, close a")
	a.broken = nil
	must(t, m.Close())
	expect("close a") // what was reset and closed is done with
	must(t, m.Close())
	expect("")
}

func TestManager_PoolsAreRegisteredOnceAndWhileItIsOpen(t *testing.T) {
	m := newManager(t, small())
	var log []string
	p := &fakePool{name: "p", log: &log}
	m.AddPool("p", p)
	memtest.Misuse(t, func() { m.AddPool("q", p) }, `tiers.AddPool: "q": the pool is registered already, as "p"`)
	memtest.Misuse(t, func() { m.AddPool("n", nil) }, `"n": the pool is nil`)
	memtest.Misuse(t, func() { m.AddPool("n", (*fakePool)(nil)) }, `"n": the pool is nil`)
	if !m.RemovePool(p) || m.RemovePool(p) {
		t.Error("RemovePool: it was registered once")
	}
	m.AddPool("p", p)
	m.AddPool("u", uncomparable{})
	m.AddPool("u", uncomparable{}) // cannot be told apart
	if m.RemovePool(uncomparable{}) {
		t.Error("RemovePool found what does not compare")
	}
	n := 0
	m.Inspect().EachPool(func(name string, s memory.Stats) { n++; m.RemovePool(p) })
	if n != 2 && n != 3 {
		t.Errorf("EachPool yielded %d", n)
	}
	m.AddPool("selfish", &Funcs{ResetFunc: func() { m.RemovePool(p) }})
	m.AddPool("p", p)
	must(t, m.BeginLevel())
	memtest.Misuse(t, func() { _, _ = m.EndLevel() }, "tiers.RemovePool: the pools are being reset or closed")
	m.pools.all = m.pools.all[:0]
	m.AddPool("breeder", &Funcs{ResetFunc: func() { m.AddPool("child", &Funcs{}) }})
	memtest.Misuse(t, func() { _, _ = m.EndLevel() }, "tiers.AddPool: the pools are being reset or closed")
	m.pools.all = m.pools.all[:0]
	_, err := m.EndLevel()
	must(t, err)
	must(t, m.Close())
	memtest.Misuse(t, func() { m.AddPool("p", p) }, "the manager is closed")
	memtest.Misuse(t, func() { m.AddPool("p", &Funcs{}) }, "the manager is closed")
	if _, err := NewPool[[3]int64](m, objectsConfig); !errors.Is(err, memory.ErrClosed) {
		t.Errorf("NewPool after Close: %v", err)
	}
	m.Inspect().EachPool(func(string, memory.Stats) { t.Error("a closed manager has pools") })
}

type uncomparable struct{ F []int }

func (uncomparable) Stats() memory.Stats { return memory.Stats{} }
func (uncomparable) Reset()              {}
func (uncomparable) Close() error        { return nil }

func TestNewPool_RegistersWhatItMakes(t *testing.T) {
	m := newManager(t, small())
	objects, err := NewPool[[3]int64](m, objectsConfig)
	must(t, err)
	h, _, err := objects.New()
	must(t, err)
	found := false
	m.Inspect().EachPool(func(name string, s memory.Stats) { found = name == "objects" && s.Live == 1 })
	if s := m.Stats(Pools); !found || s.Live != 1 || s.InUse == 0 || s.Committed == 0 || s.Reserved != 8<<20 {
		t.Errorf("pools: %+v", s)
	}
	must(t, m.BeginLevel())
	_, err = m.EndLevel()
	must(t, err)
	if _, ok := objects.Get(h); ok {
		t.Error("the object outlives the level")
	}
	if _, err := NewPool[*int](m, objectsConfig); err == nil || len(m.pools.all) != 1 {
		t.Errorf("a pool of pointers: %v, %d registered", err, len(m.pools.all))
	}
	if _, err := NewPool[[3]int64](m, objectsConfigOf(1<<20)); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("a pool beyond the tier: %v", err)
	}
}

func TestNewPool_SevenWithoutCapacityFitTheDefaultTier(t *testing.T) {
	m, err := New(Config{})
	must(t, err)
	eighth := int(m.parts[Pools].Memory().Size / 8)
	for i := range 7 { // each has a guard behind it
		p, err := NewPool[[24]byte](m, pool.Config{})
		if err != nil {
			t.Fatalf("pool %d: %v", i, err)
		}
		if n := 24 * p.Cap(); n < eighth-64<<10 || n > eighth {
			t.Errorf("pool %d has space for %d bytes; want %d", i, n, eighth)
		}
	}
	must(t, m.Close())
	if large := uint64(64 << 30); uint64(uintptr(large)) == large && page.Default() != page.Heap() { // only addresses
		var cfg Config
		cfg.Reserve[Pools] = uintptr(large)
		m, err = New(cfg)
		must(t, err)
		if p, err := NewPool[struct{}](m, pool.Config{}); err != nil || p.Cap() > 64<<20 {
			t.Errorf("a pool in a large tier: %v, %v", p, err)
		}
		must(t, m.Close())
	}
	m = newManager(t, small())
	if big, err := NewPool[[1 << 20]byte](m, pool.Config{}); err != nil || big.Cap() != 1 {
		t.Errorf("a pool of large objects: %v, %v", big, err)
	}
}

func TestManager_WhatWasNeverRegisteredCountsAndEndsWithIt(t *testing.T) {
	m := newManager(t, small())
	p, err := page.NewPrefix(m.PoolSource(), 1<<20, 1<<20, 0)
	must(t, err)
	lost := 0
	p.Watch(func() { lost++ })
	must(t, p.Ensure(100_000))
	if s := m.Stats(Pools); s.Committed < 100_000 || s.InUse != 0 {
		t.Errorf("pools: %+v", s)
	}
	must(t, m.Check())
	must(t, m.Close())
	if lost != 1 || p.Base() != nil || p.Committed() != 0 {
		t.Errorf("told %d times, base %v, %d bytes", lost, p.Base(), p.Committed())
	}
	if err := errors.Join(p.Close(), p.Check()); err != nil {
		t.Error(err)
	}
	if s := m.Stats(Pools); s.Committed != 0 || s.Reserved != 0 {
		t.Errorf("pools after Close: %+v", s)
	}
	if _, err := m.PoolSource().Reserve(1); !errors.Is(err, memory.ErrClosed) {
		t.Errorf("PoolSource after Close: %v", err)
	}
}

func objectsConfigOf(n int) pool.Config { return pool.Config{Name: "objects", Capacity: n} }

func TestManager_FrameAfterFailedEndLevelResetsPoolsAgain(t *testing.T) {
	m := newManager(t, small())
	resets, fail := 0, true
	m.AddPool("older", &Funcs{ResetFunc: func() {
		if fail {
			panic(errInjected)
		}
	}})
	m.AddPool("newer", &Funcs{ResetFunc: func() { resets++ }})
	must(t, m.BeginLevel())
	end := func() error { _, err := m.EndLevel(); return err }
	for _, want := range []int{1, 1, 2} {
		if want == 2 { // the level goes on, and fills the pool again
			must(t, m.BeginFrame())
			must(t, m.EndFrame())
		}
		if err := protect(end); err == nil || resets != want || !m.Inspect().InLevel() {
			t.Errorf("%v: the newer pool was reset %d times, want %d", err, resets, want)
		}
	}
	fail = false
	must(t, end())
	if resets != 2 {
		t.Errorf("reset %d times", resets)
	}
}

func TestManager_EachPoolYieldsAllDuringRemovals(t *testing.T) {
	m := newManager(t, small())
	pools := map[string]*pool.Pool[[3]int64]{}
	for _, name := range []string{"a", "b", "c", "d"} {
		p, err := NewPool[[3]int64](m, pool.Config{Name: name, Capacity: 100})
		must(t, err)
		pools[name] = p
	}
	for _, gone := range []string{"a", "d", "b"} {
		want, names := "", ""
		m.Inspect().EachPool(func(name string, _ memory.Stats) { want += name })
		m.Inspect().EachPool(func(name string, _ memory.Stats) {
			if names += name; name == gone && !m.RemovePool(pools[gone]) {
				t.Errorf("%s cannot be removed", name)
			}
		})
		if names != want {
			t.Errorf("of %s %s are yielded where %s is removed", want, names, gone)
		}
	}
}
