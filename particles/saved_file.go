package particles

import (
	"github.com/strata-go/strata/memory/save"
)

// CanWrite returns nil: the columns are numbers, which are the same in another process.
func (s *System) CanWrite() error { return nil }

// saveFile visits the live particles and the random numbers in a file. The capacity may differ if the particles fit.
func (s *System) saveFile(c *save.Coder) {
	n, kinds := c.Count(s.n), c.Count(len(s.kinds))
	switch {
	case c.Failed():
	case kinds > len(s.kinds):
		c.Differs("%d kinds were registered, %d are", kinds, len(s.kinds))
	case n > s.max:
		c.Differs("the file has %d particles, the capacity is %d", n, s.max)
	case c.Fitting():
		for i := range s.mem {
			s.mem[i].Fit(c, extent(i, n))
		}
	case c.Loading() && n > s.usable: // which also commits, because loading another part may have called Trim
		c.Fail(s.commit(n))
	}
	if c.Failed() {
		return
	}
	if c.Loading() {
		s.n, s.peak = n, max(s.peak, n)
	}
	save.Num(c, &s.rng)
	s.saveLive(c, n)
	if c.Loading() {
		c.Fail(s.Check())
	}
}
