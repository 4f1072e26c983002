package guard_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/compose"
	"github.com/strata-go/strata/memory/guard"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/tlsf"
)

// A picky heap has no Reset. It calls free before each Free, and resized after a Resize, and fills what a block has
// grown by.
type picky struct {
	plain
	heap          *tlsf.Heap
	free, resized func()
}

type plain interface {
	memory.Allocator
	memory.Resizer
	memory.Owner
	memory.StatsReporter
	memory.Checker
	io.Closer
}

func (h *picky) Free(p unsafe.Pointer, size uintptr) {
	if h.free != nil {
		h.free()
	}
	h.heap.Free(p, size)
}

func (h *picky) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	if !h.heap.Resize(p, oldSize, newSize) {
		return false
	}
	for i := oldSize; i < newSize; i++ {
		*(*byte)(unsafe.Add(p, i)) = 1
	}
	if f := h.resized; f != nil {
		h.resized = nil
		f()
	}
	return true
}

func newPicky(t *testing.T, cfg guard.Config) (*picky, *guard.Allocator) {
	t.Helper()
	h, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	inner := &picky{h, h, nil, nil}
	a, err := guard.New(inner, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return inner, a
}

// panics returns what f panics with.
func panics(f func()) (r any) {
	defer func() { r = recover() }()
	f()
	return nil
}

// two puts two blocks into quarantine and writes to both.
func two(t *testing.T, a *guard.Allocator) {
	t.Helper()
	p, q := memtest.MustAlloc(t, a, 100, 8), memtest.MustAlloc(t, a, 100, 8)
	a.Free(p, 100)
	a.Free(q, 100)
	*(*byte)(unsafe.Add(p, 3)), *(*byte)(unsafe.Add(q, 4)) = 1, 1
}

// Damage that is found before Free of inner or OnFault panics is reported by a later call.
func TestAllocator_APanicLosesNoDamage(t *testing.T) {
	for _, later := range []string{"Flush", "Close"} {
		inner, a := newPicky(t, guard.Config{QuarantineBytes: 1000})
		two(t, a)
		frees := 0
		inner.free = func() {
			if frees++; frees == 2 {
				panic("hook")
			}
		}
		if r := panics(a.Flush); r != "hook" {
			t.Errorf("Flush: %v", r)
		}
		memtest.MustCheck(t, inner)
		var err error
		if later == "Flush" {
			err, _ = panics(a.Flush).(error)
		} else {
			err = a.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "use after free: byte 3 ") || !strings.Contains(err.Error(), "use after free: byte 4 ") {
			t.Errorf("%s: %v", later, err)
		}
		memtest.MustCheck(t, a)
		if err := a.Close(); err != nil {
			t.Errorf("%s: %v", later, err)
		}
	}
	told := 0
	_, a := newPicky(t, guard.Config{QuarantineBytes: 1000, OnFault: func(*memory.Misuse) {
		if told++; told == 1 {
			panic("fault")
		}
	}})
	two(t, a)
	if r := panics(a.Flush); r != "fault" {
		t.Errorf("Flush: %v", r)
	}
	if a.Flush(); told != 2 {
		t.Errorf("OnFault was told of %d faults; want 2", told)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

// If inner refuses the blocks in quarantine, as after its own Reset, the second Close completes.
func TestClose_CompletesIfInnerRefusesTheQuarantine(t *testing.T) {
	inner, a := newPicky(t, guard.Config{QuarantineBytes: 1000})
	two(t, a)
	inner.heap.Reset()
	memtest.Misuse(t, func() { _ = a.Close() }, "tlsf.Free")
	if err := a.Close(); err == nil || inner.heap.Base() != nil {
		t.Errorf("%v, inner has its memory at %p", err, inner.heap.Base())
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

// A refusal of the innermost allocator is no damage to a guard around a guard: the inner one has filled the block.
func TestAllocator_ARefusedFreeIsNoDamage(t *testing.T) {
	inner, middle := newPicky(t, guard.Config{})
	a, err := guard.New(middle, guard.Config{})
	if err != nil {
		t.Fatal(err)
	}
	p := memtest.MustAlloc(t, a, 100, 8)
	for name, f := range map[string]func(){"Free": func() { a.Free(p, 100) }, "Reset": a.Reset} {
		inner.free = func() { panic("hook") }
		if r := panics(f); r != "hook" {
			t.Errorf("%s: %v", name, r)
		}
		inner.free = nil
		memtest.MustCheck(t, a)
	}
	a.Free(p, 100)
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

// A function that inner calls may close the guard.
func TestAllocator_ThatAFreeOrResizeClosesIsClosed(t *testing.T) {
	for name, use := range map[string]func(a *guard.Allocator, p unsafe.Pointer){
		"Free":   func(a *guard.Allocator, p unsafe.Pointer) { a.Free(p, 100) },
		"Resize": func(a *guard.Allocator, p unsafe.Pointer) { a.Resize(p, 100, 50) },
		"Flush":  func(a *guard.Allocator, p unsafe.Pointer) { a.Flush() },
		"Reset":  func(a *guard.Allocator, p unsafe.Pointer) { a.Reset() },
	} {
		inner, a := newPicky(t, guard.Config{QuarantineBytes: 150})
		p := memtest.MustAlloc(t, a, 100, 8)
		a.Free(memtest.MustAlloc(t, a, 100, 8), 100)
		shut := func() {
			inner.free = nil
			_ = a.Close()
		}
		inner.free, inner.resized = shut, shut
		r := panics(func() { use(a, p) })
		if m, ok := r.(*memory.Misuse); r != nil && (!ok || !strings.Contains(m.Reason, "closed")) {
			t.Errorf("%s: %v", name, r)
		}
		memtest.MustCheck(t, a)
		if s := a.Stats(); s.Live != 0 || s.InUse != 0 || a.Close() != nil {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// While inner cuts a block, the guard neither verifies nor fills what inner has cut off.
func TestResize_WhatInnerHasCutOffIsNotTouched(t *testing.T) {
	inner, a := newPicky(t, guard.Config{QuarantineBytes: 10_000})
	p := memtest.MustAlloc(t, a, 9000, 8)
	inner.resized = func() {
		q := memtest.MustAlloc(t, inner, 5000, 8)
		clear(unsafe.Slice((*byte)(q), 5000))
		memtest.MustCheck(t, a)
		memtest.Misuse(t, func() { a.Free(p, 9000) }, "the block is being freed or resized")
		if *(*byte)(q) != 0 {
			t.Errorf("the next block has %#x", *(*byte)(q))
		}
	}
	if !a.Resize(p, 9000, 100) {
		t.Error("the block was not resized")
	}
	a.Free(p, 100)
	memtest.MustCheck(t, a)
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

// Reset touches no block that inner has unmapped, and none that it has freed before it panicked.
func TestReset_TouchesNoBlockThatInnerHasFreed(t *testing.T) {
	s, err := guard.NewStomp(nil, guard.StompConfig{Reserve: 1 << 20})
	middle, err2 := guard.New(s, guard.Config{})
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	first, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20})
	second, err2 := arena.NewGrowing(nil, arena.GrowingConfig{Reserve: 1 << 20})
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	second.OnReset(func() { panic("hook") })
	both, err := compose.NewFallback(first, second)
	if err != nil {
		t.Fatal(err)
	}
	for want, inner := range map[any]memory.Allocator{nil: middle, "hook": both} {
		a, err := guard.New(inner, guard.Config{QuarantineBytes: 1000})
		if err != nil {
			t.Fatal(err)
		}
		p := memtest.MustAlloc(t, a, 100, 8)
		a.Free(memtest.MustAlloc(t, a, 100, 8), 100)
		if r := panics(a.Reset); r != want {
			t.Errorf("Reset: %v; want %v", r, want)
		}
		memtest.MustAlloc(t, inner, 1000, 8) // of the memory that was freed
		memtest.MustCheck(t, a)
		memtest.Misuse(t, func() { a.Free(p, 100) }, "freed already")
		if s := a.Stats(); s.Live != 0 {
			t.Errorf("%+v", s)
		}
		a.Reset()
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}
