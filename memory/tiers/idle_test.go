package tiers

import (
	"runtime"
	"testing"

	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
)

// A manager that holds nothing takes next to nothing: books grow with what is in use, and memory
// is committed when it is first needed.
func TestManager_ThatHoldsNothingTakesNextToNothing(t *testing.T) {
	const heap, committed = 128 << 10, 256 << 10
	live := func() uint64 {
		runtime.GC()
		runtime.GC()
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		return s.HeapAlloc
	}
	limit := page.NewLimit(nil, 0)
	least := ^uint64(0)
	for range 3 { // of three, since the runtime's own goroutines allocate, too
		before := live()
		m, err := New(Config{Source: limit, GC: gcpace.Config{Keep: true}})
		if err != nil {
			t.Fatal(err)
		}
		if after := live(); after > before {
			least = min(least, after-before)
		}
		if got := limit.Committed(); got > committed {
			t.Errorf("%d bytes are committed, want %d at most", got, committed)
		}
		must(t, m.Check())
		must(t, m.Close())
	}
	addresses := uintptr(0)
	for tier := range Tier(Count) {
		addresses += Config{}.Reserved(tier)
	}
	t.Logf("an idle manager takes %d KiB of Go heap and %d MiB of addresses; %d bytes are committed", least>>10, addresses>>20, limit.Peak())
	_, mapped := page.Default().(interface{ Granted() page.Granted }) // otherwise the addresses are of the Go heap
	if mapped && !invariant.Debug && least > heap {
		t.Errorf("an idle manager takes %d bytes of Go heap, want %d at most", least, heap)
	}
}

// Huge pages and prefaulting are off unless they are asked for, and Pages says what was had.
func TestConfig_HugePagesAndPrefaultReachTheSystem(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want bool
	}{{Config{}, false}, {Config{Prefault: true}, true}, {Config{HugePages: true, Prefault: true}, true}, {Config{Prefault: true, Source: page.Default()}, false}} {
		c.cfg.GC.Keep = true
		m, err := New(c.cfg)
		must(t, err)
		p, err := m.Alloc(100, 16)
		must(t, err)
		g := m.Inspect().Pages()
		_, mapped := page.Default().(interface{ Granted() page.Granted })
		if had := g.Populated+g.Touched > 0; had != (c.want && mapped) || g.Huge > 0 && !c.cfg.HugePages {
			t.Errorf("%+v: granted are %+v", c.cfg, g)
		}
		t.Logf("huge %t, prefault %t: %+v, %d bytes committed", c.cfg.HugePages, c.cfg.Prefault, g, m.Stats(Slab).Committed)
		m.Free(p, 100)
		must(t, m.Check())
		must(t, m.Close())
	}
}
