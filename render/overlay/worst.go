package overlay

import (
	"time"
	"unicode/utf8"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/meter"
	"github.com/strata-go/strata/render"
)

// keep keeps the worst frame for inspection, or releases it.
func (o *Overlay) keep() {
	if o.kept = !o.kept && o.meter.Keep() != nil; o.kept {
		o.show(int(Tiers), true)
	}
}

// drawWorst is what the frame that took longest in the window did, in two lines: its time, collections,
// timers and monitors; allocations and growth by tier and tag.
func (o *Overlay) drawWorst(i int) {
	p := &o.panel
	p.Q.Rect(p.X+render.Grid, p.Y+o.edge(i), p.W-2*render.Grid, 1, render.PanelEdge)
	l := o.line(i)
	f, word := o.meter.Worst(), "worst frame"
	if o.kept {
		f, word = o.meter.Kept(), "kept frame"
	}
	l.word(render.PanelQuiet, word)
	if f == nil {
		l.text(render.PanelText, "no frame yet")
		return
	}
	l.millis(o.late(f.Took.Seconds()), f.Took.Seconds())
	l.x += render.GlyphW
	ago := o.clock.read().Sub(f.At)
	l.bytes(render.PanelQuiet, append(render.AppendFixed(o.buf[:0], ago.Seconds(), 0, 0), " s ago"...))
	l.gap()
	if f.Collections > 0 {
		l.count(render.Amber, f.Collections)
		l.word(render.Amber, " gc")
		l.gap()
	}
	o.worstTimers(&l, f)
	for k, m := range o.meter.Monitors() {
		if k >= len(f.Monitors) {
			continue
		}
		name, value := cut(m.Name, 16), appendMonitor(o.buf[:0], f.Monitors[k])
		if long := utf8.RuneCountInString(name) + 1 + len(value); l.x+float32(long*render.GlyphW) > l.end {
			continue // a shorter one may fit
		}
		l.word(render.PanelQuiet, name)
		l.bytes(render.PanelText, value)
		l.gap()
	}
	l = o.line(i + 1)
	o.worstRows(&l, f)
}

// worstTimers writes the timers, the longest first, three at most.
func (o *Overlay) worstTimers(l *line, f *meter.Frame) {
	timers := o.meter.Timers()
	last, lastAt := time.Duration(1<<62), -1
	for range 3 {
		best := -1
		for k := range min(len(timers), len(f.Timers)) {
			d := f.Timers[k]
			behind := d < last || d == last && k > lastAt
			if d > 0 && behind && (best < 0 || d > f.Timers[best]) {
				best = k
			}
		}
		if best < 0 {
			return
		}
		last, lastAt = f.Timers[best], best
		if item := utf8.RuneCountInString(timers[best].Name) + len(appendMillis(o.buf[:0], last.Seconds())) + 4; l.x+float32(item*render.GlyphW) > l.end {
			continue // a name without its figure says nothing
		}
		l.word(render.PanelQuiet, timers[best].Name)
		l.millis(render.PanelText, last.Seconds())
		l.gap()
	}
}

// worstRows writes what the frame did to tiers and tags, those that allocated most first; without a manager of the
// game's, to the Go heap.
func (o *Overlay) worstRows(l *line, f *meter.Frame) {
	if o.own != nil {
		l.word(goColor, "go heap")
		l.count(render.PanelText, f.Rows[goRow].Allocs)
		l.word(render.PanelQuiet, " objects")
		return
	}
	if o.scr.full {
		l.word(render.PanelQuiet, "it allocated")
	} else {
		l.word(render.PanelQuiet, "allocs")
	}
	rows := o.meter.Rows()
	last, lastAt := uint64(1<<63), -1
	wrote := false
	for range 6 {
		best := -1
		for k := range min(len(rows), len(f.Rows)) {
			if rows[k].Kind == meter.RestRow || rows[k].Kind == meter.GoRow {
				continue
			}
			n := f.Rows[k].Allocs
			behind := n < last || n == last && k > lastAt
			if n > 0 && behind && (best < 0 || n > f.Rows[best].Allocs) {
				best = k
			}
		}
		if best < 0 {
			break
		}
		last, lastAt, wrote = f.Rows[best].Allocs, best, true
		d := &f.Rows[best]
		if item := utf8.RuneCountInString(rows[best].Name) + 4; l.x+float32(item*render.GlyphW) > l.end {
			break // a name without its figure says nothing
		}
		if rows[best].Kind == meter.TagRow {
			l.text(render.PanelQuiet, "#")
		}
		l.word(colorOf(&rows[best]), rows[best].Name)
		l.count(render.PanelText, d.Allocs)
		if d.Bytes != 0 {
			l.x += render.GlyphW
			l.bytes(render.PanelQuiet, appendSigned(o.buf[:0], d.Bytes))
		}
		l.gap()
	}
	if !wrote {
		l.text(render.PanelQuiet, "nothing in a tier")
	}
}

// appendSigned appends bytes more or less.
func appendSigned(dst []byte, v int64) []byte {
	if v < 0 {
		return memory.AppendBytes(append(dst, '-'), uint64(-v))
	}
	return memory.AppendBytes(append(dst, '+'), uint64(v))
}
