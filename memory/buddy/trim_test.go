package buddy

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/page"
)

// Trim may come at any moment, and what it returned may be committed again.
func TestTrim_AnywhereInARandomProgram(t *testing.T) {
	for _, system := range systems {
		rng := rand.New(rand.NewPCG(7, 11))
		h := newHeap(t, nil, Config{Reserve: 512 << 10, System: system})
		var live []unsafe.Pointer
		for step := range 1500 {
			if grow := step/150%2 == 0; rng.IntN(8) > 2 == grow {
				if p, err := h.Alloc(uintptr(rng.UintN(8000)), 1<<rng.IntN(13)); err == nil {
					live = append(live, p)
				}
			} else if len(live) > 0 {
				i := rng.IntN(len(live))
				h.FreeAny(live[i])
				live = slices.Delete(live, i, i+1)
			}
			if step%9 == 0 {
				if err := h.Trim(); err != nil {
					t.Fatal(err)
				}
				if s := h.Stats(); s.Committed > uint64(align.Up(h.grain.Bytes(h.tail()), page.Granule)) {
					t.Fatalf("%d bytes committed, everything behind unit %d is free", s.Committed, h.tail())
				}
				mustCheck(t, h)
			}
		}
	}
}
