package memtest

import (
	"errors"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

// A Giver is a page.Source that reserves other memory than it was asked for: Give makes it out of
// what is right.
type Giver struct {
	page.Source
	Give func(page.Memory) page.Memory
}

// Reserve gives what Give makes of it.
func (g Giver) Reserve(size uintptr) (page.Memory, error) {
	m, err := g.Source.Reserve(size)
	return g.Give(m), err
}

// Release does nothing: what it gets is not what was reserved.
func (g Giver) Release(page.Memory) error { return nil }

// Nothing reserves no memory, without an error.
func Nothing() Giver {
	return Giver{page.Default(), func(page.Memory) page.Memory { return page.Memory{} }}
}

// A Reporter is an allocator whose books are checked and reported, as Gifts needs it.
type Reporter interface {
	memory.Checker
	memory.StatsReporter
}

// Gifts verifies what a constructor does with a source that gives the wrong memory: one that
// gives none is refused, and one that gives far more, for which there are no books, is taken at
// what was asked for, 1 MiB.
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

// A Mortal is a source that can be ended under what stands on it, with its memory.
type Mortal struct {
	*page.Carve
	under page.Source
	mem   page.Memory
}

// NewMortal carves up size bytes of src; nil means page.Default().
func NewMortal(tb testing.TB, src page.Source, size uintptr) *Mortal {
	tb.Helper()
	if src == nil {
		src = page.Default()
	}
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

// End closes the carve and gives the memory back: from now on it may be somebody else's.
func (m *Mortal) End(tb testing.TB) {
	tb.Helper()
	m.Carve.Close()
	if err := m.under.Release(m.mem); err != nil {
		tb.Fatal(err)
	}
}

// A Halfway takes memory back and, while On, cannot release the addresses.
type Halfway struct {
	page.Source
	On bool
}

// Release fails while On.
func (h *Halfway) Release(m page.Memory) error {
	if h.On {
		return errors.New("memtest: injected release failure")
	}
	return h.Source.Release(m)
}
