package engine

import "time"

// A Loop runs a Schedule at the fixed step from frames of any length. The zero Loop is not
// usable; NewLoop makes one.
type Loop struct {
	clock    *Clock
	schedule *Schedule
	tick     Tick
}

// NewLoop makes a loop over s. rnd may be nil; catchUp is NewClock's.
func NewLoop(s *Schedule, rnd *Rand, catchUp int) *Loop {
	return &Loop{clock: NewClock(catchUp), schedule: s, tick: Tick{Rand: rnd}}
}

// Frame simulates the ticks that fit in elapsed and returns how many. Every one of them sees
// in; what was pressed is pressed in the first only. The error is that of
// the first system that failed: that tick is incomplete, later ones did not run. A tick that
// panicked does not count: whoever recovers runs it again, from the first system.
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

// Run simulates n ticks with the same input, without any clock: for headless runs.
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

// Tick returns the number of the next tick.
func (l *Loop) Tick() uint64 { return l.tick.N }

// Clock returns the clock of the loop, for Alpha and Dropped.
func (l *Loop) Clock() *Clock { return l.clock }
