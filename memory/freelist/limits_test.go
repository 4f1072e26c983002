package freelist

import (
	"math"
	"strings"
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
		"granule 100 is not a power of two from 16 to 16384": {Granule: 100},
		"granule 8 is not a power of two":                    {Granule: 8},
		"granule 32768 is not":                               {Granule: 32 << 10},
		"Policy(7) is none of FirstFit, NextFit and BestFit": {Policy: 7},
	}
	if wide {
		bad["at most 4294967296 are possible with granules of 16"] = Config{Reserve: math.MaxInt, Granule: 16}
		bad["at most 17179869184 are possible with granules of 64"] = Config{Reserve: far(16<<30 + 1)}
	} else {
		bad["request too large for this allocator"] = Config{Reserve: math.MaxInt, Granule: 16}
		bad["page: reserve 4294967295 bytes"] = Config{Reserve: math.MaxUint32}
	}
	memtest.Refuses(t, New, bad)
}

// A source may hand out nothing, or far more than was asked for.
type generous struct {
	page.Source
	give func(page.Memory) page.Memory
}

func (g generous) Reserve(size uintptr) (page.Memory, error) {
	m, err := g.Source.Reserve(size)
	return g.give(m), err
}

func (g generous) Release(page.Memory) error { return nil }

func TestNew_ASourceThatGivesTheWrongMemoryIsRefused(t *testing.T) {
	gifts := map[string]func(page.Memory) page.Memory{
		"reserved 0 bytes at": func(page.Memory) page.Memory { return page.Memory{} },
	}
	for want, give := range gifts {
		h, err := New(generous{page.Default(), give}, Config{Reserve: 1 << 20, Granule: 16})
		if h != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New: %t, %v; want an error with %q", h != nil, err, want)
		}
	}
}

// More than was asked for would be more units than there are books for.
func TestNew_ASourceThatGivesMoreIsTakenAtWhatWasAskedFor(t *testing.T) {
	more := func(m page.Memory) page.Memory {
		m.Size = max(far(8<<30), m.Size)
		return m
	}
	h, err := New(generous{page.Default(), more}, Config{Reserve: 1 << 20, Granule: 16})
	memtest.Opened(t, h, err)
	if got := h.Stats().Reserved; got != 1<<20 {
		t.Errorf("%d bytes are reserved; want the 1 MiB that was asked for", got)
	}
}
