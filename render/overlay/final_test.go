package overlay

import (
	"testing"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/tiers"
)

// A game of 160 by 120 pixels in a window of 1290 by 960: eight pixels for one, and a border of five at the left.
func TestDrawFinal_UsesThePixelsOfTheWindow(t *testing.T) {
	g := newGame(t, 60, tiers.Config{}, Config{})
	g.o.monitor.ask = func() float64 { return 1 }
	game, window := ebiten.NewImage(160, 120), ebiten.NewImage(1290, 960)
	defer game.Deallocate()
	defer window.Deallocate()
	var m ebiten.GeoM
	m.Scale(8, 8)
	m.Translate(5, 0)
	g.o.Show(Strip, true)
	g.o.Draw(game)
	small := g.o.scr
	g.o.DrawFinal(window, game, m)
	if large := g.o.scr; large == small || large.scale < small.scale {
		t.Errorf("the screen is %+v in the window, %+v in the picture", large, small)
	}
	if x, y := g.o.onScreen(100.25, 50); x != 807 || y != 400 {
		t.Errorf("the mouse at 100.25, 50 of the game is at %v, %v of the window", x, y)
	}
	g.o.Draw(game)
	if x, y := g.o.onScreen(100, 50); x != 100 || y != 50 || g.o.scr != small {
		t.Errorf("after Draw again: the mouse is at %v, %v, the screen %+v", x, y, g.o.scr)
	}
	m.Scale(0, 1)
	g.o.DrawFinal(window, game, m)
	if g.o.scr != small {
		t.Error("a matrix without an inverse was used")
	}
	m.Reset()
	memtest.Misuse(t, func() { g.o.DrawFinal(nil, game, m) }, "needs the screen")
	memtest.Misuse(t, func() { g.o.DrawFinal(window, nil, m) }, "and a picture")
	(*Overlay)(nil).DrawFinal(nil, nil, m)
}

// On a monitor with two pixels for each device-independent one, the overlay had letters half as large, unless the game
// called Density.
func TestDrawFinal_HasTheDensityOfTheMonitor(t *testing.T) {
	game := ebiten.NewImage(160, 120)
	defer game.Deallocate()
	for _, c := range []struct{ factor, scale float32 }{{1, 1}, {1.5, 1.5}, {2, 2}, {3, 3}, {0, 1}} {
		g := newGame(t, 60, tiers.Config{}, Config{})
		asked := 0
		g.o.monitor.ask = func() float64 { asked++; return float64(c.factor) }
		window := ebiten.NewImage(int(640*max(c.factor, 1)), int(600*max(c.factor, 1)))
		defer window.Deallocate()
		g.o.Show(Strip, true)
		for range monitorAgain {
			g.o.DrawFinal(window, game, ebiten.GeoM{})
		}
		if g.o.scr.scale != c.scale || asked != 1 {
			t.Errorf("factor %g: the scale is %g, want %g; it was asked for %d times", c.factor, g.o.scr.scale, c.scale, asked)
		}
		g.o.DrawFinal(window, game, ebiten.GeoM{})
		g.o.DrawFinal(game, game, ebiten.GeoM{})
		if asked != 3 {
			t.Errorf("asked for %d times", asked)
		}
		if g.o.Draw(window); g.o.scr.density != 0 {
			t.Errorf("factor %g: Draw has a density of %g", c.factor, g.o.scr.density)
		}
		g.o.Density(4)
		if g.o.DrawFinal(window, game, ebiten.GeoM{}); g.o.scr.density != 4 {
			t.Errorf("the density is %g, and the game has set 4", g.o.scr.density)
		}
	}
}
