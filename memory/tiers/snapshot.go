package tiers

import (
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/gcpace"
)

type stats = memory.Stats

// HistoryLen is the number of frames for which [Inspector.History] returns a value.
const HistoryLen = 240

// A Snapshot has the statistics of a manager's tiers and tags at one moment. It has no pointers into the manager and
// may be kept. A copy shares the array of Tags.
type Snapshot struct {
	Frame   uint64 // frames begun
	Level   uint64 // levels begun
	InLevel bool
	Tiers   [Count]TierStats
	Go      gcpace.Stats
	// Tags has the rows of EachTag; it is empty without Config.Tags. The next call of Manager.Snapshot with this
	// Snapshot overwrites the array. If you keep a copy of the Snapshot, clone Tags.
	Tags []TagStats
	// RSS is the resident bytes of the process. It is 0 if it is unknown, as on systems other than Linux and after
	// Close.
	//
	// Untracked estimates the memory of the binary, C libraries and the graphics driver. It is RSS minus the resident
	// memory of the Go runtime and of the tiers, but at least 0. For the Go runtime this is Go.Total - Go.Released. For
	// Slab, Large and Inbox it is Committed. For Frame and Level it is Peak, for Static the highest InUse of a Snapshot,
	// for Pools the sum of the highest InUse of each pool, but at most Committed. Memory in use that the program
	// has not written to makes Untracked too low. Untracked rises when the program writes to it.
	RSS, Untracked uint64
}

// TierStats has the statistics of one tier, for a row of a table or an overlay.
type TierStats struct {
	Tier Tier
	memory.Stats
	Budget uint64 // hard limit on Committed
	// FrameAllocs and FrameFrees are the changes of Allocs and Frees in the open frame. Outside a frame both are 0.
	// FrameFrees includes the blocks of the oldest frame, which BeginFrame frees. Both include the blocks that the
	// hooks of the oldest frame allocate and free. In the row of Pools, AddPool adds all earlier Allocs and Frees of
	// the pool, and RemovePool subtracts all Allocs and Frees of the pool. A negative result becomes 0.
	FrameAllocs, FrameFrees uint64
}

// Used returns InUse divided by Budget, from 0 to 1. If Budget is 0, Used returns 0.
func (s TierStats) Used() float64 {
	if s.Budget == 0 {
		return 0
	}
	return float64(s.InUse) / float64(s.Budget)
}

// Stats returns the statistics of one tier. Call it on the game goroutine. It does not allocate. The statistics of
// Inbox are the sum over the workers, see [Worker.Stats]. Peak is exact for Static, Level and Large, and an upper bound
// for the other tiers. Failures of Static counts the calls of Declare that failed for lack of memory. Failures of Pools
// counts at least the commits that the budget or the source refused. For a number that is no tier the statistics are
// zero.
func (m *Manager) Stats(t Tier) (s memory.Stats) {
	if t >= Count {
		return s
	}
	s = m.states[t].stats(m)
	s.Reserved = 0
	if m.size > 0 {
		s.Reserved = uint64(m.cfg.reserved(t))
	}
	return s
}

// allStats returns the statistics of every tier.
func (m *Manager) allStats() (all [Count]memory.Stats) {
	for t := range Tier(Count) {
		all[t] = m.Stats(t)
	}
	return all
}

// Snapshot overwrites s with the present statistics. Call it on the game goroutine. Snapshot reuses the array of
// s.Tags, and allocates only if the array has no space for a row for each tag and one more. Without Config.Tags it does
// not allocate.
func (m *Manager) Snapshot(s *Snapshot) {
	tags := s.Tags[:0]
	*s = Snapshot{Frame: m.frame.begun, Level: m.level.begun, InLevel: m.Inspect().InLevel(), Go: m.pacer.Stats(), RSS: m.rss.read()}
	known := s.Go.Total - s.Go.Released // what a heap has just grown by is not resident
	for t := range Tier(Count) {
		now := m.Stats(t)
		s.Tiers[t] = TierStats{Tier: t, Stats: now, Budget: uint64(m.cfg.Budget[t])}
		if m.phase&inFrame != 0 {
			then := &m.atFrame[t] // with more, if a pool was removed since
			s.Tiers[t].FrameAllocs, s.Tiers[t].FrameFrees = less(now.Allocs, then.Allocs), less(now.Frees, then.Frees)
		}
		kept := &m.touched[t]
		if *kept = max(now.InUse, min(*kept, now.Committed)); table[t].Freed == Never {
			*kept = now.Committed // free blocks lie between live ones
		} else if state, ok := m.states[t].(interface{ touched(uint64) uint64 }); ok {
			*kept = min(state.touched(*kept), now.Committed)
		}
		known += *kept
	}
	if s.RSS > known {
		s.Untracked = s.RSS - known
	}
	s.Tags = m.appendTags(tags)
}

// A ring holds the last HistoryLen samples.
type ring struct {
	at   int
	vals [HistoryLen]float32
}

// inUse returns each tier's bytes in use at the end of a frame; of the frame tier, those of this frame's buffer.
func (m *Manager) inUse() (used [Count]float32) {
	for t, state := range m.states {
		if s, ok := state.(interface{ inUse() uintptr }); ok {
			used[t] = float32(s.inUse())
		} else {
			used[t] = float32(state.stats(m).InUse)
		}
	}
	return used
}

func (m *Manager) sample(used *[Count]float32) {
	for t := range used {
		r := &m.history[t]
		r.vals[r.at] = used[t]
		r.at = (r.at + 1) % HistoryLen
	}
}
