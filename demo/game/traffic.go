package game

import (
	"github.com/strata-go/strata/memory/slab"
	"github.com/strata-go/strata/memory/tiers"
)

// A Traffic is what the tiers have carried since the run began, and what they carry now.
type Traffic struct {
	Ticks       uint64              // of the run
	Allocs      [tiers.Count]uint64 // since then
	SlabLive    uint64              // blocks
	SlabClasses int                 // of sizes, with a block in use
	FrameBytes  uint64              // the most that one frame took
	LevelBytes  uint64              // of the realm
	Passes      uint64              // bytes of the frame's passes in the static tier
	SideBySide  uint64              // what they would take there without overlapping
	Entities    int                 // alive now
	Shapes      [enemyShapes]int    // enemies that burn, are chilled, elite, shielded, now
}

// enemyShapes is how many components come and go on enemies.
const enemyShapes = 4

// Traffic returns the books of the run. It allocates nothing.
func (s *Session) Traffic() (t Traffic) {
	g := s.Game
	t.Ticks, t.Entities, t.FrameBytes = g.Ticks, g.Entities(), s.frame
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
	a := &g.actors
	for es := range a.enemyFilter.Chunks() {
		for k, on := range [enemyShapes]bool{a.burning.Column(es) != nil, a.chilled.Column(es) != nil, a.elite.Column(es) != nil, a.shielded.Column(es) != nil} {
			if on {
				t.Shapes[k] += len(es)
			}
		}
	}
	return t
}

// PerSecond returns a tier's allocations a second of play since an earlier moment.
func (t *Traffic) PerSecond(k tiers.Tier, since *Traffic) float64 {
	return float64(t.Allocs[k]-since.Allocs[k]) * 60 / float64(max(t.Ticks-since.Ticks, 1))
}

// Saves returns the share of the static tier's room that overlapping saves.
func (t *Traffic) Saves() float64 { return 1 - float64(t.Passes)/float64(max(t.SideBySide, 1)) }
