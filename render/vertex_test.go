package render

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hajimehoshi/ebiten/v2"
)

// memPage is a page without a GPU.
type memPage struct {
	size   int
	rgba   []byte
	writes int
}

func newMemPage(size int) *memPage { return &memPage{size: size, rgba: make([]byte, 4*size*size)} }

func (p *memPage) image() *ebiten.Image { return nil }

func (p *memPage) write(x, y, w, h int, rgba []byte) {
	if len(rgba) != 4*w*h || x < 0 || y < 0 || x+w > p.size || y+h > p.size {
		panic(fmt.Sprintf("write of %d bytes at %d,%d %d×%d", len(rgba), x, y, w, h))
	}
	p.writes++
	for j := range h {
		copy(p.rgba[4*((y+j)*p.size+x):], rgba[4*j*w:4*(j+1)*w])
	}
}

func (p *memPage) at(x, y int) [4]byte { return [4]byte(p.rgba[4*(y*p.size+x):]) }

func testAtlas(t testing.TB, regions int) (*Atlas, *memPage) {
	t.Helper()
	p := newMemPage(2 * MinPage)
	a, err := newAtlas(AtlasConfig{Page: 2 * MinPage, Regions: regions}, p)
	if err != nil {
		t.Fatal(err)
	}
	return a, p
}

func testFont(t testing.TB) (*Atlas, *Font) {
	t.Helper()
	a, _ := testAtlas(t, 16)
	f, err := NewFont(a)
	if err != nil {
		t.Fatal(err)
	}
	return a, f
}

func batch(a *Atlas, quads int, v View) *Quads {
	q := &Quads{}
	q.Begin(make([]Vertex, VertsPerQuad*quads), make([]uint32, IndicesPerQuad*quads), a, v)
	return q
}

func checkQuads(t *testing.T, q *Quads) {
	t.Helper()
	if q.nv > len(q.verts) || q.ni > len(q.indices) || q.ni%3 != 0 {
		t.Fatalf("nv %d of %d, ni %d of %d", q.nv, len(q.verts), q.ni, len(q.indices))
	}
	for _, i := range q.Indices() {
		if int(i) >= q.nv {
			t.Fatalf("index %d of %d vertices", i, q.nv)
		}
	}
}

func TestQuads_SpriteIsCentredAndScaledByTheView(t *testing.T) {
	q := batch(nil, 1, View{2, 100, 50})
	if !q.Sprite(Region{1, 2, 3, 4}, 10, 20, 8, 4, 0, Color{1, 0.5, 0.25, 0}) {
		t.Fatal("refused")
	}
	want := [4][4]float32{{112, 86, 1, 2}, {128, 86, 3, 2}, {112, 94, 1, 4}, {128, 94, 3, 4}}
	for i, v := range q.Vertices() {
		if got := [4]float32{v.DstX, v.DstY, v.SrcX, v.SrcY}; got != want[i] {
			t.Errorf("corner %d = %v, want %v", i, got, want[i])
		}
		if v.ColorR != 1 || v.ColorG != 0.5 || v.ColorB != 0.25 || v.ColorA != 0 {
			t.Errorf("corner %d has colour %v", i, v)
		}
	}
}

func TestQuads_RotationTurnsClockwiseAndKeepsSize(t *testing.T) {
	q := batch(nil, 2, View{1, 0, 0})
	q.Sprite(Region{}, 0, 0, 8, 4, math.Pi/2, White)
	v := q.Vertices()[1] // top right goes to bottom right
	if math.Abs(float64(v.DstX-2)) > 1e-4 || math.Abs(float64(v.DstY-4)) > 1e-4 {
		t.Errorf("top right went to %v,%v; want 2,4", v.DstX, v.DstY)
	}
}

func TestQuads_FullBatchCountsAndChangesNothing(t *testing.T) {
	a, f := testFont(t)
	for name, draw := range map[string]func(q *Quads) bool{
		"Sprite": func(q *Quads) bool { return q.Sprite(a.white, 1, 1, 2, 2, 0.3, White) },
		"Rect":   func(q *Quads) bool { return q.Rect(1, 1, 2, 2, White) },
		"Tri":    func(q *Quads) bool { return q.Tri(0, 0, 1, 1, 2, 0, White) },
		"Line":   func(q *Quads) bool { return q.Line(0, 0, 5, 5, 1, White) },
		"Ring":   func(q *Quads) bool { return q.Ring(0, 0, 5, 1, 0, 0, White) },
		"Border": func(q *Quads) bool { return q.Border(0, 0, 9, 9, 1, White) },
		"Tiles":  func(q *Quads) bool { return q.Tiles(a.soft, 0, 0, 900, 90, 3, 3, 1, White) },
		"Text":   func(q *Quads) bool { return q.Text(f, 0, 0, 1, White, "x") },
		"Glow":   func(q *Quads) bool { return q.Glow(0, 0, 3, White) },
	} {
		q := batch(a, 1, View{1, 0, 0})
		q.Rect(0, 0, 1, 1, White)
		if draw(q) || q.Dropped != 1 || q.Len() != VertsPerQuad || len(q.Indices()) != IndicesPerQuad {
			t.Errorf("%s: dropped %d, %d vertices", name, q.Dropped, q.Len())
		}
	}
	var zero Quads
	if zero.Rect(0, 0, 1, 1, White) || zero.Dropped != 1 {
		t.Error("the zero Quads took a quad")
	}
}

func TestQuads_RandomShapesKeepTheInvariants(t *testing.T) {
	a, f := testFont(t)
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		q := &Quads{}
		q.Begin(make([]Vertex, r.IntN(300)), make([]uint32, r.IntN(450)), a, View{2, 0, 0})
		curve := make([]float32, r.IntN(300))
		for i := range curve {
			curve[i] = r.Float32()
		}
		p := NewPanel(q, f, 0, 0, 20, 20, White)
		for range 60 {
			x, y := r.Float32()*100, r.Float32()*100
			switch r.IntN(7) {
			case 0:
				q.Sprite(a.soft, x, y, x, y, x, White)
			case 1:
				q.Tri(x, y, y, x, 0, 0, White)
			case 2:
				q.Ring(x, y, x, 3, 0, r.IntN(200)-10, White)
			case 3:
				q.Text(f, x, y, 1, White, "ab\nc≤")
			case 4:
				p.Sparkline(x, y, 50, 10, curve, 240, 0, White)
			case 5:
				p.Bar(x, y, 50, 5, Level{1, 2, 3, 4}, White)
			case 6:
				q.Tiles(a.checker, 0, 0, x, y, -x, y, 1, White)
			}
			checkQuads(t, q)
		}
	}
}

func TestQuads_TilesCoverTheRectangleExactlyOnce(t *testing.T) {
	r := Region{100, 100, 116, 108}
	for _, d := range [][2]float32{{0, 0}, {5, 3}, {-5, -3}, {16, 8}, {1000.5, -77.25}} {
		q := batch(nil, 100, View{1, 0, 0})
		q.Tiles(r, 10, 20, 70, 30, d[0], d[1], 1, White)
		var area float64
		for v := q.Vertices(); len(v) > 0; v = v[4:] {
			w, h := v[3].DstX-v[0].DstX, v[3].DstY-v[0].DstY
			area += float64(w * h)
			if v[0].DstX < 10 || v[3].DstX > 80 || v[0].DstY < 20 || v[3].DstY > 50 {
				t.Errorf("offset %v: tile outside: %v %v", d, v[0], v[3])
			}
			if dw := v[3].SrcX - v[0].SrcX - w; math.Abs(float64(dw)) > 1e-3 || v[0].SrcX < 100-1e-3 || v[3].SrcX > 116+1e-3 {
				t.Errorf("offset %v: tile of %v shows texels %v to %v", d, w, v[0].SrcX, v[3].SrcX)
			}
		}
		if math.Abs(area-70*30) > 0.1 || q.Dropped != 0 {
			t.Errorf("offset %v: area %v, dropped %d", d, area, q.Dropped)
		}
	}
}

// TestQuads_TilesWithoutNumberAreDropped: their number is no whole one of any machine, and as such may be 0, or the
// product of two that are not.
func TestQuads_TilesWithoutNumberAreDropped(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range []struct{ w, h, dx, dy float32 }{
		{1e30, 1e30, 0, 0}, {inf, 8, 0, 0}, {inf, inf, 0, 0}, {8, 1e30, 0, 0}, {16, 8, nan, 0}, {16, 8, 0, inf},
		{1 << 36, 1 << 35, 0, 0}, {1 << 20, 1 << 19, 0, 0}, // 2^64 of them, and 2^32
	} {
		q := batch(nil, 100, View{1, 0, 0})
		if q.Tiles(Region{0, 0, 16, 8}, 0, 0, c.w, c.h, c.dx, c.dy, 1, White) || q.Dropped != 1 || q.Len() != 0 {
			t.Fatalf("%+v: %d dropped, %d vertices drawn", c, q.Dropped, q.Len())
		}
	}
}

func TestSincos(t *testing.T) {
	for a := -1e4 + 1; a < 1e4; a += 0.737 {
		s, c := sincos(float32(a))
		ws, wc := math.Sincos(float64(float32(a)))
		if math.Abs(float64(s)-ws) > 2e-5 || math.Abs(float64(c)-wc) > 2e-5 {
			t.Fatalf("sincos(%v) = %v, %v; want %v, %v", a, s, c, ws, wc)
		}
	}
	for _, a := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e20} {
		if s, c := sincos(float32(a)); s != 0 || c != 1 {
			t.Errorf("sincos(%v) = %v, %v", a, s, c)
		}
	}
}

func TestColor(t *testing.T) {
	c := RGB(0xff8000)
	if c != (Color{1, 128.0 / 255, 0, 1}) || c.Light(2) != (Color{2, 256.0 / 255, 0, 0}) || c.Fade(0.5).A != 0.5 || c.Shade(0.5).A != 1 {
		t.Errorf("%v %v %v", c, c.Light(2), c.Fade(0.5))
	}
	if White.Mix(Black, 0.25) != (Color{0.75, 0.75, 0.75, 1}) {
		t.Errorf("%v", White.Mix(Black, 0.25))
	}
}

func TestRegion_Cell(t *testing.T) {
	r := Region{10, 20, 50, 40}
	for i, want := range map[int]Region{0: {10, 20, 20, 30}, 5: {20, 30, 30, 40}, 8: {10, 20, 20, 30}, -1: {40, 30, 50, 40}} {
		if got := r.Cell(i, 4, 2); got != want {
			t.Errorf("Cell(%d) = %v, want %v", i, got, want)
		}
	}
	if r.Cell(3, 0, 2) != r {
		t.Error("a grid of nothing")
	}
}

func BenchmarkQuads(b *testing.B) {
	a, f := testFont(b)
	const n = 100_000
	q := batch(a, n, View{2, 0, 0})
	verts, indices := q.verts, q.indices
	for name, draw := range map[string]func(i int) bool{
		"sprite":  func(i int) bool { return q.Sprite(a.soft, float32(i&511), 100, 8, 8, 0, White) },
		"rotated": func(i int) bool { return q.Sprite(a.soft, float32(i&511), 100, 8, 8, float32(i&63)*0.1, White) },
		"turned":  func(i int) bool { return q.Turned(a.soft, float32(i&511), 100, 8, 8, 0.6, 0.8, White) },
		"rect":    func(i int) bool { return q.Rect(float32(i&511), 100, 8, 8, White) },
		"line":    func(i int) bool { return q.Line(float32(i&511), 100, 8, 8, 2, White) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			q.Begin(verts, indices, a, View{2, 0, 0})
			for b.Loop() {
				if i++; !draw(i) {
					q.Begin(verts, indices, a, View{2, 0, 0})
				}
			}
		})
	}
	b.Run("text/glyphs=16", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			q.Begin(verts, indices, a, View{2, 0, 0})
			q.Text(f, 10, 10, 1, White, "0123456789abcdef")
		}
	})
}
