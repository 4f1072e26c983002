package game

import (
	"fmt"

	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/engine"
)

// calm has no guards come by themselves.
func calm(s *stage) {
	for i := range s.Seals {
		s.Seals[i].Woken = true
	}
}

// beside puts the player so far to the right of a seal.
func beside(s *stage, seal int, x float32) { s.Player.P = s.Seals[seal].P.Add(vec{x, 0}) }

// realmScenes are the seals, the heart and the portal, from the first shot at a seal to the way out.
func realmScenes() []scene {
	all := []scene{
		{name: "guards come as the player comes near a seal", set: func(s *stage) { beside(s, 0, 560) }, in: hold(engine.Input{Move: vec{-1, 0}}), at: []int{1, 6, 40}, show: "player siege omens enemies particles sounds"},
		{name: "more guards come after broken seals and in later rounds", set: func(s *stage) {
			s.Round, s.Broken = 2, 1
			s.Seals[3].Broken = true
			beside(s, 1, 300)
		}, at: []int{1}, show: "omens siege"},
		{name: "a shot that touches a seal cracks it, and one beside it does not", set: func(s *stage) {
			calm(s)
			beside(s, 0, 300)
			s.shot(-1000+26.9, -1000, 7)
			s.shot(-1000-27, -1000, 7)
		}, at: []int{1, 4, 13}},
		{name: "a player who stays on a seal cracks it", set: func(s *stage) {
			calm(s)
			beside(s, 2, 23)
		}, at: []int{5, 6, 12}, show: "siege"},
		{name: "a player beside a seal does not crack it", set: func(s *stage) {
			calm(s)
			beside(s, 2, 24)
		}, at: []int{12}, show: "siege"},
		{name: "no seal cracks but in the fight", set: func(s *stage) {
			s.enter(Announce)
			s.crack(s.Game, 0, 100)
		}, at: []int{0}, show: "siege"},
		{name: "a seal breaks, and its ring ends the horde", set: func(s *stage) {
			calm(s)
			beside(s, 0, 200)
			s.Player.Safe = 9
			s.enemy(realm.Drifter, -1000, -900)
			s.guard(realm.Swarm, -1000, -500, 1)
			s.enemy(realm.Drifter, -1000, -300)
			s.guard(realm.Warden, -700, -1000, postHeart)
			s.crack(s.Game, 0, 260)
		}, at: []int{0, 4, 5, 20, 47, 48}},
		{name: "the points for a seal count times the multiplier", set: func(s *stage) {
			s.chain(24)
			s.crack(s.Game, 1, 999)
		}, at: []int{0}, show: "score popups"},
	}
	for _, blows := range [][]int16{{65}, {66}, {66, 64}, {66, 65}, {66, 65, 64}, {66, 65, 65}, {66, 65, 65, 60}} {
		all = append(all, scene{name: fmt.Sprintf("a seal of %d calls a wave for each quarter: after blows of %v", sealHull, blows), set: func(s *stage) {
			for _, n := range blows {
				s.crack(s.Game, 0, n)
			}
		}, at: []int{0}, show: "siege omens camera"})
	}
	for broken := range realm.Seals {
		all = append(all, scene{name: fmt.Sprintf("seal %d breaks", broken), set: func(s *stage) {
			s.Round = broken
			for i := range broken {
				s.Seals[i].Broken, s.Broken = true, s.Broken+1
			}
			s.Seals[broken].HP = 1
			s.crack(s.Game, broken, 2)
		}, at: []int{0, 1}})
	}
	return append(all, heartScenes()...)
}

// allBroken breaks the seals without a sound.
func allBroken(s *stage) {
	for i := range s.Seals {
		s.Seals[i].Broken = true
	}
	s.Broken, s.Goal = realm.Seals, realm.Heart
}

func heartScenes() []scene {
	return []scene{
		{name: "the warden is called at the heart", set: func(s *stage) {
			allBroken(s)
			s.Player.P = vec{6000, 4420}
			s.enemy(realm.Drifter, 100, -1900)
			s.enemy(realm.Drifter, 350, -1900)
		}, in: hold(engine.Input{Move: vec{0, -1}}), at: []int{1, 8, 20, 73, 74}, show: "score camera siege enemies omens particles sounds"},
		{name: "the warden is not called while a seal holds", set: func(s *stage) {
			allBroken(s)
			s.Seals[0].Broken, s.Broken, s.Goal = false, realm.Seals-1, 0
			s.Player.P = vec{6000, 4100}
		}, at: []int{1}, show: "siege omens"},
		{name: "the fallen warden opens the portal, which draws the player in", set: func(s *stage) {
			allBroken(s)
			s.Siege.Woken = true
			s.Player.P = vec{6000, 4145}
			s.guard(realm.Warden, 0, -2000, postHeart)
			s.shot(0, -2000, 999)
		}, at: []int{1, 8, 60}},
		{name: "the portal takes a player within 22 units", set: func(s *stage) {
			s.Game.open(off(500, 0))
			s.Player.P = off(477, 0)
			s.Player.V = vec{30, 0}
		}, at: []int{1, 2, 7, 12}, show: "phase player"},
		{name: "the portal takes the player after twelve seconds", set: func(s *stage) {
			s.Game.open(off(500, 0))
			s.PhaseTime = 11.97
			s.Player.P = off(360, 0)
		}, at: []int{1, 2, 10}, show: "phase player camera particles sounds"},
		{name: "the portal does not draw a player 140 units away", set: func(s *stage) {
			s.Game.open(off(500, 0))
			s.Player.P = off(360, 0)
		}, at: []int{1}, show: "phase player siege"},
		{name: "a warden of the horde opens no portal", set: func(s *stage) {
			s.enemy(realm.Warden, 300, 0)
			s.shot(300, 0, 999)
		}, at: []int{1}, show: "phase pickups"},
		{name: "announced enemies arrive, a warden late", set: func(s *stage) {
			for k := range realm.EnemyKinds {
				s.cast.announce(s.Game, realm.Enemy(k), off(300+100*float32(k), 0), 1)
			}
			s.cast.announce(s.Game, realm.Drifter, vec{-1, 0}, 1)
		}, at: []int{0, 32, 33, 66}},
		{name: "scores float up, and end", set: func(s *stage) {
			s.popups.add(s.Game, off(0, 0), 5)
			s.frame(s.t, engine.Input{})
			s.popups.add(s.Game, off(10, 0), 12345)
		}, at: []int{0, 30, 53, 54, 55}, show: "popups"},
		{name: "no more scores float than can be read", set: func(s *stage) {
			for range popupMost + 1 {
				s.popups.add(s.Game, middle, 5)
			}
		}, at: []int{0}, show: "popups lost"},
		{name: "the ground glows where an enemy fell, and cools", set: func(s *stage) {
			s.scorch.burn(s.Game, off(100, 0), 26)
			s.scorch.burn(s.Game, vec{6144, 6144}, 37)
			s.scorch.burn(s.Game, off(1700, 0), 26)
		}, at: []int{0, 24, 48, 240, 1000}, show: "ground"},
		{name: "the scorched ground is freed three sectors away", set: func(s *stage) {
			s.scorch.burn(s.Game, off(-60, 0), 26)
			s.Player.P = off(3*realm.SectorSize, 0)
		}, at: []int{0, 24}, show: "ground"},
		{name: "the scorched ground stays two sectors away", set: func(s *stage) {
			s.scorch.burn(s.Game, off(-60, 0), 26)
			s.Player.P = off(2*realm.SectorSize, 0)
		}, at: []int{0, 24}, show: "ground"},
		{name: "the camera shakes, at most so much, and calms down", set: func(s *stage) {
			s.Shake(10)
			s.Shake(10)
		}, at: []int{0, 1, 10, 60}, show: "camera"},
	}
}
