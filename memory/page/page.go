package page

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
)

const (
	// Granule is the unit, in bytes, of Commit and Decommit, so that one layout holds on all
	// ports: 16 KiB is the page of darwin/arm64, 4 KiB that of most others. Where a kernel has
	// pages of 64 KiB, as some of arm64 and ppc64 do, a [Prefix] commits and gives back whole
	// pages; of whoever asks for less, the granules of one page share its memory: it is committed
	// with the first of them, and given back by a Decommit of them all.
	Granule = 16 << 10

	// BaseAlign is the alignment, in bytes, of every reservation: 64 KiB is what Windows
	// gives and what a slab needs to find its header by masking.
	BaseAlign = 64 << 10
)

// Memory is a run of reserved address space. It is a value: copies name the same run.
type Memory struct {
	Base unsafe.Pointer // aligned to BaseAlign; nil in the zero Memory
	Size uintptr        // bytes, a multiple of Granule

	// The mapping around it, which alignment and the guard made larger. Nil for a part of
	// another reservation.
	raw     unsafe.Pointer
	rawSize uintptr
}

// Contains reports whether p lies in m.
func (m Memory) Contains(p unsafe.Pointer) bool {
	return uintptr(p)-uintptr(m.Base) < m.Size
}

// sound reports whether m is what Reserve promises: aligned, of whole granules, and within the
// addresses that there are.
func (m Memory) sound() bool {
	return uintptr(m.Base)%BaseAlign == 0 && m.Size%Granule == 0 && m.Size <= maxReserve && uintptr(m.Base)+m.Size >= m.Size
}

// A Source reserves address space and backs it with memory.
//
// Sizes and offsets are bytes; offsets and sizes given to Commit and Decommit are multiples
// of Granule and lie inside m. Committed memory is zeroed, also when it was committed
// before and decommitted since. Errors of Reserve and Commit are or wrap
// [memory.ErrOutOfMemory] or [memory.ErrTooLarge], or [memory.ErrClosed] where the source has
// ended, and change nothing. An error of Decommit or Release, and a panic out of any of them, says
// that the memory is what it was.
//
// A source does not call the allocators that stand on it, but to end them ([Watched]) and, out of
// Commit, at the mark of a [Limit], with what OnSoft allows: an Alloc out of Decommit would be
// given what is about to go.
type Source interface {
	// Reserve takes size bytes, rounded up to Granule, of inaccessible address space. The error of a
	// size that no system can reserve, and of size 0, wraps [memory.ErrConfig].
	Reserve(size uintptr) (Memory, error)
	// Commit makes [off, off+size) readable, writable and zero. Committing what is
	// committed already is a mistake of the caller: it may or may not zero.
	Commit(m Memory, off, size uintptr) error
	// Decommit returns the memory behind [off, off+size) and keeps the addresses.
	Decommit(m Memory, off, size uintptr) error
	// Release gives back the addresses. m and all its copies are dead afterwards.
	Release(m Memory) error
}

// Watched is what a Source offers that can end before the reservations made from it do.
type Watched interface {
	// Watch has lost called, once, when the source ends, and returns what takes that back. It
	// returns nil where the source has ended already; then nobody calls lost.
	Watch(lost func()) (unwatch func())
}

// Layered is what a Source offers that passes what it is asked for on to another one.
type Layered interface {
	// Under returns that other one.
	Under() Source
}

// Paged is what a Source offers whose pages may be larger than a Granule.
type Paged interface {
	// PageSize returns the bytes that are committed and given back together: a power of two, and
	// no more than BaseAlign.
	PageSize() uintptr
}

// SizeOf returns the bytes that src commits and gives back together: a power of two from Granule to
// BaseAlign. Parts that are not to share their fate, such as a block and its guard, begin at
// multiples of it.
func SizeOf(src Source) uintptr {
	for ; src != nil; src = below(src) {
		if p, ok := src.(Paged); ok {
			return max(p.PageSize(), Granule)
		}
	}
	return Granule
}

// Stepped is what a Source offers that knows best how much it can commit: between least and
// want bytes, in one call, so that it counts one refusal and not each attempt.
type Stepped interface {
	// CommitSome commits got bytes from off on, least <= got <= want, all whole granules, or
	// none with an error.
	CommitSome(m Memory, off, least, want uintptr) (got uintptr, err error)
}

// commitSome commits want bytes, or where they cannot be had least. With an error it is none.
func commitSome(src Source, m Memory, off, least, want uintptr) (uintptr, error) {
	if s, ok := src.(Stepped); ok {
		got, err := s.CommitSome(m, off, least, want)
		if err != nil {
			return 0, err
		}
		if got < least || got > want || got%Granule != 0 {
			return 0, fmt.Errorf("page: %T committed %d bytes; wanted are whole granules, from %d to %d bytes", src, got, least, want)
		}
		return got, nil
	}
	err := src.Commit(m, off, want)
	if err != nil && want > least {
		want = least
		err = src.Commit(m, off, want)
	}
	if err != nil {
		return 0, err
	}
	return want, nil
}

// Default returns the backing that this build calls for: [OS], or [Heap] under -race and
// -asan, which can watch only Go's own memory, and where the platform cannot map memory.
func Default() Source { return DefaultWith(Options{}) }

// DefaultWith is Default with options for the first touch, which have no meaning on the Go heap.
func DefaultWith(o Options) Source {
	if heapOnly {
		return Heap()
	}
	return OSWith(o)
}

var errEmpty = fmt.Errorf("page: reserve 0 bytes: want 1 to %d: %w", uint64(maxReserve), memory.ErrConfig)

// roundReserve rounds a reservation up and says what is wrong with it.
func roundReserve(size uintptr) (uintptr, error) {
	if size == 0 {
		return 0, errEmpty
	}
	rounded := align.Up(size, Granule)
	if rounded < size || rounded > maxReserve {
		return 0, fmt.Errorf("page: reserve %d bytes: want 1 to %d: %w: %w", size, uint64(maxReserve), memory.ErrConfig, memory.ErrTooLarge)
	}
	return rounded, nil
}

// maxReserve leaves room for the guard and for aligning the base: half the address space.
const maxReserve = ^uintptr(0)>>1 - 2*BaseAlign

// checkRange panics when a family asks for bytes that are not in its reservation.
func checkRange(op string, m Memory, off, size uintptr) {
	if off%Granule == 0 && size%Granule == 0 && off <= m.Size && size <= m.Size-off {
		return
	}
	panic(&memory.Misuse{
		Package: "page", Op: op, Addr: uintptr(m.Base) + off, Size: size,
		Reason: fmt.Sprintf("[%d, %d+%d) is not a run of whole granules of %d inside a reservation of %d bytes", off, off, size, Granule, m.Size),
	})
}

// trimBase cuts the aligned run of size bytes, with a guard behind it, out of a mapping.
func trimBase(raw unsafe.Pointer, rawSize, size uintptr) Memory {
	pad := align.Up(uintptr(raw), BaseAlign) - uintptr(raw)
	return Memory{Base: unsafe.Add(raw, pad), Size: size, raw: raw, rawSize: rawSize}
}
