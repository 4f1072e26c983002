package render

import (
	"slices"
	"time"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/strata-go/strata/memory/tiers"
)

// Facts are what an overlay shows that the manager cannot know.
type Facts struct {
	Entities, Particles int
	Quads, Dropped      int // of the last frame
}

// TierColors are the accents by which the tiers are known wherever they appear.
var TierColors = [tiers.Count]Color{
	tiers.Static: RGB(0x7aa2ff), tiers.Frame: RGB(0x5ad1ff), tiers.Level: RGB(0x8be36b), tiers.Pools: RGB(0xffd166),
	tiers.Slab: RGB(0xc792ea), tiers.Large: RGB(0xff8fa3), tiers.Inbox: RGB(0x4fe0c0),
}

// An Overlay is the instrument panel of a manager. Strip is one line of vital signs; Tiers is
// a row for each tier and a verdict. It remembers four seconds, whether it shows or not.
//
// It answers: what is eating the memory, what is growing, and does this frame fit? Figures
// change four times a second, so that they can be read; bars and curves live.
type Overlay struct {
	Strip bool    // F1
	Tiers bool    // F3
	Y     float32 // how far below the top it begins, in logical pixels

	bottom float32 // where it ended, in logical pixels
	font   *Font
	now    tiers.Snapshot
	shown  tiers.Snapshot // as of the last change of figures
	used   [tiers.Count]Samples
	times  Samples // milliseconds between frames
	sort   [SampleCount]float32

	draws         uint64
	last          time.Time
	objects       uint64 // the runtime's count at the last change of figures
	perFrame      float64
	fps, tps      float64
	p50, p99, max float32
	facts         Facts
	buf           [96]byte
}

// NewOverlay returns an overlay that writes with f. Both parts are hidden.
func NewOverlay(f *Font) *Overlay { return &Overlay{font: f} }

// Keys switches the parts by the function keys pressed in this tick.
func (o *Overlay) Keys(f [9]bool) {
	o.Strip = o.Strip != f[1]
	o.Tiers = o.Tiers != f[3]
}

// refresh is how many frames the figures stand.
const refresh = 15

// Draw samples the manager and writes what is switched on, in the same batch as the game. It
// allocates nothing. Call it once a frame, inside the frame.
func (o *Overlay) Draw(q *Quads, m *tiers.Manager, facts Facts) {
	o.sample(m)
	if o.draws%refresh == 1 {
		o.settle(facts)
	}
	if o.bottom = 0; !o.Strip && !o.Tiers {
		return
	}
	old := q.View()
	v := View{Scale: old.Scale, X: old.X, Y: old.Y + o.Y*old.Scale}
	if old.Scale >= 2 { // one dot of the panel is one pixel at 1280 × 720
		v.Scale /= 2
	}
	q.SetView(v)
	y := float32(Grid)
	if o.Strip {
		o.strip(q, y)
		y += 4 * Grid
	}
	if o.Tiers {
		o.rows(q, m, y)
		y += tableRows * Grid
	}
	o.bottom = o.Y + y*v.Scale/old.Scale
	q.SetView(old)
}

// Bottom returns where the overlay last ended, in logical pixels from the top, or 0: what must
// be read beside it begins below.
func (o *Overlay) Bottom() float32 { return o.bottom }

// sample takes this frame's figures.
func (o *Overlay) sample(m *tiers.Manager) {
	m.Snapshot(&o.now)
	for t := range o.used {
		used := o.now.Tiers[t].InUse
		if tiers.Tier(t) == tiers.Frame {
			used = uint64(m.Frames().Current().Used())
		}
		o.used[t].Push(float32(used))
	}
	at := time.Now()
	if o.draws > 0 {
		o.times.Push(float32(at.Sub(o.last)) / 1e6)
	}
	o.last = at
	o.draws++
}

// settle changes the figures that stand.
func (o *Overlay) settle(facts Facts) {
	o.shown, o.facts = o.now, facts
	o.fps, o.tps = ebiten.ActualFPS(), ebiten.ActualTPS()
	if o.objects != 0 {
		o.perFrame = float64(o.now.Go.TotalObjects-o.objects) / refresh
	}
	o.objects = o.now.Go.TotalObjects
	n := o.times.Len()
	if n == 0 {
		return
	}
	for i := range n {
		o.sort[i] = o.times.At(i)
	}
	s := o.sort[:n]
	slices.Sort(s)
	o.p50, o.p99, o.max = s[n/2], s[n*99/100], s[n-1]
}

// strip is one line: rates, times, the collector, and how much is alive.
func (o *Overlay) strip(q *Quads, y float32) {
	p := NewPanel(q, o.font, Grid, y, 78, 3, PanelText)
	x := float32(Grid)
	put := func(name string, width float32, write func(x float32)) {
		p.Label(x, 5, PanelQuiet, name)
		x += float32(len(name)*GlyphW) + 4
		write(x + width)
		x += width + 14
	}
	put("fps", 18, func(x float32) { p.Int(x, 5, PanelText, int64(o.fps+0.5)) })
	put("tps", 18, func(x float32) { p.Int(x, 5, PanelText, int64(o.tps+0.5)) })
	put("ms", 30, func(x float32) { p.Fixed(x, 5, PanelText, float64(o.p50), 1, "") })
	put("99%", 30, func(x float32) { p.Fixed(x, 5, late(o.p99), float64(o.p99), 1, "") })
	put("max", 36, func(x float32) { p.Fixed(x, 5, late(o.max), float64(o.max), 1, "") })
	put("go objs", 24, func(x float32) { p.Int(x, 5, PanelText, int64(o.perFrame+0.5)) })
	put("gc", 18, func(x float32) { p.Int(x, 5, PanelText, int64(o.shown.Go.Cycles)) })
	put("ents", 36, func(x float32) { p.Int(x, 5, PanelText, int64(o.facts.Entities)) })
	put("parts", 42, func(x float32) { p.Int(x, 5, PanelText, int64(o.facts.Particles)) })
}

// late colours a frame time: a frame that took longer than one refresh is amber, two are red.
func late(ms float32) Color {
	switch {
	case ms > 34:
		return Red
	case ms > 18:
		return Amber
	}
	return PanelText
}

// The columns of the tier table; figures end at their x.
const (
	colName   = 20
	colBar    = 62
	barWidth  = 130
	colUsed   = 258
	colPeak   = 324
	colBudget = 390
	colAllocs = 430
	colFrees  = 470
	colFails  = 510
	colSpark  = 520
	sparkW    = 96
	rowHeight = 16
	tableRows = 2*(tiers.Count+4) + 1 // in grid steps
)

// rows is the table of tiers, then what is not in a tier, then the verdict.
func (o *Overlay) rows(q *Quads, m *tiers.Manager, y float32) {
	p := NewPanel(q, o.font, Grid, y, 78, tableRows, PanelText)
	for _, h := range [...]struct {
		x    float32
		name string
	}{{colUsed, "in use"}, {colPeak, "peak"}, {colBudget, "budget"}, {colAllocs, "alloc"}, {colFrees, "free"}, {colFails, "fail"}} {
		p.LabelRight(h.x, 4, PanelQuiet, h.name)
	}
	p.Label(colSpark, 4, PanelQuiet, "last 4 seconds")
	y = 4 + rowHeight
	for t := range tiers.Tier(tiers.Count) {
		o.row(&p, t, y)
		y += rowHeight
	}
	g := &o.shown.Go
	p.Swatch(8, y+5, PanelQuiet)
	p.Label(colName, y, PanelText, "go heap")
	p.Bytes(colUsed, y, PanelText, g.HeapBytes)
	p.buffer(colUsed+20, y, o.collector())
	y += rowHeight
	p.Swatch(8, y+5, PanelTrack)
	p.Label(colName, y, PanelText, "untracked")
	if o.shown.RSS == 0 {
		p.Label(colUsed-42, y, PanelQuiet, "unknown")
	} else {
		p.Bytes(colUsed, y, PanelText, o.shown.Untracked)
		p.Label(colUsed+20, y, PanelQuiet, "resident beyond tiers and Go: driver, libraries, code")
	}
	o.verdict(&p, m, y+rowHeight+4)
}

func (o *Overlay) row(p *Panel, t tiers.Tier, y float32) {
	live, s, c := &o.now.Tiers[t], &o.shown.Tiers[t], TierColors[t]
	p.Swatch(8, y+5, c)
	p.Label(colName, y, PanelText, t.String())
	p.Bar(colBar, y+3, barWidth, 9, Level{Used: live.InUse, Peak: live.Peak, Budget: live.Budget, Capacity: live.Reserved}, c)
	p.Bytes(colUsed, y, PanelText, s.InUse)
	p.Bytes(colPeak, y, PanelQuiet, s.Peak)
	p.Bytes(colBudget, y, PanelQuiet, s.Budget)
	p.Count(colAllocs, y, PanelQuiet, s.FrameAllocs)
	p.Count(colFrees, y, PanelQuiet, s.FrameFrees)
	fails := PanelQuiet
	if s.Failures > 0 {
		fails = Red
	}
	p.Count(colFails, y, fails, s.Failures)
	p.Sparkline(colSpark, y+1, sparkW, 13, &o.used[t], 0, c)
}

// collector writes how often and how long the collector has run.
func (o *Overlay) collector() []byte {
	b := AppendInt(append(o.buf[:0], "collections "...), int64(o.shown.Go.Cycles), 0)
	b = AppendInt(append(b, ", in play "...), int64(o.shown.Go.InPlay), 0)
	b = AppendFixed(append(b, ", longest pause "...), o.shown.Go.MaxPause*1e6, 0, 0)
	return append(b, " µs"...)
}

func (p *Panel) buffer(x, y float32, s []byte) {
	p.Q.TextBytes(p.Font, p.X+x, p.Y+y, 1, PanelQuiet, s)
}

// verdict answers in words: the largest tier, the one that grows, and whether the frame fits.
func (o *Overlay) verdict(p *Panel, m *tiers.Manager, y float32) {
	largest, growing, most := tiers.Tier(0), tiers.Tier(0), float32(0)
	for t := range tiers.Tier(tiers.Count) {
		if o.shown.Tiers[t].InUse > o.shown.Tiers[largest].InUse {
			largest = t
		}
		// Against the average of the first second remembered, so that breathing is not growth.
		if by := o.growth(t); t != tiers.Frame && by > most {
			growing, most = t, by
		}
	}
	x := float32(8)
	word := func(c Color, s string) {
		p.Label(x, y, c, s)
		x += float32(len(s)*GlyphW) + 6
	}
	word(PanelQuiet, "largest")
	word(TierColors[largest], largest.String())
	x += 14
	word(PanelQuiet, "growing")
	if most < 1024 {
		word(PanelText, "nothing")
	} else {
		word(TierColors[growing], growing.String())
		p.buffer(x, y, append(AppendBytes(append(o.buf[:0], '+'), uint64(most)), "/s"...))
		x += 84
	}
	x += 14
	word(PanelQuiet, "frame")
	cur := m.Frames().Current()
	peak, room := o.used[tiers.Frame].Max(), float32(cur.Used()+cur.Available())
	share := peak / max(room, 1)
	c, text := RGB(0x8be36b), "fits"
	if share > RedAt {
		c, text = Red, "is full"
	} else if share > AmberAt {
		c, text = Amber, "is tight"
	}
	word(c, text)
	p.buffer(x, y, AppendPercent(o.buf[:0], float64(share)))
	x += 40
	if o.facts.Dropped > 0 {
		word(Red, "quads dropped")
	}
}

// growth returns by how many bytes a second a tier has grown over the samples.
func (o *Overlay) growth(t tiers.Tier) float32 {
	s := &o.used[t]
	n := s.Len()
	if n < 120 {
		return 0
	}
	var before, after float32
	for i := range 30 {
		before += s.At(i) / 30
		after += s.At(n-1-i) / 30
	}
	return (after - before) / (float32(n-30) / 60)
}
