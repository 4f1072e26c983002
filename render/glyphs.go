package render

import (
	"image"
	"image/color"

	"github.com/hajimehoshi/bitmapfont/v4"
	"golang.org/x/image/font"
	"golang.org/x/image/math/fixed"
)

// ascii is the number of printable ASCII characters, space to tilde.
const ascii = '~' - ' ' + 1

// symbols are the glyphs beyond ASCII.
const symbols = "×▲▼▶◀△▮▯µ•·…█▇▆▅▄▃▂▁░▒▓→←↑↓∞°±≤≥●○◆■□★♥✓–—Δ│─"

// redrawn are glyphs that the font draws in a way that does not read on a dark game: its
// point is a little cross and its triangle a chess pawn. The first row is at dot row y.
var redrawn = [...]struct {
	r    rune
	y    int
	rows []string
}{
	{'.', 10, []string{" ##", " ##"}},
	{':', 5, []string{" ##", " ##", "", "", "", " ##", " ##"}},
	{'▲', 6, []string{"  #", "  #", " ###", " ###", "#####"}},
	{'▼', 6, []string{"#####", " ###", " ###", "  #", "  #"}},
}

// rasterize draws every glyph at one pixel a dot, below each other.
func (f *Font) rasterize() *image.Alpha {
	n := ascii + f.extras
	dots := image.NewAlpha(image.Rect(0, 0, GlyphW, GlyphH*n))
	face := bitmapfont.Face
	ascent := face.Metrics().Ascent.Ceil()
	for g := range n {
		r := rune(' ' + g)
		if g >= ascii {
			r = f.extra[g-ascii].r
		}
		cell := dots.SubImage(image.Rect(0, GlyphH*g, GlyphW, GlyphH*(g+1))).(*image.Alpha)
		if redraw(cell, r) {
			continue
		}
		d := font.Drawer{Dst: cell, Src: image.Opaque, Face: face, Dot: fixed.P(0, GlyphH*g+ascent)}
		d.DrawString(string(r))
	}
	return dots
}

// redraw draws r if it is one of ours.
func redraw(cell *image.Alpha, r rune) bool {
	for _, g := range redrawn {
		if g.r != r {
			continue
		}
		for y, row := range g.rows {
			for x, dot := range row {
				if dot == '#' {
					cell.SetAlpha(x, cell.Rect.Min.Y+g.y+y, color.Alpha{A: 255})
				}
			}
		}
		return true
	}
	return false
}
