package session

import (
	"errors"

	"github.com/strata-go/strata/memory/save"
)

// Rewind lets the player go back in time. Call it once a frame, before [Session.Frame]. hold tells whether the player
// holds the control. If Rewind returns true, Frame must not be called in this frame: the game has gone back by some
// ticks, unless the states could no longer be loaded. Without Config.Rewind the result is false. An error ends the run.
//
// A rewind begins when the control is pressed, if [Past.Possible] returns true and the game is not paused. It takes one
// of the player's charges. It ends after RewindMost ticks, at the oldest state, when the states are dropped, or when
// the control is released. The next Frame then goes on from the tick that was reached. If no earlier tick is left, and
// less than half of RewindMost was taken back, the charge is returned. For another rewind the control must be released
// first.
func (s *Session) Rewind(hold bool) (on bool, err error) {
	p := s.Past
	if p == nil {
		return false, nil
	}
	if !p.active {
		begins := hold && p.ready && !s.Paused && p.Possible()
		if p.ready = !hold; !begins {
			return false, nil
		}
		p.active, p.from = true, p.r.Now()
		p.charges--
		p.used++
	}
	left := min(rewindSpeed, RewindMost-(p.from-p.r.Now()), p.r.Now()-p.r.Oldest())
	if !hold || left == 0 || !s.Playing() {
		if left == 0 {
			p.ends()
		}
		p.active = false
		return false, nil
	}
	if err := s.between(); err != nil || !s.Playing() || !p.active { // something was loaded
		p.active = false
		return false, err
	}
	return true, s.visit(func() (int, error) { return p.r.Back(p.r.Now()-left, rewindDense) })
}

// Seek makes another tick of [Past.Range] the present tick, also during a pause. It ends the memory frame and begins
// another. The next Frame that plays a tick drops all later ticks. Seek ends a rewind, as if the player released the
// control. While a realm loads, or if tick is the present tick or out of range, Seek does nothing and returns nil. If
// the states can no longer be loaded, Seek drops them and returns nil. Any other error ends the run.
func (s *Session) Seek(tick uint64) error {
	p := s.Past
	if p == nil || !s.Playing() || tick < p.r.Oldest() || tick > p.r.End() || tick == p.r.Now() {
		return nil
	}
	p.active = false
	return s.visit(func() (int, error) { return p.r.Seek(tick) })
}

// visit goes to another tick. Its sounds were heard already. If the states cannot be loaded any more they are dropped.
// Afterwards a frame is open, which can be drawn.
func (s *Session) visit(to func() (played int, err error)) error {
	s.short = false
	if m, ok := s.cfg.Game.Sound.(interface{ Mute(on bool) bool }); ok {
		defer m.Mute(m.Mute(true))
	}
	p := s.Past
	played, err := to()
	p.total.Replayed += played
	p.total.ReplayMost = max(p.total.ReplayMost, played)
	if errors.Is(err, save.ErrLayout) {
		p.forget()
		err = nil
	}
	if err != nil {
		return err
	}
	s.Ground.tick(s.Game.Player.P, s.Game.Player.V)
	return s.openFrame()
}

// again plays a recorded tick in a frame of its own, which stays open.
func (s *Session) again(t *recorded) error {
	if err := errors.Join(s.EndFrame(), s.openFrame()); err != nil {
		return err
	}
	if t.relieve {
		s.short = false
		s.Game.Relieve()
	}
	return s.Game.Tick(&t.in)
}
