package tlsf

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
)

func newHeap(t testing.TB, src page.Source, cfg Config) *Heap {
	t.Helper()
	h, err := New(src, cfg)
	return memtest.Opened(t, h, err)
}

// layout draws the first pool, a letter per granule: a live, . free, q waiting.
func layout(h *Heap) string {
	var s strings.Builder
	for i := h.blocks[0].next; i != 0; i = h.blocks[i].next {
		x := &h.blocks[i]
		s.WriteString(strings.Repeat(map[state]string{live: "a", free: ".", waiting: "q"}[x.state], int(x.size)))
		s.WriteByte('|')
	}
	return s.String()
}

// tiny is a heap of 16 granules of 1 KiB.
var tiny = Config{Reserve: page.Granule, Granule: 1 << 10}

func TestHeap_NothingIsCommittedAtFirst(t *testing.T) {
	h := newHeap(t, nil, Config{})
	if s := h.Stats(); s.Committed != 0 || s.Reserved != 64<<20 {
		t.Errorf("fresh: %+v", s)
	}
	memtest.MustAlloc(t, h, 1, 1)
	if s := h.Stats(); s.Committed != 1<<20 || s.InUse != 256 || s.Requested != 1 || s.LargestFree != 1<<20-256 {
		t.Errorf("after one byte: %+v", s)
	}
}

func TestHeap_FillsToTheLastGranule(t *testing.T) {
	for _, size := range []uintptr{16 << 10, 16<<10 - 1023, 15 << 10, 11 << 10} {
		h := newHeap(t, nil, tiny)
		p := memtest.MustAlloc(t, h, size, 1)
		rest := 16 - uintptr(h.grain.Count(size))
		for range rest {
			memtest.MustAlloc(t, h, 1024, 1)
		}
		_, err := h.Alloc(1, 1)
		var full *memory.Exhausted
		if !errors.As(err, &full) || full.Need != 1 || full.Have != 0 || full.Cause != nil || full.Limit != 16<<10 {
			t.Errorf("one granule more: %v", err)
		}
		h.Free(p, size)
		memtest.MustAlloc(t, h, size, 1) // exactly the hole, which a search by bin overlooks
		memtest.MustCheck(t, h)
	}
}

func TestHeap_LargestFreeCanBeAllocated(t *testing.T) {
	h := newHeap(t, nil, tiny)
	for range 6 {
		memtest.MustAlloc(t, h, 2048, 1)
		most := h.Stats().LargestFree
		if _, err := h.Alloc(uintptr(most)+1, 1); err == nil {
			t.Fatalf("%d bytes fit where %d are the most", most+1, most)
		}
		h.Free(memtest.MustAlloc(t, h, uintptr(most), 1), uintptr(most))
	}
}

func TestHeap_FreeMergesBothNeighbours(t *testing.T) {
	h := newHeap(t, nil, tiny)
	var p [4]unsafe.Pointer
	for i := range p {
		p[i] = memtest.MustAlloc(t, h, 2048, 1)
	}
	for _, step := range []struct {
		free int
		want string
	}{
		{0, "..|aa|aa|aa|........|"},
		{2, "..|aa|..|aa|........|"},
		{1, "......|aa|........|"},
		{3, "................|"},
	} {
		h.Free(p[step.free], 2048)
		memtest.MustCheck(t, h)
		if got := layout(h); got != step.want {
			t.Errorf("after freeing block %d: %s, want %s", step.free, got, step.want)
		}
	}
}

func TestHeap_AlignmentSplitsOffTheFront(t *testing.T) {
	h := newHeap(t, nil, tiny)
	memtest.MustAlloc(t, h, 1024, 1)
	p := memtest.MustAlloc(t, h, 1024, 4096)
	if uintptr(p)%4096 != 0 || layout(h) != "a|...|a|...........|" {
		t.Errorf("%p in %s", p, layout(h))
	}
	memtest.MustAlloc(t, h, 11<<10, 4096-3072) // the hole behind stays whole
	memtest.MustAlloc(t, h, 3<<10, 1024)
	if got := layout(h); got != "a|aaa|a|aaaaaaaaaaa|" {
		t.Error(got)
	}
	h.Free(p, 1024)
	memtest.MustAlloc(t, h, 1000, 4096) // fits exactly, with nothing to over-allocate
}

func TestHeap_MisuseIsNamedAndChangesNothing(t *testing.T) {
	for name, cfg := range map[string]Config{"eager": tiny, "quick": {Reserve: page.Granule, Granule: 1 << 10, QuickBytes: 8 << 10}} {
		t.Run(name, func(t *testing.T) {
			h, other := newHeap(t, nil, cfg), newHeap(t, nil, cfg)
			p, q := memtest.MustAlloc(t, h, 3000, 1), memtest.MustAlloc(t, h, 10, 1)
			foreign := memtest.MustAlloc(t, other, 3000, 1)
			h.Free(q, 10)
			before := h.Stats()
			memtest.Misuse(t, func() { h.Free(q, 10) }, "tlsf.Free", "size 10", "double free")
			memtest.Misuse(t, func() { h.FreeAny(q) }, "tlsf.FreeAny", "double free")
			memtest.Misuse(t, func() { h.Free(p, 2999) }, "wrong size: the block was requested with 3000 bytes, not 2999")
			if wide { // the books have 32 bits for a size
				memtest.Misuse(t, func() { h.Free(p, far(3000+1<<32)) }, "tlsf.Free", "wrong size")
			}
			memtest.Misuse(t, func() { h.Free(unsafe.Add(p, 1024), 3000) }, "interior pointer: it lies 1024 bytes into the block of 3000 bytes")
			memtest.Misuse(t, func() { h.FreeAny(unsafe.Add(p, 1)) }, "interior pointer: it lies 1 bytes into")
			memtest.Misuse(t, func() { h.Free(foreign, 3000) }, "no pool of this heap")
			memtest.Misuse(t, func() { h.SizeOf(foreign) }, "tlsf.SizeOf", "no pool of this heap")
			memtest.Misuse(t, func() { h.Resize(p, 1, 2) }, "tlsf.Resize", "requested with 3000 bytes, not 1")
			memtest.Misuse(t, func() { h.Resize(nil, 1, 2) }, "tlsf.Resize", "no pool")
			if after := h.Stats(); after != before {
				t.Errorf("misuse changed the books from %+v to %+v", before, after)
			}
			memtest.MustCheck(t, h)
			h.Free(p, 3000)
		})
	}
}

func TestHeap_FreeBeyondTheCommittedIsNamed(t *testing.T) {
	h := newHeap(t, nil, Config{Reserve: 1 << 20, Step: 64 << 10})
	p := memtest.MustAlloc(t, h, 10, 1)
	memtest.Misuse(t, func() { h.FreeAny(unsafe.Add(p, 512<<10)) }, "beyond the committed memory")
}

func TestHeap_TooLargeAndExhaustedAreToldApart(t *testing.T) {
	h := newHeap(t, nil, Config{Reserve: 1 << 20})
	if _, err := h.Alloc(1<<20+1, 1); err != memory.ErrTooLarge {
		t.Errorf("more than the reservation: %v", err)
	}
	memtest.MustAlloc(t, h, 1<<20, 4096)
	if _, err := h.Alloc(1<<20, 1); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("more than is left: %v", err)
	}
}

func TestBlocksFrom_AFailedCloseYieldsNothing(t *testing.T) {
	src := memtest.NewFaulty()
	h, err := New(src, Config{Reserve: 1 << 20})
	must(t, err)
	memtest.MustAlloc(t, h, 10_000, 16)
	src.FailReturnAt = 1
	if err := h.Close(); err == nil {
		t.Fatal("Close does not fail")
	}
	for _, offset := range []uintptr{0, 4096, 1 << 19} {
		h.BlocksFrom(0, offset, func(b BlockInfo) bool {
			t.Errorf("from %d: %+v", offset, b)
			return true
		})
	}
	src.FailReturnAt = 0
	must(t, h.Close())
}

func TestHeap_ClosedHasNoPoolsAndNoBlocks(t *testing.T) {
	h := newHeap(t, nil, Config{})
	memtest.MustAlloc(t, h, 10, 1)
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if err := h.AddPool(nil, 1<<20); err != memory.ErrClosed {
		t.Errorf("AddPool: %v", err)
	}
	for b := range h.Blocks {
		t.Errorf("closed: block %+v", b)
	}
}

// Trim may come at any moment, and what it returned may be committed again.
func TestTrim_AnywhereInARandomProgram(t *testing.T) {
	for _, quick := range []uintptr{0, 32 << 10} {
		h := newHeap(t, nil, Config{Reserve: 512 << 10, Step: 32 << 10, QuickBytes: quick})
		memtest.TrimAnywhere(t, h, func() uintptr { return h.grain.Bytes(h.tail(0)) })
	}
}

func TestBlocks_CoverTheCommittedMemoryInOrder(t *testing.T) {
	h := newHeap(t, nil, tiny)
	if err := h.AddPool(nil, 16<<10); err != nil {
		t.Fatal(err)
	}
	var p []unsafe.Pointer
	for range 8 {
		p = append(p, memtest.MustAlloc(t, h, 4096, 1))
	}
	h.Free(p[1], 4096)
	h.Free(p[7], 4096)
	var got []BlockInfo
	for b := range h.Blocks {
		got = append(got, b)
	}
	want := []BlockInfo{
		{0, 0, 4096, false}, {0, 4096, 4096, true}, {0, 8192, 4096, false}, {0, 12288, 4096, false},
		{1, 0, 4096, false}, {1, 4096, 4096, false}, {1, 8192, 4096, false}, {1, 12288, 4096, true},
	}
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
	n := 0
	first := func(BlockInfo) bool { n++; return false }
	if allocs := testenv.LeastObjects(11, func() { h.Blocks(first) }); allocs != 0 || n != 11 {
		t.Errorf("%v Go allocations, %d calls of yield in 11 runs", allocs, n)
	}
}

// From each byte of each pool BlocksFrom yields what Blocks does from the block on that holds it.
func TestBlocksFrom_BeginsAtTheBlockThatHoldsTheByte(t *testing.T) {
	for _, quick := range []uintptr{0, 32 << 10} {
		h := newHeap(t, nil, Config{Reserve: 64 << 10, Step: 8 << 10, Granule: 64, QuickBytes: quick})
		if err := h.AddPool(nil, 32<<10); err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(7, uint64(quick)))
		type taken struct {
			p    unsafe.Pointer
			size uintptr
		}
		var live []taken
		for range 300 {
			if size := uintptr(1 + r.IntN(3000)); r.IntN(5) > 1 || len(live) == 0 {
				if p, err := h.Alloc(size, 1); err == nil {
					live = append(live, taken{p, size})
				}
				continue
			}
			i := r.IntN(len(live))
			h.Free(live[i].p, live[i].size)
			live = slices.Delete(live, i, i+1)
		}
		var all []BlockInfo
		h.Blocks(func(b BlockInfo) bool { all = append(all, b); return true })
		for k := range 3 {
			for at := uintptr(0); at < 64<<10; at += 61 {
				want := slices.IndexFunc(all, func(b BlockInfo) bool { return b.Pool > k || b.Pool == k && b.Offset+b.Size > at })
				var got []BlockInfo
				h.BlocksFrom(k, at, func(b BlockInfo) bool { got = append(got, b); return true })
				if want < 0 && len(got) > 0 || want >= 0 && !slices.Equal(got, all[want:]) {
					t.Fatalf("quick %d, pool %d, byte %d: %v of %v", quick, k, at, got, all)
				}
			}
		}
	}
	defer func() {
		if e, ok := recover().(*memory.Misuse); !ok || e.Op != "BlocksFrom" {
			t.Errorf("a pool below 0: %v", e)
		}
	}()
	newHeap(t, nil, Config{}).BlocksFrom(-1, 0, nil)
}

func TestHeap_AlignedRequestTakesTheSmallestSufficientHole(t *testing.T) {
	h := newHeap(t, nil, tiny)
	var p [5]unsafe.Pointer
	sizes := [5]uintptr{1 << 10, 2 << 10, 1 << 10, 4 << 10, 8 << 10}
	for i, size := range sizes {
		p[i] = memtest.MustAlloc(t, h, size, 1)
	}
	h.Free(p[1], sizes[1])
	h.Free(p[3], sizes[3])
	memtest.MustAlloc(t, h, 1024, 2048)
	if got := layout(h); got != "a|.|a|a|....|aaaaaaaa|" {
		t.Error(got)
	}
}

func TestHeap_LargeRequestsAreCutFromTheFarEnd(t *testing.T) {
	for _, granule := range []uintptr{256, 1024} {
		cutFromTheFarEnd(t, granule)
	}
}

// cutFromTheFarEnd verifies that requests of 32 KiB and more are cut there.
func cutFromTheFarEnd(t *testing.T, granule uintptr) {
	h := newHeap(t, nil, Config{Reserve: 1 << 20, Granule: granule, Step: 1 << 20})
	far, all := 32<<10/granule, 1000*256/granule
	alloc := func(granules uintptr) unsafe.Pointer { return memtest.MustAlloc(t, h, granules*granule, 1) }
	at := func(p unsafe.Pointer) uintptr { return (uintptr(p) - uintptr(h.Base())) / granule }
	first, hole, last := alloc(1), alloc(all), alloc(1)
	if at(first) != 0 || at(hole) != 1 || at(last) != all+1 {
		t.Fatalf("the end of a pool is cut at %d, %d and %d; want its front", at(first), at(hole), at(last))
	}
	h.Free(hole, all*granule)
	for _, c := range []struct{ granules, at uintptr }{
		{far, all + 1 - far}, {far - 1, 1}, {far + 18, all + 1 - far - (far + 18)}, {1, far},
	} {
		if p := alloc(c.granules); at(p) != c.at {
			t.Errorf("%d granules of %d bytes lie at %d, want %d", c.granules, granule, at(p), c.at)
		}
		memtest.MustCheck(t, h)
	}
}
