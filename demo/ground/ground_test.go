package ground_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io/fs"
	"strings"
	"testing"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/ground"
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/tlsf"
)

var names = realm.Names[:]

func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := fs.ReadFile(assets.FS(), name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// stamps loads a realm's as the game's loader would, with the standard library in its place.
func stamps(t testing.TB, name string) *ground.Stamps {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(read(t, "realms/"+name+"/stamps.png")))
	if err != nil {
		t.Fatal(err)
	}
	var info struct{ Palette [5]string }
	if err := json.Unmarshal(read(t, "realms/"+name+".json"), &info); err != nil {
		t.Fatal(err)
	}
	pal, err := ground.ParsePalette(name, info.Palette)
	if err != nil {
		t.Fatal(err)
	}
	n := img.(*image.NRGBA)
	ground.Premultiply(n.Pix)
	s, err := ground.NewStamps(name, n.Pix, n.Rect.Dx(), n.Rect.Dy(), pal)
	if err != nil {
		t.Fatal(err)
	}
	return &s
}

func recipe(t testing.TB, name string, x, y int) *ground.Recipe {
	t.Helper()
	r := new(ground.Recipe)
	file := fmt.Sprintf("realms/%s/%02d_%02d.rec", name, x, y)
	if err := r.Parse(file, read(t, file)); err != nil {
		t.Fatal(err)
	}
	return r
}

func heap(t testing.TB, bytes uintptr) *tlsf.Heap {
	t.Helper()
	h, err := tlsf.New(page.Default(), tlsf.Config{Reserve: bytes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil { // fails if a block is not freed
			t.Error(err)
		}
	})
	return h
}

func compose(t testing.TB, h *tlsf.Heap, r *ground.Recipe, s *ground.Stamps) []byte {
	t.Helper()
	dst := make([]byte, ground.Bytes)
	if err := ground.Compose(dst, r, s, h, nil); err != nil {
		t.Fatal(err)
	}
	return dst
}

const side = ground.SectorSize

func light(pix []byte, x, y int) int {
	p := pix[(y*side+x)*4:]
	return 299*int(p[0]) + 587*int(p[1]) + 114*int(p[2])
}

func TestCompose_NeighboursMeetWithoutASeam(t *testing.T) {
	testenv.Long(t)
	h := heap(t, 4<<20)
	for _, name := range names {
		s := stamps(t, name)
		for _, at := range [][2]int{{4, 6}, {11, 11}, {17, 3}} {
			a := compose(t, h, recipe(t, name, at[0], at[1]), s)
			right := compose(t, h, recipe(t, name, at[0]+1, at[1]), s)
			below := compose(t, h, recipe(t, name, at[0], at[1]+1), s)
			seamless(t, fmt.Sprintf("%s %v and the next", name, at), func(i, k int) int {
				if i < side {
					return light(a, i, k)
				}
				return light(right, i-side, k)
			})
			seamless(t, fmt.Sprintf("%s %v and the one below", name, at), func(i, k int) int {
				if i < side {
					return light(a, k, i)
				}
				return light(below, k, i-side)
			})
		}
	}
}

// seamless compares the change from line to line across a border with the changes near it. at is the brightness of
// the k-th pixel of the i-th line; line side is the first of the second sector.
func seamless(t *testing.T, what string, at func(i, k int) int) {
	t.Helper()
	change := func(i int) (sum int) {
		for k := range side {
			d := at(i, k) - at(i-1, k)
			sum += max(d, -d)
		}
		return sum
	}
	most := 0
	for i := side - 6; i <= side+6; i++ {
		if i != side {
			most = max(most, change(i))
		}
	}
	if seam := change(side); seam*10 > most*13 {
		t.Errorf("%s: the border changes by %d, lines beside it by %d at most", what, seam/side, most/side)
	}
}

func TestCompose_IsTheSameEachTimeAndOpaque(t *testing.T) {
	h := heap(t, 4<<20)
	for _, name := range names {
		s, r := stamps(t, name), recipe(t, name, 8, 8)
		a := compose(t, h, r, s)
		if !bytes.Equal(a, compose(t, h, r, s)) {
			t.Errorf("%s: two pictures of one recipe differ", name)
		}
		for i := 3; i < len(a); i += 4 {
			if a[i] != 255 {
				t.Fatalf("%s: pixel %d is not opaque", name, i/4)
			}
		}
	}
}

func TestCompose_LeavesTheFloorDarkEnoughToShootOn(t *testing.T) {
	testenv.Long(t)
	h := heap(t, 4<<20)
	const brightest = 156 // enemies and shots have up to 255
	for _, name := range names {
		s := stamps(t, name)
		sum, n, most := 0, 0, 0
		for i := 0; i < 12; i += testenv.Step(3) {
			pix := compose(t, h, recipe(t, name, 1+i*5%22, 1+i*2), s)
			for i := 0; i < len(pix); i += 4 {
				sum += 299*int(pix[i]) + 587*int(pix[i+1]) + 114*int(pix[i+2])
				most = max(most, int(pix[i]), int(pix[i+1]), int(pix[i+2]))
			}
			n += len(pix) / 4
		}
		if mean := float64(sum) / 1000 / 255 / float64(n); mean >= 0.12 || mean < 0.03 {
			t.Errorf("%s: mean brightness %.3f, want 0.03 to 0.12", name, mean)
		}
		if most > brightest {
			t.Errorf("%s: a light of the ground has %d; at most %d", name, most, brightest)
		}
	}
}

func TestCompose_StopsWhenCancelledAndGivesItsScratchBack(t *testing.T) {
	h := heap(t, 4<<20)
	s, r := stamps(t, "ember"), recipe(t, "ember", 3, 3)
	stop := errors.New("no longer wanted")
	asked := 0
	dst := make([]byte, ground.Bytes)
	err := ground.Compose(dst, r, s, h, func() error {
		if asked++; asked == 5 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || asked != 5 {
		t.Errorf("error %v after %d questions, want %v after 5", err, asked, stop)
	}
	if n := h.Stats().InUse; n != 0 {
		t.Errorf("%d bytes of scratch are out after a cancelled sector", n)
	}
	if at := 4 * 16 * side * 4; dst[at-1] != 255 || dst[at+3] != 0 {
		t.Error("want four bands of sixteen rows drawn, and no more")
	}
	if err := ground.Compose(dst, r, s, heap(t, 128<<10), nil); err == nil {
		t.Error("no error without room for scratch")
	}
	r.Stamps[0].ID = 12
	var file *ground.FileError
	if err := ground.Compose(dst, r, s, h, nil); !errors.As(err, &file) || !strings.HasPrefix(err.Error(), "byte 20: stamp 12; allowed is 0 to 11") {
		t.Errorf("error %v of a stamp that is not there", err)
	}
}

func TestCompose_AllocatesNothingInTheGoHeap(t *testing.T) {
	h := heap(t, 4<<20)
	s, r := stamps(t, "tide"), recipe(t, "tide", 9, 9)
	dst := make([]byte, ground.Bytes)
	if n := testenv.LeastObjects(4, func() {
		if err := ground.Compose(dst, r, s, h, nil); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a sector", n)
	}
}

func BenchmarkCompose(b *testing.B) {
	for _, name := range names {
		b.Run(name, func(b *testing.B) {
			h := heap(b, 4<<20)
			s, r := stamps(b, name), recipe(b, name, 6, 6)
			dst := make([]byte, ground.Bytes)
			for b.Loop() {
				if err := ground.Compose(dst, r, s, h, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
