package guard

import "github.com/strata-go/strata/memory"

// Stats reports what callers have, canaries included in InUse: what is in quarantine is not in
// use. Reserved and Committed are inner's; where inner does not report, what was in use at once,
// and nothing once closed. LargestFree is inner's less two canaries. Counters and Peak are the
// guard's, and exact.
func (a *Allocator) Stats() memory.Stats {
	a.ended()
	s := memory.Stats{
		InUse: a.inUse, Peak: a.peak, Requested: a.requested, Measured: a.inUse,
		Live: a.allocs - a.frees, Allocs: a.allocs, Frees: a.frees, Failures: a.failures,
	}
	r, ok := a.inner.(memory.StatsReporter)
	if !ok {
		if s.Committed = s.InUse + uint64(a.held); !a.closed {
			s.Reserved = max(s.Peak, s.Committed)
		}
		return s
	}
	under, canaries := r.Stats(), 2*uint64(a.cfg.CanaryBytes)
	s.Reserved, s.Committed = under.Reserved, under.Committed
	s.LargestFree = under.LargestFree - min(under.LargestFree, canaries)
	s.Free = under.Free
	return s
}
