package game

import (
	"github.com/strata-go/strata/demo/realm"
)

// autopilotScenes are what the autopilot does where the short runs of the golden hashes do not lead.
func autopilotScenes() []scene {
	const brief = "player score bag siege shots"
	return []scene{
		{name: "flies to the nearest seal", set: calm, auto: true, at: []int{1, 60}, show: "player"},
		{name: "circles a seal that it sees, and fires at it", set: func(s *stage) {
			calm(s)
			beside(s, 0, 120)
		}, auto: true, at: []int{1, 30, 120}, show: brief},
		{name: "backs off from a seal that is too near", set: func(s *stage) {
			calm(s)
			beside(s, 0, 40)
		}, auto: true, at: []int{1, 30}, show: brief},
		{name: "fires at an enemy near the seal first", set: func(s *stage) {
			calm(s)
			beside(s, 0, 120)
			s.enemy(realm.Drifter, -880, -920)
			s.Player.Safe = 9
		}, auto: true, at: []int{1, 10}, show: brief},
		{name: "aims ahead of an enemy that flies by", set: func(s *stage) {
			_, v, _, _ := s.cast.enemies.Get(s.enemy(realm.Lancer, 200, 0))
			v.V = vec{0, 85}
		}, auto: true, at: []int{1}, show: "player shots"},
		{name: "does not fire at an enemy too far away", set: func(s *stage) {
			calm(s)
			s.enemy(realm.Drifter, 335, 0)
		}, auto: true, at: []int{1}, show: "player shots"},
		{name: "dashes out of a crowd of three", set: func(s *stage) {
			for k := range 3 {
				s.enemy(realm.Swarm, 33, float32(k)*8-8)
			}
		}, auto: true, at: []int{1, 20}, show: brief},
		{name: "flees from a lancer that tells", set: func(s *stage) {
			_, _, e, _ := s.cast.enemies.Get(s.enemy(realm.Lancer, 100, 100))
			e.State, e.Timer = lancerTell, 0.5
		}, auto: true, at: []int{1, 30}, show: "player"},
		{name: "dodges orbs", set: func(s *stage) {
			for k := range 3 {
				done(s.t, s.cast.shoot(s.Game, off(60, float32(k)*20-20), vec{-105, 0}, Shot{Life: 4, Damage: 1, Hostile: true}))
			}
		}, auto: true, at: []int{1, 20}, show: "player"},
		{name: "collects embers and pickups on its way", set: func(s *stage) {
			calm(s)
			s.cast.spill(s.Game, off(-100, 100), 1)
			s.pickup(-60, PickupScore, 9)
		}, auto: true, at: []int{1, 40, 80}, show: brief},
		{name: "takes the gift that it likes best", set: func(s *stage) {
			s.Gifts = [GiftKinds]uint8{3, 0, 1, 0, 0, 0, 0, 0, 0}
			s.Offer, s.Offered = [3]Gift{GiftVolley, GiftBeam, GiftLightning}, true
		}, auto: true, at: []int{1}, show: "bag"},
		{name: "takes the second hull if it is hurt", set: func(s *stage) {
			s.Player.Hull = 3
			s.Offer, s.Offered = [3]Gift{GiftVolley, GiftSparks, GiftHull}, true
		}, auto: true, at: []int{1}, show: "player bag"},
		{name: "circles a warden, and fires", set: func(s *stage) {
			allBroken(s)
			s.Siege.Woken = true
			s.Player.P = vec{6000, 4250}
			s.guard(realm.Warden, 0, -2000, postHeart)
		}, auto: true, at: []int{1, 60}, show: "player enemies"},
		{name: "keeps its distance from a warden", set: func(s *stage) {
			allBroken(s)
			s.Siege.Woken = true
			s.Player.P = vec{6000, 4090}
			s.guard(realm.Warden, 0, -2000, postHeart)
			s.enemy(realm.Swarm, 20, -1890)
		}, auto: true, at: []int{1, 30}, show: "player score"},
		{name: "leaves through the portal", set: func(s *stage) {
			allBroken(s)
			s.Game.open(off(300, 50))
		}, auto: true, at: []int{1, 60, 130}, show: "phase player"},
		{name: "keeps off the edge", set: func(s *stage) {
			s.Player.P = vec{60, 6000}
			for k := range 4 {
				s.enemy(realm.Drifter, -5840, float32(k)*30-45)
			}
		}, auto: true, at: []int{1, 40}, show: brief},
		{name: "plays some seconds among the horde", set: func(s *stage) {
			s.owed, s.Lived = 0, 2*heatTime*60
			s.Gifts = [GiftKinds]uint8{2, 2, 2, 2, 2, 2, 0, 1, 1}
			beside(s, 0, 400)
		}, auto: true, at: []int{400}, show: brief},
	}
}
