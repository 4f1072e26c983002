package main

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"

	ark "github.com/mlange-42/ark/ecs"
	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/tlsf"
)

// The relation of all rows, without a value.
type (
	childOf    struct{}
	arkChildOf struct{ ark.RelationMarker }
)

// A shape is the relation of n entities. parents[i] is the number of the parent of entity i, which is lower than i,
// or -1 if it has none.
type shape struct {
	name    string
	parents func(n int) []int32
}

var (
	// pairs has a target for each entity that relates to one: entity 2k+1 relates to 2k.
	pairs = shape{"targets", func(n int) []int32 {
		return filled(2*n, func(i int) int32 {
			if i%2 == 0 {
				return -1
			}
			return int32(i - 1)
		})
	}}

	// randomTree gives each node a random earlier one as parent: about half of the nodes have children.
	randomTree = shape{"nodes of a random tree", func(n int) []int32 {
		r := rand.New(rand.NewPCG(3, 4))
		return filled(n, func(i int) int32 {
			if i == 0 {
				return -1
			}
			return int32(r.IntN(i))
		})
	}}

	// chain gives each node the one before as parent: all nodes but one have a child.
	chain = shape{"nodes of a chain", func(n int) []int32 { return filled(n, func(i int) int32 { return int32(i - 1) }) }}

	// wideTree gives each node a thousand children.
	wideTree = shape{"nodes of a wide tree", func(n int) []int32 {
		return filled(n, func(i int) int32 {
			if i == 0 {
				return -1
			}
			return int32((i - 1) / 1000)
		})
	}}
)

// relationRows build shapes in new worlds, and take the time and the memory of both heaps for each
// target or node.
func relationRows(limit int) (all []row) {
	for _, c := range []struct {
		called string
		n      int
		shape  shape
	}{
		{"100k", 100_000, pairs}, {"100k", 100_000, randomTree}, {"100k", 100_000, chain}, {"100k", 100_000, wideTree},
		{"1M", million, pairs}, {"1M", million, randomTree},
	} {
		n := min(c.n, limit)
		r := row{n: n, few: 3}
		if c.n == million {
			r.few, r.long = 1, true
			r.goals = []goal{{most: 1.5, of: tenth}}
		}
		took, holds := r, r
		took.name, took.unit = fmt.Sprintf("make %s %s", c.called, c.shape.name), "ns"
		holds.name, holds.unit = fmt.Sprintf("memory for each of %s %s", c.called, c.shape.name), "B"
		all = append(all, related(took, c.shape, timeOfShape), related(holds, c.shape, memoryOfShape))
	}
	return all
}

// A kinship is an empty world whose entities will relate to each other.
type kinship struct {
	create    func(i int)         // makes entity i, related to nothing
	relate    func(i, parent int) // makes entity i, related to an earlier one
	committed func() uint64       // bytes that it has committed outside the Go heap
	result    func() tally
	end       func()
}

// build makes entities of this shape.
func (k kinship) build(parents []int32) {
	for i, p := range parents {
		if p < 0 {
			k.create(i)
		} else {
			k.relate(i, int(p))
		}
	}
}

func timeOfShape(begin func() kinship, parents []int32, n int) (float64, kinship) {
	var k kinship
	took := spent(func() {
		k = begin()
		k.build(parents)
	})
	return float64(took.Nanoseconds()) / float64(n), k
}

func memoryOfShape(begin func() kinship, parents []int32, n int) (float64, kinship) {
	before := liveHeap()
	k := begin()
	k.build(parents)
	return (float64(liveHeap()-before) + float64(k.committed())) / float64(n), k
}

// related adds the sides to a row of worlds of this shape. A row that is measured only if it is named has Strata with a
// tenth of the units, too.
func related(r row, sh shape, figure func(begin func() kinship, parents []int32, n int) (float64, kinship)) row {
	add := func(name string, n int, begin func(entities int) func() kinship) {
		r.sides = append(r.sides, contestant{name, func(*stand) side {
			var last tally
			parents := sh.parents(n)
			begin := begin(len(parents))
			s := side{
				gauge: func() float64 {
					debug.FreeOSMemory()
					v, k := figure(begin, parents, n)
					defer k.end()
					last = k.result()
					return v
				},
			}
			if n == r.n {
				s.result = func() tally { return last }
			}
			return s
		}})
	}
	add(ours, r.n, strataKinship)
	if r.long {
		add(tenth, max(r.n/10, 1), strataKinship)
	}
	add(arks, r.n, func(n int) func() kinship { return arkKinship(n) })
	add(sized, r.n, func(n int) func() kinship { return arkKinship(n, 1024, 1) })
	return r
}

// bigReserve is 8 GiB of address space, and 512 MiB if an address has 32 bits.
const bigReserve = 1 << (29 + ^uint(0)>>63*4)

// bigWorld makes a world for millions of entities, and returns what it has committed.
func bigWorld(s *stand) (*ecs.World, func() uint64) {
	h := must(tlsf.New(page.OS(), tlsf.Config{Reserve: bigReserve, Granule: 1 << 10}))
	s.end(h.Close)
	index := page.NewLimit(page.Default(), 1<<30)
	w := must(ecs.New(h, ecs.Config{Pages: index, MaxEntities: 4 << 20}))
	s.end(w.Close)
	return w, func() uint64 { return h.Stats().Committed + uint64(index.Committed()) }
}

// strataKinship returns a maker of worlds for so many entities.
func strataKinship(n int) func() kinship {
	es := make([]ecs.Entity, n)
	return func() kinship {
		s := &stand{}
		w, committed := bigWorld(s)
		rel := must(ecs.RegisterRelation[childOf](w))
		pos := must(ecs.Register[position](w))
		roots := ecs.NewMap1[position](w)
		kids := ecs.NewMap2[position, childOf](w)
		return kinship{
			create: func(i int) { es[i] = must(roots.NewEntity(positionOf(i))) },
			relate: func(i, parent int) {
				es[i] = must(kids.To(rel.ID(), es[parent]).NewEntity(positionOf(i), childOf{}))
			},
			committed: committed,
			result: func() (t tally) {
				for e, p := range ecs.NewFilter1[position](w).All() {
					q := &position{-1, -1}
					if target, ok := rel.Target(e); ok {
						q, _ = pos.Get(target)
					}
					t.add(p.X, p.Y, q.X, q.Y)
				}
				return t
			},
			end: s.close,
		}
	}
}

// arkKinship returns a maker of worlds for so many entities, with these capacities of Ark.
func arkKinship(n int, capacities ...int) func() kinship {
	es := make([]ark.Entity, n)
	return func() kinship {
		w := ark.NewWorld(capacities...)
		roots := ark.NewMap1[position](w)
		kids := ark.NewMap2[position, arkChildOf](w)
		pos, rel := ark.NewMap[position](w), ark.NewMap[arkChildOf](w)
		return kinship{
			create: func(i int) {
				p := positionOf(i)
				es[i] = roots.NewEntity(&p)
			},
			relate: func(i, parent int) {
				p := positionOf(i)
				es[i] = kids.NewEntity(&p, &arkChildOf{}, ark.RelIdx(1, es[parent]))
			},
			committed: nothing,
			result: func() (t tally) {
				query := ark.NewFilter1[position](w).Query()
				for query.Next() {
					p, q := query.Get(), &position{-1, -1}
					if e := query.Entity(); rel.Has(e) {
						if target := rel.GetRelation(e); !target.IsZero() {
							q = pos.Get(target)
						}
					}
					t.add(p.X, p.Y, q.X, q.Y)
				}
				return t
			},
			end: func() {},
		}
	}
}
