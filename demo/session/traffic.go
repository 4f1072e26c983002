package session

import (
	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/memory/slab"
	"github.com/strata-go/strata/memory/tiers"
)

// Traffic has the use of the tiers since the session began, and the present use.
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

// PerSecond returns the allocations of tier k per second of play from an earlier Traffic to t. The parameter since is
// the earlier Traffic, or a zero one for the whole session. Its Ticks must not exceed those of t. If no tick lies
// between the two, PerSecond counts one.
func (t *Traffic) PerSecond(k tiers.Tier, since *Traffic) float64 {
	return float64(t.Allocs[k]-since.Allocs[k]) * 60 / float64(max(t.Ticks-since.Ticks, 1))
}

// Saves returns the share of memory in the static tier that is saved because buffers overlap, from 0 to 1. Without
// buffers the share is 0.
func (t *Traffic) Saves() float64 {
	if t.SideBySide == 0 {
		return 0
	}
	return 1 - float64(t.Passes)/float64(t.SideBySide)
}
