package view

import (
	"unicode/utf8"
	"unsafe"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/shell"
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
		v.notice(v.text)
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

// absence displays that the ground is soft because its files cannot be read, for example from a server that is down. If
// it is soft because there is no space for it, shortage displays that.
func (v *View) absence(missing int) {
	if missing > 0 && v.short.left[shortGround] == 0 {
		v.notice(append(v.text[:0], "GROUND DOES NOT COME: TRYING AGAIN"...))
	}
}

// A slowness is the notice of a machine that is too slow.
type slowness struct {
	left    int // ticks for which it is displayed
	percent int64
}

// slowTime is how long it is displayed, in ticks.
const slowTime = 360

// Slow displays for 360 ticks that the machine is too slow. Ticks in a menu, in a rewind or while a realm loads do not
// count. share is the speed of the game, from 0 to 1: the number of ticks a second, divided by 60.
func (v *View) Slow(share float64) { v.slow = slowness{slowTime, int64(100 * share)} }

// slowFits reports whether it is displayed during play. What rewinding writes has its line, and comes first.
func (v *View) slowFits() bool { return !v.chosen() && v.back.off == 0 && v.back.share < rewindShown }

func (v *View) slowness() {
	if v.slow.left > 0 && v.slowFits() {
		text := append(v.text[:0], "TIME RUNS AT "...)
		v.text = append(render.AppendInt(text, v.slow.percent, 0), " %: THIS MACHINE IS TOO SLOW"...)
		v.notice(v.text)
	}
}

// notice writes a line at the highest place where its rows fit. If there is none, it is not written.
func (v *View) notice(s []byte) {
	rest, at, wide := unsafe.String(unsafe.SliceData(s), len(s)), vec{}, float32(0)
	for n := 1; n <= 3; n++ {
		p, w := v.noticeAt(noticeStep*float32(n), min(render.Width(rest, 1)+4, noticeLeast))
		if w > 0 && rows(rest, w-4) <= n && (wide == 0 || p[1] < at[1]) {
			at, wide = p, w
		}
	}
	for row := ""; wide > 0 && rest != ""; at[1] += noticeStep {
		row, rest = split(rest, int((wide-4)/render.GlyphW))
		x, w := at[0], render.Width(row, 1)+4
		if x > v.ui.W/2 { // at the right side
			x += wide - w
		}
		v.plate(x, at[1]+2, w, 14)
		v.note(shell.Box{X: x, Y: at[1], W: w, H: noticeStep})
		v.quads.Text(v.font, x+2, at[1], 1, render.Amber, row)
		v.noticed = at[1] + noticeStep
	}
}

// note adds a notice to those of the frame.
func (v *View) note(b shell.Box) {
	if n := &v.notices; n.W > 0 {
		x, y := max(n.X+n.W, b.X+b.W), max(n.Y+n.H, b.Y+b.H)
		b.X, b.Y = min(n.X, b.X), min(n.Y, b.Y)
		b.W, b.H = x-b.X, y-b.Y
	}
	v.notices = b
}

// noticeAt returns the upper left corner and the width of the highest place of a height, below former notices. It is
// free of the overlay, the ship, the hint and the large letters. It begins below the score or, on a high canvas, below
// the map and the gauge of a warden. If none is as wide as least, or if the screen is low or higher than wide, the ship
// may be there. If there is still none, wide is 0.
func (v *View) noticeAt(high, least float32) (at vec, wide float32) {
	const side, step = 8, freeStep
	first, below, foot := v.reach.lo[1]+56, v.belowMap(), v.reach.hi[1]-29-high
	end, _, _ := v.mapAt()
	left, end, right := float32(side), end-16, v.ui.W-side
	switch touch := v.ui.Device == render.Touch; {
	case v.ui.tall():
		first, end, foot = below+32, right, foot-gaugeRow
		if touch {
			foot = min(foot, v.ui.H-v.sticksHigh()-high)
		}
	case touch: // between the sticks
		_, width := v.hintArea()
		right = v.ui.W/2 + width/2
	}
	for _, apart := range [2]bool{!v.ui.tall() && v.ui.H >= shipHigh, false} {
		left, end := left, end
		for y := max(first, v.noticed); y <= foot; y += step {
			if y >= below && end != right {
				end, left = right, max(left, v.ui.W-right)
			}
			x, w := widest(left, end, func(x float32) bool {
				for _, s := range [...]shell.Box{v.said, v.heading} {
					if x+step > s.X && x < s.X+s.W && y+high > s.Y && y < s.Y+s.H {
						return true
					}
				}
				return v.hidden(x, y, step, high) || apart && v.overShip(x, y, step, high)
			})
			if w >= least {
				return vec{x, y}, w
			}
		}
	}
	return vec{}, 0
}

const (
	noticeStep  = 16                   // from row to row
	shipHigh    = 300                  // of a canvas that has space for notices above or below the ship
	noticeLeast = 28*render.GlyphW + 4 // of the width of the place: the longest shortage takes one row
)

// noticeLetters returns how many letters a notice of one row may have.
func (v *View) noticeLetters() int {
	_, wide := v.noticeAt(noticeStep, noticeLeast)
	return int((max(wide, noticeLeast) - 4) / render.GlyphW)
}
