package game

import "github.com/strata-go/strata/engine"

// steer decides who plays: the autopilot, or a person from the first key on.
func (s *Session) steer(in *engine.Input) {
	if s.Attract && in.Pressed.Has(AnyKey) {
		s.Attract = false
		s.Game.Restart()
		s.Flow.Go(s.cfg.Level)
		return
	}
	if in.Pressed.Has(Pause) {
		s.Paused = !s.Paused
	}
	if s.cfg.Autopilot || s.Attract {
		*in = s.Game.Autopilot()
	}
}

const (
	leaveTime = 1.1 // seconds of dissolve before the next level loads
	overTime  = 3.0 // seconds before an autopilot starts again
)

// follow moves on when the game has come to the end of a level, or of itself.
func (s *Session) follow(in *engine.Input) {
	g := s.Game
	switch {
	case g.Phase == Leaving && g.PhaseTime > leaveTime:
		if g.Level.Next == s.cfg.Level {
			g.Round++
		}
		s.Flow.Go(g.Level.Next)
	case in.Pressed.Has(Restart), g.Phase == Over && g.PhaseTime > overTime && (s.cfg.Autopilot || s.Attract || in.Pressed.Has(AnyKey)):
		g.Restart()
		s.Flow.Go(g.Level.Name)
	}
}
