package game

import (
	"testing"

	"github.com/strata-go/strata/memory/tiers"
)

// What the tiers carry at full heat, on autopilot: the game needs them, it does not decorate itself
// with them.
func TestSession_TrafficAtFullHeat(t *testing.T) {
	m := small
	m.Reserve[tiers.Slab] = 16 << 20
	s := newSession(t, SessionConfig{Game: Config{Seed: 7, Heat: HeatMost}, Memory: m})
	play(t, s, 900)
	var before, after tiers.Snapshot
	s.Mem.Snapshot(&before)
	const seconds = 10
	frame := uintptr(0)
	for range 60 * seconds {
		play(t, s, 1)
		frame = max(frame, s.Mem.Frame().Used())
	}
	s.Mem.Snapshot(&after)
	rate := func(tier tiers.Tier) float64 {
		return float64(after.Tiers[tier].Allocs-before.Tiers[tier].Allocs) / seconds
	}
	live := after.Tiers[tiers.Slab].Allocs - after.Tiers[tiers.Slab].Frees
	t.Logf("%d enemies, %d kills; frame %d bytes, level %d bytes, slab %.0f allocations a second and %d live, large %.1f a second, inbox %.1f a second",
		s.Game.Enemies(), s.Game.Kills, frame, after.Tiers[tiers.Level].InUse, rate(tiers.Slab), live, rate(tiers.Large), rate(tiers.Inbox))
	if frame < 512<<10 || after.Tiers[tiers.Level].InUse < 2<<20 || rate(tiers.Slab) < 500 || live < 10_000 || rate(tiers.Large) < 5 || rate(tiers.Inbox) < 3 {
		t.Error("a tier carries less than the game is for")
	}
	if s.Game.Lost.Grids+s.Game.Lost.Enemies+s.Game.Lost.Ribbons+s.Game.Lost.Fields > 0 {
		t.Errorf("lost %+v", s.Game.Lost)
	}
	check(t, s)
}
