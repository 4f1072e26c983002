package tiers

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/plan"
	"github.com/strata-go/strata/memory/slab"
)

func planOf(t testing.TB, size uintptr) *plan.Plan {
	t.Helper()
	p, err := plan.Fast([]plan.Buffer{{ID: 0, Size: size, Birth: 0, Death: 1}})
	must(t, err)
	return p
}

func TestConfig_ZeroMeansTheDefaultsThatItsCommentsName(t *testing.T) {
	c, err := Config{}.withDefaults()
	must(t, err)
	var want [Count]uintptr
	for tier := range Tier(Count) {
		want[tier] = tier.Info().Reserve
	}
	if c.Reserve != want {
		t.Errorf("reserve %d, want %d", c.Reserve, want)
	}
	if want[Inbox] *= 2; c.Budget != want {
		t.Errorf("budget %d, want %d", c.Budget, want)
	}
	if c.Source == nil || c.Frames != 2 || c.Workers != 2 || c.SoftMark != 0.75 || c.SlabMax != 4096 || c.QuickBytes != 0 || c.GC != (gcpace.Config{}) || c.OnSoft != nil {
		t.Errorf("%+v", c)
	}
	if err := memtestBounds(c); err != nil {
		t.Error(err)
	}
}

// memtestBounds verifies that Reserved is what withDefaults has come to.
func memtestBounds(c Config) error {
	for tier := range Tier(Count) {
		if got, want := (Config{}).Reserved(tier), c.reserved(tier); got != want {
			return errors.New(tier.String() + ": Reserved is not what New will take")
		}
	}
	return nil
}

func TestConfig_BudgetsAndReservesAreRoundedAndBounded(t *testing.T) {
	cfg := Config{Workers: 3}
	cfg.Reserve[Slab], cfg.Reserve[Inbox] = 1<<20+1, 1
	cfg.Budget[Slab], cfg.Budget[Large], cfg.Budget[Inbox] = 3<<20, 100_000, math.MaxUint
	c, err := cfg.withDefaults()
	must(t, err)
	if c.Reserve[Slab] != 2<<20 || c.Budget[Slab] != 2<<20 || c.Budget[Large] != 100_000 || c.Reserve[Inbox] != 1<<20 || c.Budget[Inbox] != 3<<20 {
		t.Errorf("reserve %d, budget %d", c.Reserve, c.Budget)
	}
	cfg = Config{Frames: 64, Workers: 64, SoftMark: 1, Reserve: small().Reserve}
	cfg.Reserve[Frame] = 8 << 20
	c, err = cfg.withDefaults()
	if err != nil || c.Frames != 64 || c.Workers != 64 || c.SoftMark != 1 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestConfig_NoWorkersReserveNothing(t *testing.T) {
	for _, n := range []int{-1, -2, math.MinInt} {
		if got := (Config{Workers: n}).Reserved(Inbox); got != 0 {
			t.Errorf("%d workers reserve %d bytes", n, got)
		}
	}
	cfg := small()
	cfg.Workers = -1
	m := newManager(t, cfg)
	if m.Workers() != 0 || m.Stats(Inbox) != (memory.Stats{}) {
		t.Errorf("%d workers with %+v", m.Workers(), m.Stats(Inbox))
	}
	memtest.Misuse(t, func() { m.Worker(0) }, "there is no worker 0 of 0")
	must(t, m.BeginFrame())
	must(t, m.EndFrame())
	must(t, m.Check())
	if got := (Config{Workers: 3, Reserve: [Count]uintptr{Inbox: 2 << 20}}).Reserved(Inbox); got != 6<<20 {
		t.Errorf("three workers reserve %d bytes", got)
	}
}

func TestConfig_SumsBeyondTheAddressesAreRefused(t *testing.T) {
	var cfg Config
	for tier := range cfg.Reserve {
		cfg.Reserve[tier] = math.MaxUint / 4 & (1<<40 - 1) // each is allowed on its own
	}
	cfg.Workers = 64
	wide := uint64(math.MaxUint)>>32 != 0
	if !wide { // on 64 bits the sum of all that is allowed still is
		if _, err := New(cfg); !errors.Is(err, memory.ErrConfig) || !strings.Contains(err.Error(), "tiers: Reserve of all tiers") {
			t.Errorf("New = %v", err)
		}
	}
	cfg = Config{Workers: 64}
	cfg.Reserve[Inbox] = math.MaxUint / 8
	if got := cfg.Reserved(Inbox); got != 0 {
		t.Errorf("64 times an eighth of all addresses is %d bytes", got)
	}
}

// A Reserve that slab or tlsf refuse was reserved first, and the error had no field and another value.
func TestConfig_ReserveAboveTheMaximumIsRefused(t *testing.T) {
	none := memtest.NewFaulty()
	none.FailAt, none.ForGood = 1, true
	heaps := map[Tier]func(n uintptr) error{
		Slab:  func(n uintptr) error { _, err := slab.New(none, slab.Config{Reserve: n}); return err },
		Large: func(n uintptr) error { _, err := newLarge(none, n, largeGranule, 0); return err },
		Inbox: func(n uintptr) error { _, err := newLarge(none, n, workerGranule, 0); return err },
	}
	for tier, most := range map[Tier]uint64{Level: 1 << 40, Slab: 64<<30 - 1<<20, Large: 256 << 30, Inbox: 64 << 30} {
		n := uintptr(min(most, math.MaxUint/4))
		cfg := Config{Workers: 1}
		cfg.Reserve[tier] = n
		if _, err := cfg.withDefaults(); err != nil {
			t.Error(err)
		}
		if heap := heaps[tier]; heap != nil && errors.Is(heap(n), memory.ErrConfig) {
			t.Errorf("%s: %v", tier, heap(n))
		}
		cfg.Reserve[tier]++
		want := fmt.Sprintf("tiers: Reserve[%s] %d: want at most %d: ", tier, n+1, n)
		if _, err := New(cfg); !errors.Is(err, memory.ErrConfig) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

func TestConfig_FramesShareTheirTier(t *testing.T) {
	for _, c := range []struct {
		reserve, budget uintptr
		frames          int
		want            uintptr // 0: refused
	}{
		{1 << 20, 0, 1, 1<<20 - 64<<10}, {1 << 20, 0, 2, 448 << 10}, {1 << 20, 200_000, 2, 98_304}, {1 << 20, 32 << 10, 2, 16 << 10},
		{1 << 20, 32<<10 - 1, 2, 0}, {1 << 20, 0, 12, 16 << 10}, {1 << 20, 0, 13, 0}, {1 << 20, 0, 16, 0}, {1 << 20, 0, 64, 0}, {8 << 20, 0, 64, 64 << 10},
	} {
		cfg := small()
		cfg.Reserve[Frame], cfg.Budget[Frame], cfg.Frames = c.reserve, c.budget, c.frames
		m, err := New(cfg)
		if c.want == 0 {
			if !errors.Is(err, memory.ErrConfig) || !strings.Contains(err.Error(), "for each of") {
				t.Errorf("%+v: %v", c, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		must(t, m.BeginFrame())
		if got := m.Frame().Available(); got != c.want {
			t.Errorf("%+v: a frame has %d bytes", c, got)
		}
		must(t, errors.Join(m.EndFrame(), m.Check(), m.Close()))
	}
}

// An oddSource reserves something else than it was asked for.
type oddSource struct {
	page.Source
	odd func(page.Memory) page.Memory
}

func (s oddSource) Reserve(size uintptr) (page.Memory, error) {
	m, err := s.Source.Reserve(size)
	return s.odd(m), err
}

func TestNew_RefusesWhatASourceMustNotGive(t *testing.T) {
	for name, odd := range map[string]func(page.Memory) page.Memory{
		"nothing":  func(page.Memory) page.Memory { return page.Memory{} },
		"too few":  func(m page.Memory) page.Memory { m.Size -= page.Granule; return m },
		"occupied": func(m page.Memory) page.Memory { return m },
		"occupied where the last worker's heap is": func(m page.Memory) page.Memory { return m },
	} {
		src, open := memtest.NewFaulty(), (*page.Carve)(nil)
		cfg := small()
		cfg.Source = oddSource{src, func(m page.Memory) page.Memory {
			var err error
			switch name {
			case "occupied":
				open, err = page.NewCarve(src, m)
			case "occupied where the last worker's heap is":
				open, err = page.NewCarve(src, page.Memory{Base: unsafe.Add(m.Base, m.Size-3<<20), Size: page.Granule})
			}
			must(t, err)
			return odd(m)
		}}
		m, err := New(cfg)
		want := "tiers: reserve: tiers.oddSource gave"
		if open != nil {
			want = "overlap"
			open.Close()
		}
		if m != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", name, m, err)
		}
		if name != "nothing" && src.Reserved() != 0 { // that one takes what it gave
			t.Errorf("%s: %d reservations are kept", name, src.Reserved())
		}
	}
}

// An invalid field is named with its value and what is allowed, before anything is reserved.
func TestNew_AnInvalidFieldIsErrConfig(t *testing.T) {
	for want, change := range map[string]func(c *Config){
		"Source is a nil *memtest.Faulty: want a page source": func(c *Config) { c.Source = (*memtest.Faulty)(nil) },
		"Frames -1: want 1 to 64":                             func(c *Config) { c.Frames = -1 },
		"Frames 65: want 1 to 64":                             func(c *Config) { c.Frames = 65 },
		"Workers 65: want at most 64":                         func(c *Config) { c.Workers = 65 },
		"SoftMark -0.5: want a share above 0":                 func(c *Config) { c.SoftMark = -0.5 },
		"SoftMark 1.5: want a share above 0 and up to 1":      func(c *Config) { c.SoftMark = 1.5 },
		"SoftMark NaN: want":                                  func(c *Config) { c.SoftMark = math.NaN() },
		"FreeItems -1: want 1 to 64":                          func(c *Config) { c.FreeItems = -1 },
		"FreeItems 65: want 1 to 64":                          func(c *Config) { c.FreeItems = 65 },
		"SlabMax 65537: want at most 65536, or 0 for 4096":    func(c *Config) { c.SlabMax = 64<<10 + 1 },
		"QuickBytes 1048577: want at most 1048576":            func(c *Config) { c.QuickBytes, c.Reserve[Large] = 1<<20+1, 1<<20 },
		"GC: gcpace: Headroom -1: want at least 0":            func(c *Config) { c.GC.Headroom = -1 },
		"Reserve[slab]":                                       func(c *Config) { c.Reserve[Slab] = math.MaxUint },
		"Reserve[inbox]":                                      func(c *Config) { c.Reserve[Inbox] = math.MaxUint / 2 },
		"Scratch 2097153: want at most 2097152":               func(c *Config) { c.Scratch = 2<<20 + 1 },
		"Budget[frame] 1 of Reserve[frame] 1048576: want":     func(c *Config) { c.Budget[Frame] = 1 },
		"want at least 16384 and 81920 for each of 64":        func(c *Config) { c.Frames = 64 },
	} {
		src := memtest.NewFaulty()
		cfg := small()
		cfg.Source = src
		change(&cfg)
		m, err := New(cfg)
		if m != nil || !errors.Is(err, memory.ErrConfig) || !strings.HasPrefix(err.Error(), "tiers: ") || !strings.Contains(err.Error(), want) || errors.Is(err, memory.ErrOutOfMemory) || src.Calls() != 0 {
			t.Errorf("%v after %d calls of the source; want ErrConfig with %q", err, src.Calls(), want)
		}
	}
	for name, change := range map[string]func(c *Config){
		"64 frames":    func(c *Config) { c.Frames, c.Reserve[Frame] = 64, 8<<20 },
		"no workers":   func(c *Config) { c.Workers = -7 },
		"soft mark 1":  func(c *Config) { c.SoftMark = 1 },
		"64 items":     func(c *Config) { c.FreeItems = 64 },
		"largest slab": func(c *Config) { c.SlabMax = 64 << 10 },
		"all waits":    func(c *Config) { c.QuickBytes = c.Reserve[Large] },
		"half scratch": func(c *Config) { c.Scratch = 2 << 20 },
		"large budget": func(c *Config) { c.Budget[Slab] = math.MaxUint },
	} {
		cfg := small()
		change(&cfg)
		m, err := New(cfg)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		must(t, m.Close())
	}
}

func TestNew_NamesTheTierThatCouldNotBeMade(t *testing.T) {
	for want, change := range map[string]func(c *Config){
		"tiers: Budget[frame]": func(c *Config) { c.Budget[Frame] = 1 },
		"tiers: reserve":       func(c *Config) { f := c.Source.(*memtest.Faulty); f.FailAt, f.ForGood = 1, true },
	} {
		src := memtest.NewFaulty()
		cfg := small()
		cfg.Source = src
		change(&cfg)
		if m, err := New(cfg); m != nil || err == nil || !strings.Contains(err.Error(), want) || src.Reserved() != 0 {
			t.Errorf("%q: %v, %v, %d reservations", want, m, err, src.Reserved())
		}
	}
}

func TestConfig_ABudgetOfNoByteForEachWorkerGivesThemNothing(t *testing.T) {
	cfg := small()
	cfg.Workers, cfg.Budget[Inbox] = 2, 1
	m := newManager(t, cfg)
	for k := range cfg.Workers {
		if p, err := m.Worker(k).Alloc(16, 16); !errors.Is(err, memory.ErrOutOfMemory) {
			t.Errorf("worker %d has %p of half a byte, %v", k, p, err)
		}
	}
	must(t, m.Check())
}

func TestManager_ABudgetChangesWhilePlaying(t *testing.T) {
	m, err := New(Config{GC: gcpace.Config{Keep: true}, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	p, err := m.Large().Alloc(100<<10, 16)
	if err != nil {
		t.Fatal(err)
	}
	was := m.Stats(Large).Committed
	if err := m.SetBudget(Large, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Large().Alloc(8<<20, 16); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("no other page, and yet 8 MiB: %v", err)
	}
	var s Snapshot
	if m.Snapshot(&s); s.Tiers[Large].Budget != was || s.Tiers[Large].Failures == 0 {
		t.Errorf("budget %d, committed %d, %d failures", s.Tiers[Large].Budget, was, s.Tiers[Large].Failures)
	}
	if err := m.Check(); err != nil {
		t.Error(err)
	}
	if err := m.SetBudget(Large, 32<<20); err != nil {
		t.Fatal(err)
	}
	q, err := m.Large().Alloc(8<<20, 16)
	if err != nil {
		t.Errorf("of 32 MiB, 8: %v", err)
	}
	m.FreeAny(p)
	m.FreeAny(q)
	if err := m.SetBudget(Inbox, 1); err == nil || !strings.Contains(err.Error(), "; set Config.Budget: ") {
		t.Error(err)
	}
	for _, bad := range []error{m.SetBudget(Inbox, 1<<20), m.SetBudget(Tier(99), 1<<20), m.SetBudget(Slab, 0)} {
		if !errors.Is(bad, memory.ErrConfig) {
			t.Errorf("a budget that is not allowed: %v", bad)
		}
	}
	if err := m.SetBudget(Count, 1<<20); !strings.Contains(err.Error(), "it is no tier") {
		t.Errorf("what is no tier: %v", err)
	}
	if err := errors.Join(m.Check(), m.Close()); err != nil {
		t.Error(err)
	}
	if err := m.SetBudget(Slab, 1<<20); !errors.Is(err, memory.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}
