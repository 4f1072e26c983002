package render

import (
	"image/gif"
	"os"
	"path/filepath"
	"testing"
)

// glow is a picture of a bright disc at x over a dark ramp, as RGB.
func glow(w, h, x int) []byte {
	out := make([]byte, 0, 3*w*h)
	for j := range h {
		for i := range w {
			d := (i-x)*(i-x) + (j-h/2)*(j-h/2)
			if d < 36 {
				out = append(out, 250, byte(240-4*d), byte(200-5*d))
				continue
			}
			out = append(out, byte(10+i/4), 8, byte(20+j/4))
		}
	}
	return out
}

func TestFilm_EachPictureIsShownNearlyAsItWas(t *testing.T) {
	const w, h = 64, 32
	m, err := NewFilm(w, 20)
	if err != nil {
		t.Fatal(err)
	}
	m.width, m.height = w, h
	for x := 8; x < 56; x += 6 {
		m.frames = append(m.frames, glow(w, h, x))
	}
	path := filepath.Join(t.TempDir(), "film.gif")
	if err := m.Write(path); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	film, err := gif.DecodeAll(f)
	if err != nil {
		t.Fatal(err)
	}
	if len(film.Image) != m.Len() || film.Delay[0] != 5 {
		t.Fatalf("%d pictures of %d, %d hundredths each", len(film.Image), m.Len(), film.Delay[0])
	}
	shown := make([][3]int, w*h)
	for k, img := range film.Image {
		worst, changed := 0, 0
		for i, p := range img.Pix {
			if r, g, b, a := img.Palette[p].RGBA(); a != 0 {
				shown[i] = [3]int{int(r >> 8), int(g >> 8), int(b >> 8)}
				changed++
			}
			for c := range 3 {
				d := shown[i][c] - int(m.frames[k][3*i+c])
				worst = max(worst, max(d, -d))
			}
		}
		if worst > 24 {
			t.Errorf("picture %d: a pixel is off by %d", k, worst)
		}
		if k > 0 && changed > w*h/3 {
			t.Errorf("picture %d draws %d of %d pixels; a disc has moved by 6", k, changed, w*h)
		}
	}
}

func TestFilm_RefusesWhatItCannotShow(t *testing.T) {
	for _, c := range [][2]int{{15, 20}, {4097, 20}, {64, 0}, {64, 51}} {
		if _, err := NewFilm(c[0], c[1]); err == nil {
			t.Errorf("NewFilm%v is no error", c)
		}
	}
	m, err := NewFilm(64, 20)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := m.Write(filepath.Join(dir, "film.gif")); err == nil {
		t.Error("a film without a picture was written")
	}
	m.width, m.height, m.frames = 2, 1, [][]byte{{1, 2, 3, 4, 5, 6}}
	if err := m.Write(filepath.Join(dir, "none", "film.gif")); err == nil {
		t.Error("a film was written into a folder that is not there")
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("%v was left behind", left)
	}
}

func TestShrink_IsTheMeanOfThePixels(t *testing.T) {
	rgba := []byte{ // 4 × 2, the last two columns another colour
		10, 0, 0, 255, 20, 0, 0, 255, 0, 100, 0, 255, 0, 100, 0, 255,
		30, 0, 0, 255, 40, 0, 0, 255, 0, 100, 0, 255, 0, 200, 8, 255,
	}
	got := shrink(rgba, 4, 2, 1, 2)
	if want := "\x19\x00\x00\x00\x7d\x02"; string(got) != want {
		t.Errorf("got % x, want % x", got, want)
	}
}
