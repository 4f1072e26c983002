package game

import (
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/engine"
)

// HeatMost is the greatest heat.
const HeatMost = 10

const (
	heatTime = 40   // seconds a degree
	heatSeal = 0.75 // degrees a broken seal
)

// A horde is what comes: its table and its breeds, what moves it, and the grid that finds it.
type horde struct {
	breeds  [realm.EnemyKinds]breed // of this round
	spawns  []spawn                 // what comes at what heat, in the level tier
	flow    *realm.Flow             // nil without workers
	grid    grid                    // of this tick
	columns []column                // of this tick's pass over the enemies
	walk    walk                    // the same
	doomed  doomed                  // of this tick
}

// begin prepares the tables of a realm.
func (h *horde) begin(g *Game) {
	h.configure(g.Round)
	h.writeSpawns(g)
}

// end frees what lies in the tiers, and waits for the flow's worker.
func (h *horde) end() error {
	h.spawns, h.grid, h.doomed = nil, grid{}, doomed{}
	if h.flow == nil {
		return nil
	}
	return h.flow.Reset()
}

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

// writeSpawns puts the table of this round into the level tier. Without room there the first lines of
// the first round are all there is.
func (h *horde) writeSpawns(g *Game) {
	table, err := levelSlice[spawn](&g.store, "spawns", len(spawnTable))
	if err != nil {
		h.spawns = spawnTable[:2]
		g.Lost.Spawns++
		return
	}
	for i, s := range spawnTable {
		s.Elite = min(0.8, s.Elite+mul(float32(g.Round), 0.05))
		s.Shield = min(0.8, s.Shield+mul(float32(g.Round), 0.05))
		table[i] = s
	}
	h.spawns = table
}

// wanted returns how large the horde should be.
func (h *horde) wanted(g *Game) float32 {
	i := min(int(g.Heat), HeatMost-1)
	n := crowds[i] + mul(crowds[i+1]-crowds[i], g.Heat-float32(i))
	if g.Siege.Woken { // space for the warden
		n = mul(n, 0.4)
	}
	return n
}

// stoke warms the realm and lets the horde grow with it.
func (h *horde) stoke(g *Game) error {
	g.Heat = min(HeatMost, max(g.cfg.Heat, mul(float32(g.Lived), step/heatTime)+mul(float32(g.Broken), heatSeal)+mul(float32(g.Round), 0.5)))
	if g.fresh > 0 && g.Kills == 0 {
		return nil // the scouts are enough until one of them has fallen
	}
	want := h.wanted(g)
	lacking := want - float32(g.alive()-g.extra)
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
		if err := h.arrive(g); err != nil {
			return err
		}
	}
	return nil
}

// pick draws a line of the table that suits the heat.
func (h *horde) pick(g *Game) *spawn {
	sum := 0
	for i := range h.spawns {
		if h.spawns[i].Heat <= g.Heat {
			sum += int(h.spawns[i].Weight)
		}
	}
	n := g.rng.Intn(max(sum, 1))
	for i := range h.spawns {
		if s := &h.spawns[i]; s.Heat <= g.Heat {
			if n -= int(s.Weight); n < 0 {
				return s
			}
		}
	}
	return &h.spawns[0]
}

// The ring in which the horde appears, out of sight: in units along an axis.
const (
	arriveNear = 420
	arriveFar  = 1900
)

// arrive brings a group, from somewhere that leads here.
func (h *horde) arrive(g *Game) error {
	s := h.pick(g)
	n := int(s.Least) + g.rng.Intn(int(s.Most-s.Least)+1)
	at, ok := h.away(g)
	if !ok {
		g.owed = max(0, g.owed-1)
		return nil
	}
	if g.store.crowded() {
		g.owed = max(0, g.owed-float32(n))
		g.Lost.Enemies += n
		return nil
	}
	b := &h.breeds[s.Kind]
	for range n {
		p := engine.MulAdd(at, g.rng.Disc(), 90)
		if g.owed--; g.Realm.Near(p, b.radius) {
			continue
		}
		id, err := g.cast.spawn(g, s.Kind, p, vec{}, postHorde)
		if err != nil {
			return err
		}
		elite, shield := g.rng.Chance(s.Elite), g.rng.Chance(s.Shield)
		if elite {
			if _, _, e, ok := g.cast.enemies.Get(id); ok {
				e.HP *= 5
			}
			if err := bestow(g, g.cast.elite.Add(id, Elite{Worth: 6})); err != nil {
				return err
			}
		}
		if shield {
			if err := bestow(g, g.cast.shielded.Add(id, Shielded{HP: 4 + int16(g.Round)})); err != nil {
				return err
			}
		}
	}
	return nil
}

// away finds an open place out of sight that the field leads from, nearer ones more often.
func (h *horde) away(g *Game) (vec, bool) {
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
		if h.flow == nil || h.flow.Field(laneDirect) == nil || h.flow.Field(laneDirect).At(p) != 0 {
			return p, true
		}
	}
	return vec{}, false
}

// stress adds the drifters of Config.Enemies, all over the open ground.
func (h *horde) stress(g *Game) error {
	for range g.cfg.Enemies {
		for range 20 {
			at := vec{g.rng.Range(20, worldSide-20), g.rng.Range(20, worldSide-20)}
			if g.Realm.Near(at, 10) {
				continue
			}
			if _, err := g.cast.spawn(g, realm.Drifter, at, vec{}, postStress); err != nil {
				return err
			}
			break
		}
	}
	return nil
}

// reap ends those that the tick has doomed.
func (h *horde) reap(g *Game) error {
	for _, d := range h.doomed.list {
		if !d.fade {
			if err := g.cast.kill(g, d.e); err != nil {
				return err
			}
			continue
		}
		if _, _, e, ok := g.cast.enemies.Get(d.e); ok {
			g.cast.forget(g, d.e, e)
		}
	}
	return nil
}
