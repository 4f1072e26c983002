package main

import (
	"errors"
	"iter"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/pool"
)

// A thing is the object of the pools: larger than a granule and no multiple of one.
type thing struct {
	Words [9]uint32
}

// A rest is the cold half of a split thing.
type rest struct {
	Words [21]uint16
}

// handles is what pool.Pool and pool.Split have in common. make returns the objects' parts.
type handles struct {
	make  func() (memory.Handle[thing], []part, error)
	get   func(memory.Handle[thing]) ([]part, bool)
	free  func(memory.Handle[thing]) bool
	all   func() iter.Seq2[memory.Handle[thing], *thing]
	books interface {
		memory.Checker
		memory.StatsReporter
		Reset()
		Trim() error
		Grow(int) error
		Len() int
		Cap() int
		Close() error
	}
}

// A part is a zeroed piece of an object.
type part struct {
	p           unsafe.Pointer
	size, align uintptr
}

// pooled models objects that are named by handles. Each has one or two blocks in the shadow,
// side by side.
type pooled struct {
	handles
	s     *segment
	parts int
	*shadow
	names []memory.Handle[thing] // by object; its blocks are live[i*parts:]
	stale []memory.Handle[thing] // a few that are gone
	cap   int
}

func openPool(s *segment) model {
	p, err := pool.New[thing](nil, pool.Config{Capacity: 1 + s.n(6000)})
	s.must("New", err)
	of := func(t *thing) []part { return []part{{unsafe.Pointer(t), unsafe.Sizeof(*t), 4}} }
	return newPooled(s, 1, handles{
		make: func() (memory.Handle[thing], []part, error) {
			x, t, err := p.New()
			if err != nil {
				return x, nil, err
			}
			return x, of(t), nil
		},
		get: func(x memory.Handle[thing]) ([]part, bool) {
			t, ok := p.Get(x)
			return of(t), ok
		},
		free: p.Free, all: p.All, books: p,
	})
}

func openSplit(s *segment) model {
	p, err := pool.NewSplit[thing, rest](nil, pool.Config{Capacity: 1 + s.n(6000)})
	s.must("NewSplit", err)
	of := func(t *thing, r *rest) []part {
		return []part{{unsafe.Pointer(t), unsafe.Sizeof(*t), 4}, {unsafe.Pointer(r), unsafe.Sizeof(*r), 2}}
	}
	return newPooled(s, 2, handles{
		make: func() (memory.Handle[thing], []part, error) {
			x, t, r, err := p.New()
			if err != nil {
				return x, nil, err
			}
			return x, of(t, r), nil
		},
		get: func(x memory.Handle[thing]) ([]part, bool) {
			t, r, ok := p.Get(x)
			return of(t, r), ok
		},
		free: p.Free, all: p.All, books: p,
	})
}

func newPooled(s *segment, parts int, h handles) model {
	return &pooled{handles: h, s: s, parts: parts, shadow: newShadow(s, 0), cap: h.books.Cap()}
}

func (m *pooled) step() {
	switch roll := m.s.n(1000); {
	case roll < 100:
		m.lookUp()
	case roll < 120 && len(m.stale) > 0:
		m.lookUpStale()
	case roll == 120:
		m.s.note("Trim", 0, 0, 0)
		m.s.must("Trim", m.books.Trim())
	case roll == 121 && m.s.one(50):
		m.reset()
	case roll == 122:
		n := m.s.n(m.cap + 1)
		m.s.note("Grow", 0, uint64(n), 0)
		m.s.must("Grow", m.books.Grow(n))
	case roll < 560:
		m.alloc()
	case len(m.names) > 0:
		m.end(m.s.n(len(m.names)))
	}
}

func (m *pooled) alloc() {
	m.s.note("New", 0, uint64(len(m.names)), 0)
	x, parts, err := m.make()
	if full := len(m.names) == m.cap; err != nil || full {
		if !full || !errors.Is(err, memory.ErrOutOfMemory) {
			m.s.failf("New with %d of %d live: %v", len(m.names), m.cap, err)
		}
		return
	}
	if x.IsZero() || x.Generation()%2 == 0 {
		m.s.failf("New gave the handle %v", x)
	}
	for _, p := range parts {
		for _, b := range unsafe.Slice((*byte)(p.p), p.size) {
			if b != 0 {
				m.s.failf("the object of %v is not zeroed", x)
			}
		}
		m.born(p.p, p.size, p.align)
	}
	m.names = append(m.names, x)
}

// lookUp finds an object where it was made.
func (m *pooled) lookUp() {
	if len(m.names) == 0 {
		return
	}
	i := m.s.n(len(m.names))
	m.s.note("Get index generation", 0, uint64(m.names[i].Index()), uint64(m.names[i].Generation()))
	parts, ok := m.get(m.names[i])
	for k, p := range parts {
		if b := m.live[i*m.parts+k]; !ok || p.p != b.p {
			m.s.failf("Get(%v) gave %p, %v; want %v", m.names[i], p.p, ok, b)
		}
	}
}

// lookUpStale must find nothing, even if the slot has another value now.
func (m *pooled) lookUpStale() {
	x, before := m.stale[m.s.n(len(m.stale))], m.books.Stats()
	m.s.note("stale index generation", 0, uint64(x.Index()), uint64(x.Generation()))
	if _, ok := m.get(x); ok {
		m.s.failf("Get finds the stale handle %v", x)
	}
	if m.free(x) || m.free(memory.Handle[thing]{}) || m.books.Stats() != before {
		m.s.failf("Free of the stale handle %v or of the zero one did something", x)
	}
}

func (m *pooled) end(i int) {
	x := m.names[i]
	m.s.note("Free index generation", 0, uint64(x.Index()), uint64(x.Generation()))
	m.forget(i)
	if !m.free(x) {
		m.s.failf("Free(%v) says stale", x)
	}
}

// forget moves the last object to place i, in the names and in the shadow: the last part
// goes first, so that the parts stay in order.
func (m *pooled) forget(i int) {
	for k := m.parts - 1; k >= 0; k-- {
		m.dies(i*m.parts + k)
	}
	last := len(m.names) - 1
	if m.s.one(16) {
		if len(m.stale) < 256 {
			m.stale = append(m.stale, m.names[i])
		} else {
			m.stale[m.s.n(256)] = m.names[i]
		}
	}
	m.names[i] = m.names[last]
	m.names = m.names[:last]
}

func (m *pooled) reset() {
	m.s.note("Reset", 0, 0, 0)
	for len(m.names) > 0 {
		m.forget(len(m.names) - 1)
	}
	m.books.Reset()
}

func (m *pooled) check() {
	m.s.must("Check", m.books.Check())
	m.verifyAll()
	n, last := 0, uintptr(0)
	for x, t := range m.all() {
		if at := uintptr(unsafe.Pointer(t)); x.IsZero() || at <= last {
			m.s.failf("All yields %v at %#x after %#x", x, at, last)
		} else {
			last = at
		}
		n++
	}
	st, live := m.books.Stats(), uint64(len(m.names))
	if n != len(m.names) || m.books.Len() != n || st.Live != live || st.Allocs-st.Frees != live ||
		st.Allocs != m.allocs/uint64(m.parts) || st.InUse < m.requested || st.Peak < st.InUse || st.InUse > st.Committed {
		m.s.failf("%d live of %d allocated, All yields %d; the books say %+v", live, m.allocs, n, st)
	}
}

func (m *pooled) finish() {
	for len(m.names) > 0 {
		m.end(m.s.n(len(m.names)))
	}
	m.check()
	if st := m.books.Stats(); st.InUse != 0 {
		m.s.failf("all is freed; the books say %+v", st)
	}
	m.s.must("Close", m.books.Close())
	m.s.must("Close again", m.books.Close())
	if _, _, err := m.make(); !errors.Is(err, memory.ErrClosed) {
		m.s.failf("New after Close: %v", err)
	}
}
