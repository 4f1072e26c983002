package main

import (
	ark "github.com/mlange-42/ark/ecs"
	"github.com/strata-go/strata/ecs"
	"github.com/yohamta/donburi"
)

// The marks that entities have or have not, in 64 ways.
type (
	mark1 struct{}
	mark2 struct{}
	mark3 struct{}
	mark4 struct{}
	mark5 struct{}
	mark6 struct{}
)

var bowlMarks = []donburi.IComponentType{
	donburi.NewTag("1"), donburi.NewTag("2"), donburi.NewTag("3"), donburi.NewTag("4"), donburi.NewTag("5"), donburi.NewTag("6"),
}

// archetypes walks 64 archetypes of 100 entities each. Entity i has mark k where bit k of i is set.
func archetypes(how form) row {
	const n = 64 * 100
	r := row{
		name: "walk 64 archetypes of 100 " + [...]string{byEntity: "by All", byColumn: "by columns"}[how], unit: "ns", n: n,
		sides: []contestant{
			{ours, func(s *stand) side {
				w := strataOf(s, n, 2)
				add := []func(ecs.Entity){strataMark[mark1](w), strataMark[mark2](w), strataMark[mark3](w), strataMark[mark4](w), strataMark[mark5](w), strataMark[mark6](w)}
				mark(strataEntities(w), add)
				return strataWalk(w, 2, how)
			}},
			{bare, func(*stand) side { return sliceArchetypes(n) }},
			{arks, func(*stand) side {
				w := arkOf(n, 2)
				add := []func(ark.Entity){arkMark[mark1](w), arkMark[mark2](w), arkMark[mark3](w), arkMark[mark4](w), arkMark[mark5](w), arkMark[mark6](w)}
				mark(arkEntities(w), add)
				return arkWalk(w, 2, how)
			}},
		},
	}
	if how == byEntity {
		r.sides = append(r.sides, contestant{bowl, func(*stand) side {
			w := bowlOf(n, 2)
			var add []func(donburi.Entity)
			for _, m := range bowlMarks {
				add = append(add, func(e donburi.Entity) { w.Entry(e).AddComponent(m) })
			}
			mark(bowlEntities(w), add)
			return bowlWalk(w, 2)
		}})
	}
	return r
}

func mark[E any](es []E, add []func(E)) {
	for i, e := range es {
		for bit := range add {
			if i>>bit&1 != 0 {
				add[bit](e)
			}
		}
	}
}

func strataMark[T any](w *ecs.World) func(ecs.Entity) {
	c := must(ecs.Register[T](w))
	return func(e ecs.Entity) { check(c.Add(e, *new(T))) }
}

func arkMark[T any](w *ark.World) func(ark.Entity) {
	m := ark.NewMap1[T](w)
	return func(e ark.Entity) { m.Add(e, new(T)) }
}

// sliceArchetypes walks 64 pairs of slices, in which lie the entities of n that have the same marks.
func sliceArchetypes(n int) side {
	const kinds = 64
	var ps [kinds][]position
	var vs [kinds][]velocity
	for i := range n {
		ps[i%kinds] = append(ps[i%kinds], positionOf(i))
		vs[i%kinds] = append(vs[i%kinds], velocityOf(i))
	}
	return side{
		run: func(times int) {
			for range times {
				for k := range ps {
					columns2(ps[k], vs[k])
				}
			}
		},
		result: func() (t tally) {
			for k := range ps {
				more := tallyOf(ps[k], vs[k])
				t.n, t.sum = t.n+more.n, t.sum+more.sum
			}
			return t
		},
	}
}
