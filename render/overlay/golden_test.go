package overlay

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/meter"
	"github.com/strata-go/strata/memory/resident"
	"github.com/strata-go/strata/memory/slab"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
)

var update = flag.Bool("update", false, "write the golden pictures anew")

// still makes a game whose figures are all told here, so that what is drawn is the same on every machine.
func still(t *testing.T, w, h int, cfg Config) *game {
	g := newGame(t, 60, tiers.Config{}, cfg)
	g.w, g.h = w, h
	ai := g.tag("ai")
	g.tag("sound")
	for i := range 7 {
		s := memory.Stats{InUse: uint64(i+1) << 16, Committed: 1 << 20, Live: 1}
		g.m.AddPool(fmt.Sprint("pool ", i), &tiers.Funcs{StatsFunc: func() memory.Stats { return s }})
	}
	g.o.Meter().Monitor("enemies", "", func() float64 { return 57 })
	g.o.Meter().Monitor("fuel", "kg", func() float64 { return 12.5 })
	for i := range 4 {
		g.o.Meter().Timer(fmt.Sprint("system ", i))
	}
	g.o.Show(Tiers, true)
	for range 3 {
		_, err := ai.Alloc(1000, 16)
		must(t, err)
	}
	_, err := g.m.EndLevel()
	must(t, err)
	must(t, g.m.BeginLevel())
	g.run(2, nil)
	g.frame(0.4, nil)
	g.run(1, nil)
	g.o.Show(Tiers, false)
	return g
}

// told overwrites what is measured.
func (g *game) told() {
	o := g.o
	tell := func(w *meter.Row, n uint64) {
		f := float64(n)
		w.InUse, w.Committed, w.Budget, w.Peak, w.Live = n<<16, n<<17, 0, n<<18, 3*n
		w.Allocs, w.Frees, w.Most, w.Churn, w.Failures, w.Refused, w.Growth = 10*f, 9*f, n, 5*f, 0, 0, 0
		if w.Kind == meter.TierRow {
			w.Budget = 5 << 20
		}
	}
	rows := o.meter.Rows()
	for i := range rows {
		tell(&rows[i], uint64(i+1))
	}
	for i := range o.meter.Pools() {
		tell(&o.meter.Pools()[i], uint64(i+1))
	}
	large, slabs := &rows[tiers.Large], &rows[tiers.Slab]
	large.Committed, slabs.Committed, large.Refused, large.Failures, slabs.Growth, rows[firstTag].Growth, rows[firstTag-2].Growth = 4<<20, 19<<18, 4, 3, 70<<10, 69<<10, 9<<20
	*o.meter.Verdict() = meter.Verdict{Largest: &rows[firstTag-1], Growing: slabs, Beside: &rows[firstTag-2], Tag: &rows[firstTag], Tight: slabs, Refused: large, Frame: 0.8, Late: 0.02}
	s := o.meter.Snapshot()
	s.Go, s.RSS, s.Untracked = gcpace.Stats{Cycles: 12, Total: 30 << 20, MaxPause: 0.000123, Mark: 0.0246}, 90<<20, 20<<20
	for k := range s.Tiers {
		s.Tiers[k].InUse, s.Tiers[k].Committed = uint64(k+1)<<20, uint64(k+1)<<21
	}
	s.Tiers[tiers.Large].Free, s.Tiers[tiers.Large].LargestFree = 4<<20, 3<<20
	f := o.meter.Worst()
	f.Collections, f.Timers = 2, []time.Duration{1e6, 4e6, 3e6, 2e6}
	for k := range f.Rows {
		f.Rows[k] = meter.Delta{Allocs: uint64(20 - k), Bytes: int64(k-5) << 10}
	}
	o.rates.fps, o.rates.tps, o.rates.objects, o.cost = 59.6, 60.2, 12, cost{mean: 123 * time.Microsecond, peak: 456 * time.Microsecond}
	o.heap = meter.Heap{Known: true, Live: 1234 << 16, Age: 12 * time.Second, Allocated: 3 << 20}
	n := o.rowCount()
	o.verdict.tags.pick(o.tagRows(), n)
	o.verdict.pools.pick(o.meter.Pools(), n)
	o.memory.wait()
	o.memory = accounts{asked: o.clock.read().Add(-12 * time.Second), total: 90 << 20, unnamed: 0.0123, sum: 40 << 20, goTotal: 30 << 20, rss: 90 << 20, rest: 20 << 20, gpu: 7 << 20, library: ebiten.GraphicsLibraryOpenGL}
	for k := range o.memory.tiers {
		o.memory.tiers[k] = uint64(k+1) * 10 << 17
	}
	for i := range resident.Count - 1 {
		o.memory.resident = append(o.memory.resident, residentRow{residentNames[i], uint64(i+1) << 20})
	}
	o.sites.wait()
	o.sites = sites{asOf: g.now.Add(-12 * time.Second), rows: []siteRow{{"graphicscommand.appendIndices", 40 << 20, 3 << 20}, {"view.(odd).name", 700 << 10, 0}, {"main.main", 0, 99}}}
	m := &o.maps
	m.walking, m.shown = false, 5
	m.pools.pick(o.meter.Pools(), mapPools)
	walk := m.cells()
	walk.n, walk.all, walk.span = mapRows*o.cellsInRow(), 100, 4096
	for i := range walk.cells[:walk.n] {
		walk.cells[i] = cell{used: uintptr(i / 10 % 5), free: uintptr(4 - i/10%5), blocks: uint32(i / 50 % 2), largest: 77}
	}
	walk.cells[0] = cell{}
	for i := range m.shown {
		k := 1 << i
		m.classes[i] = slab.ClassStats{Size: uintptr(16 * k), Live: 3 * k, Free: k, Bytes: uintptr(1<<12) << (2 * i), Allocs: 1000}
	}
	o.leaks = leakage{marked: true, took: 12, left: 2}
	for i := range 7 {
		o.leaks.changes = append(o.leaks.changes, meter.Change{Row: firstTag - i, Bytes: int64(3-i) << 10, Blocks: int64(3 - i)})
	}
	for i := range o.tagRows() {
		o.leaks.churn.insertBy(o.tagRows(), i, churnRows, func(w *meter.Row) float64 { return w.Churn })
	}
}

// color is the colour of a corner, moved away from the middle between two distinguished values.
func color(v *render.Vertex) [4]float32 {
	const aside = 0.0013
	return [4]float32{v.ColorR + aside, v.ColorG + aside, v.ColorB + aside, v.ColorA + aside}
}

// picture draws one part from the figures as they are, and tells what was drawn: runs of letters, and quads
// with their colours, those that repeat once. Curves are left out, which are of what was measured.
func (g *game) picture(k int) []byte {
	o := g.o
	g.only(k)
	o.scr.set(o.cfg.Scale, 0, 0, g.w, g.h, o.cfg.Preset)
	g.told()
	o.q.Begin(o.verts, o.indices, o.atlas, render.View{Scale: o.scr.scale})
	o.layout()
	for i := range o.placed {
		o.drawPart(&o.placed[i])
	}
	type quad struct {
		x, y, w, h float32
		from, to   [4]float32
		r          rune
	}
	var b bytes.Buffer
	var first, last quad
	n, step, text := 0, float32(0), ""
	flush := func() {
		at := fmt.Sprintf("%.1f %.1f", first.x+0.013, first.y+0.013)
		switch {
		case n == 0:
		case first.r != 0:
			fmt.Fprintf(&b, "%s %.2f %q\n", at, first.from, text)
		default:
			fmt.Fprintf(&b, "%s %.1fx%.1f %.2f %.2f", at, first.w+0.013, first.h+0.013, first.from, first.to)
			if n > 1 {
				fmt.Fprintf(&b, " %d times each %.1f", n, step+0.013)
			}
			b.WriteByte('\n')
		}
		n, text = 0, ""
	}
	for _, p := range o.placed {
		fmt.Fprintf(&b, "%s at %v %v, %v x %v\n", o.parts[p.part].name, p.x, p.y, p.w, p.h)
	}
	v, ix := o.q.Vertices(), o.q.Indices()
	c, s := o.table(), o.scr.scale
	for i := 0; i+5 < len(ix); i += 6 {
		low, high, z := v[ix[i]], v[ix[i]], v[ix[i]]
		for _, k := range ix[i : i+6] {
			z = v[k]
			low.DstX, low.DstY, high.DstX, high.DstY = min(low.DstX, z.DstX), min(low.DstY, z.DstY), max(high.DstX, z.DstX), max(high.DstY, z.DstY)
		}
		q := quad{x: low.DstX / s, y: low.DstY / s, w: (high.DstX - low.DstX) / s, h: (high.DstY - low.DstY) / s,
			from: color(&low), to: color(&z)}
		if a := v[ix[i]]; q.w <= render.GlyphW+1 {
			q.r = g.text[[2]float32{a.SrcX, a.SrcY}]
		}
		if left := q.x - o.placed[0].x; k == int(Tiers) && q.r == 0 && left >= c.curve && left < c.curve+c.curveW {
			continue
		}
		same := n > 0 && q.y == last.y && q.from == last.from && q.to == last.to && (q.r == 0) == (last.r == 0)
		if same && q.r == 0 {
			same = q.w == last.w && q.h == last.h && (n == 1 || q.x-last.x == step)
		} else if same {
			same = q.x-last.x == render.GlyphW || q.x-last.x == 2*render.GlyphW
		}
		if !same {
			flush()
			first = q
		}
		if q.r != 0 {
			if n > 0 && q.x-last.x > render.GlyphW {
				text += " "
			}
			text += string(q.r)
		}
		step, last = q.x-last.x, q
		n++
	}
	flush()
	return b.Bytes()
}

// -update writes the files again; review their changes. The folder is a module of its own, so that the zip file of this
// one does not have it.
func TestPanels_AreDrawnAsTheirPicturesSay(t *testing.T) {
	for name, size := range map[string][2]int{"full": {1280, 720}, "minimal": {640, 360}} {
		g := still(t, size[0], size[1], Config{})
		for k := range Part(partCount) {
			got := g.picture(int(k))
			path := filepath.Join("testdata", name+"-"+ownParts[k].name+".txt")
			if *update {
				must(t, os.MkdirAll("testdata", 0o755))
				must(t, os.WriteFile(path, got, 0o644))
			}
			want, err := os.ReadFile(path)
			if errors.Is(err, fs.ErrNotExist) {
				testenv.Missing(t, "testdata, which is in the repository only")
			}
			must(t, err)
			a, b := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
			for i := range max(len(a), len(b)) {
				if i >= len(a) || i >= len(b) || !bytes.Equal(a[i], b[i]) {
					t.Errorf("%s, line %d of %d and %d:\n%s\nwant\n%s", path, i+1, len(a), len(b), a[min(i, len(a)-1)], b[min(i, len(b)-1)])
					break
				}
			}
		}
	}
}
