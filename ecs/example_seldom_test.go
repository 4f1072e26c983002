package ecs_test

import (
	"fmt"

	"github.com/strata-go/strata/ecs"
)

// A script knows its relations by their names.
func ExampleWorld_RelateID() {
	w := newWorld()
	defer w.Close()
	if _, err := ecs.RegisterRelation[ChildOf](w); err != nil {
		panic(err)
	}
	parent, child := spawn(w), spawn(w)
	for id := range w.IDs() {
		if _, err := w.RelateID(child, id, parent); err != nil {
			panic(err)
		}
		target, ok := w.TargetID(child, id)
		fmt.Println(w.Name(id), target == parent, ok)
	}
	// Output: ecs_test.ChildOf true true
}

func spawn(w *ecs.World) ecs.Entity {
	e, err := w.NewEntity()
	if err != nil {
		panic(err)
	}
	return e
}

// All children of one parent become those of another one.
func ExampleRelation_SetTargetAll() {
	w := newWorld()
	defer w.Close()
	childOf, err := ecs.RegisterRelation[ChildOf](w)
	if err != nil {
		panic(err)
	}
	a, b := spawn(w), spawn(w)
	if err := ecs.NewMap2[Position, ChildOf](w).To(childOf.ID(), a).NewBatch(3, nil); err != nil {
		panic(err)
	}
	children := ecs.NewFilter1[Position](w)
	n, err := childOf.SetTargetAll(children.To(childOf.ID(), a), b)
	fmt.Println(n, err)
	fmt.Println(children.Len(), children.To(childOf.ID(), b).Len())
	// Output:
	// 3 <nil>
	// 0 3
}

// NewBatch says a number for each; where the entities are wanted, or whole columns are copied, there
// is NewColumns.
func ExampleMap2_NewColumns() {
	w := newWorld()
	defer w.Close()
	var made []ecs.Entity
	err := ecs.NewMap2[Position, Velocity](w).NewColumns(3, func(es []ecs.Entity, ps []Position, vs []Velocity) {
		made = append(made, es...) // es itself is the world's
		for i := range ps {
			ps[i].X, vs[i].Y = float32(i), 1
		}
	})
	fmt.Println(made, err)
	// Output: [#1.1 #2.1 #3.1] <nil>
}

func ExampleComponent_OnSet() {
	w := newWorld()
	defer w.Close()
	position, err := ecs.Register[Position](w)
	if err != nil {
		panic(err)
	}
	watch := position.OnSet(func(e ecs.Entity, p *Position) { fmt.Println(e, "is at", *p) })
	ship, err := ecs.NewMap1[Position](w).NewEntity(Position{1, 1}) // OnAdd is told of that
	if err != nil {
		panic(err)
	}
	position.Set(ship, Position{2, 2})
	if p, ok := position.Get(ship); ok {
		p.X = 3 // nobody is told of what is written through a pointer
	}
	watch.Stop()
	position.Set(ship, Position{4, 4})
	// Output: #1.1 is at {2 2}
}

func ExampleWorld_OnCreate() {
	w := newWorld()
	defer w.Close()
	w.OnCreate(func(e ecs.Entity) { // the world is locked: what it changes waits
		w.Commands().Destroy(e)
		fmt.Println(e, "came, of", w.Len())
	})
	if err := ecs.NewMap1[Position](w).NewBatch(2, nil); err != nil {
		panic(err)
	}
	fmt.Println(w.Commands().Apply(), w.Len())
	// Output:
	// #1.1 came, of 2
	// #2.1 came, of 2
	// <nil> 0
}

// Behind a level the chunks that are kept for the next entities go back to the allocator.
func ExampleWorld_Shrink() {
	w := newWorld()
	defer w.Close()
	ships := ecs.NewMap1[Position](w)
	if _, err := ships.NewEntity(Position{}); err != nil {
		panic(err)
	}
	w.RemoveAll(ecs.NewFilter1[Position](w))
	fmt.Println(w.Stats().SpareChunks, w.Shrink(), w.Stats().Chunks)
	// Output: 1 1024 0
}

// Who recovers from a panic out of a loop over a query, which nobody closed, has the world unlocked.
func ExampleWorld_EndQueries() {
	w := newWorld()
	defer w.Close()
	if err := ecs.NewMap1[Position](w).NewBatch(2, nil); err != nil {
		panic(err)
	}
	func() {
		defer func() { fmt.Println(recover(), w.Locked(), w.EndQueries(), w.Locked()) }()
		q := ecs.NewFilter1[Position](w).Query()
		for q.Next() {
			panic("a system fails")
		}
	}()
	// Output: a system fails true 1 false
}
