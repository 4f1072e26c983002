package sound

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/strata-go/strata/demo/sound/cue"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// share is how much of x is a sine of so many cycles a second.
func share(x [][2]float64, f float64) float64 {
	var s, c float64
	for i, v := range x {
		a := 2 * math.Pi * f * float64(i) / Rate
		s, c = s+v[0]*math.Sin(a), c+v[0]*math.Cos(a)
	}
	return 2 * math.Hypot(s, c) / float64(len(x))
}

// four is a realm's music: four sines of f, 2f, 3f and 4f Hz; layers of a second and of a quarter.
func four(t *testing.T, m *Mixer, h memory.Allocator, f float64) (ids [Layers]ClipID) {
	t.Helper()
	for k := range ids {
		frames := Rate
		if k > 0 {
			frames = Rate / 4
		}
		pcm, err := memory.MakeSlice[int16](h, frames)
		if err != nil {
			t.Fatal(err)
		}
		for i := range pcm {
			pcm[i] = int16(3000 * math.Sin(2*math.Pi*f*float64(k+1)*float64(i)/Rate))
		}
		ids[k] = add(t, m, Clip{PCM: pcm, Rate: Rate, Channels: 1}, h)
	}
	return ids
}

func TestMusic_LoopsOfAnyLengthAreReadOrRefused(t *testing.T) {
	for frames := 1; frames <= 5; frames++ {
		m, h := newMixer(t, Rate, 0.5)
		pcm, err := memory.MakeSlice[int16](h, frames)
		if err != nil {
			t.Fatal(err)
		}
		id := add(t, m, Clip{PCM: pcm, Rate: MaxRate, Channels: 1}, h)
		if err := m.SetMusic([Layers]ClipID{id}, 0.01); (err != nil) != (frames < leastLoop) || err != nil && !errors.Is(err, ErrLoops) {
			t.Errorf("%d frames: %v", frames, err)
		}
		for _, back := range []bool{false, true} {
			m.SetBack(back)
			listen(m, 2000)
		}
	}
}

func TestMusic_LayersComeInWithTheHeat(t *testing.T) {
	testenv.Long(t)
	m, h := newMixer(t, Rate, 0.5)
	if err := m.SetMusic(four(t, m, h, 400), 0.01); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		heat  float32
		heard [Layers]bool
	}{
		{0, [Layers]bool{true, false, false, false}}, {0.29, [Layers]bool{true, true, false, false}},
		{0.58, [Layers]bool{true, true, true, false}}, {1, [Layers]bool{true, true, true, true}},
		{0, [Layers]bool{true, false, false, false}},
	} {
		m.SetHeat(c.heat)
		listen(m, 10*Rate)
		x := listen(m, Rate)
		for k := range Layers {
			got := share(x, 400*float64(k+1))
			if heard := got > 0.03; heard != c.heard[k] || !heard && got > 0.001 {
				t.Errorf("heat %v: layer %d has a level of %v", c.heat, k, got)
			}
		}
	}
}

func TestMusic_LoopsWithoutAStep(t *testing.T) {
	m, h := newMixer(t, Rate, 0.5)
	if err := m.SetMusic(four(t, m, h, 400), 0.01); err != nil {
		t.Fatal(err)
	}
	m.SetHeat(1)
	listen(m, 8*Rate)
	x := listen(m, 3*Rate)
	usual := steepest(x[:Rate/8])
	if d := steepest(x); d > 1.02*usual {
		t.Errorf("a step of %v over the seams; usual are %v", d, usual)
	}
}

// The loops of the game are at half the rate, so that all are read between samples.
func TestMusic_AnotherRateIsTheSameTone(t *testing.T) {
	m, h := newMixer(t, Rate, 0.5)
	pcm, err := memory.MakeSlice[int16](h, 22050)
	if err != nil {
		t.Fatal(err)
	}
	for i := range pcm {
		pcm[i] = int16(8000 * math.Sin(2*math.Pi*1000*float64(i)/22050))
	}
	id := add(t, m, Clip{PCM: pcm, Rate: 22050, Channels: 1}, h)
	if err := m.SetMusic([Layers]ClipID{id}, 0.01); err != nil {
		t.Fatal(err)
	}
	listen(m, Rate/2)
	x := listen(m, Rate)
	all, _ := power(x)
	if got := share(x, 1000) / math.Sqrt2; math.Abs(got-all) > 0.001*all {
		t.Errorf("a level of %v is the tone, of %v in all", got, all)
	}
}

// One period of a tone is as good as fifty: a loop is read round its end.
func TestMusic_ALoopIsReadRoundItsEnd(t *testing.T) {
	play := func(periods int) [][2]float64 {
		m, h := newMixer(t, Rate, 0.5)
		pcm, err := memory.MakeSlice[int16](h, 21*periods)
		if err != nil {
			t.Fatal(err)
		}
		for i := range pcm {
			pcm[i] = int16(8000 * math.Sin(2*math.Pi*float64(i%21)/21))
		}
		id := add(t, m, Clip{PCM: pcm, Rate: 22050, Channels: 1}, h)
		if err := m.SetMusic([Layers]ClipID{id}, 0.01); err != nil {
			t.Fatal(err)
		}
		return listen(m, Rate/10)
	}
	x, y := play(1), play(50)
	for i := range x {
		if x[i] != y[i] {
			t.Fatalf("frame %d is %v from one period and %v from fifty", i, x[i], y[i])
		}
	}
}

func TestMusic_RealmsCrossfade(t *testing.T) {
	m, h := newMixer(t, Rate, 0.5)
	a, b := four(t, m, h, 400), four(t, m, h, 700)
	if err := m.SetMusic(a, 0.01); err != nil {
		t.Fatal(err)
	}
	listen(m, Rate)
	if err := m.SetMusic(b, 1); err != nil {
		t.Fatal(err)
	}
	for _, id := range a {
		m.Remove(id) // its realm is left: the fade goes on, and then the clips are freed
	}
	listen(m, Rate/2-Rate/20)
	half := listen(m, Rate/10)
	if p, q := share(half, 400), share(half, 700); p < 0.02 || q < 0.02 {
		t.Errorf("in the midst of the fade the levels are %v and %v", p, q)
	}
	if n := m.Stats().Clips; n != 9 {
		t.Errorf("%d clips in the midst of the fade; want 9", n)
	}
	listen(m, Rate)
	x := listen(m, Rate)
	if p, q := share(x, 400), share(x, 700); p > 1e-4 || q < 0.08 {
		t.Errorf("after the fade the levels are %v and %v", p, q)
	}
	if n := m.Stats().Clips; n != 5 {
		t.Errorf("%d clips after the fade; want 5", n)
	}
	if err := m.SetMusic([Layers]ClipID{}, 0.2); err != nil {
		t.Fatal(err)
	}
	listen(m, Rate)
	if p := both(listen(m, Rate)); p != 0 {
		t.Errorf("no music has a level of %v", p)
	}
}

// Three realms within one fade: the first is cut, and must neither click nor be kept.
func TestMusic_AThirdRealmCutsTheFirst(t *testing.T) {
	m, h := newMixer(t, Rate, 0.5)
	a, b, c := four(t, m, h, 400), four(t, m, h, 500), four(t, m, h, 600)
	for _, ids := range [][Layers]ClipID{a, b, c} {
		if err := m.SetMusic(ids, 2); err != nil {
			t.Fatal(err)
		}
		x := listen(m, Rate/2)
		if d := steepest(x); d > 0.05 {
			t.Errorf("a step of %v", d)
		}
	}
	for _, ids := range [][Layers]ClipID{a, b, c} {
		for _, id := range ids {
			m.Remove(id)
		}
	}
	listen(m, 5*Rate)
	if n := m.Stats().Clips; n != 1 {
		t.Errorf("%d clips are left; want 1", n)
	}
	for i, n := range m.core.refs {
		if n != 0 {
			t.Errorf("slot %d has %d references", i, n)
		}
	}
}

func TestMusic_RefusesLayersThatDoNotGoTogether(t *testing.T) {
	m, h := newMixer(t, Rate, 0.5)
	long, odd := add(t, m, tone(t, h, 1000, 1, 0.1), h), add(t, m, tone(t, h, 300, 1, 0.1), h)
	slow := tone(t, h, 500, 1, 0.1)
	slow.Rate = 22050
	other := add(t, m, slow, h)
	for name, ids := range map[string][Layers]ClipID{"a length that does not divide": {long, odd}, "two rates": {long, other}} {
		if err := m.SetMusic(ids, 1); !errors.Is(err, ErrLoops) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := m.SetMusic([Layers]ClipID{long, 77777}, 1); !errors.Is(err, ErrStale) {
		t.Errorf("an id that is none: %v", err)
	}
}

func TestMusic_GivesWayToARoar(t *testing.T) {
	m, h := newMixer(t, 2*Rate, 0.0001)
	if err := m.SetMusic(four(t, m, h, 400), 0.01); err != nil {
		t.Fatal(err)
	}
	listen(m, Rate)
	before := share(listen(m, Rate/10), 400)
	say(m, 1, cue.Roar, one(0, 0))
	listen(m, Rate/20)
	under := share(listen(m, Rate/50), 400)
	listen(m, 2*Rate)
	after := share(listen(m, Rate/10), 400)
	if under > 0.7*before || math.Abs(after-before) > 0.01*before {
		t.Errorf("the level is %v before, %v under and %v after the roar", before, under, after)
	}
}

// Music that runs backwards is heard at twice its speed, and is afterwards where it was before.
func TestMusic_RunsBackwards(t *testing.T) {
	pcm := make([]int16, Rate)
	for i := range pcm { // a tone that rises
		x := float64(i) / Rate
		pcm[i] = int16(6000 * math.Sin(2*math.Pi*(200*x+150*x*x)))
	}
	d := deck{on: true, clips: [Layers]Clip{{PCM: pcm, Rate: Rate, Channels: 1}}, step: 1 << 32, length: Rate, gain: 1, goal: 1}
	play := func(blocks int, back bool) (all []float32) {
		for range blocks {
			var out [2 * block]float32
			d.mix(out[:], block, 0, 1, back)
			all = append(all, out[:]...)
		}
		return all
	}
	play(1, false) // faded in
	was, back := play(20, false), play(10, true)
	for i := range len(back) / 2 { // each frame goes back by two
		if want, got := was[len(was)-4*i-4], back[2*i]; math.Abs(float64(want-got)) > 1e-4 {
			t.Fatalf("frame %d back is %.4f, want %.4f", i, got, want)
		}
	}
	if again := play(20, false); !slices.Equal(again, was) {
		t.Error("afterwards it is elsewhere")
	}
	if play(10, true); d.pos != block<<32 {
		t.Errorf("it is at %d", d.pos>>32)
	}
	if play(1, true); d.pos != (Rate-block)<<32 { // around the beginning
		t.Errorf("before the beginning it is at %d", d.pos>>32)
	}
}

func TestMixer_SetBackTurnsTheMusic(t *testing.T) {
	m, h := newMixer(t, Rate, 0.5)
	if err := m.SetMusic(four(t, m, h, 400), 0.01); err != nil {
		t.Fatal(err)
	}
	listen(m, Rate/2)
	at := m.core.decks[0].pos
	m.SetBack(true)
	listen(m, block)
	if m.SetBack(false); m.core.decks[0].pos != at-backSpeed*block<<32 {
		t.Errorf("from %d to %d", at>>32, m.core.decks[0].pos>>32)
	}
	m.Skip(2 * block)
	if m.core.decks[0].pos != at {
		t.Errorf("then at %d, not at %d", m.core.decks[0].pos>>32, at>>32)
	}
}
