package stack

import (
	"cmp"
	"errors"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

// A Double is two Ends in one buffer. Bottom rises from the start of the buffer and is meant for long-lived blocks.
// Top falls from the end of the buffer and is meant for temporary blocks. The Ends share all free bytes, and no End
// fragments the other. A level loader puts its level at the bottom, and its configuration, file buffers and tables at
// the top.
//
//	base            bottom edge        top edge           bytes
//	  | bottom blocks | free, for either  |  top blocks     | guard
//
// Lifetimes and errors are as in [End]. Each End can be reset alone. Both Ends together belong to one goroutine at a
// time.
type Double struct {
	// Invariants, verified by Check:
	//
	//	(1) those of each End; the wall of each is the edge of the other
	//	(2) the origin of top <= committed

	bottom, top End
	mem         page.Prefix
}

// DoubleConfig configures [NewDouble].
type DoubleConfig struct {
	// Bytes is the capacity of both Ends together in bytes. NewDouble commits all of it. 0 means 1 MiB.
	Bytes uintptr
}

// NewDouble returns a Double with a buffer of src. If src is nil, it is page.Default(). If the buffer cannot be
// reserved or committed, the error wraps the error that page.NewCommitted returns. If NewDouble fails, it releases its
// reservation. If src cannot release it, the addresses stay reserved.
func NewDouble(src page.Source, cfg DoubleConfig) (*Double, error) {
	cfg.Bytes = cmp.Or(cfg.Bytes, defaultBytes)
	mem, err := buffer(src, cfg.Bytes)
	if err != nil {
		return nil, fmt.Errorf("stack: new Double of %d bytes: %w", cfg.Bytes, err)
	}
	d := &Double{mem: mem}
	d.top.falls = true
	d.bottom.open(&mem, 0, cfg.Bytes, &d.top.edge)
	d.top.open(&mem, cfg.Bytes, 0, &d.bottom.edge)
	d.mem.Watch(d.shut)
	return d, nil
}

// Bottom returns the End that rises from the start of the buffer. Each call returns the same End.
func (d *Double) Bottom() *End { return &d.bottom }

// Top returns the End that falls from the end of the buffer. Each call returns the same End.
func (d *Double) Top() *End { return &d.top }

// Available returns the bytes between the two edges. The padding for the alignment of a block takes some of them. If
// the Double is closed, Available returns 0.
func (d *Double) Available() uintptr { return d.top.edge - d.bottom.edge }

// ResetBottom frees every block of the bottom, as [End.Reset], and leaves the top alone. ResetBottom panics with a
// *memory.Misuse if the Double is closed.
func (d *Double) ResetBottom() { d.bottom.Reset() }

// ResetTop frees every block of the top, as [End.Reset], and leaves the bottom alone. ResetTop panics with a
// *memory.Misuse if the Double is closed.
func (d *Double) ResetTop() { d.top.Reset() }

// Reset frees every block of both Ends, as [End.Reset]. Reset panics with a *memory.Misuse if the Double is closed.
func (d *Double) Reset() {
	d.bottom.Reset()
	d.top.Reset()
}

// Owns reports whether p lies in the buffer. p need not be in a live block. If the memory has been released or the
// source has ended, Owns returns false.
func (d *Double) Owns(p unsafe.Pointer) bool { return d.mem.Contains(p) }

// Close frees every block and releases the memory. Afterwards the caller must not use pointers into the buffer. If the
// page source cannot release the memory, Close returns an error. All blocks are freed nevertheless, and Close can be
// called again. If a part of the memory was decommitted before the error, the Ends are closed. If nothing was
// decommitted, they stay open and can be used. After a Close that succeeded, and after the source has ended, Close does
// nothing and returns nil.
func (d *Double) Close() error { return closeBuffer(&d.mem, d.top.origin, &d.bottom, &d.top) }

// shut puts the metadata into the state of a closed buffer and touches no block.
func (d *Double) shut() {
	d.bottom.shut()
	d.top.shut()
}

// Stats returns the sum of the statistics of both Ends, except for Reserved, Committed and Peak. Reserved and
// Committed are those of the buffer, which contains both Ends. Peak is an upper bound: the smaller one of
// Committed and the sum of both peaks. If the Double is closed, Peak is 0.
func (d *Double) Stats() memory.Stats {
	return join(&d.mem, &d.bottom, &d.top)
}

// join adds up two Ends that share a buffer.
func join(mem *page.Prefix, a, b *End) memory.Stats {
	s := a.Stats().Add(b.Stats())
	s.Reserved, s.Committed = uint64(mem.Reserved()), uint64(mem.Committed())
	s.Peak = min(s.Peak, max(s.Committed, s.InUse))
	return s
}

// Check returns the errors in the metadata of the buffer and both Ends, or nil. Cost: proportional to the live blocks
// and the marks.
func (d *Double) Check() error {
	errs := []error{d.mem.Check(), d.bottom.Check(), d.top.Check(), checkLimit(&d.mem, d.top.origin)}
	if d.bottom.wall != &d.top.edge || d.top.wall != &d.bottom.edge {
		errs = append(errs, errors.New("stack: the two ends do not stop at each other"))
	}
	return errors.Join(errs...)
}
