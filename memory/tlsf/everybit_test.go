package tlsf

import (
	"testing"

	"github.com/strata-go/strata/memory/internal/findings"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// Whatever bit of the books flips, Check names it or tolerates it, and ends.
func TestCheck_EveryFlippedBitIsNamedOrTolerated(t *testing.T) {
	for name, quick := range map[string]bool{"eager": false, "quick": true} {
		t.Run(name, func(t *testing.T) {
			h := furnished(t)
			if !quick { // the same heap, with nothing that waits
				h.flushQuick()
				h.quick, h.config.QuickBytes = nil, 0
				memtest.MustCheck(t, h)
			}
			books := []any{h}
			met := map[state]int{}
			for i := range h.blocks {
				if x := &h.blocks[i]; met[x.state] < 4 { // a few in each state, beside those that EveryBit picks
					met[x.state]++
					books = append(books, x)
				}
			}
			for k := range h.poolCount {
				books = append(books, &h.blocks[h.blocks[k].prev])
			}
			for _, starts := range [][]uint32{h.pools[0].starts[:24], h.pools[0].starts[24:48]} { // of what is committed
				books = append(books, &starts)
			}
			flips := memtest.EveryNthBit(t, testenv.Step(4), h.Check, books...)
			if share := float64(flips.Named) / float64(flips.Flipped); share < 0.5 {
				t.Errorf("of %d flipped bits in %d integers only %.0f %% were named", flips.Flipped, flips.Integers, 100*share)
			}
			t.Logf("%+v, blocks by state %v", flips, met)
		})
	}
}

func TestCheck_ReportsFewFaultsAtMost(t *testing.T) {
	h := furnished(t)
	err := corrupted(h, func() {
		for i := range h.blocks {
			h.blocks[i].bin += 3
			h.blocks[i].prevFree++
		}
	})
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || len(joined.Unwrap()) != findings.Most+1 {
		t.Errorf("%v", err)
	}
}
