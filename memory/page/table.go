package page

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/align"
)

// A Table is the memory of one slice of metadata, which an allocator lengthens with [Lengthen]. A slice of at most 64
// KiB lies in the Go heap. A longer slice lies in a reservation of the system for the largest length. It then grows by
// a commit, and nothing is copied. So the slowest call of the allocator does not depend on the size of its metadata.
//
// On 32-bit systems, and if the source of [NewTable] is neither [OS] nor based on it, the slice stays in the Go heap.
// It also stays there if the system refuses the memory, or has fewer free addresses than twice the largest length and
// 128 MiB. In the Go heap each longer slice is a copy of the shorter one.
//
// Elements must contain no Go pointers. The zero Table keeps its slice in the Go heap. A Table belongs to one goroutine
// at a time and must not be copied.
type Table struct {
	most      uintptr // bytes of the longest slice; 0: always in the Go heap
	mem       Memory  // zero while the slice is in the Go heap
	committed uintptr // bytes of mem
	used      uintptr // bytes of mem that a slice has contained: those behind are zero
}

// tableSource has the reservations of all tables. Tests let it fail.
var tableSource = OS()

// smallTable is the most bytes that a Table keeps in the Go heap: to copy them takes as long as a few system calls.
const smallTable = 64 << 10

// NewTable returns a Table for a slice of at most `most` bytes, for the metadata of an allocator with memory of src. A
// nil src means [Default]. NewTable reserves nothing yet.
func NewTable(src Source, most uintptr) Table {
	const wide = ^uintptr(0)>>32 != 0
	if src == nil {
		src = Default()
	}
	if _, mapped := first[interface{ mapsMemory() }](src); !wide || !mapped {
		most = 0
	}
	return Table{most: most}
}

// NewTable is the function [NewTable] with the source of p.
func (p *Prefix) NewTable(most uintptr) Table { return NewTable(p.src, most) }

// Prepare commits memory for a [Lengthen] to the given number of bytes, and reports whether this Lengthen then needs no
// memory of the Go heap. If necessary it first reserves memory for the longest slice of the Table. If Prepare returns
// false, and the capacity of the slice is too small, Lengthen allocates the slice in the Go heap: call [ProbeHeap]
// first.
func (t *Table) Prepare(bytes uintptr) bool {
	switch {
	case bytes <= t.committed:
		return true
	case bytes > t.most || bytes <= smallTable || t.mem.Base != nil && bytes > t.mem.Size:
		return false
	}
	if t.mem.Base == nil {
		// Other tables and the Go heap need addresses, too.
		if err := ProbeAddresses(2*t.most + leastGap); err != nil {
			return false
		}
		mem, err := tableSource.Reserve(t.most)
		if err != nil {
			return false
		}
		t.mem = mem
	}
	end := min(align.Up(bytes, Granule), t.mem.Size)
	if tableSource.Commit(t.mem, t.committed, end-t.committed) != nil {
		return false
	}
	t.committed = end
	return true
}

// leastGap is the bytes of addresses that a Table leaves to the Go heap at least: what ProbeHeap asks for.
const leastGap = 128 << 20

// Lengthen returns s with n elements. If s has more than n elements, Lengthen returns s unchanged. s is the slice of t,
// or nil before the first Lengthen. New elements are zero, also if s was longer before. If n is within the capacity,
// the slice stays where it is. Otherwise it may move, and s must not be used any more. If the slice moves, Lengthen
// copies only the elements below len(s).
func Lengthen[E any](t *Table, s []E, n uintptr) []E {
	had := uintptr(len(s))
	if n <= uintptr(cap(s)) {
		s = s[:max(n, had)]
		clear(s[had:])
		return s
	}
	if n*unsafe.Sizeof(*new(E)) > t.committed {
		r := make([]E, n)
		copy(r, s)
		t.Release()
		return r
	}
	return lay(t, s, n)
}

// lay returns n elements in the committed memory of t, of which the first are those of s.
func lay[E any](t *Table, s []E, n uintptr) []E {
	size, had := unsafe.Sizeof(*new(E)), uintptr(len(s))
	r := unsafe.Slice((*E)(t.mem.Base), n)
	if unsafe.Pointer(unsafe.SliceData(s)) != t.mem.Base {
		copy(r, s)
	}
	if dirty := min(n, t.used/size); dirty > had {
		clear(r[had:dirty])
	}
	t.used = max(t.used, n*size)
	return r
}

// Widen raises the bytes of the longest slice of t to `most`, and returns s, the slice of t. If s lies in a
// reservation, Widen reserves a larger one, copies s to it and releases the smaller one. If the system refuses, s stays
// where it is until it outgrows its reservation. If `most` is not larger than before, or t always keeps its slice in
// the Go heap, Widen does nothing.
func Widen[E any](t *Table, s []E, most uintptr) []E {
	if t.most == 0 || most <= t.most {
		return s
	}
	t.most = most
	if t.mem.Base == nil {
		return s
	}
	wide := Table{most: most}
	if !wide.Prepare(uintptr(cap(s)) * unsafe.Sizeof(*new(E))) {
		wide.Release()
		return s
	}
	r := lay(&wide, s, uintptr(cap(s)))[:len(s)]
	t.Release()
	*t = wide
	return r
}

// Release returns the reservation to the system. The slice must not be used any more, unless it lies in the Go heap.
// If the system refuses, the addresses stay reserved.
func (t *Table) Release() {
	if t.mem.Base != nil {
		_ = tableSource.Release(t.mem)
	}
	t.mem, t.committed, t.used = Memory{}, 0, 0
}

// Check returns the errors in the metadata of t itself, joined, or nil. `most` is the argument of [NewTable], or of the
// last [Widen]. It is 0 if t must be the zero Table.
func (t *Table) Check(most uintptr) error {
	var errs []error
	if t.most != 0 && t.most != most {
		errs = append(errs, fmt.Errorf("page: a Table for %d bytes: want %d, or 0", t.most, most))
	}
	if t.mem.Base == nil && t.mem.Size|t.mem.rawSize|t.committed|t.used != 0 {
		errs = append(errs, fmt.Errorf("page: a Table in the Go heap has %d bytes, %d committed and %d used", t.mem.Size, t.committed, t.used))
	}
	if t.used > t.committed || t.committed > t.mem.Size || t.committed%Granule != 0 || t.mem.Size > align.Up(t.most, Granule) || t.mem.Size > t.mem.rawSize {
		errs = append(errs, fmt.Errorf("page: a Table of %d bytes for %d has %d committed and %d used", t.mem.Size, t.most, t.committed, t.used))
	}
	return errors.Join(errs...)
}
