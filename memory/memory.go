package memory

import "unsafe"

// MaxAlign is the largest alignment, in bytes, that every Allocator accepts: one 4 KiB page.
const MaxAlign = 4096

// An Allocator allocates and frees raw blocks.
//
// Sizes and alignments are in bytes. An alignment is a power of two from 1 to [MaxAlign]. The caller owns a block until
// the block is freed, until the allocator is reset or closed, or until its page source ends. Loading a state of package
// save frees the blocks that the state does not have. The contents of a block are not zeroed; [New] and [MakeSlice]
// zero them. A block must not contain a Go pointer, because the collector does not scan it (see [PointerFree]).
//
// An allocator is made by the constructor of its package; the zero value must not be used. An allocator belongs to
// one goroutine at a time unless its documentation says otherwise. Builds with -race report use by two goroutines
// without synchronization; -tags memdebug does not.
type Allocator interface {
	// Alloc returns a block of at least size bytes, aligned to align. If size is 0, Alloc returns a non-nil pointer
	// that must not be dereferenced and may be passed to Free.
	//
	// The error is or wraps [ErrOutOfMemory], [ErrTooLarge], [ErrAlign] or [ErrClosed]. Unless the documentation of the
	// allocator says otherwise, a failed Alloc changes nothing but Stats.Failures. A smaller request may still succeed.
	Alloc(size, align uintptr) (unsafe.Pointer, error)

	// Free frees the block p. The parameter size is the size that was requested. If p is nil, Free does nothing. If
	// Free detects misuse, it panics with a [*Misuse] before anything changes. The documentation of each allocator says
	// which misuse it detects.
	Free(p unsafe.Pointer, size uintptr)
}

// The capabilities of an allocator beyond Alloc and Free are separate interfaces, found by type assertion as in
// packages io and io/fs.
//
// An allocator that owns memory is also an [io.Closer]. If Close fails, it can be retried. After a Close that
// succeeded, a second Close does nothing. Trim then fails with [ErrClosed], and so does Alloc with a valid alignment.
// Owns returns false, and Base and Check return nil. Stats reports no memory but keeps its counters. Free, FreeAny,
// SizeOf, Resize and Reset panic with a [*Misuse]; a Free or FreeAny of nil still does nothing. The end of the page
// source has the same effects as Close.
type (
	// A Resetter frees all its blocks in one call. Each allocator documents the cost of its Reset.
	Resetter interface{ Reset() }

	// A Resizer changes the size in bytes of a block in place; the block never moves. oldSize is the size that was
	// requested for the block. Resize keeps the bytes up to the smaller size, and does not zero new bytes. If Resize
	// returns true, pass newSize to Free, or as oldSize to the next Resize.
	//
	// If Resize cannot change the size in place, it returns false and the block is unchanged. Resize panics with
	// a [*Misuse] if p is nil. If p is not a live block of oldSize bytes, Resize detects the same misuse as
	// Free.
	Resizer interface {
		Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool
	}

	// An Owner reports whether p lies in memory that this allocator manages, whether or not p is a
	// live block.
	Owner interface{ Owns(p unsafe.Pointer) bool }

	// A Sizer returns the usable size in bytes of a live block, at least the requested size. SizeOf panics with a
	// [*Misuse] if p is nil. If p is not a live block, SizeOf detects the same misuse as Free.
	Sizer interface {
		SizeOf(p unsafe.Pointer) uintptr
	}

	// An AnyFreer frees a block whose size the caller does not know. If p is nil, FreeAny does nothing. FreeAny
	// detects the misuse that Free detects, except a wrong size. It panics as Free does.
	AnyFreer interface{ FreeAny(p unsafe.Pointer) }

	// A Trimmer returns committed memory without live blocks to its source, and keeps the addresses reserved. Each
	// allocator documents which memory its Trim can return. Blocks do not change. If the source fails, the error wraps the
	// source's error. If the allocator is closed, the error is [ErrClosed].
	Trimmer interface{ Trim() error }

	// A StatsReporter returns its statistics. Stats does not allocate.
	StatsReporter interface{ Stats() Stats }

	// A Baser has all its blocks in one range of addresses, from Base on. A block can be named by its offset from
	// Base: the name stays valid in a copy of the range at another address, also in another process. Base returns an
	// address that is aligned to [MaxAlign] and constant until Close. After Close, and for an allocator with several
	// ranges, Base returns nil. The function Extent returns the size of the range.
	Baser interface{ Base() unsafe.Pointer }

	// A Checker verifies all its metadata and returns the broken invariants, joined into one error, or nil. Check ends
	// even if the metadata has cycles. Unless the comment of the method says otherwise, the cost is proportional to the
	// metadata.
	Checker interface{ Check() error }
)

// Extent returns the size in bytes of the range of a [Baser]: all its blocks lie in this range, which begins at Base.
// If a has a method Extent() uintptr, Extent returns the result of this method. If not, it returns Stats().Reserved. If
// a has neither method, Extent returns 0.
func Extent(a any) uintptr {
	switch a := a.(type) {
	case interface{ Extent() uintptr }:
		return a.Extent()
	case StatsReporter:
		return uintptr(a.Stats().Reserved)
	}
	return 0
}
