package compose

import (
	"io"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/save"
)

// An Allocator is a composition. It has the methods of this interface. It has an optional interface of package memory
// if and only if the interface works on every block:
//
//	memory.Resetter, memory.Resizer, memory.Trimmer   if all parts have it
//	memory.Sizer and memory.AnyFreer, both or none    if all parts have both; and then Generation, which
//	                                                  in debug builds serves remote.Generational
//	memory.Baser, with a method Extent() uintptr      if there is one part, which has it: Locked and Counted
//
// As a save.State a composition saves its parts: add it to a save.Set, and not the parts. If a part is no save.State,
// CanSave and Set.Add return an error that names the part.
//
// A [Counter] always has memory.Sizer and memory.AnyFreer. A type assertion finds an optional interface, as with any
// memory.Allocator. Close closes the parts. After Close, Alloc fails with memory.ErrClosed; the package comment has
// the other rules.
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
// InUse, Requested and Measured of Stats are the requested bytes of the live blocks. If inner reports statistics,
// Reserved, Committed, LargestFree and Free are copied from inner. If inner reports none, Reserved and Committed are
// InUse, and LargestFree and Free are 0. Failures counts requests that inner refused with memory.ErrOutOfMemory or
// memory.ErrTooLarge. If inner is a memory.Owner, Owns returns true for each address that inner owns and for the start
// of each live block. If inner is none, Owns returns true for each address in a live block.
//
// If the memory of inner ends while blocks are live, the next Stats, Check, Owns, SizeOf or SaveState closes the
// Counter. The Counter detects this end only if inner has Stats and Owns, and they show it.
type Counter interface {
	Allocator
	memory.Sizer
	memory.AnyFreer
}

// A core has what every composition has. whole returns the composition with all its methods.
type core interface {
	Allocator
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
