package main

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/engine/cmdline"
)

func TestParse_RefusesArguments(t *testing.T) {
	var fault bytes.Buffer
	if _, _, err := parse([]string{"-only", "a", "b"}, &fault); !errors.Is(err, cmdline.ErrUsage) || fault.String() != "sheet: unexpected argument \"b\"; every option is a flag, see -help\n" {
		t.Errorf("%v, %q", err, &fault)
	}
}

// It was exit 0.
func TestMatched_RefusesATextOfNoName(t *testing.T) {
	all := shots([]string{"title"})
	var fault bytes.Buffer
	for _, good := range []string{"", "title", sizes[0].size + "-heat", "ember"} {
		if err := matched(good, all, &fault); err != nil {
			t.Errorf("%q: %v, %s", good, err, &fault)
		}
	}
	if err := matched("Title", all, &fault); !errors.Is(err, cmdline.ErrUsage) || !strings.Contains(fault.String(), sizes[0].size) || !strings.HasSuffix(fault.String(), all[len(all)-1].name+"\n") {
		t.Errorf("%v, %q", err, &fault)
	}
}

func TestSheet_LaysPicturesOutInRows(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for i := range 5 {
		img := image.NewRGBA(image.Rect(0, 0, 40, 20))
		for k := range img.Pix {
			img.Pix[k] = 255
		}
		img.Set(0, 0, color.RGBA{uint8(40 * i), 0, 0, 255})
		name := filepath.Join(dir, "40x20-p"+string(rune('0'+i))+".png")
		if err := write(name, img); err != nil {
			t.Fatal(err)
		}
		files = append(files, name)
	}
	sheet := filepath.Join(dir, "sheet.png")
	if err := layOut(sheet, files, 3); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(sheet)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	if got := img.Bounds().Size(); got != image.Pt(3*24, 2*14) {
		t.Errorf("the sheet is %v", got)
	}
	for i := range files { // a quarter of the first pixel is the picture's own
		r, g, _, _ := img.At(i%3*24, i/3*14).RGBA()
		if r>>8 != uint32(3*0xffff+257*40*i)>>10 || g>>8 != 191 {
			t.Errorf("picture %d begins with %d, %d", i, r>>8, g>>8)
		}
	}
	if got := describe(sheet, files, 3); !strings.HasSuffix(got, "p0  p1  p2\np3  p4\n") {
		t.Errorf("%q", got)
	}
	if err := layOut(sheet, nil, 3); err == nil {
		t.Error("a sheet of nothing is written")
	}
}

func TestShots_HaveEveryScreenRealmAndLegend(t *testing.T) {
	var names []string
	for _, s := range shots([]string{"title", "legend"}) {
		names = append(names, s.name)
	}
	for _, want := range []string{"title", "legend", "heat-ember", "calm-spore", "legend-tide"} {
		if !slices.Contains(names, want) {
			t.Errorf("%v lacks %s", names, want)
		}
	}
}
