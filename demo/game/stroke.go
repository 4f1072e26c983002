package game

import (
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/engine"
)

// A stroke hits everybody within reach of a line, each once. If the ends of the line are equal it is a blast.
type stroke struct {
	a, b   vec
	reach  float32
	damage int16
	burns  bool // sets on fire
}

// nearest returns the point of the line that is nearest to p.
func (s *stroke) nearest(p vec) vec {
	if s.a == s.b {
		return s.a
	}
	d := s.b.Sub(s.a)
	return engine.MulAdd(s.a, d, clamp(engine.Dot(p.Sub(s.a), d)/engine.LengthSquared(d), 0, 1))
}

// touches reports whether the stroke touches a disc.
func (s *stroke) touches(p vec, radius float32) bool {
	reach := s.reach + radius
	return engine.LengthSquared(p.Sub(s.nearest(p))) < mul(reach, reach)
}

// struck appends the enemies that a stroke touches to hits, as far as there is space.
func (gr *grid) struck(g *Game, s *stroke, hits []hit) []hit {
	most := gr.most(hits)
	add := func(e cell, p vec) {
		if len(hits) < most {
			hits = append(hits, hit{enemy: e.E, p: p, v: engine.Scale(unit(p.Sub(s.nearest(p))), 400), damage: s.damage})
		}
	}
	if gr.begin != nil {
		lo := vec{min(s.a[0], s.b[0]) - s.reach, min(s.a[1], s.b[1]) - s.reach}
		hi := vec{max(s.a[0], s.b[0]) + s.reach, max(s.a[1], s.b[1]) + s.reach}
		x0, x1, y0, y1 := gr.span(lo, hi)
		for y := y0; y <= y1; y++ {
			row := y * gridCells
			for i := gr.begin[row+x0]; i < gr.begin[row+x1+1]; i++ {
				if s.touches(gr.at[i], 0) {
					add(gr.who[i], gr.at[i])
				}
			}
		}
	}
	for _, b := range gr.bosses[:gr.bossN] { // cells are too small for them
		if pos, _, _, ok := g.cast.enemies.Get(b); ok && s.touches(pos.P, breeds[realm.Warden].radius) {
			add(cell{E: b}, pos.P)
		}
	}
	return hits
}

// smite lets a stroke do its harm to enemies and seals.
func smite(g *Game, s *stroke) error {
	gr := &g.horde.grid
	hits := gr.struck(g, s, gr.list(g))
	for i := range g.Seals {
		if x := &g.Seals[i]; !x.Broken && s.touches(x.P, SealRadius) {
			g.crack(g, i, s.damage)
		}
	}
	for i := range hits {
		if err := g.cast.strike(g, &hits[i]); err != nil {
			return err
		}
		if s.burns {
			if err := g.cast.ignite(g, hits[i].enemy); err != nil {
				return err
			}
		}
	}
	return nil
}

// BeamTo returns the end of the beam. Call it while Player.Beaming is set.
func (g *Game) BeamTo() vec {
	p, length := g.Player.P, beamLength(int(g.Gifts[GiftBeam]))
	for at := float32(12); at < length; at += 12 {
		q := engine.MulAdd(g.Player.P, g.Player.Aim, at)
		if g.Realm.Solid(q) {
			return p
		}
		p = q
	}
	return p
}

// The beam begins at some distance from the ship, and hits in pulses.
const (
	beamFrom  = 16
	beamEvery = 10 // ticks
	beamWide  = 11
)

func (a *arms) beam(g *Game) error {
	if !g.Player.Beaming {
		return nil
	}
	end := g.BeamTo()
	g.fx.beam(end)
	if g.age()%beamEvery != 0 || engine.Distance(g.Player.P, end) < beamFrom {
		return nil
	}
	from := engine.MulAdd(g.Player.P, g.Player.Aim, beamFrom)
	return smite(g, &stroke{a: from, b: end, reach: beamWide, damage: beamDamage(int(g.Gifts[GiftBeam]))})
}
