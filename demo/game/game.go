package game

import (
	"errors"
	"fmt"

	"github.com/go-gl/mathgl/mgl32"

	"github.com/strata-go/strata/demo/level"
	"github.com/strata-go/strata/demo/sound/cue"
	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/guard"
	"github.com/strata-go/strata/memory/plan"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/stack"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/memory/tlsf"
	"github.com/strata-go/strata/particles"
)

type vec = mgl32.Vec2

// step is the length of a tick in seconds.
const step = float32(1.0 / 60)

func mul(a, b float32) float32 { return float32(a * b) }

func clamp(x, lo, hi float32) float32 { return max(lo, min(hi, x)) }

// toward moves a to b by at most d.
func toward(a, b, d float32) float32 { return clamp(b, a-d, a+d) }

// Phase is where a level stands.
type Phase uint8

// The phases of a level, in order; Over may follow Fighting.
const (
	Announce Phase = iota // the wave's title shows
	Fighting
	Opened // the portal stands open
	Leaving
	Over
)

// Config is what a game is started with.
type Config struct {
	Seed      uint64
	Particles int  // most particles alive; 0 means 20,000
	Quads     int  // room for what is drawn in a frame; 0 means 1,024, for a game that nobody sees
	Guard     bool // a guard around the general heap: canaries, quarantine, call sites
	Enemies   int  // extra drifters from the start, for a stress run
	// Sound is told what is to be heard, tick by tick; nil where nobody listens. The rules never read it.
	Sound cue.Sink
}

// A Game is the simulation: a function of its seed, its levels and its input. It draws
// nothing and reads no clock. Where its memory lies:
//
//	static  the frame's passes: visible enemies, sort keys, drawing order, vertices, indices
//	frame   the collision grid and hit lists
//	level   the level's order of spawns
//	pools   component columns, omens by handle, particle columns, the ground of loading,
//	        the texts of popups in a compacting heap
//	slab    ribbons, of many lengths
//	large   the scorched ground
//
// When a tier is full the game has less of what lives there, counts it in Lost, and goes on.
//
// Invariants, verified by Check:
//
//	(1) world, omens and particles pass their own Checks
//	(2) every ribbon in use belongs to one living enemy
//	(3) the heap of the popups' texts passes its own Check
type Game struct {
	Level  *level.Level
	Player Player

	Phase      Phase
	PhaseTime  float32 // seconds in this phase
	Wave       int     // from 0; the boss comes after the last
	Round      int     // how many times the levels have gone round
	Score      int64
	Best       int // most particles alive
	Multiplier int
	Ticks      uint64
	Played     uint64 // ticks since the last Restart in which the player lived
	Kills      int
	Cleared    int     // levels
	PortalAt   vec     // while Phase is Opened or Leaving
	ShakeNow   float32 // logical units
	Lost       Lost

	systems engine.Schedule // see schedule
	tick    engine.Tick

	cfg    Config
	rng    engine.Rand
	mem    *tiers.Manager
	chunks *tlsf.Heap // where the world's columns lie
	world  *ecs.World
	actors actors
	omens  *pool.Pool[Omen]
	ground *stack.Double // nil where there was no room; of the level's loading: its breeds at the bottom, scratch on top
	breeds []breed       // of this level and round
	orders []order       // of this level, in the level tier
	next   int           // the first order not yet given
	wait   float32       // until the next wave's orders begin
	freeze int           // ticks of hit-stop left
	streak int           // kills since the last hurt
	toll   [level.Kinds]int
	wishes []wish // spawns asked for while a query is open

	passes  *plan.Arena // nil where the static tier had no room
	seen    []Seen      // of this tick, in drawing order
	glimpse Seen        // what eachNear shows: a literal there would be a Go allocation each
	grid    grid
	fx      *fx
	scorch  Scorch
	heap    memory.Allocator // for blocks of many lengths
	guard   *guard.Allocator // nil where it does not guard
	begun   uint64           // the guard's moment when the level began
	ribbons ribbons
	popups  popups
}

// Lost counts what full tiers have cost the game.
type Lost struct{ Quads, Breeds, Enemies, Shots, Pickups, Grids, Hits, Popups, Ribbons, Scorch, Orders int }

// actors are the ways into the world.
type actors struct {
	enemies     *ecs.Map3[Position, Velocity, Enemy]
	shots       *ecs.Map3[Position, Velocity, Shot]
	pickups     *ecs.Map3[Position, Velocity, Pickup]
	enemyFilter *ecs.Filter3[Position, Velocity, Enemy]
	shotFilter  *ecs.Filter3[Position, Velocity, Shot]
	dropFilter  *ecs.Filter3[Position, Velocity, Pickup]
}

// New makes a game in m's tiers; Begin starts its first level. The game closes with m.
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
	g := &Game{cfg: cfg, mem: m, rng: engine.NewRand(cfg.Seed, 1), wishes: make([]wish, 0, 256), Multiplier: 1}
	if err := g.buildWorld(); err != nil {
		return nil, fmt.Errorf("game: %w", err)
	}
	var err error
	if g.omens, err = tiers.NewPool[Omen](m, pool.Config{Name: "omens", Capacity: 4096}); err != nil {
		return nil, fmt.Errorf("game: %w", err)
	}
	g.ground, err = stack.NewDouble(m.PoolSource(), stack.DoubleConfig{Bytes: 64 << 10})
	switch {
	case err == nil:
		m.AddFuncs("ground", g.ground.Stats, nil, g.ground.Close)
	case tolerate(err) != nil:
		return nil, fmt.Errorf("game: %w", err)
	}
	if g.popups, err = newPopups(g); err != nil {
		return nil, fmt.Errorf("game: %w", err)
	}
	if g.heap, g.guard, err = newHeap(m, cfg.Guard); err != nil {
		return nil, fmt.Errorf("game: %w", err)
	}
	ps, err := particles.New(m.PoolSource(), particles.Config{Capacity: cfg.Particles, Seed: cfg.Seed*2 + 1})
	if err != nil {
		return nil, fmt.Errorf("game: %w", err)
	}
	m.AddFuncs("particles", func() memory.Stats { return ps.Stats().Memory }, ps.Reset, ps.Close)
	if g.fx, err = newFX(ps, cfg.Sound); err != nil {
		return nil, fmt.Errorf("game: %w", err)
	}
	return g, nil
}

func (g *Game) buildWorld() error {
	chunks, err := tlsf.New(g.mem.PoolSource(), tlsf.Config{Reserve: columnBytes, Granule: 4 << 10, Step: 16 << 10, Blocks: 256})
	if err != nil {
		return err
	}
	if g.world, err = ecs.New(chunks, ecs.Config{Pages: g.mem.PoolSource()}); err != nil {
		return err
	}
	g.chunks = chunks
	// The chunks are the tier's; the world gives them back before they close.
	g.mem.AddFuncs("components", chunks.Stats, nil, chunks.Close)
	g.mem.AddFuncs("world", nil, func() {
		g.world.Reset()
		g.world.Shrink()
	}, g.world.Close)
	a := &g.actors
	a.enemies = ecs.NewMap3[Position, Velocity, Enemy](g.world)
	a.shots = ecs.NewMap3[Position, Velocity, Shot](g.world)
	a.pickups = ecs.NewMap3[Position, Velocity, Pickup](g.world)
	a.enemyFilter = ecs.NewFilter3[Position, Velocity, Enemy](g.world)
	a.shotFilter = ecs.NewFilter3[Position, Velocity, Shot](g.world)
	a.dropFilter = ecs.NewFilter3[Position, Velocity, Pickup](g.world)
	return nil
}

// relieve gives back what the columns hold and do without, for others of the pools tier. The
// simulation does not notice.
func (g *Game) relieve() {
	g.world.Shrink()
	_ = g.chunks.Trim() // what the system does not take back stays for the next entities
}

// columnBytes bounds the address space of the columns: 64 MiB, a million enemies.
const columnBytes = 64 << 20

// Begin starts a level; the manager's level must have begun. Score, power and hull are kept
// from the level before.
func (g *Game) Begin(l *level.Level) error {
	if g.guard != nil {
		g.begun = g.guard.Now()
	}
	hull, power := HullMax, 1
	if g.Level != nil && g.Player.Alive {
		hull, power = max(g.Player.Hull, HullMax/2), g.Player.Power
	}
	g.Level = l
	g.grid.forget()
	g.toll = [level.Kinds]int{}
	g.wishes = g.wishes[:0]
	g.Wave, g.next, g.wait, g.freeze, g.ShakeNow = 0, 0, 0, 0, 0
	g.resetPlayer(hull, power)
	g.fx.palette(l)
	g.configure()
	g.writeOrders()
	if err := g.declare(); err != nil {
		return err
	}
	g.ribbons.reset(g.heap)
	g.popups.reset()
	g.scorch.begin(g)
	g.enter(Announce)
	g.stress()
	return nil
}

// End gives back what the level held block by block, before the manager's EndLevel.
func (g *Game) End() {
	g.ribbons.reset(g.heap)
	g.popups.reset()
	g.scorch.end(g)
	g.grid.forget()
	g.orders, g.passes, g.seen = nil, nil, nil
}

// Restart begins anew after the end: score and round are gone, the level stays.
func (g *Game) Restart() {
	g.Score, g.Multiplier, g.Kills, g.Round, g.streak, g.Played = 0, 1, 0, 0, 0, 0
	g.Player.Alive = false // so that Begin gives a full hull
}

func (g *Game) enter(p Phase) { g.Phase, g.PhaseTime = p, 0 }

// Shake kicks the camera; it decays.
func (g *Game) Shake(by float32) { g.ShakeNow = min(14, g.ShakeNow+by) }

// Tick advances the simulation by a sixtieth of a second.
func (g *Game) Tick(in *engine.Input) error {
	g.Ticks++
	g.PhaseTime += step
	if g.Player.Alive {
		g.Played++
	}
	g.ShakeNow = mul(g.ShakeNow, 0.9)
	if g.freeze > 0 {
		g.freeze--
		return nil
	}
	g.tick = engine.Tick{N: g.Ticks, Input: *in, Rand: &g.rng}
	if err := g.schedule().Run(&g.tick); err != nil {
		return fmt.Errorf("game: %w", err)
	}
	return nil
}

// Particles returns the particles, for drawing.
func (g *Game) Particles() *particles.System { return g.fx.sys }

// Entities returns how many entities are alive.
func (g *Game) Entities() int { return g.world.Len() }

// World returns the entities, for the overlay.
func (g *Game) World() *ecs.World { return g.world }

// Enemies counts the enemies that are alive or announced.
func (g *Game) Enemies() int {
	n := g.omens.Len()
	for _, t := range g.toll {
		n += t
	}
	return n
}

// Boss returns the warden with the most hull left and its hull's share, for the bar.
func (g *Game) Boss() (share float32, ok bool) {
	if g.toll[level.Warden] == 0 {
		return 0, false
	}
	for _, r := range g.actors.enemyFilter.All() {
		if e := r.C; e.Kind == level.Warden {
			share, ok = max(share, float32(e.HP)/float32(g.breeds[level.Warden].hp)), true
		}
	}
	return share, ok
}

// Hash folds the whole state into one number: equal hashes, equal games.
func (g *Game) Hash() uint64 {
	var h engine.Hasher
	h.Uint64(g.world.Hash(g.Ticks))
	h.Uint64(g.fx.sys.Hash(0))
	p := &g.Player
	for _, v := range [...]vec{p.P, p.V, p.Aim, g.PortalAt} {
		h.Vec2(v)
	}
	h.Int(p.Hull)
	h.Int(p.Power)
	h.Int(int(g.Phase))
	h.Int(g.Wave)
	h.Int(g.next)
	h.Uint64(uint64(g.Score))
	g.rng.Hash(&h)
	return h.Sum()
}

// Check verifies the invariants.
func (g *Game) Check() error {
	errs := []error{g.world.Check(), g.omens.Check(), g.fx.sys.Check(), g.popups.check()}
	used := 0
	for _, r := range g.actors.enemyFilter.All() {
		if r.C.Ribbon != 0 {
			used++
		}
	}
	if n := g.ribbons.used(); n != used {
		errs = append(errs, fmt.Errorf("game: %d ribbons are in use by %d enemies", n, used))
	}
	return errors.Join(errs...)
}
