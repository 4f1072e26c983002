package overlay

import (
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/meter"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
)

// leakage is what the panel of leaks shows, as of the last change of figures.
type leakage struct {
	changes []meter.Change // the largest first
	marked  bool
	took    float64 // seconds
	churn   top
	left    int // rows of the level's leaks
}

// How many rows each of its lists has.
const (
	leakRows   = 6
	changeRows = 6
	churnRows  = 3
)

// mark sets mark A, then B, then takes both back.
func (o *Overlay) mark() {
	if o.closed() || o.meter.Frames() == 0 {
		return
	}
	switch {
	case !o.meter.Marked(meter.A):
		o.meter.Mark(meter.A)
	case !o.meter.Marked(meter.B):
		o.meter.Mark(meter.B)
	default:
		o.meter.Unmark()
	}
	o.show(int(Leaks), true)
	o.sampleLeaks()
}

// sampleLeaks brings the lists up to date.
func (o *Overlay) sampleLeaks() {
	k := &o.leaks
	all, took, ok := o.meter.Changes(k.changes[:0])
	k.changes, k.marked, k.took = all, ok, took.Seconds()
	// The largest come first, by selection: the list is short.
	for i := range min(changeRows, len(all)) {
		for j := i + 1; j < len(all); j++ {
			if abs(all[j].Bytes) > abs(all[i].Bytes) {
				all[i], all[j] = all[j], all[i]
			}
		}
	}
	leaks := o.m.Inspect().Leaks()
	k.left = len(leaks.Tags) + len(leaks.Pools)
	for _, l := range leaks.Tiers {
		if l.Blocks > 0 {
			k.left++
		}
	}
	rows := o.tagRows()
	k.churn.n = 0
	for i := range rows {
		if rows[i].Churn >= 1 {
			k.churn.insertBy(rows, i, churnRows, func(w *meter.Row) float64 { return w.Churn })
		}
	}
}

// insertBy is insert by another figure.
func (t *top) insertBy(rows []meter.Row, i, n int, of func(*meter.Row) float64) {
	k := t.n
	for k > 0 && of(&rows[t.row[k-1]]) < of(&rows[i]) {
		k--
	}
	if k >= n {
		return
	}
	t.n = min(t.n+1, n)
	copy(t.row[k+1:t.n], t.row[k:t.n])
	t.row[k] = i
}

func abs(v int64) int64 { return max(v, -v) }

// lists returns how many rows the lists of what is left and of what has changed take.
func (k *leakage) lists() (left, changed int) {
	if k.marked {
		changed = changeRows
	}
	return min(k.left, leakRows), changed
}

func (o *Overlay) leakLines() int {
	left, changed := o.leaks.lists()
	n := 3 + left + changed
	if len(o.tagRows()) > 0 {
		n += churnRows
	}
	return n
}

func (o *Overlay) drawLeaks() {
	if o.closed() {
		return
	}
	left, changed := o.leaks.lists()
	o.drawLeft()
	o.drawChanges(1 + left)
	o.drawChurn(2 + left + changed)
}

// drawLeft draws the leaks of the last level, by tier, tag and pool.
func (o *Overlay) drawLeft() {
	leaks := o.m.Inspect().Leaks()
	l := o.line(0)
	if leaks.Level == 0 {
		l.text(render.PanelQuiet, "no level has ended yet")
		return
	}
	l.word(render.PanelQuiet, "level")
	l.count(render.PanelText, leaks.Level)
	l.x += render.GlyphW
	if leaks.Any() {
		l.text(render.Amber, "left behind")
	} else {
		l.text(good, "left nothing behind")
	}
	i, total := 1, 0
	put := func(c render.Color, sign, name string, leak tiers.Leak) {
		if leak.Blocks == 0 {
			return
		}
		if total++; i > min(o.leaks.left, leakRows) {
			return
		}
		o.leakRow(i, c, sign, name, int64(leak.Bytes), int64(leak.Blocks), false)
		i++
	}
	for t, leak := range leaks.Tiers {
		put(tierColors[t], "", tiers.Tier(t).String(), leak)
	}
	for k := range leaks.Tags {
		put(tagColor, "#", leaks.Tags[k].Tag, leaks.Tags[k].Leak)
	}
	for k := range leaks.Pools {
		put(tierColors[tiers.Pools], "·", leaks.Pools[k].Pool, leaks.Pools[k].Leak)
	}
	if total > leakRows {
		l.gap()
		l.count(render.PanelQuiet, uint64(leakRows))
		l.word(render.PanelQuiet, " of")
		l.count(render.PanelQuiet, uint64(total))
	}
}

// leakRow is a name, bytes and blocks.
func (o *Overlay) leakRow(i int, c render.Color, sign, name string, bytes, blocks int64, signed bool) {
	y, p := o.y(i), &o.panel
	if sign == "" {
		p.Swatch(8, y+5, c)
	} else {
		p.Label(8, y, render.PanelQuiet, sign)
	}
	o.name(18, y, 16, c, name)
	b := memory.AppendBytes(o.buf[:0], uint64(bytes))
	if signed {
		b = appendSigned(o.buf[:0], bytes)
	}
	p.Q.TextBytes(p.Font, p.X+196-float32(len(b)*render.GlyphW), p.Y+y, 1, render.PanelText, b)
	b = render.AppendInt(o.buf[:0], blocks, 0)
	if signed && blocks > 0 {
		b = render.AppendInt(append(o.buf[:0], '+'), blocks, 0)
	}
	p.Q.TextBytes(p.Font, p.X+250-float32(len(b)*render.GlyphW), p.Y+y, 1, render.PanelText, b)
	p.Label(254, y, render.PanelQuiet, plural(uint64(max(blocks, -blocks)), "block", "blocks"))
}

// drawChanges is what has grown since mark A.
func (o *Overlay) drawChanges(i int) {
	k, p := &o.leaks, &o.panel
	p.Q.Rect(p.X+render.Grid, p.Y+o.edge(i), p.W-2*render.Grid, 1, render.PanelEdge)
	l := o.line(i)
	if !k.marked {
		l.word(render.White, "Shift+")
		l.x -= render.GlyphW
		l.word(render.White, o.keyName(keyLeaks))
		l.text(render.PanelQuiet, "sets mark A, to see what grows from it")
		return
	}
	l.word(render.PanelText, "since A")
	if o.meter.Marked(meter.B) {
		l.word(render.PanelText, "until B")
	}
	l.bytes(render.PanelQuiet, append(render.AppendFixed(o.buf[:0], k.took, 0, 0), " s"...))
	l.gap()
	if len(k.changes) > changeRows {
		l.count(render.PanelQuiet, changeRows)
		l.word(render.PanelQuiet, " of")
		l.count(render.PanelQuiet, uint64(len(k.changes)))
	} else if len(k.changes) == 0 {
		l.text(good, "nothing has changed")
	}
	rows := o.meter.Rows()
	for j := range k.changes[:min(changeRows, len(k.changes))] {
		c := &k.changes[j]
		if c.Row >= len(rows) {
			continue
		}
		sign := ""
		if rows[c.Row].Kind == meter.TagRow {
			sign = "#"
		}
		o.leakRow(i+1+j, colorOf(&rows[c.Row]), sign, rows[c.Row].Name, c.Bytes, c.Blocks, true)
	}
}

// drawChurn is whose blocks die at once: scratch, or a frame's arena, would have them for less.
func (o *Overlay) drawChurn(i int) {
	p := &o.panel
	p.Q.Rect(p.X+render.Grid, p.Y+o.edge(i), p.W-2*render.Grid, 1, render.PanelEdge)
	l := o.line(i)
	l.word(render.PanelText, "churn")
	rows := o.tagRows()
	if len(rows) == 0 {
		l.text(render.PanelQuiet, "is by tag, and there are none")
		return
	}
	if o.leaks.churn.n == 0 {
		l.text(good, "no tag's blocks die young")
		return
	}
	l.text(render.PanelQuiet, "blocks that died within two frames")
	for j, k := range o.leaks.churn.row[:o.leaks.churn.n] {
		if k >= len(rows) {
			continue
		}
		w, y := &rows[k], o.y(i+1+j)
		p.Label(8, y, render.PanelQuiet, "#")
		o.name(18, y, 16, tagColor, w.Name)
		b := append(render.AppendInt(o.buf[:0], int64(w.Churn+0.5), 0), "/s"...)
		p.Q.TextBytes(p.Font, p.X+196-float32(len(b)*render.GlyphW), p.Y+y, 1, render.PanelText, b)
		b = append(render.AppendFixed(o.buf[:0], min(100*w.Churn/max(w.Allocs, 1), 100), 0, 0), "% of its"...)
		p.Q.TextBytes(p.Font, p.X+290-float32(len(b)*render.GlyphW), p.Y+y, 1, render.PanelQuiet, b)
	}
}
