package game

import (
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory"
)

// HeatMost is the greatest heat.
const HeatMost = 10

const (
	heatTime = 40   // seconds a degree
	heatSeal = 0.75 // degrees a broken seal
)

// crowds are how many of the horde there are to be at each degree of heat.
var crowds = [HeatMost + 1]float32{14, 60, 150, 380, 800, 1500, 2800, 5000, 8500, 13_500, 20_000}

// A spawn is a line of the table of what comes, see spawnTable: from a heat on, in groups, more often the more it weighs.
type spawn struct {
	Heat          float32
	Weight        uint16
	Kind          realm.Enemy
	Least, Most   uint8   // in a group
	Elite, Shield float32 // the chance of each
}

var spawnType = memory.MustType[spawn]()

// writeSpawns puts the table of this round into the level tier. Without room there the first lines of
// the first round are all there is.
func (g *Game) writeSpawns() {
	table, err := levelSlice(&g.store, spawnType, len(spawnTable))
	if err != nil {
		g.spawns = spawnTable[:2]
		g.Lost.Spawns++
		return
	}
	for i, s := range spawnTable {
		s.Elite = min(0.8, s.Elite+mul(float32(g.Round), 0.05))
		s.Shield = min(0.8, s.Shield+mul(float32(g.Round), 0.05))
		table[i] = s
	}
	g.spawns = table
}

// crowd returns how many of the horde there are to be.
func (g *Game) crowd() float32 {
	i := min(int(g.Heat), HeatMost-1)
	n := crowds[i] + mul(crowds[i+1]-crowds[i], g.Heat-float32(i))
	if g.Woken { // the warden wants room
		n = mul(n, 0.4)
	}
	return n
}

// horde counts those that came by the table.
func (g *Game) horde() int {
	n := -g.extra
	for _, t := range g.toll {
		n += t
	}
	return n
}

// stoke warms the realm and lets the horde grow with it.
func (g *Game) stoke() error {
	g.Heat = min(HeatMost, max(g.cfg.Heat, mul(float32(g.Lived), step/heatTime)+mul(float32(g.Broken), heatSeal)+mul(float32(g.Round), 0.5)))
	want := g.crowd()
	lacking := want - float32(g.horde())
	if lacking <= 0 {
		return nil
	}
	// A twentieth of what there is to be comes each second, and no less than a few; where thousands are
	// wanted twice that, since the more there are the more are left behind.
	g.owed = min(g.owed+mul(step, 3+mul(want, 1.0/20)+mul(mul(want, want), 1.0/400_000)), lacking)
	for range 8 { // groups, in one tick
		if g.owed < 1 {
			return nil
		}
		if err := g.arrive(); err != nil {
			return err
		}
	}
	return nil
}

// pick draws a line of the table that suits the heat.
func (g *Game) pick() *spawn {
	sum := 0
	for i := range g.spawns {
		if g.spawns[i].Heat <= g.Heat {
			sum += int(g.spawns[i].Weight)
		}
	}
	n := g.rng.Intn(max(sum, 1))
	for i := range g.spawns {
		if s := &g.spawns[i]; s.Heat <= g.Heat {
			if n -= int(s.Weight); n < 0 {
				return s
			}
		}
	}
	return &g.spawns[0]
}

// The ring in which the horde appears, out of sight: in units along an axis.
const (
	arriveNear = 420
	arriveFar  = 1900
)

// arrive brings a group, from somewhere that leads here.
func (g *Game) arrive() error {
	s := g.pick()
	n := int(s.Least) + g.rng.Intn(int(s.Most-s.Least)+1)
	at, ok := g.away()
	if !ok {
		g.owed = max(0, g.owed-1)
		return nil
	}
	b := &g.breeds[s.Kind]
	for range n {
		p := engine.MulAdd(at, g.rng.Disc(), 90)
		if g.owed--; g.Realm.Near(p, b.radius) {
			continue
		}
		id, err := g.spawnEnemy(s.Kind, p, vec{}, postHorde)
		if err != nil {
			return err
		}
		elite, shield := g.rng.Chance(s.Elite), g.rng.Chance(s.Shield)
		if elite {
			if _, _, e, ok := g.actors.enemies.Get(id); ok {
				e.HP *= 5
			}
			if err := g.bestow(g.actors.elite.Add(id, Elite{Worth: 6})); err != nil {
				return err
			}
		}
		if shield {
			if err := g.bestow(g.actors.shielded.Add(id, Shielded{HP: 4 + int16(g.Round)})); err != nil {
				return err
			}
		}
	}
	return nil
}

// away finds an open place out of sight that the field leads from, nearer ones more often.
func (g *Game) away() (vec, bool) {
	for range 12 {
		k := g.rng.Float32()
		far := arriveNear + mul(mul(k, k), arriveFar-arriveNear)
		along, side := g.rng.Range(-far, far), mul(far, g.rng.Sign())
		p := g.Player.P.Add(vec{along, side})
		if g.rng.Chance(0.5) {
			p = g.Player.P.Add(vec{side, along})
		}
		if g.Realm.Near(p, 40) {
			continue
		}
		if g.flow == nil || g.flow.Field(laneDirect) == nil || g.flow.Field(laneDirect).At(p) != 0 {
			return p, true
		}
	}
	return vec{}, false
}

// stress adds the drifters of Config.Enemies, all over the open ground.
func (g *Game) stress() error {
	for range g.cfg.Enemies {
		for range 20 {
			at := vec{g.rng.Range(20, worldSide-20), g.rng.Range(20, worldSide-20)}
			if g.Realm.Near(at, 10) {
				continue
			}
			if _, err := g.spawnEnemy(realm.Drifter, at, vec{}, postStress); err != nil {
				return err
			}
			break
		}
	}
	return nil
}
