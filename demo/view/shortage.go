package view

import (
	"unicode/utf8"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/render"
)

// shortTime is how long a shortage is displayed after the last loss, in ticks. A shortage that lasts until the realm
// ends is displayed until then.
const shortTime = 180

// The kinds of shortages are those of game.Lost, and that of the ground, which is last.
const (
	shortGround = game.LostKinds
	shortKinds  = game.LostKinds + 1
)

// A shortage records what is lost because of full tiers.
type shortage struct {
	had  [game.LostKinds]int
	left [shortKinds]int // ticks for which it is displayed
}

// note records losses, once a tick. narrow reports that there is no space for pictures of the ground.
func (s *shortage) note(g *game.Game, narrow bool) {
	lacking := g.Lacking()
	lasts := lacking.Counts()
	for i, n := range g.Lost.Counts() {
		s.keep(i, n > s.had[i] || lasts[i] > 0)
		s.had[i] = n
	}
	s.keep(shortGround, narrow)
}

func (s *shortage) keep(kind int, lost bool) {
	s.left[kind] = max(s.left[kind]-1, 0)
	if lost {
		s.left[kind] = shortTime
	}
}

// shortageName is the word for a kind that the player sees.
func shortageName(kind int) string {
	if kind == shortGround {
		return "SHARP GROUND"
	}
	return game.LostNames[kind]
}

// shortage displays what did not fit, as far as there is space.
func (v *View) shortage() {
	const empty, more = len("NO ROOM FOR "), ", …"
	text, most := append(v.text[:0], "NO ROOM FOR "...), v.noticeLetters()
	for i, left := range v.short.left {
		if left == 0 {
			continue
		}
		name := shortageName(i)
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

// absence displays that the ground is soft because its files cannot be read, for example from a server that is down. If it is
// soft because there is no space for it, shortage displays that.
func (v *View) absence(missing int) {
	if missing > 0 && v.short.left[shortGround] == 0 {
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
