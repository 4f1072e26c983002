package overlay

import (
	"testing"

	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/tiers"
)

func TestStarve_NoTierGetsAnotherPageAndTheBudgetsComeBackExactly(t *testing.T) {
	var mem tiers.Config
	mem.Budget[tiers.Slab], mem.Budget[tiers.Large] = 3<<20+12345, 5<<20
	g := newGame(t, 60, mem, Config{})
	budgets := func() (all [tiers.Count]uint64) {
		var s tiers.Snapshot
		g.m.Snapshot(&s)
		for k := range all {
			all[k] = s.Tiers[k].Budget
		}
		return all
	}
	before := budgets()
	g.press(3, 8)
	g.want("FAULTS: no tier gets another page")
	if _, err := g.m.Alloc(1<<20, 16); err == nil {
		t.Error("large has got pages")
	}
	must(t, g.o.Starve(true)) // it is on
	g.press(8)
	if got := budgets(); got != before {
		t.Errorf("budgets were %v and are %v", before, got)
	}
	g.wantNot("FAULTS")
	p, err := g.m.Alloc(1<<20, 16)
	must(t, err)
	g.m.Free(p, 1<<20)
	must(t, g.o.Starve(true))
	must(t, g.o.Close())
	if got := budgets(); got != before {
		t.Errorf("after Close budgets are %v", got)
	}
}

func TestStarve_TwoOverlaysGiveTheBudgetsBackInEitherOrder(t *testing.T) {
	for first := range 2 {
		g := newGame(t, 60, tiers.Config{}, Config{})
		p, err := g.m.Alloc(8<<20, 16)
		must(t, err)
		both := [2]*Overlay{g.o}
		both[1], err = New(g.m, Config{})
		must(t, err)
		var before, after tiers.Snapshot
		g.m.Snapshot(&before)
		must(t, both[0].Starve(true))
		g.m.Free(p, 8<<20) // the second one finds less committed
		must(t, g.m.Large().Trim())
		must(t, both[1].Starve(true))
		must(t, both[first].Starve(false))
		must(t, both[1-first].Starve(false))
		g.m.Snapshot(&after)
		for k := range after.Tiers {
			if after.Tiers[k].Budget != before.Tiers[k].Budget {
				t.Errorf("overlay %d first: the budget of %v was %d and is %d", first, tiers.Tier(k), before.Tiers[k].Budget, after.Tiers[k].Budget)
			}
		}
	}
}

func TestStarve_ABudgetThatTheGameRaisesMeanwhileStays(t *testing.T) {
	g := newGame(t, 60, tiers.Config{}, Config{})
	must(t, g.o.Starve(true))
	must(t, g.m.SetBudget(tiers.Slab, 5<<20))
	must(t, g.o.Starve(false))
	var s tiers.Snapshot
	if g.m.Snapshot(&s); s.Tiers[tiers.Slab].Budget != 5<<20 || s.Tiers[tiers.Large].Budget != 64<<20 {
		t.Errorf("slab has %d, large %d", s.Tiers[tiers.Slab].Budget, s.Tiers[tiers.Large].Budget)
	}
}

// Memory that the source does not take back is shown once for each failure, if the overlay is open.
func TestNote_MemoryThatIsNotReturnedIsShown(t *testing.T) {
	src := memtest.NewFaulty()
	g := newGame(t, 60, tiers.Config{Source: struct{ page.Source }{src}, ReturnAfter: 120}, Config{Watch: true})
	p, err := g.m.Alloc(8<<20, 16)
	must(t, err)
	g.run(0.5, nil)
	g.m.Free(p, 8<<20)
	src.FailReturns = true
	g.run(3, nil)
	if n, _ := g.m.Inspect().ReturnErr(); n == 0 || g.o.note.text != "" {
		t.Fatalf("%d failures, and nothing is open: %q", n, g.o.note.text)
	}
	g.only(int(Strip))
	g.run(0.5, nil)
	g.want("memory not returned: tiers: large: tlsf: ")
	src.FailReturns = false
	g.run(4, nil)
	g.wantNot("memory not returned")
}
