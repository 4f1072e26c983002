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
	p := pieces{room: room, rest: indices}
	for len(p.rest) > 0 {
		verts, piece := p.next()
		on.DrawTriangles32(verts, piece, src, &drawOptions)
	}
}

// pieces are what is left of a batch.
type pieces struct {
	room   []Vertex
	rest   []uint32
	copied int // vertices of the pieces so far
}

// next returns the first of the triangles whose vertices lie close to each other, with a room of their own. What lies close
// are all where the room is no larger than a piece, and any triangle by itself.
//
// Triangles that do not follow their vertices, as those of sprites sorted by depth, would copy most vertices again with
// each piece: 2.5 GiB for 20,000 sprites. Where the pieces have had twice the room, the rest goes as it is. So does what
// is no whole triangle, for Ebitengine to say so.
func (p *pieces) next() (verts []Vertex, piece []uint32) {
	if n, low, high := p.close(); n > 0 {
		room := p.room[low : padded(int(high)+1-int(low), len(p.room)-int(low))+int(low)]
		if p.copied += len(room); p.copied <= 2*len(p.room) {
			piece = pieceRoom[:n]
			for i := range piece {
				piece[i] = p.rest[i] - low
			}
			p.rest = p.rest[n:]
			return room, piece
		}
	}
	piece, p.rest = p.rest, nil
	return p.room, piece
}

// close returns how many of the indices are the next piece's, none where all that is left is, and the first and the last
// of its vertices.
func (p *pieces) close() (n int, low, high uint32) {
	if len(p.room) <= pieceVerts {
		return 0, 0, 0
	}
	low, high = p.rest[0], p.rest[0]
	for n+3 <= min(len(p.rest), pieceIndices) {
		t := p.rest[n : n+3 : n+3]
		l, h := min(low, t[0], t[1], t[2]), max(high, t[0], t[1], t[2])
		if h-l >= pieceVerts && n > 0 {
			break
		}
		n, low, high = n+3, l, h
	}
	return n, low, high
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
	if a == nil || len(q.verts) == 0 {
		return
	}
	if img := a.page.image(); img != nil {
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
