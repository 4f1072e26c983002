package page

import "sync/atomic"

// Options move the cost of the first access to a page into the commit: 1 to 1.5 µs for 4 KiB (the row "cold" of the
// allocator benchmarks). They are off by default because they make more memory resident. [GrantedBy] reports the
// effects.
type Options struct {
	// HugePages asks the kernel for pages of 2 MiB. Only Linux grants them. With this option a [Prefix] commits up to the
	// next address that is a multiple of 2 MiB, within its reservation and budget, also on other systems. [Heap] ignores
	// the option.
	HugePages bool
	// Prefault makes every page resident when it is committed. Commit then takes longer, and later accesses cause no
	// page faults. If HugePages is set, too, this work takes about a tenth of the time that it takes with pages of 4
	// KiB.
	Prefault bool
}

// Granted counts the bytes on which the [Options] of a source had an effect since the source was made. Each effect
// has a count of its own, so a byte may be in two counts. Bytes that were decommitted later are included.
type Granted struct {
	Huge      uint64 // bytes for which the kernel accepted the advice; the kernel may still have no free pages of 2 MiB
	Populated uint64 // bytes that the kernel faulted in
	Touched   uint64 // bytes that Commit accessed page by page, because the kernel could not fault them in
}

// GrantedBy returns the number of bytes on which each of the [Options] of src had an effect. If src passes calls on to
// a source with options (see [Layered]), the counts are of that source. The counts are 0 for a source without options,
// for [Heap] and for a closed Carve. GrantedBy is safe for concurrent use if the Under methods of the sources are.
func GrantedBy(src Source) Granted {
	if s, ok := first[interface{ Granted() Granted }](src); ok {
		return s.Granted()
	}
	return Granted{}
}

// granted counts the effects of the options of a source.
type granted struct{ huge, populated, touched atomic.Uint64 }

// hugePage is the size of a large page, in bytes, of all kernels that take the advice.
const hugePage = 2 << 20

// Ahead is the optional interface of a Source with preferred boundaries for commits.
type Ahead interface {
	// AheadTo returns the boundary in bytes, a power of two: the end of a commit should be an address that is a
	// multiple of the boundary. If AheadTo returns 0, any address is suitable.
	AheadTo() uintptr
}

// aheadOf returns AheadTo of src, or of the source below it.
func aheadOf(src Source) uintptr {
	if a, ok := first[Ahead](src); ok {
		return a.AheadTo()
	}
	return 0
}
