package game

import (
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/engine"
)

// A State is all of the game that is not in a tier: plain values without a pointer, so that they can
// be saved, compared and hashed. What rules read and is neither here nor in the world, the particles,
// the pools or the lists does not exist.
type State struct {
	Player Player

	Phase      Phase
	PhaseTime  float32 // seconds in this phase
	Round      int     // how many times the realms have gone round
	Score      int64
	Best       int // most particles alive
	Multiplier int
	Ticks      uint64
	Played     uint64 // ticks since the last Restart in which the player lived
	Lived      uint64 // ticks of this realm in which the player lived
	Kills      int
	Cleared    int     // realms
	PortalAt   vec     // while Phase is Opened or Leaving
	ShakeNow   float32 // logical units
	Lost       Lost

	Heat   float32 // 0 calm to 10 full
	Seals  [realm.Seals]Seal
	Broken int  // seals
	Goal   int  // what to go for next: a seal, or realm.Heart
	Woken  bool // the warden has come

	Embers  int // collected towards the next gift
	Need    int // for it
	Gifts   [GiftKinds]uint8
	Offer   [3]Gift // while Offered
	Offered bool

	rng    engine.Rand
	freeze int // ticks of hit-stop left
	streak int // kills since the last hurt
	toll   [realm.EnemyKinds]int
	extra  int     // enemies of a stress run that live
	owed   float32 // spawns that are due, and their fraction
	spin   float32 // of the sparks that orbit
	bolt   float32 // until the next lightning
	mine   float32 // until the next mine
	cooled int     // the next row of sectors to cool
	shock  float32 // the radius of a broken seal's ring, in which nothing hostile lives; 0 for none
	center vec     // of the ring
	begun  uint64  // the tick in which the realm began: fields are asked for from there on
}

// Lost counts what full tiers have cost the game.
type Lost struct {
	Quads, Enemies, Shots, Pickups, Embers, Grids, Hits, Popups, Ribbons, Scorch, Spawns, Fields, Walls, Lists, Marks int
}

// hash adds every field, in the order of the declaration.
func (s *State) hash(h *engine.Hasher) {
	s.Player.hash(h)
	h.Int(int(s.Phase))
	h.Float32(s.PhaseTime)
	h.Int(s.Round)
	h.Uint64(uint64(s.Score))
	h.Int(s.Best)
	h.Int(s.Multiplier)
	h.Uint64(s.Ticks)
	h.Uint64(s.Played)
	h.Uint64(s.Lived)
	h.Int(s.Kills)
	h.Int(s.Cleared)
	h.Vec2(s.PortalAt)
	h.Float32(s.ShakeNow)
	s.Lost.hash(h)
	h.Float32(s.Heat)
	for i := range s.Seals {
		s.Seals[i].hash(h)
	}
	h.Int(s.Broken)
	h.Int(s.Goal)
	h.Bool(s.Woken)
	h.Int(s.Embers)
	h.Int(s.Need)
	h.Bytes(s.Gifts[:])
	for _, o := range s.Offer {
		h.Int(int(o))
	}
	h.Bool(s.Offered)
	s.rng.Hash(h)
	h.Int(s.freeze)
	h.Int(s.streak)
	for _, n := range s.toll {
		h.Int(n)
	}
	h.Int(s.extra)
	h.Float32(s.owed)
	h.Float32(s.spin)
	h.Float32(s.bolt)
	h.Float32(s.mine)
	h.Int(s.cooled)
	h.Float32(s.shock)
	h.Vec2(s.center)
	h.Uint64(s.begun)
}

// LostKinds is how many things Lost counts, LostNames what they are for a player.
const LostKinds = 15

// LostNames are in the order of Counts.
var LostNames = [LostKinds]string{"DRAWING", "ENEMIES", "SHOTS", "PICKUPS", "EMBERS", "COLLISIONS", "HITS", "SCORES", "TRAILS", "SCORCHED GROUND",
	"KINDS OF ENEMIES", "WAYS", "WALLS", "LISTS", "MARKS"}

// Counts returns all that was lost, in the order of the declaration.
func (l *Lost) Counts() [LostKinds]int {
	return [...]int{l.Quads, l.Enemies, l.Shots, l.Pickups, l.Embers, l.Grids, l.Hits, l.Popups, l.Ribbons, l.Scorch, l.Spawns, l.Fields, l.Walls, l.Lists, l.Marks}
}

func (l *Lost) hash(h *engine.Hasher) {
	for _, n := range l.Counts() {
		h.Int(n)
	}
}

func (p *Player) hash(h *engine.Hasher) {
	h.Vec2(p.P)
	h.Vec2(p.V)
	h.Vec2(p.Aim)
	h.Int(p.Hull)
	h.Int(p.Most)
	for _, v := range [...]float32{p.Cool, p.Safe, p.Dash, p.Rest, p.Recoil} {
		h.Float32(v)
	}
	h.Bool(p.Alive)
	h.Bool(p.Beaming)
}

func (s *Seal) hash(h *engine.Hasher) {
	h.Vec2(s.P)
	h.Int(int(s.HP))
	h.Int(int(s.Waves))
	h.Bool(s.Woken)
	h.Bool(s.Broken)
	h.Float32(s.Flash)
}

// Hash folds the whole state into one number: equal hashes, equal games. What it does not see are
// the tables that follow from round and realm, and what is made anew in every tick.
func (g *Game) Hash() uint64 {
	var h engine.Hasher
	g.State.hash(&h)
	h.Uint64(g.world.Hash(0))
	h.Uint64(g.fx.sys.Hash(0))
	h.Float32(g.fx.ambient.X)
	h.Float32(g.fx.ambient.Y)
	h.Int(g.omens.Len())
	for _, o := range g.omens.All() {
		h.Vec2(o.P)
		h.Int(int(o.Kind)<<8 | int(o.Post))
		h.Float32(o.Left)
	}
	h.Int(g.embers.Len())
	for _, e := range g.embers.All() {
		h.Vec2(e.P)
		h.Vec2(e.V)
		h.Float32(e.Life)
		h.Int(int(e.Worth))
	}
	h.Int(len(g.wishes))
	for _, w := range g.wishes {
		h.Vec2(w.p)
		h.Vec2(w.v)
		h.Int(int(w.enemy)<<8 | int(w.post))
		h.Bool(w.orb)
	}
	g.ribbons.hash(&h)
	g.marks.hash(&h)
	g.popups.hash(&h)
	g.scorch.hash(&h)
	g.arms.hash(&h)
	if g.flow != nil {
		g.flow.Each(h.Uint64)
	}
	return h.Sum()
}
