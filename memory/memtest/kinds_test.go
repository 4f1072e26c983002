package memtest

import (
	"unsafe"

	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/stack"
)

// with is a heap that f has been at, and that promises something else.
func with(promise func(s *Subject), f func(x *tampered)) Subject {
	s := tamper(f)
	promise(&s)
	return s.withDefaults()
}

func untouched(*tampered) {}

// A reaching heap says how far its blocks may lie from Base, which is not what it has reserved.
type reaching struct {
	*tampered
	extent uintptr
}

func (x *reaching) Extent() uintptr { return x.extent }

func TestBaseStays_AnExtentIsWhatCounts(t *testing.T) {
	for extent, want := range map[uintptr]string{192 << 10: "", 5000: "outside the 5000 bytes from Base", 0: "outside the 16 bytes from Base"} {
		s := tamper(func(x *tampered) {
			x.stats = func(*tampered, memory.Stats) memory.Stats { return memory.Stats{Reserved: 16} }
		})
		New := s.New
		s.New = func(src page.Source) (memory.Allocator, error) {
			a, err := New(src)
			if err != nil || extent == 0 {
				return a, err
			}
			return &reaching{a.(*tampered), extent}, nil
		}
		saysOnly(t, "an extent", want, func(tb testing.TB) { baseStays(tb, s) })
	}
}

// A pile is a stack one of whose methods is replaced.
type pile struct {
	*stack.Stack
	free func(s *stack.Stack, p unsafe.Pointer, size uintptr)
}

func (x *pile) Free(p unsafe.Pointer, size uintptr) {
	if x.free != nil && p != nil {
		x.free(x.Stack, p, size)
		return
	}
	x.Stack.Free(p, size)
}

func piled(free func(s *stack.Stack, p unsafe.Pointer, size uintptr)) Subject {
	return Subject{LIFO: true, ExactSizes: true, Package: "stack", Closed: memory.ErrClosed,
		New: func(src page.Source) (memory.Allocator, error) {
			s, err := stack.New(src, stack.Config{Bytes: 300_000})
			return &pile{s, free}, err
		}}.withDefaults()
}

func requests(part uint64) func(x *tampered) {
	return func(x *tampered) {
		x.stats = func(_ *tampered, s memory.Stats) memory.Stats {
			s.Requested, s.Measured = s.Requested*part/2, s.Measured*part/2
			return s
		}
	}
}

// An odd allocator does what it must in its own way: all of the suite lets it pass.
func TestGallery_OddAllocatorsThatKeepTheirWordPass(t *testing.T) {
	testenv.Long(t)
	for name, s := range map[string]Subject{
		"a heap that trims at each Free": tamper(func(x *tampered) {
			x.free = func(x *tampered, p unsafe.Pointer, size uintptr) {
				x.Heap.Free(p, size)
				survive(func() { _ = x.Heap.Trim() }) // the block is free by now
			}
		}),
		"a mixture that keeps half of the requests": with(func(s *Subject) { s.Mixed = true }, requests(1)),
		"a mixture that keeps all of them":          with(func(s *Subject) { s.Mixed = true }, requests(2)),
		"a heap that keeps no requests":             tamper(requests(0)),
		"a heap that resizes nothing": with(func(s *Subject) { s.Shrinks = false }, func(x *tampered) {
			x.resize = func(x *tampered, p unsafe.Pointer, oldSize, newSize uintptr) bool {
				return x.Heap.Resize(p, oldSize, oldSize) && newSize == oldSize
			}
		}),
		"a heap of blocks of 64 bytes": with(func(s *Subject) { s.FixedSize = 64 }, untouched),
		"a heap of which little is promised": with(func(s *Subject) {
			s.Package, s.Closed, s.ClosesAnyway, s.ExactSizes, s.Shrinks = "", nil, false, false, false
		}, untouched),
		"a heap that may keep what is freed":  with(func(s *Subject) { s.KeepsFreed = true }, untouched),
		"a heap that may hoard what is freed": with(func(s *Subject) { s.Hoards = true }, untouched),
		"a heap that may overlook misuse":     with(func(s *Subject) { s.Lenient = DoubleFree | Interior | WrongSize | OldBlocks }, untouched),
		"a heap that commits what is in use and no more": with(func(s *Subject) { s.Package = "" }, func(x *tampered) {
			x.stats = func(_ *tampered, s memory.Stats) memory.Stats {
				s.Committed, s.Free, s.LargestFree = s.InUse, 0, 0
				return s
			}
		}),
		"a heap without one base": tamper(func(x *tampered) { x.base = func(*tampered) unsafe.Pointer { return nil } }),
		"a stack":                 piled(nil),
	} {
		if testenv.Brief() && name != "a stack" && name != "a heap of blocks of 64 bytes" && name != "a heap without one base" || testenv.Brief() && invariant.Debug && name != "a stack" {
			continue
		}
		failsExactly(t, name, s, nil)
	}
}

func TestGallery_ABrokenAllocatorOfAnotherKindFailsToo(t *testing.T) {
	testenv.Long(t)
	mixed := func(s *Subject) { s.Mixed = true }
	keeps := func(s *Subject) { s.KeepsFreed = true }
	for name, c := range map[string]struct {
		s     Subject
		fails []string
	}{
		"a mixture where Requested is rounded": {with(mixed, func(x *tampered) {
			x.stats = func(_ *tampered, s memory.Stats) memory.Stats { s.Requested = s.InUse; return s }
		}), books},
		"a mixture that measures more than there is": {with(mixed, func(x *tampered) {
			x.stats = func(_ *tampered, s memory.Stats) memory.Stats { s.Measured = s.InUse + 1; return s }
		}), books},
		"a Resize that counts as a free, where frees are kept": {with(keeps, func(x *tampered) {
			x.resize = func(x *tampered, p unsafe.Pointer, oldSize, newSize uintptr) bool {
				ok := x.Heap.Resize(p, oldSize, newSize)
				if ok {
					x.most++
				}
				return ok
			}
			x.stats = func(x *tampered, s memory.Stats) memory.Stats {
				s.Live, s.Frees = s.Live-x.most, s.Frees+x.most
				return s
			}
		}), []string{"ResizeKeepsItsWord", "ResizeWithoutMemoryChangesNothing"}},
		"a stack that lets old blocks go unsaid": {piled(func(s *stack.Stack, p unsafe.Pointer, size uintptr) {
			defer func() {
				if r := recover(); r != nil && s.Stats().Reserved == 0 {
					panic(r)
				}
			}()
			s.Free(p, size)
		}), []string{"MisuseIsRefusedAndChangesNothing"}},
		"a block of 64 bytes that can be freed with 65": {with(func(s *Subject) { s.FixedSize = 64 }, func(x *tampered) {
			x.free = func(x *tampered, p unsafe.Pointer, size uintptr) { x.Heap.Free(p, min(size, 64)) }
		}), []string{"MisuseIsRefusedAndChangesNothing"}},
	} {
		failsExactly(t, name, c.s, c.fails)
	}
}
