package main

import (
	"bytes"
	"image"
	"image/draw"
	"image/png"
	"io/fs"
	"testing"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

func file(t *testing.T, name string) []byte {
	t.Helper()
	data, err := fs.ReadFile(assets.FS(), name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestRealms_AreThoseInTheFolderAndCanBePlayed(t *testing.T) {
	testenv.Long(t)
	for i := range realms {
		if i != 1 && testenv.Brief() { // its rock takes the least time
			continue // the gate makes all of them
		}
		r := &realms[i]
		text, err := r.describe()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(text, file(t, "realms/"+r.Name+".json")) {
			t.Errorf("%s.json differs from the folder; run go run -C assets/gen .", r.Name)
		}
		if !bytes.Equal(levelFile(i), file(t, "levels/"+r.Name+".json")) {
			t.Errorf("levels/%s.json differs from the folder; run go run -C assets/gen .", r.Name)
		}
		w := survey(r)
		g := w.cells
		if !bytes.Equal(g.pack(), file(t, "realms/"+r.Name+".walls")) {
			t.Errorf("%s.walls differs from the folder; run go run -C assets/gen .", r.Name)
		}
		playable(t, r, g)
		asInFolder(t, w)
	}
}

// asInFolder compares survey, stamps and some sectors of the far picture with the folder's.
func asInFolder(t *testing.T, w *world) {
	t.Helper()
	dir := "realms/" + w.realm.Name + "/"
	if !bytes.Equal(w.sectors.Append(nil), file(t, dir+"sectors.survey")) {
		t.Fatalf("%ssectors.survey differs from the folder; run go run -C assets/gen .", dir)
	}
	stamps, err := w.dress()
	if err != nil {
		t.Fatal(err)
	}
	if n := misses(stamps, decoded(t, dir+"stamps.png")); n > len(stamps.Pix)/4/pixelsPerMiss {
		t.Errorf("%sstamps.png: %d pixels differ from the folder; run go run -C assets/gen .", dir, n)
	}
	far := decoded(t, dir+"far.png")
	small := image.NewNRGBA(far.Rect)
	err = w.composing([][2]int{{2, 3}, {9, 14}, {21, 20}}, func(sx, sy int, pix []byte) {
		shrink(small, sx, sy, pix)
		for c := range 3 {
			is, want := 0, 0
			for i := range farSide * farSide {
				at := far.PixOffset(sx*farSide+i%farSide, sy*farSide+i/farSide) + c
				is, want = is+int(far.Pix[at]), want+int(small.Pix[at])
			}
			if d := abs(is-want) / (farSide * farSide); d > 3 {
				t.Errorf("%sfar.png: sector (%d, %d) differs by %d levels on average from what is composed; run go run -C assets/gen .", dir, sx, sy, d)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

func decoded(t *testing.T, name string) *image.NRGBA {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(file(t, name)))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if img, ok := img.(*image.NRGBA); ok {
		return img
	}
	out := image.NewNRGBA(img.Bounds()) // a picture of few colors is stored with a palette
	draw.Draw(out, out.Rect, img, out.Rect.Min, draw.Src)
	return out
}

// playable checks what the game relies on.
func playable(t *testing.T, r *realm, g mask) {
	t.Helper()
	open := 0
	for i, v := range g {
		x, y := i%realmCells, i/realmCells
		if v == 0 {
			open++
			if min(x, y, realmCells-1-x, realmCells-1-y) < rim {
				t.Fatalf("%s: cell (%d, %d) of the rim is open", r.Name, x, y)
			}
		}
	}
	if open*10 < len(g)*7 {
		t.Errorf("%s: %d of 1000 cells are open, want 700", r.Name, open*1000/len(g))
	}
	for i, n := range g.pieces() {
		if n > 1 {
			t.Fatalf("%s: cell (%d, %d) cannot be reached", r.Name, i%realmCells, i/realmCells)
		}
	}
	for _, p := range r.places() {
		n, room := 0, p.room-spare+1
		for y := -room; y <= room; y++ {
			for x := -room; x <= room; x++ {
				if x*x+y*y <= room*room {
					n += int(g[(p.y+y)*realmCells+p.x+x])
				}
			}
		}
		if n > 0 {
			t.Errorf("%s: %d cells around (%d, %d) are solid", r.Name, n, p.x, p.y)
		}
	}
	d := g.squares(func(i int) bool { return g[i] != 0 })
	near := g.squares(func(i int) bool { return d[i] > passage*passage })
	narrow := 0
	for i, v := range g {
		if v == 0 && near[i] > passage*passage {
			narrow++
		}
	}
	if narrow*1000 > open {
		t.Errorf("%s: %d of %d open cells lie in passages narrower than %d cells", r.Name, narrow, open, 2*passage)
	}
}

func TestSeals_LieOneInAQuadrantAtAFairDistance(t *testing.T) {
	for _, r := range realms {
		seen := [4]bool{}
		for _, s := range r.Seals {
			dx, dy := s[0]-r.Heart[0], s[1]-r.Heart[1]
			if d := root(dx*dx + dy*dy); d < 2500 || d > 4500 {
				t.Errorf("%s: a seal lies %d units from the heart, want 2500 to 4500", r.Name, d)
			}
			q := 0
			if dx > 0 {
				q = 1
			}
			if dy > 0 {
				q += 2
			}
			if seen[q] {
				t.Errorf("%s: two seals in quadrant %d", r.Name, q)
			}
			seen[q] = true
		}
	}
}
