package stack

import (
	"cmp"
	"errors"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

// defaultBytes is the default capacity of a buffer.
const defaultBytes = 1 << 20

// A Stack is one [End] with its own buffer. Owns, Close, Stats, Check and SaveState are methods of Stack; all other
// methods are methods of End. [End] describes the lifetime of blocks, the goroutine rule and the state after Close.
//
//	base            edge                    limit
//	  | live blocks  |  free                  | guard
type Stack struct {
	// Invariants, verified by Check: those of End, and limit <= committed.

	End
	mem page.Prefix
}

// Config configures [New].
type Config struct {
	// Bytes is the capacity in bytes. New commits all of it. 0 means 1 MiB.
	Bytes uintptr
}

// New returns a Stack with a buffer of src. If src is nil, it is page.Default(). If the buffer cannot be reserved or
// committed, the error wraps the error that page.NewCommitted returns. If New fails, it releases its reservation. If
// src cannot release it, the addresses stay reserved.
func New(src page.Source, cfg Config) (*Stack, error) {
	cfg.Bytes = cmp.Or(cfg.Bytes, defaultBytes)
	mem, err := buffer(src, cfg.Bytes)
	if err != nil {
		return nil, fmt.Errorf("stack: new Stack of %d bytes: %w", cfg.Bytes, err)
	}
	s := &Stack{mem: mem}
	s.open(&mem, 0, cfg.Bytes, nil)
	s.mem.Watch(s.shut)
	return s, nil
}

// buffer reserves and commits bytes.
func buffer(src page.Source, bytes uintptr) (page.Prefix, error) {
	return page.NewCommitted(src, bytes, bytes, 0, bytes)
}

// Owns reports whether p lies in the buffer. p need not be in a live block. If the memory has been released or the
// source has ended, Owns returns false.
func (s *Stack) Owns(p unsafe.Pointer) bool { return s.mem.Contains(p) }

// Close frees every block and releases the memory. Afterwards the caller must not use pointers into the stack. If the
// page source cannot release the memory, Close returns an error. All blocks are freed nevertheless, and Close can be
// called again. If a part of the memory was decommitted before the error, the stack is closed. If nothing was
// decommitted, the stack stays open and can be used. After a Close that succeeded, and after the source has ended,
// Close does nothing and returns nil.
func (s *Stack) Close() error { return closeBuffer(&s.mem, s.limit, &s.End) }

// closeBuffer closes a buffer of which so many bytes belong to its ends.
func closeBuffer(mem *page.Prefix, bytes uintptr, ends ...*End) error {
	if mem.Base() == nil {
		return nil
	}
	for _, e := range ends {
		if e.base != nil {
			e.Reset()
		}
	}
	defer func() { // also if the source panics
		if mem.Committed() < bytes {
			for _, e := range ends {
				e.shut()
			}
		}
	}()
	if err := mem.Close(); err != nil {
		return fmt.Errorf("stack: close: %w", err)
	}
	return nil
}

// Stats returns the statistics. Peak is exact.
func (s *Stack) Stats() memory.Stats {
	st := s.End.Stats()
	st.Reserved, st.Committed = uint64(s.mem.Reserved()), uint64(s.mem.Committed())
	return st
}

// Check returns the errors in the metadata, or nil.
func (s *Stack) Check() error {
	return errors.Join(s.mem.Check(), s.End.Check(), checkLimit(&s.mem, s.limit))
}

func checkLimit(mem *page.Prefix, limit uintptr) error {
	if limit > mem.Committed() {
		return fmt.Errorf("stack: the limit %d is above the %d bytes committed", limit, mem.Committed())
	}
	return nil
}
