package render

import "github.com/hajimehoshi/ebiten/v2"

// Ebitengine copies the vertices of a call into a slice of the picture that is drawn on, and makes a new one of exactly
// that size where it is too short. So each frame with more quads than any before it would leave the former slice to the
// collector: 165 MiB in two minutes of a horde that grew. A large batch therefore goes there in pieces, which Ebitengine
// puts together again to one call of the GPU, and a small one with some vertices behind its last that no triangle uses, so
// that its size is one of sixteen.
const (
	pieceVerts   = 16 << 10 // 768 KiB
	pieceIndices = pieceVerts / VertsPerQuad * IndicesPerQuad
	vertsStep    = 1 << 10
)

// pieceRoom holds the indices of a piece; the game goroutine's.
var pieceRoom [pieceIndices]uint32

// handOver hands the triangles of indices over, whose vertices lie in room.
func handOver(on *ebiten.Image, room []Vertex, indices []uint32, src *ebiten.Image) {
	for len(indices) > 0 {
		var verts []Vertex
		var piece []uint32
		verts, piece, indices = nextPiece(room, indices)
		on.DrawTriangles32(verts, piece, src, &drawOptions)
	}
}

// nextPiece returns the first of the triangles whose vertices lie close to each other, in a room of their own, and the
// rest. What lies close are all where the room is no larger than a piece, and any triangle by itself.
func nextPiece(room []Vertex, indices []uint32) (verts []Vertex, piece, rest []uint32) {
	if len(room) <= pieceVerts {
		return room, indices, nil
	}
	n, low, high := 0, indices[0], indices[0]
	for n+3 <= min(len(indices), pieceIndices) {
		t := indices[n : n+3 : n+3]
		l, h := min(low, t[0], t[1], t[2]), max(high, t[0], t[1], t[2])
		if h-l >= pieceVerts && n > 0 {
			break
		}
		n, low, high = n+3, l, h
	}
	piece = pieceRoom[:n]
	for i := range piece {
		piece[i] = indices[i] - low
	}
	return room[low : padded(int(high)+1-int(low), len(room)-int(low))+int(low)], piece, indices[n:]
}

// padded rounds a number of vertices up to whole steps, where there is room.
func padded(n, room int) int {
	return min((n+vertsStep-1)/vertsStep*vertsStep, room)
}

// Reserve has Ebitengine make room for as many vertices in a frame as q has room for, beside those that the frame has, and
// draws nothing. Its slices grow by a quarter at a time with the largest frame there was, and each leaves the former
// to the collector: where a program's memory never shrinks, as in the browser, they are better large at once. It takes
// some frames, one after the other, until every slice has its turn; EndReserve is behind the last.
func (f *Frame) Reserve(a *Atlas, q *Quads) {
	if img := a.page.image(); img != nil && len(q.verts) > 0 {
		if f.reserve == nil {
			f.reserve = newNowhere()
		}
		f.reserve.DrawTriangles32(q.verts, nothing.indices[:], img, &drawOptions)
	}
}

// EndReserve lets go of what Reserve needed.
func (f *Frame) EndReserve() {
	if f.reserve != nil {
		f.reserve.Deallocate()
		f.reserve = nil
	}
}
