package game

import (
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/engine"
)

// A Tally has the statistics of a run. No rule reads them.
type Tally struct {
	Fallen   [realm.EnemyKinds]int    // kills by kind
	Spent    [len(realm.Names)]uint64 // ticks in which the player lived, by realm
	Gathered int                      // embers collected
	Fired    int                      // shots of the player
	Struck   int                      // shots that hit an enemy or a seal
	Cause    Cause                    // what damaged the player last
}

// A Cause names the source of the last damage to the player: the touch of a kind of enemy, or a shot.
type Cause uint8

// The causes. Those before CauseShot are the kinds of enemies, realm.Drifter first.
const (
	CauseShot = Cause(realm.EnemyKinds) + iota
	CauseNone
)

var causeNames = [CauseNone + 1]string{
	Cause(realm.Drifter): "a drifter's touch", Cause(realm.Lancer): "a lancer's charge", Cause(realm.Swarm): "a swarm",
	Cause(realm.Warden): "a warden's touch", CauseShot: "a shot", CauseNone: "nothing",
}

// String returns the words that the player sees for the cause. For an unknown cause it returns "nothing".
func (c Cause) String() string { return causeNames[min(c, CauseNone)] }

func (t *Tally) restart() { *t = Tally{Cause: CauseNone} }

// live counts a tick in a realm.
func (t *Tally) live(name string) {
	for i, n := range realm.Names {
		if n == name {
			t.Spent[i]++
		}
	}
}

func (t *Tally) hash(h *engine.Hasher) {
	for _, n := range t.Fallen {
		h.Int(n)
	}
	for _, n := range t.Spent {
		h.Uint64(n)
	}
	h.Int(t.Gathered)
	h.Int(t.Fired)
	h.Int(t.Struck)
	h.Int(int(t.Cause))
}
