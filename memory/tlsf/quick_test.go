package tlsf

import (
	"testing"

	"github.com/strata-go/strata/memory/memtest"
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
	if s := h.Stats(); s.Live != 0 || s.InUse != 0 || s.Requested != 0 {
		t.Errorf("what waits is counted: %+v", s)
	}
	if got := memtest.MustAlloc(t, h, 2000, 16); got != q {
		t.Errorf("the newest block is %p, got %p", q, got)
	}
	memtest.MustCheck(t, h)
	h.Free(q, 2000)
	memtest.MustAlloc(t, h, 14<<10, 1) // merges what waits before giving up
	if got := layout(h); got != "aaaaaaaaaaaaaa|..|" {
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
