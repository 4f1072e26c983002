// Command ebitengine is a game of its own, with its own RunGame, Update, Draw and Layout: balls that bounce, and lines
// between those that are close. The lines that add the overlay are marked with a plus. F3 shows the use of memory.
//
//	go run ./demo/dropin/ebitengine
package main

import (
	"errors"
	"log"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render/overlay" // +
)

type Game struct {
	m       *tiers.Manager
	balls   *pool.Pool[Ball]
	near    []Line           // of this tick, in frame memory
	overlay *overlay.Overlay // +
}

// Unless the overlay has frozen the game, Update ends the memory frame of the last tick and begins one for this tick.
func (g *Game) Update() (err error) {
	g.overlay.Update()      // +
	if g.overlay.Frozen() { // + so that F5 freezes the game
		return nil // +
	} // +
	if err := g.m.NextFrame(); err != nil {
		return err
	}
	for _, b := range g.balls.All() {
		b.move()
	}
	// Gone by itself: nobody frees it, and the collector does not see it.
	if g.near, err = arena.MakeSlice(g.m.Frame(), lineType, mostLines); err == nil {
		g.near = connect(g.near[:0], g.balls)
	}
	return err
}

func (g *Game) Draw(screen *ebiten.Image) {
	draw(screen, g.balls, g.near)
	g.overlay.Draw(screen) // +
}

func (g *Game) Layout(int, int) (int, int) { return width, height }

func newGame(m *tiers.Manager) (*Game, error) {
	tag, err := m.Tag("balls")
	if err != nil {
		return nil, err
	}
	g := &Game{m: m}
	if g.balls, err = tiers.NewPoolIn[Ball](tag, pool.Config{Name: "balls", Capacity: 200}); err != nil {
		return nil, err
	}
	g.overlay, err = overlay.New(m, overlay.Config{})        // +
	return g, errors.Join(err, fill(g.balls), m.NextFrame()) // for a Draw before the first Update
}

func main() {
	m, err := tiers.New(tiers.Config{Tags: true}) // Tags: the overlay says whose the bytes are
	if err != nil {
		log.Fatal(err)
	}
	g, err := newGame(m)
	if err == nil {
		err = ebiten.RunGame(g)
		err = errors.Join(err, g.overlay.Close()) // + it waits for a file of F6
		err = errors.Join(err, m.EndFrame())
	}
	if err := errors.Join(err, m.Close()); err != nil {
		log.Fatal(err)
	}
}
