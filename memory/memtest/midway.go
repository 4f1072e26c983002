package memtest

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

// A Sudden is a source that ends during its At-th call of Commit or Decommit, after the call has done its work. The
// memory of the source is released at its end, as if the owner of the source had closed it.
type Sudden struct {
	*Mortal
	At    int  // the number of the call that ends the source, from 1; 0: no call
	Ended bool // the source has ended in call number At
	calls int
	tb    testing.TB
}

// NewSudden returns a Sudden with size bytes of [page.Default]. The parameter `at` is the number, from 1, of the call
// of Commit or Decommit that ends the source. If `at` is 0, the source does not end by itself. If the memory cannot be
// reserved, the test fails.
func NewSudden(tb testing.TB, size uintptr, at int) *Sudden {
	tb.Helper()
	return &Sudden{Mortal: NewMortal(tb, nil, size), At: at, tb: tb}
}

// Commit calls Commit of the [Mortal] and returns its error. If this is call number At, Commit then ends the Mortal.
func (s *Sudden) Commit(m page.Memory, off, size uintptr) error {
	err := s.Carve.Commit(m, off, size)
	s.call()
	return err
}

// Decommit calls Decommit of the [Mortal] and returns its error. If this is call number At, Decommit then ends the
// Mortal.
func (s *Sudden) Decommit(m page.Memory, off, size uintptr) error {
	err := s.Carve.Decommit(m, off, size)
	s.call()
	return err
}

// Under returns the Carve of the [Mortal]: the source that ends.
func (s *Sudden) Under() page.Source { return s.Carve }

func (s *Sudden) call() {
	if s.calls++; s.calls == s.At {
		s.Ended = true
		s.End(s.tb)
	}
}

// sourceEndsMidway has the source end in each of its calls in turn, from New to Close: the call
// of the allocator that was under way ends, and from then on it is closed and touches nothing.
func sourceEndsMidway(t testing.TB, s Subject) {
	for at := 1; at <= 40; at++ {
		src := NewSudden(t, 24<<20, at)
		a, err := s.New(src)
		if err != nil {
			if !src.Ended || !errors.Is(err, memory.ErrClosed) {
				t.Errorf("New whose source ended (%t) in its call %d: %v; want ErrClosed", src.Ended, at, err)
			}
			continue
		}
		p := runToTheEnd(t, s, a, src)
		if !src.Ended {
			src.End(t)
			return
		}
		if s.Closed != nil && p != nil {
			isClosed(t, s, a, p)
			if st := stats(t, a); st.Live != 0 || st.InUse != 0 || st.Committed != 0 || st.Reserved != 0 || st.LargestFree != 0 || st.Free != 0 {
				t.Errorf("its source has ended in call %d, yet the books are %+v", at, st)
			}
			if o, ok := a.(memory.Owner); ok && o.Owns(p) {
				t.Errorf("it owns memory that its source has lost in call %d", at)
			}
		}
		check(t, a)
		closeIt(t, a)
		closeIt(t, a)
	}
}

// runToTheEnd uses the allocator until its source has ended, at the latest in Close, and returns
// the first block that it has had.
func runToTheEnd(t testing.TB, s Subject, a memory.Allocator, src *Sudden) (first unsafe.Pointer) {
	var blocks []unsafe.Pointer
	var sizes []uintptr
	for i := range uint32(24) {
		size := s.size(10)
		if i > 0 {
			size = s.size(i * 9770)
		}
		p, err := a.Alloc(size, 1)
		if src.Ended {
			if i > 0 && p != nil && err == nil && size > 0 { // it had what it needed before
				break
			}
			return first
		}
		if err == nil {
			blocks, sizes = append(blocks, p), append(sizes, size)
			first = blocks[0]
		}
	}
	for i := len(blocks) - 1; i > 0 && !src.Ended; i-- {
		a.Free(blocks[i], sizes[i])
	}
	if r, ok := a.(trimmer); ok && !src.Ended {
		if err := r.Trim(); err != nil && !errors.Is(err, memory.ErrClosed) {
			t.Errorf("Trim whose source ended: %v", err)
		}
	}
	if !src.Ended {
		closeIt(t, a)
	}
	return first
}
