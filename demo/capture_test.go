package main

import (
	"image/gif"
	"os"
	"path/filepath"
	"testing"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

func TestWindow_CaptureIsAFilmOfTheGame(t *testing.T) {
	needDisplay(t)
	exe, path := program(t), filepath.Join(t.TempDir(), "film.gif")
	out, err := testenv.Command(t, exe, "-seed", "7", "-autopilot", "-ticks", "60", "-size", "320x180", "-capture", path).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
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
	if n := len(film.Image); n != filmSeconds*filmRate || film.Config.Width != 320 || film.Config.Height != 180 {
		t.Errorf("%d pictures of %d×%d", n, film.Config.Width, film.Config.Height)
	}
	// A game that plays changes from picture to picture, and not everywhere.
	clear := uint8(len(film.Image[0].Palette) - 1)
	for i, img := range film.Image[1:] {
		same := 0
		for _, p := range img.Pix {
			if p == clear {
				same++
			}
		}
		if same == len(img.Pix) {
			t.Errorf("picture %d shows nothing new", i+1)
		}
	}
}
