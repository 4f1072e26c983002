package compose

import (
	"io"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/save"
)

// An Allocator is a composition. It has the methods of this interface. A type assertion finds the optional interfaces
// of package memory that work on all its blocks:
//
//	memory.Resetter, Resizer, Trimmer         each of them if all parts have it
//	memory.Sizer and memory.AnyFreer          both if all parts have both
//	memory.Baser, and a method Extent         only of NewLocked and NewCounted, if inner is a memory.Baser
//
// As a save.State a composition saves its parts: add it to a save.Set, and not the parts. If a part is no save.State,
// CanSave and Set.Add return an error that names the part.
//
// A [Counter] always has memory.Sizer and memory.AnyFreer. The method Extent() uintptr returns the number of bytes from
// Base in which blocks may lie. A composition with memory.Sizer also has Generation, with which package remote detects
// stale frees in debug builds. Close closes the parts. After Close, Alloc fails with memory.ErrClosed; the package
// comment has the other rules.
type Allocator interface {
	memory.Allocator
	memory.Owner
	memory.StatsReporter
	memory.Checker
	io.Closer
	save.State
	save.Refuser
}

// A Counter is the composition that [NewCounted] returns. It records the address and the requested size of each live
// block. So it always has memory.Sizer and memory.AnyFreer, and SizeOf is exact to the byte.
//
// InUse, Requested and Measured of Stats are the requested bytes of the live blocks. If inner is a
// memory.StatsReporter, Reserved, Committed, LargestFree and Free are copied from inner. If inner is no StatsReporter,
// Reserved and Committed are InUse, and LargestFree and Free are 0. Failures counts requests that inner refused with
// memory.ErrOutOfMemory or memory.ErrTooLarge. If inner is a memory.Owner, Owns returns true for each address that
// inner owns and for the start of each live block. If inner is no Owner, Owns returns true for each address in a live
// block.
//
// If the memory of inner ends while blocks are live, the next Stats, Check, Owns, SizeOf or SaveState closes the
// Counter. The Counter detects this end only if inner is a memory.StatsReporter and a memory.Owner. Stats of inner must
// then report no memory and no blocks, and Owns must return false. If the Counter does not detect the end, it stays
// open and its blocks stay live.
type Counter interface {
	Allocator
	memory.Sizer
	memory.AnyFreer
}

// A core has what every composition has. whole returns the composition with all its methods.
type core interface {
	Allocator
	save.Composite
	whole() whole
}

// sized and based are the optional interfaces that a composition has together or not at all.
type (
	sized interface {
		memory.Sizer
		memory.AnyFreer
		Generation(p unsafe.Pointer) uint32
	}
	based interface {
		memory.Baser
		Extent() uintptr
	}
)

// A whole has every method. Those beyond core work only if the parts have what they need.
type whole interface {
	core
	memory.Resetter
	memory.Resizer
	memory.Trimmer
	sized
	based
}

// optional says which optional interfaces work, a bit for each.
type optional uint8

const (
	resets optional = 1 << iota
	resizes
	trims
	sizes
	bases
)
