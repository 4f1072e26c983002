package memtest

import (
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
)

func TestOwns_EachAddressOutsideIsTried(t *testing.T) {
	for d := uintptr(1); d <= marginBytes; d *= 2 {
		for name, off := range map[string]func(reserved uintptr) uintptr{
			"in front of the base": func(uintptr) uintptr { return -d },
			"beyond the end":       func(reserved uintptr) uintptr { return reserved + d - 1 },
		} {
			if !noticed(owns, func(x *tampered) {
				x.owns = func(x *tampered, p unsafe.Pointer) bool {
					b := uintptr(x.Heap.Base())
					return x.Heap.Owns(p) || uintptr(p)-b == off(uintptr(x.Heap.Stats().Reserved))
				}
			}) {
				t.Errorf("%d bytes %s there may be memory that it owns", d, name)
			}
		}
	}
	for name, f := range map[string]func(x *tampered, p unsafe.Pointer) bool{
		"nil":          func(x *tampered, p unsafe.Pointer) bool { return p == nil || x.Heap.Owns(p) },
		"anything far": func(x *tampered, p unsafe.Pointer) bool { return uintptr(p)-uintptr(x.Heap.Base()) < ^uintptr(0)>>2 },
		"one block less": func(x *tampered, p unsafe.Pointer) bool {
			return x.Heap.Owns(p) && p != x.last
		},
	} {
		if !noticed(owns, func(x *tampered) { keepLast(x); x.owns = f }) {
			t.Errorf("it may own %s", name)
		}
	}
}

// An allocator that rounds sizes may call more usable than was asked for, but no byte of another block.
func TestHonestSizes_RoundedSizesAfterResizeAreUsed(t *testing.T) {
	if invariant.Debug {
		t.Skip("the heap below fills all that a Resize adds, so that sizes rounded up above it are not honest")
	}
	rounded := func(more uintptr) Subject {
		return with(func(s *Subject) {
			s.ExactSizes = false
			s.Package = ""
		}, func(x *tampered) {
			x.resize = func(x *tampered, p unsafe.Pointer, oldSize, newSize uintptr) bool {
				ok := x.Heap.Resize(p, oldSize, newSize)
				if ok {
					x.last = p
				}
				return ok
			}
			x.sizeOf = func(x *tampered, p unsafe.Pointer) uintptr {
				n := max((x.Heap.SizeOf(p)+15)&^15, 16)
				if p == x.last {
					n += more
				}
				return n
			}
		})
	}
	for _, more := range []uintptr{0, 16, 4096} {
		if r := record(func(tb testing.TB) { honestSizes(tb, rounded(more)) }); r.failed != (more > 0) {
			t.Errorf("%d bytes more than a granule: %q", more, r.said)
		}
	}
}

func TestSubject_UnchangedComparesEachFigure(t *testing.T) {
	for name, c := range map[string]struct {
		f      func(s *memory.Stats)
		hoards bool // a subject that hoards may change it
	}{
		"Reserved":  {func(s *memory.Stats) { s.Reserved++ }, true},
		"Committed": {func(s *memory.Stats) { s.Committed++ }, true},
		"InUse":     {func(s *memory.Stats) { s.InUse++ }, false},
		"Peak":      {func(s *memory.Stats) { s.Peak++ }, false},
		"Live":      {func(s *memory.Stats) { s.Live++ }, false},
		"Allocs":    {func(s *memory.Stats) { s.Allocs++ }, false},
		"Frees":     {func(s *memory.Stats) { s.Frees++ }, false},
		"Requested": {func(s *memory.Stats) { s.Requested++ }, false},
		"Measured":  {func(s *memory.Stats) { s.Measured++ }, false},
		"Free":      {func(s *memory.Stats) { s.Free++ }, true},
	} {
		var before, after memory.Stats
		c.f(&after)
		after.Failures++
		if (Subject{}).unchanged(before, after) || (Subject{Hoards: true}).unchanged(before, after) != c.hoards {
			t.Errorf("%s may change", name)
		}
	}
	if !(Subject{}).unchanged(memory.Stats{}, memory.Stats{Failures: 1}) {
		t.Error("Failures may not change")
	}
}
