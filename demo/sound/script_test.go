package sound

import (
	"bytes"
	"io/fs"
	"math"
	"testing"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/sound/cue"
	"github.com/strata-go/strata/memory"
)

// load decodes a file of the game into h and gives it to m.
func load(t testing.TB, m *Mixer, h memory.Allocator, name string) ClipID {
	t.Helper()
	data, err := fs.ReadFile(assets.FS(), name)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Decode(bytes.NewReader(data), h, nil)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return add(t, m, c, h)
}

// The whole game in twelve seconds: heat rises, enemies come and die, a seal breaks, the warden
// roars, the realm changes. It is as loud as it should be, everywhere.
func TestScript_TheGameInTwelveSeconds(t *testing.T) {
	h := newHeap(t)
	m := NewMixer()
	t.Cleanup(m.Close)
	for k := range cue.Count {
		for v := range k.Variants() {
			m.SetEffect(k, v, load(t, m, h, EffectFile(k, v)))
		}
	}
	var music [Realms][Layers]ClipID
	for r := range Realms {
		for l := range Layers {
			music[r][l] = load(t, m, h, MusicFile(r, l))
		}
	}
	t.Logf("%d clips, %d bytes in use", m.Stats().Clips, h.Stats().InUse)
	m.SetVolumes(Volumes{Master: 1, Effects: 0.9, Music: 0.9})
	if err := m.SetMusic(music[Ember], 0.3); err != nil {
		t.Fatal(err)
	}
	var all [][2]float64
	var e cue.Events
	for tick := range uint64(12 * 60) {
		e.Reset()
		s := float64(tick) / 60
		script(&e, tick)
		if tick == 8*60 {
			if err := m.SetMusic(music[Tide], 1.5); err != nil {
				t.Fatal(err)
			}
		}
		m.Hear(&e, Listener{}, tick)
		m.SetHeat(float32(s / 7))
		all = append(all, listen(m, perUpdate)...)
	}
	db := func(x float64) float64 { return 20 * math.Log10(x+1e-9) }
	bent := 0
	for second := range 12 {
		x := all[second*60*perUpdate : (second+1)*60*perUpdate]
		var peak, dc float64
		for _, v := range x {
			for _, s := range v {
				if math.IsNaN(s) {
					t.Fatal("a sample is no number")
				}
				peak, dc = max(peak, math.Abs(s)), dc+s/float64(2*len(x))
				if math.Abs(s) > 0.7 {
					bent++
				}
			}
		}
		l, r := power(x)
		rms := db(math.Sqrt((l*l + r*r) / 2))
		t.Logf("second %2d: left %6.1f  right %6.1f  both %6.1f dBFS, peak %6.1f, mean %.5f", second, db(l), db(r), rms, db(peak), dc)
		if rms < -34 || rms > -11 || db(peak) >= 0 || math.Abs(dc) > 0.004 {
			t.Errorf("second %d: %.1f dBFS, peak %.2f, mean %.5f", second, rms, db(peak), dc)
		}
	}
	if bent > len(all)/50 { // of two samples each
		t.Errorf("%d of %d samples are bent: the mix is too loud", bent, 2*len(all))
	}
	t.Logf("%+v, %d samples bent", m.Stats(), bent)
}

// script is what happens in a tick.
func script(e *cue.Events, tick uint64) {
	around := func(r float64) (x, y float32) {
		a := float64(tick*2654435761%1000) / 1000 * 2 * math.Pi
		return float32(r * math.Cos(a)), float32(r * math.Sin(a))
	}
	if tick > 60 && tick%7 == 0 {
		e.Sound(cue.Shot, 0, 0, 1)
	}
	if tick > 90 {
		for range 1 + tick/120 {
			x, y := around(200)
			e.Sound(cue.Hit, x, y, 0.8)
		}
	}
	if x, y := around(260); tick > 120 && tick%11 == 3 {
		e.Sound(cue.BurstSmall, x, y, 1)
		e.Sound(cue.Pickup, x/2, y/2, 1)
	}
	for _, c := range []struct {
		at   uint64
		kind cue.Kind
		x    float32
	}{{30, cue.Select, 0}, {150, cue.Dash, 0}, {200, cue.BurstLarge, 150}, {240, cue.Gift, 0}, {290, cue.Lightning, -100}, {320, cue.Seal, 80},
		{400, cue.Roar, 0}, {430, cue.Spawn, -300}, {460, cue.Hurt, 0}, {480, cue.Portal, 0}} {
		if c.at == tick {
			e.Sound(c.kind, c.x, 0, 1)
		}
	}
}
