package compact

import (
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

// side makes n blocks, one behind the other.
func side(t *testing.T, h *Heap, n int, size uintptr) (x []Handle) {
	for range n {
		x = append(x, mustAlloc(t, h, size))
	}
	return x
}

func TestResize_GrowsIntoTheGapBehindAndNoFurther(t *testing.T) {
	h := newHeap(t, nil, Config{Reserve: 1 << 20, Step: 64 << 10})
	x := side(t, h, 3, 1000) // 1008 bytes each
	if h.Resize(x[0], 1009) || !h.Resize(x[0], 1008) || !h.Resize(x[0], 1000) {
		t.Error("a block with another one behind it")
	}
	h.Free(x[1])
	p, _ := h.Lock(x[0])
	if h.Resize(x[0], 2017) || !h.Resize(x[0], 2016) {
		t.Error("a locked block with a gap of 1008 bytes behind it")
	}
	if b, ok := h.Bytes(x[0]); !ok || len(b) != 2016 || &b[0] != (*byte)(p) {
		t.Errorf("%d bytes, %t", len(b), ok)
	}
	h.Unlock(x[0])
	mustCheck(t, h)
	if s := h.Stats(); s.Requested != 3016 || s.InUse != 3024 || s.Peak != 3024 {
		t.Errorf("%+v", s)
	}
	if !h.Resize(x[0], 0) || !h.Resize(x[0], 5) || h.Resize(x[0], 2017) {
		t.Error("to nothing and back")
	}
	// The last one grows into what is committed then.
	if !h.Resize(x[2], 500<<10) || h.Resize(x[2], 1<<20) || h.Resize(x[2], 1<<20+1) || h.Resize(x[2], ^uintptr(0)) || !h.Resize(x[2], 1<<20-2016) {
		t.Errorf("the last block: %+v", h.Stats())
	}
	mustCheck(t, h)
	if s := h.Stats(); s.Failures != 0 || s.Committed != 1<<20 || s.Peak < 1<<20-2016 {
		t.Errorf("%+v", s)
	}
}

// What is cut off in front of the cursor is gathered by the next pass.
func TestResize_WhatIsCutOffIsCompacted(t *testing.T) {
	h := newHeap(t, nil, Config{Reserve: 1 << 20})
	x := side(t, h, 10, 1000)
	h.Compact(Budget{})
	for _, k := range []int{8, 2, 5} {
		if !h.Resize(x[k], 10) {
			t.Fatal(k)
		}
		mustCheck(t, h)
	}
	if _, done := h.Compact(Budget{}); !done || h.Stats().External() != 0 {
		t.Errorf("external fragmentation is %v", h.Stats().External())
	}
	mustCheck(t, h)
}

func TestResize_OfTheBlockThatMovesFinishesItsMove(t *testing.T) {
	h := newHeap(t, nil, Config{Reserve: 1 << 20})
	x := side(t, h, 3, 100_000)
	b, _ := h.Bytes(x[1])
	for i := range b {
		b[i] = byte(i % 251)
	}
	h.Free(x[0])
	for h.moving.done == 0 {
		h.Compact(Budget{Bytes: 200})
	}
	if !h.Resize(x[1], 150_000) || h.moving.record != 0 {
		t.Error("it cannot grow into the gap that its move left")
	}
	b, _ = h.Bytes(x[1])
	for i := range 100_000 {
		if b[i] != byte(i%251) {
			t.Fatalf("byte %d is gone", i)
		}
	}
	mustCheck(t, h)
}

// A soft mark may end the block that grows, in the midst of it.
func TestResize_WhatTheSoftMarkEndsIsStale(t *testing.T) {
	limit := page.NewLimit(nil, 0)
	h := newHeap(t, limit, Config{Reserve: 1 << 20, Step: 64 << 10})
	x := side(t, h, 2, 1000)
	limit.OnSoft(limit.Committed(), func(uintptr, uintptr) { h.Free(x[1]) })
	if h.Resize(x[1], 300_000) {
		t.Error("a block that was freed has grown")
	}
	limit.OnSoft(0, nil)
	mustCheck(t, h)
	limit = page.NewLimit(nil, 64<<10)
	h = newHeap(t, limit, Config{Reserve: 1 << 20, Step: 64 << 10})
	y, err := h.Alloc(1000)
	if err != nil {
		t.Fatal(err)
	}
	if h.Resize(y, 300_000) || h.Stats().InUse != 1008 || h.Stats().Failures != 0 {
		t.Errorf("beyond the budget: %+v", h.Stats())
	}
	mustCheck(t, h)
	if h.Resize(memory.Handle[Block]{}, 1) {
		t.Error("the zero handle is resized")
	}
}

// An iteration over the blocks sees the change.
func TestResize_BlocksFollow(t *testing.T) {
	h := newHeap(t, nil, Config{Reserve: 1 << 20})
	x := side(t, h, 3, 1000)
	sum := uintptr(0)
	for b := range h.Blocks {
		if sum == 0 {
			h.Resize(x[2], 16)
		}
		sum += b.Size
	}
	if sum != h.mem.Committed() {
		t.Errorf("%d bytes seen of %d", sum, h.mem.Committed())
	}
}
