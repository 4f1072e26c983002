package tiers

import (
	"bytes"
	"encoding/json"
	"errors"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/plan"
	"github.com/strata-go/strata/memory/pool"
)

// small is a manager that fits many times into a test process on the heap backing.
func small() Config {
	return Config{Reserve: [Count]uintptr{Static: 1 << 20, Frame: 1 << 20, Level: 4 << 20, Pools: 8 << 20, Slab: 4 << 20, Large: 8 << 20, Inbox: 4 << 20}}
}

func newManager(t testing.TB, cfg Config) *Manager {
	t.Helper()
	m, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if m.phase&inFrame != 0 {
			_ = m.EndFrame()
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func alloc(t testing.TB, a memory.Allocator, size uintptr) unsafe.Pointer {
	t.Helper()
	p, err := a.Alloc(size, 16)
	if err != nil {
		t.Fatalf("Alloc(%d): %v", size, err)
	}
	return p
}

func TestManager_CallsOutOfOrderSaySo(t *testing.T) {
	m := newManager(t, small())
	wrong := func(err error, want string) {
		t.Helper()
		if !errors.Is(err, ErrOrder) || !strings.Contains(err.Error(), want) {
			t.Errorf("err = %v; want ErrOrder with %q", err, want)
		}
	}
	is := func(level, frame bool) {
		t.Helper()
		if i := m.Inspect(); i.InLevel() != level || i.InFrame() != frame {
			t.Errorf("in a level %t, in a frame %t; want %t and %t", i.InLevel(), i.InFrame(), level, frame)
		}
	}
	endLevel := func() error { _, err := m.EndLevel(); return err }
	is(false, false)
	wrong(m.EndFrame(), "EndFrame outside a frame; NextFrame or BeginFrame first")
	wrong(endLevel(), "EndLevel outside a level; BeginLevel first")
	must(t, m.BeginLevel())
	wrong(m.BeginLevel(), "inside a level")
	must(t, m.BeginFrame())
	wrong(m.BeginFrame(), "inside a frame")
	is(true, true)
	wrong(m.BeginLevel(), "inside a level")
	wrong(endLevel(), "EndLevel inside a frame; EndFrame first")
	if l, _ := m.EndLevel(); l.String() != "no level has ended" {
		t.Errorf("beside the error stands %q", l)
	}
	wrong(m.Close(), "inside a frame")
	must(t, m.EndFrame())
	must(t, endLevel())
	must(t, m.BeginFrame()) // frames run while the next level loads
	wrong(m.BeginLevel(), "BeginLevel inside a frame")
	is(false, true)
	must(t, m.EndFrame())
	must(t, errors.Join(m.Close(), m.Close()))
	is(false, false)
	wrong(m.BeginFrame(), "after Close")
	wrong(m.BeginLevel(), "after Close")
	wrong(m.EndFrame(), "after Close")
	wrong(endLevel(), "after Close")
	_, err := m.Declare(nil)
	wrong(err, "after Close")
}

func TestManager_FreeFindsTheTierByAddress(t *testing.T) {
	m := newManager(t, small())
	must(t, m.BeginLevel())
	must(t, m.BeginFrame())
	for _, c := range []struct {
		tier Tier
		a    memory.Allocator
		size uintptr
	}{
		{Frame, m.Frame(), 100}, {Level, m.Level(), 100}, {Slab, m, 100}, {Slab, m, 4096}, {Large, m, 4097},
		{Large, m, 1 << 20}, {Inbox, m.Worker(0), 10_000}, {Inbox, m.Worker(1), 10_000},
	} {
		p := alloc(t, c.a, c.size)
		if got, ok := m.Inspect().TierOf(p); got != c.tier || !ok || !m.Owns(p) {
			t.Errorf("a block of %d bytes is in %v, %t; want %v", c.size, got, ok, c.tier)
		}
		m.Free(p, c.size)
	}
	for _, tier := range []Tier{Slab, Large} {
		if s := m.Stats(tier); s.Live != 0 || s.Allocs != 2 {
			t.Errorf("%v: live %d of %d", tier, s.Live, s.Allocs)
		}
	}
	p := alloc(t, m, 100)
	m.Free(p, 100)
	memtest.Misuse(t, func() { m.Free(p, 100) }, "slab.Free", "double free")
	memtest.Misuse(t, func() { m.FreeAny(unsafe.Pointer(new(int))) }, "tiers.FreeAny", "no tier of this manager owns the address")
	if _, ok := m.Inspect().TierOf(unsafe.Pointer(m)); ok || m.Owns(nil) {
		t.Error("the manager owns Go memory")
	}
	m.FreeAny(nil)
	must(t, m.Check())
}

func TestManager_FramesRotateAndStayReadable(t *testing.T) {
	m := newManager(t, small())
	must(t, m.BeginFrame())
	kind := memory.MustType[int64]()
	v, err := arena.New(m.Frame(), kind)
	must(t, err)
	*v = 42
	ref := arena.RefTo(m.Frames(), v)
	for i := range 3 {
		got, ok := ref.Get(m.Frames())
		if want := i < 2; ok != want || ok && *got != 42 {
			t.Errorf("%d frames later: %v, %t", i, got, ok)
		}
		must(t, m.EndFrame())
		must(t, m.BeginFrame())
	}
}

func TestManager_EndLevelFreesEverythingAndReportsWhatLeaked(t *testing.T) {
	m := newManager(t, small())
	keep := alloc(t, m, 64) // from before the level: not its leak
	must(t, m.BeginLevel())
	objects, err := pool.New[[3]int64](m.PoolSource(), pool.Config{Capacity: 1000})
	must(t, err)
	m.AddPool("objects", objects)
	h, _, err := objects.New()
	must(t, err)
	var order []string
	m.Level().OnReset(func() { order = append(order, "first") })
	m.Level().OnReset(func() { order = append(order, "second") })
	alloc(t, m.Level(), 1<<20)
	alloc(t, m, 100)
	alloc(t, m, 100_000)
	if s := m.Stats(Pools); s.InUse == 0 || s.Live != 1 {
		t.Errorf("pools: %+v", s)
	}
	leaks, err := m.EndLevel()
	must(t, err)
	if leaks.Tiers[Slab].Blocks != 1 || leaks.Tiers[Large].Blocks != 1 || leaks.Tiers[Large].Bytes < 100_000 || !leaks.Any() || leaks.Level != 1 {
		t.Errorf("leaks: %+v", leaks)
	}
	if want := "1 block of"; !strings.Contains(leaks.String(), want) {
		t.Errorf("%q lacks %q", leaks, want)
	}
	if _, ok := objects.Get(h); ok || m.Stats(Pools).Live != 0 || m.level.arena.Used() != 0 {
		t.Error("the level's objects live on")
	}
	if strings.Join(order, " ") != "second first" {
		t.Errorf("hooks ran %v", order)
	}
	m.Free(keep, 64)
	names := ""
	m.Inspect().EachPool(func(name string, s memory.Stats) { names += name })
	if names != "objects" {
		t.Errorf("pools %q", names)
	}
	must(t, m.Check())
}

func TestManager_WorkerBlocksComeHome(t *testing.T) {
	m := newManager(t, small())
	w := m.Worker(0)
	blocks := make(chan unsafe.Pointer, 4)
	done := make(chan bool)
	const n = 500
	go func() {
		for range n {
			p, err := w.Alloc(64<<10, 64)
			for err != nil { // until the game has sent some home
				runtime.Gosched()
				p, err = w.Alloc(64<<10, 64)
			}
			*(*uint64)(p) = 7
			blocks <- p
		}
		close(blocks)
		<-done
		w.Settle()
		done <- true
	}()
	for p := range blocks {
		must(t, m.BeginFrame())
		if *(*uint64)(p) != 7 {
			t.Fatal("a staging block was overwritten")
		}
		m.Free(p, 64<<10)
		must(t, m.EndFrame())
	}
	done <- true
	<-done
	s := m.Stats(Inbox)
	if s.Live != 0 || s.Frees != n || s.Allocs != n || s.Peak == 0 {
		t.Errorf("inbox: %+v", s)
	}
	must(t, m.Check())
}

func TestManager_OtherGoroutinesFreeThroughTheInbox(t *testing.T) {
	m := newManager(t, small())
	must(t, m.BeginFrame())
	var ps []unsafe.Pointer
	for i := range uintptr(100) {
		ps = append(ps, alloc(t, m, 100+i*100))
	}
	done := make(chan error)
	go func() {
		f := m.NewFreer()
		for _, p := range ps {
			f.FreeAny(p)
		}
		done <- f.Close()
	}()
	must(t, <-done)
	must(t, m.EndFrame())
	must(t, m.BeginFrame())
	if a, b := m.Stats(Slab).Live, m.Stats(Large).Live; a != 0 || b != 0 {
		t.Errorf("%d and %d blocks did not come home", a, b)
	}
}

func TestManager_BudgetsHoldAndTheMarkIsReported(t *testing.T) {
	cfg := small()
	for t := range Tier(Count) {
		cfg.Budget[t] = cfg.Reserve[t] / 4
	}
	told := map[Tier]int{}
	cfg.OnSoft = func(t Tier, committed, budget uintptr) { told[t]++ }
	m := newManager(t, cfg)
	must(t, m.BeginLevel())
	must(t, m.BeginFrame())
	for _, a := range []memory.Allocator{m.Frame(), m.Level(), m.Slab(), m.Large(), m.Worker(0)} {
		n, err := 0, error(nil)
		for ; err == nil && n < 100_000; n++ {
			_, err = a.Alloc(3000, 16)
		}
		if !errors.Is(err, memory.ErrOutOfMemory) || n == 0 {
			t.Errorf("%T: after %d blocks: %v", a, n, err)
		}
	}
	filled := map[Tier]bool{Frame: true, Level: true, Slab: true, Large: true, Inbox: true}
	var s Snapshot
	m.Snapshot(&s)
	for _, x := range s.Tiers {
		if x.Committed > x.Budget {
			t.Errorf("%v has committed %d of a budget of %d", x.Tier, x.Committed, x.Budget)
		}
		if !filled[x.Tier] {
			continue
		}
		full := 0.9
		if x.Tier == Frame || x.Tier == Inbox {
			full = 0.45 // one buffer of two was filled, one worker of two
		}
		if x.Failures == 0 || x.Used() < full {
			t.Errorf("%v: %d failures with %.0f %% used", x.Tier, x.Failures, 100*x.Used())
		}
	}
	for _, tier := range []Tier{Level, Slab, Large} {
		if told[tier] != 1 {
			t.Errorf("%v: the soft mark was reported %d times", tier, told[tier])
		}
	}
	must(t, m.Check())
}

func TestManager_EverySystemCallMayFail(t *testing.T) {
	for call := 1; ; call++ {
		src := memtest.NewFaulty()
		src.FailAt = call
		cfg := small()
		cfg.Source = src
		m, err := New(cfg)
		if err == nil {
			_, err = m.Alloc(100, 16)
			if _, again := m.Alloc(100, 16); again != nil {
				t.Errorf("call %d failing once: a later allocation still fails: %v", call, again)
			}
			must(t, m.Close())
		}
		if src.Reserved() != 0 {
			t.Errorf("call %d failing leaks %d reservations", call, src.Reserved())
		}
		if src.Calls() < call {
			return
		}
		// nil: a smaller commit was tried and granted.
		if err != nil && !errors.Is(err, memory.ErrOutOfMemory) {
			t.Errorf("call %d failing: %v", call, err)
		}
	}
}

func TestManager_PacesTheCollectorAndRestoresIt(t *testing.T) {
	percent := debug.SetGCPercent(100)
	defer debug.SetGCPercent(percent)
	limit := debug.SetMemoryLimit(-1)
	m, err := New(small())
	must(t, err)
	must(t, m.BeginLevel())
	for range 2000 {
		must(t, m.BeginFrame())
		garbage = make([]byte, 3000) // what a frame of Ebitengine leaves
		must(t, m.EndFrame())
	}
	var s Snapshot
	m.Snapshot(&s)
	if s.Go.InPlay > 0 && page.Default() != page.Heap() {
		t.Errorf("%d collections in play", s.Go.InPlay)
	}
	inPlay := s.Go.InPlay
	m.Collect()
	m.Snapshot(&s)
	if s.Go.InPlay != inPlay || s.Go.Cycles == 0 {
		t.Errorf("Collect: %d cycles, %d of them in play, were %d", s.Go.Cycles, s.Go.InPlay, inPlay)
	}
	before := s.Go.Cycles
	for range 64 { // plain Go would collect this
		garbage = make([]byte, 1<<20)
	}
	if _, err := m.EndLevel(); err != nil {
		t.Fatal(err)
	}
	m.Snapshot(&s)
	if s.Go.Cycles <= before {
		t.Error("EndLevel ran no collection")
	}
	must(t, m.Close())
	if p := debug.SetGCPercent(100); p != 100 {
		t.Errorf("GOGC is %d after Close, was 100", p)
	}
	if l := debug.SetMemoryLimit(-1); l != limit {
		t.Errorf("the memory limit is %d after Close, was %d", l, limit)
	}
}

var garbage []byte

func TestManager_FramesAndSnapshotsDoNotAllocate(t *testing.T) {
	m := newManager(t, small())
	must(t, m.BeginLevel())
	var s Snapshot
	var h [HistoryLen]float32
	frame := func() {
		must(t, m.BeginFrame())
		alloc(t, m.Frame(), 1000)
		p := alloc(t, m, 100)
		m.Free(p, 100)
		m.Snapshot(&s)
		m.Inspect().History(Frame, &h)
		must(t, m.EndFrame())
	}
	frame()
	if n := testing.AllocsPerRun(200, frame); n != 0 {
		t.Errorf("a frame costs %v Go allocations", n)
	}
	if s.Tiers[Frame].FrameAllocs != 1 || s.Tiers[Slab].FrameFrees != 1 || h[HistoryLen-1] != 1000 {
		t.Errorf("frame row %+v, last sample %v", s.Tiers[Frame], h[HistoryLen-1])
	}
}

func TestManager_LevelResetIsFastWhateverItHeld(t *testing.T) {
	m := newManager(t, Config{Reserve: [Count]uintptr{Level: 128 << 20}, GC: gcpace.Config{Keep: true}})
	must(t, m.BeginLevel())
	for range 100_000 {
		alloc(t, m.Level(), 1000)
	}
	start := time.Now()
	_, err := m.EndLevel()
	must(t, err)
	t.Logf("100,000 blocks reset in %v", time.Since(start))
}

func TestSnapshot_Reports(t *testing.T) {
	m := newManager(t, small())
	alloc(t, m, 100)
	var s Snapshot
	m.Snapshot(&s)
	var js, csv, text bytes.Buffer
	must(t, errors.Join(s.WriteJSON(&js), s.WriteCSV(&csv), s.WriteText(&text)))
	var rows []TierRecord
	must(t, json.Unmarshal(js.Bytes(), &rows))
	if len(rows) != Count || rows[Slab].Name != "slab" || rows[Slab].Allocs != 1 || rows[Slab].Budget == 0 {
		t.Errorf("rows %+v", rows)
	}
	if n := strings.Count(csv.String(), "\n"); n != Count+1 || !strings.Contains(csv.String(), "inbox,") {
		t.Errorf("csv:\n%s", csv.String())
	}
	if !strings.Contains(text.String(), "large") {
		t.Errorf("text:\n%s", text.String())
	}
	if runtime.GOOS == "linux" && s.RSS == 0 {
		t.Error("the resident size is unknown")
	}
}

func TestTier_NamesRoundTrip(t *testing.T) {
	for tier := range Tier(Count) {
		if got, err := ParseTier(tier.String()); got != tier || err != nil {
			t.Errorf("%v: %v, %v", tier, got, err)
		}
	}
	if _, err := ParseTier("heap"); err == nil || !strings.Contains(err.Error(), "allowed: static, frame, level, pools") {
		t.Errorf("err = %v", err)
	}
}

func TestManager_CheckNamesWhatIsCorrupt(t *testing.T) {
	m := newManager(t, small())
	m.route[3]++
	if err := m.Check(); err == nil || !strings.Contains(err.Error(), "routes to") {
		t.Errorf("Check = %v", err)
	}
	m.route[3]--
	must(t, m.Check())
}

func TestManager_StaticBuffersLiveForTheLevel(t *testing.T) {
	m := newManager(t, small())
	p, err := plan.Fast([]plan.Buffer{{ID: 0, Size: 100_000, Birth: 0, Death: 2}, {ID: 1, Size: 50_000, Birth: 2, Death: 3}})
	must(t, err)
	if _, err := m.Declare(p); !errors.Is(err, ErrOrder) {
		t.Errorf("Declare outside a level: %v", err)
	}
	for level := range uint64(40) { // the range must not wear out
		must(t, m.BeginLevel())
		a, err := m.Declare(p)
		must(t, err)
		if _, err := m.Declare(p); !errors.Is(err, ErrOrder) {
			t.Errorf("a second Declare: %v", err)
		}
		if tier, ok := m.Inspect().TierOf(a.Get(1)); tier != Static || !ok || m.Static() != a {
			t.Fatalf("a static buffer lies in %v, %t", tier, ok)
		}
		if s := m.Stats(Static); s.InUse != 100_000 || s.Live != 2 || s.Allocs != 2*(level+1) {
			t.Fatalf("level %d: %+v", level, s)
		}
		must(t, m.BeginFrame())
		if _, err := m.Declare(p); !errors.Is(err, ErrOrder) {
			t.Errorf("Declare inside a frame: %v", err)
		}
		must(t, m.EndFrame())
		must(t, m.Check())
		_, err = m.EndLevel()
		must(t, err)
	}
	if s := m.Stats(Static); s.InUse != 0 || s.Live != 0 || s.Peak != 100_000 || m.Static() != nil {
		t.Errorf("after the last level: %+v", s)
	}
}

func TestManager_AStaticPlanBeyondTheBudgetIsRefused(t *testing.T) {
	m := newManager(t, small())
	must(t, m.BeginLevel())
	big, err := plan.Fast([]plan.Buffer{{ID: 0, Size: 2 << 20, Birth: 0, Death: 1}})
	must(t, err)
	if _, err := m.Declare(big); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("err = %v", err)
	}
	if _, err := m.Declare(nil); !errors.Is(err, memory.ErrConfig) { // no failure of the tier
		t.Errorf("no plan: %v", err)
	}
	little, err := plan.Fast([]plan.Buffer{{ID: 0, Size: 1000, Birth: 0, Death: 1}})
	must(t, err)
	_, err = m.Declare(little)
	must(t, err)
	if s := m.Stats(Static); s.Failures != 1 {
		t.Errorf("failures %d", s.Failures)
	}
}

func TestManager_FrameAtReadsWhatTheFramesBeforeHave(t *testing.T) {
	cfg := small()
	cfg.Frames = 3
	m := newManager(t, cfg)
	for i := range 10 {
		must(t, m.BeginFrame())
		*(*byte)(alloc(t, m.Frame(), 1)) = byte(i)
		for _, open := range []bool{true, false} {
			for age := range min(3, i+1) {
				if b := m.Frames().At(age); len(b) != 1 || b[0] != byte(i-age) {
					t.Fatalf("frame %d, open %t, age %d: %v", i, open, age, b)
				}
			}
			if invariant.Debug {
				memtest.Misuse(t, func() { m.Frames().At(3) }, "a frame 3 frames old has expired; it stays readable for 2")
			} else if m.Frames().At(3) != nil {
				t.Error("an expired frame can be read")
			}
			if open {
				must(t, m.EndFrame())
			}
		}
	}
	must(t, m.Close())
	if invariant.Debug {
		memtest.Misuse(t, func() { m.Frames().At(0) }, "the arena is closed")
	} else if m.Frames().At(0) != nil {
		t.Error("closed, and a frame can be read")
	}
}

func TestManager_NilManagerIsNamed(t *testing.T) {
	var m *Manager
	for op, f := range map[string]func(){
		"BeginFrame": func() { _ = m.BeginFrame() }, "NextFrame": func() { _ = m.NextFrame() },
		"BeginLevel": func() { _ = m.BeginLevel() }, "Close": func() { _ = m.Close() },
		"Tag": func() { _, _ = m.Tag("ai") }, "AddPool": func() { m.AddPool("pool", &Funcs{}) },
	} {
		memtest.Misuse(t, f, "tiers."+op+":", "the manager is nil; look at the error of New")
	}
}
