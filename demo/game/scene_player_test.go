package game

import (
	"fmt"

	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/demo/tour"
	"github.com/strata-go/strata/engine"
)

var (
	right     = vec{1, 0}
	fireRight = engine.Input{Aim: right, Down: Fire}
)

// playerScenes are what the player does, takes and suffers.
func playerScenes() []scene {
	nothing := func(*stage) {}
	all := []scene{
		{name: "the title shows for 1.6 seconds, and nothing hurts", set: func(s *stage) {
			s.enter(Announce)
			s.PhaseTime = 1.5
			s.enemy(realm.Drifter, 10, 0)
		}, at: []int{0, 3, 7, 9}, show: "phase player camera"},
		{name: "flies to the right, then lets go", set: nothing, in: func(tick int) engine.Input {
			if tick > 20 {
				return engine.Input{}
			}
			return engine.Input{Move: vec{2, 0}}
		}, at: []int{1, 20, 30}},
		{name: "dashes, too early again, and in time", set: nothing, in: press(engine.Input{Move: right}, Dash, 1, 20, 60), at: []int{1, 10, 12, 20, 60}},
		{name: "a dash needs a direction", set: nothing, in: press(engine.Input{}, Dash, 1), at: []int{1}},
		{name: "fires to the right", set: nothing, in: hold(fireRight), at: []int{1, 4, 5, 45, 46}},
		{name: "fires at the edge, where the muzzle is in a wall", set: func(s *stage) { s.Player.P[0] = 8 }, in: hold(engine.Input{Aim: vec{-1, 0}, Down: Fire}), at: []int{1}, show: "shots sounds particles"},
		{name: "a shot bursts at the edge", set: func(s *stage) {
			done(s.t, s.cast.shoot(s.Game, vec{9, 6000}, vec{-300, 0}, Shot{Life: 1, Damage: 1}))
		}, at: []int{1, 2}, show: "shots particles"},
		{name: "flies against the edge", set: func(s *stage) { s.Player.P = vec{20, 6000} }, in: hold(engine.Input{Move: vec{-1, 0}}), at: []int{10, 20}, show: "player"},
		{name: "aims where the stick points", set: nothing, in: hold(engine.Input{Aim: vec{0, 0.5}}), at: []int{1}, show: "player"},
		{name: "a hostile shot hurts, and ends", set: func(s *stage) {
			s.chain(30)
			for _, x := range []float32{9, 10} {
				done(s.t, s.cast.shoot(s.Game, off(x, 0), vec{}, Shot{Life: 1, Damage: 1, Hostile: true}))
			}
		}, at: []int{0, 1, 2, 60}},
		{name: "the last hull is lost", set: func(s *stage) {
			s.Player.Hull = 1
			s.enemy(realm.Drifter, 9, 0)
		}, at: []int{1, 5, 6, 40}},
		{name: "a dead player collects nothing", set: func(s *stage) {
			s.Player.Alive = false
			s.enter(Over)
			done(s.t, s.cast.drop(s.Game, off(5, 0), PickupHull))
			s.cast.spill(s.Game, off(8, 0), 1)
			s.Offer, s.Offered = [3]Gift{0, 1, 2}, true
		}, in: press(fireRight, Choose1, 1), at: []int{1, 10}},
		{name: "a tour flies the player, and nothing hurts", set: func(s *stage) {
			s.tour = tour.Through(middle, off(300, 0))
			s.enemy(realm.Drifter, 5, 0)
		}, in: hold(engine.Input{Move: vec{0, 1}}), at: []int{1, 30}, show: "player"},
	}
	for k := range realm.EnemyKinds {
		kind := realm.Enemy(k)
		all = append(all, scene{name: fmt.Sprintf("a %v touches the player", kind), set: func(s *stage) {
			s.chain(30)
			s.enemy(kind, breeds[kind].radius+4, 0)
		}, at: []int{0, 1}, show: "player score camera enemies particles sounds"})
	}
	for n := range len(volleys) - 1 {
		all = append(all, scene{name: fmt.Sprintf("wider fire, taken %d times", n), set: func(s *stage) {
			s.Gifts[GiftVolley] = uint8(n)
		}, in: hold(fireRight), at: []int{1}, show: "player shots"})
	}
	for _, n := range []uint8{1, 5} {
		all = append(all, scene{name: fmt.Sprintf("haste, taken %d times: flies and fires", n), set: func(s *stage) {
			s.Gifts[GiftHaste] = n
		}, in: hold(engine.Input{Move: right, Aim: vec{0, 1}, Down: Fire}), at: []int{1, 12}, show: "player shots"})
	}
	return append(all, bagScenes()...)
}

// bagScenes are about what lies on the ground: embers, pickups, and gifts.
func bagScenes() []scene {
	all := []scene{
		{name: "embers in the magnet's reach are drawn, and others lie", set: func(s *stage) {
			for _, x := range []float32{14, 15, 69, 70} {
				s.cast.spill(s.Game, off(x, 0), 1)
			}
			for _, e := range s.cast.embers.All() {
				e.V = vec{}
			}
		}, at: []int{1, 10, 20, 30}},
		{name: "haste widens the magnet for embers", set: func(s *stage) {
			s.Gifts[GiftHaste] = 2
			for _, x := range []float32{97, 98} {
				s.cast.spill(s.Game, off(x, 0), 1)
			}
			for _, e := range s.cast.embers.All() {
				e.V = vec{}
			}
		}, at: []int{1, 10}, show: "embers"},
		{name: "embers spread, come to rest, and cool", set: func(s *stage) {
			s.cast.spill(s.Game, off(200, 0), 3)
			for _, e := range s.cast.embers.All() {
				e.Life = 1.5
			}
		}, at: []int{0, 20, 89, 90, 91}, show: "embers"},
		{name: "many embers are few of more worth", set: func(s *stage) {
			for k, n := range []int16{0, 7, 8, 17} {
				s.cast.spill(s.Game, off(200, float32(k)*200), n)
			}
		}, at: []int{0}, show: "embers"},
		{name: "pickups in the magnet's reach are drawn, and others lie", set: func(s *stage) {
			for _, x := range []float32{69, 70} {
				s.pickup(x, PickupScore, 9)
			}
		}, at: []int{0, 1, 10, 40}},
		{name: "a pickup fades", set: func(s *stage) { s.pickup(100, PickupHull, 0.04) }, at: []int{0, 2, 3}},
		{name: "a pickup begins to drift", set: func(s *stage) { done(s.t, s.cast.drop(s.Game, off(100, 0), PickupPower)) }, at: []int{0, 1, 30}, show: "pickups"},
		{name: "a pickup stays within the edge", set: func(s *stage) {
			s.pickup(0, PickupHull, 9)
			for _, r := range s.cast.dropFilter.All() {
				r.A.P, r.B.V = vec{10, 6000}, vec{-300, 0}
			}
		}, at: []int{1, 2, 10}, show: "pickups"},
		{name: "embers fill the bar, and gifts are offered", set: func(s *stage) {
			s.gather(s.Game, firstNeed-1)
			s.cast.spill(s.Game, off(14, 0), 1)
		}, in: press(engine.Input{}, Choose2, 3), at: []int{0, 1, 2, 3}},
		{name: "the rest counts for the next offer, which follows the choice", set: func(s *stage) {
			s.Player.Hull = 3
			s.gather(s.Game, 100)
		}, in: press(engine.Input{}, Choose3, 2), at: []int{0, 1, 2}},
		{name: "with two gifts left nothing is offered", set: func(s *stage) {
			for k := range s.Gifts {
				s.Gifts[k] = giftMost
			}
			s.Gifts[1], s.Gifts[2] = 4, 4
			s.gather(s.Game, 100)
		}, at: []int{0}, show: "bag"},
		{name: "with three gifts left these are offered", set: func(s *stage) {
			for k := range s.Gifts {
				s.Gifts[k] = giftMost
			}
			s.Gifts[1], s.Gifts[2], s.Gifts[8] = 4, 4, 4
			s.gather(s.Game, 100)
		}, at: []int{0}, show: "bag sounds"},
		{name: "the second hull mends, and is more", set: func(s *stage) {
			s.Player.Hull = 1
			s.Offer, s.Offered = [3]Gift{GiftHull, GiftBeam, GiftHaste}, true
		}, in: press(engine.Input{}, Choose1, 1), at: []int{1}},
		{name: "who has second hulls is safe for longer after a hit", set: func(s *stage) {
			s.Gifts[GiftHull] = 2
			s.enemy(realm.Drifter, 10, 0)
		}, at: []int{1}, show: "player"},
		{name: "every gift mends by one, and not above the most", set: func(s *stage) {
			s.Player.Hull = 5
			s.Offer, s.Offered = [3]Gift{GiftHull, GiftBeam, GiftHaste}, true
		}, in: press(engine.Input{}, Choose2|Choose3, 1), at: []int{1}, show: "player bag"},
	}
	for k, name := range pickupNames {
		all = append(all, scene{name: "collects a pickup: " + name, set: func(s *stage) {
			s.Player.Hull = 4
			s.chain(12)
			s.pickup(14.5, PickupKind(k), 9)
			s.pickup(15, PickupKind(k), 9)
		}, at: []int{1}})
	}
	return all
}

// pickup puts a pickup that rests beside the player.
func (s *stage) pickup(x float32, k PickupKind, life float32) {
	_, err := s.cast.pickups.NewEntity(Position{off(x, 0)}, Velocity{}, Pickup{Kind: k, Life: life})
	done(s.t, err)
}
