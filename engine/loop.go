package engine

import "time"

// A Loop runs a Schedule at the fixed step, driven by frames of any length. Use NewLoop; the zero Loop
// does not work.
type Loop struct {
	clock    *Clock
	schedule *Schedule
	tick     Tick
}

// NewLoop returns a loop that runs s, which must not be nil. rnd becomes Tick.Rand and may be nil. catchUp is
// the largest number of ticks in one Frame, as in [NewClock].
func NewLoop(s *Schedule, rnd *Rand, catchUp int) *Loop {
	return &Loop{clock: NewClock(catchUp), schedule: s, tick: Tick{Rand: rnd}}
}

// Frame simulates the ticks that fit into elapsed, see [Clock.Advance], and returns how many it has
// completed. The first tick gets the input in, the others in.Held(). If no tick fits, in is not used: keep
// its Pressed for the next Frame.
//
// If a system fails, Frame returns its error as [Schedule.Run] does. That tick is incomplete: Tick counts it,
// the result does not. The remaining ticks of the frame are lost. If a system panics, its tick does not
// count. If the caller recovers, the next Frame runs that tick again from the first system.
func (l *Loop) Frame(elapsed time.Duration, in *Input) (int, error) {
	n := l.clock.Advance(elapsed)
	l.tick.Input = *in
	for i := range n {
		if err := l.step(); err != nil {
			return i, err
		}
	}
	return n, nil
}

// Run simulates n ticks without a clock, for headless runs. The first tick gets the input in, the others
// in.Held(). If a system fails, Run returns its error, and the remaining ticks do not run.
func (l *Loop) Run(n int, in *Input) error {
	l.tick.Input = *in
	for range n {
		if err := l.step(); err != nil {
			return err
		}
	}
	return nil
}

func (l *Loop) step() error {
	err := l.schedule.Run(&l.tick)
	l.tick.N++
	l.tick.Input = l.tick.Input.Held()
	return err
}

// Tick returns the number of the next tick, from 0.
func (l *Loop) Tick() uint64 { return l.tick.N }

// Clock returns the clock of the loop, for Alpha and Dropped.
func (l *Loop) Clock() *Clock { return l.clock }
