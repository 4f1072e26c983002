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
	TouchPause
	TouchOverlay
	TouchButtons // their number
)

// Circle returns the centre and radius of a button on a logical screen of w × h, in logical pixels. Buttons lie where
// steering thumbs do not hit them by accident. A finger hits within 1.2 times the radius. For any other value Circle
// returns the circle of TouchOverlay.
func (b TouchButton) Circle(w, h float32) (at mgl32.Vec2, r float32) {
	switch b {
	case TouchDash:
		return mgl32.Vec2{w - 40, h - 84}, 24
	case TouchPause:
		return mgl32.Vec2{w - 28, 66}, 16
	}
	return mgl32.Vec2{w - 28, 106}, 13
}

// touchSlack is the radius of a hit in radii of a button.
const touchSlack = 1.2

// touchButton returns the button at p, if there is one.
func touchButton(p mgl32.Vec2, w, h float32) (TouchButton, bool) {
	for b := range TouchButtons {
		at, r := b.Circle(w, h)
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

// A thumb is a finger that steers: a stick whose rest is where the finger came down.
type thumb struct {
	id     int
	down   bool
	origin mgl32.Vec2
	pull   mgl32.Vec2 // from -1 to 1
}

// thumbTravel is the way, in logical pixels, from a thumb's rest to full deflection.
const thumbTravel = 36

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
func (s *fingers) follow(r *raw, w, h float32) (fresh bool) {
	now := r.touches[:r.touchCount]
	for i := range s.thumbs {
		t := &s.thumbs[i]
		f := find(now, t.id)
		if !t.down || f == nil {
			*t = thumb{}
			continue
		}
		t.pull = dead(limit(f.pos.Sub(t.origin).Mul(1.0 / thumbTravel)))
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
			s.land(f, w, h)
		}
	}
	s.count = len(now)
	for i := range now {
		s.known[i] = now[i].id
	}
	return fresh
}

// land gives a finger that came down its part: button, thumb of its half, or none.
func (s *fingers) land(f touch, w, h float32) {
	if s.pointer == 0 {
		s.pointer = f.id + 1
	}
	if b, ok := touchButton(f.pos, w, h); ok {
		s.buttons[b] = f.id + 1
		return
	}
	side := 0
	if f.pos[0] >= w/2 {
		side = 1
	}
	if !s.thumbs[side].down {
		s.thumbs[side] = thumb{id: f.id, down: true, origin: f.pos}
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
