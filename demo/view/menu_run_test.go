package view

import (
	"fmt"
	"image"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/shell"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
)

// overPauses calls f with each screen that shows a run whose figures are as long as they get, with all gifts.
func overPauses(t *testing.T, f func(v *View, b *menuBench, screen shell.Screen)) {
	v := newView(t, 2, tiers.Config{})
	g := v.s.Game
	g.Score, g.Kills, g.Played = 123_456_789, 123_456, 99*3600
	for k := range g.Gifts {
		g.Gifts[k] = 5
	}
	for _, screen := range []shell.Screen{shell.Paused, shell.Ask} {
		f(v, paused(t, v, screen), screen)
	}
}

// paused returns a bench with all items of a screen over a run.
func paused(t *testing.T, v *View, screen shell.Screen) *menuBench {
	b := newMenuBench(t)
	keys := render.DefaultBindings()
	b.sh = shell.New(shell.Config{Bindings: &keys, Saves: true})
	b.m.Source, b.m.played = b.sh, v.s.Game
	play(b.sh)
	b.sh.End(shell.Result{}) // it ends the hints, so there is an item for them
	for range 60 {
		b.sh.Step(shell.Nav{})
	}
	b.sh.Step(shell.Nav{Restart: true})
	screens[screen](b.sh)
	for range 90 {
		b.sh.Step(shell.Nav{})
	}
	if b.sh.Screen() != screen {
		t.Fatalf("screen %d; want %d", b.sh.Screen(), screen)
	}
	return b
}

// A pause and the question show the realm, the time, the score, the fallen enemies and the gifts, over nothing else.
func TestMenu_TheRunOverlapsNothing(t *testing.T) {
	overPauses(t, func(v *View, b *menuBench, screen shell.Screen) {
		for _, size := range append([]image.Point{{X: 568, Y: 320}, {X: 320, Y: 568}}, windows...) { // with a small phone
			for _, d := range []render.Device{render.Keyboard, render.Touch} {
				what := fmt.Sprintf("screen %d, %v, device %v", screen, size, d)
				b.shape(shaped(size), 1, d)
				b.draw()
				taken := map[string]image.Rectangle{}
				for name, draw := range map[string]func(){"heading": func() { b.m.heading("PAUSED", b.m.top()-62) }, "prompt": b.m.prompt} {
					b.q.Begin(b.verts, b.ix, b.atlas, b.m.ui.view)
					draw()
					letters(&b.q, func(x0, y0, x1, y1 float32) {
						taken[name] = taken[name].Union(image.Rect(int(x0), int(y0), int(x1), int(y1)))
					})
				}
				for _, it := range b.sh.Items() {
					k, o := b.m.ui.view, it.Box
					lo, hi := k.Apply(vec{o.X, o.Y}), k.Apply(vec{o.X + o.W, o.Y + o.H})
					taken[it.Label] = image.Rect(int(lo[0]), int(lo[1])+1, int(hi[0]), int(hi[1])-1)
				}
				b.q.Begin(b.verts, b.ix, b.atlas, b.m.ui.view)
				b.m.run()
				letters(&b.q, func(x0, y0, x1, y1 float32) {
					r := image.Rect(int(x0), int(y0+2), int(x1), int(y1-2))
					for name, other := range taken {
						if r.Overlaps(other) {
							t.Errorf("%s: a letter at %v lies over %s at %v", what, r, name, other)
						}
					}
				})
				readable(t, &b.q, what, size, 1)
			}
		}
		var said strings.Builder
		e := newEye(t, &View{atlas: b.atlas, font: b.m.font})
		e.begin(windows[0])
		b.shape(shaped(windows[0]), 1, render.Keyboard)
		b.draw()
		e.look(&b.q)
		for _, text := range e.frame.Texts {
			fmt.Fprintf(&said, "%s; ", text.Text)
		}
		for _, want := range []string{v.s.Game.Title(), "TIME 99:00", "SCORE 123,456,789", "FALLEN 123,456", "CHAIN LIGHTNING 5", "FROST 5"} {
			if !strings.Contains(said.String(), want) {
				t.Errorf("screen %d does not have %q: %s", screen, want, &said)
			}
		}
		if n := testenv.LeastObjects(11, func() { b.draw() }); n != 0 {
			t.Errorf("screen %d costs %v allocations a frame", screen, n)
		}
	})
}

// At the end of a long run on a small upright screen the figures and the gifts lay under the items.
func TestMenu_AResultEndsAboveTheItems(t *testing.T) {
	r := shell.Result{Run: shell.Run{Score: 486_320, Realm: "EMBER", Ticks: 52_860, Kills: 3_914}, Cause: "A LANCER CHARGED"}
	for range 11 {
		r.Figures = append(r.Figures, shell.Figure{Label: "MOST PARTICLES ALIVE", Value: "11,482"})
	}
	for _, name := range game.GiftNames {
		r.Gifts = append(r.Gifts, name+" 2")
	}
	b := newMenuBench(t)
	screens[shell.Over](b.sh)
	for _, size := range slices.Concat(windows, small) {
		b.shape(shaped(size), 1, render.Keyboard)
		b.draw()
		b.q.Begin(b.verts, b.ix, b.atlas, b.m.ui.view)
		b.m.statistics(&r, b.m.ui.H/4)
		top, low := b.m.ui.view.Apply(vec{0, b.m.top()})[1], 0
		letters(&b.q, func(_, _, _, y1 float32) { low = max(low, int(y1)) })
		if float32(low-6) > top {
			t.Errorf("%v: the gifts end at %d, the items begin at %g", size, low, top)
		}
	}
}
