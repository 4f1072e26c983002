//go:build memdebug || race

package freelist

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
)

// poisoned reports the first byte of free memory that is not filled as such.
func poisoned(h *Heap) error {
	for _, r := range h.runs {
		if i, ok := invariant.Intact(unsafe.Add(h.base, h.grain.Bytes(r.off)), h.grain.Bytes(r.size)); !ok {
			return fmt.Errorf("byte %d of the run at granule %d is not poisoned", i, r.off)
		}
	}
	return nil
}

// Every byte of free memory is poisoned, whatever road it took: fresh, freed, split, merged,
// reset, trimmed and committed again.
func TestPoison_CoversAllThatIsFree(t *testing.T) {
	for _, kind := range policies {
		h := newHeap(t, nil, Config{Reserve: 512 << 10, Policy: kind})
		memtest.Poisoned(t, h, func() error { return poisoned(h) })
	}
}

func TestPoison_AWriteToFreeMemoryIsToldByTheNextAlloc(t *testing.T) {
	for _, kind := range policies {
		for _, at := range []uintptr{0, 17, 250, 255} {
			h := newHeap(t, nil, Config{Reserve: 64 << 10, Policy: kind})
			memtest.MustAlloc(t, h, 256, 1)
			p := memtest.MustAlloc(t, h, 250, 16)
			h.Free(p, 250)
			h.rover = 0
			memtest.WriteIsTold(t, h, p, 250, 16, at, "freelist.Alloc", fmt.Sprintf("byte %d of 256 free bytes was written, with 0x41", at))
		}
	}
}

func TestPoison_AnOverflowIntoFreeMemoryIsToldByResize(t *testing.T) {
	memtest.OverflowIsToldByResize(t, newHeap(t, nil, Config{Reserve: 64 << 10}), "freelist.Resize")
}
