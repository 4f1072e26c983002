package main

import (
	"testing"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/tiers"
)

// At full heat nearly every block counts under a tag: of slab, large, pools and inbox together, and of the frame and the
// level. The passes of the frame have names of their own in the plan of the static tier.
func TestTags_CountNearlyEveryBlockAtFullHeat(t *testing.T) {
	testenv.Long(t)
	s := hot(t, "ember", 360, budgets{})
	var all, none tiers.TagStats
	of := map[string]memory.Stats{}
	s.Mem.Inspect().EachTag(func(row tiers.TagStats) {
		none = row // the last
		of[row.Name] = row.Stats
		all.Stats = all.Add(row.Stats)
		for _, sum := range []struct{ to, of *tiers.Bumped }{{&all.Frame, &row.Frame}, {&all.Level, &row.Level}} {
			sum.to.Bytes, sum.to.Blocks = sum.to.Bytes+sum.of.Bytes, sum.to.Blocks+sum.of.Blocks
		}
	})
	for _, c := range []struct {
		what      string
		none, all uint64
		least     uint64
	}{
		{"allocations", none.Allocs, all.Allocs, 5000},
		{"bytes", none.InUse, all.InUse, 9 << 20},
		{"bytes of the frame", none.Frame.Bytes, all.Frame.Bytes, 500 << 10},
		{"blocks of the frame", none.Frame.Blocks, all.Frame.Blocks, 5},
		{"bytes of the level", none.Level.Bytes, all.Level.Bytes, 3 << 20},
		{"blocks of the level", none.Level.Blocks, all.Level.Blocks, 5},
	} {
		t.Logf("%d of %d %s have no tag", c.none, c.all, c.what)
		if c.all < c.least || c.none*50 > c.all {
			t.Errorf("%d of %d %s have no tag; want at most 2 %% of at least %d", c.none, c.all, c.what, c.least)
		}
	}
	for _, name := range []string{"assets", "cast", "effects", "paths", "scorch", "soot", "trails"} {
		if of[name].Allocs == 0 {
			t.Errorf("nothing was allocated under %q", name)
		}
	}
	if s.Game.Lost != (game.Lost{}) {
		t.Errorf("lost %+v", s.Game.Lost)
	}
}
