package session

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/go-gl/mathgl/mgl32"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/sound/cue"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// remembering returns a session on autopilot with a Past of 64 MiB that has played warm ticks.
func remembering(t testing.TB, seed uint64, heat float32, warm uint64) *Session {
	t.Helper()
	s := newSession(t, Config{Game: game.Config{Seed: seed, Heat: heat}, Rewind: 64 << 20})
	play(t, s, warm)
	return s
}

// hashed plays n ticks and notes the hash of each.
func hashed(t testing.TB, s *Session, n int, into map[uint64]uint64) {
	t.Helper()
	for range n {
		play(t, s, 1)
		into[s.Game.Ticks] = s.Game.Hash()
	}
}

// A run that is rewound, and goes on with the same inputs, has the hashes of the run that was not. So has each tick
// that is shown on the way.
func TestPast_RewoundRunGoesOnAsIfItNeverWas(t *testing.T) {
	seeds, heats, n, rounds := []uint64{3}, []float32{6}, 60, 8
	if *whole {
		seeds, heats, n, rounds = []uint64{3, 4}, []float32{0, 5, 10}, 180, 8
	}
	for _, seed := range seeds {
		for _, heat := range heats {
			s := remembering(t, seed, heat, 60)
			rng := rand.New(rand.NewPCG(seed, 1))
			want := map[uint64]uint64{}
			hashed(t, s, n, want)
			for k := range rounds {
				first, _, last := s.Past.Range()
				to := first + 1 + uint64(rng.IntN(int(last-first)))
				if err := s.Seek(to); err != nil {
					t.Fatal(err)
				}
				if _, now, _ := s.Past.Range(); now != to || s.Game.Ticks != to || to > 61 && s.Game.Hash() != want[to] {
					t.Fatalf("seed %d heat %v: at tick %d of %d the hash is %x, was %x", seed, heat, s.Game.Ticks, to, s.Game.Hash(), want[to])
				}
				if k%4 == 3 { // the game goes on from there
					again := map[uint64]uint64{}
					hashed(t, s, int(last-to)+1, again)
					for tick, hash := range again {
						if was, known := want[tick]; known && was != hash && tick <= last {
							t.Fatalf("seed %d heat %v: tick %d has hash %x, had %x", seed, heat, tick, hash, want[tick])
						}
						want[tick] = hash
					}
				}
			}
			if f := s.Past.Figures(); f.ReplayMost > keepEvery || f.Replayed == 0 {
				t.Errorf("%+v", f)
			}
			check(t, s)
		}
	}
}

// With other inputs the run is another one, and valid.
func TestPast_RewoundRunGoesOnWithOtherInputs(t *testing.T) {
	testenv.Long(t)
	s := remembering(t, 3, 6, 100)
	want := map[uint64]uint64{}
	hashed(t, s, 60, want)
	if err := s.Seek(s.Game.Ticks - 50); err != nil {
		t.Fatal(err)
	}
	s.cfg.Autopilot = false
	rng := rand.New(rand.NewPCG(9, 9))
	differ := 0
	for range 60 {
		in := engine.Input{Move: mgl32.Vec2{rng.Float32()*2 - 1, rng.Float32()*2 - 1}, Aim: mgl32.Vec2{1, 0}, Down: game.Fire}
		if err := s.Frame(in); err != nil {
			t.Fatal(err)
		}
		if hash, ok := want[s.Game.Ticks]; ok && hash != s.Game.Hash() {
			differ++
		}
	}
	if differ < 40 {
		t.Errorf("only %d ticks differ", differ)
	}
	if _, now, last := s.Past.Range(); now != last || now != s.Game.Ticks {
		t.Errorf("tick %d of %d", now, last)
	}
	check(t, s)
}

// holdOn holds the control until the game goes on, and returns the ticks that were taken back.
func holdOn(t testing.TB, s *Session, frames int) int {
	t.Helper()
	from := s.Game.Ticks
	for range frames {
		on, err := s.Rewind(true)
		if err != nil {
			t.Fatal(err)
		}
		if !on {
			break
		}
	}
	return int(from - s.Game.Ticks)
}

func release(t testing.TB, s *Session) {
	t.Helper()
	if on, err := s.Rewind(false); on || err != nil {
		t.Fatal(on, err)
	}
}

func TestPast_AChargeTakesFourSecondsBack(t *testing.T) {
	testenv.Long(t)
	s := remembering(t, 3, 0, 1)
	release(t, s)
	if holdOn(t, s, 9) != 0 || s.Past.Charges() != ChargesFirst {
		t.Error("there is nothing to take back yet")
	}
	play(t, s, 300)
	release(t, s)
	hash := s.Game.Hash()
	if back := holdOn(t, s, 1000); back != RewindMost || s.Past.Charges() != ChargesFirst-1 || s.Past.Used() != 1 {
		t.Errorf("%d ticks back, %d charges, %d used", back, s.Past.Charges(), s.Past.Used())
	}
	if _, on := s.Past.Rewinding(); on {
		t.Error("it is over")
	}
	play(t, s, RewindMost)
	if s.Game.Hash() != hash {
		t.Errorf("after the same ticks the hash is %x, was %x", s.Game.Hash(), hash)
	}
	release(t, s)
	if holdOn(t, s, 10) != 0 {
		t.Error("there was no charge")
	}
	s.Past.charges = 1
	if holdOn(t, s, 10) != 0 {
		t.Error("the control was not released")
	}
	release(t, s)
	if back := holdOn(t, s, 10); back != 10*rewindSpeed || s.Past.Charges() != 0 {
		t.Errorf("%d ticks back in ten frames", back)
	}
	if left, on := s.Past.Rewinding(); !on || left != 1-float32(10*rewindSpeed)/RewindMost {
		t.Errorf("%v is left, %v", left, on)
	}
	release(t, s)
	play(t, s, 10)
	check(t, s)
}

func TestPast_ASealGivesOneChargeOnce(t *testing.T) {
	s := remembering(t, 3, 0, 100)
	p := s.Past
	for i, c := range []struct{ broken, want int }{{0, 1}, {1, 2}, {0, 2}, {1, 2}, {2, 3}, {4, 3}} {
		s.Game.Broken = c.broken
		if p.played(0); p.charges != c.want {
			t.Errorf("step %d: %d charges with %d seals broken, want %d", i, p.charges, c.broken, c.want)
		}
	}
	p.begin() // the next realm
	if s.Game.Broken = 1; p.charges != ChargesMost || p.broken != 0 {
		t.Errorf("%d charges, %d seals in the next realm", p.charges, p.broken)
	}
	p.used, s.Game.Played = 2, 0 // another run
	if p.begin(); p.charges != ChargesFirst || p.used != 0 {
		t.Errorf("%d charges, %d used in another run", p.charges, p.used)
	}
	s.Game.Broken = 0
}

func TestPast_ARealmThatEndedIsForgotten(t *testing.T) {
	testenv.Long(t)
	s := remembering(t, 3, 0, 200)
	s.Flow.Go("tide")
	if err := s.Seek(s.Game.Ticks - 20); err != nil {
		t.Fatal(err)
	}
	release(t, s)
	if holdOn(t, s, 5) != 0 {
		t.Error("a realm loads")
	}
	at := s.Game.Ticks
	play(t, s, 1)
	if first, _, _ := s.Past.Range(); first < at {
		t.Errorf("tick %d of the realm before, which ended at %d", first, at)
	}
	play(t, s, 60)
	if err := s.Seek(s.Game.Ticks - 40); err != nil || s.Game.Ticks != at+21 {
		t.Errorf("at tick %d, want %d: %v", s.Game.Ticks, at+21, err)
	}
	check(t, s)
}

func TestPast_AStateThatIsTooLargeSwitchesItOff(t *testing.T) {
	testenv.Long(t)
	for _, bytes := range []int{64 << 10, 1 << 20} {
		s := newSession(t, Config{Game: game.Config{Seed: 3}, Rewind: bytes})
		play(t, s, 60)
		if off := s.Past.Off(); !strings.HasPrefix(off, "REWIND IS OFF: A STATE HAS ") || s.Past.Possible() {
			t.Errorf("with %d bytes: %q", bytes, off)
		}
		release(t, s)
		if first, now, last := s.Past.Range(); holdOn(t, s, 5) != 0 || first != now || now != last {
			t.Errorf("it goes back from %d to %d", last, first)
		}
		check(t, s)
	}
}

func TestPast_StatesThatTakeTooLongSwitchItOff(t *testing.T) {
	s := remembering(t, 3, 0, 10)
	p := s.Past
	p.cost.saves, p.cost.ticks = keepWindow-1, time.Minute
	for i := range p.cost.keep[:keepWindow/2] {
		p.cost.keep[i] = time.Hour
	}
	play(t, s, keepEvery)
	if off := p.Off(); off != "" {
		t.Errorf("half of the states were interrupted: %q", off)
	}
	p.cost.saves = keepWindow - 1
	for i := range p.cost.keep {
		p.cost.keep[i] = time.Hour
	}
	src := memtest.NewFaulty()
	src.Source = p.src
	p.src = src
	play(t, s, keepEvery)
	if off := p.Off(); !strings.HasPrefix(off, "REWIND IS OFF: STATES TAKE ") || p.committed {
		t.Errorf("%q, and the memory of its states is committed: %t", off, p.committed)
	}
	src.FailAt = src.Calls() + 1
	if p.begin(); p.Off() != "REWIND IS OFF: THERE IS NO MEMORY FOR STATES" || p.Possible() {
		t.Errorf("without memory for states: %q", p.Off())
	}
	play(t, s, keepEvery)
	if p.begin(); p.Off() != "" {
		t.Error("the next realm begins without it")
	}
	play(t, s, 2*keepEvery)
	if n, _, _ := p.r.States(); n < 2 {
		t.Errorf("%d states are kept in the next realm", n)
	}
	check(t, s)
}

// What is played again is not heard again.
func TestPast_SoundsAreNotRepeated(t *testing.T) {
	testenv.Long(t)
	var events cue.Events
	s := newSession(t, Config{Game: game.Config{Seed: 3, Heat: 5, Sound: &events}, Rewind: 64 << 20})
	play(t, s, 200)
	if len(events.All()) == 0 {
		t.Fatal("nothing was heard at all")
	}
	events.Reset()
	if err := s.Seek(s.Game.Ticks - 100); err != nil || len(events.All()) != 0 {
		t.Errorf("%d sounds: %v", len(events.All()), err)
	}
	play(t, s, 100)
	if len(events.All()) == 0 {
		t.Error("after that nothing is heard")
	}
}

// In a page sounds arrive during play, and each drops the states: a rewind of some ticks took a whole charge.
func TestPast_AShortRewindReturnsItsCharge(t *testing.T) {
	testenv.Long(t)
	s := remembering(t, 3, 0, 60)
	release(t, s)
	if back := holdOn(t, s, 1000); back < rewindLeast || back > 60 || s.Past.Charges() != ChargesFirst || s.Past.Used() != 1 {
		t.Errorf("to the first tick: %d ticks back, %d charges, %d used", back, s.Past.Charges(), s.Past.Used())
	}
	play(t, s, 60)
	release(t, s)
	if back := holdOn(t, s, 5); back != 5*rewindSpeed || s.Past.Charges() != ChargesFirst-1 {
		t.Errorf("%d ticks back, %d charges", back, s.Past.Charges())
	}
	s.Past.forget()
	if _, on := s.Past.Rewinding(); on || s.Past.Charges() != ChargesFirst {
		t.Errorf("without states: rewinding is %v, %d charges", on, s.Past.Charges())
	}
	if s.Past.forget(); s.Past.Charges() != ChargesFirst {
		t.Errorf("%d charges after no rewind", s.Past.Charges())
	}
}

// Seek may go back by more than a charge has, of which less than nothing was left.
func TestSeek_EndsARewind(t *testing.T) {
	testenv.Long(t)
	s := remembering(t, 3, 0, 60)
	release(t, s)
	holdOn(t, s, 5)
	first, _, _ := s.Past.Range()
	if err := s.Seek(first); err != nil || s.Game.Ticks != first {
		t.Fatalf("tick %d, want %d: %v", s.Game.Ticks, first, err)
	}
	if left, on := s.Past.Rewinding(); on || left != 0 {
		t.Errorf("after Seek %v of the charge are left, rewinding is %v", left, on)
	}
}

// Blocks of the host in the tiers keep their place and their contents.
func TestPast_HostedBlocksStay(t *testing.T) {
	testenv.Long(t)
	const size = 1 << 20
	s := remembering(t, 3, 0, 100)
	host, err := s.Hosted("sound")
	if err != nil {
		t.Fatal(err)
	}
	used := s.Past.Figures().Used / s.Past.Figures().States
	p, err := host.Alloc(size, 16)
	if err != nil {
		t.Fatal(err)
	}
	if first, _, last := s.Past.Range(); first != last {
		t.Errorf("states of before the block remain: %d to %d", first, last)
	}
	block := unsafe.Slice((*byte)(p), size)
	play(t, s, 100)
	if f := s.Past.Figures(); f.Used/f.States > used+size/2 {
		t.Errorf("a state has %d bytes, before the block it had %d", f.Used/f.States, used)
	}
	block[7] = 1
	if err := s.Seek(s.Game.Ticks - 50); err != nil || block[7] != 1 {
		t.Errorf("the contents are %d: %v", block[7], err)
	}
	host.Free(p, size)
	if first, _, last := s.Past.Range(); first != last {
		t.Errorf("states with the block remain: %d to %d", first, last)
	}
	play(t, s, 50)
	check(t, s)
}

// A session without a Past plays as one with it, and does nothing else.
func TestPast_NoneChangesNothing(t *testing.T) {
	testenv.Long(t)
	s := newSession(t, Config{Game: game.Config{Seed: 3}})
	play(t, s, 100)
	on, err := s.Rewind(true)
	if err = errors.Join(err, s.Seek(3)); on || err != nil || s.Game.Ticks != 100 {
		t.Errorf("%v, %v, tick %d", on, err, s.Game.Ticks)
	}
	if with := remembering(t, 3, 0, 100); with.Game.Hash() != s.Game.Hash() {
		t.Error("the hash depends on the Past")
	}
	if p := s.Past; p.Charges() != 0 || p.Used() != 0 || p.Off() != "" || p.Possible() || p.Figures() != (PastFigures{}) {
		t.Error("a nil Past has something")
	}
}

// Steady play with a Past allocates nothing on the Go heap.
func TestPast_DoesNotAllocate(t *testing.T) {
	testenv.Long(t)
	s := remembering(t, 3, 0, 400)
	keep := func() { // a frame, with a state
		s.Past.cost = cost{}
		for saves := s.Past.total.Saves; s.Past.total.Saves == saves; {
			if err := s.Frame(engine.Input{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := testenv.LeastObjects(10, keep); n != 0 {
		t.Errorf("%d objects in each %d ticks", n, keepEvery)
	}
	if f := s.Past.Figures(); f.Saves < 10 {
		t.Errorf("%d states were kept", f.Saves)
	}
}

// In 64 MiB there are four seconds at heat 10 and a minute at heat 5, and at most keepEvery ticks are played again.
func TestPast_CoversWhatItPromises(t *testing.T) {
	testenv.Long(t)
	type promise struct {
		heat float32
		warm uint64
		span int
	}
	promises := []promise{{10, 400, 4 * engine.TickRate}}
	if *whole {
		promises = []promise{{5, 3700, 60 * engine.TickRate}, {10, 1200, 4 * engine.TickRate}}
	}
	for _, c := range promises {
		s := remembering(t, 3, c.heat, c.warm)
		f := s.Past.Figures()
		t.Logf("heat %v: %d ticks in %d states of %d bytes; keeping took %v of %v", c.heat, f.Span, f.States, f.Used/max(f.States, 1), f.Keep, f.Ticks)
		if f.Span < c.span || s.Past.Off() != "" {
			t.Errorf("heat %v: %d ticks, %q", c.heat, f.Span, s.Past.Off())
		}
		first, _, last := s.Past.Range()
		for to := last; to > first+1; to -= min(97, to-first-1) {
			if err := s.Seek(to); err != nil || s.Game.Ticks != to {
				t.Fatal(to, err)
			}
		}
		if f = s.Past.Figures(); f.ReplayMost > keepEvery {
			t.Errorf("%d ticks were played again", f.ReplayMost)
		}
		check(t, s)
	}
}

// Rollback and Synctest load states by a Set of their own. The Past then begins at the tick that the game has reached.
func TestPast_BeginsAfterRollback(t *testing.T) {
	s := remembering(t, 3, 0, 60)
	for name, do := range map[string]func() error{
		"rollback": func() error { _, _, err := s.Rollback(8); return err },
		"synctest": func() error { _, err := s.Synctest(8, 4); return err },
	} {
		if err := do(); err != nil {
			t.Fatal(name, err)
		}
		if first, now, last := s.Past.Range(); first != s.Game.Ticks || now != first || last != first {
			t.Errorf("%s: the Past has ticks %d to %d, now %d; the game is at tick %d", name, first, last, now, s.Game.Ticks)
		}
	}
	play(t, s, 40)
	check(t, s)
}
