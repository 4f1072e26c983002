package render

import (
	"math"
	"testing"
)

// shapes draw one of each, at places and sizes of which no two are alike.
var shapes = map[string]func(q *Quads, a *Atlas, f *Font) bool{
	"Sprite":  func(q *Quads, a *Atlas, _ *Font) bool { return q.Sprite(a.soft, 3, 5, 7, 11, 0.3, White) },
	"Picture": func(q *Quads, a *Atlas, _ *Font) bool { return q.Picture(a.soft, 3, 5, 7, 11, White) },
	"Rect":    func(q *Quads, _ *Atlas, _ *Font) bool { return q.Rect(3, 5, 7, 11, White) },
	"Tri":     func(q *Quads, _ *Atlas, _ *Font) bool { return q.Tri(3, 5, 7, 11, 13, 17, White) },
	"Line":    func(q *Quads, _ *Atlas, _ *Font) bool { return q.Line(3, 5, 17, 11, 2, White) },
	"Ring":    func(q *Quads, _ *Atlas, _ *Font) bool { return q.Ring(31, 37, 23, 4, 0.2, 0, White) },
	"hexagon": func(q *Quads, _ *Atlas, _ *Font) bool { return q.Ring(31, 37, 23, 4, 0.2, 6, White) },
	"Border":  func(q *Quads, _ *Atlas, _ *Font) bool { return q.Border(3, 5, 17, 19, 2, White) },
	"Glow":    func(q *Quads, _ *Atlas, _ *Font) bool { return q.Glow(13, 17, 7, White) },
	"Text":    func(q *Quads, _ *Atlas, f *Font) bool { return q.Text(f, 3, 5, 1, White, "Ag") },
}

// A view moves what is drawn, and changes nothing else of it.
func TestShapes_MoveWithTheView(t *testing.T) {
	a, f := testFont(t)
	for name, draw := range shapes {
		still, moved := batch(a, 300, View{2, 0, 0}), batch(a, 300, View{2, 100, 50})
		if !draw(still, a, f) || !draw(moved, a, f) || still.Len() == 0 || still.Len() != moved.Len() {
			t.Errorf("%s: %d and %d vertices", name, still.Len(), moved.Len())
			continue
		}
		for i, v := range still.Vertices() {
			w := moved.Vertices()[i]
			if d := w.DstX - v.DstX - 100; d > 1e-3 || d < -1e-3 {
				t.Errorf("%s: vertex %d moved by %v to the right; want 100", name, i, w.DstX-v.DstX)
			}
			if d := w.DstY - v.DstY - 50; d > 1e-3 || d < -1e-3 {
				t.Errorf("%s: vertex %d moved by %v down; want 50", name, i, w.DstY-v.DstY)
			}
			if v.SrcX != w.SrcX || v.SrcY != w.SrcY {
				t.Errorf("%s: vertex %d shows another texel", name, i)
			}
		}
	}
}

// Lines, borders and rings are cut out of the soft stripe: across it, at the middle of its length.
func TestRing_ShowsTheMiddleOfTheStripe(t *testing.T) {
	a, _ := testFont(t)
	q := batch(a, 300, View{2, 0, 0})
	q.Ring(0, 0, 20, 4, 0, 8, White)
	for i, v := range q.Vertices() {
		edge := [2]float32{q.line.Y0, q.line.Y1}[i%2]
		if v.SrcX != (q.line.X0+q.line.X1)/2 || v.SrcY != edge {
			t.Errorf("vertex %d shows %v, %v; want %v, %v", i, v.SrcX, v.SrcY, (q.line.X0+q.line.X1)/2, edge)
		}
		want := [2]float32{(20 + 2) * 2, (20 - 2) * 2}[i%2]
		if r := float32(math.Hypot(float64(v.DstX), float64(v.DstY))); r < want-0.01 || r > want+0.01 {
			t.Errorf("vertex %d is %v from the middle; want %v", i, r, want)
		}
	}
}

// Room is bounded by vertices and by indices, whichever run out first.
func TestQuads_RoomCountsWhatBothBuffersHold(t *testing.T) {
	for _, c := range [][2]int{{3, 9}, {9, 3}, {3, 3}} {
		q := &Quads{}
		q.Begin(make([]Vertex, VertsPerQuad*c[0]), make([]uint32, IndicesPerQuad*c[1]), nil, View{1, 0, 0})
		for want := 3; ; want-- {
			if q.Room() != want {
				t.Errorf("vertices for %d quads, indices for %d: room for %d; want %d", c[0], c[1], q.Room(), want)
			}
			if !q.Sprite(Region{}, 0, 0, 1, 1, 0, White) {
				break
			}
		}
	}
}
