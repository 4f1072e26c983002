package particles

import (
	"fmt"

	"github.com/strata-go/strata/memory"
)

// most bounds every float of a Kind and of an Emitter, in its own unit: a product of four stays finite.
const most = 1e9

// The lives of particles, in seconds. shortestLife keeps 1/life and the index into the ramp finite.
// longestLife keeps a step of 1/1000 s above the resolution of the life that is left, 1/4096 s: a life that
// is finite and longer could last forever.
const (
	shortestLife = 1.0 / 1024
	longestLife  = 3600
)

// A field is a float of a Kind or of an Emitter and the values that are allowed.
type field struct {
	name      string
	v, lo, hi float32
}

// firstInvalid returns an error that names the first field that is not within its bounds. NaN never is.
func firstInvalid(of string, fields []field) error {
	for _, f := range fields {
		if !(f.v >= f.lo && f.v <= f.hi) {
			return fmt.Errorf("particles: %s: %s %v: want %v to %v: %w", of, f.name, f.v, f.lo, f.hi, memory.ErrConfig)
		}
	}
	return nil
}

func (k *Kind) check() error {
	of := fmt.Sprintf("kind %q", k.Name)
	if len(k.Ramp) > MaxKeys {
		return fmt.Errorf("particles: %s: Ramp has %d stops: want 0 to %d: %w", of, len(k.Ramp), MaxKeys, memory.ErrConfig)
	}
	if len(k.Size) > MaxKeys {
		return fmt.Errorf("particles: %s: Size has %d keys: want 0 to %d: %w", of, len(k.Size), MaxKeys, memory.ErrConfig)
	}
	fields := []field{
		{"Vary", k.Vary, 0, 1},
		{"Drag", k.Drag, 0, most},
		{"GravityX", k.GravityX, -most, most},
		{"GravityY", k.GravityY, -most, most},
		{"Bounce", k.Bounce, 0, 1},
		{"Angle.Min", k.Angle.Min, -most, most},
		{"Angle.Max", k.Angle.Max, -most, most},
		{"Spin.Min", k.Spin.Min, -most, most},
		{"Spin.Max", k.Spin.Max, -most, most},
		{"Stretch", k.Stretch, 0, most},
	}
	last := float32(0) // stops and keys are in order
	for i, p := range k.Ramp {
		at := fmt.Sprintf("Ramp[%d].", i)
		fields = append(fields,
			field{at + "At", p.At, last, 1},
			field{at + "Color.R", p.Color.R, -most, most},
			field{at + "Color.G", p.Color.G, -most, most},
			field{at + "Color.B", p.Color.B, -most, most},
			field{at + "Color.A", p.Color.A, -most, most})
		last = p.At
	}
	last = 0
	for i, p := range k.Size {
		at := fmt.Sprintf("Size[%d].", i)
		fields = append(fields, field{at + "At", p.At, last, 1}, field{at + "Value", p.Value, 0, most})
		last = p.At
	}
	if err := firstInvalid(of, fields); err != nil {
		return err
	}
	if k.Stretch != 0 && k.turns() {
		return fmt.Errorf("particles: %s: Stretch %v excludes Angle and Spin, as the velocity turns the quad: want 0 or no Angle and Spin: %w", of, k.Stretch, memory.ErrConfig)
	}
	return nil
}

// Validate checks every field except Kind and Radial. Use it, for example, after an emitter was read from a file. The
// error names the first invalid field, its value and the allowed values, and wraps memory.ErrConfig. Lives are at
// most 3600 s, Burst is at most 1<<24, and other values are at most 1e9 in their unit. Radius, Life, Size, Burst,
// Rate and Owed must not be negative.
//
// An emitter that fails Validate may still be used. Emit then moves each finite value into the range from -1e9 to 1e9,
// and each life into the range from 1/1024 s to 3600 s. An unknown Shape counts as Ring. Emit uses 0 for a value that
// is not finite, but the longest life for a life of +Inf. If X or Y is not finite, Emit places particles out of sight.
func (e *Emitter) Validate() error {
	if e.Shape > Line {
		return fmt.Errorf("particles: emitter: Shape %d: want 0 to %d: %w", e.Shape, Line, memory.ErrConfig)
	}
	if e.Burst < 0 || e.Burst > maxCapacity {
		return fmt.Errorf("particles: emitter: Burst %d: want 0 to %d: %w", e.Burst, maxCapacity, memory.ErrConfig)
	}
	return firstInvalid("emitter", []field{
		{"X", e.X, -most, most},
		{"Y", e.Y, -most, most},
		{"Radius", e.Radius, 0, most},
		{"VX", e.VX, -most, most},
		{"VY", e.VY, -most, most},
		{"Inherit", e.Inherit, -most, most},
		{"Angle", e.Angle, -most, most},
		{"Spread", e.Spread, -most, most},
		{"Speed.Min", e.Speed.Min, -most, most},
		{"Speed.Max", e.Speed.Max, -most, most},
		{"Life.Min", e.Life.Min, 0, longestLife},
		{"Life.Max", e.Life.Max, 0, longestLife},
		{"Size.Min", e.Size.Min, 0, most},
		{"Size.Max", e.Size.Max, 0, most},
		{"Rate", e.Rate, 0, most},
		{"Owed", e.Owed, 0, most},
	})
}

// bounded reports whether Emit can use the values as they are. It is called once for all particles of an Emit.
func (e *Emitter) bounded() bool {
	return abs(e.X) <= most && abs(e.Y) <= most && abs(e.Radius) <= most &&
		abs(e.VX) <= most && abs(e.VY) <= most && abs(e.Inherit) <= most &&
		abs(e.Angle) <= most && abs(e.Spread) <= most &&
		abs(e.Speed.Min) <= most && abs(e.Speed.Max) <= most &&
		abs(e.Size.Min) <= most && abs(e.Size.Max) <= most &&
		e.Life.Min <= longestLife && e.Life.Max <= longestLife && e.Life.Min >= -most && e.Life.Max >= -most
}

// limited returns the emitter with values that Emit can use.
//
//go:noinline
func (e *Emitter) limited() Emitter {
	l := *e
	for _, v := range []*float32{&l.X, &l.Y} {
		if !finite(*v) {
			*v = most // out of sight
		}
	}
	for _, v := range []*float32{&l.X, &l.Y, &l.Radius, &l.VX, &l.VY, &l.Inherit, &l.Angle, &l.Spread, &l.Speed.Min, &l.Speed.Max, &l.Size.Min, &l.Size.Max} {
		*v = limit(*v, most)
	}
	l.Life.Min, l.Life.Max = limit(e.Life.Min, longestLife), limit(e.Life.Max, longestLife)
	if e.Life.Min > longestLife { // an endless life is the longest, and not none
		l.Life.Min = longestLife
	}
	if e.Life.Max > longestLife {
		l.Life.Max = longestLife
	}
	return l
}

// limit returns 0 for a value that is not finite, and else the nearest from -most to hi.
func limit(v, hi float32) float32 {
	if !finite(v) {
		return 0
	}
	return min(max(v, -most), hi)
}
