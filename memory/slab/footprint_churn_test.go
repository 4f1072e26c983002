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

// Where less than a sixteenth is free, the classes keep their empty spans and memory is committed: they would
// take each other's forever.
func TestSqueeze_LeavesEmptySpansWhereLittleIsFree(t *testing.T) {
	h := newHeap(t, Config{Reserve: 8 << 20})
	var small []unsafe.Pointer
	for range 64 { // a span of the smallest class
		small = append(small, memtest.MustAlloc(t, h, 16, 1))
	}
	for range 256 {
		memtest.MustAlloc(t, h, 1024, 1)
	}
	for _, p := range small {
		h.Free(p, 16)
	}
	before, committed := smallest(h), h.Stats().Committed
	for h.Stats().Committed == committed {
		memtest.MustAlloc(t, h, 1024, 1)
	}
	if now := smallest(h); before.Free != 64 || now != before {
		t.Errorf("the smallest class was %+v, is %+v", before, now)
	}
}

// In steady traffic less than one Alloc in 10,000 pays for a squeeze.
func TestSqueeze_IsRareInSteadyTraffic(t *testing.T) {
	if invariant.Debug {
		return // a million replacements take seconds there, and the rule is the same
	}
	h := newHeap(t, Config{})
	rng := rand.New(rand.NewPCG(1, 2))
	var blocks [1000]struct {
		p    unsafe.Pointer
		size uintptr
	}
	for i := range blocks {
		blocks[i].size = smallHeavy(rng)
		blocks[i].p = memtest.MustAlloc(t, h, blocks[i].size, 16)
	}
	units := make([]uint32, len(h.shapes))
	replace := func(times int) (squeezes int) {
		for range times {
			b := &blocks[rng.IntN(len(blocks))]
			h.Free(b.p, b.size)
			b.size = smallHeavy(rng)
			b.p = memtest.MustAlloc(t, h, b.size, 16)
			robbed := false
			for i := range h.shapes {
				robbed = robbed || h.shapes[i].units < units[i]
				units[i] = h.shapes[i].units
			}
			if robbed {
				squeezes++
			}
		}
		return squeezes
	}
	if n := replace(600_000); n < squeezeBurst {
		t.Fatalf("%d squeezes: this traffic needs hardly any", n)
	}
	const times = 400_000
	if n, most := replace(times), times/10_000; n > most {
		t.Errorf("%d squeezes in %d replacements, want %d at most", n, times, most)
	}
	memtest.MustCheck(t, h)
}

func smallest(h *Heap) (c ClassStats) {
	for c = range h.Classes {
		break
	}
	return c
}
