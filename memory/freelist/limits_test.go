package freelist

import (
	"math"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

// wide says whether there are addresses beyond 32 bits; far is then a size.
const wide = math.MaxUint > math.MaxUint32

func far(bytes uint64) uintptr { return uintptr(bytes) }

func TestLiveMap_TheBooksAreAsLargeAsPromised(t *testing.T) {
	if got := unsafe.Sizeof((*Heap)(nil).live[0]); got != liveBytes {
		t.Errorf("a unit has %d bytes of books, they are reckoned with %d", got, liveBytes)
	}
}

func TestNew_BadConfigurationSaysWhatIsAllowed(t *testing.T) {
	bad := map[string]Config{
		"Granule 100: want a power of two from 8 to 16384":       {Granule: 100},
		"Granule 4: want a power of two":                         {Granule: 4},
		"Granule 32768: want":                                    {Granule: 32 << 10},
		"Policy(7): want FirstFit, NextFit, BestFit or WorstFit": {Policy: 7},
		"Policy(4): want":                                        {Policy: 4},
	}
	if wide {
		bad["want at most 4294967296 with a Granule of 16"] = Config{Reserve: math.MaxInt, Granule: 16}
		bad["want at most 17179869184 with a Granule of 64"] = Config{Reserve: far(16<<30 + 1)}
	} else {
		bad["request too large for this allocator"] = Config{Reserve: math.MaxInt, Granule: 16}
		bad["page: reserve 4294967295 bytes"] = Config{Reserve: math.MaxUint32}
	}
	memtest.Refuses(t, New, bad)
}

func TestNew_ASourceWithWrongMemoryIsRefused(t *testing.T) {
	memtest.Gifts(t, func(src page.Source) (*Heap, error) { return New(src, Config{Reserve: 1 << 20, Granule: 16}) })
}

func TestHeap_GrowsSeldom(t *testing.T) {
	memtest.GrowsSeldom(t, func(src page.Source) func() error {
		h := newHeap(t, src, Config{})
		return func() error { _, err := h.Alloc(4000, 8); return err }
	})
}
