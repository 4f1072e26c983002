package render

import (
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/particles"
)

func overlayManager(t *testing.T) *tiers.Manager {
	t.Helper()
	m, err := tiers.New(tiers.Config{Reserve: [tiers.Count]uintptr{1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = m.EndFrame()
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := m.BeginFrame(); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestOverlay_DrawsWhatIsSwitchedOnAndAllocatesNothing(t *testing.T) {
	m := overlayManager(t)
	a, err := NewAtlas(AtlasConfig{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := NewFont(a)
	if err != nil {
		t.Fatal(err)
	}
	o := NewOverlay(f)
	verts, indices := make([]Vertex, 60_000), make([]uint32, 90_000)
	var q Quads
	draw := func() int {
		q.Begin(verts, indices, a, View{Scale: 2})
		o.Draw(&q, m, Facts{Entities: 12, Particles: 345})
		return q.Len()
	}
	if n := draw(); n != 0 {
		t.Errorf("hidden, it draws %d vertices", n)
	}
	o.Keys([9]bool{1: true})
	strip := draw()
	o.Keys([9]bool{3: true})
	both := draw()
	if strip == 0 || both <= strip {
		t.Errorf("the strip is %d vertices, with the tiers %d", strip, both)
	}
	lowest := float32(0)
	for _, v := range q.Vertices() {
		lowest = max(lowest, v.DstY/2)
	}
	if o.Bottom() != lowest {
		t.Errorf("it ends at %g and says %g", lowest, o.Bottom())
	}
	o.Keys([9]bool{1: true, 3: true})
	if n := draw(); n != 0 || o.Bottom() != 0 {
		t.Errorf("switched off, it draws %d vertices", n)
	}
	o.Keys([9]bool{1: true, 3: true})
	for range 300 {
		draw()
	}
	if n := testing.AllocsPerRun(100, func() { draw() }); n != 0 {
		t.Errorf("a frame of the overlay costs %v Go allocations", n)
	}
	if q.Dropped != 0 {
		t.Errorf("%d quads were dropped", q.Dropped)
	}
	if got := q.View(); got != (View{Scale: 2}) {
		t.Errorf("the view is left as %+v", got)
	}
}

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
	q.Begin(make([]Vertex, 40), make([]uint32, 60), nil, View{Scale: 2, X: 100, Y: 50})
	q.Rect(0, 0, 1, 1, White)
	q.Particles(s, make([]particles.Region, 1), Viewport{X: 100, Y: 50, W: 200, H: 200, Scale: 2})
	if q.Len() != 4*8 || len(q.Indices()) != 6*8 {
		t.Fatalf("%d vertices and %d indices for 8 quads", q.Len(), len(q.Indices()))
	}
	if v := q.Vertices()[4]; v.DstX != 100+20-4 || v.DstY != 50+20-4 {
		t.Errorf("the first corner is at %v, %v", v.DstX, v.DstY)
	}
	if i := q.Indices()[6]; i < 4 || i > 7 {
		t.Errorf("the second quad's first index is %d", i)
	}
}

func BenchmarkOverlay(b *testing.B) {
	m, err := tiers.New(tiers.Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	a, err := NewAtlas(AtlasConfig{})
	if err != nil {
		b.Fatal(err)
	}
	f, err := NewFont(a)
	if err != nil {
		b.Fatal(err)
	}
	o := NewOverlay(f)
	o.Strip, o.Tiers = true, true
	verts, indices := make([]Vertex, 60_000), make([]uint32, 90_000)
	var q Quads
	for b.Loop() {
		q.Begin(verts, indices, a, View{Scale: 2})
		o.Draw(&q, m, Facts{})
	}
}
