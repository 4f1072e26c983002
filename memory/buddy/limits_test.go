package buddy

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

func TestEntry_TheBooksAreAsLargeAsPromised(t *testing.T) {
	if got := unsafe.Sizeof(entry{}); got != entryBytes {
		t.Errorf("a unit has %d bytes of books, they are reckoned with %d", got, entryBytes)
	}
}

func TestNew_BadConfigurationSaysWhatIsAllowed(t *testing.T) {
	bad := map[string]Config{
		"MinBlock 100 is not a power of two from 16 to 16384": {MinBlock: 100},
		"MinBlock 8 is not a power of two":                    {MinBlock: 8},
		"MinBlock 32768 is not":                               {MinBlock: 32 << 10},
		"System(2) is none of Binary and Fibonacci":           {System: 2},
	}
	if wide {
		bad["at most 536870912 are possible with a MinBlock of 16"] = Config{Reserve: math.MaxInt, MinBlock: 16}
		bad["at most 8589934592 are possible with a MinBlock of 256"] = Config{Reserve: far(8<<30 + 1)}
	} else {
		bad["at most 536870912 are possible with a MinBlock of 16"] = Config{Reserve: math.MaxInt, MinBlock: 16}
		bad["at most 1073741823 are possible with a MinBlock of 256"] = Config{Reserve: math.MaxUint32}
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
		h, err := New(generous{page.Default(), give}, Config{Reserve: 1 << 20, MinBlock: 16})
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
	h, err := New(generous{page.Default(), more}, Config{Reserve: 1 << 20, MinBlock: 16})
	memtest.Opened(t, h, err)
	if got := h.Stats().Reserved; got != 1<<20 {
		t.Errorf("%d bytes are reserved; want the 1 MiB that was asked for", got)
	}
}
