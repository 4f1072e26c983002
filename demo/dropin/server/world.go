package main

import "github.com/strata-go/strata/engine"

const (
	zoneCount   = 16
	perZone     = 16 // players
	clientCount = zoneCount * perZone
	herd        = 40   // creatures of a zone
	mostShots   = 128  // of a zone
	side        = 4096 // of a zone, in units
	reach       = 1100 // how far a player sees
	hitRange    = 48
	lifetime    = 45 // of a shot, in ticks
)

// mostSeen is how many entities a zone has at most.
const mostSeen = perZone + herd + mostShots

// Kinds of entities.
const (
	kindPlayer = iota
	kindCreature
	kindShot
)

// An Entity has the data of an entity that clients receive. It has no Go pointer.
type Entity struct {
	ID           uint32
	X, Y         int32
	HP           uint16
	Kind, Facing uint8
}

// An Input applies until the next input of the player arrives.
type Input struct {
	DX, DY int8
	Aim    uint8 // of 16 directions
	Fire   bool
}

type shot struct {
	Entity
	dx, dy int32
	life   int
}

// A zone is a world of its own. Its slices have a fixed capacity and live as long as the server.
type zone struct {
	tick      uint32
	inputs    [perZone]Input
	players   [perZone]Entity
	creatures [herd]Entity
	shots     []shot
	all       []Entity // of this tick, by ascending ID
	last      uint32   // the last ID that was given
	rand      engine.Rand
}

var directions = [16][2]int32{
	{24, 0}, {22, 9}, {17, 17}, {9, 22}, {0, 24}, {-9, 22}, {-17, 17}, {-22, 9},
	{-24, 0}, {-22, -9}, {-17, -17}, {-9, -22}, {0, -24}, {9, -22}, {17, -17}, {22, -9},
}

func (r *zone) init(seed, number uint64) {
	*r = zone{rand: engine.NewRand(seed, number), shots: make([]shot, 0, mostShots), all: make([]Entity, 0, mostSeen)}
	for i := range r.players {
		r.last++
		r.players[i] = Entity{ID: r.last, HP: 100, Kind: kindPlayer}
		r.place(&r.players[i])
	}
	for i := range r.creatures {
		r.last++
		r.creatures[i] = Entity{ID: r.last, HP: 60, Kind: kindCreature}
		r.place(&r.creatures[i])
	}
}

// place puts an entity anywhere.
func (r *zone) place(e *Entity) { e.X, e.Y = int32(r.rand.Intn(side)), int32(r.rand.Intn(side)) }

// join gives a place to another player.
func (r *zone) join(i int) {
	r.inputs[i], r.players[i].HP = Input{}, 100
	r.place(&r.players[i])
}

// step is one tick of the rules.
func (r *zone) step() {
	r.tick++
	for i := range r.players {
		p, in := &r.players[i], &r.inputs[i]
		p.X, p.Y, p.Facing = inside(p.X+8*int32(in.DX)), inside(p.Y+8*int32(in.DY)), in.Aim
		if in.Fire && len(r.shots) < mostShots {
			r.last++
			d := directions[in.Aim%16]
			r.shots = append(r.shots, shot{Entity{ID: r.last, X: p.X, Y: p.Y, HP: 1, Kind: kindShot, Facing: in.Aim}, d[0], d[1], lifetime})
		}
	}
	for i := range r.creatures {
		c, prey := &r.creatures[i], &r.players[i%perZone]
		if wander := r.rand.Uint32(); wander&7 != 0 {
			c.X, c.Y = inside(c.X+toward(c.X, prey.X)), inside(c.Y+toward(c.Y, prey.Y))
		} else {
			c.Facing = uint8(wander >> 8 & 15)
		}
	}
	flying := r.shots[:0]
	for _, s := range r.shots {
		s.X, s.Y, s.life = s.X+s.dx, s.Y+s.dy, s.life-1
		if s.life > 0 && s.X == inside(s.X) && s.Y == inside(s.Y) && !r.hit(&s) {
			flying = append(flying, s)
		}
	}
	r.shots = flying
	r.all = append(append(r.all[:0], r.players[:]...), r.creatures[:]...)
	for i := range r.shots {
		r.all = append(r.all, r.shots[i].Entity)
	}
}

// hit hurts the creature that a shot meets. A dead one comes back at another place.
func (r *zone) hit(s *shot) bool {
	for i := range r.creatures {
		c := &r.creatures[i]
		if max(c.X-s.X, s.X-c.X, c.Y-s.Y, s.Y-c.Y) > hitRange {
			continue
		}
		if c.HP -= 20; c.HP == 0 {
			c.HP = 60
			r.place(c)
		}
		return true
	}
	return false
}

func inside(v int32) int32 { return min(max(v, 0), side-1) }

func toward(from, to int32) int32 { return min(max(to-from, -3), 3) }

// visible appends what player i sees, by ascending ID.
func (r *zone) visible(to []Entity, i int) []Entity {
	p := &r.players[i]
	for k := range r.all {
		e := &r.all[k]
		if dx, dy := e.X-p.X, e.Y-p.Y; dx*dx+dy*dy < reach*reach {
			to = append(to, *e)
		}
	}
	return to
}
