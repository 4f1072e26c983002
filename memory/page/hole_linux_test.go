package page_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
)

// Holes return memory and split no mapping, through a Limit and a Carve, too. They are zero when they come back. Trim
// makes all memory behind its end inaccessible, also holes that it passed before.
func TestPrefix_HolesSplitNoMapping(t *testing.T) {
	const size = 16 << 20
	for name, src := range map[string]page.Source{"os": page.OS(), "carve": page.OS(), "huge": page.OSWith(page.Options{HugePages: true})} {
		t.Run(name, func(t *testing.T) {
			if name == "carve" {
				src = newCarve(t, page.NewLimit(src, 0), reserve(t, src, 2*size))
			}
			limit := page.NewLimit(src, 0)
			p, err := page.NewPrefix(limit, size, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			mem := bytesOf(page.Memory{Base: p.Base()}, 0, size)
			write := func(from, to uintptr) {
				t.Helper()
				for i := from; i < to; i += page.Granule {
					if mem[i] != 0 {
						t.Fatalf("byte %d is %d", i, mem[i])
					}
					mem[i] = 1
				}
			}
			must(t, p.Ensure(size))
			write(0, size)
			mapped := func() int { return testenv.Mappings(t, p.Base(), size) }
			before, rss := mapped(), rssAt(t, p.Base())
			unit := page.SizeOf(src)
			if name == "huge" {
				unit = 2 << 20
			}
			for round := range 3 {
				for off := unit; off < size; off += 2 * unit {
					must(t, p.Drop(off, unit))
				}
				if now := mapped(); now > before && !invariant.Debug {
					t.Errorf("%d mappings; %d before %d holes", now, before, size/2/unit)
				}
				if now := rssAt(t, p.Base()); now > rss-size/2+size/8 && !invariant.Debug {
					t.Errorf("%d bytes are resident; %d before half of %d were dropped", now, rss, size)
				}
				must(t, p.Check())
				if got := limit.Committed(); got != size/2 || p.Dropped() != size/2 {
					t.Errorf("the limit has %d bytes, %d are dropped", got, p.Dropped())
				}
				switch round {
				case 0:
					for off := unit; off < size; off += 2 * unit {
						must(t, p.Fill(off, unit))
						write(off, off+unit)
					}
				case 1:
					for end := p.Committed(); end > 0; {
						end -= min(end, unit)
						must(t, p.Trim(end))
						if invariant.Debug || end/unit%8 > 0 {
							continue
						}
						if now := mapped(); now > 2 {
							t.Fatalf("%d mappings with %d bytes", now, end)
						}
					}
					for _, off := range []uintptr{0, unit, size - 1} {
						if !faults(page.Memory{Base: p.Base()}, off) {
							t.Errorf("byte %d can be read after Trim", off)
						}
					}
					must(t, p.Ensure(size))
					write(0, size)
				}
			}
			must(t, p.Close())
			if limit.Committed() != 0 {
				t.Errorf("%d bytes committed", limit.Committed())
			}
		})
	}
}

// Any order of Ensure, Trim, Drop and Fill keeps the accessible bytes in one mapping, and what is committed is zero.
func TestPrefix_HolesKeepOneMapping(t *testing.T) {
	const size = 4 << 20
	for _, src := range []page.Source{page.OS(), paged{page.OSOn(page.Options{}, 64<<10, nil, nil), 64 << 10}} {
		p, err := page.NewPrefix(src, size-page.Granule, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		mem, r, unit := bytesOf(page.Memory{Base: p.Base()}, 0, size), rand.New(rand.NewPCG(5, 5)), page.SizeOf(src)
		fresh := func(from, to uintptr) {
			t.Helper()
			for i := from; i < to; i += page.Granule {
				if mem[i] != 0 {
					t.Fatalf("byte %d is %d", i, mem[i])
				}
				mem[i] = 1
			}
		}
		for op := range 2000 {
			switch was := p.Committed(); r.IntN(8) {
			case 0:
				must(t, p.Ensure(uintptr(r.IntN(size-page.Granule))))
				fresh(was, p.Committed())
			case 1:
				must(t, p.Trim(was-min(was, uintptr(r.IntN(256<<10)))))
			default:
				off := uintptr(r.IntN(size)) / unit * unit
				from, to := p.NextHole(off)
				if off+unit > was {
					continue
				}
				if from == off {
					must(t, p.Fill(from, to-from))
					fresh(from, to)
				} else {
					must(t, p.Drop(off, unit))
				}
			}
			must(t, p.Check())
			if op%16 > 0 || invariant.Debug {
				continue
			}
			if now := testenv.Mappings(t, p.Base(), size); now > 3 {
				t.Fatalf("%d mappings", now)
			}
		}
		must(t, p.Close())
	}
}

// rssAt returns the resident bytes of the mapping that holds p.
func rssAt(t *testing.T, p unsafe.Pointer) (bytes uintptr) {
	t.Helper()
	if _, err := fmt.Sscanf(smaps(t, uintptr(p), "Rss"), "%d kB", &bytes); err != nil {
		t.Fatal(err)
	}
	return bytes << 10
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
