package saved

import (
	"unsafe"

	"github.com/strata-go/strata/memory/save"
)

// A Run visits ranges of bytes. It joins neighbors, because one copy is faster than many small ones: from 1 MiB on Go
// copies past the caches. The caller sets C, and calls End after the last Add.
type Run struct {
	C *save.Coder

	// Invariant: the bytes from..to at base are the newest range, joined with its neighbors, and were not visited yet.
	base     unsafe.Pointer
	from, to uintptr
}

// Add visits the bytes from up to to at base, now or with the next range. Two ranges are joined if they have the same
// base.
func (r *Run) Add(base unsafe.Pointer, from, to uintptr) {
	if base != r.base || from != r.to {
		r.End()
		r.base, r.from = base, from
	}
	r.to = to
}

// End visits the range that was not visited yet.
func (r *Run) End() {
	r.C.Raw(unsafe.Add(r.base, r.from), r.to-r.from)
}
