package tiers

import (
	"errors"
	"fmt"

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

// Stats returns the books of one tier. It does not allocate.
func (m *Manager) Stats(t Tier) (s memory.Stats) {
	switch t {
	case Static:
		s = m.static.stats()
	case Frame:
		s = m.frames.Stats()
	case Level:
		s = m.level.Stats()
	case Pools:
		s = m.poolStats()
	case Slab:
		s = m.slab.Stats()
	case Large:
		s = m.large.Stats()
	case Inbox:
		for _, w := range m.workers {
			s = s.Add(w.Stats())
		}
	}
	s.Reserved = uint64(m.cfg.reserved(t))
	return s
}

// poolStats sums the pools. Commits refused by the budget count as failures of the tier, as a
// pool may have met them by giving less.
func (m *Manager) poolStats() (s memory.Stats) {
	for i := range m.pools {
		s = s.Add(m.pools[i].stats())
	}
	l := m.limits[Pools]
	s.Committed = uint64(l.Committed())
	s.Failures = max(s.Failures, l.Failures())
	return s
}

// Snapshot fills s. It does not allocate, so an overlay may call it every frame.
func (m *Manager) Snapshot(s *Snapshot) {
	m.pacer.read()
	*s = Snapshot{Frame: m.frame, Level: m.levels, InLevel: m.InLevel(), Go: m.pacer.now, RSS: m.rss.read()}
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
}

// A ring holds the last HistoryLen samples.
type ring struct {
	at   int
	vals [HistoryLen]float32
}

// sample records each tier's bytes in use at the end of a frame. Of the frame tier it records
// this frame's buffer alone: what the frame needed.
func (m *Manager) sample() {
	for t := range Tier(Count) {
		r := &m.history[t]
		used := float32(m.Stats(t).InUse)
		if t == Frame {
			used = float32(m.frames.Current().Used())
		}
		r.vals[r.at] = used
		r.at = (r.at + 1) % HistoryLen
	}
}

// History copies the bytes in use of the last HistoryLen frames, oldest first, into dst.
func (m *Manager) History(t Tier, dst *[HistoryLen]float32) {
	r := &m.history[t]
	n := copy(dst[:], r.vals[r.at:])
	copy(dst[n:], r.vals[:r.at])
}

// Check verifies the invariants above the Manager, and those of every tier. Game goroutine,
// while the workers rest.
func (m *Manager) Check() error {
	if m.phase == closed {
		return nil
	}
	errs := []error{m.static.check(), m.frames.Check(), m.level.Check(), m.slab.Check(), m.large.Check(), m.home.Check()}
	for _, w := range m.workers {
		errs = append(errs, w.heap.Check(), w.inbox.Check())
	}
	errs = append(errs, m.checkRoutes())
	for t := range Inbox {
		if l := m.limits[t]; l.Committed() > l.Budget() {
			errs = append(errs, fmt.Errorf("tiers: %s has committed %d bytes of a budget of %d", t, l.Committed(), l.Budget()))
		}
	}
	return errors.Join(errs...)
}

func (m *Manager) checkRoutes() error {
	off := uintptr(0)
	expect := func(n uintptr, route uint8, name fmt.Stringer) error {
		for ; n > 0; n -= regionBytes {
			if got := m.route[off>>regionShift]; got != route {
				return fmt.Errorf("tiers: region %d of %s routes to %d", off>>regionShift, name, got)
			}
			off += regionBytes
		}
		return nil
	}
	var errs []error
	for t := range Inbox {
		errs = append(errs, expect(m.cfg.Reserve[t], uint8(t), t))
	}
	for k := range m.workers {
		errs = append(errs, expect(m.cfg.Reserve[Inbox], uint8(Count+k), Inbox))
	}
	return errors.Join(errs...)
}
