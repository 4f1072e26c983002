package render

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// corners returns where the triangles lie, in their order.
func corners(verts []Vertex, indices []uint32) (at []float32) {
	for _, i := range indices {
		at = append(at, verts[i].DstX)
	}
	return at
}

// TestPieces_AreAllTrianglesInTheirOrderAndNoLargerThanTheyMayBe has quads, strips and triangles that reach far.
func TestPieces_AreAllTrianglesInTheirOrderAndNoLargerThanTheyMayBe(t *testing.T) {
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
		for rest := indices; len(rest) > 0; calls++ {
			var verts []Vertex
			var piece []uint32
			verts, piece, rest = nextPiece(room, rest)
			got = append(got, corners(verts, piece)...)
			if len(piece) == 0 || len(piece)%3 != 0 || len(verts) > pieceVerts && len(piece) > 3 {
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
		for rest := indices[:quads*IndicesPerQuad]; len(rest) > 0; {
			var verts []Vertex
			verts, _, rest = nextPiece(room[:n], rest)
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
