package tiers

import (
	"github.com/strata-go/strata/memory"
)

type stats = memory.Stats

// HistoryLen is how many frames of each tier the manager remembers.
const HistoryLen = 240

// A Snapshot is everything the manager knows, at one moment. It holds no pointers into the
// manager and may be kept.
type Snapshot struct {
	Frame   uint64 // frames begun
	Level   uint64 // levels begun
	InLevel bool
	Tiers   [Count]TierStats
	Go      GoStats
	// Tags are the rows of EachTag, none without Config.Tags. Snapshot writes them into the array
	// that is there: of a copy that is to be kept, clone them.
	Tags []TagStats
	// RSS is the process's resident bytes, 0 where the system does not say. Untracked is what
	// of it neither the tiers nor the Go runtime account for: the binary, the C libraries, the
	// graphics driver.
	RSS, Untracked uint64
}

// TierStats is a tier's row in tables and overlays.
type TierStats struct {
	Tier Tier
	memory.Stats
	Budget      uint64 // hard limit on Committed
	FrameAllocs uint64 // since BeginFrame
	FrameFrees  uint64
}

// Used returns the share of the budget that is in use, from 0 to 1.
func (s TierStats) Used() float64 {
	if s.Budget == 0 {
		return 0
	}
	return float64(s.InUse) / float64(s.Budget)
}

// Stats returns the books of one tier. It does not allocate. Those of Inbox are the sum over the
// workers, see [Worker.Stats]. For what is no tier they are zero.
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

// allStats returns the books of every tier.
func (m *Manager) allStats() (all [Count]memory.Stats) {
	for t := range Tier(Count) {
		all[t] = m.Stats(t)
	}
	return all
}

// Snapshot fills s. It does not allocate, so an overlay may call it every frame.
func (m *Manager) Snapshot(s *Snapshot) {
	m.pacer.read()
	tags := s.Tags[:0]
	*s = Snapshot{Frame: m.frame.begun, Level: m.level.begun, InLevel: m.Inspect().InLevel(), Go: m.pacer.now, RSS: m.rss.read()}
	known := s.Go.Total
	for t := range Tier(Count) {
		now := m.Stats(t)
		s.Tiers[t] = TierStats{Tier: t, Stats: now, Budget: uint64(m.cfg.Budget[t])}
		if m.phase&inFrame != 0 {
			d := now.Sub(m.atFrame[t])
			s.Tiers[t].FrameAllocs, s.Tiers[t].FrameFrees = d.Allocs, d.Frees
		}
		known += now.InUse // committed but untouched memory is not resident
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

// inUse returns each tier's bytes in use at the end of a frame. Of the frame tier it is this
// frame's buffer alone: what the frame needed.
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
