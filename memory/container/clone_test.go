package container

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/tlsf"
)

// Rings of every fill and rotation are cloned, into the same space and into another one.
func TestRing_CloneHasTheElementsInOrder(t *testing.T) {
	_, sp := heap(t)
	_, other := heap(t)
	for n := range 20 {
		for turn := range 9 {
			var r Ring[uint8]
			var want []uint8
			for i := range turn {
				must(t, r.PushBack(sp, uint8(i)))
			}
			for range turn {
				r.PopFront(sp)
			}
			for i := range n {
				must(t, r.PushBack(sp, uint8(100+i)))
				want = append(want, uint8(100+i))
			}
			for _, to := range []*Space{sp, other} {
				c, err := r.Clone(sp, to)
				must(t, errors.Join(err, c.Check(to)))
				must(t, c.PushBack(to, 7))
				if n > 0 {
					c.Set(to, 0, 9)
					if want[0] != r.At(sp, 0) {
						t.Fatal("a write to the clone shows in the Ring")
					}
					c.Set(to, 0, want[0])
				}
				c.PopBack(to)
				if got := slices.Collect(c.Values(to)); !slices.Equal(got, want) {
					t.Fatalf("%d elements after %d: %v, want %v", n, turn, got, want)
				}
				c.Free(to)
			}
			r.Free(sp)
		}
	}
	var none Ring[struct{}]
	must(t, none.PushBack(sp, struct{}{}))
	if c, err := none.Clone(sp, other); err != nil || c.Len() != 1 || c.Check(other) != nil {
		t.Errorf("elements of no size: %d, %v, %v", c.Len(), err, c.Check(other))
	}
}

// furnish interns texts of all lengths, and releases some.
func furnish(t *testing.T, sp *Space, n int) Strings {
	t.Helper()
	s := NewStrings(77)
	for i := range n {
		id, err := s.Intern(sp, fmt.Sprint(i)+strings.Repeat("x", i*37%1500))
		must(t, err)
		if i%5 == 3 {
			s.Release(sp, id)
		}
		if i%7 == 0 {
			_, err := s.Intern(sp, s.Text(sp, id))
			must(t, err)
		}
	}
	return s
}

func TestStrings_CloneHasTheSameTextsAndIds(t *testing.T) {
	h, sp := heap(t)
	other, to := heap(t)
	for _, n := range []int{0, 1, 3, 40, 300} {
		s := furnish(t, sp, n)
		for _, to := range []*Space{to, sp} {
			c, err := s.Clone(sp, to)
			must(t, errors.Join(err, c.Check(to), s.Check(sp)))
			if c.Len() != s.Len() {
				t.Fatalf("%d texts of %d", c.Len(), s.Len())
			}
			for id, text := range s.All(sp) {
				if got, ok := c.Lookup(to, text); got != id || !ok || c.Text(to, id) != text || c.Refs(to, id) != s.Refs(sp, id) {
					t.Fatalf("id %d is %d, %q with %d", id, got, c.Text(to, id), c.Refs(to, id))
				}
			}
			for _, x := range []*Strings{&c, &s} { // the next ids are the same, and neither shows in the other
				at := map[bool]*Space{true: to, false: sp}[x == &c]
				id, err := x.Intern(at, "new")
				must(t, errors.Join(err, x.Check(at)))
				x.Release(at, id)
			}
			c.Free(to)
			must(t, s.Check(sp))
		}
		s.Free(sp)
		if a, b := h.Stats().Live, other.Stats().Live; a != 0 || b != 0 {
			t.Errorf("%d blocks are left, and %d in the other heap", a, b)
		}
	}
}

// Whichever Alloc of a Clone fails or panics: nothing is left of it.
func TestStrings_CloneThatFailsKeepsNoBlock(t *testing.T) {
	_, sp := heap(t)
	s := furnish(t, sp, 60)
	for n := 1; ; n++ {
		h, _ := heap(t)
		a := &flaky{Heap: h, failAt: n}
		to := space(t, a)
		c, err := s.Clone(sp, to)
		if err == nil {
			must(t, c.Check(to))
			c.Free(to)
			break
		}
		if !errors.Is(err, memory.ErrOutOfMemory) || c != (Strings{seed: 77}) || h.Stats().Live != 0 {
			t.Fatalf("Alloc %d fails: %v, %d blocks are left", n, err, h.Stats().Live)
		}
	}
	s.Free(sp)
}

// An onAlloc heap calls f in the midst of its at-th Alloc.
type onAlloc struct {
	*tlsf.Heap
	at, calls int
	f         func()
}

func (a *onAlloc) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	if a.calls++; a.calls == a.at {
		a.f()
	}
	return a.Heap.Alloc(size, align)
}

// While a Clone allocates, the texts that it copies change.
func TestClone_WhatChangesMeanwhileIsWhatThereIsThen(t *testing.T) {
	h, sp := heap(t)
	s := furnish(t, sp, 60)
	var r Ring[int]
	for i := range 20 {
		must(t, r.PushBack(sp, i))
	}
	other, err := tlsf.New(nil, tlsf.Config{Reserve: 32 << 20, Granule: 16})
	memtest.Opened(t, other, err)
	for n := 1; n < 40; n++ {
		a := &onAlloc{Heap: other, at: n}
		a.f = func() {
			for i := range 30 {
				_, err := s.Intern(sp, fmt.Sprint("text ", n, i))
				must(t, err)
			}
			must(t, r.PushBack(sp, n))
		}
		to := space(t, a)
		c, err := s.Clone(sp, to)
		must(t, errors.Join(err, c.Check(to), s.Check(sp)))
		if c.Len() != s.Len() {
			t.Fatalf("Alloc %d: %d texts of %d", n, c.Len(), s.Len())
		}
		c.Free(to)
		if a.calls < n {
			break
		}
		a.calls, a.at = 0, 1
		d, err := r.Clone(sp, to)
		must(t, errors.Join(err, d.Check(to)))
		if !slices.Equal(slices.Collect(d.Values(to)), slices.Collect(r.Values(sp))) {
			t.Fatalf("%d elements of %d", d.Len(), r.Len())
		}
		d.Free(to)
		if st := other.Stats(); st.Live != 0 {
			t.Fatalf("Alloc %d: %d blocks are left", n, st.Live)
		}
	}
	s.Free(sp)
	r.Free(sp)
	if st := h.Stats(); st.Live != 0 {
		t.Errorf("%d blocks are left", st.Live)
	}
}

func TestClone_OfAClosedSpaceIsMisuse(t *testing.T) {
	if !invariant.Debug {
		return
	}
	h, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20})
	must(t, err)
	sp := space(t, h)
	other, to := heap(t)
	s := furnish(t, sp, 5)
	var r Ring[int]
	must(t, r.PushBack(sp, 1))
	must(t, h.Close())
	memtest.Misuse(t, func() { _, _ = r.Clone(sp, to) }, "the memory of this space is gone")
	memtest.Misuse(t, func() { _, _ = s.Clone(sp, to) }, "the memory of this space is gone")
	if n := other.Stats().Live; n != 0 {
		t.Errorf("%d blocks are left", n)
	}
}

// The first Alloc of a Clone calls what has the container grow, and the second one panics: no block is left.
func TestClone_ALaterAllocThatPanicsLeavesNoBlock(t *testing.T) {
	for _, panics := range []bool{false, true} {
		_, sp := heap(t)
		var v Vec[int]
		var r Ring[int]
		must(t, errors.Join(v.Append(sp, 1), r.PushBack(sp, 1)))
		for name, clone := range map[string]func(to *Space) error{
			"Vec":  func(to *Space) error { _, err := v.Clone(sp, to); return err },
			"Ring": func(to *Space) error { _, err := r.Clone(sp, to); return err },
		} {
			other, err := tlsf.New(nil, tlsf.Config{Reserve: 32 << 20, Granule: 16})
			memtest.Opened(t, other, err)
			a := &onAlloc{Heap: other, at: 1}
			a.f = func() {
				a.at = 2
				a.f = func() {
					if panics {
						panic(memtest.ErrInjected)
					}
				}
				for i := range 100 {
					must(t, errors.Join(v.Append(sp, i), r.PushBack(sp, i)))
				}
			}
			got := ended(func() {
				err = clone(space(t, struct {
					memory.Allocator
					memory.Baser
					memory.StatsReporter
				}{a, other, other}))
			})
			if panics != (got != nil) {
				t.Errorf("%s: %v, %v", name, got, err)
			}
			if n := other.Stats().Live; panics && n != 0 {
				t.Errorf("%s: %d blocks are left", name, n)
			}
		}
	}
}
