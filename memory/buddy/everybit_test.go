package buddy

import (
	"testing"

	"github.com/strata-go/strata/memory/internal/findings"
	"github.com/strata-go/strata/memory/memtest"
)

// Whatever bit of the entries flips, Check names it or tolerates it, and ends.
func TestCheck_EveryFlippedBitIsNamedOrTolerated(t *testing.T) {
	for _, system := range systems {
		t.Run(system.String(), func(t *testing.T) {
			h := furnished(t, system)
			entries := []any{h}
			met := map[state]int{}
			for at := range h.entries {
				if e := &h.entries[at]; met[e.state] < 5 { // a few in each state, beside those that EveryBit picks
					met[e.state]++
					entries = append(entries, e)
				}
			}
			flips := memtest.EveryBit(t, h.Check, entries...)
			if share := float64(flips.Named) / float64(flips.Flipped); share < 0.5 || met[free] == 0 || met[live|handed] == 0 {
				t.Errorf("of %d flipped bits in %d integers only %.0f %% were named; entries by state: %v", flips.Flipped, flips.Integers, 100*share, met)
			}
		})
	}
}

func TestCheck_ReportsFewFaultsAtMost(t *testing.T) {
	h := furnished(t, Binary)
	err := corrupted(h, func() {
		for at := range h.entries {
			h.entries[at].state ^= handed
		}
	})
	if joined, ok := err.(interface{ Unwrap() []error }); !ok || len(joined.Unwrap()) != findings.Most+1 {
		t.Errorf("%v", err)
	}
}
