package memory

import "unsafe"

// MaxAlign is the largest alignment, in bytes, that every Allocator accepts: one 4 KiB page.
const MaxAlign = 4096

// An Allocator hands out raw blocks.
//
// Sizes and alignments are in bytes. An alignment is a power of two from 1 to
// [MaxAlign]. A block belongs to the caller until Free, until the allocator's Reset
// or until its Close, whichever comes first. Block contents are not zeroed; [New]
// and [MakeSlice] zero what they return. A block must hold no Go pointer: the
// collector does not look at it (see [PointerFree]).
//
// An allocator comes from the New of its family: the zero value of the type is none, and is not
// to be used. It belongs to one goroutine at a time unless its documentation says otherwise. Builds
// with -race report the second goroutine; -tags memdebug alone does not.
type Allocator interface {
	// Alloc returns a block of at least size bytes aligned to align. Size 0 gives a
	// non-nil pointer that may be passed to Free and must not be dereferenced.
	//
	// The error is or wraps [ErrOutOfMemory], [ErrTooLarge], [ErrAlign] or [ErrClosed]. When
	// Alloc fails nothing has changed, and a later, smaller request may succeed.
	Alloc(size, align uintptr) (unsafe.Pointer, error)

	// Free gives back a block with the size it was asked for. A nil pointer is a no-op.
	// Misuse that would corrupt the books panics with a [*Misuse] before anything changes.
	Free(p unsafe.Pointer, size uintptr)
}

// The capabilities of an allocator beyond Alloc and Free are separate interfaces, found
// by type assertion as in packages io and io/fs. What owns memory also has io.Closer's Close:
// a second one does nothing, one that fails can be tried again, and from then on every Alloc
// fails with [ErrClosed], the other calls panic with a [*Misuse] that says so, and Owns is false.
type (
	// A Resetter frees every block at once; the cost does not depend on their number.
	Resetter interface{ Reset() }

	// A Resizer changes the size of a block in place. It never moves the block: false
	// means that nothing has changed.
	Resizer interface {
		Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool
	}

	// An Owner tells whether an address lies in memory that this allocator manages,
	// whether or not a live block starts there.
	Owner interface{ Owns(p unsafe.Pointer) bool }

	// A Sizer reports the usable size in bytes of a live block.
	Sizer interface {
		SizeOf(p unsafe.Pointer) uintptr
	}

	// An AnyFreer frees a block whose size the caller does not know. The checks are
	// those of Free, less the one on the size.
	AnyFreer interface{ FreeAny(p unsafe.Pointer) }

	// A Trimmer gives committed memory that no live block uses back to its source and keeps
	// the addresses. The error is the source's, or ErrClosed; the blocks are untouched.
	Trimmer interface{ Trim() error }

	// A StatsReporter reports its books. It does not allocate.
	StatsReporter interface{ Stats() Stats }

	// A Baser has all its blocks in one range of addresses that begins at Base: where the same
	// bytes lie at another address, in another run or in a copy, what a block is called by its
	// offset from Base is called the same. The address is aligned to [MaxAlign], no block lies
	// below it, and it is constant until Close; then, and where the blocks lie in several
	// ranges, it is nil. The blocks reach no further than Stats().Reserved, or, where there is a
	// method Extent() uintptr, than what that returns.
	Baser interface{ Base() unsafe.Pointer }

	// A Checker walks all its books and reports every broken invariant it finds, joined
	// into one error, or nil. It ends even on cyclic books. Cost: proportional to the books.
	Checker interface{ Check() error }
)
