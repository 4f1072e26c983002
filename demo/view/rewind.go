package view

import (
	"math"

	"github.com/strata-go/strata/demo/session"
	"github.com/strata-go/strata/demo/shell"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/render"
	"github.com/strata-go/strata/render/overlay"
)

// A rewind is how time that runs backwards looks.
type rewind struct {
	share float32 // of the effect, which fades in and out
	left  float32 // of the charge
	spin  float32 // of the clock's hand
	path  [48]vec // where the ship was, in a ring; later places first
	steps int     // places so far
	empty int     // frames for which a missing charge is shown
	off   int     // frames for which the reason is shown why nothing is kept
	why   string
}

// How it looks.
const (
	rewindFade  = 0.2
	rewindShown = 0.1  // share from which on the rest of the charge is written
	rewindTurn  = 0.21 // of the hand, in a frame
	emptyFrames = 40
	offFrames   = 300
	clockRadius = 15 // more than that of the ship's rim
	scanStep    = 4  // pixels of the canvas between two lines
)

// Rewound does what [View.Update] does. Call it instead of Update in a frame in which time runs backwards.
func (v *View) Rewound() {
	r := &v.back
	r.left, _ = v.s.Past.Rewinding()
	r.path[r.steps%len(r.path)] = v.s.Game.Player.P
	r.steps++
	v.teacher.played = v.s.Game.Played // it is the same run
	v.Update()
}

// timeline returns the ticks of a session for the overlay, or nil if it keeps none.
func (v *View) timeline(s *session.Session) overlay.Timeline {
	if s.Past == nil {
		return nil
	}
	return timeline{v, s}
}

// Failed returns the error of [session.Session.Seek] when the player last selected a tick in the overlay, or nil. After
// an error the caller must end the run.
func (v *View) Failed() error { return v.failed }

type timeline struct {
	v *View
	s *session.Session
}

// Span returns the Range of the session's Past, or zeros while no realm is played.
func (t timeline) Span() (first, now, last uint64) {
	if !t.s.Playing() {
		return 0, 0, 0
	}
	return t.s.Past.Range()
}

// Seek calls the session's Seek. View.Failed returns the error.
func (t timeline) Seek(tick uint64) {
	if t.v.failed = t.s.Seek(tick); t.v.failed == nil {
		t.v.Rewound()
	}
}

// Memory returns the bytes that the states use, and the bytes reserved for them.
func (t timeline) Memory() (used, reserved uint64) {
	f := t.s.Past.Figures()
	return uint64(f.Used), uint64(f.Size)
}

// Empty makes the next frames show that no charge is left. Call it if the player tries to rewind without a charge.
func (v *View) Empty() { v.back.empty = emptyFrames }

// note advances the effect by a frame.
func (r *rewind) note(p *session.Past) {
	goal := float32(0)
	if _, on := p.Rewinding(); on {
		goal = 1
		r.spin -= rewindTurn
	} else if r.share < 0.02 {
		r.steps = 0
	}
	r.share += (goal - r.share) * rewindFade
	r.empty = max(r.empty-1, 0)
	if why := p.Off(); why != r.why {
		r.why, r.off = why, offFrames
	}
	r.off = max(r.off-1, 0)
}

// cold is the colour of time that runs backwards. No realm has it.
var cold = render.RGB(0x8fb8ff)

// backwards covers the world, and below the HUD, while time runs backwards: it is colder, and lines run up.
func (v *View) backwards() {
	r, q := &v.back, &v.quads
	if r.share < 0.02 {
		return
	}
	lo, hi := v.reach.lo, v.reach.hi
	v.reach.fill(q, render.RGB(0x0a1a4a).Fade(0.42*r.share))
	from := float32(0)
	if !v.comfort.calm {
		from = scanStep - float32(math.Mod(float64(v.time)*60, scanStep))
	}
	for y := lo[1] - scanStep + from; y < hi[1]; y += scanStep {
		q.Rect(lo[0], y, hi[0]-lo[0], 1, cold.Fade(0.07*r.share))
	}
	if !v.comfort.calm { // two bands, as of a tape
		for k := range 2 {
			high := hi[1] - lo[1] + 60
			y := hi[1] - float32(math.Mod(float64(v.time)*260+float64(k)*float64(high)*0.55, float64(high)))
			q.Gradient(lo[0], y, hi[0]-lo[0], 26, cold.Light(0), cold.Light(0.16*r.share))
			q.Rect(lo[0], y+26, hi[0]-lo[0], 1.5, cold.Light(0.35*r.share))
		}
	}
}

// clock draws, at the ship, where it was and how much of the charge is left. Places are those of the world.
func (v *View) clock(at vec, radius float32) {
	r, q := &v.back, &v.quads
	if r.share < 0.02 {
		return
	}
	n := min(r.steps, len(r.path))
	for i := 1; i < n; i++ {
		a, b := r.path[(r.steps-i)%len(r.path)], r.path[(r.steps-i-1)%len(r.path)]
		k := (1 - float32(i)/float32(n)) * r.share
		q.Line(a[0], a[1], b[0], b[1], 1+3*k, cold.Light(0.7*k))
	}
	radius += clockRadius
	q.Ring(at[0], at[1], radius, 7, 0, 0, night.Fade(0.75*r.share))
	const parts = 48
	point := func(i int) vec {
		a := -math.Pi/2 + 2*math.Pi*float32(i)/parts
		return vec{at[0] + radius*engine.Cos(a), at[1] + radius*engine.Sin(a)}
	}
	for i := range parts {
		c := dim.Fade(0.4 * r.share)
		if float32(i) < r.left*parts {
			c = white.Mix(cold, 0.4).Fade(r.share)
		}
		a, b := point(i), point(i+1)
		over := b.Sub(a).Mul(0.12) // without gaps at the corners
		q.Line(a[0]-over[0], a[1]-over[1], b[0]+over[0], b[1]+over[1], 3.4, c)
	}
	hand := vec{at[0] + (radius-5)*engine.Sin(r.spin), at[1] - (radius-5)*engine.Cos(r.spin)}
	q.Line(at[0]+(hand[0]-at[0])*0.62, at[1]+(hand[1]-at[1])*0.62, hand[0], hand[1], 2.4, white.Fade(r.share))
}

// rewinding writes how much is left.
func (v *View) rewinding() {
	r, q := &v.back, &v.quads
	if r.share < rewindShown {
		return
	}
	at, wide := v.noticeAt(26, 132)
	if wide == 0 {
		return
	}
	x, y := min(max(v.ui.W/2, at[0]+66), at[0]+wide-66), at[1]+5
	v.noticed = at[1] + 26
	v.plate(x-66, y-5, 132, 26)
	v.note(shell.Box{X: x - 66, Y: y - 5, W: 132, H: 26})
	for i := range 2 {
		v.rewindArrow(x-54+11*float32(i), y+8, 9, white.Fade(r.share))
	}
	seconds := r.left * session.RewindMost / engine.TickRate
	v.text = append(render.AppendFixed(append(v.text[:0], "REWIND "...), float64(seconds), 1, 0), " s"...)
	q.TextBytes(v.font, x-24, y, 1, white.Fade(r.share), v.text)
}

// rewindOff writes why nothing can be rewound.
func (v *View) rewindOff() {
	if r := &v.back; r.off > 0 && r.why != "" && v.s.Past != nil {
		v.notice(append(v.text[:0], r.why...))
	}
}

// rewindArrow draws a triangle that points back.
func (v *View) rewindArrow(x, y, size float32, c render.Color) {
	v.quads.Tri(x, y, x+size, y-size*0.6, x+size, y+size*0.6, c)
}

// rewindSign draws a clock that runs backwards.
func (v *View) rewindSign(x, y float32, c render.Color) {
	const r, parts = 5.5, 9
	last := vec{}
	for i := range parts + 1 {
		a := -0.5 + 5.2*float32(i)/parts
		p := vec{x + r*engine.Cos(a), y + r*engine.Sin(a)}
		if i > 0 {
			v.quads.Line(last[0], last[1], p[0], p[1], 1.8, c)
		}
		last = p
	}
	tip := vec{x + r*engine.Cos(-0.5), y + r*engine.Sin(-0.5)}
	v.quads.Tri(tip[0]-4.4, tip[1]-0.4, tip[0]+3, tip[1]-3.4, tip[0]+1.6, tip[1]+3.8, c)
	v.quads.Line(x, y, x, y-3.4, 1.4, c)
	v.quads.Line(x, y, x+2.4, y+0.8, 1.4, c)
}

// chargeGauge draws the charges at their lower left corner: a clock, and a mark for each that there can be.
func (v *View) chargeGauge(at vec) {
	p, r := v.s.Past, &v.back
	if p == nil {
		return
	}
	y := at[1] - 8
	sign := white.Mix(cold, 0.4)
	switch {
	case p.Off() != "":
		sign = dim.Fade(0.35)
	case r.empty > 0 && (v.comfort.calm || r.empty/6%2 == 0):
		sign = render.Amber
	case p.Charges() == 0:
		sign = dim.Fade(0.5)
	}
	v.plate(at[0]-4, y-9, chargesWide, gaugeHigh)
	v.rewindSign(at[0]+6, y, sign)
	for i := range session.ChargesMost {
		c := dim.Fade(0.18)
		if i < p.Charges() && p.Off() == "" {
			c = cold.Mix(white, 0.25)
		}
		v.quads.Rect(at[0]+18+float32(i)*11, y-4, 9, 8, c)
	}
}
