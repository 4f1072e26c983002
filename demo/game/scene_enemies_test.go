package game

import (
	"fmt"

	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/engine"
)

// enemyScenes are what enemies do, alone and together, and how they take hits.
func enemyScenes() (all []scene) {
	for k := range realm.EnemyKinds {
		kind := realm.Enemy(k)
		all = append(all, scene{name: fmt.Sprintf("a %v comes", kind), set: func(s *stage) {
			s.enemy(kind, 300, 60)
			s.Player.Safe = 9
		}, at: []int{0, 1, 2, 40, 100}, show: "enemies"},
			scene{name: fmt.Sprintf("a %v is hit, and falls", kind), set: func(s *stage) {
				s.chain(11)
				s.enemy(kind, 300, 0)
				s.shot(300, breeds[kind].radius+2.9, 1)
				s.shot(300, breeds[kind].radius+3, 1)
			}, at: []int{1, 2}, show: "enemies shots particles sounds"},
			scene{name: fmt.Sprintf("a %v falls, and leaves what it is worth", kind), set: func(s *stage) {
				s.chain(11)
				s.guard(kind, 300, 0, postHeart)
				s.shot(300, 5, 999)
			}, at: []int{1, 30}})
	}
	return append(append(all, hitScenes()...), crowdScenes()...)
}

func hitScenes() []scene {
	return []scene{
		{name: "a lancer stalks, tells, charges, and rests", set: func(s *stage) {
			s.enemy(realm.Lancer, 200, 0)
			s.Player.Safe = 9
		}, at: []int{20, 60, 80, 94, 95, 110, 131, 132, 174, 200}, show: "enemies particles sounds"},
		{name: "a lancer backs off from a player within 150 units", set: func(s *stage) {
			s.enemy(realm.Lancer, 140, 0)
			s.enemy(realm.Lancer, -150, 0)
			s.Player.Safe = 9
		}, at: []int{1, 15}, show: "enemies"},
		{name: "a lancer tells within 260 units", set: func(s *stage) {
			for _, x := range []float32{260, -259} {
				_, _, e, _ := s.cast.enemies.Get(s.enemy(realm.Lancer, x, 0))
				e.Timer = 0
			}
		}, at: []int{1, 2}, show: "enemies"},
		{name: "a warden throws rings, and sends swarms as it is hurt", set: func(s *stage) {
			_, _, e, _ := s.cast.enemies.Get(s.guard(realm.Warden, 400, 0, postHeart))
			e.HP, e.Timer = 200, 0.1
			s.Player.Safe = 9
		}, at: []int{1, 6, 7, 60, 100}},
		{name: "elites leave more", set: func(s *stage) {
			done(s.t, s.cast.elite.Add(s.enemy(realm.Drifter, 300, 0), Elite{Worth: 6}))
			s.shot(300, 5, 999)
		}, at: []int{1}, show: "score embers enemies"},
		{name: "a shield takes hits, and shatters", set: func(s *stage) {
			done(s.t, s.cast.shielded.Add(s.enemy(realm.Drifter, 300, 0), Shielded{HP: 4}))
			for range 3 {
				s.shot(304, 5, 2)
			}
		}, at: []int{0, 1, 2}},
		{name: "of two shots for one hull one flies on", set: func(s *stage) {
			s.enemy(realm.Swarm, 300, 0)
			s.shot(300, 2, 1)
			s.shot(300, -2, 1)
		}, at: []int{1, 2}, show: "enemies shots score"},
		{name: "marks ride with an enemy, and fade", set: func(s *stage) {
			id := s.enemy(realm.Lancer, 300, 0)
			for k := range MarkKind(MarkKinds) {
				s.cast.mark(s.Game, id, k, vec{float32(k), -20})
			}
		}, at: []int{0, 19, 20, 39, 40, 89, 90, 95, 96, 143, 144, 239, 240}, show: "enemies"},
		{name: "an enemy has no more than 24 marks", set: func(s *stage) {
			id := s.enemy(realm.Drifter, 300, 0)
			for range 30 {
				s.cast.mark(s.Game, id, MarkCrack, vec{})
			}
		}, at: []int{0, 1}, show: "enemies"},
		{name: "the fallen throws shards at those beside it", set: func(s *stage) {
			for _, x := range []float32{300, 320, 336, 338} {
				s.enemy(realm.Swarm, x, 0)
			}
			s.shot(292, 0, 1)
			s.frame(s.t, engine.Input{})
			emptyBut(s, 3)
		}, at: []int{0}, show: "enemies"},
		{name: "a fallen lancer stops the game for a tick", set: func(s *stage) {
			s.enemy(realm.Lancer, 300, 0)
			s.shot(300, 5, 9)
		}, in: hold(engine.Input{Move: right}), at: []int{1, 2, 3}, show: "player camera"},
	}
}

// emptyBut removes the enemies above so many.
func emptyBut(s *stage, n int) {
	for s.cast.enemyFilter.Len() > n {
		for id, r := range s.cast.enemyFilter.All() {
			s.cast.forget(s.Game, id, r.C)
			break
		}
	}
}

// remove removes an enemy of a kind.
func (s *stage) remove(k realm.Enemy) {
	for id, r := range s.cast.enemyFilter.All() {
		if r.C.Kind == k {
			s.cast.forget(s.Game, id, r.C)
			return
		}
	}
}

func crowdScenes() []scene {
	return []scene{
		{name: "a crowd pushes itself apart", set: func(s *stage) {
			for k := range 3 {
				s.enemy(realm.Drifter, 300+float32(k), 3)
			}
		}, at: []int{4, 20}, show: "enemies"},
		{name: "a crowd pushes a lancer aside, and a warden stands", set: func(s *stage) {
			for k := range 20 {
				s.enemy(realm.Swarm, 300+float32(k%5), 300+float32(k/5))
			}
			s.guard(realm.Lancer, 305, 302, 1)
			s.guard(realm.Warden, 295, 302, postHeart)
			for range 20 {
				s.frame(s.t, engine.Input{})
			}
			for s.toll[realm.Swarm] > 0 {
				s.remove(realm.Swarm)
			}
		}, at: []int{0}, show: "enemies"},
		{name: "a guard stays, and goes home when it is alone", set: func(s *stage) {
			s.guard(realm.Drifter, -900, -1000, 1)
			s.guard(realm.Swarm, -1000, -900, 1)
			s.guard(realm.Lancer, -900, -900, 1)
		}, at: []int{1, 60}, show: "enemies"},
		{name: "a guard attacks a player near its seal", set: func(s *stage) {
			s.Player.P = vec{5000, 5400}
			s.Seals[0].Woken = true
			s.guard(realm.Drifter, -950, -1000, 1)
			s.guard(realm.Swarm, -1050, -1000, 1)
		}, at: []int{60}, show: "enemies"},
		{name: "those beyond the grid move every eighth tick", set: func(s *stage) {
			s.enemy(realm.Drifter, 1030, 0)
			s.guard(realm.Swarm, 1400, 0, postStress)
			s.guard(realm.Lancer, 1400, 50, 2)
		}, at: []int{8, 16}, show: "enemies"},
		{name: "of the enemies left behind only the horde is removed", set: func(s *stage) {
			for _, x := range []float32{2399, 2400} {
				s.enemy(realm.Drifter, x, 0)
			}
			s.guard(realm.Swarm, 2500, 0, postStress)
			s.guard(realm.Lancer, 0, 2500, 3)
		}, at: []int{8}, show: "enemies score"},
		{name: "after the warden was called the far horde is removed", set: func(s *stage) {
			s.Siege.Woken = true
			s.enemy(realm.Drifter, 1060, 0)
			s.enemy(realm.Drifter, 0, -1025)
			s.enemy(realm.Drifter, 1024, 0)
			s.guard(realm.Swarm, 1100, 0, postHeart)
		}, at: []int{8}, show: "enemies score"},
		{name: "those out of sight move every other tick", set: func(s *stage) {
			s.enemy(realm.Drifter, 480, 0)
			s.enemy(realm.Drifter, 460, 0)
			s.enemy(realm.Lancer, 0, 570)
		}, at: []int{1, 2, 3, 4}, show: "enemies"},
		{name: "enemies stay within the edge", set: func(s *stage) {
			s.Player.P = vec{300, 300}
			for k := range realm.EnemyKinds {
				s.enemy(realm.Enemy(k), -5995, -5990+float32(k)*200)
			}
			for _, r := range s.cast.enemyFilter.All() {
				r.B.V = vec{-300, 0}
			}
			s.Player.Safe = 9
			s.frame(s.t, engine.Input{})
			emptyBut(s, 3)
		}, at: []int{0, 10}, show: "enemies"},
		{name: "the horde comes at heat 0", set: func(s *stage) { s.owed = 0 }, at: []int{1, 60, 200}, show: "enemies"},
		{name: "the horde comes at heat 4, in the third round", set: func(s *stage) {
			s.owed, s.Round, s.Lived = 0, 2, 3*heatTime*60
			s.horde.begin(s.Game)
		}, at: []int{1, 60}, show: "enemies"},
		{name: "the horde comes at heat 10", set: func(s *stage) { s.owed, s.Lived = 0, 10*heatTime*60 }, at: []int{5}, show: "enemies"},
	}
}
