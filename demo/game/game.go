package game

import (
	"errors"
	"fmt"

	"github.com/go-gl/mathgl/mgl32"

	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/demo/realm/manifest"
	"github.com/strata-go/strata/demo/sound/cue"
	"github.com/strata-go/strata/demo/tour"
	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/guard"
	"github.com/strata-go/strata/memory/plan"
	"github.com/strata-go/strata/memory/pool"
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

// unit returns v with length 1 to some six digits, or zero where it is about that: for steering.
func unit(v vec) vec {
	sq := engine.LengthSquared(v)
	if !(sq > 1e-8) {
		return vec{}
	}
	return engine.Scale(v, realm.InvSqrt(sq))
}

// Phase is where a realm stands.
type Phase uint8

// The phases of a realm, in order; Over may follow Fighting.
const (
	Announce Phase = iota // the realm's title shows, and nothing hurts
	Fighting
	Opened // the portal stands open
	Leaving
	Over
)

// Config is what a game is started with.
type Config struct {
	Seed      uint64
	Particles int       // most particles alive; 0 means 20,000
	Quads     int       // room for what is drawn in a frame; 0 means 1,024, for a game that nobody sees
	Guard     bool      // a guard around the general heap: canaries, quarantine, call sites
	Enemies   int       // extra drifters from the start, all over the realm, for a stress run
	Heat      float32   // the heat is at least this, 0 to 10
	Tour      tour.Kind // the path that the player flies instead of being steered
	// Heap allocates all blocks, in place of the manager's tiers. It must be safe for concurrent use. nil: the tiers.
	// With Reuse scratch slices are kept from tick to tick.
	Heap  memory.Allocator
	Reuse bool
	// Sound is told what is to be heard, tick by tick; nil where nobody listens. The rules never read it.
	Sound cue.Sink
}

// A Game is the simulation: a function of its seed, its realms, and its input. It draws
// nothing and reads no clock. Where its memory lies:
//
//	static  the frame's passes: visible enemies, sort keys, drawing order, vertices and indices of
//	        three batches, one after the other
//	frame   the collision grid, lists of hits and of the doomed; all of it within one tick
//	level   the realm: clearances, ways, guides; the table of spawns
//	pools   component columns, omens and embers by handle, particle columns, the texts of popups in
//	        a compacting heap
//	slab    lists of many lengths: trails, what sticks to enemies, lightning, mines, fires, a tag each
//	large   the books of flow fields, counts of the crowd, the scorched ground by sector, soot
//	inbox   flow fields, computed on a worker
//
// When a tier is full the game has less of what lives there, counts it in Lost, and goes on.
//
// Invariants, verified by Check:
//
//	(1) world, pools, particles, realm and flow pass their own Checks
//	(2) every ribbon and every list of marks in use belongs to one living enemy
//	(3) the heap of the popups' texts passes its own Check
//	(4) toll and extra count the living
//	(5) nothing that moves is in a wall, but a player on a tour
//	(6) on the Go heap, every block that is known by number is held once
type Game struct {
	State
	Manifest *manifest.File
	Realm    *realm.Realm

	systems engine.Schedule // see schedule
	tick    engine.Tick

	cfg    Config
	mem    *tiers.Manager
	store  store
	chunks *tlsf.Heap // where the world's columns lie; nil on the Go heap
	world  *ecs.World
	actors actors
	omens  *pool.Pool[Omen]
	embers *pool.Pool[Ember]
	breeds [realm.EnemyKinds]breed // of this round
	spawns []spawn                 // what comes at what heat, in the level tier
	wishes []wish                  // spawns asked for while a query is open
	flow   *realm.Flow             // nil without workers

	passes  *plan.Arena // nil where the static tier had no room
	seen    []Seen      // of this tick, in drawing order
	built   bool        // the frame's passes have gone on to drawing
	glimpse Seen        // what eachNear shows: a literal there would be a Go allocation each
	grid    grid        // of this tick
	columns []column    // of this tick's pass over the enemies
	walk    walk        // the same
	doomed  doomed      // of this tick
	fx      *fx
	scorch  scorches
	soot    Soot
	heap    memory.Allocator // for blocks of many lengths
	guard   *guard.Allocator // nil where it does not guard
	moment  uint64           // the guard's, when the realm began
	ribbons ribbons
	marks   marks
	popups  popups
	arms    arms
	tour    *tour.Path // of this realm; nil without Config.Tour
}

// actors are the ways into the world.
type actors struct {
	enemies     *ecs.Map3[Position, Velocity, Enemy]
	shots       *ecs.Map3[Position, Velocity, Shot]
	pickups     *ecs.Map3[Position, Velocity, Pickup]
	enemyFilter *ecs.Filter3[Position, Velocity, Enemy]
	shotFilter  *ecs.Filter3[Position, Velocity, Shot]
	dropFilter  *ecs.Filter3[Position, Velocity, Pickup]
	fireFilter  *ecs.Filter3[Position, Enemy, Burning]
	coldFilter  *ecs.Filter1[Chilled]
	burning     ecs.Component[Burning]
	chilled     ecs.Component[Chilled]
	elite       ecs.Component[Elite]
	shielded    ecs.Component[Shielded]
}

// Begin starts to play a realm. The manager's level must have begun, and the realm lies in it. Score, gifts and hull
// are kept from the realm before.
func (g *Game) Begin(m *manifest.File, r *realm.Realm) error {
	if g.guard != nil {
		g.moment = g.guard.Now()
	}
	hull := g.Player.Most
	if g.Manifest != nil && g.Player.Alive {
		hull = max(g.Player.Hull, g.Player.Most/2)
	}
	g.Manifest, g.Realm = m, r
	g.begun = g.Ticks
	g.Lived, g.freeze, g.ShakeNow, g.extra = 0, 0, 0, 0
	g.toll = [realm.EnemyKinds]int{}
	g.wishes = g.wishes[:0]
	g.configure()
	g.writeSpawns()
	g.resetSeals()
	g.resetPlayer(hull)
	g.tour = tour.New(g.cfg.Tour, g.Player.P)
	g.fx.palette(m)
	if err := g.declare(); err != nil {
		return err
	}
	g.clear()
	g.soot.begin(g)
	g.enter(Announce)
	return g.stress()
}

// clear gives back what lies in blocks.
func (g *Game) clear() {
	g.ribbons.reset()
	g.marks.reset()
	g.popups.reset()
	g.scorch.reset()
	g.soot.reset()
	g.arms.reset()
}

// End frees the blocks of the realm, before the manager's EndLevel; it waits for
// the flow's worker, which reads the realm.
func (g *Game) End() error {
	g.clear()
	err := g.store.undeclare(g.passes)
	g.passes, g.seen, g.spawns = nil, nil, nil
	g.grid, g.doomed = grid{}, doomed{}
	if g.flow == nil {
		return err
	}
	return errors.Join(err, g.flow.Reset())
}

// Restart resets score, round and gifts after the end. The realm stays.
func (g *Game) Restart() {
	g.Score, g.Multiplier, g.Kills, g.Round, g.streak, g.Played = 0, 1, 0, 0, 0, 0
	g.Gifts, g.Offered, g.Embers, g.Need = [GiftKinds]uint8{}, false, 0, firstNeed
	g.Player.Alive = false // so that Begin gives a full hull
	g.Player.Most = HullMax
}

func (g *Game) enter(p Phase) { g.Phase, g.PhaseTime = p, 0 }

// Shake kicks the camera; it decays.
func (g *Game) Shake(by float32) { g.ShakeNow = min(14, g.ShakeNow+by) }

// Tick advances the simulation by a sixtieth of a second, within a frame of the manager.
func (g *Game) Tick(in *engine.Input) error {
	g.Ticks++
	g.PhaseTime += step
	if g.Player.Alive {
		g.Played++
		g.Lived++
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
	if g.toll[realm.Warden] == 0 {
		return 0, false
	}
	for _, r := range g.actors.enemyFilter.All() {
		if e := r.C; e.Kind == realm.Warden {
			share, ok = max(share, float32(e.HP)/float32(g.breeds[realm.Warden].hp)), true
		}
	}
	return share, ok
}
