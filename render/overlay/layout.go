package overlay

import (
	"image"
	"math"
	"slices"
	"unicode/utf8"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/render"
)

// A screen is what is drawn on. Lengths are in the overlay's own pixels, of which one has scale of the
// screen's.
type screen struct {
	x, y, scale float32 // of the screen's
	w, h        float32
	pitch       float32 // from line to line: the grid's two steps, or a step and a half where it is low
	cols        int     // of a panel
	full        bool
	phone       bool            // the letters are larger, see Density
	slim        bool            // panels are narrow, so that all have space beside the rectangle of Avoid
	right       bool            // panels begin at the right
	mirror      int             // the sum of the left and the right edge of the picture
	spared      image.Rectangle // see Avoid
	within      image.Rectangle // see Within
	density     float32         // see Density
}

// A band is a range of the screen's height in which panels lie.
type band struct{ top, bottom float32 }

func (b band) high() float32 { return b.bottom - b.top }

// The widths of panels, in steps: two columns fit in 1280 pixels, or 640. On a screen of less than 320 pixels the scale
// is smaller, but not below the least: smaller letters cannot be read.
const (
	wide   = 74
	narrow = 38
	least  = 0.75
)

// On a phone the letters, which are 10 pixels high, have 12 device-independent pixels if a panel then fits.
const (
	phone    = 500 // device-independent pixels: the shorter side of a phone has less
	readable = 1.2
)

func (s *screen) set(scale float32, x, y, w, h int, preset Preset) {
	*s = screen{x: float32(x), y: float32(y), scale: 1, w: float32(w), h: float32(h), pitch: 2 * render.Grid,
		slim: s.slim, right: s.right, mirror: s.mirror, spared: s.spared, within: s.within, density: s.density}
	if scale == 0 {
		fits := s.w / ((narrow + 2) * render.Grid)
		if s.beside() {
			fits = min(fits, s.extent()/((narrow+1)*render.Grid))
		}
		halves := max(math.Floor(float64(h)/360), math.Floor(float64(2*s.density)))
		scale = min(float32(max(2, halves))/2, max(fits, least))
		if s.phone = float32(min(w, h)) < phone*s.density; s.phone {
			scale = max(scale, min(readable*s.density, fits))
		}
	}
	s.scale, s.w, s.h = scale, s.w/scale, s.h/scale
	if s.h < 600 {
		s.pitch = 12
	}
	s.widen(preset)
}

// widen sets how wide panels are.
func (s *screen) widen(preset Preset) {
	s.full = preset == Full || preset == Auto && s.w >= 960 && !s.slim
	s.cols = narrow
	if s.full {
		s.cols = wide
	}
	s.cols = min(s.cols, s.most())
}

// beside reports whether panels are beside the rectangle of Avoid. On an upright screen they are above and below it.
func (s *screen) beside() bool { return s.h <= s.w && !s.spared.Empty() }

// extent returns how far panels may reach from their side of the screen: to the rectangle of Avoid or its mirror image,
// whichever is farther away.
func (s *screen) extent() float32 {
	all, far := s.w-render.Grid, max(s.spared.Min.X, s.mirror-s.spared.Max.X)
	switch {
	case !s.beside():
		return all
	case s.right:
		return min(all, s.w-(float32(s.mirror-far)-s.x)/s.scale)
	}
	return min(all, (float32(far)-s.x)/s.scale)
}

// most returns how many steps fit side by side.
func (s *screen) most() int { return max(int(s.extent()/render.Grid+0.01)-1, 1) }

// across returns how many steps the strip may have.
func (s *screen) across() int { return max(int(s.w/render.Grid)-2, 1) }

// A place is the position of a part, in the overlay's pixels.
type place struct {
	part       int
	x, y, w, h float32
}

// pad is what is free above the first line and below the last.
const pad = 4

// size returns how many steps a part takes.
func (o *Overlay) size(k int) (cols, rows int) {
	if u := o.parts[k].user; u != nil {
		return min(u.Cols, o.scr.most()), u.Rows + 2
	}
	switch cols = o.scr.cols; {
	case k == int(Strip):
		cols = min(wide, o.scr.across())
	case o.parts[k].narrow:
		cols = min(narrow, cols)
	}
	lines := o.parts[k].lines(o)
	return cols, (lines*int(o.scr.pitch) + 2*pad + render.Grid - 1) / render.Grid
}

// layout places the open parts: the strip in the corner, then columns of panels in the order of the parts. If not
// all fit, those opened last are shown, and the strip has a line that names the others.
func (o *Overlay) layout() {
	if _, _, split := o.avoided(); split {
		o.scr.pitch = 12
	}
	for o.scr.right, o.scr.slim = o.corner.right(), false; ; o.scr.slim = true {
		o.scr.widen(o.cfg.Preset)
		if o.crowded = 0; !o.place() {
			return
		}
		o.place() // with that line, which may cost another one its place
		if !o.scr.beside() || !o.scr.full || o.cfg.Preset == Full {
			return
		}
	}
}

// edges returns the first and the last row that the game leaves to the overlay.
func (o *Overlay) edges() (top, bottom float32) {
	return round(render.Grid + o.cfg.Top*o.scr.h), round(o.scr.h - render.Grid - o.cfg.Bottom*o.scr.h)
}

// stripMost returns how many lines of figures the strip has space for above or below the rectangle of Avoid, at least
// one.
func (o *Overlay) stripMost() int {
	if !o.scr.beside() {
		return math.MaxInt
	}
	top, bottom := o.edges()
	over, under, _ := o.avoided()
	high := over - top
	if o.corner.bottom() {
		high = bottom - under
	}
	rows := int(high) / render.Grid
	return max(int(float32(rows*render.Grid-2*pad)/o.scr.pitch)-o.statusLines(), 1)
}

// place is layout with as many parts left out as were the last time, and reports whether some are.
func (o *Overlay) place() bool {
	o.placed = o.placed[:0]
	top, bottom := o.edges()
	if o.Shown(Strip) || o.stripLines() > 0 {
		cols, rows := o.size(int(Strip))
		p := place{part: int(Strip), w: float32(cols * render.Grid), h: float32(rows * render.Grid)}
		p.x, p.y = o.side(0, p.w), top
		if o.corner.bottom() {
			bottom -= p.h + render.Grid
			p.y = bottom + render.Grid
		} else {
			top += p.h + render.Grid
		}
		o.placed = append(o.placed, p)
	}
	first, second := o.bands(top, bottom)
	high := max(first.high(), second.high())
	if o.Shown(Help) {
		o.fitHelp(high)
	}
	if o.Shown(Tiers) {
		o.fit(high)
	}
	if o.Shown(Maps) {
		o.fitMaps(high)
	}
	if o.Shown(Memory) {
		o.fitMemory(high)
	}
	n := len(o.placed)
	from := 0
	for from < len(o.open) && !o.columns(o.open[from:], first, second, o.lastPanel(from)) {
		o.placed = o.placed[:n]
		from++
	}
	o.crowded = 0
	for _, k := range o.open[:from] {
		if k != int(Strip) {
			o.crowded++
		}
	}
	return o.crowded > 0
}

// lastPanel reports whether there is at most one panel among those that were opened from then on.
func (o *Overlay) lastPanel(from int) bool {
	n := 0
	for _, k := range o.open[from:] {
		if k != int(Strip) {
			n++
		}
	}
	return n <= 1
}

// avoided returns the edges of the rectangle of Avoid, and whether it splits the screen: whether panels as wide as
// usual would reach it.
func (o *Overlay) avoided() (top, bottom float32, split bool) {
	s, r := &o.scr, o.scr.spared
	at := func(x int, from float32) float32 { return (float32(x) - from) / s.scale }
	w := float32(s.cols * render.Grid)
	x := o.side(0, w)
	return at(r.Min.Y, s.y), at(r.Max.Y, s.y), s.h > s.w && !r.Empty() && x < at(r.Max.X, s.x) && x+w > at(r.Min.X, s.x)
}

// bands returns where panels lie between top and bottom: on a split screen first at the corner's side of the rectangle
// of Avoid, and then at the other side. Otherwise there is no second band.
func (o *Overlay) bands(top, bottom float32) (first, second band) {
	over, under, split := o.avoided()
	if !split {
		return band{top, bottom}, band{}
	}
	first, second = band{top, min(over, bottom)}, band{max(under, top), bottom}
	if o.corner.bottom() {
		first, second = second, first
	}
	return first, second
}

// columns places parts below each other, in the next band and in further columns, and reports whether they fit. The
// last remaining part is placed in any case: if it is too high for both bands, at the outer edge of the higher one.
func (o *Overlay) columns(open []int, b, next band, last bool) bool {
	x, used, widest := float32(0), float32(0), float32(0)
	rise := o.corner.bottom() // from the lower edge of the band
	for k := range o.parts {
		if k == int(Strip) || !slices.Contains(open, k) {
			continue
		}
		cols, rows := o.size(k)
		w, h := float32(cols*render.Grid), float32(rows*render.Grid)
		higher := last && max(b.high(), 0) < next.high()
		if used+h > b.high() && (higher || h <= next.high()) {
			rise = rise != (h > next.high())
			b, next, x, used, widest = next, band{}, 0, 0, 0
		}
		if used > 0 && used+h > b.high() {
			x, used, widest = x+widest+render.Grid, 0, 0
		}
		if !last && (used+h > b.high() || x+w > o.scr.extent()-render.Grid) {
			return false
		}
		y := b.top + used
		if rise {
			y = b.bottom - used - h
		}
		o.placed = append(o.placed, place{k, o.side(x, w), y, w, h})
		used, widest = used+h+render.Grid, max(widest, w)
	}
	return true
}

// side returns the left edge of a rectangle of width w that is x away from the corner's side.
func (o *Overlay) side(x, w float32) float32 {
	if o.corner.right() {
		return o.scr.w - render.Grid - x - w
	}
	return render.Grid + x
}

// drawPart draws one part at its place.
func (o *Overlay) drawPart(p *place) {
	k := &o.parts[p.part]
	o.panel = render.NewPanel(&o.q, o.font, p.x, p.y, int(p.w)/render.Grid, int(p.h)/render.Grid, render.PanelText)
	if k.user == nil {
		k.draw(o)
		return
	}
	o.panel.Label(8, 2, render.PanelQuiet, k.user.Title)
	o.panel.Y += 2 * render.Grid
	o.panel.H -= 2 * render.Grid
	k.user.Draw(&o.panel)
}

// y returns where the text cells of line i begin.
func (o *Overlay) y(i int) float32 {
	return pad + float32(i)*o.scr.pitch + (o.scr.pitch-render.GlyphH)/2
}

// edge returns the border above line i.
func (o *Overlay) edge(i int) float32 { return pad + float32(i)*o.scr.pitch }

// A line is words side by side. Text that does not fit ends in an ellipsis.
type line struct {
	o         *Overlay
	x, y, end float32
	full      bool
}

// line returns line i of the panel.
func (o *Overlay) line(i int) line {
	return line{o: o, x: render.Grid, y: o.y(i), end: o.panel.W - render.Grid}
}

// text writes s.
func (l *line) text(c render.Color, s string) {
	room := int((l.end - l.x) / render.GlyphW)
	n := utf8.RuneCountInString(s)
	if l.full || n > room {
		if !l.full && room > 0 {
			s = cut(s, room-1)
			l.o.panel.Label(l.x, l.y, c, s)
			l.o.panel.Label(l.x+float32((room-1)*render.GlyphW), l.y, c, "…")
		}
		l.full = true
		return
	}
	l.o.panel.Label(l.x, l.y, c, s)
	l.x += float32(n * render.GlyphW)
}

// word writes s and a space.
func (l *line) word(c render.Color, s string) {
	l.text(c, s)
	l.x += render.GlyphW
}

// bytes is text for what was formatted into a buffer.
func (l *line) bytes(c render.Color, b []byte) { l.text(c, unsafe.String(unsafe.SliceData(b), len(b))) }

// gap leaves space between separate statements.
func (l *line) gap() { l.x += 2 * render.GlyphW }

// size writes a number of bytes.
func (l *line) size(c render.Color, v uint64) { l.bytes(c, memory.AppendBytes(l.o.buf[:0], v)) }

// count writes a count.
func (l *line) count(c render.Color, v uint64) {
	l.bytes(c, render.AppendInt(l.o.buf[:0], int64(v), 0))
}

// plural returns the form of a noun for n of it.
func plural(n uint64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// millis writes a time.
func (l *line) millis(c render.Color, seconds float64) {
	l.bytes(c, append(appendMillis(l.o.buf[:0], seconds), " ms"...))
}

// appendMillis appends a time in milliseconds, of at most five characters.
func appendMillis(dst []byte, seconds float64) []byte {
	ms := min(max(seconds*1e3, 0), 99_999)
	if ms >= 999.95 {
		return render.AppendFixed(dst, ms, 0, 0)
	}
	return render.AppendFixed(dst, ms, 1, 0)
}

// appendRate appends growth, of at most ten characters: two figures or more are enough.
func appendRate(dst []byte, v float64) []byte {
	unit := 0
	for v = max(v, 0) / 1024; v >= 999.5 && unit < 2; unit++ {
		v /= 1024
	}
	prec := 0
	if v < 9.95 {
		prec = 1
	}
	dst = render.AppendFixed(append(dst, '+'), min(v, 9999), prec, 0)
	return append(append(dst, ' ', "KMG"[unit]), "iB/s"...)
}

// appendShortRate is appendRate of at most eight characters, as +54 K/s.
func appendShortRate(dst []byte, v float64) []byte {
	n := len(dst)
	dst = appendRate(dst, v)
	for i := n; i+3 < len(dst); i++ {
		if dst[i] == 'i' && dst[i+1] == 'B' {
			return append(dst[:i], dst[i+2:]...)
		}
	}
	return dst
}

// cut returns the first n characters of s.
func cut(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// name writes a name of at most n characters.
func (o *Overlay) name(x, y float32, n int, c render.Color, s string) {
	l := line{o: o, x: x, y: y, end: x + float32(n*render.GlyphW)}
	l.text(c, s)
}

func round(x float32) float32 { return float32(math.Floor(float64(x) + 0.5)) }
