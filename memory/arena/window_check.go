package arena

import (
	"errors"
	"fmt"
	"unsafe"
)

// Check returns the errors in the metadata, or nil. Cost: constant.
func (w *Window[T]) Check() error {
	errs := []error{w.mem.Check()}
	slots := len(w.slots)
	if w.slots != nil {
		bytes := uintptr(slots) * unsafe.Sizeof(*new(T))
		if w.keep < 1 || w.keep >= slots || unsafe.Pointer(unsafe.SliceData(w.slots)) != w.mem.Base() || bytes > w.mem.Committed() {
			errs = append(errs, fmt.Errorf("arena: %d entries are kept of %d, which take %d bytes of %d committed", w.keep, slots, bytes, w.mem.Committed()))
		}
	}
	if w.length < 0 || w.length > w.keep || w.length > w.next || w.next > slots {
		errs = append(errs, fmt.Errorf("arena: %d entries of %d lie below slot %d of %d", w.length, w.keep, w.next, slots))
	}
	if w.length < 0 || uint64(w.length) > w.pushed || w.peak < 0 || w.peak > w.keep {
		errs = append(errs, fmt.Errorf("arena: %d entries of %d pushed, at most %d of %d kept", w.length, w.pushed, w.peak, w.keep))
	}
	return errors.Join(errs...)
}
