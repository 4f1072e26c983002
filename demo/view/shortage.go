package view

import "github.com/strata-go/strata/demo/game"

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
		v.quads.TextBytes(v.font, 10, v.reach.lo[1]+50, 1, v.pal[3], text)
	}
}

// absence displays that the ground is soft because its files cannot be read, for example from a server that is down.
func (v *View) absence(missing int) {
	if missing > 0 {
		v.quads.Text(v.font, 10, v.reach.lo[1]+62, 1, v.pal[3], "GROUND DOES NOT COME: TRYING AGAIN")
	}
}
