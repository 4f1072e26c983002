package container

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/compose"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/tlsf"
)

// A telling heap calls somebody in the midst of a Free, as a compose.Counted does, and may panic then.
// It resizes nothing.
type telling struct {
	*tlsf.Heap
	tell func()
	boom bool
}

func (a *telling) Free(p unsafe.Pointer, size uintptr) {
	if f := a.tell; f != nil {
		a.tell = nil
		if f(); a.boom {
			panic(errBoom)
		}
	}
	a.Heap.Free(p, size)
}

func (a *telling) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool { return false }

// While the old block of a container that moves is freed, the container has the new one: what is
// changed then is changed, also where the Free panics and it returns to the old one.
func TestContainers_WhatIsChangedWhileTheOldBlockIsFreedIsKept(t *testing.T) {
	for _, boom := range []bool{false, true} {
		h, _ := heap(t)
		a := &telling{Heap: h, boom: boom}
		sp := space(t, a)
		var v Vec[int]
		var r Ring[int]
		var m Map[int, int]
		var s Strings
		blocks := uint64(0)
		moves := func(what string, change func(), move func() error) {
			t.Helper()
			blocks = h.Stats().Live
			a.tell = func() {
				must(t, errors.Join(v.Check(sp), r.Check(sp), m.Check(sp), s.Check(sp)))
				change()
			}
			if survives(func() { must(t, move()) }) == boom || a.tell != nil {
				t.Fatalf("%s: it was not told", what)
			}
			must(t, errors.Join(v.Check(sp), r.Check(sp), m.Check(sp), s.Check(sp)))
			if got := h.Stats().Live; got != blocks {
				t.Errorf("%s, boom %t: %d blocks, there were %d", what, boom, got, blocks)
			}
		}
		for i := range 8 {
			must(t, errors.Join(v.Append(sp, i), r.PushBack(sp, i)))
		}
		for i := range 6 {
			_, err := s.Intern(sp, fmt.Sprint("text ", i))
			must(t, errors.Join(err, m.Set(sp, i, i)))
		}

		moves("Vec.Reserve", func() { v.Set(sp, 3, 33); v.Pop(sp); must(t, v.Append(sp, 77)) }, func() error { return v.Reserve(sp, 100) })
		if v.Len() != 8 || v.At(sp, 3) != 33 || v.At(sp, 7) != 77 || v.At(sp, 0) != 0 {
			t.Errorf("boom %t: %v", boom, v.Slice(sp))
		}
		a.boom = false
		must(t, v.Reserve(sp, 100))
		a.boom = boom
		moves("Vec.Shrink", func() { v.Set(sp, 7, 78) }, func() error { return v.Shrink(sp) })
		if v.Len() != 8 || v.At(sp, 7) != 78 || (v.Cap() == 8) == boom {
			t.Errorf("boom %t: %v", boom, v.Slice(sp))
		}

		turn := func(i int) func() {
			return func() { r.PopFront(sp); must(t, r.PushBack(sp, i)); r.Set(sp, 0, -i) }
		}
		moves("Ring.Reserve", turn(50), func() error { return r.Reserve(sp, 100) })
		a.boom = false
		must(t, r.Reserve(sp, 100))
		a.boom = boom
		moves("Ring.Shrink", turn(51), func() error { return r.Shrink(sp) })
		if front, _ := r.Front(sp); r.Len() != 8 || front != -51 || r.At(sp, 6) != 50 || r.At(sp, 7) != 51 || r.At(sp, 5) != 7 {
			t.Errorf("boom %t: from %d to %d, %d", boom, front, r.At(sp, 6), r.At(sp, 7))
		}

		moves("Map.Reserve", func() { m.Delete(sp, 2); must(t, m.Set(sp, 3, 33)); must(t, m.Set(sp, 9, 99)) }, func() error { return m.Reserve(sp, 100) })
		if x, _ := m.Get(sp, 3); m.Len() != 6 || x != 33 || m.Has(sp, 2) || !m.Has(sp, 9) {
			t.Errorf("boom %t: %d entries, 3 is %d", boom, m.Len(), x)
		}

		moves("Strings.Intern", func() { s.Release(sp, 2) }, func() error { _, err := s.Intern(sp, "text 6"); return err })
		if _, ok := s.Lookup(sp, "text 1"); ok || s.Text(sp, 2) == "text 1" {
			t.Errorf("boom %t: a text that was released is there", boom)
		}
		a.boom = false
		v.Free(sp)
		r.Free(sp)
		m.Free(sp)
		s.Free(sp)
		if got := h.Stats().Live; got != 0 {
			t.Errorf("boom %t: %d blocks are left", boom, got)
		}
	}
}

// A container with more than its old block holds stays in the new one where the old one is refused.
func TestContainers_WhatHasNoRoomInTheOldBlockStays(t *testing.T) {
	h, _ := heap(t)
	a := &telling{Heap: h, boom: true}
	sp := space(t, a)
	var r Ring[int]
	var m Map[int, int]
	for i := range 4 {
		must(t, errors.Join(r.PushBack(sp, i), m.Set(sp, i, i)))
	}
	a.tell = func() {
		for i := range 20 {
			must(t, r.PushBack(sp, 4+i))
		}
	}
	survives(func() { must(t, r.Reserve(sp, 60)) })
	a.tell = func() {
		for i := range 20 {
			must(t, m.Set(sp, 4+i, 4+i))
		}
	}
	survives(func() { must(t, m.Reserve(sp, 60)) })
	must(t, errors.Join(r.Check(sp), m.Check(sp)))
	for i := range 24 {
		if x, _ := m.Get(sp, i); x != i || r.At(sp, i) != i {
			t.Fatalf("%d: %d and %d", i, x, r.At(sp, i))
		}
	}
	if r.Len() != 24 || m.Len() != 24 {
		t.Errorf("%d and %d elements", r.Len(), m.Len())
	}
}

// A container that is freed is empty while its block goes: what is added then would be in nobody's.
func TestContainers_WhatIsFreedIsEmptyMeanwhile(t *testing.T) {
	h, _ := heap(t)
	a := &telling{Heap: h}
	sp := space(t, a)
	var v Vec[int]
	var r Ring[int]
	var m Map[int, int]
	for name, c := range map[string]struct {
		free  func()
		add   func() error
		count func() int
	}{
		"Vec":        {func() { v.Free(sp) }, func() error { return v.Append(sp, 1) }, v.Len},
		"Vec.Shrink": {func() { v.Clear(); must(t, v.Shrink(sp)) }, func() error { return v.Append(sp, 1) }, v.Len},
		"Ring":       {func() { r.Free(sp) }, func() error { return r.PushBack(sp, 1) }, r.Len},
		"Map":        {func() { m.Free(sp) }, func() error { return m.Set(sp, 1, 1) }, m.Len},
	} {
		must(t, errors.Join(v.Reserve(sp, 9), r.Reserve(sp, 9), m.Reserve(sp, 9), c.add()))
		a.tell = func() {
			if c.count() != 0 {
				t.Errorf("%s: %d elements of what goes", name, c.count())
			}
			memtest.Misuse(t, func() { must(t, c.add()) }, "container.Space")
		}
		c.free()
		a.tell, a.boom = func() {}, true
		must(t, c.add())
		if survives(c.free) || c.count() != 1 && !strings.HasSuffix(name, "Shrink") {
			t.Errorf("%s: %d elements after a Free that panicked", name, c.count())
		}
		a.boom = false
		must(t, errors.Join(v.Check(sp), r.Check(sp), m.Check(sp)))
		v.Free(sp)
		r.Free(sp)
		m.Free(sp)
		if n := h.Stats().Live; n != 0 {
			t.Fatalf("%s: %d blocks are left", name, n)
		}
	}
}

// Nobody finds a long text any more while its block is freed, and it is all there again where that panics.
func TestStrings_ATextIsGoneBeforeItsBlockIs(t *testing.T) {
	for _, boom := range []bool{false, true} {
		h, _ := heap(t)
		a := &telling{Heap: h, boom: boom}
		sp := space(t, a)
		var s Strings
		long := strings.Repeat("long", 500)
		id, err := s.Intern(sp, long)
		must(t, err)
		for i := range 40 {
			_, err := s.Intern(sp, fmt.Sprint(i))
			must(t, err)
		}
		must(t, err)
		a.tell = func() {
			must(t, s.Check(sp))
			if _, ok := s.Lookup(sp, long); ok || s.Text(sp, id) != "" {
				t.Error("a text whose block is freed is found")
			}
			memtest.Misuse(t, func() { _, _ = s.Intern(sp, long) }, "container.Space")
			for i := range 20 { // these move what is behind them in the index
				x, _ := s.Lookup(sp, fmt.Sprint(i))
				s.Release(sp, x)
			}
		}
		if survives(func() { s.Release(sp, id) }) == boom || a.tell != nil {
			t.Fatal("it was not told")
		}
		must(t, s.Check(sp))
		if got, ok := s.Lookup(sp, long); ok != boom || ok && got != id {
			t.Errorf("boom %t: the text is %d, %t", boom, got, ok)
		}
		for i := range 40 {
			if _, ok := s.Lookup(sp, fmt.Sprint(i)); ok != (i >= 20) {
				t.Errorf("boom %t: text %d is there: %t", boom, i, ok)
			}
		}
		s.Free(sp)
		if n := h.Stats().Live; n != 0 {
			t.Errorf("%d blocks are left", n)
		}
	}
}

// Free of Strings reads what it frees: in every build it looks first whether that is there.
func TestStrings_FreeInAClosedAllocatorIsMisuseInEveryBuild(t *testing.T) {
	for name, construct := range families {
		a, err := construct(nil)
		must(t, err)
		sp := space(t, a)
		var s Strings
		_, err = s.Intern(sp, "text")
		must(t, err)
		_ = a.(interface{ Close() error }).Close() // the guard says that blocks are live
		for op, f := range map[string]func(){"Free": func() { s.Free(sp) }, "Clear": func() { s.Clear(sp) }} {
			if said := panics(f); !strings.Contains(said, "closed") {
				t.Errorf("%s, %s: %q", name, op, said)
			}
		}
		s.Forget()
		s.Free(sp) // there is nothing
	}
}

// Debug builds tell of a closed space: before a block was taken for its copy.
func TestClone_OfAClosedSpaceKeepsNoBlock(t *testing.T) {
	h, sp := heap(t)
	other, to := heap(t)
	var v Vec[int]
	var m Map[int, int]
	must(t, errors.Join(v.Append(sp, 1), m.Set(sp, 1, 1)))
	must(t, h.Close())
	if invariant.Debug {
		memtest.Misuse(t, func() { _, _ = v.Clone(sp, to) }, "the memory of this space is gone")
		memtest.Misuse(t, func() { _, _ = m.Clone(sp, to) }, "the memory of this space is gone")
	}
	if n := other.Stats().Live; n != 0 {
		t.Errorf("%d blocks for nobody", n)
	}
}

// Who is told of a Resize and panics leaves the block as it was: else a container that shrinks would
// write behind it.
func TestVec_APanicOfWhoIsToldOfAResizeLeavesTheBlockAsItWas(t *testing.T) {
	h, _ := heap(t)
	armed := false
	a, err := compose.NewCounted(h, compose.CountedConfig{OnEvent: func(e compose.Event) {
		if armed && e.Op == compose.Resized {
			armed = false
			panic(errBoom)
		}
	}})
	must(t, err)
	sp := space(t, a)
	var v Vec[int]
	for i := range 8 {
		must(t, v.Append(sp, i))
	}
	for _, move := range []func() error{
		func() error { return v.Reserve(sp, 100) }, func() error {
			armed = false
			err := v.Reserve(sp, 100)
			armed = true
			return errors.Join(err, v.Shrink(sp))
		},
	} {
		armed = true
		survives(func() { must(t, move()) })
		if err := v.Check(sp); err != nil || armed || v.Len() != 8 || v.At(sp, 7) != 7 {
			t.Errorf("room for %d, it was told: %t; %v", v.Cap(), !armed, err)
		}
	}
	v.Free(sp)
	must(t, errors.Join(a.Check(), h.Check()))
}
