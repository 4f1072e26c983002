package guard

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
)

// shrinking owns the blocks that are live and nothing else, like an allocator that unmaps
// what comes back.
type shrinking struct {
	*Allocator
	closed bool
}

func (s *shrinking) Owns(p unsafe.Pointer) bool { return !s.closed && s.Allocator.covering(p) != 0 }

func TestAllocator_AnInnerThatUnmapsIsNotTakenForClosed(t *testing.T) {
	inner := &shrinking{Allocator: newGuard(t, Config{})}
	a, err := New(inner, Config{})
	if err != nil {
		t.Fatal(err)
	}
	p := mustAlloc(t, a, 100, 8)
	for _, newest := range []func(q unsafe.Pointer){
		func(q unsafe.Pointer) { a.Free(q, 50) },
		func(q unsafe.Pointer) { a.cfg.QuarantineBytes = 1000; a.FreeAny(q); a.Flush() },
	} {
		newest(mustAlloc(t, a, 50, 8))
		if !a.Owns(p) || a.SizeOf(p) != 100 {
			t.Fatal("the block that is live is forgotten")
		}
	}
	a.Reset()
	p = mustAlloc(t, a, 100, 8)
	mustCheck(t, a)
	inner.closed = true
	memtest.Misuse(t, func() { a.Free(p, 100) }, "the allocator is closed")
}

func TestQuarantine_WhatOneFreePushesOutIsToldWhole(t *testing.T) {
	a := newGuard(t, Config{QuarantineBytes: 300})
	p, q := spawn(t, a, 100), spawn(t, a, 100)
	big := spawn(t, a, 250)
	a.Free(p, 100)
	a.Free(q, 100)
	*at(p, 3), *at(p, -2), *at(q, 7) = 1, 2, 3
	m := memtest.Misuse(t, func() { a.Free(big, 250) }, "underflow after free: byte -2", "; and use after free: byte 3 of",
		fmt.Sprintf("; and at %#x: use after free: byte 7 of", uintptr(q)))
	if m.Addr != uintptr(p) {
		t.Errorf("names %#x first; want %p", m.Addr, p)
	}
	if a.Free(big, 250); a.Quarantined() != 282 {
		t.Errorf("%d bytes are in quarantine; want 282", a.Quarantined())
	}
	mustCheck(t, a)
}

func TestReset_BooksSurviveARefusalOfInner(t *testing.T) {
	f := &fussy{Allocator: newGuard(t, Config{})}
	a, err := New(f, Config{})
	if err != nil {
		t.Fatal(err)
	}
	p := mustAlloc(t, a, 10, 8)
	mustAlloc(t, a, 10, 8)
	f.refuseAfter = 1
	memtest.Misuse(t, func() { a.Reset() }, "fussy.Free: not now")
	mustCheck(t, a)
	if s := a.Stats(); s.Live != 1 || s.Frees != 1 {
		t.Errorf("after a Reset that freed one of two: %+v", s)
	}
	m := memtest.Misuse(t, func() { a.Free(p, 11) }, "wrong size")
	if strings.Contains(m.Reason, "freed at") {
		t.Errorf("a live block was freed before: %s", m.Reason)
	}
	f.refuseAfter = 0
	a.Reset()
	if s := a.Stats(); s.Live != 0 || s.Frees != 2 {
		t.Errorf("after Reset: %+v", s)
	}
	mustCheck(t, a)
}

func TestQuarantine_ARefusalOfInnerLeavesTheBlockLive(t *testing.T) {
	f := &fussy{Allocator: newGuard(t, Config{})}
	a, err := New(f, Config{QuarantineBytes: 300})
	if err != nil {
		t.Fatal(err)
	}
	var p [3]unsafe.Pointer
	for i := range p {
		p[i] = mustAlloc(t, a, 100, 8)
	}
	a.Free(p[0], 100)
	a.Free(p[1], 100)
	f.refuse = true
	memtest.Misuse(t, func() { a.Free(p[2], 100) }, "fussy.Free: not now")
	mustCheck(t, a)
	if s := a.Stats(); s.Live != 1 || a.Quarantined() != 264 || *at(p[2], 0) != 0xCD {
		t.Errorf("after a refused free: %+v, %d bytes in quarantine, the first byte 0x%X", s, a.Quarantined(), *at(p[2], 0))
	}
	f.refuse = false
	a.Free(p[2], 100)
	mustCheck(t, a)
}

func TestOnFault_HearsOfEachFindingByItself(t *testing.T) {
	var got []*memory.Misuse
	a := newGuard(t, Config{QuarantineBytes: 1000, OnFault: func(m *memory.Misuse) { got = append(got, m) }})
	p := spawn(t, a, 100)
	a.Free(p, 100)
	*at(p, 3), *at(p, -2), *at(p, 100) = 1, 2, 3
	a.Flush()
	if len(got) != 3 {
		t.Fatalf("%d findings; want 3: %v", len(got), got)
	}
	for i, want := range []string{"underflow after free: byte -2", "use after free: byte 3", "overflow after free: byte 100"} {
		if !strings.HasPrefix(got[i].Reason, want) || strings.Contains(got[i].Reason, "; and ") {
			t.Errorf("finding %d is %q; want %q alone", i, got[i].Reason, want)
		}
	}
}

func TestReset_FillsWhatItFrees(t *testing.T) {
	a := newGuard(t, Config{})
	p := spawn(t, a, 100)
	a.Reset()
	if *at(p, 50) != 0xDD {
		t.Errorf("a block that Reset freed holds 0x%X; want 0xDD", *at(p, 50))
	}
}

func TestStomp_ABlockMayTakeAllButTwoPages(t *testing.T) {
	s := newStomp(t, StompConfig{Reserve: 4 * unit})
	if _, err := s.Alloc(2*unit+1, 1); !errors.Is(err, memory.ErrTooLarge) {
		t.Errorf("a block of more: %v", err)
	}
	memtest.MustAlloc(t, s, 2*unit, 1)
	memtest.MustCheck(t, s)
}

// Behind a block there is no more than its alignment asks for. One of no bytes has its address in
// its pages, and as near to their end.
func TestStomp_ABlockEndsWithItsPages(t *testing.T) {
	s := newStomp(t, StompConfig{})
	for _, al := range []uintptr{1, 2, 16, 4096} {
		for _, size := range []uintptr{0, 1, 100, unit} {
			p := memtest.MustAlloc(t, s, size, al)
			if behind := -(uintptr(p) + size) % unit; size > 0 && behind >= al || size == 0 && behind != al {
				t.Errorf("%d bytes aligned to %d have %d behind them", size, al, behind)
			}
			s.Free(p, size)
		}
	}
}
