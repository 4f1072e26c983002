package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
	"unsafe"

	ark "github.com/mlange-42/ark/ecs"
	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/engine/abtest/settle"
)

// Components with Go pointers, of 8, 240, 1024 and 32 bytes.
type (
	pointer8   struct{ _ *int64 }
	pointer240 struct {
		_ *int64
		_ [232]byte
	}
	pointer1024 struct {
		_ *int64
		_ [1016]byte
	}
	named struct {
		name    string
		hp, max int64
	}
)

// namedOf is what entity i has in a world with pointers.
func namedOf(i int) named { return named{names[i%len(names)], int64(i % 100), 100} }

var names = [...]string{"ann", "ben", "cat"}

// regenerate is the work of a walk on one entity.
func regenerate(n *named) {
	if n.hp++; n.hp >= n.max {
		n.hp = 1
	}
}

// pointerRows are of components that lie in the Go heap because they contain pointers.
func pointerRows(limit int) []row {
	n := min(100_000, limit)
	return []row{
		onePointer[pointer8](), onePointer[pointer240](), onePointer[pointer1024](),
		worstPointers(min(million, limit), true), worstPointers(min(million, limit), false),
		{name: "walk 100k with pointers by All", unit: "ns", n: n, goals: []goal{entityGoal}, sides: []contestant{
			{ours, func(s *stand) side { return strataNamed(s, n) }},
			{bare, func(*stand) side { return sliceNamed(n) }},
			{arks, func(*stand) side { return arkNamed(n) }},
		}},
		{name: "create with pointers", unit: "ns", n: min(crowd, limit), sides: []contestant{
			{ours, func(s *stand) side { return strataNamedLife(s, min(crowd, limit)) }},
			{arks, func(*stand) side { return arkNamedLife(min(crowd, limit)) }},
		}},
	}
}

// onePointer is what the Go heap holds more when a world has one entity with a T, without the T.
func onePointer[T any]() row {
	size := unsafe.Sizeof(*new(T))
	r := row{name: fmt.Sprintf("Go heap of one entity with pointers, %d bytes", size), unit: "B", n: 1, extra: true, goals: []goal{{most: 16 << 10}}}
	growth := func(create func(), held any) float64 {
		before := liveHeap()
		create()
		after := liveHeap()
		runtime.KeepAlive(held)
		return float64(after-before) - float64(size)
	}
	r.sides = []contestant{
		{ours, func(*stand) side {
			return side{gauge: func() float64 {
				var s stand
				defer s.close()
				w := newStrata(&s)
				m := ecs.NewMap1[T](w)
				return growth(func() { must(m.NewEntity(*new(T))) }, w)
			}}
		}},
		{arks, func(*stand) side { return side{gauge: arkPointer[T](growth)} }},
		{sized, func(*stand) side { return side{gauge: arkPointer[T](growth, 8)} }},
	}
	return r
}

func arkPointer[T any](growth func(create func(), held any) float64, capacities ...int) func() float64 {
	return func() float64 {
		w := ark.NewWorld(capacities...)
		m := ark.NewMap1[T](w)
		return growth(func() { m.NewEntity(new(T)) }, w)
	}
}

// worstPointers is the worst processor time of 64 creations while a table with pointers grows to n entities. The Go
// heap is warm: a world of that size was there before, so that the runtime must zero the blocks that it allocates.
//
// Most of the time is marking. While a collection marks, a goroutine that allocates must mark in proportion to the
// bytes, before it may go on. So the goal is a multiple of the floor, which must do so, too. The floor is blocks of the
// Go heap with as many rows as Strata's chunks, filled as fast as those. The time to zero the largest block is shown.
// The row without a collection has no marking. The collector's threads do not count.
func worstPointers(n int, collect bool) row {
	r := row{name: "worst 64 creations with pointers up to 1M", unit: "µs", n: n, few: 5, goals: []goal{{most: 1.5, of: floor}}}
	if !collect {
		r.name = "worst 64 creations with pointers, no collection"
	}
	grow := func(begin func() pointed, idle time.Duration) side {
		var last tally
		return side{
			gauge: func() float64 {
				if !collect { // and the runtime keeps what it has from the system
					defer debug.SetGCPercent(debug.SetGCPercent(-1))
				}
				before := begin()
				worstOf(n, before.create, idle)
				before.end()
				before = pointed{}
				runtime.GC() // its memory is free, and dirty
				p := begin()
				defer p.end()
				worst := worstOf(n, p.create, idle)
				last = p.result()
				return float64(worst.Nanoseconds()) / 1e3
			},
			result: func() tally { return last },
		}
	}
	r.sides = []contestant{
		{ours, func(*stand) side { return grow(strataPointed, 0) }},
		{floor, func(*stand) side {
			rows, pace := chunksOf(n)
			return grow(func() pointed { return blocksPointed(rows) }, 64*pace)
		}},
		{zeros, func(*stand) side {
			block := largestBlock(n)
			return side{gauge: func() float64 { return zeroing(block) }}
		}},
		{bare, func(*stand) side { return grow(slicePointed, 0) }},
		{arks, func(*stand) side { return grow(func() pointed { return arkPointed() }, 0) }},
		{sized, func(*stand) side { return grow(func() pointed { return arkPointed(n) }, 0) }},
	}
	return r
}

// worstOf returns the longest time of this thread that 64 of n creations take, with some idle time after
// each 64 that does not count.
func worstOf(n int, create func(i int), idle time.Duration) (worst time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for i := 0; i < n; i += 64 {
		worst = max(worst, threadTime(func() {
			for k := i; k < min(i+64, n); k++ {
				create(k)
			}
		}))
		for start := time.Now(); idle > 0 && time.Since(start) < idle; {
		}
	}
	return worst
}

// largestBlock is the most that 64 creations of ours allocate from the Go heap while a table grows
// to n entities.
func largestBlock(n int) (most uint64) {
	p := strataPointed()
	defer p.end()
	allocated := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	read := func() uint64 {
		metrics.Read(allocated)
		return allocated[0].Value.Uint64()
	}
	before := read()
	for i := range n {
		p.create(i)
		if i%64 == 63 || i == n-1 {
			now := read()
			most, before = max(most, now-before), now
		}
	}
	return most
}

// zeroing is the time to zero so many bytes of memory that was written before, in microseconds: the
// median over more blocks than the caches have space for.
func zeroing(bytes uint64) float64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	n := max(int(bytes/uint64(unsafe.Sizeof(named{}))), 1)
	blocks := make([][]named, 9+(64<<20)/bytes)
	for i := range blocks {
		blocks[i] = filled(n, namedOf)
	}
	var took []float64
	for _, b := range blocks {
		took = append(took, float64(threadTime(func() { clear(b) }).Nanoseconds())/1e3)
	}
	runtime.KeepAlive(blocks)
	return settle.Median(took)
}

// A pointed is a world that grows by entities with a named.
type pointed struct {
	create func(i int)
	result func() tally
	end    func()
}

func (t *tally) addNamed(n *named) { t.add(float64(len(n.name)), float64(n.hp), float64(n.max)) }

func strataPointed() pointed {
	s := &stand{}
	w, _ := bigWorld(s)
	m := ecs.NewMap1[named](w)
	return pointed{func(i int) { must(m.NewEntity(namedOf(i))) }, namedTally(w), s.close}
}

// chunksOf returns the rows of each chunk of ours when a table has grown to n entities, and the mean time
// of a creation.
func chunksOf(n int) (rows []int, pace time.Duration) {
	s := &stand{}
	defer s.close()
	w, _ := bigWorld(s)
	m := ecs.NewMap1[named](w)
	start := time.Now()
	for i := range n {
		must(m.NewEntity(namedOf(i)))
	}
	pace = time.Since(start) / time.Duration(n)
	for es := range ecs.NewFilter1[named](w).Chunks() {
		rows = append(rows, len(es))
	}
	return rows, pace
}

// blocksPointed grows by blocks of so many rows, and allocates nothing else.
func blocksPointed(rows []int) pointed {
	blocks := make([][]named, 0, len(rows))
	var last []named
	return pointed{func(i int) {
		if len(last) == cap(last) {
			last = make([]named, 0, rows[len(blocks)])
			blocks = append(blocks, last)
		}
		last = append(last, namedOf(i))
	}, func() (t tally) {
		for _, b := range blocks { // they had no length yet
			b = b[:cap(b)]
			for i := range b {
				t.addNamed(&b[i])
			}
		}
		return t
	}, func() {}}
}

func slicePointed() pointed {
	var all []named
	return pointed{func(i int) { all = append(all, namedOf(i)) }, func() (t tally) {
		for i := range all {
			t.addNamed(&all[i])
		}
		return t
	}, func() {}}
}

func arkPointed(capacities ...int) pointed {
	w := ark.NewWorld(capacities...)
	m := ark.NewMap1[named](w)
	return pointed{func(i int) {
		n := namedOf(i)
		m.NewEntity(&n)
	}, arkNamedTally(w), func() {}}
}

func namedTally(w *ecs.World) func() tally {
	f := ecs.NewFilter1[named](w)
	return func() (t tally) {
		for _, n := range f.All() {
			t.addNamed(n)
		}
		return t
	}
}

func arkNamedTally(w *ark.World) func() tally {
	f := ark.NewFilter1[named](w)
	return func() (t tally) {
		for q := f.Query(); q.Next(); {
			t.addNamed(q.Get())
		}
		return t
	}
}

func strataNamed(s *stand, n int) side {
	w := newStrata(s)
	check(ecs.NewMap1[named](w).NewBatch(n, func(i int, v *named) { *v = namedOf(i) }))
	f := ecs.NewFilter1[named](w)
	return side{run: func(times int) { strataRegenerate(f, times) }, result: namedTally(w)}
}

//go:noinline
func strataRegenerate(f *ecs.Filter1[named], times int) {
	for range times {
		for _, n := range f.All() {
			regenerate(n)
		}
	}
}

func sliceNamed(n int) side {
	all := filled(n, namedOf)
	return side{run: func(times int) { sliceRegenerate(all, times) }, result: func() (t tally) {
		for i := range all {
			t.addNamed(&all[i])
		}
		return t
	}}
}

//go:noinline
func sliceRegenerate(all []named, times int) {
	for range times {
		for i := range all {
			regenerate(&all[i])
		}
	}
}

func arkNamed(n int) side {
	w := ark.NewWorld()
	i := 0
	ark.NewMap1[named](w).NewBatchFn(n, func(_ ark.Entity, v *named) { *v, i = namedOf(i), i+1 })
	f := ark.NewFilter1[named](w).Register()
	return side{run: func(times int) { arkRegenerate(f, times) }, result: arkNamedTally(w)}
}

//go:noinline
func arkRegenerate(f *ark.Filter1[named], times int) {
	for range times {
		q := f.Query()
		for q.Next() {
			regenerate(q.Get())
		}
	}
}

// strataNamedLife creates n entities with pointers in a world that contained as many before.
func strataNamedLife(s *stand, n int) side {
	w := newStrata(s)
	m := ecs.NewMap1[named](w)
	f := ecs.NewFilter1[named](w)
	return side{
		between: func() { w.RemoveAll(f) },
		run: func(int) {
			for i := range n {
				must(m.NewEntity(namedOf(i)))
			}
		},
		result: namedTally(w),
	}
}

func arkNamedLife(n int) side {
	w := ark.NewWorld()
	m := ark.NewMap1[named](w)
	f := ark.NewFilter1[named](w).Register()
	return side{
		between: func() { w.RemoveEntities(f.Batch(), nil) },
		run: func(int) {
			for i := range n {
				v := namedOf(i)
				m.NewEntity(&v)
			}
		},
		result: arkNamedTally(w),
	}
}
