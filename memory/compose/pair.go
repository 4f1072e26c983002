package compose

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// A pair is what fallback and bySize have in common: two parts that are closed together.
type pair struct {
	parts  [2]part
	names  [2]string // for errors
	closed bool
	owner  invariant.Owner
}

func (c *pair) init(op string, names [2]string, parts ...memory.Allocator) (err error) {
	for i, a := range parts {
		if c.parts[i], err = newPart(op, names[i], a); err != nil {
			return err
		}
	}
	if same(parts[0], parts[1]) {
		return fmt.Errorf("compose: %s: the %s and the %s allocator are the same: %w", op, names[0], names[1], memory.ErrConfig)
	}
	c.names = names
	return nil
}

// can returns the optional interfaces that work on the blocks of both parts. They have no base in common.
func (c *pair) can() optional { return c.parts[0].can() & c.parts[1].can() &^ bases }

func (c *pair) Base() unsafe.Pointer { return nil }
func (c *pair) Extent() uintptr      { return 0 }

// open panics unless the composition is open.
func (c *pair) open(op string, p unsafe.Pointer, size uintptr) {
	if c.closed {
		panic(misuse(op, p, size, "the allocator is closed"))
	}
	c.owner.Touch()
}

// late frees a block that part i has allocated although the composition is closed: the part has called a function that
// called Close, and has stayed open.
//
//go:noinline
func (c *pair) late(i int, p unsafe.Pointer, size uintptr) (unsafe.Pointer, error) {
	c.parts[i].Free(p, size)
	return nil, memory.ErrClosed
}

// of returns the number of the part that owns p; what the first does not own is the second's.
func (c *pair) of(op string, p unsafe.Pointer, size uintptr) int {
	if invariant.Debug || c.closed {
		c.open(op, p, size)
	}
	if c.parts[0].owner.Owns(p) {
		return 0
	}
	return 1
}

func (c *pair) FreeAny(p unsafe.Pointer) {
	if p != nil {
		c.parts[c.of("FreeAny", p, 0)].anyFreer.FreeAny(p)
	}
}

func (c *pair) SizeOf(p unsafe.Pointer) uintptr {
	return c.parts[c.of("SizeOf", p, 0)].sizer.SizeOf(p)
}

// Generation returns Generation of the part to which p belongs: Generation of the other part is 0. Any goroutine may
// call it.
func (c *pair) Generation(p unsafe.Pointer) uint32 {
	return c.parts[0].generation(p) + c.parts[1].generation(p)
}

func (c *pair) Owns(p unsafe.Pointer) bool {
	return !c.closed && (c.parts[0].owner.Owns(p) || c.parts[1].owner.Owns(p))
}

// Reset resets the first part, then the second. If Reset of the second part panics, the first part is reset already.
// Another Reset then resets both.
func (c *pair) Reset() {
	c.open("Reset", nil, 0)
	for i := range c.parts {
		c.parts[i].resetter.Reset()
	}
}

// Trim trims both parts, also if the first fails, and joins the errors.
func (c *pair) Trim() error {
	if c.closed {
		return memory.ErrClosed
	}
	c.owner.Touch()
	first, second := c.parts[0].trimmer.Trim(), c.parts[1].trimmer.Trim()
	if first == memory.ErrClosed && second == memory.ErrClosed {
		return memory.ErrClosed
	}
	return errors.Join(first, second)
}

func (c *pair) Check() error {
	var errs []error
	for i := range c.parts {
		if err := c.parts[i].checker.Check(); err != nil {
			errs = append(errs, fmt.Errorf("compose: the %s allocator: %w", c.names[i], err))
		}
	}
	return errors.Join(errs...)
}

// Close closes both parts, also if the first fails. If the first panics, nothing is closed.
func (c *pair) Close() error {
	c.owner.Touch()
	errs := [2]error{c.parts[0].closer.Close()}
	c.closed = true
	errs[1] = c.parts[1].closer.Close()
	for i, err := range errs {
		if err != nil {
			errs[i] = fmt.Errorf("compose: the %s allocator: %w", c.names[i], err)
		}
	}
	return errors.Join(errs[:]...)
}
