package view

import (
	"image"
	"math"
	"testing"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/shell"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
)

// leastContrast is the least ratio of text that is read at a glance, as WCAG 2 defines it.
const leastContrast = 4.5

// luminance returns the relative luminance of a colour, as WCAG 2 defines it.
func luminance(c [3]float32) float64 {
	linear := func(v float32) float64 {
		if v <= 0.04045 {
			return float64(v) / 12.92
		}
		return math.Pow((float64(v)+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c[0]) + 0.7152*linear(c[1]) + 0.0722*linear(c[2])
}

// over returns what a premultiplied colour makes of a background.
func over(c render.Color, below [3]float32) [3]float32 {
	return [3]float32{c.R + below[0]*(1-c.A), c.G + below[1]*(1-c.A), c.B + below[2]*(1-c.A)}
}

// faintest returns the least contrast of a batch's letters, each over a white picture and the areas drawn before it.
func faintest(q *render.Quads) (least float64, at vec) {
	least = math.Inf(1)
	var areas []render.Vertex // of one colour each, or fading from corner to corner
	for v := q.Vertices(); len(v) >= render.VertsPerQuad; {
		w, h := v[3].SrcX-v[0].SrcX, v[3].SrcY-v[0].SrcY
		square := v[1].DstY == v[0].DstY && v[1].DstX == v[3].DstX && v[2].DstX == v[0].DstX && v[2].DstY == v[3].DstY
		switch {
		case square && w == 0 && h == 0:
			areas = append(areas, v[:render.VertsPerQuad]...)
		case square && w > 0 && w*render.GlyphH == h*render.GlyphW:
			p := vec{(v[0].DstX + v[3].DstX) / 2, (v[0].DstY + v[3].DstY) / 2}
			below := [3]float32{1, 1, 1}
			for a := areas; len(a) > 0; a = a[render.VertsPerQuad:] {
				x, y := (p[0]-a[0].DstX)/(a[3].DstX-a[0].DstX), (p[1]-a[0].DstY)/(a[3].DstY-a[0].DstY)
				if x >= 0 && x <= 1 && y >= 0 && y <= 1 {
					below = over(tintAt(a).Mix(tintAt(a[1:]), x).Mix(tintAt(a[2:]).Mix(tintAt(a[3:]), x), y), below)
				}
			}
			light, dark := luminance(over(tintAt(v), below)), luminance(below)
			if light < dark {
				light, dark = dark, light
			}
			logo := v[3].DstY-v[0].DstY > 100 // WCAG 2 demands no contrast of one
			if c := (light + 0.05) / (dark + 0.05); c < least && v[0].ColorA > 0.5 && !logo {
				least, at = c, p
			}
		default:
			v = v[1:] // of a triangle or a ring, which share vertices
			continue
		}
		v = v[render.VertsPerQuad:]
	}
	return least, at
}

func tintAt(v []render.Vertex) render.Color {
	return render.Color{R: v[0].ColorR, G: v[0].ColorG, B: v[0].ColorB, A: v[0].ColorA}
}

// The horde shone through the plates of the HUD, the figures of a run, the settings and the title.
func TestContrast_TextIsReadOverAWhiteHorde(t *testing.T) {
	v := newView(t, 60, tiers.Config{})
	v.s.Game.Multiplier = 3
	for _, size := range []image.Point{{X: 1280, Y: 720}, {X: 390, Y: 844}} {
		v.frameOf(shaped(size), 1)
		for name, draw := range v.parts() {
			v.open()
			v.begin(game.Signs, v.ui.view)
			draw()
			if c, at := faintest(&v.quads); c < leastContrast {
				t.Errorf("%v: %s has a contrast of %.2f at %v", size, name, c, at)
			}
		}
		for screen, reach := range screens {
			b := newMenuBench(t)
			reach(b.sh)
			for range 90 {
				b.sh.Step(shell.Nav{})
			}
			b.shape(shaped(size), 1, render.Keyboard)
			b.q.Begin(b.verts, b.ix, b.atlas, b.m.ui.view)
			if b.m.begin(&b.q); b.m.narrow() {
				b.m.shade()
			}
			b.m.Draw(&b.q)
			if c, at := faintest(&b.q); c < leastContrast {
				t.Errorf("%v: screen %d has a contrast of %.2f at %v", size, screen, c, at)
			}
		}
	}
}
