package memory

import (
	"errors"
	"fmt"
)

// The errors of every allocator. Some calls return an [Exhausted] with the sizes, or wrap one of these errors: test
// with [errors.Is].
var (
	// ErrOutOfMemory means that the request does not fit now: the allocator is full, or its page source or the system
	// refuses more memory. An emptier or larger allocator could serve it. Some allocators also return it for a
	// request that they can never serve.
	ErrOutOfMemory = errors.New("memory: out of memory")

	// ErrTooLarge means that this allocator can never serve the request. Examples are a size above the capacity, an
	// overflow of count times size, a negative count and the zero [Type].
	ErrTooLarge = errors.New("memory: request too large for this allocator")

	// ErrAlign means that the alignment is not a power of two from 1 to [MaxAlign].
	ErrAlign = errors.New("memory: alignment is not a power of two from 1 to 4096")

	// ErrConfig means that a constructor refused its configuration, that another call refused a setting, or that a
	// page source refused the size of a reservation. A field is out of range, fields contradict each other, or a
	// required one is missing. The error says what is wrong. Nothing was allocated.
	ErrConfig = errors.New("memory: invalid configuration")

	// ErrClosed means that the allocator is closed, or that its page source has ended.
	ErrClosed = errors.New("memory: allocator is closed")
)

// An Exhausted is an error with the sizes of a request that failed, all in bytes. For errors.Is it is an
// [ErrOutOfMemory].
type Exhausted struct {
	Op     string  // the operation that failed, as "page: system: commit" or "tlsf: alloc"
	Need   uintptr // the bytes that the request needs
	Have   uintptr // the bytes that were left, or the size of the largest free block; 0 if unknown
	Limit  uintptr // the capacity, budget or reservation, also if Cause is the reason; if there is no limit, Need or 0
	Advice string  // what raises Limit, as "raise tiers.Config.Budget[Level]"; "" if unknown or if Cause is the reason
	Cause  error   // the error of the operating system, of the page source or of package page, or nil
}

// Error returns the text of the error. It begins with Op. If Cause is an [ErrOutOfMemory], the text begins with Cause
// instead, and Op follows in parentheses. Limit and Advice are in the text only if Cause is nil.
func (e *Exhausted) Error() string {
	switch {
	case errors.Is(e.Cause, ErrOutOfMemory):
		return fmt.Sprintf("%v (%s: need %d bytes, have %d)", e.Cause, e.Op, e.Need, e.Have)
	case e.Cause != nil:
		return fmt.Sprintf("%s: out of memory: need %d bytes: %v", e.Op, e.Need, e.Cause)
	}
	s := fmt.Sprintf("%s: out of memory: need %d bytes, have %d of %d", e.Op, e.Need, e.Have, e.Limit)
	if e.Advice != "" {
		s += "; " + e.Advice
	}
	return s
}

// Is reports whether target is [ErrOutOfMemory], for errors.Is.
func (e *Exhausted) Is(target error) bool { return target == ErrOutOfMemory }

// Unwrap returns Cause, which may be nil.
func (e *Exhausted) Unwrap() error { return e.Cause }

// A *Misuse is the value of a panic about a wrong call: a double free, a foreign or interior pointer, a free out of
// order, use after Close. Unless the comment of the call says otherwise, the call panics before it changes anything.
// A program that recovers from the panic can therefore continue to use the allocator.
type Misuse struct {
	Package string  // the package of the call, as "arena"
	Op      string  // the method or function, as "Free"
	Addr    uintptr // the address that was passed or is concerned, or 0
	Size    uintptr // the size that was passed or is concerned, or 0
	Reason  string  // what is wrong and what would be right
}

func (m *Misuse) Error() string {
	s := m.Package + "." + m.Op
	if m.Addr != 0 {
		s += fmt.Sprintf("(%#x", m.Addr)
		if m.Size != 0 {
			s += fmt.Sprintf(", size %d", m.Size)
		}
		s += ")"
	}
	return s + ": " + m.Reason
}
