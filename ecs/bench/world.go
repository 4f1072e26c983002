package main

import (
	"runtime"
	"runtime/debug"
	"time"

	ark "github.com/mlange-42/ark/ecs"
	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/engine/abtest/settle"
	"github.com/strata-go/strata/memory/page"
	"github.com/yohamta/donburi"
)

// newWorld makes an empty world, and ends it where it must be ended.
func newWorld() row {
	none := func() tally { return tally{} }
	return row{name: "new world", unit: "ns", n: 1, goals: []goal{{most: .40, of: arks}}, sides: []contestant{
		{ours, func(s *stand) side {
			mem := newHeap(s)
			return side{run: func(times int) {
				for range times {
					check(must(ecs.New(mem, ecs.Config{})).Close())
				}
			}, result: none}
		}},
		{arks, func(*stand) side {
			return side{run: func(times int) {
				for range times {
					runtime.KeepAlive(ark.NewWorld())
				}
			}, result: none}
		}},
		{bowl, func(*stand) side {
			return side{run: func(times int) {
				for range times {
					runtime.KeepAlive(donburi.NewWorld())
				}
			}, result: none}
		}},
	}}
}

// A crowded world is one that grew to many entities, one by one.
type crowded struct {
	create    func()        // creates entity after entity, always with the same values
	committed func() uint64 // bytes that it holds outside the Go heap
	result    func() tally
	end       func()
}

func nothing() uint64 { return 0 }

// growing are the makers of worlds without entities. Strata's has a heap of its own, so that its pages are untouched,
// as a slice's are.
var growing = []struct {
	name string
	make func(n int) crowded // for n entities, if the side takes a capacity
}{
	{ours, func(int) crowded {
		s := &stand{}
		h := newHeap(s)
		index := page.NewLimit(page.Default(), 1<<30)
		w := must(ecs.New(h, ecs.Config{Pages: index}))
		s.end(w.Close)
		m := ecs.NewMap2[position, velocity](w)
		return crowded{
			create:    func() { must(m.NewEntity(newPosition, newVelocity)) },
			committed: func() uint64 { return h.Stats().Committed + uint64(index.Committed()) },
			result:    strataTally(w),
			end:       s.close,
		}
	}},
	{bare, func(int) crowded {
		var ps []position
		var vs []velocity
		return crowded{
			create:    func() { ps, vs = append(ps, newPosition), append(vs, newVelocity) },
			committed: nothing,
			result:    func() tally { return tallyOf(ps, vs) },
			end:       func() {},
		}
	}},
	{arks, func(int) crowded { return arkCrowded() }},
	{sized, func(n int) crowded { return arkCrowded(n) }},
	{bowl, func(int) crowded {
		w := donburi.NewWorld()
		return crowded{
			create: func() {
				entry := w.Entry(w.Create(positions, velocities))
				positions.SetValue(entry, newPosition)
				velocities.SetValue(entry, newVelocity)
			},
			committed: nothing,
			result:    bowlTally(w),
			end:       func() {},
		}
	}},
}

func arkCrowded(capacities ...int) crowded {
	w := ark.NewWorld(capacities...)
	m := ark.NewMap2[position, velocity](w)
	return crowded{
		create:    func() { m.NewEntity(&newPosition, &newVelocity) },
		committed: nothing,
		result:    arkTally(w),
		end:       func() {},
	}
}

// grown is a row whose figure is taken while a new world grows, or when it has.
func grown(r row, figure func(make func() crowded) (float64, crowded)) row {
	for _, g := range growing {
		r.sides = append(r.sides, contestant{g.name, func(*stand) side {
			var last tally
			return side{
				gauge: func() float64 {
					debug.FreeOSMemory() // so that no side finds the pages of the one before
					v, c := figure(func() crowded { return g.make(r.n) })
					last = c.result()
					c.end()
					return v
				},
				result: func() tally { return last },
			}
		}})
	}
	return r
}

// growth is the worst time that 64 creations take while a world grows to n entities.
func growth(n int) row {
	r := row{name: "worst 64 creations up to 1M", unit: "µs", n: n, goals: []goal{{most: .05, of: arks}, {most: 1, of: sized}}}
	return grown(r, func(make func() crowded) (float64, crowded) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		c := make()
		worst := time.Duration(0)
		for range n / 64 {
			worst = max(worst, ownTime(func() {
				for range 64 {
					c.create()
				}
			}))
		}
		return float64(worst.Nanoseconds()) / 1e3, c
	})
}

// memory is the memory of a world that has grown to n entities, after a collection: the bytes committed outside the
// Go heap and the live ones in it. The components of an entity have 32 bytes.
func memory(n int) row {
	r := row{name: "memory for each of 1M", unit: "B", n: n}
	return grown(r, func(make func() crowded) (float64, crowded) {
		before := liveHeap()
		c := make()
		for range n {
			c.create()
		}
		v := float64(liveHeap()-before) + float64(c.committed())
		return v / float64(n), c
	})
}

// liveHeap is what a collection leaves of the Go heap, in bytes.
func liveHeap() int64 {
	runtime.GC()
	runtime.GC() // the first one may leave what has a cleanup
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// alone is the side of a collection beside which nothing lives.
const alone = "nothing"

// marking is the time of a collection beside a world of n entities.
func marking(n int) row {
	r := row{name: "a collection beside 1M", unit: "µs", n: n, goals: []goal{{most: 1.5, of: alone}}}
	r = grown(r, func(make func() crowded) (float64, crowded) {
		c := make()
		for range n {
			c.create()
		}
		return collection(), c
	})
	r.sides = append(r.sides, contestant{alone, func(*stand) side { return side{gauge: collection} }})
	return r
}

// collection is the median time of a collection, in microseconds, after free memory was returned to the system. A
// runtime that has just freed millions of objects is busy for a while.
func collection() float64 {
	took := make([]float64, 0, 21)
	debug.FreeOSMemory()
	for range cap(took) {
		start := time.Now()
		runtime.GC()
		took = append(took, float64(time.Since(start).Nanoseconds())/1e3)
	}
	return settle.Median(took)
}
