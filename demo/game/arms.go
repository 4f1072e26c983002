package game

import (
	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/engine"
)

// The things that gifts put into the world; all lie in lists of the slab's.
type (
	// A Mine lies where it was dropped. After Wait seconds the mine is armed, and goes off if an enemy comes near. It
	// also goes off after Left seconds.
	Mine struct {
		P    vec
		Wait float32 // seconds until it is armed
		Left float32
	}

	// A Blaze is a fire on the ground, where a mine went off. It ignites enemies.
	Blaze struct {
		P            vec
		Radius, Left float32 // in units; seconds until it ends
	}

	// A Bolt is a flash of lightning through the places of [Bolt.Points].
	Bolt struct {
		Nodes list[vec]
		Life  float32 // seconds for which it still shows, at most BoltLife
	}
)

// Points returns the places of the lightning in the order of its jumps, first the player's. If the slab tier is full,
// places are missing. The slice is valid until the next tick, the load of a state or [Game.End].
func (b *Bolt) Points() []vec { return b.Nodes.v }

type arms struct {
	mines list[Mine]
	fires list[Blaze]
	bolts [8]Bolt
}

// BoltLife is how long lightning shows, in seconds.
const BoltLife = 0.22

const (
	sparkReach = 46.0
	mineLife   = 14.0
	mineBlast  = 74.0
	boltEvery  = 1.5
	boltJump   = 120.0
	boltJumps  = 14 // at most
)

func (a *arms) reset() {
	a.mines.release()
	a.fires.release()
	for i := range a.bolts {
		a.bolts[i].Nodes.release()
		a.bolts[i].Life = 0
	}
}

func (a *arms) hash(h *engine.Hasher) {
	h.Int(len(a.mines.v))
	for _, m := range a.mines.v {
		h.Vec2(m.P)
		h.Float32(m.Wait)
		h.Float32(m.Left)
	}
	h.Int(len(a.fires.v))
	for _, f := range a.fires.v {
		h.Vec2(f.P)
		h.Float32(f.Radius)
		h.Float32(f.Left)
	}
	for i := range a.bolts {
		h.Float32(a.bolts[i].Life)
		hashVecs(h, a.bolts[i].Nodes.v)
	}
}

// tick is a tick of everything that gifts have brought.
func (a *arms) tick(g *Game) error {
	a.fade()
	if g.Player.Alive && g.Phase != Leaving {
		for _, arm := range [...]func(*arms, *Game) error{(*arms).orbit, (*arms).lighten, (*arms).beam} {
			if err := arm(a, g); err != nil {
				return err
			}
		}
		a.layMines(g)
	}
	if err := a.trip(g); err != nil {
		return err
	}
	return a.blaze(g)
}

// fade lets bolts and fires grow old.
func (a *arms) fade() {
	for i := range a.bolts {
		b := &a.bolts[i]
		if b.Life > 0 {
			if b.Life -= step; b.Life <= 0 {
				b.Nodes.release()
				b.Life = 0
			}
		}
	}
	fires := &a.fires
	for i := 0; i < len(fires.v); {
		if fires.v[i].Left -= step; fires.v[i].Left <= 0 {
			fires.drop(i)
			continue
		}
		i++
	}
}

// Sparks returns the number of sparks in orbit.
func (g *Game) Sparks() int {
	return sparks(int(g.Gifts[GiftSparks]))
}

// SparkAt returns the position of the i-th spark in orbit, from 0 to Sparks()-1.
func (g *Game) SparkAt(i int) vec {
	angle := g.spin + mul(float32(i), 6.2831855/float32(g.Sparks()))
	return engine.MulAdd(g.Player.P, engine.Heading(angle), sparkReach)
}

func (a *arms) orbit(g *Game) error {
	n := g.Sparks()
	if n == 0 {
		return nil
	}
	if g.spin += mul(step, 4.2); g.spin > 6.2831855 {
		g.spin -= 6.2831855
	}
	for i := range n {
		at := g.SparkAt(i)
		g.fx.trail(at)
		if (g.age()+uint64(i))%5 != 0 {
			continue
		}
		if err := smite(g, &stroke{a: at, b: at, reach: 17, damage: 1, burns: true}); err != nil {
			return err
		}
	}
	return nil
}

// lighten lets lightning jump from the nearest to the next.
func (a *arms) lighten(g *Game) error {
	times := int(g.Gifts[GiftLightning])
	if times == 0 {
		return nil
	}
	if g.bolt -= step; g.bolt > 0 {
		return nil
	}
	first, ok := nextJump(g, g.Player.P, 230, nil)
	if !ok {
		g.bolt = 0.1
		return nil
	}
	g.bolt = boltPause(times)
	g.fx.bolt(g.Player.P)
	bolt := a.freeBolt()
	if bolt != nil && !bolt.Nodes.push(g.Player.P) {
		g.Lost.Lists++
	}
	var been [boltJumps]ecs.Entity
	n := 0
	for h := first; ok && n < jumps(times); n++ {
		been[n] = h.enemy
		if bolt != nil && !bolt.Nodes.push(h.p) {
			g.Lost.Lists++
		}
		h.damage = 3
		if err := g.cast.strike(g, &h); err != nil {
			return err
		}
		g.cast.mark(g, h.enemy, MarkArc, vec{})
		h, ok = nextJump(g, h.p, boltJump, been[:n+1])
	}
	return nil
}

func (a *arms) freeBolt() *Bolt {
	for i := range a.bolts {
		if b := &a.bolts[i]; b.Life <= 0 {
			b.Life = BoltLife
			return b
		}
	}
	return nil
}

// nextJump finds the nearest enemy that lightning has not been to.
func nextJump(g *Game, from vec, reach float32, been []ecs.Entity) (best hit, ok bool) {
	nearest := mul(reach, reach)
next:
	for e, at := range g.horde.grid.about(from, reach) {
		d := engine.LengthSquared(at.Sub(from))
		if d >= nearest || !g.cast.world.Alive(e) {
			continue
		}
		for _, b := range been {
			if b == e {
				continue next
			}
		}
		nearest, best, ok = d, hit{enemy: e, p: at}, true
	}
	return best, ok
}

func (a *arms) layMines(g *Game) {
	times := int(g.Gifts[GiftMines])
	if g.mine = max(0, g.mine-step); times == 0 || g.mine > 0 || len(a.mines.v) >= mines(times) {
		return
	}
	g.mine = minePause(times)
	if !a.mines.push(Mine{P: g.Player.P, Wait: 0.5, Left: mineLife}) {
		g.Lost.Lists++
	}
}

// trip lets mines go off.
func (a *arms) trip(g *Game) error {
	mines := &a.mines
	for i := 0; i < len(mines.v); {
		m := &mines.v[i]
		m.Wait -= step
		m.Left -= step
		at := m.P
		_, near := g.horde.grid.touch(at, 16)
		if m.Left > 0 && (m.Wait > 0 || !near) {
			i++
			continue
		}
		mines.drop(i)
		g.fx.blast(at)
		g.scorch.burn(g, at, mineBlast/2)
		g.Shake(2)
		if err := smite(g, &stroke{a: at, b: at, reach: mineBlast, damage: 5 + int16(g.Gifts[GiftMines]), burns: true}); err != nil {
			return err
		}
		if !a.fires.push(Blaze{P: at, Radius: 40, Left: 3}) {
			g.Lost.Lists++
		}
	}
	return nil
}

// blaze lets fires on the ground catch whoever walks through.
func (a *arms) blaze(g *Game) error {
	for i := range a.fires.v {
		f := &a.fires.v[i]
		g.fx.flame(engine.MulAdd(f.P, engine.Heading(mul(float32(g.age()&1023), 1.7)), mul(f.Radius, 0.6)))
		if (g.age()+uint64(i))%12 != 0 {
			continue
		}
		for e := range g.horde.grid.about(f.P, f.Radius) {
			if err := g.cast.ignite(g, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// Mines returns the mines. They are valid until the next tick, the load of a state or [Game.End].
func (g *Game) Mines() []Mine { return g.arms.mines.v }

// Fires returns the fires on the ground. They are valid until the next tick, the load of a state or [Game.End].
func (g *Game) Fires() []Blaze { return g.arms.fires.v }

// Bolts returns the flashes of lightning. They are valid until the next tick, the load of a state or [Game.End]. A Bolt
// with a Life of 0 is not shown.
func (g *Game) Bolts() []Bolt { return g.arms.bolts[:] }
