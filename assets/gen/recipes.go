package main

import (
	"bytes"
	"slices"

	"github.com/strata-go/strata/demo/ground"
)

// A world is a realm with all that its sectors' recipes are made from.
type world struct {
	realm  *realm
	cells  mask
	room   []int32 // squared cells to the nearest wall
	stamps []placed
	lights []ground.Light // in units of the world, divided by four
	shown  ground.Stamps

	sectors *ground.Survey
	walls   *bytes.Reader // NAME.walls
}

// A placed stamp has its place in units of the world.
type placed struct {
	x, y int
	s    ground.Stamp
}

// A lot is one kind of stamp: how likely, where, how it may vary.
type lot struct {
	id       uint8
	share    int // of all lots'
	room     int // cells to the nearest wall, at least
	least    int // scale
	most     int
	shine    int // radius of the light that it gives, in units
	color    uint8
	straight bool // lies along the axes
	layer    ground.Layer
}

// survey digs a realm and strews its stamps and lights.
func survey(r *realm) *world {
	w := &world{realm: r, cells: dig(r)}
	w.room = w.cells.squares(func(i int) bool { return w.cells[i] != 0 })
	const step = 96
	n := realmCells * cellUnits / step
	for y := range n {
		for x := range n {
			h := hash(x, y, 801)
			w.strew(x*step+int(h&63)+16, y*step+int(h>>6&63)+16, hash(x, y, 802), hash(x, y, 803))
		}
	}
	w.mark()
	w.sectors, w.walls = w.file(), bytes.NewReader(w.cells.pack())
	return w
}

// strew puts a stamp, or nothing, at a place.
func (w *world) strew(x, y int, h, g uint32) {
	x, y = x&^3, y&^3
	cell := y/cellUnits*realmCells + x/cellUnits
	s := ground.Stamp{Turn: uint8(h >> 24), Scale: uint8(60 + h>>16&63), Color: uint8(1 + g>>28&1), Amount: uint8(g >> 24 & 1)}
	if w.cells[cell] != 0 {
		ids := w.realm.onWalls
		s.ID, s.Layer = ids[int(h&0xff)%len(ids)], ground.OnWalls
		if h>>8&3 == 0 {
			w.stamps = append(w.stamps, placed{x, y, s})
		}
		return
	}
	// Things lie in heaps with bare ground between.
	if relief(x/cellUnits, y/cellUnits, 44, 804) < int(h&0xfff)-one*5/8 {
		return
	}
	total := 0
	for _, l := range w.realm.lots {
		total += l.share
	}
	pick := int(g&0xffff) * total >> 16
	for _, l := range w.realm.lots {
		if pick -= l.share; pick >= 0 {
			continue
		}
		if int(w.room[cell]) < l.room*l.room {
			return
		}
		s.ID, s.Layer = l.id, l.layer
		s.Scale = uint8(l.least + int(h>>12&0xff)*(l.most-l.least)>>8)
		if l.straight {
			s.Turn &= 0xc0
		}
		w.stamps = append(w.stamps, placed{x, y, s})
		if l.shine > 0 {
			w.shine(x, y, l.shine, l.color, 110)
		}
		return
	}
}

func (w *world) shine(x, y, radius int, color, power uint8) {
	w.lights = append(w.lights, ground.Light{X: int16(x / 4), Y: int16(y / 4), Radius: int16(radius), Color: color, Power: power})
}

// mark makes the places seen: a ring of the realm's own things around each seal and the heart, and light on them.
func (w *world) mark() {
	ring := w.realm.ring
	for i, p := range w.realm.places() {
		x, y := p.x*cellUnits, p.y*cellUnits
		radius, n, light := 150, 6, uint8(2)
		if i == 0 {
			radius, n, light = 260, 10, 3
		}
		w.stamps = slices.DeleteFunc(w.stamps, func(s placed) bool {
			return s.s.Layer != ground.OnWalls && (s.x-x)*(s.x-x)+(s.y-y)*(s.y-y) < (radius+90)*(radius+90)
		})
		for k := range n {
			turn := k * 16 / n // slopes are sixteen
			sx, sy := x+slopes[turn][0]*radius/one, y+slopes[turn][1]*radius/one
			s := ground.Stamp{ID: ring[k&1], Turn: uint8(turn * 16), Scale: 90}
			w.stamps = append(w.stamps, placed{sx &^ 3, sy &^ 3, s})
			w.shine(sx, sy, 120, light, 60)
		}
		w.shine(x, y, 250, light, 140)
	}
}

// file describes all sectors.
func (w *world) file() *ground.Survey {
	s := &ground.Survey{Base: w.realm.base}
	for i := range s.Warmth {
		x, y := i%(realmSide+1)*sectorSide, i/(realmSide+1)*sectorSide
		s.Warmth[i] = uint8(128 + relief(x+17, y+29, 260, 811)*90/one)
		s.Tone[i] = uint8(128 + relief(x+31, y+13, 200, 812)*60/one)
	}
	for _, p := range w.stamps {
		p.s.X, p.s.Y = int16(p.x), int16(p.y)
		s.Stamps = append(s.Stamps, p.s)
	}
	for _, l := range w.lights {
		l.X, l.Y = l.X*4, l.Y*4
		s.Lights = append(s.Lights, l)
	}
	for i := range s.Loop {
		x, y := i%realmSide, i/realmSide
		s.Loop[i] = uint8(1 + min(max(relief(x*64+32, y*64+32, 300, 813)*3/one+1, 0), 2))
		s.Props = w.props(s.Props, x, y)
	}
	return s
}

// recipe makes a sector's recipe. It may be called on any goroutine.
func (w *world) recipe(sx, sy int) *ground.Recipe {
	r := new(ground.Recipe)
	if err := w.sectors.Recipe(r, sx, sy, w.walls); err != nil {
		panic(err) // the walls are in memory
	}
	return r
}

// props puts things of three kinds on open ground of a sector, some beside walls.
func (w *world) props(list []ground.Prop, sx, sy int) []ground.Prop {
	const step = 128
	for i := range 16 {
		h := hash(sx*4+i%4, sy*4+i/4, 821)
		x, y := i%4*step+int(h&63)*2, i/4*step+int(h>>6&63)*2
		room := w.room[(sy*sectorSide+y/cellUnits)*realmCells+sx*sectorSide+x/cellUnits]
		if room < 4 || h>>12&3 != 0 {
			continue
		}
		kind := uint8(h >> 14 & 1)
		if room < 36 {
			kind = 2
		}
		list = append(list, ground.Prop{X: int16(sx*ground.SectorSize + x), Y: int16(sy*ground.SectorSize + y), Kind: kind})
	}
	return list
}
