package guard

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/slab"
	"github.com/strata-go/strata/memory/tlsf"
)

func newGuard(t testing.TB, cfg Config) *Allocator {
	t.Helper()
	h, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20, Step: 32 << 10, Granule: 16})
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(h, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

func mustAlloc(t testing.TB, a memory.Allocator, size, align uintptr) unsafe.Pointer {
	t.Helper()
	p, err := a.Alloc(size, align)
	if err != nil {
		t.Fatalf("Alloc(%d, %d): %v", size, align, err)
	}
	return p
}

func mustCheck(t testing.TB, a *Allocator) {
	t.Helper()
	if err := a.Check(); err != nil {
		t.Errorf("Check: %v", err)
	}
}

func at(p unsafe.Pointer, off int) *byte { return (*byte)(unsafe.Add(p, off)) }

// spawn and kill are call sites with names to look for.
//
//go:noinline
func spawn(t testing.TB, a *Allocator, size uintptr) unsafe.Pointer {
	return mustAlloc(t, a, size, 8)
}

//go:noinline
func kill(a *Allocator, p unsafe.Pointer, size uintptr) { a.Free(p, size) }

func TestNew_BadConfigurationIsRefused(t *testing.T) {
	inner := newGuard(t, Config{})
	for _, c := range []struct {
		inner memory.Allocator
		cfg   Config
		want  string
	}{
		{nil, Config{}, "inner allocator is nil"},
		{(*Allocator)(nil), Config{}, "inner allocator is nil"},
		{inner, Config{CanaryBytes: 4097}, "CanaryBytes 4097: want 1 to 4096"},
		{inner, Config{Frames: 17}, "Frames 17: want 1 to 16"},
		{inner, Config{Frames: -1}, "Frames -1: want 1"},
		{inner, Config{History: -1}, "History -1: want 0 or more"},
	} {
		if a, err := New(c.inner, c.cfg); a != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("New = %v, %v; want %q", a, err, c.want)
		}
	}
	if inner.Inner() == nil {
		t.Error("Inner is nil")
	}
}

func TestAllocator_EveryByteOutsideABlockIsWatched(t *testing.T) {
	for _, canary := range []uintptr{1, 16, 33} {
		for _, size := range []uintptr{0, 1, 100, 5000} {
			for _, al := range []uintptr{1, 64, 4096} {
				a := newGuard(t, Config{CanaryBytes: canary})
				p := mustAlloc(t, a, size, al)
				front := int(max(canary, canary+al-1)&^(al-1)) * -1
				for off := front; off < int(size+canary); off++ {
					if off == 0 {
						off = int(size) // the block itself may be written
					}
					if (size > 1000 || testenv.Brief()) && off > front && off < -1 {
						off = -1 // long canaries: the ends are enough
					}
					*at(p, off) = 0x41
					want, where := fmt.Sprintf("underflow: byte %d of", off), "front canary"
					if off >= 0 {
						want, where = fmt.Sprintf("overflow: byte %d of", off), "back canary"
					}
					if err := a.Check(); err == nil || !strings.Contains(err.Error(), want) {
						t.Fatalf("Check = %v", err)
					}
					memtest.Misuse(t, func() { a.Free(p, size) }, "guard.Free", want, where, "0x41", fmt.Sprintf("of %d bytes", size), "allocator_test.go")
					mustCheck(t, a) // it is said once, and the block can be freed
				}
				mustCheck(t, a)
				a.Free(p, size)
			}
		}
	}
}

func TestAllocator_DamageNamesBlockSideAndCallSite(t *testing.T) {
	a := newGuard(t, Config{})
	p := spawn(t, a, 24)
	*at(p, 26) = 7
	m := memtest.Misuse(t, func() { a.Free(p, 24) }, "overflow: byte 26 of the block of 24 bytes was overwritten with 0x07",
		"behind the block, in the back canary", "allocated at guard.mustAlloc (allocator_test.go:", "from guard.spawn (allocator_test.go:")
	if m.Addr != uintptr(p) || m.Size != 24 {
		t.Errorf("%+v does not name block and size", m)
	}
	*at(p, 26), *at(p, -3) = 7, 9
	var errs interface{ Unwrap() []error }
	if err := a.Check(); !errors.As(err, &errs) || len(errs.Unwrap()) != 2 {
		t.Errorf("Check = %v; want both sides", err)
	}
	memtest.Misuse(t, func() { a.Reset() }, "guard.Reset", "underflow: byte -3", "; and overflow: byte 26")
	if s := a.Stats(); s.Live != 1 || s.Frees != 0 {
		t.Errorf("a refused free changed the books: %+v", s)
	}
}

func TestAllocator_BadFreesAreToldApart(t *testing.T) {
	for _, quarantine := range []uintptr{0, 1 << 16} {
		a := newGuard(t, Config{QuarantineBytes: quarantine})
		other := newGuard(t, Config{})
		foreign := mustAlloc(t, other, 8, 8)
		p := spawn(t, a, 64)
		memtest.Misuse(t, func() { a.Free(p, 65) }, "size 65", "wrong size: the block was requested with 64 bytes, not 65", "guard.spawn")
		memtest.Misuse(t, func() { a.Free(at2(p, 8), 64) }, "interior pointer: it lies 8 bytes from the start of the block of 64 bytes", "which is live", "guard.spawn")
		memtest.Misuse(t, func() { a.Free(at2(p, -1), 64) }, "interior pointer: it lies -1 bytes")
		memtest.Misuse(t, func() { a.Free(foreign, 8) }, "foreign pointer")
		memtest.Misuse(t, func() { a.FreeAny(foreign) }, "guard.FreeAny", "foreign pointer")
		memtest.Misuse(t, func() { a.SizeOf(foreign) }, "guard.SizeOf", "foreign pointer")
		memtest.Misuse(t, func() { a.Resize(p, 63, 10) }, "guard.Resize", "wrong size")
		memtest.Misuse(t, func() { a.Resize(foreign, 8, 10) }, "foreign pointer")
		mustCheck(t, a)
		kill(a, p, 64)
		before := a.Stats()
		for _, f := range []func(){func() { a.Free(p, 64) }, func() { a.FreeAny(p) }, func() { a.SizeOf(p) }} {
			memtest.Misuse(t, f, "double free", "the block of 64 bytes was freed already",
				"allocated at guard.mustAlloc", "from guard.spawn", "first freed at guard.kill (allocator_test.go:")
		}
		if quarantine > 0 {
			memtest.Misuse(t, func() { a.Free(at2(p, 5), 1) }, "interior pointer", "which is in quarantine", "first freed at guard.kill")
		}
		if a.Stats() != before {
			t.Error("refused frees changed the books")
		}
		mustCheck(t, a)
	}
}

func at2(p unsafe.Pointer, off int) unsafe.Pointer { return unsafe.Add(p, off) }

func TestAllocator_HistoryForgetsTheOldest(t *testing.T) {
	a := newGuard(t, Config{History: 2})
	var p [3]unsafe.Pointer
	for i := range p {
		p[i] = mustAlloc(t, a, 100, 8)
	}
	for i := range p {
		a.Free(p[i], 100)
	}
	memtest.Misuse(t, func() { a.Free(p[0], 100) }, "foreign pointer")
	memtest.Misuse(t, func() { a.Free(p[1], 100) }, "double free")
	mustCheck(t, a)
}

func TestQuarantine_FindsWritesAfterFree(t *testing.T) {
	a := newGuard(t, Config{QuarantineBytes: 300})
	p := spawn(t, a, 100) // 132 with canaries: two fit
	kill(a, p, 100)
	*at(p, 42) = 0x41
	if err := a.Check(); err == nil || !strings.Contains(err.Error(), "use after free: byte 42") {
		t.Errorf("Check = %v", err)
	}
	q := mustAlloc(t, a, 100, 8)
	r := mustAlloc(t, a, 100, 8)
	a.Free(q, 100)
	m := memtest.Misuse(t, func() { a.Free(r, 100) }, "use after free: byte 42 of the block of 100 bytes was overwritten with 0x41",
		"inside the block", "from guard.spawn", "first freed at guard.kill")
	if m.Addr != uintptr(p) {
		t.Errorf("names %#x, want %p", m.Addr, p)
	}
	mustCheck(t, a) // it is reported once
	a.Free(r, 100)
	if s := a.Stats(); s.Live != 0 || a.Quarantined() != 264 {
		t.Errorf("live %d, %d bytes in quarantine", s.Live, a.Quarantined())
	}
	*at(q, -1), *at(r, 100) = 1, 1
	memtest.Misuse(t, func() { a.Flush() }, "guard.Flush", "underflow after free: byte -1", fmt.Sprintf("; and at %p: overflow after free: byte 100", r))
	mustCheck(t, a)
	if a.Quarantined() != 0 {
		t.Errorf("%d bytes in quarantine", a.Quarantined())
	}
}

func TestQuarantine_IsFIFOAndBounded(t *testing.T) {
	a := newGuard(t, Config{QuarantineBytes: 3 * 132})
	var p []unsafe.Pointer
	for range 5 {
		p = append(p, mustAlloc(t, a, 100, 8))
	}
	for _, q := range p {
		a.Free(q, 100)
	}
	under := a.Inner().(memory.StatsReporter)
	if a.Quarantined() != 3*132 || under.Stats().Live != 3 {
		t.Errorf("%d bytes in quarantine, inner has %d blocks live", a.Quarantined(), under.Stats().Live)
	}
	seen := map[unsafe.Pointer]bool{mustAlloc(t, a, 100, 8): true, mustAlloc(t, a, 100, 8): true}
	if !seen[p[0]] || !seen[p[1]] {
		t.Error("the oldest did not leave first")
	}
	big := mustAlloc(t, a, 1000, 8)
	a.Free(big, 1000)
	if a.Quarantined() != 3*132 {
		t.Error("a block larger than the quarantine went through it")
	}
	mustCheck(t, a)
}

func TestAlloc_EmptiesTheQuarantineBeforeItFails(t *testing.T) {
	l, err := arena.NewLinear(nil, arena.LinearConfig{Bytes: 1000})
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(l, Config{QuarantineBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	p := mustAlloc(t, a, 900, 1)
	a.Free(p, 900)
	if q := mustAlloc(t, a, 950, 1); uintptr(q) != uintptr(p) {
		t.Errorf("got %p, want the place of the quarantined block, %p", q, p)
	}
	if _, err := a.Alloc(1, 1); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("full: %v", err)
	}
	if s := a.Stats(); s.Failures != 1 {
		t.Errorf("%d failures", s.Failures)
	}
	a.Reset()
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

func TestAllocator_FillsFreshAndFreed(t *testing.T) {
	a := newGuard(t, Config{QuarantineBytes: 1 << 16})
	p := mustAlloc(t, a, 5000, 8)
	for i, c := range unsafe.Slice((*byte)(p), 5000) {
		if c != 0xCD {
			t.Fatalf("fresh byte %d is %#x", i, c)
		}
	}
	a.Free(p, 5000)
	for i, c := range unsafe.Slice((*byte)(p), 5000) {
		if c != 0xDD {
			t.Fatalf("freed byte %d is %#x", i, c)
		}
	}
}

func TestOnFault_ReceivesInsteadOfThePanic(t *testing.T) {
	var got []string
	a := newGuard(t, Config{QuarantineBytes: 1 << 16, OnFault: func(m *memory.Misuse) { got = append(got, m.Reason) }})
	p := mustAlloc(t, a, 40, 8)
	*at(p, 40), *at(p, -1) = 1, 1
	a.Free(p, 41)
	a.Free(p, 40)
	a.Free(p, 40)
	*at(p, 0) = 1
	a.Flush()
	a.FreeAny(at2(p, 1))
	if a.SizeOf(p) != 0 || a.Resize(p, 40, 50) {
		t.Error("a freed block has a size, or was resized")
	}
	a.Reset()
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	a.Reset()
	a.Free(p, 40)
	want := []string{"wrong size", "underflow", "overflow", "double free", "use after free", "foreign", "double free", "double free", "closed", "closed"}
	if len(got) != len(want) {
		t.Fatalf("got %d faults: %q", len(got), got)
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			t.Errorf("fault %d is %q, want %q", i, got[i], want[i])
		}
	}
}

func TestResize_MovesTheBackCanary(t *testing.T) {
	a := newGuard(t, Config{})
	p := mustAlloc(t, a, 100, 8)
	*at(p, 99) = 5
	for _, size := range []uintptr{5000, 30, 100} {
		old := a.SizeOf(p)
		if !a.Resize(p, old, size) || a.SizeOf(p) != size {
			t.Fatalf("Resize to %d failed", size)
		}
		mustCheck(t, a)
		if size > old && (*at(p, int(old)) != 0xCD || *at(p, int(size)-1) != 0xCD) {
			t.Error("what was gained is not filled")
		}
	}
	if a.Resize(p, 100, math.MaxUint-20) || a.Resize(p, 100, 2<<20) {
		t.Error("resized beyond the heap")
	}
	*at(p, 100) = 1
	memtest.Misuse(t, func() { a.Resize(p, 100, 50) }, "guard.Resize", "overflow: byte 100")
	l, err := arena.NewLinear(nil, arena.LinearConfig{Bytes: 1000})
	if err != nil {
		t.Fatal(err)
	}
	b, err := New(&fussy{Allocator: l}, Config{})
	if err != nil {
		t.Fatal(err)
	}
	if b.Resize(mustAlloc(t, b, 10, 1), 10, 5) {
		t.Error("resized what inner cannot")
	}
	b.Reset()
	l.Close()
}

// fussy refuses frees, like a stack out of order, and has no capability.
type fussy struct {
	memory.Allocator
	refuse      bool
	refuseAfter int // frees; 0 means never
}

func (f *fussy) Free(p unsafe.Pointer, size uintptr) {
	if f.refuseAfter > 1 || f.refuse {
		panic(&memory.Misuse{Package: "fussy", Op: "Free", Reason: "not now"})
	}
	if f.refuseAfter > 0 {
		f.refuseAfter++
	}
	f.Allocator.Free(p, size)
}

func TestAllocator_BooksSurviveARefusalOfInner(t *testing.T) {
	f := &fussy{Allocator: newGuard(t, Config{})}
	a, err := New(f, Config{})
	if err != nil {
		t.Fatal(err)
	}
	p := mustAlloc(t, a, 10, 8)
	f.refuse = true
	memtest.Misuse(t, func() { a.Free(p, 10) }, "fussy.Free: not now")
	mustCheck(t, a)
	if !a.Owns(p) || a.Owns(unsafe.Pointer(f)) || a.Stats().Live != 1 || a.Stats().Reserved == 0 {
		t.Errorf("after a refused free: %+v", a.Stats())
	}
	f.refuse = false
	a.Free(p, 10)
	mustCheck(t, a)
	mustAlloc(t, a, 10, 8)
	mustAlloc(t, a, 10, 8)
	a.Reset() // one by one
	if s := a.Stats(); s.Live != 0 || f.Allocator.(*Allocator).Stats().Live != 0 {
		t.Error("Reset left blocks")
	}
	mustCheck(t, a)
	if err := a.Close(); err != nil { // fussy has no Close
		t.Error(err)
	}
}

func TestAlloc_NoticesThatInnerWasResetBehindIt(t *testing.T) {
	var got []string
	a := newGuard(t, Config{OnFault: func(m *memory.Misuse) { got = append(got, m.Error()) }})
	p := spawn(t, a, 100)
	a.Inner().(memory.Resetter).Reset()
	if q := mustAlloc(t, a, 100, 8); q != p {
		t.Fatal("inner did not hand out the same block")
	}
	if len(got) != 1 || !strings.Contains(got[0], "inner returned a block that is live") || !strings.Contains(got[0], "guard.spawn") {
		t.Errorf("got %q", got)
	}
	mustCheck(t, a)
	if s := a.Stats(); s.Live != 1 || s.Allocs != 2 {
		t.Errorf("%+v", s)
	}
}

func TestAllocator_AfterClose(t *testing.T) {
	a := newGuard(t, Config{})
	p := mustAlloc(t, a, 8, 8)
	a.Free(p, 8)
	for range 2 {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := a.Alloc(1, 1); !errors.Is(err, memory.ErrClosed) {
		t.Errorf("Alloc: %v", err)
	}
	memtest.Misuse(t, func() { a.Free(p, 8) }, "guard.Free", "the allocator is closed")
	memtest.Misuse(t, func() { a.FreeAny(p) }, "the allocator is closed")
	memtest.Misuse(t, func() { a.SizeOf(p) }, "the allocator is closed")
	memtest.Misuse(t, func() { a.Reset() }, "guard.Reset: the allocator is closed")
	a.Free(nil, 0)
	a.FreeAny(nil)
	mustCheck(t, a)
}

func TestStats_CountsWhatCallersHave(t *testing.T) {
	a := newGuard(t, Config{QuarantineBytes: 1 << 16})
	p := mustAlloc(t, a, 100, 8)
	q := mustAlloc(t, a, 100, 256)
	want := memory.Stats{InUse: 132 + 256 + 116, Peak: 504, Live: 2, Allocs: 2, Requested: 200, Measured: 132 + 256 + 116}
	got := a.Stats()
	if got.Committed == 0 || got.Reserved == 0 || got.LargestFree == 0 {
		t.Errorf("inner's figures are missing: %+v", got)
	}
	if mustAlloc(t, a, uintptr(got.LargestFree), 1); a.Stats().Committed != got.Committed {
		t.Error("a request of LargestFree needed more memory")
	}
	got.Reserved, got.Committed, got.LargestFree, got.Free = 0, 0, 0, 0
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	a.Free(p, 100)
	a.Free(q, 100)
	if s := a.Stats(); s.Live != 1 || s.Frees != 2 || a.Quarantined() != 504 {
		t.Errorf("%+v, %d in quarantine", s, a.Quarantined())
	}
}

func TestAllocator_ABlockThatInnerPassedOnIsNoSignOfItsEnd(t *testing.T) {
	large := newGuard(t, Config{})
	h, err := slab.New(nil, slab.Config{Large: large})
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(h, Config{})
	if err != nil {
		t.Fatal(err)
	}
	p, q := mustAlloc(t, a, 10_000, 8), mustAlloc(t, a, 10, 8)
	r := mustAlloc(t, a, 10_000, 8) // h.Owns neither this one nor the first
	mustCheck(t, a)
	a.Free(r, 10_000)
	a.Free(q, 10)
	a.Free(p, 10_000)
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

// The newest block need not be one that inner owns: the guard must find another one that shows the end.
func TestAllocator_FindsTheEndBehindABlockPassedOn(t *testing.T) {
	const all = 2*(100+32) + 2*(100_000+32) // bytes with canaries
	for _, quarantine := range []uintptr{0, all - 1} {
		src := memtest.NewMortal(t, nil, 8<<20)
		large, err := tlsf.New(src.Carve, tlsf.Config{Reserve: 2 << 20})
		if err != nil {
			t.Fatal(err)
		}
		h, err := slab.New(src.Carve, slab.Config{Reserve: 2 << 20, Large: large})
		if err != nil {
			t.Fatal(err)
		}
		a, err := New(h, Config{QuarantineBytes: quarantine})
		if err != nil {
			t.Fatal(err)
		}
		p, q := mustAlloc(t, a, 100, 8), mustAlloc(t, a, 100, 8)
		r, s := mustAlloc(t, a, 100_000, 8), mustAlloc(t, a, 100_000, 8)
		if a.Free(q, 100); quarantine > 0 { // q would show the end, but is returned to inner, here by the last Free
			a.Free(p, 100)
			a.Free(r, 100_000)
			a.Free(s, 100_000)
		}
		mustCheck(t, a)
		src.End(t)
		if _, err := a.Alloc(1, 1); err != memory.ErrClosed {
			t.Errorf("quarantine of %d: Alloc: %v", quarantine, err)
		}
		if n := a.Stats().Live; n != 0 {
			t.Fatalf("quarantine of %d: %d blocks are live after the end", quarantine, n)
		}
		memtest.Misuse(t, func() { a.Free(s, 100_000) }, "the allocator is closed")
		if err := errors.Join(a.Check(), a.Close()); err != nil {
			t.Error(err)
		}
	}
}

func TestQuarantined_IsZeroAfterTheEndOfInner(t *testing.T) {
	src := memtest.NewMortal(t, nil, 1<<20)
	inner, err := slab.New(src.Carve, slab.Config{Reserve: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(inner, Config{QuarantineBytes: 1 << 16})
	if err != nil {
		t.Fatal(err)
	}
	a.Free(mustAlloc(t, a, 100, 8), 100)
	src.End(t)
	if n := a.Quarantined(); n != 0 {
		t.Errorf("%d bytes in quarantine", n)
	}
}

func TestReset_HooksOfInnerSeeTheBlocksAsTheyWere(t *testing.T) {
	l, err := arena.NewLinear(nil, arena.LinearConfig{Bytes: 1000})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	a, err := New(l, Config{})
	if err != nil {
		t.Fatal(err)
	}
	p := mustAlloc(t, a, 8, 8)
	*at(p, 3) = 42
	var q unsafe.Pointer
	l.OnReset(func() {
		if *at(p, 3) != 42 {
			t.Errorf("the hook finds %#x", *at(p, 3))
		}
		q = mustAlloc(t, a, 8, 8) // dies with the rest
	})
	a.Reset()
	mustCheck(t, a)
	if *at(p, 3) != 0xDD || a.Stats().Live != 0 || l.Stats().Live != 0 {
		t.Errorf("after Reset %#x, %d live, %d with inner", *at(p, 3), a.Stats().Live, l.Stats().Live)
	}
	memtest.Misuse(t, func() { a.Free(q, 8) }, "freed already")
}

func TestReset_WhatInnerRefusesHasNotHappened(t *testing.T) {
	h, err := slab.New(nil, slab.Config{})
	if err != nil {
		t.Fatal(err)
	}
	central, err := slab.NewCentral(h)
	if err != nil {
		t.Fatal(err)
	}
	cache := slab.NewCache(central)
	a, err := New(central, Config{QuarantineBytes: 1000})
	if err != nil {
		t.Fatal(err)
	}
	p := mustAlloc(t, a, 8, 8)
	a.Free(mustAlloc(t, a, 8, 8), 8)
	*at(p, 3) = 42
	before := a.Stats()
	memtest.Misuse(t, func() { a.Reset() }, "slab.Reset", "caches of the heap are open")
	if a.Stats() != before || a.Quarantined() == 0 || *at(p, 3) != 42 {
		t.Errorf("%+v, before %+v; the block holds %#x", a.Stats(), before, *at(p, 3))
	}
	mustCheck(t, a)
	if err := cache.Close(); err != nil {
		t.Fatal(err)
	}
	a.Reset()
	mustCheck(t, a)
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

func TestAllocator_TheZeroOneIsAsIfClosed(t *testing.T) {
	var a Allocator
	if _, err := a.Alloc(1, 1); err != memory.ErrClosed {
		t.Errorf("Alloc: %v", err)
	}
	for _, f := range []func(){func() { a.Free(unsafe.Pointer(&a), 1) }, func() { a.SizeOf(nil) }, a.Reset} {
		a = Allocator{}
		memtest.Misuse(t, f, "the allocator is closed")
	}
	a = Allocator{}
	if err := errors.Join(a.Check(), a.Close()); err != nil || a.Leaks() != nil || a.Stats() != (memory.Stats{}) {
		t.Errorf("%v, %+v", err, a.Stats())
	}
}

func TestReset_FreesWhatInnerHadPassedOn(t *testing.T) {
	large, err := tlsf.New(nil, tlsf.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer large.Close()
	h, err := slab.New(nil, slab.Config{Large: large})
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(h, Config{QuarantineBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		mustAlloc(t, a, 100, 8)
		mustAlloc(t, a, 100_000, 8)
		a.Free(mustAlloc(t, a, 200_000, 8), 200_000)
		if large.Stats().Live != 2 {
			t.Fatalf("%d blocks of large live", large.Stats().Live)
		}
		a.Reset()
		mustCheck(t, a)
		if n := large.Stats().Live; n != 0 || h.Stats().Live != 0 {
			t.Errorf("after Reset %d blocks of large live, %d of slab", n, h.Stats().Live)
		}
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

// An inner that ends in its own Reset, as one does whose hook closes it, has its memory no more;
// one without Stats may have unmapped it.
func TestReset_TouchesNoBlockOfAnInnerThatHasEnded(t *testing.T) {
	for name, wrap := range map[string]func(*slab.Heap) memory.Allocator{
		"ends":     func(h *slab.Heap) memory.Allocator { return ending{h} },
		"owns nil": func(h *slab.Heap) memory.Allocator { return mute{h, h} },
		"as it is": func(h *slab.Heap) memory.Allocator { return h },
	} {
		h, err := slab.New(nil, slab.Config{})
		if err != nil {
			t.Fatal(err)
		}
		a, err := New(wrap(h), Config{})
		if err != nil {
			t.Fatal(err)
		}
		p := mustAlloc(t, a, 100, 8)
		a.Reset() // faults where the memory is gone and is filled
		if name == "as it is" && *at(p, 3) != 0xDD {
			t.Errorf("%s: after Reset the block holds %#x", name, *at(p, 3))
		}
		if n := a.Stats().Live; n != 0 {
			t.Errorf("%s: %d live", name, n)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
}

type ending struct{ *slab.Heap }

func (e ending) Reset() { _ = e.Close() }

type mute struct {
	memory.Allocator
	memory.Resetter
}

func TestAllocator_ItsBaseIsInners(t *testing.T) {
	inner, err := tlsf.New(nil, tlsf.Config{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(inner, Config{})
	if err != nil {
		t.Fatal(err)
	}
	if a.Base() != inner.Base() || a.Base() == nil {
		t.Errorf("Base is %p, inner's %p", a.Base(), inner.Base())
	}
	if err := a.Close(); err != nil || a.Base() != nil {
		t.Errorf("closed: %v, %p", err, a.Base())
	}
	plain, err := New(struct{ memory.Allocator }{inner}, Config{})
	if err != nil || plain.Base() != nil {
		t.Errorf("%v; over an inner without a base it is %p", err, plain.Base())
	}
}

func TestAllocator_ClosedItHasNothingReserved(t *testing.T) {
	inner, err := tlsf.New(nil, tlsf.Config{Reserve: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(struct{ memory.Allocator }{inner}, Config{}) // which does not report
	if err != nil {
		t.Fatal(err)
	}
	a.Free(mustAlloc(t, a, 100, 16), 100)
	if a.Stats().Reserved == 0 {
		t.Errorf("open: %+v", a.Stats())
	}
	if err := errors.Join(a.Close(), inner.Close()); err != nil {
		t.Error(err)
	}
	if s := a.Stats(); s.Reserved|s.Committed|s.InUse != 0 {
		t.Errorf("closed: %+v", s)
	}
}

// A cutting heap panics in Resize after it has filled what it cut off, and given it back.
type cutting struct{ *tlsf.Heap }

func (c cutting) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	if newSize < oldSize {
		fill(unsafe.Slice((*byte)(unsafe.Add(p, newSize)), oldSize-newSize), &freshPage)
	}
	panic("hook")
}

// A Resize that panics damages no canary.
func TestAllocator_AResizeThatPanicsIsNoDamage(t *testing.T) {
	inner, err := tlsf.New(nil, tlsf.Config{Reserve: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(cutting{inner}, Config{})
	if err != nil {
		t.Fatal(err)
	}
	p := memtest.MustAlloc(t, a, 100, 8)
	func() {
		defer func() {
			if r := recover(); r != "hook" {
				t.Errorf("Resize: %v", r)
			}
		}()
		a.Resize(p, 100, 10)
	}()
	memtest.MustCheck(t, a)
	a.Free(p, 100)
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}
