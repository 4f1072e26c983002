package render

import (
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hajimehoshi/ebiten/v2"
)

// corners returns where the triangles lie, in their order.
func corners(verts []Vertex, indices []uint32) (at []float32) {
	for _, i := range indices {
		at = append(at, verts[i].DstX)
	}
	return at
}

// The triangles are quads, strips and triangles with distant vertices.
func TestPieces_KeepOrderAndBoundOfAllTriangles(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{3, 4, 1023, 1024, pieceVerts - 1, pieceVerts, pieceVerts + 1, 2 * pieceVerts, 5*pieceVerts + 77} {
		room := make([]Vertex, n)
		for i := range room {
			room[i].DstX = float32(i)
		}
		var indices []uint32
		far := 0
		for at := 0; at+4 <= n; at += 2 + 2*r.IntN(2) {
			for _, k := range []int{0, 1, 2, 2, 1, 3} {
				indices = append(indices, uint32(at+k))
			}
			if r.IntN(3000) == 0 && n > pieceVerts {
				indices = append(indices, 0, uint32(n-1), uint32(n/2))
				far++
			}
		}
		if n == 3 {
			indices = []uint32{0, 2, 1}
		}
		var got []float32
		calls := 0
		for p := (pieces{room: room, rest: indices}); len(p.rest) > 0; calls++ {
			verts, piece := p.next()
			got = append(got, corners(verts, piece)...)
			if len(piece) == 0 || len(piece)%3 != 0 || len(verts) > pieceVerts && len(piece) > 3 && len(p.rest) > 0 {
				t.Fatalf("%d vertices: a piece of %d indices and %d vertices", n, len(piece), len(verts))
			}
		}
		if want := corners(room, indices); !slices.Equal(got, want) {
			t.Errorf("%d vertices: %d corners in other places than those of %d", n, len(got), len(want))
		}
		if most := len(indices)/pieceIndices + 2*n/pieceVerts + 2*far + 1; calls > most {
			t.Errorf("%d vertices, %d triangles that reach far: %d calls, at most %d are needed", n, far, calls, most)
		}
	}
}

// TestPieces_HaveFewSizes: each new size costs a slice of Ebitengine's.
func TestPieces_HaveFewSizes(t *testing.T) {
	room := make([]Vertex, 5*pieceVerts)
	indices := make([]uint32, len(room)/VertsPerQuad*IndicesPerQuad)
	for i := range len(room) / VertsPerQuad {
		index((*[IndicesPerQuad]uint32)(indices[IndicesPerQuad*i:]), uint32(VertsPerQuad*i))
	}
	sizes := map[int]bool{}
	for quads := 1; quads <= len(room)/VertsPerQuad; quads += 7 {
		n := padded(quads*VertsPerQuad, len(room))
		for p := (pieces{room: room[:n], rest: indices[:quads*IndicesPerQuad]}); len(p.rest) > 0; {
			verts, _ := p.next()
			sizes[len(verts)] = true
		}
	}
	if len(sizes) != pieceVerts/vertsStep {
		t.Errorf("%d sizes, want %d", len(sizes), pieceVerts/vertsStep)
	}
	if n := padded(5000, 5001); n != 5001 {
		t.Errorf("padded to %d in a room of 5001", n)
	}
}

// TestPieces_CopyNoMoreThanThreeTimesTheRoom: whatever the order of the triangles. Of 20,000 sprites sorted by depth
// each would bring up to 16,384 vertices of others.
func TestPieces_CopyNoMoreThanThreeTimesTheRoom(t *testing.T) {
	const quads = 20_000
	r := rand.New(rand.NewPCG(3, 3))
	room := make([]Vertex, quads*VertsPerQuad)
	for i := range room {
		room[i].DstX = float32(i)
	}
	var sorted, fan, again []uint32
	for _, at := range r.Perm(quads) {
		var ix [IndicesPerQuad]uint32
		index(&ix, uint32(VertsPerQuad*at))
		sorted = append(sorted, ix[:]...)
	}
	for i := range uint32(len(room) - 2) {
		fan = append(fan, 0, i+1, i+2)
	}
	for range 40 {
		again = append(again, fan[:pieceIndices]...)
	}
	for name, indices := range map[string][]uint32{"sorted": sorted, "a fan": fan, "again and again": again} {
		var got []float32
		copied := 0
		for p := (pieces{room: room, rest: indices}); len(p.rest) > 0; {
			verts, piece := p.next()
			copied += len(verts)
			got = append(got, corners(verts, piece)...)
		}
		if copied > 3*len(room) {
			t.Errorf("%s: %d vertices are copied of %d", name, copied, len(room))
		}
		if !slices.Equal(got, corners(room, indices)) {
			t.Errorf("%s: corners are in other places", name)
		}
	}
}

// TestPieces_WhatIsNoTriangleIsHandedOverToo: Ebitengine panics on it. If it were kept, next would return it forever.
func TestPieces_WhatIsNoTriangleIsHandedOverToo(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 5, pieceIndices + 1} {
		p := pieces{room: make([]Vertex, pieceVerts+1), rest: make([]uint32, n)}
		got := 0
		for calls := 0; len(p.rest) > 0 && calls < 5; calls++ {
			_, piece := p.next()
			got += len(piece)
		}
		if got != n {
			t.Errorf("%d of %d indices are handed over", got, n)
		}
	}
}

// TestWindow_ABatchInPiecesIsThePictureOfItsTriangles compares it with that of one call of Ebitengine's, pixel for pixel.
func TestWindow_ABatchInPiecesIsThePictureOfItsTriangles(t *testing.T) {
	if _, out, err := runScene(t, "pieces"); err != nil {
		t.Errorf("%v, printed %q", err, out)
	}
}

// drawPieces has batches around the sizes of pieces, what lies behind the last vertex is no number, and an order that is
// not that of the vertices.
func drawPieces(f *Frame, _ *Quads, a *Atlas, _ *Font) {
	if pieced {
		return
	}
	pieced = true
	var one, two canvas
	one.make()
	two.make()
	r := rand.New(rand.NewPCG(7, 7))
	regions := []Region{a.white, a.line, a.soft, a.checker}
	const piece = pieceVerts / VertsPerQuad
	for _, quads := range []int{0, 1, 5, 255, 256, 257, piece - 1, piece, piece + 1, 2*piece - 1, 2 * piece, 3*piece + 17} {
		for _, spare := range []int{0, 1, 200, 5000} {
			var q Quads
			nan := float32(math.NaN())
			verts := slices.Repeat([]Vertex{{DstX: nan, DstY: nan, SrcX: nan, ColorA: nan}}, VertsPerQuad*(quads+spare))
			q.Begin(verts, slices.Repeat([]uint32{math.MaxUint32}, IndicesPerQuad*(quads+spare)), a, View{Scale: 1})
			for i := range quads {
				c := Color{r.Float32(), r.Float32(), r.Float32(), r.Float32() * float32(i%3)}
				q.Sprite(regions[r.IntN(len(regions))], r.Float32()*canvasW, r.Float32()*canvasH, 9, 9, r.Float32(), c)
			}
			one.Clear()
			two.Clear()
			a.Submit(one.Image, &q)
			two.DrawTriangles32(q.Vertices(), q.Indices(), a.page.image(), &drawOptions)
			f.fail(one.differs(&two, fmt.Sprintf("%d quads in a room for %d", quads, quads+spare)))

			indices := slices.Clone(q.Indices())
			r.Shuffle(quads, func(i, j int) {
				for k := range IndicesPerQuad {
					indices[IndicesPerQuad*i+k], indices[IndicesPerQuad*j+k] = indices[IndicesPerQuad*j+k], indices[IndicesPerQuad*i+k]
				}
			})
			a.Draw(one.Image, q.Vertices(), indices)
			two.DrawTriangles32(q.Vertices(), indices, a.page.image(), &drawOptions)
			f.fail(one.differs(&two, fmt.Sprintf("%d quads in any order", quads)))
		}
	}
}

var pieced bool // once is enough

const canvasW, canvasH = 320, 180

// A canvas is a picture and its pixels.
type canvas struct {
	*ebiten.Image
	rgba [4 * canvasW * canvasH]byte
}

func (c *canvas) make() {
	c.Image = ebiten.NewImageWithOptions(image.Rect(0, 0, canvasW, canvasH), &ebiten.NewImageOptions{Unmanaged: true})
}

func (c *canvas) differs(from *canvas, what string) error {
	c.ReadPixels(c.rgba[:])
	from.ReadPixels(from.rgba[:])
	for i := range c.rgba {
		if c.rgba[i] != from.rgba[i] {
			return fmt.Errorf("%s: pixel %d,%d is %v, not %v", what, i/4%canvasW, i/4/canvasW, c.rgba[i&^3:(i|3)+1], from.rgba[i&^3:(i|3)+1])
		}
	}
	return nil
}

// TestFrame_WithoutAnAtlasNothingIsDrawnOrReserved: a game may draw before it has one.
func TestFrame_WithoutAnAtlasNothingIsDrawnOrReserved(t *testing.T) {
	var f Frame
	q := Quads{verts: make([]Vertex, VertsPerQuad), indices: make([]uint32, IndicesPerQuad)}
	q.Picture(Region{}, 0, 0, 1, 1, White)
	f.Draw(nil, q.Vertices(), q.Indices())
	f.Submit(nil, &q)
	f.Reserve(nil, &q)
	f.EndReserve()
}
