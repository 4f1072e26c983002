package memtest

import (
	"math"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// noticed reports whether test fails a heap that f has been at, with blocks of up to 5000 bytes.
func noticed(test func(testing.TB, Subject), f func(x *tampered)) bool {
	s := with(func(s *Subject) { s.MaxSize = 5000 }, f)
	return record(func(tb testing.TB) { test(tb, s) }).failed
}

func TestSizesAndAlignments_AFaultAtOneSizeIsNoticed(t *testing.T) {
	for _, edge := range []uintptr{0, 1, 7, 8, 9, 15, 16, 17, 63, 64, 65, 4095, 4096, 4999, 5000} {
		if !noticed(sizesAndAlignments, func(x *tampered) {
			x.sizeOf = func(x *tampered, p unsafe.Pointer) uintptr {
				if n := x.Heap.SizeOf(p); n != edge {
					return n
				}
				return edge + 1
			}
		}) {
			t.Errorf("SizeOf a block of %d bytes may be anything", edge)
		}
		if !noticed(sizesAndAlignments, func(x *tampered) {
			x.owns = func(x *tampered, p unsafe.Pointer) bool { return x.Heap.Owns(p) && x.Heap.SizeOf(p) != edge }
		}) {
			t.Errorf("a block of %d bytes may have no owner", edge)
		}
	}
	for al := uintptr(2); al <= memory.MaxAlign; al *= 2 {
		if !noticed(sizesAndAlignments, func(x *tampered) {
			x.alloc = func(x *tampered, size, align uintptr) (unsafe.Pointer, error) {
				p, err := x.Heap.Alloc(size, align)
				if err == nil && align == al {
					p = unsafe.Add(p, al/2)
				}
				return p, err
			}
		}) {
			t.Errorf("an alignment of %d may be taken for half of it", al)
		}
	}
}

func TestBadAlignment_EachOneIsTried(t *testing.T) {
	for _, bad := range []uintptr{0, 3, 5, 6, 7, 12, 24, 100, 4095, 4097, 8192, 1 << 20, math.MaxUint} {
		if !noticed(badAlignment, func(x *tampered) {
			x.alloc = func(x *tampered, size, align uintptr) (unsafe.Pointer, error) {
				if align == bad {
					align = 16
				}
				return x.Heap.Alloc(size, align)
			}
		}) {
			t.Errorf("an alignment of %d may be taken", bad)
		}
	}
}

// A heap whose books have 32 bits takes 4 GiB and 16 bytes for 16 bytes.
func TestHugeRequest_EachOneIsTried(t *testing.T) {
	sizes := []uint64{math.MaxUint, math.MaxUint - 15, math.MaxUint - 4096, math.MaxInt, 1 << 31, 1<<32 + 16, 1 << 40}
	for _, huge := range sizes {
		if huge > math.MaxUint {
			continue
		}
		for _, al := range []uintptr{1, 16, memory.MaxAlign} {
			if !noticed(hugeRequest, func(x *tampered) {
				x.alloc = func(x *tampered, size, align uintptr) (unsafe.Pointer, error) {
					if uint64(size) == huge && align == al {
						size = uintptr(uint32(size)) % 64
					}
					return x.Heap.Alloc(size, align)
				}
			}) {
				t.Errorf("%d bytes aligned to %d may be served", huge, al)
			}
		}
	}
}

func TestUseAfterClose_EachFigureOfTheBooksIsLookedAt(t *testing.T) {
	for name, f := range map[string]func(*memory.Stats){
		"Live":        func(s *memory.Stats) { s.Live, s.Allocs = 1, s.Frees+1 },
		"InUse":       func(s *memory.Stats) { s.InUse, s.Committed, s.Reserved, s.Peak = 1, 1, 1, s.Peak+1 },
		"Committed":   func(s *memory.Stats) { s.Committed, s.Reserved = 1, 1 },
		"Reserved":    func(s *memory.Stats) { s.Reserved = 1 },
		"LargestFree": func(s *memory.Stats) { s.LargestFree = 1 },
	} {
		if !noticed(useAfterClose, func(x *tampered) {
			x.stats = func(x *tampered, s memory.Stats) memory.Stats {
				if x.Heap.Base() == nil {
					f(&s)
				}
				return s
			}
		}) {
			t.Errorf("closed, %s may be anything", name)
		}
	}
}

func TestGrows_ARefusalIsForWantOfMemory(t *testing.T) {
	for err, bad := range map[error]bool{memory.ErrOutOfMemory: false, memory.ErrTooLarge: false, errFull: true, memory.ErrAlign: true} {
		if got := noticed(grows, func(x *tampered) {
			x.alloc = func(x *tampered, size, align uintptr) (unsafe.Pointer, error) {
				if x.n > 16 && x.n%5 == 0 {
					return nil, err
				}
				return x.Heap.Alloc(size, align)
			}
			x.stats = func(_ *tampered, s memory.Stats) memory.Stats { s.Failures += 1000; return s }
		}); got != bad {
			t.Errorf("a Grow that is refused with %v: noticed %t", err, got)
		}
	}
}
