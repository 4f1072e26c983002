package freelist

import (
	"testing"

	"github.com/strata-go/strata/memory/internal/findings"
	"github.com/strata-go/strata/memory/memtest"
)

// Whatever bit of the metadata flips, Check names it or tolerates it, and ends.
func TestCheck_EveryFlippedBitIsNamedOrTolerated(t *testing.T) {
	for _, policy := range policies {
		t.Run(policy.String(), func(t *testing.T) {
			h := holes(t, policy)
			flips := memtest.EveryBit(t, h.Check, h)
			const figures = 3 * 64 // of page.Granted, of which every value is right
			if share := float64(flips.Named) / float64(flips.Flipped-figures); share < 0.75 {
				t.Errorf("of %d flipped bits in %d integers only %.0f %% were named", flips.Flipped, flips.Integers, 100*share)
			}
		})
	}
}

func TestCheck_ReportsFewFaultsAtMost(t *testing.T) {
	h := newHeap(t, nil, Config{Reserve: 16 << 10})
	for range 256 {
		memtest.MustAlloc(t, h, 64, 1)
	}
	err := corrupted(h, func() {
		for g := range h.live {
			h.live[g] += 64
		}
	})
	if joined, ok := err.(interface{ Unwrap() []error }); !ok || len(joined.Unwrap()) != findings.Most+1 {
		t.Errorf("%v", err)
	}
}
