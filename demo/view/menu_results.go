package view

import (
	"github.com/strata-go/strata/demo/shell"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/render"
)

// ending shows how a game went.
func (m *Menu) ending(s string) {
	m.dim(textDark)
	r, place, best := m.Source.Result()
	k, x := m.arrive(30), m.ui.W/2
	if r.Won {
		m.rays()
		m.embers()
	}
	scale, y := min(3, (m.ui.W-12)/render.Width(s, 1)), float32(24)
	if need := 33*scale + 28 + statisticsStep*float32(m.statisticsRows(&r)) + m.taken(r.Gifts, 0, false) + 8; y+need > m.top() {
		scale, y = 2, 4
	}
	w := render.Width(s, scale) / 2
	m.q.Glow(x, y+8*scale, w, m.accent().Light(0.16*k))
	m.q.TextCentre(m.font, x, y, scale, m.bright().Fade(k), s)
	y += 17 * scale
	m.q.Rect(x-w*k, y, 2*w*k, 1, m.accent().Fade(k))
	m.text = group(m.text[:0], int64(float32(r.Score)*m.arrive(50)))
	if m.Source.Age() >= 50 {
		m.text = group(m.text[:0], r.Score)
	}
	m.q.TextBytes(m.font, x-render.GlyphW*scale*float32(len(m.text))/2, y, scale, m.accent().Fade(k), m.text)
	y += 16 * scale
	switch {
	case place == 0 && best > 0:
		m.q.TextCentre(m.font, x, y, 1, m.bright().Fade(m.pulse(5, 0.25)), "A NEW BEST")
		y += 14
	case best > 0:
		m.text = group(append(m.text[:0], "BEST "...), best)
		m.q.TextBytes(m.font, x-render.GlyphW*float32(len(m.text))/2, y, 1, soft, m.text)
		y += 14
	}
	if r.Cause != "" {
		y = m.lines(x, y, m.ui.W-12, soft, r.Cause)
	}
	m.statistics(&r, y+4)
}

const (
	statisticsWide = 230 // of a column of figures, at most
	statisticsGap  = 24  // between two columns
	statisticsStep = 14  // from line to line
	statisticsHead = 3   // figures that each run has
)

// statisticsRows returns how many lines the figures of a run take.
func (m *Menu) statisticsRows(r *shell.Result) int {
	return (statisticsHead + len(r.Figures) + m.statisticsCols() - 1) / m.statisticsCols()
}

func (m *Menu) statisticsCols() int {
	if m.ui.tall() {
		return 1
	}
	return 2
}

// statistics lists the figures of a run from y down, in two columns if the canvas is wide, and the gifts below. The last
// figures are left out if there is no space above the items.
func (m *Menu) statistics(r *shell.Result, y float32) {
	const head, step = statisticsHead, statisticsStep
	cols, each := m.statisticsCols(), m.statisticsRows(r)
	free := m.top() - y - 8 - m.taken(r.Gifts, 0, false)
	each = min(each, max(int(free/step), head))
	all := min(head+len(r.Figures), cols*each)
	width := min(statisticsWide, (m.ui.W-24)/float32(cols)-12)
	left := (m.ui.W - width*float32(cols) - statisticsGap*float32(cols-1)) / 2
	for i := range all {
		x, at := left+(width+statisticsGap)*float32(i/each), y+step*float32(i%each)
		label, value := "REALM", r.Realm
		switch i {
		case 0:
		case 1:
			label, m.text = "TIME", clock(m.text[:0], r.Ticks)
		case 2:
			label, m.text = "FALLEN ENEMIES", group(m.text[:0], int64(r.Kills))
		default:
			label, value = r.Figures[i-head].Label, r.Figures[i-head].Value
		}
		if i == 1 || i == 2 {
			value = ""
			m.q.TextBytes(m.font, x+width-render.GlyphW*float32(len(m.text)), at, 1, m.bright(), m.text)
		}
		m.q.Text(m.font, x, at, 1, faint, label)
		m.q.TextRight(m.font, x+width, at, 1, m.bright(), value)
	}
	m.taken(r.Gifts, y+step*float32(each)+4, true)
}

// takenWide is how wide lines of gifts are at most: as wide as the figures above them.
const takenWide = 2*statisticsWide + statisticsGap

// taken lists the gifts in centred lines from y down, and returns where the next line begins. Without a pen it only
// measures.
func (m *Menu) taken(gifts []string, y float32, pen bool) float32 {
	m.text = m.text[:0]
	most := int(min(m.ui.W-12, takenWide) / render.GlyphW)
	flush := func() {
		if pen {
			m.q.TextBytes(m.font, m.ui.W/2-render.GlyphW*float32(len(m.text))/2, y, 1, soft, m.text)
		}
		m.text, y = m.text[:0], y+14
	}
	for _, g := range gifts {
		if len(m.text) > 0 && len(m.text)+len(gap)+len(g) > most {
			flush()
		}
		if len(m.text) > 0 {
			m.text = append(m.text, gap...)
		}
		m.text = append(m.text, g...)
	}
	if len(m.text) > 0 {
		flush()
	}
	return y
}

// rays draws slowly turning rays for a victory.
func (m *Menu) rays() {
	const n, soft = 9, 8
	x0, y0 := m.ui.W/2, float32(110)
	for i := range n {
		a := m.Time*0.08 + float32(i)*6.2831853/n
		if m.calm {
			a = float32(i) * 6.2831853 / n
		}
		for k := range soft { // one within the other: no ray has an edge
			half := 0.11 * float32(k+1) / soft
			x, y := x0+760*engine.Cos(a-half), y0+760*engine.Sin(a-half)
			x2, y2 := x0+760*engine.Cos(a+half), y0+760*engine.Sin(a+half)
			m.q.Tri(x0, y0, x, y, x2, y2, m.accent().Light(0.075/soft*m.arrive(40)))
		}
	}
}

// table lists the best runs: in one line each, or in two if the canvas is narrow.
func (m *Menu) table() {
	m.dim(textDark)
	m.heading("BEST RUNS", m.head())
	c := m.Source.Canvas()
	runs := m.Source.Runs()
	if len(runs) == 0 {
		m.q.TextCentre(m.font, m.ui.W/2, m.ui.H*0.47, 1, soft, "NO RUN IS KEPT YET")
		return
	}
	width := min(500, m.ui.W-12)
	left, top := (m.ui.W-width)/2, c.Head()+4
	step := min(20, (m.top()-top-18)/shell.BestRuns)
	wide := width >= 420
	if !wide {
		step = min(38, (m.top()-top)/shell.BestRuns)
		m.rewoundKey(runs, left, c.Head()-14)
	} else {
		m.rewoundKey(runs, left, top)
		m.row(left, top, width, faint, nil, 0)
		top += 18
	}
	result, place, _ := m.Source.Result()
	for i := range shell.BestRuns {
		y, c := top+step*float32(i), soft
		if i%2 == 0 {
			m.q.Rect(left, y-1, width, step, render.White.Fade(0.03))
		}
		if i >= len(runs) {
			m.text = render.AppendInt(m.text[:0], int64(i+1), 0)
			x := left + 8
			if wide {
				x = left + 20 - float32(len(m.text))*render.GlyphW
			}
			m.q.TextBytes(m.font, x, y, 1, faint.Fade(0.5), m.text)
			continue
		}
		r := &runs[i]
		if r.Won {
			c = m.accent()
		}
		if place == i && r.Score > 0 && *r == result.Run {
			c = m.bright()
		}
		if wide {
			m.row(left, y, width, c, r, i)
		} else {
			m.pair(left, y, width, c, r, i)
		}
	}
}

// row writes a run in a line, or without a run the heads of the columns.
func (m *Menu) row(left, y, width float32, c render.Color, r *shell.Run, i int) {
	ends := [...]float32{20, 110, 0, width * 0.54, width * 0.7, width - 4}
	if r == nil {
		for k, s := range [...]string{"", "SCORE", "", "TIME", "FALLEN", "DAY OR SEED"} {
			m.q.TextRight(m.font, left+ends[k], y, 1, c, s)
		}
		m.q.Text(m.font, left+126, y, 1, c, "REALM")
		return
	}
	cell := func(k int, b []byte) {
		m.q.TextBytes(m.font, left+ends[k]-float32(len(b))*render.GlyphW, y, 1, c, b)
	}
	cell(0, render.AppendInt(m.text[:0], int64(i+1), 0))
	cell(1, group(m.text[:0], r.Score))
	m.rewound(r, left+112, y+8, c)
	m.q.Text(m.font, left+126, y, 1, c, r.Realm)
	cell(3, clock(m.text[:0], r.Ticks))
	cell(4, group(m.text[:0], int64(r.Kills)))
	cell(5, m.origin(r))
}

// rewound marks a run that was rewound.
func (m *Menu) rewound(r *shell.Run, x, y float32, c render.Color) {
	for i := range min(r.Rewinds, 2) {
		px := x + 5*float32(i)
		m.q.Tri(px, y, px+5, y-3.5, px+5, y+3.5, c)
	}
}

// rewoundKey explains the mark of runs that were rewound, if there are any.
func (m *Menu) rewoundKey(runs []shell.Run, left, y float32) {
	for i := range runs {
		if runs[i].Rewinds > 0 {
			m.rewound(&shell.Run{Rewinds: 1}, left+8, y+8, faint)
			m.q.Text(m.font, left+18, y, 1, faint, "REWOUND")
			return
		}
	}
}

// origin is the day of a daily run, or the seed.
func (m *Menu) origin(r *shell.Run) []byte {
	if r.Day != "" {
		return append(m.text[:0], r.Day...)
	}
	return render.AppendInt(m.text[:0], int64(r.Seed), 0)
}

// pair writes a run in two lines.
func (m *Menu) pair(left, y, width float32, c render.Color, r *shell.Run, i int) {
	b := append(render.AppendInt(m.text[:0], int64(i+1), 0), "  "...)
	m.q.TextBytes(m.font, left+8, y, 1, c, group(b, r.Score))
	m.q.TextRight(m.font, left+width-8, y, 1, c, r.Realm)
	b = append(clock(m.text[:0], r.Ticks), "  FALLEN "...)
	m.q.TextBytes(m.font, left+26, y+15, 1, faint, group(b, int64(r.Kills)))
	m.rewound(r, left+10, y+23, c)
	if b = m.origin(r); r.Day == "" && r.Seed < 1e9 { // columns have no heads here
		b = render.AppendInt(append(m.text[:0], "SEED "...), int64(r.Seed), 0)
	}
	m.q.TextBytes(m.font, left+width-8-float32(len(b))*render.GlyphW, y+15, 1, faint, b)
}
