package render

import "github.com/hajimehoshi/ebiten/v2"

// Ebitengine copies the vertices of a call into a slice of the target picture. If the slice is too short it makes
// a new one of exactly the size of the call. So each frame with more quads than any before it would leave the
// former slice to the collector: 165 MiB in two minutes of a growing horde.
//
// A large batch is therefore submitted in pieces, which Ebitengine merges again into one call of the GPU. A small
// batch is padded with unused vertices, so that its size is one of sixteen.
const (
	pieceVerts   = 16 << 10 // 768 KiB
	pieceIndices = pieceVerts / VertsPerQuad * IndicesPerQuad
	vertsStep    = 1 << 10
)

// pieceRoom contains the indices of a piece. It belongs to the game goroutine.
var pieceRoom [pieceIndices]uint32

// handOver submits the triangles of indices, whose vertices lie in the given slice.
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

// next returns the first triangles whose vertices lie close together, with a slice of these vertices. If all
// vertices fit into one piece, these are all triangles. It is at least one triangle.
//
// Triangles that do not follow their vertices, as those of sprites sorted by depth, would copy most vertices with
// each piece: 2.5 GiB for 20,000 sprites. When the pieces have copied twice the number of vertices, the rest is
// submitted as one piece. So is an incomplete triangle, which Ebitengine reports.
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

// close returns how many indices belong to the next piece, and the first and last of its vertices. n is 0 if the
// rest is one piece.
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

// padded rounds a number of vertices up to whole steps, but not above the number that there is.
func padded(n, room int) int {
	return min((n+vertsStep-1)/vertsStep*vertsStep, room)
}

// Reserve makes Ebitengine allocate buffers for all vertices that q has space for, in addition to the vertices of the
// frame. Reserve draws nothing visible. If a is nil, or the slice of vertices of q is empty, Reserve does nothing.
//
// Use it in programs whose memory never shrinks, such as those in a browser. Without Reserve, Ebitengine allocates a new
// buffer for each frame that is larger than all before, and leaves the former buffer to the collector. Ebitengine uses
// several buffers in turn, so call Reserve in four consecutive frames, and then EndReserve.
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

// EndReserve frees the invisible picture that Reserve draws on. The buffers of Ebitengine keep their size. Without a
// former Reserve, EndReserve does nothing.
func (f *Frame) EndReserve() {
	if f.reserve != nil {
		f.reserve.Deallocate()
		f.reserve = nil
	}
}
