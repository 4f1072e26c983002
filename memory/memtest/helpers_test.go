package memtest

import (
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/tlsf"
)

// saysOnly verifies that f fails and says want, or, where want is empty, that it does not fail.
func saysOnly(t *testing.T, name, want string, f func(testing.TB)) {
	t.Helper()
	if r := record(f); r.failed != (want != "") || !strings.Contains(r.said, want) {
		t.Errorf("%s: %q; want %q", name, r.said, want)
	}
}

func heap(src page.Source) (*tlsf.Heap, error) {
	return tlsf.New(src, tlsf.Config{Reserve: 1 << 20, Step: 16 << 10, Granule: 16})
}

func TestRun_PutsASubjectThroughEveryTest(t *testing.T) {
	for name, c := range map[string]struct {
		run      func(*testing.T, Subject)
		promises []promise
	}{"Run": {Run, suite}, "Faults": {Faults, faults}} {
		made := 0
		s := with(func(s *Subject) {
			New := s.New
			s.New = func(src page.Source) (memory.Allocator, error) { made++; return New(src) }
		}, untouched)
		for _, p := range c.promises {
			record(func(tb testing.TB) { p.test(tb, s) })
		}
		all := made
		made = 0
		Each(t, map[string]Subject{name: s}, c.run)
		if made != all || all == 0 {
			t.Errorf("%s makes %d allocators; its tests make %d", name, made, all)
		}
	}
}

func TestSuite_AConstructorThatFailsIsNamedAndNotUsed(t *testing.T) {
	s := with(func(s *Subject) {
		s.New = func(page.Source) (memory.Allocator, error) { return nil, errFull }
		s.Hook = func(memory.Allocator, func()) {}
		s.Shared = func(a memory.Allocator) (memory.Allocator, func()) { return a, func() {} }
	}, untouched)
	for _, p := range append(slices.Clone(suite), faults...) {
		r := record(func(tb testing.TB) { p.test(tb, s) })
		if p.name != "OffsetsBeyond4GiB" && (!r.failed || !strings.Contains(r.said, "full") || strings.Contains(r.said, "panic: ")) {
			t.Errorf("%s: %q", p.name, r.said)
		}
	}
}

func TestShadow_WhatAnotherBlockHeldIsNoticed(t *testing.T) {
	var mem [64]byte
	saysOnly(t, "a copy of a neighbour", "byte 0 of the live block", func(tb testing.TB) {
		s := NewShadow(tb)
		s.Add(unsafe.Pointer(&mem[0]), 16, 1)
		s.Add(unsafe.Pointer(&mem[16]), 16, 1)
		copy(mem[16:32], mem[:16])
		s.VerifyAll()
	})
	saysOnly(t, "order", "", func(tb testing.TB) {
		s := NewShadow(tb)
		for i := range 3 {
			s.Add(unsafe.Pointer(&mem[16*i]), 8, 1)
		}
		s.Resize(1, 12)
		s.Move(0, unsafe.Pointer(func() *byte { copy(mem[48:], mem[:8]); return &mem[48] }()), 16)
		for i, want := range []Block{{Ptr: unsafe.Pointer(&mem[48]), Size: 16}, {Ptr: unsafe.Pointer(&mem[16]), Size: 12}, {Ptr: unsafe.Pointer(&mem[32]), Size: 8}} {
			if b := s.Live()[i]; b.Ptr != want.Ptr || b.Size != want.Size || b.Align != 1 {
				tb.Errorf("block %d is %+v", i, b)
			}
		}
		s.VerifyAll()
	})
}
