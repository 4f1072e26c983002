package sound

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/strata-go/strata/demo/sound/cue"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/tlsf"
)

// tone is a clip of a sine of so many frames at Rate, in a block of h.
func tone(t testing.TB, h *tlsf.Heap, frames int, cycles, gain float64) Clip {
	t.Helper()
	pcm, err := memory.MakeSlice[int16](h, frames)
	if err != nil {
		t.Fatal(err)
	}
	for i := range pcm {
		pcm[i] = int16(math.Round(32767 * gain * math.Sin(2*math.Pi*cycles*float64(i)/float64(frames))))
	}
	return Clip{PCM: pcm, Rate: Rate, Channels: 1}
}

func add(t testing.TB, m *Mixer, c Clip, h memory.Allocator) ClipID {
	t.Helper()
	id, err := m.Add(c, h)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// listen lets a tick pass and renders n frames.
func listen(m *Mixer, n int) (out [][2]float64) {
	buf := make([]byte, 8*n)
	for len(out) < n {
		m.Update()
		k := min(perUpdate, n-len(out))
		if got, err := m.Read(buf[:8*k]); got != 8*k || err != nil {
			panic("a mixer's Read fails")
		}
		for i := range k {
			l := math.Float32frombits(binary.LittleEndian.Uint32(buf[8*i:]))
			r := math.Float32frombits(binary.LittleEndian.Uint32(buf[8*i+4:]))
			out = append(out, [2]float64{float64(l), float64(r)})
		}
	}
	return out
}

func power(x [][2]float64) (l, r float64) {
	for _, v := range x {
		l, r = l+v[0]*v[0], r+v[1]*v[1]
	}
	n := float64(len(x))
	return math.Sqrt(l / n), math.Sqrt(r / n)
}

func both(x [][2]float64) float64 { l, r := power(x); return math.Hypot(l, r) }

// steepest is the largest difference between two samples in turn.
func steepest(x [][2]float64) (d float64) {
	for i := 1; i < len(x); i++ {
		d = max(d, math.Abs(x[i][0]-x[i-1][0]), math.Abs(x[i][1]-x[i-1][1]))
	}
	return d
}

// say is a tick with events of one kind.
func say(m *Mixer, tick uint64, k cue.Kind, at ...[3]float32) {
	var e cue.Events
	for _, p := range at {
		e.Sound(k, p[0], p[1], p[2])
	}
	m.Hear(&e, Listener{}, tick)
}

func one(x, y float32) [3]float32 { return [3]float32{x, y, 1} }

// newMixer has one clip for every variant of every kind.
func newMixer(t testing.TB, frames int, gain float64) (*Mixer, *tlsf.Heap) {
	t.Helper()
	h := newHeap(t)
	m := NewMixer()
	t.Cleanup(m.Close) // runs before the heap is looked at
	id := add(t, m, tone(t, h, frames, float64(frames)/100, gain), h)
	for k := range cue.Count {
		for v := range k.Variants() {
			m.SetEffect(k, v, id)
		}
	}
	return m, h
}

func TestMixer_IsSilentUntilSomethingHappens(t *testing.T) {
	m, _ := newMixer(t, Rate, 0.5)
	if p := both(listen(m, 5000)); p != 0 {
		t.Errorf("the level is %v", p)
	}
	if n, err := m.Read(make([]byte, 8*block*3+5)); n != 8*block*3 || err != nil {
		t.Errorf("Read gave %d bytes, %v; want whole frames", n, err)
	}
}

func TestMixer_SoundsComeFromWhereTheyAre(t *testing.T) {
	level := func(x, y float32) (l, r float64) {
		m, _ := newMixer(t, Rate, 0.5)
		say(m, 1, cue.Hit, one(x, y))
		return power(listen(m, 4000))
	}
	l0, r0 := level(0, 0)
	if l0 == 0 || math.Abs(l0-r0) > 1e-6 {
		t.Errorf("in the middle the level is %v left, %v right", l0, r0)
	}
	if l, r := level(150, 0); l >= r*0.8 {
		t.Errorf("from the right it is %v left, %v right", l, r)
	}
	if l, r := level(-2*wide, 0); r >= l*0.2 {
		t.Errorf("from far left it is %v left, %v right", l, r)
	}
	last := math.Hypot(l0, r0) * 1.0001
	for _, d := range []float32{0, near, near * 1.5, 400, 600, 800} {
		l, r := level(0, d)
		if p := math.Hypot(l, r); p > last || d > near && p > 0.9*last || p == 0 {
			t.Errorf("at a distance of %v it is %v, nearer %v", d, p, last)
		} else {
			last = p
		}
	}
	if l, r := level(0, far); l != 0 || r != 0 {
		t.Errorf("at %v it is heard: %v, %v", far, l, r)
	}
}

func TestMixer_MenusHaveNoPlace(t *testing.T) {
	m, _ := newMixer(t, Rate, 0.5)
	say(m, 1, cue.Select, one(5000, 5000))
	if l, r := power(listen(m, 2000)); l == 0 || math.Abs(l-r) > 1e-6 {
		t.Errorf("%v, %v", l, r)
	}
}

func TestMixer_ASoundEndsWithItsClip(t *testing.T) {
	m, _ := newMixer(t, 2000, 0.5)
	say(m, 1, cue.Select, one(0, 0))
	listen(m, 2400)
	if p := both(listen(m, 2000)); p != 0 || m.Stats().Voices != 0 {
		t.Errorf("level %v, %d voices", p, m.Stats().Voices)
	}
}

func TestMixer_NeverExceedsFullScaleAndIsNeverNaN(t *testing.T) {
	m, _ := newMixer(t, Rate, 1)
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for tick := range uint64(120) {
		var e cue.Events
		for k := range cue.Count + 3 {
			e.Sound(k, 0, 0, 2)
			e.Sound(k, nan, inf, nan)
			e.Sound(k, inf, nan, inf)
			e.Sound(k, 1e38, -1e38, -5)
		}
		m.Hear(&e, Listener{X: float32(tick), Y: -nan}, tick)
		m.SetHeat(nan)
		for _, v := range listen(m, perUpdate) {
			for _, s := range v {
				if !(math.Abs(s) <= 1) {
					t.Fatalf("tick %d: a sample is %v", tick, s)
				}
			}
		}
	}
	if s := m.Stats(); s.Voices > Voices || s.Begun < 100 {
		t.Errorf("%+v", s)
	}
}

func TestMixer_ARoarStealsAVoiceAndAHitDoesNot(t *testing.T) {
	m, _ := newMixer(t, 10*Rate, 0.2)
	// Every kind up to its most, several times over: all voices are taken.
	for tick := range uint64(200) {
		for k := range cue.Count {
			say(m, tick, k, one(0, 0), one(1, 0), one(2, 0))
		}
		listen(m, perUpdate)
	}
	lowest := func() (prio uint8, n int) {
		prio = 255
		for i := range m.core.voices {
			if v := &m.core.voices[i]; v.live() {
				prio, n = min(prio, v.prio), n+1
			}
		}
		return prio, n
	}
	prio, n := lowest()
	if n != Voices {
		t.Fatalf("%d voices play; want %d", n, Voices)
	}
	if prio <= specs[cue.Hit].Prio {
		t.Fatalf("a voice of priority %d survived among so many", prio)
	}
	before := m.Stats()
	say(m, 300, cue.Hit, one(0, 0))
	listen(m, block)
	if s := m.Stats(); s.Begun != before.Begun || s.TurnedAway != before.TurnedAway+1 {
		t.Errorf("a hit found a voice among more important ones: %+v, then %+v", before, s)
	}
	before = m.Stats()
	say(m, 301, cue.Roar, one(0, 0))
	listen(m, block)
	if s := m.Stats(); s.Begun != before.Begun+1 || s.Stolen != before.Stolen+1 {
		t.Errorf("a roar found no voice: %+v, then %+v", before, s)
	}
}

func TestMixer_OfAKindThereAreNoMoreThanItsMost(t *testing.T) {
	m, _ := newMixer(t, 10*Rate, 0.2)
	for tick := range uint64(60) {
		say(m, tick, cue.Shot, one(0, 0), one(9, 0), one(20, 0))
		listen(m, perUpdate)
	}
	if n := m.Stats().Voices; n != int(specs[cue.Shot].Most) {
		t.Errorf("%d shots at once; want %d", n, specs[cue.Shot].Most)
	}
}

// alone leaves a kind one voice for a test.
func alone(t *testing.T, k cue.Kind) {
	was := specs[k].Most
	specs[k].Most = 1
	t.Cleanup(func() { specs[k].Most = was })
}

// A sine whose voice is stolen at its crest would jump by its height.
func TestMixer_StealingDoesNotClick(t *testing.T) {
	alone(t, cue.Gift)
	m, _ := newMixer(t, 20*Rate, 0.5) // a sine of 441 Hz
	say(m, 0, cue.Gift, one(0, 0))
	x := listen(m, 2*Rate)
	usual := steepest(x[100:])
	for tick := range uint64(20) {
		say(m, 10+7*tick, cue.Gift, one(0, 0)) // there may be one: each takes the voice of the last
		x = append(x, listen(m, 1000+37*int(tick))...)
	}
	if d := steepest(x); d > 1.5*usual {
		t.Errorf("a step of %v; usual are %v", d, usual)
	}
	if s := m.Stats(); s.Stolen != 20 {
		t.Errorf("%d voices were stolen; want 20", s.Stolen)
	}
}

func TestMixer_CuttingDoesNotClick(t *testing.T) {
	alone(t, cue.Gift)
	m, _ := newMixer(t, 20*Rate, 0.5)
	var x [][2]float64
	var usual float64
	for tick := range uint64(20) {
		say(m, 10+20*tick, cue.Gift, one(0, 0))
		x = append(x, listen(m, Rate/10+37*int(tick))...)
		if tick == 0 {
			usual = steepest(x)
		}
		m.CutAfter(0)
		x = append(x, listen(m, 4*block)...)
		if m.Stats().Voices != 0 {
			t.Fatal("it plays on")
		}
	}
	if d := steepest(x); d > 1.5*usual {
		t.Errorf("a step of %v; usual are %v", d, usual)
	}
}

func TestMixer_BetweenTwoOfAKindThereIsAGap(t *testing.T) {
	m, _ := newMixer(t, 10*Rate, 0.2)
	for tick := range uint64(30) {
		say(m, tick, cue.Dash, one(0, 0))
		listen(m, block)
	}
	if got, want := m.Stats().Begun, uint64(30+3)/uint64(specs[cue.Dash].Gap); got != want {
		t.Errorf("%d in 30 ticks; want %d", got, want)
	}
}

func TestMixer_VolumesAndMute(t *testing.T) {
	level := func(v Volumes) float64 {
		m, _ := newMixer(t, 4*Rate, 0.3)
		m.SetVolumes(v)
		listen(m, Rate/10)
		say(m, 1, cue.Select, one(0, 0))
		listen(m, Rate/10)
		return both(listen(m, Rate/2))
	}
	full := level(Volumes{1, 1, 1, false})
	for name, c := range map[string]struct {
		v    Volumes
		want float64
	}{
		"half the master":  {Volumes{0.5, 1, 1, false}, 0.25},
		"half the effects": {Volumes{1, 0.5, 1, false}, 0.25},
		"no music":         {Volumes{1, 1, 0, false}, 1},
		"no effects":       {Volumes{1, 0, 1, false}, 0},
		"mute":             {Volumes{1, 1, 1, true}, 0},
		"beyond":           {Volumes{7, 2, 9, false}, 1},
		"nonsense":         {Volumes{float32(math.NaN()), 1, 1, false}, 0},
	} {
		if got := level(c.v) / full; math.Abs(got-c.want) > 0.01 {
			t.Errorf("%s: the level is %v of full; want %v", name, got, c.want)
		}
	}
}

func TestMixer_CutAfterTakesBackWhatWasBegunSince(t *testing.T) {
	m, _ := newMixer(t, 10*Rate, 0.3)
	say(m, 10, cue.Gift, one(0, 0))
	say(m, 20, cue.Roar, one(0, 0))
	listen(m, 1000)
	m.CutAfter(15)
	listen(m, 2*block)
	if n := m.Stats().Voices; n != 1 {
		t.Errorf("%d voices play; want the one of tick 10", n)
	}
	say(m, 16, cue.Roar, one(0, 0))
	listen(m, block)
	if n := m.Stats().Voices; n != 2 {
		t.Errorf("%d voices; the roar does not come again in the ticks that are played again", n)
	}
}

func TestMixer_FadesWhenTheGameStandsStillAndComesBack(t *testing.T) {
	m, h := newMixer(t, Rate, 0.5)
	id := add(t, m, tone(t, h, Rate, 441, 0.5), h)
	if err := m.SetMusic([Layers]ClipID{id}, 0.01); err != nil {
		t.Fatal(err)
	}
	alive := both(listen(m, Rate))
	buf := make([]byte, 8*Rate)
	for range 2 {
		if _, err := m.Read(buf); err != nil {
			t.Fatal(err)
		}
	}
	for i, b := range buf {
		if b != 0 {
			t.Fatalf("byte %d is %d after two seconds without an Update", i, b)
		}
	}
	listen(m, Rate/2)
	if p := both(listen(m, Rate/2)); math.Abs(p-alive) > 0.01*alive {
		t.Errorf("the level is %v after the game came back, and was %v", p, alive)
	}
}
