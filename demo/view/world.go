package view

import (
	"math"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/render"
)

// world draws from the ground up: floor, scorch, trails, pickups, enemies, shots. The ship lies over the particles.
func (v *View) world(scene render.Viewport) {
	v.seen.lo, v.seen.hi = v.cam.Bounds(scene)
	old := v.quads.SetView(v.cam.View(scene))
	v.floor(scene)
	v.soot()
	v.scorch()
	v.walls()
	v.props()
	v.shade()
	v.seals()
	v.embers()
	v.pickups()
	v.mines()
	v.enemies()
	v.shots()
	v.arms()
	v.portal()
	v.quads.SetView(old)
}

// above draws what lies over the world: particles, the vignette.
func (v *View) above(scene render.Viewport, crisp bool) {
	old := v.quads.SetView(v.cam.View(scene))
	v.build(scene)
	v.quads.SetView(old)
	if !crisp && v.atlas.Loaded(v.ids.vignette) { // a layer over every pixel: not where pixels are dear
		lo, hi := scene.Bounds()
		v.quads.Picture(v.atlas.Lookup(v.ids.vignette), lo[0], lo[1], hi[0]-lo[0], hi[1]-lo[1], render.Color{A: 0.85})
	}
}

func (v *View) scorch() {
	lo, hi := v.seen.lo, v.seen.hi
	x0, x1 := max(int(lo[0])/game.ScorchCell, 0), max(int(hi[0])/game.ScorchCell, 0)
	y0, y1 := max(int(lo[1])/game.ScorchCell, 0), max(int(hi[1])/game.ScorchCell, 0)
	for y := y0; y <= y1; y++ {
		for x := x0; x <= x1; x++ {
			block := v.s.Game.Scorched(x/game.ScorchCells, y/game.ScorchCells)
			if block == nil {
				x += game.ScorchCells - 1 - x%game.ScorchCells
				continue
			}
			heat := block[y%game.ScorchCells*game.ScorchCells+x%game.ScorchCells]
			if heat < 12 || (x^y)&1 != 0 { // every other cell: their glows overlap
				continue
			}
			k := float32(heat) / 255
			c := v.pal[1].Mix(v.pal[2], k*k)
			v.quads.Sprite(v.atlas.Soft(), (float32(x)+0.5)*game.ScorchCell, (float32(y)+0.5)*game.ScorchCell, 50, 50, 0, c.Light(0.16*k))
		}
	}
}

func (v *View) pickups() {
	v.s.Game.EachPickup(func(p vec, k *game.Pickup) {
		if k.Life < game.PickupFade && math.Mod(float64(k.Life), 0.24) < 0.1 {
			return
		}
		v.pickup(vec{p[0], p[1] + engine.Sin(v.time*4+p[0])*1.5}, k.Kind)
	})
}

// pickup draws a coin: a dark plate in a rim of the player's colour, unlike anything that hurts.
func (v *View) pickup(p vec, k game.PickupKind) {
	c, rot := v.ours(), float32(0)
	if k == game.PickupPower {
		rot = -math.Pi / 2
	}
	v.quads.Sprite(v.atlas.Soft(), p[0], p[1], 52, 52, 0, c.Light(0.5+v.pulse(6, 0.15)))
	v.quads.Ring(p[0], p[1], 5.5, 11, 0, 0, night.Fade(0.9))
	v.quads.Ring(p[0], p[1], 11, 1.6, 0, 0, c)
	v.quads.Sprite(v.region(v.ids.pickup[k], v.atlas.Placeholder()), p[0], p[1], 15, 15, rot, white.Mix(c, 0.35))
}

func (v *View) enemies() {
	g := v.s.Game
	most := max(trailQuads/max(v.crowd, 1), 1)
	if v.thrifty() {
		most = min(most, 1)
	}
	g.EachSeen(func(e *game.Seen) {
		if r := g.Ribbon(e); r.Count > 1 {
			v.ribbon(&r, most)
		}
		if e.Tells {
			v.tell(e)
		}
	})
	d, ship, near := v.dress(), g.Player.P, 0
	v.crowd, v.warden = 0, warden{}
	g.EachSeen(func(e *game.Seen) {
		v.crowd++
		if engine.LengthSquared(e.P.Sub(ship)) < crowdReach*crowdReach {
			near++
		}
		v.warden.note(e, ship)
		v.enemy(e, &d)
	})
	v.beacon.near = near
	v.omens()
}

// thrifty reports whether the frame's passes have less memory than they should. Then enemies are drawn without their
// glow, and with the first part of their trails, so that everything else is complete.
func (v *View) thrifty() bool { return v.s.Game.Lacking().Quads > 0 }

// trailQuads bounds the quads of all trails together: where thousands are in sight their trails are short.
const trailQuads = 12_000

// A dress is what enemies of a kind have in common: it is looked up once a frame, not once for each of
// thousands.
type dress struct {
	thrifty bool         // without halos
	badge   render.Color // of elites and shields
	elite   eliteMark
	soft    render.Region
	halo    [realm.EnemyKinds]render.Color
	wide    [realm.EnemyKinds]float32 // the halo, in sizes of the picture
	body    [realm.EnemyKinds]render.Region
	tint    [realm.EnemyKinds]render.Color // of the body
	core    [realm.EnemyKinds]render.Region
	hue     [realm.EnemyKinds]render.Color // of the core
	cored   [realm.EnemyKinds]bool
	glare   [realm.EnemyKinds]float32 // how far a hit whitens it
	swell   [realm.EnemyKinds]float32 // how much it grows and shrinks
	beat    [realm.EnemyKinds]float32 // how fast, in radians a second
}

// An eliteMark is how the triangle of an elite is drawn: its least radius, its line, and how opaque that is.
type eliteMark struct{ least, thick, light float32 }

// phoneMark is that of touch screens and small windows. There the mark of a small elite was lost in the horde.
var phoneMark = eliteMark{least: 20, thick: 3.4, light: 1}

func (v *View) dress() dress {
	d := dress{thrifty: v.thrifty(), soft: v.atlas.Soft(), badge: v.pal[4]}
	if c := d.badge; min(c.R, c.G, c.B) > 0.8*max(c.R, c.G, c.B) { // so many white lines would hide everything else
		d.badge = v.pal[3]
	}
	if d.elite = (eliteMark{thick: 2.6, light: 1}); v.ui.finger > 0 {
		d.elite = phoneMark
	}
	for k := range d.body {
		kind := realm.Enemy(k)
		d.hue[k], d.glare[k] = v.pal[game.CoreOf(kind)], game.GlareOf(kind)
		d.body[k] = v.region(v.ids.enemy[k], v.atlas.Placeholder())
		if d.cored[k] = v.atlas.Loaded(v.ids.core[k]); d.cored[k] {
			d.core[k] = v.atlas.Lookup(v.ids.core[k])
		}
		w := game.LookOf(kind)
		d.tint[k] = v.pal[w.From].Mix(v.pal[w.To], w.Mix)
		d.halo[k], d.wide[k] = v.pal[2].Light(w.Glow), w.Wide
		if !v.comfort.calm {
			d.swell[k], d.beat[k] = w.Swell, w.Beat
		}
	}
	return d
}

func (v *View) enemy(e *game.Seen, d *dress) {
	p, size := e.P, game.SizeOf(e.Kind)
	body := d.tint[e.Kind].Mix(white, min(1, e.Flash)*d.glare[e.Kind])
	if e.Elite {
		size *= 1.35
	}
	if e.Chilled {
		body = body.Mix(frost, 0.6)
	}
	if e.Shielded {
		v.quads.Ring(p[0], p[1], size*0.62, 1.5, v.time*2, 8, d.badge.Light(0.65))
	}
	if e.Burning {
		v.quads.Sprite(d.soft, p[0], p[1], size*2, size*2, 0, v.pal[3].Light(0.6))
	}
	if !d.thrifty {
		v.quads.Sprite(d.soft, p[0], p[1], size*d.wide[e.Kind], size*d.wide[e.Kind], 0, d.halo[e.Kind])
	}
	if e.Elite { // a triangle that turns
		r := max(size*0.74, d.elite.least)
		v.quads.Ring(p[0], p[1], r, d.elite.thick+2.5, -v.time*1.7, 3, night.Fade(0.8))
		v.quads.Ring(p[0], p[1], r, d.elite.thick, -v.time*1.7, 3, d.badge.Fade(d.elite.light))
	}
	high := size
	if k := d.swell[e.Kind]; k > 0 {
		high *= 1 + k*engine.Sin(v.time*d.beat[e.Kind]+float32(e.Phase))
	}
	v.quads.Sprite(d.body[e.Kind], p[0], p[1], size, high, e.Angle, body)
	if d.cored[e.Kind] {
		glow := 0.8 + 0.2*engine.Sin(v.time*7+float32(e.Phase))
		v.quads.Sprite(d.core[e.Kind], p[0], p[1], size, high, e.Angle, d.hue[e.Kind].Light(glow+e.Flash))
	}
	if e.Marks != 0 {
		v.marks(e, size)
	}
}

// omens draws rings that close around the place of an enemy that will appear.
func (v *View) omens() {
	for o := range v.s.Game.Omens() {
		k := 1 - o.Left/game.OmenTime
		size := game.SizeOf(o.Kind) * (1.6 - 0.6*max(0, k))
		v.quads.Ring(o.P[0], o.P[1], size*0.6, 2, v.time*3, 6, v.pal[3].Light(0.25+0.5*max(0, k)))
	}
}

// ribbon draws at most so many parts of a trail, as a line that thins and cools.
func (v *View) ribbon(r *game.Ribbon, most int) {
	at, n := r.At, float32(min(r.Count, most+1))
	back := func() vec { // the newest first, without a division for each
		if at--; at < 0 {
			at += len(r.Points)
		}
		return r.Points[at]
	}
	a := back()
	for i := range min(r.Count-1, most) {
		b := back()
		k := 1 - float32(i)/n
		v.quads.Line(a[0], a[1], b[0], b[1], 1+5*k, v.pal[2].Light(0.4*k*k))
		a = b
	}
}

// tell shows the path of a lancer's charge.
func (v *View) tell(e *game.Seen) {
	p := e.P
	end := p.Add(e.Aim.Mul(280))
	blink := float32(0.25)
	if !v.comfort.calm {
		blink += 0.25 * engine.Sin(v.time*40)
	}
	v.quads.Line(p[0], p[1], end[0], end[1], 1.5, v.pal[4].Light(blink))
}

// fire is what shots have in common.
type fire struct {
	soft, orb, bullet    render.Region
	hot, glow, core, dim render.Color
	beat                 float32
}

func (v *View) fire() fire {
	soft := v.atlas.Soft()
	return fire{
		soft: soft, orb: v.region(v.ids.orb, soft), bullet: v.region(v.ids.bullet, soft),
		hot: v.ours().Mix(white, 0.45).Light(1), glow: v.ours().Light(0.35), core: v.pal[4], dim: v.pal[2].Light(0.5), beat: v.pulse(11, 1.6),
	}
}

func (v *View) shots() {
	f := v.fire()
	v.s.Game.EachShot(func(p, vel vec, s *game.Shot) { v.shot(&f, p, vel, s.Hostile) })
}

// shot draws a streak of the player's colour, or a hostile ball that beats.
func (v *View) shot(f *fire, p, vel vec, hostile bool) {
	if hostile {
		v.quads.Sprite(f.soft, p[0], p[1], 26, 26, 0, f.dim)
		v.quads.Ring(p[0], p[1], 4, 8, 0, 8, night.Fade(0.9))
		v.quads.Sprite(f.orb, p[0], p[1], 12+f.beat, 12+f.beat, 0, f.core)
		return
	}
	dir := vel.Normalize()
	v.quads.Turned(f.bullet, p[0], p[1], 18, 7, dir[0], dir[1], f.hot)
	v.quads.Sprite(f.soft, p[0], p[1], 26, 26, 0, f.glow)
}

func (v *View) portal() {
	g := v.s.Game
	if g.Phase != game.Opened && g.Phase != game.Leaving {
		return
	}
	grow := min(1, g.PhaseTime*1.6)
	if g.Phase == game.Leaving {
		grow = 1
	}
	size := 74 * grow * (1 + 0.04*engine.Sin(v.time*5))
	v.gate(g.PortalAt, size)
}

// gate draws a portal.
func (v *View) gate(p vec, size float32) {
	v.quads.Sprite(v.atlas.Soft(), p[0], p[1], size*2.6, size*2.6, 0, v.pal[3].Light(0.5))
	v.quads.Sprite(v.region(v.ids.portal, v.atlas.Soft()), p[0], p[1], size, size, v.time*2.4, v.pal[4])
}

// pulse oscillates between -depth and depth; with reduced flashing it is 0.
func (v *View) pulse(speed, depth float32) float32 {
	if v.comfort.calm {
		return 0
	}
	return depth * engine.Sin(v.time*speed)
}

// hudQuads is more than the ship and the HUD need.
const hudQuads = 512

// popups draws the scores that float, each on a plate. Like the ship they are signs: neither particles nor the bloom of
// an explosion wash them out. They leave hudQuads to what is drawn after them.
func (v *View) popups(to render.Viewport) {
	if v.chosen() { // text lies over no text
		return
	}
	old := v.quads.SetView(v.cam.View(to))
	defer v.quads.SetView(old)
	k := v.ui.view.Scale / v.ui.screen.Scale // as large as on the canvas
	v.s.Game.EachPopup(func(p *game.Popup, text []byte) {
		if need := 1 + len(text); v.quads.Room() < need+hudQuads {
			v.quads.Dropped += need
			return
		}
		fade, wide := min(1, p.Life*2.5), float32(len(text))*render.GlyphW*k
		x, y := p.P[0]-wide/2, p.P[1]-6*k
		v.quads.Rect(x-2*k, y+2*k, wide+4*k, 12*k, night.Fade(0.8*fade))
		v.quads.TextBytes(v.font, x, y, k, v.pal[4].Fade(fade), text)
	})
}
