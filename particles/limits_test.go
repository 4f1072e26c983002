package particles

import (
	"math"
	"testing"

	"github.com/strata-go/strata/memory/memtest"
)

func TestNew_ZeroConfigHasDocumentedDefaults(t *testing.T) {
	s := newSystem(t, Config{})
	for range 32 {
		register(t, s, Kind{})
	}
	if _, err := s.Register(Kind{}); err == nil {
		t.Error("a zero Config registered 33 kinds; its documentation promises 32")
	}
	if s.Capacity() != 131072 {
		t.Errorf("a zero Config has a capacity of %d; its documentation promises 131,072", s.Capacity())
	}
}

func TestClose_LeavesNoCapacity(t *testing.T) {
	s := newSystem(t, Config{Capacity: 1000})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if st := s.Stats(); s.Capacity() != 0 || st.Capacity != 0 || st.Rows != 0 || st.Alive != 0 {
		t.Errorf("after Close: capacity %d, %+v", s.Capacity(), st)
	}
}

func TestSetBounds_RefusesWhatIsNotARectangle(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	s := newSystem(t, Config{})
	good := Bounds{MinX: -1, MinY: -2, MaxX: 3, MaxY: 4}
	s.SetBounds(good)
	for _, b := range []Bounds{
		{-inf, -2, 3, 4}, {-1, -inf, 3, 4}, {-1, -2, inf, 4}, {-1, -2, 3, inf},
		{nan, -2, 3, 4}, {-1, nan, 3, 4}, {-1, -2, nan, 4}, {-1, -2, 3, nan},
		{3, -2, 3, 4}, {-1, 4, 3, 4}, {4, -2, 3, 4}, {-1, 5, 3, 4},
	} {
		memtest.Misuse(t, func() { s.SetBounds(b) }, "particles.SetBounds: ", "is not a rectangle")
		if s.bounds != good {
			t.Fatalf("%+v was refused and has replaced the bounds", b)
		}
	}
	s.SetBounds(Bounds{})
}

// A kind that bounces flies freely as long as the bounds are zero.
func TestUpdate_WithoutBoundsNothingBounces(t *testing.T) {
	s := newSystem(t, Config{})
	k := register(t, s, Kind{Bounce: 1})
	s.Emit(&Emitter{Kind: k, X: 5, Y: 6, Life: Just(9)}, 1)
	s.vx[0], s.vy[0] = 10, -20
	for range 3 {
		s.Update(1)
	}
	if s.x[0] != 35 || s.y[0] != -54 || s.vx[0] != 10 || s.vy[0] != -20 {
		t.Errorf("at %v, %v with %v, %v; want 35, -54 with 10, -20", s.x[0], s.y[0], s.vx[0], s.vy[0])
	}
}

// Before the first key the first value holds, after the last the last.
func TestCurve_EndsHoldOutsideTheKeys(t *testing.T) {
	s := newSystem(t, Config{})
	id := register(t, s, Kind{Size: []Key{{0.25, 3}, {0.75, 5}}})
	r := &s.looks[id].ramp
	for _, c := range []struct {
		i    int
		want float32
	}{{0, 3}, {rampSteps/4 - 1, 3}, {rampSteps * 3 / 4, 5}, {rampSteps - 1, 5}} {
		if r[c.i].size != c.want {
			t.Errorf("step %d has size %v; want %v", c.i, r[c.i].size, c.want)
		}
	}
}

// Each channel of a ramp runs in a straight line from one stop to the next.
func TestRamp_EachChannelIsLinear(t *testing.T) {
	p, q := Color{0.1, 0.9, 0.2, 1}, Color{0.7, 0.3, 0.6, 0.2}
	s := newSystem(t, Config{})
	id := register(t, s, Kind{Ramp: []Stop{{0, p}, {1, q}}})
	for i, got := range s.looks[id].ramp {
		f := (float32(i) + 0.5) / rampSteps
		want := [4]float32{p.R + (q.R-p.R)*f, p.G + (q.G-p.G)*f, p.B + (q.B-p.B)*f, p.A + (q.A-p.A)*f}
		for c, v := range [4]float32{got.color.R, got.color.G, got.color.B, got.color.A} {
			if abs(v-want[c]) > 1e-6 {
				t.Fatalf("step %d, channel %d: %v; want %v", i, c, v, want[c])
			}
		}
	}
}

// A particle at rest has no direction to be stretched along: its quad is upright and square.
func TestBuild_StretchedAtRestIsASquare(t *testing.T) {
	s := newSystem(t, Config{})
	k := register(t, s, Kind{Stretch: 0.5})
	s.Emit(&Emitter{Kind: k, X: 50, Y: 50, Life: Just(1), Size: Just(8)}, 1)
	s.vx[0], s.vy[0] = 0, 0
	verts, indices := make([]Vertex, VertsPerQuad), make([]uint32, IndicesPerQuad)
	if nv, _, _ := s.Build(View{Scale: 1, W: 100, H: 100}, []Region{{0, 0, 1, 1}}, verts, indices, 0); nv != VertsPerQuad {
		t.Fatalf("%d vertices; want %d", nv, VertsPerQuad)
	}
	for i, want := range [][2]float32{{46, 46}, {54, 46}, {46, 54}, {54, 54}} {
		if verts[i].DstX != want[0] || verts[i].DstY != want[1] {
			t.Errorf("corner %d at %v, %v; want %v", i, verts[i].DstX, verts[i].DstY, want)
		}
	}
}

// What is left of a life may exceed it by rounding, and by no more.
func TestCheck_LeftMayExceedTheLifeByRoundingOnly(t *testing.T) {
	for _, c := range []struct {
		left float32
		ok   bool
	}{{1, true}, {1 + 1.0/(1<<20), true}, {1 + 1.5/(1<<20), false}, {1 + 2.0/(1<<20), false}} {
		s := newSystem(t, Config{})
		register(t, s, Kind{})
		s.Emit(&Emitter{Life: Just(1)}, 1)
		s.left[0] = c.left
		if err := s.Check(); (err == nil) != c.ok {
			t.Errorf("%v s left of 1 s: Check = %v", c.left, err)
		}
	}
}
