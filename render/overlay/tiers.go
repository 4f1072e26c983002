package overlay

import (
	"slices"

	"github.com/strata-go/strata/memory/meter"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
)

// A top is the largest rows of a list by bytes in use; the row that grows fastest is always among them.
type top struct {
	row [mostRows]int
	n   int
	of  int
}

const mostRows = 8

// pick selects at most n rows.
func (t *top) pick(rows []meter.Row, n int) {
	t.n, t.of = 0, 0
	grows := -1
	for i := range rows {
		w := &rows[i]
		if w.InUse|w.Live == 0 && w.Allocs == 0 && w.Refused == 0 {
			continue
		}
		t.of++
		if w.Growth > 0 && (grows < 0 || w.Growth > rows[grows].Growth) {
			grows = i
		}
		t.insert(rows, i, n)
	}
	if grows >= 0 && t.n > 0 && !slices.Contains(t.row[:t.n], grows) {
		t.row[t.n-1] = grows
	}
}

// insert puts row i in its place, the first of equals first.
func (t *top) insert(rows []meter.Row, i, n int) {
	k := t.n
	for k > 0 && rows[t.row[k-1]].InUse < rows[i].InUse {
		k--
	}
	if k >= n {
		return
	}
	t.n = min(t.n+1, n)
	copy(t.row[k+1:t.n], t.row[k:t.n])
	t.row[k] = i
}

// columns are where the figures of a table end, and where its bars and curves lie.
type columns struct {
	bar, barW                                          float32
	used, committed, budget, peak, allocs, most, fails float32
	curve, curveW                                      float32
	nameX                                              float32
	nameChars                                          int
}

var (
	fullColumns = columns{nameX: 18, nameChars: 12, bar: 102, barW: 56, used: 224, committed: 290, budget: 356, peak: 422,
		allocs: 470, most: 506, fails: 536, curve: 544, curveW: 40}
	narrowColumns = columns{nameX: 18, nameChars: 12, bar: 102, barW: 70, used: 236, curve: 240, curveW: 56}
)

func (o *Overlay) table() *columns {
	if o.scr.full {
		return &fullColumns
	}
	return &narrowColumns
}

// verdictLines is how many lines the answers take. The Go heap and what is scarce share one if there is little space;
// without a manager of the game's nothing is scarce.
func (o *Overlay) verdictLines() int {
	if o.scr.full && o.own != nil {
		return 3
	}
	return 4
}

func (o *Overlay) tierLines() int {
	n := o.verdictLines() + 1 + firstTag - o.firstRow() + o.verdict.tags.n + o.verdict.pools.n
	return n + worstLines - o.verdict.less
}

// worstLines is how many lines the worst frame takes.
const worstLines = 2

// fit leaves out rows of pools, and then of tags, the smallest first, until the panel is at most high. If that is not
// enough it leaves out the worst frame, then what is no tier. On a phone or a split screen it then leaves out the last
// tiers: a line in their place reports how many.
func (o *Overlay) fit(high float32) {
	less, most := &o.verdict.less, worstLines+firstTag-goRow
	if _, _, split := o.avoided(); split || o.scr.phone {
		most = worstLines + firstTag - 2
	}
	for *less = 0; ; {
		_, rows := o.size(int(Tiers))
		tags, pools := &o.verdict.tags, &o.verdict.pools
		switch {
		case float32(rows*render.Grid) <= high:
			return
		case pools.n > 1 || pools.n == 1 && tags.n <= 1:
			pools.pick(o.meter.Pools(), pools.n-1)
		case tags.n > 0:
			tags.pick(o.tagRows(), tags.n-1)
		case *less == 0:
			*less = worstLines
		case o.own == nil && *less < most:
			*less++
		default:
			return
		}
	}
}

// firstRow is the first row that is shown: the tiers of a manager that New made are unused.
func (o *Overlay) firstRow() int {
	if o.own != nil {
		return int(tiers.Count)
	}
	return 0
}

// drawTiers is the answer, the table, and the worst frame.
func (o *Overlay) drawTiers() {
	if o.closed() {
		return
	}
	o.drawVerdict()
	i := o.verdictLines()
	o.drawHeader(i)
	rows := o.meter.Rows()
	end := firstTag - max(o.verdict.less-worstLines, 0)
	for k := o.firstRow(); k < end; k++ {
		if i++; k == end-1 && end < goRow {
			l := o.line(i)
			l.count(render.Amber, uint64(goRow-k))
			if o.scr.h > o.scr.w {
				l.text(render.Amber, " more tiers: turn to a wider screen")
			} else {
				l.text(render.Amber, " more tiers need a higher screen")
			}
			break
		}
		o.drawRow(i, &rows[k], k)
	}
	for _, k := range o.verdict.tags.row[:o.verdict.tags.n] {
		i++
		if k+firstTag < len(rows) {
			o.drawRow(i, &rows[k+firstTag], k+firstTag)
		}
	}
	pools := o.meter.Pools()
	for _, k := range o.verdict.pools.row[:o.verdict.pools.n] {
		i++
		if k < len(pools) {
			o.drawRow(i, &pools[k], k)
		}
	}
	if o.verdict.less == 0 {
		o.drawWorst(i + 1)
	}
}

// drawHeader names the columns, and the axis of the bars.
func (o *Overlay) drawHeader(i int) {
	c, y, p := o.table(), o.y(i), &o.panel
	p.Q.Rect(p.X+render.Grid, p.Y+y+14, p.W-2*render.Grid, 1, render.PanelEdge)
	p.Label(c.bar, y, render.PanelQuiet, "1K")
	p.Label(c.bar+c.barW/2-6, y, render.PanelQuiet, "1M")
	p.LabelRight(c.bar+c.barW, y, render.PanelQuiet, "1G")
	p.LabelRight(c.used, y, render.PanelQuiet, "in use")
	b := append(render.AppendFixed(o.buf[:0], o.cfg.window().Seconds(), 0, 0), " s"...)
	p.Q.TextBytes(p.Font, p.X+c.curve+c.curveW-float32(len(b)*render.GlyphW), p.Y+y, 1, render.PanelQuiet, b)
	if o.scr.full {
		p.LabelRight(c.committed, y, render.PanelQuiet, "committed")
		if o.own == nil {
			p.LabelRight(c.budget, y, render.PanelQuiet, "of budget")
		}
		p.LabelRight(c.peak, y, render.PanelQuiet, "peak")
		p.LabelRight(c.allocs, y, render.PanelQuiet, "alloc/s")
		p.LabelRight(c.most, y, render.PanelQuiet, "most")
		p.LabelRight(c.fails, y, render.PanelQuiet, "fail")
	}
}

// drawRow is what is known of a tier, a tag or a pool; k is its number among its like.
func (o *Overlay) drawRow(i int, w *meter.Row, k int) {
	c, y, p, accent := o.table(), o.y(i), &o.panel, colorOf(w)
	level := o.level(w)
	grows := w.Grows()
	if grows {
		p.Q.Rect(p.X+4, p.Y+pad+float32(i)*o.scr.pitch, p.W-8, o.scr.pitch, render.White.Fade(0.09))
	}
	switch w.Kind {
	case meter.TagRow:
		p.Label(8, y, render.PanelQuiet, "#")
	case meter.PoolRow:
		p.Q.Rect(p.X+10, p.Y+y+6, 3, 3, accent)
	default:
		p.Swatch(8, y+5, accent)
	}
	o.name(c.nameX, y, c.nameChars, alarm(accent, level), w.Name)
	if grows {
		p.Label(c.nameX+float32(c.nameChars*render.GlyphW)+3, y, render.White, "▲")
	}
	g := render.Gauge{InUse: w.InUse, Committed: w.Committed, Budget: w.Budget, Peak: w.Peak}
	p.Gauge(c.bar, y+5, c.barW, 7, g, alarm(accent, level))
	p.Bytes(c.used, y, render.PanelText, w.InUse)
	o.curve(c, y, w, k, accent)
	if !o.scr.full {
		return
	}
	switch {
	case w.Budget > 0:
		p.Bytes(c.committed, y, alarm(render.PanelText, level), w.Committed)
		p.Bytes(c.budget, y, render.PanelQuiet, w.Budget)
	case w.Committed > 0:
		p.Bytes(c.committed, y, render.PanelQuiet, w.Committed)
	}
	if w.Budget == 0 && grows { // the column is empty
		b := appendRate(o.buf[:0], w.Growth)
		p.Q.TextBytes(p.Font, p.X+c.budget+4-float32(len(b)*render.GlyphW), p.Y+y, 1, render.White, b)
	}
	p.Bytes(c.peak, y, render.PanelQuiet, w.Peak)
	p.Count(c.allocs, y, quietZero(uint64(w.Allocs+0.5)), uint64(w.Allocs+0.5))
	p.Count(c.most, y, quietZero(w.Most), w.Most)
	fails := quietZero(w.Refused)
	if w.Failures > 0 {
		fails = o.refusal(w)
	}
	p.Count(c.fails, y, fails, w.Refused)
}

func quietZero(v uint64) render.Color {
	if v == 0 {
		return render.PanelQuiet
	}
	return render.PanelText
}

// level is the used share of a limit: committed bytes of a budget, or bytes in use of the frame's memory.
func (o *Overlay) level(w *meter.Row) float64 {
	if w.Kind == meter.TierRow && w.Tier == tiers.Frame {
		return o.meter.Verdict().Frame
	}
	return w.Tight()
}

// points is the number of points of a curve, about a pixel and a half each. With all values the curves would be
// half of the panel's cost.
const points = 40

// curve draws the window of a row.
func (o *Overlay) curve(c *columns, y float32, w *meter.Row, k int, accent render.Color) {
	var all [meter.SlotCount]float32
	known := 0
	if w.Kind == meter.PoolRow {
		known = o.meter.PoolCurve(k, &all)
	} else {
		known = o.meter.Curve(k, &all)
	}
	var few [points]float32
	o.panel.Sparkline(c.curve, y+3, c.curveW, o.scr.pitch-3, fewer(&all, known, &few), points, 0, accent)
}

// fewer writes the most of the slots that become a point to few, and returns those that are known.
func fewer(all *[meter.SlotCount]float32, known int, few *[points]float32) []float32 {
	const each = meter.SlotCount / points
	for i := range few {
		few[i] = 0
		for _, v := range all[each*i : each*i+each] {
			if v > few[i] {
				few[i] = v
			}
		}
	}
	return few[points-min((known+each-1)/each, points):]
}
