package main

import (
	"fmt"

	ark "github.com/mlange-42/ark/ecs"
	"github.com/strata-go/strata/ecs"
)

// targetRows are of relations in a world that is warm: targets that come and go, change and are asked for.
func targetRows(limit int) (all []row) {
	for _, c := range []struct {
		targets, kids int
		how           string
	}{{1000, 1, ""}, {1000, 10, ""}, {20_000, 1, ""}, {20_000, 1, " after Reset"}, {20_000, 3, " after Reset"}} {
		targets := min(c.targets, limit)
		recreated := func(f nursery) side {
			if c.how != "" {
				f.remove = f.reset
			}
			return f.recreated()
		}
		all = append(all, row{name: fmt.Sprintf("recreate %d targets of %d%s", c.targets, c.kids, c.how), unit: "ns", n: targets * (1 + c.kids), sides: []contestant{
			{ours, func(s *stand) side { return recreated(strataFamily(s, targets, c.kids)) }},
			{arks, func(*stand) side { return recreated(arkFamily(targets, c.kids)) }},
		}})
	}
	targets := min(1000, limit)
	entities := min(crowd, limit)
	return append(all,
		row{name: "change the target and back", unit: "ns", n: entities, sides: []contestant{
			{ours, func(s *stand) side { return strataTurns(s, entities) }},
			{arks, func(*stand) side { return arkTurns(entities) }},
		}},
		row{name: "walk the children of each of 1000", unit: "ns", n: 10 * targets, sides: []contestant{
			{ours, func(s *stand) side { return strataVisits(s, targets, 10) }},
			{arks, func(*stand) side { return arkVisits(targets, 10) }},
		}},
	)
}

// A nursery is a world in which targets have children, which are related to them.
type nursery struct {
	create func() // all targets, and the children of each
	remove func() // all children, then all targets, one by one
	reset  func() // the world
	turn   func(by int)
	visit  func()
	result func() tally
}

func (f nursery) recreated() side {
	f.create()
	return side{run: func(times int) {
		for range times {
			f.remove()
			f.create()
		}
	}, result: f.result}
}

func strataFamily(s *stand, targets, kids int) nursery {
	w, _ := bigWorld(s)
	rel := must(ecs.RegisterRelation[childOf](w))
	pos := must(ecs.Register[position](w))
	roots := ecs.NewMap1[velocity](w)
	m := ecs.NewMap2[position, childOf](w)
	f := ecs.NewFilter1[position](w).With(rel.ID())
	parents, children := make([]ecs.Entity, targets), make([]ecs.Entity, targets*kids)
	return nursery{
		create: func() {
			for i := range parents {
				parents[i] = must(roots.NewEntity(velocityOf(i)))
				m.To(rel.ID(), parents[i])
				for k := range kids {
					children[i*kids+k] = must(m.NewEntity(positionOf(i), childOf{}))
				}
			}
		},
		remove: func() {
			for _, e := range children {
				w.Remove(e)
			}
			for _, e := range parents {
				w.Remove(e)
			}
		},
		reset: w.Reset,
		turn: func(by int) {
			for i, e := range children {
				must(rel.SetTarget(e, parents[(i+by)%targets]))
			}
		},
		visit: func() {
			for _, p := range parents {
				for _, q := range f.To(rel.ID(), p).All() {
					move1(q)
				}
			}
		},
		result: func() (t tally) {
			vel := must(ecs.Register[velocity](w))
			for _, e := range children {
				p, _ := pos.Get(e)
				target, _ := rel.Target(e)
				v, _ := vel.Get(target)
				t.add(p.X, p.Y, v.X, v.Y)
			}
			return t
		},
	}
}

func arkFamily(targets, kids int) nursery {
	w := ark.NewWorld()
	roots := ark.NewMap1[velocity](w)
	m := ark.NewMap2[position, arkChildOf](w)
	rel, pos, vel := ark.NewMap[arkChildOf](w), ark.NewMap[position](w), ark.NewMap[velocity](w)
	f := ark.NewFilter2[position, arkChildOf](w)
	parents, children := make([]ark.Entity, targets), make([]ark.Entity, targets*kids)
	return nursery{
		create: func() {
			for i := range parents {
				v := velocityOf(i)
				parents[i] = roots.NewEntity(&v)
				to := ark.RelIdx(1, parents[i])
				for k := range kids {
					p := positionOf(i)
					children[i*kids+k] = m.NewEntity(&p, &arkChildOf{}, to)
				}
			}
		},
		remove: func() {
			for _, e := range children {
				w.RemoveEntity(e)
			}
			for _, e := range parents {
				w.RemoveEntity(e)
			}
		},
		reset: w.Reset,
		turn: func(by int) {
			for i, e := range children {
				rel.SetRelation(e, parents[(i+by)%targets])
			}
		},
		visit: func() {
			for _, p := range parents {
				q := f.Query(ark.RelIdx(1, p))
				for q.Next() {
					p, _ := q.Get()
					move1(p)
				}
			}
		},
		result: func() (t tally) {
			for _, e := range children {
				p, v := pos.Get(e), vel.Get(rel.GetRelation(e))
				t.add(p.X, p.Y, v.X, v.Y)
			}
			return t
		},
	}
}

// turns changes the target of each of n children among 100, and back.
func (f nursery) turns() side {
	f.create()
	return repeated(func() { f.turn(1) }, func() { f.turn(0) }, f.result)
}

func strataTurns(s *stand, n int) side { return strataFamily(s, 100, n/100+1).turns() }

func arkTurns(n int) side { return arkFamily(100, n/100+1).turns() }

// visits walks the children of each target by itself.
func (f nursery) visits() side {
	f.create()
	return side{run: func(times int) {
		for range times {
			f.visit()
		}
	}, result: f.result}
}

func strataVisits(s *stand, targets, kids int) side { return strataFamily(s, targets, kids).visits() }

func arkVisits(targets, kids int) side { return arkFamily(targets, kids).visits() }
