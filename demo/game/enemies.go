package game

import (
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/engine"
)

// A wish is a spawn asked for while a loop walks the world.
type wish struct {
	p, v  vec
	enemy realm.Enemy
	post  uint8
	orb   bool
}

// wishFor keeps a spawn for after the loop; beyond the list's room it is lost.
func (g *Game) wishFor(w wish) {
	if len(g.wishes) == cap(g.wishes) {
		g.Lost.Enemies++
		return
	}
	g.wishes = append(g.wishes, w)
}

func (g *Game) grantWishes() error {
	for _, w := range g.wishes {
		var err error
		if g.Realm.Solid(w.p) {
			continue
		}
		if w.orb {
			err = g.spawnShot(w.p, w.v, Shot{Life: 4, Damage: 1, Hostile: true})
		} else {
			_, err = g.spawnEnemy(w.enemy, w.p, w.v, w.post)
		}
		if err != nil {
			return err
		}
	}
	g.wishes = g.wishes[:0]
	return nil
}

// spawnEnemy puts an enemy into the world, in the open. A full tier costs the enemy, and is no
// error: the entity is zero then.
func (g *Game) spawnEnemy(k realm.Enemy, p, v vec, post uint8) (ecs.Entity, error) {
	e := Enemy{Kind: k, HP: g.breeds[k].hp, Phase: uint16(g.rng.Uint32()), Timer: g.rng.Range(0.4, 1.4), Post: post}
	if most := breeds[k].trail; most > 0 && post != postStress {
		e.Ribbon = g.ribbons.take(g, p, most/2+g.rng.Intn(most/2+1)) // hardly two alike
	}
	id, err := g.actors.enemies.NewEntity(Position{p}, Velocity{v}, e)
	if err != nil {
		g.ribbons.give(e.Ribbon)
		g.Lost.Enemies++
		return ecs.Entity{}, tolerate(err)
	}
	g.toll[k]++
	if post == postStress {
		g.extra++
	}
	return id, nil
}

// forget takes an enemy out of the world and out of the books.
func (g *Game) forget(id ecs.Entity, e *Enemy) {
	g.ribbons.give(e.Ribbon)
	g.marks.give(e)
	g.toll[e.Kind]--
	if e.Post == postStress {
		g.extra--
	}
	g.world.Remove(id)
}

// moveOmens turns announcements whose time has come into enemies.
func (g *Game) moveOmens() error {
	for h, o := range g.omens.All() {
		if o.Left -= step; o.Left > 0 {
			continue
		}
		if _, err := g.spawnEnemy(o.Kind, o.P, vec{}, o.Post); err != nil {
			return err
		}
		g.fx.arrive(o.P, breeds[o.Kind].size)
		g.omens.Free(h)
	}
	return nil
}

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

// moveEnemies looks at each enemy once: those beyond the grid move every eighth tick, each in its
// turn; those in it are counted, sorted into it, and move.
func (g *Game) moveEnemies() {
	w := &g.walk // a breed moves by a pointer to it, which would take a variable to the Go heap
	*w = walk{g: g, r: g.Realm, player: g.Player.P, ticks: g.Ticks}
	if g.flow != nil {
		for k := range w.fields {
			w.fields[k] = g.flow.Field(k)
		}
	}
	gr := &g.grid
	gr.start(g)
	g.columns = g.columns[:0]
	for es, c := range g.actors.enemyFilter.Chunks() {
		n := len(g.columns)
		g.columns = append(g.columns, column{es, c.A, c.B, c.C, g.actors.chilled.Column(es) != nil})
		for i := range es {
			k := gr.cellOf(c.A[i].P)
			if k < 0 {
				if (uint64(es[i].Index())+w.ticks)%farEvery == 0 {
					w.far(es[i], &c.A[i], &c.B[i], &c.C[i])
				}
				continue
			}
			if gr.begin != nil {
				gr.begin[k+2]++
				gr.spots = append(gr.spots, spot{int32(i), uint16(n), uint16(k)})
			} else {
				w.slow, w.pace, w.every = g.columns[n].slow, step, 2
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
		c := &g.columns[s.chunk]
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
	if w.g.Woken { // the warden has them go
		reach = gridSide / 2
	}
	if max(max(to[0], -to[0]), max(to[1], -to[1])) > reach && e.Post == postHorde {
		w.g.doomed.add(id, true)
		return
	}
	if e.Post != postHorde && e.Post != postStress {
		return // guards stay
	}
	var dir vec
	if d := w.way(p.P, to, e); d != 0 {
		dir = w.r.Steer(d, p.P)
	} else {
		dir = unit(to)
	}
	from := p.P
	if e.Ribbon != 0 {
		w.g.ribbons.cut(w.g, e.Ribbon, from)
	}
	v.V = engine.Scale(dir, w.g.breeds[e.Kind].speed)
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
	if d := w.way(p, to, e); d != 0 {
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
	if gr := &g.grid; b.boss && gr.bossN < len(gr.bosses) {
		gr.bosses[gr.bossN] = id
		gr.bossN++
	}
	if g.shock > 0 && !b.boss && engine.LengthSquared(p.P.Sub(g.center)) < mul(g.shock, g.shock) {
		g.doomed.add(id, false)
	}
	from := p.P
	pace := w.pace
	if w.slow {
		pace /= 2
	}
	p.P = engine.MulAdd(p.P, v.V, pace)
	w.crowded(&g.grid, k, from, p, e)
	w.r.Slide(&p.P, &v.V, from, min(b.radius, widest), 0.5)
	d, reach := w.player.Sub(p.P), b.radius+playerRadius
	if engine.LengthSquared(d) < mul(reach, reach) && g.Player.Alive {
		g.hurt(b.damage, p.P)
	}
	if e.Ribbon != 0 && (b.keen || (w.ticks+uint64(e.Phase))%4 == 1) {
		g.ribbons.push(g, e.Ribbon, p.P)
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
