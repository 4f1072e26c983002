package slab

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// books returns the bytes of Go heap that h and what hangs on it take.
func (h *Heap) books() uintptr {
	n := unsafe.Sizeof(*h) + uintptr(len(h.live)+len(h.old))*8 + uintptr(len(h.owned)+len(h.place)) + uintptr(len(h.tally.of))*2 +
		uintptr(len(h.shapes))*unsafe.Sizeof(shape{}) + uintptr(len(h.ladder.tab)+len(h.ladder.sizes)*4)
	for _, row := range h.ladder.aligned {
		n += uintptr(len(row))
	}
	for i := range h.shapes {
		n += uintptr(h.shapes[i].capacity) * 4
	}
	return n
}

// logarithmic draws as many sizes from 16 to 32 as from 2048 to 4096, which is nearer to what
// programs ask for than uniform is.
func logarithmic(r *rand.Rand) uintptr { return uintptr(16 * math.Pow(256, r.Float64())) }

// small is what strings and nodes are: nothing above 256 bytes.
func small(r *rand.Rand) uintptr { return uintptr(16 * math.Pow(16, r.Float64())) }

// What is live is most of what is committed, the books included, in small heaps, too: where
// blocks were only added, and where as many were replaced at random as there are, which leaves
// each class with the most that it ever had.
func TestFootprint_OfSmallAndLargeHeaps(t *testing.T) {
	testenv.Long(t)
	type bars struct{ fresh, churned float64 }
	for _, c := range []struct {
		live                        uintptr
		uniform, logarithmic, small bars
	}{
		{100 << 10, bars{.60, .45}, bars{.60, .45}, bars{.60, .55}},
		{500 << 10, bars{.75, .60}, bars{.75, .60}, bars{.74, .70}},
		{2 << 20, bars{.80, .72}, bars{.80, .70}, bars{.78, .75}},
		{5 << 20, bars{.85, .78}, bars{.85, .77}, bars{.80, .78}},
		{30 << 20, bars{.90, .86}, bars{.88, .84}, bars{.83, .82}},
	} {
		if invariant.Debug && c.live > 1<<20 {
			continue // the figures are those of other builds, and filling every block takes minutes
		}
		for name, w := range map[string]struct {
			size func(*rand.Rand) uintptr
			want bars
		}{"uniform": {uniform(16, 4096), c.uniform}, "logarithmic": {logarithmic, c.logarithmic}, "small": {small, c.small}} {
			for _, churned := range []bool{false, true} {
				size, want := w.size, map[bool]float64{false: w.want.fresh, true: w.want.churned}[churned]
				h := newHeap(t, Config{})
				rng := rand.New(rand.NewPCG(1, 2))
				type block struct {
					p    unsafe.Pointer
					size uintptr
				}
				var blocks []block
				asked := uintptr(0)
				add := func() {
					n := size(rng)
					blocks = append(blocks, block{memtest.MustAlloc(t, h, n, 16), n})
					asked += n
				}
				for asked < c.live {
					add()
				}
				if churned { // as many replaced as there are
					for range len(blocks) {
						i := rng.IntN(len(blocks))
						b := blocks[i]
						h.Free(b.p, b.size)
						asked -= b.size
						blocks[i] = blocks[len(blocks)-1]
						blocks = blocks[:len(blocks)-1]
						for asked < c.live {
							add()
						}
					}
				}
				memtest.MustCheck(t, h)
				share := float64(asked) / float64(h.mem.Committed()+h.books())
				t.Logf("%5d KiB live, %-11s churned %-5t: %4.1f %% of %d KiB committed and %d KiB of books", asked>>10, name, churned,
					100*share, h.mem.Committed()>>10, h.books()>>10)
				if share < want {
					t.Errorf("%d KiB live, %s: %.1f %%, want %.0f %%", asked>>10, name, 100*share, 100*want)
				}
			}
		}
	}
}

// What one phase of a program frees the next one has, whatever its sizes, before more memory is
// committed.
func TestFootprint_WhatAPhaseFreedServesTheNext(t *testing.T) {
	h := newHeap(t, Config{})
	committed := uint64(0)
	for phase, size := range []uintptr{48, 2304, 112, 4096, 16, 700} {
		var blocks []unsafe.Pointer
		for live := uintptr(0); live < 1<<20; live += size {
			blocks = append(blocks, memtest.MustAlloc(t, h, size, 16))
		}
		memtest.MustCheck(t, h)
		st := h.Stats()
		if phase == 0 {
			committed = st.Committed
		}
		if st.Committed > committed*4/3 {
			t.Errorf("phase %d: %d bytes are committed, the first had %d", phase, st.Committed, committed)
		}
		for _, p := range blocks {
			h.Free(p, size)
		}
	}
}
