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
		d := font.Drawer{Dst: cell, Src: image.Opaque, Face: face, Dot: fixed.P(0, h*g+baseline*k)}
		d.DrawString(string(r))
	}
	embolden(cells, k)
	return cells, nil
}

// embolden lifts what is half covered: light strokes on dark look thinner than they are, the more so
// the fewer pixels they have.
func embolden(img *image.Alpha, k int) {
	exp := 1 - 0.4/float64(k)
	for i, v := range img.Pix {
		img.Pix[i] = byte(math.Round(255 * math.Pow(float64(v)/255, exp)))
	}
}

// frame draws an empty box.
func frame(cell *image.Alpha, k int) {
	r := image.Rect(k, 4*k, 5*k, 13*k).Add(cell.Rect.Min)
	draw.Draw(cell, r, image.Opaque, image.Point{}, draw.Src)
	draw.Draw(cell, r.Inset(k), image.Transparent, image.Point{}, draw.Src)
}
