package guard

import "github.com/strata-go/strata/memory"

// Stats returns the statistics. InUse includes canaries. Blocks in quarantine are not in use. InUse also counts blocks
// that inner has from another allocator, such as Config.Large of a slab.Heap. Committed does not count these blocks.
// The guard keeps its own counters and Peak, which are exact. If inner is a memory.StatsReporter, Reserved, Committed
// and Free are copied from Stats of inner. LargestFree is LargestFree of inner less two canaries, at least 0.
//
// If inner is no memory.StatsReporter, Free and LargestFree are 0. Committed is the number of bytes in blocks and in
// quarantine, and Reserved is the larger of Peak and Committed. After Close Committed and Reserved are 0.
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
