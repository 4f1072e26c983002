package compact

import (
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

// isClosed verifies what every method of a closed heap does with a handle from before.
func isClosed(t *testing.T, h *Heap, x Handle, p unsafe.Pointer) {
	t.Helper()
	if y, err := h.Alloc(1); err != memory.ErrClosed || !y.IsZero() {
		t.Errorf("Alloc: %v, %v", y, err)
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
	if h.Owns(p) || h.Owns(nil) {
		t.Error("a closed heap owns memory")
	}
	if s := h.Stats(); s.Live != 0 || s.InUse != 0 || s.Reserved != 0 || s.Committed != 0 || s.Free != 0 || s.LargestFree != 0 || s.Requested != 0 || s.Measured != 0 {
		t.Errorf("%+v", s)
	}
	mustCheck(t, h)
}

// The source ends first: everything that the heap has is gone, with locks held and a block half
// moved, and the memory must not be touched.
func TestHeap_OutlivesItsSource(t *testing.T) {
	src := memtest.NewFaulty()
	mortal := memtest.NewMortal(t, src, 1<<20)
	h := newHeap(t, mortal, Config{Reserve: 512 << 10})
	kept := row(t, h, 20, 1000)
	p, _ := h.Lock(kept[5])
	for h.moving.record == 0 {
		h.Compact(Budget{Bytes: 100})
	}
	mortal.End(t)
	calls := src.Calls()
	for range 2 {
		isClosed(t, h, kept[5], p)
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
	if src.Calls() != calls {
		t.Errorf("the system was called %d times", src.Calls()-calls)
	}
}

func TestHandle_OfAnotherHeapOrItsSuccessorIsStale(t *testing.T) {
	var handles []Handle
	var heaps []*Heap
	for k := range 20 {
		h := newHeap(t, nil, Config{Reserve: 64 << 10})
		if h.key&1 != 0 {
			t.Fatalf("key %#x is odd", h.key)
		}
		for range 3 {
			x := mustAlloc(t, h, 100)
			for range k { // the record lives for the k-th time: generations meet those of others
				h.Free(x)
				x = mustAlloc(t, h, 100)
			}
			if x.Generation()&1 == 0 {
				t.Errorf("the generation of %v is even", x)
			}
			handles = append(handles, x)
		}
		heaps = append(heaps, h)
	}
	for k, h := range heaps {
		for i, x := range handles {
			if i/3 == k {
				if n, ok := h.Size(x); !ok || n != 100 {
					t.Errorf("its own handle %v is stale", x)
				}
				continue
			}
			(&model{t: t, h: h}).isStale(x)
		}
		mustCheck(t, h)
	}
	for k, h := range heaps { // the successor stands in the same place, with the same history
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
		next := newHeap(t, nil, Config{Reserve: 64 << 10})
		for range 3 {
			x := mustAlloc(t, next, 100)
			for range k {
				next.Free(x)
				x = mustAlloc(t, next, 100)
			}
		}
		for _, x := range handles[3*k : 3*k+3] {
			(&model{t: t, h: next}).isStale(x)
			(&model{t: t, h: h}).isStale(x)
		}
	}
}

// The keys of any two of many heaps differ in a bit that no generation reaches soon.
func TestHandle_KeysDifferInHighBits(t *testing.T) {
	seen := map[uint32]bool{}
	for range 1000 {
		k := newKey()
		if seen[k>>12] || k&1 != 0 {
			t.Fatalf("key %#x differs from another in its low 12 bits alone, or is odd", k)
		}
		seen[k>>12] = true
	}
}

func TestClose_WithLocksAndAfterARefusal(t *testing.T) {
	src := memtest.NewFaulty()
	h, err := New(src, Config{Reserve: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	x := mustAlloc(t, h, 100)
	p, _ := h.Lock(x)
	src.FailReturns = true
	if err := h.Close(); err == nil {
		t.Error("Close does not say that the memory is still there")
	}
	(&model{t: t, h: h}).isStale(x)
	mustCheck(t, h)
	src.FailReturns = false
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	isClosed(t, h, x, p)
}

func TestClose_AtFaultsHandsOutNothingThatIsGone(t *testing.T) {
	memtest.CloseAtFaults(t, func(src page.Source) (*Heap, []func()) {
		h, err := New(src, Config{Reserve: 64 << 10})
		if err != nil {
			t.Fatal(err)
		}
		x := mustAlloc(t, h, 100)
		return h, []func(){
			func() { (&model{t: t, h: h}).isStale(x) },
			func() {
				if x, err := h.Alloc(1000); err == nil {
					b, _ := h.Bytes(x)
					b[999] = 1
				} else if err != memory.ErrClosed {
					t.Error(err)
				}
			},
		}
	})
}
