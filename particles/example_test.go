package particles_test

import (
	"fmt"

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
