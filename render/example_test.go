package render_test

import (
	"fmt"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/render"
)

var (
	vertexType = memory.MustType[render.Vertex]()
	indexType  = memory.MustType[uint32]()
)

// Quads writes into frame memory. It never grows the slices, and counts the shapes that do not fit.
func ExampleQuads() {
	frame, err := arena.NewLinear(nil, arena.LinearConfig{Bytes: 64 << 10})
	if err != nil {
		panic(err)
	}
	defer frame.Close()
	verts, err := arena.MakeSliceUninit(frame, vertexType, 2*render.VertsPerQuad)
	if err != nil {
		panic(err)
	}
	indices, err := arena.MakeSliceUninit(frame, indexType, 2*render.IndicesPerQuad)
	if err != nil {
		panic(err)
	}

	var q render.Quads
	q.Begin(verts, indices, nil, render.View{Scale: 2, X: 100}) // an atlas is needed for fills and lines
	picture := render.Region{X0: 0, Y0: 0, X1: 16, Y1: 16}
	for i := range 3 {
		q.Picture(picture, 20*float32(i), 5, 16, 16, render.RGB(0xffffff))
	}
	v := q.Vertices()[render.VertsPerQuad] // the second picture's top left corner, in pixels
	fmt.Println(v.DstX, v.DstY, q.Len(), "vertices,", q.Dropped, "dropped")
	// Output: 140 10 8 vertices, 1 dropped
}

// The logical screen is centred in the window, and its scale is a whole number if that loses little.
func ExampleFit() {
	for _, window := range [][2]int{{1280, 720}, {1366, 768}, {800, 600}} {
		v := render.Fit(window[0], window[1], render.LogicalW, render.LogicalH)
		fmt.Println(v.Scale, v.X, v.Y, v.W, v.H)
	}
	// Output:
	// 2 0 0 1280 720
	// 2 43 24 1280 720
	// 1.25 0 75 800 450
}

// A picture of wider windows shows more of the world, and the HUD stays in the logical screen.
func ExampleViewport_Bleed() {
	v := render.Fit(1600, 720, render.LogicalW, render.LogicalH).Bleed(1600, 720, 200)
	fmt.Println(v.X, v.W, v.Drawn())
	// Output: 160 1280 (0,0)-(1600,720)
}

// Numbers have a fixed width, so that the text after them does not move.
func ExampleAppendBytes() {
	var line [64]byte
	b := append(line[:0], "heap "...)
	b = render.AppendBytes(b, 3<<20+512<<10)
	b = append(b, ", frame "...)
	b = render.AppendPercent(b, 0.25)
	fmt.Println(string(b))
	// Output: heap    3.5 MiB, frame  25%
}
