package view

import (
	"unicode/utf8"

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

// shortage displays what did not fit, as far as there is space.
func (v *View) shortage() {
	const empty, more = len("NO ROOM FOR "), ", …"
	text, most := append(v.text[:0], "NO ROOM FOR "...), v.noticeLetters()
	for i, left := range v.short.left {
		if left == 0 {
			continue
		}
		name := game.LostNames[i]
		if len(text) > empty {
			if len(text)+len(name)+2*len(", ") > most {
				text = append(text, more...)
				break
			}
			text = append(text, ", "...)
		}
		text = append(text, name...)
	}
	v.text = text
	if len(text) > empty {
		v.notice(0, text)
	}
}

// absence displays that the ground is soft because its files cannot be read, for example from a server that is down.
func (v *View) absence(missing int) {
	if missing > 0 {
		v.notice(1, append(v.text[:0], "GROUND DOES NOT COME: TRYING AGAIN"...))
	}
}

// notice writes a line below the score or, on a high canvas, below the map and the gauge of a warden. Line 0 is the first one.
func (v *View) notice(line int, s []byte) {
	y := v.reach.lo[1] + 50
	if v.ui.tall() {
		y = v.belowMap() + 32
	}
	y += 16 * float32(line)
	v.plate(8, y+2, render.GlyphW*float32(utf8.RuneCount(s))+4, 14)
	v.quads.TextBytes(v.font, 10, y, 1, render.Amber, s)
}

// noticeLetters returns how many letters a notice may have: up to the map or, on a high canvas, up to the side.
func (v *View) noticeLetters() int {
	end := v.ui.W - 8
	if !v.ui.tall() {
		end, _, _ = v.mapAt()
	}
	return int((end - 16) / render.GlyphW)
}
