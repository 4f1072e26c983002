package main

import (
	ark "github.com/mlange-42/ark/ecs"
	"github.com/strata-go/strata/ecs"
)

// light is a walk whose body does next to nothing: two additions to one component. What a library takes for
// itself is the greatest part of such a walk that it can be of any.
func light(n int, how form) row {
	name, goals := "walk 1000 by All, two additions", []goal(nil)
	if how == byColumn {
		name, goals = "walk 1000 by columns, two additions", []goal{columnGoal}
	}
	return row{name: name, unit: "ns", n: n, goals: goals, sides: []contestant{
		{ours, func(s *stand) side {
			w := strataOf(s, n, 1)
			f := ecs.NewFilter1[position](w)
			if how == byColumn {
				return side{run: func(times int) { strataAddChunks(f, times) }, result: strataTally(w)}
			}
			return side{run: func(times int) { strataAdd(f, times) }, result: strataTally(w)}
		}},
		{bare, func(*stand) side {
			ps := filled(n, positionOf)
			return side{run: func(times int) {
				for range times {
					addColumn(ps)
				}
			}, result: func() tally { return tallyOf(ps, make([]velocity, n)) }}
		}},
		{arks, func(*stand) side {
			w := arkOf(n, 1)
			f := ark.NewFilter1[position](w).Register()
			if how == byColumn {
				return side{run: func(times int) { arkAddTables(f, times) }, result: arkTally(w)}
			}
			return side{run: func(times int) { arkAdd(f, times) }, result: arkTally(w)}
		}},
	}}
}

func add(p *position) {
	p.X += .5
	p.Y += .25
}

//go:noinline
func addColumn(ps []position) {
	for i := range ps {
		add(&ps[i])
	}
}

//go:noinline
func strataAdd(f *ecs.Filter1[position], times int) {
	for range times {
		for _, p := range f.All() {
			add(p)
		}
	}
}

//go:noinline
func strataAddChunks(f *ecs.Filter1[position], times int) {
	for range times {
		for _, ps := range f.Chunks() {
			addColumn(ps)
		}
	}
}

//go:noinline
func arkAdd(f *ark.Filter1[position], times int) {
	for range times {
		q := f.Query()
		for q.Next() {
			add(q.Get())
		}
	}
}

//go:noinline
func arkAddTables(f *ark.Filter1[position], times int) {
	for range times {
		q := f.Query()
		for q.NextTable() {
			addColumn(q.GetColumns())
		}
	}
}
