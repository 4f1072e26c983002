package main

import (
	"fmt"

	"github.com/strata-go/strata/ecs"
)

// verify compares the whole world with the model: by walking it, and by asking for each entity.
func (g *giant) verify() error {
	g.counts.Verified++
	if err := g.w.Check(); err != nil {
		return err
	}
	if err := g.mem.Check(); err != nil {
		return err
	}
	if n := g.w.Len(); n != len(g.recs) || g.all.Len() != n {
		return fmt.Errorf("%d entities, %d that match, not %d", n, g.all.Len(), len(g.recs))
	}
	if err := g.walk(); err != nil {
		return err
	}
	var want tally
	for i := range g.recs {
		r := &g.recs[i]
		if err := g.ask(r); err != nil {
			return err
		}
		want.entities++
		if r.has&hasArm != 0 {
			want.armoured++
			want.points += r.arm
		}
		if r.has&hasFrozen != 0 {
			want.frozen++
		}
		if r.has&hasName != 0 {
			want.named++
		}
		if r.parent >= 0 {
			want.children++
		}
	}
	if g.told != want {
		return fmt.Errorf("observers counted %+v, not %+v", g.told, want)
	}
	return g.siblings()
}

// walk meets every entity by All and by Chunks, in one order.
func (g *giant) walk() error {
	met := make([]bool, len(g.recs))
	var order []ecs.Entity
	for e, row := range g.all.All() {
		i := int(row.A.at)
		if i < 0 || i >= len(g.recs) || met[i] || g.recs[i].e != e || *row.B != g.recs[i].pos {
			return fmt.Errorf("a walk meets %v, which is record %d at %v", e, i, *row.B)
		}
		met[i] = true
		order = append(order, e)
	}
	n := 0
	for es := range g.all.Chunks() {
		vs := g.vel.Column(es)
		for k, e := range es {
			if n >= len(order) || order[n] != e {
				return fmt.Errorf("a walk by chunks meets %v as number %d", e, n)
			}
			n++
			if vs == nil {
				continue
			}
			if s, ok := g.self.Get(e); !ok || g.recs[s.at].vel != vs[k] || g.recs[s.at].has&hasVel == 0 {
				return fmt.Errorf("%v has velocity %v", e, vs[k])
			}
		}
	}
	if n != len(g.recs) {
		return fmt.Errorf("a walk by chunks meets %d of %d", n, len(g.recs))
	}
	if n > 0 {
		if i := g.rng.IntN(n); g.all.EntityAt(i) != order[i] {
			return fmt.Errorf("entity %d is %v, not %v", i, g.all.EntityAt(i), order[i])
		}
	}
	return nil
}

// ask compares one entity.
func (g *giant) ask(r *record) error {
	v, hasV := g.vel.Get(r.e)
	a, hasA := g.arm.Get(r.e)
	s, hasN := g.name.Get(r.e)
	has := func(bit uint8) bool { return r.has&bit != 0 }
	if hasV != has(hasVel) || hasA != has(hasArm) || hasN != has(hasName) || g.frozen.Has(r.e) != has(hasFrozen) ||
		hasV && *v != r.vel || hasA && a.points != r.arm || hasN && s.text != r.text {
		return fmt.Errorf("%v has velocity %v, armour %v, a name %v, frozen %v; the model says %+v", r.e, hasV, hasA, hasN, g.frozen.Has(r.e), *r)
	}
	c, related := g.child.Get(r.e)
	target, ok := g.child.Target(r.e)
	if related != (r.parent >= 0) || related && *c != r.child {
		return fmt.Errorf("%v has a parent: %v, %v; the model says %+v", r.e, related, c, *r)
	}
	if alive := related && g.w.Alive(g.parents[r.parent]); ok != alive || ok && target != g.parents[r.parent] {
		return fmt.Errorf("%v is a child of %v, %v, not of %v", r.e, target, ok, g.parents[r.parent])
	}
	return nil
}

// siblings compares the children of some parents.
func (g *giant) siblings() error {
	if len(g.parents) == 0 {
		return nil
	}
	of := make(map[ecs.Entity]int)
	for i := range g.recs {
		if p := g.recs[i].parent; p >= 0 {
			of[g.parents[p]]++
		}
	}
	for range 50 {
		p := g.parents[g.rng.IntN(len(g.parents))]
		want := of[p]
		if !g.w.Alive(p) {
			want = 0 // a filter to a stale target matches nothing
		}
		n := 0
		for e, row := range g.kin.To(g.child.ID(), p).All() {
			if i := int(row.A.at); g.recs[i].e != e || g.parents[g.recs[i].parent] != p {
				return fmt.Errorf("%v is no child of %v", e, p)
			}
			n++
		}
		if n != want || g.kin.Len() != want {
			return fmt.Errorf("%v has %d children, of which %d are met and %d counted", p, want, n, g.kin.Len())
		}
	}
	g.kin.ToAny()
	return nil
}
