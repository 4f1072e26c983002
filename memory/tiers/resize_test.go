package tiers

import (
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

func TestManager_ResizeDoesWhatTheTierCan(t *testing.T) {
	m := furnish(t, small())
	for _, c := range []struct {
		name string
		p    unsafe.Pointer
		from uintptr
		to   uintptr
		want bool
	}{
		{"slab, to the end of its class", m.ofSlab, 100, 112, true},
		{"slab, a byte beyond", m.ofSlab, 112, 113, false},
		{"slab, into large", m.ofSlab, 112, 5000, false},
		{"slab, a class less", m.ofSlab, 112, 96, false},
		{"slab, back", m.ofSlab, 112, 100, true},
		{"large, into what is free", m.ofLarge, 10_000, 20_000, true},
		{"large, into what is not committed", m.ofLarge, 20_000, 200_000, true},
		{"large, beyond the tier", m.ofLarge, 200_000, 9 << 20, false},
		{"large, to the size of a small block", m.ofLarge, 200_000, 10, true},
		{"large, back", m.ofLarge, 10, 10_000, true},
		{"frame, the newest", m.ofFrame, 100, 200, true},
		{"frame, beyond its buffer", m.ofFrame, 200, 1 << 20, false},
		{"frame, back", m.ofFrame, 200, 100, true},
		{"level, into what is not committed", m.ofLevel, 100, 700_000, true},
		{"level, beyond the tier", m.ofLevel, 700_000, 5 << 20, false},
		{"level, back", m.ofLevel, 700_000, 100, true},
		{"static, as it is", m.ofStatic, 5000, 5000, true},
		{"static, less", m.ofStatic, 5000, 4999, false},
		{"static, more", m.ofStatic, 5000, 5001, false},
		{"a worker's, as it is", m.ofWorker, 10_000, 10_000, true},
		{"a worker's, less", m.ofWorker, 10_000, 9_999, false},
		{"a worker's, more", m.ofWorker, 10_000, 10_001, false},
	} {
		before := m.allStats()
		if got := m.Resize(c.p, c.from, c.to); got != c.want {
			t.Fatalf("%s: Resize = %t", c.name, got)
		}
		if after := m.allStats(); !c.want && after != before {
			t.Errorf("%s: a refusal changed the books from %+v to %+v", c.name, before, after)
		}
		must(t, m.Check())
	}
	part := m.inbox.parts[0].Memory()
	_, scratch := m.cfg.scratchBytes()
	part.Size = m.cfg.Reserve[Inbox] - scratch
	if m.Resize(unsafe.Add(part.Base, part.Size-1), 1, 2) { // as far as the game can know
		t.Error("the last byte of a worker's heap was resized")
	}
	q := alloc(t, m.Level(), 10)
	if m.Resize(m.ofLevel, 100, 101) {
		t.Error("a block of the level that is not the newest one was resized")
	}
	m.Free(q, 10)
	if !m.Resize(m.ofLarge, 10_000, 12_345) || m.SizeOf(m.ofLarge) != 12_345 {
		t.Errorf("SizeOf = %d", m.SizeOf(m.ofLarge))
	}
	m.Free(m.ofLarge, 12_345)
	m.Free(m.ofSlab, 100)
	if a, b := m.Stats(Slab), m.Stats(Large); a.Live != 0 || b.Live != 0 || b.InUse != 0 {
		t.Errorf("slab %+v, large %+v", a, b)
	}
}

func TestManager_ResizeRefusesWhatFreeRefuses(t *testing.T) {
	m := furnish(t, small())
	_, scratch := m.cfg.scratchBytes()
	for _, c := range append(m.refusals(t),
		refusal{"a worker's, longer than its heap", m.ofWorker, 4<<20 + 1, "no block of that size lies there in the worker's heap"},
		refusal{"a worker's, the last byte of its heap", unsafe.Add(m.inbox.parts[0].Memory().Base, m.cfg.Reserve[Inbox]-scratch-1), 2, "no block of that size"},
		refusal{"nothing", nil, 0, "no tier of this manager owns the address"},
	) {
		for _, to := range []uintptr{0, c.size, c.size + 1} {
			m.refuse(t, "Resize", c, func() { m.Resize(c.p, c.size, to) })
		}
	}
	must(t, m.Check())
}

func TestManager_ABlockOfAFrameThatIsOverDoesNotGrow(t *testing.T) {
	m := newManager(t, small())
	must(t, m.BeginFrame())
	p := alloc(t, m.Frame(), 100)
	must(t, m.EndFrame())
	if m.Resize(p, 100, 101) {
		t.Error("a block grew outside a frame")
	}
	memtest.Misuse(t, func() { m.Resize(p, 99+100, 500) }, "arena.Resize")
	if !m.Resize(p, 100, 90) {
		t.Error("the newest block of the frame before did not get smaller")
	}
	must(t, m.BeginFrame())
	if m.Resize(p, 90, 91) || m.Resize(p, 90, 89) {
		t.Error("a block of the frame before was resized within the next")
	}
	must(t, m.EndFrame())
	must(t, m.Check())
}

func TestManager_GrowWorksAcrossTheTiers(t *testing.T) {
	m := newManager(t, small())
	must(t, m.BeginLevel())
	p := alloc(t, m, 8)
	*(*uint64)(p) = 0xC0FFEE
	size := uintptr(8)
	for _, to := range []uintptr{16, 100, 4096, 4097, 100_000, 4096, 20, 5000, 0, 8} {
		q, err := memory.Grow(m, p, size, to, 16)
		if err != nil || to >= 8 && *(*uint64)(q) != 0xC0FFEE && size >= 8 {
			t.Fatalf("from %d to %d bytes: %v", size, to, err)
		}
		want := Slab
		if was, _ := m.Inspect().TierOf(p); to > 4096 || was == Large { // what is large stays where it is
			want = Large
		}
		if tier, _ := m.Inspect().TierOf(q); tier != want || m.Stats(Slab).Live+m.Stats(Large).Live != 1 || m.SizeOf(q) < to {
			t.Errorf("%d bytes lie in %v, want %v; %+v, %+v", to, tier, want, m.Stats(Slab), m.Stats(Large))
		}
		must(t, m.Check())
		p, size = q, to
	}
	m.Free(p, size)
	if leaks := m.leaks(nil); leaks.Any() {
		t.Error(leaks)
	}
}

func TestManager_AGrownBlockKeepsItsLevel(t *testing.T) {
	m := newManager(t, small())
	old := alloc(t, m, 10_000)
	must(t, m.BeginLevel())
	young := alloc(t, m, 100)
	if !m.Resize(old, 10_000, 9_000) {
		t.Fatal("a block did not get smaller")
	}
	q, err := memory.Grow(m, young, 100, 50_000, 16)
	must(t, err)
	if !m.Resize(q, 50_000, 60_000) {
		t.Fatal("the newest block did not grow")
	}
	leaks, err := m.EndLevel()
	must(t, err)
	if leaks.Tiers[Slab].Blocks != 0 || leaks.Tiers[Large].Blocks != 1 || leaks.Tiers[Large].Bytes < 60_000 {
		t.Errorf("%v; want the block that grew, and not the older one", leaks)
	}
	must(t, m.BeginLevel())
	if _, err = memory.Grow(m, q, 60_000, 2<<20, 16); err != nil {
		t.Fatal(err)
	}
	if leaks, err = m.EndLevel(); err != nil || leaks.Tiers[Large].Blocks != 0 {
		t.Errorf("%v, %v: it grew where it lies, and is older than the level", leaks, err)
	}
	must(t, m.Check())
}

func TestManager_GrowKeepsToTheBudget(t *testing.T) {
	cfg := small()
	cfg.Budget[Large] = 1 << 20
	m := newManager(t, cfg)
	p := alloc(t, m, 600_000)
	*(*uint64)(p) = 7
	before := m.allStats()
	q, err := memory.Grow(m, p, 600_000, 1<<20+1, 16)
	if err == nil || q != p || *(*uint64)(p) != 7 {
		t.Errorf("%p, was %p, %v", q, p, err)
	}
	before[Large].Failures++
	if after := m.allStats(); after != before || m.limits[Large].Committed() > cfg.Budget[Large] {
		t.Errorf("%+v, was %+v", after[Large], before[Large])
	}
	if q, err = memory.Grow(m, p, 600_000, 1<<20-page.Granule, 16); err != nil || q != p {
		t.Errorf("within the budget: %p, was %p, %v", q, p, err)
	}
	must(t, m.Check())
}

func TestWorker_ResizeTakesInWhatCameHome(t *testing.T) {
	m := newManager(t, small())
	w := m.Worker(0)
	p, behind := alloc(t, w, 10_000), alloc(t, w, 10_000)
	alloc(t, w, 100)
	if w.Resize(p, 10_000, 20_000) {
		t.Fatal("a block grew over another")
	}
	m.Free(behind, 10_000) // comes home with the worker's next call
	if !w.Resize(p, 10_000, 20_000) {
		t.Error("what came home was not taken in")
	}
	memtest.Misuse(t, func() { w.Resize(p, 10_000, 30_000) }, "tlsf.Resize", "wrong size")
	must(t, m.Check())
	must(t, m.Close())
	memtest.Misuse(t, func() { w.Resize(p, 20_000, 30_000) }, "tlsf.Resize", "the heap is closed")
}

// The game goroutine grows what a worker has made while the worker resizes its own.
func TestManager_AWorkersBlockGrowsIntoTheGeneralHeap(t *testing.T) {
	m := newManager(t, small())
	w := m.Worker(0)
	p := alloc(t, w, 10_000)
	*(*uint64)(unsafe.Add(p, 9_992)) = 7
	done := make(chan error)
	go func() {
		own, err := w.Alloc(100, 16)
		for i := range uintptr(2000) {
			if err == nil {
				own, err = memory.Grow(w, own, 100+i*8, 108+i*8, 16)
			}
		}
		done <- err
	}()
	q, err := memory.Grow(m, p, 10_000, 20_000, 16)
	must(t, err)
	must(t, <-done)
	if tier, _ := m.Inspect().TierOf(q); tier != Large || *(*uint64)(unsafe.Add(q, 9_992)) != 7 {
		t.Errorf("in %v", tier)
	}
	w.Settle()
	if live := m.Stats(Inbox).Live; live != 1 {
		t.Errorf("%d blocks of the worker are live, want its own", live)
	}
	must(t, m.Check())
}
