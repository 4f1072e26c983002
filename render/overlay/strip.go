package overlay

import (
	"cmp"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/strata-go/strata/memory/meter"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
)

// A flow puts labelled figures side by side and begins a new line when one is full. Without a pen it only notes the
// widths in Overlay.slots.
type flow struct {
	o     *Overlay
	x     float32
	line  int
	width float32
	most  int // lines
	pen   bool
}

// drawn reports whether figures are written: those of further lines are left out.
func (f *flow) drawn() bool { return f.pen && f.line < f.most }

// slot takes the space of a label followed by a figure of so many characters, and writes the label. The figure ends
// at the returned x.
func (f *flow) slot(label string, chars int) (x, y float32) {
	named := utf8.RuneCountInString(label)
	w := float32((named + 1 + chars) * render.GlyphW)
	if !f.pen {
		f.o.slots = append(f.o.slots, w)
		return 0, 0
	}
	if f.x > render.Grid && f.x+w > f.width-render.Grid {
		f.x, f.line = render.Grid, f.line+1
	}
	left := f.x
	f.x += w + slotGap
	y = f.o.y(f.line)
	if f.drawn() {
		f.o.panel.Label(left, y, render.PanelQuiet, label)
	}
	return left + w, y
}

// slotGap separates the figures of a line.
const slotGap = 3 * render.GlyphW

// slotLines returns how many lines slots take at a width.
func slotLines(slots []float32, width float32) int {
	n, x := 1, float32(render.Grid)
	for _, w := range slots {
		if x > render.Grid && x+w > width-render.Grid {
			n, x = n+1, render.Grid
		}
		x += w + slotGap
	}
	return n
}

// even returns the least width, of at most width, at which slots take no more lines. With it the last line has as
// many figures as it can have.
func even(slots []float32, width float32) float32 {
	n := slotLines(slots, width)
	for w := width - render.GlyphW; w > 0 && slotLines(slots, w) == n; w -= render.GlyphW {
		width = w
	}
	return width
}

// figure writes b, ending at x.
func (f *flow) figure(x, y float32, c render.Color, b []byte) {
	if f.drawn() {
		f.o.q.TextBytes(f.o.font, f.o.panel.X+x-float32(len(b)*render.GlyphW), f.o.panel.Y+y, 1, c, b)
	}
}

// stripLines returns how many lines the strip has, including temporary messages.
func (o *Overlay) stripLines() int {
	n := o.statusLines()
	if o.Shown(Strip) && !o.closed() {
		f := flow{o: o}
		o.slots = o.slots[:0]
		f.vitals()
		n += min(slotLines(o.slots, float32(min(wide, o.scr.across())*render.Grid)), o.stripMost())
	}
	return n
}

func (o *Overlay) drawStrip() {
	i := 0
	if o.Shown(Strip) && !o.closed() {
		f := flow{o: o, x: render.Grid, width: even(o.slots, o.panel.W), most: o.stripMost(), pen: true}
		f.vitals()
		i = min(f.line+1, f.most)
	}
	o.drawStatus(i)
}

// vitals are rates, times, the collector, how much memory there is, and the game's own monitors.
func (f *flow) vitals() {
	o := f.o
	t := o.meter.Times()
	number := func(label string, chars int, c render.Color, v float64, prec int) {
		x, y := f.slot(label, chars)
		f.figure(x, y, c, render.AppendFixed(o.buf[:0], v, prec, 0))
	}
	millis := func(label string, c render.Color, seconds float64) {
		x, y := f.slot(label, 5)
		f.figure(x, y, c, appendMillis(o.buf[:0], seconds))
	}
	number("fps", 3, render.PanelText, min(o.rates.fps, 999), 0)
	number("tps", 3, render.PanelText, min(o.rates.tps, 999), 0)
	millis("frame ms", render.PanelText, t.Median.Seconds())
	millis("p99", o.late(t.P99.Seconds()), t.P99.Seconds())
	millis("worst", o.late(t.Most.Seconds()), t.Most.Seconds())
	number("go allocs/frame", 4, render.PanelText, min(o.rates.objects, 9999), 0)
	g := &o.meter.Snapshot().Go
	number("gc", 3, render.PanelText, min(float64(g.Cycles), 9999), 0)
	fine := func(label string, seconds float64) {
		x, y := f.slot(label, 4)
		f.figure(x, y, render.PanelText, appendFine(o.buf[:0], seconds))
	}
	fine("gc pause", g.MaxPause)
	fine("gc mark", markEach(g.Mark, g.Cycles))
	o.memoryFigure(f)
	for _, m := range o.meter.Monitors() {
		label := cut(m.Name, 16)
		unit := cut(m.Unit, 8)
		chars := 5
		if unit != "" {
			chars += 1 + utf8.RuneCountInString(unit)
		}
		x, y := f.slot(label, chars)
		right := x
		if unit != "" {
			right -= float32((1 + utf8.RuneCountInString(unit)) * render.GlyphW)
			if f.drawn() {
				o.panel.Label(right+render.GlyphW, y, render.PanelQuiet, unit)
			}
		}
		f.figure(right, y, render.PanelText, appendMonitor(o.buf[:0], m.Value()))
	}
}

// memoryFigure is the committed memory of all tiers, or the Go heap if a game has no manager, with a mark if it
// grows.
func (o *Overlay) memoryFigure(f *flow) {
	sum, label := uint64(0), "mem"
	for t := range o.meter.Rows()[:tiers.Count] {
		sum += o.meter.Rows()[t].Committed
	}
	if o.own != nil {
		sum, label = o.meter.Snapshot().Go.HeapBytes, "heap"
	}
	x, y := f.slot(label, render.BytesWidth)
	f.figure(x, y, render.PanelText, render.AppendBytes(o.buf[:0], sum))
	v := o.meter.Verdict()
	if w := cmp.Or(v.Growing, v.Tag, v.Pool); w != nil {
		name := cut(w.Name, 9)
		x, y = f.slot("▲", 9)
		f.figure(x-float32((9-utf8.RuneCountInString(name))*render.GlyphW), y, colorOf(w), append(o.buf[:0], name...))
	}
}

// appendMonitor appends a figure of at most six characters and a sign, without decimals if it is whole.
func appendMonitor(dst []byte, v float64) []byte {
	switch size := math.Abs(v); {
	case !(size < 1e15):
		return append(dst, '-')
	case v <= -100_000:
		return appendMonitor(append(dst, '-'), -v)
	case v >= 100_000:
		n := len(dst)
		dst = render.AppendCount(dst, uint64(v))
		for len(dst) > n && dst[n] == ' ' {
			copy(dst[n:], dst[n+1:])
			dst = dst[:len(dst)-1]
		}
		return dst
	case size >= 1000 || v == math.Trunc(v):
		return render.AppendFixed(dst, v, 0, 0)
	}
	return render.AppendFixed(dst, v, 1, 0)
}

// late colours a frame time: from one and a half frames on it is amber, from two red.
func (o *Overlay) late(seconds float64) render.Color {
	frame := o.cfg.Meter.Frame.Seconds()
	frame = cmp.Or(frame, 1.0/60)
	switch {
	case seconds > 2.05*frame:
		return render.Red
	case seconds > 1.5*frame:
		return render.Amber
	}
	return render.PanelText
}

// statusLines and drawStatus are what must be said whether the strip is open or not.
func (o *Overlay) statusLines() int {
	n := 0
	for _, on := range [...]bool{o.closed() && len(o.open) > 0, o.faults.on, o.frozen, o.crowded > 0, o.dump.busy(), o.note.text != ""} {
		if on {
			n++
		}
	}
	if o.scrubs() {
		n += 2
	}
	return n
}

func (o *Overlay) drawStatus(i int) {
	say := func(c render.Color, s string) line {
		l := o.line(i)
		l.word(c, s)
		i++
		return l
	}
	if o.closed() && len(o.open) > 0 {
		say(render.Amber, "the memory manager is closed: nothing is measured")
	}
	if o.faults.on {
		l := say(render.Red, "FAULTS: no tier gets another page.")
		l.word(render.White, o.keyName(keyFaults))
		l.text(render.Red, "ends it")
	}
	if o.frozen {
		l := say(render.Amber, "FROZEN:")
		l.word(render.White, o.keyName(keyFreeze))
		l.word(render.Amber, "goes on,")
		l.word(render.White, "Shift")
		l.text(render.Amber, "with it: one tick")
	}
	if o.scrub.bar.w = 0; o.scrubs() {
		o.drawScrub(i)
		i += 2
	}
	if o.crowded > 0 {
		o.drawCrowded(say(render.Amber, "no space for"))
	}
	if o.dump.busy() {
		say(render.PanelText, "writing the dump")
	}
	if o.note.text != "" {
		c := render.PanelText
		if o.note.wrong {
			c = render.Red
		}
		say(c, o.note.text)
	}
}

// drawCrowded names the parts that are open and do not fit.
func (o *Overlay) drawCrowded(l line) {
	left := o.crowded
	for _, k := range o.open {
		if k == int(Strip) || slices.ContainsFunc(o.placed, func(p place) bool { return p.part == k }) {
			continue
		}
		l.text(render.PanelText, o.parts[k].name)
		if left--; left > 0 {
			l.word(render.Amber, ",")
		}
	}
	l.text(render.Amber, ": close a panel")
}

// rowCount is how many tags, and pools, have a row.
func (o *Overlay) rowCount() int {
	if o.scr.full {
		return 8
	}
	return 3
}

// tagRows are the meter's rows of tags.
func (o *Overlay) tagRows() []meter.Row { return o.meter.Rows()[tiers.Count+2:] }

// The rows after those of the tiers.
const (
	goRow    = int(tiers.Count)
	firstTag = goRow + 2
)
