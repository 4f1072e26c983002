package overlay

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/meter"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
)

func TestRound_IsToTheNearestUpwardsFromAHalf(t *testing.T) {
	for x, want := range map[float32]float32{0: 0, 0.4: 0, 0.5: 1, 0.6: 1, 1: 1, 7.49: 7, -0.4: 0, -0.5: 0, -0.6: -1} {
		if got := round(x); got != want {
			t.Errorf("%v is %v, want %v", x, got, want)
		}
	}
}

func ofTier(t tiers.Tier, kept int) string {
	return fmt.Sprintf("the budget of tier %d is kept as %d", t, kept)
}

func TestCheck_NamesWhatIsCorrupt(t *testing.T) {
	for want, corrupt := range map[string]func(o *Overlay){
		"part -1 is open at 0":                               func(o *Overlay) { o.open[0] = -1 },
		fmt.Sprint("part ", int(partCount), " is open at 1"): func(o *Overlay) { o.open[1] = partCount },
		"part 2 is open at 1":                                func(o *Overlay) { o.open[1] = o.open[0] },
		ofTier(tiers.Level, 7):                               func(o *Overlay) { o.faults.was[tiers.Level] = 7 },
		ofTier(tiers.Pools, 0):                               func(o *Overlay) { o.faults = faults{on: true, done: [tiers.Count]bool{tiers.Pools: true}} },
		ofTier(tiers.Slab, 9):                                func(o *Overlay) { o.faults.on = true; o.faults.was[tiers.Slab] = 9 },
		"overlay: the clock goes on unseen":                  func(o *Overlay) { o.blind = true },
	} {
		g := newGame(t, 60, tiers.Config{}, Config{})
		g.press(3, 1)
		if corrupt(g.o); g.o.check() == nil || !strings.Contains(g.o.check().Error(), want) {
			t.Errorf("%v, want %s", g.o.check(), want)
		}
	}
}

// Ebitengine is asked for the keys of every panel, also of those without one.
func TestReadDevices_AsksForThePanelsOfTheGame(t *testing.T) {
	g := newGame(t, 60, tiers.Config{}, Config{})
	for _, key := range []ebiten.Key{ebitenKeyG, 0, ebiten.KeyMax} {
		_, err := g.o.Add(Panel{Cols: 1, Rows: 1, Key: key, Draw: func(*render.Panel) {}})
		must(t, err)
	}
	g.o.Show(Maps, true)
	in := input{}
	if readDevices(g.o, &in); in != (input{}) {
		t.Errorf("nothing is pressed: %+v", in)
	}
}

func TestMaps_OfAHeapWithoutABlock(t *testing.T) {
	g := newGame(t, 60, tiers.Config{}, Config{})
	g.press(4)
	g.run(0.5, nil)
	if m := g.o.maps.cells(); m.span != 1 || m.n == 0 {
		t.Errorf("%d cells of %d bytes", m.n, m.span)
	}
	g.want("0 B in 0 blocks")
	g.want("no block was allocated yet")
	g.want("arrow keys or a click select")
	g.wantNot("in pieces")
	g.in.arrow[1] = true
	g.run(0.05, nil)
	g.want("0 B in use, 0 blocks begin, largest 0 B")
}

func TestStatus_AClosedManagerIsSaidWhereSomethingIsOpen(t *testing.T) {
	g := newGame(t, 60, tiers.Config{}, Config{})
	g.run(0.1, nil)
	must(t, g.m.Close())
	g.press(5)
	g.want("FROZEN: F5 goes on")
	g.wantNot("closed")
	g.press(3)
	g.want("the memory manager is closed")
}

func TestLeaks_AMarkBeforeTheFirstFrameIsNone(t *testing.T) {
	g := newGame(t, 60, tiers.Config{}, Config{})
	g.in = input{shift: true}
	g.in.keys[keyLeaks] = true
	if g.o.Update(); g.o.Shown(Leaks) || g.o.meter.Marked(meter.A) {
		t.Error("it is set")
	}
}

func TestLeaks_SixRowsAreShownOfMore(t *testing.T) {
	for _, tags := range []int{5, 6} { // and the slab itself
		g := newGame(t, 60, tiers.Config{}, Config{})
		g.press(7)
		for i := range tags {
			_, err := g.tag(fmt.Sprint("tag ", i)).Alloc(1000, 16)
			must(t, err)
		}
		_, err := g.m.EndLevel()
		must(t, err)
		must(t, g.m.BeginLevel())
		g.run(0.5, nil)
		if got := strings.Count(g.read(), "1 block\n") + strings.Count(g.read(), "slab"); got != 6 {
			t.Errorf("of %d leaks %d are shown:\n%s", tags+1, got, g.read())
		}
		if got := strings.Contains(g.read(), "6 of 7"); got != (tags == 6) {
			t.Errorf("of %d leaks:\n%s", tags+1, g.read())
		}
	}
}

// What grows is named where only a tag does, only a pool, or only a pool's tier.
func TestTiers_EachThatGrowsIsNamed(t *testing.T) {
	for _, size := range screens[:2] {
		g := newGame(t, 60, tiers.Config{}, Config{})
		g.w, g.h = size[0], size[1]
		all, owners := "▲ pools +4.0 K/s  # ai +2.0 K/s  · sparks +5.0 K/s", "growing # ai +2.0 K/s  · sparks +5.0 K/s"
		if size[0] > 640 {
			all = "growing ▲ pools +4.0 KiB/s  tag ai +2.0 KiB/s  pool sparks +5.0 KiB/s"
			owners = "growing tag ai +2.0 KiB/s  pool sparks +5.0 KiB/s"
		}
		g.tag("ai")
		g.m.AddPool("sparks", &tiers.Funcs{StatsFunc: func() memory.Stats { return memory.Stats{InUse: 1} }})
		g.press(3)
		rows := g.o.meter.Rows()
		rows[firstTag].Growth, rows[tiers.Slab].Growth, rows[tiers.Pools].Growth, g.o.meter.Pools()[0].Growth = 2048, 3072, 4096, 5120
		for want, v := range map[string]meter.Verdict{
			"growing nothing":                {},
			"growing not known yet":          {Young: true},
			owners:                           {Tag: &rows[firstTag], Pool: &g.o.meter.Pools()[0]},
			"growing tag ai +2.0 KiB/s":      {Tag: &rows[firstTag]},
			"growing pool sparks +5.0 KiB/s": {Pool: &g.o.meter.Pools()[0]},
			"growing ▲ slab +3.0 KiB/s  tag ai +2.0 KiB/s": {Growing: &rows[tiers.Slab], Tag: &rows[firstTag], Pool: &g.o.meter.Pools()[0]},
			"growing ▲ slab +3.0 KiB/s":                    {Growing: &rows[tiers.Slab]},
			all:                                            {Growing: &rows[tiers.Pools], Tag: &rows[firstTag], Pool: &g.o.meter.Pools()[0]},
			"growing ▲ pools +4.0 KiB/s  pool sparks +5.0": {Growing: &rows[tiers.Pools], Pool: &g.o.meter.Pools()[0]},
		} {
			*g.o.meter.Verdict() = v
			g.o.q.Begin(g.o.verts, g.o.indices, g.o.atlas, render.View{Scale: 1})
			for i := range g.o.placed {
				g.o.drawPart(&g.o.placed[i])
			}
			marked := slices.ContainsFunc(g.o.q.Vertices(), func(x render.Vertex) bool {
				return x.ColorR == render.White.Fade(0.09).R && x.DstY < g.o.placed[0].y+3*g.o.scr.pitch
			})
			if marked != (v.Growing != nil || v.Tag != nil || v.Pool != nil) {
				t.Errorf("%v, %s: marked: %t", size, want, marked)
			}
			if text := strings.ReplaceAll(g.read(), "  ", " "); !strings.Contains(text, strings.ReplaceAll(want, "  ", " ")) || v.Growing == &rows[tiers.Slab] && strings.Contains(text, "pool sparks") {
				t.Errorf("%v: no %q in\n%s", size, want, text)
			}
		}
	}
}

// Each of the slots that become a point shows in it, and what is not known yet is no point.
func TestFewer_APointIsTheMostOfItsSixSlots(t *testing.T) {
	var few [points]float32
	for i := range meter.SlotCount {
		var all [meter.SlotCount]float32
		all[i] = 5
		got := fewer(&all, meter.SlotCount, &few)
		for k, v := range got {
			if want := i/6 == k; (v == 5) != want || v != 0 && v != 5 {
				t.Fatalf("slot %d: point %d is %v", i, k, v)
			}
		}
	}
	for known, want := range map[int]int{0: 0, 1: 1, 5: 1, 6: 1, 7: 2, 12: 2, 13: 3, 235: 40, 240: 40} {
		if got := fewer(new([meter.SlotCount]float32), known, &few); len(got) != want || want > 0 && &got[want-1] != &few[points-1] {
			t.Errorf("%d known slots are %d points, want %d", known, len(got), want)
		}
	}
}

func TestScreen_HasAScaleAPitchAndColumnsOfItsSize(t *testing.T) {
	for _, c := range []struct {
		w, h   int
		scale  float32
		preset Preset
		want   screen
	}{
		{1280, 720, 0, Auto, screen{scale: 1, w: 1280, h: 720, pitch: 16, cols: wide, full: true}},
		{1280, 720, 0, Minimal, screen{scale: 1, w: 1280, h: 720, pitch: 16, cols: narrow}},
		{1280, 719, 0, Full, screen{scale: 1, w: 1280, h: 719, pitch: 16, cols: wide, full: true}},
		{1600, 1080, 0, Auto, screen{scale: 1.5, w: 1600 / 1.5, h: 720, pitch: 16, cols: wide, full: true}},
		{3840, 2160, 0, Auto, screen{scale: 3, w: 1280, h: 720, pitch: 16, cols: wide, full: true}},
		{960, 600, 0, Auto, screen{scale: 1, w: 960, h: 600, pitch: 16, cols: wide, full: true}},
		{959, 599, 0, Auto, screen{scale: 1, w: 959, h: 599, pitch: 12, cols: narrow}},
		{1280, 720, 2, Auto, screen{scale: 2, w: 640, h: 360, pitch: 12, cols: narrow}},
		{320, 240, 0, Full, screen{scale: 1, w: 320, h: 240, pitch: 12, cols: 38, full: true}},
		{256, 240, 0, Auto, screen{scale: 0.8, w: 320, h: 300, pitch: 12, cols: narrow}},
		{200, 240, 0, Minimal, screen{scale: 0.75, w: 200 / 0.75, h: 320, pitch: 12, cols: 31}},
		{8, 8, 0, Auto, screen{scale: 0.75, w: 8 / 0.75, h: 8 / 0.75, pitch: 12, cols: 1}},
	} {
		var s screen
		c.want.x, c.want.y = 3, 5
		if s.set(c.scale, 3, 5, c.w, c.h, c.preset); s != c.want {
			t.Errorf("%dx%d, scale %v, preset %d: %+v, want %+v", c.w, c.h, c.scale, c.preset, s, c.want)
		}
	}
}

// The largest change is first, whichever way it went.
func TestLeaks_TheLargestChangesComeFirst(t *testing.T) {
	g := newGame(t, 60, tiers.Config{}, Config{})
	g.press(7)
	held, err := g.tag("gone").Alloc(90_000, 16)
	must(t, err)
	g.run(0.5, nil)
	g.press(-7)
	g.m.Free(held, 90_000)
	for i, size := range []uintptr{100, 3000, 50_000, 700, 20_000, 10_000, 5000, 40} {
		_, err := g.tag(fmt.Sprint("tag ", i)).Alloc(size, 16)
		must(t, err)
	}
	g.run(0.5, nil)
	all := g.o.leaks.changes
	if len(all) < 2*changeRows-3 {
		t.Fatalf("%+v", all)
	}
	for i := range changeRows {
		for _, c := range all[i+1:] {
			if abs(c.Bytes) > abs(all[i].Bytes) {
				t.Errorf("%+v is behind %+v", c, all[i])
			}
		}
	}
	g.want("# gone  -8")
}

func TestMaps_WhatIsSelectedIsInTheLastTwoLines(t *testing.T) {
	for name, size := range map[string][2]int{"full": {1280, 720}, "minimal": {640, 360}} {
		for section, want := range map[int]string{
			noSection:    "arrow keys or a click select",
			largeSection: "from 4.0 KiB on, 4.0 KiB of large\n0 B in use, 0 blocks begin, largest 77 B",
			slabSection:  "blocks of 32 B : 6 live, 2 free\n16.0 KiB in spans, 1000 allocated since the beginning",
			poolSection:  "pool 5 18 objects, 1.5 MiB at most\n60 allocated a second, at most 6 in a frame, 0 refused",
		} {
			g := still(t, size[0], size[1], Config{})
			g.o.maps.section, g.o.maps.index = section, 1
			g.picture(int(Maps))
			squeeze := func(s string) string { return strings.NewReplacer("\n", "\n", " ", "", "…", "").Replace(s) }
			lines, wants := strings.Split(squeeze(g.read()), "\n"), strings.Split(squeeze(want), "\n")
			lines = lines[len(lines)-len(wants):]
			for i := range lines {
				if !strings.HasPrefix(wants[i], lines[i]) || len(lines[i]) < 10 {
					t.Errorf("%s, section %d: %s, want %s", name, section, lines[i], wants[i])
				}
			}
		}
	}
}

func TestMaps_CountBlocksInWords(t *testing.T) {
	g := newGame(t, 60, tiers.Config{}, Config{})
	g.press(4)
	g.o.maps.section = largeSection
	for i, want := range []string{" in 1 block", " in 2 blocks", " in 3 blocks"} {
		_, err := g.m.Alloc(16<<10, 16)
		must(t, err)
		g.run(0.5, nil)
		if g.want(want); i == 0 {
			g.want("1 block begins")
			g.wantNot("1 blocks")
		}
	}
}

func TestSettle_TakesAStepAFrameUnlessItIsLong(t *testing.T) {
	g := newGame(t, 60, tiers.Config{}, Config{})
	g.o.Show(Strip, true)
	for took, want := range map[float64]int{1 / 60.0: partCount, 0.040: partCount, 0.041: 0} {
		for n := 0; g.o.behind <= partCount; n++ {
			if g.frame(1/60.0, nil); n > 60 {
				t.Fatal("the figures do not change")
			}
		}
		if g.frame(took, nil); g.o.behind != want {
			t.Errorf("after a frame of %v s %d steps are left, want %d", took, g.o.behind, want)
		}
	}
}

// The corner that takes a tap is a square, at every scale.
func TestTap_TheCornerEndsWhereItEnds(t *testing.T) {
	for _, size := range screens[1:4] {
		for corner := range BottomRight + 1 {
			g := newGame(t, 60, tiers.Config{}, Config{Corner: corner, Watch: true})
			g.w, g.h = size[0], size[1]
			g.run(0.1, nil)
			for _, c := range []struct {
				x, y float32
				want bool
			}{{0, 0, true}, {27.5, 27.5, true}, {28.5, 5, false}, {5, 28.5, false}, {-0.5, 5, false}, {5, -0.5, false}, {300, 5, false}, {5, 300, false}} {
				x, y := c.x*g.o.scr.scale, c.y*g.o.scr.scale
				if corner.right() {
					x = float32(g.w) - x
				}
				if corner.bottom() {
					y = float32(g.h) - y
				}
				g.o.Show(Strip, false)
				if g.o.tap(x, y); g.o.Shown(Strip) != c.want {
					t.Errorf("%v, corner %d: a tap at %v, %v counts: %t", size, corner, c.x, c.y, !c.want)
				}
			}
		}
	}
}
