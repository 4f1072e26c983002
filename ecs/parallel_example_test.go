package ecs_test

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/tiers"
)

// The loop over a chunk's columns, on several goroutines.
func ExampleFilter2_Parallel() {
	w := newWorld()
	defer w.Close()
	ws, err := ecs.NewWorkers(ecs.WorkersConfig{}) // once, for all systems
	if err != nil {
		panic(err)
	}
	defer ws.Close()
	if err := ecs.NewMap2[Position, Velocity](w).NewBatch(5000, func(i int, _ *Position, v *Velocity) { v.X = float32(i) }); err != nil {
		panic(err)
	}

	moving := ecs.NewFilter2[Position, Velocity](w)
	moving.Parallel(ws, func(_ *ecs.Task, _ []ecs.Entity, c ecs.Columns2[Position, Velocity]) {
		ps, vs := c.A, c.B[:len(c.A)]
		for i := range ps {
			ps[i].X += vs[i].X
			ps[i].Y += vs[i].Y
		}
	})
	fmt.Println(moving.Batches(), moving.Len())
	// Output: 5 5000
}

// The same for who knows components by ID: the columns are where they begin.
func ExampleFilterOf_Parallel() {
	w := newWorld()
	defer w.Close()
	ws, err := ecs.NewWorkers(ecs.WorkersConfig{})
	if err != nil {
		panic(err)
	}
	defer ws.Close()
	heat, err := w.RegisterSize("script.heat", 4, 4)
	if err != nil {
		panic(err)
	}
	for range 3 {
		e, _ := w.NewEntity()
		_, _ = w.AddID(e, heat)
	}

	warm := ecs.NewFilterOf(w, heat)
	warm.Parallel(ws, func(_ *ecs.Task, es []ecs.Entity, columns ecs.Addresses) {
		heats := unsafe.Slice((*float32)(columns[0]), len(es))
		for i := range heats {
			heats[i] += 36.6
		}
	})
	for e, at := range warm.All() {
		fmt.Println(e, *(*float32)(at[0]))
	}
	// Output:
	// #1.1 36.6
	// #2.1 36.6
	// #3.1 36.6
}

// A sum for each piece, and these in their order: the same on any machine, to the last bit.
func ExampleResults() {
	w := newWorld()
	defer w.Close()
	ws, err := ecs.NewWorkers(ecs.WorkersConfig{Count: 2})
	if err != nil {
		panic(err)
	}
	defer ws.Close()
	if err := ecs.NewMap1[Position](w).NewBatch(2500, func(i int, p *Position) { p.X = float32(i) / 10 }); err != nil {
		panic(err)
	}

	all := ecs.NewFilter1[Position](w)
	var sums ecs.Results[float32] // kept with the system
	sums.Prepare(all)
	all.Parallel(ws, func(t *ecs.Task, _ []ecs.Entity, ps []Position) {
		sum := sums.At(t)
		for i := range ps {
			*sum += ps[i].X
		}
	})
	total := float32(0)
	for _, sum := range sums.Values() {
		total += sum
	}
	fmt.Println(sums.Values(), total)
	// Output: [52377.6 157235.2 102762.195] 312375
}

// Lists of unknown length grow in the arenas of the workers, and are read when the pass is over.
func ExampleTask_Scratch() {
	w := newWorld()
	defer w.Close()
	ws, err := ecs.NewWorkers(ecs.WorkersConfig{Count: 2, Scratch: 256 << 10})
	if err != nil {
		panic(err)
	}
	defer ws.Close()
	if err := ecs.NewMap1[Position](w).NewBatch(4000, func(i int, p *Position) { p.X = float32(i) }); err != nil {
		panic(err)
	}

	all := ecs.NewFilter1[Position](w)
	var found ecs.Results[[]ecs.Entity]
	found.Prepare(all)
	all.Parallel(ws, func(t *ecs.Task, es []ecs.Entity, ps []Position) {
		list := found.At(t)
		for i := range ps {
			if int(ps[i].X)%1000 != 999 {
				continue
			}
			longer, err := memory.GrowSlice(t.Scratch(), *list, len(*list)+1)
			if err != nil {
				panic(err)
			}
			*list = longer
			longer[len(longer)-1] = es[i]
		}
	})
	for batch, list := range found.Values() {
		fmt.Println(batch, list)
	}
	// Output:
	// 0 [#1000.1]
	// 1 [#2000.1]
	// 2 [#3000.1]
	// 3 [#4000.1]
}

// The manager's workers have arenas as well, which count in its books: a task for each call.
func ExampleTask_Worker() {
	m, err := tiers.New(tiers.Config{Workers: 2, GC: gcpace.Config{Keep: true}})
	if err != nil {
		panic(err)
	}
	defer m.Close()
	w, err := ecs.New(m, ecs.Config{Pages: m.PoolSource()})
	if err != nil {
		panic(err)
	}
	defer w.Close()
	ws, err := ecs.NewWorkers(ecs.WorkersConfig{Count: 2, Pages: m.PoolSource()})
	if err != nil {
		panic(err)
	}
	defer ws.Close()
	if err := ecs.NewMap1[Position](w).NewBatch(3000, nil); err != nil {
		panic(err)
	}

	ecs.NewFilter1[Position](w).Parallel(ws, func(t *ecs.Task, _ []ecs.Entity, ps []Position) {
		worker := m.Worker(t.Worker())
		scratch, err := worker.BeginTask()
		if err != nil {
			panic(err)
		}
		defer worker.EndTask()
		near, err := memory.MakeSlice[float32](scratch, len(ps)) // gone with the task
		if err != nil {
			panic(err)
		}
		for i := range near {
			near[i] = ps[i].X
		}
	})
	fmt.Println(m.Worker(0).Stats().Live+m.Worker(1).Stats().Live, m.Check())
	// Output: 0 <nil>
}

// Commands of a pass are in the order of the loop, whoever ran which part of it.
func ExampleTask_Commands() {
	w := newWorld()
	defer w.Close()
	ws, err := ecs.NewWorkers(ecs.WorkersConfig{Count: 2})
	if err != nil {
		panic(err)
	}
	defer ws.Close()
	position, err := ecs.Register[Position](w)
	if err != nil {
		panic(err)
	}
	if err := ecs.NewMap1[Velocity](w).NewBatch(3000, func(i int, v *Velocity) { v.X = float32(i) }); err != nil {
		panic(err)
	}

	ecs.NewFilter1[Velocity](w).Parallel(ws, func(t *ecs.Task, es []ecs.Entity, vs []Velocity) {
		cmd := t.Commands()
		for i, e := range es {
			if int(vs[i].X)%1000 != 500 {
				continue
			}
			cmd.Destroy(e)
			spark, err := cmd.Spawn()
			if err != nil {
				panic(err)
			}
			ecs.AddTo(cmd, position, spark, Position{X: vs[i].X})
		}
	})
	fmt.Println(w.Commands().Len(), w.Len())
	if err := w.Commands().Apply(); err != nil {
		panic(err)
	}
	for spark, p := range ecs.NewFilter1[Position](w).All() {
		fmt.Println(spark, p.X)
	}
	// Output:
	// 9 3000
	// #501.3 500
	// #1501.3 1500
	// #2501.3 2500
}
