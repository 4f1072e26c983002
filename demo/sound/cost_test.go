package sound

import (
	"testing"
	"unsafe"

	"github.com/strata-go/strata/demo/sound/cue"
)

// What doc.go says of the mixer's size.
func TestMixer_IsSmall(t *testing.T) {
	if n := unsafe.Sizeof(Mixer{}); n > 64<<10 {
		t.Errorf("a mixer has %d bytes", n)
	} else {
		t.Logf("a mixer has %d bytes", n)
	}
}

func TestMixer_AllocatesNothing(t *testing.T) {
	m, h := newMixer(t, 3000, 0.3)
	a, b := add(t, m, tone(t, h, 4410, 44, 0.3), h), add(t, m, tone(t, h, 4410, 44, 0.3), h)
	var e cue.Events
	buf := make([]byte, 8*perUpdate)
	tick := uint64(0)
	got := testing.AllocsPerRun(500, func() {
		tick++
		e.Reset()
		for k := range cue.Count {
			for i := range 20 {
				e.Sound(k, float32(i*10), float32(k), 1)
			}
		}
		m.Hear(&e, Listener{X: 3}, tick)
		m.SetHeat(float32(tick%100) / 100)
		if tick%50 == 0 {
			a, b = b, a
			if err := m.SetMusic([Layers]ClipID{a}, 0.3); err != nil {
				t.Fatal(err)
			}
		}
		m.Update()
		if _, err := m.Read(buf); err != nil {
			t.Fatal(err)
		}
		m.Skip(10)
	})
	if got != 0 {
		t.Errorf("%v objects a tick", got)
	}
}

func BenchmarkMixer(b *testing.B) {
	m, h := newMixer(b, 100*Rate/10, 0.1)
	var ids [Layers]ClipID
	for i := range ids {
		ids[i] = add(b, m, tone(b, h, Rate, 440, 0.1), h)
	}
	if err := m.SetMusic(ids, 1); err != nil {
		b.Fatal(err)
	}
	m.SetHeat(1)
	for tick := range uint64(200) {
		for k := range cue.Count {
			say(m, tick, k, one(0, 0), one(1, 0))
		}
		listen(m, perUpdate)
	}
	if n := m.Stats().Voices; n != Voices {
		b.Fatalf("%d voices play", n)
	}
	buf := make([]byte, 8*perUpdate)
	b.ReportAllocs()
	for b.Loop() {
		for i := range m.core.voices {
			m.core.voices[i].pos = 0 // or they would end
		}
		m.Update()
		if _, err := m.Read(buf); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(m.Stats().Voices), "voices")
}
