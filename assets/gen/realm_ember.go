package main

import (
	"math"

	"github.com/strata-go/strata/demo/ground"
)

func init() {
	add(realm{
		Name: "ember", Title: "The Forge Without Walls", Palette: [5]string{"#0b0507", "#5a1014", "#f2641a", "#ffc246", "#fff6e0"},
		Start: [2]int{1640, 10560}, Heart: [2]int{6144, 6080},
		Seals:   [4][2]int{{3520, 3260}, {9180, 3900}, {3060, 8320}, {8560, 9040}},
		Ambient: ambient{30, "ember"},
		base:    ground.Forge, solid: emberRock,
		stamps: [stampsAcross * stampsDown]stamp{rubble, hotCrack, slagPool, grate, plate, ash, gear, embers, vent, ingots, seam, rivets},
		lots: []lot{
			{id: 0, share: 10, room: 2, least: 50, most: 130}, {id: 1, share: 9, room: 3, least: 80, most: 150, shine: 90, color: 2},
			{id: 2, share: 3, room: 8, least: 80, most: 140, shine: 170, color: 2}, {id: 3, share: 4, room: 7, least: 70, most: 100, straight: true},
			{id: 4, share: 5, room: 7, least: 70, most: 110, straight: true}, {id: 5, share: 14, room: 0, least: 100, most: 250},
			{id: 6, share: 2, room: 6, least: 50, most: 110}, {id: 7, share: 8, room: 1, least: 80, most: 140},
			{id: 8, share: 3, room: 6, least: 60, most: 100, shine: 120, color: 2}, {id: 9, share: 3, room: 4, least: 60, most: 90},
			{id: 11, share: 3, room: 6, least: 80, most: 120, straight: true},
		},
		onWalls: []uint8{10}, ring: [2]uint8{4, 8},
		music: [4]func() *score{emberCalm, emberDrums, emberDrive, emberHeat},
	})
}

// emberRock is halls with straight walls between them, gates in the walls, buttresses, and channels that slag has
// eaten through everything.
func emberRock(x, y int) bool {
	wx, wy := x+relief(x, y, 40, 11)*4/one, y+relief(x, y, 40, 12)*4/one
	h := hallAt(wx, wy, 104, 13)
	channel := relief(x+relief(x, y, 150, 14)*30/one, y+relief(x, y, 150, 15)*30/one, 210, 16)
	if abs(channel) < one/14 {
		return false
	}
	thick := 5 + int(h.pair>>4&7) + relief(x, y, 24, 17)*3/one
	gate := 9 + int(h.pair>>8&7)
	switch h.pair % 8 {
	case 0: // no wall
		thick = 0
	case 1, 2, 3, 4: // a gate in the middle
		if h.along < gate {
			thick = 0
		}
	case 5: // only a stump in the middle
		if h.along > gate {
			thick = 0
		}
	}
	if h.edge < thick {
		return true
	}
	p := hallAt(x+500, y+500, 36, 18) // pillars
	return h.edge > 28 && p.edge > 11 && p.pair%5 < 1
}

func iron(pal *[5]tone) (dark, light tone) {
	return tone{0.05, 0.042, 0.048}, tone{0.25, 0.20, 0.20}.mix(pal[1], 0.2)
}

func rubble(k *dye, p vec, pal *[5]tone) {
	dark, light := iron(pal)
	about(11, 38, 301, func(at vec, rnd float64, i int) {
		k.solid(p, at, 3+11*rnd*rnd+3*float64(11-i)/11, dark, light.scale(0.8+0.4*rnd), uint32(310+i))
	})
}

func hotCrack(k *dye, p vec, pal *[5]tone) {
	q := p.add(vec{grain(p, 9, 321), grain(p, 9, 322)}.scale(5))
	d := min(twigs(q, vec{-4, 0}, 0, 22, 2.6, 3, 331), twigs(q, vec{4, 0}, math.Pi, 22, 2.6, 3, 332))
	k.paint(pal[0].scale(0.5), 0.75*falloff(d-1.5, 3))
	heat := halo(p.length(), 66)
	k.glow(pal[2], 0.30*heat*halo(max(d, 0), 16))
	k.glow(pal[2], (0.2+0.55*heat)*falloff(d+1.2, 2))
	k.glow(pal[3], 0.55*heat*falloff(d+2.0, 1.5))
}

func slagPool(k *dye, p vec, pal *[5]tone) {
	q := p.add(vec{grain(p, 5, 341), grain(p, 5, 342)}.scale(9))
	d, _ := lump(q, vec{}, 36, 343)
	dark, light := iron(pal)
	_, lit := lump(q, vec{}, 46, 343)
	k.paint(dark.mix(light, clamp(0.3+0.5*lit)), 0.9*falloff(math.Abs(d-3)-3, 4))
	crust := voronoi(q.scale(1.0/stampSide).add(vec{0.5, 0.5}), 9, 344)
	hot := pal[1].mix(pal[2], clamp(0.62-1.5*crust.edge+0.4*grain(q, 6, 345)))
	k.paint(hot.scale(0.45), fill(d))
	k.glow(pal[2], 0.34*fill(d+1)*halo(crust.edge, 0.16))
	k.glow(pal[2], 0.20*halo(max(d, 0), 22))
}

func grate(k *dye, p vec, pal *[5]tone) {
	dark, light := iron(pal)
	d := box(p, vec{}, vec{44, 30}, 4)
	k.paint(tone{}, 0.45*falloff(box(p, vec{3, 4}, vec{44, 30}, 4)-1, 6))
	k.paint(dark.mix(light, 0.55), fill(d))
	slot := math.Inf(1)
	for i := range 7 {
		slot = min(slot, box(p, vec{float64(i-3) * 11.5, 0}, vec{3.4, 23}, 3))
	}
	k.paint(pal[0].scale(0.4), fill(slot))
	k.glow(pal[2], 0.28*fill(slot+0.5)*clamp(0.5+grain(p, 4, 351))*falloff(math.Abs(p.y)-8, 18))
	k.paint(light, 0.6*fill(outlined(d+1.2, 1.2))*step(0.2, -0.4, p.x/88+p.y/60))
}

func plate(k *dye, p vec, pal *[5]tone) {
	dark, light := iron(pal)
	d := max(box(p, vec{}, vec{46, 46}, 3), math.Abs(p.x)+math.Abs(p.y)-74)
	k.paint(tone{}, 0.4*falloff(d-1, 6))
	k.paint(dark.mix(light, 0.30+0.12*grain(p, 8, 361)), 0.92*fill(d))
	k.paint(light, 0.55*fill(outlined(d+1.5, 1.5))*step(0.3, -0.5, (p.x+p.y)/92))
	k.paint(dark.scale(0.5), 0.8*fill(outlined(d+8, 1.4)))
	q, _ := p.folded(8)
	k.solid(q, vec{39, 0}, 2.6, dark, light.scale(1.3), 362)
}

func ash(k *dye, p vec, _ *[5]tone) {
	d, _ := lump(p, vec{}, 30, 371)
	k.paint(tone{0.012, 0.01, 0.012}, 0.65*halo(max(d+10+14*grain(p, 5, 372), 0), 36))
}

func gear(k *dye, p vec, pal *[5]tone) {
	dark, light := iron(pal)
	shape := func(p vec) float64 {
		q, _ := p.folded(12)
		return max(min(p.length()-36, box(q, vec{38, 0}, vec{6, 4.6}, 1.5)), 15-p.length())
	}
	k.paint(tone{}, 0.5*falloff(shape(p.sub(vec{3, 4}))-1, 6))
	d := shape(p)
	k.paint(dark.mix(light, 0.4+0.15*grain(p, 9, 381)), fill(d))
	lit := p.scale(1 / (p.length() + 0.01)).dot(tileLight)
	if p.length() < 26 {
		lit = -lit
	}
	k.paint(light.scale(1.5), 0.8*clamp(lit)*fill(outlined(d+1.2, 1.6)))
	k.paint(dark.scale(0.6), 0.7*fill(outlined(p.length()-26, 2)))
}

func embers(k *dye, p vec, pal *[5]tone) {
	about(22, 50, 391, func(at vec, rnd float64, _ int) {
		d := p.sub(at).length()
		k.glow(pal[2], 0.16*halo(d, 4+12*rnd))
		k.glow(pal[2].mix(pal[3], 0.5*rnd), (0.2+0.3*rnd)*falloff(d-0.5-1.6*rnd*rnd, 1.4))
	})
}

func vent(k *dye, p vec, pal *[5]tone) {
	dark, light := iron(pal)
	r := p.length()
	k.paint(tone{}, 0.5*falloff(p.sub(vec{3, 4}).length()-33, 7))
	lit := p.scale(1 / (r + 0.01)).dot(tileLight)
	k.paint(dark.mix(light, clamp(0.4+0.45*lit)), fill(r-32))
	k.paint(dark.mix(light, clamp(0.35-0.45*lit)), fill(r-25))
	k.paint(pal[0], fill(r-21))
	k.glow(pal[2], 0.75*fill(r-21)*halo(r, 30))
	bars := math.Abs(math.Mod(p.x+64, 9) - 4.5)
	k.paint(dark, 0.95*fill(r-22)*fill(bars-1.6))
	k.glow(pal[2], 0.16*halo(r, 54))
}

func ingots(k *dye, p vec, pal *[5]tone) {
	dark, light := iron(pal)
	for i, b := range []vec{{-16, -12}, {14, -14}, {-4, 8}, {22, 14}} {
		q := p.sub(b).rotated(0.5*float64(i) - 0.6)
		k.paint(tone{}, 0.5*falloff(box(q, vec{3, 4}, vec{16, 7}, 2), 6))
		k.paint(dark.mix(light, 0.35+0.15*float64(i%2)), fill(box(q, vec{}, vec{16, 7}, 2)))
		k.paint(light.scale(1.25), fill(box(q, vec{-1, -1.5}, vec{12, 3.6}, 1)))
	}
}

// seam is a slit in a wall with fire behind it.
func seam(k *dye, p vec, pal *[5]tone) {
	q := vec{p.x, p.y + 5*grain(p, 5, 401)}
	d := taper(q, vec{-40, 0}, vec{40, 0}, 1.8, 1.2)
	k.glow(pal[1], 0.5*halo(max(d, 0), 20))
	k.glow(pal[2], 0.9*falloff(d, 2))
	k.glow(pal[3], 0.8*falloff(d+1.2, 1.2))
}

func rivets(k *dye, p vec, pal *[5]tone) {
	dark, light := iron(pal)
	k.paint(dark.mix(light, 0.25), 0.8*fill(box(p, vec{}, vec{50, 6}, 1)))
	k.paint(light, 0.5*fill(box(p, vec{0, -5.5}, vec{50, 0.7}, 0)))
	for i := range 6 {
		k.solid(p, vec{float64(i)*17 - 42.5, 0}, 2.8, dark, light.scale(1.4), 411)
	}
}

// Ember: a forge at 126 beats a minute, in D minor with the flat second of a threat. A step of 2,625
// samples.
const emberStep = 2625

// emberRoots are the roots of eight bars, and emberThirds what makes the chord.
var (
	emberRoots  = [8]float64{38, 38, 34, 36, 38, 38, 39, 33} // D D Bb C, D D Eb A
	emberThirds = [8]float64{3, 3, 4, 4, 3, 3, 4, 4}
)

func emberCalm() *score {
	s := newScore(emberStep, 16, 16)
	for b := range 16 {
		root, third := emberRoots[b%8], emberThirds[b%8]
		s.pad(s.at(b, 0), s.seconds(17.5), 0.5, 0.5, 0.6, root, root+12, root+19)
		s.pad(s.at(b, 0), s.seconds(17.5), 0.22, 0.9, 0.7, root+24+third)
		s.glass(s.at(b, 0), s.seconds(17.5), 0.25, 0.9, 0.7, root+12, root+19)
	}
	s.sparks(".......3......2."+"..2.......4....."+".....3..2.......3"+"......2...3..2..", 0.8, 5600)
	// A smith far away, and a call that is answered in the second half.
	s.each("....5.......4..."+"....5.....3....."+"....5.......4..."+"....5..3..3.4...", func(_, at int, v float64) { s.anvil(at, 0.35*v, 587, 0.9) })
	call := []struct {
		bar, step int
		key       float64
		steps     float64
	}{{4, 0, 62, 6}, {4, 6, 65, 2}, {4, 8, 69, 8}, {5, 4, 67, 4}, {5, 8, 65, 8}, {6, 0, 67, 8}, {6, 8, 63, 8}, {7, 0, 64, 12},
		{12, 0, 74, 6}, {12, 6, 72, 2}, {12, 8, 69, 8}, {13, 4, 70, 4}, {13, 8, 69, 8}, {14, 0, 67, 8}, {14, 8, 63, 8}, {15, 0, 61, 12}}
	for _, n := range call {
		s.pad(s.at(n.bar, n.step), s.seconds(n.steps+3), 0.34, 0.08, 0.4, n.key)
	}
	s.through(room(musicRate, 0.5))
	return s
}

func emberDrums() *score {
	s := newScore(emberStep, 16, 4)
	s.each("9.....6...9....."+"9.....6...9..5.."+"9.....6...9....."+"9...6.6.5.9.7.5.", func(_, at int, v float64) { s.kick(at, v, 47) })
	s.each("...4..........5."+"...4.......4..6.", func(_, at int, v float64) { s.tom(at, 0.8*v, 92) })
	s.each("..........4....."+".........4..6...", func(_, at int, v float64) { s.tom(at, 0.7*v, 131) })
	s.each("....8.......8...", func(_, at int, v float64) {
		s.anvil(at, 0.34*v, 415, 0.3)
		s.brush(at, 0.5*v, 1700, 0.8, 0.14)
	})
	s.each("..3...3...3...35", func(_, at int, v float64) { s.brush(at, 0.35*v, 5200, 1.2, 0.05) })
	return s
}

func emberDrive() *score {
	s := newScore(emberStep, 16, 8)
	s.each("9.67.69.6.796.67", func(b, at int, v float64) {
		root := emberRoots[b]
		if v > 0.7 && v < 0.9 {
			root += 12
		}
		s.bass(at, s.seconds(1.05), 0.7*v, root, 900*v)
	})
	s.each("..............4."+"................", func(b, at int, v float64) { s.bass(at, s.seconds(2), 0.7*v, emberRoots[b]+7, 700) })
	return s
}

func emberHeat() *score {
	s := newScore(emberStep, 16, 8)
	shape := [16]float64{0, 12, 7, 12, 0, 12, 7, 15, 0, 12, 7, 12, 19, 15, 12, 7}
	for b := range 8 {
		root := emberRoots[b] + 24
		if root < 60 {
			root += 12
		}
		for i, up := range shape {
			if up == 15 {
				up = 12 + emberThirds[b]
			}
			s.lead(s.at(b, i), s.seconds(1.3), 0.34+0.12*float64((i+1)%4/3), root+up-12, 1500+110*float64(i))
		}
		s.pad(s.at(b, 0), s.seconds(16.5), 0.25, 0.05, 0.3, root, root+7)
	}
	s.each("3.5.3.5.3.5.3.57", func(_, at int, v float64) { s.brush(at, 0.4*v, 5600, 1.5, 0.045) })
	s.each("............6..."+"......5.....6.5.", func(_, at int, v float64) { s.anvil(at, 0.4*v, 880, 0.35) })
	s.through(echo(3*emberStep, 0.35, 0.3))
	return s
}
