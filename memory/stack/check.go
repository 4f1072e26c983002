package stack

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// Check returns the errors in the metadata, or nil. Cost: proportional to the live blocks and the marks.
func (e *End) Check() error {
	if e.base == nil {
		return nil
	}
	errs := e.checkBlocks()
	low, high := e.origin, *e.wall
	if e.falls {
		low, high = high, low
	}
	if e.edge < low || e.edge > high {
		errs = append(errs, fmt.Errorf("stack: edge %d is not from %d to %d", e.edge, low, high))
	}
	newest, serial := 0, uint64(0)
	for i, m := range e.marks {
		if m.blocks < newest || m.blocks > len(e.blocks) {
			errs = append(errs, fmt.Errorf("stack: mark %d is at block %d, after %d, of %d", i, m.blocks, newest, len(e.blocks)))
		}
		if m.serial <= serial || m.serial > e.serial {
			errs = append(errs, fmt.Errorf("stack: mark %d, of serial %d of %d, does not follow the one before it", i, m.serial, e.serial))
		}
		newest, serial = m.blocks, m.serial
	}
	if e.floor != newest {
		errs = append(errs, fmt.Errorf("stack: floor %d differs from the %d blocks at the newest mark", e.floor, newest))
	}
	if uint64(len(e.blocks)) > e.allocs {
		errs = append(errs, fmt.Errorf("stack: %d blocks live of %d allocated", len(e.blocks), e.allocs))
	}
	return errors.Join(errs...)
}

// checkBlocks visits the blocks from origin to edge.
func (e *End) checkBlocks() []error {
	var errs []error
	at := e.origin
	for i, b := range e.blocks {
		// A falling block that was shrunk leaves its end before the padding.
		end := b.off + max(b.size, 1)
		next, apart := end, b.off-at
		if e.falls {
			next, apart = b.off, 0
		}
		if b.under != at || end < b.off || apart >= memory.MaxAlign || e.falls && end > at {
			errs = append(errs, fmt.Errorf("stack: block %d, [%d, %d) over %d, does not follow the one before it, which ends at %d", i, b.off, end, b.under, at))
		}
		at = next
	}
	if at != e.edge {
		errs = append(errs, fmt.Errorf("stack: edge %d differs from the end of the newest block, %d", e.edge, at))
	}
	return errs
}

//go:noinline
func (e *End) misuse(op string, p unsafe.Pointer, size uintptr) *memory.Misuse {
	return &memory.Misuse{Package: "stack", Op: op, Addr: uintptr(p), Size: size, Reason: e.reason(uintptr(p)-uintptr(e.base), size)}
}

// reason returns why the block at off cannot be freed or resized, and which one could.
func (e *End) reason(off, size uintptr) string {
	if e.base == nil {
		return "the stack is closed"
	}
	n := len(e.blocks)
	if n == 0 {
		return "no block is live at this end: freed twice, or foreign"
	}
	top, topSize := e.Newest()
	newest := fmt.Sprintf("the newest block is %#x of %d bytes", uintptr(top), topSize)
	i := e.at(off)
	if i < 0 || off-e.blocks[i].off >= max(e.blocks[i].size, 1) {
		return "no live block of this end starts there: freed twice, or foreign; " + newest
	}
	switch b := e.blocks[i]; {
	case b.off != off:
		return fmt.Sprintf("interior pointer: it points %d bytes into a block of %d; %s", off-b.off, b.size, newest)
	case b.size != size:
		return fmt.Sprintf("wrong size: the block has %d bytes; %s", b.size, newest)
	case i < n-1:
		return fmt.Sprintf("out of order: %d newer blocks are live; %s", n-1-i, newest)
	}
	return "protected: the newest mark was made after it, rewind first; " + newest
}
