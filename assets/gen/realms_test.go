package main

import (
	"bytes"
	"io/fs"
	"testing"

	"github.com/strata-go/strata/assets"
)

func TestRealms_AreTheFilesInTheFolder(t *testing.T) {
	for i := range realms {
		files, err := realmFiles(&realms[i])
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range files {
			got, err := fs.ReadFile(assets.FS(), "realms/"+name)
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%s differs from what is drawn (%v); run go run ./assets/gen", name, err)
			}
		}
	}
}

func TestRealms_AreOneOpenCaveWithRoomAtItsPlaces(t *testing.T) {
	for i := range realms {
		s := &realms[i]
		g := s.build()
		seen, open := g.flood(s.Heart), 0
		for j, solid := range g {
			if solid == seen[j] {
				t.Fatalf("%s: cell %d is open and cannot be reached", s.Name, j)
			}
			x, y := j%worldCells, j/worldCells
			if !solid {
				open++
				if x == 0 || y == 0 || x == worldCells-1 || y == worldCells-1 {
					t.Fatalf("%s: the border is open at %d, %d", s.Name, x, y)
				}
			}
		}
		share := 100 * open / len(g)
		t.Logf("%s: %d %% open", s.Name, share)
		if share < 65 || share > 88 {
			t.Errorf("%s: %d %% is open ground, want 65 to 88", s.Name, share)
		}
		wide := 0
		for j, d := range g.near(true) {
			if !g[j] && d >= 4 {
				wide++
			}
		}
		if 100*wide < 85*open {
			t.Errorf("%s: %d of %d open cells are two cells from rock", s.Name, wide, open)
		}
		places := []struct {
			at point
			r  int
		}{{s.Start, startRadius}, {s.Heart, heartRadius}}
		quadrants := map[[2]bool]bool{}
		for _, p := range s.Seals {
			places = append(places, struct {
				at point
				r  int
			}{p, sealRadius})
			ex, ey := p[0]-s.Heart[0], p[1]-s.Heart[1]
			if d := ex*ex + ey*ey; d < 2500*2500 || d > 4500*4500 {
				t.Errorf("%s: the seal at %v is not 2500 to 4500 units from the heart", s.Name, p)
			}
			quadrants[[2]bool{ex < 0, ey < 0}] = true
		}
		if len(quadrants) != 4 {
			t.Errorf("%s: %d quadrants have a seal, want 4", s.Name, len(quadrants))
		}
		for _, p := range places {
			for y := p.at[1] - p.r; y <= p.at[1]+p.r; y += 4 {
				for x := p.at[0] - p.r; x <= p.at[0]+p.r; x += 4 {
					ex, ey := x-p.at[0], y-p.at[1]
					if ex*ex+ey*ey <= p.r*p.r && g[y/cellUnits*worldCells+x/cellUnits] {
						t.Fatalf("%s: rock at %d, %d, within %d of %v", s.Name, x, y, p.r, p.at)
					}
				}
			}
		}
	}
}
