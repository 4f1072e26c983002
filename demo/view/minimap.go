package view

import (
	"unsafe"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/ground"
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/render"
)

// A minimap shows the realm in a corner of the HUD: walls, loaded sectors of the ground, seals, heart and player. The
// walls are a picture on the atlas. It is drawn once for each realm, in a block of the large tier that is freed after
// the upload.
type minimap struct {
	id   int
	of   *realm.Realm // whose walls are on the atlas; nil is none
	bare bool         // they did not fit
}

// minimapName is the picture's name on the atlas. Names in manifests are in lower case, so none is equal.
const minimapName = "MINIMAP"

const (
	mapTexels = 128 // a side
	mapCells  = realm.Cells / mapTexels
	mapSide   = 72 // logical pixels
	mapTop    = 58
	mapGap    = 4  // between the map and the overlay
	touchRoom = 54 // that a column of buttons for fingers takes at the right
)

// chart draws the walls of a new realm. If they do not fit the map has no walls.
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
	tag, err := v.s.Mem.Tag("map")
	if err != nil {
		return
	}
	p, err := tag.Alloc(size, 4)
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
			a := byte(255 * min(max(3*solid-most, 0), most) / most) // a lone pillar is no landmark: it would be noise
			*(*[4]byte)(pixels[4*(y*mapTexels+x):]) = [4]byte{a, a, a, a}
		}
	}
}

// drawMap draws it: what is streamed in is bright, what is not lies in the dark.
func (v *View) drawMap() {
	g, q, m := v.s.Game, &v.quads, &v.minimap
	x0, y0, free := v.mapAt()
	if !free {
		return
	}
	q.Rect(x0, y0, mapSide, mapSide, v.pal[0].Mix(render.Black, 0.5).Fade(0.84))
	const sector = float32(mapSide) / ground.Sectors
	for i, whole := range v.ground.whole {
		if whole {
			q.Rect(x0+sector*float32(i%ground.Sectors), y0+sector*float32(i/ground.Sectors), sector, sector, v.pal[4].Fade(0.16))
		}
	}
	if !m.bare && v.atlas.Loaded(m.id) {
		q.Picture(v.atlas.Lookup(m.id), x0, y0, mapSide, mapSide, v.pal[1].Mix(v.pal[4], 0.42).Fade(0.5))
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
	a = a.Normalize()
	for _, d := range [2]float32{1.4, 1} { // a dark rim: a seal may lie below
		c := white
		if d > 1 {
			c = night.Fade(0.8)
		}
		tip, tail, side := a.Mul(5*d), a.Mul(-3.4*d), vec{-a[1], a[0]}.Mul(3.2*d)
		q.Tri(x+tip[0], y+tip[1], x+tail[0]+side[0], y+tail[1]+side[1], x+tail[0]-side[0], y+tail[1]-side[1], c)
	}
}

// mapAt returns its corner: below the seals and the heat, next to the buttons for fingers, at the highest place that
// the overlay and the ship leave free. Two buttons are side by side: on an upright screen at the top, on a wide one
// below. free is false if that is none in the upper two thirds: half a map is useless.
func (v *View) mapAt() (x, y float32, free bool) {
	x = v.ui.W - 10 - mapSide
	second := v.ui.H // where there are two columns of buttons
	if v.Menu != nil && v.Menu.Device == render.Touch {
		x -= touchRoom
		if second = 0; !v.ui.tall() {
			lo, hi := v.ui.safe()
			at, r := render.TouchRewind.Circle(lo, hi)
			second = v.ui.FromScreen(at.Sub(vec{r, r}))[1]
		}
	}
	top := v.reach.lo[1] + mapTop
	for y = top; y+mapSide <= v.ui.H*2/3; y += mapGap {
		if y+mapSide > second {
			x, second = x-touchRoom, v.ui.H
		}
		if !v.hidden(x, y-mapGap, mapSide, mapSide+2*mapGap) && !v.overShip(x, y, mapSide, mapSide) {
			return x, y, true
		}
	}
	return x, top, false
}

// belowMap returns where there is space again on a high canvas, which the seals and the map fill above.
func (v *View) belowMap() float32 {
	_, y, _ := v.mapAt()
	return y + mapSide + 12
}

// overShip reports whether a rectangle of the canvas lies over the place of the ship.
func (v *View) overShip(x, y, w, h float32) bool {
	lo, hi, ship := v.ui.view.Apply(vec{x, y}), v.ui.view.Apply(vec{x + w, y + h}), v.shipArea()
	return lo[0] < float32(ship.Max.X) && hi[0] > float32(ship.Min.X) && lo[1] < float32(ship.Max.Y) && hi[1] > float32(ship.Min.Y)
}

// hidden reports whether the overlay lies over some of a rectangle of the canvas.
func (v *View) hidden(x, y, w, h float32) bool {
	if v.Overlay == nil {
		return false
	}
	p := v.ui.view
	return v.Overlay.Covers(p.X+x*p.Scale, p.Y+y*p.Scale, w*p.Scale, h*p.Scale)
}
