package main

import ark "github.com/mlange-42/ark/ecs"

// arkOf makes a world of n entities with so many components, from 1 to 4.
func arkOf(n, components int) *ark.World {
	w := ark.NewWorld()
	i := 0
	fill2 := func(p *position, v *velocity) {
		*p, *v = positionOf(i), velocityOf(i)
		i++
	}
	switch components {
	case 1:
		ark.NewMap1[position](w).NewBatchFn(n, func(_ ark.Entity, p *position) { fill2(p, &velocity{}) })
	case 2:
		ark.NewMap2[position, velocity](w).NewBatchFn(n, func(_ ark.Entity, p *position, v *velocity) { fill2(p, v) })
	case 3:
		ark.NewMap3[position, velocity, drag](w).NewBatchFn(n, func(_ ark.Entity, p *position, v *velocity, d *drag) {
			*d = dragOf(i)
			fill2(p, v)
		})
	case 4:
		ark.NewMap4[position, velocity, drag, force](w).NewBatchFn(n, func(_ ark.Entity, p *position, v *velocity, d *drag, f *force) {
			*d, *f = dragOf(i), forceOf(i)
			fill2(p, v)
		})
	}
	return w
}

func arkEntities(w *ark.World) (es []ark.Entity) {
	q := ark.NewFilter1[position](w).Query()
	for q.Next() {
		es = append(es, q.Entity())
	}
	return es
}

func arkTally(w *ark.World) func() tally {
	vs := ark.NewMap[velocity](w)
	f := ark.NewFilter1[position](w)
	return func() (t tally) {
		q := f.Query()
		for q.Next() {
			p, v := q.Get(), &velocity{}
			if e := q.Entity(); vs.Has(e) {
				v = vs.Get(e)
			}
			t.add(p.X, p.Y, v.X, v.Y)
		}
		return t
	}
}
