package render

import (
	"cmp"
	"math"
)

// Grid is the step of the overlay in pixels of the current view: a row is two steps high, a margin one step wide.
const Grid = 8

// The colours of panels. In all panels Amber is a warning and Red an alarm. The overlay has a colour for each tier of
// memory, its accent.
var (
	PanelBack  = Color{0.014, 0.018, 0.026, 0.93} // premultiplied
	PanelEdge  = Color{0.10, 0.12, 0.15, 0.5}
	PanelText  = RGB(0xd7dde6)
	PanelQuiet = RGB(0x7f8a99)
	PanelTrack = Color{0.09, 0.10, 0.13, 0.9}
	Amber      = RGB(0xffb02e)
	Red        = RGB(0xff4d4d)
)

// A bar is amber if the used share of the budget is at least AmberAt, and red if it is at least RedAt.
// If the budget is 0, the share of the capacity counts.
const (
	AmberAt = 0.75
	RedAt   = 0.90
)

// A Panel draws labels, figures, bars and sparklines into Q. Make a Panel on the stack in each frame. Methods take
// positions in pixels of the current view, counted from the panel's top left corner. Methods allocate nothing. Shapes
// that do not fit are counted in Q.Dropped.
type Panel struct {
	Q    *Quads
	Font *Font
	X, Y float32 // the top left corner
	W, H float32 // the size

	buf [32]byte // figures are formatted here
}

// NewPanel draws the translucent background of a panel and returns the panel. The panel's top left corner is (x, y).
// Its size is cols × rows steps of Grid. The line along the top has the accent's colour.
func NewPanel(q *Quads, f *Font, x, y float32, cols, rows int, accent Color) Panel {
	p := Panel{Q: q, Font: f, X: x, Y: y, W: float32(cols * Grid), H: float32(rows * Grid)}
	q.Rect(x, y, p.W, p.H, PanelBack)
	q.Border(x, y, p.W, p.H, 1, PanelEdge)
	q.Rect(x, y, p.W, 1, accent)
	return p
}

// Label writes text. Its top left corner is at (x, y), counted from the top left corner of the panel.
func (p *Panel) Label(x, y float32, c Color, s string) { p.Q.Text(p.Font, p.X+x, p.Y+y, 1, c, s) }

// LabelRight writes one line of text whose right edge is x.
func (p *Panel) LabelRight(x, y float32, c Color, s string) {
	p.Q.TextRight(p.Font, p.X+x, p.Y+y, 1, c, s)
}

// Int writes a number whose right edge is x.
func (p *Panel) Int(x, y float32, c Color, v int64) {
	p.right(x, y, c, AppendInt(p.buf[:0], v, 0))
}

// Fixed writes v with prec digits after the point, at most 6, followed by unit. The digits end at x, and the unit
// begins at x. Values beyond ±1e15 appear as ±1e15, and NaN as a dash.
func (p *Panel) Fixed(x, y float32, c Color, v float64, prec int, unit string) {
	// 'f' writes up to 309 digits: too many for buf.
	p.right(x, y, c, AppendFixed(p.buf[:0], min(max(v, -1e15), 1e15), min(prec, 6), 0))
	p.Label(x, y, PanelQuiet, unit)
}

// Bytes writes a size, BytesWidth characters wide, whose right edge is x.
func (p *Panel) Bytes(x, y float32, c Color, v uint64) { p.right(x, y, c, AppendBytes(p.buf[:0], v)) }

// Count writes a count, CountWidth characters wide, whose right edge is x.
func (p *Panel) Count(x, y float32, c Color, v uint64) { p.right(x, y, c, AppendCount(p.buf[:0], v)) }

func (p *Panel) right(x, y float32, c Color, s []byte) {
	p.Q.TextBytes(p.Font, p.X+x-float32(len(s)*GlyphW), p.Y+y, 1, c, s)
}

// Swatch draws a square of 6 × 6 pixels with its top left corner at (x, y). The overlay marks each tier of memory with
// one of these, in the tier's colour.
func (p *Panel) Swatch(x, y float32, accent Color) { p.Q.Rect(p.X+x, p.Y+y, 6, 6, accent) }

// A Level is shown by [Panel.Bar]. All fields have the same unit, such as bytes.
type Level struct {
	Used, Peak uint64
	Budget     uint64 // 0 means the capacity
	Capacity   uint64 // the full width
}

// share returns v as a part of the capacity, from 0 to 1.
func (l Level) share(v uint64) float32 {
	if l.Capacity == 0 {
		return 0
	}
	return float32(min(float64(v)/float64(l.Capacity), 1))
}

// Color returns Red if Used is at least 90 % of the budget, and Amber if it is at least 75 %. Below 75 %, and if budget
// and capacity are 0, Color returns accent.
func (l Level) Color(accent Color) Color {
	budget := cmp.Or(l.Budget, l.Capacity)
	switch used := float64(l.Used); {
	case budget == 0 || used < AmberAt*float64(budget):
		return accent
	case used < RedAt*float64(budget):
		return Amber
	}
	return Red
}

// Bar draws a level at (x, y) with size w × h. The track is the capacity, the filled part is Used, in the colour of
// [Level.Color]. If Used is not 0, at least one pixel is filled. A white mark shows a peak above 0. If the budget is
// above 0 and below the capacity, a red tint covers the track from the budget to the capacity.
func (p *Panel) Bar(x, y, w, h float32, l Level, accent Color) {
	q, c := p.Q, l.Color(accent)
	x, y = p.X+x, p.Y+y
	q.Rect(x, y, w, h, PanelTrack)
	if l.Budget > 0 && l.Budget < l.Capacity {
		bx := float32(math.Floor(float64(w * l.share(l.Budget))))
		q.Rect(x+bx, y, w-bx, h, Red.Fade(0.16))
		q.Rect(x+bx, y, 1, h, Red.Fade(0.8))
	}
	if l.Used > 0 {
		// Something in use is never shown as nothing.
		q.Gradient(x, y, max(w*l.share(l.Used), 1), h, c, c.Shade(0.72))
	}
	if l.Peak > 0 {
		px := min(max(w*l.share(l.Peak)-1, 0), w-1)
		q.Rect(x+px, y-1, 1, h+2, White.Fade(0.9))
	}
}
