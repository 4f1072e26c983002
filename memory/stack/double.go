package stack

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

// A Double is two Ends in one buffer: Bottom rises from its start and is meant for what
// stays, Top falls from its end and is meant for what goes again soon. They share the free
// bytes to the last one, and neither can fragment the other: a level loader keeps its level
// at the bottom and its configuration, file buffers and tables at the top.
//
//	base            bottom.edge        top.edge           bytes
//	  | bottom blocks | free, for either  |  top blocks     | guard
//
// Blocks live as [End] says. Each End resets alone. One goroutine at a time for both.
//
// Invariants, verified by Check:
//
//	(1) those of each End; the wall of each is the edge of the other
//	(2) the origin of top <= committed
type Double struct {
	bottom, top End
	mem         page.Prefix
}

// DoubleConfig configures NewDouble.
type DoubleConfig struct {
	// Bytes is the capacity of both Ends together, committed at once. 0 means 1 MiB.
	Bytes uintptr
}

// NewDouble takes its buffer from src; nil means page.Default(). The error wraps what src
// returned and nothing is kept.
func NewDouble(src page.Source, cfg DoubleConfig) (*Double, error) {
	if cfg.Bytes == 0 {
		cfg.Bytes = defaultBytes
	}
	mem, err := buffer(src, cfg.Bytes)
	if err != nil {
		return nil, fmt.Errorf("stack: new Double of %d bytes: %w", cfg.Bytes, err)
	}
	d := &Double{mem: mem}
	d.top.falls = true
	d.bottom.open(mem.Base(), 0, cfg.Bytes, &d.top.edge)
	d.top.open(mem.Base(), cfg.Bytes, 0, &d.bottom.edge)
	d.mem.Watch(d.shut)
	return d, nil
}

// Bottom returns the End that rises from the start of the buffer.
func (d *Double) Bottom() *End { return &d.bottom }

// Top returns the End that falls from the end of the buffer.
func (d *Double) Top() *End { return &d.top }

// Available returns the bytes between the two edges, before padding for alignment.
func (d *Double) Available() uintptr { return d.top.edge - d.bottom.edge }

// ResetBottom frees every block of the bottom, as [End.Reset].
func (d *Double) ResetBottom() { d.bottom.Reset() }

// ResetTop frees every block of the top, as [End.Reset].
func (d *Double) ResetTop() { d.top.Reset() }

// Reset frees every block of both Ends.
func (d *Double) Reset() {
	d.bottom.Reset()
	d.top.Reset()
}

// Owns reports whether p lies in the buffer, live or not.
func (d *Double) Owns(p unsafe.Pointer) bool { return d.mem.Contains(p) }

// Close releases the memory: no pointer into the buffer may be used any more. A second Close
// does nothing. If the memory cannot be released both Ends are empty, and open unless it was
// decommitted already, and Close may be called again.
func (d *Double) Close() error {
	if d.mem.Base() == nil {
		return nil
	}
	if d.bottom.base != nil {
		d.Reset()
	}
	defer func() { // also where the source panics
		if d.mem.Committed() < d.top.origin {
			d.shut()
		}
	}()
	if err := d.mem.Close(); err != nil {
		return fmt.Errorf("stack: close: %w", err)
	}
	return nil
}

// shut puts the books into the state of a closed buffer and touches no block.
func (d *Double) shut() {
	d.bottom.shut()
	d.top.shut()
}

// Stats joins the books of both Ends. Peak is the sum of their peaks, or what is committed
// where that is less: an upper bound, since they need not have peaked together.
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

// Check verifies the invariants.
func (d *Double) Check() error {
	errs := []error{d.mem.Check(), d.bottom.Check(), d.top.Check(), checkLimit(&d.mem, d.top.origin)}
	if d.bottom.wall != &d.top.edge || d.top.wall != &d.bottom.edge {
		errs = append(errs, errors.New("stack: the two ends do not stop at each other"))
	}
	return errors.Join(errs...)
}
