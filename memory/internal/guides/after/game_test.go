// Package after has the game of package before on Strata, for memory/doc/porting.md.
package after

import (
	"fmt"
	"slices"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/tiers"
)

type Enemy struct {
	name   uint32 // of Game.names
	born   uint32 // the place in the order of births
	x      float32
	health int32
}

type Shot struct {
	x      float32
	target memory.Handle[Enemy]
}

type Game struct {
	m       *tiers.Manager
	names   []string // stay on the Go heap
	enemies *pool.Pool[Enemy]
	shots   *pool.Pool[Shot]
	births  uint32
	score   int
}

// A rank is an enemy and its place in the order.
type rank struct {
	born   uint32
	handle memory.Handle[Enemy]
}

var rankType = memory.MustType[rank]()

func New() (g *Game, err error) {
	g = &Game{}
	if g.m, err = tiers.New(tiers.Config{}); err != nil {
		return nil, err
	}
	if g.enemies, err = tiers.NewPool[Enemy](g.m, pool.Config{Name: "enemies", Capacity: 1000}); err != nil {
		return nil, err
	}
	g.shots, err = tiers.NewPool[Shot](g.m, pool.Config{Name: "shots", Capacity: 4000})
	return g, err
}

func (g *Game) Spawn(name string, x float32, health int32) error {
	_, e, err := g.enemies.New()
	if err != nil {
		return err
	}
	at := slices.Index(g.names, name)
	if at < 0 {
		at = len(g.names)
		g.names = append(g.names, name)
	}
	*e = Enemy{name: uint32(at), born: g.births, x: x, health: health}
	g.births++
	return nil
}

func (g *Game) onDeath(e *Enemy) { g.score += len(g.names[e.name]) }

// ordered returns the enemies, the oldest first, in frame memory.
func (g *Game) ordered() ([]rank, error) {
	ranks, err := arena.MakeSlice(g.m.Frame(), rankType, g.enemies.Len())
	if err != nil {
		return nil, err
	}
	ranks = ranks[:0]
	for h, e := range g.enemies.All() {
		ranks = append(ranks, rank{e.born, h})
	}
	slices.SortFunc(ranks, func(a, b rank) int { return int(a.born) - int(b.born) })
	return ranks, nil
}

// Fire shoots at the oldest enemy.
func (g *Game) Fire() error {
	ranks, err := g.ordered()
	if err != nil || len(ranks) == 0 {
		return err
	}
	_, s, err := g.shots.New()
	if err != nil {
		return err
	}
	s.target = ranks[0].handle
	return nil
}

func (g *Game) Update() {
	for h, s := range g.shots.All() {
		target, ok := g.enemies.Get(s.target)
		if !ok || target.health <= 0 {
			g.shots.Free(h) // another shot was faster
			continue
		}
		if s.x += 4; s.x < target.x {
			continue
		}
		target.health--
		g.shots.Free(h)
	}
	for h, e := range g.enemies.All() {
		if e.health <= 0 {
			g.onDeath(e)
			g.enemies.Free(h)
		}
	}
}

// Names returns the names of the enemies, the oldest first.
func (g *Game) Names() ([]string, error) {
	ranks, err := g.ordered()
	var names []string
	for _, r := range ranks {
		if e, ok := g.enemies.Get(r.handle); ok {
			names = append(names, g.names[e.name])
		}
	}
	return names, err
}

func Example() {
	g, err := New()
	must(err)
	must(g.Spawn("wolf", 10, 1))
	must(g.Spawn("bear", 14, 2))
	for tick := range 6 {
		must(g.m.NextFrame())
		if tick == 4 {
			must(g.Spawn("crow", 30, 1)) // in the slot of the wolf
		}
		must(g.Fire())
		g.Update()
	}
	names, err := g.Names()
	must(err)
	fmt.Println(g.score, names, g.shots.Len())
	must(g.m.EndFrame())
	must(g.m.Close())
	// Output: 4 [bear crow] 3
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
