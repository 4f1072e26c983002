package memory_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/stack"
	"github.com/strata-go/strata/memory/tlsf"
)

// strict is an Allocator without capabilities, which knows its blocks to the byte and whose next
// call may fail or panic.
type strict struct {
	blocks    map[unsafe.Pointer]uintptr
	err       error
	allocs    int
	allocs1   func() // called in the next Alloc
	frees1    func() // called in the next Free
	sizes     []uintptr
	dirty     byte
	lastAlign uintptr
}

func newStrict() *strict { return &strict{blocks: map[unsafe.Pointer]uintptr{}, dirty: 0xAB} }

func (a *strict) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	if f := a.allocs1; f != nil {
		a.allocs1 = nil
		f()
	}
	if a.err != nil {
		return nil, a.err
	}
	room := make([]byte, size+2*align)
	for i := range room {
		room[i] = a.dirty
	}
	base := unsafe.Pointer(unsafe.SliceData(room))
	p := unsafe.Add(base, -uintptr(base)&(align-1))
	if uintptr(p)%(2*align) == 0 { // no more than was asked for
		p = unsafe.Add(p, align)
	}
	a.blocks[p] = size
	a.allocs++
	a.sizes, a.lastAlign = append(a.sizes, size), align
	return p, nil
}

func (a *strict) Free(p unsafe.Pointer, size uintptr) {
	if f := a.frees1; f != nil {
		a.frees1 = nil
		f()
	}
	if has, ok := a.blocks[p]; !ok || has != size {
		panic(&memory.Misuse{Package: "strict", Op: "Free", Reason: "no block of that size"})
	}
	delete(a.blocks, p)
}

// sized is a strict that tells sizes.
type sized struct{ *strict }

func (a sized) SizeOf(p unsafe.Pointer) uintptr {
	size, ok := a.blocks[p]
	if !ok {
		panic(&memory.Misuse{Package: "sized", Op: "SizeOf", Reason: "no block"})
	}
	return size
}

func filled(t *testing.T, a memory.Allocator, size uintptr) unsafe.Pointer {
	t.Helper()
	p := memtest.MustAlloc(t, a, size, 8)
	for i := range unsafe.Slice((*byte)(p), size) {
		*(*byte)(unsafe.Add(p, i)) = byte(i)
	}
	return p
}

func intact(p unsafe.Pointer, size uintptr) bool {
	for i, b := range unsafe.Slice((*byte)(p), size) {
		if b != byte(i) {
			return false
		}
	}
	return true
}

func newTLSF(t testing.TB) *tlsf.Heap {
	t.Helper()
	h, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20, Step: 64 << 10})
	return memtest.Opened(t, h, err)
}

func TestGrow_StaysWhereTheFamilyCanResizeAndMovesWhereNot(t *testing.T) {
	h := newTLSF(t)
	p := filled(t, h, 5000)
	q, err := memory.Grow(h, p, 5000, 50_000, 8)
	if err != nil || q != p || !intact(q, 5000) || h.SizeOf(q) != 50_000 {
		t.Fatalf("%p moved to %p, %v", p, q, err)
	}
	if q, err = memory.Grow(h, p, 50_000, 100, 8); err != nil || q != p || !intact(q, 100) || h.SizeOf(q) != 100 {
		t.Fatalf("to less: %p moved to %p, %v", p, q, err)
	}
	memtest.MustAlloc(t, h, 256, 8) // takes half of what was free behind it, and so on
	for size := uintptr(100); q == p; size *= 2 {
		if q, err = memory.Grow(h, p, size, 2*size, 8); err != nil || !intact(q, 100) || h.SizeOf(q) != 2*size {
			t.Fatalf("to %d bytes: %p, %v", 2*size, q, err)
		}
	}
	if s := h.Stats(); s.Live != 2 || s.Frees != 1 {
		t.Errorf("the old place was not freed: %+v", s)
	}
	memtest.MustCheck(t, h)

	for name, a := range map[string]memory.Allocator{"bare": newStrict(), "with sizes": sized{newStrict()}} {
		p := filled(t, a, 100)
		for size, next := uintptr(100), []uintptr{300, 7, 0, 90}; len(next) > 0; size, next = next[0], next[1:] {
			q, err := memory.Grow(a, p, size, next[0], 32)
			if err != nil || q == p || uintptr(q)%32 != 0 || !intact(q, min(size, next[0], 7)) {
				t.Errorf("%s: from %d to %d: %p, was %p, %v", name, size, next[0], q, p, err)
			}
			p = q
		}
		if q, err := memory.Grow(a, p, 90, 90, 32); q != p || err != nil {
			t.Errorf("%s: a block of the size that it has: %p, was %p, %v", name, q, p, err)
		}
		a.Free(p, 90)
	}
}

func TestGrow_CopiesWhatBothSizesCoverAndNoMore(t *testing.T) {
	a := newStrict()
	p := filled(t, a, 100)
	q, err := memory.Grow(a, p, 100, 200, 8)
	if err != nil || !intact(q, 100) {
		t.Fatalf("%p, %v", q, err)
	}
	for i, b := range unsafe.Slice((*byte)(q), 200)[100:] {
		if b != a.dirty {
			t.Fatalf("byte %d of what is new is %#x", i, b)
		}
	}
	for i := range uintptr(200) {
		*(*byte)(unsafe.Add(q, i)) = byte(i)
	}
	p, err = memory.Grow(a, q, 200, 50, 64) // with more than 64 bytes behind it
	if err != nil || !intact(p, 50) {
		t.Fatalf("%p, %v", p, err)
	}
	if b := *(*byte)(unsafe.Add(p, 50)); b != a.dirty {
		t.Errorf("the byte behind the block is %#x", b)
	}
}

func TestGrow_ABlockThatIsNotAlignedMoves(t *testing.T) {
	h := newTLSF(t)
	memtest.MustAlloc(t, h, 256, 8)
	p := filled(t, h, 1000) // at a multiple of 256
	q, err := memory.Grow(h, p, 1000, 1000, 4096)
	if err != nil || q == p || uintptr(q)%4096 != 0 || !intact(q, 1000) || h.Stats().Live != 2 {
		t.Errorf("%p, %v: %+v", q, err, h.Stats())
	}
	a := newStrict()
	p = filled(t, a, 40)
	if q, err := memory.Grow(a, p, 40, 40, 64); err != nil || uintptr(q)%64 != 0 || !intact(q, 40) || a.lastAlign != 64 {
		t.Errorf("%p, %v", q, err)
	}
}

func TestGrow_OfNothingAllocates(t *testing.T) {
	a := newStrict()
	p, err := memory.Grow(a, nil, 77, 40, 16)
	if err != nil || a.blocks[p] != 40 || a.lastAlign != 16 {
		t.Errorf("%p, %v", p, err)
	}
	a.err = memory.ErrOutOfMemory
	if p, err := memory.Grow(a, nil, 0, 40, 16); p != nil || err != memory.ErrOutOfMemory {
		t.Errorf("%p, %v", p, err)
	}
}

func TestGrow_OnFailureTheBlockIsWhereItWasAsItWas(t *testing.T) {
	h := newTLSF(t)
	p := filled(t, h, 5000)
	before := h.Stats()
	before.Failures++
	for size, want := range map[uintptr]error{
		1 << 20: memory.ErrOutOfMemory, 1<<20 + 1: memory.ErrTooLarge, math.MaxUint: memory.ErrTooLarge, math.MaxUint - 300: memory.ErrTooLarge,
	} {
		if size == 1<<20 { // larger than what is left
			memtest.MustAlloc(t, h, 256, 8)
			before = h.Stats()
			before.Failures++
		}
		q, err := memory.Grow(h, p, 5000, size, 8)
		if q != p || !errors.Is(err, want) || !intact(p, 5000) {
			t.Errorf("to %d bytes: %p, was %p, %v", size, q, p, err)
		}
		if after := h.Stats(); after != before {
			t.Errorf("to %d bytes: %+v, was %+v", size, after, before)
		}
		before.Failures++
	}
	for _, bad := range []uintptr{0, 3, 8192, math.MaxUint} {
		for _, a := range []memory.Allocator{h, newStrict()} {
			if q, err := memory.Grow(a, p, 5000, 6000, bad); q != p || err != memory.ErrAlign {
				t.Errorf("alignment %d: %p, %v", bad, q, err)
			}
		}
	}
	memtest.MustCheck(t, h)
	h.Free(p, 5000)
}

func TestGrow_AWrongOldSizeIsRefusedAndNothingHasChanged(t *testing.T) {
	h, bare, tells := newTLSF(t), newStrict(), sized{newStrict()}
	g, err := arena.NewLinear(nil, arena.LinearConfig{Bytes: 1 << 16})
	memtest.Opened(t, g, err)
	for _, c := range []struct {
		a     memory.Allocator
		align uintptr
		want  string
	}{
		{h, 8, "tlsf.Resize"}, {h, 4096, "tlsf.Resize"}, {g, 8, "arena.Resize"},
		{tells, 8, "wrong size: the block has 1000 bytes, not 1001"}, {bare, 8, "strict.Free"},
	} {
		memtest.MustAlloc(t, c.a, 8, 8)
		p := filled(t, c.a, 1000)
		var before memory.Stats
		if r, ok := c.a.(memory.StatsReporter); ok {
			before = r.Stats()
		}
		memtest.Misuse(t, func() { _, _ = memory.Grow(c.a, p, 1001, 2000, c.align) }, c.want)
		if r, ok := c.a.(memory.StatsReporter); ok && r.Stats() != before {
			t.Errorf("%s: %+v, was %+v", c.want, r.Stats(), before)
		}
		if !intact(p, 1000) {
			t.Errorf("%s: the block has changed", c.want)
		}
		c.a.Free(p, 1000)
	}
	if len(bare.blocks) != 1 || bare.allocs != 3 || len(tells.blocks) != 1 || tells.allocs != 2 {
		t.Errorf("%d blocks of %d are left, %d of %d", len(bare.blocks), bare.allocs, len(tells.blocks), tells.allocs)
	}
	memtest.Misuse(t, func() { _, _ = memory.Grow(tells, unsafe.Pointer(new(int)), 8, 16, 8) }, "sized.SizeOf")
	memtest.Misuse(t, func() { _, _ = memory.Grow(h, unsafe.Pointer(new(int)), 8, 16, 8) }, "tlsf.Resize", "no pool of this heap")
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	memtest.Misuse(t, func() { _, _ = memory.Grow(h, unsafe.Pointer(new(int)), 8, 16, 8) }, "the heap is closed")
}

// thrown returns what f panics with.
func thrown(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

func TestGrow_APanicOutOfAllocOrFreeLosesNothing(t *testing.T) {
	a := newStrict()
	p := filled(t, a, 64)
	grow := func() { _, _ = memory.Grow(a, p, 64, 4000, 8) }
	a.allocs1 = func() { panic("out of Alloc") }
	if v := thrown(grow); v != "out of Alloc" || len(a.blocks) != 1 || a.allocs != 1 {
		t.Errorf("%v: %d blocks", v, len(a.blocks))
	}
	a.frees1 = func() { panic("out of Free") }
	if v := thrown(grow); v != "out of Free" || len(a.blocks) != 1 || a.allocs != 2 {
		t.Errorf("%v: %d blocks of %d", v, len(a.blocks), a.allocs)
	}
	if !intact(p, 64) {
		t.Error("the block has changed")
	}
	a.Free(p, 64)
}

func TestGrow_MovingABlockOfAStackIsMisuse(t *testing.T) {
	s, err := stack.New(nil, stack.Config{Bytes: 1 << 16})
	memtest.Opened(t, s, err)
	p := filled(t, s, 100)
	q, err := memory.Grow(s, p, 100, 200, 8)
	if q != p || err != nil {
		t.Errorf("the newest block: %p, was %p, %v", q, p, err)
	}
	memtest.MustAlloc(t, s, 8, 8)
	used := s.Stats().InUse
	memtest.Misuse(t, func() { _, _ = memory.Grow(s, p, 200, 300, 8) }, "stack.Free")
	if s.Stats().InUse != used || !intact(p, 100) {
		t.Errorf("%+v, %d were used", s.Stats(), used)
	}
	memtest.MustCheck(t, s)
}

func TestGrow_MakesNoGarbage(t *testing.T) {
	h := newTLSF(t)
	var a memory.Allocator = h
	p := memtest.MustAlloc(t, a, 4096, 8)
	inPlace := func() {
		p, _ = memory.Grow(a, p, 4096, 8192, 8)
		p, _ = memory.Grow(a, p, 8192, 4096, 8)
	}
	if n := testing.AllocsPerRun(50, inPlace); n != 0 {
		t.Errorf("in place: %v Go allocations", n)
	}
	other := memtest.MustAlloc(t, a, 4096, 8)
	moved := func() {
		p, _ = memory.Grow(a, p, 4096, 4096, 4096)
		p, _ = memory.Grow(a, p, 4096, 12_000, 8)
		p, _ = memory.Grow(a, p, 12_000, 4096, 8)
		a.Free(other, 4096)
		other, _ = a.Alloc(4096, 8)
	}
	moved()
	if n := testing.AllocsPerRun(50, moved); n != 0 {
		t.Errorf("moving: %v Go allocations", n)
	}
}

func TestGrowSlice_KeepsWhatWasAndZeroesWhatIsNew(t *testing.T) {
	for name, a := range map[string]memory.Allocator{"in place": newTLSF(t), "moving": newStrict()} {
		var s []uint32
		var err error
		for _, n := range []int{5, 200, 201, 3, 0, 4, 1000, 1000} {
			before := len(s)
			if s, err = memory.GrowSlice(a, s, n); err != nil || len(s) != n || cap(s) != n || s == nil {
				t.Fatalf("%s: to %d: %d of %d, %v", name, n, len(s), cap(s), err)
			}
			for i, v := range s {
				if want := map[bool]uint32{true: uint32(i) + 7}[i < before]; v != want {
					t.Fatalf("%s: from %d to %d: value %d is %#x, want %#x", name, before, n, i, v, want)
				}
				s[i] = uint32(i) + 7
			}
		}
		memory.FreeSlice(a, s)
		if b, ok := a.(*strict); ok && len(b.blocks) != 0 {
			t.Errorf("%d blocks are left", len(b.blocks))
		}
	}
}

func TestGrowSlice_WhatFailsReturnsTheSliceAsItWas(t *testing.T) {
	a := newStrict()
	s, err := memory.MakeSlice[uint64](a, 3)
	if err != nil {
		t.Fatal(err)
	}
	s[2] = 9
	same := func(t2 []uint64) bool {
		return len(t2) == 3 && cap(t2) == 3 && &t2[0] == &s[0] && s[2] == 9
	}
	for _, n := range []int{-1, math.MinInt, math.MaxInt/8 + 1, math.MaxInt} {
		if got, err := memory.GrowSlice(a, s, n); err != memory.ErrTooLarge || !same(got) {
			t.Errorf("to %d: %v, %v", n, got, err)
		}
	}
	a.err = memory.ErrOutOfMemory
	if got, err := memory.GrowSlice(a, s, 4); err != memory.ErrOutOfMemory || !same(got) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := memory.GrowSlice(a, []uint64(nil), 4); err != memory.ErrOutOfMemory || got != nil {
		t.Errorf("from nothing: %v, %v", got, err)
	}
	a.err = nil
	var p *memory.PointerError
	if got, err := memory.GrowSlice(a, []string(nil), 4); !errors.As(err, &p) || got != nil || !strings.Contains(err.Error(), "string") {
		t.Errorf("%v, %v", got, err)
	}
	memtest.Misuse(t, func() { _, _ = memory.GrowSlice(a, s[:2], 4) }, "strict.Free")
	memtest.Misuse(t, func() { _, _ = memory.GrowSlice(a, s[1:], 4) }, "strict.Free")
	memtest.Misuse(t, func() { _, _ = memory.GrowSlice(a, append(s, 1), 40) }, "strict.Free")
	memtest.Misuse(t, func() { _, _ = memory.GrowSlice(a, []uint64{}, 4) }, "strict.Free")
	if len(a.blocks) != 1 || !same(s) {
		t.Errorf("%d blocks are left, %v", len(a.blocks), s)
	}
	memory.FreeSlice(a, s)
}

func TestGrowSlice_OfEmptyValuesHasAnyLength(t *testing.T) {
	h := newTLSF(t)
	s, err := memory.GrowSlice(h, []struct{}(nil), 3)
	for _, n := range []int{0, math.MaxInt, 2} {
		if err != nil || s == nil {
			t.Fatalf("%v", err)
		}
		if s, err = memory.GrowSlice(h, s, n); len(s) != n {
			t.Errorf("%d values, want %d", len(s), n)
		}
	}
	memory.FreeSlice(h, s)
	if h.Stats().Live != 0 {
		t.Errorf("%+v", h.Stats())
	}
}
