package main

import (
	"github.com/yohamta/donburi"
	"github.com/yohamta/donburi/filter"
)

// Donburi's component types are those of the whole program.
var (
	positions  = donburi.NewComponentType[position]()
	velocities = donburi.NewComponentType[velocity]()
	drags      = donburi.NewComponentType[drag]()
	forces     = donburi.NewComponentType[force]()
)

// bowlOf makes a world of n entities with so many components, from 1 to 4.
func bowlOf(n, components int) donburi.World {
	w := donburi.NewWorld()
	types := []donburi.IComponentType{positions, velocities, drags, forces}[:components]
	for i, e := range w.CreateMany(n, types...) {
		entry := w.Entry(e)
		positions.SetValue(entry, positionOf(i))
		if components > 1 {
			velocities.SetValue(entry, velocityOf(i))
		}
		if components > 2 {
			drags.SetValue(entry, dragOf(i))
		}
		if components > 3 {
			forces.SetValue(entry, forceOf(i))
		}
	}
	return w
}

func bowlEntities(w donburi.World) (es []donburi.Entity) {
	for entry := range positions.Iter(w) {
		es = append(es, entry.Entity())
	}
	return es
}

func bowlTally(w donburi.World) func() tally {
	q := donburi.NewQuery(filter.Contains(positions))
	return func() (t tally) {
		for entry := range q.Iter(w) {
			p, v := positions.Get(entry), &velocity{}
			if entry.HasComponent(velocities) {
				v = velocities.Get(entry)
			}
			t.add(p.X, p.Y, v.X, v.Y)
		}
		return t
	}
}
