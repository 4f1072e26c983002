package particles_test

import (
	"errors"
	"fmt"

	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/particles"
)

// A burst of sparks, moved by one frame and built into slices of the frame arena.
func Example() {
	s, err := particles.New(nil, particles.Config{Capacity: 100_000})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()

	spark, err := s.Register(particles.Kind{
		Name: "spark", Additive: true, Drag: 3, Stretch: 0.03,
		Ramp: []particles.Stop{
			{At: 0, Color: particles.Color{R: 1, G: 1, B: 0.9, A: 1}},
			{At: 0.3, Color: particles.Color{R: 1, G: 0.5, B: 0.1, A: 1}},
			{At: 1},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	blast := particles.Emitter{
		Kind: spark, X: 320, Y: 180, Spread: 6.28,
		Speed: particles.Range{Min: 50, Max: 300}, Life: particles.Range{Min: 0.3, Max: 0.8}, Size: particles.Just(3),
	}
	s.Emit(&blast, 200)
	s.Update(1.0 / 60)

	verts := make([]particles.Vertex, particles.VertsPerQuad*s.Len())
	indices := make([]uint32, particles.IndicesPerQuad*s.Len())
	screen := particles.View{Scale: 1, W: 640, H: 360}
	nv, ni, dropped := s.Build(screen, []particles.Region{{X1: 16, Y1: 16}}, verts, indices, 0)
	fmt.Println(s.Len(), nv, ni, dropped)
	// Output: 200 800 1200 0
}

// A trail behind something fast: the fraction of a particle is carried from call to call.
func ExampleSystem_EmitRate() {
	s, err := particles.New(nil, particles.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	smoke, _ := s.Register(particles.Kind{Name: "smoke", Drag: 1, GravityY: -10})
	trail := particles.Emitter{Kind: smoke, VX: 400, Rate: 100, Life: particles.Just(1), Size: particles.Just(8)}
	for range 6 {
		trail.X += trail.VX / 60
		fmt.Print(s.EmitRate(&trail, 1.0/60), " ")
	}
	fmt.Println(s.Len())
	// Output: 1 2 2 1 2 2 10
}

// Sparks of a manager: the budget of its pools tier bounds them, a tag counts them, and EndLevel removes them. A Set
// with the manager saves them. A game with rewind or replays also calls Reserve at its start, because a budget is no
// state.
func Example_manager() {
	m, err := tiers.New(tiers.Config{Tags: true, Budget: [tiers.Count]uintptr{tiers.Pools: 1 << 20}})
	check(err)
	sparks, err := particles.New(m.PoolSource(), particles.Config{Capacity: 100_000})
	check(err)
	kind, err := sparks.Register(particles.Kind{Name: "spark"})
	check(err)
	effects, err := m.Tag("effects")
	check(err)
	effects.AddPool("sparks", sparks.Pool())
	var set save.Set
	check(errors.Join(set.Add("memory", m), set.Seal()))
	slot := set.NewSlot(1 << 20)

	check(m.BeginLevel())
	blast := particles.Emitter{Kind: kind, Life: particles.Just(1), Size: particles.Just(3)}
	sparks.Emit(&blast, 2000)
	check(set.Save(slot))

	emitted := sparks.Emit(&blast, 90_000) // more than the budget has memory for
	fmt.Println("dropped:", sparks.Stats().Dropped > 0, "within the budget:", m.Stats(tiers.Pools).Committed <= 1<<20)
	fmt.Println("counted by the tag:", effects.Stats().Live == uint64(2000+emitted))

	check(set.Load(slot))
	fmt.Println("loaded:", sparks.Len())
	leaks, err := m.EndLevel()
	check(err)
	fmt.Println("after the level:", sparks.Len(), "sparks;", leaks)
	check(m.Close()) // closes the sparks, too
	// Output:
	// dropped: true within the budget: true
	// counted by the tag: true
	// loaded: 2000
	// after the level: 0 sparks; level 1 left nothing behind
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
