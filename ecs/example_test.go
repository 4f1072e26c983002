package ecs_test

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/memory"
)

type (
	Position struct{ X, Y float32 }
	Velocity struct{ X, Y float32 }
	Frozen   struct{}
	Hit      struct {
		Target ecs.Entity
		Damage int32
	}
	Clock struct{ Tick int }
)

// heap stands in for an off-heap allocator: any memory.Allocator will do.
type heap struct{}

func (heap) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	b := make([]byte, size+align)
	pad := -uintptr(unsafe.Pointer(&b[0])) & (align - 1)
	return unsafe.Pointer(&b[pad]), nil
}

func (heap) Free(unsafe.Pointer, uintptr) {}

var _ memory.Allocator = heap{}

func newWorld() *ecs.World {
	w, err := ecs.New(heap{}, ecs.Config{})
	if err != nil {
		panic(err)
	}
	return w
}

func Example() {
	w := newWorld()
	defer w.Close()

	movers := ecs.NewMap2[Position, Velocity](w)
	e, err := movers.NewEntity(Position{1, 1}, Velocity{2, 0})
	if err != nil {
		panic(err)
	}

	moving := ecs.NewFilter2[Position, Velocity](w)
	for range 3 {
		q := moving.Query()
		for q.Next() {
			p, v := q.Get()
			p.X += v.X
			p.Y += v.Y
		}
	}
	p, _, ok := movers.Get(e)
	fmt.Println(e, *p, ok)
	// Output: #1.1 {7 1} true
}

func ExampleWorld_Remove() {
	w := newWorld()
	defer w.Close()
	e, _ := w.NewEntity()
	fmt.Println(w.Alive(e), w.Remove(e), w.Alive(e), w.Remove(e))
	// Output: true true false false
}

func ExampleComponent() {
	w := newWorld()
	defer w.Close()
	pos, err := ecs.Register[Position](w)
	if err != nil {
		panic(err)
	}
	e, _ := w.NewEntity()
	fmt.Println(pos.Has(e), pos.Set(e, Position{1, 2}))
	_ = pos.Add(e, Position{3, 4})
	p, ok := pos.Get(e)
	fmt.Println(*p, ok)
	had, err := pos.Remove(e)
	fmt.Println(had, err)
	// Output:
	// false false
	// {3 4} true
	// true <nil>
}

func ExampleFilter1_Without() {
	w := newWorld()
	defer w.Close()
	frozen, _ := ecs.Register[Frozen](w)
	_, _ = ecs.NewMap1[Position](w).NewEntity(Position{1, 0})
	_, _ = ecs.NewMap2[Position, Frozen](w).NewEntity(Position{2, 0}, Frozen{})

	q := ecs.NewFilter1[Position](w).Without(frozen.ID()).Query()
	for q.Next() {
		fmt.Println(*q.Get())
	}
	// Output: {1 0}
}

func ExampleQuery2_Columns() {
	w := newWorld()
	defer w.Close()
	m := ecs.NewMap2[Position, Velocity](w)
	_ = m.NewBatch(1000, func(i int, p *Position, v *Velocity) { v.X = float32(i) })

	sum := float32(0)
	q := ecs.NewFilter2[Position, Velocity](w).Query()
	for q.NextChunk() {
		_, ps, vs := q.Columns()
		for i := range ps {
			ps[i].X += vs[i].X
			sum += ps[i].X
		}
	}
	fmt.Println(sum)
	// Output: 499500
}

func ExampleCommands() {
	w := newWorld()
	defer w.Close()
	pos, _ := ecs.Register[Position](w)
	frozen, _ := ecs.Register[Frozen](w)
	_ = ecs.NewMap1[Position](w).NewBatch(3, func(i int, p *Position) { p.X = float32(i) })

	cmd := w.Commands()
	q := ecs.NewFilter1[Position](w).Query()
	for q.Next() {
		switch q.Get().X {
		case 0:
			cmd.Destroy(q.Entity())
		case 1:
			ecs.AddTo(cmd, frozen, q.Entity(), Frozen{})
		case 2:
			child, _ := cmd.Spawn()
			ecs.AddTo(cmd, pos, child, Position{9, 9})
		}
	}
	if err := cmd.Apply(); err != nil {
		panic(err)
	}
	fmt.Println(w.Len(), ecs.NewFilter1[Frozen](w).Len())
	// Output: 3 1
}

func ExampleMap1_AddAll() {
	w := newWorld()
	defer w.Close()
	_ = ecs.NewMap1[Position](w).NewBatch(100, nil)
	all := ecs.NewFilter1[Position](w)
	n, err := ecs.NewMap1[Velocity](w).AddAll(all, Velocity{1, 0})
	fmt.Println(n, err, ecs.NewFilter2[Position, Velocity](w).Len())
	fmt.Println(w.RemoveAll(all), w.Len())
	// Output:
	// 100 <nil> 100
	// 100 0
}

func ExampleEvents() {
	w := newWorld()
	defer w.Close()
	target, _ := w.NewEntity()

	hits, err := ecs.NewEvents[Hit](heap{}, 2)
	if err != nil {
		panic(err)
	}
	defer hits.Close()
	for i := range int32(3) {
		hits.Send(Hit{target, i})
	}
	hits.Swap() // once per tick
	for _, h := range hits.Read() {
		fmt.Println(h.Target, h.Damage)
	}
	fmt.Println("dropped", hits.Dropped())
	// Output:
	// #1.1 0
	// #1.1 1
	// dropped 1
}

func ExampleSetResource() {
	w := newWorld()
	defer w.Close()
	ecs.SetResource(w, &Clock{Tick: 41})
	ecs.Resource[Clock](w).Tick++
	fmt.Println(ecs.Resource[Clock](w).Tick)
	// Output: 42
}

func ExampleWorld_Column() {
	w := newWorld()
	defer w.Close()
	type Label struct{ Text string }
	_ = ecs.NewMap2[Position, Label](w).NewBatch(10, nil)
	for i := range w.Stats().Components {
		c := w.Column(i)
		fmt.Println(c.Name, c.Pointerful, c.Entities, c.BytesUsed == uint64(c.Entities*c.Size))
	}
	// Output:
	// ecs_test.Position false 10 true
	// ecs_test.Label true 10 true
}

func ExampleWorld_Hash() {
	play := func() uint64 {
		w := newWorld()
		defer w.Close()
		_ = ecs.NewMap1[Position](w).NewBatch(10, func(i int, p *Position) { p.X = float32(i) })
		return w.Hash(1)
	}
	first, again := play(), play()
	fmt.Println(first == again)
	// Output: true
}
