package overlay

import (
	"image"
	"math"
	"strings"
	"testing"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
)

// In a window of 640 × 360, below a strip of four lines, a panel covered what the game keeps free. The panels of
// the help, the tiers, the maps and the process had more rows than fit.
func TestPanels_WithAStripLeaveTheGameItsShares(t *testing.T) {
	g := still(t, 640, 360, Config{})
	for _, name := range []string{"entities", "particles", "ground"} {
		g.o.Meter().Monitor(name, "MiB", func() float64 { return 1 })
	}
	for g.o.corner = TopLeft; g.o.corner <= BottomRight; g.o.corner++ {
		for _, k := range []Part{Help, Tiers, Maps, Leaks, Memory, Heap} {
			g.picture(int(k))
			g.o.Leave(0.16, 0.06)
			g.o.Show(Strip, true)
			g.o.layout()
			if n := len(g.o.placed); n != 2 {
				t.Fatalf("%d parts are placed", n)
			}
			for _, p := range g.o.placed {
				if top, bottom := round(8+0.16*360), round(360-8-0.06*360); p.y < top || p.y+p.h > bottom {
					t.Errorf("corner %d, %s: %+v, not from %v to %v", g.o.corner, g.o.parts[k].name, p, top, bottom)
				}
			}
		}
	}
}

// In a window of 568 × 320, below a strip, the tiers covered the gauges of the game. They leave out the worst frame, and
// then the rows of other memory, but no tier.
func TestTiers_LowWindowsLeaveTheGameItsShares(t *testing.T) {
	g := still(t, 568, 320, Config{})
	for _, name := range []string{"entities", "particles", "ground"} {
		g.o.Meter().Monitor(name, "MiB", func() float64 { return 1 })
	}
	for _, high := range []int{320, 310, 300, 280} {
		g.h = high
		g.picture(int(Tiers))
		g.o.Leave(0.17, 0.07)
		g.o.Show(Strip, true)
		g.o.layout()
		p := g.o.placed[len(g.o.placed)-1]
		if bottom := round(float32(high) - 8 - 0.07*float32(high)); p.part != int(Tiers) || p.y+p.h > bottom && high > 280 {
			t.Errorf("%d high: %+v, not to %v", high, p, bottom)
		}
		g.o.q.Begin(g.o.verts, g.o.indices, g.o.atlas, render.View{Scale: 1})
		g.o.drawPart(&p)
		last := float32(0)
		for _, v := range g.o.q.Vertices() {
			last = max(last, v.DstY)
		}
		if last > p.y+p.h+1 {
			t.Errorf("%d high: drawn to %v beyond %+v", high, last, p)
		}
		for k := range tiers.Tier(tiers.Count) {
			g.want(k.String())
		}
		g.wantNot("worst frame")
	}
}

// On upright phones the tiers, the help, the maps and the process lay over the middle of the screen, where the player of
// most games is. They lie above or below it, and the strip does not share their side if they need it.
// Bottom counted those below: the game wrote its banners under them.
func TestAvoid_PanelsLeaveTheMiddleOfUprightScreens(t *testing.T) {
	for _, size := range [][2]int{{390, 844}, {360, 640}, {320, 568}} {
		g := still(t, size[0], size[1], Config{})
		middle := image.Rect(0, 0, size[0]/4, size[1]/8).Add(image.Pt(size[0]*3/8, size[1]*7/16))
		reached := func() bool {
			return g.o.Covers(float32(middle.Min.X), float32(middle.Min.Y), float32(middle.Dx()), float32(middle.Dy()))
		}
		for g.o.corner = TopLeft; g.o.corner <= BottomRight; g.o.corner++ {
			for _, k := range []Part{Help, Tiers, Maps, Leaks, Memory, Heap} {
				for _, strip := range []bool{false, true} {
					if strip && size[1] < 640 {
						continue // both leave a third of the height
					}
					g.o.Avoid(image.Rectangle{})
					g.picture(int(k))
					g.o.Leave(0.1, 0.08)
					g.o.Show(Strip, strip)
					g.o.layout()
					before := g.o.placed[len(g.o.placed)-1]
					g.o.Avoid(middle)
					g.o.layout()
					p := g.o.placed[len(g.o.placed)-1]
					if p.part != int(k) || reached() {
						t.Errorf("%v, corner %d, strip %v, %s: %+v, before %+v", size, g.o.corner, strip, g.o.parts[k].name, g.o.placed, before)
					}
					if top, bottom := 0.1*g.o.scr.h, g.o.scr.h*(1-0.08); p.y < top || p.y+p.h > bottom {
						t.Errorf("%v, corner %d, strip %v, %s: %+v, not from %v to %v", size, g.o.corner, strip, g.o.parts[k].name, p, top, bottom)
					}
					if b := g.o.Bottom(); b > float32(middle.Min.Y) || b == 0 && !g.o.corner.bottom() && (strip || p.y < float32(middle.Min.Y)) {
						t.Errorf("%v, corner %d, strip %v, %s: %+v, and Bottom is %v", size, g.o.corner, strip, g.o.parts[k].name, g.o.placed, b)
					}
				}
			}
		}
	}
	(*Overlay)(nil).Avoid(image.Rectangle{})
}

// Buttons for fingers beside the rectangle of Within are never covered. On a low phone the tiers lay over them, or
// beyond the screen. The last tiers are left out, and a line reports how many.
func TestWithin_PanelsLieInIt(t *testing.T) {
	for _, size := range [][2]int{{844, 390}, {568, 320}, {640, 360}, {1280, 720}} {
		window := ebiten.NewImage(size[0], size[1])
		defer window.Deallocate()
		g := still(t, size[0], size[1], Config{})
		g.o.Density(1)
		g.o.Leave(0.15, 0.1)
		within := image.Rect(0, 0, size[0]*4/5, size[1])
		g.o.Within(within)
		for g.o.corner = TopLeft; g.o.corner <= BottomRight; g.o.corner++ {
			for _, k := range []Part{Help, Tiers, Maps, Leaks, Memory, Heap} {
				g.picture(int(k))
				g.o.Show(Strip, true)
				g.o.Draw(window)
				for _, p := range g.o.placed {
					r := image.Rect(int(p.x*g.o.scr.scale), int(p.y*g.o.scr.scale), int((p.x+p.w)*g.o.scr.scale), int((p.y+p.h)*g.o.scr.scale))
					if k == Tiers && !r.In(within) || r.Max.X > within.Max.X {
						t.Errorf("%v, corner %d, %s: %v", size, g.o.corner, g.o.parts[k].name, r)
					}
				}
				if low := size[1] == 320; k == Tiers && low != strings.Contains(g.read(), " more tiers need a higher screen") {
					t.Errorf("%v:\n%s", size, g.read())
				}
			}
		}
		g.o.Within(image.Rectangle{})
		if g.o.Draw(window); g.o.scr.w*g.o.scr.scale < float32(size[0])-1 {
			t.Errorf("%v: without a rectangle the screen is %v wide", size, g.o.scr.w*g.o.scr.scale)
		}
	}
	g := still(t, 320, 500, Config{})
	g.o.Density(1)
	g.o.Avoid(image.Rect(100, 200, 200, 300))
	g.o.Leave(0.2, 0.2)
	g.picture(int(Tiers))
	g.want("6 more tiers: turn to a wider screen")
	g.want("static")
	window := ebiten.NewImage(320, 500)
	defer window.Deallocate()
	g.o.Avoid(image.Rectangle{})
	g.o.Within(image.Rect(0, 100, 320, 500))
	g.o.Draw(window)
	if b := g.o.Bottom(); !g.o.Covers(0, b-1, 320, 1) || g.o.Covers(0, b+1, 320, 500) { // it counted from the rectangle
		t.Errorf("%+v from %v on, and Bottom is %v", g.o.placed, g.o.scr.y, b)
	}
	(*Overlay)(nil).Within(image.Rectangle{})
}

// On a phone held sideways, which has two or three pixels for each device-independent one, letters were 5 of these
// high, and then 10. They are 12 high if a panel fits.
func TestDensity_LettersAreAsLargeOnEachDensity(t *testing.T) {
	for _, c := range []struct {
		w, h          int
		density, want float32
	}{{844, 390, 0, 1}, {844, 390, 1, 1.2}, {1688, 780, 2, 2.4}, {2532, 1170, 3, 3.6}, {2195, 1014, 2.6, 3.12}, {390, 844, 1, 1.2}, {1170, 2532, 3, 3.6}, {360, 800, 1, 1.125},
		{2560, 1440, 2, 2}, {1600, 900, 1.25, 1}, {1000, 500, 1, 1}, {1000, 499, 1, 1.2}, {640, 360, -1, 1.2}, {6000, 4000, 99, 8}} {
		g := still(t, c.w, c.h, Config{})
		if c.density != 0 {
			g.o.Density(c.density)
		}
		if g.picture(int(Tiers)); math.Abs(float64(g.o.scr.scale-c.want)) > 1e-5 {
			t.Errorf("%d × %d, density %g: the scale is %g, want %g", c.w, c.h, c.density, g.o.scr.scale, c.want)
		}
	}
	g := still(t, 2532, 1170, Config{Scale: 1.5})
	if g.o.Density(3); g.o.scr.scale != 1.5 {
		t.Errorf("Config.Scale 1.5 became %g", g.o.scr.scale)
	}
	(*Overlay)(nil).Density(2)
}

// The help leaves out its last lines, but no key: it draws as many as its panel has.
func TestHelp_LinesThatDoNotFitAreTheLast(t *testing.T) {
	for _, cfg := range []Config{{}, {Preset: Full}} {
		g := still(t, 640, 360, cfg)
		g.picture(int(Help))
		was := g.o.helpLines()
		for high := float32(300); high > 0; high -= 8 {
			g.o.fitHelp(high)
			n := g.o.helpLines()
			if _, rows := g.o.size(int(Help)); n > was || float32(rows*8) > high && n > g.o.helpKeys() {
				t.Fatalf("%v high: %d lines of %d before", high, n, was)
			}
			g.o.q.Begin(g.o.verts, g.o.indices, g.o.atlas, render.View{Scale: 1})
			g.o.drawPart(&g.o.placed[0])
			last := float32(0)
			letters := g.o.q.Vertices()
			for _, v := range letters {
				if _, ok := g.text[[2]float32{v.SrcX, v.SrcY}]; ok {
					last = max(last, v.DstY)
				}
			}
			if y := g.o.placed[0].y; last < y+g.o.y(n-1) || last >= y+g.o.y(n) {
				t.Errorf("%v high: %d lines, the last text is at %v, not from %v to %v", high, n, last, y+g.o.y(n-1), y+g.o.y(n))
			}
			g.want("by function")
			was = n
		}
	}
}

// On a screen of 256 × 240 a panel had 30 columns: the help was cut, and figures lay over labels and beyond the panel.
func TestPanels_SmallScreensCutNoText(t *testing.T) {
	g := still(t, 256, 240, Config{})
	g.picture(int(Help))
	g.wantNot("…")
	for _, k := range []Part{Help, Tiers, Maps, Leaks, Memory, Heap} {
		g.picture(int(k))
		p := g.o.placed[0]
		for _, v := range g.o.q.Vertices() {
			if right := (p.x + p.w) * g.o.scr.scale; v.DstX > right+0.01 {
				t.Errorf("%s: something ends at %g, the panel at %g", g.o.parts[k].name, v.DstX, right)
				break
			}
		}
	}
}

// On an upright phone the lines of F8 and F5 were cut before they said how to end what they name.
func TestStrip_PhonesSayHowFaultsAndFreezeEnd(t *testing.T) {
	g := still(t, 320, 568, Config{})
	must(t, g.o.Starve(true))
	g.o.frozen = true
	g.picture(int(Strip))
	g.want("F8 ends it")
	g.want("one tick")
	g.wantNot("…")
	must(t, g.o.Starve(false))
}

// Rows of resident memory that have no space are one row, which has their sum.
func TestMemory_RowsThatDoNotFitAreOne(t *testing.T) {
	g := still(t, 640, 360, Config{})
	g.picture(int(Memory))
	g.wantNot("all others")
	all := g.o.memory.resident
	for high := float32(300); high > 0; high -= 8 {
		g.o.fitMemory(high)
		n := g.o.memory.rows
		if _, rows := g.o.size(int(Memory)); n == 1 || n > 0 && float32(rows*8) > high {
			t.Fatalf("%v high: %d rows", high, n)
		}
		g.o.q.Begin(g.o.verts, g.o.indices, g.o.atlas, g.o.q.View())
		g.o.drawPart(&g.o.placed[0])
		sum := uint64(0)
		for _, r := range all[max(n-1, 0):] {
			sum += r.bytes
		}
		if got := strings.Contains(g.read(), "all others"); got != (n > 0 && n < len(all)) {
			t.Errorf("%v high, %d rows of %d:\n%s", high, n, len(all), g.read())
		} else if got && !strings.Contains(strings.Join(strings.Fields(g.read()), " "), "all others "+string(memory.AppendBytes(nil, sum))) {
			t.Errorf("%v high: not %d in\n%s", high, sum, g.read())
		}
	}
}

func TestLeave_RefusesWhatConfigRefuses(t *testing.T) {
	g := newGame(t, 60, tiers.Config{}, Config{})
	(*Overlay)(nil).Leave(0, 0)
	for _, c := range [][2]float32{{-0.1, 0}, {0, 0.4}, {float32(math.NaN()), 0}} {
		func() {
			defer func() {
				if _, ok := recover().(*memory.Misuse); !ok {
					t.Errorf("%v is no misuse", c)
				}
			}()
			g.o.Leave(c[0], c[1])
		}()
	}
	if g.o.cfg.Top != 0 || g.o.cfg.Bottom != 0 {
		t.Errorf("%v and %v were set", g.o.cfg.Top, g.o.cfg.Bottom)
	}
}

// The strip gives pauses and marks four characters: a pause of 100 ms or more ran into its label.
func TestAppendFine_HasFourCharactersAtMost(t *testing.T) {
	for seconds, want := range map[float64]string{-1: "0.00", 0.00033: "0.33", 0.009994: "9.99", 0.009996: "10.0", 0.09994: "99.9", 0.09996: "100", 0.4698: "470", 1.2: "1200", 99: "9999"} {
		if got := string(appendFine(nil, seconds)); got != want {
			t.Errorf("%v s is %q, want %q", seconds, got, want)
		}
	}
}

// After two columns of narrow panels at one side of the rectangle of Avoid, those at the other side began at the second
// column, or had no space. They begin in the corner.
func TestAvoid_TheOtherSideBeginsInTheCorner(t *testing.T) {
	g := still(t, 390, 844, Config{})
	g.only(-1)
	for i, rows := range []int{40, 40, 23} {
		k, err := g.o.Add(Panel{Title: "p", Cols: []int{16, 16, 38}[i], Rows: rows, Draw: func(*render.Panel) {}})
		must(t, err)
		g.o.Show(k, true)
	}
	for g.o.corner = TopLeft; g.o.corner <= BottomRight; g.o.corner++ {
		g.o.Avoid(image.Rect(150, 508, 240, 536))
		if g.o.corner.bottom() {
			g.o.Avoid(image.Rect(150, 308, 240, 336))
		}
		g.draw()
		if p := g.o.placed; len(p) != 3 || p[1].x != g.o.side(136, 128) || p[2].x != g.o.side(0, 304) {
			t.Errorf("corner %d: %+v", g.o.corner, p)
		}
	}
}

// A panel too high for both sides of the rectangle of Avoid lay at the side of the corner, also if that was the lower
// one. It lies at the outer edge of the higher side, where it covers less of the rectangle.
func TestAvoid_APanelTooHighLiesAtTheHigherSide(t *testing.T) {
	g := still(t, 390, 844, Config{})
	g.only(-1)
	k, err := g.o.Add(Panel{Title: "p", Cols: 38, Rows: 40, Draw: func(*render.Panel) {}})
	must(t, err)
	g.o.Show(k, true)
	g.o.Leave(0.2, 0.2)
	for g.o.corner = TopLeft; g.o.corner <= BottomRight; g.o.corner++ {
		for over, want := range map[int]float32{300: 667 - 42*8, 450: 177} {
			g.o.Avoid(image.Rect(150, over, 240, over+100))
			g.draw()
			if len(g.o.placed) != 1 || g.o.placed[0].y != want {
				t.Errorf("corner %d, rectangle at %d: %+v, want y %v", g.o.corner, over, g.o.placed, want)
			}
		}
	}
}

// On a screen that is wider than high the panels of F1 and F3 lay over the place of the player, and those of F3 and F4.
// They are beside it or its mirror image, in each corner, and those without space are named.
func TestAvoid_PanelsAreBesideTheRectangleOfWideScreens(t *testing.T) {
	for _, size := range [][2]int{{480, 270}, {568, 320}, {640, 360}, {844, 390}, {1280, 720}} {
		w, h := size[0], size[1]
		window := ebiten.NewImage(w, h)
		defer window.Deallocate()
		g := still(t, w, h, Config{Top: 0.15, Bottom: 0.07})
		g.o.Density(1)
		left := image.Rect(w*14/100, h*35/100, w*36/100, h*65/100)
		right := image.Rect(w-left.Max.X, left.Min.Y, w-left.Min.X, left.Max.Y)
		for g.o.corner = TopLeft; g.o.corner <= BottomRight; g.o.corner++ {
			free := right
			if g.o.corner.right() {
				free = left
			}
			for _, given := range []image.Rectangle{left, right} {
				g.o.Avoid(given)
				for a := Strip; a <= Heap; a++ {
					for b := a; b <= Heap; b++ {
						g.only(int(a))
						g.o.Show(b, true)
						g.o.q.Begin(g.o.verts, g.o.indices, g.o.atlas, render.View{})
						g.o.Draw(window)
						if g.o.Covers(float32(free.Min.X), float32(free.Min.Y), float32(free.Dx()), float32(free.Dy())) {
							t.Errorf("%v, corner %d, parts %d and %d: %+v lie over %v", size, g.o.corner, a, b, g.o.placed, free)
						}
						drawn := 0
						for _, p := range g.o.placed {
							if p.w < narrow*render.Grid {
								t.Errorf("%v, corner %d, part %d is %v wide", size, g.o.corner, p.part, p.w)
							}
							if p.part == int(a) || p.part == int(b) {
								drawn++
							}
						}
						if open := len(g.o.open); drawn < open && !strings.Contains(g.read(), "no space for") || w == 1280 && drawn < open {
							t.Errorf("%v, corner %d, parts %d and %d: %d are drawn\n%s", size, g.o.corner, a, b, drawn, g.read())
						}
					}
				}
			}
		}
	}
}

// Two panels that are narrow only because both are open are wide again as soon as one is closed.
func TestAvoid_PanelsAreNarrowOnlyIfNecessary(t *testing.T) {
	for preset, want := range map[Preset][3]float32{Auto: {wide, narrow, wide}, Full: {wide, wide, wide}, Minimal: {narrow, narrow, narrow}} {
		g := still(t, 1280, 500, Config{Preset: preset})
		g.o.Avoid(image.Rect(730, 200, 830, 320))
		for i, parts := range [][]Part{{Tiers}, {Tiers, Maps}, {Maps}} {
			g.only(-1)
			for _, k := range parts {
				g.o.Show(k, true)
			}
			g.draw()
			if last := g.o.placed[len(g.o.placed)-1]; last.w != want[i]*render.Grid {
				t.Errorf("preset %d, parts %v: the last is %+v", preset, parts, last)
			}
		}
	}
}

// The strip leaves out its last lines, but not the first, and not those that say how to go on.
func TestAvoid_TheStripEndsAtTheRectangle(t *testing.T) {
	g := still(t, 480, 270, Config{})
	for over, want := range map[int]int{270: 3, 56: 3, 55: 2, 40: 2, 39: 1, 0: 1} {
		g.o.Avoid(image.Rect(400, over, 470, 270))
		g.picture(int(Strip))
		p := g.o.placed[0]
		if n := g.o.stripLines(); n != want || p.y+p.h > float32(max(over, 32)) {
			t.Errorf("a rectangle from %d on: %d lines, want %d: %+v", over, n, want, p)
		}
		g.want("fps")
		if got := strings.Contains(g.read(), "fuel"); got != (want == 3) {
			t.Errorf("a rectangle from %d on: fuel is shown: %v", over, got)
		}
	}
}
