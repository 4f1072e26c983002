package overlay

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
)

// busy makes a game with everything that there is to show: tags, pools, monitors, timers, leaks, a mark.
func busy(t testing.TB, cfg Config) *game {
	g := newGame(t, 60, tiers.Config{}, cfg)
	var tags []*tiers.Tag
	for i := range 20 {
		tags = append(tags, g.tag(fmt.Sprint("tag with a long name ", i)))
	}
	for i := range 20 {
		s := memory.Stats{InUse: uint64(i) << 16, Committed: 2 << 20, Peak: uint64(i) << 17, Live: 9, Allocs: 9, Reserved: 4 << 20}
		g.m.AddPool(fmt.Sprint("pool of long names ", i), &tiers.Funcs{StatsFunc: func() memory.Stats { return s }})
	}
	for i := range 6 {
		g.o.Meter().Monitor(fmt.Sprint("monitor ", i), "units", func() float64 { return float64(i) * 12345.678 })
		g.o.Meter().Timer(fmt.Sprint("system ", i))
	}
	if _, err := g.o.Add(Panel{Title: "the game's own", Cols: 20, Rows: 6, Key: ebitenKeyG, Draw: func(p *render.Panel) {
		p.Label(8, 0, render.PanelText, "hello")
		p.Int(100, 16, render.Amber, 42)
	}}); err != nil {
		t.Fatal(err)
	}
	var old []unsafe.Pointer
	play := func(float64) {
		for i, tag := range tags {
			size := uintptr(64 << (i % 9))
			p, err := tag.Alloc(size, 16)
			must(t, err)
			if i%2 == 0 {
				old = append(old, p)
			} else {
				g.m.Free(p, size)
			}
		}
	}
	for k := range g.o.parts {
		g.o.Show(Part(k), true)
	}
	g.run(2, play)
	g.press(-7)
	g.run(5, play)
	_, err := g.m.EndLevel()
	must(t, err)
	must(t, g.m.BeginLevel())
	g.run(3, play)
	for k := range g.o.parts {
		g.o.Show(Part(k), false)
	}
	return g
}

// only shows one part.
func (g *game) only(k int) {
	for i := range g.o.parts {
		g.o.Show(Part(i), i == k)
	}
}

var screens = [][2]int{{640, 360}, {1280, 720}, {1920, 1080}, {3840, 2160}, {320, 240}, {100, 50}, {1, 1}}

func TestPanels_DropNothingAndStayInTheirPlacesAtEverySize(t *testing.T) {
	g := busy(t, Config{Top: 0.12, Bottom: 0.06})
	for i, size := range screens {
		if testenv.Brief() && i > 1 {
			break
		}
		g.w, g.h = size[0], size[1]
		for k := -1; k < len(g.o.parts); k++ {
			for i := range g.o.parts {
				g.o.Show(Part(i), k < 0 || i == k)
			}
			g.run(0.3, nil)
			if g.o.q.Dropped != 0 {
				t.Errorf("%v, part %d: %d quads were dropped", size, k, g.o.q.Dropped)
			}
			if size[0] < 640 {
				continue // it is cut off there, and that is all
			}
			if len(g.o.placed) == 0 {
				t.Errorf("%v, part %d: nothing is shown", size, k)
			}
			scr := &g.o.scr
			for i, p := range g.o.placed {
				if p.x < 8 || p.y < 0.1*scr.h || p.x+p.w > scr.w-8 || p.y+p.h > 0.95*scr.h {
					t.Errorf("%v, part %d: part %d lies at %+v of %v×%v", size, k, p.part, p, scr.w, scr.h)
				}
				for _, r := range g.o.placed[:i] {
					if p.x < r.x+r.w && r.x < p.x+p.w && p.y < r.y+r.h && r.y < p.y+p.h {
						t.Errorf("%v: parts %d and %d overlap", size, p.part, r.part)
					}
				}
			}
			for _, v := range g.o.q.Vertices() {
				inside := false
				x, y := v.DstX/scr.scale, v.DstY/scr.scale
				for _, p := range g.o.placed {
					inside = inside || x > p.x-1.1 && x < p.x+p.w+1.1 && y > p.y-1.1 && y < p.y+p.h+3
				}
				if !inside {
					t.Fatalf("%v, part %d: something is drawn at %v,%v, beyond %+v", size, k, x, y, g.o.placed)
				}
			}
		}
	}
}

// An open panel that does not fit is named. It is shown again as soon as it fits.
func TestPanels_ThatHaveNoRoomAreNamed(t *testing.T) {
	g := newGame(t, 60, tiers.Config{}, Config{Top: 0.12, Bottom: 0.06})
	g.w, g.h = 640, 360
	g.press(3, 9)
	g.run(0.1, nil)
	g.wantNot("no space")
	g.press(4, 1)
	g.run(0.1, nil)
	g.want("no space for tiers: close a panel")
	g.want("fps")
	g.press(2)
	g.run(0.1, nil)
	g.want("no space for tiers, memory") // in the order in which they were opened
	g.w, g.h = 5120, 1440
	g.run(0.1, nil)
	g.wantNot("no space")
	g.w, g.h = 640, 360
	g.press(2, 4, 1)
	g.run(0.1, nil)
	g.wantNot("no space")
	g.want("growing")
}

// Below a strip of three lines the smallest screen cannot show every row. The smallest rows are dropped; the
// answers, what grows and the worst frame stay. All rows return with the space.
func TestTiers_TheSmallestRowsGoWhereThereIsNoRoom(t *testing.T) {
	g := busy(t, Config{Top: 0.12, Bottom: 0.06})
	g.only(int(Tiers))
	rows := func(sign string) int { return strings.Count("\n"+g.read(), "\n"+sign) }
	look := func(w, h int, few bool) {
		t.Helper()
		g.w, g.h = w, h
		g.run(0.5, nil)
		p := g.o.placed[len(g.o.placed)-1]
		if p.part != int(Tiers) || p.y+p.h > g.o.scr.h*0.94 {
			t.Errorf("%d×%d: %+v of %v", w, h, p, g.o.scr.h)
		}
		tags, pools := g.o.verdict.tags.n, g.o.verdict.pools.n
		if few != (tags+pools < 2*g.o.rowCount()) || rows("# ") != tags {
			t.Errorf("%d×%d: %d tags and %d pools of %d each:\n%s", w, h, tags, pools, g.o.rowCount(), g.read())
		}
		more := ((g.o.tierLines()+1)*int(g.o.scr.pitch) + 2*pad + render.Grid - 1) / render.Grid // steps, with a row more
		if few && p.y+float32(more*render.Grid) <= round(g.o.scr.h-render.Grid-g.o.cfg.Bottom*g.o.scr.h) {
			t.Errorf("%d×%d: %d tags and %d pools, and another row fits", w, h, tags, pools)
		}
		g.want("untracked")
		g.want("worst frame ")
	}
	low := 360 + 12*(int(tiers.Count)-7) // a line more for each tier above seven
	look(640, low, false)
	g.o.Show(Strip, true)
	g.press(5) // frozen, which is one more line, and nothing is measured
	look(640, low, true)
	g.press(5)
	look(640, low, true)
	g.o.Show(Strip, false)
	look(640, low, false)
	look(640, low-12, true)
	look(640, low-40, true)
	look(1280, 720, false)
}

func TestPanels_WordsDoNotRunIntoFigures(t *testing.T) {
	g := busy(t, Config{})
	for _, preset := range []Preset{Minimal, Full} {
		g.o.cfg.Preset = preset
		for k := range g.o.parts {
			g.only(k)
			g.run(0.5, nil)
			type cell struct{ x, y float32 }
			seen := map[cell]bool{}
			v, ix := g.o.q.Vertices(), g.o.q.Indices()
			for i := 0; i+5 < len(ix); i += 6 {
				a := v[ix[i]]
				if _, ok := g.text[[2]float32{a.SrcX, a.SrcY}]; !ok || v[ix[i+1]].DstX-a.DstX != render.GlyphW {
					continue
				}
				for dx := range 5 {
					if at := (cell{a.DstX + float32(dx), a.DstY}); seen[at] {
						t.Fatalf("part %s, preset %d: two characters at %v,%v:\n%s", g.o.parts[k].name, preset, a.DstX, a.DstY, g.read())
					} else if dx == 0 || dx == 4 {
						seen[at] = true
					}
				}
			}
		}
	}
}

func TestReadDevices_AllocatesNothing(t *testing.T) {
	g, in := newGame(t, 60, tiers.Config{}, Config{}), input{}
	if n := testing.AllocsPerRun(200, func() { readDevices(g.o, &in) }); n != 0 {
		t.Errorf("keys, mouse and touches cost %v Go allocations a tick", n)
	}
}

func TestDraw_AllocatesNothing(t *testing.T) {
	for _, size := range screens[:2] {
		g := busy(t, Config{})
		g.w, g.h = size[0], size[1]
		for k := range g.o.parts {
			g.only(k)
			for g.run(1, nil); g.o.memory.reading != nil; g.run(0.1, nil) {
				time.Sleep(time.Millisecond) // the system is asked, on another goroutine
			}
			if n := testing.AllocsPerRun(200, func() { g.frame(1.0/60, nil) }); n != 0 {
				t.Errorf("%v: %s costs %v Go allocations a frame", size, g.o.parts[k].name, n)
			}
		}
		g.only(-1)
		if n := testing.AllocsPerRun(200, func() { g.frame(1.0/60, nil) }); n != 0 {
			t.Errorf("hidden, it costs %v Go allocations a frame", n)
		}
	}
}

func TestMaps_ShowTheBlocksAndSelectByArrowsAndClicks(t *testing.T) {
	g := newGame(t, 60, tiers.Config{}, Config{})
	g.press(4)
	g.run(0.5, nil)
	var blocks []unsafe.Pointer
	for range 200 {
		p, err := g.m.Alloc(16<<10, 16)
		must(t, err)
		blocks = append(blocks, p)
		_, err = g.m.Alloc(48, 16)
		must(t, err)
	}
	for i := 0; i < len(blocks); i += 2 {
		g.m.Free(blocks[i], 16<<10)
	}
	g.run(1, nil)
	used, free := uintptr(0), uintptr(0)
	for _, c := range g.o.maps.cells().cells {
		used, free = used+c.used, free+c.free
	}
	st := g.m.Stats(tiers.Large)
	if uint64(used) != st.InUse || uint64(used+free) != st.Committed {
		t.Errorf("the map has %d in use of %d, the heap %d of %d", used, used+free, st.InUse, st.Committed)
	}
	g.want("1.5 MiB in 100 blocks")
	g.want("in pieces 9")
	arrow := func(k int) {
		g.in = input{}
		g.in.arrow[k] = true
		g.run(0.05, nil)
		g.in = input{}
		g.run(0.05, nil)
	}
	arrow(1)
	g.want("from 0 B on, ")
	arrow(1)
	g.wantNot("from 0 B on, ")
	for range mapRows {
		arrow(3)
	}
	g.want("blocks of 48 B: 200 live")
	arrow(2)
	g.want("blocks begin, largest")
	p := g.o.placed[0]
	x, y, _, _ := g.o.classBox()
	g.in = input{down: true, x: p.x + x + 1, y: p.y + y + 10}
	g.run(0.05, nil)
	g.in = input{}
	g.run(0.05, nil)
	g.want("blocks of 48 B: 200 live")
	for range 20 {
		for k := range 4 {
			arrow(k)
		}
		arrow(3)
		arrow(1)
	}
}

// A heap of many blocks is iterated over several frames, each of which visits a bounded number. Until an iteration
// is complete the map shows its part, followed by that of the last complete one.
func TestMaps_AreWalkedAPartInEachFrameAndShowAll(t *testing.T) {
	var mem tiers.Config
	mem.Reserve[tiers.Large] = 256 << 20
	g := newGame(t, 60, mem, Config{})
	var blocks []unsafe.Pointer
	for range 12*mostBlocks + 7 {
		p, err := g.m.Alloc(4200, 16)
		must(t, err)
		blocks = append(blocks, p)
	}
	seen := func() (used uintptr, begin int) {
		for _, c := range g.o.maps.cells().cells {
			used, begin = used+c.used, begin+int(c.blocks)
		}
		return used, begin
	}
	g.o.Show(Maps, true)
	had := uintptr(0)
	for range 12 {
		g.frame(1.0/60, nil)
		used, begin := seen()
		if g.o.maps.looked > mostBlocks+1 || used <= had || begin > len(blocks) || g.o.maps.cells().done {
			t.Fatalf("%d blocks were looked at; %d bytes in use, %d before, %d blocks begin", g.o.maps.looked, used, had, begin)
		}
		had = used
	}
	whole := func(when string) {
		t.Helper()
		st := g.m.Large().Stats()
		if used, begin := seen(); uint64(used) != st.InUse || uint64(begin) != st.Live || !g.o.maps.cells().done {
			t.Errorf("%s: %d of %d bytes, %d of %d blocks", when, used, st.InUse, begin, st.Live)
		}
	}
	g.frame(1.0/60, nil)
	whole("after thirteen frames")
	g.run(0.3, nil)
	for i := range blocks { // blocks go, also the one at which the walk is to go on
		if g.m.Free(blocks[i], 4200); i%1000 == 0 {
			if g.frame(1.0/60, nil); !g.o.maps.cells().done {
				t.Fatal("half a walk is shown")
			}
		}
	}
	g.run(0.6, nil)
	whole("behind all of them")
}

func TestLeaks_NameTierTagAndPoolAndWhatGrewSinceTheMarks(t *testing.T) {
	g := newGame(t, 60, tiers.Config{}, Config{})
	ai, sound := g.tag("ai"), g.tag("sound")
	g.press(7)
	g.want("no level has ended yet")
	var books memory.Stats
	g.m.AddPool("sparks", &tiers.Funcs{StatsFunc: func() memory.Stats { return books }})
	for range 3 {
		_, err := ai.Alloc(1000, 16)
		must(t, err)
	}
	_, err := g.m.EndLevel()
	must(t, err)
	must(t, g.m.BeginLevel())
	g.run(0.5, nil)
	g.want("level 1 left behind")
	g.want("slab  3.0 KiB  3 blocks")
	g.want("# ai  3.0 KiB  3 blocks")
	g.press(-7)
	g.want("since A")
	_, err = sound.Alloc(64<<10, 16)
	must(t, err)
	g.run(1, nil)
	g.want("# sound  +64.0 KiB  +1 block")
	g.wantNot("+1 blocks")
	g.press(-7)
	g.want("since A until B")
	_, err = sound.Alloc(64<<10, 16)
	must(t, err)
	g.run(1, nil)
	g.want("# sound  +64.0 KiB  +1 block")
	g.wantNot("+1 blocks")
	g.press(-7)
	g.want("sets mark A")
	g.run(3, func(float64) {
		for range 5 {
			p, err := ai.Alloc(64, 16)
			must(t, err)
			g.m.Free(p, 64)
		}
	})
	if v := g.figure(`# ai +(\d+)/s`); !near(v, 300, 0.1) {
		t.Errorf("churn of %v a second", v)
	}
}

func TestMemory_AddsUpAndTellsItsOwn(t *testing.T) {
	g := newGame(t, 60, tiers.Config{}, Config{})
	g.press(9)
	g.run(1, nil)
	s := g.o.meter.Snapshot()
	if g.o.memory.rest > 0 && math.Abs(float64(s.RSS)-float64(g.o.memory.sum+g.o.memory.goTotal+g.o.memory.rest)) > float64(s.RSS)/10 {
		t.Errorf("%+v is not %d", g.o.memory, s.RSS)
	}
	if v := g.figure(`this instrument, with its GPU page +(\d+\.\d) MiB`); v < 2.5 || v > 3.5 {
		t.Errorf("it has %v MiB", v)
	}
	g.want("GPU images, beside the sum")
}

// The system is asked for the owners of resident memory when a panel is opened and when a level begins or ends,
// while the game continues. All parts are of one query, and their sum is its total.
func TestMemory_AsksTheSystemOnceForEachOpeningAndLevel(t *testing.T) {
	g := newGame(t, 60, tiers.Config{}, Config{})
	asked := func() (n int) {
		had := g.o.memory.asked
		for range 10 {
			for g.run(0.4, nil); g.o.memory.reading != nil; g.run(0.1, nil) {
				time.Sleep(time.Millisecond)
			}
			if g.o.memory.asked != had {
				had = g.o.memory.asked
				n++
			}
		}
		return n
	}
	g.press(9)
	n, a, once := asked(), &g.o.memory, 1
	if a.unnamed > mostUnnamed {
		once = 2 // under the race detector the second answer shows that its share stays
	}
	if n != once {
		t.Errorf("opened, it asks %d times, want %d", n, once)
	}
	g.press(9, 9)
	_, err := g.m.EndLevel()
	must(t, err)
	must(t, g.m.BeginLevel())
	if n := asked(); n != 1 {
		t.Errorf("opened again and in a new level, it asks %d times", n)
	}
	if a.silent {
		g.want("this system does not say whose")
		return
	}
	sum := uint64(a.unnamed*float64(a.total) + 0.5)
	for _, r := range a.resident {
		sum += r.bytes
	}
	if a.total == 0 || math.Abs(float64(sum)-float64(a.total)) > 1 {
		t.Errorf("%d of %d bytes: %+v", sum, a.total, a.resident)
	}
	g.want("resident, by smaps ")
	g.want("unexplained")
	if a.total -= a.total / 4; asked() != 1 {
		t.Error("it is not asked anew though a quarter is new")
	}
	a.again = 2 // of three
	if a.unnamed += 0.03; asked() != 1 {
		t.Error("it is not asked anew though much is nobody's")
	}
	g.press(9)
	if n := asked(); n != 0 {
		t.Errorf("closed, it asks %d times", n)
	}
}

// Memory that has no owner in two answers has none in the next one either.
func TestMemory_AsksAgainUntilTheUnknownShareStays(t *testing.T) {
	a := accounts{total: 100, rss: 100, unnamed: 0.4}
	if !a.old() {
		t.Error("the first answer has an unknown share, and is not asked again")
	}
	if a.before = 0.39; a.old() || a.again != 1 {
		t.Errorf("the share stays, and is asked for again: %d", a.again)
	}
}

func TestHelp_NamesEveryKeyAndWhatItDoes(t *testing.T) {
	g := busy(t, Config{})
	for _, size := range screens[:2] {
		g.w, g.h = size[0], size[1]
		g.only(int(Help))
		g.run(0.2, nil)
		for k := range 9 {
			g.want(fmt.Sprintf("F%d ", k+1))
		}
		for k := range tiers.Tier(tiers.Count) {
			g.want(k.String())
		}
		g.want("G  the game's own")
		g.wantNot("…")
	}
}

func TestPanel_OfTheGameIsOpenedByItsKey(t *testing.T) {
	g := busy(t, Config{})
	g.in.user[0] = true
	g.run(0.1, nil)
	g.in.user[0] = false
	g.run(0.1, nil)
	g.want("the game's own")
	g.want("hello")
	g.want("42")
	if !g.o.Shown(Part(partCount)) {
		t.Error("it is not shown")
	}
}

func TestBottom_IsWhereItEnds(t *testing.T) {
	g := busy(t, Config{})
	if g.run(0.1, nil); g.o.Bottom() != 0 {
		t.Errorf("hidden, it ends at %v", g.o.Bottom())
	}
	g.only(int(Tiers))
	g.run(0.1, nil)
	lowest := float32(0)
	for _, v := range g.o.q.Vertices() {
		lowest = max(lowest, v.DstY)
	}
	if g.o.Bottom() != lowest {
		t.Errorf("it ends at %v and says %v", lowest, g.o.Bottom())
	}
}

func BenchmarkDraw(b *testing.B) {
	for _, size := range screens[:2] {
		g := busy(b, Config{})
		g.w, g.h = size[0], size[1]
		for k := -1; k <= len(g.o.parts); k++ {
			name := "all"
			switch {
			case k < 0:
				name = "hidden"
			case k < len(g.o.parts):
				name = strings.ReplaceAll(g.o.parts[k].name, " ", "-")
			}
			for i := range g.o.parts {
				g.o.Show(Part(i), i == k || k == len(g.o.parts))
			}
			g.run(1, nil)
			b.Run(fmt.Sprintf("%dx%d/%s", size[0], size[1], name), func(b *testing.B) {
				for b.Loop() {
					g.now = g.now.Add(time.Second / 60)
					g.draw()
				}
				b.ReportMetric(float64(g.o.q.Len()), "vertices")
			})
		}
	}
}

func BenchmarkHidden(b *testing.B) { // as a game meets it, with Ebitengine's keys
	m, err := tiers.New(tiers.Config{GC: gcpace.Config{Keep: true}})
	must(b, err)
	defer m.Close()
	o, err := New(m, Config{})
	must(b, err)
	for b.Loop() {
		o.Update()
		if o.rates.draws++; o.showing() || o.cfg.Watch {
			b.Fatal("not hidden")
		}
		o.rest()
	}
}

// BenchmarkMaps is what a frame looks at of a heap with more blocks than that.
func BenchmarkMaps(b *testing.B) {
	var mem tiers.Config
	mem.Reserve[tiers.Large] = 256 << 20
	g := newGame(b, 60, mem, Config{})
	for range 2 * mostBlocks {
		_, err := g.m.Alloc(4200, 16)
		must(b, err)
	}
	g.press(4)
	for b.Loop() {
		if g.o.walk(); !g.o.maps.walking {
			g.o.sampleMaps()
		}
	}
}

func TestAppendMonitor_IsAtMostSixCharactersAndASign(t *testing.T) {
	for _, v := range []float64{0, 0.04, 999.94, 1000.5, 99_999, 100_000, 123_456, 1e9, 999e12} {
		b := string(appendMonitor(nil, v))
		if minus := string(appendMonitor(nil, -v)); len(b) > 6 || v > 0 && minus != "-"+b {
			t.Errorf("%v is %q, its negative %q", v, b, minus)
		}
	}
	for v, want := range map[float64]string{0: "0", 0.04: "0.0", 12.5: "12.5", 1000.5: "1000", 99_999: "99999", 100_000: "100k", 123_456: "123k", 4_560_000: "4.5M",
		1e9: "1.0G", 999e12: "999.0T", -123_456: "-123k", 1e15: "-", math.Inf(-1): "-"} {
		if got := string(appendMonitor([]byte("fuel "), v)); got != "fuel "+want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
}
