package ecs_test

import (
	"bytes"
	"fmt"
	"slices"
	"unsafe"

	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/memory"
)

type (
	Position struct{ X, Y float32 }
	Velocity struct{ X, Y float32 }
	Frozen   struct{}
	ChildOf  struct{}
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
		for _, r := range moving.All() {
			p, v := r.A, r.B
			p.X += v.X
			p.Y += v.Y
		}
	}
	p, _, ok := movers.Get(e)
	fmt.Println(e, *p, ok)
	// Output: #1.1 {7 1} true
}

// The loop locks nothing. What changes the world waits in World.Commands, or comes last.
func ExampleFilter1_All() {
	w := newWorld()
	defer w.Close()
	ships := ecs.NewMap1[Position](w)
	for x := range 5 {
		if _, err := ships.NewEntity(Position{X: float32(x)}); err != nil {
			panic(err)
		}
	}
	all := ecs.NewFilter1[Position](w)
	for ship, p := range all.All() {
		if p.X > 2 {
			w.Commands().Destroy(ship)
		}
	}
	if err := w.Commands().Apply(); err != nil {
		panic(err)
	}
	for ship, p := range all.All() {
		if p.X == 1 {
			w.Remove(ship)
			break
		}
	}
	fmt.Println(all.Len())
	// Output: 2
}

// One move takes the entity from one state to the next.
func ExampleMap1_Exchange() {
	w := newWorld()
	defer w.Close()
	ships := ecs.NewMap2[Position, Velocity](w)
	freeze := ecs.NewMap1[Frozen](w).Removes(mustID[Velocity](w))
	thaw := ecs.NewMap1[Velocity](w).Removes(mustID[Frozen](w))

	ship, err := ships.NewEntity(Position{}, Velocity{1, 0})
	if err != nil {
		panic(err)
	}
	if err := freeze.Exchange(ship, Frozen{}); err != nil {
		panic(err)
	}
	fmt.Println(freeze.Has(ship), thaw.Has(ship))
	n, err := thaw.ExchangeAll(ecs.NewFilter1[Frozen](w), Velocity{0, 2})
	fmt.Println(freeze.Has(ship), thaw.Has(ship), n, err)
	// Output:
	// true false
	// false true 1 <nil>
}

func mustID[T any](w *ecs.World) ecs.ID {
	c, err := ecs.Register[T](w)
	if err != nil {
		panic(err)
	}
	return c.ID()
}

// A column that only some archetypes have.
func ExampleComponent_Column() {
	w := newWorld()
	defer w.Close()
	velocity, err := ecs.Register[Velocity](w)
	if err != nil {
		panic(err)
	}
	if err := ecs.NewMap1[Position](w).NewBatch(2, nil); err != nil {
		panic(err)
	}
	if err := ecs.NewMap2[Position, Velocity](w).NewBatch(3, nil); err != nil {
		panic(err)
	}
	for es, ps := range ecs.NewFilter1[Position](w).Chunks() {
		vs := velocity.Column(es)
		fmt.Println(len(ps), len(vs))
	}
	for es, ps := range ecs.NewFilter1[Position](w).Exclusive().Chunks() {
		fmt.Println(len(ps), es)
	}
	// Output:
	// 2 0
	// 3 3
	// 2 [#1.1 #2.1]
}

func ExampleWorld_CopyEntity() {
	w := newWorld()
	defer w.Close()
	ships := ecs.NewMap2[Position, Velocity](w)
	ship, err := ships.NewEntity(Position{1, 2}, Velocity{3, 4})
	if err != nil {
		panic(err)
	}
	twin, err := w.CopyEntity(ship)
	p, v, ok := ships.Get(twin)
	fmt.Println(twin, *p, *v, ok, err)
	// Output: #2.1 {1 2} {3 4} true <nil>
}

// Whatever removes the component, an observer keeps an index beside the world right.
func ExampleObserver() {
	w := newWorld()
	defer w.Close()
	position, err := ecs.Register[Position](w)
	if err != nil {
		panic(err)
	}
	cells := map[Position][]ecs.Entity{}
	position.OnAdd(func(e ecs.Entity, p *Position) { cells[*p] = append(cells[*p], e) })
	leave := position.OnRemove(func(e ecs.Entity, p *Position) {
		cells[*p] = slices.DeleteFunc(cells[*p], func(o ecs.Entity) bool { return o == e })
	})
	defer leave.Stop()

	ships := ecs.NewMap1[Position](w)
	if err := ships.NewBatch(3, nil); err != nil {
		panic(err)
	}
	ship := cells[Position{}][1]
	w.Remove(ship)
	if _, err := ships.Remove(cells[Position{}][0]); err != nil {
		panic(err)
	}
	fmt.Println(cells[Position{}])
	// Output: [#3.1]
}

// The columns of a chunk are slices: nothing is faster than a loop over them.
func ExampleFilter2_Chunks() {
	w := newWorld()
	defer w.Close()
	if err := ecs.NewMap2[Position, Velocity](w).NewBatch(1000, func(i int, _ *Position, v *Velocity) { v.X = float32(i) }); err != nil {
		panic(err)
	}
	moving := ecs.NewFilter2[Position, Velocity](w)
	sum := float32(0)
	for _, c := range moving.Chunks() {
		ps, vs := c.A, c.B[:len(c.A)]
		for i := range ps {
			ps[i].X += vs[i].X
			sum += ps[i].X
		}
	}
	fmt.Println(sum)
	// Output: 499500
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

// Without narrows the filter itself. Other code that has the filter takes a clone.
func ExampleFilter1_Clone() {
	w := newWorld()
	defer w.Close()
	frozen, _ := ecs.Register[Frozen](w)
	_, _ = ecs.NewMap1[Position](w).NewEntity(Position{1, 0})
	_, _ = ecs.NewMap2[Position, Frozen](w).NewEntity(Position{2, 0}, Frozen{})

	all := ecs.NewFilter1[Position](w)
	awake := all.Clone().Without(frozen.ID())
	fmt.Println(all.Len(), awake.Len())
	// Output: 2 1
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

// A scene graph: every node is the child of another.
func Example_relations() {
	w := newWorld()
	defer w.Close()
	childOf, err := ecs.RegisterRelation[ChildOf](w)
	if err != nil {
		panic(err)
	}
	nodes := ecs.NewMap1[Position](w)
	parts := ecs.NewMap2[Position, ChildOf](w) // with a target, named by To

	tank, _ := nodes.NewEntity(Position{X: 100})
	turret, _ := parts.To(childOf.ID(), tank).NewEntity(Position{Y: 2}, ChildOf{})
	_, _ = parts.NewEntity(Position{Y: 1}, ChildOf{}) // the hull
	gun, _ := parts.To(childOf.ID(), turret).NewEntity(Position{X: 3}, ChildOf{})

	var visit func(e ecs.Entity, x, y float32)
	visit = func(e ecs.Entity, x, y float32) {
		fmt.Println(e, x, y)
		for part := range childOf.Each(e) {
			p, _, _ := parts.Get(part)
			visit(part, x+p.X, y+p.Y)
		}
	}
	visit(tank, 100, 0)

	parent, ok := childOf.Target(gun)
	fmt.Println(parent == turret, ok)
	w.Remove(turret) // the gun stays, and has no parent any more
	parent, ok = childOf.Target(gun)
	fmt.Println(parent.IsZero(), ok, childOf.Has(gun))
	_, _ = childOf.SetTarget(gun, tank)
	fmt.Println(childOf.RemoveTree(tank), w.Len())
	// Output:
	// #1.1 100 0
	// #2.1 100 2
	// #4.1 103 2
	// #3.1 100 1
	// true true
	// true false true
	// 3 0
}

// A world as a text, and the world that is read from it.
func ExampleWorld_WriteJSON() {
	type Label struct{ Text string }
	w := newWorld()
	defer w.Close()
	childOf, err := ecs.RegisterRelation[ChildOf](w)
	if err != nil {
		panic(err)
	}
	tank, _ := ecs.NewMap2[Position, Label](w).NewEntity(Position{X: 100}, Label{"tank"})
	_, _ = ecs.NewMap2[Position, ChildOf](w).To(childOf.ID(), tank).NewEntity(Position{Y: 2.5}, ChildOf{})

	var text bytes.Buffer
	if err := w.WriteJSON(&text); err != nil {
		panic(err)
	}
	fmt.Print(text.String())

	same := newWorld()
	defer same.Close()
	_, _ = ecs.RegisterRelation[ChildOf](same) // in the order of the other world: then Hash is the same
	_, _ = ecs.Register[Position](same)
	_, _ = ecs.Register[Label](same)
	if err := same.ReadJSON(&text); err != nil {
		panic(err)
	}
	fmt.Println(same.Len(), same.Alive(tank), same.Hash(1) == w.Hash(1))
	// Output:
	// {"strata/ecs":1,"archetypes":[
	// {"components":[]},
	// {"components":["ecs_test.Position","ecs_test.Label"],"entities":[
	// {"entity":"1:1","ecs_test.Position":{"X":100,"Y":0},"ecs_test.Label":{"Text":"tank"}}
	// ]},
	// {"components":["ecs_test.ChildOf","ecs_test.Position"],"targets":{"ecs_test.ChildOf":"1:1"},"sweep":7,"entities":[
	// {"entity":"2:1","ecs_test.ChildOf":{},"ecs_test.Position":{"X":0,"Y":2.5}}
	// ]}
	// ],"index":{"next":3}}
	// 2 true true
}

// What a script knows of a component: its name, and where it lies.
func ExampleNewFilterOf() {
	w := newWorld()
	defer w.Close()
	heat, err := w.RegisterSize("script.heat", 4, 4)
	if err != nil {
		panic(err)
	}
	if err := ecs.NewMap1[Position](w).NewBatch(2, nil); err != nil {
		panic(err)
	}
	e := ecs.NewFilter1[Position](w).EntityAt(1)
	p, err := w.AddID(e, heat)
	if err != nil {
		panic(err)
	}
	*(*float32)(p) = 36.6
	for e, at := range ecs.NewFilterOf(w, heat, mustID[Position](w)).All() {
		fmt.Println(e, w.Name(heat), *(*float32)(at[0]), *(*Position)(at[1]))
	}
	// Output: #2.1 script.heat 36.6 {0 0}
}
