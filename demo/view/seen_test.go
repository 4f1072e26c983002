package view

import (
	"image"
	"testing"

	"github.com/strata-go/strata/demo/newcomer"
	"github.com/strata-go/strata/render"
)

// An eye reads what is drawn from the vertices of batches: texts, pictures by their names on the atlas, rings, and
// triangles. It does not depend on the game.
type eye struct {
	letters map[render.Region]rune
	names   map[render.Region]string
	frame   newcomer.Frame
	batch   int
}

// newEye learns the letters by having each written in every size.
func newEye(t testing.TB, v *View) *eye {
	t.Helper()
	e := &eye{letters: map[render.Region]rune{}, names: map[render.Region]string{v.atlas.Soft(): "glow"}}
	var q render.Quads
	verts, ix := make([]render.Vertex, 4), make([]uint32, 6)
	for _, r := range asciiAndArrows {
		for scale := float32(0.5); scale <= 20; scale += 0.5 {
			q.Begin(verts, ix, v.atlas, render.View{Scale: 1})
			q.Text(v.font, 0, 0, scale, render.White, string(r))
			e.letters[regionOf(q.Vertices())] = r
		}
	}
	return e
}

var asciiAndArrows = func() (all []rune) {
	for r := ' ' + 1; r <= '~'; r++ {
		all = append(all, r)
	}
	return append(all, '←', '→', '↑', '↓', '◄', '►')
}()

func regionOf(v []render.Vertex) render.Region {
	return render.Region{X0: v[0].SrcX, Y0: v[0].SrcY, X1: v[3].SrcX, Y1: v[3].SrcY}
}

// look adds a batch to the frame.
func (e *eye) look(q *render.Quads) {
	verts, ix := q.Vertices(), q.Indices()
	for len(ix) > 0 {
		n := int(ix[0])
		if len(ix) < 6 || int(ix[3]) != n+1 {
			e.triangle(verts[n : n+3])
			ix = ix[3:]
			continue
		}
		k := 1 // quads of a strip share vertices
		for len(ix) >= 6*(k+1) && int(ix[6*k]) == n+2*k {
			k++
		}
		if k > 1 {
			e.ring(verts[n:n+2*k+2], k)
		} else {
			e.quad(verts[n : n+4])
		}
		ix = ix[6*k:]
	}
	e.batch++
}

func colour(v *render.Vertex) newcomer.Colour {
	return newcomer.Colour{R: v.ColorR, G: v.ColorG, B: v.ColorB, A: v.ColorA}
}

// ring takes the mean of the outer vertices for the middle.
func (e *eye) ring(v []render.Vertex, corners int) {
	var x, y float32
	for i := range corners {
		x, y = x+v[2*i].DstX, y+v[2*i].DstY
	}
	x, y = x/float32(corners), y/float32(corners)
	e.frame.Rings = append(e.frame.Rings, newcomer.Ring{
		X: x, Y: y, Radius: distance(v[0].DstX-x, v[0].DstY-y), Corners: corners, Colour: colour(&v[0]), Batch: e.batch})
}

// triangle takes the middle; four in a row of which all share a corner are an arrow, see chevron.
func (e *eye) triangle(v []render.Vertex) {
	e.frame.Triangles = append(e.frame.Triangles, newcomer.Triangle{
		A: [2]float32{v[0].DstX, v[0].DstY}, B: [2]float32{v[1].DstX, v[1].DstY}, C: [2]float32{v[2].DstX, v[2].DstY}, Colour: colour(&v[0]), Batch: e.batch})
}

func (e *eye) quad(v []render.Vertex) {
	r := regionOf(v)
	letter, isLetter := e.letters[r]
	if isLetter {
		e.letter(letter, v)
		return
	}
	name, known := e.names[r]
	if !known && r.X0 == r.X1 && r.Y0 == r.Y1 {
		name = "fill"
	}
	w := distance(v[1].DstX-v[0].DstX, v[1].DstY-v[0].DstY)
	h := distance(v[2].DstX-v[0].DstX, v[2].DstY-v[0].DstY)
	e.frame.Sprites = append(e.frame.Sprites, newcomer.Sprite{
		Name: name, X: (v[0].DstX + v[3].DstX) / 2, Y: (v[0].DstY + v[3].DstY) / 2, W: w, H: h, Colour: colour(&v[0]), Batch: e.batch})
}

// letter continues the last text, or begins another. A gap of up to five letters is spaces.
func (e *eye) letter(r rune, v []render.Vertex) {
	x, y, w, h := v[0].DstX, v[0].DstY, v[1].DstX-v[0].DstX, v[2].DstY-v[0].DstY
	if n := len(e.frame.Texts); n > 0 {
		if t := &e.frame.Texts[n-1]; t.Batch == e.batch && t.Y == y && t.Height == h {
			gap := int((x-t.X-t.Width)/w + 0.5)
			if x >= t.X+t.Width-w/2 && gap <= 5 {
				for range gap {
					t.Text += " "
				}
				t.Text += string(r)
				t.Width = x + w - t.X
				return
			}
		}
	}
	e.frame.Texts = append(e.frame.Texts, newcomer.Text{Text: string(r), X: x, Y: y, Width: w, Height: h, Colour: colour(&v[0]), Batch: e.batch})
}

func distance(x, y float32) float32 { return vec{x, y}.Len() }

// begin forgets the frame before.
func (e *eye) begin(size image.Point) {
	f := &e.frame
	*f = newcomer.Frame{W: float32(size.X), H: float32(size.Y), Texts: f.Texts[:0], Sprites: f.Sprites[:0], Rings: f.Rings[:0], Triangles: f.Triangles[:0]}
	e.batch = 0
}
