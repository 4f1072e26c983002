package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory/container"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/tiers"
)

var errFails = errors.New("it fails")

// A fragile game fails in the passes that a test has chosen.
type fragile struct {
	n, hidden, version int
	fit, save, scan    bool // the Set fails in these passes
	more               bool // saving visits more than was counted
	set                *save.Set
	calls              int // of SaveState
}

func newFragile(t *testing.T) *fragile {
	t.Helper()
	g := &fragile{set: new(save.Set)}
	if err := errors.Join(g.set.Add("game", g), g.set.Seal()); err != nil {
		t.Fatal(err)
	}
	return g
}

func (g *fragile) SaveState(c *save.Coder) {
	g.calls++
	save.Num(c, &g.n)
	c.Same("the version", uint64(g.version))
	if c.Scanning() && g.scan || c.Fitting() && g.fit || c.Saving() && g.save {
		c.Busy("a test")
	}
	if g.more && g.calls%2 == 0 {
		c.Word(1)
	}
}

func (g *fragile) step() error { g.n++; return nil }

func (g *fragile) sync() engine.Sync {
	return engine.Sync{Set: g.set, Step: g.step, Hash: func() uint64 { return uint64(g.n + 1000*g.hidden) }, Ticks: 8, Distance: 4}
}

// rewind returns a Rewind of a game that has states of ticks 0, 5 and 10, and the inputs of 12 ticks.
func (g *fragile) rewind(t *testing.T, bytes int, step func() error, rest func() error) *engine.Rewind[int] {
	t.Helper()
	r, err := engine.NewRewind(engine.RewindConfig[int]{Set: g.set, Memory: make([]byte, bytes), Step: func(*int) error { return step() }, Rest: rest})
	for range 12 {
		_, keep := r.Keep(5)
		r.Record(1)
		if err = errors.Join(err, keep, g.step()); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func TestRewind_StatesThatDoNotFitAtAll(t *testing.T) {
	g := newFragile(t)
	r := g.rewind(t, 1000, g.step, nil)
	seek := func(tick uint64, played int, want error, now uint64) {
		t.Helper()
		if n, err := r.Seek(tick); n != played || !errors.Is(err, want) || r.Now() != now || g.n != int(now) {
			t.Errorf("Seek(%d) has played %d ticks, to %d: %d; %v", tick, n, r.Now(), g.n, err)
		}
	}
	seek(2, 2, nil, 2)
	g.version++
	seek(7, 5, nil, 7) // from the present tick
	seek(1, 0, save.ErrLayout, 7)
	g.version, g.fit = 0, true
	seek(1, 0, save.ErrBusy, 7)
	g.fit = false
	seek(1, 1, nil, 1)
}

func TestRewind_NoStateAfterAFailedStep(t *testing.T) {
	g, fails := newFragile(t), false
	n, err := g.set.Size()
	if err != nil {
		t.Fatal(err)
	}
	r := g.rewind(t, n, func() error {
		if fails {
			return errFails
		}
		return g.step()
	}, nil)
	if _, err := r.Seek(11); err != nil {
		t.Fatal(err)
	}
	g.more, g.calls = true, 0 // the only state makes space for one that is not saved
	if saved, err := r.Keep(1); saved || !errors.Is(err, save.ErrLayout) {
		t.Fatal(saved, err)
	}
	g.more, fails = false, true
	if _, err := r.Seek(12); !errors.Is(err, errFails) {
		t.Fatal(err)
	}
	fails = false
	if _, err := r.Seek(12); !errors.Is(err, save.ErrEmpty) || !strings.Contains(err.Error(), "no state before tick 12") {
		t.Errorf("without a state: %v", err)
	}
}

func TestRewind_BackReturnsErrorsOfRest(t *testing.T) {
	// Back rests before it loads, and before it saves a state on the way.
	for at, want := range [][3]int{1: {0, 12, 12}, 2: {2, 7, 9}, 3: {4, 9, 9}} {
		g, calls := newFragile(t), -100
		r := g.rewind(t, 1000, g.step, func() error {
			if calls++; calls == at {
				return errFails
			}
			return nil
		})
		calls = 0
		played, err := r.Back(9, 2)
		if got := [3]int{played, int(r.Now()), int(r.End())}; at > 0 && (got != want || (err == nil) != (at == 3) || err != nil && !errors.Is(err, errFails)) {
			t.Errorf("rest %d fails: %d ticks were played, to tick %d of %d: %v", at, played, r.Now(), r.End(), err)
		}
	}
}

// Whichever call fails, its error returns.
func TestSynctest_ReturnsErrorsOfEachCall(t *testing.T) {
	for _, what := range []string{"step", "rest"} {
		for at, most := 1, 20; at <= most; at++ {
			g, calls := newFragile(t), 0
			fail := func() error {
				if calls++; calls == at {
					return errFails
				}
				return nil
			}
			cfg := g.sync()
			cfg.Ticks, cfg.Distance = 2, 2
			if what == "step" {
				cfg.Step = func() error { return errors.Join(g.step(), fail()) }
				most = 4
			} else {
				cfg.Rest = fail
				most = 8 // before the save, after and before each of two steps and saves, before the load, and after two steps
			}
			_, err := engine.Synctest(cfg)
			if !errors.Is(err, errFails) {
				t.Errorf("%s %d: %v", what, at, err)
			}
			if tick := fmt.Sprintf("tick %d: it fails", (at-1)%2+1); what == "step" && !strings.Contains(fmt.Sprint(err), tick) {
				t.Errorf("%v, want %s", err, tick)
			}
		}
	}
}

func TestSynctest_ErrorsOfTheSet(t *testing.T) {
	g := newFragile(t)
	g.fit = true
	if done, err := engine.Synctest(g.sync()); !errors.Is(err, save.ErrBusy) || done.Skipped != 0 || done.Loads != 0 {
		t.Errorf("a load that fails: %+v, %v", done, err)
	}
	for what, fail := range map[string]func(g *fragile){"save": func(g *fragile) { g.save = true }, "scan": func(g *fragile) { g.scan = true }} {
		g, calls := newFragile(t), 0
		cfg := g.sync()
		cfg.Hash = func() uint64 { // differs as the third tick is played again
			if calls++; calls == 9 {
				fail(g)
				return 1
			}
			return uint64(g.n)
		}
		_, err := engine.Synctest(cfg)
		if d := (*engine.Desync)(nil); !errors.Is(err, save.ErrBusy) || !errors.As(err, &d) || d.Tick != 3 || d.Differ {
			t.Errorf("%s: %v", what, err)
		}
		one, other := newFragile(t), newFragile(t)
		a, b := one.sync(), other.sync()
		b.Hash = func() uint64 { return 1 + uint64(other.n) - uint64(other.n)%5/4 }
		fail(other)
		ticks, err := engine.Lockstep(a, b)
		if d := (*engine.Desync)(nil); !errors.Is(err, save.ErrBusy) || !errors.As(err, &d) || d.Tick != ticks+1 || d.Differ {
			t.Errorf("lockstep, %s: %d ticks, %v", what, ticks, err)
		}
	}
}

// The hash covers a number that the Set lacks.
func TestSynctest_HashThatDiffersAlone(t *testing.T) {
	g := newFragile(t)
	cfg := g.sync()
	cfg.Step = func() error { g.hidden++; return g.step() }
	_, err := engine.Synctest(cfg)
	if d := (*engine.Desync)(nil); !errors.As(err, &d) || d.Tick != 0 || d.Differ || d.Audit || d.Err != nil || err.Error() !=
		"engine: synctest: tick 0: the hash differs, but no part of the Set: it lacks data that the hash covers" {
		t.Error(err)
	}
}

func TestUnhashed_Errors(t *testing.T) {
	type unit struct{ A, B uint32 }
	var v struct {
		U, W unit
		L    [2]uint16
		None [0]uint32
	}
	g := newFragile(t)
	set := new(save.Set)
	if err := errors.Join(save.Value(set, "v", &v), set.Add("game", g), set.Seal()); err != nil {
		t.Fatal(err)
	}
	cfg := engine.Sync{Set: set, Hash: func() uint64 {
		if v.U.B != 0 {
			panic("a test")
		}
		return uint64(v.U.A)
	}}
	if fields, err := engine.Unhashed(cfg); err != nil || fmt.Sprint(fields) != "[v .W.A v .W.B v .L[0]]" {
		t.Errorf("%q, %v", fields, err)
	}
	for what, fail := range map[string]func(){"fit": func() { g.fit = true }, "save": func() { g.save = true }, "scan": func() { g.scan = true }} {
		*g = fragile{set: g.set}
		fail()
		if fields, err := engine.Unhashed(cfg); !errors.Is(err, save.ErrBusy) || len(fields) > 0 {
			t.Errorf("%s: %q, %v", what, fields, err)
		}
	}
	*g = fragile{set: g.set}
	cfg.Rest = func() error { return errFails }
	if _, err := engine.Unhashed(cfg); !errors.Is(err, errFails) {
		t.Error(err)
	}
}

// A container whose length is flipped would lead Hash out of its memory. That is no panic: it ends the program.
func TestUnhashed_SkipsContainersInValues(t *testing.T) {
	type enemy struct {
		X     float64
		Path  container.Vec[uint32]
		Queue [2]container.Ring[uint32]
		Y     uint32
	}
	for _, elements := range []int{0, 1, 5} {
		m, err := tiers.New(tiers.Config{})
		if err != nil {
			t.Fatal(err)
		}
		p, err1 := tiers.NewPool[enemy](m, pool.Config{Capacity: 16})
		sp, err2 := container.In(m)
		_, e, err3 := p.New()
		set := new(save.Set)
		if err := errors.Join(err1, err2, err3, set.Add("memory", m), set.Seal()); err != nil {
			t.Fatal(err)
		}
		for i := range elements {
			if err := errors.Join(e.Path.Append(sp, uint32(i)), e.Queue[1].PushBack(sp, uint32(i))); err != nil {
				t.Fatal(err)
			}
		}
		fields, err := engine.Unhashed(engine.Sync{Set: set, Hash: func() uint64 {
			var h engine.Hasher
			for _, e := range p.All() {
				h.Int(int(e.Y))
				for _, v := range e.Path.Slice(sp) {
					h.Int(int(v))
				}
				for i := range e.Queue[1].Len() {
					h.Int(int(e.Queue[1].At(sp, i)))
				}
			}
			return h.Sum()
		}})
		if want := "[memory/pools/pool/engine_test.enemy/slot .X]"; err != nil || fmt.Sprint(fields) != want {
			t.Errorf("%d elements: %q, %v; want %s", elements, fields, err, want)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Without spare memory Back keeps the older states, which reach further.
func TestRewind_BackDropsNoOldStates(t *testing.T) {
	g := newFragile(t)
	n, err := g.set.Size()
	if err != nil {
		t.Fatal(err)
	}
	r := g.rewind(t, 3*n, g.step, nil)
	if _, err := r.Back(9, 1); err != nil || r.Oldest() != 0 {
		t.Errorf("ticks from %d on are left: %v", r.Oldest(), err)
	}
	if saved, err := r.Keep(0); !saved || err != nil {
		t.Error(saved, err)
	}
	if saved, err := r.Keep(0); saved || err != nil {
		t.Error("one tick is kept twice:", err)
	}
	if _, err := r.Seek(7); err != nil || g.n != 7 {
		t.Errorf("tick %d: %v", g.n, err)
	}
	if saved, err := r.Keep(1); saved || err != nil {
		t.Error("a tick before the newest state is kept:", err)
	}
}

func TestDesync_Texts(t *testing.T) {
	d := save.Difference{Path: "p", A: "1", B: "2"}
	many := make([]save.Difference, 10)
	for i := range many {
		many[i] = save.Difference{Path: fmt.Sprint("f", i), A: "1", B: "2"}
	}
	const lacks = "engine: synctest: tick 3: after the load: p: 1, and 2: the Set lacks it, or does not restore it"
	for want, x := range map[string]engine.Desync{
		"engine: synctest: tick 3: after the load: it fails":        {Tick: 3, Err: errFails, Differ: true, Audit: true},
		"engine: synctest: tick 3: p: 1, and 2":                     {Tick: 3, Difference: d, Differ: true},
		lacks:                                                       {Tick: 3, Difference: d, Differ: true, Audit: true},
		lacks + "; also f0":                                         {Tick: 3, Difference: d, More: many[:1], Differ: true, Audit: true},
		lacks + "; also f0, f1, f2, f3, f4, f5, f6, f7":             {Tick: 3, Difference: d, More: many[:8], Differ: true, Audit: true},
		lacks + "; also f0, f1, f2, f3, f4, f5, f6, f7, and 2 more": {Tick: 3, Difference: d, More: many, Differ: true, Audit: true},
	} {
		if got := x.Error(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
