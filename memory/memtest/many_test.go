package memtest

import (
	"math"
	"math/bits"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/tlsf"
)

func TestManyAllocations_AnOverlapFromEachPowerOfTwoIsNoticed(t *testing.T) {
	for k := range bits.Len64(manyOf(Subject{})) {
		if !noticed(manyAllocations, overlapFrom(1<<k)) {
			t.Errorf("the block of allocation 2^%d may overlap a live one", k)
		}
	}
}

func TestManyAllocations_AByteFlippedLateIsNoticed(t *testing.T) {
	for op, most := range map[string]int{"Free": 1 << 12, "Resize": 1 << 9, "Trim": 1} {
		for n := 1; n <= min(most, callsOf(op)); n *= 4 {
			if !noticed(manyAllocations, flipAt(op, n)) {
				t.Errorf("call %d of %s may write a live block", n, op)
			}
		}
	}
}

// callsOf returns how many calls of an operation the suite makes at least: short debug builds make an eighth of the
// allocations, 8192.
func callsOf(op string) int {
	if op == "Free" && testenv.Short() && invariant.Debug {
		return 1 << 10
	}
	return math.MaxInt
}

// A counter that is wrong by one from an allocation on is noticed whichever it is.
func TestManyAllocations_EachFigureIsCompared(t *testing.T) {
	for name, f := range map[string]func(s *memory.Stats){
		"Allocs":    func(s *memory.Stats) { s.Allocs++; s.Frees++ },
		"Live":      func(s *memory.Stats) { s.Live++; s.Frees-- },
		"Failures":  func(s *memory.Stats) { s.Failures++ },
		"InUse":     func(s *memory.Stats) { s.InUse /= 2; s.Measured = 0 },
		"Requested": func(s *memory.Stats) { s.Requested++ },
	} {
		if !noticed(manyAllocations, func(x *tampered) {
			x.stats = func(x *tampered, s memory.Stats) memory.Stats {
				if x.n > 3000 && s.Live > 10 && s.Frees > 0 {
					f(&s)
				}
				return s
			}
		}) {
			t.Errorf("%s may be wrong", name)
		}
	}
}

func TestManyAllocations_ErrorsOfItsCallsAreNamed(t *testing.T) {
	for want, s := range map[string]Subject{
		"Trim: full": tamper(func(x *tampered) { x.trim = func(*tampered) error { return errFull } }),
		"Check: full": tamper(func(x *tampered) {
			x.check = func(x *tampered) error {
				if x.n > 1000 {
					return errFull
				}
				return nil
			}
		}),
		"Close: full":  tamper(func(x *tampered) { x.close = func(*tampered) error { return errFull } }),
		"which is not": tamper(func(x *tampered) { x.alloc = misaligned }),
		"= 0x": tamper(func(x *tampered) {
			x.alloc = func(x *tampered, size, align uintptr) (unsafe.Pointer, error) {
				p, err := x.Heap.Alloc(size, align)
				if err != nil {
					return unsafe.Pointer(x), err
				}
				return p, nil
			}
		}),
	} {
		if want == "= 0x" && testenv.Short() && invariant.Debug {
			continue // the heap is not full after 8192 allocations, so none is refused
		}
		saysOnly(t, want, want, func(tb testing.TB) { manyAllocations(tb, s) })
	}
}

// misaligned returns each block one byte late.
func misaligned(x *tampered, size, align uintptr) (unsafe.Pointer, error) {
	p, err := x.Heap.Alloc(size+1, align)
	if err == nil && align > 1 {
		p = unsafe.Add(p, 1)
	}
	return p, err
}

// Each kind of subject is put to as many allocations as it promises to serve: all, or where nothing comes
// back what it holds.
func TestManyAllocations_EachKindOfSubjectIsPutToMany(t *testing.T) {
	testenv.Long(t)
	all := manyOf(Subject{})
	for name, c := range map[string]struct {
		s     Subject
		least uint64
	}{
		"a heap":                       {tamper(untouched), all},
		"a heap of small blocks":       {with(func(s *Subject) { s.MaxSize = 10 }, untouched), all},
		"blocks of 64 bytes":           {with(func(s *Subject) { s.FixedSize = 64 }, untouched), all},
		"a stack":                      {piled(nil), all},
		"one that keeps what is freed": {with(func(s *Subject) { s.KeepsFreed = true }, untouched), all},
		"one that is never reset": {Subject{KeepsFreed: true, New: func(src page.Source) (memory.Allocator, error) {
			h, err := tlsf.New(src, tlsf.Config{Reserve: 1 << 20})
			return struct {
				memory.Allocator
				memory.StatsReporter
			}{h, h}, err
		}}.withDefaults(), 500},
	} {
		var made memory.StatsReporter
		New := c.s.New
		c.s.New = func(src page.Source) (memory.Allocator, error) {
			a, err := New(src)
			if made == nil {
				made = a.(memory.StatsReporter)
			}
			return a, err
		}
		saysOnly(t, name, "", func(tb testing.TB) { manyAllocations(tb, c.s) })
		if n := made.Stats().Allocs; n < c.least {
			t.Errorf("%s: %d allocations; want %d or more", name, n, c.least)
		}
	}
}

func TestManyOf_IsBoundedByAllocsInShortRuns(t *testing.T) {
	n := manyOf(Subject{})
	if got := manyOf(Subject{Allocs: 100}); got != map[bool]uint64{true: 100, false: n}[testenv.Short()] {
		t.Errorf("%d of %d", got, n)
	}
}

// The bits of blocks at every offset and of every length up to three words.
func TestMany_EveryOverlapOfTwoBlocksIsSeen(t *testing.T) {
	for at := uintptr(takenBytes - 70); at < takenBytes+70; at += 3 {
		for size := uintptr(1); size < 140; size += 7 {
			for _, o := range []struct {
				at, size uintptr
				overlaps bool
			}{{at - 1, 1, false}, {at + size, 1, false}, {at - 1, 2, true}, {at + size - 1, 1, true}, {at, 1, true}, {at, 0, false}} {
				r := record(func(tb testing.TB) {
					m := newMany(tb, Subject{}, nil)
					m.mark(at, size, true)
					m.mark(o.at, o.size, true)
				})
				if r.failed != o.overlaps {
					t.Fatalf("%d bytes at %d and %d at %d: overlap %t", size, at, o.size, o.at, r.failed)
				}
				if r := record(func(tb testing.TB) {
					m := newMany(tb, Subject{}, nil)
					m.mark(at, size, true)
					m.mark(at, size, false)
					for _, part := range m.taken {
						if *part != [takenWords]uint64{} {
							tb.Fatalf("a bit is left")
						}
					}
				}); r.failed {
					t.Fatalf("%d bytes at %d: %s", size, at, r.said)
				}
			}
		}
	}
}
