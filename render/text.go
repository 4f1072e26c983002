package render

import (
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
	"unsafe"
)

// The size of a glyph's cell in dots, equal for all glyphs. A line of text is two steps of Grid high.
const (
	GlyphW = 6
	GlyphH = 16
)

// bakes is the number of sizes on the page, 1 to 4 pixels a dot: at any whole scale up to 4 one texel is one
// pixel. Larger text stretches the last one. All four take 6 % of a default page; a page of 512 texels has two.
const bakes = 4

// A Font is a set of glyphs on an atlas: printable ASCII and some symbols. A glyph is a picture of 6 × 16 dots. The
// scale of a text is the size of a dot. Any other character is shown as ▯, unless the text is large and [Font.Large]
// has rendered the character.
type Font struct {
	glyphs [bakes][]Region // by glyph number
	sizes  int             // how many of them are baked, the smaller ones
	extra  [len(symbols)]extraGlyph
	extras int
	large  []largeGlyph
}

// A largeGlyph is one that Large baked.
type largeGlyph struct {
	r      rune
	region Region
}

type extraGlyph struct {
	r     rune
	glyph int
}

// NewFont renders the glyphs to the page in up to four sizes, 1 to 4 texels a dot, and calls [Atlas.Keep]. Call NewFont
// before the pictures of the first level are reserved. If a size does not fit, this size and all larger ones are left
// out. If even the smallest size does not fit, the error is a [*FullError]. After an error NewFont has not called Keep.
func NewFont(a *Atlas) (*Font, error) {
	f := &Font{}
	for _, r := range symbols {
		f.extra[f.extras] = extraGlyph{r, ascii + f.extras}
		f.extras++
	}
	for k := bakes; k > 0; k-- { // the largest first, as shelves like it
		switch err := f.bake(a, k); {
		case err == nil:
			f.sizes = max(f.sizes, k)
		case k == 1 || !errors.Is(err, ErrAtlasFull):
			return nil, err
		default: // nor any larger one: sizes counts from the smallest
			f.sizes = 0
		}
	}
	a.Keep()
	return f, nil
}

// sheetCols is the number of glyphs in a row of a sheet, with one texel between them.
const sheetCols = 32

// bake puts all glyphs on the page with k texels a dot.
func (f *Font) bake(a *Atlas, k int) error {
	cells, err := rasterize(f.runes(), k)
	if err != nil {
		return err
	}
	n := ascii + f.extras
	cw, ch := GlyphW*k+1, GlyphH*k+1
	page, err := a.keepTexels(sheet(cells, n, sheetCols, GlyphW*k, GlyphH*k))
	if err != nil {
		return err
	}
	f.glyphs[k-1] = make([]Region, n)
	for g := range n {
		x, y := page.X0+float32(g%sheetCols*cw), page.Y0+float32(g/sheetCols*ch)
		f.glyphs[k-1][g] = Region{x, y, x + float32(GlyphW*k), y + float32(GlyphH*k)}
	}
	return nil
}

// Large renders the letters with k texels a dot, from 5 to 32, for large text such as a title. The atlas must be the one
// that was passed to NewFont. [Quads.Text] uses a letter of Large if no size of NewFont is large enough. That is so if a
// dot of the text is more than 4 physical pixels wide, or less on a small page. If a letter has several k, Text uses
// the smallest k that is not less than the pixels of a dot. If all k are less, Text uses the largest.
//
// Large calls [Atlas.Keep], so call Large right after NewFont. The letters must fit in one row of the page. If the
// letters do not fit, the error is a [*FullError]. Any other error describes an invalid k. After an error, or if
// letters is empty, the font is unchanged.
func (f *Font) Large(a *Atlas, letters string, k int) error {
	if k <= bakes || k > 32 {
		return fmt.Errorf("render: large letters of %d texels a dot; allowed are %d to 32", k, bakes+1)
	}
	runes := []rune(letters)
	if len(runes) == 0 {
		return nil
	}
	cells, err := rasterize(runes, k)
	if err != nil {
		return err
	}
	cw, ch := GlyphW*k, GlyphH*k
	rgba, w, _ := sheet(cells, len(runes), len(runes), cw, ch)
	page, err := a.keepTexels(rgba[:4*w*ch], w, ch) // without the gap below
	if err != nil {
		return err
	}
	for i, r := range runes {
		x := page.X0 + float32(i*(cw+1))
		f.large = append(f.large, largeGlyph{r, Region{x, page.Y0, x + float32(cw), page.Y0 + float32(ch)}})
	}
	a.Keep()
	return nil
}

// at returns the picture of r for k pixels a dot.
func (f *Font) at(r rune, k float32) Region {
	if k > float32(f.sizes)+0.01 {
		best, of := -1, float32(0)
		for i := range f.large {
			// The smallest that is large enough, or else the largest.
			if w := f.large[i].region.W() / GlyphW; f.large[i].r == r && (best < 0 || w > of && of < k-0.01 || w < of && w > k-0.01) {
				best, of = i, w
			}
		}
		if best >= 0 {
			return f.large[best].region
		}
	}
	return f.glyphs[min(max(int(math.Ceil(float64(k)-0.01)), 1), f.sizes)-1][f.glyph(r)]
}

// glyph returns the number of r's glyph, or that of ▯.
func (f *Font) glyph(r rune) int {
	if r >= ' ' && r <= '~' {
		return int(r - ' ')
	}
	box := 0
	for _, e := range f.extra[:f.extras] {
		if e.r == r {
			return e.glyph
		}
		if string(e.r) == missing {
			box = e.glyph
		}
	}
	return box
}

// Width returns the width of one line of text: GlyphW*scale units for each character. The character '\n' counts as any
// other.
func Width(s string, scale float32) float32 {
	return float32(utf8.RuneCountInString(s)*GlyphW) * scale
}

// Text draws s. The cell of a glyph is [GlyphW] × GlyphH dots, and a dot is scale units of the current view. The top
// left corner of the first cell is at (x, y), rounded to a physical pixel, so that text is sharp. '\n' begins a new
// line, one cell below. If the batch has no space for some glyphs, Text draws the others, counts the missing ones in
// Dropped and returns false. If f is nil, or if scale times the scale of the view is not above 0, Text draws nothing
// and returns true.
func (q *Quads) Text(f *Font, x, y, scale float32, c Color, s string) bool {
	k := scale * q.view.Scale
	if f == nil || !(k > 0) {
		return true
	}
	left, top := round(x*q.view.Scale+q.view.X), round(y*q.view.Scale+q.view.Y)
	w, h := GlyphW*k, GlyphH*k
	px, ok := left, true
	for _, r := range s {
		switch r {
		case '\n':
			px, top = left, top+h
			continue
		case ' ':
			px += w
			continue
		}
		ok = q.glyph(f.at(r, k), px, top, w, h, c) && ok
		px += w
	}
	return ok
}

// TextBytes is [Quads.Text] for bytes, for example a formatted number. TextBytes keeps no reference to s.
func (q *Quads) TextBytes(f *Font, x, y, scale float32, c Color, s []byte) bool {
	return q.Text(f, x, y, scale, c, unsafe.String(unsafe.SliceData(s), len(s)))
}

// TextRight is [Quads.Text] for one line that ends at x.
func (q *Quads) TextRight(f *Font, x, y, scale float32, c Color, s string) bool {
	return q.Text(f, x-Width(s, scale), y, scale, c, s)
}

// TextCentre is [Quads.Text] for one line with its centre at x.
func (q *Quads) TextCentre(f *Font, x, y, scale float32, c Color, s string) bool {
	return q.Text(f, x-Width(s, scale)/2, y, scale, c, s)
}

// glyph writes one cell in physical pixels.
func (q *Quads) glyph(r Region, x, y, w, h float32, c Color) bool {
	v, ix, ok := q.quad()
	if !ok {
		return false
	}
	set(&v[0], x, y, r.X0, r.Y0, c)
	set(&v[1], x+w, y, r.X1, r.Y0, c)
	set(&v[2], x, y+h, r.X0, r.Y1, c)
	set(&v[3], x+w, y+h, r.X1, r.Y1, c)
	index(ix, uint32(q.nv-VertsPerQuad))
	return true
}

func round(x float32) float32 { return float32(math.Floor(float64(x) + 0.5)) }
