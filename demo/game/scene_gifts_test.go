package game

import (
	"fmt"
	"strings"

	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/engine"
)

// giftScenes show every gift that arms, at every level, among twelve drifters.
func giftScenes() (all []scene) {
	for _, arm := range []struct {
		gift Gift
		in   engine.Input
		at   []int
	}{
		{GiftSparks, engine.Input{}, []int{10}},
		{GiftLightning, engine.Input{}, []int{1}},
		{GiftMines, engine.Input{}, []int{1, 2, 3}},
		{GiftBeam, fireRight, []int{beamEvery}},
		{GiftFire, fireRight, []int{30}},
		{GiftFrost, fireRight, []int{30}},
	} {
		for n := range giftMost {
			all = append(all, scene{name: fmt.Sprintf("%s %d", strings.ToLower(GiftNames[arm.gift]), n+1), set: func(s *stage) {
				s.crowd()
				s.Gifts[arm.gift] = uint8(n + 1)
				if arm.gift == GiftMines { // one goes off, and one more may be laid
					s.arms.mines.push(Mine{P: off(60, 0), Wait: 0.02, Left: 9})
					for range 3*n + 4 {
						s.arms.mines.push(Mine{P: off(900, 0), Wait: 9, Left: 9})
					}
				}
			}, in: hold(arm.in), at: arm.at, show: "enemies arms particles"})
		}
	}
	return append(all, armScenes()...)
}

// tickLeft puts out one of everything that ends, each with exactly one tick left.
func tickLeft(s *stage) {
	g := s.Game
	for _, hostile := range []bool{false, true} {
		done(s.t, s.cast.shoot(g, off(500, 0), vec{}, Shot{Life: step, Damage: 1, Hostile: hostile}))
	}
	s.pickup(300, PickupHull, step)
	s.cast.spill(g, off(300, 100), 1)
	for _, e := range s.cast.embers.All() {
		e.Life = step
	}
	s.cast.announce(g, realm.Swarm, off(-700, 0), 0)
	for o := range g.Omens() {
		o.Left = step
	}
	id := s.enemy(realm.Lancer, -300, 0)
	done(s.t, s.cast.ignite(g, id))
	done(s.t, s.cast.chill(g, id))
	b, _ := s.cast.burning.Get(id)
	x, _ := s.cast.chilled.Get(id)
	b.Left, x.Left = step, step
	_, _, e, _ := s.cast.enemies.Get(id)
	e.State, e.Timer = lancerRest, step
	s.arms.mines.push(Mine{P: off(0, 400), Wait: 2, Left: step})
	s.arms.fires.push(Blaze{P: off(0, 600), Radius: 40, Left: step})
	s.arms.bolts[2].Life = step
	s.arms.bolts[2].Nodes.push(off(1, 2))
	s.popups.add(g, middle, 5)
	s.popups.all[0].Life = step
	s.Player.Cool, s.Player.Safe, s.Player.Rest, s.Player.Dash = step, step, step, step
	s.Gifts[GiftMines], s.Gifts[GiftLightning], s.mine, s.bolt = 1, 1, step, step
}

// armScenes show what gifts have left, until it is gone.
func armScenes() []scene {
	return []scene{
		{name: "mines are laid one after the other, up to so many", set: func(s *stage) { s.Gifts[GiftMines] = 1 }, in: hold(engine.Input{Move: right}),
			at: []int{1, 66, 67, 340, 420}, show: "arms"},
		{name: "a mine goes off beside a drifter, and burns the ground", set: func(s *stage) {
			s.Gifts[GiftMines] = 2
			s.mine = 9
			s.arms.mines.push(Mine{P: off(300, 0), Wait: 0.04, Left: 9})
			_, _, e, _ := s.cast.enemies.Get(s.enemy(realm.Drifter, 320, 0))
			e.HP = 20
		}, at: []int{0, 2, 3, 5, 30, 100, 180, 183, 184}},
		{name: "a mine goes off when an enemy is nearer than 16 units and its radius", set: func(s *stage) {
			s.arms.mines.push(Mine{P: off(300, 0), Left: 9})
			s.arms.mines.push(Mine{P: off(600, 0), Left: 9})
			s.enemy(realm.Drifter, 325, 0)
			s.enemy(realm.Drifter, 576, 0)
			s.guard(realm.Warden, 600, 105, 1)
		}, at: []int{1}, show: "arms enemies"},
		{name: "a blast reaches 74 units", set: func(s *stage) {
			s.arms.mines.push(Mine{P: off(300, 0), Left: 0.01})
			for _, y := range []float32{73, 74} {
				_, _, e, _ := s.cast.enemies.Get(s.enemy(realm.Drifter, 300, y))
				e.HP = 9
			}
		}, at: []int{1}, show: "enemies"},
		{name: "what has a tick left ends in it", set: tickLeft, in: hold(fireRight), at: []int{0, 1, 2}},
		{name: "a mine that has lain long goes off", set: func(s *stage) {
			s.arms.mines.push(Mine{P: off(300, 0), Left: 0.04})
			s.arms.mines.push(Mine{P: off(400, 0), Left: 2})
		}, at: []int{2, 3}},
		{name: "fires go out, each in its time", set: func(s *stage) {
			for k := range 4 {
				s.arms.fires.push(Blaze{P: off(float32(100*k), 0), Radius: 40, Left: [...]float32{0.1, 0.05, 3, 0.05}[k]})
			}
		}, at: []int{0, 1, 3, 4, 6, 7, 60}, show: "arms"},
		{name: "a fire ignites the enemies in it", set: func(s *stage) {
			s.arms.fires.push(Blaze{P: off(300, 0), Radius: 40, Left: 3})
			s.arms.fires.push(Blaze{P: off(500, 0), Radius: 40, Left: 3})
			s.enemy(realm.Swarm, 300, 38)
			s.enemy(realm.Swarm, 300, -38)
			s.enemy(realm.Drifter, 500, 0)
		}, at: []int{10, 11, 12, 13}, show: "enemies"},
		{name: "lightning fades", set: func(s *stage) {
			s.Gifts[GiftLightning] = 1
			s.enemy(realm.Lancer, 100, 0)
		}, at: []int{1, 2, 12, 14, 15, 45, 46}, show: "enemies arms"},
		{name: "lightning finds no enemy beyond its reach, and looks again", set: func(s *stage) {
			s.Gifts[GiftLightning] = 5
			s.enemy(realm.Drifter, 230, 0)
		}, at: []int{1, 6, 7, 60}, show: "enemies arms"},
		{name: "lightning jumps as far as it can", set: func(s *stage) {
			s.Gifts[GiftLightning] = 5
			for k := range 5 {
				s.enemy(realm.Swarm, 228+[...]float32{0, 118, 236, 356, 470}[k], 0)
			}
		}, at: []int{1}, show: "enemies arms"},
		{name: "arms rest while the player leaves", set: func(s *stage) {
			for k := range s.Gifts {
				s.Gifts[k] = 3
			}
			s.enter(Leaving)
			s.PortalAt = middle
			s.enemy(realm.Drifter, 46, 0)
		}, in: hold(fireRight), at: []int{10}, show: "arms enemies player"},
		{name: "the beam reaches less than 11 units to its sides", set: func(s *stage) {
			s.Gifts[GiftBeam] = 5
			s.Ticks = beamEvery - 1
			for _, p := range []vec{{76, 11}, {136, -10}} {
				_, _, e, _ := s.cast.enemies.Get(s.enemy(realm.Drifter, p[0], p[1]))
				e.HP = 9
			}
		}, in: hold(fireRight), at: []int{1}, show: "player enemies"},
		{name: "an orbiting spark reaches less than 17 units", set: func(s *stage) {
			s.Gifts[GiftSparks] = 1
			s.Ticks = 4
			s.spin = 0.07
			at := s.SparkAt(0).Sub(middle)
			s.spin = 0
			for _, x := range []float32{16.9, -17.1} {
				s.enemy(realm.Drifter, at[0]+x, at[1])
			}
		}, at: []int{1}, show: "enemies arms"},
		{name: "the beam ends at the edge", set: func(s *stage) {
			s.Gifts[GiftBeam] = 1
			s.Player.P[0] = 100
		}, in: hold(engine.Input{Aim: vec{-1, 0}, Down: Fire}), at: []int{1}, show: "player"},
		{name: "arms crack a seal", set: func(s *stage) {
			s.Player.P = vec{5000, 5046}
			s.Gifts[GiftSparks], s.Gifts[GiftBeam] = 2, 2
			s.Player.Safe = 9
			for i := range s.Seals {
				s.Seals[i].Woken = true
			}
		}, in: hold(engine.Input{Aim: vec{0, -1}, Down: Fire}), at: []int{5, 10}, show: "siege"},
		{name: "arms hurt a warden", set: func(s *stage) {
			s.Gifts[GiftSparks], s.Gifts[GiftBeam], s.Gifts[GiftFire] = 2, 4, 5
			s.guard(realm.Warden, 80, 0, postHeart)
			s.Player.Safe = 9
		}, in: hold(fireRight), at: []int{5, 10}, show: "enemies"},
		{name: "fire burns, hurts six times, and goes out", set: func(s *stage) {
			id := s.enemy(realm.Lancer, 600, 0)
			_, _, e, _ := s.cast.enemies.Get(id)
			e.HP = 9
			done(s.t, s.cast.ignite(s.Game, id))
		}, at: []int{0, 24, 25, 50, 120, 144, 145, 146}},
		{name: "fire is fed, and ends an enemy", set: func(s *stage) {
			id := s.enemy(realm.Drifter, 600, 0)
			done(s.t, s.cast.ignite(s.Game, id))
			s.frame(s.t, engine.Input{})
			done(s.t, s.cast.ignite(s.Game, id))
			s.tracer.facts()
		}, at: []int{0, 23, 24, 48, 49}},
		{name: "a shot that ends a swarm burns and chills those within 40 units", set: func(s *stage) {
			s.Gifts[GiftFire], s.Gifts[GiftFrost] = 5, 5
			s.enemy(realm.Swarm, 300, 0)
			s.enemy(realm.Lancer, 300, 39)
			s.enemy(realm.Lancer, 300, -41)
			s.shot(295, 0, 1)
		}, at: []int{1}, show: "enemies"},
		{name: "a hit takes twice as much of who is chilled", set: func(s *stage) {
			for _, y := range []float32{100, -100} {
				id := s.enemy(realm.Lancer, 300, y)
				_, _, e, _ := s.cast.enemies.Get(id)
				if e.HP = 9; y > 0 {
					done(s.t, s.cast.chill(s.Game, id))
				}
				s.shot(295, y, 3)
			}
		}, at: []int{1}, show: "enemies"},
		{name: "frost slows by half, and thaws", set: func(s *stage) {
			done(s.t, s.cast.chill(s.Game, s.enemy(realm.Swarm, 300, 100)))
			s.enemy(realm.Swarm, 300, -100)
		}, at: []int{30, 120, 121}, show: "enemies"},
	}
}
