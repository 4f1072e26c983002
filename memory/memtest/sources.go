package memtest

import (
	"cmp"
	"errors"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

// A Giver is a page.Source whose Reserve returns wrong memory: Give makes the wrong memory from the memory that
// Source has reserved.
type Giver struct {
	page.Source
	Give func(page.Memory) page.Memory
}

// Reserve reserves size bytes of Source, passes this memory to Give, and returns the result of Give and the error of
// Source.
func (g Giver) Reserve(size uintptr) (page.Memory, error) {
	m, err := g.Source.Reserve(size)
	return g.Give(m), err
}

// Release does nothing and returns nil: the wrong memory of Give cannot be released. The memory that Source has
// reserved stays reserved until the process ends.
func (g Giver) Release(page.Memory) error { return nil }

// Nothing returns a Giver on page.Default() whose Reserve returns the zero Memory without an error.
func Nothing() Giver {
	return Giver{page.Default(), func(page.Memory) page.Memory { return page.Memory{} }}
}

// A Reporter is an allocator with Check and Stats, for [Gifts].
type Reporter interface {
	memory.Checker
	memory.StatsReporter
}

// Gifts verifies that a constructor handles wrong memory of its source. The function construct must request 1 MiB. With
// a source that returns no memory the constructor must fail with "reserved 0 bytes at". On 64-bit systems a second
// source returns 8 GiB, and the allocator must use only 1 MiB.
func Gifts[A interface {
	Reporter
	comparable
}](t testing.TB, construct func(page.Source) (A, error)) {
	t.Helper()
	const want = "reserved 0 bytes at"
	if a, err := construct(Nothing()); a != *new(A) || err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("New: %t, %v; want an error with %q", a != *new(A), err, want)
	}
	much := uint64(8) << 30 // on 32 bits none at all, and nothing more is given
	more := func(m page.Memory) page.Memory {
		m.Size = max(uintptr(much), m.Size)
		return m
	}
	a, err := construct(Giver{page.Default(), more})
	Opened(t, a, err)
	if got := a.Stats().Reserved; got != 1<<20 {
		t.Errorf("%d bytes are reserved; want the 1 MiB that was asked for", got)
	}
}

// A Mortal is a page.Carve that a test can end while allocators use it. [Mortal.End] closes the Carve and releases its
// memory; Close of the Carve does not release it. So each test must call End.
type Mortal struct {
	*page.Carve
	under page.Source
	mem   page.Memory
}

// NewMortal returns a Mortal with size bytes of src. If src is nil, NewMortal uses page.Default(). If the memory cannot
// be reserved or made a Carve, the test fails.
func NewMortal(tb testing.TB, src page.Source, size uintptr) *Mortal {
	tb.Helper()
	src = cmp.Or(src, page.Default())
	mem, err := src.Reserve(size)
	if err != nil {
		tb.Fatal(err)
	}
	carve, err := page.NewCarve(src, mem)
	if err != nil {
		tb.Fatal(err)
	}
	return &Mortal{carve, src, mem}
}

// End closes the Carve, and so the allocators in it, and releases the memory. The addresses of the memory may have a
// new owner afterwards. If Release fails, the test fails. After an End that succeeded, End does nothing.
func (m *Mortal) End(tb testing.TB) {
	tb.Helper()
	m.Carve.Close()
	if m.mem.Base == nil {
		return
	}
	if err := m.under.Release(m.mem); err != nil {
		tb.Fatal(err)
	}
	m.mem = page.Memory{}
}

// A Halfway is a page.Source. While On is set, its Decommit works and its Release fails.
type Halfway struct {
	page.Source
	On bool // Release fails
}

// Release fails and does nothing while On is set. If On is not set, Release passes the call to Source.
func (h *Halfway) Release(m page.Memory) error {
	if h.On {
		return errors.New("memtest: injected release failure")
	}
	return h.Source.Release(m)
}
