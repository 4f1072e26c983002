package view

import (
	"unsafe"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/ground"
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/render"
)

// A minimap is the realm in a corner of the HUD: its walls, which sectors of the ground are there, the
// seals, the heart, and where one is. The walls are a picture on the atlas, drawn once for each realm, in a
// block of the large tier that lives until it is uploaded.
type minimap struct {
	id   int
	of   *realm.Realm // whose walls are on the atlas; nil is none
	bare bool         // there was no room for them
}

// minimapName is the picture's on the atlas: no level may call one of its own so, as ids are in lower case.
const minimapName = "MINIMAP"

const (
	mapTexels = 128 // a side
	mapCells  = realm.Cells / mapTexels
	mapSide   = 72 // logical pixels
	mapTop    = 50
)

// chart draws the walls of a realm that has come. Where there is no room the map has no walls.
func (v *View) chart() {
	m, r := &v.minimap, v.s.Game.Realm
	if m.of == r {
		return
	}
	m.of, m.bare = r, true
	clear := r.Clear()
	if clear == nil {
		return
	}
	const size = 4 * mapTexels * mapTexels
	p, err := v.s.Mem.Large().Alloc(size, 4)
	if err != nil {
		return
	}
	pixels := unsafe.Slice((*byte)(p), size)
	walls(pixels, clear)
	if _, err = v.atlas.Reserve(m.id, mapTexels, mapTexels); err == nil {
		m.bare = v.atlas.Upload(m.id, pixels, mapTexels, mapTexels) != nil
	}
	v.s.Mem.Free(p, size)
}

// walls writes white that covers as much as there is of walls, by every third cell in each row and column.
func walls(pixels []byte, clear []uint8) {
	const step = 3
	const most = (mapCells / step) * (mapCells / step)
	for y := range mapTexels {
		for x := range mapTexels {
			solid := 0
			for cy := y * mapCells; cy < (y+1)*mapCells; cy += step {
				for cx := x * mapCells; cx < (x+1)*mapCells; cx += step {
					if clear[cy*realm.Cells+cx] == 0 {
						solid++
					}
				}
			}
			a := byte(255 * solid / most)
			*(*[4]byte)(pixels[4*(y*mapTexels+x):]) = [4]byte{a, a, a, a}
		}
	}
}

// drawMap draws it: what is streamed in is bright, what is not lies in the dark.
func (v *View) drawMap() {
	g, q, m := v.s.Game, &v.quads, &v.minimap
	x0, y0 := v.mapAt()
	q.Rect(x0, y0, mapSide, mapSide, v.pal[0].Mix(render.Black, 0.4).Fade(0.62))
	const sector = float32(mapSide) / ground.Sectors
	for i, whole := range v.ground.whole {
		if whole {
			q.Rect(x0+sector*float32(i%ground.Sectors), y0+sector*float32(i/ground.Sectors), sector, sector, v.pal[1].Mix(v.pal[2], 0.2).Fade(0.75))
		}
	}
	if !m.bare && v.atlas.Loaded(m.id) {
		q.Picture(v.atlas.Lookup(m.id), x0, y0, mapSide, mapSide, v.pal[1].Mix(v.pal[4], 0.42).Fade(0.62))
	}
	q.Border(x0, y0, mapSide, mapSide, 1, v.pal[3].Fade(0.35))
	at := func(p vec) (x, y float32) {
		const k = mapSide / float32(realm.World)
		return x0 + min(max(p[0]*k, 2), mapSide-2), y0 + min(max(p[1]*k, 2), mapSide-2)
	}
	for i := range g.Seals {
		x, y := at(g.Seals[i].P)
		c := v.pal[3]
		if g.Seals[i].Broken {
			c = v.pal[1]
		}
		q.Ring(x, y, 2.6, 1.6, 0, 6, c)
	}
	x, y := at(g.Realm.Place(realm.Heart))
	q.Ring(x, y, 3.6, 1, 0, 6, v.pal[4].Fade(0.8))
	if g.Phase != game.Leaving && g.Player.Alive {
		x, y = at(g.GoalAt())
		beat := float32(1)
		if !v.comfort.calm {
			beat = v.time - float32(int(v.time))
		}
		q.Ring(x, y, 3+4*beat, 1, 0, 12, v.pal[4].Fade(1-0.7*beat))
	}
	x, y = at(g.Player.P)
	a := g.Player.Aim
	if engine.LengthSquared(a) == 0 {
		a = vec{1, 0}
	}
	q.Rect(x-1.5, y-1.5, 3, 3, white)
	q.Tri(x+a[0]*5, y+a[1]*5, x-a[1]*2, y+a[0]*2, x+a[1]*2, y-a[0]*2, white)
}

// mapAt is its corner: below the seals and the heat, and beside the buttons where there are fingers.
func (v *View) mapAt() (x, y float32) {
	x = Width - 10 - mapSide
	if v.Menu != nil && v.Menu.Device == render.Touch {
		x -= 44
	}
	return x, mapTop
}
