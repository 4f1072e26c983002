package page

import (
	"slices"
	"sync"
	"unsafe"
)

// A Span is a range of addresses. It begins at Base and has Size bytes.
type Span struct{ Base, Size uintptr }

// mapped has the reservations of OS that are not released: base and bytes of the mapping. They are numbers, not pointers,
// so the list keeps nothing alive.
var mapped struct {
	sync.Mutex
	runs map[uintptr]uintptr
}

// AppendMapped appends the mappings of all reservations of [OS] in the process to dst, and returns the extended
// slice. The appended mappings are sorted by address. A mapping includes the bytes for alignment and the guard.
// Reservations that became garbage without Close are listed, too. Reservations of [Heap] are not listed.
//
// AppendMapped is for reports about the process: the list may change before the caller reads it. AppendMapped is safe
// for concurrent use. Cost: about 50 ns for each reservation, for the sorting.
func AppendMapped(dst []Span) []Span {
	mapped.Lock()
	n := len(dst)
	for base, size := range mapped.runs {
		dst = append(dst, Span{base, size})
	}
	mapped.Unlock()
	slices.SortFunc(dst[n:], func(a, b Span) int {
		if a.Base < b.Base {
			return -1
		}
		return 1
	})
	return dst
}

// note lists a mapping. A caller notes it after mapping and forgets it before unmapping: in between the system may give
// its addresses to other code.
func note(raw unsafe.Pointer, size uintptr) {
	mapped.Lock()
	if mapped.runs == nil {
		mapped.runs = make(map[uintptr]uintptr)
	}
	mapped.runs[uintptr(raw)] = size
	mapped.Unlock()
}

// unmap removes a reservation from the list and calls free to unmap it. If that fails, the reservation stays listed.
func unmap(m Memory, free func() error) error {
	mapped.Lock()
	delete(mapped.runs, uintptr(m.raw))
	mapped.Unlock()
	err := free()
	if err != nil {
		note(m.raw, m.rawSize)
	}
	return err
}
