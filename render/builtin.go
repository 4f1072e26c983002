package render

import (
	"errors"
	"image"
	"math"

	"github.com/hajimehoshi/ebiten/v2"
)

// addBuiltins bakes the regions that are always there.
func (a *Atlas) addBuiltins() error {
	white, err1 := a.bake(4, 4, func(_, _ int) [4]byte { return [4]byte{255, 255, 255, 255} })
	line, err2 := a.bake(4, len(lineProfile), func(_, y int) [4]byte { return grey(lineProfile[y]) })
	soft, err3 := a.bake(softSize, softSize, softDot)
	checker, err4 := a.bake(16, 16, checkerboard)
	line.X0, line.X1 = line.centre().X0, line.centre().X1 // no filtering along a line
	a.white, a.line, a.soft, a.checker = white.centre(), line, soft, checker
	return errors.Join(err1, err2, err3, err4)
}

// bake makes a region without an id from a function of its texels. It is kept at the
// next Keep and never removed.
func (a *Atlas) bake(w, h int, at func(x, y int) [4]byte) (Region, error) {
	rgba := make([]byte, 0, 4*w*h)
	for y := range h {
		for x := range w {
			p := at(x, y)
			rgba = append(rgba, p[:]...)
		}
	}
	return a.keepTexels(rgba, w, h)
}

// keepTexels is bake of texels that are there.
func (a *Atlas) keepTexels(rgba []byte, w, h int) (Region, error) {
	s, ok := a.packer.take(w+2*gutter, h+2*gutter)
	if !ok {
		return Region{}, &FullError{ID: -1, Name: "built in", W: w, H: h, Page: a.packer.size, Free: a.packer.free()}
	}
	a.write(s, rgba, w, h, false)
	return inner(s, w, h), nil
}

// lineProfile is the coverage across a line. Its soft sides are a quarter of the line
// each, which at the usual one to four pixels is what antialiasing needs.
var lineProfile = [8]float64{0.25, 0.75, 1, 1, 1, 1, 0.75, 0.25}

const softSize = 64

// softDot is a core of a fifth of the radius with a halo that reaches zero at the rim.
func softDot(x, y int) [4]byte {
	const mid = (softSize - 1) / 2.0
	r := math.Hypot(float64(x)-mid, float64(y)-mid) / mid
	if r >= 1 {
		return [4]byte{}
	}
	core := math.Exp(-18 * r * r)
	halo := (1 - r) * (1 - r) * (1 - r)
	return grey(0.6*core + 0.4*halo)
}

// checkerboard is magenta on black, which no picture resembles.
func checkerboard(x, y int) [4]byte {
	if (x/4+y/4)%2 == 0 {
		return [4]byte{255, 0, 255, 255}
	}
	return [4]byte{24, 0, 24, 255}
}

func grey(f float64) [4]byte {
	v := byte(math.Round(255 * min(max(f, 0), 1)))
	return [4]byte{v, v, v, v}
}

// A gpuPage makes its image at the first write. Ebitengine keeps writes that precede the first frame.
type gpuPage struct {
	size int
	img  *ebiten.Image
}

func (p *gpuPage) image() *ebiten.Image {
	if p.img == nil {
		// Unmanaged: on Ebitengine's own atlas the page would be moved about.
		p.img = ebiten.NewImageWithOptions(image.Rect(0, 0, p.size, p.size), &ebiten.NewImageOptions{Unmanaged: true})
	}
	return p.img
}

// write sends texels to the GPU with this frame. Ebitengine keeps what is written to an image until the image is
// drawn. For a page out of sight these are up to 16 MiB, sent in the first frame that shows one of its tiles. So
// write draws an empty triangle with the image.
func (p *gpuPage) write(x, y, w, h int, rgba []byte) {
	sub := p.image().RecyclableSubImage(image.Rect(x, y, x+w, y+h))
	sub.WritePixels(rgba)
	sub.Recycle()
	if nowhere == nil {
		nowhere = newNowhere()
	}
	nowhere.DrawTriangles32(nothing.vertices[:], nothing.indices[:], p.img, &drawOptions)
}

// nowhere is the invisible target of those triangles; the game goroutine makes it.
var nowhere *ebiten.Image

func newNowhere() *ebiten.Image {
	return ebiten.NewImageWithOptions(image.Rect(0, 0, 1, 1), &ebiten.NewImageOptions{Unmanaged: true})
}

// nothing is a triangle of one point.
var nothing struct {
	vertices [3]Vertex
	indices  [3]uint32
}
