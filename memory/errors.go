package memory

import (
	"errors"
	"fmt"
)

// The errors of every allocator. Fast paths return them bare, cold paths wrap them with
// the numbers; test with [errors.Is].
var (
	// ErrOutOfMemory says that the request could be met by an emptier or larger allocator.
	ErrOutOfMemory = errors.New("memory: out of memory")

	// ErrTooLarge says that no state of this allocator could meet the request, or that
	// count times size overflows.
	ErrTooLarge = errors.New("memory: request too large for this allocator")

	// ErrAlign says that the alignment is not a power of two from 1 to MaxAlign.
	ErrAlign = errors.New("memory: alignment is not a power of two from 1 to 4096")

	// ErrConfig says that a constructor refused its configuration: a field is out of range, fields
	// contradict each other, or a required one is missing. The error names the field, its value and
	// the values that are allowed. Nothing was allocated.
	ErrConfig = errors.New("memory: invalid configuration")

	// ErrClosed says that the allocator has been closed.
	ErrClosed = errors.New("memory: allocator is closed")
)

// Exhausted is an ErrOutOfMemory with its numbers, all in bytes.
type Exhausted struct {
	Op    string  // what ran out, as "page: commit" or "tlsf: alloc"
	Need  uintptr // what the request asked for
	Have  uintptr // what was left
	Limit uintptr // the capacity or budget that was reached
	Cause error   // the operating system's refusal, or nil
}

func (e *Exhausted) Error() string {
	s := fmt.Sprintf("%s: out of memory: need %d bytes, have %d of %d", e.Op, e.Need, e.Have, e.Limit)
	if e.Cause != nil {
		s += ": " + e.Cause.Error()
	}
	return s
}

// Is makes errors.Is(e, ErrOutOfMemory) true.
func (e *Exhausted) Is(target error) bool { return target == ErrOutOfMemory }

// Unwrap returns the operating system's refusal, or nil.
func (e *Exhausted) Unwrap() error { return e.Cause }

// Misuse is the value of the panic that stops a caller before it corrupts an allocator:
// a double free, a foreign or interior pointer, a free out of order, use after Close.
// It is raised before any book changes, so a program that recovers may go on.
type Misuse struct {
	Package string  // "arena", "slab"
	Op      string  // "Free", "Rewind"
	Addr    uintptr // the offending address, or 0
	Size    uintptr // the size that came with it, or 0
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
