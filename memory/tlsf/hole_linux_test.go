package tlsf

import (
	"testing"

	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
)

// Up to maxDrops holes are returned, and the process has no mapping more for them. Before, it was 256 holes.
func TestHeap_TrimStepSplitsNoMapping(t *testing.T) {
	const holes = maxDrops + 100
	unit := page.SizeOf(page.OS())
	size, reserve := 2*unit, 5*holes*unit
	limit := page.NewLimit(page.OS(), 0)
	h, err := New(limit, Config{Reserve: reserve})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	var all []piece
	for range 2 * holes {
		all = append(all, alloc(t, h, size))
	}
	for i := 1; i < len(all); i += 2 {
		h.Free(all[i].p, size)
	}
	full := limit.Committed()
	for n := uintptr(1); n > 0; {
		if n, err = h.TrimStep(128 << 10); err != nil {
			t.Fatal(err)
		}
	}
	if h.drops != maxDrops || full-limit.Committed() < maxDrops*unit {
		t.Errorf("%d holes, %d bytes were returned", h.drops, full-limit.Committed())
	}
	if n := testenv.Mappings(t, h.Base(), reserve); n > 3 && !invariant.Debug {
		t.Errorf("%d mappings", n)
	}
	sound(t, h, limit)
	for i := 1; i < len(all); i += 2 {
		alloc(t, h, size)
	}
	sound(t, h, limit)
}
