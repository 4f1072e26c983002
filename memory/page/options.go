package page

import "sync/atomic"

// Options move the price of the first touch (1 to 1.5 µs per 4 KiB page, the "cold" row of
// the allocator benchmarks) from the frame to the commit. They are off by default, because they
// trade memory for it: what is committed ahead is resident then. Where the system does not take
// them memory works as ever; [GrantedBy] says what was had.
type Options struct {
	// HugePages asks for 2 MiB pages, where the system grants them on advice (Linux). A [Prefix]
	// then commits to the next multiple of 2 MiB, as far as its reservation and budget go.
	HugePages bool
	// Prefault touches every page when it is committed. With HugePages a first touch costs
	// about a tenth of what it costs page by page.
	Prefault bool
}

// Granted is what the Options of a source have brought, in bytes that were committed with them
// since it was made: what was given back meanwhile is counted, too.
type Granted struct {
	Huge      uint64 // the kernel took the advice for 2 MiB pages; whether it has some is its own affair
	Populated uint64 // the kernel faulted the pages in
	Touched   uint64 // it could not, and they were touched one by one
}

// GrantedBy returns what the Options of src, or of the source below it, have brought. All is 0 for
// a source without options, and for a Carve that is closed. Safe for concurrent use where the
// sources' Under is.
func GrantedBy(src Source) Granted {
	for {
		switch s := src.(type) {
		case interface{ Granted() Granted }:
			return s.Granted()
		default:
			if src = below(src); src == nil {
				return Granted{}
			}
		}
	}
}

// below returns the source that src passes on to, or nil.
func below(src Source) Source {
	switch s := src.(type) {
	case *Carve:
		carves.Lock() // it may be closing, and who asks what was granted be another goroutine
		defer carves.Unlock()
		return s.src
	case Layered:
		return s.Under()
	}
	return nil
}

// granted counts what the options of a source bring.
type granted struct{ huge, populated, touched atomic.Uint64 }

// hugePage is what the kernels that know advice on it have as a large page.
const hugePage = 2 << 20

// Ahead is what a Source offers whose memory is best committed up to certain addresses.
type Ahead interface {
	// AheadTo returns the bytes to a multiple of which a commit is best rounded up; 0: to any.
	AheadTo() uintptr
}

// aheadOf returns what AheadTo of src says, or of what lies below it.
func aheadOf(src Source) uintptr {
	for ; src != nil; src = below(src) {
		if a, ok := src.(Ahead); ok {
			return a.AheadTo()
		}
	}
	return 0
}
