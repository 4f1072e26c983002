package particles

import (
	"fmt"
	"math"

	"github.com/strata-go/strata/memory"
)

// A Color is premultiplied light: R, G and B are what is added to the picture, A is how
// much of what lay there is covered. A == 0 is additive light.
type Color struct{ R, G, B, A float32 }

// A Stop is the colour of a particle at a moment of its life, from 0 (birth) to 1 (death).
type Stop struct {
	At    float32
	Color Color
}

// A Key is the value of a curve at a moment of a particle's life, from 0 to 1.
type Key struct{ At, Value float32 }

// MaxKeys is the most stops of a ramp and keys of a curve.
const MaxKeys = 8

// KindID names a registered Kind. It is the particle's entry in the kind column.
type KindID uint8

// A Kind is what particles of one sort look like and how they move. Between stops and
// between keys values change evenly; before the first and after the last they stand still.
// The slices are read at registration and not kept in use.
type Kind struct {
	Name   string // for messages and the overlay
	Region int    // the picture; opaque here, for whoever makes the regions of Build

	Additive bool    // light: the alpha of every colour becomes 0
	Ramp     []Stop  // colour over life, at most MaxKeys; empty is white
	Size     []Key   // factor on a particle's own size, at most MaxKeys; empty is 1
	Vary     float32 // from 0 to 1: how much darker than the ramp single particles may be

	Drag               float32 // 1/s: the share of the velocity that is lost a second, for small shares
	GravityX, GravityY float32 // units/s²; y points down the screen
	Bounce             float32 // 0: leaves the bounds freely; up to 1: comes back with this share of its speed

	Angle   Range   // radians at birth
	Spin    Range   // radians/s
	Stretch float32 // seconds of travel by which the quad is drawn out along its velocity; excludes Angle and Spin
}

// rampSteps is the resolution of ramp and size curve: at a life of one second, finer than
// the frames that show it.
const rampSteps = 64

// A look is what Build needs of a kind.
type look struct {
	ramp    [rampSteps]shade
	vary    float32 // per step of the colour seed
	stretch float32 // half of Kind.Stretch: the quad's axes are half sides
	mode    uint8
}

// A shade is one step of a ramp.
type shade struct {
	color Color
	size  float32
}

const (
	upright   uint8 = iota // sides along the axes
	turned                 // by the rotation column
	stretched              // along the velocity
)

// Register adds a kind. The error names the field that is wrong and wraps memory.ErrConfig,
// or memory.ErrOutOfMemory when Config.MaxKinds are registered. Floats are at most 1e9.
func (s *System) Register(k Kind) (KindID, error) {
	s.open("Register")
	if len(s.kinds) == cap(s.kinds) {
		return 0, fmt.Errorf("particles: kind %q: all %d kinds of Config.MaxKinds are taken: %w", k.Name, cap(s.kinds), memory.ErrOutOfMemory)
	}
	if err := k.check(); err != nil {
		return 0, err
	}
	id := KindID(len(s.kinds))
	s.kinds, s.looks = append(s.kinds, Kind{}), append(s.looks, look{})
	s.put(id, k)
	return id, nil
}

// SetKind replaces a kind, as for the palette of the next level. Particles that live take
// the new look at once and keep the rotation that they have. The error is that of
// Register, and nothing has changed.
func (s *System) SetKind(id KindID, k Kind) error {
	s.open("SetKind")
	s.known("SetKind", id)
	if err := k.check(); err != nil {
		return err
	}
	s.put(id, k)
	return nil
}

// Kind returns what was registered under id.
func (s *System) Kind(id KindID) Kind {
	s.known("Kind", id)
	return s.kinds[id]
}

// Count returns how many particles of a kind live.
func (s *System) Count(id KindID) int { return int(s.alive[id]) }

func (s *System) known(op string, id KindID) {
	if int(id) >= len(s.kinds) {
		s.unknown(op, id)
	}
}

//go:noinline
func (s *System) unknown(op string, id KindID) {
	panic(&memory.Misuse{Package: "particles", Op: op, Reason: fmt.Sprintf("kind %d is not registered; there are %d kinds", id, len(s.kinds))})
}

func (s *System) put(id KindID, k Kind) {
	s.kinds[id] = k
	l := &s.looks[id]
	l.vary = k.Vary / 255
	l.stretch = k.Stretch / 2
	switch {
	case k.Stretch != 0:
		l.mode = stretched
	case k.turns():
		l.mode = turned
	default:
		l.mode = upright
	}
	for i := range l.ramp {
		t := (float32(i) + 0.5) / rampSteps
		c := colorAt(k.Ramp, t)
		if k.Additive {
			c.A = 0
		}
		l.ramp[i] = shade{color: c, size: valueAt(k.Size, t)}
	}
}

func (k *Kind) turns() bool { return k.Angle != Range{} || k.Spin != Range{} }

func colorAt(ramp []Stop, t float32) Color {
	if len(ramp) == 0 {
		return Color{1, 1, 1, 1}
	}
	for i, b := range ramp {
		if t >= b.At {
			continue
		}
		if i == 0 {
			return b.Color
		}
		a := ramp[i-1]
		f := (t - a.At) / (b.At - a.At)
		p, q := a.Color, b.Color
		return Color{p.R + (q.R-p.R)*f, p.G + (q.G-p.G)*f, p.B + (q.B-p.B)*f, p.A + (q.A-p.A)*f}
	}
	return ramp[len(ramp)-1].Color
}

func valueAt(curve []Key, t float32) float32 {
	if len(curve) == 0 {
		return 1
	}
	for i, b := range curve {
		if t >= b.At {
			continue
		}
		if i == 0 {
			return b.Value
		}
		a := curve[i-1]
		return a.Value + (b.Value-a.Value)*(t-a.At)/(b.At-a.At)
	}
	return curve[len(curve)-1].Value
}

func finite(vs ...float32) bool {
	for _, v := range vs {
		if v != v || v > math.MaxFloat32 || v < -math.MaxFloat32 {
			return false
		}
	}
	return true
}
