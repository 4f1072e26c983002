package overlay

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/meter"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
)

// A game is a manager, its overlay, and a clock and devices that the test handles.
type game struct {
	t    testing.TB
	m    *tiers.Manager
	o    *Overlay
	now  time.Time
	hz   float64
	w, h int
	in   input
	text map[[2]float32]rune // by place on the atlas
}

func newGame(t testing.TB, hz float64, mem tiers.Config, cfg Config) *game {
	t.Helper()
	mem.GC.Keep, mem.Tags = true, true
	m, err := tiers.New(mem)
	must(t, err)
	g := &game{t: t, m: m, now: time.Unix(1000, 0), hz: hz, w: 1280, h: 720}
	t.Cleanup(func() { must(t, m.Close()) })
	cfg.Meter.Now = func() time.Time { return g.now }
	g.o, err = newOverlay(m, cfg, func(_ *Overlay, in *input) { *in = g.in })
	must(t, err)
	must(t, m.BeginLevel())
	g.alphabet()
	return g
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// run plays for so many seconds, with as many ticks as frames; play is called in each.
func (g *game) run(seconds float64, play func(dt float64)) {
	g.t.Helper()
	for range int(seconds*g.hz + 0.5) {
		g.frame(1/g.hz, play)
	}
	must(g.t, g.o.check())
	must(g.t, g.o.meter.Check())
}

func (g *game) frame(took float64, play func(dt float64)) {
	g.o.Update()
	_ = g.m.BeginFrame()
	if !g.o.Frozen() && play != nil {
		play(took)
	}
	g.now = g.now.Add(time.Duration(took * 1e9))
	g.draw()
	_ = g.m.EndFrame()
}

// draw is Overlay.Draw without a picture.
func (g *game) draw() {
	o := g.o
	o.rates.draws++
	if !o.showing() && !o.cfg.Watch {
		o.rest()
		return
	}
	began := time.Now()
	o.compose(0, 0, g.w, g.h)
	o.cost.add(time.Since(began))
}

// press presses keys of the overlay by number for a tick; negative ones are with Shift.
func (g *game) press(keys ...int) {
	g.t.Helper()
	for _, k := range keys {
		g.in = input{shift: k < 0}
		g.in.keys[max(k, -k)-1] = true
		g.frame(1/g.hz, nil)
		g.in = input{}
		g.frame(1/g.hz, nil)
	}
	must(g.t, g.o.check())
}

func (g *game) tag(name string) *tiers.Tag {
	g.t.Helper()
	tag, err := g.m.Tag(name)
	must(g.t, err)
	return tag
}

// alphabet notes where each character lies on the atlas.
func (g *game) alphabet() {
	g.text = map[[2]float32]rune{}
	var q render.Quads
	letters := "▲•·…│─×µ→♥"
	for r := '!'; r <= '~'; r++ {
		letters += string(r)
	}
	for _, k := range []float32{1, 2} {
		for _, r := range letters {
			q.Begin(make([]render.Vertex, 4), make([]uint32, 6), g.o.atlas, render.View{Scale: k})
			q.Text(g.o.font, 0, 0, 1, render.White, string(r))
			v := q.Vertices()[0]
			g.text[[2]float32{v.SrcX, v.SrcY}] = r
		}
	}
}

// read returns what is written on the screen, line by line.
func (g *game) read() string {
	type letter struct {
		x, y float32
		r    rune
	}
	var all []letter
	v, ix := g.o.q.Vertices(), g.o.q.Indices()
	for i := 0; i+5 < len(ix); i += 6 {
		a, b := v[ix[i]], v[ix[i+1]]
		if r, ok := g.text[[2]float32{a.SrcX, a.SrcY}]; ok && b.SrcX > a.SrcX && b.SrcX-a.SrcX <= 2*render.GlyphW {
			all = append(all, letter{a.DstX / g.o.scr.scale, a.DstY / g.o.scr.scale, r})
		}
	}
	slices.SortStableFunc(all, func(a, b letter) int { return cmp.Or(cmp.Compare(a.y, b.y), cmp.Compare(a.x, b.x)) })
	var s strings.Builder
	for i, l := range all {
		switch {
		case i > 0 && l.y != all[i-1].y:
			s.WriteByte('\n')
		case i > 0 && l.x-all[i-1].x > 3*render.GlyphW+1:
			s.WriteString("  ")
		case i > 0 && l.x-all[i-1].x > render.GlyphW+1:
			s.WriteByte(' ')
		}
		s.WriteRune(l.r)
	}
	return s.String()
}

// figure returns the number that pattern finds on the screen.
func (g *game) figure(pattern string) float64 {
	g.t.Helper()
	found := regexp.MustCompile(pattern).FindStringSubmatch(g.read())
	if found == nil {
		g.t.Fatalf("no %q on the screen:\n%s", pattern, g.read())
	}
	v, err := strconv.ParseFloat(found[1], 64)
	must(g.t, err)
	return v
}

func (g *game) want(text string) {
	g.t.Helper()
	if !strings.Contains(g.read(), text) {
		g.t.Fatalf("no %q on the screen:\n%s", text, g.read())
	}
}

func (g *game) wantNot(text string) {
	g.t.Helper()
	if strings.Contains(g.read(), text) {
		g.t.Fatalf("%q is on the screen:\n%s", text, g.read())
	}
}

func near(got, want, by float64) bool { return got >= want*(1-by) && got <= want*(1+by) }

func atEveryRate(t *testing.T, f func(t *testing.T, hz float64)) {
	for _, hz := range []float64{5, 30, 60, 144, 240} {
		if testenv.Brief() && hz != 5 && hz != 60 {
			continue
		}
		t.Run(fmt.Sprintf("%g Hz", hz), func(t *testing.T) { f(t, hz) })
	}
}

func TestTiers_ALeakIsNamedWithTierTagAndRateWhateverTheFrameRate(t *testing.T) {
	testenv.Long(t)
	atEveryRate(t, func(t *testing.T, hz float64) {
		g := newGame(t, hz, tiers.Config{}, Config{})
		g.o.Show(Tiers, true)
		leak := memtest.Leak(t, g.tag("ai"), 100<<10, 1024)
		g.run(2, nil)
		g.want("growing not known yet")
		g.run(35, nil)
		g.want("growing nothing")
		g.run(50, leak)
		for range 10 {
			g.run(0.3, leak)
			if v := g.figure(`growing ▲ slab \+([\d.]+) KiB/s`); !near(v, 100, 0.1) {
				t.Fatalf("slab grows by %v KiB/s", v)
			}
			if v := g.figure(`tag ai \+([\d.]+) KiB/s`); !near(v, 100, 0.04) {
				t.Fatalf("ai grows by %v KiB/s", v)
			}
		}
		g.want("largest")
		g.want("# ai  ▲")
		g.want("slab  ▲")
		g.wantNot("large  ▲")
	})
}

func TestAppendRate_IsShortAndHasTwoFigures(t *testing.T) {
	for v, want := range map[float64]string{
		0: "+0.0 KiB/s", 1024: "+1.0 KiB/s", 9.97 * 1024: "+10 KiB/s", 100 << 10: "+100 KiB/s", 999.6 * 1024: "+1.0 MiB/s",
		5 << 30: "+5.0 GiB/s", 1e20: "+9999 GiB/s", -5: "+0.0 KiB/s",
	} {
		if got := string(appendRate(nil, v)); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}

func TestTiers_WhatIsFilledOnceDoesNotGrow(t *testing.T) {
	atEveryRate(t, func(t *testing.T, hz float64) {
		g := newGame(t, hz, tiers.Config{}, Config{})
		g.o.Show(Tiers, true)
		g.run(3, nil)
		p, err := g.m.Alloc(8<<20, 16)
		must(t, err)
		for range 20 {
			g.run(0.5, nil)
			g.wantNot("▲ large")
			g.wantNot("▲ slab")
		}
		g.m.Free(p, 8<<20)
	})
}

func TestTiers_ABudgetNearlyReachedIsInWordsAndColours(t *testing.T) {
	var mem tiers.Config
	mem.Budget[tiers.Large] = 4 << 20
	g := newGame(t, 60, mem, Config{})
	g.o.Show(Tiers, true)
	g.run(1, nil)
	g.want("no budget is tight, nothing was refused")
	if _, err := g.m.Alloc(3300<<10, 16); err != nil {
		t.Fatal(err)
	}
	g.run(1, nil)
	if v := g.figure(`tight large (\d+)% of its budget`); v < 80 || v > 89 {
		t.Errorf("tight by %v%%", v)
	}
	amber := 0
	for _, v := range g.o.q.Vertices() {
		if v.ColorR == render.Amber.R && v.ColorG == render.Amber.G && v.ColorB == render.Amber.B {
			amber++
		}
	}
	if amber < 4*10 {
		t.Errorf("%d corners are amber", amber)
	}
	for range 3 {
		if _, err := g.m.Alloc(3<<20, 16); err == nil {
			t.Fatal("beyond the budget")
		}
	}
	g.run(1, nil)
	if n := g.figure(`large refused (\d+) request`); n < 3 {
		t.Errorf("%v refused", n)
	}
}

// A caller that waits for space, as the loader of a full worker's heap does, loses nothing: the refusal was red. It is
// amber, and red only while the tier is full.
func TestTiers_ARefusalIsRedOnlyWhileTheTierIsFull(t *testing.T) {
	var mem tiers.Config
	mem.Budget[tiers.Large] = 4 << 20
	g := newGame(t, 60, mem, Config{Preset: Full})
	g.o.Show(Tiers, true)
	g.run(1, nil)
	for _, full := range []bool{false, true} {
		size := uintptr(3 << 19)
		if full {
			size = 3700 << 10
		}
		p, err := g.m.Alloc(size, 16)
		must(t, err)
		if _, err := g.m.Alloc(3<<20, 16); err == nil {
			t.Fatal("beyond the budget")
		}
		g.run(1, nil)
		g.want("large refused ")
		red := 0
		for _, v := range g.o.q.Vertices() {
			if _, letter := g.text[[2]float32{v.SrcX, v.SrcY}]; letter && v.ColorR == render.Red.R && v.ColorG == render.Red.G && v.ColorB == render.Red.B {
				red++
			}
		}
		if (red > 0) != full {
			t.Errorf("full %v: %d corners of letters are red:\n%s", full, red, g.read())
		}
		g.m.Free(p, size)
	}
}

// A pool and a tag have no budget: a refusal of a pool at its capacity was amber. It is red, also for the tag and the
// tier, until the pool has space again.
func TestTiers_ARefusalOfAFullPoolIsRed(t *testing.T) {
	g := newGame(t, 60, tiers.Config{}, Config{Preset: Full})
	ai := g.tag("ai")
	p, err := tiers.NewPoolIn[[16]byte](ai, pool.Config{Name: "orcs", Capacity: 100})
	must(t, err)
	var all []memory.Handle[[16]byte]
	for range 100 {
		h, _, err := p.New()
		must(t, err)
		all = append(all, h)
	}
	g.o.Show(Tiers, true)
	g.run(1, nil)
	if _, _, err := p.New(); err == nil {
		t.Fatal("beyond the capacity")
	}
	for _, c := range []struct {
		free int
		want render.Color
	}{{0, render.Red}, {20, render.Amber}} {
		for _, h := range all[:c.free] {
			p.Free(h)
		}
		g.run(1, nil)
		for _, w := range []*meter.Row{&g.o.meter.Pools()[0], g.o.meter.Verdict().Refused, &g.o.tagRows()[0]} {
			if got := g.o.refusal(w); w.Failures != 1 || got != c.want {
				t.Errorf("%d are free: %s refused %d, in %v, want %v", c.free, w.Name, w.Failures, got, c.want)
			}
		}
	}
}

func TestWorst_IsTheSpikeAndStaysWhereItIsKept(t *testing.T) {
	atEveryRate(t, func(t *testing.T, hz float64) {
		g := newGame(t, hz, tiers.Config{}, Config{})
		g.o.Show(Strip, true)
		g.o.Show(Tiers, true)
		enemies := g.o.Meter().Monitor("enemies", "", func() float64 { return 57 })
		physics := g.o.Meter().Timer("physics")
		ai := g.tag("ai")
		g.run(5, nil)
		g.frame(0.4, func(float64) { // one frame of 600 or so
			for range 500 {
				if _, err := ai.Alloc(1024, 8); err != nil {
					t.Fatal(err)
				}
			}
			physics.Start()
			g.now = g.now.Add(300 * time.Millisecond)
			physics.Stop()
		})
		g.run(3, nil)
		if v := g.figure(`worst frame (\d+\.\d) ms`); !near(v, 700, 0.01) {
			t.Errorf("the worst took %v ms", v)
		}
		if v := g.figure(`p99 +\d+\.\d +worst +(\d+\.\d)`); !near(v, 700, 0.01) {
			t.Errorf("the strip says %v ms", v)
		}
		g.want("physics 300.0 ms")
		g.want("slab 500 +500.0 KiB")
		g.want("#ai 500")
		g.want("enemies 57")
		_ = enemies
		g.press(-3)
		g.run(12, nil)
		g.want("kept frame 700.0 ms")
		g.press(-3)
		g.wantNot("kept frame")
		g.wantNot("700.0 ms")
	})
}

func TestStrip_RatesAreOfTheWallClock(t *testing.T) {
	atEveryRate(t, func(t *testing.T, hz float64) {
		g := newGame(t, hz, tiers.Config{}, Config{})
		g.o.Meter().Monitor("fuel", "kg", func() float64 { return 12.5 })
		g.press(1)
		for range int(5 * hz) { // two ticks a frame
			g.o.Update()
			g.frame(1/hz, nil)
		}
		if v := g.figure(`fps +(\d+)`); !near(v, hz, 0.05) {
			t.Errorf("%v frames a second", v)
		}
		if v := g.figure(`tps +(\d+)`); !near(v, 2*hz, 0.05) {
			t.Errorf("%v ticks a second", v)
		}
		if v := g.figure(`ms +(\d+\.\d)`); !near(v, 1000/hz, 0.07) {
			t.Errorf("a frame takes %v ms", v)
		}
		g.want("fuel 12.5 kg")
	})
}

func TestStrip_FiguresAboveASecondDoNotRunIntoEachOther(t *testing.T) {
	g := newGame(t, 60, tiers.Config{}, Config{})
	g.press(1)
	for range 10 {
		g.frame(1234.5, nil)
	}
	g.frame(99999, nil)
	g.run(0.5, nil)
	if s := g.read(); regexp.MustCompile(`\d{9,}`).MatchString(s) {
		t.Errorf("%s", s)
	}
}

func TestHidden_MeasuresNothingAndWhatPassedIsNotOneFrame(t *testing.T) {
	g := newGame(t, 60, tiers.Config{}, Config{})
	ai := g.tag("ai")
	g.press(3)
	g.run(2, nil)
	g.press(3)
	n := g.o.meter.Frames()
	g.run(20, memtest.Leak(t, ai, 100<<10, 1024))
	if g.o.meter.Frames() != n || g.o.q.Len() != 0 && len(g.o.placed) != 0 {
		t.Errorf("hidden, it measures %d frames and draws", g.o.meter.Frames()-n)
	}
	g.press(3)
	g.run(1, nil)
	if v := g.figure(`worst frame (\d+\.\d) ms`); v > 20 {
		t.Errorf("what was hidden is a frame of %v ms", v)
	}
	g.want("growing not known yet")
	if w := g.o.meter.Rows()[tiers.Slab]; w.Most > 0 || w.InUse < 1<<20 {
		t.Errorf("%+v", w)
	}
}

func TestHidden_WatchMeasures(t *testing.T) {
	g := newGame(t, 60, tiers.Config{}, Config{Watch: true})
	g.run(50, memtest.Leak(t, g.tag("ai"), 100<<10, 1024))
	if len(g.o.placed) != 0 || g.o.q.Len() != 0 {
		t.Error("hidden, it draws")
	}
	g.press(3)
	g.want("tag ai +")
}

func TestFreeze_TheGameStandsAndSoDoTheFigures(t *testing.T) {
	g := newGame(t, 60, tiers.Config{}, Config{})
	ticks := 0
	play := func(float64) { ticks++ }
	g.press(3)
	g.run(2, play)
	g.press(5)
	frames := g.o.meter.Frames()
	if ticks = 0; !g.o.Frozen() {
		t.Fatal("not frozen")
	}
	g.run(30, play)
	g.want("FROZEN: F5 goes on")
	if ticks != 0 || g.o.meter.Frames() != frames {
		t.Errorf("frozen, it plays %d ticks and measures %d frames", ticks, g.o.meter.Frames()-frames)
	}
	for range 3 {
		g.in = input{shift: true}
		g.in.keys[4] = true
		g.frame(1.0/60, play)
		g.in = input{}
		g.run(1, play)
	}
	if ticks != 3 || g.o.meter.Frames() != frames+3 {
		t.Errorf("three steps are %d ticks and %d frames", ticks, g.o.meter.Frames()-frames)
	}
	g.press(5)
	g.run(1, play)
	if ticks < 60 || g.o.Frozen() {
		t.Errorf("%d ticks after it", ticks)
	}
	if v := g.figure(`worst frame (\d+\.\d) ms`); v > 35 {
		t.Errorf("standing still is a frame of %v ms", v)
	}
}

// FROZEN over a game that goes on would be false.
func TestFreeze_AGameThatNeverAsksIsToldSo(t *testing.T) {
	g := newGame(t, 60, tiers.Config{}, Config{})
	g.run(2, nil)
	g.o.asked = false
	g.press(5)
	g.want("this game does not stop: its Update must ask Overlay.Frozen")
	if g.o.Frozen() {
		t.Error("frozen")
	}
	g.press(5) // it has asked now
	g.want("FROZEN: F5 goes on")
}

func TestClosed_ItSaysSoAndGoesOn(t *testing.T) {
	g := newGame(t, 60, tiers.Config{}, Config{})
	broken := error(nil)
	g.m.AddPool("broken", &tiers.Funcs{CloseFunc: func() error { return broken }})
	g.run(1, memtest.Leak(t, g.tag("ai"), 100<<10, 1024))
	for k := range Part(partCount) {
		g.o.Show(k, true)
	}
	g.run(1, nil)
	g.press(8)
	broken = errors.New("broken")
	if err := g.m.Close(); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	must(t, g.o.Starve(false))
	g.run(1, nil)
	g.refusesFaults()
	broken = nil
	must(t, g.m.Close())
	n := g.o.meter.Frames()
	g.press(-7, -3, 8, 5, 5, 6)
	g.run(2, nil)
	if g.o.meter.Frames() != n {
		t.Error("it is still measured")
	}
	g.want("the memory manager is closed")
	for k := range Part(partCount) {
		g.o.Show(k, false)
		g.o.Show(k, true)
	}
	g.run(1, nil)
	g.refusesFaults()
	must(t, g.o.Close())
}

func (g *game) refusesFaults() {
	g.t.Helper()
	if err := g.o.Starve(true); !errors.Is(err, memory.ErrClosed) || strings.Contains(err.Error(), "\n") {
		g.t.Errorf("a closed manager starves: %v", err)
	}
}

func TestTap_TheCornerCyclesAndNothingElseDoes(t *testing.T) {
	for _, c := range []struct {
		corner Corner
		x, y   float32
	}{{TopLeft, 5, 5}, {TopRight, 1275, 5}, {BottomLeft, 5, 715}, {BottomRight, 1275, 715}} {
		g := newGame(t, 60, tiers.Config{}, Config{Corner: c.corner, Watch: true})
		g.run(0.1, nil)
		tap := func(x, y float32) (strip, tiers bool) {
			g.in = input{down: true, x: x, y: y}
			g.run(0.1, nil) // held for some ticks
			g.in = input{}
			g.run(0.1, nil)
			return g.o.Shown(Strip), g.o.Shown(Tiers)
		}
		for i, want := range [][2]bool{{true, false}, {true, true}, {false, false}, {true, false}} {
			if s, m := tap(c.x, c.y); s != want[0] || m != want[1] {
				t.Errorf("corner %d, tap %d: strip %v, tiers %v", c.corner, i+1, s, m)
			}
		}
		if s, m := tap(600, 300); !s || m {
			t.Errorf("corner %d: a tap elsewhere changes something", c.corner)
		}
	}
	g := newGame(t, 60, tiers.Config{}, Config{NoTap: true, Watch: true})
	g.run(0.1, nil)
	g.in = input{down: true, x: 5, y: 5}
	g.run(0.1, nil)
	if len(g.o.open) != 0 {
		t.Error("NoTap taps")
	}
}

func TestTap_CountsBeforeTheOverlayWasShown(t *testing.T) {
	o, err := New(nil, Config{})
	must(t, err)
	on := ebiten.NewImage(1280, 720)
	o.Draw(on)
	o.tap(5, 5)
	if !o.Shown(Strip) {
		t.Error("a tap in the corner shows nothing")
	}
	must(t, o.Close())
}

func TestDefaultKeys_OneOfThemChanged(t *testing.T) {
	keys := DefaultKeys()
	keys[0] = ebiten.KeyBackquote
	g := newGame(t, 60, tiers.Config{}, Config{Keys: keys})
	for i, want := range keys {
		if got := g.o.cfg.Keys[i]; got != want || i > 0 && got != ebiten.KeyF1+ebitenKey(i) {
			t.Errorf("function %d has %v, want %v", i+1, got, want)
		}
	}
}

// The texts began at a fixed place, and covered the ends of long names.
func TestHelp_LongNamesOfKeys(t *testing.T) {
	g := newGame(t, 60, tiers.Config{}, Config{})
	g.o.Show(Help, true)
	for k := range ebiten.KeyMax + 1 {
		g.o.cfg.Keys[keyTiers] = k
		g.frame(1/g.hz, nil)
		if s := strings.Join(strings.Fields(g.read()), " "); !strings.Contains(s, k.String()+" largest, grow") {
			t.Errorf("the key %s is not on the screen:\n%s", k, s)
		}
	}
}

func TestNew_RefusesWhatCannotBe(t *testing.T) {
	g := newGame(t, 60, tiers.Config{}, Config{})
	for want, cfg := range map[string]Config{
		"Config.Scale is 9": {Scale: 9}, "Config.Scale is 0.1": {Scale: 0.1}, "Config.Top is 0.5": {Top: 0.5},
		"Config.Corner is 5": {Corner: 5}, "Config.Preset is 9": {Preset: 9}, "Config.Keys[3] is 9999": {Keys: [render.FunctionKeys]ebitenKey{3: 9999}},
		"Config.Keys[1] and Config.Keys[2] are both A": {Keys: [render.FunctionKeys]ebitenKey{keyF3}},
		"Config.Window 1ms":                            {Meter: meterConfig{Window: time.Millisecond}},
	} {
		if _, err := New(g.m, cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	draw := func(*render.Panel) {}
	for want, p := range map[string]Panel{
		"has no Draw": {Cols: 10, Rows: 10}, "of 0×10": {Rows: 10, Draw: draw}, "of 39×1": {Cols: 39, Rows: 1, Draw: draw},
		"key F3 is taken": {Cols: 1, Rows: 1, Draw: draw, Key: keyF3}, "has key -1": {Cols: 1, Rows: 1, Draw: draw, Key: -1},
	} {
		if _, err := g.o.Add(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for range mostPanels {
		if _, err := g.o.Add(Panel{Cols: 1, Rows: 1, Draw: draw}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := g.o.Add(Panel{Cols: 1, Rows: 1, Draw: draw}); err == nil {
		t.Error("a seventeenth panel is taken")
	}
	for want, f := range map[string]func(){"Draw: it needs a picture": func() { g.o.Draw(nil) }, "Show: there is no part 99": func() { g.o.Show(99, true) }} {
		func() {
			defer func() {
				if e, ok := recover().(*memory.Misuse); !ok || !strings.Contains(e.Error(), want) {
					t.Errorf("%v, want %s", e, want)
				}
			}()
			f()
		}()
	}
	if _, err := ParsePart("f5"); err == nil {
		t.Error("f5 has no panel")
	}
	for i, help := range keyHelps {
		if help == "" {
			t.Errorf("F%d does something, and help does not say what", i+1)
		}
	}
	if p, err := ParsePart("f9"); err != nil || p != Memory {
		t.Errorf("f9 is %d, %v", p, err)
	}
}

func TestNew_WithoutAManagerMakesOneThatChangesNothing(t *testing.T) {
	was := debug.SetGCPercent(100)
	defer debug.SetGCPercent(was)
	o, err := New(nil, Config{})
	if err != nil {
		t.Fatal(err)
	}
	if percent := debug.SetGCPercent(100); percent != 100 {
		t.Errorf("GOGC is %d", percent)
	}
	o.Show(Tiers, true)
	on := ebiten.NewImage(640, 360)
	for range 3 {
		o.Draw(on)
	}
	if err := o.m.Check(); err != nil {
		t.Error(err)
	}
	if err := o.Close(); err != nil || o.m.Extent() != 0 {
		t.Errorf("%v, and %d bytes are reserved", err, o.m.Extent())
	}
	if _, err := New(nil, Config{Preset: 9}); err == nil {
		t.Error("a preset that is none is taken")
	}
}

// The tiers of a manager that New made are no rows, and no words.
func TestTiers_WithoutAManagerAreOfTheProcessAlone(t *testing.T) {
	g := newGame(t, 60, tiers.Config{}, Config{})
	g.press(3)
	g.run(1, nil)
	g.want("frame memory")
	g.want("static")
	g.o.own = g.m
	defer func() { g.o.own = nil }() // it is closed elsewhere
	g.run(1, nil)
	for _, t := range []string{"static", "inbox", ", tier", "frame memory"} {
		g.wantNot(t)
	}
	g.want("live Go ")
	g.want("allocates ")
	g.want("go heap")
	g.want("untracked")
	g.want("late frames ")
	g.press(1)
	g.wantNot("mem ")
	if v := g.figure(`heap +(\d+\.\d) MiB`); v < 0.5 {
		t.Errorf("the Go heap has %v MiB", v)
	}
}

func TestOverlay_ThatIsNilDoesNothing(t *testing.T) {
	var o *Overlay
	o.Update()
	o.Hide(true)
	o.Draw(ebiten.NewImage(8, 8))
	if err := o.Close(); err != nil || o.Frozen() || o.Shown(Strip) {
		t.Errorf("%v, frozen %v", err, o.Frozen())
	}
}

// Hidden panels measure and keep their places, but nothing of them is drawn.
func TestOverlay_HideDrawsNothingAndKeepsThePlaces(t *testing.T) {
	g := newGame(t, 60, tiers.Config{}, Config{Corner: TopLeft})
	g.press(3)
	for _, hidden := range []bool{true, false} {
		g.o.Hide(hidden)
		was := g.o.meter.Frames()
		g.run(0.1, nil)
		drawn := g.o.compose(0, 0, 1280, 720)
		if drawn == hidden || !g.o.Shown(Tiers) || !g.o.Covers(20, 20, 1, 1) || g.o.Bottom() < 100 || g.o.meter.Frames() == was {
			t.Errorf("hidden %v: drawn %v, open %v, to %g, %d frames", hidden, drawn, g.o.Shown(Tiers), g.o.Bottom(), g.o.meter.Frames())
		}
	}
}

func TestShow_APartThatIsNotIsMisuseAndLeavesNothingOpen(t *testing.T) {
	g := newGame(t, 60, tiers.Config{}, Config{})
	for _, p := range []Part{-1, partCount, 1 << 20} {
		func() {
			defer func() {
				if _, ok := recover().(*memory.Misuse); !ok {
					t.Errorf("Show(%d) is no misuse", p)
				}
			}()
			g.o.Show(p, true)
		}()
	}
	g.run(0.1, nil)
}

func TestTiers_TheCurvesHaveTheWindowsLength(t *testing.T) {
	for want, window := range map[string]time.Duration{" 10 s": 0, " 30 s": 30 * time.Second, "600 s": 10 * time.Minute} {
		g := newGame(t, 60, tiers.Config{}, Config{Meter: meterConfig{Window: window}})
		g.press(3)
		g.want(want)
	}
}
