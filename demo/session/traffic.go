package session

import (
	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/memory/slab"
	"github.com/strata-go/strata/memory/tiers"
)

// A Traffic has statistics of the tiers: some since the session began, others of the present.
type Traffic struct {
	Ticks       uint64                // game.Run.Ticks: rewinding and restoring change it
	Allocs      [tiers.Count]uint64   // allocations by tier
	SlabLive    uint64                // live blocks of the slab tier
	SlabClasses int                   // size classes of the slab tier with a live block
	FrameBytes  uint64                // the most bytes that one memory frame has used
	LevelBytes  uint64                // bytes in use of the level tier
	Passes      uint64                // bytes of the buffers of a frame's passes
	SideBySide  uint64                // bytes of these buffers without overlapping
	Entities    int                   // alive now
	Statuses    [game.StatusKinds]int // see game.Game.Statuses
}

// Traffic returns the current statistics. It allocates nothing.
func (s *Session) Traffic() (t Traffic) {
	g := s.Game
	t.Ticks, t.Entities, t.FrameBytes = g.Ticks, g.Entities(), s.peak.frame
	for k := range tiers.Tier(tiers.Count) {
		t.Allocs[k] = s.Mem.Stats(k).Allocs
	}
	sl := s.Mem.Stats(tiers.Slab)
	t.SlabLive, t.LevelBytes = sl.Allocs-sl.Frees, s.Mem.Stats(tiers.Level).InUse
	s.Mem.Slab().Classes(func(c slab.ClassStats) bool {
		if c.Live > 0 {
			t.SlabClasses++
		}
		return true
	})
	t.Passes, t.SideBySide = g.Saved()
	t.Statuses = g.Statuses()
	return t
}

// PerSecond returns the allocations of tier k per second of play, from since to t. Pass an earlier Traffic as since, or
// a zero one for the whole session. The Ticks of since must not exceed those of t. If both are equal, PerSecond counts
// one tick.
func (t *Traffic) PerSecond(k tiers.Tier, since *Traffic) float64 {
	return float64(t.Allocs[k]-since.Allocs[k]) * 60 / float64(max(t.Ticks-since.Ticks, 1))
}

// Saves returns the share of the passes' buffers that is saved because they overlap in the static tier, from 0 to 1.
// Without buffers the share is 0.
func (t *Traffic) Saves() float64 {
	if t.SideBySide == 0 {
		return 0
	}
	return 1 - float64(t.Passes)/float64(t.SideBySide)
}
