package session

import (
	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/memory/slab"
	"github.com/strata-go/strata/memory/tiers"
)

// Traffic is the use of the tiers since the run began, and now.
type Traffic struct {
	Ticks       uint64                // of the run
	Allocs      [tiers.Count]uint64   // since it began
	SlabLive    uint64                // blocks
	SlabClasses int                   // sizes with a block in use
	FrameBytes  uint64                // the most of one frame
	LevelBytes  uint64                // of the realm
	Passes      uint64                // bytes of the frame's passes in the static tier
	SideBySide  uint64                // what they would take without overlapping
	Entities    int                   // alive now
	Statuses    [game.StatusKinds]int // see game.Game.Statuses
}

// Traffic returns the statistics of the run. It allocates nothing.
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

// PerSecond returns a tier's allocations per second of play since an earlier moment.
func (t *Traffic) PerSecond(k tiers.Tier, since *Traffic) float64 {
	return float64(t.Allocs[k]-since.Allocs[k]) * 60 / float64(max(t.Ticks-since.Ticks, 1))
}

// Saves returns the share of the static tier that overlapping saves.
func (t *Traffic) Saves() float64 { return 1 - float64(t.Passes)/float64(max(t.SideBySide, 1)) }
