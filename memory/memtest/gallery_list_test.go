package memtest

import (
	"slices"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// programs are the tests that run random programs: what breaks in one of them breaks in all.
var programs = []string{
	"EachCallFailsForGood", "EachCallFailsOnce", "EachCallPanics", "EachReturnFails",
	"EachReturnPanics", "LargestFreeIsTrue", "MisuseIsRefusedAndChangesNothing", "OwnsIsTrue", "RandomProgram",
	"StatsAreTrue", "StepsAreRefused",
}

// moves are these and the one that has blocks grow, and books are all that compare the books at
// each step.
var (
	moves = also(programs, "GrowKeepsTheContents")
	books = also(moves, "ResizeKeepsItsWord", "ResizeWithoutMemoryChangesNothing")
)

func also(names []string, more ...string) []string { return append(slices.Clone(names), more...) }

// A broken allocator: the fault, and the tests that must notice it.
type broken struct {
	name   string
	fails  []string
	tamper func(x *tampered)
}

// gallery are the broken allocators.
var gallery = []broken{
	{"a block that overlaps a live one", also(moves, "ManyAllocationsStayApart"), func(x *tampered) {
		x.alloc = func(x *tampered, size, align uintptr) (unsafe.Pointer, error) {
			p, err := x.Heap.Alloc(size, align)
			if err == nil && x.n%20 == 0 && size > 64 && align < 16 {
				return unsafe.Add(p, 48), nil
			}
			return p, err
		}
	}},
	{"a base in the middle of the blocks", []string{"BaseStays"}, func(x *tampered) {
		x.base = func(x *tampered) unsafe.Pointer {
			if b := x.Heap.Base(); b != nil {
				return unsafe.Add(b, memory.MaxAlign)
			}
			return nil
		}
	}},
	{"a base that moves", []string{"BaseStays"}, func(x *tampered) {
		x.base = func(x *tampered) unsafe.Pointer {
			if b := x.Heap.Base(); b != nil && x.n < 40 {
				return b
			}
			return nil
		}
	}},
	{"a base that moves with the last block", []string{"BaseStays"}, func(x *tampered) {
		x.base = func(x *tampered) unsafe.Pointer {
			if b := x.Heap.Base(); b == nil || x.Heap.Stats().Frees == 0 {
				return b
			}
			return nil
		}
	}},
	{"a base that moves at Reset", []string{"BaseStays"}, func(x *tampered) {
		x.reset = func(x *tampered) { x.broken = true; x.Heap.Reset() }
		x.base = func(x *tampered) unsafe.Pointer {
			if b := x.Heap.Base(); !x.broken {
				return b
			}
			return nil
		}
	}},
	{"a base that is not aligned", []string{"BaseStays"}, func(x *tampered) {
		x.base = func(x *tampered) unsafe.Pointer {
			if b := x.Heap.Base(); b != nil {
				return unsafe.Add(b, -16)
			}
			return nil
		}
	}},
	{"a base that outlives its blocks", []string{"SourceEndsFirst", "SourceEndsMidway", "SystemKeepsMemory", "UseAfterClose"}, func(x *tampered) {
		b := x.Heap.Base()
		x.base = func(*tampered) unsafe.Pointer { return b }
	}},
	{"a block that is not aligned",
		[]string{"BadAlignmentIsRefused", "EachCallFailsForGood", "EachCallFailsOnce", "EachCallPanics",
			"RandomProgram", "SizesAndAlignments", "StatsAreTrue"}, func(x *tampered) {
			x.alloc = func(x *tampered, size, align uintptr) (unsafe.Pointer, error) {
				return x.Heap.Alloc(size, min(align, 2048))
			}
		}},
	{"alignments that are no powers of two are taken", []string{"BadAlignmentIsRefused"}, func(x *tampered) {
		x.alloc = func(x *tampered, size, align uintptr) (unsafe.Pointer, error) {
			if align == 24 {
				align = 32
			}
			return x.Heap.Alloc(size, align)
		}
	}},
	{"a nil block without an error",
		[]string{"EachCallFailsForGood", "EachCallFailsOnce", "LargestFreeIsTrue",
			"MisuseIsRefusedAndChangesNothing", "RandomProgram", "ResetFreesEverything", "SizesAndAlignments",
			"SourceEndsFirst", "SourceEndsMidway", "StatsAreTrue", "SystemKeepsMemory", "UseAfterClose", "ManyAllocationsStayApart", "OwnsIsTrue"}, func(x *tampered) {
			x.alloc = func(x *tampered, size, align uintptr) (unsafe.Pointer, error) {
				if size == 0 {
					return nil, nil
				}
				return x.Heap.Alloc(size, align)
			}
		}},
	{"a block with its error",
		[]string{"BadAlignmentIsRefused", "EachCallFailsForGood", "EachCallFailsOnce", "HugeRequestIsRefused",
			"SourceEndsFirst", "SourceEndsMidway", "SystemKeepsMemory", "UseAfterClose", "ManyAllocationsStayApart"}, func(x *tampered) {
			x.alloc = func(x *tampered, size, align uintptr) (unsafe.Pointer, error) {
				p, err := x.Heap.Alloc(size, align)
				if err != nil {
					return unsafe.Pointer(x), err
				}
				return p, nil
			}
		}},
	{"an error of nobody's",
		[]string{"BudgetRefusesAndLetsGoOn", "EachCallFailsForGood", "EachCallFailsOnce",
			"ExhaustedThenUsableAgain", "HugeRequestIsRefused", "StatsAreTrue", "ManyAllocationsStayApart"}, func(x *tampered) {
			x.alloc = func(x *tampered, size, align uintptr) (unsafe.Pointer, error) {
				p, err := x.Heap.Alloc(size, align)
				if exhausts(err) {
					return nil, errFull
				}
				return p, err
			}
		}},
	{"a neighbour's byte is written", also(moves, "ManyAllocationsStayApart"), func(x *tampered) {
		x.free = func(x *tampered, p unsafe.Pointer, size uintptr) {
			x.Heap.Free(p, size)
			if x.last != nil && x.Heap.Owns(x.last) {
				*(*byte)(x.last) = 0x5A
			}
		}
		x.alloc = func(x *tampered, size, align uintptr) (unsafe.Pointer, error) {
			p, err := x.Heap.Alloc(size, align)
			if err == nil && size > 0 {
				x.last = p
			}
			return p, err
		}
	}},
	{"freed memory is never found again",
		also(books, "BudgetRefusesAndLetsGoOn", "ExhaustedThenUsableAgain", "FreedMemoryIsFoundAgain",
			"SourceEndsFirst", "SourceEndsMidway", "StatsReturnToZero", "SystemKeepsMemory", "TrimReturnsWhatResetKeeps", "UseAfterClose", "ManyAllocationsStayApart"), func(x *tampered) {
			x.free = func(x *tampered, p unsafe.Pointer, size uintptr) {
				if x.SizeOf(p) == size && size > 0 { // it is a block: kept for ever
					x.n++
					return
				}
				x.Heap.Free(p, size)
			}
			x.stats = nil
		}},
	{"misuse is swallowed",
		[]string{"MisuseIsRefusedAndChangesNothing", "SourceEndsFirst", "SourceEndsMidway", "SystemKeepsMemory",
			"TrimReturnsWhatResetKeeps", "UseAfterClose"}, func(x *tampered) {
			x.free = func(x *tampered, p unsafe.Pointer, size uintptr) {
				defer func() { _ = recover() }()
				x.Heap.Free(p, size)
			}
		}},
	{"misuse changes the books first", []string{"MisuseIsRefusedAndChangesNothing"}, func(x *tampered) {
		bad := uint64(0)
		x.free = func(x *tampered, p unsafe.Pointer, size uintptr) {
			defer func() {
				if r := recover(); r != nil {
					bad++
					panic(r)
				}
			}()
			x.Heap.Free(p, size)
		}
		x.stats = func(x *tampered, s memory.Stats) memory.Stats {
			s.Allocs += bad
			s.Frees += bad
			return s
		}
	}},
	{"a free with a wrong size is taken",
		[]string{"MisuseIsRefusedAndChangesNothing", "SourceEndsFirst", "SourceEndsMidway", "SystemKeepsMemory", "UseAfterClose"}, func(x *tampered) {
			x.free = func(x *tampered, p unsafe.Pointer, size uintptr) { x.Heap.FreeAny(p) }
		}},
	{"the misuse is another's",
		[]string{"MisuseIsRefusedAndChangesNothing", "SourceEndsFirst", "SourceEndsMidway", "SystemKeepsMemory",
			"TrimReturnsWhatResetKeeps", "UseAfterClose"}, func(x *tampered) {
			x.free = func(x *tampered, p unsafe.Pointer, size uintptr) {
				defer func() {
					if r := recover(); r != nil {
						panic(&memory.Misuse{Package: "elsewhere", Op: "Free", Reason: "closed"})
					}
				}()
				x.Heap.Free(p, size)
			}
		}},
	{"SizeOf says too much", also(programs, "SizeOfIsTrue", "SizesAndAlignments"), func(x *tampered) {
		x.sizeOf = func(x *tampered, p unsafe.Pointer) uintptr { return x.Heap.SizeOf(p) + 32 }
	}},
	{"SizeOf answers for the dead",
		[]string{"MisuseIsRefusedAndChangesNothing", "SourceEndsFirst", "SourceEndsMidway", "SystemKeepsMemory", "UseAfterClose"}, func(x *tampered) {
			x.sizeOf = func(x *tampered, p unsafe.Pointer) (n uintptr) {
				defer func() {
					if recover() != nil {
						n = 16
					}
				}()
				return x.Heap.SizeOf(p)
			}
		}},
	{"Peak forgets", also(books, "StatsReturnToZero"), func(x *tampered) {
		x.stats = func(_ *tampered, s memory.Stats) memory.Stats { s.Peak = s.InUse; return s }
	}},
	{"Peak forgets what a Resize had grown", []string{"GrowKeepsTheContents", "RandomProgram", "ResizeKeepsItsWord", "ResizeWithoutMemoryChangesNothing"}, func(x *tampered) {
		x.alloc = func(x *tampered, size, align uintptr) (unsafe.Pointer, error) {
			p, err := x.Heap.Alloc(size, align)
			x.most = max(x.most, x.Heap.Stats().InUse)
			return p, err
		}
		x.stats = func(x *tampered, s memory.Stats) memory.Stats { s.Peak = max(x.most, s.InUse); return s }
	}},
	{"FreeAny overlooks what is inside a block", []string{"MisuseIsRefusedAndChangesNothing"}, func(x *tampered) {
		x.any = func(x *tampered, p unsafe.Pointer) {
			defer func() {
				if r := recover(); r != nil && !inside(x, p) {
					panic(r)
				}
			}()
			x.Heap.FreeAny(p)
		}
	}},
	{"SizeOf measures from inside a block", []string{"MisuseIsRefusedAndChangesNothing"}, func(x *tampered) {
		x.sizeOf = func(x *tampered, p unsafe.Pointer) (n uintptr) {
			defer func() {
				if r := recover(); r != nil {
					if n = 16; !inside(x, p) {
						panic(r)
					}
				}
			}()
			return x.Heap.SizeOf(p)
		}
	}},
	{"Resize refuses the tail of a block in silence", []string{"MisuseIsRefusedAndChangesNothing"}, func(x *tampered) {
		x.resize = func(x *tampered, p unsafe.Pointer, oldSize, newSize uintptr) bool {
			defer func() {
				if r := recover(); r != nil && !inside(x, p) {
					panic(r)
				}
			}()
			return x.Heap.Resize(p, oldSize, newSize)
		}
	}},
	{"Peak boasts", books, func(x *tampered) {
		x.stats = func(_ *tampered, s memory.Stats) memory.Stats { s.Peak = s.Reserved + 1; return s }
	}},
	{"Requested is rounded", also(books, "ManyAllocationsStayApart"), func(x *tampered) {
		x.stats = func(_ *tampered, s memory.Stats) memory.Stats { s.Requested = s.InUse; return s }
	}},
	{"Measured is half of the truth", books, func(x *tampered) {
		x.stats = func(_ *tampered, s memory.Stats) memory.Stats { s.Measured /= 2; return s }
	}},
	{"Live is one too many",
		also(books, "ExhaustedThenUsableAgain", "ResetFreesEverything", "SourceEndsFirst", "SourceEndsMidway", "StatsReturnToZero",
			"SystemKeepsMemory", "UseAfterClose", "ManyAllocationsStayApart"), func(x *tampered) {
			x.stats = func(_ *tampered, s memory.Stats) memory.Stats { s.Live++; s.Allocs++; return s }
		}},
	{"InUse is too little", also(books, "SizeOfIsTrue", "ManyAllocationsStayApart"), func(x *tampered) {
		x.stats = func(_ *tampered, s memory.Stats) memory.Stats {
			s.InUse /= 4
			s.Measured /= 4
			return s
		}
	}},
	{"failures are not counted",
		[]string{"BudgetRefusesAndLetsGoOn", "EachCallFailsForGood", "EachCallFailsOnce",
			"ExhaustedThenUsableAgain", "HugeRequestIsRefused", "StatsAreTrue", "ManyAllocationsStayApart"}, func(x *tampered) {
			x.stats = func(_ *tampered, s memory.Stats) memory.Stats { s.Failures = 0; return s }
		}},
	{"LargestFree is modest", []string{"LargestFreeIsTrue"}, func(x *tampered) {
		x.stats = func(_ *tampered, s memory.Stats) memory.Stats { s.LargestFree /= 8; return s }
	}},
	{"LargestFree boasts", []string{"LargestFreeIsTrue"}, func(x *tampered) {
		x.stats = func(_ *tampered, s memory.Stats) memory.Stats {
			if s.LargestFree > 0 && s.LargestFree < s.Free {
				s.LargestFree = s.Free
			}
			return s
		}
	}},
	{"Stats allocate", []string{"NoGoAllocations"}, func(x *tampered) {
		x.stats = func(x *tampered, s memory.Stats) memory.Stats {
			x.keep = append([]byte(nil), make([]byte, 64+x.n%2)...)
			return s
		}
	}},
	{"Resize moves bytes", also(books, "ManyAllocationsStayApart", "SizeOfIsTrue"), func(x *tampered) {
		x.resize = func(x *tampered, p unsafe.Pointer, oldSize, newSize uintptr) bool {
			ok := x.Heap.Resize(p, oldSize, newSize)
			if ok && newSize > 64 && oldSize > 64 {
				*(*byte)(unsafe.Add(p, 40)) ^= 0xFF
			}
			return ok
		}
	}},
	{"Resize grants what it has not", also(books, "ManyAllocationsStayApart", "SizeOfIsTrue"), func(x *tampered) {
		x.resize = func(x *tampered, p unsafe.Pointer, oldSize, newSize uintptr) bool {
			return x.Heap.Resize(p, oldSize, newSize) || newSize < oldSize+64
		}
	}},
	{"Resize refuses less", []string{"ResizeKeepsItsWord", "ResizeWithoutMemoryChangesNothing"}, func(x *tampered) {
		x.resize = func(x *tampered, p unsafe.Pointer, oldSize, newSize uintptr) bool {
			less := newSize+16 < oldSize
			return x.Heap.Resize(p, oldSize, newSize+map[bool]uintptr{true: oldSize - newSize}[less]) && !less
		}
	}},
	{"Resize believes any size", []string{"MisuseIsRefusedAndChangesNothing"}, func(x *tampered) {
		x.resize = func(x *tampered, p unsafe.Pointer, oldSize, newSize uintptr) bool {
			if x.Heap.Owns(p) && x.Heap.Stats().Live > 0 {
				oldSize = x.Heap.SizeOf(p)
			}
			return x.Heap.Resize(p, oldSize, newSize)
		}
	}},
	{"a Resize that is refused has cut the block", also(books, "ManyAllocationsStayApart", "SizeOfIsTrue"), func(x *tampered) {
		x.resize = func(x *tampered, p unsafe.Pointer, oldSize, newSize uintptr) bool {
			ok := x.Heap.Resize(p, oldSize, newSize)
			if !ok {
				x.Heap.Resize(p, oldSize, oldSize/2)
			}
			return ok
		}
	}},
	{"Reset keeps a block", also(programs, "ResetFreesEverything", "TrimReturnsWhatResetKeeps"), func(x *tampered) {
		x.reset = func(x *tampered) {
			x.Heap.Reset()
			if x.n > 0 {
				_, _ = x.Heap.Alloc(16, 1)
			}
		}
	}},
	{"Reset returns the memory", []string{"EachReturnPanics", "TrimReturnsWhatResetKeeps"}, func(x *tampered) {
		x.reset = func(x *tampered) {
			x.Heap.Reset()
			_ = x.Heap.Trim()
		}
	}},
	{"Trim does nothing", []string{"SourceEndsFirst", "TrimReturnsWhatResetKeeps"}, func(x *tampered) {
		x.trim = func(x *tampered) error {
			if x.closed {
				return memory.ErrClosed
			}
			return nil
		}
		x.close = func(x *tampered) error {
			x.closed = true
			return x.Heap.Close()
		}
	}},
	{"Trim hides what the system said", nil, func(x *tampered) {
		x.trim = func(x *tampered) error {
			if err := x.Heap.Trim(); err == memory.ErrClosed {
				return err
			}
			return nil
		}
	}},
	{"a second Close fails", []string{"CloseTwice", "SourceEndsFirst", "SourceEndsMidway"}, func(x *tampered) {
		x.close = func(x *tampered) error {
			if x.closed {
				return memory.ErrClosed
			}
			err := x.Heap.Close()
			x.closed = err == nil
			return err
		}
	}},
	{"a Close that failed cannot be tried again",
		[]string{"EachReturnFails", "EachReturnPanics", "SystemKeepsMemory"}, func(x *tampered) {
			x.close = func(x *tampered) error {
				if x.closed {
					return nil
				}
				x.closed = true
				return x.Heap.Close()
			}
		}},
	{"closed it still owns", []string{"UseAfterClose"}, func(x *tampered) {
		x.alloc = func(x *tampered, size, align uintptr) (unsafe.Pointer, error) {
			p, err := x.Heap.Alloc(size, align)
			if err == nil {
				x.last = p
			}
			return p, err
		}
		x.owns = func(x *tampered, p unsafe.Pointer) bool { return p == x.last || x.Heap.Owns(p) }
	}},
	{"closed it is only out of memory",
		[]string{"SourceEndsFirst", "SourceEndsMidway", "SystemKeepsMemory", "UseAfterClose"}, func(x *tampered) {
			x.alloc = func(x *tampered, size, align uintptr) (unsafe.Pointer, error) {
				p, err := x.Heap.Alloc(size, align)
				if err == memory.ErrClosed {
					err = memory.ErrOutOfMemory
				}
				return p, err
			}
		}},
	{"Check is alarmed by nothing",
		also(moves, "ExhaustedThenUsableAgain", "FreedMemoryIsFoundAgain", "ResetFreesEverything",
			"SizeOfIsTrue", "ManyAllocationsStayApart"), func(x *tampered) {
			x.check = func(x *tampered) error {
				if x.n > 50 {
					return errFull
				}
				return x.Heap.Check()
			}
		}},
	{"a refusal leaves a block behind",
		[]string{"BudgetRefusesAndLetsGoOn", "EachCallFailsForGood", "EachCallFailsOnce", "HugeRequestIsRefused",
			"LargestFreeIsTrue", "ManyAllocationsStayApart"}, func(x *tampered) {
			x.alloc = func(x *tampered, size, align uintptr) (unsafe.Pointer, error) {
				p, err := x.Heap.Alloc(size, align)
				if exhausts(err) {
					_, _ = x.Heap.Alloc(16, 16)
				}
				return p, err
			}
		}},
	{"after a refusal it gives up",
		[]string{"BudgetRefusesAndLetsGoOn", "EachCallFailsForGood", "EachCallFailsOnce",
			"ExhaustedThenUsableAgain", "FreedMemoryIsFoundAgain", "HugeRequestIsRefused", "LargestFreeIsTrue", "ManyAllocationsStayApart"}, func(x *tampered) {
			x.alloc = func(x *tampered, size, align uintptr) (unsafe.Pointer, error) {
				if x.broken {
					return nil, memory.ErrOutOfMemory
				}
				p, err := x.Heap.Alloc(size, align)
				x.broken = exhausts(err)
				return p, err
			}
		}},
	{"a panic of the source loses a block", []string{"EachCallPanics"}, func(x *tampered) {
		x.alloc = func(x *tampered, size, align uintptr) (unsafe.Pointer, error) {
			defer func() {
				if r := recover(); r != nil {
					_, _ = x.Heap.Alloc(16, 16)
					panic(r)
				}
			}()
			return x.Heap.Alloc(size, align)
		}
	}},
}

// inside reports whether p lies in a block whose start is not p.
func inside(x *tampered, p unsafe.Pointer) bool {
	return x.Heap.Owns(p) && caught(func() { x.Heap.SizeOf(p) }) != nil && slices.ContainsFunc([]int{1, 8, 16}, func(n int) bool {
		if uintptr(p)-uintptr(x.Heap.Base()) < uintptr(n) {
			return false // a pointer in front of the heap must not be formed: see Margins
		}
		return caught(func() { x.Heap.SizeOf(unsafe.Add(p, -n)) }) == nil
	})
}
