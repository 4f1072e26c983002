package engine

import (
	"time"

	"github.com/strata-go/strata/memory/save"
)

// SaveState saves the number of ticks and the elapsed fraction of a step. It does not save the dropped time, and loading
// leaves Dropped unchanged.
func (c *Clock) SaveState(s *save.Coder) {
	rest := s.Word(uint64(c.rest))
	if rest >= uint64(Step) {
		s.Differs("a clock with %d ns of a step of %d", rest, Step)
	}
	if s.Loading() {
		c.rest = time.Duration(rest)
	}
	save.Num(s, &c.ticks)
}

// CanWrite returns nil: every Clock can be written to a file, as two numbers.
func (c *Clock) CanWrite() error { return nil }

// SaveState saves the state and the stream. After loading, the generator returns the same numbers again.
func (r *Rand) SaveState(s *save.Coder) {
	save.Num(s, &r.state)
	save.Num(s, &r.inc)
}

// CanWrite returns nil: every Rand can be written to a file, as two numbers.
func (r *Rand) CanWrite() error { return nil }

// SaveState saves only the number of systems. If the number differs, loading from memory fails with an error that wraps
// save.ErrLayout. Systems are code, and their times are not part of a simulation. A file has no data of a Schedule.
func (s *Schedule) SaveState(c *save.Coder) {
	c.Same("the number of systems", uint64(len(s.systems)))
}

// CanWrite returns nil: a Set with a Schedule can be written to a file, which then has no data of the Schedule.
func (s *Schedule) CanWrite() error { return nil }
