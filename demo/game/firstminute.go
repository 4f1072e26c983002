package game

import (
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/engine"
)

// firstMinute is how many ticks of a run belong to a new player, who reads. As long as they last the hull keeps its
// last point, the horde waits for the first kill, and embers come from twice as far. A run with a least heat or with
// extra enemies has no such minute.
const firstMinute = 60 * 60

// Scouts are the first enemies of a realm. They appear close to the player, on the way to the goal.
const (
	scouts    = 6
	scoutNear = 125 // units from the player
	scoutFar  = 165 // less than half the height of the logical screen
	scoutTry  = 12  // places that are tried for each
)

// scout announces the scouts. A place that a wall hides from the player is not taken; the last tries are all around.
func (h *horde) scout(g *Game) {
	b := &h.breeds[realm.Drifter]
	ahead := courseTo(g, g.GoalAt())
	for range scouts {
		for try := range scoutTry {
			wide := mul(0.3, float32(3+try)) // radians to each side
			dir := engine.Rotate(ahead, engine.Heading(g.rng.Range(-wide, wide)))
			at := engine.MulAdd(g.Player.P, dir, g.rng.Range(scoutNear, scoutFar))
			if !g.Realm.Near(at, b.radius) && g.Realm.Sees(g.Player.P, at) {
				g.cast.announce(g, realm.Drifter, at, postHorde)
				break
			}
		}
	}
}
