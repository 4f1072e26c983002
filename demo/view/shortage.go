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

// A slowness is the notice of a machine that is too slow.
type slowness struct {
	left    int // ticks for which it is displayed
	percent int64
}

// slowTime is how long it is displayed, in ticks.
const slowTime = 360

// Slow displays, for slowTime, that only the given share of sixty ticks is made each second.
func (v *View) Slow(share float64) { v.slow = slowness{slowTime, int64(100 * share)} }

func (v *View) slowness() {
	if v.slow.left > 0 && v.back.off == 0 {
		text := append(v.text[:0], "TIME RUNS AT "...)
		v.text = append(render.AppendInt(text, v.slow.percent, 0), " %: THIS MACHINE IS TOO SLOW"...)
		v.notice(noticeLines, v.text)
	}
}

// notice writes a line where there is space for it. Line 0 is the first one.
func (v *View) notice(line int, s []byte) {
	wide := render.GlyphW*float32(utf8.RuneCount(s)) + 4
	x, y := v.noticeAt(line, wide, v.hidden)
	v.plate(x, y+2, wide, 14)
	v.quads.TextBytes(v.font, x+2, y, 1, render.Amber, s)
}

// noticeAt returns the place of a line: below the score or, on a high canvas, below the map and the gauge of a warden. If
// the overlay covers that, the line is below the overlay. If that leaves no space, the line is at the right, below the map.
func (v *View) noticeAt(line int, wide float32, hidden func(x, y, w, h float32) bool) (x, y float32) {
	down := noticeStep * float32(line)
	x, y = 8, v.reach.lo[1]+56+down
	if v.ui.tall() {
		y = v.belowMap() + 32 + down
	}
	if !hidden(x, y, wide, noticeStep) {
		return x, y
	}
	if below := v.covered + 4 + down; below+noticeStep < v.reach.hi[1]-3*gaugeRow {
		return x, below
	}
	if right, below := v.ui.W-8-wide, v.belowMap()+down; !hidden(right, below, wide, noticeStep) {
		return right, below
	}
	return x, y
}

const (
	noticeStep  = 16 // from line to line
	noticeLines = 2  // that may be displayed while time runs backwards. The third says why it cannot, or that it is slow
)

// noticeLetters returns how many letters a notice may have: up to the map or, on a high canvas, up to the side.
func (v *View) noticeLetters() int {
	end := v.ui.W - 8
	if !v.ui.tall() {
		end, _, _ = v.mapAt()
	}
	return int((end - 16) / render.GlyphW)
}
