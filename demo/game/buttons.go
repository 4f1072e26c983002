package game

import "github.com/strata-go/strata/engine"

// The buttons of this game. Fire acts while it is held, the others in the tick of the press. In a hit-stop (see
// [Game.Tick]) a press of Dash, Choose1, Choose2 or Choose3 has no effect: repeat it
// until [Game.Still] returns false.
const (
	Fire engine.Buttons = 1 << iota
	Dash
	Pause
	Restart
	AnyKey  // any but the function keys
	Choose1 // the first of the gifts that are offered
	Choose2
	Choose3
)
