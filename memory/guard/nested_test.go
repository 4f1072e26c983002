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
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/tlsf"
)

// around returns a guard around inner.
func around(t *testing.T, inner memory.Allocator, cfg guard.Config) *guard.Allocator {
	t.Helper()
	a, err := guard.New(inner, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// A Free that panics because of another block has not freed its own: a guard or a Counter around the guard counts the
// block as live.
func TestFree_ThatPanicsHasNotFreed(t *testing.T) {
	for _, size := range []uintptr{100, 2000} { // which fits the quarantine, and which does not
		for name, wrap := range map[string]func(middle *guard.Allocator) plain{
			"guard": func(middle *guard.Allocator) plain { return around(t, middle, guard.Config{}) },
			"Counted": func(middle *guard.Allocator) plain {
				c, err := compose.NewCounted(middle, compose.CountedConfig{})
				if err != nil {
					t.Fatal(err)
				}
				return c.(plain)
			},
		} {
			inner, middle := newPicky(t, guard.Config{QuarantineBytes: 200})
			a := wrap(middle)
			first, p := memtest.MustAlloc(t, a, 100, 8), memtest.MustAlloc(t, a, size, 8)
			a.Free(first, 100)
			*(*byte)(unsafe.Add(first, 3)) = 1 // through a dangling pointer
			if size > 200 {                    // the damage is found, and was not reported yet
				inner.free = func() { panic("hook") }
				if r := panics(middle.Flush); r != "hook" {
					t.Errorf("%s: Flush: %v", name, r)
				}
				inner.free = nil
			}
			memtest.Misuse(t, func() { a.Free(p, size) }, "use after free: byte")
			memtest.MustCheck(t, a)
			if n := a.Stats().Live; n != 1 || middle.Stats().Live != 1 {
				t.Errorf("%s, %d bytes: %d blocks are live, %d in inner", name, size, n, middle.Stats().Live)
			}
			a.Free(p, size)
			memtest.MustCheck(t, a)
			if err := a.Close(); err != nil {
				t.Errorf("%s, %d bytes: %v", name, size, err)
			}
		}
	}
}

// A function that inner calls in a Free may free another block, allocate, and verify all.
func TestFree_MayNest(t *testing.T) {
	var on [2]func()
	var parts [2]memory.Allocator
	for i := range parts {
		h, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		parts[i], err = compose.NewCounted(h, compose.CountedConfig{OnEvent: func(e compose.Event) {
			if f := on[i]; e.Op == compose.Freed && f != nil {
				on[i] = nil
				f()
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	both, err := compose.NewBySize(1000, parts[0], parts[1])
	if err != nil {
		t.Fatal(err)
	}
	a := around(t, around(t, both, guard.Config{}), guard.Config{QuarantineBytes: 2500})
	small, large, other := memtest.MustAlloc(t, a, 100, 8), memtest.MustAlloc(t, a, 3000, 8), memtest.MustAlloc(t, a, 2000, 8)
	a.Free(small, 100)
	on[0] = func() {
		a.Free(large, 3000) // is not quarantined
		memtest.MustCheck(t, a)
		a.Free(other, 2000)
		memtest.Misuse(t, a.Reset, "guard.Reset", "the block is being freed or resized")
		panic("event")
	}
	on[1] = func() { memtest.MustCheck(t, a) }
	if r := panics(a.Flush); r != "event" {
		t.Errorf("Flush: %v", r)
	}
	memtest.MustCheck(t, a)
	if s := a.Stats(); s.Live != 0 {
		t.Errorf("%+v", s)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

// A reusing heap allocates in its Free, after it has freed the block.
type reusing struct {
	*tlsf.Heap
	freed func()
}

func (h *reusing) Free(p unsafe.Pointer, size uintptr) {
	h.Heap.Free(p, size)
	if f := h.freed; f != nil {
		h.freed = nil
		f()
	}
}

// A function that inner calls after it has freed a block may get the same block.
func TestFree_TheMemoryMayBeAllocatedMeanwhile(t *testing.T) {
	for _, quarantine := range []uintptr{0, 1000} {
		h, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		inner := &reusing{Heap: h}
		a := around(t, inner, guard.Config{QuarantineBytes: quarantine})
		p := memtest.MustAlloc(t, a, 100, 8)
		var q unsafe.Pointer
		inner.freed = func() { q = memtest.MustAlloc(t, a, 100, 8) }
		a.Free(p, 100)
		a.Flush()
		memtest.MustCheck(t, a)
		if s := a.Stats(); q != p || s.Live != 1 || s.Frees != 1 {
			t.Errorf("%p, then %p: %+v", p, q, s)
		}
		a.Free(q, 100)
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}

// An unmapping arena has no Stats. It gives its memory back in Reset, and then calls after.
type unmapping struct {
	src   page.Source
	arena *arena.Growing
	after func()
}

func (u *unmapping) Alloc(size, al uintptr) (p unsafe.Pointer, err error) {
	if u.arena == nil {
		if u.arena, err = arena.NewGrowing(u.src, arena.GrowingConfig{Reserve: 1 << 20}); err != nil {
			return nil, err
		}
	}
	return u.arena.Alloc(size, al)
}

func (u *unmapping) Free(p unsafe.Pointer, size uintptr) { u.arena.Free(p, size) }

func (u *unmapping) Reset() {
	_ = u.Close()
	if f := u.after; f != nil {
		u.after = nil
		f()
	}
}

func (u *unmapping) Close() error {
	if u.arena == nil {
		return nil
	}
	defer func() { u.arena = nil }()
	return u.arena.Close()
}

// Without Stats of inner the guard does not know what a Reset has freed, and touches no block.
func TestReset_WithoutStatsOfInnerTouchesNoBlock(t *testing.T) {
	for want, after := range map[any]func(){nil: nil, "hook": func() { panic("hook") }} {
		inner := &unmapping{src: page.Default(), after: after}
		a := around(t, inner, guard.Config{QuarantineBytes: 1000})
		p := memtest.MustAlloc(t, a, 100, 8)
		a.Free(memtest.MustAlloc(t, a, 100, 8), 100)
		if r := panics(a.Reset); r != want {
			t.Errorf("Reset: %v; want %v", r, want)
		}
		memtest.MustCheck(t, a)
		memtest.Misuse(t, func() { a.Free(p, 100) }, "freed already")
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A silent heap has no Owns.
type silent struct {
	memory.Allocator
	memory.Resetter
	io.Closer
}

// Reset of inner frees the blocks of a part that owns only what is live.
func TestReset_FreesNoBlockThatInnerHasFreed(t *testing.T) {
	first, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20})
	second, err2 := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20})
	c, err3 := compose.NewCounted(silent{first, first, first}, compose.CountedConfig{})
	both, err4 := compose.NewBySize(1000, c, second)
	if err := errors.Join(err, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	a := around(t, both, guard.Config{})
	memtest.MustAlloc(t, a, 100, 8)
	memtest.MustAlloc(t, a, 2000, 8)
	a.Reset()
	memtest.MustCheck(t, a)
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

// A Close that a Free of inner calls reports nothing twice, and loses nothing.
func TestClose_MayNest(t *testing.T) {
	inner, a := newPicky(t, guard.Config{QuarantineBytes: 1000})
	two(t, a)
	memtest.MustAlloc(t, a, 100, 8)
	var errs []error
	inner.free = func() {
		inner.free = nil
		errs = append(errs, a.Close())
	}
	panics(func() { errs = append(errs, a.Close()) })
	text := errors.Join(append(errs, a.Close())...).Error()
	for _, part := range []string{"byte 3 of", "byte 4 of", "1 block of 100 bytes in all is live"} {
		if n := strings.Count(text, part); n != 1 {
			t.Errorf("%q is reported %d times: %s", part, n, text)
		}
	}
}

// A Counter whose OnEvent panics cannot always give a block its old size back. The guard then writes no canary behind
// the new end.
func TestResize_ThatPanicsMayHaveCut(t *testing.T) {
	h, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	var q unsafe.Pointer
	inner, err := compose.NewCounted(h, compose.CountedConfig{OnEvent: func(e compose.Event) {
		if e.Op == compose.Resized {
			q = memtest.MustAlloc(t, h, 5000, 8) // of what was cut off
			clear(unsafe.Slice((*byte)(q), 5000))
			panic("event")
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	a := around(t, inner, guard.Config{})
	p := memtest.MustAlloc(t, a, 9000, 8)
	if r := panics(func() { a.Resize(p, 9000, 100) }); r != "event" {
		t.Errorf("Resize: %v", r)
	}
	for i, b := range unsafe.Slice((*byte)(q), 5000) {
		if b != 0 {
			t.Fatalf("byte %d of the next block is %#x", i, b)
		}
	}
	memtest.MustCheck(t, a)
	a.Free(p, a.SizeOf(p))
	if s := a.Stats(); s.Requested != 0 {
		t.Errorf("%+v", s)
	}
	h.Free(q, 5000)
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

// A moody heap panics in one of its calls of Stats, and after each Reset if stops is true.
type moody struct {
	*tlsf.Heap
	calls int // of Stats until one panics
	stops bool
}

func (h *moody) Stats() memory.Stats {
	if h.calls--; h.calls == 0 {
		panic("stats")
	}
	return h.Heap.Stats()
}

func (h *moody) Reset() {
	h.Heap.Reset()
	if h.stops {
		panic("reset")
	}
}

// If Stats of inner panics after its Reset, the guard looks at no block either.
func TestReset_StatsOfInnerMayPanic(t *testing.T) {
	for _, stops := range []bool{false, true} {
		h, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		inner := &moody{Heap: h, stops: stops}
		a := around(t, inner, guard.Config{})
		memtest.MustAlloc(t, a, 100, 8)
		inner.calls = 3 // two are before the Reset
		if r := panics(a.Reset); r != "stats" {
			t.Errorf("Reset: %v", r)
		}
		q := memtest.MustAlloc(t, h, 100, 8)
		clear(unsafe.Slice((*byte)(q), 100))
		memtest.MustCheck(t, a)
		if s := a.Stats(); s.Live != 0 {
			t.Errorf("%+v", s)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The memory of one part of inner may end. Then the guard is closed, and looks at no block of it.
func TestAllocator_APartOfInnerMayEnd(t *testing.T) {
	for name, use := range map[string]func(a *guard.Allocator, p unsafe.Pointer) any{
		"Check": func(a *guard.Allocator, _ unsafe.Pointer) any { memtest.MustCheck(t, a); return nil },
		"Close": func(a *guard.Allocator, _ unsafe.Pointer) any { return a.Close() },
		"Flush": func(a *guard.Allocator, _ unsafe.Pointer) any { a.Flush(); return nil },
		"Free":  func(a *guard.Allocator, p unsafe.Pointer) any { return panics(func() { a.Free(p, 100) }) },
		"Reset": func(a *guard.Allocator, _ unsafe.Pointer) any { return panics(a.Reset) },
	} {
		src := memtest.NewMortal(t, nil, 4<<20)
		first, err := tlsf.New(src.Carve, tlsf.Config{Reserve: 1 << 20})
		second, err2 := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20})
		both, err3 := compose.NewBySize(1000, first, second)
		if err := errors.Join(err, err2, err3); err != nil {
			t.Fatal(err)
		}
		a := around(t, both, guard.Config{QuarantineBytes: 1000})
		p := memtest.MustAlloc(t, a, 100, 8)
		a.Free(memtest.MustAlloc(t, a, 100, 8), 100)
		memtest.MustAlloc(t, a, 2000, 8)
		src.End(t)
		if r := use(a, p); r != nil {
			if m, ok := r.(*memory.Misuse); !ok || !strings.Contains(m.Reason, "the allocator is closed") {
				t.Errorf("%s: %v", name, r)
			}
		}
		if s := a.Stats(); s.Live != 0 {
			t.Errorf("%s: %+v", name, s)
		}
		if _, err := a.Alloc(2000, 8); err != memory.ErrClosed {
			t.Errorf("%s: then Alloc fails with %v", name, err)
		}
		if err := a.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
