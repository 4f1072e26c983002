package game

import "github.com/strata-go/strata/engine"

// Player is the spark that the player steers.
type Player struct {
	P, V    vec
	Aim     vec // length 1
	Hull    int
	Most    int     // the greatest hull at present
	Cool    float32 // seconds until the next shot
	Safe    float32 // seconds for which the player takes no damage
	Dash    float32 // seconds for which the dash goes on
	Rest    float32 // seconds until the next dash
	Recoil  float32 // 1 at a shot, fades
	Alive   bool
	Beaming bool // the beam is on
}

// HullMax is the hull at full strength, without gifts.
const HullMax = 6

// hullMost is the hull at full strength, with all gifts.
const hullMost = HullMax + giftHull*giftMost

const (
	playerSpeed  = 175.0
	playerAccel  = 1500.0
	playerRadius = 6.0
	dashSpeed    = 520.0
	dashTime     = 0.16
	dashRest     = 0.9
	fireEvery    = 0.066
	shotSpeed    = 620.0
	shotLife     = 0.75
	lowHull      = 2  // from where on its heart is heard
	beatEvery    = 50 // ticks
)

func (p *Player) reset(g *Game, hull int) {
	at := g.Realm.Open(vec(g.Realm.Info.Start), 2*playerRadius)
	*p = Player{P: at, Aim: vec{1, 0}, Hull: hull, Most: p.Most, Safe: 1.5, Alive: true}
}

func (p *Player) tick(g *Game, in *engine.Input) error {
	p.Cool -= step
	p.Safe = max(0, p.Safe-step)
	p.Rest = max(0, p.Rest-step)
	p.Recoil = max(0, p.Recoil-mul(step, 9))
	p.Beaming = false
	if !p.Alive {
		return nil
	}
	if engine.Length(in.Aim) > 0.01 {
		p.Aim = engine.Normalize(in.Aim)
	}
	if g.tour != nil {
		p.P, p.V = g.tour.At(g.age())
		p.Safe, p.Dash = 1, 0
	} else {
		p.move(g, in)
	}
	if p.Hull <= lowHull && g.Phase == Fighting && g.Ticks%beatEvery == 0 {
		g.fx.low(p.P, p.Hull)
	}
	if engine.Length(p.V) > 20 {
		g.fx.exhaust(p.P, p.V)
	}
	p.Beaming = in.Down.Has(Fire) && g.Gifts[GiftBeam] > 0
	if in.Down.Has(Fire) && p.Cool <= 0 {
		return p.fire(g)
	}
	return nil
}

// move flies where the input says, as far as walls let it.
func (p *Player) move(g *Game, in *engine.Input) {
	move := engine.Limit(in.Move, 1)
	if in.Pressed.Has(Dash) && p.Rest == 0 && engine.Length(move) > 0.1 {
		p.Dash, p.Rest, p.Safe = dashTime, dashRest, max(p.Safe, dashTime+0.05)
		p.V = engine.Scale(engine.Normalize(move), dashSpeed)
		g.fx.dash(p.P, p.V)
	}
	if p.Dash > 0 {
		p.Dash -= step
		g.fx.dashTrail(p.P, p.V)
	} else {
		want := engine.Scale(move, mul(playerSpeed, g.haste()))
		p.V[0] = toward(p.V[0], want[0], mul(playerAccel, step))
		p.V[1] = toward(p.V[1], want[1], mul(playerAccel, step))
	}
	from := p.P
	p.P = engine.MulAdd(p.P, p.V, step)
	g.Realm.Slide(&p.P, &p.V, from, playerRadius, 0)
}

// A barrel is one stream of fire: how far it sits from the axis, and how much it opens.
type barrel struct{ side, angle float32 }

// volleys are the barrels by the gift of wider fire; the last looks back, too.
var volleys = [...][]barrel{
	{{0, 0}},
	{{-3.5, 0}, {3.5, 0}},
	{{-5, -0.07}, {0, 0}, {5, 0.07}},
	{{-7, -0.1}, {-3, 0}, {3, 0}, {7, 0.1}},
	{{-9, -0.2}, {-5, -0.07}, {0, 0}, {5, 0.07}, {9, 0.2}},
	{{-10, -0.32}, {-7, -0.16}, {-3, 0}, {3, 0}, {7, 0.16}, {10, 0.32}},
	{{0, 3.1415927}, {-10, -0.36}, {-7, -0.18}, {-3, 0}, {3, 0}, {7, 0.18}, {10, 0.36}},
}

func (p *Player) fire(g *Game) error {
	p.Cool = max(p.Cool, -step) + fireEvery/g.haste() // a tick is no multiple of it
	p.Recoil = 1
	side := engine.Perp(p.Aim)
	for _, b := range volleys[min(1+int(g.Gifts[GiftVolley]), len(volleys)-1)] {
		dir := engine.Rotate(p.Aim, engine.Heading(b.angle+mul(g.rng.Range(-1, 1), 0.014)))
		muzzle := engine.MulAdd(engine.MulAdd(p.P, p.Aim, 12), side, b.side)
		if g.Realm.Solid(muzzle) {
			continue
		}
		g.Fired++
		shot := Shot{Life: shotLife, Damage: 1}
		if err := g.cast.shoot(g, muzzle, engine.MulAdd(engine.Scale(dir, shotSpeed), p.V, 0.3), shot); err != nil {
			return err
		}
	}
	p.V = engine.MulAdd(p.V, p.Aim, -5)
	g.fx.muzzle(engine.MulAdd(p.P, p.Aim, 13), p.Aim)
	return nil
}

// hurt takes hull, resets the multiplier and, at the end, ends the game.
func (p *Player) hurt(g *Game, damage int16, from vec, by Cause) {
	if p.Safe > 0 || !p.Alive || g.Phase != Fighting {
		return
	}
	p.Hull -= int(damage)
	if g.fresh > 0 {
		p.Hull = max(p.Hull, 1)
	}
	g.Cause = by
	p.Safe = safeFor(int(g.Gifts[GiftHull]))
	g.chain(0)
	p.V = engine.MulAdd(p.V, engine.Normalize(vec{p.P[0] - from[0], p.P[1] - from[1]}), 160)
	g.Shake(5)
	g.fx.hurt(p.P)
	if p.Hull <= 0 {
		p.Alive = false
		g.freeze = 4
		g.Shake(10)
		g.fx.death(p.P)
		g.enter(Over)
	}
}

func (p *Player) collect(g *Game, k PickupKind, at vec) {
	switch k {
	case PickupHull:
		p.Hull = min(p.Most, p.Hull+1)
	case PickupPower:
		g.gather(g, 8)
	case PickupScore:
		g.popups.add(g, at, g.win(250))
	}
	g.fx.collect(at, k)
}
