//go:build memdebug || race

package tlsf

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
)

// poisoned reports the first byte of free memory that is not filled as such.
func poisoned(h *Heap) error {
	for k := range h.poolCount {
		for i := h.blocks[k].next; i != uint32(k); i = h.blocks[i].next {
			x := &h.blocks[i]
			if x.state == live {
				continue
			}
			if at, ok := invariant.Intact(unsafe.Add(h.pools[k].base, h.grain.Bytes(x.off)), h.grain.Bytes(x.size)); !ok {
				return fmt.Errorf("byte %d of the free block at granule %d of pool %d is not poisoned", at, x.off, k)
			}
		}
	}
	return nil
}

// Every byte of free memory is poisoned, whatever road it took: fresh, freed, split, merged,
// shrunk, reset, trimmed and committed again.
func TestPoison_CoversAllThatIsFree(t *testing.T) {
	for _, quick := range []uintptr{0, 16 << 10} {
		h := newHeap(t, nil, Config{Reserve: 512 << 10, Step: 48 << 10, QuickBytes: quick})
		if err := h.AddPool(nil, 128<<10); err != nil {
			t.Fatal(err)
		}
		memtest.Poisoned(t, h, func() error { return poisoned(h) })
	}
}

// A write to memory that is free is told by the Alloc that would hand it out, which changes
// nothing; the next one succeeds.
func TestPoison_AWriteToFreeMemoryIsToldByTheNextAlloc(t *testing.T) {
	for _, cfg := range map[string]Config{
		"eager": {Reserve: 64 << 10}, "quick": {Reserve: 64 << 10, QuickBytes: 16 << 10},
	} {
		for _, al := range []uintptr{16, 1024} {
			if al > 256 && cfg.QuickBytes > 0 {
				continue // what waits does not serve alignments above the granule
			}
			for _, at := range []uintptr{0, 17, 999, 1023} {
				h := newHeap(t, nil, cfg)
				memtest.MustAlloc(t, h, 256, 1)
				p := memtest.MustAlloc(t, h, 1000, al)
				behind := memtest.MustAlloc(t, h, 100, 1)
				h.Free(p, 1000)
				memtest.WriteIsTold(t, h, p, 1000, al, at, "tlsf.Alloc", fmt.Sprintf("byte %d of 1024 free bytes was written, with 0x41", at))
				h.Free(behind, 100)
			}
		}
	}
}

func TestPoison_AnOverflowIntoFreeMemoryIsToldByResize(t *testing.T) {
	h := newHeap(t, nil, Config{Reserve: 64 << 10, Step: 16 << 10})
	memtest.OverflowIsToldByResize(t, h, "tlsf.Resize")
	h.Reset()
	p := memtest.MustAlloc(t, h, 1024, 1)
	*(*byte)(unsafe.Add(p, 15<<10)) = 7 // as far as the block grows, and no farther, it is looked at
	if !h.Resize(p, 1024, 8<<10) || h.Resize(p, 8<<10, 8<<10) != true {
		t.Error("a write far behind keeps the block from growing")
	}
}
