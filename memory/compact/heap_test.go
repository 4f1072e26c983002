package compact

import (
	"errors"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

func newHeap(t testing.TB, src page.Source, cfg Config) *Heap {
	t.Helper()
	h, err := New(src, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

func mustAlloc(t testing.TB, h *Heap, size uintptr) Handle {
	t.Helper()
	x, err := h.Alloc(size)
	if err != nil {
		t.Fatalf("Alloc(%d): %v", size, err)
	}
	return x
}

func mustCheck(t testing.TB, h *Heap) {
	t.Helper()
	if err := h.Check(); err != nil {
		t.Errorf("Check: %v", err)
	}
}

// offset returns where block x lies.
func offset(h *Heap, x Handle) uintptr { return h.find(x).off }

func TestNew_BadConfigurationIsRefused(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{Align: 8}, "Align 8: want a power of two from 16 to 4096"},
		{Config{Align: 48}, "Align 48"},
		{Config{Align: 8192}, "Align 8192"},
		{Config{Reserve: 1 << 20, Step: 1<<20 + 1}, "Step 1048577: want at most 1048576"},
		{Config{Blocks: -1}, "Blocks -1: want 1 to"},
	} {
		if h, err := New(nil, c.cfg); h != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("New(%+v) = %v, %v; want %q", c.cfg, h, err, c.want)
		}
	}
}

func TestNew_MoreBlocksThanHandlesAreRefused(t *testing.T) {
	large := uint64(1) << 40
	if uint64(uintptr(large)) != large {
		t.Skip("the address space is smaller than that")
	}
	if _, err := New(nil, Config{Reserve: uintptr(large)}); err == nil || !strings.Contains(err.Error(), "want at most 17179869199 with an Align of 16") {
		t.Errorf("New = %v", err)
	}
}

func TestAlloc_SizesAtTheEdges(t *testing.T) {
	h := newHeap(t, nil, Config{Reserve: 64 << 10, Step: 16 << 10})
	empty := mustAlloc(t, h, 0)
	if b, ok := h.Bytes(empty); !ok || b == nil || len(b) != 0 {
		t.Errorf("size 0: %v, %t", b, ok)
	}
	for _, size := range []uintptr{math.MaxUint, math.MaxUint - 15, math.MaxUint - 16, math.MaxInt, 1 << 31, 64<<10 + 1} {
		if x, err := h.Alloc(size); !errors.Is(err, memory.ErrTooLarge) || !x.IsZero() {
			t.Errorf("Alloc(%d) = %v, %v; want ErrTooLarge", size, x, err)
		}
	}
	rest := mustAlloc(t, h, 64<<10-16)
	if s := h.Stats(); s.InUse != s.Reserved || s.Failures != 6 || s.LargestFree != 0 || s.External() != 0 {
		t.Errorf("exactly full: %+v", s)
	}
	_, err := h.Alloc(1)
	var full *memory.Exhausted
	if !errors.As(err, &full) || full.Have != 0 || full.Limit != 64<<10 || full.Need != 16 {
		t.Errorf("full: %v", err)
	}
	h.Free(rest)
	if mustAlloc(t, h, 64<<10-17); h.Stats().Live != 2 {
		t.Error("what was freed cannot be had again")
	}
	mustCheck(t, h)
}

func TestAlloc_TakesTheSmallestBinThatFits(t *testing.T) {
	h := newHeap(t, nil, Config{})
	var x [6]Handle
	for i, size := range []uintptr{1024, 16, 128, 16, 512, 16} {
		x[i] = mustAlloc(t, h, size)
	}
	for _, i := range []int{0, 2, 4} {
		h.Free(x[i])
	}
	at := map[uintptr]uintptr{} // by size of the request, the offset
	for _, size := range []uintptr{64, 256, 600} {
		at[size] = offset(h, mustAlloc(t, h, size))
	}
	if at[600] != 0 || at[64] != 1040 || at[256] != 1040+128+16 {
		t.Errorf("offsets by size: %v", at)
	}
	mustCheck(t, h)
}

func TestHandle_StaleIsNeverAPanic(t *testing.T) {
	h := newHeap(t, nil, Config{Blocks: 1})
	x := mustAlloc(t, h, 10)
	for range 3 {
		if !h.Free(x) || h.Free(x) {
			t.Error("Free is not true once and false then")
		}
		y := mustAlloc(t, h, 10)
		if y.Index() != x.Index() || y == x {
			t.Errorf("%v follows %v", y, x)
		}
		x = y
	}
	for _, forged := range []Handle{
		{}, memory.MakeHandle[Block](0, 1), memory.MakeHandle[Block](1, 1), memory.MakeHandle[Block](99, 1),
		memory.MakeHandle[Block](math.MaxUint32, 1), memory.MakeHandle[Block](uint32(len(h.records)), 1^h.key), memory.MakeHandle[Block](x.Index(), x.Generation()+1),
		memory.MakeHandle[Block](x.Index(), x.Generation()-2),
	} {
		(&model{t: t, h: h}).isStale(forged)
	}
	if unsafe.Sizeof(x) != 8 || memory.PointerFree[Handle]() != nil {
		t.Error("a handle is not 8 bytes that can be stored off the heap")
	}
	mustCheck(t, h)
}

func TestHandle_WornOutRecordIsRetired(t *testing.T) {
	h := newHeap(t, nil, Config{Blocks: 4})
	x := mustAlloc(t, h, 10)
	h.records[x.Index()].gen = math.MaxUint32
	x = memory.MakeHandle[Block](x.Index(), math.MaxUint32^h.key)
	if !h.Free(x) {
		t.Fatal("the last generation is not live")
	}
	mustCheck(t, h)
	for range 10 {
		if y := mustAlloc(t, h, 10); y.Index() == x.Index() {
			t.Errorf("%v reuses a record that is worn out", y)
		}
	}
	mustCheck(t, h)
}

func TestLock_Misuse(t *testing.T) {
	h := newHeap(t, nil, Config{})
	x := mustAlloc(t, h, 100)
	memtest.Misuse(t, func() { h.Unlock(x) }, "compact.Unlock", "is not locked")
	p, _ := h.Lock(x)
	q, _ := h.Lock(x)
	m := memtest.Misuse(t, func() { h.Free(x) }, "compact.Free", "size 100", x.String()+" is locked 2 times; unlock it first")
	if m.Addr != uintptr(p) || p != q {
		t.Errorf("the misuse names %#x; locked at %p and %p", m.Addr, p, q)
	}
	h.Unlock(x)
	memtest.Misuse(t, func() { h.Free(x) }, "is locked 1 times")
	h.records[x.Index()].locks = math.MaxUint32
	memtest.Misuse(t, func() { h.Lock(x) }, "all that the count can hold")
	h.records[x.Index()].locks = 1
	mustCheck(t, h)
	if !h.Unlock(x) || !h.Free(x) || h.Unlock(x) {
		t.Error("a block that is unlocked cannot be freed, or one that was freed is unlocked")
	}
	mustCheck(t, h)
}

func TestReset_EndsLockedBlocksToo(t *testing.T) {
	h := newHeap(t, nil, Config{})
	var x []Handle
	for i := range uintptr(100) {
		x = append(x, mustAlloc(t, h, i*50))
	}
	h.Lock(x[50])
	h.Free(x[3])
	h.Compact(Budget{Bytes: 300}) // something is half moved
	h.Reset()
	for _, x := range x {
		(&model{t: t, h: h}).isStale(x)
	}
	s := h.Stats()
	if s.Live != 0 || s.InUse != 0 || s.Frees != 100 || s.LargestFree != s.Committed || s.Committed == 0 {
		t.Errorf("after Reset: %+v", s)
	}
	h.Reset()
	mustCheck(t, h)
	mustAlloc(t, h, 1000)
	mustCheck(t, h)
}

func TestTrim_AfterCompactGivesBackWhatIsFree(t *testing.T) {
	h := newHeap(t, nil, Config{Step: 16 << 10})
	first := mustAlloc(t, h, 200_000)
	last := mustAlloc(t, h, 10_000)
	h.Free(first)
	if err := h.Trim(); err != nil {
		t.Fatal(err)
	}
	if c := h.Stats().Committed; c < 200_000 {
		t.Errorf("Trim left %d bytes although a block lies behind them", c)
	}
	h.Compact(Budget{})
	if err := h.Trim(); err != nil {
		t.Fatal(err)
	}
	if c := h.Stats().Committed; c != 16<<10 {
		t.Errorf("after Compact and Trim %d bytes are committed", c)
	}
	mustCheck(t, h)
	h.Free(last)
	if err := h.Trim(); err != nil || h.Stats().Committed != 0 {
		t.Errorf("Trim of an empty heap: %v, %d bytes", err, h.Stats().Committed)
	}
	mustCheck(t, h)
	mustAlloc(t, h, 100_000)
	mustCheck(t, h)
}

func TestClose_Twice(t *testing.T) {
	h := newHeap(t, nil, Config{})
	x := mustAlloc(t, h, 10)
	h.Lock(x)
	for range 2 {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := h.Alloc(1); err != memory.ErrClosed {
		t.Errorf("Alloc: %v", err)
	}
	(&model{t: t, h: h}).isStale(x)
	memtest.Misuse(t, func() { h.Reset() }, "compact.Reset: the heap is closed")
	memtest.Misuse(t, func() { h.Compact(Budget{}) }, "compact.Compact: the heap is closed")
	if err := h.Trim(); err != memory.ErrClosed {
		t.Errorf("Trim: %v", err)
	}
	for range h.Blocks {
		t.Error("a closed heap has blocks")
	}
	if s := h.Stats(); s.Live != 0 || s.Reserved != 0 {
		t.Errorf("%+v", s)
	}
	mustCheck(t, h)
}

func TestClose_CanBeRepeatedWhenTheSystemRefuses(t *testing.T) {
	src := memtest.NewFaulty()
	h, err := New(src, Config{})
	if err != nil {
		t.Fatal(err)
	}
	x := mustAlloc(t, h, 1000)
	src.FailReturns = true
	if err := h.Trim(); err != nil && !strings.Contains(err.Error(), "compact: trim") {
		t.Errorf("Trim: %v", err)
	}
	if err := h.Close(); err == nil || !strings.Contains(err.Error(), "compact: close") {
		t.Errorf("Close: %v", err)
	}
	mustCheck(t, h)
	(&model{t: t, h: h}).isStale(x)
	mustAlloc(t, h, 1000)
	mustCheck(t, h)
	src.FailReturns = false
	if err := h.Close(); err != nil || src.Reserved() != 0 {
		t.Errorf("Close: %v, %d reservations", err, src.Reserved())
	}
}

func TestHeap_CostsNoGoAllocations(t *testing.T) {
	h := newHeap(t, nil, Config{})
	x := mustAlloc(t, h, 1000)
	mustAlloc(t, h, 1000)
	if n := testing.AllocsPerRun(100, func() {
		h.Free(x)
		h.Compact(Budget{Bytes: 500, Time: 1e9})
		x, _ = h.Alloc(1000)
		h.Lock(x)
		h.Unlock(x)
		h.Bytes(x)
		h.Stats()
		for range h.Blocks {
			break
		}
	}); n != 0 {
		t.Errorf("%v Go allocations", n)
	}
	if !h.Owns(unsafe.Add(h.base, 5)) || h.Owns(unsafe.Pointer(h)) {
		t.Error("Owns is wrong")
	}
}

// A budget's soft mark is told in the midst of the Alloc that commits, and what a program does
// then is to free.
func TestAlloc_WhatTheSoftMarkFreesOrMovesIsInTheBooks(t *testing.T) {
	for name, relieve := range map[string]func(h *Heap, live []Handle){
		"Free":  func(h *Heap, live []Handle) { free(h, live) },
		"Reset": func(h *Heap, _ []Handle) { h.Reset() },
		"Close": func(h *Heap, _ []Handle) {
			if err := h.Close(); err == nil {
				t.Error("memory was released while it was being committed")
			}
		},
		"Compact": func(h *Heap, live []Handle) { free(h, live[:len(live)/2]); h.Compact(Budget{}) },
		"Trim":    func(h *Heap, live []Handle) { free(h, live[3:]); _ = h.Trim() },
	} {
		t.Run(name, func(t *testing.T) {
			limit := page.NewLimit(nil, 0)
			h := newHeap(t, limit, Config{})
			var live []Handle
			told := 0
			limit.OnSoft(400<<10, func(uintptr, uintptr) { told++; relieve(h, live) })
			for range 300 {
				x := mustAlloc(t, h, 4000)
				live = append(live, x)
				b, ok := h.Bytes(x)
				if !ok {
					t.Fatal("a fresh handle is stale")
				}
				b[3999] = 1
			}
			if err := h.Check(); err != nil || told != 1 {
				t.Errorf("%v; told %d times", err, told)
			}
		})
	}
}

func free(h *Heap, blocks []Handle) {
	for _, x := range blocks {
		h.Free(x)
	}
}
