package render

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/go-gl/mathgl/mgl32"
	"github.com/hajimehoshi/ebiten/v2"
)

func near(a, b mgl32.Vec2) bool { return a.Sub(b).Len() < 1e-3 }

// A hand plays on a sampler, a tick at a time.
type hand struct {
	s sampler
	c Controls
	r raw
}

func newHand() *hand { return &hand{c: Controls{Bindings: DefaultBindings()}} }

// tick is one tick with these controls held and everything else of r.
func (h *hand) tick(r raw, held ...Control) (in Input) {
	for _, c := range held {
		r.held.add(c)
	}
	in.AimScreen = h.r.cursor
	h.s.sample(&in, &r, &h.c, mgl32.Vec2{}, mgl32.Vec2{LogicalW, LogicalH})
	h.r = r
	return in
}

func named(t *testing.T, name string) Control {
	t.Helper()
	c, err := ParseControl(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func touching(f ...touch) raw {
	r := raw{touchCount: len(f)}
	copy(r.touches[:], f)
	return r
}

var (
	keySpace = key(ebiten.KeySpace)
	keyShift = key(ebiten.KeyShiftLeft)
	keyF2    = key(ebiten.KeyF2)
	keyW     = key(ebiten.KeyW)
	keyEnter = key(ebiten.KeyEnter)
	keyDown  = key(ebiten.KeyArrowDown)
	mouse    = mouseButton(ebiten.MouseButtonLeft)
	padA     = padButton(ebiten.StandardGamepadButtonRightBottom)
)

func TestInput_ButtonsAreEdges(t *testing.T) {
	h := newHand()
	f3 := key(ebiten.KeyF3)
	if in := h.tick(raw{}, keySpace, f3); !in.Dash || !in.F[3] || in.F[2] || !in.AnyKey || in.Pause {
		t.Errorf("pressed: %+v", in)
	}
	if in := h.tick(raw{}, keySpace, f3); in.Dash || in.F[3] || in.AnyKey {
		t.Errorf("held: %+v", in)
	}
	h.tick(raw{})
	if in := h.tick(raw{}, keySpace); !in.Dash {
		t.Error("pressed again")
	}
}

func TestInput_EveryActionHasItsField(t *testing.T) {
	got := func(in Input, a Action) bool {
		switch a {
		case MoveUp, MoveLeft, MoveDown, MoveRight:
			return near(in.Move, ways[a])
		case Fire:
			return in.Fire
		case Choose1, Choose2, Choose3:
			return in.Choose == int(a-Choose1)+1
		}
		return map[Action]bool{Dash: in.Dash, Rewind: in.Rewind, Pause: in.Pause, Restart: in.Restart, Mute: in.Mute, Fullscreen: in.Fullscreen}[a]
	}
	b := DefaultBindings()
	for a := range ActionCount {
		for _, c := range b[a] {
			if c == 0 {
				continue
			}
			h := newHand()
			in := h.tick(raw{}, c)
			if c == keyShift {
				in = h.tick(raw{})
			}
			for other := range ActionCount {
				if got(in, other) != (other == a) {
					t.Errorf("%s, which is %s: %s is %v", c, a, other, got(in, other))
				}
			}
		}
	}
}

func TestInput_TheOverlaysChordsDoNotReachTheGame(t *testing.T) {
	h := newHand()
	for i, held := range [][]Control{{keyShift}, {keyShift, keyF2}, {keyShift}, {}, {}} {
		if in := h.tick(raw{}, held...); in.Dash || in.AnyKey {
			t.Errorf("tick %d of Shift and F2: %+v", i, in)
		}
	}
	h.tick(raw{}, keyShift)
	if in := h.tick(raw{}); !in.Dash {
		t.Error("Shift by itself, let go, is no dash")
	}
	h.tick(raw{}, keyW)
	if in := h.tick(raw{}, keyW, keyShift); !in.Dash {
		t.Error("Shift while moving is no dash at once")
	}
	if in := h.tick(raw{}, keyW); in.Dash {
		t.Error("one Shift, two dashes")
	}
}

// A held modifier key fires and rewinds also while the player stands still: a press waits for its release, a state
// cannot.
func TestInput_ModifierKeysFireAndRewindWhileHeld(t *testing.T) {
	for _, a := range []Action{Fire, Rewind} {
		h := newHand()
		if err := h.c.Bindings.Bind(int(a), 2, "ShiftLeft"); err != nil {
			t.Fatal(err)
		}
		for tick, held := range []bool{true, true, false} {
			keys := []Control{keyShift}
			if !held {
				keys = nil
			}
			if in := h.tick(raw{}, keys...); in.Fire != (held && a == Fire) || in.Rewind != (held && a == Rewind) {
				t.Errorf("%v, tick %d, held %v: Fire %v, Rewind %v", a, tick, held, in.Fire, in.Rewind)
			}
		}
	}
}

func TestInput_AltAndEnterIsTheWholeScreenAndSelectsNothing(t *testing.T) {
	h := newHand()
	alt := key(ebiten.KeyAltLeft)
	h.tick(raw{}, alt)
	if in := h.tick(raw{}, alt, keyEnter); !in.Fullscreen || in.Nav.Select {
		t.Errorf("%+v", in)
	}
	if in := h.tick(raw{}, alt, keyEnter); in.Fullscreen {
		t.Error("twice")
	}
	if in := newHand().tick(raw{}, keyEnter); in.Fullscreen || !in.Nav.Select {
		t.Errorf("Enter alone: %+v", in)
	}
}

func TestInput_MoveIsNeverLongerThanOne(t *testing.T) {
	h := newHand()
	in := h.tick(raw{left: mgl32.Vec2{1, -1}}, keyW, key(ebiten.KeyD))
	if l := in.Move.Len(); math.Abs(float64(l)-1) > 1e-4 || in.Move[0] <= 0 || in.Move[1] >= 0 {
		t.Errorf("%v", in.Move)
	}
	if in = h.tick(raw{left: mgl32.Vec2{0.15, 0.1}}); in.Move != (mgl32.Vec2{}) {
		t.Errorf("a stick at rest moves: %v", in.Move)
	}
	if v := dead(mgl32.Vec2{0, 1}); !near(v, mgl32.Vec2{0, 1}) {
		t.Errorf("full deflection is %v", v)
	}
}

func TestInput_MouseAndStickShareTheAim(t *testing.T) {
	h := newHand()
	if in := h.tick(raw{cursor: mgl32.Vec2{5, 5}}); in.Pointing || in.AimFrom(mgl32.Vec2{}) != (mgl32.Vec2{}) {
		t.Error("a mouse that lies still aims")
	}
	at := mgl32.Vec2{100, 50}
	if in := h.tick(raw{cursor: at}); !in.Pointing || in.AimScreen != at || !near(in.AimFrom(mgl32.Vec2{100, 10}), mgl32.Vec2{0, 1}) {
		t.Errorf("mouse: %+v", in)
	}
	if in := h.tick(raw{cursor: at, right: mgl32.Vec2{-0.9, 0}}); in.Pointing || !in.Fire || !near(in.AimFrom(mgl32.Vec2{}), mgl32.Vec2{-1, 0}) {
		t.Errorf("stick: %+v", in)
	}
	if in := h.tick(raw{cursor: at}); in.Pointing || in.Aim != (mgl32.Vec2{}) {
		t.Errorf("stick let go: %+v", in)
	}
	in := h.tick(raw{cursor: at}, mouse)
	if !in.Pointing || !in.Fire || in.AimScreen != at {
		t.Errorf("mouse fires: %+v", in)
	}
	if in.AimFrom(at) != (mgl32.Vec2{}) {
		t.Error("a direction to the same place")
	}
}

func TestInput_TwoThumbs(t *testing.T) {
	h := newHand()
	in := h.tick(touching(touch{7, mgl32.Vec2{100, 200}}, touch{9, mgl32.Vec2{500, 200}}))
	if !in.AnyKey || in.Move != (mgl32.Vec2{}) || in.Fire || in.Last != Touch {
		t.Errorf("down: %+v", in)
	}
	// Both cross the middle and remain what they were.
	in = h.tick(touching(touch{9, mgl32.Vec2{300, 200}}, touch{7, mgl32.Vec2{400, 200}}))
	if !near(in.Move, mgl32.Vec2{1, 0}) || !near(in.Aim, mgl32.Vec2{-1, 0}) || !in.Fire || in.AnyKey {
		t.Errorf("pulled: %+v", in)
	}
	in = h.tick(touching(touch{9, mgl32.Vec2{500, 201}}))
	if in.Move != (mgl32.Vec2{}) || in.Fire {
		t.Errorf("left one up, right one at rest: %+v", in)
	}
}

func TestInput_ButtonsOnTheScreenAreNoThumbs(t *testing.T) {
	for b, get := range map[TouchButton]func(*Input) bool{
		TouchDash:    func(in *Input) bool { return in.Dash },
		TouchRewind:  func(in *Input) bool { return in.Rewind },
		TouchPause:   func(in *Input) bool { return in.Pause },
		TouchOverlay: func(in *Input) bool { return in.Panels },
	} {
		h := newHand()
		at, _ := b.Circle(mgl32.Vec2{}, mgl32.Vec2{LogicalW, LogicalH})
		in := h.tick(touching(touch{3, at}))
		if !get(&in) {
			t.Errorf("button %d is not pressed", b)
		}
		in = h.tick(touching(touch{3, at.Add(mgl32.Vec2{-60, 0})}))
		if in.Fire || in.Aim != (mgl32.Vec2{}) || b != TouchRewind && get(&in) { // it is held
			t.Errorf("button %d, dragged, does more: %+v", b, in)
		}
		for _, hi := range []mgl32.Vec2{{LogicalW, LogicalH}, {LogicalH, LogicalW}} {
			at, r := b.Circle(mgl32.Vec2{}, hi)
			if at[0]-r < 0 || at[0]+r > hi[0] || at[1]-r < 0 || at[1]+r > hi[1] {
				t.Errorf("%v: button %d lies beyond the screen", hi, b)
			}
			for other := range TouchButtons {
				if o, ro := other.Circle(mgl32.Vec2{}, hi); other != b && o.Sub(at).Len() < (r+ro)*touchSlack {
					t.Errorf("%v: buttons %d and %d lie over each other", hi, b, other)
				}
			}
		}
	}
}

func TestInput_LastIsWhatIsInHand(t *testing.T) {
	h := newHand()
	for i, c := range []struct {
		r    raw
		held []Control
		want Device
	}{
		{raw{}, nil, Keyboard},
		{raw{}, []Control{padA}, Gamepad},
		{raw{}, nil, Gamepad},
		{raw{}, []Control{keyW}, Keyboard},
		{raw{left: mgl32.Vec2{0.9, 0}}, nil, Gamepad},
		{touching(touch{0, mgl32.Vec2{9, 9}}), nil, Touch},
		{raw{}, nil, Touch},
		{raw{cursor: mgl32.Vec2{4, 4}}, nil, Keyboard},
	} {
		if in := h.tick(c.r, c.held...); in.Last != c.want {
			t.Errorf("%d: %s, want %s", i, in.Last, c.want)
		}
	}
}

func TestNav_AHeldDirectionRepeats(t *testing.T) {
	h := newHand()
	count := func(ticks int, r raw, held ...Control) (n int) {
		for range ticks {
			if in := h.tick(r, held...); in.Nav.Down {
				n++
			}
		}
		h.tick(raw{})
		return n
	}
	if n := count(repeatFirst, raw{}, keyDown); n != 1 {
		t.Errorf("%d before it repeats", n)
	}
	if n := count(repeatFirst+2*repeatNext+1, raw{}, keyDown); n != 4 {
		t.Errorf("%d with three repeats", n)
	}
	if n := count(5, raw{left: mgl32.Vec2{0, 0.9}}); n != 1 {
		t.Errorf("a stick counts %d times", n)
	}
	if n := count(5, raw{left: mgl32.Vec2{0, 0.4}}); n != 0 {
		t.Errorf("a stick half pulled counts %d times", n)
	}
}

// The player who steered when a menu appeared moved its selection. What is pressed again moves it.
func TestNav_WhatIsHeldWhenAMenuAppearsMovesNothing(t *testing.T) {
	for name, r := range map[string]raw{"key": {}, "stick": {left: mgl32.Vec2{0, 0.9}}} {
		h := newHand()
		held := []Control{keyDown}
		if name == "stick" {
			held = nil
		}
		if in := h.tick(r, held...); !in.Nav.Down {
			t.Errorf("%s: the press does not count", name)
		}
		h.c.Release = true
		for i := range 3 * repeatFirst {
			if in := h.tick(r, held...); in.Nav.Down || h.c.Release {
				t.Fatalf("%s: it counts after %d ticks, or Release is still %v", name, i, h.c.Release)
			}
		}
		if in := h.tick(raw{struck: controlsOf(held)}, held...); name == "key" && !in.Nav.Down {
			t.Error("let go and pressed between two ticks, it does not count")
		}
		h.tick(raw{})
		if in := h.tick(r, held...); !in.Nav.Down {
			t.Errorf("%s: pressed again, it does not count", name)
		}
	}
	h := newHand()
	h.c.Release = true
	if in := h.tick(raw{}, keyDown); !in.Nav.Down {
		t.Error("pressed as the menu appears, it does not count")
	}
}

func controlsOf(all []Control) (s controls) {
	for _, c := range all {
		s.add(c)
	}
	return s
}

func TestNav_EachDeviceSelectsAndPoints(t *testing.T) {
	if in := newHand().tick(raw{}, padA); !in.Nav.Select {
		t.Error("A does not select")
	}
	if in := newHand().tick(raw{}, padButton(ebiten.StandardGamepadButtonRightRight)); !in.Nav.Back {
		t.Error("B does not go back")
	}
	h, at := newHand(), mgl32.Vec2{320, 100}
	if in := h.tick(touching(touch{0, at})); !in.Nav.Click || !in.Nav.Held || in.Nav.Pointer != at {
		t.Errorf("a tap: %+v", in.Nav)
	}
	if in := h.tick(touching(touch{0, at.Add(mgl32.Vec2{9, 0})})); in.Nav.Click || !in.Nav.Held || !in.Nav.Moved {
		t.Errorf("a drag: %+v", in.Nav)
	}
	h = newHand()
	if in := h.tick(raw{cursor: at}); in.Nav.Moved {
		t.Error("a mouse that lies still has moved")
	}
	if in := h.tick(raw{cursor: at}, mouse); !in.Nav.Click || in.Nav.Pointer != at {
		t.Errorf("a click: %+v", in.Nav)
	}
}

func TestCapture_TakesTheNextPressAndNothingElse(t *testing.T) {
	h := newHand()
	h.tick(raw{}, keyEnter)
	h.c.Capture = true
	if in := h.tick(raw{}, keyEnter); in.Captured != 0 {
		t.Error("what was held is captured")
	}
	in := h.tick(raw{}, keySpace)
	if in.Captured != keySpace || in.Dash || in.AnyKey || in.Nav.Select {
		t.Errorf("%+v", in)
	}
	h.c.Capture = false
	if in := h.tick(raw{}, keySpace); in.Dash {
		t.Error("the captured key, still held, dashes")
	}
}

func TestCapture_WhatIsHeldAtItsEndBeginsNothing(t *testing.T) {
	at, _ := TouchDash.Circle(mgl32.Vec2{}, mgl32.Vec2{LogicalW, LogicalH})
	for name, c := range map[string]struct {
		r    raw
		held []Control
	}{
		"Shift, at rest": {held: []Control{keyShift}}, "Shift, moving": {held: []Control{keyShift, keyW}},
		"Alt and Enter": {held: []Control{key(ebiten.KeyAltLeft), keyEnter}}, "a finger": {r: touching(touch{3, at})},
	} {
		h := newHand()
		h.c.Capture = true
		h.tick(c.r, c.held...)
		h.c.Capture = false
		for _, again := range []bool{false, true} {
			held, freed := h.tick(c.r, c.held...), h.tick(raw{})
			if begun := held.Dash || held.Fullscreen || freed.Dash; begun != again {
				t.Errorf("%s, pressed again %t: begun %t", name, again, begun)
			}
		}
	}
}

func TestCapture_AMovedMouseIsUsedOnce(t *testing.T) {
	h := newHand()
	h.tick(raw{})
	h.c.Capture = true
	h.tick(raw{cursor: mgl32.Vec2{9, 9}})
	h.tick(raw{cursor: mgl32.Vec2{9, 9}}, padButton(ebiten.StandardGamepadButtonRightBottom))
	if in := h.tick(raw{cursor: mgl32.Vec2{9, 9}}); in.Last != Gamepad {
		t.Errorf("the last device is the %s, after a button of the gamepad", in.Last)
	}
	h.c.Capture = false
	if in := h.tick(raw{cursor: mgl32.Vec2{9, 9}}); in.Pointing || in.Last != Gamepad {
		t.Errorf("the mouse that moved before aims: %t, last is the %s", in.Pointing, in.Last)
	}
}

func TestNav_ALiftedFingerMovesNoMouse(t *testing.T) {
	h := newHand()
	h.tick(raw{cursor: mgl32.Vec2{9, 9}})
	down := touching(touch{3, mgl32.Vec2{200, 100}})
	down.cursor = mgl32.Vec2{9, 9}
	if in := h.tick(down); !in.Nav.Moved || in.Nav.Pointer != (mgl32.Vec2{200, 100}) {
		t.Errorf("a finger came down: %+v", in.Nav)
	}
	if in := h.tick(raw{cursor: mgl32.Vec2{9, 9}}); in.Nav.Moved || in.Nav.Pointer != (mgl32.Vec2{9, 9}) {
		t.Errorf("the finger was lifted: %+v", in.Nav)
	}
	if in := h.tick(raw{cursor: mgl32.Vec2{10, 9}}); !in.Nav.Moved {
		t.Error("the mouse moved afterwards")
	}
}

func TestNav_ASecondPressBetweenTicksClicks(t *testing.T) {
	h := newHand()
	left := mouseButton(ebiten.MouseButtonLeft)
	h.tick(raw{}, left)
	if in := h.tick(raw{}, left); in.Nav.Click {
		t.Error("a held button clicks again")
	}
	var again raw
	again.struck.add(left)
	if in := h.tick(again, left); !in.Nav.Click || !in.Nav.Moved || !in.Nav.Held {
		t.Errorf("released and pressed between two ticks: %+v", in.Nav)
	}
}

// A finger that left and another one that came in the same tick were one finger, and the second tap was lost.
func TestTouch_AnotherFingerInTheSameTickCounts(t *testing.T) {
	h := newHand()
	at, _ := TouchDash.Circle(mgl32.Vec2{}, mgl32.Vec2{LogicalW, LogicalH})
	for id := range 3 {
		if in := h.tick(touching(touch{id, at})); !in.Nav.Click || !in.Dash {
			t.Errorf("finger %d: %+v, dash %v", id, in.Nav, in.Dash)
		}
		if in := h.tick(touching(touch{id, at})); in.Nav.Click || in.Dash {
			t.Errorf("finger %d counts again: %+v, dash %v", id, in.Nav, in.Dash)
		}
	}
}

func TestBindings_ConflictsAreSwapped(t *testing.T) {
	b := DefaultBindings()
	if err := b.Bind(int(Dash), 0, "R"); err != nil {
		t.Fatal(err)
	}
	if b[Dash][0] != named(t, "R") || b[Restart][0] != keySpace {
		t.Errorf("dash %v, restart %v", b[Dash], b[Restart])
	}
	for control, want := range map[string]string{"F2": "key of the overlay", "M": "only control of MUTE", "Q9": "no control", "PadX": "PAD X is a control of the gamepad"} {
		before := b
		if err := b.Bind(int(Fire), 2, control); err == nil || !strings.Contains(err.Error(), want) || b != before {
			t.Errorf("%s: %v, want %q", control, err, want)
		}
	}
	h := newHand()
	h.c.Bindings = b
	if in := h.tick(raw{}, named(t, "R")); !in.Dash || in.Restart {
		t.Errorf("after the swap: %+v", in)
	}
}

// A file of a version without the action rewind may bind its default controls to other actions.
func TestBindings_FilesWithoutRewindAreRead(t *testing.T) {
	b := DefaultBindings()
	if err := b.SetMap(map[string][]string{"dash": {"Q", "PadA"}, "mute": {"PadL1"}}); err != nil {
		t.Fatal(err)
	}
	if b[Dash][0] != named(t, "Q") || b.count(int(Rewind)) != 1 || b.Prompt(Rewind, Keyboard) != "RIGHT MOUSE" || b.unique() != nil {
		t.Errorf("dash %v, rewind %v", b[Dash], b[Rewind])
	}
	if err := b.SetMap(map[string][]string{"dash": {"Q"}, "fire": {"MouseRight"}, "mute": {"PadL1"}}); err == nil || b.Prompt(Dash, Gamepad) == "" {
		t.Errorf("without a control for rewind: %v", err)
	}
}

func TestBindings_GoThroughText(t *testing.T) {
	b := DefaultBindings()
	if err := b.unique(); err != nil {
		t.Error(err)
	}
	if err := b.Bind(int(Mute), DeviceSlots, "PadX"); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(b.Map())
	if err != nil {
		t.Fatal(err)
	}
	var m map[string][]string
	var back Bindings
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	if err := back.SetMap(m); err != nil || back != b {
		t.Errorf("%v\n%v\n%v", err, b, back)
	}
}

func TestBindings_RefuseWhatIsNone(t *testing.T) {
	for want, m := range map[string]map[string][]string{
		`unknown action "jump"`:   {"jump": {"A"}, "leap": {"B"}},
		"no control":              {"dash": {"Any"}},
		"0 controls":              {"dash": {}},
		"4 controls":              {"dash": {"A", "B", "C", "D"}},
		"bound twice":             {"dash": {"Z"}, "mute": {"Z"}},
		"is a key of the overlay": {"dash": {"F3"}},
	} {
		b := DefaultBindings()
		if err := b.SetMap(m); err == nil || !strings.Contains(err.Error(), want) || b != DefaultBindings() {
			t.Errorf("%v: %v, want %q", m, err, want)
		}
	}
}

func TestControl_EveryNameIsReadBack(t *testing.T) {
	n := 0
	for c := keyFirst; c < controlEnd; c++ {
		if back, err := ParseControl(c.String()); err != nil || back != c || c.Label() == "" {
			t.Errorf("%d is %q, label %q, comes back as %d, %v", c, c.String(), c.Label(), back, err)
		}
		n++
	}
	if n < 120 {
		t.Errorf("%d controls", n)
	}
}

// The names of keys such as METALEFT and NUMPADADD were not what is printed on them. A word has at most seven letters,
// or is one that is printed on keys; a slot has space for eleven letters.
func TestControl_LabelsAreWhatIsPrintedOnKeys(t *testing.T) {
	seen := map[string]Control{}
	for c := keyFirst; c < controlEnd; c++ {
		label := c.Label()
		for word := range strings.FieldsSeq(label) {
			if len(word) > 7 && word != "BACKSPACE" {
				t.Errorf("%v is %q", c, label)
			}
		}
		if other, ok := seen[label]; ok || len([]rune(label)) > 11 {
			t.Errorf("%v is %q, as %v is, or too long", c, label, other)
		}
		seen[label] = c
	}
	for name, want := range map[string]string{"MetaLeft": "L CMD/WIN", "Numpad1": "NUM 1", "NumpadEnter": "NUM ENTER", "NumpadAdd": "NUM +", "PageUp": "PAGE UP", "Digit1": "1"} {
		if c, err := ParseControl(name); err != nil || c.Label() != want {
			t.Errorf("%s is %q, want %q, %v", name, c.Label(), want, err)
		}
	}
}

func TestInput_DoesNotAllocate(t *testing.T) {
	h := newHand()
	var in Input
	r := touching(touch{1, mgl32.Vec2{9, 99}}, touch{2, mgl32.Vec2{500, 99}})
	r.held.add(keyShift)
	if n := testing.AllocsPerRun(100, func() { h.s.sample(&in, &r, &h.c, mgl32.Vec2{}, mgl32.Vec2{LogicalW, LogicalH}) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// So a phone that is turned keeps its buttons on the screen.
func TestInput_AWindowOfAnotherSizeIsNoMoveOfTheMouse(t *testing.T) {
	h := newHand()
	h.tick(raw{cursor: mgl32.Vec2{4, 4}})
	finger := raw{cursor: mgl32.Vec2{4, 4}, touchCount: 1}
	finger.touches[0] = touch{7, mgl32.Vec2{300, 200}}
	h.tick(finger)
	h.tick(raw{cursor: mgl32.Vec2{4, 4}})
	in := h.tick(raw{cursor: mgl32.Vec2{9, 2}, shifted: true})
	if in.Last != Touch || in.Nav.Moved || in.Pointing {
		t.Errorf("it is taken for the mouse: %+v", in)
	}
	if in = h.tick(raw{cursor: mgl32.Vec2{9, 3}}); in.Last != Keyboard || !in.Nav.Moved {
		t.Errorf("a move after it is not seen: %+v", in)
	}
}

func TestSampler_PressBetweenTicksCountsForHeldKey(t *testing.T) {
	h := newHand()
	h.tick(raw{})
	if in := h.tick(raw{}, keySpace, keyDown); !in.Dash || !in.Nav.Down {
		t.Fatalf("the first press: dash %v, down %v", in.Dash, in.Nav.Down)
	}
	if in := h.tick(raw{}, keySpace, keyDown); in.Dash || in.Nav.Down {
		t.Fatalf("held: dash %v, down %v", in.Dash, in.Nav.Down)
	}
	again := raw{}
	again.struck.add(keySpace)
	again.struck.add(keyDown)
	if in := h.tick(again, keySpace, keyDown); !in.Dash || !in.Nav.Down {
		t.Errorf("pressed again between two ticks: dash %v, down %v", in.Dash, in.Nav.Down)
	}
	again = raw{}
	again.struck.add(keyShift)
	if in := h.tick(again, keyShift); in.Dash {
		t.Error("Shift at rest counted before it was let go")
	}
}
