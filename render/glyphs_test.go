package render

import (
	"bytes"
	"image"
	"testing"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// The copied glyphs are those that font.Drawer draws.
func TestRasterize_IsWhatTheDrawerDraws(t *testing.T) {
	runes := (&Font{}).runes()
	typeface, err := opentype.Parse(gomono.TTF)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []int{1, 2, 8} {
		got, err := rasterize(runes, k)
		if err != nil {
			t.Fatal(err)
		}
		face, err := opentype.NewFace(typeface, &opentype.FaceOptions{Size: float64(em * k), DPI: 72, Hinting: font.HintingFull})
		if err != nil {
			t.Fatal(err)
		}
		want := image.NewAlpha(got.Rect)
		for g, r := range runes {
			cell := want.SubImage(image.Rect(0, GlyphH*k*g, GlyphW*k, GlyphH*k*(g+1))).(*image.Alpha)
			d := font.Drawer{Dst: cell, Src: image.Opaque, Face: face, Dot: fixed.P(0, GlyphH*k*g+baseline*k)}
			d.DrawString(string(r))
		}
		embolden(want, k)
		if !bytes.Equal(got.Pix, want.Pix) {
			t.Errorf("%d texels a dot: the pictures differ", k)
		}
	}
}

func TestSheet_HasATexelBetweenCells(t *testing.T) {
	cells := image.NewAlpha(image.Rect(0, 0, 2, 3))
	copy(cells.Pix, []byte{1, 2, 3, 4, 5, 6}) // three cells of a row of two
	rgba, w, h := sheet(cells, 3, 2, 2, 1)
	var got []byte
	for i := 0; i < len(rgba); i += 4 {
		if got = append(got, rgba[i+3]); rgba[i] != rgba[i+1] || rgba[i+2] != rgba[i+3] || rgba[i] != rgba[i+3] {
			t.Errorf("texel %d is not grey", i/4)
		}
	}
	if want := []byte{1, 2, 0, 3, 4, 0, 0, 0, 0, 0, 0, 0, 5, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}; w != 6 || h != 4 || !bytes.Equal(got, want) {
		t.Errorf("%d × %d: %v", w, h, got)
	}
}

func BenchmarkNewFont(b *testing.B) {
	for b.Loop() {
		a, err := NewAtlas(AtlasConfig{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := NewFont(a); err != nil {
			b.Fatal(err)
		}
	}
}
