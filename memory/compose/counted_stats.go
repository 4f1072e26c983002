package compose

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// ended reports whether the allocator is closed. It closes the allocator if inner has lost its memory while
// blocks are live here.
func (c *counted) ended() bool {
	if !c.closed && c.blocks.n > 0 && c.innerEnded() {
		c.forget()
		c.closed = true
	}
	return c.closed
}

// innerEnded reports whether inner has no memory and does not own the newest block any more. Stats alone do
// not show it if inner has no memory of its own, as a tiers.Tag or another counted: all its blocks may have
// been freed without this allocator. Without a witness, after a load into an inner one without a base, the answer is no
// until the next Alloc.
func (c *counted) innerEnded() bool {
	if composition, ok := c.in.Allocator.(core); ok {
		if in, ok := composition.whole().(*counted); ok {
			return in.ended()
		}
	}
	if c.in.reporter == nil || c.in.owner == nil || c.witness == nil || c.in.owner.Owns(c.witness) {
		return false
	}
	s := c.in.reporter.Stats()
	return s.Reserved == 0 && s.Live == 0 && s.InUse == 0
}

// Owns reports whether p is the start of a live block, or lies in memory that inner owns. If inner is no memory.Owner,
// Owns visits all blocks and reports whether p lies in one of them.
func (c *counted) Owns(p unsafe.Pointer) bool {
	if c.ended() || p == nil {
		return false
	}
	if _, ok := c.blocks.find(uintptr(p)); ok {
		return true
	}
	if c.in.owner != nil {
		return c.in.owner.Owns(p)
	}
	for _, s := range c.blocks.slots {
		if s.addr != 0 && uintptr(p)-s.addr < s.size {
			return true
		}
	}
	return false
}

func (c *counted) Base() unsafe.Pointer {
	if c.closed {
		return nil
	}
	return c.in.baser.Base()
}

func (c *counted) Extent() uintptr { return memory.Extent(c.in.Allocator) }

// forget counts every live block as freed.
func (c *counted) forget() {
	c.frees = c.allocs
	c.blocks.clear()
	c.witness = nil
}

// Reset calls Reset of inner and counts all blocks as freed. If Reset of inner panics before it has freed a block, for
// example in a hook, the blocks stay live.
func (c *counted) Reset() {
	c.enter("Reset", nil, 0)
	c.report(Event{Op: Emptied, Size: uintptr(c.blocks.sum)})
	returned := false
	defer func() {
		if returned || c.missing() {
			c.forget()
		}
	}()
	c.in.resetter.Reset()
	returned = true
}

// missing reports whether fewer blocks are live in inner than here.
func (c *counted) missing() bool {
	return c.in.reporter != nil && c.in.reporter.Stats().Live < uint64(c.blocks.n)
}

func (c *counted) Trim() error {
	if c.closed {
		return memory.ErrClosed
	}
	c.enter("Trim", nil, 0)
	return c.in.trimmer.Trim()
}

func (c *counted) Close() (err error) {
	if c.event {
		c.refuse("Close", nil, 0)
	}
	returned := false
	defer func() {
		if returned || c.missing() {
			c.forget()
			c.closed = true
		}
	}()
	if c.in.closer != nil {
		err = c.in.closer.Close()
	}
	returned = true
	return err
}

func (c *counted) Stats() memory.Stats {
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

// Check verifies the table, the counters, and inner if inner is a memory.Checker. Cost: proportional to the blocks.
func (c *counted) Check() error {
	ended := c.ended()
	errs := []error{c.blocks.check()}
	if live := c.allocs - c.frees; live != uint64(c.blocks.n) || ended && live != 0 || c.blocks.sum > c.peak {
		errs = append(errs, fmt.Errorf("compose: %d allocations less %d frees, with %d blocks of %d bytes live at a peak of %d",
			c.allocs, c.frees, c.blocks.n, c.blocks.sum, c.peak))
	}
	if c.in.reporter != nil && !ended {
		if s := c.in.reporter.Stats(); s.Live < uint64(c.blocks.n) {
			errs = append(errs, fmt.Errorf("compose: %d blocks are live, but %d in the inner allocator: blocks were freed without this allocator", c.blocks.n, s.Live))
		}
	}
	if c.in.checker != nil {
		errs = append(errs, c.in.checker.Check())
	}
	return errors.Join(errs...)
}
