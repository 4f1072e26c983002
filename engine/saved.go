package engine

import (
	"time"

	"github.com/strata-go/strata/memory/save"
)

// SaveState saves the number of ticks and the time that is not stepped yet. Loading leaves the time that was dropped as it
// is.
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

// CanWrite returns nil: a file has two numbers.
func (c *Clock) CanWrite() error { return nil }

// SaveState saves the state and the number of the stream, so that the same numbers follow after loading.
func (r *Rand) SaveState(s *save.Coder) {
	save.Num(s, &r.state)
	save.Num(s, &r.inc)
}

// CanWrite returns nil: a file has two numbers.
func (r *Rand) CanWrite() error { return nil }

// SaveState saves nothing: systems are code, and their times are not part of a simulation. Loading fails with an error that
// wraps save.ErrLayout if there are other systems than there were. A file has nothing of it.
func (s *Schedule) SaveState(c *save.Coder) {
	c.Same("the number of systems", uint64(len(s.systems)))
}

// CanWrite returns nil: a file has nothing of it.
func (s *Schedule) CanWrite() error { return nil }
