package render

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hajimehoshi/ebiten/v2"
)

// An Action is an action of the player, such as a dash, to which controls can be bound.
type Action uint8

// The actions, in the order in which a menu lists them.
const (
	MoveUp Action = iota
	MoveLeft
	MoveDown
	MoveRight
	Fire
	Dash
	Rewind
	Choose1
	Choose2
	Choose3
	Pause
	Restart
	Mute
	Fullscreen
	ActionCount // their number
)

// actionNames are used in files, actionLabels on the screen.
var (
	actionNames = [ActionCount]string{"up", "left", "down", "right", "fire", "dash", "rewind", "choose1", "choose2", "choose3",
		"pause", "restart", "mute", "fullscreen"}
	actionLabels = [ActionCount]string{"MOVE UP", "MOVE LEFT", "MOVE DOWN", "MOVE RIGHT", "FIRE", "DASH", "REWIND",
		"FIRST GIFT", "SECOND GIFT", "THIRD GIFT", "PAUSE", "START AGAIN", "MUTE", "FULLSCREEN"}
)

// String returns the action's name in files. For a value of ActionCount or above it returns the name of Fullscreen, so
// do not write such a value to a file.
func (a Action) String() string { return actionNames[min(a, ActionCount-1)] }

// An action has BindingSlots slots for controls: first DeviceSlots for keyboard and mouse, then DeviceSlots for the
// gamepad.
const (
	DeviceSlots  = 3
	BindingSlots = 2 * DeviceSlots
)

// Bindings are the controls of each action. A zero Control is an empty slot. Bindings are plain data.
//
// DefaultBindings, Bind and SetMap keep three invariants. No control is bound twice. Every control is in a slot of its
// device. Every action has at least one control.
type Bindings [ActionCount][BindingSlots]Control

// DefaultBindings returns the bindings of a new player. With any bindings, Alt+Enter also means Fullscreen.
func DefaultBindings() Bindings {
	const pad = DeviceSlots
	k, m, p := key, mouseButton, padButton
	return Bindings{
		MoveUp:     {k(ebiten.KeyW), k(ebiten.KeyArrowUp), pad: p(ebiten.StandardGamepadButtonLeftTop)},
		MoveLeft:   {k(ebiten.KeyA), k(ebiten.KeyArrowLeft), pad: p(ebiten.StandardGamepadButtonLeftLeft)},
		MoveDown:   {k(ebiten.KeyS), k(ebiten.KeyArrowDown), pad: p(ebiten.StandardGamepadButtonLeftBottom)},
		MoveRight:  {k(ebiten.KeyD), k(ebiten.KeyArrowRight), pad: p(ebiten.StandardGamepadButtonLeftRight)},
		Fire:       {m(ebiten.MouseButtonLeft), pad: p(ebiten.StandardGamepadButtonFrontBottomRight)},
		Dash:       {k(ebiten.KeySpace), k(ebiten.KeyShiftLeft), pad: p(ebiten.StandardGamepadButtonRightBottom)},
		Rewind:     {k(ebiten.KeyQ), m(ebiten.MouseButtonRight), pad: p(ebiten.StandardGamepadButtonFrontTopLeft)},
		Choose1:    {k(ebiten.KeyDigit1), k(ebiten.KeyNumpad1)},
		Choose2:    {k(ebiten.KeyDigit2), k(ebiten.KeyNumpad2)},
		Choose3:    {k(ebiten.KeyDigit3), k(ebiten.KeyNumpad3)},
		Pause:      {k(ebiten.KeyEscape), k(ebiten.KeyP), pad: p(ebiten.StandardGamepadButtonCenterRight)},
		Restart:    {k(ebiten.KeyR), pad: p(ebiten.StandardGamepadButtonCenterLeft)},
		Mute:       {k(ebiten.KeyM)},
		Fullscreen: {k(ebiten.KeyF11)},
	}
}

// Actions returns the number of actions.
func (b *Bindings) Actions() int { return int(ActionCount) }

// Action returns the displayed name of an action. If the action is out of range, Action panics.
func (b *Bindings) Action(a int) string { return actionLabels[a] }

// Label returns the displayed name of the control in a slot. For an empty slot it returns "". If the action or the
// slot is out of range, Label panics.
func (b *Bindings) Label(a, slot int) string { return b[a][slot].Label() }

// Reset restores the default bindings.
func (b *Bindings) Reset() { *b = DefaultBindings() }

// slotOf returns the first slot of the control's device.
func slotOf(c Control) int {
	if c.Device() == Gamepad {
		return DeviceSlots
	}
	return 0
}

func (b *Bindings) find(c Control) (a, slot int) {
	for a := range b {
		if slot := slices.Index(b[a][:], c); slot >= 0 {
			return a, slot
		}
	}
	return -1, -1
}

// Bind puts a control, given by its name, into a slot of an action. If the control is bound in another slot already,
// the two slots exchange their controls.
//
// If no control has this name, or if the overlay uses the control, Bind fails. Bind also fails if the slot belongs to
// another device, or if another action would lose its only control. A failed Bind changes nothing. If the action or the
// slot is out of range, and the control is valid, Bind panics.
func (b *Bindings) Bind(a, slot int, control string) error {
	c, err := ParseControl(control)
	if err != nil {
		return err
	}
	if c.function() {
		return fmt.Errorf("%s is a key of the overlay", c.Label())
	}
	former := b[a][slot]
	if slotOf(c) != slot-slot%DeviceSlots {
		return fmt.Errorf("%s is a control of the %s", c.Label(), c.Device())
	}
	if other, at := b.find(c); other >= 0 {
		if former == 0 && other != a && b.count(other) == 1 {
			return fmt.Errorf("%s is the only control of %s", c.Label(), actionLabels[other])
		}
		b[other][at] = former
	}
	b[a][slot] = c
	return nil
}

func (b *Bindings) count(a int) (n int) {
	for _, c := range b[a] {
		if c != 0 {
			n++
		}
	}
	return n
}

// Map returns a new map from the name of each action to the names of its controls. Files contain the bindings in this
// form. Map omits empty slots. SetMap therefore fills the slots of each device from the first one.
func (b *Bindings) Map() map[string][]string {
	m := make(map[string][]string, len(b))
	for a := range b {
		names := []string{}
		for _, c := range b[a] {
			if c != 0 {
				names = append(names, c.String())
			}
		}
		m[actionNames[a]] = names
	}
	return m
}

// SetMap sets the bindings from a map that Map returned. Actions that are not in m get their default controls. If m
// lacks Rewind, as in files of former versions, Rewind gets only default controls that are not bound to other actions.
// If all of them are bound, SetMap fails.
//
// If m has an unknown action, an unknown control or a key of the overlay, SetMap fails. An action needs at least one
// control, and has at most three of one device. No control may be bound twice, default controls included. The error
// describes one mistake. A failed SetMap changes nothing.
func (b *Bindings) SetMap(m map[string][]string) error {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(actionNames[:], name) {
			return fmt.Errorf("unknown action %.40q; allowed are %v", name, actionNames)
		}
	}
	n := DefaultBindings()
	for a := range n {
		names, ok := m[actionNames[a]]
		if !ok {
			continue
		}
		if len(names) < 1 {
			return fmt.Errorf("%s has 0 controls; at least 1 is needed", actionNames[a])
		}
		n[a] = [BindingSlots]Control{}
		var used [2]int
		for _, name := range names {
			c, err := ParseControl(name)
			if err != nil {
				return fmt.Errorf("%s: %w", actionNames[a], err)
			}
			if c.function() {
				return fmt.Errorf("%s: %s is a key of the overlay", actionNames[a], name)
			}
			of := slotOf(c)
			i := &used[of/DeviceSlots]
			if *i == DeviceSlots {
				return fmt.Errorf("%s has %d controls of the %s; allowed are up to %d", actionNames[a], *i+1, c.Device(), DeviceSlots)
			}
			n[a][of+*i] = c
			*i++
		}
	}
	if _, ok := m[actionNames[Rewind]]; !ok {
		n.yield(Rewind)
	}
	if err := n.unique(); err != nil {
		return err
	}
	*b = n
	return nil
}

// yield empties the slots of an action whose controls another action has, as long as one control is left.
func (b *Bindings) yield(a Action) {
	for slot, c := range b[a] {
		b[a][slot] = 0
		if other, _ := b.find(c); c == 0 || other < 0 || b.count(int(a)) == 0 {
			b[a][slot] = c
		}
	}
}

// unique verifies that no control is bound twice.
func (b *Bindings) unique() error {
	var seen controls
	for a := range b {
		for _, c := range b[a] {
			if c != 0 && seen.has(c) {
				return fmt.Errorf("%s: %s is bound twice", actionNames[a], c)
			}
			seen.add(c)
		}
	}
	return nil
}

// Prompt returns the label of the action's first control on the device, for a line on the screen such as "press
// SPACE". If the action has no control on the device, Prompt returns "". If the action is out of range, Prompt
// panics.
func (b *Bindings) Prompt(a Action, d Device) string {
	for _, c := range b[a] {
		if c != 0 && c.Device() == d {
			return c.Label()
		}
	}
	return ""
}

// down reports whether one of the action's controls is held.
func (b *Bindings) down(a Action, held *controls) bool {
	for _, c := range b[a] {
		if c != 0 && held.has(c) {
			return true
		}
	}
	return false
}
