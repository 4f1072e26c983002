package compact

import (
	"slices"
	"testing"

	"github.com/strata-go/strata/memory/memtest"
)

// checkered returns a heap of n blocks of 112 bytes of which every second is free, and the rest.
func checkered(t *testing.T, n int) (*Heap, []Handle) {
	t.Helper()
	h := newHeap(t, nil, Config{Reserve: 256 << 10, Step: 16 << 10, Blocks: 1})
	return h, row(t, h, n, 100)
}

// Every method may be called in an iteration: it ends, blocks are in order and do not overlap,
// and the books are sound.
func TestBlocks_EveryMethodMayBeCalledInTheBody(t *testing.T) {
	for name, body := range map[string]func(h *Heap, kept []Handle, n int){
		"Free":         func(h *Heap, kept []Handle, n int) { h.Free(kept[n%len(kept)]) },
		"FreeLast":     func(h *Heap, kept []Handle, n int) { h.Free(kept[max(len(kept)-1-n, 0)]) },
		"Alloc":        func(h *Heap, _ []Handle, n int) { _, _ = h.Alloc(uintptr(n * 40 % 500)) },
		"Compact":      func(h *Heap, _ []Handle, _ int) { h.Compact(Budget{}) },
		"CompactALot":  func(h *Heap, _ []Handle, _ int) { h.Compact(Budget{Bytes: 250}) },
		"Reset":        func(h *Heap, _ []Handle, n int) { resetAt(h, n, 7) },
		"ResetAtOnce":  func(h *Heap, _ []Handle, n int) { resetAt(h, n, 0) },
		"ResetOften":   func(h *Heap, _ []Handle, n int) { h.Reset(); _, _ = h.Alloc(uintptr(n * 100)) },
		"Trim":         func(h *Heap, _ []Handle, _ int) { _ = h.Trim() },
		"Close":        func(h *Heap, _ []Handle, n int) { closeAt(h, n, 7) },
		"CloseAtOnce":  func(h *Heap, _ []Handle, n int) { closeAt(h, n, 0) },
		"Lock":         func(h *Heap, kept []Handle, n int) { h.Lock(kept[n%len(kept)]) },
		"Bytes":        func(h *Heap, kept []Handle, n int) { h.Bytes(kept[n%len(kept)]) },
		"FreeAndAlloc": func(h *Heap, kept []Handle, n int) { h.Free(kept[n%len(kept)]); _, _ = h.Alloc(90) },
		"Blocks":       func(h *Heap, _ []Handle, _ int) { ordered(h) },
	} {
		t.Run(name, func(t *testing.T) {
			h, kept := checkered(t, 40)
			n, end := 0, uintptr(0)
			for b := range h.Blocks {
				if b.Offset < end || b.Size == 0 || b.Offset+b.Size > h.mem.Committed() {
					t.Fatalf("block %d is %+v, the last one ended at %d", n, b, end)
				}
				end = b.Offset + b.Size
				body(h, kept, n)
				if n++; n > 100_000 {
					t.Fatal("no end")
				}
				mustCheck(t, h)
			}
			if n == 0 {
				t.Error("no block was yielded")
			}
			if h.base != nil && !ordered(h) {
				t.Error("the map has holes afterwards")
			}
		})
	}
}

func resetAt(h *Heap, n, when int) {
	if n == when {
		h.Reset()
	}
}

func closeAt(h *Heap, n, when int) {
	if n == when {
		_ = h.Close()
	}
}

// ordered reports whether the blocks are the committed memory.
func ordered(h *Heap) bool {
	end := uintptr(0)
	for b := range h.Blocks {
		if b.Offset != end {
			return false
		}
		end += b.Size
	}
	return end == h.mem.Committed()
}

// What the body leaves alone is yielded as if nothing had happened.
func TestBlocks_GoesOnBehindWhatWasYielded(t *testing.T) {
	offsets := func(h *Heap, at uintptr, body func()) (seen []Block) {
		for b := range h.Blocks {
			seen = append(seen, b)
			if b.Offset == at {
				body()
			}
		}
		return seen
	}
	h, kept := checkered(t, 6) // free at 0, 224, 448; live at 112, 336, 560; the rest is free
	tail := h.mem.Committed() - 672
	got := offsets(h, 112, func() { h.Free(kept[0]); h.Free(kept[1]) })
	want := []Block{{Offset: 0, Size: 112, Free: true}, {Offset: 112, Size: 112}, {Offset: 224, Size: 336, Free: true}, {Offset: 560, Size: 112}, {Offset: 672, Size: tail, Free: true}}
	if !slices.Equal(got, want) {
		t.Errorf("two blocks freed: %+v, want %+v", got, want)
	}
	h, kept = checkered(t, 6)
	got = offsets(h, 336, func() { h.Compact(Budget{}); h.Lock(kept[2]) }) // all live ones lie before 448 now
	want = []Block{{Offset: 0, Size: 112, Free: true}, {Offset: 112, Size: 112}, {Offset: 224, Size: 112, Free: true}, {Offset: 336, Size: 112}, {Offset: 448, Size: tail + 224, Free: true}}
	if !slices.Equal(got, want) {
		t.Errorf("compacted: %+v, want %+v", got, want)
	}
	h, kept = checkered(t, 6)
	got = offsets(h, 112, func() { h.Lock(kept[1]); mustAlloc(t, h, 50) })
	if len(got) != 7 && len(got) != 8 || !got[len(got)-1].Free || !slices.ContainsFunc(got, func(b Block) bool { return b.Offset == 336 && b.Locked }) {
		t.Errorf("locked and allocated: %+v", got)
	}
	h, _ = checkered(t, 6)
	n := len(offsets(h, 0, func() { h.Reset() }))
	if n != 2 {
		t.Errorf("reset in the first of the blocks: %d blocks, want the free one and the rest of the memory", n)
	}
}

func TestCheck_EveryFlippedBitIsNamedOrTolerated(t *testing.T) {
	h := furnished(t)
	flips := memtest.EveryBit(t, h.Check, h)
	t.Logf("%+v", flips)
	if flips.Integers < 100 || flips.Named < flips.Flipped/2 {
		t.Errorf("%+v", flips)
	}
}
