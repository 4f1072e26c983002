package main

import (
	ark "github.com/mlange-42/ark/ecs"
	"github.com/strata-go/strata/ecs"
	"github.com/yohamta/donburi"
)

// repeated is a side that does there and then back, so many times.
func repeated(there, back func(), result func() tally) side {
	return side{run: func(times int) {
		for range times {
			there()
			back()
		}
	}, result: result}
}

func strataMoves(s *stand, n int) side {
	w := strataOf(s, n, 1)
	es := strataEntities(w)
	c := must(ecs.Register[velocity](w))
	return repeated(func() {
		for _, e := range es {
			c.Add(e, newVelocity)
		}
	}, func() {
		for _, e := range es {
			c.Remove(e)
		}
	}, strataTally(w))
}

func arkMoves(n int) side {
	w := arkOf(n, 1)
	es := arkEntities(w)
	m := ark.NewMap1[velocity](w)
	return repeated(func() {
		for _, e := range es {
			m.Add(e, &newVelocity)
		}
	}, func() {
		for _, e := range es {
			m.Remove(e)
		}
	}, arkTally(w))
}

func bowlMoves(n int) side {
	w := bowlOf(n, 1)
	es := bowlEntities(w)
	return repeated(func() {
		for _, e := range es {
			donburi.Add(w.Entry(e), velocities, &newVelocity)
		}
	}, func() {
		for _, e := range es {
			donburi.Remove[velocity](w.Entry(e), velocities)
		}
	}, bowlTally(w))
}

func strataMovesAll(s *stand, n int) side {
	w := strataOf(s, n, 1)
	m := ecs.NewMap1[velocity](w)
	all := ecs.NewFilter1[position](w)
	return repeated(func() { must(m.AddAll(all, newVelocity)) }, func() { must(m.RemoveAll(all)) }, strataTally(w))
}

func arkMovesAll(n int) side {
	w := arkOf(n, 1)
	m := ark.NewMap1[velocity](w)
	with := ark.NewFilter2[position, velocity](w).Register()
	without := ark.NewFilter1[position](w).Without(ark.C[velocity]()).Register()
	return repeated(func() { m.AddBatch(without.Batch(), &newVelocity) }, func() { m.RemoveBatch(with.Batch(), nil) }, arkTally(w))
}

// exchanged is what the velocity of an entity is exchanged for, and back.
var exchanged = drag{5, 6}

func strataExchanges(s *stand, n int) side {
	w := strataOf(s, n, 2)
	es := strataEntities(w)
	there := ecs.NewMap1[drag](w).Removes(must(ecs.Register[velocity](w)).ID())
	back := ecs.NewMap1[velocity](w).Removes(must(ecs.Register[drag](w)).ID())
	return repeated(func() {
		for _, e := range es {
			there.Exchange(e, exchanged)
		}
	}, func() {
		for _, e := range es {
			back.Exchange(e, newVelocity)
		}
	}, strataTally(w))
}

func arkExchanges(n int) side {
	w := arkOf(n, 2)
	es := arkEntities(w)
	there := ark.NewExchange1[drag](w).Removes(ark.C[velocity]())
	back := ark.NewExchange1[velocity](w).Removes(ark.C[drag]())
	return repeated(func() {
		for _, e := range es {
			there.Exchange(e, &exchanged)
		}
	}, func() {
		for _, e := range es {
			back.Exchange(e, &newVelocity)
		}
	}, arkTally(w))
}
