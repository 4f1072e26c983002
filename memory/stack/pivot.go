package stack

import (
	"cmp"
	"errors"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

// A Pivot is two Ends that grow from one point of a buffer in opposite directions: Forward rises from the pivot,
// Backward falls from the pivot. With alignment 1 the blocks of both Ends join without a gap. A message whose body is
// written before its header therefore needs no copy.
//
//	base       backward edge      pivot       forward edge        bytes
//	  |    free    | backward blocks | forward blocks |    free     | guard
//
// Lifetimes and errors are as in [End]. Each End can be reset alone, and has its own free bytes. Both Ends together
// belong to one goroutine at a time.
type Pivot struct {
	// Invariants, verified by Check:
	//
	//	(1) those of each End; both origins are the pivot
	//	(2) the limit of forward <= committed

	forward, backward End
	mem               page.Prefix
}

// PivotConfig configures [NewPivot]. The pivot lies Backward bytes from the start of the buffer.
type PivotConfig struct {
	// Forward is the capacity above the pivot in bytes. NewPivot commits all of it. 0 means 1 MiB.
	Forward uintptr
	// Backward is the capacity below the pivot in bytes. NewPivot commits all of it. 0 means as many bytes as above the
	// pivot.
	Backward uintptr
}

// NewPivot returns a Pivot with a buffer of src. If src is nil, it is page.Default(). If the sum of both capacities
// overflows, the error wraps memory.ErrConfig. If the buffer cannot be reserved or committed, the error wraps the error
// that page.NewCommitted returns. If NewPivot fails, it releases its reservation. If src cannot release it, the
// addresses stay reserved.
func NewPivot(src page.Source, cfg PivotConfig) (*Pivot, error) {
	cfg.Forward = cmp.Or(cfg.Forward, defaultBytes)
	cfg.Backward = cmp.Or(cfg.Backward, cfg.Forward)
	bytes := cfg.Backward + cfg.Forward
	if bytes < cfg.Forward {
		return nil, fmt.Errorf("stack: new Pivot: Forward %d and Backward %d: want a sum of at most %d: %w: %w",
			cfg.Forward, cfg.Backward, ^uintptr(0), memory.ErrConfig, memory.ErrTooLarge)
	}
	mem, err := buffer(src, bytes)
	if err != nil {
		return nil, fmt.Errorf("stack: new Pivot of %d bytes forward and %d backward: %w", cfg.Forward, cfg.Backward, err)
	}
	p := &Pivot{mem: mem}
	p.backward.falls = true
	p.forward.open(&mem, cfg.Backward, bytes, nil)
	p.backward.open(&mem, cfg.Backward, 0, nil)
	p.mem.Watch(p.shut)
	return p, nil
}

// Forward returns the End that rises from the pivot. Each call returns the same End.
func (p *Pivot) Forward() *End { return &p.forward }

// Backward returns the End that falls from the pivot. Each call returns the same End.
func (p *Pivot) Backward() *End { return &p.backward }

// Extend is [End.Resize] of Forward: it changes the size of the newest forward block in place and reports whether it
// did. Extend panics as Resize does.
func (p *Pivot) Extend(block unsafe.Pointer, oldSize, newSize uintptr) bool {
	return p.forward.Resize(block, oldSize, newSize)
}

// Bytes returns the bytes between the two edges: every live block, the padding of alignments above 1, and the bytes
// that backward blocks gave up by shrinking. A block of size 0 has one byte. The bytes belong to the Pivot. The slice
// is valid until the next change of one of the Ends, the load of a state, Close or the end of the source. If the Pivot
// is closed, Bytes returns nil.
func (p *Pivot) Bytes() []byte {
	if p.forward.base == nil {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Add(p.forward.base, p.backward.edge)), p.forward.edge-p.backward.edge)
}

// Reset frees every block of both Ends, as [End.Reset]. Reset panics with a *memory.Misuse if the Pivot is closed.
func (p *Pivot) Reset() {
	p.forward.Reset()
	p.backward.Reset()
}

// Owns reports whether q lies in the buffer. q need not be in a live block. If the memory has been released or the
// source has ended, Owns returns false.
func (p *Pivot) Owns(q unsafe.Pointer) bool { return p.mem.Contains(q) }

// Close frees every block and releases the memory. Afterwards the caller must not use pointers into the buffer. If the
// page source cannot release the memory, Close returns an error. All blocks are freed nevertheless, and Close can be
// called again. If a part of the memory was decommitted before the error, the Ends are closed. If nothing was
// decommitted, they stay open and can be used. After a Close that succeeded, and after the source has ended, Close does
// nothing and returns nil.
func (p *Pivot) Close() error { return closeBuffer(&p.mem, p.forward.limit, &p.forward, &p.backward) }

// shut puts the metadata into the state of a closed buffer and touches no block.
func (p *Pivot) shut() {
	p.forward.shut()
	p.backward.shut()
}

// Stats returns the sum of the statistics of both Ends, except for Reserved, Committed and Peak. Reserved and
// Committed are those of the buffer. Peak is an upper bound: the smaller one of Committed and the sum of both peaks.
// If the Pivot is closed, Peak is 0.
func (p *Pivot) Stats() memory.Stats {
	return join(&p.mem, &p.forward, &p.backward)
}

// Check returns the errors in the metadata of the buffer and both Ends, or nil. Cost: proportional to the live blocks
// and the marks.
func (p *Pivot) Check() error {
	errs := []error{p.mem.Check(), p.forward.Check(), p.backward.Check(), checkLimit(&p.mem, p.forward.limit)}
	if p.forward.origin != p.backward.origin {
		errs = append(errs, fmt.Errorf("stack: the ends start at %d and %d, not at one pivot", p.forward.origin, p.backward.origin))
	}
	return errors.Join(errs...)
}
