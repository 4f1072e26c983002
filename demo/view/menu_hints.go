package view

import (
	"strings"

	"github.com/strata-go/strata/demo/coach"
	"github.com/strata-go/strata/render"
)

// gap is between the parts of a line. A line is broken there first.
const gap = "    "

// hints are the lines that name controls. They are made again when the device in use or a binding changes.
type hints struct {
	made     bool
	device   render.Device
	bindings render.Bindings
	away     bool // panels are not drawn

	title, menu, setup, row, gifts, keys string
	capture                              string    // while a control to bind is awaited
	column                               string    // gifts below each other; "" is as gifts
	choose                               [3]string // the control that takes each gift; "" if the device has none
	coach                                [coach.Lines]string
}

func (h *hints) update(b *render.Bindings, d render.Device, away bool) {
	if h.made && h.device == d && h.bindings == *b && h.away == away {
		return
	}
	*h = hints{made: true, device: d, bindings: *b, away: away, choose: [3]string{b.Prompt(render.Choose1, d), b.Prompt(render.Choose2, d), b.Prompt(render.Choose3, d)}}
	h.coach = coachLines(b, d)
	h.capture = "PRESS A KEY OR BUTTON    WAIT: AS IT WAS"
	switch d {
	case render.Gamepad:
		h.menu = "PAD: CHOOSE    A: TAKE    B: BACK"
		h.setup, h.row = "PAD: CHOOSE, CHANGE    B: BACK", h.menu
		h.title = join("LEFT STICK: MOVE", "RIGHT STICK: FIRE", said(b, render.Dash, d, "DASH"), said(b, render.Rewind, d, "REWIND"), said(b, render.Pause, d, "PAUSE"))
		h.gifts = "PAD: CHOOSE    A: TAKE"
		h.keys = "PAD: CHOOSE    A: CHANGE    B: BACK"
	case render.Touch:
		h.menu = "TAP TO CHOOSE"
		h.title = "LEFT THUMB: MOVE    RIGHT THUMB: AIM AND FIRE"
		h.setup, h.row = "TAP TO CHOOSE AND TO CHANGE", h.menu
		h.gifts, h.keys = h.menu, "TAP AND PRESS A KEY, IF YOU HAVE ONE"
	default:
		memory := "F1: MEMORY"
		if away {
			memory = ""
		}
		h.menu = "↑ ↓: CHOOSE    ENTER: TAKE    ESC: BACK"
		h.setup = "↑ ↓: CHOOSE    ← →: CHANGE    ESC: BACK"
		h.row = "← →: CHOOSE    ENTER: TAKE    ESC: BACK"
		h.capture = "PRESS A KEY OR BUTTON    ESC: AS IT WAS"
		h.keys = "↑ ↓ ← →: CHOOSE    ENTER: CHANGE    ESC: BACK"
		h.title = join(ways(b, d)+": MOVE", "MOUSE: AIM", said(b, render.Fire, d, "FIRE"), said(b, render.Dash, d, "DASH"), said(b, render.Rewind, d, "REWIND"), memory)
		keys := h.choose[0] + " " + h.choose[1] + " " + h.choose[2] + " OR "
		h.gifts, h.column = join(keys+"← → AND ENTER: TAKE"), join(keys+"↑ ↓ AND ENTER: TAKE")
	}
	if !away {
		return
	}
	panels := "PANELS RETURN IN PLAY"
	if d == render.Keyboard {
		panels = "F5: PANELS" // it freezes the game, and the overlay is then above
		h.column = join(h.column, panels)
	}
	h.title, h.menu, h.gifts = join(h.title, panels), join(h.menu, panels), join(h.gifts, panels)
}

// ways returns the four keys to fly with, as one word if each is a letter.
func ways(b *render.Bindings, d render.Device) string {
	word, apart := "", ""
	for _, a := range [4]render.Action{render.MoveUp, render.MoveLeft, render.MoveDown, render.MoveRight} {
		key := b.Prompt(a, d)
		if word += key; len(key) > 1 {
			apart = " "
		}
	}
	if apart == "" {
		return word
	}
	return b.Prompt(render.MoveUp, d) + apart + b.Prompt(render.MoveLeft, d) + apart + b.Prompt(render.MoveDown, d) + apart + b.Prompt(render.MoveRight, d)
}

// said returns "KEY: what", or "" if the device has no control for it.
func said(b *render.Bindings, a render.Action, d render.Device, what string) string {
	if key := b.Prompt(a, d); key != "" {
		return key + ": " + what
	}
	return ""
}

func join(parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, gap)
}
