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

// A Reporter is an allocator with Check and Stats, as [Gifts] needs it.
type Reporter interface {
	memory.Checker
	memory.StatsReporter
}

// Gifts verifies a constructor with a source that returns the wrong memory. No memory must be an error. If the source returns far more than
// requested, the allocator must use what it requested, 1 MiB, because it has no metadata for the rest.
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

// A Mortal is a source that a test can end, with its memory, while allocators use it.
type Mortal struct {
	*page.Carve
	under page.Source
	mem   page.Memory
}

// NewMortal returns a Mortal with size bytes of src. If src is nil, it is page.Default().
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

// End closes the Carve and releases the memory, which may have a new owner afterwards.
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
