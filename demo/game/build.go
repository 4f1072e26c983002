package game

import (
	"errors"
	"fmt"

	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/memory/tlsf"
	"github.com/strata-go/strata/particles"
)

// New makes a game in m's tiers, whose last worker's heap is its own; Begin starts its first realm.
// Close it before m.
func New(m *tiers.Manager, cfg Config) (*Game, error) {
	if cfg.Particles == 0 {
		cfg.Particles = 20_000
	}
	if cfg.Quads == 0 {
		cfg.Quads = 1024
	}
	if cfg.Enemies < 0 || cfg.Enemies > 200_000 {
		return nil, fmt.Errorf("game: %d enemies; allowed are 0 to 200,000", cfg.Enemies)
	}
	if !(cfg.Heat >= 0 && cfg.Heat <= HeatMost) {
		return nil, fmt.Errorf("game: heat %g; allowed are 0 to %d", cfg.Heat, HeatMost)
	}
	g := &Game{cfg: cfg, mem: m, store: store{heap: cfg.Heap, reuse: cfg.Reuse, m: m}, wishes: make([]wish, 0, 256)}
	g.rng = engine.NewRand(cfg.Seed, 1)
	g.Restart()
	if err := g.build(m); err != nil {
		return nil, fmt.Errorf("game: %w", err)
	}
	g.flow = g.store.flow()
	return g, nil
}

func (g *Game) build(m *tiers.Manager) (err error) {
	if err := g.buildWorld(); err != nil {
		return err
	}
	if g.omens, err = newPool[Omen](&g.store, pool.Config{Name: "omens", Capacity: 4096}); err != nil {
		return err
	}
	if g.embers, err = newPool[Ember](&g.store, pool.Config{Name: "embers", Capacity: emberMost}); err != nil {
		return err
	}
	if g.popups, err = newPopups(g); err != nil {
		return err
	}
	if g.heap, g.guard, err = newHeap(m, g.cfg.Guard); err != nil {
		return err
	}
	if err := g.tags(m); err != nil {
		return err
	}
	ps, err := particles.New(g.store.source(), particles.Config{Capacity: g.cfg.Particles, Seed: g.cfg.Seed*2 + 1})
	if err != nil {
		return err
	}
	g.store.register("particles", func() memory.Stats { return ps.Stats().Memory }, ps.Reset, ps.Close)
	g.fx, err = newFX(ps, g.cfg.Sound)
	return err
}

func (g *Game) buildWorld() error {
	columns, err := g.columnHeap()
	if err != nil {
		return err
	}
	if g.world, err = ecs.New(columns, ecs.Config{Pages: g.store.source(), MaxEntities: g.store.entities(g.cfg.Enemies)}); err != nil {
		return err
	}
	if g.chunks != nil { // they are the tier's; the world gives them back before they close
		g.mem.AddFuncs("components", g.chunks.Stats, nil, g.chunks.Close)
	}
	g.mem.AddFuncs("world", nil, func() {
		g.world.Reset()
		g.world.Shrink()
	}, g.world.Close)
	a, w := &g.actors, g.world
	a.enemies = ecs.NewMap3[Position, Velocity, Enemy](w)
	a.shots = ecs.NewMap3[Position, Velocity, Shot](w)
	a.pickups = ecs.NewMap3[Position, Velocity, Pickup](w)
	a.enemyFilter = ecs.NewFilter3[Position, Velocity, Enemy](w)
	a.shotFilter = ecs.NewFilter3[Position, Velocity, Shot](w)
	a.dropFilter = ecs.NewFilter3[Position, Velocity, Pickup](w)
	a.fireFilter = ecs.NewFilter3[Position, Enemy, Burning](w)
	a.coldFilter = ecs.NewFilter1[Chilled](w)
	var errs [4]error
	a.burning, errs[0] = ecs.Register[Burning](w)
	a.chilled, errs[1] = ecs.Register[Chilled](w)
	a.elite, errs[2] = ecs.Register[Elite](w)
	a.shielded, errs[3] = ecs.Register[Shielded](w)
	return errors.Join(errs[:]...)
}

// columnHeap makes what the columns lie in.
func (g *Game) columnHeap() (_ memory.Allocator, err error) {
	if !g.store.tiers() {
		return g.store.heap, nil
	}
	g.chunks, err = tlsf.New(g.mem.PoolSource(), tlsf.Config{Reserve: columnBytes, Granule: 4 << 10, Step: 16 << 10, Blocks: 256})
	return g.chunks, err
}

// Relieve releases spare memory of the columns to the pools tier. The simulation is not affected.
func (g *Game) Relieve() {
	g.world.Shrink()
	if g.chunks != nil {
		_ = g.chunks.Trim() // what the system does not take back stays for the next entities
	}
}

// columnBytes bounds the address space of the columns: 64 MiB, a million enemies.
const columnBytes = 64 << 20
