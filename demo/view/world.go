package view

import (
	"math"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/render"
)

// world draws from the ground up: floor, scorch, trails, pickups, enemies, shots, the ship.
func (v *View) world(scene render.Viewport) {
	v.seen.lo, v.seen.hi = v.cam.Bounds(scene)
	old := v.quads.SetView(v.cam.View(scene))
	v.floor(scene)
	v.soot()
	v.scorch()
	v.walls()
	v.props()
	v.seals()
	v.embers()
	v.pickups()
	v.mines()
	v.enemies()
	v.shots()
	v.arms()
	v.portal()
	v.player()
	v.quads.SetView(old)
}

// above draws what lies over the world: particles, scores that float.
func (v *View) above(scene render.Viewport, crisp bool) {
	old := v.quads.SetView(v.cam.View(scene))
	v.build(scene)
	v.popups()
	v.quads.SetView(old)
	if !crisp && v.atlas.Loaded(v.ids.vignette) { // a layer over every pixel: not where pixels are dear
		r := reachOf(scene)
		v.quads.Picture(v.atlas.Lookup(v.ids.vignette), r.lo[0], r.lo[1], r.hi[0]-r.lo[0], r.hi[1]-r.lo[1], render.Color{A: 0.85})
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
		bob := engine.Sin(v.time*4+p[0]) * 1.5
		c := [game.PickupKinds]render.Color{v.pal[4], v.pal[3], v.pal[2].Mix(v.pal[4], 0.4)}[k.Kind]
		rot := float32(0)
		if k.Kind == game.PickupPower {
			rot = -math.Pi / 2
		}
		v.quads.Sprite(v.atlas.Soft(), p[0], p[1]+bob, 40, 40, 0, c.Light(0.35+0.1*engine.Sin(v.time*6)))
		v.quads.Sprite(v.region(v.ids.pickup[k.Kind], v.atlas.Placeholder()), p[0], p[1]+bob, 14, 14, rot, c)
	})
}

func (v *View) enemies() {
	g := v.s.Game
	g.EachSeen(func(e *game.Seen) {
		if r := g.Ribbon(e); r.Count > 1 {
			v.ribbon(&r)
		}
		if e.Tells {
			v.tell(e)
		}
	})
	d := v.dress()
	g.EachSeen(func(e *game.Seen) { v.enemy(e, &d) })
	v.omens()
}

// A dress is what enemies of a kind have in common: it is looked up once a frame, not once for each of
// thousands.
type dress struct {
	soft  render.Region
	halo  render.Color
	body  [realm.EnemyKinds]render.Region
	core  [realm.EnemyKinds]render.Region
	hue   [realm.EnemyKinds]render.Color // of the core
	cored [realm.EnemyKinds]bool
	glare [realm.EnemyKinds]float32 // how far a hit whitens it
}

func (v *View) dress() dress {
	d := dress{soft: v.atlas.Soft(), halo: v.pal[2].Light(0.4)}
	for k := range d.body {
		d.hue[k], d.glare[k] = v.pal[game.CoreOf(realm.Enemy(k))], game.GlareOf(realm.Enemy(k))
		d.body[k] = v.region(v.ids.enemy[k], v.atlas.Placeholder())
		if d.cored[k] = v.atlas.Loaded(v.ids.core[k]); d.cored[k] {
			d.core[k] = v.atlas.Lookup(v.ids.core[k])
		}
	}
	return d
}

func (v *View) enemy(e *game.Seen, d *dress) {
	p, size := e.P, game.SizeOf(e.Kind)
	flash := min(1, e.Flash) * d.glare[e.Kind]
	body := v.pal[2].Mix(white, flash)
	if e.Elite {
		size *= 1.35
	}
	if e.Chilled {
		body = body.Mix(render.Color{R: 0.5, G: 0.8, B: 1, A: 1}, 0.6)
	}
	if e.Shielded {
		v.quads.Ring(p[0], p[1], size*0.62, 1.5, v.time*2, 8, v.pal[4].Light(0.8))
	}
	if e.Burning {
		v.quads.Sprite(d.soft, p[0], p[1], size*2, size*2, 0, v.pal[3].Light(0.6))
	}
	v.quads.Sprite(d.soft, p[0], p[1], size*2.6, size*2.6, 0, d.halo)
	v.quads.Sprite(d.body[e.Kind], p[0], p[1], size, size, e.Angle, body)
	if d.cored[e.Kind] {
		glow := 0.8 + 0.2*engine.Sin(v.time*7+float32(e.Phase))
		v.quads.Sprite(d.core[e.Kind], p[0], p[1], size, size, e.Angle, d.hue[e.Kind].Light(glow+e.Flash))
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

// ribbon draws a trail as a line that thins and cools.
func (v *View) ribbon(r *game.Ribbon) {
	at, n := r.At, float32(r.Count)
	back := func() vec { // the newest first, without a division for each
		if at--; at < 0 {
			at += len(r.Points)
		}
		return r.Points[at]
	}
	a := back()
	for i := range r.Count - 1 {
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

func (v *View) shots() {
	soft := v.atlas.Soft()
	orb, bullet := v.region(v.ids.orb, soft), v.region(v.ids.bullet, soft)
	hot, glow, dim := v.pal[3].Mix(v.pal[4], 0.6).Light(1), v.pal[3].Light(0.35), v.pal[2].Light(0.5)
	v.s.Game.EachShot(func(p, vel vec, s *game.Shot) {
		if s.Hostile {
			v.quads.Sprite(soft, p[0], p[1], 22, 22, 0, dim)
			v.quads.Sprite(orb, p[0], p[1], 11, 11, 0, v.pal[4])
			return
		}
		dir := vel.Normalize()
		v.quads.Turned(bullet, p[0], p[1], 18, 7, dir[0], dir[1], hot)
		v.quads.Sprite(soft, p[0], p[1], 26, 26, 0, glow)
	})
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
	p := g.PortalAt
	v.quads.Sprite(v.atlas.Soft(), p[0], p[1], size*2.6, size*2.6, 0, v.pal[3].Light(0.5))
	v.quads.Sprite(v.region(v.ids.portal, v.atlas.Soft()), p[0], p[1], size, size, v.time*2.4, v.pal[4])
}

func (v *View) player() {
	g := v.s.Game
	p := &g.Player
	if !p.Alive || g.Phase == game.Leaving && g.PhaseTime > 0.15 {
		return
	}
	seen := float32(1)
	if p.Safe > 0 && p.Dash <= 0 { // flickers while nothing can hurt it, and never goes out
		if seen = 0.55; !v.comfort.calm {
			seen += 0.3 * engine.Sin(p.Safe*40)
		}
	}
	at := p.P.Sub(p.Aim.Mul(p.Recoil * 2))
	v.quads.Sprite(v.atlas.Soft(), at[0], at[1], 96, 96, 0, v.pal[2].Light(0.6))
	v.quads.Turned(v.region(v.ids.player, v.atlas.Placeholder()), at[0], at[1], 25, 25, p.Aim[0], p.Aim[1], v.pal[3].Fade(seen))
	if v.atlas.Loaded(v.ids.playerCore) {
		v.quads.Turned(v.atlas.Lookup(v.ids.playerCore), at[0], at[1], 25, 25, p.Aim[0], p.Aim[1], v.pal[4].Light(0.9*seen))
	}
	if v.pointing { // the reticle lies at the mouse
		return
	}
	aim := at.Add(p.Aim.Mul(64))
	if v.atlas.Loaded(v.ids.reticle) {
		v.quads.Sprite(v.atlas.Lookup(v.ids.reticle), aim[0], aim[1], 12, 12, 0, v.pal[4].Fade(0.5))
	}
}

func (v *View) popups() {
	v.s.Game.EachPopup(func(p *game.Popup, text []byte) {
		v.quads.TextBytes(v.font, p.P[0]-float32(len(text))*3, p.P[1]-6, 1, v.pal[4].Fade(min(1, p.Life*2.5)), text)
	})
}
