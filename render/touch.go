package render

import (
	"slices"

	"github.com/go-gl/mathgl/mgl32"
)

// A TouchButton is a button on the screen, for fingers. The window reads the button, and the game draws it.
type TouchButton uint8

// The buttons on the screen.
const (
	TouchDash TouchButton = iota
	TouchRewind
	TouchPause
	TouchOverlay
	TouchButtons // their number
)

// Circle returns the centre and radius of a button, in logical pixels, in an area from lo to hi, see [Viewport.Safe].
// If the area is higher than wide, the buttons of dash and rewind are between the thumbs. In other areas all buttons
// are at the right. A finger hits within 1.2 times the radius. If b is no button, Circle returns the circle of
// TouchOverlay.
func (b TouchButton) Circle(lo, hi mgl32.Vec2) (at mgl32.Vec2, r float32) {
	switch upright := hi[1]-lo[1] > hi[0]-lo[0]; {
	case b == TouchDash && upright:
		return mgl32.Vec2{hi[0] - 156, hi[1] - 92}, 30
	case b == TouchDash:
		return mgl32.Vec2{hi[0] - 44, hi[1] - 112}, 30
	case b == TouchRewind && upright:
		return mgl32.Vec2{lo[0] + 138, hi[1] - 92}, 24
	case b == TouchRewind:
		return mgl32.Vec2{hi[0] - 92, hi[1] - 160}, 24
	case b == TouchPause:
		return mgl32.Vec2{hi[0] - 32, lo[1] + 88}, 22
	case upright:
		return mgl32.Vec2{hi[0] - 86, lo[1] + 88}, 22
	}
	return mgl32.Vec2{hi[0] - 32, lo[1] + 142}, 22
}

// touchSlack is the radius of a hit in radii of a button.
const touchSlack = 1.2

// touchButton returns the button at p, if there is one.
func touchButton(p, lo, hi mgl32.Vec2) (TouchButton, bool) {
	for b := range TouchButtons {
		at, r := b.Circle(lo, hi)
		if p.Sub(at).Len() <= r*touchSlack {
			return b, true
		}
	}
	return 0, false
}

// A touch is a finger on the logical screen.
type touch struct {
	id  int
	pos mgl32.Vec2
}

// A Thumb is a finger that steers like a stick. The stick rests where the finger came down. If Down is false, the other
// fields are zero.
type Thumb struct {
	Down   bool
	Origin mgl32.Vec2 // the point of rest, in logical pixels
	Pull   mgl32.Vec2 // length 0 to 1: 0 within a fifth of ThumbTravel, and 1 from ThumbTravel on
}

// ThumbTravel is the distance in logical pixels from a thumb's rest to full deflection.
const ThumbTravel = 36

// thumb is a Thumb and its finger.
type thumb struct {
	id int
	Thumb
}

// fingers are the roles of the touches: two thumbs, fingers on buttons, and the first of all for a menu.
type fingers struct {
	thumbs  [2]thumb
	known   [mostTouches]int // ids of the former tick
	count   int
	buttons [TouchButtons]int // id+1 of the finger that holds it
	pointer int               // id+1 of the finger that points
}

// mostTouches is how many fingers are followed.
const mostTouches = 6

// follow takes the fingers of this tick. It reports whether one came down.
func (s *fingers) follow(r *raw, lo, hi mgl32.Vec2) (fresh bool) {
	now := r.touches[:r.touchCount]
	for i := range s.thumbs {
		t := &s.thumbs[i]
		f := find(now, t.id)
		if !t.Down || f == nil {
			*t = thumb{}
			continue
		}
		t.Pull = dead(limit(f.pos.Sub(t.Origin).Mul(1.0 / ThumbTravel)))
	}
	for b := range s.buttons {
		if find(now, s.buttons[b]-1) == nil {
			s.buttons[b] = 0
		}
	}
	if find(now, s.pointer-1) == nil {
		s.pointer = 0
	}
	for _, f := range now {
		if !s.was(f.id) {
			fresh = true
			s.land(f, lo, hi)
		}
	}
	s.count = len(now)
	for i := range now {
		s.known[i] = now[i].id
	}
	return fresh
}

// land gives a finger that came down its part: button, thumb of its half, or none.
func (s *fingers) land(f touch, lo, hi mgl32.Vec2) {
	if s.pointer == 0 {
		s.pointer = f.id + 1
	}
	if b, ok := touchButton(f.pos, lo, hi); ok {
		s.buttons[b] = f.id + 1
		return
	}
	side := 0
	if f.pos[0] >= (lo[0]+hi[0])/2 {
		side = 1
	}
	if !s.thumbs[side].Down {
		s.thumbs[side] = thumb{f.id, Thumb{Down: true, Origin: f.pos}}
	}
}

func (s *fingers) was(id int) bool { return slices.Contains(s.known[:s.count], id) }

func find(now []touch, id int) *touch {
	for i := range now {
		if now[i].id == id {
			return &now[i]
		}
	}
	return nil
}
