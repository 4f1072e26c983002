package render

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-gl/mathgl/mgl32"

	"github.com/strata-go/strata/memory"
	mempage "github.com/strata-go/strata/memory/page"
)

func testTiles(t *testing.T, cfg TilesConfig) (*Tiles, *[]*memPage) {
	t.Helper()
	var made []*memPage
	ts, err := newTiles(cfg, func(size int) page {
		made = append(made, newMemPage(size))
		return made[len(made)-1]
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ts.Close(); err != nil {
			t.Error(err)
		}
	})
	return ts, &made
}

func TestTiles_ATileOfOthersIsNotLive(t *testing.T) {
	var ts [3]*Tiles
	var tiles [3]Tile
	for i := range ts {
		ts[i], _ = testTiles(t, TilesConfig{Page: 512, Pages: 1})
		tile, err := ts[i].Place(64 << i)
		if err != nil {
			t.Fatal(err)
		}
		tiles[i] = tile
	}
	for i := range ts {
		for j := range tiles {
			if err := ts[i].Write(tiles[j], 0, pixels(64<<j, 1, func(int, int) byte { return 1 })); (err == nil) != (i == j) {
				t.Errorf("a tile of %d in %d: %v", j, i, err)
			}
			if i != j && ts[i].Free(tiles[j]) {
				t.Errorf("%d frees a tile of %d", i, j)
			}
		}
	}
}

// A model paints every live tile with a colour of its own, and finds each where it was painted,
// whatever came and went around it.
func TestTiles_NoTwoLieOnOneTexel(t *testing.T) {
	const side, pages = 512, 3 // not a power of two
	ts, made := testTiles(t, TilesConfig{Page: side, Pages: pages})
	rng := rand.New(rand.NewPCG(1, 2))
	type painted struct {
		Tile
		ink byte
	}
	var live []painted
	full := 0
	for step := range 4000 {
		if len(live) > 0 && rng.IntN(5) < 2 {
			i := rng.IntN(len(live))
			if !ts.Free(live[i].Tile) || ts.Free(live[i].Tile) {
				t.Fatal("a tile is not freed exactly once")
			}
			live = append(live[:i], live[i+1:]...)
		} else {
			tile, err := ts.Place(TileUnit << rng.IntN(3))
			if err != nil {
				if !errors.Is(err, ErrTilesFull) {
					t.Fatal(err)
				}
				full++
				continue
			}
			ink := byte(1 + step%250)
			if err := ts.Write(tile, 0, pixels(tile.Side(), tile.Side(), func(int, int) byte { return ink })); err != nil {
				t.Fatal(err)
			}
			live = append(live, painted{tile, ink})
		}
		if step%256 != 0 {
			continue
		}
		if err := ts.Check(); err != nil {
			t.Fatal(err)
		}
		for _, p := range live {
			at, x, y := ts.where(p.Tile)
			for _, d := range [][2]int{{0, 0}, {p.Side() - 1, 0}, {0, p.Side() - 1}, {p.Side() - 1, p.Side() - 1}} {
				if got := ts.pages[at].(*memPage).at(x+d[0], y+d[1])[0]; got != p.ink {
					t.Fatalf("step %d: a texel of tile %+v is %d, not %d", step, p.Tile, got, p.ink)
				}
			}
		}
	}
	if s := ts.Stats(); full == 0 || s.Pages != len(*made) || s.Pages != pages || s.Live != len(live) || s.Bytes != pages*side*side*4 {
		t.Errorf("%d times full, %d pages made, %+v with %d live", full, len(*made), s, len(live))
	}
}

func TestTiles_APageFilledIsUsedToTheLastTexel(t *testing.T) {
	ts, _ := testTiles(t, TilesConfig{Page: 1024, Pages: 2})
	for range 8 {
		if _, err := ts.Place(512); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ts.Place(64); !errors.Is(err, ErrTilesFull) {
		t.Errorf("a ninth: %v", err)
	}
	if s := ts.Stats(); s.Used != 2*1024*1024*4 || s.Bytes != 0 {
		t.Errorf("%+v; nothing was written", s)
	}
}

func TestTiles_RowsCanBeWrittenOneByOne(t *testing.T) {
	ts, made := testTiles(t, TilesConfig{Page: 512, Pages: 1})
	tile, err := ts.Place(64)
	if err != nil {
		t.Fatal(err)
	}
	for y := range 64 {
		if err := ts.Write(tile, y, pixels(64, 1, func(x, _ int) byte { return byte(x + y) })); err != nil {
			t.Fatal(err)
		}
	}
	_, x0, y0 := ts.where(tile)
	for y := range 64 {
		for x := range 64 {
			if got := (*made)[0].at(x0+x, y0+y)[0]; got != byte(x+y) {
				t.Fatalf("texel %d,%d is %d", x, y, got)
			}
		}
	}
}

func TestTiles_MisuseIsAClearErrorAndChangesNothing(t *testing.T) {
	for _, c := range []struct {
		cfg  TilesConfig
		want string
	}{
		{TilesConfig{Page: 1000}, "allowed are 512"},
		{TilesConfig{Page: 8192}, "allowed are 512"},
		{TilesConfig{Pages: 65}, "allowed are 1 to 64"},
		{TilesConfig{Pages: -1}, "allowed are 1 to 64"},
	} {
		if _, err := NewTiles(c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.cfg, err)
		}
	}
	ts, _ := testTiles(t, TilesConfig{Page: 512, Pages: 1})
	tile, err := ts.Place(64)
	if err != nil {
		t.Fatal(err)
	}
	for _, side := range []int{0, -64, 32, 96, 1024} {
		if _, err := ts.Place(side); err == nil || errors.Is(err, ErrTilesFull) {
			t.Errorf("a tile of %d: %v", side, err)
		}
	}
	row := make([]byte, 4*64)
	for name, err := range map[string]error{
		"the zero tile":    ts.Write(Tile{}, 0, row),
		"above":            ts.Write(tile, -1, row),
		"below":            ts.Write(tile, 64, row),
		"far below":        ts.Write(tile, math.MaxInt, row),
		"part of a row":    ts.Write(tile, 0, row[:100]),
		"nothing":          ts.Write(tile, 0, nil),
		"a stranger's":     ts.Write(Tile{unit: 40, gen: 1, side: 64}, 0, row),
		"outside of all":   ts.Write(Tile{unit: 1 << 30, gen: 1, side: 64}, 0, row),
		"an even lifetime": ts.Write(Tile{unit: 2, gen: 0, side: 64}, 0, row),
	} {
		if err == nil {
			t.Errorf("write: %s is no error", name)
		}
	}
	ts.Free(tile)
	again, err := ts.Place(64)
	if err != nil || again == tile || ts.Write(tile, 0, row) == nil || ts.Free(tile) {
		t.Errorf("the freed tile is the one placed after it: %+v, %+v, %v", tile, again, err)
	}
	if err := ts.Check(); err != nil {
		t.Error(err)
	}
}

func TestTiles_WithoutMemoryForTheBooksThereAreNone(t *testing.T) {
	ts, _ := testTiles(t, TilesConfig{Source: mempage.NewLimit(nil, 1)})
	if _, err := ts.Place(64); !errors.Is(err, ErrTilesFull) {
		t.Errorf("placed: %v", err)
	}
	if err := ts.Check(); err != nil {
		t.Error(err)
	}
}

// The reservation was halved where the system refused the whole, and half of the tiles did not fit.
func TestTiles_AHalvedReservationIsRefused(t *testing.T) {
	for most := uintptr(1 << 10); most <= 1<<20; most *= 2 {
		ts, err := newTiles(TilesConfig{Source: narrow{mempage.Default(), most}}, func(size int) page { return newMemPage(size) })
		if err != nil {
			if !errors.Is(err, memory.ErrOutOfMemory) {
				t.Errorf("at most %d bytes: %v", most, err)
			}
			continue
		}
		for range 3 {
			if _, err := ts.Place(DefaultPage); err != nil {
				t.Errorf("at most %d bytes: a tile of %d texels: %v", most, DefaultPage, err)
			}
		}
		if err := ts.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A narrow source refuses reservations beyond most bytes.
type narrow struct {
	mempage.Source
	most uintptr
}

func (n narrow) Reserve(size uintptr) (mempage.Memory, error) {
	if size > n.most {
		return mempage.Memory{}, &memory.Exhausted{Op: "narrow: reserve", Need: size, Limit: n.most, Cause: errors.New("too much")}
	}
	return n.Source.Reserve(size)
}

func TestTiles_PutStaysHalfATexelInside(t *testing.T) {
	ts, _ := testTiles(t, TilesConfig{Page: 512, Pages: 1})
	tile, err := ts.Place(128)
	if err != nil {
		t.Fatal(err)
	}
	ts.Begin(View{Scale: 1})
	if ts.Put(tile, 0, 0, 1, 1, 0, 0, 512, 512, White) || ts.Put(Tile{}, 0, 0, 1, 1, 0, 0, 1, 1, White) {
		t.Error("a tile without pixels was drawn")
	}
	if err := ts.Write(tile, 0, make([]byte, 4*128*128)); err != nil {
		t.Fatal(err)
	}
	if !ts.Put(tile, 0, 0.5, 0.5, 1, 10, 20, 256, 256, White) {
		t.Fatal("refused")
	}
	_, x, y := ts.where(tile)
	v := ts.batches[0].quads.Vertices()
	if v[0].SrcX != float32(x)+0.5 || v[3].SrcX != float32(x)+64 || v[0].SrcY != float32(y)+64 || v[3].SrcY != float32(y)+127.5 {
		t.Errorf("texels %v,%v to %v,%v", v[0].SrcX, v[0].SrcY, v[3].SrcX, v[3].SrcY)
	}
	if v[0].DstX != 10 || v[0].DstY != 20 || v[3].DstX != 266 || v[3].DstY != 276 {
		t.Errorf("drawn from %v,%v to %v,%v", v[0].DstX, v[0].DstY, v[3].DstX, v[3].DstY)
	}
	for range tilesABatch {
		ts.Put(tile, 0, 0, 1, 1, 0, 0, 1, 1, White)
	}
	if d := ts.batches[0].quads.Dropped; d != 1 {
		t.Errorf("%d dropped", d)
	}
}

// The metadata has a power of two of units, the pages need not: blocks beyond the pages must not be found before
// usable ones.
func TestTiles_WhatThereIsIsFoundBeforeWhatIsBeyondThePages(t *testing.T) {
	for _, pages := range []int{3, 5, 6, 7} {
		ts, _ := testTiles(t, TilesConfig{Page: 512, Pages: pages})
		var all []Tile
		for {
			tile, err := ts.Place(128)
			if err != nil {
				break
			}
			all = append(all, tile)
		}
		if len(all) != pages*16 {
			t.Fatalf("%d tiles on %d pages", len(all), pages)
		}
		for _, tile := range all {
			if at, _, _ := ts.where(tile); at < pages-1 { // the last page stays full
				ts.Free(tile)
			}
		}
		for n := range (pages - 1) * 16 {
			if _, err := ts.Place(128); err != nil {
				t.Fatalf("%d pages: %d tiles after all but the last went: %v", pages, n, err)
			}
		}
		if err := ts.Check(); err != nil {
			t.Error(err)
		}
	}
}

// The tiles are written twice in a frame, freed and written again after the draw, and their pages are closed before
// the frame ends.
func TestWindow_TilesShowWhatWasWrittenLastBeforeTheyWereDrawn(t *testing.T) {
	if _, out, err := runScene(t, "tiles"); err != nil {
		t.Errorf("%v, printed %q", err, out)
	}
}

// drawTiles puts flat tiles beside each other, and looks at the pixels in the middle of each.
func drawTiles(f *Frame, _ *Quads, _ *Atlas, _ *Font) {
	ts, err := NewTiles(TilesConfig{Page: 512, Pages: 2})
	if err != nil {
		f.fail(err)
		return
	}
	const tiles, wide = 8, 40
	flat := func(side int, ink byte) []byte { return pixels(side, side, func(int, int) byte { return ink }) }
	s := f.BeginScene(Black).View()
	for k := range tiles {
		tile, err1 := ts.Place(64 << (k % 3))
		err2 := ts.Write(tile, 0, flat(tile.Side(), 255))
		err3 := ts.Write(tile, 0, flat(tile.Side(), byte(20*k+10)))
		ts.Begin(s)
		ts.Put(tile, 0, 0, 1, 1, float32(wide*k), 0, wide, wide, White)
		ts.Submit(f)
		err4 := ts.Write(tile, 0, flat(tile.Side(), 254)) // too late
		if f.fail(errors.Join(err1, err2, err3, err4)); k%2 == 0 {
			ts.Free(tile)
		}
		if ts.Put(tile, 0, 0, 1, 1, wide*tiles, 0, wide, wide, White) != (k%2 > 0) {
			f.fail(errors.New("a tile that is freed was put, or one that is not was refused"))
		}
	}
	f.fail(ts.Close())
	ts.Submit(f) // what was put last is gone
	f.EndScene()
	px := make([]byte, 4*f.ScreenW*f.ScreenH)
	f.fail(f.ReadPixels(px))
	for k := range tiles + 1 {
		p := f.View().Apply(mgl32.Vec2{float32(wide*k) + wide/2, wide / 2})
		ink := byte(20*k+10) * byte(1-k/tiles) // and nothing behind the last
		if got := px[4*(int(p[1])*f.ScreenW+int(p[0]))]; got != ink {
			f.fail(fmt.Errorf("tick %d: tile %d is %d, not %d", f.Tick, k, got, ink))
		}
	}
}
