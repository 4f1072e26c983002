package game

import (
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/tiers"
)

// roomy is what the window's game has, and the quads that it draws.
func roomy() SessionConfig {
	m := small
	m.Reserve[tiers.Static] = 24 << 20
	m.Reserve[tiers.Frame] = 8 << 20
	m.Reserve[tiers.Slab] = 16 << 20
	m.Reserve[tiers.Large] = 64 << 20
	return SessionConfig{Game: Config{Seed: 7, Heat: HeatMost, Quads: 150_000}, Memory: m}
}

// What the tiers carry at full heat, on autopilot: the game needs them, it does not decorate itself
// with them.
func TestTraffic_AtFullHeatEveryTierCarriesWhatTheGameIsFor(t *testing.T) {
	s := newSession(t, roomy())
	play(t, s, 1500) // until the horde is there
	before := s.Traffic()
	least, most := ^uintptr(0), uintptr(0) // blocks of the large tier
	var shapes [enemyShapes]int            // how often they were seen to change
	was := before.Shapes
	entities := before.Entities
	for range 600 {
		play(t, s, 1)
		now := s.Traffic()
		for k := range shapes {
			if now.Shapes[k] != was[k] {
				shapes[k]++
			}
		}
		was, entities = now.Shapes, max(entities, now.Entities)
		s.Mem.LevelBlocks(func(p unsafe.Pointer, size uintptr) bool {
			if tier, ok := s.Mem.TierOf(p); ok && tier == tiers.Large {
				least, most = min(least, size), max(most, size)
			}
			return true
		})
	}
	now := s.Traffic()
	slab, large, inbox := now.PerSecond(tiers.Slab, &before), now.PerSecond(tiers.Large, &before), now.PerSecond(tiers.Inbox, &before)
	t.Logf("%d entities, %v changes of shapes; static saves %.0f %%; frame %d bytes; level %d bytes; slab %.0f a second, %d live, %d classes; large %.0f a second, %d to %d bytes; inbox %.0f a second",
		entities, shapes, 100*now.Saves(), now.FrameBytes, now.LevelBytes, slab, now.SlabLive, now.SlabClasses, large, least, most, inbox)
	for _, c := range []struct {
		what        string
		have, least float64
	}{
		{"static: share that overlapping saves", now.Saves(), 0.30},
		{"frame: bytes in one", float64(now.FrameBytes), 1 << 20},
		{"level: bytes", float64(now.LevelBytes), 2 << 20},
		{"pools: entities", float64(entities), 20_000},
		{"slab: allocations a second", slab, 2000},
		{"slab: live blocks", float64(now.SlabLive), 20_000},
		{"slab: classes in use", float64(now.SlabClasses), 10},
		{"large: allocations a second", large, 20},
		{"inbox: blocks a second", inbox, 100},
	} {
		if c.have < c.least {
			t.Errorf("%s: %.2f, want at least %.2f", c.what, c.have, c.least)
		}
	}
	for k, n := range shapes {
		if n < 5 {
			t.Errorf("component %d came or went in %d of 600 ticks", k, n)
		}
	}
	if least > 4<<10 || most < 8<<20 {
		t.Errorf("large blocks are %d to %d bytes", least, most)
	}
	if s.Game.Lost != (Lost{}) {
		t.Errorf("lost %+v", s.Game.Lost)
	}
	check(t, s)
}
