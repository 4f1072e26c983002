package arena

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
)

const kib = 1 << 10

// served counts how many requests a fresh Region of so many regions serves before one is refused.
func served(t *testing.T, regions uintptr, sizes func(i int) uintptr) (n int) {
	r := newRegion(t, nil, RegionConfig{RegionBytes: regionBytes, Reserve: regions * regionBytes})
	for {
		if _, err := r.Alloc(sizes(n), 16); errors.Is(err, memory.ErrOutOfMemory) {
			memtest.MustCheck(t, r)
			return n
		} else if err != nil {
			t.Fatal(err)
		}
		n++
	}
}

// ofAll is the rule without a bound: the first of all regions with enough space.
func ofAll(regions int, sizes func(i int) uintptr) (n int) {
	var used []uintptr
	for ; ; n++ {
		k := 0
		for k < len(used) && used[k]+sizes(n) > regionBytes {
			k++
		}
		if k == len(used) {
			if k == regions {
				return n
			}
			used = append(used, 0)
		}
		used[k] += sizes(n)
	}
}

// Eight regions of 16 KiB and requests of 2, 5 and 5 KiB by turns: the current and the empty
// regions alone serve 25, the rule 31.
func TestRegion_RoomThatIsLeftIsUsed(t *testing.T) {
	byTurns := func(i int) uintptr { return [...]uintptr{2 * kib, 5 * kib, 5 * kib}[i%3] }
	if n, rule := served(t, 8, byTurns), ofAll(8, byTurns); n != 31 || rule != 31 {
		t.Errorf("%d requests served, by the rule %d; want 31", n, rule)
	}
}

func TestRegion_ABoundedLookServesNearlyWhatTheRuleDoes(t *testing.T) {
	for _, c := range []struct {
		regions int
		lo, hi  uint64
		share   float64
	}{{16, 64, 4 * kib, .985}, {64, 64, 4 * kib, .985}, {16, kib, 12 * kib, .975}, {64, kib, 12 * kib, .94}} {
		got, want := 0, 0
		for seed := range uint64(20) {
			rng := rand.New(rand.NewPCG(seed, 1))
			drawn := make([]uintptr, 6000)
			for i := range drawn {
				drawn[i] = uintptr(c.lo+rng.Uint64N(c.hi-c.lo)) &^ 15
			}
			sizes := func(i int) uintptr { return drawn[i] }
			got += served(t, uintptr(c.regions), sizes)
			want += ofAll(c.regions, sizes)
		}
		if share := float64(got) / float64(want); share < c.share || got > want {
			t.Errorf("%d regions, %d to %d bytes: %d of %d served, %.3f; want %.3f", c.regions, c.lo, c.hi, got, want, share, c.share)
		} else {
			t.Logf("%d regions, %d to %d bytes: %.3f of the rule", c.regions, c.lo, c.hi, share)
		}
	}
}

func TestRegion_TheFirstOpenRegionThatHasTheRoomServes(t *testing.T) {
	r := newRegion(t, nil, RegionConfig{RegionBytes: regionBytes, Reserve: 8 * regionBytes})
	var blocks []unsafe.Pointer
	for i := range uintptr(5) { // each leaves 1 KiB more than the one before, and none fits into what is left
		blocks = append(blocks, mustAlloc(t, r, regionBytes-(i+1)*kib, 16))
	}
	for _, c := range []struct {
		size, al uintptr
		in       int
		open     int // regions that are open afterwards: a full one is not
	}{{kib, 16, 0, 4}, {kib + 16, 16, 1, 4}, {3 * kib, 4096, 3, 4}, {2*kib + 16, 16, 2, 4}, {5 * kib, 16, 4, 3}} {
		p := mustAlloc(t, r, c.size, c.al)
		if at := (uintptr(p) - uintptr(blocks[0])) / regionBytes; at != uintptr(c.in) {
			t.Errorf("%d bytes aligned to %d lie in region %d, not %d", c.size, c.al, at, c.in)
		}
		if r.opened != c.open {
			t.Errorf("after %d bytes %d regions are open, not %d", c.size, r.opened, c.open)
		}
		memtest.MustCheck(t, r)
	}
	if s := r.Stats(); s.Committed != 5*regionBytes || s.Live != 10 {
		t.Errorf("%+v", s)
	}
}

// An open region whose last block is freed is empty, and no longer open.
func TestRegion_AnOpenRegionThatDrainsIsEmptyOnce(t *testing.T) {
	r := newRegion(t, nil, RegionConfig{RegionBytes: regionBytes, Reserve: 3 * regionBytes})
	a := mustAlloc(t, r, 12*kib, 16)
	b := mustAlloc(t, r, 10*kib, 16)
	c := mustAlloc(t, r, 2*kib, 16) // into a's region, which is current
	if (uintptr(c)-uintptr(a))/regionBytes != 0 || r.opened != 1 {
		t.Fatalf("%p, %d open", c, r.opened)
	}
	r.Free(b, 10*kib)
	memtest.MustCheck(t, r)
	if r.opened != 0 || len(r.empty) != 1 || r.Used() != 14*kib {
		t.Errorf("%d open, %d empty, %d used", r.opened, len(r.empty), r.Used())
	}
	if p := mustAlloc(t, r, regionBytes, 4096); p != b || r.Stats().Committed != 2*regionBytes {
		t.Errorf("%p; want the region of %p", p, b)
	}
	memtest.MustCheck(t, r)
}

// A current region that is too full several times is replaced.
func TestRegion_TheCurrentRegionMakesWay(t *testing.T) {
	r := newRegion(t, nil, RegionConfig{RegionBytes: regionBytes, Reserve: 4 * regionBytes})
	mustAlloc(t, r, 15*kib, 16)
	for i := range maxMisses {
		if r.current != 0 || r.misses != i {
			t.Fatalf("region %d is current after %d misses", r.current, r.misses)
		}
		mustAlloc(t, r, kib+16, 16)
		memtest.MustCheck(t, r)
	}
	if r.current != 1 || r.misses != 0 || r.opened != 1 || r.open[0] != 0 || r.off != regionBytes+maxMisses*(kib+16) {
		t.Errorf("current %d, %d misses, %d open", r.current, r.misses, r.opened)
	}
	// Dregs do not keep a region current.
	r.Reset()
	mustAlloc(t, r, regionBytes-240, 16)
	mustAlloc(t, r, 256, 16)
	if r.current != 1 || r.opened != 1 {
		t.Errorf("region %d is current, %d open", r.current, r.opened)
	}
	r.Reset()
	mustAlloc(t, r, regionBytes-256, 16)
	mustAlloc(t, r, 272, 16)
	if r.current != 0 || r.opened != 1 || r.open[0] != 1 {
		t.Errorf("region %d is current, %d open", r.current, r.opened)
	}
	memtest.MustCheck(t, r)
}

// Of five regions with space the four with the most stay open. A full one is not open.
func TestRegion_TheOpenOnesAreThoseWithTheMostRoom(t *testing.T) {
	r := newRegion(t, nil, RegionConfig{RegionBytes: regionBytes, Reserve: 16 * regionBytes})
	mustAlloc(t, r, regionBytes, 16)
	for _, left := range []uintptr{3, 2, 5, 4, 6, 1} { // in KiB
		mustAlloc(t, r, regionBytes-left*kib, 16)
		r.misses = 0 // region 1 stays current: with 3 KiB left
		if left == 3 && r.opened != 0 {
			t.Errorf("%d regions are open behind a full one", r.opened)
		}
	}
	if r.current != 1 || r.opened != 4 {
		t.Fatalf("region %d is current, %d open", r.current, r.opened)
	}
	want := [looks]uint32{3, 4, 5, 6} // 2 had the least when 6 came, empty
	if r.open != want || r.left(6) != kib {
		t.Errorf("open are %v, want %v", r.open, want)
	}
	mustAlloc(t, r, 3*kib-128, 16) // dregs, less than any of them has
	mustAlloc(t, r, regionBytes, 16)
	if r.current != 7 || r.open != want {
		t.Errorf("region %d is current, open are %v, want %v", r.current, r.open, want)
	}
	memtest.MustCheck(t, r)
}

func TestRegion_CheckNamesWhatIsWrongWithTheOpenOnes(t *testing.T) {
	r := newRegion(t, nil, RegionConfig{RegionBytes: regionBytes, Reserve: 8 * regionBytes})
	for range 3 {
		mustAlloc(t, r, 10*kib, 16)
	}
	if r.opened != 2 {
		t.Fatal(r.opened)
	}
	for want, corrupt := range map[string]func(){
		"5 regions open of at most 4":   func() { r.opened = 5 },
		"-1 regions open":               func() { r.opened = -1 },
		"8 misses":                      func() { r.misses = maxMisses },
		"-1 misses":                     func() { r.misses = -1 },
		"open[1] is region 3 of 3":      func() { r.open[1] = 3 },
		"open[0] is region 0 of 3":      func() { r.open[0] = 0 },
		"region 1 is open twice":        func() { r.open = [looks]uint32{1, 1} },
		"open[1] is region 2 of 3, whi": func() { r.regions[2].live = 0 },
	} {
		restore, live := memtest.Keep(&r.open), memtest.Keep(&r.regions[2])
		opened, misses := memtest.Keep(&r.opened), memtest.Keep(&r.misses)
		corrupt()
		if err := r.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
		restore()
		live()
		opened()
		misses()
	}
	memtest.MustCheck(t, r)
}
