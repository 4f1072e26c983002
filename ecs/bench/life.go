package main

import (
	ark "github.com/mlange-42/ark/ecs"
	"github.com/strata-go/strata/ecs"
	"github.com/yohamta/donburi"
	"github.com/yohamta/donburi/filter"
)

// crowd is how many entities come and go.
const crowd = 16 << 10

// What every entity is created with.
var (
	newPosition = position{1, 2}
	newVelocity = velocity{3, 4}
)

// A filling is how entities are created.
type filling int

const (
	one   filling = iota // one by one
	value                // as a batch with the same value
	each                 // as a batch with a function that is called for each
)

// A life is a world whose entities come and go.
type life struct {
	create  map[filling]func()
	remove  func() // one by one, in the order in which shuffle has put them
	clear   func() // all at once
	shuffle func()
	result  func() tally
}

// creation times the creating alone.
func (l life) creation(how filling) side {
	create := l.create[how]
	l.create[one]()
	return side{between: l.clear, run: func(int) { create() }, result: l.result}
}

// removal times the removing alone. What it leaves are as many entities as were there.
func (l life) removal(mixed bool) side {
	return side{
		between: func() {
			l.create[one]()
			if mixed {
				l.shuffle()
			}
		},
		run:    func(int) { l.remove() },
		result: l.result,
	}
}

func (l life) emptying() side {
	return side{between: l.create[one], run: func(int) { l.clear() }, result: l.result}
}

func strataLife(s *stand, n int) life {
	w := newStrata(s)
	m := ecs.NewMap2[position, velocity](w)
	f := ecs.NewFilter2[position, velocity](w)
	es := make([]ecs.Entity, n)
	return life{
		create: map[filling]func(){
			one: func() {
				for i := range es {
					es[i], _ = m.NewEntity(newPosition, newVelocity)
				}
			},
			value: func() {
				check(m.NewColumns(n, func(_ []ecs.Entity, ps []position, vs []velocity) {
					for i := range ps {
						ps[i], vs[i] = newPosition, newVelocity
					}
				}))
			},
			each: func() {
				check(m.NewBatch(n, func(_ int, p *position, v *velocity) { *p, *v = newPosition, newVelocity }))
			},
		},
		remove: func() {
			for _, e := range es {
				w.Remove(e)
			}
		},
		clear:   func() { w.RemoveAll(f) },
		shuffle: func() { shuffled(es) },
		result:  strataTally(w),
	}
}

func arkLife(n int) life {
	w := ark.NewWorld()
	m := ark.NewMap2[position, velocity](w)
	f := ark.NewFilter2[position, velocity](w).Register()
	es := make([]ark.Entity, n)
	return life{
		create: map[filling]func(){
			one: func() {
				for i := range es {
					es[i] = m.NewEntity(&newPosition, &newVelocity)
				}
			},
			value: func() { m.NewBatch(n, &newPosition, &newVelocity) },
			each: func() {
				m.NewBatchFn(n, func(_ ark.Entity, p *position, v *velocity) { *p, *v = newPosition, newVelocity })
			},
		},
		remove: func() {
			for _, e := range es {
				w.RemoveEntity(e)
			}
		},
		clear:   func() { w.RemoveEntities(f.Batch(), nil) },
		shuffle: func() { shuffled(es) },
		result:  arkTally(w),
	}
}

// bowlLife has no removal of all that match: clear is a loop, which no row times.
func bowlLife(n int) life {
	w := donburi.NewWorld()
	q := donburi.NewQuery(filter.Contains(positions))
	es := make([]donburi.Entity, n)
	set := func(e donburi.Entity) {
		entry := w.Entry(e)
		positions.SetValue(entry, newPosition)
		velocities.SetValue(entry, newVelocity)
	}
	batch := func() {
		for _, e := range w.CreateMany(n, positions, velocities) {
			set(e)
		}
	}
	var all []donburi.Entity
	return life{
		create: map[filling]func(){
			one: func() {
				for i := range es {
					es[i] = w.Create(positions, velocities)
					set(es[i])
				}
			},
			value: batch,
			each:  batch,
		},
		remove: func() {
			for _, e := range es {
				w.Remove(e)
			}
		},
		clear: func() {
			all = all[:0]
			for entry := range q.Iter(w) {
				all = append(all, entry.Entity())
			}
			for _, e := range all {
				w.Remove(e)
			}
		},
		shuffle: func() { shuffled(es) },
		result:  bowlTally(w),
	}
}

// sliceCreation appends to slices that have the capacity.
func sliceCreation(n int) side {
	ps, vs := filled(n, positionOf), filled(n, velocityOf)
	return side{
		between: func() { ps, vs = ps[:0], vs[:0] },
		run: func(int) {
			for range n {
				ps, vs = append(ps, newPosition), append(vs, newVelocity)
			}
		},
		result: func() tally { return tallyOf(ps, vs) },
	}
}
