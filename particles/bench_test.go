package particles

import (
	"fmt"
	"testing"
)

const dt = 1.0 / 60

var counts = []int{10_000, 100_000, 1_000_000}

func newSystem(t testing.TB, cfg Config) *System {
	t.Helper()
	s, err := New(nil, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func register(t testing.TB, s *System, k Kind) KindID {
	t.Helper()
	id, err := s.Register(k)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// crowd emits n particles of three kinds, mixed, whose lives are spread so that a steady
// crowd loses the same number every step.
func crowd(t testing.TB, s *System, n int) *[3]Emitter {
	ramp := []Stop{{0, Color{1, 1, 1, 1}}, {1, Color{}}}
	es := &[3]Emitter{
		{Kind: register(t, s, Kind{Name: "smoke", Ramp: ramp, Drag: 1, GravityY: -20, Size: []Key{{0, 1}, {1, 3}}})},
		{Kind: register(t, s, Kind{Name: "spark", Ramp: ramp, Drag: 2, Additive: true, Stretch: 0.05})},
		{Kind: register(t, s, Kind{Name: "ember", Ramp: ramp, Drag: 0.5, GravityY: 60, Spin: Range{-3, 3}, Vary: 0.5})},
	}
	for i := range es {
		es[i].Shape, es[i].Radius, es[i].X, es[i].Y = Disc, 150, 320, 180
		es[i].Spread, es[i].Speed, es[i].Life, es[i].Size = tau, Range{20, 100}, Range{0.02, 2}, Range{4, 12}
	}
	for s.Len() < n {
		for i := range es {
			s.Emit(&es[i], min(7, n-s.Len()))
		}
	}
	return es
}

// refill keeps the crowd at n.
func refill(s *System, es *[3]Emitter, n int) {
	for i := 0; s.Len() < n; i = (i + 1) % 3 {
		s.Emit(&es[i], min(50, n-s.Len()))
	}
}

func perParticle(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/particle")
}

// A grain is a particle of the baseline: a slice of structures in the Go heap, updated and
// swap-removed in one loop, with the same arithmetic. What it emits is first written into
// columns and then copied, which costs it a little more than its own emitter would.
type grain struct {
	x, y, vx, vy, left, inv, size, rot, spin float32
	kind, tint                               uint8
}

func updateGrains(gs []grain, steps *[maxKinds]step) []grain {
	for i := 0; i < len(gs); {
		g := &gs[i]
		st := &steps[g.kind]
		g.vx = float32(g.vx*st.keep) + st.gx
		g.vy = float32(g.vy*st.keep) + st.gy
		g.x += float32(g.vx * dt)
		g.y += float32(g.vy * dt)
		if g.left -= dt; !(g.left > 0) {
			*g = gs[len(gs)-1]
			gs = gs[:len(gs)-1]
			continue
		}
		i++
	}
	return gs
}

// grains copies the rows of s from lo.
func grains(gs []grain, s *System, lo int) []grain {
	for i := lo; i < s.n; i++ {
		b := s.birth[i]
		gs = append(gs, grain{s.x[i], s.y[i], s.vx[i], s.vy[i], s.left[i], b.inv, b.size, b.rot, b.spin, s.kind[i], s.tint[i]})
	}
	return gs
}

// BenchmarkUpdate keeps a crowd at n: what dies in a step, 1.6 %, is emitted again, and
// both are charged.
func BenchmarkUpdate(b *testing.B) {
	for _, n := range counts {
		b.Run(fmt.Sprintf("columns/n=%d", n), func(b *testing.B) {
			s := newSystem(b, Config{Capacity: n})
			es := crowd(b, s, n)
			settle(s, es, n)
			for b.Loop() {
				s.Update(dt)
				refill(s, es, n)
			}
			perParticle(b, n)
		})
		b.Run(fmt.Sprintf("goheap/n=%d", n), func(b *testing.B) {
			s := newSystem(b, Config{Capacity: n})
			es := crowd(b, s, n)
			settle(s, es, n)
			s.prepare(dt)
			gs := grains(make([]grain, 0, n), s, 0)
			for b.Loop() {
				gs = updateGrains(gs, &s.steps)
				s.n = len(gs) // the emission writes s's rows, and their copies the baseline's
				refill(s, es, n)
				gs = grains(gs, s, len(gs))
			}
			perParticle(b, n)
		})
	}
}

// settle runs the crowd until as many die in every step.
func settle(s *System, es *[3]Emitter, n int) {
	for range 150 {
		s.Update(dt)
		refill(s, es, n)
	}
}

var sight = View{Scale: 2, W: 1280, H: 720}

func BenchmarkBuild(b *testing.B) {
	for _, n := range counts {
		verts, indices := make([]Vertex, VertsPerQuad*n), make([]uint32, IndicesPerQuad*n)
		for _, c := range []struct {
			name  string
			view  View
			kinds []int
		}{
			{"upright", sight, []int{0}}, {"stretched", sight, []int{1}}, {"turned", sight, []int{2}},
			{"mixed", sight, []int{0, 1, 2}}, {"outOfSight", View{X: 1e6, Scale: 2, W: 1280, H: 720}, []int{0, 1, 2}},
		} {
			b.Run(fmt.Sprintf("%s/n=%d", c.name, n), func(b *testing.B) {
				s := newSystem(b, Config{Capacity: n})
				es := crowd(b, s, n)
				s.Reset()
				for s.Len() < n {
					for _, k := range c.kinds {
						s.Emit(&es[k], min(7, n-s.Len()))
					}
				}
				regions := make([]Region, 3)
				for b.Loop() {
					s.Build(c.view, regions, verts, indices, 0)
				}
				perParticle(b, n)
			})
		}
	}
}

func BenchmarkEmit(b *testing.B) {
	for _, shape := range []Shape{Point, Disc, Line} {
		b.Run(fmt.Sprintf("shape=%d", shape), func(b *testing.B) {
			s := newSystem(b, Config{Capacity: 4096})
			e := crowd(b, s, 1)[0]
			e.Shape = shape
			for b.Loop() {
				s.n = 0
				s.Emit(&e, 1000)
			}
			perParticle(b, 1000)
		})
	}
}

func BenchmarkHash(b *testing.B) {
	s := newSystem(b, Config{Capacity: 100_000})
	crowd(b, s, 100_000)
	for b.Loop() {
		s.Hash(0)
	}
	perParticle(b, 100_000)
}
