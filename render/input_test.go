package render

import (
	"math"
	"testing"

	"github.com/go-gl/mathgl/mgl32"
)

func near(a, b mgl32.Vec2) bool { return a.Sub(b).Len() < 1e-3 }

func TestInput_ButtonsAreEdges(t *testing.T) {
	var s sampler
	var in Input
	r := raw{buttons: 1<<btnDash | 1<<(btnF+3) | 1<<btnAny}
	s.sample(&in, &r, LogicalW)
	if !in.Dash || !in.F[3] || in.F[2] || !in.AnyKey || in.Pause {
		t.Errorf("pressed: %+v", in)
	}
	s.sample(&in, &r, LogicalW)
	if in.Dash || in.F[3] || in.AnyKey {
		t.Errorf("held: %+v", in)
	}
	s.sample(&in, &raw{}, LogicalW)
	s.sample(&in, &r, LogicalW)
	if !in.Dash {
		t.Error("pressed again")
	}
}

func TestInput_MoveIsNeverLongerThanOne(t *testing.T) {
	var s sampler
	var in Input
	s.sample(&in, &raw{keys: mgl32.Vec2{1, -1}, left: mgl32.Vec2{1, -1}}, LogicalW)
	if l := in.Move.Len(); math.Abs(float64(l)-1) > 1e-4 || in.Move[0] <= 0 || in.Move[1] >= 0 {
		t.Errorf("%v", in.Move)
	}
	s.sample(&in, &raw{left: mgl32.Vec2{0.15, 0.1}}, LogicalW)
	if in.Move != (mgl32.Vec2{}) {
		t.Errorf("a stick at rest moves: %v", in.Move)
	}
	if v := dead(mgl32.Vec2{0, 1}); !near(v, mgl32.Vec2{0, 1}) {
		t.Errorf("full deflection is %v", v)
	}
}

func TestInput_MouseAndStickShareTheAim(t *testing.T) {
	var s sampler
	var in Input
	s.sample(&in, &raw{cursor: mgl32.Vec2{5, 5}}, LogicalW)
	if in.Pointing || in.AimFrom(mgl32.Vec2{}) != (mgl32.Vec2{}) {
		t.Error("a mouse that lies still aims")
	}
	s.sample(&in, &raw{cursor: mgl32.Vec2{100, 50}}, LogicalW)
	if !in.Pointing || !near(in.AimFrom(mgl32.Vec2{100, 10}), mgl32.Vec2{0, 1}) {
		t.Errorf("mouse: %+v", in)
	}
	s.sample(&in, &raw{cursor: mgl32.Vec2{100, 50}, right: mgl32.Vec2{-0.9, 0}}, LogicalW)
	if in.Pointing || !near(in.AimFrom(mgl32.Vec2{}), mgl32.Vec2{-1, 0}) {
		t.Errorf("stick: %+v", in)
	}
	s.sample(&in, &raw{cursor: mgl32.Vec2{100, 50}}, LogicalW)
	if in.Pointing || in.Aim != (mgl32.Vec2{}) {
		t.Errorf("stick let go: %+v", in)
	}
	s.sample(&in, &raw{cursor: mgl32.Vec2{100, 50}, mouseFire: true}, LogicalW)
	if !in.Pointing || !in.Fire || in.AimScreen != (mgl32.Vec2{100, 50}) {
		t.Errorf("mouse fires: %+v", in)
	}
	if in.AimFrom(mgl32.Vec2{100, 50}) != (mgl32.Vec2{}) {
		t.Error("a direction to the same place")
	}
}

func TestInput_TwoThumbs(t *testing.T) {
	var s sampler
	var in Input
	fingers := func(f ...touch) *raw {
		r := &raw{touchCount: len(f)}
		copy(r.touches[:], f)
		return r
	}
	s.sample(&in, fingers(touch{7, mgl32.Vec2{100, 200}}, touch{9, mgl32.Vec2{500, 200}}), LogicalW)
	if !in.AnyKey || in.Move != (mgl32.Vec2{}) || in.Fire {
		t.Errorf("down: %+v", in)
	}
	// Both cross the middle and remain what they were.
	s.sample(&in, fingers(touch{9, mgl32.Vec2{300, 200}}, touch{7, mgl32.Vec2{400, 200}}, touch{11, mgl32.Vec2{10, 10}}), LogicalW)
	if !near(in.Move, mgl32.Vec2{1, 0}) || !near(in.Aim, mgl32.Vec2{-1, 0}) || !in.Fire || in.AnyKey {
		t.Errorf("pulled: %+v", in)
	}
	s.sample(&in, fingers(touch{9, mgl32.Vec2{500, 201}}), LogicalW)
	if in.Move != (mgl32.Vec2{}) || in.Fire {
		t.Errorf("left one up, right one at rest: %+v", in)
	}
}

func TestInput_DoesNotAllocate(t *testing.T) {
	var s sampler
	var in Input
	r := raw{touchCount: 2}
	if n := testing.AllocsPerRun(100, func() { s.sample(&in, &r, LogicalW) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
