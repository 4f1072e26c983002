package overlay

import (
	"strings"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/strata-go/strata/memory/resident"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
)

// accounts are what the panel of the process shows, as of the last change of figures.
type accounts struct {
	tiers    [tiers.Count]uint64
	sum      uint64 // of the tiers
	goTotal  uint64 // what the Go runtime has of the system, its own needs included
	rss      uint64 // 0 where the system does not say
	rest     uint64
	gpu      int64
	library  ebiten.GraphicsLibrary
	due      int // changes of figures until the kernel is asked; 0 when it was
	report   resident.Report
	resident []residentRow // of the report
}

// A residentRow is what of some kind of memory is resident.
type residentRow struct {
	name  string
	bytes uint64
}

// openMemory begins with figures of before; what is resident is asked for when the panel has been there
// for half a second.
func (o *Overlay) openMemory() {
	o.memory.resident, o.memory.due = o.memory.resident[:0], 2
	o.sampleMemory()
}

// readResident asks the kernel what is resident, of which kind. That takes milliseconds, so it is done
// once for each time that the panel is opened; where the system does not tell there are no rows.
func (o *Overlay) readResident() {
	a := &o.memory
	if resident.Read(o.m, &a.report) != nil {
		return
	}
	for c, u := range a.report.Classes {
		if u.RSS > 0 {
			a.resident = append(a.resident, residentRow{residentNames[c], u.RSS})
		}
	}
}

// residentNames says that the figures stand.
var residentNames = func() (names [resident.Count]string) {
	for c := range names {
		names[c] = "when opened: " + strings.ReplaceAll(resident.Class(c).String(), "_", " ")
	}
	return names
}()

// sampleMemory adds up.
func (o *Overlay) sampleMemory() {
	a, s := &o.memory, o.meter.Snapshot()
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
	a.goTotal, a.rss, a.rest = s.Go.Total, s.RSS, s.Untracked
	var d ebiten.DebugInfo
	ebiten.ReadDebugInfo(&d)
	a.gpu, a.library = d.TotalGPUImageMemoryUsageInBytes, d.GraphicsLibrary
}

// mostResident is how many rows of resident memory are shown.
const mostResident = 10

func (o *Overlay) memoryLines() int { return 10 + min(len(o.memory.resident), mostResident) }

// drawMemory is the process: a bar of what adds up to what is resident, and what lies beside it.
func (o *Overlay) drawMemory() {
	if o.closed() {
		return
	}
	a, p := &o.memory, &o.panel
	l := o.line(0)
	l.word(render.PanelQuiet, "resident")
	if a.rss == 0 {
		l.text(render.PanelText, "unknown on this system")
	} else {
		l.size(render.PanelText, a.rss)
	}
	o.drawShares(pad + o.scr.pitch + 3)
	right := p.W - 8
	row := func(i int, c render.Color, name string, v uint64) {
		y := o.y(i)
		p.Swatch(8, y+5, c)
		p.Label(18, y, c, name)
		p.Bytes(right, y, render.PanelText, v)
	}
	row(2, render.PanelText, "tiers, in use", a.sum)
	row(3, goColor, "Go heap and runtime", a.goTotal)
	row(4, restColor, "rest: driver, libraries, code", a.rest)
	i := 5
	for k := range a.resident[:min(len(a.resident), mostResident)] {
		row(i, render.PanelQuiet, a.resident[k].name, a.resident[k].bytes)
		i++
	}
	p.Q.Rect(p.X+render.Grid, p.Y+o.y(i)+o.scr.pitch/2+2, p.W-2*render.Grid, 1, render.PanelEdge)
	i++
	row(i, render.PanelQuiet, "GPU images, beside the sum", uint64(max(a.gpu, 0)))
	i++
	row(i, render.PanelQuiet, "this instrument, of the Go heap", o.bytes())
	i++
	row(i, render.PanelQuiet, "its page, of the GPU images", 4*render.MinPage*render.MinPage)
	i++
	l = o.line(i)
	l.x = 18
	l.text(render.PanelQuiet, "its time a frame, and at most")
	b := append(appendMicros(o.buf[:0], o.cost.mean.Seconds()), "  "...)
	b = append(appendMicros(b, o.cost.peak.Seconds()), " µs"...)
	p.Q.TextBytes(p.Font, p.X+right-float32((len(b)-1)*render.GlyphW), p.Y+l.y, 1, render.PanelText, b)
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
	for t, v := range a.tiers {
		put(TierColors[t], v)
	}
	put(goColor, a.goTotal)
	put(restColor, a.rest)
}
