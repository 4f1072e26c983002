package overlay

import (
	"math"
	"time"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/strata-go/strata/memory/resident"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
)

// accounts are what the panel of the process shows, as of the last change of figures.
type accounts struct {
	tiers    [tiers.Count]uint64 // bytes in use
	sum      uint64              // of the tiers: what is resident of them, with freed memory; in use if rest is 0
	goTotal  uint64              // what the Go runtime has of the system, its own needs included
	rss      uint64              // 0 where the system does not say
	rest     uint64
	gpu      int64
	library  ebiten.GraphicsLibrary
	level    uint64 // of which it is read, and inLevel
	inLevel  bool
	due      int // changes of figures until the kernel is asked; 0 when it was
	report   resident.Report
	reading  chan error    // nil while the kernel is not asked
	resident []residentRow // of the report
	rows     int           // of resident that have space
	asked    time.Time     // when
	total    uint64        // of the report
	unnamed  float64       // the share of it whose owner is unknown
	before   float64       // that of the report before
	again    int           // how often the query was repeated for that
	silent   bool          // the system does not report it
}

// A residentRow is the resident bytes of one kind of memory.
type residentRow struct {
	name  string
	bytes uint64
}

// openMemory begins with the former figures. The system is asked for resident memory after the panel has been open
// for half a second.
func (o *Overlay) openMemory() {
	o.memory.resident, o.memory.due, o.memory.again = o.memory.resident[:0], 2, 0
	o.sampleMemory()
}

// readResident asks the kernel for the resident memory of each kind. That takes milliseconds and some objects of the
// Go heap, so it runs on another goroutine. It happens when the panel is opened, when a level begins or ends, and
// when [accounts.old] reports it.
func (o *Overlay) readResident() {
	a := &o.memory
	if a.reading != nil {
		a.due = 1
		return
	}
	a.report.Note(o.m)
	done := make(chan error, 1)
	a.reading, a.asked = done, o.clock.read()
	go func() { done <- a.report.Fill() }()
}

// old reports whether the resident memory differs by an eighth from the last answer. It also reports true, up to
// three times, if the last answer had too much memory without an owner: the process changed during the query. But if
// the answer before had the same share, it stays. That of the race detector, for example, has no owner.
func (a *accounts) old() bool {
	if a.total == 0 || a.reading != nil {
		return false
	}
	if a.unnamed > mostUnnamed && math.Abs(a.unnamed-a.before) > mostUnnamed && a.again < 3 {
		a.again++
		return true
	}
	return a.rss > a.total+a.total/8 || a.rss < a.total-a.total/8
}

// mostUnnamed is the accepted share of resident memory without a known owner.
const mostUnnamed = 0.02

// pollResident takes the answer if it has arrived. own reports that New made the manager.
func (a *accounts) pollResident(own bool) {
	select {
	case err := <-a.reading:
		a.reading = nil
		a.resident = a.resident[:0]
		if a.silent = err != nil; a.silent {
			return
		}
		for c, u := range a.report.Classes {
			name := residentNames[c]
			if own && resident.Class(c) == resident.Tiers {
				name = "this instrument's reservation"
			}
			if u.RSS > 0 && resident.Class(c) != resident.Unexplained {
				a.resident = append(a.resident, residentRow{name, u.RSS})
			}
		}
		a.total, a.before, a.unnamed = a.report.RSS, a.unnamed, a.report.Share()
	default:
	}
}

// wait returns when the kernel is not asked any more.
func (a *accounts) wait() {
	if a.reading != nil {
		<-a.reading
		a.reading = nil
	}
}

var residentNames = [resident.Count]string{
	resident.Tiers: "tiers", resident.Pages: "other reservations", resident.GoHeap: "Go heap", resident.GoRuntime: "Go runtime",
	resident.Code: "code", resident.Libraries: "libraries", resident.Native: "C heap and made code", resident.Stacks: "stacks of threads",
	resident.Driver: "driver, shared memory", resident.Files: "other files",
}

// sampleMemory adds up.
func (o *Overlay) sampleMemory() {
	a, s := &o.memory, o.meter.Snapshot()
	if a.level != s.Level || a.inLevel != s.InLevel {
		a.level, a.inLevel, a.due, a.again = s.Level, s.InLevel, 2, 0
	}
	if a.due == 0 && a.old() {
		a.due = 2 * settles // while much is changing it is not asked all the time
	}
	if a.due > 0 {
		if a.due--; a.due == 0 {
			o.readResident()
		}
	}
	a.sum = 0
	for t := range a.tiers {
		a.tiers[t] = s.Tiers[t].InUse
		a.sum += a.tiers[t]
	}
	a.goTotal, a.rss, a.rest = s.Go.Total-s.Go.Released, s.RSS, s.Untracked
	if a.rest > 0 {
		a.sum = a.rss - a.goTotal - a.rest
	}
	var d ebiten.DebugInfo
	ebiten.ReadDebugInfo(&d)
	a.gpu, a.library = d.TotalGPUImageMemoryUsageInBytes, d.GraphicsLibrary
}

func (o *Overlay) memoryLines() int {
	lines := 8
	if n := o.memory.rows; n > 0 {
		lines = 10 + n
	}
	if o.cfg.Timeline != nil {
		lines++
	}
	return lines
}

// fitMemory leaves out rows of resident memory, the last ones first, until the panel is at most high. One row alone,
// which would have the sum of all, is left out too.
func (o *Overlay) fitMemory(high float32) {
	a := &o.memory
	for a.rows = len(a.resident); a.rows > 0; a.rows-- {
		if _, rows := o.size(int(Memory)); float32(rows*render.Grid) <= high && (a.rows > 1 || len(a.resident) == 1) {
			return
		}
	}
}

// drawMemory draws the process: a bar of the parts of its resident memory, and the figures that are not a part of it.
func (o *Overlay) drawMemory() {
	if o.closed() {
		return
	}
	a, p := &o.memory, &o.panel
	l := o.line(0)
	l.word(render.PanelQuiet, "resident")
	switch {
	case a.rss == 0:
		l.text(render.PanelText, "unknown on this system")
	case a.silent:
		l.size(render.PanelText, a.rss)
		l.text(render.PanelQuiet, " this system does not say whose")
	default:
		l.size(render.PanelText, a.rss)
		l.text(render.PanelQuiet, " = the three below")
	}
	o.drawShares(pad + o.scr.pitch + 3)
	right := p.W - 8
	row := func(i int, c render.Color, name string, v uint64) {
		y := o.y(i)
		p.Swatch(8, y+5, c)
		p.Label(18, y, c, name)
		p.Bytes(right, y, render.PanelText, v)
	}
	if o.own == nil {
		name := "tiers, with freed memory"
		if a.rest == 0 {
			name = "tiers, in use"
		}
		row(2, render.PanelText, name, a.sum)
	} else if o.heap.Known {
		row(2, render.PanelText, "Go heap, live", o.heap.Live)
	} else {
		p.Label(18, o.y(2), render.PanelQuiet, "Go heap, live: not known")
	}
	row(3, goColor, "Go heap and runtime", a.goTotal)
	row(4, restColor, "untracked: driver, libraries, code", a.rest)
	i := o.drawResident(5)
	p.Q.Rect(p.X+render.Grid, p.Y+o.edge(i), p.W-2*render.Grid, 1, render.PanelEdge)
	row(i, render.PanelQuiet, "GPU images, beside the sum", uint64(max(a.gpu, 0)))
	i++
	row(i, render.PanelQuiet, "this instrument, with its GPU page", o.bytes()+4*render.MinPage*render.MinPage)
	if o.cfg.Timeline != nil {
		i++
		used, reserved := o.cfg.Timeline.Memory()
		row(i, render.PanelQuiet, "states of past ticks, of", used)
		l = o.line(i)
		l.x = 18 + 25*render.GlyphW
		l.size(render.PanelQuiet, reserved)
	}
	i++
	l = o.line(i)
	l.x = 18
	l.text(render.PanelQuiet, "its time a frame, and at most")
	b := append(appendMicros(o.buf[:0], o.cost.mean.Seconds()), "  "...)
	b = append(appendMicros(b, o.cost.peak.Seconds()), " µs"...)
	p.Q.TextBytes(p.Font, p.X+right-float32((len(b)-1)*render.GlyphW), p.Y+l.y, 1, render.PanelText, b)
}

// drawResident draws the owners of the resident pages, and returns the next line.
func (o *Overlay) drawResident(i int) int {
	a, p := &o.memory, &o.panel
	if a.rows == 0 {
		return i
	}
	right := p.W - 8
	p.Q.Rect(p.X+render.Grid, p.Y+o.edge(i), p.W-2*render.Grid, 1, render.PanelEdge)
	l := o.line(i)
	l.word(render.PanelQuiet, "resident, by smaps")
	ago := max(o.clock.read().Sub(a.asked), 0)
	l.bytes(render.PanelQuiet, append(render.AppendFixed(o.buf[:0], ago.Seconds(), 0, 0), " s ago"...))
	p.Bytes(right, l.y, render.PanelText, a.total)
	for k, r := range a.resident[:a.rows] {
		i++
		if k == a.rows-1 && a.rows < len(a.resident) {
			r.name = "all others"
			for _, other := range a.resident[a.rows:] {
				r.bytes += other.bytes
			}
		}
		p.Label(18, o.y(i), render.PanelQuiet, r.name)
		p.Bytes(right, o.y(i), render.PanelText, r.bytes)
	}
	i++
	c := good
	if a.unnamed > mostUnnamed {
		c = render.Amber
	}
	p.Label(18, o.y(i), render.PanelQuiet, "unexplained")
	b := append(render.AppendFixed(o.buf[:0], 100*a.unnamed, 2, 0), '%')
	p.Q.TextBytes(p.Font, p.X+right-float32(len(b)*render.GlyphW), p.Y+o.y(i), 1, c, b)
	return i + 1
}

func appendMicros(dst []byte, seconds float64) []byte {
	return render.AppendFixed(dst, min(seconds*1e6, 999_999), 0, 0)
}

// drawShares is a bar from 0 to what is resident, or to the sum: tiers, the Go heap, the rest.
func (o *Overlay) drawShares(y float32) {
	a, p := &o.memory, &o.panel
	w, h := p.W-2*render.Grid, o.scr.pitch-5
	x, all := p.X+render.Grid, float64(max(a.rss, a.sum+a.goTotal+a.rest, 1))
	p.Q.Rect(x, p.Y+y, w, h, render.PanelTrack)
	put := func(c render.Color, v uint64) {
		if share := float32(float64(v)/all) * w; share >= 0.5 {
			p.Q.Gradient(x, p.Y+y, max(share-1, 0.5), h, c, c.Shade(0.78))
			x += share
		}
	}
	free := a.sum
	for t, v := range a.tiers {
		put(tierColors[t], v)
		free -= min(v, free)
	}
	put(render.PanelQuiet, free)
	put(goColor, a.goTotal)
	put(restColor, a.rest)
}
