package page

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
)

const (
	// Granule is the unit of Commit and Decommit in bytes. It has one value on all ports, although pages differ:
	// darwin/arm64 has pages of 16 KiB, most other ports have pages of 4 KiB.
	//
	// Some kernels of arm64 and ppc64 have pages of 64 KiB. On these kernels a [Prefix] commits and decommits whole
	// pages. If the reservation ends within a page, or if a budget or the source refuses the rest of a page, the
	// Prefix commits a part of the page. The first Commit of a granule of [OS] commits the whole page of the granule.
	// A Decommit of [OS] returns the pages that it covers completely, and only zeroes other granules.
	Granule = 16 << 10

	// BaseAlign is the alignment of every reservation in bytes. Windows aligns reservations to 64 KiB. A block whose
	// offset from Base is a multiple of a power of two has an address with this alignment, up to BaseAlign.
	BaseAlign = 64 << 10
)

// Memory is a range of reserved addresses. A Memory is a value: copies describe the same range. After Release no copy
// may be used.
type Memory struct {
	Base unsafe.Pointer // aligned to BaseAlign; nil in the zero Memory
	Size uintptr        // bytes, a multiple of Granule

	// The mapping around it, larger because of the alignment and the guard. Nil in a part of another
	// reservation.
	raw     unsafe.Pointer
	rawSize uintptr

	// What a Prefix permits the Decommit that gets this copy, so that the system keeps few mappings. Zero in all
	// other copies. A source that does not know the fields, or loses them, works as well.
	inside bool    // the range may stay accessible: the caller makes other use of the addresses around it
	open   uintptr // the address up to which Decommit may make the bytes behind the range inaccessible, too
}

// Contains reports whether p lies in m. The address Base+Size does not lie in m.
func (m Memory) Contains(p unsafe.Pointer) bool {
	return uintptr(p)-uintptr(m.Base) < m.Size
}

// sound reports whether m is as Reserve must return it: aligned, of whole granules, and within the address
// space.
func (m Memory) sound() bool {
	return uintptr(m.Base)%BaseAlign == 0 && m.Size%Granule == 0 && m.Size <= maxReserve && uintptr(m.Base)+m.Size >= m.Size
}

// A Source reserves address space and commits memory to it.
//
// Sizes and offsets are in bytes. The range passed to Commit and Decommit lies inside m and consists of whole granules.
// Bytes that were not committed are zero after Commit, also if they were decommitted before. An error of Reserve or
// Commit is or wraps [memory.ErrOutOfMemory], [memory.ErrTooLarge] or [memory.ErrConfig]. If the source has ended, the
// error is or wraps [memory.ErrClosed]. A method that fails or panics does not change the memory. If the range is
// outside m or contains parts of granules, Commit and Decommit of the sources in this package panic with a
// [*memory.Misuse]. Other sources may return an error.
//
// A source calls functions of its users in two cases only. The first is its end (see [Watched]). The second is a
// Commit in which the committed bytes rise above the soft limit of a [Limit].
type Source interface {
	// Reserve reserves size bytes, rounded up to a Granule. The caller must not access the bytes before Commit. If
	// size is 0, or larger than any system can reserve, the error wraps [memory.ErrConfig].
	Reserve(size uintptr) (Memory, error)
	// Commit makes the bytes [off, off+size) of m readable and writable. Bytes that were not committed are zero
	// afterwards. Bytes that are committed already may be zeroed or kept, so callers should not pass them.
	Commit(m Memory, off, size uintptr) error
	// Decommit returns the memory of [off, off+size) to the system and keeps the addresses. [Heap] keeps the memory
	// and zeroes the bytes.
	Decommit(m Memory, off, size uintptr) error
	// Release returns the addresses to the system. m and all its copies must not be used afterwards.
	Release(m Memory) error
}

// Watched is the optional interface of a Source that can end before its reservations are released. A
// [Layered] Source above it must have a Watch of its own, as [Limit] has. Otherwise allocators of the
// Layered Source stay open when the source below ends.
type Watched interface {
	// Watch registers a function lost that is called once, right after the source has ended. Because the memory may
	// be gone then, lost must not touch it. unwatch removes lost; a second call of unwatch does nothing. If the
	// source has ended already, Watch returns nil and does not call lost.
	Watch(lost func()) (unwatch func())
}

// Layered is the optional interface of a Source that passes calls on to another Source, as [Limit] does.
type Layered interface {
	// Under returns the other Source, or nil if there is none.
	Under() Source
}

// Paged is the optional interface of a Source whose pages may be larger than a Granule. If a Source is not Paged,
// [SizeOf] asks the Source below (see [Layered]), or else returns a Granule.
type Paged interface {
	// PageSize returns the bytes that are committed and decommitted together: a power of two up to
	// BaseAlign.
	PageSize() uintptr
}

// SizeOf returns the number of bytes that src commits and decommits together, a power of two from Granule to
// BaseAlign. If src is [Paged], SizeOf returns PageSize of src, at least a Granule. If src is not Paged but a source
// below it is (see [Layered]), SizeOf returns PageSize of the source below. If no source is Paged or src is nil,
// SizeOf returns Granule.
//
// Parts that are committed separately, such as a block and its guard, must begin at multiples of this size.
func SizeOf(src Source) uintptr {
	if p, ok := first[Paged](src); ok {
		return max(p.PageSize(), Granule)
	}
	return Granule
}

// ReturnsMemory reports whether Decommit of src returns memory. It returns false for [Heap] and for sources that pass
// calls on to Heap (see [Layered]). For nil and for an unknown source it returns true.
func ReturnsMemory(src Source) bool {
	_, heap := first[heapSource](src)
	return !heap
}

// first returns the first of src and the sources below it that is a T.
func first[T any](src Source) (t T, ok bool) {
	for ; src != nil && !ok; src = below(src) {
		t, ok = src.(T)
	}
	return t, ok
}

// below returns the source that src passes calls on to, or nil.
func below(src Source) Source {
	switch s := src.(type) {
	case *Carve:
		carves.Lock() // it may be closing, while another goroutine calls GrantedBy
		defer carves.Unlock()
		return s.src
	case Layered:
		return s.Under()
	}
	return nil
}

// Stepped is the optional interface of a Source that decides how many bytes it commits. If Commit fails and
// the Source is not Stepped, a [Prefix] or a [Limit] may call Commit again with fewer bytes. A Source that
// counts failures counts the first Commit even if the second succeeds. A Stepped Source gets one call of
// CommitSome.
type Stepped interface {
	// CommitSome commits got bytes of m from the offset off, and returns got, a multiple of [Granule] with
	// least <= got <= want. least and want are multiples of Granule, too. If CommitSome fails, got is 0 and nothing
	// is committed.
	CommitSome(m Memory, off, least, want uintptr) (got uintptr, err error)
}

// commitSome commits want bytes or, if that fails, least. With an error, nothing is committed.
func commitSome(src Source, m Memory, off, least, want uintptr) (uintptr, error) {
	if s, ok := src.(Stepped); ok {
		got, err := s.CommitSome(m, off, least, want)
		if err != nil {
			return 0, err
		}
		if got < least || got > want || got%Granule != 0 {
			return 0, fmt.Errorf("page: %T committed %d bytes: want whole granules, from %d to %d bytes", src, got, least, want)
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

// Default returns the source of this build. With -race or -asan, and on platforms that cannot map memory, it is
// [Heap]. In all other builds it is [OS].
func Default() Source { return DefaultWith(Options{}) }

// DefaultWith is [Default] with [Options], such as huge pages. If Default returns [Heap], the options have no effect.
func DefaultWith(o Options) Source {
	if heapOnly {
		return Heap()
	}
	return OSWith(o)
}

var errEmpty = fmt.Errorf("page: reserve 0 bytes: want 1 to %d: %w", uint64(maxReserve), memory.ErrConfig)

// roundReserve rounds the size of a reservation up to a granule, and returns an error if it is impossible.
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

// maxReserve is half the address space, less the guard and the bytes for aligning the base.
const maxReserve = ^uintptr(0)>>1 - 2*BaseAlign

// checkRange panics if the bytes are not in the reservation.
func checkRange(op string, m Memory, off, size uintptr) {
	if off%Granule == 0 && size%Granule == 0 && off <= m.Size && size <= m.Size-off {
		return
	}
	panic(&memory.Misuse{
		Package: "page", Op: op, Addr: uintptr(m.Base) + off, Size: size,
		Reason: fmt.Sprintf("[%d, %d+%d) is not a run of whole granules of %d inside a reservation of %d bytes", off, off, size, Granule, m.Size),
	})
}

// trimBase returns the aligned range of size bytes in a mapping. The guard is behind it.
func trimBase(raw unsafe.Pointer, rawSize, size uintptr) Memory {
	pad := align.Up(uintptr(raw), BaseAlign) - uintptr(raw)
	return Memory{Base: unsafe.Add(raw, pad), Size: size, raw: raw, rawSize: rawSize}
}
