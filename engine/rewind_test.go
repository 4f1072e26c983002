package engine_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/save"
)

// newRewind returns a toy with a Rewind in the given memory, whose input is a number that is added to the score.
func newRewind(t *testing.T, bytes, ticks int) (*toy, *engine.Rewind[int]) {
	t.Helper()
	g, cfg := newToy(t)
	r, err := engine.NewRewind(engine.RewindConfig[int]{Set: cfg.Set, Memory: make([]byte, bytes), Ticks: ticks, States: 200, Step: g.play})
	if err != nil {
		t.Fatal(err)
	}
	return g, r
}

func (g *toy) play(in *int) error {
	g.score += *in
	return g.step()
}

// kept plays eight ticks with states far apart, keeps the last, and returns the hash of each tick.
func kept(t *testing.T, g *toy, r *engine.Rewind[int]) []uint64 {
	t.Helper()
	hashes := []uint64{g.hash()}
	for range 8 {
		live(t, g, r, 1, 100)
		hashes = append(hashes, g.hash())
	}
	if saved, err := r.Keep(1); !saved || err != nil {
		t.Fatal(saved, err)
	}
	return hashes
}

// live plays a tick that the player steers.
func live(t *testing.T, g *toy, r *engine.Rewind[int], in, every int) {
	t.Helper()
	_, err := r.Keep(every)
	r.Record(in)
	if err := errors.Join(err, g.play(&in)); err != nil {
		t.Fatal(err)
	}
}

// Ticks are played, visited again and replaced in random order. Each tick has the hash that it had first, and at most
// every ticks are played again.
func TestRewind_SeeksBesideAModel(t *testing.T) {
	const every = 12
	g, r := newRewind(t, 40_000, 300)
	rng := rand.New(rand.NewPCG(1, 2))
	hashes := []uint64{g.hash()} // by tick
	seeks, dropped := 0, false
	for range 6000 {
		to := r.Oldest() + uint64(rng.IntN(int(r.End()-r.Oldest())+1))
		played, err := 0, error(nil)
		switch rng.IntN(8) {
		case 0:
			played, err = r.Seek(to)
			seeks++
		case 1:
			if to = min(to, r.Now()); r.End()-to < 20 {
				played, err = r.Back(to, 4)
				hashes = hashes[:to+1]
			}
		default:
			if r.End()-r.Now() > 20 || rng.IntN(2) == 0 { // else another future begins here
				if played, err = r.Seek(r.End()); err != nil {
					t.Fatal(err)
				}
			}
			hashes = hashes[:r.Now()+1]
			live(t, g, r, rng.IntN(100), every)
			hashes = append(hashes, g.hash())
		}
		if err = errors.Join(err, r.Check()); err != nil || played > every {
			t.Fatalf("to tick %d of %d to %d: %d were played again: %v", to, r.Oldest(), r.End(), played, err)
		}
		if int(r.End()) != len(hashes)-1 || g.hash() != hashes[r.Now()] {
			t.Fatalf("tick %d of %d: hash %x, was %x", r.Now(), r.End(), g.hash(), hashes[r.Now()])
		}
		dropped = dropped || r.Oldest() > 0
	}
	if n, used, size := r.States(); seeks < 100 || !dropped || n == 0 || used > size {
		t.Errorf("%d seeks; %d states in %d of %d bytes, the oldest of tick %d", seeks, n, used, size, r.Oldest())
	}
}

// A rewindCase is a Rewind at a limit: as many states as fit, ticks as few as one.
type rewindCase struct {
	states, ticks, most int // states that fit into the memory; RewindConfig.Ticks, States
	seed                uint64
}

func rewindCases() (all []rewindCase) {
	seeds := uint64(1)
	if testenv.Full() {
		seeds = 20
	}
	for seed := range seeds {
		for _, states := range []int{0, 1, 2, 7} {
			for _, ticks := range []int{1, 2, 9, 200} {
				for _, most := range []int{1, 2, 50} {
					all = append(all, rewindCase{states, ticks, most, seed})
				}
			}
		}
	}
	return all
}

// At every limit, and with steps and rests that fail, a Seek that succeeds shows the tick as it was played. One that
// fails before a step leaves the present tick as it is.
func TestRewind_LimitsAndFailuresBesideAModel(t *testing.T) {
	sought := 0
	for _, c := range rewindCases() {
		sought += rewindAtLimits(t, c)
	}
	if sought < 500 {
		t.Errorf("%d ticks were sought", sought)
	}
}

func rewindAtLimits(t *testing.T, c rewindCase) (sought int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(c.seed, uint64(c.states*10_000+c.ticks*100+c.most)))
	var v struct{ Tick, Sum uint64 }
	set, broken := new(save.Set), errors.New("broken")
	if err := errors.Join(save.Value(set, "v", &v), set.Seal()); err != nil {
		t.Fatal(err)
	}
	bytes, err := set.Size()
	if err != nil {
		t.Fatal(err)
	}
	stepFails, restFails := 0, false // in so many steps
	step := func(in *int) error {
		v.Tick++ // half of a tick
		if stepFails--; stepFails == 0 {
			return broken
		}
		v.Sum = v.Sum*31 + uint64(*in)
		return nil
	}
	r, err := engine.NewRewind(engine.RewindConfig[int]{Set: set, Memory: make([]byte, c.states*bytes+rng.IntN(bytes)), Ticks: c.ticks, States: c.most,
		Step: step, Rest: func() error {
			if restFails {
				return broken
			}
			return nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	sums, torn := map[uint64]uint64{0: 0}, false // by tick
	for op := range 150 {
		was, now := v, r.Now()
		stepFails, restFails = -1, rng.IntN(12) == 0
		switch k := rng.IntN(10); {
		case k < 4 && !torn:
			in := rng.IntN(100)
			r.Record(in)
			if err := step(&in); err != nil {
				t.Fatal(err)
			}
			sums[r.Now()] = v.Sum
		case k < 6:
			if saved, err := r.Keep(1 + rng.IntN(4)); saved && (torn || restFails) || err == nil && torn || v != was {
				t.Fatalf("%+v, operation %d: Keep %t, %v", c, op, saved, err)
			}
		case k < 9:
			to := r.Oldest() + uint64(rng.IntN(int(r.End()-r.Oldest())+3)) - min(r.Oldest(), 1)
			stepFails = 1 + rng.IntN(20)
			seek := func() (int, error) { return r.Seek(to) }
			if rng.IntN(3) == 0 {
				seek = func() (int, error) { return r.Back(to, rng.IntN(4)) }
			}
			switch played, err := seek(); {
			case err == nil:
				if torn = false; r.Now() != to {
					t.Fatalf("%+v, operation %d: tick %d instead of %d", c, op, r.Now(), to)
				}
				sought++
			case errors.Is(err, broken) && stepFails == 0:
				torn = true
			case played > 0: // Rest failed between two ticks
				torn = false
			case v != was || r.Now() != now:
				t.Fatalf("%+v, operation %d: tick %d became %d after %v", c, op, now, r.Now(), err)
			}
		default:
			if r.Cut(); torn {
				r.Begin(v.Tick)
				sums, torn = map[uint64]uint64{v.Tick: v.Sum}, false
			}
		}
		if sum, ok := sums[r.Now()]; !torn && (!ok || v.Sum != sum || v.Tick != r.Now()) || r.Check() != nil {
			t.Fatalf("%+v, operation %d: tick %d is %+v, want sum %d (%t); %v", c, op, r.Now(), v, sum, ok, r.Check())
		}
	}
	return sought
}

// Going back tick by tick plays each tick again about dense times, not every times.
func TestRewind_BackKeepsStatesOnItsWay(t *testing.T) {
	const every = 30
	g, r := newRewind(t, 1<<20, 0)
	for range 10 * every {
		live(t, g, r, 1, every)
	}
	steps := 0
	for r.Now() > r.Oldest() {
		played, err := r.Back(r.Now()-1, 5)
		if err != nil {
			t.Fatal(err)
		}
		steps += played
	}
	if dense, plain := steps, 10*every*(every-1)/2; dense > plain/3 {
		t.Errorf("%d ticks were played again; without states on the way it is %d", dense, plain)
	}
}

func TestRewind_OutOfRangeChangesNothing(t *testing.T) {
	g, r := newRewind(t, 100_000, 0)
	r.Begin(100)
	for range 20 {
		live(t, g, r, 2, 10)
	}
	before := g.hash()
	_, below := r.Seek(99)
	_, above := r.Seek(121)
	_, ahead := r.Back(121, 1)
	for _, err := range []error{below, above, ahead} {
		if !errors.Is(err, save.ErrEmpty) {
			t.Errorf("out of range: %v", err)
		}
	}
	if g.hash() != before || r.Now() != 120 || r.Oldest() != 100 || r.End() != 120 {
		t.Errorf("tick %d of %d to %d", r.Now(), r.Oldest(), r.End())
	}
	if r.Begin(7); r.Oldest() != 7 || r.End() != 7 {
		t.Errorf("after Begin there are %d to %d", r.Oldest(), r.End())
	}
	if _, err := r.Seek(7); err != nil || g.hash() != before {
		t.Errorf("the present tick: %v", err)
	}
}

func TestRewind_ErrorsAreReturned(t *testing.T) {
	g, cfg := newToy(t)
	for _, bad := range []engine.RewindConfig[int]{{Step: g.play}, {Set: cfg.Set}, {Set: cfg.Set, Step: g.play, Ticks: -1}, {Set: cfg.Set, Step: g.play, States: -1}} {
		if _, err := engine.NewRewind(bad); !errors.Is(err, memory.ErrConfig) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	wrong := errors.New("wrong")
	var rest, step error
	r, err := engine.NewRewind(engine.RewindConfig[int]{Set: cfg.Set, Memory: make([]byte, 100_000),
		Step: func(in *int) error { return errors.Join(step, g.play(in)) }, Rest: func() error { return rest }})
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		live(t, g, r, 1, 100)
	}
	before := g.hash()
	rest = wrong
	_, seek := r.Seek(2)
	if _, keep := r.Keep(1); !errors.Is(keep, wrong) || !errors.Is(seek, wrong) || g.hash() != before || r.Now() != 5 {
		t.Errorf("Keep %v, Seek %v, tick %d", keep, seek, r.Now())
	}
	rest, step = nil, wrong
	if played, err := r.Seek(2); !errors.Is(err, wrong) || played != 0 {
		t.Errorf("Seek played %d: %v", played, err)
	}
	small, err := engine.NewRewind(engine.RewindConfig[int]{Set: cfg.Set, Memory: make([]byte, 100), Step: g.play})
	if err != nil {
		t.Fatal(err)
	}
	short := (*memory.Exhausted)(nil)
	if _, err := small.Keep(1); !errors.As(err, &short) || short.Need <= 100 {
		t.Errorf("a state in 100 bytes: %v", err)
	}
}

func TestRewind_DoesNotAllocate(t *testing.T) {
	g, r := newRewind(t, 200_000, 0)
	in := 3
	tick := func() {
		r.Keep(5)
		r.Record(in)
		g.score += in // the toy allocates
	}
	for range 200 {
		tick()
	}
	if n := testing.AllocsPerRun(100, tick); n != 0 {
		t.Errorf("%v allocations a tick", n)
	}
}

// A quick load, a file or a History replaces the state: what was kept before is not its past.
func TestRewind_ForgetsThePastOfAReplacedState(t *testing.T) {
	for name, replace := range map[string]func(s *save.Set, slot *save.Slot, file []byte, h *save.History) error{
		"slot": func(s *save.Set, slot *save.Slot, _ []byte, _ *save.History) error { return s.Load(slot) },
		"file": func(s *save.Set, _ *save.Slot, file []byte, _ *save.History) error {
			return s.Read(bytes.NewReader(file), nil)
		},
		"history": func(_ *save.Set, _ *save.Slot, _ []byte, h *save.History) error { _, err := h.Load(0); return err },
	} {
		set, x, file := new(save.Set), 0, new(bytes.Buffer)
		if err := errors.Join(save.Value(set, "x", &x), set.Seal()); err != nil {
			t.Fatal(err)
		}
		r, err := engine.NewRewind(engine.RewindConfig[int]{Set: set, Memory: make([]byte, 1<<12), Step: func(in *int) error { x += *in; return nil }})
		h, err2 := save.NewHistory(set, make([]byte, 64), 1)
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		slot := set.NewSlot(64)
		if err := errors.Join(h.Save(0), set.Save(slot), set.Write(file)); err != nil {
			t.Fatal(err)
		}
		play := func(n int) {
			for range n {
				_, err := r.Keep(5)
				r.Record(1)
				if x++; err != nil {
					t.Fatal(err)
				}
			}
		}
		play(12)
		if _, err := r.Seek(8); err != nil || x != 8 {
			t.Fatalf("%s: x is %d at tick 8: %v", name, x, err)
		}
		if err := replace(set, slot, file.Bytes(), h); err != nil || x != 0 {
			t.Fatalf("%s: x is %d: %v", name, x, err)
		}
		if r.Oldest() != 8 || r.End() != 8 {
			t.Errorf("%s: ticks %d to %d are kept, want 8 alone", name, r.Oldest(), r.End())
		}
		play(6)
		if _, err := r.Seek(7); !errors.Is(err, save.ErrEmpty) {
			t.Errorf("%s: Seek to a tick before: %v", name, err)
		}
		if _, err := r.Seek(11); err != nil || x != 3 {
			t.Errorf("%s: x is %d at tick 11: %v", name, x, err)
		}
		if err := r.Check(); err != nil {
			t.Error(err)
		}
	}
}

// A tick that registers a hook registers another one when it is played again. The states after it have the first one.
func TestRewind_SeeksPastStatesThatDoNotFit(t *testing.T) {
	a, err := arena.NewGrowing(nil, arena.GrowingConfig{Reserve: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	set, v := new(save.Set), uint64(0)
	if err := errors.Join(set.Add("arena", a), save.Value(set, "v", &v), set.Seal()); err != nil {
		t.Fatal(err)
	}
	steps := 0
	step := func(in *int) error {
		if v += uint64(*in); v == 10 {
			a.OnReset(func() {})
		}
		steps++
		return nil
	}
	r, err := engine.NewRewind(engine.RewindConfig[int]{Set: set, Memory: make([]byte, 100_000), Step: step})
	if err != nil {
		t.Fatal(err)
	}
	for in := 1; r.Now() < 40; {
		_, err := r.Keep(5)
		r.Record(in)
		if err := errors.Join(err, step(&in)); err != nil {
			t.Fatal(err)
		}
	}
	seek := func(tick uint64, want int) {
		t.Helper()
		if played, err := r.Seek(tick); err != nil || v != tick || played != want {
			t.Errorf("Seek(%d) has played %d ticks to %d, want %d: %v", tick, played, v, want, err)
		}
	}
	seek(12, 2)
	seek(7, 2)
	seek(40, 35) // from tick 5
	seek(23, 18)
	seek(24, 1)
	a.Reset() // the hook of tick 10 has run
	seek(20, 15)
	if err := r.Check(); err != nil {
		t.Error(err)
	}
}

// After a step that failed the next Seek begins from a state, also if the tick comes after the one that failed.
func TestRewind_AFailedStepIsNotGoneOnFrom(t *testing.T) {
	g, cfg := newToy(t)
	steps, broken := 0, errors.New("no")
	r, err := engine.NewRewind(engine.RewindConfig[int]{Set: cfg.Set, Memory: make([]byte, 40_000), Ticks: 300, States: 200, Step: func(in *int) error {
		if steps++; steps != 5 {
			return g.play(in)
		}
		g.score += 1000 // half of a tick
		return broken
	}})
	if err != nil {
		t.Fatal(err)
	}
	hashes := kept(t, g, r)
	if _, err := r.Seek(6); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if saved, err := r.Keep(1); saved || !errors.Is(err, save.ErrEmpty) {
		t.Errorf("half of a tick is kept as tick %d: %v, %v", r.Now(), saved, err)
	}
	if _, err := r.Seek(7); err != nil || g.hash() != hashes[7] {
		t.Errorf("%v, hash %x, want %x", err, g.hash(), hashes[7])
	}
	small, err := engine.NewRewind(engine.RewindConfig[int]{Set: cfg.Set, Memory: make([]byte, 8), Step: g.play})
	if err != nil {
		t.Fatal(err)
	}
	if saved, err := small.Keep(1); saved || err == nil {
		t.Errorf("saved %t without space: %v", saved, err)
	}
}

// A State that breaks its contract fails after it has changed the state. No tick is played from there, and none is kept.
func TestRewind_AFailedLoadIsNotGoneOnFrom(t *testing.T) {
	score, fails, set := 0, false, new(save.Set)
	err := set.AddFunc("toy", func(c *save.Coder) {
		if save.Num(c, &score); c.Loading() && fails {
			fails = false
			c.Differs("it fails too late")
		}
	})
	r, err2 := engine.NewRewind(engine.RewindConfig[int]{Set: set, Memory: make([]byte, 4000), Step: func(in *int) error { score += *in; return nil }})
	if err := errors.Join(err, err2, set.Seal()); err != nil {
		t.Fatal(err)
	}
	for range 8 {
		_, err := r.Keep(100)
		r.Record(1)
		if score++; err != nil {
			t.Fatal(err)
		}
	}
	fails = true
	if _, err := r.Seek(4); !errors.Is(err, save.ErrLayout) || r.Now() != 8 {
		t.Fatal(r.Now(), err)
	}
	if saved, err := r.Keep(1); saved || !errors.Is(err, save.ErrEmpty) {
		t.Errorf("a score of %d is kept as tick %d: %v", score, r.Now(), err)
	}
	if played, err := r.Seek(8); played != 8 || err != nil || score != 8 {
		t.Errorf("%d ticks were played to a score of %d: %v", played, score, err)
	}
}

// After a failed step Back to the present tick plays from a state. The states after the present tick must not refuse the
// states that it saves.
func TestRewind_BackToNowAfterAFailedStep(t *testing.T) {
	g, cfg := newToy(t)
	left, broken := 4, errors.New("no")
	r, err := engine.NewRewind(engine.RewindConfig[int]{Set: cfg.Set, Memory: make([]byte, 1<<20), Step: func(in *int) error {
		if left--; left == -1 {
			return broken
		}
		return g.play(in)
	}})
	if err != nil {
		t.Fatal(err)
	}
	hashes := kept(t, g, r)
	if _, err := r.Seek(6); !errors.Is(err, broken) || r.Now() != 4 {
		t.Fatal(r.Now(), err)
	}
	if played, err := r.Back(4, 2); played != 4 || err != nil || g.hash() != hashes[4] || r.End() != 4 {
		t.Errorf("%d ticks were played, to tick %d of %d: %v; hash %x, want %x", played, r.Now(), r.End(), err, g.hash(), hashes[4])
	}
	if n, _, _ := r.States(); n != 2 || r.Check() != nil {
		t.Errorf("%d states, want those of ticks 0 and 2: %v", n, r.Check())
	}
}

// A program that recovers a panic of its Step, or of a State, never goes on from half of a tick, and keeps none.
func TestRewind_PanicsAreNotGoneOnFrom(t *testing.T) {
	score, armed, inLoad := 0, false, false
	set := new(save.Set)
	if err := errors.Join(set.AddFunc("toy", func(c *save.Coder) { // a State that panics breaks its contract
		if save.Num(c, &score); c.Loading() && inLoad {
			inLoad = false
			panic("load")
		}
	}), set.Seal()); err != nil {
		t.Fatal(err)
	}
	r, err := engine.NewRewind(engine.RewindConfig[int]{Set: set, Memory: make([]byte, 4000), Ticks: 100, Step: func(in *int) error {
		if score += *in; armed {
			armed = false
			panic("step")
		}
		score++
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if _, err := r.Keep(10); err != nil {
			t.Fatal(err)
		}
		r.Record(1)
		score += 2
	}
	panics := func(tick uint64) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Errorf("tick %d: no panic", tick)
			}
		}()
		_, _ = r.Seek(tick)
	}
	for tick := uint64(1); tick < 20; tick++ {
		if armed, inLoad = tick%2 == 0 && tick%10 != 0, tick%2 == 1 || tick == 10; !armed && !inLoad {
			continue
		}
		panics(tick)
		if saved, err := r.Keep(1); saved || !errors.Is(err, save.ErrEmpty) {
			t.Errorf("after a panic on the way to tick %d, tick %d is kept: %v", tick, r.Now(), err)
		}
		to := (tick*7 + 3) % 20
		if _, err := r.Seek(to); err != nil || score != 2*int(to) || r.Check() != nil {
			t.Errorf("tick %d has score %d: %v", to, score, err)
		}
		if _, err := r.Seek(20); err != nil || score != 40 {
			t.Errorf("the last tick has score %d: %v", score, err)
		}
	}
}

func TestTimeline_SeeksAndReports(t *testing.T) {
	g, r := newRewind(t, 40_000, 300)
	hashes := kept(t, g, r)
	var errs []error
	line := r.Timeline(func(err error) { errs = append(errs, err) })
	if first, now, last := line.Span(); first != 0 || now != 8 || last != 8 {
		t.Errorf("the span is %d, %d, %d", first, now, last)
	}
	line.Seek(3)
	if _, now, last := line.Span(); now != 3 || last != 8 || g.hash() != hashes[3] {
		t.Errorf("after Seek(3): tick %d of %d", now, last)
	}
	line.Seek(9)
	if len(errs) != 2 || errs[0] != nil || !errors.Is(errs[1], save.ErrEmpty) || g.hash() != hashes[3] {
		t.Errorf("errors %v", errs)
	}
	if used, reserved := line.Memory(); used == 0 || used > reserved || reserved != 40_000 {
		t.Errorf("%d of %d bytes", used, reserved)
	}
	r.Timeline(nil).Seek(5)
	if r.Now() != 5 || g.hash() != hashes[5] {
		t.Errorf("without a function: tick %d", r.Now())
	}
}
