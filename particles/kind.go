package particles

import (
	"fmt"
	"math"

	"github.com/strata-go/strata/memory"
)

// A Color is premultiplied: R, G and B are added to the picture, and A is the share of the
// background that is covered. With A == 0 the colour is additive. 1 is full intensity.
type Color struct{ R, G, B, A float32 }

// A Stop is a point of a ramp of colours. At is the particle's age as a share of its life, from 0 to 1.
type Stop struct {
	At    float32
	Color Color
}

// A Key is a point of a curve. At is the particle's age as a share of its life, from 0 to 1. Value is the value of
// the curve at this age.
type Key struct{ At, Value float32 }

// MaxKeys is the maximum number of stops of a ramp, and of keys of a curve.
const MaxKeys = 8

// A KindID identifies a registered Kind of one System. IDs count from 0.
type KindID uint8

// A Kind describes how particles of one sort look and move. Values between two stops or keys are interpolated linearly.
// Build uses one value for each 64th of a life. Values before the first and after the last stop or key are constant.
// Later changes of the slices do not affect particles; only [System.Kind] shows them.
type Kind struct {
	Name   string // for messages and the overlay
	Region int    // number of the picture, for the caller who makes the regions for Build; the System does not use it

	Additive bool    // sets the alpha of every colour to 0; for how to draw it see Vertex
	Ramp     []Stop  // colour over life, at most MaxKeys in ascending order; empty means white
	Size     []Key   // factor on the emitted size, at most MaxKeys in ascending order; empty means 1
	Vary     float32 // 0 to 1: each particle's R, G and B are reduced by one random share, from 0 to Vary; A is unchanged

	Drag               float32 // 1/s: Update divides the velocity by 1+Drag*dt
	GravityX, GravityY float32 // units/s²; y points down the screen
	Bounce             float32 // 0 to 1: a reflection multiplies the speed at right angles to the side by Bounce; 0 ignores the bounds

	Angle   Range   // radians at birth
	Spin    Range   // radians/s
	Stretch float32 // seconds: lengthens the quad along the velocity by Stretch*speed; invalid together with Angle or Spin
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

// Register adds a kind and returns its ID. If Config.MaxKinds kinds are registered already, the error wraps
// memory.ErrOutOfMemory. If k is invalid, the error wraps memory.ErrConfig and names the field. No float may exceed 1e9
// in magnitude. If Register returns an error, nothing has changed.
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

// SetKind replaces a kind, for example with the palette of the next level. Live particles change their look and
// motion at once. They keep their angle and spin, but Build uses them only if k has an Angle or a Spin. If id is not
// registered, SetKind panics with a *memory.Misuse. If k is invalid, SetKind changes nothing, and the error wraps
// memory.ErrConfig and names the field.
func (s *System) SetKind(id KindID, k Kind) error {
	s.open("SetKind")
	s.known("SetKind", id)
	if err := k.check(); err != nil {
		return err
	}
	s.put(id, k)
	return nil
}

// Kind returns the kind that is registered as id. Its slices are the slices that were passed to Register or SetKind,
// not copies. After Close the kinds stay registered. If id is not registered, Kind panics with a *memory.Misuse.
func (s *System) Kind(id KindID) Kind {
	s.known("Kind", id)
	return s.kinds[id]
}

// Count returns the number of live particles of a kind. If id is not registered, or the System is closed, Count
// returns 0.
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
