package session

import (
	"reflect"
	"testing"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/ground"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/tiers"
)

// A shown is what a player sees of a run, in numbers.
type shown struct {
	Kills, Enemies, Trails, Marks, Scorched, Embers int
	Sorted, Walls, Soot                             bool
	Pictures                                        uint64
}

func show(s *Session) (v shown) {
	g := s.Game
	v = shown{Kills: g.Kills, Enemies: g.Enemies(), Sorted: g.Passes() != nil, Walls: g.Realm.Clear() != nil, Soot: g.Soot().Cells != nil,
		Pictures: s.Stream.Stats().Deliveries}
	g.EachEmber(func(*game.Ember) { v.Embers++ })
	g.EachSeen(func(e *game.Seen) {
		if g.Ribbon(e).Count > 0 {
			v.Trails++
		}
		v.Marks += len(g.Marks(e))
	})
	for i := range ground.AllSectors {
		if at := ground.SectorOf(i); g.Scorched(int(at.X), int(at.Y)) != nil {
			v.Scorched++
		}
	}
	return v
}

// lost returns how much a run lost under a name of Lost.
func lost(l *game.Lost, name string) int {
	return int(reflect.ValueOf(l).Elem().FieldByName(name).Int())
}

// Each tier in turn has next to nothing. The game is another one to the eye, says by name what it
// lost, and plays on.
func TestAblation_EveryTierIsMissedAndReported(t *testing.T) {
	testenv.Longest(t)
	t.Parallel()
	const ticks = 450
	whole := newSession(t, roomy())
	play(t, whole, ticks)
	want, hash := show(whole), whole.Game.Hash()
	if whole.Game.Lost != (game.Lost{}) {
		t.Fatalf("with room for everything it lost %+v", whole.Game.Lost)
	}
	for _, c := range []struct {
		tier   tiers.Tier
		budget uintptr
		names  []string // of Lost
		missed func(have shown) bool
	}{
		{tiers.Static, 1, []string{"Quads"}, func(v shown) bool { return !v.Sorted }},
		{tiers.Frame, 2 * page.Granule, []string{"Grids"}, func(v shown) bool { return v.Kills < want.Kills/2 }},
		{tiers.Level, 1, []string{"Walls", "Spawns"}, func(v shown) bool { return !v.Walls }},
		{tiers.Pools, 512 << 10, []string{"Enemies"}, func(v shown) bool { return v.Enemies < want.Enemies/2 }},
		{tiers.Slab, 1, []string{"Ribbons", "Marks"}, func(v shown) bool { return v.Trails == 0 && v.Marks == 0 }},
		{tiers.Large, 1, []string{"Scorch", "Fields"}, func(v shown) bool { return v.Scorched == 0 && !v.Soot }},
		{tiers.Inbox, 192 << 10, []string{"Fields"}, func(v shown) bool { return v.Pictures < want.Pictures }},
	} {
		t.Run(c.tier.String(), func(t *testing.T) {
			cfg := roomy()
			cfg.Memory.Budget[c.tier] = c.budget
			cfg.Log = func(error) {} // pictures that are not shown
			s := newSession(t, cfg)
			play(t, s, ticks)
			have := show(s)
			if have == want || !c.missed(have) {
				t.Errorf("nobody notices: %+v, want less than %+v", have, want)
			}
			if same := s.Game.Hash() == hash; same != (c.tier == tiers.Static) { // only the view is short there
				t.Errorf("the hash is that of a full tier: %t", same)
			}
			for _, name := range c.names {
				if lost(&s.Game.Lost, name) == 0 {
					t.Errorf("%s is not lost: %+v", name, s.Game.Lost)
				}
			}
			t.Logf("%+v, lost %+v", have, s.Game.Lost)
			check(t, s)
		})
	}
}
