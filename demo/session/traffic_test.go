package session

import (
	"testing"
	"unsafe"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/memory/tiers"
)

// roomy is what the window's game has, and the quads that it draws.
func roomy() Config {
	m := small
	m.Reserve[tiers.Static] = 24 << 20
	m.Reserve[tiers.Frame] = 8 << 20
	m.Reserve[tiers.Slab] = 16 << 20
	m.Reserve[tiers.Large] = 64 << 20
	return Config{Game: game.Config{Seed: 7, Heat: game.HeatMost, Quads: 150_000}, Memory: m}
}

// A table is what the tiers were seen to carry since a moment: rates are those of all of that time, and what is
// alive at once, of shapes that change, and of sizes is the most that was seen.
type table struct {
	since, now Traffic
	live       uint64 // blocks of the slab
	classes    int
	entities   int
	changes    [game.StatusKinds]int // ticks in which they were seen to be more or fewer
	sizes      [2]uintptr            // of blocks of the large tier, least and most
}

// watchTraffic begins a table. It looks between ticks, and takes nothing of the Go heap.
func watchTraffic(s *Session) *table {
	w := &table{since: s.Traffic(), sizes: [2]uintptr{^uintptr(0), 0}}
	w.now = w.since
	return w
}

// look is called after every tick.
func (w *table) look(s *Session) {
	now := s.Traffic()
	for k := range w.changes {
		if now.Statuses[k] != w.now.Statuses[k] {
			w.changes[k]++
		}
	}
	w.now, w.entities = now, max(w.entities, now.Entities)
	w.live, w.classes = max(w.live, now.SlabLive), max(w.classes, now.SlabClasses)
	s.Mem.Inspect().LevelBlocks(func(p unsafe.Pointer, size uintptr) bool {
		if tier, ok := s.Mem.Inspect().TierOf(p); ok && tier == tiers.Large {
			w.sizes = [2]uintptr{min(w.sizes[0], size), max(w.sizes[1], size)}
		}
		return true
	})
}

// holds asserts that the tiers carried what the game is for, and says what it was.
func (w *table) holds(t *testing.T) {
	t.Helper()
	now, of := &w.now, w.now.Ticks-w.since.Ticks
	slab, large, inbox := now.PerSecond(tiers.Slab, &w.since), now.PerSecond(tiers.Large, &w.since), now.PerSecond(tiers.Inbox, &w.since)
	t.Logf("in %d ticks: %d entities, %v changes of shapes; static saves %.0f %%; frame %d bytes; level %d bytes; slab %.0f a second, %d live, %d classes; large %.0f a second, %d to %d bytes; inbox %.0f a second",
		of, w.entities, w.changes, 100*now.Saves(), now.FrameBytes, now.LevelBytes, slab, w.live, w.classes, large, w.sizes[0], w.sizes[1], inbox)
	for _, c := range []struct {
		what        string
		have, least float64
	}{
		{"static: share that overlapping saves", now.Saves(), 0.30},
		{"frame: bytes in one", float64(now.FrameBytes), 1 << 20},
		{"level: bytes", float64(now.LevelBytes), 2 << 20},
		{"pools: entities", float64(w.entities), 20_000},
		{"slab: allocations a second", slab, 2000},
		{"slab: live blocks", float64(w.live), 20_000},
		{"slab: classes in use", float64(w.classes), 10},
		{"large: allocations a second", large, 20},
		{"inbox: blocks a second", inbox, 100},
	} {
		if c.have < c.least {
			t.Errorf("%s: %.2f, want at least %.2f", c.what, c.have, c.least)
		}
	}
	for k, n := range w.changes {
		if uint64(n) < max(of/120, 1) {
			t.Errorf("component %d came or went in %d of %d ticks", k, n, of)
		}
	}
	if w.sizes[0] > 4<<10 || w.sizes[1] < 8<<20 {
		t.Errorf("large blocks are %d to %d bytes", w.sizes[0], w.sizes[1])
	}
}

const hordeComes = 1500 // ticks until the horde is there, at full heat
