package container

import (
	"errors"
	"fmt"
	"testing"

	"github.com/strata-go/strata/memory/memtest"
)

// A mark that is passed in the midst of a growth may remove from the very Vec that grows.
func TestVec_WhatIsRemovedWhileItGrowsIsGoneAndNothingElse(t *testing.T) {
	h, _ := heap(t)
	a := &told{Heap: h}
	sp := space(t, a)
	var v Vec[int]
	for name, remove := range map[string]func(){
		"Pop": func() { v.Pop(sp) }, "Delete": func() { v.Delete(sp, 0, 5) }, "Clear": func() { v.Clear() }, "SetLen": func() { must(t, v.SetLen(sp, 2)) },
	} {
		for op, grow := range map[string]func(n int) (want int, err error){
			"AppendSlice":      func(n int) (int, error) { return 3, v.AppendSlice(sp, []int{-1, -1, -1}) },
			"AppendSlice of v": func(n int) (int, error) { return n, v.AppendSlice(sp, v.Slice(sp)) },
			"Insert":           func(n int) (int, error) { return 3, v.Insert(sp, n-1, -1, -1, -1) },
			"Insert of v":      func(n int) (int, error) { return n, v.Insert(sp, 3, v.Slice(sp)...) },
			"SetLen":           func(n int) (int, error) { return 0, v.SetLen(sp, n+200) },
		} {
			for v.Len() < v.Cap() || v.Len() < 20 {
				must(t, v.Append(sp, 1))
			}
			n, left := v.Len(), 0
			a.tell = func() { remove(); left = v.Len() }
			more, err := grow(n)
			must(t, err)
			must(t, v.Check(sp))
			if op == "SetLen" {
				more = n + 200 - left
			}
			if a.tell != nil || v.Len() != left+more {
				t.Errorf("%s in which %s removes: %d elements, want %d and %d", op, name, v.Len(), left, more)
			}
			for i, x := range v.All(sp) {
				if op == "SetLen" && (x != 0) != (i < left) || op != "SetLen" && x == 0 {
					t.Errorf("%s in which %s removes: element %d of %d is %d", op, name, i, v.Len(), x)
					break
				}
			}
			v.Free(sp)
		}
	}
}

// What is cloned may change while the other space gets the memory: it is another space's.
func TestClone_OfWhatChangesMeanwhileIsOfWhatThereIsThen(t *testing.T) {
	h, _ := heap(t)
	other, _ := heap(t)
	a := &told{Heap: other}
	sp, to := space(t, h), space(t, a)
	for name, change := range map[string]func(v *Vec[int], m *Map[int, int]){
		"grown": func(v *Vec[int], m *Map[int, int]) {
			for i := range 1000 {
				must(t, errors.Join(v.Append(sp, i+1), m.Set(sp, i, i)))
			}
		},
		"made less": func(v *Vec[int], m *Map[int, int]) { v.Pop(sp); m.Delete(sp, 3) },
		"freed":     func(v *Vec[int], m *Map[int, int]) { v.Free(sp); m.Free(sp) },
	} {
		var v Vec[int]
		m := NewMap[int, int](1)
		for i := range 5 {
			must(t, errors.Join(v.Append(sp, i+1), m.Set(sp, i, i)))
		}
		a.tell = func() { change(&v, &Map[int, int]{}) }
		c, err := v.Clone(sp, to)
		must(t, err)
		a.tell = func() { change(&Vec[int]{}, &m) }
		d, err := m.Clone(sp, to)
		must(t, err)
		if err := errors.Join(c.Check(to), d.Check(to)); err != nil || a.tell != nil || c.Len() != v.Len() || d.Len() != m.Len() {
			t.Errorf("%s: %d of %d elements, %d of %d entries; %v", name, c.Len(), v.Len(), d.Len(), m.Len(), err)
		}
		for i := range c.Len() {
			if c.At(to, i) != v.At(sp, i) {
				t.Fatalf("%s: element %d is %d", name, i, c.At(to, i))
			}
		}
		c.Free(to)
		d.Free(to)
	}
	must(t, other.Check())
	if n := other.Stats().Live; n != 0 {
		t.Errorf("%d blocks are left", n)
	}
}

func TestStrings_ClearAndShrinkDuringInternPanic(t *testing.T) {
	h, _ := heap(t)
	a := &told{Heap: h}
	sp := space(t, a)
	var s Strings
	for i := range 100 {
		text := fmt.Sprint("a text of some length: ", i)
		a.tell = func() {
			memtest.Misuse(t, func() { s.Clear(sp) }, "container.Space", "while it works for a container")
			memtest.Misuse(t, func() { _ = s.Shrink(sp) }, "container.Space", "while it works for a container")
		}
		id, err := s.Intern(sp, text)
		must(t, errors.Join(err, s.Check(sp)))
		if s.Text(sp, id) != text || s.Len() != i+1 {
			t.Fatalf("%q is %q, one of %d", text, s.Text(sp, id), s.Len())
		}
	}
	a.tell = nil
	s.Free(sp)
}

// A text that is half added has its place by then: one that came in between would be written behind the
// last, or be there twice.
func TestStrings_ANewTextInTheMidstOfAnInternIsRefused(t *testing.T) {
	h, _ := heap(t)
	a := &told{Heap: h}
	sp := space(t, a)
	var s Strings
	told := 0
	for i := range 400 {
		a.tell = func() {
			told++
			if id, ok := s.Lookup(sp, "2"); ok {
				s.Release(sp, id)
			}
			for _, text := range []string{"between", "2", fmt.Sprint(i), "a longer text"} {
				if _, ok := s.Lookup(sp, text); !ok {
					memtest.Misuse(t, func() { _, _ = s.Intern(sp, text) }, "container.Space", "while it works for a container")
				}
			}
			must(t, s.Check(sp))
		}
		text := fmt.Sprint(i)
		if i%3 == 0 {
			text = fmt.Sprint("a text of another length: ", i)
		}
		id, err := s.Intern(sp, text)
		must(t, errors.Join(err, s.Check(sp)))
		if s.Text(sp, id) != text {
			t.Fatalf("%q is %q, one of %d", text, s.Text(sp, id), s.Len())
		}
	}
	if told < 10 {
		t.Errorf("told %d times", told)
	}
	a.tell = nil
	s.Free(sp)
	must(t, h.Check())
}

// What is added out of a callback has room in the block there is, but not in the one to come.
func TestSpace_AddingToAMovingContainerIsRefused(t *testing.T) {
	h, _ := heap(t)
	a := &told{Heap: h}
	sp := space(t, a)
	var v Vec[int]
	var r Ring[int]
	var m Map[int, int]
	const few, many = 3, 20
	for name, c := range map[string]struct {
		move func() error
		add  func(i int) error
		says string
	}{
		"Vec.Shrink":      {func() error { return v.Shrink(sp) }, func(i int) error { return v.Append(sp, i) }, "container.Space"},
		"Vec.AppendSlice": {func() error { return v.AppendSlice(sp, make([]int, 1000)) }, func(i int) error { return v.Append(sp, i) }, "container.Space"},
		"Vec.SetLen":      {func() error { return v.SetLen(sp, 1000) }, func(i int) error { return v.Append(sp, i) }, "container.Space"},
		"Ring.Shrink":     {func() error { return r.Shrink(sp) }, func(i int) error { return r.PushBack(sp, i) }, "container.Ring"},
		"Map.Shrink":      {func() error { return m.Shrink(sp) }, func(i int) error { return m.Set(sp, i, i) }, "container.Map"},
	} {
		must(t, errors.Join(v.Reserve(sp, many), r.Reserve(sp, many), m.Reserve(sp, many)))
		for i := range few {
			must(t, errors.Join(v.Append(sp, i), r.PushBack(sp, i), m.Set(sp, i, i)))
		}
		a.tell = func() {
			for i := range many - few {
				must(t, c.add(few+i))
			}
		}
		memtest.Misuse(t, func() { must(t, c.move()) }, c.says, "the allocator calls a function while it")
		must(t, errors.Join(v.Check(sp), r.Check(sp), m.Check(sp), h.Check()))
		must(t, c.move())
		if m.Len() < few || r.Len() < few || v.Len() < few || v.At(sp, few-1) != few-1 || r.At(sp, few-1) != few-1 || !m.Has(sp, few-1) {
			t.Errorf("%s: %d, %d and %d elements", name, v.Len(), r.Len(), m.Len())
		}
		v.Free(sp)
		r.Free(sp)
		m.Free(sp)
	}
	if n := h.Stats().Live; n != 0 {
		t.Errorf("%d blocks are left", n)
	}
}

// An empty Vec with room has none while it grows: who looks at it meanwhile sees one without a block.
func TestVec_CheckPassesInTheMidstOfAGrowth(t *testing.T) {
	h, _ := heap(t)
	a := &told{Heap: h}
	sp := space(t, a)
	var first, v Vec[int] // the first block is at offset 0
	must(t, errors.Join(first.Reserve(sp, 4), v.Reserve(sp, 4)))
	looked := 0
	a.tell = func() {
		looked++
		must(t, v.Check(sp))
		if v.Cap() != 0 || v.Len() != 0 || len(v.Slice(sp)) != 0 {
			t.Errorf("%d of %d elements", v.Len(), v.Cap())
		}
	}
	must(t, v.Reserve(sp, 4000))
	a.tell = nil
	if looked == 0 || v.Cap() < 4000 {
		t.Errorf("looked %d times, room for %d", looked, v.Cap())
	}
	first.Free(sp)
	v.Free(sp)
}

// A Space does not change its allocator while that is at work: what it returns counts from its own base.
func TestSpace_UseDuringAGrowthIsRefused(t *testing.T) {
	h, _ := heap(t)
	other, _ := heap(t)
	a := &told{Heap: h}
	sp := space(t, a)
	var v Vec[int]
	a.tell = func() { memtest.Misuse(t, func() { _ = sp.Use(other) }, "container.Space", "or call Use") }
	must(t, errors.Join(v.Append(sp, 7), v.Check(sp)))
	if a.tell != nil || sp.Allocator() != a || v.At(sp, 0) != 7 {
		t.Error("the space has another allocator")
	}
	v.Free(sp)
	must(t, errors.Join(sp.Use(other), v.Append(sp, 8), v.Check(sp)))
}
