package overlay

import "github.com/strata-go/strata/render"

// A Timeline is a game that can return to earlier ticks, for example the result of engine.Rewind.Timeline. While the
// game is frozen, the overlay shows a bar of these ticks. Arrows, the mouse and a finger select a tick. When the game
// is no longer frozen, it continues from the selected tick.
type Timeline interface {
	// Span returns the first tick that Seek reaches, the present tick, and the last tick that Seek reaches. If first
	// and last are equal, the overlay shows no bar.
	Span() (first, now, last uint64)
	// Seek makes a tick of Span the present tick, and restores all that Draw needs. The overlay calls it in Update.
	Seek(tick uint64)
	// Memory returns the bytes that are in use for earlier ticks, and the bytes that are reserved. The panel Memory
	// shows both.
	Memory() (used, reserved uint64)
}

// A scrub is the bar of the ticks.
type scrub struct {
	bar  place // in the last Draw; w is 0 if there was none
	drag bool
	held int // ticks for which an arrow is held
}

// How arrows move, in ticks: once when pressed, then repeatedly.
const (
	scrubJump  = 60 // with Shift
	scrubDelay = 20
	scrubEvery = 3
)

// scrubs reports whether there are ticks to select.
func (o *Overlay) scrubs() bool {
	if !o.frozen || o.cfg.Timeline == nil {
		return false
	}
	first, _, last := o.cfg.Timeline.Span()
	return last > first
}

// scrubbed does what arrows and the pointer select. It reports whether the pointer is on the bar.
func (o *Overlay) scrubbed() bool {
	s := &o.scrub
	if !o.scrubs() {
		*s = scrub{}
		return false
	}
	if by := o.arrows(); by != 0 {
		o.seek(by)
	}
	x, y := (o.in.x-o.scr.x)/o.scr.scale, (o.in.y-o.scr.y)/o.scr.scale
	b := &s.bar
	if s.drag = o.in.down && (s.drag || !o.was.down && b.w > 0 && x >= b.x-4 && x <= b.x+b.w+4 && y >= b.y && y <= b.y+b.h); !s.drag {
		return false
	}
	first, now, last := o.cfg.Timeline.Span()
	share := float64(min(max((x-b.x)/b.w, 0), 1))
	o.seek(int64(first) + int64(share*float64(last-first)+0.5) - int64(now))
	return true
}

// arrows returns by how many ticks the arrows move: once, and then repeatedly.
func (o *Overlay) arrows() int64 {
	by := int64(0)
	for i, d := range [2]int64{-1, 1} {
		if o.in.arrow[i] {
			by += d
		}
	}
	if by == 0 {
		o.scrub.held = 0
		return 0
	}
	o.scrub.held++
	if h := o.scrub.held; h > 1 && (h < scrubDelay || h%scrubEvery != 0) {
		return 0
	}
	if o.in.shift {
		by *= scrubJump
	}
	return by
}

// seek moves by ticks, within the span.
func (o *Overlay) seek(by int64) {
	first, now, last := o.cfg.Timeline.Span()
	if to := uint64(min(max(int64(now)+by, int64(first)), int64(last))); to != now {
		o.cfg.Timeline.Seek(to)
	}
}

// drawScrub draws the bar in line i, and what selects a tick in the next one.
func (o *Overlay) drawScrub(i int) {
	first, now, last := o.cfg.Timeline.Span()
	p := &o.panel
	x, y, w, h := p.X+render.Grid, p.Y+o.edge(i)+3, p.W-2*render.Grid, o.scr.pitch-6
	o.scrub.bar = place{x: x, y: y - 3, w: w, h: o.scr.pitch}
	p.Q.Rect(x, y, w, h, render.PanelTrack)
	share := float32(float64(now-first) / float64(last-first))
	p.Q.Gradient(x, y, w*share, h, render.Amber.Shade(0.7), render.Amber.Shade(0.45))
	for ticks := uint64(scrubJump); ticks < last-first; ticks += scrubJump { // a mark for each second before the last tick
		p.Q.Rect(x+w*(1-float32(ticks)/float32(last-first)), y+h-3, 1, 3, render.PanelQuiet)
	}
	p.Q.Rect(x+w*share-1, y-2, 3, h+4, render.White)
	l := o.line(i + 1)
	l.word(render.PanelQuiet, "tick")
	l.bytes(render.White, render.AppendInt(o.buf[:0], int64(now), 0))
	l.x += render.GlyphW
	b := render.AppendFixed(append(o.buf[:0], '-'), float64(last-now)/scrubJump, 1, 0)
	l.bytes(render.White, append(b, " s of -"...))
	l.bytes(render.PanelText, append(render.AppendFixed(o.buf[:0], float64(last-first)/scrubJump, 1, 0), " s"...))
	l.x += render.GlyphW
	l.text(render.PanelQuiet, "arrows, Shift: a second, or drag")
}
