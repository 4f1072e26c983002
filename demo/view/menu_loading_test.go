package view

import (
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/shell"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
	"github.com/strata-go/strata/render/overlay"
)

// opaque counts the vertices in the rows of the title's letters that hide what is behind them.
func (b *menuBench) opaque() (n int) {
	b.draw()
	for _, v := range b.q.Vertices() {
		if v.DstY > 24 && v.DstY < 150 && v.ColorA > 0.99 {
			n++
		}
	}
	return n
}

// The first frame of the program shows the title. Later it fades in, so that nothing pops up.
func TestTitle_IsThereInTheFirstFrame(t *testing.T) {
	b := newMenuBench(t)
	first := b.opaque()
	for range 60 {
		b.sh.Step(shell.Nav{})
	}
	if last := b.opaque(); first < 6*render.VertsPerQuad || first != last {
		t.Errorf("%d opaque vertices in the first frame, %d in the last", first, last)
	}
	press(b.sh, 2) // settings
	b.draw()
	for b.sh.Screen() != shell.Title {
		b.sh.Step(shell.Nav{Back: true})
		b.sh.Step(shell.Nav{})
	}
	if again := b.opaque(); again >= first {
		t.Errorf("%d opaque vertices as it comes back; the first time %d", again, first)
	}
}

// While the realm loads the title moves from frame to frame, and a line says what is missing.
func TestView_TheTitleMovesAndSaysWhatIsMissing(t *testing.T) {
	v := newView(t, 0, tiers.Config{})
	keys := render.DefaultBindings()
	v.Attach(shell.New(shell.Config{Bindings: &keys}), &keys)
	if err := v.s.Frame(engine.Input{}); err != nil {
		t.Fatal(err)
	}
	var frames [2][]render.Vertex
	for i := range frames {
		v.Update()
		v.open()
		v.begin(game.Signs, window.View())
		v.loading()
		v.drawMenu()
		frames[i] = slices.Clone(v.quads.Vertices())
	}
	if slices.Equal(frames[0], frames[1]) {
		t.Error("two frames are equal")
	}
	if !strings.HasPrefix(string(v.text), "LOADING") {
		t.Errorf("the line is %q", v.text)
	}
	for v.s.Flow.Level() == nil {
		v.frame(t)
	}
	if v.missing(); !strings.HasPrefix(string(v.text), "LOADING "+v.s.Flow.Level().Title+" ") || !strings.Contains(string(v.text), " OF ") {
		t.Errorf("with a manifest the line is %q", v.text)
	}
}

// While a realm loads, its name and files lay below open panels, and so did its name as it begins and the notice of the
// portal.
func TestLoading_LiesBesidePanels(t *testing.T) {
	keys := render.DefaultBindings()
	load, play := newView(t, 0, tiers.Config{}), newView(t, 2, tiers.Config{})
	for load.s.Flow.Level() == nil {
		load.frame(t)
	}
	phase := func(p game.Phase) func() {
		return func() { play.s.Game.Phase, play.s.Game.PhaseTime, play.alive = p, 0.3, 1; play.announce() }
	}
	for what, c := range map[string]struct {
		v    *View
		draw func()
	}{"loading": {load, load.loading}, "beginning": {play, phase(game.Announce)}, "portal": {play, phase(game.Opened)}} {
		v := c.v
		v.Attach(shell.New(shell.Config{Playing: true}), &keys)
		for _, size := range windows[1:] {
			for _, open := range [][]overlay.Part{{overlay.Strip}, {overlay.Strip, overlay.Tiers}, {overlay.Memory}} {
				v.frameWith(size, open)
				v.open()
				v.begin(game.Signs, v.ui.view)
				c.draw()
				n, over := 0, 0
				letters(&v.quads, func(x0, y0, x1, y1 float32) {
					n++
					if v.Overlay.Covers(x0, y0, x1-x0, y1-y0) {
						over++
					}
				})
				if n < 10 || over > 0 {
					t.Errorf("%s, %v, parts %v: of %d letters %d lie below a panel; free is %+v of %g x %g", what, size, open, n, over, v.free(), v.ui.W, v.ui.H)
				}
				for _, part := range open {
					v.Overlay.Show(part, false)
				}
			}
		}
	}
}

// What is loading was below the texts of a menu: of the pause, and on the title of panels and of the summary.
func TestLoading_IsReadOnTheTitleAlone(t *testing.T) {
	keys := render.DefaultBindings()
	v := newView(t, 0, tiers.Config{})
	for v.s.Flow.Level() == nil {
		v.frame(t)
	}
	for screen, reach := range screens {
		sh := shell.New(shell.Config{Bindings: &keys})
		v.Attach(sh, &keys)
		reach(sh)
		for _, size := range windows {
			for _, open := range [][]overlay.Part{nil, {overlay.Strip, overlay.Tiers}} {
				v.frameWith(size, open)
				c := v.Canvas(render.Keyboard)
				for sh.Place(c.Shell()); sh.Age() < 90; {
					sh.Step(shell.Nav{})
				}
				v.open()
				v.begin(game.Signs, v.ui.view)
				v.loading()
				v.menu()
				below := 0
				letters(&v.quads, func(_, _, _, _ float32) { below++ })
				if below > 0 && screen != shell.Playing && screen != shell.Gifts { // gifts are of play
					t.Errorf("screen %d, %v, parts %v: %d letters below the menu", screen, size, open, below)
				}
				if screen == shell.Title {
					v.begin(game.Signs, v.ui.view)
					v.Menu.Draw(&v.quads)
					var said [][4]float32
					letters(&v.quads, func(x0, y0, x1, y1 float32) { said = append(said, [4]float32{x0, y0, x1, y1}) })
					v.begin(game.Signs, v.ui.view)
					v.missing()
					n := 0
					letters(&v.quads, func(x0, y0, x1, y1 float32) {
						n++
						if v.Overlay.Covers(x0, y0, x1-x0, y1-y0) && !v.Menu.away || slices.ContainsFunc(said, func(s [4]float32) bool { return x0 < s[2] && s[0] < x1 && y0+2 < s[3] && s[1] < y1-2 && s[3]-s[1] < 60 }) {
							t.Errorf("%v, parts %v: the letter at %g, %g lies over something", size, open, x0, y0)
						}
					})
					if n == 0 && open == nil {
						t.Errorf("%v: no letters", size)
					}
				}
				for _, part := range open {
					v.Overlay.Show(part, false)
				}
			}
		}
	}
}
