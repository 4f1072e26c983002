package guides

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/tlsf"
)

type ball struct{ X, Speed float32 }

// A game has its whole state in parts that can be saved.
type game struct {
	balls *pool.Pool[ball]
	rng   engine.Rand
	score int
	ticks uint64 // is forgotten in the Set of a test
}

func (g *game) step() error {
	if _, b, err := g.balls.New(); err == nil {
		b.Speed = g.rng.Float32()
	}
	for c := g.balls.Cursor(); c.Next(); {
		if b := c.Value(); b.X > 3 {
			g.balls.Free(c.Handle())
			g.score++
		} else {
			b.X += b.Speed
		}
	}
	g.ticks++
	if g.ticks%5 == 0 {
		g.score++
	}
	return nil
}

func (g *game) hash() uint64 {
	h := uint64(g.score)
	for _, b := range g.balls.All() {
		h = h*31 + uint64(b.X*1000)
	}
	return h
}

func (g *game) set(ticks bool) (*save.Set, error) {
	set := &save.Set{}
	err := errors.Join(
		set.Add("balls", g.balls),
		save.Value(set, "random", &g.rng),
		save.Value(set, "score", &g.score),
	)
	if ticks {
		err = errors.Join(err, save.Value(set, "ticks", &g.ticks))
	}
	return set, errors.Join(err, set.Seal())
}

func newGame() *game {
	balls, err := pool.New[ball](nil, pool.Config{Name: "balls", Capacity: 100})
	must(err)
	return &game{balls: balls}
}

func Example_slot() {
	g := newGame()
	defer g.balls.Close()
	set, err := g.set(true)
	must(err)
	for range 20 {
		must(g.step())
	}
	slot := set.NewSlot(64 << 10)
	must(set.Save(slot)) // quick save
	was := g.hash()
	for range 20 {
		must(g.step())
	}
	must(set.Load(slot)) // quick load, any number of times
	fmt.Println(g.hash() == was)
	// Output: true
}

func Example_synctest() {
	for _, ticks := range []bool{true, false} {
		g := newGame()
		set, err := g.set(ticks)
		must(err)
		done, err := engine.Synctest(engine.Sync{Set: set, Step: g.step, Hash: g.hash, Ticks: 100, Distance: 8})
		fmt.Println(done.Loads, err)
		must(g.balls.Close())
	}
	// Output:
	// 13 <nil>
	// 1 engine: synctest: tick 2: score: 0, and 1
}

type (
	Position struct{ X, Y float32 }
	Health   struct{ HP int8 }
	Hull     struct{ Points int32 }
)

func world() (*tlsf.Heap, *ecs.World) {
	mem, err := tlsf.New(page.OS(), tlsf.Config{Reserve: 64 << 20})
	must(err)
	w, err := ecs.New(mem, ecs.Config{})
	must(err)
	return mem, w
}

func Example_file() {
	mem, old := world() // last year's program
	health, err := ecs.Register[Health](old)
	must(err)
	ship, err := old.NewEntity()
	must(err)
	must(health.Add(ship, Health{90}))
	var file bytes.Buffer
	must(old.WriteBinary(&file))
	must(errors.Join(old.Close(), mem.Close()))

	mem, today := world() // today's: Health is Hull now, and HP is Points
	hull, err := ecs.Register[Hull](today)
	must(err)
	err = today.ReadBinary(&file, &ecs.Migration{Renamed: map[string]string{
		"guides.Health":    "guides.Hull",
		"guides.Health.HP": "Points",
	}})
	must(err)
	h, ok := hull.Get(ship)
	fmt.Println(h.Points, ok)
	must(errors.Join(today.Close(), mem.Close()))
	// Output: 90 true
}
