package overlay

import (
	"image"
	"math"

	"github.com/hajimehoshi/ebiten/v2"
)

// freeCorner returns the corner of a picture in which least is drawn. strip is the width of the overlay's strip in
// pixels, top and bottom are the shares of the height that the overlay leaves to the game. It reads the picture from
// the GPU, which takes some milliseconds. Ebitengine panics if no game runs, as in a test of a game's Draw: the
// result is TopLeft then.
func freeCorner(on *ebiten.Image, strip int, top, bottom float32) (best Corner) {
	defer func() {
		if recover() != nil {
			best = TopLeft
		}
	}()
	best, least := TopLeft, math.MaxInt
	var pixels []byte
	for c := TopLeft; c <= BottomRight; c++ {
		r := cornerRect(c, on.Bounds(), strip, top, bottom)
		if n := 4 * r.Dx() * r.Dy(); len(pixels) != n {
			pixels = make([]byte, n)
		}
		on.SubImage(r).(*ebiten.Image).ReadPixels(pixels)
		if d := edges(pixels, r.Dx()); d < least {
			best, least = c, d
		}
	}
	return best
}

// cornerRect returns the part of a picture by which a corner is judged. It has half of the width, or more if the
// strip is wider, and a third of the height that is left to the overlay.
func cornerRect(c Corner, b image.Rectangle, strip int, top, bottom float32) image.Rectangle {
	h := float32(b.Dy())
	b.Min.Y += int(top * h)
	b.Max.Y -= int(bottom * h)
	w, third := min(max(b.Dx()/2, strip), b.Dx()), b.Dy()/3
	if c.right() {
		b.Min.X = b.Max.X - w
	}
	if c.bottom() {
		b.Min.Y = b.Max.Y - third
	}
	b.Max.X, b.Max.Y = b.Min.X+w, b.Min.Y+third
	return b
}

// edges counts the pixels of an RGBA picture of that width that differ sharply from the next one in their row or in
// the row below. Letters and bars have many of them, a smooth background has none.
func edges(pix []byte, width int) (n int) {
	const sharp = 3 * 64 // of the sum of three channels
	light := func(i int) int { return int(pix[i]) + int(pix[i+1]) + int(pix[i+2]) }
	row := 4 * width
	for i := 0; i+row+4 < len(pix); i += 4 {
		v := light(i)
		if d := v - light(i+4); d > sharp || d < -sharp {
			n++
		} else if d := v - light(i+row); d > sharp || d < -sharp {
			n++
		}
	}
	return n
}
