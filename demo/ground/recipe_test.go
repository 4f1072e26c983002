package ground_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/demo/ground"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

func TestRecipes_AreWhatTheirBytesSayAndAgreeOnTheirBorders(t *testing.T) {
	for _, name := range names {
		walls := read(t, "realms/"+name+".walls")[8:]
		for i := range ground.Sectors * ground.Sectors {
			x, y := i%ground.Sectors, i/ground.Sectors
			file := fmt.Sprintf("realms/%s/%02d_%02d.rec", name, x, y)
			r := recipe(t, name, x, y)
			if r.X != x || r.Y != y {
				t.Fatalf("%s says it is of sector (%d, %d)", file, r.X, r.Y)
			}
			if !bytes.Equal(r.Append(nil), read(t, file)) {
				t.Fatalf("%s: written again it differs", file)
			}
			agrees(t, file, r, walls)
		}
	}
}

// agrees compares a recipe's walls with the realm's, by which the game is played.
func agrees(t *testing.T, file string, r *ground.Recipe, walls []byte) {
	t.Helper()
	const cells = ground.Sectors * ground.SectorSize / ground.CellSize
	for y := range ground.Span {
		for x := range ground.Span {
			wx, wy := r.X*64-ground.Border+x, r.Y*64-ground.Border+y
			solid := true
			if uint(wx) < cells && uint(wy) < cells {
				i := wy*cells + wx
				solid = walls[i>>3]>>(i&7)&1 != 0
			}
			if r.Solid(x, y) != solid {
				t.Fatalf("%s: cell (%d, %d) is solid: %v, in the realm: %v", file, x, y, r.Solid(x, y), solid)
			}
		}
	}
}

func TestParse_SaysWhatIsWrongAndWhere(t *testing.T) {
	good := recipe(t, "ember", 6, 6)
	if good.NStamps < 2 || good.NLights < 1 || good.NProps < 1 {
		t.Fatal("the recipe to spoil has too little in it")
	}
	data := good.Append(nil)
	lights := 20 + 6*good.NStamps
	rows := lights + 5*good.NLights + 3*good.NProps
	// A row of walls: none, then the given bytes.
	tail := func(b ...byte) func([]byte) []byte {
		return func(d []byte) []byte { return append(d[:rows], b...) }
	}
	set := func(i int, v byte) func([]byte) []byte {
		return func(d []byte) []byte { d[i] = v; return d }
	}
	for _, c := range []struct {
		spoil func([]byte) []byte
		want  string
	}{
		{func(d []byte) []byte { return nil }, "x.rec: byte 0: the file ends; the mark SREC must be here"},
		{set(2, 'x'), "byte 2: no recipe; allowed is a file that begins with SREC"},
		{set(4, 2), "byte 4: version 2; allowed is 1"},
		{set(5, byte(ground.Bases)), fmt.Sprintf("byte 5: the base is %d; allowed is 0 to %d", ground.Bases, ground.Bases-1)},
		{set(6, 24), "byte 6: the sector's column is 24; allowed is 0 to 23"},
		{set(7, 255), "byte 7: the sector's row is 255; allowed is 0 to 23"},
		{set(17, 65), "byte 17: the number of stamps is 65; allowed is 0 to 64"},
		{set(18, 25), "byte 18: the number of lights is 25; allowed is 0 to 24"},
		{set(19, 33), "byte 19: the number of props is 33; allowed is 0 to 32"},
		{func(d []byte) []byte { return d[:19] }, "byte 19: the file ends; the number of props must be here"},
		{func(d []byte) []byte { return d[:24] }, "byte 24: the file ends; a stamp's scale must be here"},
		{set(20, 0xc0), "byte 20: layer 3; allowed is 0 to 2"},
		{set(24, 15), "byte 24: scale 15; allowed is 16 to 255"},
		{set(25, 0x50), "byte 25: colour 5; allowed is 0 to 4"},
		{set(lights+2, 128), fmt.Sprintf("byte %d: radius 258; allowed is 2 to 256", lights+2)},
		{set(lights+3, 5), fmt.Sprintf("byte %d: a light's colour is 5; allowed is 0 to 4", lights+3)},
		{tail(), fmt.Sprintf("byte %d: the file ends; a row of walls must be here", rows)},
		{tail(0), fmt.Sprintf("byte %d: 0 changes in a row of walls; allowed is 1 to 80", rows)},
		{tail(81), fmt.Sprintf("byte %d: 81 changes in a row of walls; allowed is 1 to 80", rows)},
		{tail(1), fmt.Sprintf("byte %d: the file ends; a change in a row of walls must be here", rows+1)},
		{tail(1, 80), fmt.Sprintf("byte %d: a change in a row of walls is 80; allowed is 0 to 79", rows+1)},
		{tail(2, 9, 9), fmt.Sprintf("byte %d: a change at 9 behind one at 9; allowed is rising order", rows+2)},
		{tail(127 + 81), fmt.Sprintf("byte %d: 81 rows of walls; allowed are 80 more", rows)},
		{tail(127+80, 1, 2), fmt.Sprintf("byte %d: 2 bytes behind the last row of walls; allowed are none", rows+1)},
		{func(d []byte) []byte { return make([]byte, ground.MaxRecipe+1) }, fmt.Sprintf("%d bytes; allowed are up to %d", ground.MaxRecipe+1, ground.MaxRecipe)},
	} {
		var r ground.Recipe
		err := r.Parse("x.rec", c.spoil(bytes.Clone(data)))
		var file *ground.FileError
		if !errors.As(err, &file) || !strings.HasPrefix(err.Error(), "x.rec: byte ") || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
}

func TestParse_AllocatesNothing(t *testing.T) {
	data := read(t, "realms/tide/07_11.rec")
	var r ground.Recipe
	if n := testing.AllocsPerRun(20, func() {
		if err := r.Parse("x.rec", data); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range names {
		f.Add(read(f, "realms/"+name+"/00_00.rec"))
		f.Add(read(f, "realms/"+name+"/12_12.rec"))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var r, again ground.Recipe
		if err := r.Parse("x.rec", data); err != nil {
			var file *ground.FileError
			if !errors.As(err, &file) || file.Offset > len(data) {
				t.Fatalf("%v of %d bytes", err, len(data))
			}
			return
		}
		if err := again.Parse("x.rec", r.Append(nil)); err != nil || again != r {
			t.Fatalf("written and read again it differs: %v", err)
		}
	})
}

func TestNewStamps_RefusesPicturesThatAreNoGrid(t *testing.T) {
	for _, c := range []struct{ wide, high, bytes int }{{100, 128, 100 * 128 * 4}, {128, 0, 0}, {128, 128, 4}, {2048, 128, 2048 * 128 * 4}} {
		var file *ground.FileError
		if _, err := ground.NewStamps("stamps.png", make([]byte, c.bytes), c.wide, c.high, [5]ground.Color{}); !errors.As(err, &file) || file.File != "stamps.png" {
			t.Errorf("%d x %d of %d bytes: error %v", c.wide, c.high, c.bytes, err)
		}
	}
	for _, bad := range []string{"", "#12345", "#12345g", "0123456"} {
		if _, err := ground.ParsePalette("x.json", [5]string{bad}); err == nil {
			t.Errorf("no error of the colour %q", bad)
		}
	}
}

func TestRecipes_ShareWhatOverlapsTheirBorders(t *testing.T) {
	testenv.Long(t)
	for _, name := range names {
		shared := 0
		for i := range ground.Sectors * ground.Sectors {
			r := recipe(t, name, i%ground.Sectors, i/ground.Sectors)
			for _, d := range [][2]int{{1, 0}, {-1, 0}, {0, 1}, {0, -1}} {
				x, y := r.X+d[0], r.Y+d[1]
				if x < 0 || y < 0 || x >= ground.Sectors || y >= ground.Sectors {
					continue
				}
				n := recipe(t, name, x, y)
				for _, s := range r.Stamps[:r.NStamps] {
					if overlaps(s.X, s.Y, float64(s.Scale)*0.7071, d) {
						shared++
						s.X, s.Y = s.X-int16(d[0])*side, s.Y-int16(d[1])*side
						if !slices.Contains(n.Stamps[:n.NStamps], s) {
							t.Fatalf("%s: sector (%d, %d) lacks a stamp that (%d, %d) has on their border: %+v", name, x, y, r.X, r.Y, s)
						}
					}
				}
				for _, l := range r.Lights[:r.NLights] {
					if overlaps(l.X, l.Y, float64(l.Radius), d) {
						l.X, l.Y = l.X-int16(d[0])*side, l.Y-int16(d[1])*side
						if !slices.Contains(n.Lights[:n.NLights], l) {
							t.Fatalf("%s: sector (%d, %d) lacks a light that (%d, %d) has on their border: %+v", name, x, y, r.X, r.Y, l)
						}
					}
				}
			}
		}
		if shared < 100 {
			t.Errorf("%s: %d stamps lie on borders, too few to tell", name, shared)
		}
	}
}

// overlaps reports whether what is spread units wide around a place is seen in the sector in a direction.
func overlaps(x, y int16, spread float64, d [2]int) bool {
	fx, fy := float64(x)-float64(d[0]*side), float64(y)-float64(d[1]*side)
	return fx > -spread && fy > -spread && fx < side+spread && fy < side+spread
}
