package tlsf

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

// dropMany returns a heap with many dropped blocks. Of each eight blocks, the first keep ones at even places stay live.
func dropMany(t *testing.T, keep int) *Heap {
	unit := page.SizeOf(page.Default())
	size := 3 * unit // so that a page lies within each free block
	h := newHeap(t, nil, Config{Reserve: 1000 * unit})
	var ps []unsafe.Pointer
	for range 320 {
		ps = append(ps, memtest.MustAlloc(t, h, size, 16))
	}
	for i := 1; i < len(ps); i += 2 {
		h.Free(ps[i], size)
	}
	for {
		n, err := h.TrimStep(unit)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			break
		}
	}
	for i := 0; i < len(ps)-1; i += 2 {
		if i%8 >= keep {
			h.Free(ps[i], size)
		}
	}
	memtest.MustCheck(t, h)
	return h
}

// A region with all dropped blocks is read once, and not once for each of them.
func TestRefill_SearchIsLinearInTheDroppedBlocks(t *testing.T) {
	for _, keep := range []int{0, 1, 7} {
		h := dropMany(t, keep)
		if h.drops < 100 {
			t.Fatalf("only %d blocks are dropped", h.drops)
		}
		if _, _, seen := h.smallestRun(1<<20, 1); seen > 5*h.drops {
			t.Errorf("the search looked at %d blocks, and %d are dropped", seen, h.drops)
		}
	}
}

func TestRefill_TakesTheSmallestRun(t *testing.T) {
	for _, keep := range []int{0, 1, 3, 7} {
		h := dropMany(t, keep)
		r := rand.New(rand.NewPCG(1, 2))
		for range 300 {
			n, step := uint32(r.IntN(h.drops*400)+1), uint32(1)<<r.IntN(9)
			least := ^uint32(0) // over all dropped blocks, each with what follows
			for i := h.blocks[dropBin].nextFree; i != dropBin; i = h.blocks[i].nextFree {
				x := &h.blocks[i]
				start, end := x.off, x.off+x.size
				if y := &h.blocks[x.prev]; y.state == free {
					start = y.off
				}
				for y := &h.blocks[x.next]; y.state == free || y.state == dropped; y = &h.blocks[y.next] {
					end += y.size
				}
				if align.UpTo(start, step)-start+n <= end-start {
					least = min(least, end-start)
				}
			}
			pool, start, _ := h.smallestRun(n, step)
			if pool < 0 != (least == ^uint32(0)) {
				t.Fatalf("%d granules at %d: pool %d, and the smallest run has %d", n, step, pool, least)
			}
			if pool < 0 {
				continue
			}
			end := start
			for y := h.blockAt(&h.pools[pool], start); y.state == free || y.state == dropped; y = &h.blocks[y.next] {
				end += y.size
			}
			if end-start != least {
				t.Fatalf("%d granules at %d: a run of %d, want %d", n, step, end-start, least)
			}
		}
	}
}
