package tiers_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/gcpace"
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

func TestManager_StateNamesWhatIsNotThere(t *testing.T) {
	g := newSavedGame(t, tiers.Config{})
	state := func(cfg tiers.Saved) func() { return func() { g.m.State(cfg) } }
	memtest.Misuse(t, state(tiers.Saved{Tiers: []tiers.Tier{tiers.Slab, tiers.Frame}}), "tiers.State: the tier frame cannot be saved")
	memtest.Misuse(t, state(tiers.Saved{Tiers: []tiers.Tier{tiers.Count}}), "cannot be saved")
	memtest.Misuse(t, state(tiers.Saved{Workers: []int{1, 2}}), "there is no worker 2 of 2")
	memtest.Misuse(t, func() { _ = g.m.Rest(0, 1, -1) }, "there is no worker -1 of 2")
}

// Config.OnSoft closes the page source while a load commits memory for large: the workers have ended when their turn
// comes.
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

// An EndLevel that failed has released the static buffers. The buffers that are declared then are others.
func TestManager_LoadRefusedWithAnotherPlan(t *testing.T) {
	g := newSavedGame(t, tiers.Config{})
	small, large := plan.Buffer{ID: 0, Size: 100, Align: 8, Death: 1}, plan.Buffer{ID: 1, Size: 4096, Align: 8, Death: 2}
	saved, err := plan.Fast([]plan.Buffer{small, large})
	large.Death, small.Death = 1, 2
	other, err2 := plan.Fast([]plan.Buffer{small, large})
	fails := false
	g.m.AddPool("pool", &tiers.Funcs{StatsFunc: func() (s memory.Stats) {
		if g.m.Static() == nil && fails {
			panic("not yet")
		}
		return s
	}})
	declare := func(p *plan.Plan) *plan.Arena {
		a, err := g.m.Declare(p)
		if err != nil {
			t.Fatal(err)
		}
		a.Begin(1)
		return a
	}
	if err = errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	declare(saved)
	slot := g.save()
	fails = true
	func() {
		defer func() { _ = recover() }()
		_, _ = g.m.EndLevel()
	}()
	fails = false
	a := declare(other)
	b := unsafe.Slice((*byte)(a.Get(0)), 100)
	clear(b)
	b[99] = 7
	if err := g.set.Load(slot); !errors.Is(err, save.ErrLayout) || b[99] != 7 {
		t.Errorf("%v and byte %d, want ErrLayout and 7", err, b[99])
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
