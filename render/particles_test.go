package render

import (
	"testing"
	"unsafe"

	"github.com/strata-go/strata/particles"
)

func TestParticles_VertexHasEbitenginesLayout(t *testing.T) {
	var v Vertex
	var p particles.Vertex
	for _, c := range []struct {
		name string
		a, b uintptr
	}{
		{"DstX", unsafe.Offsetof(v.DstX), unsafe.Offsetof(p.DstX)},
		{"SrcX", unsafe.Offsetof(v.SrcX), unsafe.Offsetof(p.SrcX)},
		{"SrcY", unsafe.Offsetof(v.SrcY), unsafe.Offsetof(p.SrcY)},
		{"ColorR", unsafe.Offsetof(v.ColorR), unsafe.Offsetof(p.ColorR)},
		{"ColorA", unsafe.Offsetof(v.ColorA), unsafe.Offsetof(p.ColorA)},
		{"Custom0", unsafe.Offsetof(v.Custom0), unsafe.Offsetof(p.Custom0)},
	} {
		if c.a != c.b {
			t.Errorf("%s is at %d in Ebitengine and at %d in particles", c.name, c.a, c.b)
		}
	}
}

func TestQuads_ParticlesGoIntoTheBatch(t *testing.T) {
	s, err := particles.New(nil, particles.Config{Capacity: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	kind, err := s.Register(particles.Kind{Name: "dot"})
	if err != nil {
		t.Fatal(err)
	}
	s.Emit(&particles.Emitter{Kind: kind, X: 10, Y: 10, Life: particles.Just(1), Size: particles.Just(4)}, 7)
	var q Quads
	q.Begin(make([]Vertex, 80), make([]uint32, 120), nil, View{Scale: 2, X: 100, Y: 50})
	q.Rect(0, 0, 1, 1, White)
	q.Particles(s, make([]particles.Region, 1), Viewport{X: 100, Y: 50, W: 200, H: 200, Scale: 2})
	if q.Len() != 4*8 || len(q.Indices()) != 6*8 {
		t.Fatalf("%d vertices and %d indices for 8 quads", q.Len(), len(q.Indices()))
	}
	narrow := Viewport{X: 140, Y: 50, W: 100, H: 200, Scale: 2} // the particles are beside it, and in its bleed
	for _, c := range []struct {
		vp   Viewport
		want int
	}{{narrow, 8}, {narrow.Bleed(400, 300, 0), 8}, {narrow.Bleed(400, 300, 20), 15}} {
		if q.Particles(s, make([]particles.Region, 1), c.vp); q.Len() != 4*c.want {
			t.Errorf("on %v there are %d quads, want %d", c.vp.Drawn(), q.Len()/4, c.want)
		}
	}
	if v := q.Vertices()[4]; v.DstX != 100+20-4 || v.DstY != 50+20-4 {
		t.Errorf("the first corner is at %v, %v", v.DstX, v.DstY)
	}
	if i := q.Indices()[6]; i < 4 || i > 7 {
		t.Errorf("the second quad's first index is %d", i)
	}
}
