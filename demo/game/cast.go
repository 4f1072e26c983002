package game

import (
	"errors"
	"fmt"

	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/memory/tlsf"
)

// A cast is everything that lives or lies in a realm: entities, announcements, embers, and what enemies carry.
//
// Invariants, verified by check:
//
//	(1) world and pools pass their own Checks
//	(2) every ribbon and every list of marks in use belongs to one living enemy
//	(5) nothing is in a wall
type cast struct {
	world  *ecs.World
	chunks *tlsf.Heap // of the world's columns; nil on the Go heap

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

	omens   *pool.Pool[Omen]
	embers  *pool.Pool[Ember]
	wishes  []wish // spawns that were requested while a query is open
	ribbons ribbons
	marks   marks
}

// columnBytes bounds the address space of the columns: 64 MiB, a million enemies.
const columnBytes = 64 << 20

func (c *cast) build(s *store, extra int) (err error) {
	c.wishes = make([]wish, 0, 256)
	columns := s.heap
	if s.tiers() {
		if c.chunks, err = tlsf.New(s.m.PoolSource(), tlsf.Config{Reserve: columnBytes, Granule: 4 << 10, Step: 16 << 10, Blocks: 256}); err != nil {
			return err
		}
		columns = c.chunks
	}
	if c.world, err = ecs.New(columns, ecs.Config{Pages: s.source(), MaxEntities: s.entities(extra)}); err != nil {
		return err
	}
	if c.chunks != nil { // they are the tier's; the world frees them before they close
		if err := s.register("cast", "components", c.chunks.Stats, nil, c.chunks.Close); err != nil {
			return err
		}
	}
	w := c.world
	s.m.AddPool("world", &tiers.Funcs{ResetFunc: func() {
		w.Reset()
		w.Shrink()
	}, CloseFunc: w.Close})
	c.enemies = ecs.NewMap3[Position, Velocity, Enemy](w)
	c.shots = ecs.NewMap3[Position, Velocity, Shot](w)
	c.pickups = ecs.NewMap3[Position, Velocity, Pickup](w)
	c.enemyFilter = ecs.NewFilter3[Position, Velocity, Enemy](w)
	c.shotFilter = ecs.NewFilter3[Position, Velocity, Shot](w)
	c.dropFilter = ecs.NewFilter3[Position, Velocity, Pickup](w)
	c.fireFilter = ecs.NewFilter3[Position, Enemy, Burning](w)
	c.coldFilter = ecs.NewFilter1[Chilled](w)
	var errs [6]error
	c.burning, errs[0] = ecs.Register[Burning](w)
	c.chilled, errs[1] = ecs.Register[Chilled](w)
	c.elite, errs[2] = ecs.Register[Elite](w)
	c.shielded, errs[3] = ecs.Register[Shielded](w)
	c.omens, errs[4] = newPool[Omen](s, "cast", pool.Config{Name: "omens", Capacity: 4096})
	c.embers, errs[5] = newPool[Ember](s, "cast", pool.Config{Name: "embers", Capacity: emberMost})
	return errors.Join(errs[:]...)
}

// clear frees the blocks of what enemies carry.
func (c *cast) clear() {
	// Loops go over slots, so the lowest must be used first in every realm. What is not returned stays for later.
	_, _ = c.omens.Trim(), c.embers.Trim()
	c.ribbons.reset()
	c.marks.reset()
	c.wishes = c.wishes[:0]
}

// Relieve frees the chunks of the components' columns that have no rows, to the pools tier or to Config.Heap. Call it
// between ticks. The hash of the present tick does not change. Later ticks may differ: fewer enemies arrive while less
// than an eighth of the pools tier's budget is free. So a replay must call Relieve before the same ticks.
func (g *Game) Relieve() {
	g.cast.world.Shrink()
	if g.cast.chunks != nil {
		_ = g.cast.chunks.Trim() // what the system does not take back stays for the next entities
	}
}

// A wish is a spawn that is requested while a query is open.
type wish struct {
	p, v  vec
	enemy realm.Enemy
	post  uint8
	orb   bool
}

// wish keeps a spawn for after the loop; above the list's capacity it is lost.
func (c *cast) wish(g *Game, w wish) {
	if len(c.wishes) == cap(c.wishes) {
		g.Lost.Enemies++
		return
	}
	c.wishes = append(c.wishes, w)
}

func (c *cast) grantWishes(g *Game) error {
	for _, w := range c.wishes {
		var err error
		if g.Realm.Solid(w.p) {
			continue
		}
		if w.orb {
			err = c.shoot(g, w.p, w.v, Shot{Life: 4, Damage: 1, Hostile: true})
		} else {
			_, err = c.spawn(g, w.enemy, w.p, w.v, w.post)
		}
		if err != nil {
			return err
		}
	}
	c.wishes = c.wishes[:0]
	return nil
}

// spawn puts an enemy into the world, in the open. A full tier costs the enemy, and is no error: the entity is zero
// then.
func (c *cast) spawn(g *Game, k realm.Enemy, p, v vec, post uint8) (ecs.Entity, error) {
	e := Enemy{Kind: k, HP: g.horde.breeds[k].hp, Phase: uint16(g.rng.Uint32()), Timer: g.rng.Range(0.4, 1.4), Post: post}
	if most := breeds[k].trail; most > 0 && post != postStress {
		e.Ribbon = c.ribbons.take(g, p, most/2+g.rng.Intn(most/2+1)) // hardly two alike
	}
	id, err := c.enemies.NewEntity(Position{p}, Velocity{v}, e)
	if err != nil {
		c.ribbons.give(e.Ribbon)
		g.Lost.Enemies++
		return ecs.Entity{}, tolerate(err)
	}
	g.toll[k]++
	if post == postStress {
		g.extra++
	}
	return id, nil
}

// forget removes an enemy from the world and from all counts.
func (c *cast) forget(g *Game, id ecs.Entity, e *Enemy) {
	c.ribbons.give(e.Ribbon)
	c.marks.give(e)
	g.toll[e.Kind]--
	if e.Post == postStress {
		g.extra--
	}
	c.world.Remove(id)
}

func (c *cast) shoot(g *Game, p, v vec, s Shot) error {
	if _, err := c.shots.NewEntity(Position{p}, Velocity{v}, s); err != nil {
		g.Lost.Shots++
		return tolerate(err)
	}
	return nil
}

// tolerate turns a full tier or a full world into a loss that the game has counted. It returns any
// other error.
func tolerate(err error) error {
	if errors.Is(err, memory.ErrOutOfMemory) || errors.Is(err, ecs.ErrLimit) || errors.Is(err, memory.ErrTooLarge) {
		return nil
	}
	return err
}

// An Omen announces an enemy that appears at P when Left, in seconds, has passed.
type Omen struct {
	P    vec
	Kind realm.Enemy
	Post uint8
	Left float32 // seconds
}

// OmenTime is the time from the announcement of an enemy to its appearance, in seconds. A warden appears after 1.1
// seconds.
const OmenTime = 0.55

func (c *cast) announce(g *Game, k realm.Enemy, at vec, post uint8) {
	if g.Realm.Solid(at) {
		return
	}
	_, omen, err := c.omens.New() // omens end in address order, and need no handle
	if err != nil {
		g.Lost.Enemies++
		return
	}
	*omen = Omen{P: at, Kind: k, Post: post, Left: OmenTime}
	if k == realm.Warden {
		omen.Left = 1.1
	}
	g.fx.omen(at, breeds[k].size)
}

// moveOmens turns announcements whose time has come into enemies.
func (c *cast) moveOmens(g *Game) error {
	for h, o := range c.omens.All() {
		if o.Left -= step; o.Left > 0 {
			continue
		}
		if _, err := c.spawn(g, o.Kind, o.P, vec{}, o.Post); err != nil {
			return err
		}
		g.fx.arrive(o.P, o.Kind)
		c.omens.Free(h)
	}
	return nil
}

func (c *cast) hash(h *engine.Hasher) {
	h.Int(c.omens.Len())
	for _, o := range c.omens.All() {
		h.Vec2(o.P)
		h.Int(int(o.Kind)<<8 | int(o.Post))
		h.Float32(o.Left)
	}
	h.Int(c.embers.Len())
	for _, e := range c.embers.All() {
		h.Vec2(e.P)
		h.Vec2(e.V)
		h.Float32(e.Life)
		h.Int(int(e.Worth))
	}
	h.Int(len(c.wishes))
	for _, w := range c.wishes {
		h.Vec2(w.p)
		h.Vec2(w.v)
		h.Int(int(w.enemy)<<8 | int(w.post))
		h.Bool(w.orb)
	}
	c.ribbons.hash(h)
	c.marks.hash(h)
}

// inWall returns an error if something is in a wall of a realm, or outside of the world.
func (c *cast) inWall(g *Game, walls *realm.Realm) (wall error) {
	open := func(what any, p vec) {
		if wall == nil && walls.Solid(p) {
			wall = fmt.Errorf("game: invariant 5: %v is in a wall at %v", what, p)
		}
	}
	for _, r := range c.enemyFilter.All() {
		open(r.C.Kind, r.A.P)
	}
	for _, r := range c.shotFilter.All() {
		open("a shot", r.A.P)
	}
	for _, r := range c.dropFilter.All() {
		open("a pickup", r.A.P)
	}
	for _, e := range c.embers.All() {
		open("an ember", e.P)
	}
	if g.tour == nil {
		open("the player", g.Player.P)
	}
	return wall
}

// check verifies the invariants, and that toll and extra count the living.
func (c *cast) check(g *Game) error {
	used, extra := 0, 0
	var toll [realm.EnemyKinds]int
	for _, r := range c.enemyFilter.All() {
		if r.C.Ribbon != 0 {
			used++
		}
		if r.C.Post == postStress {
			extra++
		}
		toll[r.C.Kind]++
	}
	errs := []error{c.world.Check(), c.omens.Check(), c.embers.Check(), c.marks.check(c), c.ribbons.blocks.check(c.ribbons.live), c.inWall(g, g.Realm)}
	if c.ribbons.live != used {
		errs = append(errs, fmt.Errorf("game: invariant 2: %d ribbons are in use by %d enemies", c.ribbons.live, used))
	}
	if toll != g.toll || extra != g.extra {
		errs = append(errs, fmt.Errorf("game: invariant 4: %v and %d enemies live, %v and %d are counted", toll, extra, g.toll, g.extra))
	}
	return errors.Join(errs...)
}
