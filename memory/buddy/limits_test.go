package buddy

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

func TestEntry_TheBooksAreAsLargeAsPromised(t *testing.T) {
	if got := unsafe.Sizeof(entry{}); got != entryBytes {
		t.Errorf("a unit has %d bytes of entries, they are reckoned with %d", got, entryBytes)
	}
}

func TestNew_BadConfigurationSaysWhatIsAllowed(t *testing.T) {
	bad := map[string]Config{
		"MinBlock 100: want a power of two from 8 to 16384": {MinBlock: 100},
		"MinBlock 4: want a power of two":                   {MinBlock: 4},
		"MinBlock 32768: want":                              {MinBlock: 32 << 10},
		"System(2): want Binary or Fibonacci":               {System: 2},
	}
	if wide {
		bad["at most 536870912 with a MinBlock of 16"] = Config{Reserve: math.MaxInt, MinBlock: 16}
		bad["at most 8589934592 with a MinBlock of 256"] = Config{Reserve: far(8<<30 + 1)}
	} else {
		bad["at most 536870912 with a MinBlock of 16"] = Config{Reserve: math.MaxInt, MinBlock: 16}
		bad["at most 1073741823 with a MinBlock of 256"] = Config{Reserve: math.MaxUint32}
	}
	memtest.Refuses(t, New, bad)
}

func TestNew_ASourceWithWrongMemoryIsRefused(t *testing.T) {
	memtest.Gifts(t, func(src page.Source) (*Heap, error) { return New(src, Config{Reserve: 1 << 20, MinBlock: 16}) })
}

// A ladder of powers of two from 8 bytes.
func TestHeap_BlocksOfAWordTakeAWord(t *testing.T) {
	h, err := New(nil, Config{Reserve: 64 << 10, MinBlock: 8})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for size, want := range map[uintptr]uintptr{0: 8, 1: 8, 7: 8, 8: 8, 9: 16, 16: 16, 17: 32, 33: 64} {
		before := h.Stats().InUse
		p, err := h.Alloc(size, 8)
		if err != nil || uintptr(p)%8 != 0 || h.Stats().InUse-before != uint64(want) {
			t.Errorf("%d bytes take %d: %v", size, h.Stats().InUse-before, err)
		}
		q, err := h.Alloc(size, 16)
		if err != nil || uintptr(q)%16 != 0 {
			t.Errorf("%d bytes aligned to 16 lie at %p: %v", size, q, err)
		}
		h.Free(p, size)
		h.Free(q, size)
	}
	n := 0
	for ; ; n++ {
		if _, err := h.Alloc(8, 8); err != nil {
			break
		}
	}
	if n != 8<<10 || h.Check() != nil {
		t.Errorf("%d blocks of 8 bytes in 64 KiB: %v", n, h.Check())
	}
}

func TestHeap_GrowsSeldom(t *testing.T) {
	for _, system := range []System{Binary, Fibonacci} {
		memtest.GrowsSeldom(t, func(src page.Source) func() error {
			h := newHeap(t, src, Config{System: system})
			return func() error { _, err := h.Alloc(4000, 8); return err }
		})
	}
}
