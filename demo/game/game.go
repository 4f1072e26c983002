package game

import (
	"cmp"
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
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/particles"
)

type vec = mgl32.Vec2

// step is the length of a tick in seconds.
const step = float32(1.0 / 60)

func mul(a, b float32) float32 { return float32(a * b) }

func clamp(x, lo, hi float32) float32 { return max(lo, min(hi, x)) }

// toward moves a to b by at most d.
func toward(a, b, d float32) float32 { return clamp(b, a-d, a+d) }

// unit returns v with length 1 to some six digits, or zero if its length is about that: for steering.
func unit(v vec) vec {
	sq := engine.LengthSquared(v)
	if !(sq > 1e-8) {
		return vec{}
	}
	return engine.Scale(v, realm.InvSqrt(sq))
}

// Phase is a part of the play of a realm.
type Phase uint8

// The phases of a realm, in order. Over may follow Fighting.
const (
	Announce Phase = iota // the realm's title shows
	Fighting              // the only phase in which the player takes damage
	Opened                // the portal is open
	Leaving               // the player flies through the portal
	Over                  // the player has lost
)

// Config configures New.
type Config struct {
	Seed      uint64
	Particles int       // the most particles alive; 0 means 20,000
	Quads     int       // the quads of a frame, see Pass.Quads; below 256 Passes returns nil; 0 means 1,024
	Guard     bool      // allocates lists through a guard.Allocator: canaries, quarantine, call sites
	Enemies   int       // extra drifters from the start, all over the realm, for a stress run; 0 to 200,000
	Heat      float32   // the least heat, 0 to 10
	Tour      tour.Kind // if set, the player flies this path and cannot be steered
	// Heap, if not nil, allocates columns, lists, the scorched ground, soot and paths, in place of the manager's tiers.
	// The other data is then in slices of the Go heap. If Guard is set too, lists come from the tiers. Heap must be
	// safe for concurrent use.
	Heap memory.Allocator
	// Reuse keeps slices of scratch memory from tick to tick. Without Heap it has no effect.
	Reuse bool
	// Sound, if not nil, receives the sounds of each tick. The rules never read it.
	Sound cue.Sink
}

// A Game is the simulation: a function of its Config, its realms, and its input. It draws nothing, reads no clock, and
// belongs to one goroutine. Most of its methods need a realm: call them between [Game.Begin] and [Game.End]. Before the
// first Begin they may panic. Its memory:
//
//	static  the frame's passes: visible enemies, sort keys, drawing order, vertices and indices of
//	        three batches, one after the other
//	frame   the collision grid, lists of hits and of the doomed; all of it within one tick
//	level   the realm: clearances, links, guides; the table of spawns
//	pools   component columns, omens and embers by handle, particle columns, the texts of popups in
//	        a compacting heap
//	slab    lists of many lengths: trails, marks on enemies, lightning, mines, fires
//	large   search buffers of flow fields, counts of the crowd, the scorched ground by sector, soot
//	inbox   flow fields, computed on a worker
//
// If a tier is full, the game leaves out what it would have allocated there, counts it in Lost, and continues.
type Game struct {
	// Invariants. The types of the other fields state the rest, and Check verifies all.
	//
	//	(3) particles, realm, flow and the heap of the popups' texts pass their own Checks
	//	(6) on the Go heap, every block in use has exactly one number

	State
	Manifest *manifest.File
	Realm    *realm.Realm

	cfg     Config
	tour    *tour.Path      // of this realm; nil without Config.Tour
	systems engine.Schedule // see schedule
	tick    engine.Tick
	store   store
	cast    cast
	horde   horde
	arms    arms
	scorch  scorches
	soot    Soot
	popups  popups
	fx      *fx
	sight   sight
}

// New makes a game whose blocks lie in the tiers of m, or in cfg.Heap. The last worker of m belongs to the game: use it
// for nothing else. Without workers enemies find no way around walls. Begin starts the first realm. If cfg.Enemies,
// cfg.Heat or cfg.Particles is out of range, or if memory is short, New fails, and the pools that it made stay until m
// is closed. Close the game before m.
func New(m *tiers.Manager, cfg Config) (*Game, error) {
	cfg.Particles = cmp.Or(cfg.Particles, 20_000)
	cfg.Quads = cmp.Or(cfg.Quads, 1024)
	if cfg.Enemies < 0 || cfg.Enemies > 200_000 {
		return nil, fmt.Errorf("game: %d enemies; allowed are 0 to 200,000", cfg.Enemies)
	}
	if !(cfg.Heat >= 0 && cfg.Heat <= HeatMost) {
		return nil, fmt.Errorf("game: heat %g; allowed are 0 to %d", cfg.Heat, HeatMost)
	}
	g := &Game{cfg: cfg, store: store{heap: cfg.Heap, reuse: cfg.Reuse, m: m}}
	g.rng = engine.NewRand(cfg.Seed, 1)
	g.Restart()
	if err := g.build(); err != nil {
		return nil, fmt.Errorf("game: %w", err)
	}
	var err error
	if g.horde.flow, err = g.store.flow(); err != nil {
		return nil, fmt.Errorf("game: %w", err)
	}
	return g, nil
}

func (g *Game) build() (err error) {
	s := &g.store
	if err := g.cast.build(s, g.cfg.Enemies); err != nil {
		return err
	}
	if err := g.popups.build(s); err != nil {
		return err
	}
	if err := s.watch(g.cfg.Guard); err != nil {
		return err
	}
	if err := g.allocators(); err != nil {
		return err
	}
	ps, err := particles.New(s.source(), particles.Config{Capacity: g.cfg.Particles, Seed: g.cfg.Seed*2 + 1})
	if err != nil {
		return err
	}
	if err := s.register("effects", "particles", func() memory.Stats { return ps.Stats().Memory }, ps.Reset, ps.Close); err != nil {
		return err
	}
	g.fx, err = newFX(ps, g.cfg.Sound)
	return err
}

// allocators gives each kind of list its allocator. Tags attribute them.
func (g *Game) allocators() error {
	s, c := &g.store, &g.cast
	var errs [8]error
	c.ribbons.blocks, errs[0] = s.numbered("trails")
	c.marks.blocks, errs[1] = s.numbered("effects")
	g.arms.mines.a, errs[2] = s.list("mines")
	g.arms.fires.a, errs[3] = s.list("fires")
	lightning, err := s.list("lightning")
	for i := range g.arms.bolts {
		g.arms.bolts[i].Nodes.a = lightning
	}
	errs[4] = err
	g.scorch.a, errs[5] = s.large("scorch")
	g.soot.a, errs[6] = s.large("soot")
	if s.tiers() {
		s.tick, errs[7] = s.m.Tag("collisions")
	}
	return errors.Join(errs[:]...)
}

// Begin starts to play a realm. Call it once in a level of the manager, outside of a frame: otherwise it may fail with
// [tiers.ErrOrder]. m and r must be valid and unchanged until [Game.End]. Score and gifts are kept from the realm
// before. The hull is kept too, but is at least half of its maximum. In a new run, and if the player is not alive,
// the hull is full.
func (g *Game) Begin(m *manifest.File, r *realm.Realm) error {
	g.store.begin()
	hull := g.Player.Most
	if g.Manifest != nil && g.Player.Alive {
		hull = max(g.Player.Hull, g.Player.Most/2)
	}
	g.Manifest, g.Realm = m, r
	g.begun = g.Ticks
	g.Lived, g.freeze, g.ShakeNow = 0, 0, 0
	g.Threat = Threat{Heat: g.cfg.Heat}
	g.bolt, g.mine = 0, 0
	g.horde.begin(g)
	g.Siege.reset(g)
	g.Player.reset(g, hull)
	g.tour = tour.New(g.cfg.Tour, g.Player.P)
	g.fx.palette(m)
	if err := g.sight.declare(g); err != nil {
		return err
	}
	g.clear()
	g.soot.begin(g)
	g.enter(Announce)
	return g.horde.stress(g)
}

// clear frees what lies in blocks.
func (g *Game) clear() {
	g.cast.clear()
	g.popups.reset()
	g.scorch.reset()
	g.soot.reset()
	g.arms.reset()
}

// End frees the blocks of the realm. Call it before the manager's EndLevel. End waits until the worker of the paths is
// idle, because the worker reads the realm.
func (g *Game) End() error {
	g.clear()
	return errors.Join(g.sight.end(&g.store), g.horde.end())
}

// Close calls [Game.End] and stops the worker of the paths. The game's pools stay until the manager is closed. With
// Config.Guard the error reports the faults that the guard has found.
func (g *Game) Close() error {
	err := g.End()
	if g.horde.flow != nil {
		err = errors.Join(err, g.horde.flow.Close())
	}
	return errors.Join(err, g.store.close())
}

// Restart resets score, round and gifts, for a new run. The random numbers go on, see [Game.Reseed]. Afterwards call
// Begin, which starts the first realm of the run. Until then the player is not alive.
func (g *Game) Restart() {
	g.Run.restart()
	if g.cfg.Heat == 0 && g.cfg.Enemies == 0 {
		g.fresh = firstMinute
	}
	g.Tally.restart()
	g.Bag.restart()
	g.Cooldowns = Cooldowns{}
	g.Player.Alive = false // so that Begin gives a full hull
	g.Player.Most = HullMax
}

// Reseed restarts the random numbers with a seed. Call Reseed after [Game.Restart]. The next run is then played as by a
// new game with this seed. Its hashes differ: Ticks and the other counts of all runs continue. Particles keep the seed
// that was passed to New.
func (g *Game) Reseed(seed uint64) {
	g.cfg.Seed = seed
	g.rng = engine.NewRand(seed, 1)
}

// Tick advances the simulation by a sixtieth of a second. Call it within a memory frame of the manager. In a hit-stop
// Tick ignores the input: then only counts and the camera's displacement change.
func (g *Game) Tick(in *engine.Input) error {
	g.Ticks++
	g.PhaseTime += step
	if g.Player.Alive {
		g.Played++
		g.Lived++
		g.fresh = max(0, g.fresh-1)
		g.Tally.live(g.Manifest.Name)
	}
	g.ShakeNow = mul(g.ShakeNow, 0.9)
	if g.freeze > 0 {
		g.freeze--
		return nil
	}
	g.store.look()
	g.tick = engine.Tick{N: g.Ticks, Input: *in, Rand: &g.rng}
	if err := g.schedule().Run(&g.tick); err != nil {
		return fmt.Errorf("game: %w", err)
	}
	return nil
}

// Still reports whether the next Tick is part of a hit-stop.
func (g *Game) Still() bool { return g.freeze > 0 }

// Check verifies the invariants and returns an error with all that are broken, or nil.
func (g *Game) Check() error {
	errs := []error{g.Run.check(), g.Siege.check(), g.Bag.check(), g.cast.check(g), g.popups.check(), g.fx.sys.Check(), g.Realm.Check()}
	if g.horde.flow != nil {
		errs = append(errs, g.horde.flow.Check())
	}
	return errors.Join(errs...)
}

// Particles returns the system of particles, to draw them.
func (g *Game) Particles() *particles.System { return g.fx.sys }

// Entities returns the number of entities that are alive: enemies, shots and pickups.
func (g *Game) Entities() int { return g.cast.world.Len() }

// World returns the world of entities, for the overlay.
func (g *Game) World() *ecs.World { return g.cast.world }

// Enemies returns the number of enemies that are alive or announced.
func (g *Game) Enemies() int { return g.cast.omens.Len() + g.alive() }

// Boss returns how much of its hull a warden has left, from 0 to 1. Of several wardens it is the largest share. ok is
// false if there is no warden.
func (g *Game) Boss() (share float32, ok bool) {
	if g.toll[realm.Warden] == 0 {
		return 0, false
	}
	for _, r := range g.cast.enemyFilter.All() {
		if e := r.C; e.Kind == realm.Warden {
			share, ok = max(share, float32(e.HP)/float32(g.horde.breeds[realm.Warden].hp)), true
		}
	}
	return share, ok
}
