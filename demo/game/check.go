package game

import (
	"errors"
	"fmt"

	"github.com/strata-go/strata/demo/realm"
)

// Check verifies the invariants, while a realm is played.
func (g *Game) Check() error {
	errs := []error{g.world.Check(), g.omens.Check(), g.embers.Check(), g.fx.sys.Check(), g.popups.check(), g.Realm.Check(), g.checkActors(), g.marks.check(g), g.ribbons.blocks.check(g.ribbons.live)}
	if g.flow != nil {
		errs = append(errs, g.flow.Check())
	}
	return errors.Join(errs...)
}

func (g *Game) checkActors() error {
	used, extra := 0, 0
	var toll [realm.EnemyKinds]int
	for id, r := range g.actors.enemyFilter.All() {
		if r.C.Ribbon != 0 {
			used++
		}
		if r.C.Post == postStress {
			extra++
		}
		toll[r.C.Kind]++
		if g.Realm.Solid(r.A.P) {
			return fmt.Errorf("game: invariant 5: %v, a %v, is in a wall at %v", id, r.C.Kind, r.A.P)
		}
	}
	for id, r := range g.actors.shotFilter.All() {
		if g.Realm.Solid(r.A.P) {
			return fmt.Errorf("game: invariant 5: %v, a shot, is in a wall at %v", id, r.A.P)
		}
	}
	for id, r := range g.actors.dropFilter.All() {
		if g.Realm.Solid(r.A.P) {
			return fmt.Errorf("game: invariant 5: %v, a pickup, is in a wall at %v", id, r.A.P)
		}
	}
	for _, e := range g.embers.All() {
		if g.Realm.Solid(e.P) {
			return fmt.Errorf("game: invariant 5: an ember is in a wall at %v", e.P)
		}
	}
	switch {
	case g.ribbons.live != used:
		return fmt.Errorf("game: invariant 2: %d ribbons are in use by %d enemies", g.ribbons.live, used)
	case toll != g.toll || extra != g.extra:
		return fmt.Errorf("game: invariant 4: %v and %d enemies live, %v and %d are counted", toll, extra, g.toll, g.extra)
	case g.tour == nil && g.Realm.Solid(g.Player.P):
		return fmt.Errorf("game: invariant 5: the player is in a wall at %v", g.Player.P)
	}
	return nil
}
