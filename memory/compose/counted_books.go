package compose

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// ended reports whether the allocator is closed. One whose inner has lost its memory while blocks
// are live here is closed from then on.
func (c *Counted) ended() bool {
	if !c.closed && c.blocks.n > 0 && c.innerEnded() {
		c.forget()
		c.closed = true
	}
	return c.closed
}

// innerEnded reports whether inner's books hold nothing at all and what it handed out last does not
// lie in its memory any more. The books alone do not tell where inner has no memory of its own, as a
// tiers.Tag and another Counted: all of its blocks may have been freed behind these books.
func (c *Counted) innerEnded() bool {
	if in, ok := c.in.Allocator.(*Counted); ok {
		return in.ended()
	}
	if c.in.reporter == nil || c.in.owner == nil {
		return false
	}
	s := c.in.reporter.Stats()
	return s.Reserved == 0 && s.Live == 0 && s.InUse == 0 && !c.in.owner.Owns(c.witness)
}

// Base is inner's; nil where that has none, and once closed.
func (c *Counted) Base() unsafe.Pointer {
	if c.closed {
		return nil
	}
	return c.in.base()
}

// Extent returns how many bytes from Base the blocks reach at most.
func (c *Counted) Extent() uintptr { return c.in.extent() }

// forget counts every live block as freed.
func (c *Counted) forget() {
	c.frees = c.allocs
	c.blocks.clear()
	c.witness = nil
}

// Reset resets inner and counts every block as freed. Where inner has no Reset it panics with a
// *memory.Misuse. If inner panics, out of a hook, the books have not changed.
func (c *Counted) Reset() {
	c.enter("Reset", nil, 0)
	if c.in.resetter == nil {
		c.in.lacks("Reset", nil, "inner")
	}
	c.tell(Event{Op: Emptied, Size: uintptr(c.blocks.sum)})
	c.in.resetter.Reset()
	c.forget()
}

// Trim trims inner; errors.ErrUnsupported where that cannot.
func (c *Counted) Trim() error {
	if c.closed {
		return memory.ErrClosed
	}
	c.enter("Trim", nil, 0)
	return c.in.trim()
}

// Close closes inner and forgets all blocks. Where inner cannot release its memory the Counted
// is closed all the same, and another Close tries that again. If inner panics nothing has
// changed here.
func (c *Counted) Close() error {
	if c.telling {
		c.shut("Close", nil, 0)
	}
	err := c.in.close()
	c.forget()
	c.closed = true
	return err
}

// Stats returns the books of what went through here, exactly. It does not allocate.
func (c *Counted) Stats() memory.Stats {
	c.ended()
	sum := c.blocks.sum
	s := memory.Stats{
		Reserved: sum, Committed: sum, InUse: sum, Peak: c.peak,
		Live: c.allocs - c.frees, Allocs: c.allocs, Frees: c.frees, Failures: c.failures,
		Requested: sum, Measured: sum,
	}
	if c.in.reporter != nil {
		under := c.in.reporter.Stats()
		s.Reserved, s.Committed = under.Reserved, under.Committed
		s.LargestFree, s.Free = under.LargestFree, under.Free
	}
	return s
}

// Check verifies the equations above the type, and inner. Cost: proportional to the blocks.
func (c *Counted) Check() error {
	ended := c.ended()
	errs := []error{c.blocks.check()}
	if live := c.allocs - c.frees; live != uint64(c.blocks.n) || ended && live != 0 || c.blocks.sum > c.peak {
		errs = append(errs, fmt.Errorf("compose: %d allocations less %d frees, with %d blocks of %d bytes live at a peak of %d",
			c.allocs, c.frees, c.blocks.n, c.blocks.sum, c.peak))
	}
	if c.in.reporter != nil && !ended {
		if s := c.in.reporter.Stats(); s.Live < uint64(c.blocks.n) {
			errs = append(errs, fmt.Errorf("compose: %d blocks are live, the inner allocator knows of %d: it was reset or used behind the books", c.blocks.n, s.Live))
		}
	}
	return errors.Join(append(errs, c.in.check())...)
}
