package view

import (
	"image"
	"io/fs"
	"math"
	"testing"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/demo/realm/manifest"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
)

// windows are usual sizes: of a small window, of desktops, and of a phone in both directions.
var windows = []image.Point{{X: 640, Y: 360}, {X: 1280, Y: 720}, {X: 1920, Y: 1080}, {X: 390, Y: 844}, {X: 844, Y: 390}}

// parts are what the HUD draws at most at the same time, with notices and a hint.
func (v *View) parts() map[string]func() {
	at := v.safe()
	return map[string]func(){
		"score": func() { v.scores(at.lo) }, "seals and heat": func() { v.progress(vec{at.hi[0], at.lo[1]}) }, "gauges": func() { v.gauges(at) },
		"map": v.drawMap, "warden": func() { v.bossGauge(v.bossAt(at), 1) }, "shortage": v.shortage, "absence": func() { v.absence(1) },
		"rewinding": v.rewinding, "hint": func() { v.subtitle("THE ARROW POINTS AT A SEAL: BREAK ALL FOUR OF THEM, ONE AFTER THE OTHER") },
	}
}

// What is read at the same time does not overlap, and the overlay begins below score, seals and heat.
func TestHUD_NothingThatIsReadTogetherOverlaps(t *testing.T) {
	const near = 0.5 // pixels
	v := newView(t, 2, tiers.Config{})
	v.s.Game.Multiplier, v.s.Game.Score = 9, 1_234_567
	v.back.share, v.back.left = 1, 1
	for i := range game.LostKinds {
		v.short.left[i] = 9
	}
	for _, size := range windows {
		for _, d := range []render.Device{render.Keyboard, render.Touch} {
			v.Point(vec{}, d, false, [2]render.Thumb{})
			v.frameOf(shaped(size), 1)
			at := map[string][4]float32{}
			for name, draw := range v.parts() {
				v.open()
				v.begin(game.Signs, v.ui.view)
				draw()
				x0, y0, x1, y1 := extent(&v.quads)
				if v.quads.Len() == 0 {
					t.Errorf("%v: no %s", size, name)
				}
				at[name] = [4]float32{x0, y0, x1, y1}
			}
			for a, p := range at {
				for b, q := range at {
					if a < b && p[0]+near < q[2] && q[0]+near < p[2] && p[1]+near < q[3] && q[1]+near < p[3] {
						t.Errorf("%v, device %v: %s at %v lies over %s at %v", size, d, a, p, b, q)
					}
				}
			}
			scale := max(1, float32(math.Floor(float64(size.Y)/360))/2) // the overlay's
			top := scale * float32(math.Round(float64(render.Grid+overlayTop*float32(size.Y)/scale)))
			for _, name := range []string{"score", "seals and heat"} {
				if at[name][3] > top {
					t.Errorf("%v: %s end at %g, the overlay begins at %g", size, name, at[name][3], top)
				}
			}
		}
	}
}

// A notice is not below the overlay: it moves under a strip, or to the right of a panel.
func TestHUD_NoticesMoveOffTheOverlay(t *testing.T) {
	v := newView(t, 2, tiers.Config{})
	for _, size := range windows {
		v.frameOf(shaped(size), 1)
		for _, covered := range []reach{{}, {vec{0, 50}, vec{v.ui.W, 110}}, {vec{0, 50}, vec{v.ui.W / 2, v.ui.H - 30}}} {
			const wide = 100
			v.covered = covered.hi[1]
			hidden := func(x, y, w, h float32) bool {
				return x < covered.hi[0] && x+w > covered.lo[0] && y < covered.hi[1] && y+h > covered.lo[1]
			}
			for line := range noticeLines {
				if x, y := v.noticeAt(line, wide, hidden); hidden(x, y, wide, noticeStep) || x < 0 || x+wide > v.ui.W {
					t.Errorf("%v: notice %d is at %g, %g below the overlay at %v", size, line, x, y, covered)
				}
			}
		}
	}
}

// A machine that is too slow is named for some seconds of play, on every screen.
func TestView_SaysThatTheMachineIsTooSlow(t *testing.T) {
	v := newView(t, 2, tiers.Config{})
	v.Slow(0.5)
	v.back.off = slowTime // why nothing can be rewound is in its line, and comes first
	for range slowTime {
		v.Update()
	}
	for _, size := range windows {
		v.frameOf(shaped(size), 1)
		v.open()
		v.begin(game.Signs, v.ui.view)
		if v.slowness(); string(v.text) != "TIME RUNS AT 50 %: THIS MACHINE IS TOO SLOW" {
			t.Errorf("the screen says %q", v.text)
		}
		if x0, y0, x1, y1 := extent(&v.quads); x0 < 0 || y0 < 0 || x1 > float32(size.X) || y1 > float32(size.Y) {
			t.Errorf("%v: it is at %v,%v to %v,%v", size, x0, y0, x1, y1)
		}
	}
	for range slowTime {
		v.Update()
	}
	v.text = v.text[:0]
	if v.slowness(); len(v.text) > 0 {
		t.Errorf("later it still says %q", v.text)
	}
}

// The small cards of a gift are not drawn in a frozen game: it takes none, and the overlay may lie over them.
func TestHUD_AFrozenGameOffersNothing(t *testing.T) {
	v := newView(t, 2, tiers.Config{})
	v.s.Game.Offered = true
	for _, frozen := range []bool{false, true} {
		v.frozen = frozen
		v.open()
		v.begin(game.Signs, v.ui.view)
		if v.offers(); (v.quads.Len() == 0) != frozen {
			t.Errorf("frozen %v: %d vertices", frozen, v.quads.Len())
		}
	}
}

// The score is written as the summary writes it.
func TestHUD_TheScoreHasGroups(t *testing.T) {
	v := newView(t, 2, tiers.Config{})
	v.s.Game.Score, v.s.Game.Multiplier = 1_234_567, 1
	v.open()
	v.begin(game.Signs, v.ui.view)
	if v.scores(v.safe().lo); string(v.text) != "1,234,567" {
		t.Errorf("the score is %q", v.text)
	}
}

// The bar of the heat is bright in every realm: a grey bar would look switched off.
func TestHUD_TheHeatIsNeverGrey(t *testing.T) {
	for _, name := range realm.Names {
		data, err := fs.ReadFile(assets.FS(), "levels/"+name+".json")
		if err != nil {
			t.Fatal(err)
		}
		m, err := manifest.Parse(name, data)
		if err != nil {
			t.Fatal(err)
		}
		v := &View{}
		for i, c := range m.Palette {
			v.pal[i] = colorOf(c)
		}
		for heat := range game.HeatMost + 1 {
			if c := v.heatColor(float32(heat) / game.HeatMost); max(c.R, c.G, c.B) < 0.8 {
				t.Errorf("%s: at heat %d the bar is %v", name, heat, c)
			}
		}
	}
}
