package engine

import "github.com/strata-go/strata/memory/save"

// SaveState saves the number of ticks and the time that is not stepped yet. Loading leaves the time that was dropped as it
// is. A Set with a Clock cannot be written to a file: call SaveState from a function of save.Set.AddFunc.
func (c *Clock) SaveState(s *save.Coder) {
	save.Num(s, &c.rest)
	save.Num(s, &c.ticks)
}

// SaveState saves the state and the number of the stream, so that the same numbers follow after loading. For a file call it
// from a function of save.Set.AddFunc.
func (r *Rand) SaveState(s *save.Coder) {
	save.Num(s, &r.state)
	save.Num(s, &r.inc)
}

// SaveState saves nothing: systems are code, and their times are not part of a simulation. Loading fails with an error that
// wraps save.ErrLayout if there are other systems than there were.
func (s *Schedule) SaveState(c *save.Coder) {
	c.Same("the number of systems", uint64(len(s.systems)))
}
