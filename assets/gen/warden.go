package main

import "math"

// The warden is a hexagonal machine. From outside in: six armour plates with a turret in each gap, struts, a bevelled
// hull with a vent per side, a dark well, and an eye that looks to +X.

const (
	wardenHull = 66.0
	wardenWell = 34.0
)

var wardenPlate = path{{80, -37}, {80, 37}, {91, 49}, {107, 53}, {107, -53}, {91, -49}}

// wardenTurret is the distance to the nearest turret's centre; turrets sit on the corners of the hexagon.
func wardenTurret(p vec) float64 {
	q, _ := p.rotated(math.Pi / 6).folded(6)
	return circle(q, vec{110, 0}, 0)
}

func wardenStruts(p vec) float64 {
	q, _ := p.folded(6)
	arm := box(vec{q.x, math.Abs(q.y)}, vec{74, 20}, vec{14, 5}, 1)
	r, _ := p.rotated(math.Pi / 6).folded(6)
	return min(arm, box(r, vec{86, 0}, vec{20, 5.5}, 1))
}

func wardenVent(p vec) float64 {
	q, _ := p.folded(6)
	return box(q, vec{50.5, 0}, vec{4.4, 14}, 4.2)
}

func warden(p vec) ink {
	q, sector := p.folded(6)
	plate, turret := polygon(q, wardenPlate), wardenTurret(p)-12
	hull, struts := hexagon(p, wardenHull), wardenStruts(p)

	var k ink
	k.paint(0.02, 0.92*fill(min(plate, turret, hull, struts)-3.2))
	k.paint(0.05, 0.55*fill(hexagon(p, 90)))
	k.paint(0.26, fill(struts))
	k.light(0.22 * falloff(-struts, 2.5) * fill(struts))
	wardenArmour(&k, q, plate, sector)
	wardenBody(&k, p, q, hull)
	k.paint(0.03, fill(turret-2.5))
	k.paint(0.48, fill(turret))
	k.light(0.4 * falloff(-turret, 3) * fill(turret))
	k.paint(0.06, fill(turret+5))
	k.paint(0.9, fill(turret+7.5))
	wardenEye(&k, p)
	return k
}

// wardenArmour inks one plate: bright bevel and one dark groove. Neighbours differ a little in tone.
func wardenArmour(k *ink, q vec, plate float64, sector int) {
	on := fill(plate)
	k.paint(0.50+0.05*float64(sector%2), on)
	k.light(0.22 * step(80, 107, q.x) * on)
	k.light(0.5 * falloff(-plate, 5) * on)
	groove := box(q, vec{93, 0}, vec{4.5, 26}, 4.5)
	k.light(0.18 * fill(groove-3) * on)
	k.paint(0.10, fill(groove)*on)
}

// wardenBody inks the hull: a bevel that is lit from the rim, seams to the corners, vents, and the well.
func wardenBody(k *ink, p, q vec, hull float64) {
	on := fill(hull)
	k.paint(0.02, fill(hull-3))
	k.paint(mix(0.60, 0.34, step(38, 66, q.x)), on)
	k.light(0.5 * falloff(-hull, 4.5) * on)
	r, _ := p.rotated(math.Pi / 6).folded(6)
	k.paint(0.08, fill(math.Abs(r.y)-1.6)*on)
	vent := wardenVent(p)
	k.paint(0.62, 0.8*fill(vent-2.6)*on)
	k.paint(0.05, fill(vent)*on)
	well := p.length() - wardenWell
	k.paint(0.75, fill(well-3))
	k.paint(0.04, fill(well))
}

func wardenEye(k *ink, p vec) {
	iris := circle(p, vec{3, 0}, 25)
	k.paint(0.30, fill(iris))
	k.light(0.6 * falloff(-iris, 6) * fill(iris))
	pupil := circle(p, vec{7, 0}, 13)
	k.paint(0.03, fill(pupil-3))
	k.paint(1, fill(pupil))
}

func wardenCore(p vec) ink {
	var k ink
	pupil := circle(p, vec{7, 0}, 11)
	k.glow(0.55 * halo(max(pupil, 0), 62))
	k.glow(0.95 * falloff(pupil, 8))
	iris := circle(p, vec{3, 0}, 25)
	k.glow(0.55 * falloff(math.Abs(iris), 4))
	vent := wardenVent(p)
	k.glow(0.85 * falloff(vent+1, 3.5))
	k.glow(0.40 * halo(max(vent, 0), 16))
	turret := wardenTurret(p)
	k.glow(0.95 * falloff(turret-2.5, 4))
	k.glow(0.35 * halo(turret, 16))
	gap := math.Abs(hexagon(p, 73))
	k.glow(0.55 * falloff(gap-0.8, 3.5))
	q, _ := p.folded(6)
	k.glow(0.60 * falloff(box(q, vec{93, 0}, vec{1.5, 22}, 1.5), 4.5))
	return k
}
