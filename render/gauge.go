package render

import "math"

// A Gauge is the use of a budget, in bytes. The axis of a gauge is logarithmic and reaches from 1 KiB to 1 GiB, so 40
// KiB and 400 MiB can be compared. Any value above 0 is visible.
type Gauge struct {
	InUse     uint64
	Committed uint64 // the bytes that the budget limits
	Budget    uint64 // 0 means no budget
	Peak      uint64 // high-water mark of InUse
}

// The ends of a gauge's axis: 1 KiB and 1 GiB. An octave is a twentieth of the axis.
const (
	gaugeLow     = 10
	gaugeOctaves = 20
)

// GaugeAt returns the position of v bytes on the logarithmic axis of a [Panel.Gauge], from 0 (1 KiB and less) to
// 1 (1 GiB and more).
func GaugeAt(v uint64) float32 {
	if v == 0 {
		return 0
	}
	return float32(min(max((math.Log2(float64(v))-gaugeLow)/gaugeOctaves, 0), 1))
}

// Color returns Red if at least 90 % of the budget are committed, and Amber if at least 75 % are. Below 75 %, and
// without a budget, Color returns accent.
func (g Gauge) Color(accent Color) Color {
	return Level{Used: g.Committed, Budget: g.Budget}.Color(accent)
}

// Gauge draws g at (x, y) with size w × h. Bytes in use have the colour c, committed bytes are dimmed. A red mark
// shows the budget, a red tint the part beyond it, and a white mark the peak. A budget or peak of 0 has no mark. Fine
// lines divide the axis at 32 KiB, 1 MiB and 32 MiB.
func (p *Panel) Gauge(x, y, w, h float32, g Gauge, c Color) {
	q := p.Q
	x, y = p.X+x, p.Y+y
	q.Rect(x, y, w, h, PanelTrack)
	at := func(v uint64) float32 { return max(w*GaugeAt(v), 1) }
	if g.Committed > 0 {
		q.Rect(x, y, at(g.Committed), h, c.Shade(0.36))
	}
	if g.InUse > 0 {
		q.Gradient(x, y, at(g.InUse), h, c, c.Shade(0.78))
	}
	for i := 1; i < 4; i++ {
		q.Rect(x+float32(i)*w/4, y, 1, h, Black.Fade(0.3))
	}
	if g.Budget > 0 {
		bx := min(at(g.Budget), w-1)
		q.Rect(x+bx, y, w-bx, h, Red.Fade(0.12))
		q.Rect(x+bx, y-1, 1, h+2, Red.Fade(0.9))
	}
	if g.Peak > 0 {
		q.Rect(x+min(at(g.Peak), w)-1, y-1, 1, h+2, White.Fade(0.9))
	}
}
