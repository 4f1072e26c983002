package view

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/strata-go/strata/demo/ground"
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/demo/session"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
)

// terrain is the ground. It has a tile on the GPU for each loaded sector. The others are drawn from a picture of the
// whole realm with 16 pixels a sector, so that missing ground is soft and not black.
type terrain struct {
	tiles *render.Tiles
	tile  [ground.Sectors * ground.Sectors]render.Tile
	whole [ground.Sectors * ground.Sectors]bool // all rows are uploaded
	far   int                                   // the atlas's id of the far picture
}

// farName is the name of the picture of the whole realm in manifests.
const farName = "far"

// lay makes the pages; their metadata is in the session's pools.
func (v *View) lay(s *session.Session, bytes int) (err error) {
	bytes = cmp.Or(bytes, session.GroundBytes)
	t := &v.ground
	if t.far, err = v.atlas.ID(farName); err != nil {
		return err
	}
	t.hold(v.atlas)
	side, pages := pagesFor(session.GroundRoom(bytes))
	if t.tiles, err = render.NewTiles(render.TilesConfig{Page: side, Pages: pages, Source: s.Mem.PoolSource()}); err != nil {
		return err
	}
	tag, err := s.Mem.Tag("ground")
	if err == nil {
		tag.AddPool("ground pages", &tiers.Funcs{StatsFunc: t.tiles.Memory, CloseFunc: t.tiles.Close})
	}
	return err
}

// farSize is the side of the picture of the whole realm.
const farSize = 16 * ground.Sectors

// hold reserves space for the far picture of the next realm, the largest of all. Pictures arrive in any order, and
// small ones could take its space on the page. If it does not fit, the ground is dark until its sectors are loaded.
func (t *terrain) hold(a *render.Atlas) { _, _ = a.Reserve(t.far, farSize, farSize) }

// pagesFor returns the side and number of the largest pages that have space for exactly so many sectors, see
// session.GroundRoom.
func pagesFor(sectors int) (side, pages int) {
	for side, of := render.DefaultPage, 16; ; side, of = side/2, of/4 {
		if sectors%of == 0 {
			return side, sectors / of
		}
	}
}

// Rows uploads rows of a sector from row y on: 4 bytes a texel, premultiplied RGBA. The first call for a sector must
// begin with row 0, and allocates the sector's tile. Before [View.Show], or if no tile is free, Rows fails. If rows is
// not one or more whole rows inside the sector, Rows frees the tile and fails.
func (v *View) Rows(s ground.Sector, y int, rows []byte) error {
	t, i := &v.ground, s.Index()
	if t.tiles == nil {
		return errors.New("view: there are no pages yet")
	}
	if y == 0 && !t.tile[i].Valid() {
		tile, err := t.tiles.Place(ground.SectorSize)
		if err != nil {
			return fmt.Errorf("sector %d,%d: %w", s.X, s.Y, err)
		}
		t.tile[i] = tile
	}
	if err := t.tiles.Write(t.tile[i], y, rows); err != nil {
		v.Hide(s)
		return err
	}
	t.whole[i] = t.whole[i] || y+len(rows)/(4*ground.SectorSize) == ground.SectorSize // or its file has changed
	return nil
}

// Hide frees the tile of a sector, so that the sector is drawn from the far picture. If the sector has no tile, Hide
// does nothing.
func (v *View) Hide(s ground.Sector) {
	t, i := &v.ground, s.Index()
	if t.tiles != nil {
		t.tiles.Free(t.tile[i])
	}
	t.tile[i], t.whole[i] = render.Tile{}, false
}

// shown reports whether the sector that contains a cell is loaded.
func (t *terrain) shown(cellX, cellY int) bool {
	const side = ground.SectorSize / realm.CellSize
	x, y := cellX/side, cellY/side
	return uint(cellX) < realm.Cells && uint(cellY) < realm.Cells && t.whole[y*ground.Sectors+x]
}

// floor draws the sectors in sight: loaded ones from their tiles, before everything else, and the others soft.
func (v *View) floor(scene render.Viewport) {
	t := &v.ground
	if t.tiles == nil {
		return
	}
	lo, hi := v.seen.lo, v.seen.hi
	t.tiles.Begin(v.cam.View(scene))
	const size = float32(ground.SectorSize)
	soft := v.atlas.Lookup(t.far)
	for y := sectorOf(lo[1]); y <= sectorOf(hi[1]); y++ {
		for x := sectorOf(lo[0]); x <= sectorOf(hi[0]); x++ {
			i, fx, fy := y*ground.Sectors+x, float32(x)*size, float32(y)*size
			if outside(x, y, ground.Sectors) {
				if v.atlas.Loaded(t.far) {
					v.quads.Picture(rim(soft, x, y), fx, fy, size, size, render.White)
				}
				continue
			}
			if t.whole[i] && t.tiles.Put(t.tile[i], 0, 0, 1, 1, fx, fy, size, size, render.White) {
				continue
			}
			if v.atlas.Loaded(t.far) {
				v.quads.Picture(part(soft, x, y), fx, fy, size, size, render.White)
			}
		}
	}
}

// part is the square of a sector on the picture of the realm.
func part(r render.Region, x, y int) render.Region {
	w, h := r.W()/ground.Sectors, r.H()/ground.Sectors
	return render.Region{X0: r.X0 + float32(x)*w, Y0: r.Y0 + float32(y)*h, X1: r.X0 + float32(x+1)*w, Y1: r.Y0 + float32(y+1)*h}
}

// sectorOf returns the sector of a coordinate; the one before the realm's first is -1.
func sectorOf(f float32) int { return int(f/ground.SectorSize+1) - 1 }

// outside reports whether there is no such sector or cell, of so many a side.
func outside(x, y, side int) bool { return uint(x) >= uint(side) || uint(y) >= uint(side) }

// rim is the line of texels at the edge of the realm's picture that is next to a sector outside the realm. That
// sector is drawn with it, so that the rock does not end.
func rim(r render.Region, x, y int) render.Region {
	p := part(r, min(max(x, 0), ground.Sectors-1), min(max(y, 0), ground.Sectors-1))
	along := func(lo, hi *float32, n int) {
		switch {
		case n < 0:
			*lo += 0.5
			*hi = *lo
		case n >= ground.Sectors:
			*hi -= 0.5
			*lo = *hi
		}
	}
	along(&p.X0, &p.X1, x)
	along(&p.Y0, &p.Y1, y)
	return p
}

// walls draws the walls in sight whose sectors are not loaded: a plain quad for each run of cells in a row, lit at
// the edges. Walls outside the realm are drawn by floor as soon as the realm's picture is loaded.
func (v *View) walls() {
	r := v.s.Game.Realm
	clear := r.Clear()
	lo, hi := v.seen.lo, v.seen.hi
	x0, x1 := int(lo[0])/realm.CellSize-1, int(hi[0])/realm.CellSize+1
	y0, y1 := int(lo[1])/realm.CellSize-1, int(hi[1])/realm.CellSize+1
	solid := func(x, y int) bool {
		return uint(x) >= realm.Cells || uint(y) >= realm.Cells || clear != nil && clear[y*realm.Cells+x] == 0
	}
	far := v.atlas.Loaded(v.ground.far)
	plain := func(x, y int) bool {
		return solid(x, y) && !v.ground.shown(x, y) && !(far && outside(x, y, realm.Cells))
	}
	const side = float32(realm.CellSize)
	body, lit := v.pal[0].Mix(v.pal[1], 0.45), v.pal[2].Light(0.5)
	body.A = 1
	for y := y0; y <= y1; y++ {
		for x := x0; x <= x1; {
			if !plain(x, y) {
				x++
				continue
			}
			from := x
			for x <= x1 && plain(x, y) {
				x++
			}
			fx, fy := float32(from)*side, float32(y)*side
			v.quads.Rect(fx, fy, float32(x-from)*side, side, body)
			v.edges(from, x, y, solid, lit)
		}
	}
}

// edges lights the edges of a run of solid cells that border on open cells above, below and at its ends.
func (v *View) edges(from, to, y int, solid func(x, y int) bool, c render.Color) {
	const side = float32(realm.CellSize)
	fy := float32(y) * side
	for _, e := range [2]struct {
		row int
		at  float32
	}{{y - 1, fy}, {y + 1, fy + side - 1}} {
		for x := from; x < to; {
			begin := x
			for x < to && !solid(x, e.row) {
				x++
			}
			if x > begin {
				v.quads.Rect(float32(begin)*side, e.at, float32(x-begin)*side, 1, c)
			}
			for x < to && solid(x, e.row) {
				x++
			}
		}
	}
	if !solid(from-1, y) {
		v.quads.Rect(float32(from)*side, fy, 1, side, c)
	}
	if !solid(to, y) {
		v.quads.Rect(float32(to)*side-1, fy, 1, side, c)
	}
}
