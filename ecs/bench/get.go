package main

import (
	"runtime"

	ark "github.com/mlange-42/ark/ecs"
	"github.com/strata-go/strata/ecs"
	"github.com/yohamta/donburi"
)

// gets is a side that looks up every entity. The order is random and the same on all sides; the tally is of the
// values found in that order.
func gets[E any](es []E, look func(es []E) float64) side {
	return side{
		run: func(times int) {
			for range times {
				runtime.KeepAlive(look(es)) // so that it is not left out
			}
		},
		result: func() (t tally) {
			for i := range es {
				t.add(float64(i), look(es[i:i+1]))
			}
			return t
		},
	}
}

func strataGets(s *stand, n int) side {
	w := strataOf(s, n, 2)
	c := must(ecs.Register[position](w))
	return gets(shuffled(strataEntities(w)), func(es []ecs.Entity) float64 { return getStrata(c, es) })
}

//go:noinline
func getStrata(c ecs.Component[position], es []ecs.Entity) (sum float64) {
	for _, e := range es {
		p, _ := c.Get(e)
		sum += p.X
	}
	return sum
}

func arkGets(n int) side {
	w := arkOf(n, 2)
	m := ark.NewMap[position](w)
	return gets(shuffled(arkEntities(w)), func(es []ark.Entity) float64 { return getArk(m, es) })
}

//go:noinline
func getArk(m *ark.Map[position], es []ark.Entity) (sum float64) {
	for _, e := range es {
		sum += m.Get(e).X
	}
	return sum
}

func bowlGets(n int) side {
	w := bowlOf(n, 2)
	return gets(shuffled(bowlEntities(w)), func(es []donburi.Entity) float64 { return getBowl(w, es) })
}

//go:noinline
func getBowl(w donburi.World, es []donburi.Entity) (sum float64) {
	for _, e := range es {
		sum += positions.Get(w.Entry(e)).X
	}
	return sum
}

// sliceGets indexes a slice, without a generation that would tell what is stale.
func sliceGets(n int) side {
	ps := filled(n, positionOf)
	return gets(shuffled(filled(n, func(i int) uint32 { return uint32(i) })), func(es []uint32) float64 { return getSlice(ps, es) })
}

//go:noinline
func getSlice(ps []position, es []uint32) (sum float64) {
	for _, e := range es {
		sum += ps[e].X
	}
	return sum
}

// A slot is what an index of entities has at least for each: where its row is, and a generation that
// tells what is stale.
type slot struct{ gen, row uint32 }

// floorGets is the least that a look-up with a generation does: 8 bytes of an index at random, and the
// row that they name, in one slice.
func floorGets(n int) side {
	ps := filled(n, positionOf)
	slots := filled(n, func(i int) slot { return slot{1, uint32(i)} })
	return gets(shuffled(filled(n, func(i int) slot { return slot{1, uint32(i)} })), func(es []slot) float64 { return getFloor(ps, slots, es) })
}

//go:noinline
func getFloor(ps []position, slots, es []slot) (sum float64) {
	for _, e := range es {
		if s := slots[e.row]; s.gen == e.gen {
			sum += ps[s.row].X
		}
	}
	return sum
}
