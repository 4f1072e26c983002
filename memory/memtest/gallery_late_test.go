package memtest

import (
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// This file has the broken allocators whose fault begins late, or shows at the edges of a heap.

func init() {
	gallery = append(gallery, late...)
	if !invariant.Debug { // builds that check themselves take fewer blocks
		gallery = append(gallery, broken{"the 262,144th block overlaps a live one", []string{"ManyAllocationsStayApart"}, overlapFrom(1 << 18)})
	}
}

// keepLast has x remember a live block of at least 16 bytes in x.last.
func keepLast(x *tampered) {
	x.alloc = func(x *tampered, size, align uintptr) (unsafe.Pointer, error) {
		p, err := x.Heap.Alloc(size, align)
		if err == nil && size >= 16 {
			x.last = p
		}
		return p, err
	}
	x.free = func(x *tampered, p unsafe.Pointer, size uintptr) {
		if x.Heap.Free(p, size); p == x.last {
			x.last = nil
		}
	}
	x.any = func(x *tampered, p unsafe.Pointer) {
		if x.Heap.FreeAny(p); p == x.last {
			x.last = nil
		}
	}
	x.resize = func(x *tampered, p unsafe.Pointer, oldSize, newSize uintptr) bool {
		if p == x.last {
			x.last = nil // it may be too small then
		}
		return x.Heap.Resize(p, oldSize, newSize)
	}
	x.reset = func(x *tampered) { x.Heap.Reset(); x.last = nil }
	x.close = func(x *tampered) error { x.last = nil; return x.Heap.Close() }
}

// flipLast flips the last byte of the first 16 of the block that keepLast remembers.
func (x *tampered) flipLast() {
	if x.last != nil && x.Heap.Owns(x.last) {
		*(*byte)(unsafe.Add(x.last, 15)) ^= 1
	}
}

// overlapFrom has the n-th allocation, and no other, return a block that is live; where none is it is
// the next one.
func overlapFrom(n int) func(x *tampered) {
	return func(x *tampered) {
		keepLast(x)
		alloc := x.alloc
		x.alloc = func(x *tampered, size, align uintptr) (unsafe.Pointer, error) {
			if x.n >= n && !x.broken && x.last != nil && size > 0 && align <= 16 {
				x.broken = true
				return x.last, nil
			}
			return alloc(x, size, align)
		}
	}
}

// flipAt has the n-th call of an operation flip a byte of a live block.
func flipAt(op string, n int) func(x *tampered) {
	return func(x *tampered) {
		keepLast(x)
		free, resize, calls := x.free, x.resize, 0
		turn := func(of string) {
			if calls++; of == op && calls >= n && !x.broken && x.last != nil {
				x.flipLast()
				x.broken = true
			}
		}
		switch op {
		case "Free":
			x.free = func(x *tampered, p unsafe.Pointer, size uintptr) { free(x, p, size); turn(op) }
		case "Resize":
			x.resize = func(x *tampered, p unsafe.Pointer, oldSize, newSize uintptr) bool {
				ok := resize(x, p, oldSize, newSize)
				turn(op)
				return ok
			}
		case "FreeAny":
			any := x.any
			x.any = func(x *tampered, p unsafe.Pointer) { any(x, p); turn(op) }
		case "SizeOf":
			x.sizeOf = func(x *tampered, p unsafe.Pointer) uintptr { turn(op); return x.Heap.SizeOf(p) }
		case "Owns":
			x.owns = func(x *tampered, p unsafe.Pointer) bool { turn(op); return x.Heap.Owns(p) }
		case "Trim":
			x.trim = func(x *tampered) error { err := x.Heap.Trim(); turn(op); return err }
		}
	}
}

var late = []broken{
	{"SizeOf says too much after Resize", also(programs, "SizeOfIsTrue"), func(x *tampered) {
		x.resize = func(x *tampered, p unsafe.Pointer, oldSize, newSize uintptr) bool {
			ok := x.Heap.Resize(p, oldSize, newSize)
			if ok {
				x.last = p
			}
			return ok
		}
		x.sizeOf = func(x *tampered, p unsafe.Pointer) uintptr {
			if n := x.Heap.SizeOf(p); p != x.last {
				return n
			}
			return x.Heap.SizeOf(p) + 16
		}
	}},
	{"Owns is true 4 KiB beyond the end", []string{"OwnsIsTrue"}, func(x *tampered) {
		x.owns = func(x *tampered, p unsafe.Pointer) bool {
			b := x.Heap.Base()
			return b != nil && uintptr(p)-uintptr(b) < uintptr(x.Heap.Stats().Reserved)+4096
		}
	}},
	{"Owns is true in front of the base", []string{"OwnsIsTrue"}, func(x *tampered) {
		x.owns = func(x *tampered, p unsafe.Pointer) bool {
			b := x.Heap.Base()
			return b != nil && uintptr(p)-uintptr(b)+1 < uintptr(x.Heap.Stats().Reserved)+1
		}
	}},
	{"Owns is false for the last byte of a block", []string{"OwnsIsTrue"}, func(x *tampered) {
		x.alloc = func(x *tampered, size, align uintptr) (unsafe.Pointer, error) {
			p, err := x.Heap.Alloc(size, align)
			if err == nil && size > 1 {
				x.last = unsafe.Add(p, size-1)
			}
			return p, err
		}
		x.owns = func(x *tampered, p unsafe.Pointer) bool { return p != x.last && x.Heap.Owns(p) }
	}},
	{"the 64th block overlaps a live one", also(programs, "FreedMemoryIsFoundAgain", "GrowKeepsTheContents", "ManyAllocationsStayApart"), overlapFrom(64)},
	{"the 4,096th block overlaps a live one", []string{"FreedMemoryIsFoundAgain", "ManyAllocationsStayApart"}, overlapFrom(4096)},
	{"the 5,000th Free writes a live block", []string{"ManyAllocationsStayApart"}, flipAt("Free", 5000)},
	{"the 500th Resize writes another block", []string{"ManyAllocationsStayApart"}, flipAt("Resize", 500)},
	{"the 5,000th FreeAny writes a live block", []string{"ManyAllocationsStayApart"}, flipAt("FreeAny", 5000)},
	{"the 20,000th SizeOf writes a live block", []string{"ManyAllocationsStayApart"}, flipAt("SizeOf", 20_000)},
	{"the 20,000th Owns writes a live block", []string{"ManyAllocationsStayApart"}, flipAt("Owns", 20_000)},
	{"a double free passes after 1,000 blocks", []string{"MisuseIsRefusedAndChangesNothing"}, func(x *tampered) {
		x.any = func(x *tampered, p unsafe.Pointer) {
			if x.n > 1000 {
				defer func() { _ = recover() }()
			}
			x.Heap.FreeAny(p)
		}
	}},
	{"Trim zeroes a live block", []string{"EachCallFailsForGood", "EachCallFailsOnce", "EachCallPanics", "EachReturnFails", "EachReturnPanics", "LargestFreeIsTrue", "ManyAllocationsStayApart", "OwnsIsTrue", "RandomProgram", "StatsAreTrue", "StepsAreRefused"}, func(x *tampered) {
		keepLast(x)
		x.trim = func(x *tampered) error {
			err := x.Heap.Trim()
			if x.last != nil && x.Heap.Owns(x.last) {
				clear(unsafe.Slice((*byte)(x.last), 16))
			}
			return err
		}
	}},
	{"Reset writes another heap of the source", []string{"ManyAllocationsStayApart"}, writesTheOther(func(x *tampered, f func()) {
		x.reset = func(x *tampered) { x.Heap.Reset(); f() }
	})},
	{"Close writes another heap of the source", []string{"ManyAllocationsStayApart"}, writesTheOther(func(x *tampered, f func()) {
		x.close = func(x *tampered) error { err := x.Heap.Close(); f(); return err }
	})},
	{"a Close that failed keeps the base of a source that ends", []string{"SourceEndsFirst"}, func(x *tampered) {
		x.close = func(x *tampered) error {
			x.last = x.Heap.Base()
			err := x.Heap.Close()
			x.broken = x.broken || err != nil && x.last != nil
			return err
		}
		x.base = func(x *tampered) unsafe.Pointer {
			if x.broken && x.Heap.Stats().Reserved == 0 {
				return x.last
			}
			return x.Heap.Base()
		}
	}},
	{"InUse drifts by a byte in 1,000 blocks", []string{"FreedMemoryIsFoundAgain", "ManyAllocationsStayApart"}, func(x *tampered) {
		x.stats = func(x *tampered, s memory.Stats) memory.Stats {
			if s.Reserved > 0 {
				s.InUse += uint64(x.n / 1000)
				s.Peak += uint64(x.n / 1000)
				s.Measured = s.InUse
			}
			return s
		}
	}},
	{"Reset forgets to count blocks", also(programs, "ResetFreesEverything"), func(x *tampered) {
		x.reset = func(x *tampered) {
			x.most += x.Heap.Stats().Live
			x.Heap.Reset()
		}
		x.stats = func(x *tampered, s memory.Stats) memory.Stats {
			if s.Reserved > 0 {
				s.Live, s.Frees = s.Live+x.most, s.Frees-x.most
			}
			return s
		}
	}},
	{"a refusal changes what is free", []string{"EachCallFailsForGood", "EachCallFailsOnce", "HugeRequestIsRefused"}, func(x *tampered) {
		x.alloc = func(x *tampered, size, align uintptr) (unsafe.Pointer, error) {
			p, err := x.Heap.Alloc(size, align)
			if exhausts(err) {
				x.most++
			}
			return p, err
		}
		x.stats = func(x *tampered, s memory.Stats) memory.Stats {
			if s.Free >= 16 {
				s.Free -= 16 * (x.most % 2)
				s.LargestFree = min(s.LargestFree, s.Free)
			}
			return s
		}
	}},
}

// writesTheOther has on install a function that flips a byte of a live block of the heap that was made
// after x on the same source.
func writesTheOther(install func(x *tampered, f func())) func(x *tampered) {
	var before *tampered
	return func(x *tampered) {
		keepLast(x)
		var after *tampered
		if b := before; b != nil && b.made != nil {
			b.made(x)
		}
		x.made = func(o *tampered) { after = o }
		before = x
		install(x, func() {
			if after != nil && after.src == x.src {
				after.flipLast()
			}
		})
	}
}
