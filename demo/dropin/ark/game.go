package main

import (
	"cmp"
	"slices"

	ark "github.com/mlange-42/ark/ecs"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/tiers"
)

const (
	entityCount  = 2000
	textureCount = 8
	textureSize  = 256 << 10 // bytes
	fieldWidth   = 1000
)

type position struct{ X, Y float32 }

type velocity struct{ X, Y float32 }

// A sprite is a component of Ark's, on the Go heap, and names its texture by number: memory that Strata
// has is not seen by the collector, so nothing in it may point to Go's, but the other way is free.
type sprite struct{ Texture uint32 }

// A quad is what is drawn of an entity.
type quad struct {
	X, Y    float32
	Texture uint32
}

// A type is proved free of Go pointers once; Ark's entities are.
var (
	quadType   = memory.MustType[quad]()
	entityType = memory.MustType[ark.Entity]()
)

type game struct {
	m        *tiers.Manager
	assets   *tiers.Tag
	textures [textureCount][]byte

	world   *ark.World
	all     *ark.Map3[position, velocity, sprite]
	moving  *ark.Filter2[position, velocity]
	visible *ark.Filter2[position, sprite]

	made, drawn, removed int
}

func newGame(m *tiers.Manager) (*game, error) {
	g := &game{m: m, world: ark.NewWorld()}
	g.all = ark.NewMap3[position, velocity, sprite](g.world)
	g.moving = ark.NewFilter2[position, velocity](g.world)
	g.visible = ark.NewFilter2[position, sprite](g.world)
	var err error
	if g.assets, err = m.Tag("textures"); err != nil {
		return nil, err
	}
	for i := range g.textures {
		if g.textures[i], err = memory.MakeSlice[byte](g.assets, textureSize); err != nil {
			return nil, err
		}
	}
	g.spawn(entityCount)
	return g, nil
}

func (g *game) unload() {
	for i, t := range g.textures {
		memory.FreeSlice(g.assets, t)
		g.textures[i] = nil
	}
}

func (g *game) count() int {
	q := g.visible.Query()
	defer q.Close()
	return q.Count()
}

func (g *game) spawn(n int) {
	for range n {
		g.made++
		at := float32(g.made*7919%fieldWidth) + 0.5
		g.all.NewEntity(&position{at, at}, &velocity{float32(g.made%9 - 4), 1}, &sprite{uint32(g.made % textureCount)})
	}
}

// step moves all, replaces who has left the field and draws the others by texture.
func (g *game) step() error {
	// Ark's world must not be changed while it is asked, so who has to go is noted: in frame memory.
	q := g.moving.Query()
	gone, err := arena.MakeSlice(g.m.Frame(), entityType, q.Count())
	if err != nil {
		q.Close() // or the world stays locked
		return err
	}
	gone = gone[:0]
	for q.Next() {
		p, v := q.Get()
		p.X, p.Y = p.X+v.X, p.Y+v.Y
		if p.X < 0 || p.X > fieldWidth || p.Y > fieldWidth {
			gone = append(gone, q.Entity())
		}
	}
	for _, e := range gone {
		g.world.RemoveEntity(e)
	}
	g.removed += len(gone)
	g.spawn(len(gone))
	return g.draw()
}

func (g *game) draw() error {
	q := g.visible.Query()
	quads, err := arena.MakeSlice(g.m.Frame(), quadType, q.Count())
	if err != nil {
		q.Close()
		return err
	}
	for i := 0; q.Next(); i++ {
		p, s := q.Get()
		quads[i] = quad{p.X, p.Y, s.Texture}
	}
	slices.SortFunc(quads, func(a, b quad) int { return cmp.Compare(a.Texture, b.Texture) })
	for _, x := range quads {
		g.textures[x.Texture][0]++ // a renderer would upload the texture and draw its quads in one call
	}
	g.drawn += len(quads)
	return nil
}
