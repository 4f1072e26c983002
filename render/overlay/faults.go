package overlay

import (
	"errors"

	"github.com/strata-go/strata/memory/tiers"
)

// faults holds tiers to the pages that they have.
type faults struct {
	on   bool
	done uint8 // bit t: the budget of tier t was changed
	was  [tiers.Count]uint64
}

// Starve holds the tiers static to large to the pages that they have, so that the game shows what it does
// where there is no more memory, or gives them back the budgets that they had; one that was set meanwhile
// is lost. The workers' tier is left alone: its budget is shared by goroutines. The error says that the
// manager is closed, and then nothing is held.
func (o *Overlay) Starve(on bool) error {
	f := &o.faults
	if on == f.on {
		return nil
	}
	var failed error
	if on {
		var s tiers.Snapshot
		o.m.Snapshot(&s)
		for t := range tiers.Inbox {
			if err := o.m.SetBudget(t, 1); err != nil {
				failed = errors.Join(failed, err)
				continue
			}
			f.was[t], f.done = s.Tiers[t].Budget, f.done|1<<t
		}
		f.on = f.done != 0
		return failed
	}
	for t := range tiers.Inbox {
		if f.done&(1<<t) != 0 && !o.closed() {
			failed = errors.Join(failed, o.m.SetBudget(t, uintptr(f.was[t])))
		}
	}
	*f = faults{}
	return failed
}
