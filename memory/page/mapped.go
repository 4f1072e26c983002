package page

import (
	"slices"
	"sync"
	"unsafe"
)

// A Span is a run of addresses.
type Span struct{ Base, Size uintptr }

// mapped are the reservations that [OS] has made and not released, by the mapping around each: its
// base and its bytes. Numbers, not pointers: nothing is kept alive by being listed.
var mapped struct {
	sync.Mutex
	runs map[uintptr]uintptr
}

// AppendMapped appends every reservation of the process that [OS] backs, by address, and returns
// the longer slice: with the room for alignment and the guard, and with those that were dropped
// without Close. What [Heap] backs is Go's own and is not listed. It is for reports about the
// process: by the time they are read the list may have changed. Safe for concurrent use. Cost: some
// 50 ns for each reservation, to sort them; a Reserve and a Release pay a lock and a map entry each,
// a Commit nothing.
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

// note lists a mapping. Who makes one notes it afterwards, and who unmaps one forgets it before:
// in between the system may give its addresses to somebody else.
func note(raw unsafe.Pointer, size uintptr) {
	mapped.Lock()
	if mapped.runs == nil {
		mapped.runs = make(map[uintptr]uintptr)
	}
	mapped.runs[uintptr(raw)] = size
	mapped.Unlock()
}

// unmap takes a reservation off the list and has free unmap it. What the system keeps stays listed.
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
