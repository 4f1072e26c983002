package render

import (
	"fmt"
	"strings"

	"github.com/hajimehoshi/ebiten/v2"
)

// A Device is a kind of input device.
type Device uint8

// The kinds of devices. Keyboard includes the mouse.
const (
	Keyboard Device = iota
	Gamepad
	Touch
)

// String returns the name of the device: keyboard, gamepad or touch. Any other value has the name touch.
func (d Device) String() string { return [...]string{"keyboard", "gamepad", "touch"}[min(d, Touch)] }

// A Control is a key of the keyboard or a button of the mouse or of a gamepad. The zero value is no control. Files
// contain the control's name, the result of String.
type Control uint8

// Keys come first, then the mouse, then gamepads of the standard layout.
const (
	keyFirst   = Control(1)
	keyCount   = Control(ebiten.KeyTab) + 1 // the keys after it mean left and right together
	mouseFirst = keyFirst + keyCount
	padFirst   = mouseFirst + Control(len(mouseNames))
	controlEnd = padFirst + Control(len(padNames))
)

// mouseNames are in the order of ebiten.MouseButton.
var mouseNames = [...]string{"MouseLeft", "MouseMiddle", "MouseRight", "MouseBack", "MouseForward"}

// padNames are in the order of ebiten.StandardGamepadButton.
var padNames = [...]string{
	"PadA", "PadB", "PadX", "PadY", "PadL1", "PadR1", "PadL2", "PadR2", "PadSelect", "PadStart",
	"PadL3", "PadR3", "PadUp", "PadDown", "PadLeft", "PadRight", "PadHome",
}

func key(k ebiten.Key) Control                         { return keyFirst + Control(k) }
func mouseButton(b ebiten.MouseButton) Control         { return mouseFirst + Control(b) }
func padButton(b ebiten.StandardGamepadButton) Control { return padFirst + Control(b) }

// Device returns Gamepad or Keyboard, the kind of device that has the control. For the zero Control it returns
// Keyboard.
func (c Control) Device() Device {
	if c >= padFirst {
		return Gamepad
	}
	return Keyboard
}

// FunctionKeys is the number of keys, from F1, that the overlay uses. These keys cannot be bound to an action.
const FunctionKeys = 10

// function reports whether c is one of the overlay's keys.
func (c Control) function() bool { return c >= key(ebiten.KeyF1) && c < key(ebiten.KeyF1)+FunctionKeys }

// String returns the name that ParseControl accepts. If c is no control, String returns "".
func (c Control) String() string {
	switch {
	case c == 0 || c >= controlEnd:
		return ""
	case c >= padFirst:
		return padNames[c-padFirst]
	case c >= mouseFirst:
		return mouseNames[c-mouseFirst]
	}
	return ebiten.Key(c - keyFirst).String()
}

// labels are the displayed names that differ from the capitals of String.
var labels = map[string]string{
	"MouseLeft": "LEFT MOUSE", "MouseRight": "RIGHT MOUSE", "MouseMiddle": "MID MOUSE", "MouseBack": "MOUSE 4", "MouseForward": "MOUSE 5",
	"ArrowLeft": "←", "ArrowRight": "→", "ArrowUp": "↑", "ArrowDown": "↓",
	"ShiftLeft": "L SHIFT", "ShiftRight": "R SHIFT", "ControlLeft": "L CTRL", "ControlRight": "R CTRL",
	"AltLeft": "L ALT", "AltRight": "R ALT", "MetaLeft": "L CMD/WIN", "MetaRight": "R CMD/WIN", "ContextMenu": "MENU", "Escape": "ESC", "Backquote": "`", "BracketLeft": "[", "BracketRight": "]",
	"Comma": ",", "Period": ".", "Slash": "/", "Backslash": "\\", "Semicolon": ";", "Quote": "'", "Minus": "-", "Equal": "=",
	"IntlBackslash": "INTL \\", "CapsLock": "CAPS LOCK", "NumLock": "NUM LOCK", "ScrollLock": "SCROLL LOCK", "PageUp": "PAGE UP", "PageDown": "PAGE DOWN", "PrintScreen": "PRINT",
	"NumpadAdd": "NUM +", "NumpadSubtract": "NUM -", "NumpadMultiply": "NUM *", "NumpadDivide": "NUM /", "NumpadDecimal": "NUM .", "NumpadEqual": "NUM =",
	"PadUp": "PAD ↑", "PadDown": "PAD ↓", "PadLeft": "PAD ←", "PadRight": "PAD →",
}

// Label returns the displayed name, with capital letters. If c is no control, Label returns "".
func (c Control) Label() string {
	name := c.String()
	if l, ok := labels[name]; ok {
		return l
	}
	if rest, ok := strings.CutPrefix(name, "Pad"); ok && c >= padFirst {
		return "PAD " + strings.ToUpper(rest)
	}
	if rest, ok := strings.CutPrefix(name, "Digit"); ok {
		return rest
	}
	if rest, ok := strings.CutPrefix(name, "Numpad"); ok {
		return "NUM " + strings.ToUpper(rest)
	}
	return strings.ToUpper(name)
}

// ParseControl returns the control whose String is name. If there is none, the error lists examples of valid names.
func ParseControl(name string) (Control, error) {
	for c := keyFirst; c < controlEnd; c++ {
		if name != "" && c.String() == name {
			return c, nil
		}
	}
	return 0, fmt.Errorf("no control %.40q; allowed are keys as A, Digit1, Space, ArrowLeft, ShiftLeft, mouse buttons as %s, and gamepad buttons as %s",
		name, strings.Join(mouseNames[:3], ", "), strings.Join(padNames[:6], ", "))
}

// controls are a set of Controls.
type controls [4]uint64

func (s *controls) has(c Control) bool { return s[c>>6]>>(c&63)&1 != 0 }
func (s *controls) add(c Control)      { s[c>>6] |= 1 << (c & 63) }
func (s *controls) remove(c Control)   { s[c>>6] &^= 1 << (c & 63) }

// without returns what is in s and not in t.
func (s controls) without(t controls) controls {
	for i := range s {
		s[i] &^= t[i]
	}
	return s
}

// with returns what is in s or in t.
func (s controls) with(t controls) controls {
	for i := range s {
		s[i] |= t[i]
	}
	return s
}

// first returns the lowest control in the set, or none.
func (s *controls) first() Control {
	for c := keyFirst; c < controlEnd; c++ {
		if s.has(c) {
			return c
		}
	}
	return 0
}
