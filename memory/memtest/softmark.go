package memtest

import (
	"errors"
	"io"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

// SoftMark verifies that no byte is allocated twice if the function of a soft limit (see page.Limit.OnSoft) breaks its
// rule and allocates from the allocator that commits. The function runs during the Alloc or Resize that commits. Its
// inner Alloc may succeed, fail with memory.ErrOutOfMemory, or panic with the *memory.Misuse of page.Prefix, whose
// reason contains "is committing". The function open must make an allocator that grows within src.
func SoftMark(t testing.TB, open func(src page.Source) memory.Allocator) {
	t.Helper()
	for _, first := range []uintptr{16, 1000, 5000, 15_000} {
		for _, nested := range []uintptr{16, 700, 4000} {
			for _, size := range []uintptr{600, 20_000, 60_000, 200_000} {
				for _, most := range []int{1, 3, 1000} {
					for _, resize := range []bool{false, true} {
						s := soft{t: t, limit: page.NewLimit(nil, 0)}
						s.a = open(s.limit)
						s.run(first, nested, size, most, resize)
						if t.Failed() {
							t.Fatalf("first %d bytes, then %d, and %d times %d at the mark", first, size, most, nested)
						}
					}
				}
			}
		}
	}
}

// SoftMarkCloses verifies that the function of a soft limit can close the allocator during an Alloc of 10,000 bytes
// that commits. This first Close may fail, and the Alloc must return memory.ErrClosed. SoftMarkCloses then calls Close
// again: Close must return nil, and no byte may be committed afterwards. The function open must make the allocator, an
// io.Closer.
func SoftMarkCloses(t testing.TB, open func(src page.Source) memory.Allocator) {
	t.Helper()
	limit := page.NewLimit(nil, 0)
	a := open(limit)
	limit.OnSoft(limit.Committed(), func(uintptr, uintptr) { _ = a.(io.Closer).Close() }) // the memory cannot go yet
	if p, err := a.Alloc(10_000, 8); p != nil || !errors.Is(err, memory.ErrClosed) {
		t.Errorf("Alloc = %p, %v; want nil and ErrClosed", p, err)
	}
	check(t, a)
	closeIt(t, a)
	if limit.Committed() != 0 {
		t.Errorf("closed, %d bytes are committed", limit.Committed())
	}
}

// SoftMarkEnds verifies an Alloc of 10,000 bytes during which the function of a soft limit ends the source. The Alloc
// must commit, and return memory.ErrClosed and not memory.ErrOutOfMemory. The function open must make the allocator,
// which may reserve up to 16 MiB.
func SoftMarkEnds(t testing.TB, open func(src page.Source) memory.Allocator) {
	t.Helper()
	mortal := NewMortal(t, nil, 16<<20)
	limit := page.NewLimit(mortal, 0)
	a := open(limit)
	limit.OnSoft(limit.Committed(), func(uintptr, uintptr) { mortal.End(t) })
	if p, err := a.Alloc(10_000, 8); p != nil || !errors.Is(err, memory.ErrClosed) || errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("Alloc = %p, %v; want nil and ErrClosed", p, err)
	}
	check(t, a)
	closeIt(t, a)
}

// soft is the state of one run of SoftMark.
type soft struct {
	t     testing.TB
	limit *page.Limit
	a     memory.Allocator
	live  []request
}

type request struct {
	p    unsafe.Pointer
	size uintptr
}

func (s *soft) run(first, nested, size uintptr, most int, resize bool) {
	s.take(first)
	s.take(first)
	s.take(5000)
	s.drop() // so that a part of what comes next is committed
	s.limit.OnSoft(s.limit.Committed(), func(uintptr, uintptr) {
		s.limit.OnSoft(0, nil)
		defer func() {
			r := recover()
			if m, ok := r.(*memory.Misuse); r != nil && (!ok || !strings.Contains(m.Reason, "is committing")) {
				s.t.Errorf("where more must be committed: %v", r)
			}
		}()
		for range most {
			s.take(nested)
		}
	})
	last := s.live[1]
	if z, ok := s.a.(memory.Resizer); ok && resize && z.Resize(last.p, last.size, last.size+size) {
		s.live[1].size += size
		s.apart(1)
	}
	for range 3 {
		s.take(size)
	}
	if c, ok := s.a.(memory.Checker); ok {
		if err := c.Check(); err != nil {
			s.t.Error(err)
		}
	}
	for len(s.live) > 0 && !s.t.Failed() {
		s.drop()
	}
	if c, ok := s.a.(interface{ Close() error }); ok && !s.t.Failed() {
		if err := c.Close(); err != nil {
			s.t.Error(err)
		}
	}
}

func (s *soft) take(size uintptr) {
	p, err := s.a.Alloc(size, 16)
	if errors.Is(err, memory.ErrOutOfMemory) {
		return
	}
	if p == nil || err != nil {
		s.t.Fatalf("%d bytes at %p: %v", size, p, err)
	}
	s.live = append(s.live, request{p, size})
	s.apart(len(s.live) - 1)
}

// drop frees the newest block.
func (s *soft) drop() {
	last := s.live[len(s.live)-1]
	s.a.Free(last.p, last.size)
	s.live = s.live[:len(s.live)-1]
}

// apart verifies that block i shares no byte with another one, and is backed.
func (s *soft) apart(i int) {
	b := s.live[i]
	for k, o := range s.live {
		if k != i && (uintptr(b.p)-uintptr(o.p) < o.size || uintptr(o.p)-uintptr(b.p) < b.size) {
			s.t.Fatalf("%d bytes at %p share some with %d at %p", b.size, b.p, o.size, o.p)
		}
	}
	*(*byte)(unsafe.Add(b.p, b.size-1)) = 1
}
