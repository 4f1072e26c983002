package game

import (
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/demo/realm/manifest"
	"github.com/strata-go/strata/demo/sound/cue"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/particles"
)

// Region ids of particle pictures, in the order in which the renderer looks them up.
const (
	RegionSoft = iota
	RegionSpark
	RegionSmoke
	RegionRing
	RegionFlare
	RegionDebris
	RegionCount
)

// RegionNames are the names of the particle pictures in the atlas, by region id.
var RegionNames = [RegionCount]string{"soft", "spark", "smoke", "ring", "flare", "debris"}

// fx turns events into particles, and says what is to be heard of them. It draws chance from the
// particle system's own sequence.
type fx struct {
	heard   cue.Sink
	sys     *particles.System
	kinds   [lookCount]particles.KindID
	ambient particles.Emitter
}

// The looks, whose colours are from the realm's palette.
const (
	lookSpark   = iota // stretched, bright
	lookEmber          // round, slow, rises
	lookGlow           // large, soft
	lookSmoke          // covers
	lookRing           // shock ring
	lookFlare          // star
	lookDebris         // bounces
	lookExhaust        // the ship's trail
	lookOmen           // announcements
	lookCool           // the accent colour: pickups, portals
	lookCount
)

func newFX(sys *particles.System, heard cue.Sink) (*fx, error) {
	if heard == nil {
		heard = unheard{}
	}
	f := &fx{sys: sys, heard: heard}
	for i := range f.kinds {
		id, err := sys.Register(particles.Kind{Name: "look"})
		if err != nil {
			return nil, err
		}
		f.kinds[i] = id
	}
	return f, nil
}

// unheard is where nobody listens.
type unheard struct{}

func (unheard) Sound(cue.Kind, float32, float32, float32) {}

// sound has a kind heard from p.
func (f *fx) sound(k cue.Kind, p vec, strength float32) { f.heard.Sound(k, p[0], p[1], strength) }

func tone(c realm.Color, k float32) particles.Color {
	v := c.Vec4()
	return particles.Color{R: v[0] * k, G: v[1] * k, B: v[2] * k}
}

func cover(c realm.Color, alpha float32) particles.Color {
	v := c.Vec4()
	return particles.Color{R: v[0] * alpha, G: v[1] * alpha, B: v[2] * alpha, A: alpha}
}

func ramp(stops ...particles.Stop) []particles.Stop { return stops }

// fade is the size of a thing that is there at once and shrinks away.
var fade = []particles.Key{{At: 0, Value: 1}, {At: 0.6, Value: 0.8}, {At: 1, Value: 0.1}}

// swell is the size of a thing that spreads.
var swell = []particles.Key{{At: 0, Value: 0.15}, {At: 0.3, Value: 0.7}, {At: 1, Value: 1}}

// palette dresses the looks in the realm's colours, dark to light: ground, deep, main,
// hot, core.
func (f *fx) palette(m *manifest.File) {
	deep, main, hot, core := m.Palette[1], m.Palette[2], m.Palette[3], m.Palette[4]
	ours, full := OursIn(m.Name), particles.Range{Min: 0, Max: 6.2831855}
	for i, k := range [lookCount]particles.Kind{
		lookSpark: {Name: "spark", Region: RegionSpark, Additive: true, Stretch: 0.03, Drag: 3.2, Size: fade, Vary: 0.3,
			Ramp: ramp(particles.Stop{At: 0, Color: tone(core, 1)}, particles.Stop{At: 0.25, Color: tone(hot, 1)}, particles.Stop{At: 0.7, Color: tone(main, 0.8)}, particles.Stop{At: 1, Color: tone(deep, 0)})},
		lookEmber: {Name: "ember", Region: RegionSoft, Additive: true, Drag: 1.1, GravityY: -26, Size: fade, Vary: 0.5,
			Ramp: ramp(particles.Stop{At: 0, Color: tone(hot, 1)}, particles.Stop{At: 0.5, Color: tone(main, 0.9)}, particles.Stop{At: 1, Color: tone(deep, 0)})},
		lookGlow: {Name: "glow", Region: RegionSoft, Additive: true, Drag: 2, Size: swell,
			Ramp: ramp(particles.Stop{At: 0, Color: tone(hot, 0.7)}, particles.Stop{At: 0.3, Color: tone(main, 0.4)}, particles.Stop{At: 1, Color: tone(deep, 0)})},
		lookSmoke: {Name: "smoke", Region: RegionSmoke, Drag: 1.4, GravityY: -14, Size: swell, Angle: full, Spin: particles.Range{Min: -0.8, Max: 0.8}, Vary: 0.3,
			Ramp: ramp(particles.Stop{At: 0, Color: cover(deep, 0)}, particles.Stop{At: 0.15, Color: cover(deep, 0.42)}, particles.Stop{At: 1, Color: cover(m.Palette[0], 0)})},
		lookRing: {Name: "ring", Region: RegionRing, Additive: true, Size: swell,
			Ramp: ramp(particles.Stop{At: 0, Color: tone(core, 0.8)}, particles.Stop{At: 0.4, Color: tone(main, 0.5)}, particles.Stop{At: 1, Color: tone(deep, 0)})},
		lookFlare: {Name: "flare", Region: RegionFlare, Additive: true, Angle: full, Size: fade,
			Ramp: ramp(particles.Stop{At: 0, Color: tone(core, 1)}, particles.Stop{At: 0.5, Color: tone(hot, 0.7)}, particles.Stop{At: 1, Color: tone(main, 0)})},
		lookDebris: {Name: "debris", Region: RegionDebris, Drag: 1.6, Bounce: 0.6, Angle: full, Spin: particles.Range{Min: -9, Max: 9}, Vary: 0.4,
			Ramp: ramp(particles.Stop{At: 0, Color: cover(hot, 1)}, particles.Stop{At: 0.3, Color: cover(main, 1)}, particles.Stop{At: 0.8, Color: cover(deep, 0.9)}, particles.Stop{At: 1, Color: cover(deep, 0)})},
		lookExhaust: {Name: "exhaust", Region: RegionSoft, Additive: true, Drag: 4, Size: fade,
			Ramp: ramp(particles.Stop{At: 0, Color: tone(ours, 1)}, particles.Stop{At: 0.3, Color: tone(ours, 0.6)}, particles.Stop{At: 1, Color: tone(ours, 0)})},
		lookOmen: {Name: "omen", Region: RegionSpark, Additive: true, Stretch: 0.05, Size: fade,
			Ramp: ramp(particles.Stop{At: 0, Color: tone(main, 0)}, particles.Stop{At: 0.5, Color: tone(main, 0.8)}, particles.Stop{At: 1, Color: tone(core, 0.9)})},
		lookCool: {Name: "cool", Region: RegionSoft, Additive: true, Drag: 1.5, Size: fade, Vary: 0.3,
			Ramp: ramp(particles.Stop{At: 0, Color: tone(core, 1)}, particles.Stop{At: 0.6, Color: tone(core, 0.4)}, particles.Stop{At: 1, Color: tone(hot, 0)})},
	} {
		// The looks are this file's own; a mistake in one is found by the first test that runs.
		if err := f.sys.SetKind(f.kinds[i], k); err != nil {
			panic(err)
		}
	}
	f.sys.SetBounds(particles.Bounds{MaxX: worldSide, MaxY: worldSide})
	f.ambient = particles.Emitter{Kind: f.kinds[lookEmber], Rate: m.Ambient.Rate, Shape: particles.Disc, Radius: 400, Speed: particles.Range{Min: 2, Max: 16}, Spread: turn,
		Life: particles.Range{Min: 3, Max: 7}, Size: particles.Range{Min: 1.5, Max: 4}}
}

// OursIn returns the colour of the ship and of all that belongs to the player, in the realm with this name. Neither
// enemies nor the ground of the realm have this hue. For an unknown name OursIn returns the colour in ember.
func OursIn(name string) realm.Color {
	switch name {
	case "tide": // the ground is of a greener blue
		return realm.Color{R: 0xb0, G: 0x8c, B: 0xff}
	case "spore": // the ground is violet
		return realm.Color{R: 0x5c, G: 0xc0, B: 0xff}
	}
	return realm.Color{R: 0x8a, G: 0x9f, B: 0xff}
}

const turn = 6.2831855

func span(lo, hi float32) particles.Range { return particles.Range{Min: lo, Max: hi} }

// emit throws n particles of a look from p: in all directions, or in a cone about dir.
func (f *fx) emit(look, n int, p, dir vec, spread float32, speed, life, size particles.Range) {
	e := particles.Emitter{Kind: f.kinds[look], X: p[0], Y: p[1], Angle: headingOf(dir), Spread: spread, Speed: speed, Life: life, Size: size}
	f.sys.Emit(&e, n)
}

// update moves the particles and lets the realm's own drift about the player.
func (f *fx) update(g *Game) {
	f.ambient.X, f.ambient.Y = g.Player.P[0], g.Player.P[1]
	f.sys.EmitRate(&f.ambient, step)
	f.sys.Update(step)
}

func (f *fx) muzzle(p, dir vec) {
	f.sound(cue.Shot, p, 1)
	f.emit(lookSpark, 3, p, dir, 0.7, span(90, 260), span(0.06, 0.16), span(1.5, 2.5))
	f.emit(lookFlare, 1, p, dir, 0, span(0, 0), span(0.05, 0.07), span(12, 18))
}

func (f *fx) exhaust(p, v vec) {
	back := engine.Scale(engine.Normalize(v), -1)
	f.emit(lookExhaust, 2, engine.MulAdd(p, back, 8), back, 0.5, span(30, 90), span(0.15, 0.35), span(3, 7))
}

func (f *fx) dash(p, v vec) {
	f.sound(cue.Dash, p, 1)
	f.emit(lookRing, 1, p, v, 0, span(0, 0), span(0.3, 0.3), span(70, 70))
	f.emit(lookSpark, 24, p, engine.Scale(v, -1), 1.4, span(80, 320), span(0.2, 0.5), span(2, 3))
}

func (f *fx) dashTrail(p, v vec) {
	f.emit(lookGlow, 1, p, v, 0, span(0, 0), span(0.25, 0.3), span(26, 30))
}

func (f *fx) hit(p, v vec) {
	f.sound(cue.Hit, p, 1)
	f.emit(lookSpark, 5, p, engine.Scale(v, -1), 1.6, span(60, 240), span(0.1, 0.3), span(1.5, 2.5))
	f.emit(lookGlow, 1, p, v, 0, span(0, 0), span(0.1, 0.12), span(14, 18))
}

func (f *fx) omen(p vec, size float32) {
	e := particles.Emitter{Kind: f.kinds[lookOmen], Shape: particles.Ring, Radial: true, X: p[0], Y: p[1], Radius: size + 14,
		Speed: span(-(size+14)*2, -(size+14)*1.6), Life: span(0.45, 0.55), Size: span(1.5, 2.5)}
	f.sys.Emit(&e, 10+int(size/3))
}

func (f *fx) arrive(p vec, k realm.Enemy) {
	size := breeds[k].size
	if breeds[k].boss {
		f.sound(cue.Roar, p, 1.2)
	}
	f.sound(cue.Spawn, p, min(1, size/22))
	f.emit(lookRing, 1, p, vec{}, 0, span(0, 0), span(0.25, 0.25), span(size*2, size*2))
	f.emit(lookEmber, 6, p, vec{}, turn, span(20, 60), span(0.3, 0.6), span(2, 4))
}

func (f *fx) tell(p vec) {
	f.emit(lookSpark, 1, p, vec{}, turn, span(30, 70), span(0.1, 0.25), span(1.5, 2))
}

// aim begins a tell.
func (f *fx) aim(p vec) { f.sound(cue.Tell, p, 1) }

func (f *fx) charge(p, v vec) {
	f.sound(cue.Dash, p, 0.5)
	f.emit(lookRing, 1, p, v, 0, span(0, 0), span(0.25, 0.25), span(50, 50))
	f.emit(lookSpark, 14, p, engine.Scale(v, -1), 1, span(60, 220), span(0.2, 0.4), span(2, 3))
}

func (f *fx) streak(p, v vec) {
	f.emit(lookEmber, 2, p, engine.Scale(v, -1), 0.8, span(10, 60), span(0.2, 0.5), span(2, 5))
}

func (f *fx) ringShot(p vec) {
	f.sound(cue.Spawn, p, 1.4)
	f.emit(lookRing, 1, p, vec{}, 0, span(0, 0), span(0.4, 0.4), span(110, 110))
}

func (f *fx) hatch(p vec) {
	f.sound(cue.Roar, p, 1)
	f.emit(lookSmoke, 14, p, vec{}, turn, span(20, 90), span(0.5, 1.1), span(20, 40))
	f.emit(lookSpark, 50, p, vec{}, turn, span(80, 300), span(0.2, 0.6), span(2, 3))
}

// burst is an enemy's end: light, shock, sparks, shards, smoke, and embers that rise.
func (f *fx) burst(p, v vec, k realm.Enemy) {
	big := breeds[k].size / 22
	if breeds[k].faint {
		f.sound(cue.BurstSmall, p, 1)
		f.emit(lookSpark, 26, p, v, turn, span(40, 220), span(0.15, 0.4), span(1.5, 2.5))
		f.emit(lookGlow, 1, p, v, 0, span(0, 0), span(0.18, 0.2), span(26, 30))
		f.emit(lookEmber, 3, p, v, turn, span(10, 50), span(0.4, 0.9), span(2, 3))
		return
	}
	if breeds[k].boss {
		f.sound(cue.Fall, p, 1)
	}
	f.sound(cue.BurstLarge, p, min(2, 0.4+0.6*big))
	f.explode(p, v, big)
}

// explode is what is seen of a burst.
func (f *fx) explode(p, v vec, big float32) {
	n := func(base float32) int { return int(base * big) }
	f.emit(lookFlare, 1, p, v, 0, span(0, 0), span(0.12, 0.16), span(46*big, 60*big))
	f.emit(lookGlow, 2, p, v, turn, span(0, 20), span(0.3, 0.5), span(60*big, 90*big))
	f.emit(lookRing, 1, p, v, 0, span(0, 0), span(0.35, 0.4), span(80*big, 95*big))
	f.emit(lookSpark, n(150), p, v, turn, span(60, 420), span(0.2, 0.8), span(1.5, 3))
	f.emit(lookDebris, n(12), p, v, turn, span(40, 220), span(0.6, 1.4), span(3, 7))
	f.emit(lookSmoke, n(7), p, v, turn, span(8, 46), span(0.6, 1.3), span(18, 38))
	f.emit(lookEmber, n(50), p, v, turn, span(10, 90), span(0.8, 2.2), span(1.5, 4.5))
}

func (f *fx) hurt(p vec) {
	f.sound(cue.Hurt, p, 1)
	f.emit(lookRing, 1, p, vec{}, 0, span(0, 0), span(0.35, 0.35), span(120, 120))
	f.emit(lookSpark, 60, p, vec{}, turn, span(80, 380), span(0.2, 0.7), span(2, 3))
	f.emit(lookSmoke, 8, p, vec{}, turn, span(10, 50), span(0.5, 1), span(16, 30))
}

func (f *fx) death(p vec) {
	f.sound(cue.Death, p, 1)
	for range 3 {
		f.explode(p, vec{}, breeds[realm.Warden].size/22)
	}
}

// low is a heartbeat of a hull that is nearly gone.
func (f *fx) low(p vec, hull int) { f.sound(cue.Low, p, 1/float32(max(hull, 1))) }

func (f *fx) collect(p vec, k PickupKind) {
	f.emit(lookCool, 22, p, vec{}, turn, span(20, 130), span(0.25, 0.6), span(2, 4))
	f.emit(lookRing, 1, p, vec{}, 0, span(0, 0), span(0.25, 0.25), span(48, 48))
	if k == PickupHull {
		f.sound(cue.Mend, p, 1)
	} else {
		f.sound(cue.Pickup, p, 1)
	}
	if k == PickupPower {
		f.sound(cue.Gift, p, 1)
		f.emit(lookFlare, 1, p, vec{}, 0, span(0, 0), span(0.3, 0.3), span(60, 60))
	}
}

func (f *fx) portal(p vec) {
	e := particles.Emitter{Kind: f.kinds[lookCool], Shape: particles.Ring, Radial: true, X: p[0], Y: p[1], Radius: 70,
		Angle: 2.2, Spread: 0.4, Speed: span(50, 120), Life: span(0.5, 0.9), Size: span(2, 4)}
	f.sys.Emit(&e, 5)
}

// open is the portal's beginning.
func (f *fx) open(p vec) { f.sound(cue.Portal, p, 0.8) }

// ember is one that is collected.
func (f *fx) ember(p vec) { f.sound(cue.Collect, p, 1) }

// bolt is lightning from the ship.
func (f *fx) bolt(p vec) { f.sound(cue.Lightning, p, 1) }

// ignite and chill are what gifts do to an enemy.
func (f *fx) ignite(p vec) { f.sound(cue.Fire, p, 1) }

func (f *fx) chill(p vec) { f.sound(cue.Frost, p, 1) }

func (f *fx) leave(p vec) {
	f.sound(cue.Portal, p, 1)
	f.emit(lookCool, 300, p, vec{}, turn, span(60, 520), span(0.4, 1.2), span(2, 5))
	f.emit(lookRing, 3, p, vec{}, 0, span(0, 0), span(0.4, 0.9), span(160, 420))
	f.emit(lookFlare, 2, p, vec{}, 0, span(0, 0), span(0.5, 0.6), span(160, 200))
}

func (f *fx) flame(p vec) {
	f.emit(lookEmber, 1, p, vec{}, turn, span(10, 40), span(0.2, 0.5), span(2, 5))
}

func (f *fx) trail(p vec) {
	f.emit(lookGlow, 1, p, vec{}, 0, span(0, 0), span(0.12, 0.16), span(12, 16))
}

// splash is a shot's end at a wall.
func (f *fx) splash(p, v vec) {
	f.sound(cue.Splash, p, 1)
	f.emit(lookSpark, 3, p, engine.Scale(v, -1), 1.4, span(40, 180), span(0.08, 0.22), span(1.5, 2))
}

func (f *fx) beam(end vec) {
	f.sound(cue.Beam, end, 1)
	f.emit(lookSpark, 2, end, vec{}, turn, span(30, 160), span(0.1, 0.25), span(1.5, 2.5))
}

// shatter is a shield's end.
func (f *fx) shatter(p vec) {
	f.sound(cue.Shield, p, 1)
	f.emit(lookRing, 1, p, vec{}, 0, span(0, 0), span(0.25, 0.25), span(44, 44))
	f.emit(lookCool, 10, p, vec{}, turn, span(40, 160), span(0.2, 0.4), span(2, 3))
}

// shatterSeal is a seal's end.
func (f *fx) shatterSeal(p vec) {
	f.sound(cue.Seal, p, 1)
	f.emit(lookRing, 3, p, vec{}, 0, span(0, 0), span(0.4, 0.9), span(120, 320))
	f.emit(lookCool, 220, p, vec{}, turn, span(60, 460), span(0.4, 1.3), span(2, 5))
	f.emit(lookDebris, 60, p, vec{}, turn, span(60, 300), span(0.6, 1.6), span(3, 8))
}

func (f *fx) blast(p vec) {
	f.sound(cue.Mine, p, 1)
	f.emit(lookRing, 1, p, vec{}, 0, span(0, 0), span(0.35, 0.35), span(150, 150))
	f.emit(lookSpark, 50, p, vec{}, turn, span(60, 380), span(0.2, 0.6), span(1.5, 3))
	f.emit(lookSmoke, 6, p, vec{}, turn, span(10, 60), span(0.5, 1.1), span(18, 34))
}
