package overlay

import (
	"errors"
	"fmt"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/tiers"
)

// faults holds tiers to the pages that they have.
type faults struct {
	on   bool
	done [tiers.Count]bool // tiers whose budget was changed
	was  [tiers.Count]uint64
	held [tiers.Count]uint64 // what it was changed to
}

// Starve holds every tier but the workers' to the pages that it has, so that the game shows what it does
// where there is no more memory, or gives them back the budgets that they had; one that was raised meanwhile
// stays. The workers' tier is left alone: its budget is shared by goroutines. The error says that the
// manager is closed, and then nothing is held.
func (o *Overlay) Starve(on bool) error {
	f := &o.faults
	if on == f.on {
		return nil
	}
	if o.closed() {
		*f = faults{} // the budgets went with the manager
		if on {
			return fmt.Errorf("overlay: no faults: %w", memory.ErrClosed)
		}
		return nil
	}
	var s tiers.Snapshot
	o.m.Snapshot(&s)
	if on {
		return o.hold(&s)
	}
	var failed error
	for t := range tiers.Tier(tiers.Count) {
		// Two overlays may hold a tier: the budget that the first one gave back is not the second's to change.
		if f.done[t] && s.Tiers[t].Budget <= f.held[t] {
			failed = errors.Join(failed, o.m.SetBudget(t, uintptr(f.was[t])))
		}
	}
	*f = faults{}
	return failed
}

// hold sets the budgets; s is how they are.
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
