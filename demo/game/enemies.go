package game

import (
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/engine"
)

// A walk is what every enemy's step reads, in one place.
type walk struct {
	g      *Game
	r      *realm.Realm
	fields [realm.Lanes]*realm.Field // nil until there is one
	player vec
	slow   bool    // of the chunk
	pace   float32 // seconds that this step is of
	every  uint64  // ticks between two looks about; see turn
	ticks  uint64
}

// farEvery is how many ticks a step of those beyond the grid takes: nobody sees them.
const farEvery = 8

// strayed is how far the horde may be left behind, in units along an axis, before it is forgotten;
// others come from nearer.
const strayed = 2400

// A column is a chunk of enemies, for as long as nothing of the world's structure changes.
type column struct {
	es   []ecs.Entity
	ps   []Position
	vs   []Velocity
	ks   []Enemy
	slow bool
}

// move moves the enemies, and begins the list of those that end in this tick.
func (h *horde) move(g *Game) error {
	h.doomed.begin(g)
	h.moveEnemies(g)
	return nil
}

// moveEnemies looks at each enemy once: those beyond the grid move every eighth tick, each in its
// turn; those in it are counted, sorted into it, and move.
func (h *horde) moveEnemies(g *Game) {
	w := &h.walk // a breed moves by a pointer to it, which would take a variable to the Go heap
	*w = walk{g: g, r: g.Realm, player: g.Player.P, ticks: g.age()}
	if h.flow != nil {
		for k := range w.fields {
			w.fields[k] = h.flow.Field(k)
		}
	}
	gr := &h.grid
	gr.start(g)
	h.columns = h.columns[:0]
	for es, c := range g.cast.enemyFilter.Chunks() {
		n := len(h.columns)
		h.columns = append(h.columns, column{es, c.A, c.B, c.C, g.cast.chilled.Column(es) != nil})
		for i := range es {
			k := gr.cellOf(c.A[i].P)
			if k < 0 {
				if (uint64(c.C[i].Phase)+w.ticks)%farEvery == 0 {
					w.far(es[i], &c.A[i], &c.B[i], &c.C[i])
				}
				continue
			}
			if gr.begin != nil {
				gr.begin[k+2]++
				gr.spots = append(gr.spots, spot{int32(i), uint16(n), uint16(k)})
			} else {
				w.slow, w.pace, w.every = h.columns[n].slow, step, 2
				w.near(es[i], k, &c.A[i], &c.B[i], &c.C[i])
			}
		}
	}
	if gr.begin == nil {
		return
	}
	spots := gr.spots
	gr.sort(g)
	for _, s := range spots {
		c := &h.columns[s.chunk]
		p, e := &c.ps[s.row], &c.ks[s.row]
		w.pace, w.every = step, 4
		if d := p.P.Sub(w.player); !inSight(d, e.Kind) {
			if w.turn(e)%2 != 0 {
				continue
			}
			w.pace = 2 * step
		} else if engine.LengthSquared(d) < closeBy*closeBy {
			w.every = 2
		}
		w.slow = c.slow
		w.near(c.es[s.row], int(s.cell), p, &c.vs[s.row], e)
	}
}

// closeBy is how near to the player, in units, it is seen that enemies steer only now and then.
const closeBy = 150

// turn counts an enemy's ticks. All move in each, out of sight in every other one; they look for the way
// in one of every ticks, and feel the crowd half of them later.
func (w *walk) turn(e *Enemy) uint64 { return w.ticks + uint64(e.Phase) }

// far takes a long step by the field, or straight ahead beyond it.
func (w *walk) far(id ecs.Entity, p *Position, v *Velocity, e *Enemy) {
	to := w.player.Sub(p.P)
	reach := float32(strayed)
	if w.g.Siege.Woken { // the warden has them go
		reach = gridSide / 2
	}
	if max(max(to[0], -to[0]), max(to[1], -to[1])) > reach && e.Post == postHorde {
		w.g.horde.doomed.add(id, true)
		return
	}
	if e.Post != postHorde && e.Post != postStress {
		return // guards stay
	}
	var dir vec
	if d := w.path(p.P, to, e); d != 0 {
		dir = w.r.Steer(d, p.P)
	} else {
		dir = unit(to)
	}
	from := p.P
	if e.Ribbon != 0 {
		w.g.cast.ribbons.cut(w.g, e.Ribbon, from)
	}
	v.V = engine.Scale(dir, w.g.horde.breeds[e.Kind].speed)
	p.P = engine.MulAdd(p.P, v.V, step*farEvery)
	w.r.Slide(&p.P, &v.V, from, min(breeds[e.Kind].radius, widest), 0.3)
}

// toPlayer returns the direction to go: straight where the player is near and seen, else by the
// field.
func (w *walk) toPlayer(p vec, e *Enemy) vec {
	to := w.player.Sub(p)
	if engine.LengthSquared(to) < 90*90 {
		return unit(to)
	}
	if d := w.path(p, to, e); d != 0 {
		return w.r.Steer(d, p)
	}
	return unit(to)
}

// near is the whole of an enemy's tick: its timers, its kind's way of moving, the crowd, walls, and
// the player that it may touch.
func (w *walk) near(id ecs.Entity, k int, p *Position, v *Velocity, e *Enemy) {
	g := w.g
	e.Flash = max(0, e.Flash-mul(w.pace, 6))
	e.Timer -= w.pace
	b := &breeds[e.Kind]
	b.move(w, p, v, e)
	if gr := &g.horde.grid; b.boss && gr.bossN < len(gr.bosses) {
		gr.bosses[gr.bossN] = id
		gr.bossN++
	}
	if g.shock > 0 && !b.boss && engine.LengthSquared(p.P.Sub(g.center)) < mul(g.shock, g.shock) {
		g.horde.doomed.add(id, false)
	}
	from := p.P
	pace := w.pace
	if w.slow {
		pace /= 2
	}
	p.P = engine.MulAdd(p.P, v.V, pace)
	w.crowded(&g.horde.grid, k, from, p, e)
	w.r.Slide(&p.P, &v.V, from, min(b.radius, widest), 0.5)
	d, reach := w.player.Sub(p.P), b.radius+playerRadius
	if engine.LengthSquared(d) < mul(reach, reach) && g.Player.Alive {
		g.Player.hurt(g, b.damage, p.P, Cause(e.Kind))
	}
	if e.Ribbon != 0 && (b.keen || (w.ticks+uint64(e.Phase))%4 == 1) {
		g.cast.ribbons.push(g, e.Ribbon, p.P)
	}
}

// home returns where a guard goes that nobody disturbs, and whether it does.
func (w *walk) home(p vec, e *Enemy) (vec, bool) {
	if e.Post == postHorde || e.Post >= postHeart {
		return vec{}, false
	}
	at := w.g.Seals[e.Post-1].P
	if engine.LengthSquared(w.player.Sub(at)) < 460*460 {
		return vec{}, false
	}
	return unit(at.Sub(p)), true
}
