package compact

import (
	"errors"
	"fmt"
	"testing"

	"github.com/strata-go/strata/memory"
)

func TestBins_EachGapHasItsOwn(t *testing.T) {
	for gap, want := range map[uintptr]uint{
		16: 32, 32: 40, 48: 44, 112: 54, 1024: 80, 1136: 80, 1152: 81,
		2032: 87, 2048: 88, 1 << 30: 240, 1<<31 - 16: 247,
	} {
		if got := binOf(gap); got != want {
			t.Errorf("a gap of %d bytes is in bin %d, want %d", gap, got, want)
		}
	}
}

func TestBins_AreFoundInOrder(t *testing.T) {
	var s bins
	if _, ok := s.last(); ok {
		t.Error("an empty set has a last bin")
	}
	set := []uint{32, 80, 83, 87, 88, 165}
	for k, b := range set {
		s.set(b)
		if got, ok := s.last(); !ok || got != b {
			t.Errorf("with %d the last is %d, %t", set[:k+1], got, ok)
		}
	}
	for from, want := range map[uint]uint{0: 32, 32: 32, 33: 80, 79: 80, 80: 80, 81: 83, 84: 87, 88: 88, 89: 165, 96: 165, 165: 165} {
		if got, ok := s.from(from); !ok || got != want {
			t.Errorf("from %d on comes %d, %t; want %d", from, got, ok, want)
		}
	}
	if b, ok := s.from(166); ok {
		t.Errorf("behind the last comes %d", b)
	}
	for k, b := range set {
		s.unset(b)
		if got, ok := s.from(0); ok == (k == len(set)-1) || ok && got != set[k+1] {
			t.Errorf("without %d the first is %d, %t", set[:k+1], got, ok)
		}
	}
	if s != (bins{}) {
		t.Errorf("emptied: %+v", s)
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
