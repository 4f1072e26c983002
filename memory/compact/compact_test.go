package compact

import (
	"testing"
	"time"
	"unsafe"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

// row makes blocks of size bytes, each filled with its number, and frees every second one.
func row(t testing.TB, h *Heap, n int, size uintptr) []Handle {
	t.Helper()
	var kept []Handle
	var freed []Handle
	for i := range n {
		x := mustAlloc(t, h, size)
		b, _ := h.Bytes(x)
		for k := range b {
			b[k] = byte(i + k>>8)
		}
		if i%2 == 0 {
			freed = append(freed, x)
		} else {
			kept = append(kept, x)
		}
	}
	for _, x := range freed {
		h.Free(x)
	}
	return kept
}

// intact verifies what row has written.
func intact(t testing.TB, h *Heap, kept []Handle) {
	t.Helper()
	for i, x := range kept {
		b, ok := h.Bytes(x)
		if !ok {
			t.Fatalf("block %d is gone", i)
		}
		for k, c := range b {
			if c != byte(2*i+1+k>>8) {
				t.Fatalf("byte %d of block %d is %d", k, i, c)
			}
		}
	}
}

func TestCompact_EndsWithOneFreeBlock(t *testing.T) {
	h := newHeap(t, nil, Config{})
	kept := row(t, h, 1000, 1000)
	if x := h.Stats().External(); x < 0.3 {
		t.Errorf("the heap is not fragmented: %v", x)
	}
	moved, done := h.Compact(Budget{})
	if moved != 500*1000 || !done {
		t.Errorf("moved %d, done %t; want all kept bytes, true", moved, done)
	}
	s := h.Stats()
	if s.External() != 0 || s.LargestFree != s.Committed-s.InUse {
		t.Errorf("fragmentation %v, largest free block %d of %d", s.External(), s.LargestFree, s.Committed-s.InUse)
	}
	n := 0
	for b := range h.Blocks {
		if n++; b.Free && n != 501 {
			t.Errorf("block %d, %+v, is free", n, b)
		}
	}
	if n != 501 {
		t.Errorf("%d blocks", n)
	}
	intact(t, h, kept)
	if moved, done := h.Compact(Budget{}); moved != 0 || !done {
		t.Errorf("again: moved %d, done %t", moved, done)
	}
	mustCheck(t, h)
}

// A request that no gap could meet is met after a Compact.
func TestCompact_MakesRoom(t *testing.T) {
	h := newHeap(t, nil, Config{Reserve: 256 << 10})
	row(t, h, 256, 1024)
	if _, err := h.Alloc(128 << 10); err == nil {
		t.Fatal("the heap is not fragmented")
	}
	h.Compact(Budget{})
	mustAlloc(t, h, 128<<10)
	if s := h.Stats(); s.InUse != s.Reserved {
		t.Errorf("in use %d of %d", s.InUse, s.Reserved)
	}
	mustCheck(t, h)
}

func TestCompact_NeverExceedsItsBytes(t *testing.T) {
	for _, budget := range []uintptr{1, 7, 56, 100, 1000, 4096, 100_000} {
		h := newHeap(t, nil, Config{})
		kept := row(t, h, 8, 5000) // blocks larger than most budgets, and than the gaps once
		var sum uintptr
		steps := 0
		for done := false; !done; steps++ {
			var moved uintptr
			if moved, done = h.Compact(Budget{Bytes: budget}); moved > budget {
				t.Fatalf("moved %d bytes of %d", moved, budget)
			}
			sum += moved
			if steps > 100_000 {
				t.Fatal("no end")
			}
		}
		if sum != 4*5000 {
			t.Errorf("budget %d: moved %d bytes in %d steps, want each once", budget, sum, steps)
		}
		mustCheck(t, h)
		intact(t, h, kept)
	}
}

func TestCompact_StopsWhenItsTimeIsUp(t *testing.T) {
	h := newHeap(t, nil, Config{Reserve: 64 << 20})
	kept := row(t, h, 100, 100_000)
	steps := 0
	for done := false; !done; steps++ {
		var moved uintptr
		if moved, done = h.Compact(Budget{Time: time.Nanosecond}); moved > copyBytes+clockBytes {
			t.Fatalf("moved %d bytes in a nanosecond", moved)
		}
	}
	if steps < 50 {
		t.Errorf("%d steps", steps)
	}
	mustCheck(t, h)
	intact(t, h, kept)
	if moved, done := h.Compact(Budget{Time: time.Hour}); moved != 0 || !done {
		t.Errorf("moved %d, done %t", moved, done)
	}
}

func TestCompact_LockedBlocksStay(t *testing.T) {
	h := newHeap(t, nil, Config{})
	kept := row(t, h, 100, 1000)
	p, _ := h.Lock(kept[20])
	q, _ := h.Lock(kept[30])
	if _, done := h.Compact(Budget{}); !done {
		t.Error("not done")
	}
	gaps := 0
	for b := range h.Blocks {
		if b.Free {
			gaps++
		}
	}
	if gaps != 3 || p != h.at(offset(h, kept[20])) || q != h.at(offset(h, kept[30])) {
		t.Errorf("%d gaps; locked blocks at %p and %p, were at %p and %p", gaps, h.at(offset(h, kept[20])), h.at(offset(h, kept[30])), p, q)
	}
	mustCheck(t, h)
	small := mustAlloc(t, h, 100) // goes into a gap in front of a locked block
	if offset(h, small) > offset(h, kept[30]) {
		t.Errorf("the gaps are not used")
	}
	mustCheck(t, h)
	h.Unlock(kept[30])
	h.Unlock(kept[20])
	mustCheck(t, h)
	if moved, done := h.Compact(Budget{}); moved == 0 || !done || h.Stats().External() != 0 {
		t.Errorf("after Unlock: moved %d, done %t, fragmentation %v", moved, done, h.Stats().External())
	}
	intact(t, h, kept)
	mustCheck(t, h)
}

// halfway returns a heap whose second block, of 10,000 bytes, is moved by 3,000 of them.
func halfway(t *testing.T) (h *Heap, kept []Handle) {
	t.Helper()
	h = newHeap(t, nil, Config{})
	kept = row(t, h, 4, 10_000)
	h.Compact(Budget{Bytes: 1})                        // finds the block
	for h.moving.record == 0 || h.moving.done < 3000 { // and moves it
		h.Compact(Budget{Bytes: 100})
	}
	if h.moving.record != kept[0].Index() {
		t.Fatalf("%+v is on its way", h.moving)
	}
	mustCheck(t, h)
	return h, kept
}

func TestCompact_AHalfMovedBlockIsWholeForWhoLooks(t *testing.T) {
	for name, look := range map[string]func(*Heap, Handle) unsafe.Pointer{
		"Bytes": func(h *Heap, x Handle) unsafe.Pointer { b, _ := h.Bytes(x); return unsafe.Pointer(&b[0]) },
		"Lock":  func(h *Heap, x Handle) unsafe.Pointer { p, _ := h.Lock(x); return p },
	} {
		t.Run(name, func(t *testing.T) {
			h, kept := halfway(t)
			if p := look(h, kept[0]); p != h.base || h.moving.record != 0 {
				t.Errorf("it is at %p, want the base %p", p, h.base)
			}
			mustCheck(t, h)
			intact(t, h, kept)
			h.Compact(Budget{})
			intact(t, h, kept)
			mustCheck(t, h)
		})
	}
}

func TestCompact_NeighboursOfAHalfMovedBlockMayChange(t *testing.T) {
	h, kept := halfway(t)
	before := h.Stats()
	h.Free(kept[0])
	if s := h.Stats(); s.InUse != before.InUse-10_000 || s.External() == 0 {
		t.Errorf("the half moved block was freed: %+v", s)
	}
	mustCheck(t, h)
	h, kept = halfway(t)
	front := mustAlloc(t, h, 8000) // takes the gap behind the moving block
	if offset(h, front) != 20_000 {
		t.Errorf("the block lies at %d", offset(h, front))
	}
	mustCheck(t, h)
	h.Compact(Budget{})
	intact(t, h, kept)
	mustCheck(t, h)
	h, kept = halfway(t)
	h.Free(kept[1])
	if err := h.Trim(); err != nil {
		t.Error(err)
	}
	mustCheck(t, h)
	intact(t, h, kept[:1])
}

// A heap that allocates and frees in any order for long, and compacts a little each time, keeps
// its fragmentation low; one that does not compact, does not.
func TestCompact_BoundsFragmentation(t *testing.T) {
	frames := 4000
	if testenv.Brief() {
		frames = 1000
	}
	run := func(budget uintptr) (mean float64, failures uint64) {
		h := newHeap(t, nil, Config{Reserve: 4 << 20})
		var live []Handle
		var bytes, size uintptr
		rng := uint64(88172645463325252)
		next := func(n int) int {
			rng ^= rng << 13
			rng ^= rng >> 7
			rng ^= rng << 17
			return int(rng>>33) % n
		}
		for range frames {
			for range 4 {
				size = uintptr(16 + next(64<<10)>>next(8))
				for bytes+size > 3600<<10 { // 88 % of the heap
					k := next(len(live))
					n, _ := h.Size(live[k])
					bytes -= n
					h.Free(live[k])
					live[k] = live[len(live)-1]
					live = live[:len(live)-1]
				}
				if x, err := h.Alloc(size); err == nil {
					live = append(live, x)
					bytes += size
				}
			}
			if budget > 0 {
				h.Compact(Budget{Bytes: budget})
			}
			mean += h.Stats().External() / float64(frames)
		}
		mustCheck(t, h)
		return mean, h.Stats().Failures
	}
	without, refused := run(0)
	for _, c := range []struct {
		budget   uintptr
		mean     float64
		failures uint64
	}{{256 << 10, 0.6, refused / 50}, {1 << 20, 0.3, refused / 500}, {1 << 30, 0, 0}} {
		mean, failures := run(c.budget)
		t.Logf("%d bytes a frame: mean external fragmentation %.3f, was %.3f; %d refusals, were %d", c.budget, mean, without, failures, refused)
		if mean > c.mean || failures > c.failures {
			t.Errorf("%d bytes a frame: fragmentation %.3f, %d refusals; want at most %.3f, %d", c.budget, mean, failures, c.mean, c.failures)
		}
	}
	if without < 0.8 {
		t.Errorf("the load does not fragment a heap: %.3f", without)
	}
}
