package stack

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

// defaultBytes is the capacity of a buffer whose Config does not say.
const defaultBytes = 1 << 20

// A Stack is one End with a buffer of its own. See [End] for how long blocks live, and for
// everything but the buffer: the methods of End are the Stack's.
//
//	base            edge                    limit
//	  | live blocks  |  free                  | guard
//
// Invariants, verified by Check:
//
//	(1) those of End
//	(2) limit <= committed
type Stack struct {
	End
	mem page.Prefix
}

// Config configures New.
type Config struct {
	// Bytes is the capacity, committed at once. 0 means 1 MiB.
	Bytes uintptr
}

// New takes its buffer from src; nil means page.Default(). The error wraps what src returned
// and nothing is kept.
func New(src page.Source, cfg Config) (*Stack, error) {
	if cfg.Bytes == 0 {
		cfg.Bytes = defaultBytes
	}
	mem, err := buffer(src, cfg.Bytes)
	if err != nil {
		return nil, fmt.Errorf("stack: new Stack of %d bytes: %w", cfg.Bytes, err)
	}
	s := &Stack{mem: mem}
	s.open(mem.Base(), 0, cfg.Bytes, nil)
	s.mem.Watch(s.shut)
	return s, nil
}

// buffer reserves and commits bytes.
func buffer(src page.Source, bytes uintptr) (page.Prefix, error) {
	return page.NewCommitted(src, bytes, bytes, 0, bytes)
}

// Owns reports whether p lies in the buffer, live or not.
func (s *Stack) Owns(p unsafe.Pointer) bool { return s.mem.Contains(p) }

// Close releases the memory: no pointer into the stack may be used any more. A second Close
// does nothing. If the memory cannot be released the stack is empty, and open unless it was
// decommitted already, and Close may be called again.
func (s *Stack) Close() error {
	if s.mem.Base() == nil {
		return nil
	}
	if s.base != nil {
		s.Reset()
	}
	defer func() { // also where the source panics
		if s.mem.Committed() < s.limit {
			s.shut()
		}
	}()
	if err := s.mem.Close(); err != nil {
		return fmt.Errorf("stack: close: %w", err)
	}
	return nil
}

// Stats derives the books. Peak is exact.
func (s *Stack) Stats() memory.Stats {
	st := s.End.Stats()
	st.Reserved, st.Committed = uint64(s.mem.Reserved()), uint64(s.mem.Committed())
	return st
}

// Check verifies the invariants.
func (s *Stack) Check() error {
	return errors.Join(s.mem.Check(), s.End.Check(), checkLimit(&s.mem, s.limit))
}

func checkLimit(mem *page.Prefix, limit uintptr) error {
	if limit > mem.Committed() {
		return fmt.Errorf("stack: the limit %d lies behind the %d bytes committed", limit, mem.Committed())
	}
	return nil
}
