package compose

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// A pair is what Fallback and BySize have in common: two parts that end together.
type pair struct {
	parts  [2]part
	names  [2]string // for errors
	closed bool
	owner  invariant.Owner
}

func (c *pair) init(op string, names [2]string, parts ...memory.Allocator) error {
	for i, a := range parts {
		if err := usable(op, names[i], a); err != nil {
			return err
		}
		c.parts[i] = partOf(a)
	}
	if same(parts[0], parts[1]) {
		return fmt.Errorf("compose: %s: the %s and the %s allocator are one and the same: %w", op, names[0], names[1], memory.ErrConfig)
	}
	c.names = names
	return nil
}

// Parts returns what the composition stands on, in the order in which it was given.
func (c *pair) Parts() (memory.Allocator, memory.Allocator) {
	return c.parts[0].Allocator, c.parts[1].Allocator
}

// Can returns what works on the blocks of both parts, which have no Base in common.
func (c *pair) Can() Capabilities { return c.parts[0].can() & c.parts[1].can() &^ Bases }

// Base is nil: the blocks lie in the ranges of two parts.
func (c *pair) Base() unsafe.Pointer { return nil }

// open panics unless the composition is open.
func (c *pair) open(op string, p unsafe.Pointer, size uintptr) {
	if c.closed {
		panic(misuse(op, p, size, "the allocator is closed"))
	}
	c.owner.Touch()
}

// Owns reports whether p lies in memory of one of the parts, as far as they can tell.
func (c *pair) Owns(p unsafe.Pointer) bool {
	return !c.closed && (c.parts[0].owns(p) || c.parts[1].owns(p))
}

// Reset resets both parts, the first one first. If one of them cannot be reset it panics with a
// *memory.Misuse and neither has been. If one panics, out of a hook, the one before it has been
// reset and another Reset does the rest.
func (c *pair) Reset() {
	c.open("Reset", nil, 0)
	for i := range c.parts {
		if c.parts[i].resetter == nil {
			c.parts[i].lacks("Reset", nil, c.names[i])
		}
	}
	for i := range c.parts {
		c.parts[i].resetter.Reset()
	}
}

// Trim trims the parts that can be, also when one fails. The error is theirs, joined, or
// errors.ErrUnsupported where neither can be trimmed, or memory.ErrClosed.
func (c *pair) Trim() error {
	if c.closed {
		return memory.ErrClosed
	}
	c.owner.Touch()
	first, second := c.parts[0].trim(), c.parts[1].trim()
	switch {
	case first == errors.ErrUnsupported, first == memory.ErrClosed && second == memory.ErrClosed:
		return second
	case second == errors.ErrUnsupported:
		return first
	}
	return errors.Join(first, second)
}

// Check checks both parts.
func (c *pair) Check() error {
	var errs []error
	for i := range c.parts {
		if err := c.parts[i].check(); err != nil {
			errs = append(errs, fmt.Errorf("compose: the %s allocator: %w", c.names[i], err))
		}
	}
	return errors.Join(errs...)
}

// Close closes both parts, as the package comment says. The error joins theirs.
func (c *pair) Close() error {
	c.owner.Touch()
	errs := [2]error{c.parts[0].close()}
	c.closed = true
	errs[1] = c.parts[1].close()
	for i, err := range errs {
		if err != nil {
			errs[i] = fmt.Errorf("compose: the %s allocator: %w", c.names[i], err)
		}
	}
	return errors.Join(errs[:]...)
}
