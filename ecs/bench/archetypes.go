package main

import (
	"fmt"
	"math/bits"
	"reflect"
	"runtime/debug"

	ark "github.com/mlange-42/ark/ecs"
	"github.com/strata-go/strata/ecs"
)

// archetypeRows have worlds of many archetypes with one entity each.
func archetypeRows(limit int) (all []row) {
	n := min(100_000, limit)
	all = append(all,
		manyArchetypes(row{name: "make 100k archetypes of one entity", unit: "ns", n: n, few: 1}, func(begin func() variety, n int) (float64, variety) {
			var v variety
			took := spent(func() {
				v = begin()
				v.populate(n)
			})
			return float64(took.Nanoseconds()) / float64(n), v
		}),
		manyArchetypes(row{name: "memory of 100k archetypes of one entity", unit: "MiB", n: n, few: 1, extra: true, goals: []goal{{most: 512}}}, func(begin func() variety, n int) (float64, variety) {
			before := liveHeap()
			v := begin()
			v.populate(n)
			return (float64(liveHeap()-before) + float64(v.committed())) / (1 << 20), v
		}),
		manyArchetypes(row{name: "memory after 1 entity was in 1024 archetypes", unit: "KiB", n: 1, few: 3}, func(begin func() variety, _ int) (float64, variety) {
			before := liveHeap()
			v := begin()
			v.wander(min(1024, limit))
			return (float64(liveHeap()-before) + float64(v.committed())) / (1 << 10), v
		}),
	)
	for _, k := range []int{64, 1024, 8192} {
		for _, how := range []form{byEntity, byQuery} {
			all = append(all, sparseWalk(k, min(k, limit), how))
		}
	}
	return all
}

// marksOf is the number of marks that tell n archetypes apart.
func marksOf(n int) int { return bits.Len(uint(n - 1)) }

// maxMarks are enough for all rows.
const maxMarks = 17

// A variety is a world in which an entity has any of maxMarks marks, which are components without a
// size. Entity i has those of the bits of i, so that each is in an archetype of its own.
type variety struct {
	create    func(i int) // the next entity, without marks
	mark      func(bit int)
	unmark    func(bit int)
	committed func() uint64
	result    func() tally
	end       func()
}

// populate makes n entities, mark by mark: the archetypes on the way are those of earlier entities.
func (v variety) populate(n int) {
	for i := range n {
		v.create(i)
		for bit := range marksOf(n) {
			if i>>bit&1 != 0 {
				v.mark(bit)
			}
		}
	}
}

// wander leads one entity through n archetypes, in the order of a Gray code.
func (v variety) wander(n int) {
	v.create(0)
	for i := 1; i < n; i++ {
		bit := bits.TrailingZeros(uint(i))
		if gray := i ^ i>>1; gray>>bit&1 != 0 {
			v.mark(bit)
		} else {
			v.unmark(bit)
		}
	}
}

func manyArchetypes(r row, figure func(begin func() variety, n int) (float64, variety)) row {
	for _, g := range []struct {
		name  string
		begin func() variety
	}{
		{ours, func() variety {
			s := &stand{}
			v, _ := strataVariety(s)
			v.end = s.close
			return v
		}},
		{arks, func() variety { v, _ := arkVariety(); return v }},
		{sized, func() variety { v, _ := arkVariety(8); return v }},
	} {
		r.sides = append(r.sides, contestant{g.name, func(*stand) side {
			var last tally
			return side{
				gauge: func() float64 {
					debug.FreeOSMemory()
					f, v := figure(g.begin, r.n)
					defer v.end()
					last = v.result()
					return f
				},
				result: func() tally { return last },
			}
		}})
	}
	return r
}

// sparseWalk walks n archetypes of one entity each. Ark's worlds begin with 1,024 rows in each, or
// with 8 where they are sized for it.
func sparseWalk(called, n int, how form) row {
	filled := func(v variety) { v.populate(n) }
	return row{
		name: fmt.Sprintf("walk %d archetypes of one entity %s", called, [...]string{byEntity: "by All", byQuery: "by Query"}[how]), unit: "ns", n: n,
		sides: []contestant{
			{ours, func(s *stand) side {
				v, w := strataVariety(s)
				filled(v)
				return strataWalk(w, 2, how)
			}},
			{arks, func(*stand) side {
				v, w := arkVariety()
				filled(v)
				return arkWalk(w, 2, how)
			}},
			{sized, func(*stand) side {
				v, w := arkVariety(8)
				filled(v)
				return arkWalk(w, 2, how)
			}},
		},
	}
}

func strataVariety(s *stand) (variety, *ecs.World) {
	w, committed := bigWorld(s)
	m := ecs.NewMap2[position, velocity](w)
	var ids []ecs.ID
	for i := range maxMarks {
		ids = append(ids, must(w.RegisterSize(fmt.Sprint("mark ", i), 0, 1)))
	}
	var e ecs.Entity
	return variety{
		create:    func(i int) { e = must(m.NewEntity(positionOf(i), velocityOf(i))) },
		mark:      func(bit int) { must(w.AddID(e, ids[bit])) },
		unmark:    func(bit int) { must(w.RemoveID(e, ids[bit])) },
		committed: committed,
		result:    strataTally(w),
	}, w
}

func arkVariety(capacities ...int) (variety, *ark.World) {
	w := ark.NewWorld(capacities...)
	m := ark.NewMap2[position, velocity](w)
	u := w.Unsafe()
	var ids []ark.ID
	for i := range maxMarks {
		ids = append(ids, ark.TypeID(w, reflect.ArrayOf(i+1, reflect.TypeFor[struct{}]())))
	}
	var e ark.Entity
	return variety{
		create: func(i int) {
			p, v := positionOf(i), velocityOf(i)
			e = m.NewEntity(&p, &v)
		},
		mark:      func(bit int) { u.Add(e, ids[bit]) },
		unmark:    func(bit int) { u.Remove(e, ids[bit]) },
		committed: nothing,
		result:    arkTally(w),
		end:       func() {},
	}, w
}
