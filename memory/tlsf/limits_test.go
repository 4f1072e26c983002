package tlsf

import (
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
)

func TestBlock_TheBooksAreAsLargeAsPromised(t *testing.T) {
	if got := unsafe.Sizeof(block{}); got != blockBytes {
		t.Errorf("a descriptor has %d bytes, the books are reckoned with %d", got, blockBytes)
	}
	if got := unsafe.Sizeof(pool{}.starts[0]); got != startBytes {
		t.Errorf("a granule has %d bytes of books, they are reckoned with %d", got, startBytes)
	}
}

// wide says whether there are addresses beyond 32 bits; far is then a size, and 0 otherwise.
const wide = math.MaxUint > math.MaxUint32

func far(bytes uint64) uintptr { return uintptr(bytes) }

func TestNew_BadConfigurationSaysWhatIsAllowed(t *testing.T) {
	bad := map[string]Config{
		"Granule 100: want a power of two from 16 to 65536": {Granule: 100},
		"Granule 8: want a power of two":                    {Granule: 8},
		"Granule 131072: want":                              {Granule: 128 << 10},
		"Step 2097152: want at most 1048576":                {Reserve: 1 << 20, Step: 2 << 20},
		"Blocks -1: want 1 to 16777216":                     {Blocks: -1},
		"Blocks 16777217: want 1":                           {Blocks: 1<<24 + 1},
	}
	if wide {
		bad["want 1 to 4294967296 with a Granule of 16"] = Config{Reserve: math.MaxInt, Granule: 16}
		bad["want 1 to 68719476736 with a Granule of 256"] = Config{Reserve: far(1<<36 + 1)}
	} else { // every reservation that has an address has few enough granules
		bad["request too large for this allocator"] = Config{Reserve: math.MaxInt, Granule: 16}
		bad["add pool of 4294967295 bytes: page: reserve"] = Config{Reserve: math.MaxUint32, Step: 1 << 20}
	}
	memtest.Refuses(t, New, bad)
}

func TestNew_WrongMemoryOfASourceIsRefused(t *testing.T) {
	cfg := Config{Reserve: 1 << 20, Granule: 16}
	memtest.Gifts(t, func(src page.Source) (*Heap, error) { return New(src, cfg) })
	h := newHeap(t, nil, cfg)
	if err := h.AddPool(memtest.Nothing(), 1<<20); err == nil || !strings.Contains(err.Error(), "reserved 0 bytes at") || h.poolCount != 1 {
		t.Errorf("AddPool: %v, %d pools", err, h.poolCount)
	}
	memtest.MustCheck(t, h)
}

// A block has 32 bits of size, and its pool may have more.
func TestHeap_TheLargestBlockIsBoundedBelowThePool(t *testing.T) {
	if !wide || runtime.GOARCH == "wasm" {
		return // there is no such pool
	}
	h, err := New(page.OS(), Config{Reserve: far(8 << 30), Granule: 64 << 10}) // also under -race: 8 GiB of the Go heap are too many
	if errors.Is(err, memory.ErrOutOfMemory) || err == nil && h.Stats().Reserved < 8<<30 {
		const why = "the system does not reserve as much address space"
		testenv.Missing(t, why)
	}
	memtest.Opened(t, h, err)
	if _, err := h.Alloc(far(maxBytes+1), 1); err != memory.ErrTooLarge {
		t.Errorf("one byte more than a block can have: %v", err)
	}
	if h.fastSize != maxBytes {
		t.Errorf("requests up to %d bytes are served, want %d", h.fastSize, uint64(maxBytes))
	}
	memtest.MustCheck(t, h)
}
