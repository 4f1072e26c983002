package main

import (
	"fmt"

	"github.com/strata-go/strata/ecs"
)

// A deed is one kind of change. Each does some thousand changes and leaves world and model equal, also
// where memory was refused on the way.
type deed struct {
	name string
	do   func(g *giant) error
}

var deeds = []deed{
	{"create", (*giant).create}, {"create", (*giant).create}, {"batch", (*giant).createBatch}, {"destroy", (*giant).destroy},
	{"change", (*giant).change}, {"change", (*giant).change}, {"relate", (*giant).relate}, {"commands", (*giant).command},
	{"parallel", (*giant).parallel}, {"parallel", (*giant).parallel}, {"cull", (*giant).cull}, {"all", (*giant).changeAll}, {"tree", (*giant).tree},
}

// step is a tick: all deeds in a random order, in a budget that is short in some ticks.
func (g *giant) step() error {
	g.tick++
	g.counts.Ticks++
	g.budget.SetBudget(0)
	if g.scarce.one = 0; g.tick%3 == 0 { // no page for the index, and few chunks
		g.budget.SetBudget(1)
		g.scarce.one = 1 + g.rng.IntN(4)
	}
	for _, i := range g.rng.Perm(len(deeds)) {
		if err := deeds[i].do(g); err != nil {
			return fmt.Errorf("tick %d, %s: %w", g.tick, deeds[i].name, err)
		}
	}
	return nil
}

// some returns how many changes a deed makes.
func (g *giant) some() int { return 1 + g.rng.IntN(max(g.want/200, 8)) }

// pick returns a record, or nil in an empty world.
func (g *giant) pick() *record {
	if len(g.recs) == 0 {
		return nil
	}
	return &g.recs[g.rng.IntN(len(g.recs))]
}

func (g *giant) fresh() record {
	v := int32(g.rng.IntN(1000))
	return record{pos: position{v, g.tick}, vel: velocity{v%7 - 3, v%5 - 2}, has: hasVel, parent: -1}
}

// create makes entities one by one, some with a parent.
func (g *giant) create() error {
	for range g.some() {
		if len(g.recs) >= g.want {
			return nil
		}
		r := g.fresh()
		var err error
		at := self{int32(len(g.recs))}
		if k := g.parent(); k >= 0 && g.rng.IntN(4) == 0 {
			r.parent, r.child = int32(k), childOf{g.tick}
			r.e, err = g.born.To(g.child.ID(), g.parents[k]).NewEntity(at, r.pos, r.vel, r.child)
		} else {
			r.e, err = g.plain.NewEntity(at, r.pos, r.vel)
		}
		if short, err := g.refused(err); short || err != nil {
			return err
		}
		g.add(r)
		g.counts.Created++
	}
	return nil
}

// createBatch makes many at once.
func (g *giant) createBatch() error {
	n := min(4*g.some(), g.want-len(g.recs))
	if n <= 0 {
		return nil
	}
	first, r := len(g.recs), g.fresh()
	err := g.plain.NewBatch(n, func(i int, s *self, p *position, v *velocity) {
		*s, *p, *v = self{int32(first + i)}, r.pos, r.vel
	})
	if short, err := g.refused(err); short || err != nil {
		return err
	}
	for range n {
		g.add(r)
	}
	// Which entities they are says the world alone: those whose record has none yet.
	for e, row := range g.all.All() {
		if i := int(row.A.at); i >= first {
			if i >= len(g.recs) || !g.recs[i].e.IsZero() {
				return fmt.Errorf("%v is record %d, which is taken", e, i)
			}
			g.recs[i].e = e
		}
	}
	g.counts.Created += n
	return nil
}

// parent returns the slot of an entity that lives and that others may relate to, or -1; now and then it
// finds another one.
func (g *giant) parent() int {
	n := len(g.parents)
	if n > 0 && g.rng.IntN(50) > 0 { // one of the last few hundred
		if k := n - 1 - g.rng.IntN(min(n, 300)); g.w.Alive(g.parents[k]) {
			return k
		}
	}
	if r := g.pick(); r != nil && (n < 300 || g.rng.IntN(10) == 0) {
		g.parents = append(g.parents, r.e)
		return n
	}
	return -1
}

// destroy removes entities one by one; every sixty ticks a third of all.
func (g *giant) destroy() error {
	n := g.some()
	if g.tick%60 == 0 {
		n = len(g.recs) / 3
	}
	for range n {
		r := g.pick()
		if r == nil {
			return nil
		}
		e := r.e
		s, ok := g.self.Get(e)
		if !ok {
			return fmt.Errorf("%v has lost its self", e)
		}
		i := int(s.at)
		if !g.w.Remove(e) || g.w.Remove(e) || g.w.Alive(e) {
			return fmt.Errorf("%v was not removed once", e)
		}
		g.gone(i)
	}
	return nil
}

func (g *giant) gone(i int) {
	g.drop(i)
	g.counts.Destroyed++
}

// change gives and takes components of single entities.
func (g *giant) change() error {
	for range g.some() {
		r := g.pick()
		if r == nil {
			return nil
		}
		var err error
		was := r.has
		switch g.rng.IntN(7) {
		case 0:
			r.arm = int64(g.tick)
			r.has |= hasArm
			if err = g.arm.Add(r.e, armour{r.arm}); err != nil && was&hasArm != 0 {
				return fmt.Errorf("a write was refused: %w", err)
			}
		case 1:
			r.has &^= hasArm
			_, err = g.armed.Remove(r.e)
		case 2: // frozen, and not moving
			r.has = r.has&^hasVel | hasFrozen
			err = g.swap.Exchange(r.e, frozen{})
		case 3:
			if r.has |= hasVel; r.has != was {
				r.vel = velocity{1, g.tick % 3}
				err = g.vel.Add(r.e, r.vel)
			}
		case 4:
			r.has &^= hasFrozen
			_, err = g.frozen.Remove(r.e)
		case 5:
			if g.rng.IntN(20) == 0 {
				text := fmt.Sprint("entity ", g.tick)
				if err = g.name.Add(r.e, name{text}); err == nil {
					r.text = text
				}
				r.has |= hasName
			}
		case 6:
			r.has &^= hasName
			_, err = g.name.Remove(r.e)
		}
		short, err := g.refused(err)
		if err != nil {
			return err
		}
		if short {
			r.has = was
			continue
		}
		g.counts.Changed++
	}
	return nil
}

// relate changes targets.
func (g *giant) relate() error {
	for range g.some() {
		r, k := g.pick(), g.parent()
		if r == nil || k < 0 {
			continue
		}
		v := childOf{g.tick}
		var err error
		switch g.rng.IntN(4) {
		case 0, 1:
			if err = g.child.Add(r.e, v, g.parents[k]); err == nil {
				r.parent, r.child = int32(k), v
			}
		case 2:
			var ok bool
			if ok, err = g.child.SetTarget(r.e, g.parents[k]); err == nil {
				if ok != (r.parent >= 0) {
					return fmt.Errorf("SetTarget of %v: %v", r.e, ok)
				}
				if ok {
					r.parent = int32(k)
				}
			}
		case 3:
			if _, err = g.child.Remove(r.e); err == nil {
				r.parent = -1
			}
		}
		if short, err := g.refused(err); err != nil {
			return err
		} else if !short {
			g.counts.Related++
		}
	}
	return nil
}

// command says changes and has them applied.
func (g *giant) command() error {
	cmd := g.w.Commands()
	met := map[ecs.Entity]bool{}
	for range min(g.some(), 2000) {
		r := g.pick()
		if r == nil || met[r.e] {
			continue
		}
		met[r.e] = true
		cmd.Destroy(r.e)
	}
	if err := cmd.Apply(); err != nil {
		return fmt.Errorf("applying: %w", err)
	}
	for e := range met {
		if g.w.Alive(e) {
			return fmt.Errorf("%v lives", e)
		}
	}
	return g.sweep(len(met))
}

// sweep takes n records of dead entities out of the model.
func (g *giant) sweep(n int) error {
	for i := len(g.recs) - 1; i >= 0 && n > 0; i-- {
		if !g.w.Alive(g.recs[i].e) {
			last := len(g.recs) - 1
			g.recs[i] = g.recs[last]
			if g.recs = g.recs[:last]; i < last {
				g.moved(i)
			}
			g.counts.Destroyed++
			n--
		}
	}
	if n != 0 {
		return fmt.Errorf("%d entities are missing that should be dead", n)
	}
	return nil
}
