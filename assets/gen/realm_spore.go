package main

import (
	"math"

	"github.com/strata-go/strata/demo/ground"
)

func init() {
	add(realm{
		Name: "spore", Title: "The Breathing Groves", Palette: [5]string{"#150926", "#2c5a1c", "#a4e02a", "#fff2c8", "#ff3da6"},
		Start: [2]int{1560, 1780}, Heart: [2]int{6240, 6160},
		Seals:   [4][2]int{{4060, 2980}, {9260, 3480}, {3120, 8860}, {8300, 9420}},
		Ambient: ambient{36, "spore"},
		base:    ground.Grove, solid: sporeRock,
		stamps: [stampsAcross * stampsDown]stamp{hood, caps, roots, motes, fern, puffball, fairyRing, litter, tuft, slime, seeds, brackets},
		lots: []lot{
			{id: 0, share: 4, room: 3, least: 50, most: 130, shine: 90, color: 4}, {id: 1, share: 7, room: 2, least: 50, most: 110},
			{id: 2, share: 11, room: 0, least: 90, most: 190}, {id: 3, share: 7, room: 3, least: 90, most: 160, shine: 110, color: 2},
			{id: 4, share: 10, room: 1, least: 60, most: 140, layer: ground.Above}, {id: 5, share: 4, room: 3, least: 50, most: 100},
			{id: 6, share: 2, room: 8, least: 90, most: 160}, {id: 7, share: 12, room: 0, least: 80, most: 140},
			{id: 8, share: 12, room: 0, least: 60, most: 130}, {id: 9, share: 3, room: 5, least: 60, most: 130, shine: 120, color: 2},
			{id: 10, share: 3, room: 4, least: 50, most: 90},
		},
		onWalls: []uint8{11, 8}, ring: [2]uint8{6, 0},
		music: [4]func() *score{sporeCalm, sporeDrums, sporeDrive, sporeHeat},
	})
}

// sporeRock is groves: round trunks of all sizes that stand in clusters, with clearings between them.
func sporeRock(x, y int) bool {
	const step = 30
	ix, iy := (x+step*8)/step-8, (y+step*8)/step-8
	rough := relief(x, y, 12, 31)
	for i := range 25 {
		sx, sy := ix+i%5-2, iy+i/5-2
		h := hash(sx, sy, 32)
		px, py := sx*step+int(h&0xff)*step>>8, sy*step+int(h>>8&0xff)*step>>8
		dense := relief(px, py, 150, 33) + relief(px, py, 60, 34)/2
		size := (dense+one/5)*15/one + int(h>>16&7)
		if size < 7 {
			continue
		}
		size = min(size, 19) + rough*2/one
		if (x-px)*(x-px)+(y-py)*(y-py) < size*size {
			return true
		}
	}
	return false
}

// mushroom is one from above: a lit dome with gills at its rim and spots.
func mushroom(k *dye, p, c vec, r float64, hue tone, pal *[5]tone, seed uint32) {
	if p.sub(c).length() > 1.4*r+16 {
		return
	}
	k.solid(p, c, r, hue.scale(0.22), hue.scale(0.62), seed)
	q := p.sub(c)
	d, lit := lump(p, c, r, seed)
	k.glow(hue, 0.16*clamp(0.3+lit)*falloff(-d-2, 3)*fill(d))
	about(7, r*0.7, seed+1, func(at vec, rnd float64, _ int) {
		s := q.sub(at).length() - r*(0.05+0.10*rnd)
		k.paint(pal[3].scale(0.5), 0.7*fill(s)*fill(d+1))
	})
}

func hood(k *dye, p vec, pal *[5]tone) {
	mushroom(k, p, vec{}, 34, pal[4].mix(pal[0], 0.4), pal, 601)
}

func caps(k *dye, p vec, pal *[5]tone) {
	about(8, 34, 611, func(at vec, rnd float64, i int) {
		hue := pal[3].mix(pal[0], 0.45)
		if i%3 == 0 {
			hue = pal[4].mix(pal[0], 0.4)
		}
		mushroom(k, p, at, 5+9*rnd, hue, pal, uint32(612+i))
	})
}

func roots(k *dye, p vec, pal *[5]tone) {
	q := p.add(vec{grain(p, 6, 621), grain(p, 6, 622)}.scale(6))
	tree := func(q vec) float64 {
		return min(twigs(q, vec{-52, -8}, 0.1, 28, 6, 3, 623), twigs(q, vec{-50, 8}, 0.5, 22, 4, 3, 624))
	}
	k.paint(tone{}, 0.5*falloff(tree(q.sub(vec{3, 4})), 5))
	d := tree(q)
	bark := pal[0].mix(pal[3], 0.14).mix(pal[1], 0.25)
	k.paint(bark.scale(0.7+0.5*grain(p, 18, 625)+0.5*clamp(-d/5)), fill(d))
}

func motes(k *dye, p vec, pal *[5]tone) {
	about(20, 50, 631, func(at vec, rnd float64, i int) {
		d := p.sub(at).length()
		hue := pal[2]
		if i%4 == 0 {
			hue = pal[4]
		}
		k.glow(hue, 0.18*halo(d, 4+11*rnd))
		k.glow(hue.mix(pal[3], 0.2), (0.18+0.3*rnd)*falloff(d-0.6-1.2*rnd*rnd, 1.4))
	})
}

func fern(k *dye, p vec, pal *[5]tone) {
	for i := range 5 {
		q := p.rotated(float64(i)*1.257 + 0.5*chance(i, 1, 641))
		q.y -= q.x * q.x / 190
		stalk := taper(q, vec{2, 0}, vec{52, 0}, 1.5, 0.6)
		long := 13 * step(0, 14, q.x) * step(56, 12, q.x)
		leaf := max(math.Abs(q.y)-long*(0.55+0.45*math.Cos(q.x*1.15-math.Abs(q.y)*0.5)), -q.x, q.x-54)
		k.paint(tone{}, 0.3*falloff(leaf-1, 4))
		k.paint(pal[1].mix(pal[2], 0.12+0.1*float64(i%2)).scale(0.55+0.006*q.x), fill(leaf))
		k.paint(pal[1].mix(pal[2], 0.4).scale(0.8), 0.8*fill(stalk))
	}
}

func puffball(k *dye, p vec, pal *[5]tone) {
	about(4, 26, 651, func(at vec, rnd float64, i int) {
		r := 10 + 8*rnd
		k.solid(p, at, r, pal[0].mix(pal[3], 0.10), pal[0].mix(pal[3], 0.42), uint32(652+i))
		k.paint(pal[0], 0.7*falloff(p.sub(at).length()-r*0.16, 2))
		k.glow(pal[2], 0.30*halo(p.sub(at).length(), r*0.5))
	})
}

func fairyRing(k *dye, p vec, pal *[5]tone) {
	k.paint(pal[0].scale(0.4), 0.35*falloff(p.length()-30, 8))
	for i := range 11 {
		at := polar(40+5*(chance(i, 1, 661)-0.5), float64(i)*0.571)
		mushroom(k, p, at, 4+3.5*chance(i, 2, 661), pal[3].mix(pal[2], 0.35).mix(pal[0], 0.35), pal, uint32(662+i))
	}
}

func litter(k *dye, p vec, pal *[5]tone) {
	about(22, 50, 671, func(at vec, rnd float64, i int) {
		q := p.sub(at).rotated(6.3 * rnd)
		d := math.Max(q.sub(vec{0, 5}).length(), q.add(vec{0, 5}).length()) - 8.5
		k.paint(tone{}, 0.3*falloff(d-1, 3))
		leaf := pal[0].mix(pal[1], 0.55).mix(pal[3], 0.12*chance(i, 3, 672))
		k.paint(leaf.scale(0.6+0.6*rnd), fill(d))
		k.paint(leaf.scale(1.6), 0.4*fill(math.Abs(q.y)-0.4)*fill(d+1))
	})
}

func tuft(k *dye, p vec, pal *[5]tone) {
	for i := range 26 {
		a := 6.283 * chance(i, 1, 681)
		q := p.sub(polar(14*chance(i, 2, 681), a*2)).rotated(a)
		q.y -= q.x * q.x / 120 * (chance(i, 3, 681) - 0.5) * 4
		d := taper(q, vec{0, 0}, vec{16 + 18*chance(i, 4, 681), 0}, 1.9, 0.4)
		k.paint(pal[0].mix(pal[1], 0.9).mix(pal[2], 0.22*chance(i, 5, 681)).scale(0.5+0.4*chance(i, 6, 681)), fill(d))
	}
}

func slime(k *dye, p vec, pal *[5]tone) {
	q := p.add(vec{grain(p, 5, 691), grain(p, 5, 692)}.scale(12))
	d, _ := lump(q, vec{}, 30, 693)
	_, lit := lump(q, vec{}, 34, 693)
	k.glow(pal[2], 0.10*halo(max(d, 0), 24))
	k.paint(pal[1].mix(pal[2], 0.06+0.12*clamp(-d/26)).scale(0.5), 0.85*fill(d))
	k.glow(pal[2], 0.28*falloff(math.Abs(d+2)-0.8, 2.4)*clamp(0.4+lit))
	about(6, 20, 694, func(at vec, rnd float64, _ int) {
		k.glow(pal[3], 0.35*falloff(math.Abs(q.sub(at).length()-2-3*rnd)-0.4, 1.2))
	})
}

func seeds(k *dye, p vec, pal *[5]tone) {
	about(5, 30, 701, func(at vec, rnd float64, i int) {
		r := 7 + 6*rnd
		k.solid(p, at, r, pal[0].mix(pal[1], 0.4), pal[1].mix(pal[2], 0.2), uint32(702+i))
		q := p.sub(at).rotated(rnd * 6)
		slit := max(q.sub(vec{0, r * 0.7}).length(), q.add(vec{0, r * 0.7}).length()) - r*0.92
		k.glow(pal[4], 0.8*fill(slit))
		k.glow(pal[4], 0.15*halo(p.sub(at).length(), r*1.9))
	})
}

// brackets grow on the groves' trunks.
func brackets(k *dye, p vec, pal *[5]tone) {
	about(7, 36, 711, func(at vec, rnd float64, i int) {
		r := 7 + 7*rnd
		hue := pal[3].mix(pal[4], 0.25*rnd).mix(pal[0], 0.35)
		k.solid(p, at, r, hue.scale(0.25), hue.scale(0.6), uint32(712+i))
		d, _ := lump(p, at, r*0.62, uint32(712+i))
		k.paint(hue.scale(0.35), 0.6*fill(outlined(d, 1.4)))
	})
}

// Spore: something grows in sevens, 2 + 2 + 3, in A with a Dorian sixth. A step of 2,700 samples,
// fourteen to the bar.
const sporeStep = 2700

var (
	sporeRoots = [8]float64{45, 45, 43, 50, 45, 48, 43, 40} // A A G D, A C G E
	sporeScale = [7]float64{0, 2, 3, 5, 7, 9, 10}
)

// sporeKey is a degree of the scale above A, in octaves of seven.
func sporeKey(degree int) float64 {
	octave := degree / 7
	return 57 + 12*float64(octave) + sporeScale[degree%7]
}

func sporeCalm() *score {
	s := newScore(sporeStep, 14, 16)
	for b := range 16 {
		root := sporeRoots[b%8]
		s.pad(s.at(b, 0), s.seconds(15.5), 0.36, 0.7, 0.7, root, root+7, root+12)
		s.glass(s.at(b, 0), s.seconds(15.5), 0.18, 0.7, 0.7, root+12, root+19)
	}
	s.sparks("...2....3....."+".....3......2."+"..3...2......."+"......2..3...2", 0.7, 5200)
	theme := [16][]int{ // degree at steps 0, 4, 8, 11; -1 rests
		{4, -1, 6, 7}, {-1, 9, 8, -1}, {6, -1, 4, -1}, {3, 5, -1, 7}, {4, -1, 6, 7}, {9, -1, 11, -1}, {10, 8, 6, -1}, {4, -1, -1, 1},
		{7, -1, 6, 4}, {-1, 2, 4, -1}, {6, 8, -1, 10}, {9, -1, 7, -1}, {7, 11, -1, 9}, {8, -1, 7, 6}, {6, -1, 3, -1}, {1, 4, -1, -1}}
	for b, bar := range theme {
		for i, d := range bar {
			if d >= 0 {
				s.pluck(s.at(b, []int{0, 4, 8, 11}[i]), 0.5, sporeKey(d), 1.1)
			}
		}
	}
	s.through(echo(6*sporeStep, 0.4, 0.4))
	s.through(room(musicRate, 0.4))
	return s
}

func sporeDrums() *score {
	s := newScore(sporeStep, 14, 4)
	s.each("9.......7....."+"9.......7..5..", func(_, at int, v float64) { s.kick(at, 0.9*v, 50) })
	s.each("....7......6..", func(_, at int, v float64) { s.tom(at, 0.6*v, 165) })
	s.each("..5...4...5.4."+"..5...4.4.5.46", func(_, at int, v float64) { s.pluck(at, 0.4*v, 86, 0.09) })
	s.each("....6......5..", func(_, at int, v float64) { s.brush(at, 0.45*v, 2100, 1.1, 0.12) })
	s.each("3.2.3.2.3.23.2", func(_, at int, v float64) { s.brush(at, 0.3*v, 5000, 1.8, 0.04) })
	return s
}

func sporeDrive() *score {
	s := newScore(sporeStep, 14, 8)
	s.each("9..5.7..8..6.5", func(b, at int, v float64) {
		root := sporeRoots[b] - 12
		if v > 0.6 && v < 0.8 {
			root += 12
		}
		s.bass(at, s.seconds(1.7), 0.7*v, root, 700*v)
	})
	s.each("....5...5..5..", func(b, at int, v float64) {
		s.pluck(at, 0.5*v, sporeRoots[b]+19, 0.4)
		s.pluck(at, 0.4*v, sporeRoots[b]+24, 0.4)
	})
	return s
}

func sporeHeat() *score {
	s := newScore(sporeStep, 14, 8)
	up := [14]int{0, 4, 7, 2, 6, 9, 4, 7, 11, 9, 6, 4, 8, 2}
	shift := [8]int{0, 0, 6, 3, 0, 2, 6, 4}
	for b := range 8 {
		for i, d := range up {
			s.pluck(s.at(b, i), 0.4+0.2*float64((13-i)/13), sporeKey((d+shift[b])%14)+12, 0.35)
			if i%2 == 0 {
				s.lead(s.at(b, i), s.seconds(1.1), 0.16, sporeRoots[b]+12+[]float64{0, 7, 12}[i/2%3], 1800-100*float64(i))
			}
		}
	}
	s.each("4.4.4.4.4.44.4", func(_, at int, v float64) { s.brush(at, 0.35*v, 5600, 1.6, 0.04) })
	s.through(echo(4*sporeStep, 0.3, 0.3))
	return s
}
