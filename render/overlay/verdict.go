package overlay

import (
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/meter"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
)

// drawVerdict summarizes in words: what is largest, what grows and which subsystem owns it, and whether the frame
// fits. It also has the live Go heap, budgets that are nearly used up, and refused allocations.
func (o *Overlay) drawVerdict() {
	v := o.meter.Verdict()
	l := o.line(0)
	l.word(render.PanelQuiet, "largest")
	if v.Largest == nil {
		l.word(render.PanelText, "nothing")
	} else {
		l.word(colorOf(v.Largest), v.Largest.Name)
		l.size(render.PanelText, v.Largest.InUse)
		o.largestTier(&l, v.Largest)
	}
	grows := o.line(1)
	o.growth(&grows, v)
	if o.scr.full {
		l.gap()
		o.fits(&l, v)
	} else {
		l = o.line(2)
		o.fits(&l, v)
	}
	last := o.line(o.verdictLines() - 1)
	switch scarce := o.faults.on || v.Tight != nil || v.Refused != nil; {
	case o.own != nil || !o.scr.full && !scarce:
		o.drawHeap(&last)
		return
	case o.scr.full:
		l = o.line(2)
		o.drawHeap(&l)
	}
	o.scarce(&last, v)
}

// drawHeap writes the live Go heap of the last collection, its age, and what is allocated.
func (o *Overlay) drawHeap(l *line) {
	h := &o.heap
	if l.word(render.PanelQuiet, "live Go"); o.scr.full {
		l.word(render.PanelQuiet, "heap")
	}
	if h.Known {
		l.size(render.PanelText, h.Live)
		l.x += render.GlyphW
		if o.scr.full {
			l.word(render.PanelQuiet, "as of")
		}
		l.bytes(render.PanelQuiet, append(render.AppendFixed(o.buf[:0], h.Age.Seconds(), 0, 0), " s ago"...))
	} else {
		l.text(render.PanelQuiet, "not known before a collection")
	}
	l.gap()
	if !o.scr.full && !h.Known {
		return // there is no space for it
	}
	l.word(render.PanelQuiet, "allocates")
	l.bytes(render.PanelText, append(memory.AppendBytes(o.buf[:0], uint64(h.Allocated)), "/s"...))
}

// largestTier adds the largest of the tiers if another row is larger.
func (o *Overlay) largestTier(l *line, largest *meter.Row) {
	if largest.Kind == meter.TierRow || o.own != nil {
		return
	}
	best := &o.meter.Rows()[0]
	for t := range tiers.Count {
		if w := &o.meter.Rows()[t]; w.InUse > best.InUse {
			best = w
		}
	}
	if o.scr.full {
		l.word(render.PanelQuiet, ", tier")
	} else {
		l.word(render.PanelQuiet, ",") // its colour says that it is one; with the word the figure would be cut
	}
	l.word(colorOf(best), best.Name)
	l.size(render.PanelText, best.InUse)
}

// growth names the tier that grows, and the tag and the pool. A pool that grows while another shrinks is named alone.
func (o *Overlay) growth(l *line, v *meter.Verdict) {
	p := &o.panel
	nothing := v.Growing == nil && v.Tag == nil && v.Pool == nil
	if !nothing {
		p.Q.Rect(p.X+l.x-4, p.Y+l.y+(render.GlyphH-o.scr.pitch)/2, l.end-l.x+8, o.scr.pitch, render.White.Fade(0.09))
	}
	if nothing {
		l.word(render.PanelQuiet, "growing")
		if v.Young {
			l.text(render.PanelQuiet, "not known yet")
		} else {
			l.text(good, "nothing")
		}
		return
	}
	pool := v.Pool
	if v.Growing != nil && v.Growing.Kind == meter.TierRow && v.Growing.Tier != tiers.Pools {
		pool = nil // another tier grows faster
	}
	short := !o.scr.full && pool != nil && v.Tag != nil // all three, or their rates, would not fit
	if !short || v.Growing == nil {
		l.word(render.PanelQuiet, "growing")
	}
	owner := func(by, sign string, w *meter.Row) {
		if w == nil {
			return
		}
		rate := appendRate(o.buf[:0], w.Growth)
		if short {
			by, rate = sign, appendShortRate(o.buf[:0], w.Growth)
		}
		l.word(render.PanelQuiet, by)
		l.word(colorOf(w), w.Name)
		l.bytes(render.PanelText, rate)
		l.x += render.GlyphW
	}
	owner("▲", "▲", v.Growing)
	owner("tag", "#", v.Tag)
	owner("pool", "·", pool)
	if o.scr.full {
		owner("beside", "", v.Beside)
	}
}

// fits writes the used share of the frame's memory, and the share of late frames.
func (o *Overlay) fits(l *line, v *meter.Verdict) {
	if o.own == nil {
		l.word(render.PanelQuiet, "frame memory")
		l.bytes(alarm(good, v.Frame), append(render.AppendFixed(o.buf[:0], 100*v.Frame, 0, 0), "% used"...))
		l.gap()
	}
	if v.Late >= 0.0005 || o.own != nil {
		l.word(render.PanelQuiet, "late frames")
		c := render.PanelText
		if v.Late > 0.01 {
			c = render.Amber
		}
		l.bytes(c, append(render.AppendFixed(o.buf[:0], 100*v.Late, 1, 0), '%'))
	}
}

// refusal is the colour of refused requests: red if the row is still full, so that more will fail. Otherwise it is amber:
// a caller that waited for space, as a loader does, has lost nothing.
func (o *Overlay) refusal(w *meter.Row) render.Color { return alarm(render.Amber, o.fullness(w)) }

// fullness is level for a row that refused. A pool has no budget, but its peak shows how much it could get. The tier of
// the pools is as full as the fullest pool that refused, and a tag as the fullest tier that refused.
func (o *Overlay) fullness(w *meter.Row) float64 {
	share, rows := o.level(w), o.meter.Rows()
	parts := rows[:tiers.Count]
	switch {
	case w.Kind == meter.PoolRow:
		return max(float64(w.InUse)/float64(w.Peak), o.level(&rows[tiers.Pools]))
	case w.Kind == meter.TierRow && w.Tier == tiers.Pools:
		parts = o.meter.Pools()
	case w.Kind == meter.TierRow:
		return share
	}
	for i := range parts {
		if parts[i].Failures > 0 {
			share = max(share, o.fullness(&parts[i]))
		}
	}
	return share
}

// scarce writes which budgets are nearly committed, and which requests were refused.
func (o *Overlay) scarce(l *line, v *meter.Verdict) {
	if o.faults.on {
		l.word(render.Red, "FAULTS") // the strip says which
		l.gap()
	} else if v.Tight != nil {
		l.word(render.PanelQuiet, "tight")
		l.word(colorOf(v.Tight), v.Tight.Name)
		share := v.Tight.Tight()
		l.bytes(alarm(render.PanelText, share), append(render.AppendFixed(o.buf[:0], 100*share, 0, 0), "% of its budget"...))
		l.gap()
	}
	if v.Refused != nil {
		c := o.refusal(v.Refused)
		l.word(colorOf(v.Refused), v.Refused.Name)
		l.word(c, "refused")
		l.count(c, v.Refused.Failures)
		if o.scr.full || v.Tight == nil {
			l.text(c, plural(v.Refused.Failures, " request", " requests"))
		}
	}
	if v.Tight == nil && v.Refused == nil && !o.faults.on {
		l.text(render.PanelQuiet, "no budget is tight, nothing was refused")
	}
}
