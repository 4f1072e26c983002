package render

import (
	"strings"
	"testing"
)

func TestAtlas_TexelsAreACopyOfThePage(t *testing.T) {
	p := newMemPage(MinPage)
	texels := make([]byte, 4*MinPage*MinPage)
	a, err := newAtlas(AtlasConfig{Page: MinPage, Texels: texels}, p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = a.Reserve(3, 10, 6); err != nil {
		t.Fatal(err)
	}
	if err := a.Upload(3, pixels(10, 6, func(x, y int) byte { return byte(10*y + x) }), 10, 6); err != nil {
		t.Fatal(err)
	}
	if string(texels) != string(p.rgba) {
		t.Error("the copy is not the page")
	}
	r := a.Lookup(3)
	if got := texels[4*((int(r.Y0)+5)*MinPage+int(r.X0)+7)]; got != 57 {
		t.Errorf("texel = %d, want 57", got)
	}
}

func TestAtlas_TexelsOfAnotherSizeAreAnError(t *testing.T) {
	_, err := NewAtlas(AtlasConfig{Page: MinPage, Texels: make([]byte, 100)})
	if err == nil || !strings.Contains(err.Error(), "100 bytes of Texels; a page of 512×512 takes 1048576") {
		t.Errorf("%v", err)
	}
}
