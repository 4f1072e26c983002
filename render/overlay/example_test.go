package overlay_test

import (
	"errors"
	"log"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render/overlay"
)

type Game struct {
	m *tiers.Manager
	o *overlay.Overlay
}

// Update ends the memory frame of the previous tick, which was drawn, and begins the frame of this tick.
func (g *Game) Update() error {
	g.o.Update()
	if g.o.Frozen() {
		return nil // the frame stays open, so that Draw can draw it again
	}
	if err := g.m.NextFrame(); err != nil {
		return err
	}
	// The tick. What it allocates from g.m.Frame() is valid until the next tick ends.
	return nil
}

// Draw draws the result of the tick. Between two ticks it is called once, several times or not at all.
func (g *Game) Draw(screen *ebiten.Image) {
	mark := g.m.Frame().Mark()
	// Draw the game. Rewind frees the memory that this allocates from g.m.Frame():
	g.m.Frame().Rewind(mark)
	g.o.Draw(screen)
}

func (g *Game) Layout(w, h int) (int, int) { return w, h }

func run() error {
	m, err := tiers.New(tiers.Config{Tags: true})
	if err != nil {
		return err
	}
	o, err := overlay.New(m, overlay.Config{})
	if err != nil {
		return errors.Join(err, m.Close())
	}
	err = m.NextFrame() // for a Draw before the first Update
	if err == nil {
		err = ebiten.RunGame(&Game{m: m, o: o})
	}
	return errors.Join(err, o.Close(), m.EndFrame(), m.Close())
}

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}
