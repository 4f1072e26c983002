package tiers_test

import (
	"math/rand/v2"
	"testing"

	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/tiers"
)

// A manager that plays other frames in between, and loads, goes on as one that never left.
func TestManager_DetoursLeaveNoTrace(t *testing.T) {
	type moment struct {
		slot  *save.Slot
		model savedModel
	}
	for seed := range uint64(12 / testenv.Step(6)) {
		loaded, straight := newSavedGame(t, tiers.Config{}), newSavedGame(t, tiers.Config{})
		chaos := rand.New(rand.NewPCG(seed, 77))
		var ring []moment
		for round := range 10 {
			for _, g := range []*savedGame{loaded, straight} {
				g.rng = rand.New(rand.NewPCG(seed, uint64(round)))
				for range 5 {
					g.frame()
				}
				g.verify()
			}
			for i := range tiers.Tier(tiers.Count) {
				a, b := loaded.m.Stats(i), straight.m.Stats(i)
				if i == tiers.Frame {
					continue // it is not saved
				}
				a.Reserved, b.Reserved = 0, 0 // on 32 bits the second manager finds less address space
				if a != b {
					t.Fatalf("seed %d, round %d: after loads the tier %v has %+v, without %+v", seed, round, i, a, b)
				}
			}
			if a, b := loaded.tag.Stats(), straight.tag.Stats(); a != b {
				t.Fatalf("seed %d, round %d: after loads the tag has %+v, without %+v", seed, round, a, b)
			}
			for i, b := range straight.model.blocks {
				a := loaded.model.blocks[i]
				if a.size != b.size || (uintptr(a.p)-uintptr(b.p))%page.BaseAlign != 0 {
					t.Fatalf("seed %d, round %d: after loads block %d of %d bytes is at %p, without at %p", seed, round, i, b.size, a.p, b.p)
				}
			}
			ring = append(ring[max(0, len(ring)-9):], moment{loaded.save(), loaded.model.clone()})
			now := ring[len(ring)-1]
			load := func(m moment) {
				if err := loaded.set.Load(m.slot); err != nil {
					t.Fatal(err)
				}
				loaded.model = m.model.clone()
				loaded.verify()
			}
			for range chaos.IntN(4) {
				loaded.rng = chaos
				for range chaos.IntN(25) {
					loaded.frame()
				}
				if chaos.IntN(2) == 0 {
					load(ring[chaos.IntN(len(ring))])
				}
			}
			load(now)
		}
	}
}
