package ecs_test

import (
	"fmt"

	"github.com/strata-go/strata/ecs"
)

// newTracked makes a world that tracks positions, and three ships.
func newTracked() (*ecs.World, ecs.Component[Position], []ecs.Entity) {
	w := newWorld()
	position, err := ecs.Register[Position](w)
	if err != nil {
		panic(err)
	}
	if err := w.Track(position.ID()); err != nil {
		panic(err)
	}
	ships := make([]ecs.Entity, 3)
	for i := range ships {
		if ships[i], err = ecs.NewMap1[Position](w).NewEntity(Position{X: float32(i)}); err != nil {
			panic(err)
		}
	}
	return w, position, ships
}

// A system sends what it has not sent before: each look goes on where the one before it has ended.
func ExampleFilter1_ChangedSince() {
	w, position, ships := newTracked()
	defer w.Close()
	all := ecs.NewFilter1[Position](w)
	var sent ecs.Tick // before everything
	send := func() {
		for ship, p := range all.ChangedSince(sent, position.ID()).All() {
			fmt.Println("send", ship, *p)
		}
		sent = w.Tick()
	}
	send()
	send()
	position.Set(ships[1], Position{X: 7})
	w.Remove(ships[0]) // another ship moves into its row, which is no write
	send()
	// Output:
	// send #1.1 {0 0}
	// send #2.1 {1 0}
	// send #3.1 {2 0}
	// send #2.1 {7 0}
}

// Nobody sees what a loop does through the pointers that it is given. So the loop says it.
func ExampleFilter1_Writes() {
	w, position, _ := newTracked()
	defer w.Close()
	moving := ecs.NewFilter1[Position](w).Writes(position.ID()) // once, not per frame
	reading := ecs.NewFilter1[Position](w)
	before := w.Tick()
	for _, p := range reading.All() {
		fmt.Print(p.X, " ")
	}
	fmt.Println(reading.ChangedSince(before, position.ID()).Len())
	for _, p := range moving.All() {
		p.X++
	}
	fmt.Println(reading.ChangedSince(before, position.ID()).Len())
	// Output:
	// 0 1 2 0
	// 3
}

// What was kept of a world by its positions is made anew where one of them was written.
func ExampleWorld_Tick() {
	w, position, ships := newTracked()
	defer w.Close()
	seen := w.Tick() // all that was written is no newer than this
	all := ecs.NewFilter1[Position](w)
	fmt.Println(all.ChangedSince(seen, position.ID()).Len())
	position.Set(ships[2], Position{})
	fmt.Println(all.ChangedSince(seen, position.ID()).Len())
	seen = w.Tick()
	fmt.Println(all.ChangedSince(seen, position.ID()).Len())
	// Output:
	// 0
	// 1
	// 0
}

// Tracking begins before anything has the component, and each byte of it is shown.
func ExampleWorld_Track() {
	w := newWorld()
	defer w.Close()
	ships := ecs.NewMap2[Position, Velocity](w)
	if err := w.Track(mustID[Position](w)); err != nil {
		panic(err)
	}
	if _, err := ships.NewEntity(Position{}, Velocity{}); err != nil {
		panic(err)
	}
	for i := range w.Stats().Components {
		c := w.Column(i)
		fmt.Println(c.Name, c.BytesUsed)
	}
	fmt.Println(w.Track(mustID[Velocity](w)))
	// Output:
	// ecs_test.Position 8
	// ecs_test.Velocity 8
	// ticks of ecs_test.Position 4
	// ecs: an archetype already has component ecs_test.Velocity; call Track before any entity has it
}

func ExampleComponent_Touch() {
	w, position, ships := newTracked()
	defer w.Close()
	seen := w.Tick()
	if p, ok := position.Get(ships[1]); ok {
		p.X = 100
		position.Touch(ships[1])
	}
	for ship, p := range ecs.NewFilter1[Position](w).ChangedSince(seen, position.ID()).All() {
		fmt.Println(ship, *p)
	}
	// Output: #2.1 {100 0}
}

func ExampleWorld_TouchID() {
	w, position, ships := newTracked()
	defer w.Close()
	seen, id := w.Tick(), position.ID()
	(*Position)(w.Ptr(ships[2], id)).Y = 5
	fmt.Println(w.TouchID(ships[2], id))
	for ship, at := range ecs.NewFilterOf(w, id).ChangedSince(seen, id).All() {
		fmt.Println(ship, *(*Position)(at[0]))
	}
	// Output:
	// true
	// #3.1 {2 5}
}
