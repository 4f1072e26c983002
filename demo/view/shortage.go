package view

import (
	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/render"
)

// shortTime is how long a shortage is displayed, in ticks.
const shortTime = 180

// A shortage records what was recently lost because of full tiers.
type shortage struct {
	had  [game.LostKinds]int
	left [game.LostKinds]int // ticks for which it is displayed
}

// note records losses, once a tick.
func (s *shortage) note(l *game.Lost) {
	for i, n := range l.Counts() {
		if n > s.had[i] {
			s.left[i] = shortTime
		}
		s.had[i], s.left[i] = n, max(s.left[i]-1, 0)
	}
}

// shortage displays what did not fit.
func (v *View) shortage() {
	text := append(v.text[:0], "NO ROOM FOR "...)
	const empty = len("NO ROOM FOR ")
	for i, left := range v.short.left {
		if left == 0 {
			continue
		}
		if len(text) > empty {
			text = append(text, ", "...)
		}
		text = append(text, game.LostNames[i]...)
	}
	v.text = text
	if len(text) > empty {
		v.plate(8, v.reach.lo[1]+52, 6*float32(len(text))+4, 14)
		v.quads.TextBytes(v.font, 10, v.reach.lo[1]+50, 1, render.Amber, text)
	}
}

// absence displays that the ground is soft because its files cannot be read, for example from a server that is down.
func (v *View) absence(missing int) {
	if missing > 0 {
		const text = "GROUND DOES NOT COME: TRYING AGAIN"
		v.plate(8, v.reach.lo[1]+68, 6*float32(len(text))+4, 14)
		v.quads.Text(v.font, 10, v.reach.lo[1]+66, 1, render.Amber, text)
	}
}
