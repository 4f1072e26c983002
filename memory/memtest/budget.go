package memtest

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

// resetThenTrim verifies that Reset keeps committed memory, that Trim returns all of it, and
// that it can be had again.
func resetThenTrim(t testing.TB, s Subject) {
	budget := page.NewLimit(nil, 0)
	a := s.make(t, budget)
	r, canReset := a.(memory.Resetter)
	tr, canTrim := a.(trimmer)
	if !canReset || !canTrim {
		return
	}
	for range 2 {
		var p unsafe.Pointer
		for range 8 {
			p = MustAlloc(t, a, s.MaxSize, 1)
		}
		used := budget.Committed()
		r.Reset()
		check(t, a)
		if budget.Committed() != used {
			t.Errorf("Reset: %d bytes committed, were %d", budget.Committed(), used)
		}
		if !s.KeepsFreed && s.Closed != nil {
			Misuse(t, func() { a.Free(p, s.MaxSize) }, s.Package+".Free")
		}
		if err := tr.Trim(); err != nil || budget.Committed() != 0 || stats(t, a).Committed != 0 {
			t.Errorf("Trim: %v, %d bytes committed for none in use", err, budget.Committed())
		}
		check(t, a)
	}
}

// budget gives the allocator half of the memory that it could commit: a refusal must be typed
// and change nothing but Failures, and what fits must go on to be served.
func budget(t testing.TB, s Subject) {
	probe := page.NewLimit(nil, 0)
	a := s.make(t, probe)
	first := probe.Committed()
	fillUp(t, s, a)
	half := page.NewLimit(nil, first+(probe.Peak()-first)/2)
	if probe.Peak() == first {
		return // all of it is committed by New
	}
	a = s.make(t, half)
	blocks, before, err := fillUp(t, s, a)
	if half.Failures() == 0 || !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("with half a budget, %d refusals: %v", half.Failures(), err)
	}
	after := stats(t, a)
	var full *memory.Exhausted
	if errors.As(err, &full) && s.Package != "" && strings.HasPrefix(full.Op, s.Package+":") &&
		(full.Need != s.MaxSize || full.Have != uintptr(after.LargestFree) || full.Cause == nil) {
		t.Errorf("refused %d bytes with %d free at most: %v", s.MaxSize, after.LargestFree, err)
	}
	if before.Failures++; after != before {
		t.Errorf("the refusal changed the books from %+v to %+v", before, after)
	}
	check(t, a)
	if n := uintptr(after.LargestFree); n > 0 && s.FixedSize == 0 {
		a.Free(MustAlloc(t, a, n, 1), n)
	}
	if len(blocks) == 0 || s.KeepsFreed {
		return
	}
	a.Free(blocks[len(blocks)-1], s.MaxSize)
	MustAlloc(t, a, s.MaxSize, 1)
}

// fillUp allocates blocks of MaxSize until one is refused, and returns the books before that
// and the error.
func fillUp(t testing.TB, s Subject, a memory.Allocator) (blocks []unsafe.Pointer, before memory.Stats, err error) {
	t.Helper()
	for len(blocks) < maxFill {
		before = stats(t, a)
		p, err := a.Alloc(s.MaxSize, 16)
		if err != nil {
			return blocks, before, err
		}
		blocks = append(blocks, p)
	}
	return blocks, before, nil
}
