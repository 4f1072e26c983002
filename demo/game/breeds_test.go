package game

import (
	"testing"

	"github.com/strata-go/strata/demo/realm"
)

// A figure that is left out of a breed is 0, which no compiler notices.
func TestBreed_EachHasItsFigures(t *testing.T) {
	comes := map[realm.Enemy]bool{}
	for _, s := range spawnTable {
		comes[s.Kind] = true
		if s.Weight <= 0 || s.Heat < 0 {
			t.Errorf("%v comes at heat %v with weight %v", s.Kind, s.Heat, s.Weight)
		}
	}
	for i := range breeds {
		k, b := realm.Enemy(i), &breeds[i]
		if b.move == nil {
			t.Errorf("%v has no breed: enemy_%v.go registers it", k, k)
			continue
		}
		if b.radius <= 0 || b.size < 2*b.radius || b.hp <= 0 || b.score <= 0 || b.speed <= 0 || b.damage <= 0 || b.worth <= 0 || b.drops < 0 || b.drops > 1 {
			t.Errorf("%v: %+v", k, *b)
		}
		if b.radius > widest && !b.boss {
			t.Errorf("%v has a radius of %v: above %d only a boss is found", k, b.radius, widest)
		}
		if b.fear <= 0 || b.reach <= 0 {
			t.Errorf("the autopilot does not fear %v: %v, %v", k, b.fear, b.reach)
		}
		if !comes[k] && !b.boss {
			t.Errorf("%v never comes: it has no spawns", k)
		}
	}
}
