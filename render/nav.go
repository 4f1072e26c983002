package render

import (
	"math"

	"github.com/go-gl/mathgl/mgl32"
	"github.com/hajimehoshi/ebiten/v2"
)

// Nav is the input of a menu. The controls of a menu do not depend on Bindings. Arrows, WASD, the directional pad and
// the left stick move. Both Enter keys, Space and the gamepad's A select. Esc, Backspace, the gamepad's B and the
// mouse's back button go back. Mouse and finger point. While a finger points, the mouse does not.
type Nav struct {
	Up, Down, Left, Right bool // in the tick of the press; if held, again after 24 ticks, then every 6 ticks
	Select, Back          bool // in the tick of the press; no Select while Alt is held

	Pointer mgl32.Vec2 // mouse or first finger, logical pixels
	Moved   bool       // the pointer moved or came down in this tick
	Click   bool       // left button or finger went down in this tick
	Held    bool       // left button or finger is down: a slider follows it
}

// Held directions repeat after repeatFirst ticks, every repeatNext.
const (
	repeatFirst = 24
	repeatNext  = 6
)

// The keys of menus, by direction: up, down, left, right.
var navKeys = [4][3]Control{
	{key(ebiten.KeyArrowUp), key(ebiten.KeyW), padButton(ebiten.StandardGamepadButtonLeftTop)},
	{key(ebiten.KeyArrowDown), key(ebiten.KeyS), padButton(ebiten.StandardGamepadButtonLeftBottom)},
	{key(ebiten.KeyArrowLeft), key(ebiten.KeyA), padButton(ebiten.StandardGamepadButtonLeftLeft)},
	{key(ebiten.KeyArrowRight), key(ebiten.KeyD), padButton(ebiten.StandardGamepadButtonLeftRight)},
}

var (
	selectKeys = [...]Control{key(ebiten.KeyEnter), key(ebiten.KeyNumpadEnter), key(ebiten.KeySpace), padButton(ebiten.StandardGamepadButtonRightBottom)}
	backKeys   = [...]Control{key(ebiten.KeyEscape), key(ebiten.KeyBackspace), padButton(ebiten.StandardGamepadButtonRightRight), mouseButton(ebiten.MouseButton3)}
)

// A navigator makes Nav. It remembers how long a direction is held.
type navigator struct {
	since   [4]int // ticks that a direction has been held
	stick   [4]bool
	pointer mgl32.Vec2
	held    bool
	finger  int  // the id+1 of the finger that points, or 0
	seen    bool // pointer is valid: where the mouse lay before the first tick is not a move
}

// read fills n. pressed are the controls pressed in this tick.
func (s *navigator) read(n *Nav, r *raw, pressed *controls, f *fingers) {
	s.lean(r.left)
	var on [4]bool
	for d := range navKeys {
		held := s.stick[d]
		for _, c := range navKeys[d] {
			held = held || r.held.has(c)
			if r.struck.has(c) { // let go and pressed again, if it was held
				s.since[d] = 0
			}
		}
		if !held {
			s.since[d] = 0
			continue
		}
		t := s.since[d]
		on[d] = t == 0 || t >= repeatFirst && (t-repeatFirst)%repeatNext == 0
		s.since[d]++
	}
	n.Up, n.Down, n.Left, n.Right = on[0], on[1], on[2], on[3]
	for _, c := range selectKeys {
		n.Select = n.Select || pressed.has(c)
	}
	if r.alt() {
		n.Select = false // with Enter that is the whole screen
	}
	for _, c := range backKeys {
		n.Back = n.Back || pressed.has(c)
	}
	s.point(n, r, f)
}

// spend keeps directions that are held from repeating.
func (s *navigator) spend() {
	for d := range s.since {
		if s.since[d] > 0 {
			s.since[d] = math.MinInt
		}
	}
}

// lean turns the stick into directions; it must come half back before it counts again.
func (s *navigator) lean(v mgl32.Vec2) {
	for d, x := range [4]float32{-v[1], v[1], -v[0], v[0]} {
		s.stick[d] = x > 0.6 || s.stick[d] && x > 0.3
	}
}

// point follows the finger that points, or else the mouse.
func (s *navigator) point(n *Nav, r *raw, f *fingers) {
	left := mouseButton(ebiten.MouseButtonLeft)
	at, held, again := r.cursor, r.held.has(left), r.struck.has(left)
	was := s.finger
	s.finger = 0
	if f.pointer != 0 {
		if t := find(r.touches[:r.touchCount], f.pointer-1); t != nil {
			s.finger = f.pointer
			at, held, again = t.pos, true, was != s.finger // another one in the same tick counts
		}
	}
	if was != 0 && s.finger == 0 { // the finger is gone, and the mouse lies where it lay
		s.pointer = at
	}
	n.Pointer, n.Held, n.Click = at, held, held && (!s.held || again)
	n.Moved = s.seen && at != s.pointer || n.Click
	s.pointer, s.held, s.seen = at, held, true
}
