package session

import (
	"cmp"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/engine"
)

// steer selects who plays: the autopilot, or from the first key on the player.
func (s *Session) steer(in *engine.Input) {
	if s.Attract && in.Pressed.Has(game.AnyKey) {
		s.Attract, s.Paused = false, false
		s.Game.Restart()
		s.Flow.Go(s.cfg.Realm)
		return
	}
	if in.Pressed.Has(game.Pause) {
		s.Paused = !s.Paused
	}
	if s.cfg.Autopilot || s.Attract {
		*in = s.Game.Autopilot()
	}
}

const (
	leaveTime = 1.1 // seconds of dissolve before the next realm loads
	overTime  = 3.0 // seconds before the autopilot restarts
)

// Next returns the realm after the present one, as the present manifest names it. If the manifest names none, Next
// returns the first realm of the run, so that a campaign begins again. Before the first realm has begun, Next panics.
func (s *Session) Next() string { return cmp.Or(s.Game.Manifest.Next, s.cfg.Realm) }

// follow goes to the next realm when the game has ended one, or restarts.
func (s *Session) follow(in *engine.Input) {
	g := s.Game
	switch {
	case g.Phase == game.Leaving && g.PhaseTime > leaveTime:
		next := s.Next()
		if next == s.cfg.Realm {
			g.Round++
		}
		s.Flow.Go(next)
	case in.Pressed.Has(game.Restart), g.Phase == game.Over && g.PhaseTime > overTime && (s.cfg.Autopilot || s.Attract || in.Pressed.Has(game.AnyKey)):
		g.Restart()
		s.Flow.Go(g.Manifest.Name)
	}
}
