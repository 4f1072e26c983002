package session

import (
	"fmt"
	"time"

	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory/save"
)

// States returns a sealed Set of the game's state, without the streamer, pictures, sound, settings and statistics. Call
// [Session.Rest] before each save and load. A state can be loaded until its realm ends. With Config.Rewind, do not load
// this Set: the Past does not notice it. If Config.Store is not StoreTiers, or if Game.Guard is set, the error wraps
// memory.ErrConfig.
func (s *Session) States() (*save.Set, error) {
	set := new(save.Set)
	if err := s.Game.AddTo(set, s.isHosted); err != nil {
		return nil, fmt.Errorf("session: %w", err)
	}
	if err := set.Seal(); err != nil {
		return nil, fmt.Errorf("session: %w", err)
	}
	return set, nil
}

// Rest ends the memory frame, and waits until the worker that searches paths is idle. The streamer's workers go on.
// Rest first waits, without a limit, until the requested paths are found. Then it waits up to ten seconds for the
// worker. If the worker is still busy, the error wraps save.ErrBusy.
func (s *Session) Rest() error {
	if err := s.EndFrame(); err != nil {
		return err
	}
	s.Game.Rest()
	return s.Mem.Rest(restLimit, s.Mem.Workers()-1)
}

// restLimit is how long Rest waits for the worker of the game: a field takes milliseconds.
const restLimit = 10 * time.Second

// Synctest plays the given number of ticks while it saves and loads states: see engine.Synctest, also for distance.
// Call Synctest while a realm is playing; it does not check this. The input is empty, unless the autopilot or
// Config.Steer sets it. Synctest ends a pause. After the end of a realm, a state from before the end cannot be loaded:
// all ticks since that state count as skipped. The Past drops its states. If Config.Store is not StoreTiers, or if
// Game.Guard is set, the error wraps memory.ErrConfig.
func (s *Session) Synctest(ticks, distance int) (engine.Synced, error) {
	set, err := s.States()
	if err != nil {
		return engine.Synced{}, err
	}
	defer s.Past.forget() // set has loaded states that the Past does not know
	return engine.Synctest(engine.Sync{
		Set: set, Ticks: ticks, Distance: distance,
		Hash: s.Game.Hash, Rest: s.Rest, Check: s.Check,
		Step: s.stepOnce,
	})
}

// stepOnce plays frames until a tick of the game has passed. It ends a pause, in which none passes.
func (s *Session) stepOnce() error {
	for tick := s.Game.Ticks; s.Game.Ticks == tick; {
		s.Paused = false
		if err := s.Frame(engine.Input{}); err != nil {
			return err
		}
		if !s.Playing() {
			time.Sleep(time.Millisecond) // the workers are loading
		}
	}
	return nil
}

// Rollback measures the cost of rollback netcode, in which a game predicts another player's input and corrects itself.
// Rollback plays the given number of ticks. Then it returns to their beginning and plays them again, with a save after
// each. took is the time of this second part. waited is the part of took in [Session.Rest], which ends memory frames
// and waits for the worker of the paths.
//
// A realm must be playing, and ticks must not be negative. The input is empty, unless the autopilot or Config.Steer
// sets it. Rollback ends a pause, and the Past drops its states. If the realm ends meanwhile, the error wraps
// save.ErrLayout. Errors of [Session.States] and [Session.Frame] are returned.
func (s *Session) Rollback(ticks int) (took, waited time.Duration, err error) {
	set, err := s.States()
	if err != nil {
		return 0, 0, err
	}
	defer s.Past.forget() // as in Synctest
	slots := make([]*save.Slot, ticks+1)
	keep := func(i int) error {
		began := time.Now()
		if err := s.Rest(); err != nil {
			return err
		}
		waited += time.Since(began)
		if slots[i] == nil {
			n, err := set.Size()
			if err != nil {
				return err
			}
			slots[i] = set.NewSlot(2 * n)
		}
		return set.Save(slots[i])
	}
	for i := range slots { // the first time, which also touches the memory of the slots
		if i > 0 {
			if err := s.stepOnce(); err != nil {
				return 0, 0, err
			}
		}
		if err := keep(i); err != nil {
			return 0, 0, err
		}
	}
	if err := s.Rest(); err != nil {
		return 0, 0, err
	}
	waited = 0
	began := time.Now()
	if err := set.Load(slots[0]); err != nil {
		return 0, 0, err
	}
	for i := 1; i <= ticks; i++ {
		if err := s.stepOnce(); err != nil {
			return 0, 0, err
		}
		if err := keep(i); err != nil {
			return 0, 0, err
		}
	}
	return time.Since(began), waited, nil
}
