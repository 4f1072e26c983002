package game

import (
	"testing"

	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/engine"
)

// A pulse of the beam takes its damage once from each enemy along the beam, from a warden, and from a seal.
func TestArms_BeamHitsEachTargetOnceAPulse(t *testing.T) {
	s := newStage(t)
	s.clear()
	s.Gifts[GiftBeam], s.Player.Cool, s.Player.Safe = 5, 9, 9
	s.Seals[0].P, s.Seals[0].Woken = off(250, 0), true
	s.Player.Aim = right
	hull := map[ecs.Entity]int16{}
	for x := float32(30); x < 320; x += 3 {
		id := s.enemy(realm.Drifter, x, 0)
		_, _, e, _ := s.cast.enemies.Get(id)
		e.HP = 60
		hull[id] = 60
	}
	warden := s.guard(realm.Warden, 150, 20, postHeart)
	_, _, e, _ := s.cast.enemies.Get(warden)
	hull[warden] = e.HP
	s.Ticks = beamEvery - 1
	s.frame(t, fireRight)
	want := beamDamage(5)
	if lost := s.SealMost() - s.Seals[0].HP; lost != want {
		t.Errorf("the seal loses %d in a pulse, want %d", lost, want)
	}
	for id, before := range hull {
		if p, _, e, _ := s.cast.enemies.Get(id); before-e.HP != want {
			t.Errorf("%v at %v loses %d in a pulse, want %d", e.Kind, p.P.Sub(middle), before-e.HP, want)
		}
	}
}

// Lightning jumps to the nearest enemy, also if a thousand others are in its reach and before that one in the grid.
func TestArms_LightningStrikesTheNearestOfAThousand(t *testing.T) {
	s := newStage(t)
	s.clear()
	s.Gifts[GiftLightning], s.Player.Safe = 1, 9
	for i := range 1000 {
		s.enemy(realm.Swarm, float32(i%40)*4-80, float32(i/40)*-4-60)
	}
	s.enemy(realm.Lancer, 0, 40)
	s.frame(t, engine.Input{})
	if at := s.arms.bolts[0].Points(); len(at) < 2 || at[1].Sub(middle)[1] < 30 {
		t.Errorf("lightning goes %v from %v; want the lancer at %v", at, middle, off(0, 40))
	}
}
