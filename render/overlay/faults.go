package overlay

import (
	"errors"
	"fmt"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/tiers"
)

// faults limits tiers to the pages that they have.
type faults struct {
	on   bool
	done [tiers.Count]bool // tiers whose budget was changed
	was  [tiers.Count]uint64
	held [tiers.Count]uint64 // the budget it was changed to
}

// Starve(true) sets the budget of each tier to the tier's committed pages, to test how the game behaves without more
// memory. The tier Inbox is not limited, because the workers share its budget. Starve(false) restores the former
// budgets, except budgets that were raised after Starve(true). A repeated call does nothing and returns nil.
//
// If the manager is closed, or a Close of it has failed, Starve(true) returns an error that wraps memory.ErrClosed, and
// Starve(false) returns nil. Other errors are errors of [tiers.Manager.SetBudget], joined. Tiers without such an error
// are limited or restored.
func (o *Overlay) Starve(on bool) error {
	f := &o.faults
	if on == f.on {
		return nil
	}
	var s tiers.Snapshot
	o.m.Snapshot(&s)
	set := o.restore
	if on {
		set = o.hold
	}
	err := set(&s)
	if !errors.Is(err, memory.ErrClosed) {
		return err
	}
	*f = faults{} // the budgets went with the manager
	if on {
		return fmt.Errorf("overlay: no faults: %w", memory.ErrClosed)
	}
	return nil
}

// restore restores the budgets; s has the present ones.
func (o *Overlay) restore(s *tiers.Snapshot) (failed error) {
	f := &o.faults
	for t := range tiers.Tier(tiers.Count) {
		// Two overlays may limit a tier: the second must not change the budget that the first one restored.
		if f.done[t] && s.Tiers[t].Budget <= f.held[t] {
			failed = errors.Join(failed, o.m.SetBudget(t, uintptr(f.was[t])))
		}
	}
	*f = faults{}
	return failed
}

// hold limits the budgets; s has the present ones.
func (o *Overlay) hold(s *tiers.Snapshot) (failed error) {
	f := &o.faults
	for t := range tiers.Tier(tiers.Count) {
		if t.Info().PerWorker {
			continue
		}
		if err := o.m.SetBudget(t, 1); err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		f.was[t], f.done[t], f.on = s.Tiers[t].Budget, true, true
	}
	o.m.Snapshot(s)
	for t := range s.Tiers {
		f.held[t] = s.Tiers[t].Budget
	}
	return failed
}
