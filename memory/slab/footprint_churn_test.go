package slab

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
)

// smallHeavy is four small requests in five, and any up to 4 KiB.
func smallHeavy(r *rand.Rand) uintptr {
	if r.IntN(5) > 0 {
		return uniform(16, 256)(r)
	}
	return uniform(257, 4096)(r)
}

// churned returns what share of the committed memory and the books is live, and of the committed
// memory alone, after ten times as many replacements as there are blocks, and again after half of
// them died and others came, three times.
func churned(t *testing.T, seed uint64, live uintptr, size func(*rand.Rand) uintptr) (books, committed float64) {
	h := newHeap(t, Config{})
	rng := rand.New(rand.NewPCG(seed, 2))
	type block struct {
		p    unsafe.Pointer
		size uintptr
	}
	var blocks []block
	asked := uintptr(0)
	grow := func() {
		for asked < live {
			n := size(rng)
			blocks = append(blocks, block{memtest.MustAlloc(t, h, n, 16), n})
			asked += n
		}
	}
	die := func() {
		i := rng.IntN(len(blocks))
		h.Free(blocks[i].p, blocks[i].size)
		asked -= blocks[i].size
		blocks[i] = blocks[len(blocks)-1]
		blocks = blocks[:len(blocks)-1]
	}
	grow()
	for range 10 * len(blocks) {
		die()
		grow()
	}
	for range 3 {
		for asked > live/2 {
			die()
		}
		grow()
	}
	memtest.MustCheck(t, h)
	return float64(asked) / float64(h.mem.Committed()+h.books()), float64(asked) / float64(h.mem.Committed())
}

// What a program that runs keeps: medians of five seeds.
func TestFootprint_OfHeapsThatWereReplacedTenTimes(t *testing.T) {
	if invariant.Debug {
		return // the figures are those of other builds
	}
	for _, c := range []struct {
		name                    string
		size                    func(*rand.Rand) uintptr
		of100K, of500K, of2000K float64
	}{
		{"uniform", uniform(16, 4096), .42, .60, .69},
		{"logarithmic", logarithmic, .38, .57, .67},
		{"small-heavy", smallHeavy, .37, .59, .69},
	} {
		for live, want := range map[uintptr]float64{100 << 10: c.of100K, 500 << 10: c.of500K, 2 << 20: c.of2000K} {
			var books, committed []float64
			for seed := range uint64(5) {
				b, m := churned(t, seed+1, live, c.size)
				books, committed = append(books, b), append(committed, m)
			}
			slices.Sort(books)
			slices.Sort(committed)
			t.Logf("%5d KiB live, %-11s: %4.1f %%, without the books %4.1f %%", live>>10, c.name, 100*books[2], 100*committed[2])
			if books[2] < want {
				t.Errorf("%d KiB live, %s: %.1f %%, want %.0f %%", live>>10, c.name, 100*books[2], 100*want)
			}
		}
	}
}
