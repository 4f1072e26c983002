package main

import (
	"fmt"

	"github.com/strata-go/strata/ecs"
)

// parallel moves all that moves, on one of the sets of workers; bodies have some destroyed, and a sum
// comes back.
func (g *giant) parallel() error {
	ws := g.workers[g.rng.IntN(len(g.workers))]
	var sums ecs.Results[int64]
	sums.Prepare(g.moving)
	doomed := int32(g.rng.IntN(4000))
	g.moving.Parallel(ws, func(t *ecs.Task, es []ecs.Entity, c ecs.Columns2[position, velocity]) {
		sum := sums.At(t)
		for i := range es {
			c.A[i].x += c.B[i].x
			c.A[i].y += c.B[i].y
			if *sum += int64(c.A[i].x); c.A[i].x == doomed {
				t.Commands().Destroy(es[i])
			}
		}
	})
	got := int64(0)
	for _, v := range sums.Values() {
		got += v
	}
	want, dead := int64(0), 0
	for i := range g.recs {
		if r := &g.recs[i]; r.has&hasVel != 0 {
			r.pos.x += r.vel.x
			r.pos.y += r.vel.y
			if want += int64(r.pos.x); r.pos.x == doomed {
				dead++
			}
		}
	}
	g.counts.Passes++
	if got != want {
		return fmt.Errorf("the sum of all is %d, not %d", got, want)
	}
	if n := g.w.Commands().Len(); n != dead {
		return fmt.Errorf("%d commands for %d doomed", n, dead)
	}
	if err := g.w.Commands().Apply(); err != nil {
		return err
	}
	return g.sweep(dead)
}

// cull removes whole archetypes: what is frozen in armour, seldom.
func (g *giant) cull() error {
	if g.rng.IntN(8) != 0 {
		return nil
	}
	want := 0
	for i := range g.recs {
		if g.recs[i].has&(hasArm|hasFrozen) == hasArm|hasFrozen {
			want++
		}
	}
	if n := g.w.RemoveAll(ecs.NewFilter1[armour](g.w).With(g.frozen.ID())); n != want {
		return fmt.Errorf("RemoveAll removed %d of %d", n, want)
	}
	return g.sweep(want)
}

// changeAll gives armour to all that is frozen, or takes it from all, archetype by archetype. Where
// memory is refused on the way, some have it and some have not: as many as it says.
func (g *giant) changeAll() error {
	if g.rng.IntN(4) != 0 {
		return nil
	}
	const points = 7
	give := g.rng.IntN(3) > 0
	var n int
	var err error
	if give {
		n, err = g.armed.AddAll(ecs.NewFilter1[frozen](g.w), armour{points})
	} else {
		n, err = g.armed.RemoveAll(ecs.NewFilter1[armour](g.w).Without(g.frozen.ID()))
	}
	short, err := g.refused(err)
	if err != nil {
		return err
	}
	changed, meant := 0, 0
	for i := range g.recs {
		r := &g.recs[i]
		if give != (r.has&hasFrozen != 0) || !give && r.has&hasArm == 0 {
			continue
		}
		meant++
		a, has := g.arm.Get(r.e)
		switch {
		case give && has && a.points == points:
			r.has, r.arm = r.has|hasArm, points
			changed++
		case !give && !has:
			r.has &^= hasArm
			changed++
		case !short:
			return fmt.Errorf("%v was left out", r.e)
		}
	}
	g.counts.Changed += n
	// An entity that had so many points before is not distinguishable from one that received them.
	if n > changed || !short && (changed != meant || n != meant) || !give && n != changed {
		return fmt.Errorf("%d changed, it says %d, of %d", changed, n, meant)
	}
	return nil
}

// tree removes an entity and all that relate to it, theirs too.
func (g *giant) tree() error {
	if g.rng.IntN(6) != 0 || len(g.parents) == 0 {
		return nil
	}
	k := g.rng.IntN(len(g.parents))
	n := g.child.RemoveTree(g.parents[k])
	if err := g.sweep(n); err != nil {
		return err
	}
	for i := range g.recs {
		if p := g.recs[i].parent; p >= 0 && g.parents[p] == g.parents[k] {
			return fmt.Errorf("%v is related to %v still, whose tree was removed", g.recs[i].e, g.parents[k])
		}
	}
	return nil
}
