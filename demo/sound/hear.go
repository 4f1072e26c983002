package sound

import (
	"math"

	"github.com/strata-go/strata/demo/sound/cue"
)

// Hear plays the events of a tick as they are heard at a place. Sounds of placed kinds (see Spec.Placed) are not heard
// at a distance of 900 units or more. [cue.Spec] limits the events of each kind. Only the loudest begin, at most
// Spec.Each of them. After a tick in which events of a kind began, the next of this kind begin Spec.Gap ticks later at
// the earliest. The events are not changed. The cost is proportional to the number of events.
func (m *Mixer) Hear(events *cue.Events, at Listener, tick uint64) {
	var heard [cue.Count][3]struct{ gain, pan float32 }
	for _, e := range events.All() {
		s := &specs[e.Kind]
		gain, pan := placed(s, e, at)
		if gain < 0.004 { // -48 dB
			continue
		}
		list := heard[e.Kind][:s.Each]
		for i := range list {
			if gain > list[i].gain {
				list[i].gain, gain = gain, list[i].gain
				list[i].pan, pan = pan, list[i].pan
			}
		}
	}
	for k := range heard {
		s := &specs[k]
		if heard[k][0].gain == 0 || m.begun[k] != 0 && tick+1 < m.begun[k]+uint64(s.Gap) && tick+1 >= m.begun[k] {
			continue
		}
		m.begun[k] = tick + 1
		for _, h := range heard[k][:s.Each] {
			if h.gain > 0 {
				m.begin(cue.Kind(k), s, h.gain, h.pan, tick)
			}
		}
	}
}

// placed returns the gain of an event and its direction, from -1 (left) to 1.
func placed(s *cue.Spec, e cue.Event, at Listener) (gain, pan float32) {
	gain = s.Gain * max(0, min(finite(e.Strength), 2))
	if !s.Placed {
		return gain, 0
	}
	dx, dy := finite(e.X)-finite(at.X), finite(e.Y)-finite(at.Y)
	d := float32(math.Hypot(float64(dx), float64(dy)))
	if !(d < far) {
		return 0, 0
	}
	if d > near {
		gain *= near / d * (far - d) / (far - near)
	}
	return gain, max(-1, min(dx/wide, 1))
}

// begin starts a sound: the next of its variants, with a random change of pitch.
func (m *Mixer) begin(k cue.Kind, s *cue.Spec, gain, pan float32, tick uint64) {
	n := k.Variants()
	m.turn[k] = (m.turn[k] + 1) % uint8(n)
	i, ok := m.find(m.bank[k][m.turn[k]])
	if !ok {
		return
	}
	pitch := 1 + float64(s.Vary)*m.random()
	// Equal power, and never wholly on one side: 0.9 of a right angle.
	angle := math.Pi / 4 * (1 + 0.9*float64(pan))
	m.ask(&command{
		op: opPlay, slot: uint8(i), kind: uint8(k), prio: s.Prio, most: s.Most, duck: s.Duck, stamp: tick,
		left: gain * float32(math.Cos(angle)*math.Sqrt2), right: gain * float32(math.Sin(angle)*math.Sqrt2),
		step: uint64(float64(m.slots[i].clip.Rate) / Rate * pitch * (1 << 32)),
	})
}

// random returns a number from -1 to 1 of the mixer's own sequence (xorshift), which is not the game's.
func (m *Mixer) random() float64 {
	m.chance ^= m.chance << 13
	m.chance ^= m.chance >> 7
	m.chance ^= m.chance << 17
	return float64(int64(m.chance)>>11) / (1 << 52)
}
