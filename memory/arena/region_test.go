package arena

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
)

const regionBytes = 16 << 10

func newRegion(t testing.TB, src page.Source, cfg RegionConfig) *Region {
	t.Helper()
	r, err := NewRegion(src, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// small reserves four regions.
func small(t testing.TB) *Region {
	return newRegion(t, nil, RegionConfig{RegionBytes: regionBytes, Reserve: 4 * regionBytes})
}

// fill allocates n blocks of size bytes.
func fill(t testing.TB, r *Region, n int, size uintptr) []unsafe.Pointer {
	t.Helper()
	blocks := make([]unsafe.Pointer, n)
	for i := range blocks {
		blocks[i] = mustAlloc(t, r, size, 16)
	}
	return blocks
}

func TestRegion_LastFreeEmptiesTheRegion(t *testing.T) {
	r := small(t)
	first := fill(t, r, 4, regionBytes/4)
	second := fill(t, r, 4, regionBytes/4)
	for i, p := range first {
		if r.Used() != 2*regionBytes {
			t.Errorf("with %d of 4 freed, %d bytes are used", i, r.Used())
		}
		r.Free(p, regionBytes/4)
	}
	if s := r.Stats(); s.InUse != regionBytes || s.Live != 4 || s.Peak != 2*regionBytes {
		t.Errorf("after the last free: %+v", s)
	}
	for _, p := range second {
		r.Free(p, regionBytes/4)
	}
	if s := r.Stats(); s.InUse != 0 || s.Live != 0 || s.Frees != 8 {
		t.Errorf("all freed: %+v", s)
	}
	if p := mustAlloc(t, r, 16, 16); p != second[0] {
		t.Errorf("the current region starts over at %p, not at %p", p, second[0])
	}
	if err := r.Check(); err != nil {
		t.Error(err)
	}
}

func TestRegion_EmptyRegionsAreUsedBeforeNewOnes(t *testing.T) {
	r := newRegion(t, nil, RegionConfig{RegionBytes: regionBytes, Reserve: 64 * regionBytes})
	a := fill(t, r, 1, regionBytes)[0]
	b := fill(t, r, 1, regionBytes)[0]
	keep := fill(t, r, 1, regionBytes)[0]
	committed := r.Stats().Committed
	r.Free(a, regionBytes)
	r.Free(b, regionBytes)
	for range 1000 {
		p := mustAlloc(t, r, regionBytes, 4096)
		if p != a && p != b {
			t.Fatalf("block %p is in neither of the empty regions %p and %p", p, a, b)
		}
		q := mustAlloc(t, r, 1, 1)
		r.Free(p, regionBytes)
		r.Free(q, 1)
	}
	r.Free(keep, regionBytes)
	if c := r.Stats().Committed; c != committed {
		t.Errorf("committed %d, was %d", c, committed)
	}
	if err := r.Check(); err != nil {
		t.Error(err)
	}
}

func TestRegion_ExhaustedThenUsableAgain(t *testing.T) {
	r := small(t)
	blocks := fill(t, r, 4, regionBytes)
	_, err := r.Alloc(1, 1)
	var full *memory.Exhausted
	if !errors.As(err, &full) || full.Limit != 4*regionBytes || r.Stats().Failures != 1 {
		t.Errorf("err = %v; want an Exhausted with the limit", err)
	}
	r.Free(blocks[1], regionBytes)
	if p := mustAlloc(t, r, 0, 1); p != blocks[1] {
		t.Errorf("got %p, want the emptied region at %p", p, blocks[1])
	}
	if err := r.Check(); err != nil {
		t.Error(err)
	}
}

func TestRegion_RequestsLargerThanARegionAreTooLarge(t *testing.T) {
	r := small(t)
	if r.RegionBytes() != regionBytes {
		t.Fatalf("regions of %d bytes", r.RegionBytes())
	}
	for _, size := range []uintptr{regionBytes + 1, math.MaxUint, math.MaxUint - 15} {
		if p, err := r.Alloc(size, 1); p != nil || err != memory.ErrTooLarge {
			t.Errorf("Alloc(%d) = %v, %v; want the bare ErrTooLarge", size, p, err)
		}
	}
	if s := r.Stats(); s.Failures != 3 || s.Committed != 0 {
		t.Errorf("%+v", s)
	}
	mustAlloc(t, r, regionBytes, memory.MaxAlign)
	mustAlloc(t, r, regionBytes-1, memory.MaxAlign)
}

func TestRegion_DoubleFreePanics(t *testing.T) {
	r := small(t)
	b := fill(t, r, 3, 40)
	r.Free(b[1], 40)
	if invariant.Exact {
		memtest.Misuse(t, func() { r.Free(b[1], 40) }, "arena.Free", "size 40", "freed twice, or interior")
	}
	r.Free(b[0], 40)
	r.Free(b[2], 40)
	memtest.Misuse(t, func() { r.Free(b[2], 40) }, "region 0 is empty")
	if s := r.Stats(); s.Frees != 3 || s.Live != 0 {
		t.Errorf("%+v", s)
	}
}

func TestRegion_ForeignAndInteriorFreesPanic(t *testing.T) {
	r, other := small(t), small(t)
	p := mustAlloc(t, r, 100, 16)
	memtest.Misuse(t, func() { r.Free(mustAlloc(t, other, 100, 16), 100) }, "foreign")
	memtest.Misuse(t, func() { r.Free(unsafe.Add(p, 8), 92) }, "interior pointer: blocks start at multiples of 16")
	if invariant.Exact {
		memtest.Misuse(t, func() { r.Free(unsafe.Add(p, 16), 84) }, "freed twice, or interior")
		memtest.Misuse(t, func() { r.Free(unsafe.Add(p, 112), 1) }, "freed twice, or interior")
	}
	memtest.Misuse(t, func() { r.Free(unsafe.Add(p, regionBytes), 1) }, "not used since the last Reset")
	memtest.Misuse(t, func() { r.Free(p, 113) }, "wrong size: it runs past the bytes in use of region 0, which end 112 bytes behind it")
	memtest.Misuse(t, func() { r.Free(p, math.MaxUint) }, "wrong size: it runs past")
	r.Free(nil, 0)
	r.Free(p, 100)
	r.Reset()
	memtest.Misuse(t, func() { r.Free(p, 100) }, "not used since the last Reset")
}

// A region counts its blocks and not their bytes: debug builds keep the sizes beside.
func TestRegion_WrongSizesAreRefused(t *testing.T) {
	r := small(t)
	first := fill(t, r, 3, 5000) // 15,024 bytes in use of the first region
	p := mustAlloc(t, r, 100, 16)
	q := mustAlloc(t, r, 5000, 16) // in the second one
	memtest.Misuse(t, func() { r.Free(first[2], 5124) }, "wrong size: it runs past the bytes in use of region 0, which end 5120 bytes behind it")
	memtest.Misuse(t, func() { r.Free(q, 5009) }, "wrong size: it runs past the bytes in use of region 1, which end 5008 bytes behind it")
	memtest.Misuse(t, func() { r.Free(q, math.MaxUint) }, "wrong size: it runs past")
	if invariant.Debug {
		for _, size := range []uintptr{0, 1, 99, 101, 112} {
			memtest.Misuse(t, func() { r.Free(p, size) }, "wrong size: the block has 100 bytes")
		}
		r.Free(mustAlloc(t, r, 0, 1), 0)
		memtest.Misuse(t, func() { r.Free(mustAlloc(t, r, 0, 1), 2) }, "wrong size: the block has 1 bytes")
	}
	if s := r.Stats(); s.Live < 5 {
		t.Errorf("refused frees freed: %+v", s)
	}
	r.Free(first[2], 5000)
	r.Free(q, 5000)
	if err := r.Check(); err != nil {
		t.Error(err)
	}
}

// A large number of blocks that die in random order, against a count of each region's.
func TestRegion_CountsSurviveRandomFrees(t *testing.T) {
	r := newRegion(t, nil, RegionConfig{RegionBytes: regionBytes, Reserve: 256 * regionBytes})
	rng := rand.New(rand.NewPCG(1, 2))
	type block struct {
		p    unsafe.Pointer
		size uintptr
	}
	var live []block
	for step := range 20_000 {
		if len(live) < 1000 || rng.IntN(2) == 0 && len(live) < 2000 {
			size := uintptr(rng.IntN(300))
			live = append(live, block{mustAlloc(t, r, size, 1<<rng.IntN(8)), size})
		} else {
			i := rng.IntN(len(live))
			r.Free(live[i].p, live[i].size)
			live[i] = live[len(live)-1]
			live = live[:len(live)-1]
		}
		if step%500 == 0 {
			if err := r.Check(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, b := range live {
		r.Free(b.p, b.size)
	}
	if s := r.Stats(); s.InUse != 0 || s.Live != 0 {
		t.Errorf("%+v", s)
	}
}

func TestRegion_ResetKeepsMemory(t *testing.T) {
	r := small(t)
	first := fill(t, r, 9, regionBytes/4)[0]
	committed := r.Stats().Committed
	r.Reset()
	if s := r.Stats(); s.Committed != committed || s.InUse != 0 || s.Live != 0 || s.Frees != 9 || s.Peak != 9*regionBytes/4 {
		t.Errorf("after Reset: %+v", s)
	}
	if p := fill(t, r, 16, regionBytes/4)[0]; p != first {
		t.Errorf("the first block is at %p, was at %p", p, first)
	}
	if err := r.Check(); err != nil {
		t.Error(err)
	}
}

func TestRegion_BudgetRefusesAndLetsGoOn(t *testing.T) {
	r := newRegion(t, page.NewLimit(nil, 2*regionBytes), RegionConfig{RegionBytes: regionBytes, Reserve: 8 * regionBytes})
	blocks := fill(t, r, 2, regionBytes)
	if _, err := r.Alloc(1, 1); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("beyond the budget: %v", err)
	}
	r.Free(blocks[0], regionBytes)
	mustAlloc(t, r, 1, 1)
	if err := r.Check(); err != nil {
		t.Error(err)
	}
}

func TestRegion_FreeNeverAllocatesOnTheGoHeap(t *testing.T) {
	r := small(t)
	round := func() {
		for _, p := range [4]unsafe.Pointer{mustAlloc(t, r, regionBytes, 1), mustAlloc(t, r, regionBytes, 1), mustAlloc(t, r, regionBytes, 1), mustAlloc(t, r, regionBytes, 1)} {
			r.Free(p, regionBytes)
		}
	}
	round()
	if n := testenv.LeastObjects(11, round); n != 0 {
		t.Errorf("a round of regions costs %v Go allocations", n)
	}
}

func TestRegion_UseAfterClose(t *testing.T) {
	src := memtest.NewFaulty()
	r := newRegion(t, src, RegionConfig{})
	p := mustAlloc(t, r, 10, 1)
	src.FailReturns = true
	if err := r.Close(); err == nil {
		t.Error("Close hid that the memory could not be returned")
	}
	src.FailReturns = false
	if err := r.Close(); err != nil || src.Reserved() != 0 {
		t.Errorf("second Close: %v, %d reservations left", err, src.Reserved())
	}
	for _, size := range []uintptr{0, 1, 1 << 20} {
		if q, err := r.Alloc(size, 1); q != nil || err != memory.ErrClosed {
			t.Errorf("Alloc(%d) after Close = %v, %v", size, q, err)
		}
	}
	r.Free(nil, 0)
	memtest.Misuse(t, func() { r.Free(p, 10) }, "closed")
	memtest.Misuse(t, r.Reset, "arena.Reset", "closed")
}

func TestRegion_BadConfigurationSaysWhatIsAllowed(t *testing.T) {
	for _, c := range []struct {
		cfg  RegionConfig
		want string
	}{
		{RegionConfig{RegionBytes: maxRegionBytes + 1}, "at most 2147483648"},
		{RegionConfig{RegionBytes: 64 << 10, Reserve: 60 << 10}, "Reserve 61440: want at least 65536"},
		{RegionConfig{Reserve: math.MaxUint}, "too large"},
	} {
		if _, err := NewRegion(nil, c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v; want an error with %q", c.cfg, err, c.want)
		}
	}
	if r := newRegion(t, nil, RegionConfig{}); r.RegionBytes() != 64<<10 || r.Stats().Reserved != 64<<20 {
		t.Errorf("by default %d bytes in regions of %d", r.Stats().Reserved, r.RegionBytes())
	}
	one := newRegion(t, nil, RegionConfig{RegionBytes: regionBytes, Reserve: regionBytes})
	mustAlloc(t, one, regionBytes, 1)
	if err := one.Check(); err != nil {
		t.Error(err)
	}
	if r := newRegion(t, nil, RegionConfig{RegionBytes: 100_000}); r.RegionBytes() != 128<<10 {
		t.Errorf("regions of %d bytes, want them rounded up to 128 KiB", r.RegionBytes())
	}
	if r := newRegion(t, nil, RegionConfig{RegionBytes: 1}); r.RegionBytes() != 16<<10 {
		t.Errorf("regions of %d bytes, want the least, 16 KiB", r.RegionBytes())
	}
}

func TestRegion_CheckNamesWhatIsCorrupt(t *testing.T) {
	for _, c := range []struct {
		want    string
		exact   bool // seen by the live bits only
		corrupt func(*Region)
	}{
		{"do not fit region 2", false, func(r *Region) { r.off = r.limit + 1 }},
		{"do not fit region 2", false, func(r *Region) { r.limit++ }},
		{"do not fit region 2", false, func(r *Region) { r.off -= 32 }},
		{"do not fit region 3", false, func(r *Region) { r.current = 3 }},
		{"do not fit region -1", false, func(r *Region) { r.current, r.off, r.limit = -1, 5, 0 }},
		{"do not fit region -1", false, func(r *Region) { r.current = -1 }},
		{"bytes committed", false, func(r *Region) { r.regions = append(r.regions, make([]occupancy, 9)...) }},
		{"listed as empty 2 times, not 1", false, func(r *Region) { r.empty = append(r.empty, 1) }},
		{"listed as empty 1 times, not 0", false, func(r *Region) { r.empty[0] = 2 }},
		{"listed as empty 0 times, not 1", false, func(r *Region) { r.empty = r.empty[:0] }},
		{"empty[0] is region 3", false, func(r *Region) { r.empty[0] = 3 }},
		{"capacity for 1 empty regions of 3", false, func(r *Region) { r.empty = r.empty[:1:1] }},
		{"no live block and 5 bytes used", false, func(r *Region) { r.regions[1].used = 5 }},
		{"the regions add up to", false, func(r *Region) { r.full++ }},
		{"of 1 allocated", false, func(r *Region) { r.allocs = 1 }},
		{"above the reservation", false, func(r *Region) { r.peak = r.mem.Reserved() + 1 }},
		{"counts 2 live blocks and has 1", true, func(r *Region) { r.regions[0].live++ }},
		{"counts 1 live blocks and has 2", true, func(r *Region) { r.live[3] |= 1 }},
		{"has a live bit at 256 with 16 bytes used", true, func(r *Region) { r.live[2*regionBytes>>10] |= 1 << 16 }},
		{"has a live bit at 16 with 16 bytes used", true, func(r *Region) { r.live[2*regionBytes>>10] |= 1 << 1 }},
		{"words of live bits", true, func(r *Region) { r.live = r.live[1:] }},
	} {
		if c.exact && !invariant.Exact {
			continue
		}
		r := small(t)
		b := fill(t, r, 2, regionBytes)
		mustAlloc(t, r, 16, 16)
		r.Free(b[1], regionBytes)
		restore := memtest.Keep(r)
		live, regions, empty := append([]uint64(nil), r.live...), append([]occupancy(nil), r.regions...), append([]uint32(nil), r.empty...)
		c.corrupt(r)
		if err := r.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Check = %v; want an error with %q", err, c.want)
		}
		restore()
		copy(r.live, live)
		copy(r.regions, regions)
		copy(r.empty, empty)
	}
}

// The function of a budget's soft limit is called during the Alloc that commits, and frees blocks.
func TestRegion_WhatTheSoftMarkFreesIsNotLost(t *testing.T) {
	const size = 1000
	for name, relieve := range map[string]func(r *Region, live map[unsafe.Pointer]bool){
		"Free": func(r *Region, live map[unsafe.Pointer]bool) {
			for p := range live {
				r.Free(p, size)
			}
		},
		"Free all but one": func(r *Region, live map[unsafe.Pointer]bool) {
			for p := range live {
				if r.Stats().Live == 1 {
					clear(live)
					live[p] = true
					return
				}
				r.Free(p, size)
			}
		},
		"Reset": func(r *Region, _ map[unsafe.Pointer]bool) { r.Reset() },
		"Close": func(r *Region, _ map[unsafe.Pointer]bool) {
			if err := r.Close(); err == nil {
				t.Error("memory was released while it was being committed")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			limit := page.NewLimit(nil, 0)
			r := newRegion(t, limit, RegionConfig{RegionBytes: regionBytes})
			live, told := map[unsafe.Pointer]bool{}, 0
			limit.OnSoft(5*regionBytes, func(uintptr, uintptr) {
				told++
				if relieve(r, live); r.Stats().Live == 0 {
					clear(live)
				}
			})
			for range 200 {
				p := mustAlloc(t, r, size, 1)
				if live[p] {
					t.Fatalf("%p is live already", p)
				}
				live[p] = true
				*(*byte)(p) = 1 // it is backed
			}
			if err := r.Check(); err != nil || told != 1 || r.Stats().Live != uint64(len(live)) {
				t.Errorf("%v; told %d times, %d live of %d", err, told, r.Stats().Live, len(live))
			}
		})
	}
}
