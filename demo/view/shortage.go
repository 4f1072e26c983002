package view

import (
	"unicode/utf8"
	"unsafe"

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
	if v.text = v.shortages(v.text[:0], v.noticeLetters()); len(v.text) > 0 {
		v.notice(0, v.text)
	}
}

// shortages appends what did not fit, in at most so many letters.
func (v *View) shortages(text []byte, most int) []byte {
	const begin, next, more = "NO ROOM FOR ", ", ", ", …"
	for i, left := range v.short.left {
		if left == 0 {
			continue
		}
		name := shortageName(i)
		switch {
		case len(text) == 0:
			text = append(text, begin...)
		case len(text)+len(next)+len(name)+utf8.RuneCountInString(more) > most:
			return append(text, more...)
		default:
			text = append(text, next...)
		}
		text = append(text, name...)
	}
	return text
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

// Slow displays for 360 ticks that the machine is too slow. share is the speed of the game, from 0 to 1: the number of
// ticks a second, divided by 60.
func (v *View) Slow(share float64) { v.slow = slowness{slowTime, int64(100 * share)} }

// slowFits reports whether it is displayed during play. What rewinding writes has its line, and comes first.
func (v *View) slowFits() bool { return !v.chosen() && v.back.off == 0 && v.back.share < rewindShown }

func (v *View) slowness() {
	if v.slow.left > 0 && v.slowFits() {
		text := append(v.text[:0], "TIME RUNS AT "...)
		v.text = append(render.AppendInt(text, v.slow.percent, 0), " %: THIS MACHINE IS TOO SLOW"...)
		v.notice(noticeLines, v.text)
	}
}

// notice writes a line where there is space for it. Line 0 is the first one. Only the last line may take another row.
func (v *View) notice(line int, s []byte) {
	at, wide := v.notices(v.hidden)
	most := int((wide - 4) / render.GlyphW)
	for rest := unsafe.String(unsafe.SliceData(s), len(s)); rest != ""; line++ {
		var row string
		row, rest = split(rest, most)
		x, y := at[0], at[1]+noticeStep*float32(line)
		w := render.Width(row, 1) + 4
		if at[0] > v.ui.W/2 { // at the right side
			x += wide - w
		}
		v.plate(x, y+2, w, 14)
		v.quads.Text(v.font, x+2, y, 1, render.Amber, row)
	}
}

// notices returns the upper left corner and the width of the place for notices and for what rewinding writes: the highest one
// that the overlay leaves free. It begins at the left below the score or, on a high canvas, below the map and the gauge of a
// warden. Otherwise it is at the right below the map. If there is none, the overlay hides the notices.
func (v *View) notices(hidden func(x, y, w, h float32) bool) (at vec, wide float32) {
	const left, step, high = 8, 4, noticeStep*noticeLines + 31
	first, below, foot := v.reach.lo[1]+56, v.belowMap(), v.reach.hi[1]-29-high
	end, _, _ := v.mapAt()
	end -= 16
	if v.ui.tall() {
		first, end, foot = below+32, v.ui.W-16, foot-gaugeRow
	}
	for y := first; y <= foot; y += step {
		if y >= below {
			end = v.ui.W - 16
		}
		free := func(x, w float32) bool { return !hidden(x, y, w, high) }
		if free(left, noticeLeast) {
			for wide = end - left; !free(left, wide); {
				wide = max(wide-step, noticeLeast)
			}
			return vec{left, y}, wide
		}
		right := v.ui.W - 8
		if y >= below && free(right-noticeLeast, noticeLeast) {
			for wide = noticeLeast; free(right-wide-step, wide+step); {
				wide += step
			}
			return vec{right - wide, y}, wide
		}
	}
	return vec{left, first}, end - left
}

const (
	noticeStep  = 16                   // from line to line
	noticeLines = 2                    // that may be displayed while time runs backwards. The third says why it cannot, or that it is slow
	noticeLeast = 34*render.GlyphW + 4 // of the width of the place, in which the longest notice takes two rows
)

// noticeLetters returns how many letters a notice of one row may have.
func (v *View) noticeLetters() int {
	_, wide := v.notices(v.hidden)
	return int((wide - 4) / render.GlyphW)
}
