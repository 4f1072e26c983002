package render

import (
	"math"

	"github.com/go-gl/mathgl/mgl32"
	"github.com/hajimehoshi/ebiten/v2"
)

// Input is the player's input of one tick. Input is plain data without pointers. The window fills the Input from
// keyboard, mouse, gamepad and touch. An autopilot, a replay or a test fills it directly.
type Input struct {
	Move mgl32.Vec2 // length 0 to 1; +x right, +y down

	// Aim is a direction of length 1, or zero. If Aim is zero and Pointing is set, the player points at AimScreen:
	// see AimFrom. A game draws its reticle at AimScreen.
	Aim       mgl32.Vec2
	AimScreen mgl32.Vec2 // the last point that the mouse pointed at, in logical pixels
	Pointing  bool       // the mouse aims

	Fire   bool // a control of Fire is held, the right stick is pulled above 0.8, or the right thumb is pulled
	Rewind bool // a control of Rewind or its button on the screen is held

	// These fields are true in one tick, the tick of the press. AnyKey means any control or finger, except F1 to F12
	// and the modifier keys Shift, Ctrl, Alt and Meta.
	//
	// If a modifier key is bound to Choose or to one of these fields except AnyKey, it counts when it is released. It
	// does not count if it was held together with F1 to F12, Enter or Tab. While another bound key moves the player, a
	// modifier key counts when it is pressed.
	Dash, Pause, Restart, Mute, Fullscreen, AnyKey bool

	Choose int     // 1, 2 or 3 in the tick of the press, else 0
	F      [9]bool // F[1] to F[8]: these keys in the tick of the press, for games without the overlay
	Panels bool    // the overlay's button on the screen, in the tick of the press

	Thumbs [2]Thumb // the left and the right thumb on the screen: a game may draw their sticks

	Nav      Nav     // the input of a menu
	Last     Device  // the device used last: prompts name the controls of this device
	Captured Control // while Controls.Capture is set: the control that was pressed in this tick, or none
}

// AimFrom returns the direction, of length 1, in which the player aims from point p of the logical screen. P is
// usually the position of the player's ship. If Aim is not zero, AimFrom returns Aim. If the player does not aim, or
// the mouse points at p itself, AimFrom returns zero.
func (in *Input) AimFrom(p mgl32.Vec2) mgl32.Vec2 {
	if in.Aim != (mgl32.Vec2{}) || !in.Pointing {
		return in.Aim
	}
	return direction(in.AimScreen.Sub(p))
}

// Controls configure how the window reads devices. The game may change them during Update.
type Controls struct {
	Bindings Bindings
	// Capture turns each press into Input.Captured, so that a menu can bind a key. While Capture is set, all fields of
	// Input are zero except Captured, Last, AimScreen, Nav.Pointer and Nav.Moved. If a control is held when Capture is
	// set, it must be pressed again to be captured. If a control or a button on the screen is held when Capture is
	// cleared, it causes no press: fields such as Dash stay false until it is pressed again. Fields that follow a held
	// control, such as Move, Fire and Rewind, follow it at once. A direction that is held still repeats in Nav.
	Capture bool

	// Release makes Nav ignore each direction that is held now, until the player releases it. Set Release when a menu
	// appears, because the player may be steering. The next tick clears Release.
	Release bool
}

// deadZone is the part of a stick's travel that counts as rest: worn sticks rest at 0.15.
const deadZone = 0.2

// raw is the state of the devices in one tick, before edges, bindings and dead zones.
type raw struct {
	held       controls
	struck     controls   // pressed since the tick before, even if held at both ticks
	left       mgl32.Vec2 // sticks
	right      mgl32.Vec2
	cursor     mgl32.Vec2 // logical pixels
	touches    [mostTouches]touch
	touchCount int
	shifted    bool // the logical screen has moved in the window, and so has the cursor on it
}

func (r *raw) alt() bool {
	return r.held.has(key(ebiten.KeyAltLeft)) || r.held.has(key(ebiten.KeyAltRight))
}

// A sampler turns the state of the devices into Input. It remembers the former tick.
type sampler struct {
	held    controls
	actions [ActionCount]bool
	cursor  mgl32.Vec2
	seen    bool // cursor is valid
	pointer bool // the mouse was the last device to aim
	last    Device
	fingers fingers
	touched [TouchButtons]int // id+1 of the finger that held it in the tick before
	nav     navigator
	mods    modifiers
}

// sample makes the Input of this tick. Buttons on the screen lie in the area from lo to hi.
func (s *sampler) sample(in *Input, r *raw, c *Controls, lo, hi mgl32.Vec2) {
	*in = Input{AimScreen: in.AimScreen}
	pressed := r.held.without(s.held).with(r.struck)
	s.held = r.held
	if r.shifted {
		s.cursor, s.nav.pointer = r.cursor, r.cursor
	}
	fresh := s.fingers.follow(r, lo, hi)
	s.device(r, &pressed, fresh)
	in.Last = s.last
	if c.Release {
		s.nav.spend()
		c.Release = false
	}
	s.nav.read(&in.Nav, r, &pressed, &s.fingers)
	if c.Capture {
		s.capture(in, &pressed)
		s.cursor, s.seen = r.cursor, true
		return
	}
	s.press(in, r, c)
	s.buttons(in)
	for i := range in.F[1:] {
		in.F[i+1] = pressed.has(key(ebiten.KeyF1 + ebiten.Key(i)))
	}
	in.AnyKey = fresh || anyGame(&pressed)
	s.steer(in, r, c)
}

// capture looks for a press to bind, and keeps actions from beginning with what is still held.
func (s *sampler) capture(in *Input, pressed *controls) {
	in.Captured = pressed.first()
	in.Nav = Nav{Pointer: in.Nav.Pointer, Moved: in.Nav.Moved}
	for a := range s.actions {
		s.actions[a] = true
	}
	for b := range s.touched {
		s.touched[b] = s.fingers.buttons[b]
	}
	s.mods.spend(&s.held)
}

// press finds the actions whose controls are held, and sets what begins in this tick.
func (s *sampler) press(in *Input, r *raw, c *Controls) {
	held := r.held
	moving := c.Bindings.axis(&held) != mgl32.Vec2{}
	s.mods.filter(&held, moving)
	struck := r.struck
	for _, m := range modifierKeys { // whether they count is known later
		struck.remove(m)
	}
	var edge [ActionCount]bool
	for a := range ActionCount {
		down := c.Bindings.down(a, &held)
		edge[a] = down && (!s.actions[a] || c.Bindings.down(a, &struck))
		s.actions[a] = down
	}
	in.Rewind = c.Bindings.down(Rewind, &r.held)
	in.Dash, in.Pause, in.Restart, in.Mute = edge[Dash], edge[Pause], edge[Restart], edge[Mute]
	enter := r.held.has(key(ebiten.KeyEnter)) && r.alt()
	in.Fullscreen = edge[Fullscreen] || enter && !s.mods.enter
	s.mods.enter = enter
	for k := range 3 {
		if edge[Choose1+Action(k)] {
			in.Choose = k + 1
		}
	}
}

// buttons reads the buttons on the screen.
func (s *sampler) buttons(in *Input) {
	on := func(b TouchButton) bool {
		id := s.fingers.buttons[b]
		edge := id != 0 && id != s.touched[b]
		s.touched[b] = id
		return edge
	}
	in.Rewind = in.Rewind || s.fingers.buttons[TouchRewind] != 0
	in.Dash = on(TouchDash) || in.Dash
	in.Pause = on(TouchPause) || in.Pause
	in.Panels = on(TouchOverlay)
}

// steer sets where the player moves, aims and fires.
func (s *sampler) steer(in *Input, r *raw, c *Controls) {
	left, right := &s.fingers.thumbs[0], &s.fingers.thumbs[1]
	in.Thumbs = [2]Thumb{left.Thumb, right.Thumb}
	in.Move = limit(c.Bindings.axis(&r.held).Add(dead(r.left)).Add(left.Pull))
	stick := dead(r.right)
	if right.Down {
		stick = right.Pull
	}
	mouse := r.held.has(mouseButton(ebiten.MouseButtonLeft))
	s.point(in, r, stick, mouse)
	// A full pull of the right stick fires by itself, as in other twin-stick games.
	in.Fire = c.Bindings.down(Fire, &r.held) || r.right.Len() > 0.8 || right.Down && stick != mgl32.Vec2{}
}

// axis adds up the keys that move: each axis -1, 0 or 1.
func (b *Bindings) axis(held *controls) (v mgl32.Vec2) {
	for a, d := range ways {
		if b.down(MoveUp+Action(a), held) {
			v = v.Add(d)
		}
	}
	return v
}

// ways are the directions of MoveUp, MoveLeft, MoveDown and MoveRight.
var ways = [4]mgl32.Vec2{{0, -1}, {-1, 0}, {0, 1}, {1, 0}}

// device determines the device in use: the one that was pressed, pulled, moved or touched last.
func (s *sampler) device(r *raw, pressed *controls, fresh bool) {
	c := pressed.first()
	switch {
	case fresh || r.touchCount > 0:
		s.last = Touch
	case r.left.Len() > 0.5 || r.right.Len() > 0.5 || pressed.pad():
		s.last = Gamepad
	case c != 0 || s.seen && r.cursor != s.cursor:
		s.last = Keyboard
	}
}

// pad reports whether a button of a gamepad is in s.
func (s *controls) pad() bool {
	for c := padFirst; c < controlEnd; c++ {
		if s.has(c) {
			return true
		}
	}
	return false
}

// anyGame reports whether there is a control that is not the overlay's, nor one that is held with
// another.
func anyGame(pressed *controls) bool {
	p := *pressed
	for k := ebiten.KeyF1; k <= ebiten.KeyF12; k++ {
		p.remove(key(k))
	}
	for _, c := range modifierKeys {
		p.remove(c)
	}
	return p != controls{}
}

// point decides what aims: a stick while it is pulled, the mouse as soon as it moves or fires. A stick at rest does
// not return the aim to a mouse that does not move.
func (s *sampler) point(in *Input, r *raw, stick mgl32.Vec2, mouse bool) {
	moved := s.seen && r.cursor != s.cursor
	s.cursor, s.seen = r.cursor, true
	switch {
	case stick != mgl32.Vec2{}:
		s.pointer = false
		in.Aim = direction(stick)
	case r.touchCount > 0: // the mouse's place is then what the system thinks of fingers
		s.pointer = false
	case moved || mouse:
		s.pointer = true
	}
	if in.Pointing = s.pointer; s.pointer {
		in.AimScreen = r.cursor
	}
}

// modifierKeys are held with others: Shift+F3 belongs to the overlay, Alt+Enter to the window.
var modifierKeys = [...]Control{
	key(ebiten.KeyShiftLeft), key(ebiten.KeyShiftRight), key(ebiten.KeyControlLeft), key(ebiten.KeyControlRight),
	key(ebiten.KeyAltLeft), key(ebiten.KeyAltRight), key(ebiten.KeyMetaLeft), key(ebiten.KeyMetaRight),
}

// modifiers decide when a modifier key counts by itself. While a key moves the player it counts at once: the
// player then has no hand for the overlay. At rest it counts when it is released, unless a function key, Enter
// or Tab was pressed with it.
type modifiers struct {
	down   [len(modifierKeys)]bool
	counts [len(modifierKeys)]bool // it began while moving
	chord  [len(modifierKeys)]bool // something else was pressed with it
	enter  bool
}

// filter takes the modifiers out of held that do not count.
func (m *modifiers) filter(held *controls, moving bool) {
	with := false
	for k := ebiten.KeyF1; k <= ebiten.KeyF12; k++ {
		with = with || held.has(key(k))
	}
	with = with || held.has(key(ebiten.KeyEnter)) || held.has(key(ebiten.KeyTab))
	for i, c := range modifierKeys {
		down, was := held.has(c), m.down[i]
		m.down[i] = down
		held.remove(c)
		switch {
		case down && !was:
			m.counts[i], m.chord[i] = moving && !with, with
		case down:
			m.chord[i] = m.chord[i] || with
		}
		if down && m.counts[i] || !down && was && !m.counts[i] && !m.chord[i] {
			held.add(c)
		}
	}
}

// spend keeps modifiers that are held from counting until they are pressed again.
func (m *modifiers) spend(held *controls) {
	for i, c := range modifierKeys {
		m.down[i], m.counts[i], m.chord[i] = held.has(c), false, true
	}
	m.enter = true
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

// direction returns v with length 1, or zero if v has no direction.
func direction(v mgl32.Vec2) mgl32.Vec2 {
	l := v.Len()
	if !(l > 1e-6) || math.IsInf(float64(l), 0) {
		return mgl32.Vec2{}
	}
	return v.Mul(1 / l)
}
