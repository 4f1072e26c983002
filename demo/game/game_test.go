package game

import (
	"strings"
	"testing"

	"github.com/strata-go/strata/demo/goheap"
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/tiers"
)

func TestGame_ClockStopsWithThePlayer(t *testing.T) {
	testenv.Long(t)
	h := newGame(t, Config{Seed: 3, Enemies: 500})
	h.hand = idle
	if !h.until(t, 3000, over) {
		t.Fatal("500 drifters do not hurt a player who stands still")
	}
	died := h.Played
	h.play(t, 120)
	if h.Played != died || died == 0 {
		t.Errorf("the player lived %d ticks, and two seconds after the end %d", died, h.Played)
	}
	h.spin = 3
	h.Restart()
	if h.Played != 0 || h.Cooldowns != (Cooldowns{}) {
		t.Errorf("after a restart the clock is at %d, and the gifts at %+v", h.Played, h.Cooldowns)
	}
}

func TestGame_ReliefAndLevelEndFreeTheChunks(t *testing.T) {
	h := newGame(t, Config{Seed: 7})
	for h.Ticks < 100 || h.Ticks < 1100 && h.cast.world.Stats().SpareChunks == 0 {
		h.play(t, 1)
	}
	before, held := h.Hash(), h.cast.chunks.Stats()
	h.Relieve()
	if st := h.cast.world.Stats(); st.SpareChunks != 0 || h.Hash() != before || h.cast.chunks.Stats().InUse >= held.InUse {
		t.Errorf("%+v; %d bytes of chunks after %d", st, h.cast.chunks.Stats().InUse, held.InUse)
	}
	if !testenv.Brief() { // the hash that is compared is that after 1,200 ticks
		h.play(t, 1200-h.Ticks)
		if x := h.Hash(); x != golden {
			t.Errorf("hash %#x: the simulation noticed", x)
		}
	}
	h.play(t, 1)
	h.check(t)
	if leaks := h.end(t); leaks.Any() {
		t.Errorf("%+v", leaks)
	}
	if st := h.cast.world.Stats(); st.Chunks != 0 || h.cast.chunks.Stats().InUse != 0 {
		t.Errorf("%+v", st)
	}
}

func TestGame_GuardReportsTheCallSiteOfALeak(t *testing.T) {
	m, err := tiers.New(small())
	done(t, err)
	defer func() { done(t, m.Close()) }()
	g, err := New(m, Config{Seed: 7, Guard: true})
	done(t, err)
	_, err = g.store.guard.Alloc(100, 16)
	done(t, err)
	if err := g.Close(); err == nil || !strings.Contains(err.Error(), "game_test.go") {
		t.Errorf("a leak is reported as %v; want its call site", err)
	}
}

// Without space for the search or for its fields the horde comes in straight lines.
func TestGame_WithoutSpaceForFieldsThereAreNone(t *testing.T) {
	for tier, budget := range map[tiers.Tier]uintptr{tiers.Large: 1, tiers.Inbox: page.Granule} {
		m := small()
		m.Budget[tier] = budget
		h := newHost(t, Config{Seed: 7}, m, "ember")
		if h.play(t, 60); h.horde.flow.Field(laneDirect) != nil || h.Lost.Fields == 0 {
			t.Errorf("%v: lost %+v", tier, h.Lost)
		}
		h.check(t)
	}
	h := newGame(t, Config{Seed: 7})
	if h.play(t, 60); h.horde.flow.Field(laneDirect) == nil || h.Lost.Fields != 0 {
		t.Errorf("with space for all lost %+v", h.Lost)
	}
}

func TestHash_IsTheSameInAnyHeap(t *testing.T) {
	testenv.Long(t)
	want := newGame(t, Config{Seed: 7, Heat: 5}).hashes(t, 150)
	for _, cfg := range []Config{{Heap: goheap.Plain{}}, {Heap: new(goheap.Pooled), Reuse: true}} {
		cfg.Seed, cfg.Heat = 7, 5
		h := newGame(t, cfg)
		for i, x := range h.hashes(t, len(want)) {
			if x != want[i] {
				t.Fatalf("%T, tick %d: hash %x, and %x in tiers", cfg.Heap, i+1, x, want[i])
			}
		}
		h.check(t)
	}
}

// A static tier that is too small for the drawing is a fact of the view. So is a large tier too small for soot.
func TestHash_IsTheSameIfOnlyTheViewIsShort(t *testing.T) {
	cfg := Config{Seed: 7, Heat: 5, Quads: 8192}
	want := newGame(t, cfg).hashes(t, 60)
	m := small()
	m.Budget[tiers.Static] = 64 << 10
	h := newHost(t, cfg, m, "ember")
	h.soot.reset()
	h.Lost.Soot++
	for i, x := range h.hashes(t, len(want)) {
		if x != want[i] {
			t.Fatalf("tick %d: hash %x, and %x with a full view", i+1, x, want[i])
		}
	}
	if h.Lost.Quads == 0 {
		t.Errorf("the view is not short: lost %+v", h.Lost)
	}
	h.check(t)
}

// The ring of a seal that breaks in the player's last moment stopped, and killed whatever came into it until the end.
func TestSiege_RingEndsInEveryPhase(t *testing.T) {
	s := newStage(t)
	for _, p := range []Phase{Fighting, Opened, Over} {
		s.clear()
		s.ripple(middle)
		s.enter(p)
		s.Player.P = off(900, 0)
		for range 60 {
			s.frame(t, engine.Input{})
		}
		late := s.enemy(realm.Drifter, 100, 0)
		s.frame(t, engine.Input{})
		if _, radius := s.Ripple(); radius != 0 || !s.cast.world.Alive(late) {
			t.Errorf("phase %d: after a second the ring has a radius of %v; an enemy inside lives: %v", p, radius, s.cast.world.Alive(late))
		}
	}
	s.end(t)
}
