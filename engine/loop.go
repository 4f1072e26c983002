package engine

import "time"

// A Loop runs a Schedule at the fixed step, driven by frames of any length. The zero Loop does not work.
// A Loop belongs to the game goroutine.
type Loop struct {
	clock    *Clock
	schedule *Schedule
	tick     Tick
}

// NewLoop returns a loop that runs s. The Schedule s must not be nil. The systems get rnd as Tick.Rand; rnd may be nil.
// A Frame simulates at most catchUp ticks. A catchUp below 1 means DefaultCatchUp.
func NewLoop(s *Schedule, rnd *Rand, catchUp int) *Loop {
	return &Loop{clock: NewClock(catchUp), schedule: s, tick: Tick{Rand: rnd}}
}

// Frame adds elapsed to the clock, simulates the ticks that are due, and returns the number of completed ticks. At most
// the catchUp of [NewLoop] are due: see [Clock.Advance]. The first tick gets *in, the other ticks get in.Held(). If no
// tick is due, the input is not used: keep in.Pressed for the next Frame.
//
// If a system fails, Frame returns the error of [Schedule.Run]. Loop.Tick counts the incomplete tick, the result of
// Frame does not. If a system panics, Loop.Tick does not count the incomplete tick. The next tick then has the same
// number and begins with the first system. In both cases the remaining ticks of the frame are lost.
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

// Run simulates n ticks without the clock, for headless runs. The first tick gets *in, the other ticks get in.Held().
// If a system fails, Run returns the error of [Schedule.Run], and the remaining ticks do not run. Loop.Tick counts the
// failed tick. If a system panics, Loop.Tick does not count the tick, and the remaining ticks do not run. The next tick
// then has the same number.
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

// Tick returns the number of the next tick, from 0. Tick is no part of a saved state: a load does not change it.
func (l *Loop) Tick() uint64 { return l.tick.N }

// Clock returns the clock of the loop, for Alpha and Dropped.
func (l *Loop) Clock() *Clock { return l.clock }
