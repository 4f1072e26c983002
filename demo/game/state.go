package game

import (
	"fmt"

	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/engine"
)

// A State has the values of the game that are not in lists, pools or columns. It has no pointers, so that it can be
// saved, compared and hashed.
type State struct {
	Player Player
	Stage
	Run
	Tally
	Siege
	Threat
	Bag
	Cooldowns
	Lost Lost

	rng    engine.Rand
	cooled int // the next row of sectors to cool
}

// Stage is the progress within the realm.
type Stage struct {
	Phase     Phase
	PhaseTime float32 // seconds in this phase
	PortalAt  vec     // while Phase is Opened or Leaving
	Lived     uint64  // ticks of this realm in which the player lived
	ShakeNow  float32 // displacement of the camera, in logical units
	freeze    int     // ticks of hit-stop left
	begun     uint64  // the tick in which the realm began: fields are requested from then on
}

// age returns the ticks since the realm began. Rules read no other time, so that a run does not depend on those before.
func (s *State) age() uint64 { return s.Ticks - s.begun }

func (s *Stage) enter(p Phase) { s.Phase, s.PhaseTime = p, 0 }

// Shake adds to the displacement of the camera. The displacement is at most 14 logical units, and decays by a tenth
// each tick.
func (s *Stage) Shake(by float32) { s.ShakeNow = min(shakeMost, s.ShakeNow+by) }

const shakeMost = 14

// Run is the progress over all realms. Restart resets it, except Ticks, Cleared and Best.
type Run struct {
	// Invariants:
	//
	//	(7) Multiplier is 1, and 1 more for every 12 of streak, up to 9
	//	(8) Played <= Ticks

	Ticks      uint64 // ticks of all runs
	Played     uint64 // ticks in which the player lived
	Round      int    // how many times all realms were played
	Cleared    int    // realms in which the warden has fallen
	Kills      int
	Score      int64
	Multiplier int // of points: 1, and 1 more for every 12 kills since the player was last damaged, up to 9
	Best       int // the most particles that were alive at once
	streak     int // kills since the player was last damaged
	fresh      int // ticks of the first minute that are left, see firstMinute
}

func (r *Run) restart() {
	*r = Run{Ticks: r.Ticks, Cleared: r.Cleared, Best: r.Best}
	r.chain(0)
}

// chain sets the kills since the player was last damaged.
func (r *Run) chain(streak int) { r.streak, r.Multiplier = streak, min(9, 1+streak/12) }

// win adds points, times the multiplier, and returns how many.
func (r *Run) win(points int) int64 {
	won := int64(points) * int64(r.Multiplier)
	r.Score += won
	return won
}

func (r *Run) check() error {
	if r.Multiplier != min(9, 1+r.streak/12) {
		return fmt.Errorf("game: invariant 7: the multiplier is %d after %d kills", r.Multiplier, r.streak)
	}
	if r.Played > r.Ticks {
		return fmt.Errorf("game: invariant 8: the player lived in %d of %d ticks", r.Played, r.Ticks)
	}
	return nil
}

// Threat has the heat and the counts of the horde.
type Threat struct {
	// Invariant (4): toll counts the living enemies by kind. extra counts those that belong to a stress run.

	Heat  float32 // from 0, calm, to HeatMost
	toll  [realm.EnemyKinds]int
	extra int
	owed  float32 // spawns that are due, and their fraction
}

// alive returns how many enemies live.
func (t *Threat) alive() (n int) {
	for _, k := range t.toll {
		n += k
	}
	return n
}

// Cooldowns are the angle of the sparks in orbit, and the seconds until the next lightning and the next mine.
type Cooldowns struct {
	spin float32 // angle of the sparks in orbit
	bolt float32 // seconds until the next lightning
	mine float32 // seconds until the next mine
}

// Lost counts what the game left out because a tier, a pool or the list of a tick's spawns was full. It counts over all
// runs. An orb that does not fit into the list of spawns, and a status that an enemy does not get, such as burning,
// count as Enemies. Walls also counts realms whose files could not be used. Quads and Soot concern only the picture: no
// rule reads them, and the hash excludes them.
type Lost struct {
	Quads, Soot                                                                                                        int
	Enemies, Shots, Pickups, Embers, Grids, Crowds, Hits, Popups, Ribbons, Scorch, Spawns, Fields, Walls, Lists, Marks int
}

// hash adds every field, in an order that the golden hashes are made of.
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
	h.Int(s.fresh)
	s.Tally.hash(h)
}

// LostKinds is the number of fields of [Lost].
const (
	LostKinds  = 17
	lostInView = 2 // the first fields, which concern only the picture
)

// LostNames are the words that the player sees for the counts of Lost, in the order of Lost.Counts.
var LostNames = [LostKinds]string{"GLOWS", "FINE SOOT", "ENEMIES", "SHOTS", "PICKUPS", "EMBERS", "FAR COLLISIONS", "JOSTLING", "HITS", "SCORES", "TRAILS", "SCORCHED GROUND",
	"KINDS OF ENEMIES", "PATHS", "WALLS", "LISTS", "MARKS"}

// Counts returns all counts, in the order of the fields.
func (l *Lost) Counts() [LostKinds]int {
	return [...]int{l.Quads, l.Soot, l.Enemies, l.Shots, l.Pickups, l.Embers, l.Grids, l.Crowds, l.Hits, l.Popups, l.Ribbons, l.Scorch, l.Spawns, l.Fields, l.Walls, l.Lists, l.Marks}
}

// Lacking returns the losses that last until the realm ends: Quads, Soot, Spawns and Walls are 1 if the realm has this
// loss. All other fields are 0. [Lost] counts such a loss when the realm begins, and not in later ticks. After
// [Game.End] the result has no meaning.
func (g *Game) Lacking() (l Lost) {
	for _, c := range [...]struct {
		n     *int
		lacks bool
	}{
		{&l.Quads, g.sight.halved}, {&l.Soot, g.soot.short}, {&l.Spawns, len(g.horde.spawns) < len(spawnTable)}, {&l.Walls, g.Realm.Clear() == nil},
	} {
		if c.lacks {
			*c.n = 1
		}
	}
	return l
}

func (l *Lost) hash(h *engine.Hasher) {
	counts := l.Counts()
	for _, n := range counts[lostInView:] {
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

// Hash returns a hash of the state. Equal games have equal hashes, and other games almost never. The hash excludes the
// soot, the tables that follow from round and realm, and everything that each tick makes again for itself.
func (g *Game) Hash() uint64 {
	var h engine.Hasher
	g.State.hash(&h)
	c := &g.cast
	h.Uint64(c.world.Hash(0))
	h.Uint64(g.fx.sys.Hash(0))
	h.Float32(g.fx.ambient.X)
	h.Float32(g.fx.ambient.Y)
	c.hash(&h)
	g.popups.hash(&h)
	g.scorch.hash(&h)
	g.arms.hash(&h)
	if g.horde.flow != nil {
		g.horde.flow.Each(h.Uint64)
	}
	return h.Sum()
}
