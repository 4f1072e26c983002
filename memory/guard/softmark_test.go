package guard

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/slab"
	"github.com/strata-go/strata/memory/tlsf"
)

func softStomp(t *testing.T, src page.Source, blocks int) *Stomp {
	t.Helper()
	s, err := NewStomp(src, StompConfig{Reserve: 16 << 20, Blocks: blocks})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStomp_WhatTheSoftMarkTakesIsNotHadTwice(t *testing.T) {
	memtest.SoftMark(t, func(src page.Source) memory.Allocator { return softStomp(t, src, 100) })
}

// The place may be a new one, or one that was used before.
func TestStomp_ThatTheSoftMarkClosesIsClosed(t *testing.T) {
	for used := range 3 {
		memtest.SoftMarkCloses(t, func(src page.Source) memory.Allocator {
			s := softStomp(t, src, 2)
			for range used {
				p := memtest.MustAlloc(t, s, 100, 8)
				s.Free(p, 100)
			}
			return s
		})
	}
}

func TestStomp_WhatTheSoftMarkFreesIsNotLost(t *testing.T) {
	limit := page.NewLimit(nil, 0)
	s := softStomp(t, limit, 3)
	first, second, third := memtest.MustAlloc(t, s, 100, 8), memtest.MustAlloc(t, s, 100, 8), memtest.MustAlloc(t, s, 100, 8)
	s.Free(first, 100)
	s.Free(second, 100)
	limit.OnSoft(limit.Committed(), func(uintptr, uintptr) { s.Free(third, 100) })
	p := memtest.MustAlloc(t, s, 100, 8)
	memtest.MustCheck(t, s)
	s.Free(p, 100)
	if err := s.Close(); err != nil || limit.Committed() != 0 {
		t.Errorf("%v, %d bytes are committed", err, limit.Committed())
	}
}

// used returns a Stomp with one block live, and with all places taken but one that is vacant.
func used(t *testing.T, src page.Source, vacant bool) (s *Stomp, live unsafe.Pointer) {
	t.Helper()
	s, err := NewStomp(src, StompConfig{Reserve: 1 << 20, Blocks: 2})
	if err != nil {
		t.Fatal(err)
	}
	live = memtest.MustAlloc(t, s, 100, 8)
	if vacant {
		s.Free(memtest.MustAlloc(t, s, 100, 8), 100)
	}
	return s, live
}

func TestStomp_TheSoftMarkMayCloseItOrItsSource(t *testing.T) {
	for _, vacant := range []bool{false, true} {
		for _, ends := range []bool{false, true} {
			src := memtest.NewMortal(t, nil, 2<<20)
			limit := page.NewLimit(src.Carve, 0)
			s, live := used(t, limit, vacant)
			limit.OnSoft(limit.Committed(), func(uintptr, uintptr) {
				if ends {
					src.End(t)
				} else if s.Free(live, 100); s.Close() == nil {
					t.Error("closed, and its addresses are being committed")
				}
			})
			if p, err := s.Alloc(100, 8); p != nil || err != memory.ErrClosed {
				t.Errorf("vacant %t, ends %t: Alloc = %p, %v; want nil and ErrClosed", vacant, ends, p, err)
			}
			if err := errors.Join(s.Check(), s.Close(), s.Check()); err != nil {
				t.Errorf("vacant %t, ends %t: %v", vacant, ends, err)
			}
			if !ends {
				if limit.Committed() != 0 {
					t.Errorf("vacant %t: closed, %d bytes are committed", vacant, limit.Committed())
				}
				src.End(t)
			}
		}
	}
}

// A slab cannot be closed while it commits, and stays open. The guard is closed nevertheless.
func TestAllocator_ThatTheSoftMarkClosesIsClosed(t *testing.T) {
	memtest.SoftMarkCloses(t, func(src page.Source) memory.Allocator {
		inner, err := slab.New(src, slab.Config{Reserve: 1 << 20, MaxSize: 16 << 10})
		if err != nil {
			t.Fatal(err)
		}
		a, err := New(inner, Config{})
		if err != nil {
			t.Fatal(err)
		}
		return a
	})
}

// Who is told of the mark in the midst of a Resize may free the block, or resize it.
func TestAllocator_WhatTheSoftMarkFreesIsNotResized(t *testing.T) {
	for name, c := range map[string]struct {
		relieve func(a *Allocator, p unsafe.Pointer)
		want    bool
		size    uintptr // of the block afterwards; 0: it is freed
	}{
		"nothing": {func(*Allocator, unsafe.Pointer) {}, true, 300_000},
		"itself":  {func(a *Allocator, p unsafe.Pointer) { a.Free(p, 10_000) }, false, 0},
		"a half":  {func(a *Allocator, p unsafe.Pointer) { a.Resize(p, 10_000, 5_000) }, false, 5_000},
	} {
		for _, quarantine := range []uintptr{0, 1 << 20} {
			limit := page.NewLimit(nil, 0)
			inner, err := tlsf.New(limit, tlsf.Config{Reserve: 2 << 20, Step: 64 << 10})
			if err != nil {
				t.Fatal(err)
			}
			a, err := New(inner, Config{QuarantineBytes: quarantine})
			if err != nil {
				t.Fatal(err)
			}
			hole := memtest.MustAlloc(t, a, 40_000, 8)
			p := memtest.MustAlloc(t, a, 10_000, 8)
			a.Free(hole, 40_000)
			a.Flush()
			limit.OnSoft(limit.Committed(), func(uintptr, uintptr) { c.relieve(a, p) })
			if got := a.Resize(p, 10_000, 300_000); got != c.want || limit.Committed() < 300_000 {
				t.Errorf("%s: Resize = %t, and %d bytes are committed", name, got, limit.Committed())
			}
			limit.OnSoft(0, nil)
			memtest.MustCheck(t, a)
			if c.size > 0 {
				a.Free(p, c.size)
			}
			a.Flush()
			memtest.MustCheck(t, a)
			memtest.MustCheck(t, inner)
			a.Reset()
			if err := a.Close(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
