package stack

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

// A Pivot is two Ends that leave one point of a buffer in opposite directions: Forward rises
// from it, Backward falls from it. With alignment 1 their blocks join without a gap, so a
// message whose body is known before its header is written is never copied.
//
//	base       backward.edge      pivot       forward.edge        bytes
//	  |    free    | backward blocks | forward blocks |    free     | guard
//
// Blocks live as [End] says. Each End resets alone; neither can take the other's room. One
// goroutine at a time for both.
//
// Invariants, verified by Check:
//
//	(1) those of each End; both origins are the pivot
//	(2) the limit of forward <= committed
type Pivot struct {
	forward, backward End
	mem               page.Prefix
}

// PivotConfig configures NewPivot. The pivot lies Backward bytes from the start of the buffer.
type PivotConfig struct {
	// Forward is the room above the pivot in bytes, committed at once. 0 means 1 MiB.
	Forward uintptr
	// Backward is the room below the pivot in bytes, committed at once. 0 means as much as
	// Forward.
	Backward uintptr
}

// NewPivot takes its buffer from src; nil means page.Default(). The error wraps what src
// returned, or memory.ErrConfig if the sum of both sizes overflows; nothing is kept.
func NewPivot(src page.Source, cfg PivotConfig) (*Pivot, error) {
	if cfg.Forward == 0 {
		cfg.Forward = defaultBytes
	}
	if cfg.Backward == 0 {
		cfg.Backward = cfg.Forward
	}
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
	p.forward.open(mem.Base(), cfg.Backward, bytes, nil)
	p.backward.open(mem.Base(), cfg.Backward, 0, nil)
	p.mem.Watch(p.shut)
	return p, nil
}

// Forward returns the End that rises from the pivot.
func (p *Pivot) Forward() *End { return &p.forward }

// Backward returns the End that falls from the pivot.
func (p *Pivot) Backward() *End { return &p.backward }

// Extend changes the size of the newest forward block in place and reports whether it could,
// as [End.Resize].
func (p *Pivot) Extend(block unsafe.Pointer, oldSize, newSize uintptr) bool {
	return p.forward.Resize(block, oldSize, newSize)
}

// Bytes returns what lies between the two edges: every live block, and the padding that
// alignments above 1 put between them. It is valid until the next change of either End.
func (p *Pivot) Bytes() []byte {
	if p.forward.base == nil {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Add(p.forward.base, p.backward.edge)), p.forward.edge-p.backward.edge)
}

// Reset frees every block of both Ends.
func (p *Pivot) Reset() {
	p.forward.Reset()
	p.backward.Reset()
}

// Owns reports whether q lies in the buffer, live or not.
func (p *Pivot) Owns(q unsafe.Pointer) bool { return p.mem.Contains(q) }

// Close releases the memory: no pointer into the buffer may be used any more. A second Close
// does nothing. If the memory cannot be released both Ends are empty, and open unless it was
// decommitted already, and Close may be called again.
func (p *Pivot) Close() error {
	if p.mem.Base() == nil {
		return nil
	}
	if p.forward.base != nil {
		p.Reset()
	}
	defer func() { // also where the source panics
		if p.mem.Committed() < p.forward.limit {
			p.shut()
		}
	}()
	if err := p.mem.Close(); err != nil {
		return fmt.Errorf("stack: close: %w", err)
	}
	return nil
}

// shut puts the books into the state of a closed buffer and touches no block.
func (p *Pivot) shut() {
	p.forward.shut()
	p.backward.shut()
}

// Stats joins the books of both Ends. Peak is the sum of their peaks: an upper bound, since
// they need not have peaked together.
func (p *Pivot) Stats() memory.Stats {
	return join(&p.mem, &p.forward, &p.backward)
}

// Check verifies the invariants.
func (p *Pivot) Check() error {
	errs := []error{p.mem.Check(), p.forward.Check(), p.backward.Check(), checkLimit(&p.mem, p.forward.limit)}
	if p.forward.origin != p.backward.origin {
		errs = append(errs, fmt.Errorf("stack: the ends leave %d and %d, not one pivot", p.forward.origin, p.backward.origin))
	}
	return errors.Join(errs...)
}
