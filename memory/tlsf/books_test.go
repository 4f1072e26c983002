package tlsf

import (
	"testing"

	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

// The books of the granules grow with what is committed: a large reservation costs nothing by
// itself, also with the smallest granules.
func TestBooks_GrowWithWhatIsCommitted(t *testing.T) {
	const step = 64 << 10
	reserve := uintptr(256 << 20)
	h, err := New(nil, Config{Reserve: reserve, Granule: 16, Step: step})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if n := len(h.pools[0].starts); n != 0 {
		t.Errorf("%d granules have books and nothing is committed", n)
	}
	for range 500 {
		memtest.MustAlloc(t, h, 20_000, 16)
		n, committed := uintptr(len(h.pools[0].starts)), uintptr(h.committed(&h.pools[0]))
		if n < committed || n > committed*5/4+4*step/16 {
			t.Fatalf("%d granules have books, %d are committed", n, committed)
		}
	}
	memtest.MustCheck(t, h)
	h.Reset()
	if err := h.Trim(); err != nil {
		t.Fatal(err)
	}
	memtest.MustAlloc(t, h, 20_000, 4096)
	memtest.MustCheck(t, h)
}

// upTo is a source that wants its commits to end at multiples of it, as the system does with huge
// pages.
type upTo struct {
	page.Source
	bytes uintptr
}

func (u upTo) AheadTo() uintptr { return u.bytes }

// They reach to all that is committed, also where that is more than a step.
func TestBooks_ReachToTheEndOfAHugePage(t *testing.T) {
	for name, src := range map[string]page.Source{
		"huge pages":       page.DefaultWith(page.Options{HugePages: true}),
		"multiples of 2 M": upTo{page.Default(), 2 << 20},
		"multiples of 8 M": upTo{page.Default(), 8 << 20},
	} {
		for _, step := range []uintptr{16 << 10, 1 << 20} {
			h, err := New(src, Config{Reserve: 64 << 20, Step: step})
			if err != nil {
				t.Fatal(err)
			}
			for range 100 {
				memtest.MustAlloc(t, h, 100_000, 16)
				if n, committed := len(h.pools[0].starts), h.committed(&h.pools[0]); uint64(n) < uint64(committed) {
					t.Fatalf("%s, step %d: %d granules have books, %d are committed", name, step, n, committed)
				}
			}
			h.Reset()
			p, size := memtest.MustAlloc(t, h, 9000, 16), uintptr(9000)
			for h.Resize(p, size, size+300_000) {
				size += 300_000
			}
			h.Free(p, size)
			memtest.MustCheck(t, h)
			if err := h.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
