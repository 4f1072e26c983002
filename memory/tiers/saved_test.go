package tiers_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/plan"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/tiers"
)

// A savedGame is a manager with blocks in all tiers that are saved, beside a model of them.
type savedGame struct {
	t     *testing.T
	m     *tiers.Manager
	tag   *tiers.Tag
	pool  *pool.Pool[[4]uint64]
	set   save.Set
	rng   *rand.Rand
	model savedModel
}

type savedModel struct {
	blocks []savedBlock
	live   []memory.Handle[[4]uint64]
}

// A savedBlock is filled with a byte. Its worker is -1 for a block of the game.
type savedBlock struct {
	p      unsafe.Pointer
	size   uintptr
	fill   byte
	worker int
}

func (s *savedModel) clone() savedModel {
	return savedModel{slices.Clone(s.blocks), slices.Clone(s.live)}
}

func newSavedGame(t *testing.T, cfg tiers.Config) *savedGame {
	t.Helper()
	cfg.Workers, cfg.Tags, cfg.ReturnAfter = 2, true, 16
	m, err := tiers.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	g := &savedGame{t: t, m: m, rng: rand.New(rand.NewPCG(3, 4))}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	g.pool, err = tiers.NewPool[[4]uint64](m, pool.Config{Capacity: 5000, Name: "quads"})
	var err2 error
	g.tag, err2 = m.Tag("list")
	if err = errors.Join(err, err2, m.BeginLevel(), g.set.Add("memory", m), g.set.Seal()); err != nil {
		t.Fatal(err)
	}
	return g
}

// frame plays one frame of random allocations.
func (g *savedGame) frame() {
	if err := g.m.BeginFrame(); err != nil {
		g.t.Fatal(err)
	}
	for range g.rng.IntN(40) {
		g.change()
	}
	if err := errors.Join(g.m.EndFrame(), g.m.Rest(time.Minute)); err != nil {
		g.t.Fatal(err)
	}
}

func (g *savedGame) change() {
	s := &g.model
	n := g.rng.IntN(100)
	switch {
	case n < 35 || len(s.blocks) == 0:
		size := uintptr(1 + g.rng.IntN(200))
		if g.rng.IntN(8) == 0 {
			size = uintptr(4100 + g.rng.IntN(60_000))
		}
		g.alloc(g.m, -1, size)
	case n < 50:
		g.alloc(g.tag, -1, uintptr(1+g.rng.IntN(6000)))
	case n < 55:
		g.alloc(g.m.Worker(1), 1, uintptr(1+g.rng.IntN(9000)))
	case n < 60:
		if h, v, err := g.pool.New(); err == nil {
			v[3] = uint64(h.Index()) + 1
			s.live = append(s.live, h)
		}
	case n < 64 && len(s.live) > 0:
		i := g.rng.IntN(len(s.live))
		g.pool.Free(s.live[i])
		s.live = slices.Delete(s.live, i, i+1)
	case n < 65:
		if p, err := g.m.Level().Alloc(100, 8); err == nil {
			s.blocks = append(s.blocks, paintBlock(p, 100, byte(n), 99))
		}
	default:
		i := g.rng.IntN(len(s.blocks))
		if b := s.blocks[i]; b.worker < 99 {
			g.m.Free(b.p, b.size)
			s.blocks = slices.Delete(s.blocks, i, i+1)
		}
	}
}

func (g *savedGame) alloc(a memory.Allocator, worker int, size uintptr) {
	if p, err := a.Alloc(size, 8); err == nil {
		g.model.blocks = append(g.model.blocks, paintBlock(p, size, byte(g.rng.IntN(256)), worker))
	}
}

func paintBlock(p unsafe.Pointer, size uintptr, fill byte, worker int) savedBlock {
	s := unsafe.Slice((*byte)(p), size)
	for i := range s {
		s[i] = fill
	}
	return savedBlock{p, size, fill, worker}
}

// verify compares the memory with the model.
func (g *savedGame) verify() {
	g.t.Helper()
	if err := g.m.Check(); err != nil {
		g.t.Fatal(err)
	}
	for _, b := range g.model.blocks {
		s := unsafe.Slice((*byte)(b.p), b.size)
		if s[0] != b.fill || s[b.size-1] != b.fill || s[b.size/2] != b.fill {
			g.t.Fatalf("the block of %d bytes at %p, of worker %d, is not as it was saved", b.size, b.p, b.worker)
		}
	}
	for _, h := range g.model.live {
		if v, ok := g.pool.Get(h); !ok || v[3] != uint64(h.Index())+1 {
			g.t.Fatalf("object %v is not as it was saved", h)
		}
	}
	if g.pool.Len() != len(g.model.live) {
		g.t.Fatalf("%d objects, want %d", g.pool.Len(), len(g.model.live))
	}
}

func (g *savedGame) save() *save.Slot {
	n, err := g.set.Size()
	slot := g.set.NewSlot(n)
	if err = errors.Join(err, g.set.Save(slot)); err != nil {
		g.t.Fatal(err)
	}
	return slot
}

func TestManager_SavedStatesAreRestored(t *testing.T) {
	g := newSavedGame(t, tiers.Config{})
	type moment struct {
		slot  *save.Slot
		model savedModel
		seed  uint64
		after []savedBlock
		stats [tiers.Count]memory.Stats
	}
	stats := func() (all [tiers.Count]memory.Stats) {
		for i := range tiers.Tier(tiers.Count) {
			if i != tiers.Frame {
				all[i] = g.m.Stats(i)
			}
		}
		return all
	}
	var moments []*moment
	rounds := 120
	if testenv.Brief() {
		rounds = 40
	}
	for round := range rounds {
		for range g.rng.IntN(30) {
			g.frame()
		}
		if len(moments) < 3 || round%4 == 0 {
			m := &moment{slot: g.save(), model: g.model.clone(), seed: g.rng.Uint64(), stats: stats()}
			moments = append(moments[max(len(moments)-2, 0):], m)
			continue
		}
		m := moments[g.rng.IntN(len(moments))]
		if err := g.set.Load(m.slot); err != nil {
			t.Fatal(err)
		}
		g.model = m.model.clone()
		g.verify()
		if now := stats(); now != m.stats {
			for i := range now {
				if now[i] != m.stats[i] {
					t.Fatalf("the tier %v has %+v, had %+v", tiers.Tier(i), now[i], m.stats[i])
				}
			}
		}
		was := g.rng
		g.rng = rand.New(rand.NewPCG(m.seed, 0))
		for range 6 {
			g.frame()
		}
		if g.rng = was; m.after == nil {
			m.after = slices.Clone(g.model.blocks)
		} else if !slices.Equal(m.after, g.model.blocks) {
			t.Fatal("after a second load the blocks lie elsewhere")
		}
		g.verify()
	}
}

// A game that keeps states in each frame rests, saves and loads without the Go heap.
func TestManager_SavingDoesNotAllocate(t *testing.T) {
	g := newSavedGame(t, tiers.Config{})
	for range 5 {
		g.frame()
	}
	slot := g.set.NewSlot(8 << 20)
	if n := testenv.LeastObjects(4, func() {
		if err := errors.Join(g.m.Rest(time.Minute), g.set.Save(slot), g.set.Load(slot)); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestManager_SavingNamesWhatIsOpen(t *testing.T) {
	g := newSavedGame(t, tiers.Config{})
	g.frame()
	slot := g.save()
	refused := func(what string, want error, text string) {
		t.Helper()
		if err := g.set.Load(slot); !errors.Is(err, want) || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v, want %q", what, err, text)
		}
	}
	if err := g.m.BeginFrame(); err != nil {
		t.Fatal(err)
	}
	refused("inside a frame", save.ErrBusy, "a frame is open")
	if err := g.m.EndFrame(); err != nil {
		t.Fatal(err)
	}
	if _, err := g.m.Worker(1).BeginTask(); err != nil {
		t.Fatal(err)
	}
	refused("inside a task", save.ErrBusy, "save: memory/inbox/worker[1]: save: busy: a task is open")
	if err := g.m.Rest(time.Millisecond, 1); !errors.Is(err, save.ErrBusy) || !strings.Contains(err.Error(), "worker 1 is in a task") {
		t.Errorf("Rest in a task: %v", err)
	}
	if err := g.m.Rest(0, 0); err != nil {
		t.Errorf("Rest of another worker: %v", err)
	}
	if err := errors.Join(g.m.Worker(1).EndTask(), g.set.Load(slot)); err != nil {
		t.Error(err)
	}
	p, err := tiers.NewPool[[4]uint64](g.m, pool.Config{Name: "late"})
	if err != nil {
		t.Fatal(err)
	}
	refused("with a pool more", save.ErrLayout, `the last is "late"`)
	if !g.m.RemovePool(p) {
		t.Error("the pool is not removed")
	}
	buffers, err := plan.Fast([]plan.Buffer{{Size: 100, Align: 8, Death: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.m.Declare(buffers); err != nil {
		t.Fatal(err)
	}
	refused("with static buffers", save.ErrLayout, "the number of static plans was 0 and is 1")
	g.m.OnReset(tiers.Level, func() { refused("in a hook", save.ErrBusy, "EndLevel is running") })
	if _, err := g.m.EndLevel(); err != nil {
		t.Error(err)
	}
	refused("after the level", save.ErrLayout, "the number of open levels was 1 and is 0")
	if err := errors.Join(p.Close(), g.m.BeginLevel()); err != nil {
		t.Error(err)
	}
	refused("in another level", save.ErrLayout, "levels that have begun")
}

func TestManager_StateNamesWhatIsNotThere(t *testing.T) {
	g := newSavedGame(t, tiers.Config{})
	state := func(cfg tiers.Saved) func() { return func() { g.m.State(cfg) } }
	memtest.Misuse(t, state(tiers.Saved{Tiers: []tiers.Tier{tiers.Slab, tiers.Frame}}), "tiers.State: the tier frame cannot be saved")
	memtest.Misuse(t, state(tiers.Saved{Tiers: []tiers.Tier{tiers.Count}}), "cannot be saved")
	memtest.Misuse(t, state(tiers.Saved{Workers: []int{1, 2}}), "there is no worker 2 of 2")
	memtest.Misuse(t, func() { _ = g.m.Rest(0, 1, -1) }, "there is no worker -1 of 2")
}

func TestManager_ClosedManagerIsNotSaved(t *testing.T) {
	g := newSavedGame(t, tiers.Config{})
	broken := errors.New("broken")
	g.m.AddPool("broken", &tiers.Funcs{CloseFunc: func() error { return broken }})
	slot := g.save()
	for _, want := range []error{broken, nil} { // the first Close does not complete
		if err := g.m.Close(); !errors.Is(err, want) {
			t.Fatalf("%v, want %v", err, want)
		}
		for what, err := range map[string]error{"Save": g.set.Save(slot), "Load": g.set.Load(slot), "Rest": g.m.Rest(0)} {
			if !errors.Is(err, memory.ErrClosed) {
				t.Errorf("%s: %v, want ErrClosed", what, err)
			}
		}
		broken = nil
	}
}

// Config.OnSoft closes the page source while a load commits memory for large: the workers have ended when their turn comes.
func TestManager_LoadThatLosesItsSourceIsClosed(t *testing.T) {
	whole, err := page.Default().Reserve(128 << 20)
	if err != nil {
		t.Fatal(err)
	}
	carve, err := page.NewCarve(page.Default(), whole)
	if err != nil {
		t.Fatal(err)
	}
	armed := false
	cfg := tiers.Config{GC: gcpace.Config{Keep: true}, Workers: 1, Source: carve}
	for tier := range cfg.Reserve {
		cfg.Reserve[tier] = 4 << 20
	}
	cfg.OnSoft = func(tiers.Tier, uintptr, uintptr) {
		if armed {
			carve.Close()
		}
	}
	m, err := tiers.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var set save.Set
	slot := set.NewSlot(8 << 20)
	p := memtest.MustAlloc(t, m, 3500<<10, 8)
	err = errors.Join(set.Add("memory", m), set.Seal(), set.Save(slot))
	m.Free(p, 3500<<10)
	if err = errors.Join(err, m.Large().Trim()); err != nil {
		t.Fatal(err)
	}
	armed = true
	if err := set.Load(slot); !errors.Is(err, memory.ErrClosed) {
		t.Errorf("%v, want ErrClosed", err)
	}
	if err := errors.Join(m.Close(), page.Default().Release(whole)); err != nil {
		t.Error(err)
	}
}

// After a failed EndLevel as many hooks may be registered as before. They are others.
func TestManager_LoadRefusedAfterHookHasRun(t *testing.T) {
	for _, tier := range []tiers.Tier{tiers.Static, tiers.Level, tiers.Pools} {
		g := newSavedGame(t, tiers.Config{})
		g.m.OnReset(tier, func() { panic("a") })
		slot, canonical := g.save(), g.set.NewCanonical(8<<20)
		if err := g.set.Save(canonical); err != nil {
			t.Fatal(err)
		}
		func() {
			defer func() { _ = recover() }()
			_, _ = g.m.EndLevel()
		}()
		g.m.OnReset(tier, func() {})
		for _, slot := range []*save.Slot{slot, canonical} {
			if err := g.set.Load(slot); !errors.Is(err, save.ErrLayout) {
				t.Errorf("%v: %v, want ErrLayout", tier, err)
			}
		}
	}
}

// A hook that was registered after a load is not the one that the load has removed, though both are the second.
func TestManager_LoadRefusedAfterItsHookWasRemoved(t *testing.T) {
	for _, tier := range []tiers.Tier{tiers.Static, tiers.Level, tiers.Pools} {
		g := newSavedGame(t, tiers.Config{})
		g.m.OnReset(tier, func() {})
		before := g.save()
		g.m.OnReset(tier, func() { t.Errorf("%v: a removed hook has run", tier) })
		after, ran := g.save(), false
		if err := g.set.Load(before); err != nil {
			t.Fatal(err)
		}
		g.m.OnReset(tier, func() { ran = true })
		if err := g.set.Load(after); !errors.Is(err, save.ErrLayout) {
			t.Errorf("%v: %v, want ErrLayout", tier, err)
		}
		if _, err := g.m.EndLevel(); err != nil || !ran {
			t.Errorf("%v: %v, the hook has run: %v", tier, err, ran)
		}
	}
}

// A game that plays the tasks of its workers again after a load has the statistics of one that plays them once.
func TestManager_LoadRestoresTasks(t *testing.T) {
	g := newSavedGame(t, tiers.Config{})
	frame := func() {
		scratch, err := g.m.Worker(1).BeginTask()
		if err != nil {
			t.Fatal(err)
		}
		memtest.MustAlloc(t, scratch, 1000, 8)
		if err := errors.Join(g.m.Worker(1).EndTask(), g.m.BeginFrame(), g.m.EndFrame()); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 { // the first task commits the arena
		slot, first, again := g.save(), g.set.NewCanonical(8<<20), g.set.NewCanonical(8<<20)
		was := g.m.Stats(tiers.Inbox)
		frame()
		err := errors.Join(g.set.Save(first), g.set.Load(slot), g.m.Check())
		if now := g.m.Stats(tiers.Inbox); err != nil || now != was {
			t.Errorf("%v; after a load the workers have %+v, had %+v", err, now, was)
		}
		frame()
		if err := g.set.Save(again); err != nil {
			t.Fatal(err)
		}
		if d, differ, err := g.set.Diff(first, again); differ || err != nil {
			t.Errorf("played again the state is another one: %v, %v", d, err)
		}
	}
}

// A load that fails may have committed a scratch arena that the load before it has decommitted.
func TestManager_CheckAfterFailedLoadOfTasks(t *testing.T) {
	g := newSavedGame(t, tiers.Config{})
	var set save.Set
	later := &failingState{}
	if err := errors.Join(set.Add("memory", g.m), set.Add("later", later), set.Seal()); err != nil {
		t.Fatal(err)
	}
	before, after := set.NewSlot(8<<20), set.NewSlot(8<<20)
	if err := set.Save(before); err != nil {
		t.Fatal(err)
	}
	_, err := g.m.Worker(1).BeginTask() // the first task commits the arena
	if err = errors.Join(err, g.m.Worker(1).EndTask(), set.Save(after), set.Load(before)); err != nil {
		t.Fatal(err)
	}
	later.fails = true
	if err := set.Load(after); !errors.Is(err, save.ErrLayout) {
		t.Errorf("%v, want ErrLayout", err)
	}
	if err := g.m.Check(); err != nil {
		t.Error(err)
	}
}

func TestManager_LoadRestoresStaticBuffers(t *testing.T) {
	cfg := tiers.Config{}
	cfg.Budget[tiers.Static] = 64 << 10
	g := newSavedGame(t, cfg)
	buffers, err := plan.Fast([]plan.Buffer{{Size: 100, Align: 8, Death: 2}})
	large, err2 := plan.Fast([]plan.Buffer{{Size: 100 << 10, Align: 8, Death: 2}})
	if err = errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	before, was := g.save(), g.m.Stats(tiers.Static)
	if _, err := g.m.Declare(large); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Fatalf("%v, want ErrOutOfMemory", err)
	}
	if err := g.set.Load(before); err != nil || g.m.Stats(tiers.Static) != was {
		t.Errorf("after a refused plan: %v, the tier %+v, want %+v", err, g.m.Stats(tiers.Static), was)
	}
	a, err := g.m.Declare(buffers)
	if err != nil {
		t.Fatal(err)
	}
	a.Begin(0)
	b := (*byte)(a.Get(0))
	*b = 5
	slot := g.save()
	was = g.m.Stats(tiers.Static)
	*b = 6
	a.Advance(1)
	if err := g.set.Load(slot); err != nil || *b != 5 || g.m.Stats(tiers.Static) != was {
		t.Errorf("%v, the buffer has %d, the tier %+v, want %+v", err, *b, g.m.Stats(tiers.Static), was)
	}
}

// The parts before the one that fails are as they were, also what belongs to a discarded future.
func TestManager_FailedLoadChangesNothing(t *testing.T) {
	cfg := tiers.Config{}
	cfg.Budget[tiers.Pools] = 64 << 10
	g := newSavedGame(t, cfg)
	var set save.Set
	later := &failingState{}
	if err := errors.Join(set.Add("memory", g.m), set.Add("later", later), set.Seal()); err != nil {
		t.Fatal(err)
	}
	slot, now, again := set.NewSlot(8<<20), set.NewCanonical(8<<20), set.NewCanonical(8<<20)
	err := set.Save(slot)
	ran := 0
	for _, tier := range []tiers.Tier{tiers.Static, tiers.Level, tiers.Pools} {
		g.m.OnReset(tier, func() { ran++ })
	}
	late, err2 := g.m.Tag("late")
	for _, size := range []uintptr{100, 9000} {
		memtest.MustAlloc(t, late, size, 8)
	}
	late.Free(memtest.MustAlloc(t, late, 50_000, 8), 50_000) // its peak is above its use
	for refused := error(nil); refused == nil; {
		_, _, refused = g.pool.New()
	}
	failures := g.m.Stats(tiers.Pools).Failures
	err = errors.Join(err, err2, set.Save(now))
	later.fails = true
	if err := set.Load(slot); !errors.Is(err, save.ErrLayout) {
		t.Errorf("%v, want ErrLayout", err)
	}
	later.fails = false
	if err = errors.Join(err, set.Save(again), g.m.Check()); err != nil {
		t.Fatal(err)
	}
	if d, differ, err := set.Diff(now, again); differ || err != nil {
		t.Errorf("a failed load changes the state: %v, %v", d, err)
	}
	if n := g.m.Stats(tiers.Pools).Failures; n != failures || n == 0 {
		t.Errorf("after a failed load %d commits were refused, and %d before", n, failures)
	}
	if _, err := g.m.EndLevel(); err != nil || ran != 3 {
		t.Errorf("%v, %d hooks ran, want 3", err, ran)
	}
}

// After a load memory is returned in the frame in which it was returned the first time.
func TestManager_LoadRestoresReturns(t *testing.T) {
	for _, tier := range []tiers.Tier{tiers.Slab, tiers.Large, tiers.Inbox} {
		g := newSavedGame(t, tiers.Config{})
		a := map[tiers.Tier]memory.Allocator{tiers.Slab: g.m, tiers.Large: g.m.Large(), tiers.Inbox: g.m.Worker(1)}[tier]
		var blocks [400]unsafe.Pointer
		for i := range blocks {
			blocks[i] = memtest.MustAlloc(t, a, 4000, 8)
		}
		for _, p := range blocks {
			a.Free(p, 4000)
		}
		slot := g.save()
		frames := func() (n int) {
			for ; g.m.Inspect().Returned(tier) == 0 && n < 1000; n++ {
				if err := errors.Join(g.m.BeginFrame(), g.m.EndFrame()); err != nil {
					t.Fatal(err)
				}
			}
			return n
		}
		first := frames()
		if err := g.set.Load(slot); err != nil {
			t.Fatal(err)
		}
		if again := frames(); first == 0 || again != first {
			t.Errorf("%v: memory was returned after %d frames, and after a load after %d", tier, first, again)
		}
	}
}

// An EndLevel that fails has reset the newer pool. The next one reports what that pool has beyond the reset.
func TestManager_LoadRestoresWhatPoolsKept(t *testing.T) {
	g := newSavedGame(t, tiers.Config{})
	var now, kept memory.Stats
	has := func(live, bytes uint64) memory.Stats {
		return memory.Stats{Allocs: live, Live: live, InUse: bytes, Committed: bytes, Reserved: bytes, Peak: bytes}
	}
	reset := func() { panic("not yet") }
	g.m.AddPool("older", &tiers.Funcs{ResetFunc: func() { reset() }})
	g.m.AddPool("newer", &tiers.Funcs{StatsFunc: func() memory.Stats { return now }, ResetFunc: func() { now = kept }})
	fail := func(left memory.Stats) {
		kept = left
		defer func() { _ = recover() }()
		_, _ = g.m.EndLevel()
	}
	fail(has(1, 10))
	slot := g.save()
	now = has(2, 20)
	err := errors.Join(g.m.BeginFrame(), g.m.EndFrame()) // the resets are no longer current
	fail(has(3, 99))
	if err = errors.Join(err, g.set.Load(slot)); err != nil {
		t.Fatal(err)
	}
	now = has(1, 10)
	reset = func() { now = has(2, 25) }
	want := tiers.PoolLeak{Pool: "newer", AfterReset: true, Leak: tiers.Leak{Blocks: 1, Bytes: 15}}
	if leaks, err := g.m.EndLevel(); err != nil || len(leaks.Pools) != 1 || leaks.Pools[0] != want {
		t.Errorf("%v, %+v, want %+v", err, leaks.Pools, want)
	}
	now = memory.Stats{}
}

// A failingState refuses its own load.
type failingState struct{ fails bool }

func (f *failingState) SaveState(c *save.Coder) {
	if f.fails {
		c.Differs("it is another")
	}
}

// A commit that the budget of the pools refused after the save has not failed in the loaded state.
func TestManager_LoadRestoresFailuresOfPools(t *testing.T) {
	cfg := tiers.Config{}
	cfg.Budget[tiers.Pools] = 64 << 10
	g := newSavedGame(t, cfg)
	slot, first, again := g.save(), g.set.NewCanonical(8<<20), g.set.NewCanonical(8<<20)
	frame := func() {
		for {
			if _, _, err := g.pool.New(); err != nil {
				break
			}
		}
		if err := errors.Join(g.m.BeginFrame(), g.m.EndFrame()); err != nil {
			t.Fatal(err)
		}
	}
	frame()
	failures := g.m.Stats(tiers.Pools).Failures
	if err := errors.Join(g.set.Save(first), g.set.Load(slot)); err != nil || failures == 0 || g.m.Stats(tiers.Pools).Failures != 0 {
		t.Errorf("%v; %d commits were refused, and %d after a load", err, failures, g.m.Stats(tiers.Pools).Failures)
	}
	frame()
	refused := g.save()
	if err := g.set.Load(refused); err != nil || g.m.Stats(tiers.Pools).Failures != failures {
		t.Errorf("%v; %d commits were refused, and %d after a load of the state itself", err, failures, g.m.Stats(tiers.Pools).Failures)
	}
	if err := g.set.Save(again); err != nil {
		t.Fatal(err)
	}
	if d, differ, err := g.set.Diff(first, again); differ || err != nil {
		t.Errorf("played again the state is another one: %v, %v", d, err)
	}
}

// A pool of the same type and capacity that was registered in place of another has none of its objects.
func TestManager_LoadRefusedWithAnotherPool(t *testing.T) {
	g := newSavedGame(t, tiers.Config{})
	slot := g.save()
	g.m.RemovePool(g.pool)
	if err := g.set.Load(slot); !errors.Is(err, save.ErrLayout) || !strings.Contains(err.Error(), "1 pools were registered, 0 are") {
		t.Errorf("%v, want ErrLayout", err)
	}
	if _, err := tiers.NewPool[[4]uint64](g.m, pool.Config{Name: g.pool.Name(), Capacity: g.pool.Cap()}); err != nil {
		t.Fatal(err)
	}
	if err := g.set.Load(slot); !errors.Is(err, save.ErrLayout) {
		t.Errorf("%v, want ErrLayout", err)
	}
	if err := g.pool.Close(); err != nil {
		t.Error(err)
	}
}

// A tag that was made after the state was saved has counted nothing in it, as the tiers have not.
func TestManager_LoadClearsLaterTags(t *testing.T) {
	g := newSavedGame(t, tiers.Config{})
	memtest.MustAlloc(t, g.tag, 100, 8) // a tag that has counted nothing is not in the state
	slot := g.save()
	late, err := g.m.Tag("late")
	if err != nil {
		t.Fatal(err)
	}
	p := memtest.MustAlloc(t, late, 100, 8)
	late.Free(p, 100)
	if _, err = late.Alloc(1<<30, 8); err == nil || late.Stats().Failures != 1 {
		t.Fatalf("%v, and %d failures", err, late.Stats().Failures)
	}
	if err := g.set.Load(slot); err != nil {
		t.Fatal(err)
	}
	if s := late.Stats(); s != (memory.Stats{}) {
		t.Errorf("the tag has %+v", s)
	}
}

// A tag that was made after the state was saved, or that a worker has used since, is no part of the loaded state.
func TestManager_LaterTagsLeaveNoTrace(t *testing.T) {
	g := newSavedGame(t, tiers.Config{})
	slot, first, again := g.save(), g.set.NewCanonical(8<<20), g.set.NewCanonical(8<<20)
	if err := g.set.Save(first); err != nil {
		t.Fatal(err)
	}
	late, err := g.m.Tag("late")
	if err != nil {
		t.Fatal(err)
	}
	for _, tag := range []*tiers.Tag{g.tag, late} {
		memtest.MustAlloc(t, tag, 100, 8)
		memtest.MustAlloc(t, g.m.Worker(1).Tag(tag), 100, 8)
	}
	if err := errors.Join(g.set.Load(slot), g.m.Check(), g.set.Save(again)); err != nil {
		t.Fatal(err)
	}
	if d, differ, err := g.set.Diff(first, again); differ || err != nil {
		t.Errorf("the state is another one after a load: %v, %v", d, err)
	}
}

func TestManager_StateWithoutTags(t *testing.T) {
	m, err := tiers.New(tiers.Config{GC: gcpace.Config{Keep: true}, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	var set save.Set
	slot := set.NewSlot(1 << 20)
	p, q := memtest.MustAlloc(t, m, 100, 8), memtest.MustAlloc(t, m.Worker(0), 100, 8)
	err = errors.Join(set.Add("memory", m), set.Seal(), set.Save(slot))
	m.Free(p, 100)
	m.Worker(0).Free(q, 100)
	if err = errors.Join(err, set.Load(slot), m.Check()); err != nil || m.Stats(tiers.Slab).Live != 1 || m.Worker(0).Stats().Live != 1 {
		t.Errorf("%v, %+v, %+v", err, m.Stats(tiers.Slab), m.Worker(0).Stats())
	}
	first, again := set.NewCanonical(1<<20), set.NewCanonical(1<<20)
	err = set.Save(first)
	_, err2 := m.Tag("late")
	err = errors.Join(err, err2, set.Save(again))
	if _, differ, err2 := set.Diff(first, again); err != nil || err2 != nil || differ {
		t.Errorf("with a tag that has counted nothing: %t, %v, %v", differ, err, err2)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

// The size of a block from 16 MiB on is in a list of its own.
func TestManager_LoadRestoresHugeBlocksOfTags(t *testing.T) {
	const size = 16<<20 + 100
	g := newSavedGame(t, tiers.Config{})
	var set save.Set
	slot := set.NewSlot(1 << 20)
	if invariant.Debug { // it saves the contents, too
		slot = set.NewSlot(20 << 20)
	}
	p := memtest.MustAlloc(t, g.tag, size, 8)
	cfg := tiers.Saved{Scratch: func(unsafe.Pointer) bool { return true }}
	err := errors.Join(set.Add("memory", g.m.State(cfg)), set.Seal(), set.Save(slot))
	g.tag.Free(p, size)
	if err = errors.Join(err, set.Load(slot), g.m.Check()); err != nil {
		t.Fatal(err)
	}
	if g.tag.Free(p, size); g.tag.Stats().Live != 0 {
		t.Errorf("%+v", g.tag.Stats())
	}
}

// The words behind those of the saved tags are clear, also in a chunk that the state has not begun.
func TestManager_LoadClearsManyLaterBlocksOfTags(t *testing.T) {
	for size, n := range map[uintptr]int{16: 5000, 9000: 300} {
		g := newSavedGame(t, tiers.Config{})
		blocks := func() {
			for range n {
				memtest.MustAlloc(t, g.tag, size, 8)
			}
		}
		blocks()
		slot := g.save()
		blocks()
		if err := g.set.Load(slot); err != nil {
			t.Fatal(err)
		}
		if blocks(); g.tag.Stats().Live != uint64(2*n) || g.m.Check() != nil {
			t.Errorf("size %d: %+v, %v", size, g.tag.Stats(), g.m.Check())
		}
	}
}

// A new manager that is set up as the saved one takes its place, also its tags, and goes on as that one does.
func TestManager_StateIsLoadedByNewManager(t *testing.T) {
	var set save.Set
	var games [2]*savedGame
	for i := range games {
		games[i] = newSavedGame(t, tiers.Config{})
		games[i].m.Worker(1).Tag(games[i].tag)
	}
	more, err := games[0].m.Tag("more")
	if err != nil {
		t.Fatal(err)
	}
	memtest.MustAlloc(t, more, 100, 8)
	memtest.MustAlloc(t, games[0].m.Worker(0).Tag(more), 100, 8)
	owner := &handedOver{games[0].m}
	slot := set.NewSlot(8 << 20)
	for range 200 {
		games[0].frame()
	}
	for range 5000 {
		memtest.MustAlloc(t, games[0].tag, 16, 8)
		memtest.MustAlloc(t, games[0].m.Worker(1).Tag(games[0].tag), 16, 8)
	}
	if err := errors.Join(set.Add("memory", owner), set.Seal(), set.Save(slot)); err != nil {
		t.Fatal(err)
	}
	owner.Manager = games[1].m
	if err := set.Load(slot); !errors.Is(err, save.ErrLayout) || !strings.Contains(err.Error(), "2 tags were made, 1 are") {
		t.Errorf("without a tag: %v, want ErrLayout", err)
	}
	if more, err = games[1].m.Tag("more"); err != nil {
		t.Fatal(err)
	}
	if err := set.Load(slot); !errors.Is(err, save.ErrLayout) || !strings.Contains(err.Error(), "worker[0]: save: the layout differs: the counts of 3 tags, 0 are") {
		t.Errorf("without a tag of a worker: %v, want ErrLayout", err)
	}
	games[1].m.Worker(0).Tag(more)
	if err := set.Scan(slot, func(save.Piece) bool { return true }); !errors.Is(err, save.ErrLayout) {
		t.Errorf("a Scan, which must not make the notes of tags longer: %v, want ErrLayout", err)
	} else if !strings.Contains(err.Error(), "words of tags") {
		t.Error(err)
	}
	if err = errors.Join(err, set.Load(slot), games[1].m.Check()); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		var at [2]uintptr
		for i, g := range games {
			at[i] = uintptr(memtest.MustAlloc(t, g.tag, 100, 8)) - uintptr(g.m.Base())
		}
		if at[0] != at[1] {
			t.Fatalf("the next block is at %d, and in the saved manager at %d", at[1], at[0])
		}
	}
	if a, b := games[0].tag.Stats(), games[1].tag.Stats(); a != b {
		t.Errorf("the tag has %+v, and in the saved manager %+v", b, a)
	}
}

// A handedOver is the State of the newest of several managers.
type handedOver struct{ *tiers.Manager }

// What tags have counted in tiers that are not saved stays, as these tiers do.
func TestManager_LoadOfSomeTiersKeepsTagsOfOthers(t *testing.T) {
	for _, saved := range []tiers.Tier{tiers.Level, tiers.Slab, tiers.Large} {
		m, err := tiers.New(tiers.Config{GC: gcpace.Config{Keep: true}, Tags: true})
		if err != nil {
			t.Fatal(err)
		}
		early, err := m.Tag("early")
		var set save.Set
		if err := errors.Join(err, m.BeginLevel(), set.Add("memory", m.State(tiers.Saved{Tiers: []tiers.Tier{saved}}))); err != nil {
			t.Fatal(err)
		}
		block := func(tag *tiers.Tag, size uintptr) func() {
			p := memtest.MustAlloc(t, tag, size, 8)
			return func() { tag.Free(p, size) }
		}
		past, err := m.Tag("past")
		if err != nil {
			t.Fatal(err)
		}
		block(past, 30_000)()
		free := block(early, 1000)
		large := block(early, 9000)
		memtest.MustAlloc(t, early.Level(), 100, 8)
		slot := set.NewSlot(1 << 20)
		if err := errors.Join(set.Seal(), set.Save(slot)); err != nil {
			t.Fatal(err)
		}
		switch saved {
		case tiers.Slab:
			free()
		case tiers.Large:
			large()
		}
		late, err := m.Tag("late")
		if err != nil {
			t.Fatal(err)
		}
		for _, tag := range []*tiers.Tag{early, late} {
			if saved == tiers.Slab { // with the block of the slot it has more than ever before
				block(tag, 12000)
			} else {
				block(tag, 4000)
			}
			if _, err := tag.Alloc(1<<30, 8); err == nil {
				t.Fatal("there is memory for 1 GiB")
			}
			memtest.MustAlloc(t, tag.Level(), 100, 8)
		}
		if err := errors.Join(set.Load(slot), m.Check()); err != nil {
			t.Errorf("%v: %v", saved, err)
		}
		if s := past.Stats(); s.Peak < 30_000 {
			t.Errorf("%v: the tag that had 30,000 bytes has %+v", saved, s)
		}
		for i, tag := range []*tiers.Tag{early, late} {
			blocks, failures := uint64(2-i), uint64(1)
			switch saved {
			case tiers.Level:
				blocks--
			case tiers.Large:
				failures = 0
			}
			if s := tag.Stats(); s.Peak < s.InUse || s.Failures != failures || tag.Level().Taken().Blocks != blocks {
				t.Errorf("%v: tag %d has %+v, %+v", saved, i, s, tag.Level().Taken())
			}
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A failure of a tag goes back with the tier that refused the request, and with no other.
func TestTag_FailuresGoBackWithTheirTier(t *testing.T) {
	cfg := tiers.Config{GC: gcpace.Config{Keep: true}, Tags: true}
	cfg.Budget[tiers.Slab] = 64 << 10
	for _, saved := range [][]tiers.Tier{{tiers.Level}, {tiers.Slab}, {tiers.Large}, {tiers.Slab, tiers.Large}} {
		m, err := tiers.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		tag, err := m.Tag("subject")
		var set save.Set
		if err = errors.Join(err, set.Add("memory", m.State(tiers.Saved{Tiers: saved})), set.Seal()); err != nil {
			t.Fatal(err)
		}
		slot := set.NewSlot(1 << 18)
		if err := set.Save(slot); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := tag.Alloc(1<<30, 8); err == nil {
				t.Fatal("there is memory for 1 GiB")
			}
		}
		for err == nil {
			_, err = tag.Alloc(4096, 8)
		}
		if tag.Stats().Failures != 4 {
			t.Fatalf("%d failures, want 4", tag.Stats().Failures)
		}
		if err := errors.Join(set.Load(slot), m.Check()); err != nil {
			t.Fatal(err)
		}
		want := uint64(4)
		if slices.Contains(saved, tiers.Slab) {
			want--
		}
		if slices.Contains(saved, tiers.Large) {
			want -= 3
		}
		if got := tag.Stats().Failures; got != want {
			t.Errorf("%v: %d failures after the load, want %d", saved, got, want)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A Freer of the manager sends a worker's block to the game goroutine, which sends it on to the worker.
func TestManager_RestFreesBlocksSentOnToWorkers(t *testing.T) {
	m, err := tiers.New(tiers.Config{GC: gcpace.Config{Keep: true}, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	w, f, other := m.Worker(0), m.NewFreer(), m.Worker(1)
	m.Free(memtest.MustAlloc(t, other, 1000, 16), 1000)
	if err := m.Rest(0, 0); err != nil || other.Stats().Live != 1 {
		t.Errorf("Rest of another worker: %v, and %d blocks are live", err, other.Stats().Live)
	}
	f.Free(memtest.MustAlloc(t, w, 1000, 16), 1000)
	if err := errors.Join(f.Flush(), m.Rest(0)); err != nil || w.Stats().Live != 0 {
		t.Errorf("%v, and %d blocks are live", err, w.Stats().Live)
	}
	err = m.BeginFrame()
	m.Free(memtest.MustAlloc(t, w, 1000, 16), 1000) // it waits for others
	if err = errors.Join(err, m.Rest(0)); err != nil || w.Stats().Live != 0 {
		t.Errorf("in a frame: %v, and %d blocks are live", err, w.Stats().Live)
	}
	if err := errors.Join(m.EndFrame(), f.Close(), m.Close()); err != nil {
		t.Error(err)
	}
}

// Save and Load free the blocks in flight, also those that wait for a batch and those that are sent on to a worker.
func TestManager_SaveAndLoadFreeBlocksInFlight(t *testing.T) {
	g := newSavedGame(t, tiers.Config{})
	w, f, h := g.m.Worker(1), g.m.NewFreer(), g.m.Worker(1).NewFreer()
	slot := g.set.NewSlot(1 << 20)
	send := func() {
		var p [4]unsafe.Pointer
		for i := range p {
			p[i] = memtest.MustAlloc(t, w, 1000, 16)
		}
		err := g.m.BeginFrame()
		g.m.Free(p[0], 1000)
		err = errors.Join(err, g.m.EndFrame())
		g.m.Free(p[1], 1000)
		f.Free(p[2], 1000)
		h.Free(p[3], 1000)
		if err = errors.Join(err, f.Flush(), h.Flush()); err != nil {
			t.Fatal(err)
		}
	}
	for i, call := range []func(*save.Slot) error{g.set.Save, g.set.Load} {
		send()
		if err := call(slot); err != nil || w.Stats().Live != 0 || g.m.Check() != nil {
			t.Errorf("call %d: %v, %d blocks are live, %v", i, err, w.Stats().Live, g.m.Check())
		}
	}
	send()
	if _, differ, err := g.set.Diff(slot, slot); err != nil || differ {
		t.Errorf("Diff, which has nothing to do with blocks in flight: %t, %v", differ, err)
	}
	if n := w.Stats().Live; n != 4 {
		t.Errorf("after Diff %d blocks are live, want 4", n)
	}
	if err := g.m.Rest(0); err != nil {
		t.Error(err)
	}
	if err := errors.Join(f.Close(), h.Close()); err != nil {
		t.Error(err)
	}
}

func TestManager_RestWaitsForTask(t *testing.T) {
	g := newSavedGame(t, tiers.Config{})
	begun, ended := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := g.m.Worker(0).BeginTask()
		begun <- err
		time.Sleep(time.Millisecond)
		ended <- g.m.Worker(0).EndTask()
	}()
	if err := errors.Join(<-begun, g.m.Rest(time.Minute), <-ended); err != nil {
		t.Error(err)
	}
}

// What a worker, a tier or a pool that is left out has counted is no part of a state.
func TestManager_OthersLeaveNoTraceInAState(t *testing.T) {
	for what, c := range map[string]struct {
		cfg   tiers.Saved
		other func(g *savedGame, outside *arena.Linear) memory.Allocator
		size  uintptr
	}{
		"worker": {tiers.Saved{Workers: []int{1}}, func(g *savedGame, _ *arena.Linear) memory.Allocator { return g.m.Worker(0) }, 100},
		"twice":  {tiers.Saved{Workers: []int{1, 1}}, func(g *savedGame, _ *arena.Linear) memory.Allocator { return g.m.Worker(0) }, 100},
		"large":  {tiers.Saved{Tiers: []tiers.Tier{tiers.Slab}}, func(g *savedGame, _ *arena.Linear) memory.Allocator { return g.tag }, 9000},
		"slab":   {tiers.Saved{Tiers: []tiers.Tier{tiers.Large}}, func(g *savedGame, _ *arena.Linear) memory.Allocator { return g.tag }, 100},
		"level":  {tiers.Saved{Tiers: []tiers.Tier{tiers.Slab}}, func(g *savedGame, _ *arena.Linear) memory.Allocator { return g.tag.Level() }, 100},
		"pool":   {tiers.Saved{}, func(_ *savedGame, outside *arena.Linear) memory.Allocator { return outside }, 100},
	} {
		g := newSavedGame(t, tiers.Config{})
		outside := g.outside()
		var set save.Set
		if err := errors.Join(set.Add("memory", g.m.State(c.cfg)), set.Seal()); err != nil {
			t.Fatal(err)
		}
		slot, first, again := set.NewSlot(8<<20), set.NewCanonical(8<<20), set.NewCanonical(8<<20)
		frame := func() error {
			memtest.MustAlloc(t, g.tag, 100, 8)
			return errors.Join(g.m.BeginFrame(), g.m.EndFrame())
		}
		if err := errors.Join(frame(), set.Save(slot), frame(), set.Save(first), set.Load(slot), g.m.Check()); err != nil {
			t.Fatal(err)
		}
		memtest.MustAlloc(t, c.other(g, outside), c.size, 8)
		if err := errors.Join(frame(), set.Save(again), g.m.Check()); err != nil {
			t.Fatal(err)
		}
		if d, differ, err := set.Diff(first, again); differ || err != nil {
			t.Errorf("%s: the state has other counts: %v, %v", what, d, err)
		}
	}
}

// outside registers an arena that the manager does not save, as the pages of a ground are.
func (g *savedGame) outside() *arena.Linear {
	g.t.Helper()
	a, err := arena.NewLinear(g.m.PoolSource(), arena.LinearConfig{Bytes: 64 << 10})
	if err != nil {
		g.t.Fatal(err)
	}
	g.m.AddPool("outside", &tiers.Funcs{StatsFunc: a.Stats, CloseFunc: a.Close})
	return a
}

// What a pool that is left out has counted in other levels, or was refused, is no part of a state.
func TestManager_OtherPoolsLeaveNoTraceInAHash(t *testing.T) {
	var hashes [4]uint64
	for i := range hashes {
		cfg := tiers.Config{}
		cfg.Budget[tiers.Pools] = 1 << 20
		g := newSavedGame(t, cfg)
		outside, past := g.outside(), memory.Stats{Allocs: uint64(i / 3), Frees: uint64(i / 3)}
		g.m.AddPool("reset", &tiers.Funcs{StatsFunc: func() memory.Stats { return past }, ResetFunc: func() {}})
		_, err := g.m.EndLevel()
		if i == 1 {
			memtest.MustAlloc(t, outside, 100, 8)
		}
		if err = errors.Join(err, g.m.BeginLevel()); err != nil {
			t.Fatal(err)
		}
		if i == 2 {
			if _, err := arena.NewLinear(g.m.PoolSource(), arena.LinearConfig{Bytes: 2 << 20}); !errors.Is(err, memory.ErrOutOfMemory) {
				t.Fatalf("%v, want ErrOutOfMemory", err)
			}
		}
		if hashes[i], err = g.set.SaveHash(g.set.NewCanonical(8 << 20)); err != nil {
			t.Fatal(err)
		}
	}
	if hashes[1] != hashes[0] || hashes[2] != hashes[0] || hashes[3] != hashes[0] {
		t.Errorf("the hashes %x differ", hashes)
	}
}

// A pool that was registered only in a discarded future is no part of a state, as its hooks are not.
func TestManager_DiscardedPoolsLeaveNoTraceInAHash(t *testing.T) {
	var hashes [2]uint64
	for i := range hashes {
		g := newSavedGame(t, tiers.Config{})
		slot, gone := g.save(), &tiers.Funcs{}
		if i == 1 {
			g.m.AddPool("gone", gone)
			g.m.RemovePool(gone)
		}
		err := g.set.Load(slot)
		g.m.AddPool("late", &tiers.Funcs{})
		var err2 error
		hashes[i], err2 = g.set.SaveHash(g.set.NewCanonical(8 << 20))
		after, late := g.save(), &tiers.Funcs{}
		g.m.AddPool("later", late)
		discarded := g.save()
		g.m.RemovePool(late)
		err = errors.Join(err, err2, g.set.Load(after))
		g.m.AddPool("later", &tiers.Funcs{}) // with the number of the discarded one
		if err != nil {
			t.Fatal(err)
		}
		if err := g.set.Load(discarded); !errors.Is(err, save.ErrLayout) {
			t.Errorf("a state with a discarded pool: %v, want ErrLayout", err)
		}
	}
	if hashes[0] != hashes[1] {
		t.Errorf("the hashes %x differ", hashes)
	}
}

// After a load the leaks of a level are those of the loaded state.
func TestManager_LeaksAfterLoad(t *testing.T) {
	g := newSavedGame(t, tiers.Config{})
	memtest.MustAlloc(t, g.tag, 100, 8) // not of the level
	if _, err := g.m.EndLevel(); err != nil {
		t.Fatal(err)
	}
	if err := g.m.BeginLevel(); err != nil {
		t.Fatal(err)
	}
	blocks := func() {
		memtest.MustAlloc(t, g.tag, 100, 8)
		memtest.MustAlloc(t, g.m.Worker(1), 100, 8)
	}
	blocks()
	slot := g.save()
	blocks()
	if err := errors.Join(g.m.BeginFrame(), g.m.EndFrame(), g.set.Load(slot), g.m.Check()); err != nil {
		t.Fatal(err)
	}
	leaks, err := g.m.EndLevel()
	if err != nil || leaks.Tiers[tiers.Slab].Blocks != 1 || leaks.Tiers[tiers.Inbox].Blocks != 1 || len(leaks.Tags) != 1 || leaks.Tags[0].Blocks != 1 {
		t.Errorf("%v, %v", leaks, err)
	}
}

// A worker that is named twice is saved once.
func TestManager_StateSavesEachWorkerOnce(t *testing.T) {
	g := newSavedGame(t, tiers.Config{})
	size := func(workers ...int) int {
		var set save.Set
		err := errors.Join(set.Add("memory", g.m.State(tiers.Saved{Workers: workers})), set.Seal())
		n, err2 := set.Size()
		if err = errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if once, twice := size(0, 1), size(1, 0, 1); once != twice {
		t.Errorf("%d bytes, and %d if a worker is named twice", once, twice)
	}
}

func TestManager_StateOfSomeTiersLeavesTheOthers(t *testing.T) {
	g := newSavedGame(t, tiers.Config{})
	var set save.Set
	if err := errors.Join(set.Add("some", g.m.State(tiers.Saved{Tiers: []tiers.Tier{tiers.Slab, tiers.Inbox}, Workers: []int{1}})), set.Seal()); err != nil {
		t.Fatal(err)
	}
	n, err := set.Size()
	slot := set.NewSlot(n)
	if err = errors.Join(err, set.Save(slot)); err != nil {
		t.Fatal(err)
	}
	_, err1 := g.m.Alloc(64, 8)
	large, err2 := g.m.Alloc(10_000, 8)
	other, err3 := g.m.Worker(0).Alloc(64, 8)
	_, err4 := g.m.Worker(1).Alloc(64, 8)
	if err = errors.Join(err1, err2, err3, err4, set.Load(slot), g.m.Check()); err != nil {
		t.Fatal(err)
	}
	if g.m.Stats(tiers.Slab).Live != 0 || g.m.Stats(tiers.Large).Live != 1 || g.m.Stats(tiers.Inbox).Live != 1 {
		t.Error("another tier or worker was loaded, or the selected ones were not")
	}
	g.m.Free(large, 10_000)
	g.m.Worker(0).Free(other, 64)
}
