package compose

import (
	"io"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// An Allocator is a composition. It has the methods of this interface. It has an optional interface of package memory
// if and only if the interface works on every block:
//
//	memory.Resetter, memory.Resizer, memory.Trimmer   if all parts have it
//	memory.Sizer and memory.AnyFreer, both or none    if all parts have both; and then Generation, which
//	                                                  in debug builds serves remote.Generational
//	memory.Baser, with a method Extent() uintptr      if there is one part, which has it: Locked and Counted
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
}

// A Counter is the composition that [NewCounted] returns. A Counter always has memory.Sizer and memory.AnyFreer,
// because it records the sizes of its blocks.
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
