// Command rewind is a firework whose time runs backwards while R is held. S writes a saved game, L reads it, and a
// click starts a rocket. No rule knows that it runs again: the state is a pool and two variables, listed in a Set.
//
//	go run ./demo/dropin/rewind
package main

import (
	"errors"
	"log"

	"github.com/hajimehoshi/ebiten/v2"
	"github.com/hajimehoshi/ebiten/v2/inpututil"

	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/engine/atomicfile"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/save"
)

// The Game's state is its Sky.
type Game struct {
	Sky
	set  *save.Set
	past *engine.Rewind[Input]
	said string // by S and L
}

func newGame() (*Game, error) {
	sparks, err := pool.New[Spark](nil, pool.Config{Name: "sparks", Capacity: 8192})
	g := &Game{Sky: Sky{sparks: sparks, random: engine.NewRand(1, 0)}, set: &save.Set{}}
	err = errors.Join(err,
		g.set.Add("sparks", g.sparks),
		save.Value(g.set, "random", &g.random),
		save.Value(g.set, "tick", &g.tick),
		g.set.Seal())
	if err == nil {
		g.past, err = engine.NewRewind(engine.RewindConfig[Input]{Set: g.set, Step: g.step, Memory: make([]byte, 16<<20)})
	}
	return g, err
}

func (g *Game) Update() error {
	if ebiten.IsKeyPressed(ebiten.KeyR) {
		return g.rewind()
	}
	if inpututil.IsKeyJustPressed(ebiten.KeyS) {
		g.say("saved", atomicfile.Write("rewind.save", g.set.Write))
	} else if inpututil.IsKeyJustPressed(ebiten.KeyL) {
		g.say("loaded", g.load("rewind.save"))
	}
	return g.play(input())
}

func (g *Game) play(in Input) error {
	g.past.Record(in)
	err := g.step(&in)
	if err == nil {
		_, err = g.past.Keep(15) // a state every 15 ticks
	}
	return err
}

func (g *Game) rewind() (err error) {
	if now := g.past.Now(); now > g.past.Oldest() {
		_, err = g.past.Back(now-1, 4) // loads a state, and plays up to the last tick but one
	}
	return err
}

func main() {
	g, err := newGame()
	if err == nil {
		ebiten.SetWindowSize(2*width, 2*height)
		err = errors.Join(ebiten.RunGame(g), g.sparks.Close())
	}
	if err != nil {
		log.Fatal(err)
	}
}
