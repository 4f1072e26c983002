package main

import (
	"testing"
	"time"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/session"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/tiers"
)

// hot plays at full heat with the ground, under the budgets of the program or the given shares of them.
func hot(t *testing.T, realm string, ticks uint64, shares budgets) *session.Session {
	t.Helper()
	o := options{headless: true, particles: 20_000, heat: game.HeatMost, seed: 7, realm: realm, budget: shares, autopilot: true}
	cfg := o.session()
	cfg.FS, cfg.View, cfg.Log = assets.FS(), session.NewStandIn(), func(error) {}
	s, err := session.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	for s.Game.Ticks < ticks {
		if err := s.Frame(engine.Input{}); err != nil {
			t.Fatal(err)
		}
		if !s.Playing() {
			time.Sleep(50 * time.Microsecond)
		}
	}
	return s
}

func TestBudgetOf_NewTierHasNoLimit(t *testing.T) {
	row := uses[tiers.Inbox]
	uses[tiers.Inbox] = tierUse{}
	defer func() { uses[tiers.Inbox] = row }()
	if b := new(options).budgetOf(tiers.Inbox); b != 0 {
		t.Errorf("a tier that is not in the table has a budget of %d bytes; 0 is no limit", b)
	}
}

// Bars, warnings and -budget mean something if budgets follow use.
func TestBudgets_AreAboutTwiceThePeak(t *testing.T) {
	testenv.Longest(t)
	s := hot(t, "ember", 2100, budgets{})
	var snap tiers.Snapshot
	s.Mem.Snapshot(&snap)
	for _, x := range snap.Tiers {
		ratio := float64(x.Budget) / float64(x.Peak)
		t.Logf("%-7v peak %9d, budget %9d: %.2f", x.Tier, x.Peak, x.Budget, ratio)
		if ratio < 1.3 || ratio > 4 {
			t.Errorf("%v: the budget is %.2f times the peak of %d bytes", x.Tier, ratio, x.Peak)
		}
	}
	if s.Game.Lost != (game.Lost{}) {
		t.Errorf("lost %+v", s.Game.Lost)
	}
}

// Half of a tier's budget is a shortage that is named, and costs nothing but what it names. It comes when the horde has
// so many enemies. If only the view is short the hash is that of a full tier.
func TestBudgets_HalfOfEachTierHasANamedEffect(t *testing.T) {
	testenv.Longest(t)
	const soon = 240 // ticks
	hash := hot(t, "ember", soon, budgets{}).Game.Hash()
	for _, c := range []struct {
		tier  tiers.Tier
		ticks uint64
		lost  game.Lost // which counts are not 0
		view  bool      // only the view is short
	}{
		{tiers.Static, soon, game.Lost{Quads: 1}, true}, {tiers.Frame, 1500, game.Lost{Crowds: 1}, false}, {tiers.Level, soon, game.Lost{Walls: 1}, false},
		{tiers.Pools, 1200, game.Lost{Enemies: 1}, false}, {tiers.Slab, 1500, game.Lost{Ribbons: 1, Marks: 1}, false},
		{tiers.Large, soon, game.Lost{Soot: 1}, true}, {tiers.Inbox, soon, game.Lost{}, true},
	} {
		t.Run(c.tier.String(), func(t *testing.T) {
			var shares budgets
			shares[c.tier] = 0.5
			s := hot(t, "ember", c.ticks, shares)
			lost, want := s.Game.Lost.Counts(), c.lost.Counts()
			for i, n := range lost {
				if n > 0 != (want[i] > 0) {
					t.Errorf("%d of %s: lost %+v", n, game.LostNames[i], s.Game.Lost)
				}
			}
			if c.tier == tiers.Inbox && s.Ground.Missing() == 0 {
				t.Error("no sector of the ground is missing")
			}
			if c.view && s.Game.Hash() != hash {
				t.Error("the view is short, and the hash another one")
			}
		})
	}
}
