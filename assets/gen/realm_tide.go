package main

import (
	"math"

	"github.com/strata-go/strata/demo/ground"
)

func init() {
	add(realm{
		Name: "tide", Title: "The Drowned Reaches", Palette: [5]string{"#03080f", "#0c4a56", "#22c3e0", "#c9fff0", "#ff7a66"},
		Start: [2]int{10620, 1720}, Heart: [2]int{6080, 6240},
		Seals:   [4][2]int{{2900, 4060}, {8420, 3140}, {3720, 9220}, {9340, 8260}},
		Ambient: ambient{24, "bubble"},
		base:    ground.Reef, solid: tideRock,
		stamps: [stampsAcross * stampsDown]stamp{fan, weed, shell, starfish, anemone, bubbles, pebbles, brain, swirl, sponges, plankton, polyps},
		lots: []lot{
			{id: 0, share: 6, room: 2, least: 60, most: 130}, {id: 1, share: 10, room: 1, least: 60, most: 140, layer: ground.Above},
			{id: 2, share: 4, room: 4, least: 30, most: 60}, {id: 3, share: 4, room: 4, least: 40, most: 70},
			{id: 4, share: 5, room: 3, least: 50, most: 100}, {id: 5, share: 5, room: 2, least: 70, most: 120},
			{id: 6, share: 12, room: 1, least: 60, most: 120}, {id: 7, share: 5, room: 3, least: 40, most: 120},
			{id: 8, share: 7, room: 9, least: 120, most: 220}, {id: 9, share: 5, room: 2, least: 50, most: 100, shine: 80, color: 2},
			{id: 10, share: 6, room: 5, least: 90, most: 160, shine: 130, color: 2},
		},
		onWalls: []uint8{11, 0}, ring: [2]uint8{7, 4},
		music: [4]func() *score{tideCalm, tideDrums, tideDrive, tideHeat},
	})
}

// tideRock is reefs: long winding ridges with gaps, around open basins, and some islands.
func tideRock(x, y int) bool {
	wx, wy := x+relief(x, y, 70, 21)*26/one, y+relief(x, y, 70, 22)*26/one
	ridge := abs(relief(wx, wy, 128, 23))
	swell := relief(x, y, 90, 24) // reefs grow and thin out along their length
	rough := relief(x, y, 17, 25)
	if ridge < one/8+swell/6+rough/22 && swell > -one/7 {
		return true
	}
	island := relief(wx, wy, 46, 26)
	basin := relief(x, y, 300, 27)
	return island+rough/8 > one*56/100-basin/6
}

func stone(pal *[5]tone) (dark, light tone) {
	return pal[0].mix(pal[1], 0.35), pal[1].mix(pal[2], 0.18)
}

func fan(k *dye, p vec, pal *[5]tone) {
	d := math.Inf(1)
	for i := range 3 {
		d = min(d, twigs(p, vec{-40, 0}, 0.5*float64(i-1), 24, 4, 4, uint32(501+i)))
	}
	s := math.Inf(1)
	for i := range 3 {
		s = min(s, twigs(p.sub(vec{4, 5}), vec{-40, 0}, 0.5*float64(i-1), 24, 4, 4, uint32(501+i)))
	}
	k.paint(tone{}, 0.45*falloff(s, 5))
	tip := clamp((p.x + 40) / 90)
	k.paint(pal[4].mix(pal[0], 0.70-0.30*tip), fill(d))
	k.glow(pal[4], 0.22*tip*falloff(d+1.2, 1.5))
}

func weed(k *dye, p vec, pal *[5]tone) {
	for i := range 7 {
		root := polar(9*chance(i, 1, 511), 6.3*chance(i, 2, 511))
		q := p.sub(root).rotated(0.55*float64(i-3) + 0.3*chance(i, 3, 511))
		long := 34 + 18*chance(i, 4, 511)
		bend := (7*math.Sin(q.x/11+float64(i)*2) + q.x*q.x/180*float64(i%3-1)) * step(0, 20, q.x)
		w := (3 + 1.6*math.Sin(q.x/3.1+float64(i))*step(4, 16, q.x)) * step(long+4, long-14, q.x)
		blade := func(y float64) float64 { return max(math.Abs(y-bend)-w, -q.x, q.x-long) }
		k.paint(tone{}, 0.4*falloff(blade(q.y-4), 4))
		leaf := pal[0].mix(pal[1], 0.65+0.05*float64(i)).mix(pal[2], 0.16*chance(i, 5, 511))
		k.paint(leaf.scale(0.75), fill(blade(q.y)))
		k.paint(leaf.mix(pal[2], 0.3), 0.6*fill(math.Abs(q.y-bend)-0.6)*fill(max(-q.x, q.x-long+6)))
	}
}

func shell(k *dye, p vec, pal *[5]tone) {
	dark, light := stone(pal)
	q := p.add(vec{12, 0})
	r, a := q.length(), q.angle()
	d := max(r-34*(1-0.10*math.Cos(a*13)*step(10, 34, r)), math.Abs(a)*18-22)
	k.paint(tone{}, 0.5*falloff(d-3, 6))
	rib := 0.5 + 0.5*math.Cos(a*26)
	k.paint(dark.mix(light.mix(pal[3], 0.35), 0.25+0.4*rib+0.2*math.Sin(r/3)), fill(d))
	k.paint(pal[3].scale(0.5), 0.5*rib*fill(outlined(d+1, 1.6)))
}

func starfish(k *dye, p vec, pal *[5]tone) {
	shape := func(p vec) float64 {
		q, _ := p.folded(5)
		return taper(q, vec{4, 0}, vec{36, 0}, 11, 3)
	}
	k.paint(tone{}, 0.5*falloff(shape(p.sub(vec{3, 4})), 5))
	d := shape(p)
	q, _ := p.folded(5)
	body := pal[4].mix(pal[0], 0.55)
	k.paint(body.scale(0.7+0.5*clamp(-d/9)), fill(d))
	bead := math.Hypot(math.Mod(q.x, 7)-3.5, q.y) - 1.5
	k.paint(pal[4].mix(pal[3], 0.3).scale(0.7), 0.8*fill(bead)*fill(d+2))
}

func anemone(k *dye, p vec, pal *[5]tone) {
	k.paint(tone{}, 0.4*falloff(p.sub(vec{4, 5}).length()-34, 12))
	for ring := range 3 {
		n := 15 - 3*ring
		q, i := p.rotated(0.3*float64(ring) + 0.12*math.Sin(p.length()/5)).folded(n)
		long := 46 - 11*float64(ring) - 7*chance(i, ring, 521)
		d := taper(q, vec{8, 0}, vec{long, 0}, 3.6, 2.3)
		tip := clamp((q.x - 8) / (long - 8))
		k.paint(pal[1].scale(0.30+0.15*float64(ring)).mix(pal[2], 0.06+0.22*tip), fill(d))
		k.glow(pal[2], 0.30*falloff(q.sub(vec{long, 0}).length()-1.3, 1.8))
	}
	k.paint(pal[0].mix(pal[4], 0.25), fill(p.length()-8))
}

func bubbles(k *dye, p vec, pal *[5]tone) {
	about(12, 48, 531, func(at vec, rnd float64, _ int) {
		r := 1.5 + 7*rnd*rnd
		d := p.sub(at).length() - r
		k.glow(pal[2], 0.30*falloff(math.Abs(d)-0.4, 1.4))
		k.glow(pal[2], 0.06*fill(d))
		k.glow(pal[3], 0.55*falloff(p.sub(at).add(vec{r * 0.4, r * 0.45}).length()-0.3, 1.6))
	})
}

func pebbles(k *dye, p vec, pal *[5]tone) {
	dark, light := stone(pal)
	about(16, 46, 541, func(at vec, rnd float64, i int) {
		k.solid(p, at, 2.5+8*rnd*rnd, dark, light.scale(0.7+0.4*rnd), uint32(542+i))
	})
}

func brain(k *dye, p vec, pal *[5]tone) {
	k.solid(p, vec{}, 38, pal[0].mix(pal[1], 0.5), pal[4].mix(pal[0], 0.62), 551)
	d, lit := lump(p, vec{}, 38, 551)
	u := p.scale(1.0 / stampSide).add(vec{0.5, 0.5})
	groove := falloff(contour(warped(u, 5, 0.03, 552), 9, 553)*stampSide-0.8, 1.8)
	k.paint(pal[0].scale(0.7), 0.75*groove*fill(d+2))
	k.glow(pal[4], 0.12*clamp(lit+0.3)*(1-groove)*fill(d+3))
}

// swirl is where the water has drawn rings in the sand.
func swirl(k *dye, p vec, pal *[5]tone) {
	r := p.length() + 5*grain(p, 4, 561)
	ring := math.Sin(r / 2.6)
	k.paint(pal[0], 0.35*halo(r, 54)*clamp(-ring))
	k.glow(pal[2], 0.10*halo(r, 54)*clamp(ring))
}

func sponges(k *dye, p vec, pal *[5]tone) {
	about(6, 30, 571, func(at vec, rnd float64, i int) {
		r := 8 + 7*rnd
		k.solid(p, at, r, pal[0].mix(pal[1], 0.6), pal[1].mix(pal[2], 0.18), uint32(572+i))
		d := p.sub(at).length() - r*0.48
		k.paint(pal[0].scale(0.5), fill(d))
		k.glow(pal[2], 0.28*falloff(math.Abs(d)-0.4, 1.4))
	})
}

func plankton(k *dye, p vec, pal *[5]tone) {
	about(26, 52, 581, func(at vec, rnd float64, _ int) {
		d := p.sub(at).length()
		k.glow(pal[2], 0.16*halo(d, 3+10*rnd))
		k.glow(pal[2], (0.2+0.4*rnd*rnd)*falloff(d-0.5-0.8*rnd, 1.4))
	})
}

// polyps sit on the reefs.
func polyps(k *dye, p vec, pal *[5]tone) {
	about(14, 44, 591, func(at vec, rnd float64, i int) {
		r := 3 + 5*rnd
		k.solid(p, at, r, pal[4].mix(pal[0], 0.85), pal[4].mix(pal[0], 0.45), uint32(592+i))
		k.paint(pal[0], 0.85*fill(p.sub(at).length()-r*0.35))
	})
}

// Tide: slow water at 90 beats a minute, in F with the raised fourth. A step of 3,675 samples.
const tideStep = 3675

var tideChords = [8][4]float64{
	{53, 60, 64, 69}, {52, 59, 64, 67}, {50, 57, 60, 64}, {55, 59, 62, 66}, // Fmaj7 Em7 Dm9 G6 with B natural throughout
	{53, 57, 64, 71}, {45, 57, 60, 64}, {50, 57, 65, 69}, {48, 55, 62, 64},
}

func tideCalm() *score {
	s := newScore(tideStep, 16, 16)
	for b := range 16 {
		c := tideChords[b%8]
		s.pad(s.at(b, 0), s.seconds(21), 0.4, 1.3, 1.4, c[0], c[1], c[2], c[3])
		s.pad(s.at(b, 0), s.seconds(20), 0.35, 0.8, 1.4, c[0]-12)
		s.glass(s.at(b, 0), s.seconds(21), 0.22, 1.3, 1.4, c[1], c[3])
	}
	s.sparks("........2......."+"...2........3..."+"......3........."+".2........2.....", 0.7, 6200)
	drops := []struct {
		bar, step int
		key       float64
	}{{1, 6, 79}, {1, 12, 76}, {3, 4, 83}, {3, 10, 81}, {5, 6, 76}, {5, 11, 81}, {6, 14, 77}, {7, 8, 76}, {9, 4, 88}, {9, 10, 83}, {10, 8, 81},
		{11, 6, 78}, {11, 12, 79}, {13, 2, 76}, {13, 8, 84}, {14, 6, 81}, {15, 4, 79}, {15, 10, 74}}
	for _, d := range drops {
		s.bell(s.at(d.bar, d.step), 0.34, d.key, 2.6)
	}
	s.through(room(musicRate, 0.8))
	return s
}

func tideDrums() *score {
	s := newScore(tideStep, 16, 4)
	s.each("9.........6....."+"9.........6..4..", func(_, at int, v float64) { s.kick(at, 0.9*v, 43) })
	s.each("......5........."+"......5.......45", func(_, at int, v float64) { s.tom(at, 0.6*v, 110) })
	s.each("........6.......", func(_, at int, v float64) { s.brush(at, 0.5*v, 1200, 0.9, 0.22) })
	s.each("..3..24...3..24.", func(_, at int, v float64) { s.brush(at, 0.3*v, 4300, 1.6, 0.07) })
	// A wave that comes in over four bars and breaks on the first beat.
	n, f := noise(303), &filter{rate: musicRate}
	s.add(s.at(2, 0), s.seconds(32), func(t float64) float64 {
		u := t / s.seconds(32)
		low, _, _ := f.run(n(), 250+900*u*u, 0.8)
		return 0.3 * low * swell(t, s.seconds(32), s.seconds(26), s.seconds(5))
	})
	return s
}

func tideDrive() *score {
	s := newScore(tideStep, 16, 8)
	for b := range 8 {
		root := tideChords[b][0] - 12
		for _, n := range []struct {
			step, long, up, v float64
		}{{0, 5, 0, 0.9}, {6, 3, 0, 0.6}, {10, 3, 7, 0.7}, {14, 2, 12, 0.5}} {
			s.bass(s.at(b, int(n.step)), s.seconds(n.long), 0.7*n.v, root+n.up, 350)
		}
		for i, k := range []int{1, 2, 3, 2, 1, 3} { // a marimba over the bar's dots
			s.pluck(s.at(b, i*3%16), 0.32, tideChords[b][k]+12, 0.5)
		}
	}
	return s
}

func tideHeat() *score {
	s := newScore(tideStep, 16, 8)
	order := [16]int{0, 1, 2, 3, 1, 2, 3, 2, 0, 2, 1, 3, 2, 3, 1, 2}
	for b := range 8 {
		c := tideChords[b]
		for i, k := range order {
			key := c[k] + 12
			if i%5 == 4 {
				key += 12
			}
			s.bell(s.at(b, i), 0.22+0.1*float64((i+3)%4/3), key, 0.9)
		}
		s.pad(s.at(b, 0), s.seconds(18), 0.3, 0.2, 0.8, c[1]+12, c[3]+12)
	}
	s.each("..4...4...4...4.", func(_, at int, v float64) { s.brush(at, 0.4*v, 5000, 1.4, 0.06) })
	s.through(echo(3*tideStep, 0.4, 0.35))
	return s
}
