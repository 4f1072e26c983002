//go:build memdebug || race

package buddy

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
)

// poisoned reports the first byte of free memory that is not filled as such.
func poisoned(h *Heap) error {
	for at := uint32(0); at < h.committed(); {
		b := h.blockAt(at)
		at = b.off + h.ladder.size[b.rung]
		if !h.startsAt(b, free) {
			continue
		}
		if i, ok := invariant.Intact(unsafe.Add(h.base, h.grain.Bytes(b.off)), h.grain.Bytes(at-b.off)); !ok {
			return fmt.Errorf("byte %d of the free block at unit %d is not poisoned", i, b.off)
		}
	}
	return nil
}

// Every byte of free memory is poisoned, whatever road it took: fresh, freed, split, merged,
// reset, trimmed and committed again.
func TestPoison_CoversAllThatIsFree(t *testing.T) {
	for _, kind := range systems {
		h := newHeap(t, nil, Config{Reserve: 512 << 10, System: kind})
		memtest.Poisoned(t, h, func() error { return poisoned(h) })
	}
}

func TestPoison_AWriteToFreeMemoryIsToldByTheNextAlloc(t *testing.T) {
	for _, kind := range systems {
		for _, at := range []uintptr{0, 17, 250, 255} {
			h := newHeap(t, nil, Config{Reserve: 64 << 10, System: kind})
			memtest.MustAlloc(t, h, 256, 1)
			p := memtest.MustAlloc(t, h, 250, 16)
			h.Free(p, 250)
			memtest.WriteIsTold(t, h, p, 250, 16, at, "buddy.Alloc", fmt.Sprintf("byte %d of the free block of 256 bytes was written, with 0x41", at))
		}
	}
}
