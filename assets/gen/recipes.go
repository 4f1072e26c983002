package main

import (
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

// recipe returns what a sector's file says.
func (w *world) recipe(sx, sy int) *ground.Recipe {
	r := &ground.Recipe{Base: w.realm.base, X: sx, Y: sy}
	for i := range 4 {
		x, y := (sx+i%2)*sectorSide, (sy+i/2)*sectorSide
		r.Warmth[i] = uint8(128 + relief(x+17, y+29, 260, 811)*90/one)
		r.Tone[i] = uint8(128 + relief(x+31, y+13, 200, 812)*60/one)
	}
	r.Loop = uint8(1 + min(max(relief(sx*64+32, sy*64+32, 300, 813)*3/one+1, 0), 2))
	for y := range ground.Span {
		for x := range ground.Span {
			wx, wy := sx*sectorSide-ground.Border+x, sy*sectorSide-ground.Border+y
			if uint(wx) >= realmCells || uint(wy) >= realmCells || w.cells[wy*realmCells+wx] != 0 {
				r.SetSolid(x, y)
			}
		}
	}
	left, top := sx*ground.SectorSize, sy*ground.SectorSize
	for _, p := range w.stamps {
		x, y := p.x-left, p.y-top
		reach := int(p.s.Scale)*stampSide*3/4/128 + 1
		if r.NStamps < ground.MaxStamps && touches(x, y, reach) {
			p.s.X, p.s.Y = int16(x), int16(y)
			r.Stamps[r.NStamps] = p.s
			r.NStamps++
		}
	}
	for _, l := range w.lights {
		x, y := int(l.X)*4-left, int(l.Y)*4-top
		if r.NLights < ground.MaxLights && touches(x, y, int(l.Radius)) {
			l.X, l.Y = int16(x), int16(y)
			r.Lights[r.NLights] = l
			r.NLights++
		}
	}
	w.props(r)
	return r
}

// touches reports whether what is reach units wide around a place is seen in the sector.
func touches(x, y, reach int) bool {
	const side = ground.SectorSize
	return x > -reach && y > -reach && x < side+reach && y < side+reach && x >= -256 && y >= -256 && x <= 764 && y <= 764
}

// props puts things of three kinds on open ground, some beside walls.
func (w *world) props(r *ground.Recipe) {
	const step = 128
	for i := range 16 {
		h := hash(r.X*4+i%4, r.Y*4+i/4, 821)
		x, y := i%4*step+int(h&63)*2, i/4*step+int(h>>6&63)*2
		room := w.room[(r.Y*sectorSide+y/cellUnits)*realmCells+r.X*sectorSide+x/cellUnits]
		if room < 4 || h>>12&3 != 0 {
			continue
		}
		kind := uint8(h >> 14 & 1)
		if room < 36 {
			kind = 2
		}
		r.Props[r.NProps] = ground.Prop{X: int16(x), Y: int16(y), Kind: kind}
		r.NProps++
	}
}
