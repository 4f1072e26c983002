package render

import (
	"math"

	"github.com/go-gl/mathgl/mgl32"
)

// Input is what the player wants in one tick. It is plain data: the window fills it from
// keyboard, mouse, gamepad and touch, and an autopilot, a replay or a test fill it by
// hand. It holds no pointer.
type Input struct {
	Move mgl32.Vec2 // length 0 to 1; +x right, +y down

	// Aim is a direction of length 1, or zero. Where it is zero and Pointing is set, the
	// player points at AimScreen: see AimFrom.
	Aim       mgl32.Vec2
	AimScreen mgl32.Vec2 // logical pixels; the last place pointed at
	Pointing  bool

	Fire bool // held

	// True in the tick of the press only.
	Dash, Pause, Restart, Mute, AnyKey bool
	F                                  [9]bool // F[1] to F[8]
	Choose                             [3]bool // the first, second or third of what is offered
}

// AimFrom returns the direction from a place on the logical screen, where the player's
// ship is drawn, to where the player aims; zero where nobody aims.
func (in *Input) AimFrom(p mgl32.Vec2) mgl32.Vec2 {
	if in.Aim != (mgl32.Vec2{}) || !in.Pointing {
		return in.Aim
	}
	return direction(in.AimScreen.Sub(p))
}

// Numbers of the buttons whose edges are reported.
const (
	btnDash = iota
	btnPause
	btnRestart
	btnMute
	btnAny
	btnF                 // and 8 more
	btnChoose = btnF + 9 // and 2 more
	btnCount  = btnChoose + 3
)

// deadZone is the part of a stick's travel that counts as rest: worn sticks rest at 0.15.
const deadZone = 0.2

// raw is what the devices say in one tick, before edges and dead zones.
type raw struct {
	buttons uint32 // bit i is button i

	keys       mgl32.Vec2 // each axis -1, 0 or 1
	left       mgl32.Vec2 // sticks
	right      mgl32.Vec2
	cursor     mgl32.Vec2 // logical pixels
	mouseFire  bool
	padFire    bool
	touches    [4]touch
	touchCount int
}

// A touch is a finger on the logical screen.
type touch struct {
	id  int
	pos mgl32.Vec2
}

// A sampler turns what the devices say into Input. It remembers the former tick.
type sampler struct {
	buttons uint32
	cursor  mgl32.Vec2
	seen    bool // cursor is valid
	pointer bool // the mouse was the last device to aim
	thumbs  [2]thumb
}

// A thumb is a finger that steers: a stick whose rest is where the finger came down.
type thumb struct {
	id     int
	down   bool
	origin mgl32.Vec2
	pull   mgl32.Vec2 // from -1 to 1
}

// thumbTravel is the way, in logical pixels, from a thumb's rest to full deflection.
const thumbTravel = 36

// sample makes the Input of this tick. width is that of the logical screen.
func (s *sampler) sample(in *Input, r *raw, width float32) {
	aim := in.AimScreen
	*in = Input{AimScreen: aim}
	pressed := r.buttons &^ s.buttons
	s.buttons = r.buttons
	in.edges(pressed)

	touched := s.trackThumbs(r, width)
	in.AnyKey = in.AnyKey || touched
	in.Move = limit(r.keys.Add(dead(r.left)).Add(s.thumbs[0].pull))

	stick := dead(r.right)
	if s.thumbs[1].down {
		stick = s.thumbs[1].pull
	}
	s.point(in, r, stick)
	in.Fire = r.mouseFire || r.padFire || (s.thumbs[1].down && stick != mgl32.Vec2{})
}

// edges sets what was pressed in this tick.
func (in *Input) edges(pressed uint32) {
	on := func(b int) bool { return pressed>>b&1 != 0 }
	in.Dash, in.Pause, in.Restart, in.Mute = on(btnDash), on(btnPause), on(btnRestart), on(btnMute)
	in.AnyKey = on(btnAny)
	for i := range in.F {
		in.F[i] = on(btnF + i)
	}
	for i := range in.Choose {
		in.Choose[i] = on(btnChoose + i)
	}
}

// point decides who aims: a stick while it is pulled, the mouse as soon as it moves or
// fires. A stick at rest does not give the aim back to a mouse that lies still.
func (s *sampler) point(in *Input, r *raw, stick mgl32.Vec2) {
	moved := s.seen && r.cursor != s.cursor
	s.cursor, s.seen = r.cursor, true
	switch {
	case stick != mgl32.Vec2{}:
		s.pointer = false
		in.Aim = direction(stick)
	case moved || r.mouseFire:
		s.pointer = true
	}
	if in.Pointing = s.pointer; s.pointer {
		in.AimScreen = r.cursor
	}
}

// trackThumbs follows one finger on each half of the screen, and reports whether a new
// one came down.
func (s *sampler) trackThumbs(r *raw, width float32) bool {
	fingers := r.touches[:r.touchCount]
	for i := range s.thumbs {
		t := &s.thumbs[i]
		f := find(fingers, t.id)
		if !t.down || f == nil {
			*t = thumb{}
			continue
		}
		t.pull = dead(limit(f.pos.Sub(t.origin).Mul(1.0 / thumbTravel)))
	}
	fresh := false
	for _, f := range fingers {
		side := 0
		if f.pos[0] >= width/2 {
			side = 1
		}
		if s.held(f.id) || s.thumbs[side].down {
			continue
		}
		s.thumbs[side] = thumb{id: f.id, down: true, origin: f.pos}
		fresh = true
	}
	return fresh
}

func (s *sampler) held(id int) bool {
	return s.thumbs[0].down && s.thumbs[0].id == id || s.thumbs[1].down && s.thumbs[1].id == id
}

func find(fingers []touch, id int) *touch {
	for i := range fingers {
		if fingers[i].id == id {
			return &fingers[i]
		}
	}
	return nil
}

// dead takes the dead zone out of a stick, so that full deflection stays 1.
func dead(v mgl32.Vec2) mgl32.Vec2 {
	l := v.Len()
	if !(l > deadZone) {
		return mgl32.Vec2{}
	}
	return v.Mul(min((l-deadZone)/(1-deadZone), 1) / l)
}

// limit shortens v to length 1.
func limit(v mgl32.Vec2) mgl32.Vec2 {
	if l := v.Len(); l > 1 {
		return v.Mul(1 / l)
	}
	return v
}

// direction returns v with length 1, or zero where v has none.
func direction(v mgl32.Vec2) mgl32.Vec2 {
	l := v.Len()
	if !(l > 1e-6) || math.IsInf(float64(l), 0) {
		return mgl32.Vec2{}
	}
	return v.Mul(1 / l)
}
