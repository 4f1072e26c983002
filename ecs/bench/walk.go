package main

import (
	ark "github.com/mlange-42/ark/ecs"
	"github.com/strata-go/strata/ecs"
	"github.com/yohamta/donburi"
	"github.com/yohamta/donburi/filter"
)

// The loops of each library, so many times: by entity and by column. They are functions of their
// own, as systems are.

//go:noinline
func strataAll1(f *ecs.Filter1[position], times int) {
	for range times {
		for _, p := range f.All() {
			move1(p)
		}
	}
}

//go:noinline
func strataAll2(f *ecs.Filter2[position, velocity], times int) {
	for range times {
		for _, r := range f.All() {
			move2(r.A, r.B)
		}
	}
}

//go:noinline
func strataAll3(f *ecs.Filter3[position, velocity, drag], times int) {
	for range times {
		for _, r := range f.All() {
			move3(r.A, r.B, r.C)
		}
	}
}

//go:noinline
func strataAll4(f *ecs.Filter4[position, velocity, drag, force], times int) {
	for range times {
		for _, r := range f.All() {
			move4(r.A, r.B, r.C, r.D)
		}
	}
}

//go:noinline
func strataQuery2(f *ecs.Filter2[position, velocity], times int) {
	for range times {
		q := f.Query()
		for q.Next() {
			move2(q.Get())
		}
	}
}

//go:noinline
func strataChunks1(f *ecs.Filter1[position], times int) {
	for range times {
		for _, ps := range f.Chunks() {
			columns1(ps)
		}
	}
}

//go:noinline
func strataChunks2(f *ecs.Filter2[position, velocity], times int) {
	for range times {
		for _, c := range f.Chunks() {
			columns2(c.A, c.B)
		}
	}
}

//go:noinline
func strataChunks3(f *ecs.Filter3[position, velocity, drag], times int) {
	for range times {
		for _, c := range f.Chunks() {
			columns3(c.A, c.B, c.C)
		}
	}
}

//go:noinline
func strataChunks4(f *ecs.Filter4[position, velocity, drag, force], times int) {
	for range times {
		for _, c := range f.Chunks() {
			columns4(c.A, c.B, c.C, c.D)
		}
	}
}

//go:noinline
func arkQuery1(f *ark.Filter1[position], times int) {
	for range times {
		q := f.Query()
		for q.Next() {
			move1(q.Get())
		}
	}
}

//go:noinline
func arkQuery2(f *ark.Filter2[position, velocity], times int) {
	for range times {
		q := f.Query()
		for q.Next() {
			move2(q.Get())
		}
	}
}

//go:noinline
func arkQuery3(f *ark.Filter3[position, velocity, drag], times int) {
	for range times {
		q := f.Query()
		for q.Next() {
			move3(q.Get())
		}
	}
}

//go:noinline
func arkQuery4(f *ark.Filter4[position, velocity, drag, force], times int) {
	for range times {
		q := f.Query()
		for q.Next() {
			move4(q.Get())
		}
	}
}

//go:noinline
func arkTables1(f *ark.Filter1[position], times int) {
	for range times {
		q := f.Query()
		for q.NextTable() {
			columns1(q.GetColumns())
		}
	}
}

//go:noinline
func arkTables2(f *ark.Filter2[position, velocity], times int) {
	for range times {
		q := f.Query()
		for q.NextTable() {
			columns2(q.GetColumns())
		}
	}
}

//go:noinline
func arkTables3(f *ark.Filter3[position, velocity, drag], times int) {
	for range times {
		q := f.Query()
		for q.NextTable() {
			columns3(q.GetColumns())
		}
	}
}

//go:noinline
func arkTables4(f *ark.Filter4[position, velocity, drag, force], times int) {
	for range times {
		q := f.Query()
		for q.NextTable() {
			columns4(q.GetColumns())
		}
	}
}

//go:noinline
func bowl1(w donburi.World, q *donburi.Query, times int) {
	for range times {
		for entry := range q.Iter(w) {
			move1(positions.Get(entry))
		}
	}
}

//go:noinline
func bowl2(w donburi.World, q *donburi.Query, times int) {
	for range times {
		for entry := range q.Iter(w) {
			move2(positions.Get(entry), velocities.Get(entry))
		}
	}
}

//go:noinline
func bowl3(w donburi.World, q *donburi.Query, times int) {
	for range times {
		for entry := range q.Iter(w) {
			move3(positions.Get(entry), velocities.Get(entry), drags.Get(entry))
		}
	}
}

//go:noinline
func bowl4(w donburi.World, q *donburi.Query, times int) {
	for range times {
		for entry := range q.Iter(w) {
			move4(positions.Get(entry), velocities.Get(entry), drags.Get(entry), forces.Get(entry))
		}
	}
}

// A form is how a walk comes to its components.
type form int

const (
	byEntity form = iota // All; Query and Next of Ark
	byQuery              // Query and Next of both
	byColumn             // Chunks; NextTable of Ark
)

// strataWalk walks a world over so many components.
func strataWalk(w *ecs.World, components int, how form) side {
	var run func(times int)
	switch components {
	case 1:
		loop := map[form]func(*ecs.Filter1[position], int){byEntity: strataAll1, byColumn: strataChunks1}[how]
		f := ecs.NewFilter1[position](w)
		run = func(times int) { loop(f, times) }
	case 2:
		loop := []func(*ecs.Filter2[position, velocity], int){strataAll2, strataQuery2, strataChunks2}[how]
		f := ecs.NewFilter2[position, velocity](w)
		run = func(times int) { loop(f, times) }
	case 3:
		loop := map[form]func(*ecs.Filter3[position, velocity, drag], int){byEntity: strataAll3, byColumn: strataChunks3}[how]
		f := ecs.NewFilter3[position, velocity, drag](w)
		run = func(times int) { loop(f, times) }
	case 4:
		loop := map[form]func(*ecs.Filter4[position, velocity, drag, force], int){byEntity: strataAll4, byColumn: strataChunks4}[how]
		f := ecs.NewFilter4[position, velocity, drag, force](w)
		run = func(times int) { loop(f, times) }
	}
	return side{run: run, result: strataTally(w)}
}

func arkWalk(w *ark.World, components int, how form) side {
	var run func(times int)
	switch components {
	case 1:
		loop := map[form]func(*ark.Filter1[position], int){byEntity: arkQuery1, byColumn: arkTables1}[how]
		f := ark.NewFilter1[position](w).Register()
		run = func(times int) { loop(f, times) }
	case 2:
		loop := []func(*ark.Filter2[position, velocity], int){arkQuery2, arkQuery2, arkTables2}[how]
		f := ark.NewFilter2[position, velocity](w).Register()
		run = func(times int) { loop(f, times) }
	case 3:
		loop := map[form]func(*ark.Filter3[position, velocity, drag], int){byEntity: arkQuery3, byColumn: arkTables3}[how]
		f := ark.NewFilter3[position, velocity, drag](w).Register()
		run = func(times int) { loop(f, times) }
	case 4:
		loop := map[form]func(*ark.Filter4[position, velocity, drag, force], int){byEntity: arkQuery4, byColumn: arkTables4}[how]
		f := ark.NewFilter4[position, velocity, drag, force](w).Register()
		run = func(times int) { loop(f, times) }
	}
	return side{run: run, result: arkTally(w)}
}

func bowlWalk(w donburi.World, components int) side {
	loop := []func(donburi.World, *donburi.Query, int){1: bowl1, 2: bowl2, 3: bowl3, 4: bowl4}[components]
	types := []donburi.IComponentType{positions, velocities, drags, forces}[:components]
	q := donburi.NewQuery(filter.Contains(types...))
	return side{run: func(times int) { loop(w, q, times) }, result: bowlTally(w)}
}

// sliceWalk walks slices of n values each.
func sliceWalk(n, components int) side {
	ps := filled(n, positionOf)
	if components == 1 {
		return side{run: func(times int) {
			for range times {
				columns1(ps)
			}
		}, result: func() tally { return tallyOf(ps, make([]velocity, n)) }}
	}
	vs := filled(n, velocityOf)
	s := side{result: func() tally { return tallyOf(ps, vs) }}
	switch components {
	case 2:
		s.run = func(times int) {
			for range times {
				columns2(ps, vs)
			}
		}
	case 3:
		ds := filled(n, dragOf)
		s.run = func(times int) {
			for range times {
				columns3(ps, vs, ds)
			}
		}
	case 4:
		ds, fs := filled(n, dragOf), filled(n, forceOf)
		s.run = func(times int) {
			for range times {
				columns4(ps, vs, ds, fs)
			}
		}
	}
	return s
}

// A bulk is what lies beside the components that a walk reads.
type bulk [256]byte

// cold walks over entities that have something large beside what the walk reads: in columns it
// costs nothing, and in slices of structs each step is a cache line further.
func cold(n int) row {
	type actor struct {
		p position
		v velocity
		_ bulk
	}
	return row{name: "walk 100000 beside 256 cold bytes", unit: "ns", n: n, sides: []contestant{
		{ours, func(s *stand) side {
			w := newStrata(s)
			check(ecs.NewMap3[position, velocity, bulk](w).NewBatch(n, func(i int, p *position, v *velocity, _ *bulk) {
				*p, *v = positionOf(i), velocityOf(i)
			}))
			f := ecs.NewFilter2[position, velocity](w)
			return side{run: func(times int) { strataAll2(f, times) }, result: strataTally(w)}
		}},
		{bare, func(*stand) side {
			actors := filled(n, func(i int) actor { return actor{p: positionOf(i), v: velocityOf(i)} })
			return side{run: func(times int) {
				for range times {
					for i := range actors {
						move2(&actors[i].p, &actors[i].v)
					}
				}
			}, result: func() (t tally) {
				for i := range actors {
					t.add(actors[i].p.X, actors[i].p.Y, actors[i].v.X, actors[i].v.Y)
				}
				return t
			}}
		}},
	}}
}
