package arena

import (
	"errors"
	"fmt"
	"sort"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// Check returns the errors in the metadata, or nil. Cost: proportional to the live blocks.
func (s *StepBack) Check() error {
	if s.base == nil {
		return nil
	}
	errs := []error{s.mem.Check()}
	if s.off > s.limit || s.limit > s.mem.Committed() {
		errs = append(errs, fmt.Errorf("arena: off %d, limit %d, committed %d are not in order", s.off, s.limit, s.mem.Committed()))
	}
	for i, st := range s.steps {
		before := uint32(0)
		if i > 0 {
			before = s.steps[i-1].start + 1
		}
		if st.under < before || i == 0 && st.under != 0 || st.start-st.under >= memory.MaxAlign || uintptr(st.start) >= s.end(i) {
			errs = append(errs, fmt.Errorf("arena: step %d, start %d over %d, does not follow the one before it, or ends at %d", i, st.start, st.under, s.end(i)))
		}
	}
	if len(s.steps) == 0 && s.off != 0 {
		errs = append(errs, fmt.Errorf("arena: off %d with no block live", s.off))
	}
	if uint64(len(s.steps)) > s.allocs {
		errs = append(errs, fmt.Errorf("arena: %d blocks live of %d allocated", len(s.steps), s.allocs))
	}
	if s.peak > s.mem.Reserved() {
		errs = append(errs, fmt.Errorf("arena: peak %d is above the reservation of %d bytes", s.peak, s.mem.Reserved()))
	}
	return errors.Join(errs...)
}

// end returns where block i ends, from base.
func (s *StepBack) end(i int) uintptr {
	if i == len(s.steps)-1 {
		return s.off
	}
	return uintptr(s.steps[i+1].under)
}

// at returns the index of the block with the highest start that is not above off, or -1.
func (s *StepBack) at(off uintptr) int {
	return sort.Search(len(s.steps), func(i int) bool { return uintptr(s.steps[i].start) > off }) - 1
}

func (s *StepBack) mustBeOpen(op string) {
	if s.base == nil {
		panic(s.misuse(op, nil, 0, "the arena is closed"))
	}
}

func (s *StepBack) misuse(op string, p unsafe.Pointer, size uintptr, reason string) *memory.Misuse {
	return &memory.Misuse{Package: "arena", Op: op, Addr: uintptr(p), Size: size, Reason: reason}
}

// reason returns why the block at off cannot be freed or resized, and which one could.
func (s *StepBack) reason(off, size uintptr) string {
	n := len(s.steps)
	switch {
	case s.base == nil:
		return "the arena is closed"
	case n == 0:
		return "no block is live: undone already, or foreign"
	}
	start := uintptr(s.steps[n-1].start)
	newest := fmt.Sprintf("the newest block is %#x of %d bytes", uintptr(s.base)+start, s.off-start)
	i := s.at(off)
	if i < 0 || off >= s.end(i) {
		return "no live block starts there: undone already, or foreign; " + newest
	}
	into := off - uintptr(s.steps[i].start)
	switch has := s.end(i) - off + into; {
	case into != 0:
		return fmt.Sprintf("interior pointer: it points %d bytes into a block of %d; %s", into, has, newest)
	case has != max(size, 1):
		return fmt.Sprintf("wrong size: the block has %d bytes; %s", has, newest)
	}
	return fmt.Sprintf("out of order: %d newer blocks are live; %s", n-1-i, newest)
}
