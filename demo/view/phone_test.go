package view

import (
	"fmt"
	"image"
	"slices"
	"testing"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/shell"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
	"github.com/strata-go/strata/render/overlay"
)

// phones are screens in CSS pixels, held upright and not.
var phones = []image.Point{{X: 360, Y: 800}, {X: 390, Y: 844}, {X: 844, Y: 390}, {X: 800, Y: 360}}

// letters calls f with the corners of each letter of a batch. Letters alone have cells of 6 to 16 on the atlas.
func letters(q *render.Quads, f func(x0, y0, x1, y1 float32)) {
	for v := q.Vertices(); len(v) >= render.VertsPerQuad; {
		w, h := v[3].SrcX-v[0].SrcX, v[3].SrcY-v[0].SrcY
		if w > 0 && w*render.GlyphH == h*render.GlyphW && v[1].DstY == v[0].DstY && v[1].DstX == v[3].DstX {
			f(v[0].DstX, v[0].DstY, v[3].DstX, v[3].DstY)
			v = v[render.VertsPerQuad:]
			continue
		}
		v = v[1:] // of a triangle or a ring, which share vertices
	}
}

// readable verifies that the letters of a batch lie in the window and are high enough, and returns how many they are.
func readable(t *testing.T, q *render.Quads, what string, size image.Point, density float32) (n int) {
	t.Helper()
	low, outside := float32(1e9), 0
	letters(q, func(x0, y0, x1, y1 float32) {
		n++
		low = min(low, (y1-y0)/render.GlyphH*emHeight/density)
		if x0 < -0.5 || y0 < -0.5 || x1 > float32(size.X)*density+0.5 || y1 > float32(size.Y)*density+0.5 {
			outside++
		}
	})
	if n > 0 && low < 12-0.01 {
		t.Errorf("%s: letters of %.2f CSS pixels", what, low)
	}
	if outside > 0 {
		t.Errorf("%s: %d letters are not in the window", what, outside)
	}
	return n
}

// Every screen of the shell on a phone, at each density: letters of 12 CSS pixels, and targets of 44 in both directions.
func TestPhone_EveryScreenIsReadAndHit(t *testing.T) {
	testenv.Long(t)
	for screen, reach := range screens {
		b := newMenuBench(t)
		reach(b.sh)
		for range 90 {
			b.sh.Step(shell.Nav{})
		}
		for _, size := range phones {
			for _, density := range []float32{1, 2, 3} {
				what := fmt.Sprintf("screen %d, %v × %g", screen, size, density)
				vp := shaped(image.Pt(int(float32(size.X)*density), int(float32(size.Y)*density)))
				if d := vp.Drawn(); d.Dx() < vp.W || d != image.Rect(0, 0, int(float32(size.X)*density), int(float32(size.Y)*density)) {
					t.Fatalf("%s: the world fills %v", what, d)
				}
				b.shape(vp, density, render.Touch)
				b.draw()
				if n := readable(t, &b.q, what, size, density); n == 0 && screen != shell.Playing {
					t.Errorf("%s has no letters", what)
				}
				k := b.m.ui.view.Scale / density
				for _, it := range b.sh.Items() {
					boxes := []shell.Box{it.Box}
					if it.Kind == shell.KeyRow {
						boxes = []shell.Box{it.SlotBox(0), it.SlotBox(1), it.SlotBox(2)}
					}
					for _, o := range boxes {
						if o.W*k < fingertip-0.01 || o.H*k < fingertip-0.01 || o.X < 0 || o.Y < 0 || o.X+o.W > b.m.ui.W+0.01 || o.Y+o.H > b.m.ui.H+0.01 {
							t.Errorf("%s: %s is %.1f × %.1f CSS pixels at %+v of %g × %g", what, it.Label, o.W*k, o.H*k, o, b.m.ui.W, b.m.ui.H)
						}
					}
				}
				lo, hi := vp.Safe()
				for button := range render.TouchButtons {
					at, r := button.Circle(lo, hi)
					if d := 2 * r * vp.Scale / density; d < fingertip-0.01 || at[0]+r > hi[0] || at[1]+r > hi[1] || at[1]-r < lo[1] {
						t.Errorf("%s: button %d is %.1f CSS pixels wide at %v", what, button, d, at)
					}
				}
			}
		}
	}
}

// The HUD on a phone is read, and lies apart: gauges do not cover each other.
func TestPhone_TheHUDIsRead(t *testing.T) {
	testenv.Long(t)
	v := newView(t, 60, tiers.Config{})
	for _, most := range []int{game.HullMax, game.HullMax + 10} {
		v.s.Game.Player.Most = most
		for _, size := range phones {
			for _, density := range []float32{1, 2, 3} {
				vp := shaped(image.Pt(int(float32(size.X)*density), int(float32(size.Y)*density)))
				v.frameOf(vp, density)
				v.alive = 1
				v.open()
				v.begin(game.Signs, v.ui.view)
				v.hud()
				if n := readable(t, &v.quads, fmt.Sprintf("HUD, %v × %g", size, density), size, density); n < 20 {
					t.Errorf("%v: %d letters", size, n)
				}
			}
		}
	}
}

// On an upright phone a panel hid the buttons that pause and that close it, and those of dash and rewind lay over its
// text. On one held sideways rewind and the left stick did. In no window and with no panels a control lies over a
// panel.
func TestPhone_ControlsAndPanelsLieApart(t *testing.T) {
	v := newView(t, 2, tiers.Config{})
	keys := render.DefaultBindings()
	v.Attach(shell.New(shell.Config{Playing: true}), &keys)
	v.Point(vec{}, render.Touch, false, [2]render.Thumb{})
	var sizes []image.Point
	for _, p := range slices.Concat(phones, windows, small, []image.Point{{X: 375, Y: 667}, {X: 390, Y: 664}, {X: 360, Y: 740}, {X: 844, Y: 340}, {X: 1024, Y: 768}, {X: 1180, Y: 820}}) {
		sizes = append(sizes, p, image.Pt(p.Y, p.X))
	}
	sets := [][]overlay.Part{{overlay.Strip}, {overlay.Tiers, overlay.Maps, overlay.Memory}, {overlay.Strip, overlay.Help, overlay.Tiers, overlay.Maps, overlay.Leaks, overlay.Memory, overlay.Heap}}
	for part := overlay.Help; part <= overlay.Heap; part++ {
		sets = append(sets, []overlay.Part{part}, []overlay.Part{overlay.Strip, part})
	}
	for _, size := range sizes {
		for _, open := range sets {
			v.Overlay.Density(1)
			v.frameWith(size, open)
			lo, hi := v.port.Safe()
			for b := range render.TouchButtons {
				at, r := b.Circle(lo, hi)
				p := v.port.View().Apply(at)
				r *= v.port.Scale
				x, y, free := v.mapAt()
				onMap := image.Rect(int(x), int(y), int(x+mapSide), int(y+mapSide)).Overlaps(v.circled(at, r/v.port.Scale))
				if free && onMap || v.Overlay.Covers(p[0]-r, p[1]-r, 2*r, 2*r) {
					t.Errorf("%v, parts %v: button %d at %v is covered, or on the map: %v", size, open, b, p, onMap)
				}
			}
			for side := range 2 {
				v.open()
				v.begin(game.Signs, v.port.View())
				v.Menu.ui = v.ui
				v.Menu.begin(&v.quads)
				if v.Menu.stick(&render.Thumb{}, lo, hi, side); v.quads.Len() == 0 {
					continue
				}
				if x0, y0, x1, y1 := extent(&v.quads); v.Overlay.Covers(x0, y0, x1-x0, y1-y0) {
					t.Errorf("%v, parts %v: stick %d at %v, %v is covered", size, open, side, x0, y0)
				}
			}
			for _, part := range open {
				v.Overlay.Show(part, false)
			}
		}
	}
}

// circled returns the pixels of the canvas round a circle of the logical screen.
func (v *View) circled(at vec, r float32) image.Rectangle {
	lo, hi := v.ui.FromScreen(at.Sub(vec{r, r})), v.ui.FromScreen(at.Add(vec{r, r}))
	return image.Rect(int(lo[0]), int(lo[1]), int(hi[0]), int(hi[1]))
}
