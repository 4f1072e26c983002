package main

import (
	"bytes"
	"image"
	"image/png"
	"testing"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// Architectures that fuse multiplication and addition round differently. A level or two of grey is invisible, and a
// sharp border may move by a sample, so one pixel in a thousand may differ by more.
const (
	maxLevels     = 2
	pixelsPerMiss = 1000
)

func TestGen_DrawsThePicturesInTheFolder(t *testing.T) {
	testenv.Long(t)
	for _, p := range pictures {
		img, name := render(p), p.name
		f, err := assets.FS().Open("art/" + name + ".png")
		if err != nil {
			t.Fatal(err)
		}
		want, err := png.Decode(f)
		f.Close()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if want.Bounds() != img.Bounds() {
			t.Errorf("%s: drawn %v, in the folder %v", name, img.Bounds(), want.Bounds())
			continue
		}
		if n := misses(img, want.(*image.NRGBA)); n > len(img.Pix)/4/pixelsPerMiss {
			t.Errorf("%s: %d pixels differ from the folder; run go run -C assets/gen . -only %s", name, n, name)
		}
	}
}

// misses counts the pixels that differ in what is seen: alpha, and grey times alpha.
func misses(a, b *image.NRGBA) (n int) {
	for i := 0; i < len(a.Pix); i += 4 {
		alphaA, alphaB := int(a.Pix[i+3]), int(b.Pix[i+3])
		light := int(a.Pix[i])*alphaA - int(b.Pix[i])*alphaB
		if abs(alphaA-alphaB) > maxLevels || abs(light) > 2*maxLevels*255 {
			n++
		}
	}
	return n
}

func TestGen_WritesTheSameBytesEachTime(t *testing.T) {
	testenv.Long(t)
	for _, p := range pictures {
		if p.w > 96 || p.h > 96 {
			continue
		}
		first, err := encode(render(p))
		if err != nil {
			t.Fatal(err)
		}
		second, err := encode(render(p))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first, second) {
			t.Errorf("%s: two runs wrote different files", p.name)
		}
	}
}

func TestNoise_RepeatsOverTheUnitSquare(t *testing.T) {
	for i := range 200 {
		u := vec{chance(i, 0, 1), chance(i, 1, 1)}
		for _, shift := range []vec{{1, 0}, {0, 1}, {-1, 2}} {
			v := u.add(shift)
			same(t, "gradient", gradient(u, 5, 9), gradient(v, 5, 9))
			same(t, "cloud", cloud(u, 3, 4, 9), cloud(v, 3, 4, 9))
			same(t, "contour", contour(u, 4, 9), contour(v, 4, 9))
			same(t, "voronoi", voronoi(u, 6, 9).edge, voronoi(v, 6, 9).edge)
		}
	}
}

func same(t *testing.T, what string, a, b float64) {
	t.Helper()
	if d := a - b; d > 1e-6 || d < -1e-6 {
		t.Errorf("%s is %g here and %g one tile away", what, a, b)
	}
}

func TestShapes_DistancesAreNegativeInsideOnly(t *testing.T) {
	square := path{{-10, -10}, {10, -10}, {10, 10}, {-10, 10}}
	for _, c := range []struct {
		p    vec
		want float64
	}{{vec{0, 0}, -10}, {vec{8, 1}, -2}, {vec{13, 14}, 5}, {vec{-10, 0}, 0}} {
		same(t, "polygon", polygon(c.p, square), c.want)
		same(t, "box", box(c.p, vec{}, vec{10, 10}, 0), c.want)
	}
	same(t, "hexagon at its flat", hexagon(vec{12, 0}, 10), 2)
	same(t, "segment", first(segment(vec{3, 4}, vec{0, 0}, vec{-5, 0})), 5)
}

func first(d, _ float64) float64 { return d }
