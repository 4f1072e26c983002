package engine_test

import (
	"fmt"

	"github.com/go-gl/mathgl/mgl32"
	"github.com/strata-go/strata/engine"
)

// Two seconds of a simulation, without a window. The hash is the same on every machine.
func ExampleLoop() {
	var pos, vel mgl32.Vec2
	var s engine.Schedule
	s.MustAdd("wander", func(t *engine.Tick) error {
		vel = engine.Limit(engine.MulAdd(vel, t.Rand.Circle(), 8*engine.Delta), 40)
		return nil
	})
	s.MustAdd("move", func(*engine.Tick) error {
		pos = engine.MulAdd(pos, vel, engine.Delta)
		return nil
	})

	rnd := engine.NewRand(2026, 0)
	loop := engine.NewLoop(&s, &rnd, 0)
	if err := loop.Run(2*engine.TickRate, &engine.Input{}); err != nil {
		fmt.Println(err)
	}
	var h engine.Hasher
	h.Vec2(pos)
	rnd.Hash(&h)
	fmt.Printf("tick %d, state %016x\n", loop.Tick(), h.Sum())
	// Output:
	// tick 120, state c728d801bce990fc
}
