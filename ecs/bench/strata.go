package main

import (
	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/tlsf"
)

// newHeap is the allocator of a game that has no manager: a TLSF heap over the system's pages as
// they come, without huge pages.
func newHeap(s *stand) *tlsf.Heap {
	h := must(tlsf.New(page.OS(), tlsf.Config{Reserve: 256 << 20, Granule: 1 << 10}))
	s.end(h.Close)
	return h
}

func newStrata(s *stand) *ecs.World {
	w := must(ecs.New(newHeap(s), ecs.Config{}))
	s.end(w.Close)
	return w
}

// strataOf makes a world of n entities with so many components, from 1 to 4.
func strataOf(s *stand, n, components int) *ecs.World {
	w := newStrata(s)
	fill2 := func(i int, p *position, v *velocity) { *p, *v = positionOf(i), velocityOf(i) }
	switch components {
	case 1:
		check(ecs.NewMap1[position](w).NewBatch(n, func(i int, p *position) { *p = positionOf(i) }))
	case 2:
		check(ecs.NewMap2[position, velocity](w).NewBatch(n, fill2))
	case 3:
		check(ecs.NewMap3[position, velocity, drag](w).NewBatch(n, func(i int, p *position, v *velocity, d *drag) {
			fill2(i, p, v)
			*d = dragOf(i)
		}))
	case 4:
		check(ecs.NewMap4[position, velocity, drag, force](w).NewBatch(n, func(i int, p *position, v *velocity, d *drag, f *force) {
			fill2(i, p, v)
			*d, *f = dragOf(i), forceOf(i)
		}))
	}
	return w
}

// strataSingly makes a world of n entities with two components one by one, which takes smaller chunks
// than a batch.
func strataSingly(s *stand, n int) *ecs.World {
	w := newStrata(s)
	m := ecs.NewMap2[position, velocity](w)
	for i := range n {
		must(m.NewEntity(positionOf(i), velocityOf(i)))
	}
	return w
}

func strataEntities(w *ecs.World) (es []ecs.Entity) {
	for e := range ecs.NewFilter1[position](w).All() {
		es = append(es, e)
	}
	return es
}

func strataTally(w *ecs.World) func() tally {
	vs := must(ecs.Register[velocity](w))
	f := ecs.NewFilter1[position](w)
	return func() (t tally) {
		for e, p := range f.All() {
			v, ok := vs.Get(e)
			if !ok {
				v = &velocity{}
			}
			t.add(p.X, p.Y, v.X, v.Y)
		}
		return t
	}
}
