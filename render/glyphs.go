package render

import (
	"fmt"
	"image"
	"image/draw"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// ascii is the number of printable ASCII characters, space to tilde.
const ascii = '~' - ' ' + 1

// symbols are the glyphs beyond ASCII; the last one replaces missing glyphs.
const symbols = "×▲▼►◄µ•·…█▄▀▌▐░▒▓→←↑↓∞°±≤≥●○■□♥♪–—Δ│─" + missing

const missing = "▯"

const (
	em       = 10 // pixels at which the typeface, whose letters are six tenths of an em wide, fills a cell
	baseline = 12 // below the top of a cell
)

// runes are what the font has, by glyph number.
func (f *Font) runes() []rune {
	runes := make([]rune, 0, ascii+f.extras)
	for r := ' '; r <= '~'; r++ {
		runes = append(runes, r)
	}
	for _, e := range f.extra[:f.extras] {
		runes = append(runes, e.r)
	}
	return runes
}

// rasterize draws the glyphs in a column of cells of k pixels a dot. The typeface is Go Mono (Bigelow and
// Holmes, 2016). Each size is rasterized, so that text is as sharp as its window.
func rasterize(runes []rune, k int) (*image.Alpha, error) {
	typeface, err := opentype.Parse(gomono.TTF)
	if err != nil {
		return nil, fmt.Errorf("render: Go Mono: %w", err)
	}
	face, err := opentype.NewFace(typeface, &opentype.FaceOptions{Size: float64(em * k), DPI: 72, Hinting: font.HintingFull})
	if err != nil {
		return nil, fmt.Errorf("render: Go Mono at %d pixels: %w", em*k, err)
	}
	defer face.Close()
	w, h := GlyphW*k, GlyphH*k
	cells := image.NewAlpha(image.Rect(0, 0, w, h*len(runes)))
	for g, r := range runes {
		cell := cells.SubImage(image.Rect(0, h*g, w, h*(g+1))).(*image.Alpha)
		if string(r) == missing {
			frame(cell, k)
			continue
		}
		to, mask, from, _, _ := face.Glyph(fixed.P(0, h*g+baseline*k), r) // of a letter that it lacks it has a box
		copyMask(cell, to, mask, from)
	}
	embolden(cells, k)
	return cells, nil
}

// copyMask copies the coverage of a glyph. The package draw takes several times as long for an alpha image.
func copyMask(cell *image.Alpha, to image.Rectangle, mask image.Image, from image.Point) {
	coverage, ok := mask.(*image.Alpha)
	if !ok {
		draw.DrawMask(cell, to, image.Opaque, image.Point{}, mask, from, draw.Over)
		return
	}
	for y := to.Min.Y; y < to.Max.Y; y++ {
		for x := to.Min.X; x < to.Max.X; x++ {
			if (image.Point{X: x, Y: y}).In(cell.Rect) {
				cell.Pix[cell.PixOffset(x, y)] = coverage.Pix[coverage.PixOffset(x-to.Min.X+from.X, y-to.Min.Y+from.Y)]
			}
		}
	}
}

// sheet arranges n cells of w by h pixels in rows of cols, with a texel between them. All four channels are the
// coverage.
func sheet(cells *image.Alpha, n, cols, w, h int) (rgba []byte, width, height int) {
	width, height = cols*(w+1), (n+cols-1)/cols*(h+1)
	rgba = make([]byte, 4*width*height)
	for g := range n {
		for y := range h {
			row := rgba[4*((g/cols*(h+1)+y)*width+g%cols*(w+1)):]
			for x, v := range cells.Pix[(h*g+y)*cells.Stride:][:w] {
				row[4*x], row[4*x+1], row[4*x+2], row[4*x+3] = v, v, v, v
			}
		}
	}
	return rgba, width, height
}

// embolden lifts what is half covered: light strokes on dark look thinner than they are, the more so
// the fewer pixels they have.
func embolden(img *image.Alpha, k int) {
	exp := 1 - 0.4/float64(k)
	var lifted [256]byte
	for v := range lifted {
		lifted[v] = byte(math.Round(255 * math.Pow(float64(v)/255, exp)))
	}
	for i, v := range img.Pix {
		img.Pix[i] = lifted[v]
	}
}

// frame draws an empty box.
func frame(cell *image.Alpha, k int) {
	r := image.Rect(k, 4*k, 5*k, 13*k).Add(cell.Rect.Min)
	draw.Draw(cell, r, image.Opaque, image.Point{}, draw.Src)
	draw.Draw(cell, r.Inset(k), image.Transparent, image.Point{}, draw.Src)
}
