package compact

import (
	"errors"
	"fmt"
	"testing"

	"github.com/strata-go/strata/memory"
)

func TestBins_EachGapHasItsOwn(t *testing.T) {
	for gap, want := range map[uintptr]bin{
		16: {4, 0}, 32: {5, 0}, 48: {5, 4}, 112: {6, 6}, 1024: {10, 0}, 1136: {10, 0}, 1152: {10, 1},
		2032: {10, 7}, 2048: {11, 0}, 1 << 30: {30, 0}, 1<<31 - 16: {30, 7},
	} {
		if got := binOf(gap); got != want {
			t.Errorf("a gap of %d bytes is in bin %d, want %d", gap, got, want)
		}
	}
}

func TestBins_AfterFindsTheNextInOrder(t *testing.T) {
	var s bins
	set := []bin{{4, 0}, {10, 0}, {10, 3}, {10, 7}, {11, 0}, {20, 5}}
	for _, b := range set {
		s.parts[b.power] |= 1 << b.part
		s.powers |= 1 << b.power
	}
	for k, b := range set {
		got, ok := s.after(b)
		if last := k == len(set)-1; ok == last || !last && got != set[k+1] {
			t.Errorf("after %d comes %d, %t", b, got, ok)
		}
	}
	for from, want := range map[bin]bin{{4, 1}: {10, 0}, {9, 7}: {10, 0}, {10, 1}: {10, 3}, {10, 4}: {10, 7}, {12, 0}: {20, 5}} {
		if got, ok := s.after(from); !ok || got != want {
			t.Errorf("after %d comes %d, %t; want %d", from, got, ok, want)
		}
	}
}

// In the bin of the request the first 32 gaps are looked at, and LargestFree speaks of those.
func TestAlloc_LooksAtThirtyTwoGapsOfTheRequestsBin(t *testing.T) {
	const small, large = 1040, 1136 // of one bin
	for _, ahead := range []int{0, 1, looks - 1, looks, 200} {
		t.Run(fmt.Sprintf("ahead=%d", ahead), func(t *testing.T) {
			h := newHeap(t, nil, Config{Reserve: 1 << 20})
			var x []Handle
			for k := range ahead + 1 {
				size := uintptr(small)
				if k == 0 {
					size = large
				}
				x = append(x, mustAlloc(t, h, size))
				mustAlloc(t, h, minAlign)
			}
			for h.Stats().LargestFree > 0 || h.Stats().Committed < h.Stats().Reserved {
				mustAlloc(t, h, minAlign)
			}
			for _, x := range x { // the last one that is freed is looked at first
				h.Free(x)
			}
			largest := uint64(large)
			if ahead >= looks {
				largest = small
			}
			if s := h.Stats(); s.LargestFree != largest || s.Free != uint64(ahead*small+large) {
				t.Errorf("LargestFree is %d of %d, want %d", s.LargestFree, s.Free, largest)
			}
			var full *memory.Exhausted
			if _, err := h.Alloc(large); (err == nil) != (largest == large) || err != nil && (!errors.As(err, &full) || full.Have != small) {
				t.Errorf("Alloc(%d) behind %d smaller gaps: %v", large, ahead, err)
			}
			if ahead > 0 {
				mustAlloc(t, h, small)
			}
			mustCheck(t, h)
			h.Compact(Budget{})
			if s := h.Stats(); s.LargestFree != s.Free {
				t.Errorf("after Compact LargestFree is %d of %d", s.LargestFree, s.Free)
			}
		})
	}
}

// A gap of the next bin serves at once, however many of the request's own bin do not.
func TestAlloc_TakesTheNextBinBeforeItSearches(t *testing.T) {
	h := newHeap(t, nil, Config{Reserve: 1 << 20})
	var x []Handle
	for _, size := range []uintptr{1152, 1040, 1136} {
		x = append(x, mustAlloc(t, h, size))
		mustAlloc(t, h, minAlign)
	}
	h.Free(x[0])
	h.Free(x[2])
	h.Free(x[1])
	if at := offset(h, mustAlloc(t, h, 1136)); at != 0 {
		t.Errorf("the block lies at %d, want 0, in the gap of 1152 bytes", at)
	}
	mustCheck(t, h)
}
