package tlsf

import (
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

func TestQuick_WaitsForTheNextRequestOfItsBin(t *testing.T) {
	h := newHeap(t, nil, Config{Reserve: 16 << 10, Granule: 1 << 10, QuickBytes: 4 << 10})
	p, q, r := memtest.MustAlloc(t, h, 2048, 1), memtest.MustAlloc(t, h, 2048, 1), memtest.MustAlloc(t, h, 2048, 1)
	h.Free(p, 2048)
	h.Free(q, 2048)
	h.Free(r, 2048) // beyond the budget
	if got := layout(h); got != "qq|qq|............|" {
		t.Fatal(got)
	}
	if got := memtest.MustAlloc(t, h, 2000, 16); got != q {
		t.Errorf("the newest block is %p, got %p", q, got)
	}
	memtest.MustCheck(t, h)
	h.Free(q, 2000)
	if s := h.Stats(); s.Live != 0 || s.InUse != 0 || s.Requested != 0 || s.LargestFree != 16<<10 || s.Free != 16<<10 || h.quick.held != 0 {
		t.Errorf("everything is free: %+v, %d wait", s, h.quick.held)
	}
	h.Free(memtest.MustAlloc(t, h, 2048, 1), 2048)
	memtest.MustAlloc(t, h, 15<<10, 1) // merges what waits before giving up
	if got := layout(h); got != "aaaaaaaaaaaaaaa|.|" {
		t.Error(got)
	}
}

func TestQuick_TrimAndResetLeaveNothingWaiting(t *testing.T) {
	h := newHeap(t, nil, Config{Reserve: 32 << 10, Step: 16 << 10, QuickBytes: 32 << 10})
	h.Free(memtest.MustAlloc(t, h, 2048, 1), 2048)
	if err := h.Trim(); err != nil || h.Stats().Committed != 0 {
		t.Errorf("Trim: %v, %d bytes committed", err, h.Stats().Committed)
	}
	h.Free(memtest.MustAlloc(t, h, 2048, 1), 2048)
	h.Reset()
	memtest.MustCheck(t, h)
	memtest.MustAlloc(t, h, 32<<10, 1)
}

// Free blocks that a request rounded up to its bin does not fit are taken all the same before more
// memory is committed, and Stats merges what waits before it says what is the largest.
func TestQuick_LargestFreeIsHadWithoutMoreMemory(t *testing.T) {
	h := newHeap(t, nil, Config{Reserve: 4 << 20, Granule: 256, QuickBytes: 64 << 10, Step: 1 << 20})
	memtest.MustAlloc(t, h, 100_000, 1)
	takeLargest(t, h)

	full := newHeap(t, nil, Config{Reserve: 4 << 20, QuickBytes: 512 << 10, Step: 512 << 10})
	var p []unsafe.Pointer
	for range 128 {
		p = append(p, memtest.MustAlloc(t, full, 4096, 1))
	}
	for _, q := range p {
		full.Free(q, 4096)
	}
	if s := full.Stats(); s.LargestFree != 512<<10 || s.Free != 512<<10 {
		t.Errorf("512 KiB wait in one piece: %+v", s)
	}
	takeLargest(t, full)
}

// takeLargest allocates and frees LargestFree bytes: no memory may be committed for them, and
// must be for a byte more.
func takeLargest(t *testing.T, h *Heap) {
	t.Helper()
	before := h.Stats()
	most := uintptr(before.LargestFree)
	if most == 0 {
		return
	}
	p := memtest.MustAlloc(t, h, most, 1)
	if after := h.Stats(); after.Committed != before.Committed {
		t.Fatalf("LargestFree is %d, and took committed memory from %d to %d", most, before.Committed, after.Committed)
	}
	h.Free(p, most)
	memtest.MustCheck(t, h)
	if s := h.Stats(); s.LargestFree < before.LargestFree || s.Free != before.Free {
		t.Fatalf("freed, and the largest is %d of %d free, was %d of %d", s.LargestFree, s.Free, before.LargestFree, before.Free)
	}
	before = h.Stats()
	most = uintptr(before.LargestFree) + 1
	if p, err := h.Alloc(most, 1); err == nil {
		if h.Stats().Committed == before.Committed {
			t.Fatalf("LargestFree is %d, and %d bytes were had of the %d that are committed", before.LargestFree, most, before.Committed)
		}
		h.Free(p, most)
		if err := h.Trim(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestHeap_LargestFreeIsTrueAnywhereInARandomProgram(t *testing.T) {
	testenv.Long(t)
	for seed, quick := range []uintptr{0, 1 << 10, 16 << 10, 128 << 10, 4 << 20} {
		for _, granule := range []uintptr{64, 256, 2048} {
			h := newHeap(t, nil, Config{Reserve: 1 << 20, Step: 32 << 10, Granule: granule, QuickBytes: quick})
			if err := h.AddPool(nil, 256<<10); err != nil {
				t.Fatal(err)
			}
			r, shadow := rng(seed+1), memtest.NewShadow(t)
			for step := range memtest.Rounds(3000) {
				if grows := step/300%2 == 0; r.upTo(8) > 2 == grows {
					size, al := uintptr(r.upTo(6000)), uintptr(1)<<r.upTo(13)
					if p, err := h.Alloc(size, al); err == nil {
						shadow.Add(p, size, al)
					}
				} else if n := len(shadow.Live()); n > 0 {
					h.FreeAny(shadow.Take(int(r.upTo(uint64(n)))).Ptr)
				}
				if step%7 == 0 {
					takeLargest(t, h)
				}
			}
			shadow.FreeAll(h)
		}
	}
}
