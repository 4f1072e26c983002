package main

import (
	"errors"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/compact"
)

// moving models compact.Heap. Blocks move, so there are no addresses to compare. A block has a handle, a size and a
// pattern that does not depend on its address or neighbours. Locked blocks must not move.
type moving struct {
	s         *segment
	h         *compact.Heap
	align     uintptr
	live      []moved
	stale     []compact.Handle
	requested uint64
	allocs    uint64
	frees     uint64
	most      int
}

// A moved is one live block. at is where it was when the first of its locks was taken.
type moved struct {
	x     compact.Handle
	size  uintptr
	id    uint64
	locks int
	at    unsafe.Pointer
}

func openCompact(s *segment) model {
	align := uintptr(16) << s.n(5)
	reserve := s.between(1<<20, 8<<20)
	h, err := compact.New(nil, compact.Config{Reserve: reserve, Align: align, Step: s.between(1, 512<<10), Blocks: 1 + s.n(64)})
	s.must("New", err)
	return &moving{s: s, h: h, align: align, most: 1 + s.n(2000)}
}

func (m *moving) step() {
	switch roll := m.s.n(1000); {
	case roll < 60:
		m.lock()
	case roll < 130:
		m.unlock()
	case roll < 150:
		m.compact()
	case roll < 170:
		m.wrong()
	case roll == 170:
		m.s.note("Trim", 0, 0, 0)
		m.s.must("Trim", m.h.Trim())
	case roll == 171 && m.s.one(100):
		m.reset()
	case roll < 600 && len(m.live) < m.most:
		m.alloc()
	case len(m.live) > 0:
		m.free(m.s.n(len(m.live)))
	}
}

func (m *moving) alloc() {
	size := m.s.size(16 << 10)
	m.s.note("Alloc size", 0, uint64(size), 0)
	x, err := m.h.Alloc(size)
	if err != nil {
		if !errors.Is(err, memory.ErrOutOfMemory) || len(m.live) == 0 {
			m.s.failf("Alloc(%d) with %d live: %v", size, len(m.live), err)
		}
		return
	}
	m.s.ids++
	b := moved{x: x, size: size, id: m.s.ids}
	m.allocs++
	m.requested += uint64(size)
	m.live = append(m.live, b)
	m.shadow(b).fill()
}

// shadow is the block as a place that does not matter, at the bytes where it is now.
func (m *moving) shadow(b moved) place {
	bytes, ok := m.h.Bytes(b.x)
	if size, sok := m.h.Size(b.x); !ok || !sok || uintptr(len(bytes)) != b.size || size != b.size {
		m.s.failf("Bytes(%v) gave %d bytes, %v and Size %d, %v; want %d", b.x, len(bytes), ok, size, sok, b.size)
	}
	return place{bytes, b.id}
}

func (m *moving) verify(b moved) {
	if off, ok := m.shadow(b).intact(); !ok {
		m.s.failf("byte %d of %v, %d bytes, has changed", off, b.x, b.size)
	}
	if b.locks > 0 {
		if p, _ := m.h.Lock(b.x); p != b.at {
			m.s.failf("the locked %v moved from %p to %p", b.x, b.at, p)
		}
		m.h.Unlock(b.x)
	}
}

func (m *moving) free(i int) {
	b := m.live[i]
	m.s.note("Free index size locks", uintptr(b.x.Index()), uint64(b.size), uint64(b.locks))
	if b.locks > 0 {
		m.s.refused("a free of a locked block", m.h.Stats, func() { m.h.Free(b.x) })
		return
	}
	m.verify(b)
	m.forget(i)
	if !m.h.Free(b.x) || m.h.Free(b.x) {
		m.s.failf("Free(%v) does not free once", b.x)
	}
}

func (m *moving) forget(i int) {
	b, last := m.live[i], len(m.live)-1
	if len(m.stale) < 256 {
		m.stale = append(m.stale, b.x)
	} else {
		m.stale[m.s.n(256)] = b.x
	}
	m.frees++
	m.requested -= uint64(b.size)
	m.live[i] = m.live[last]
	m.live = m.live[:last]
}

func (m *moving) lock() {
	if len(m.live) == 0 {
		return
	}
	b := &m.live[m.s.n(len(m.live))]
	m.s.note("Lock index", uintptr(b.x.Index()), uint64(b.locks), 0)
	p, ok := m.h.Lock(b.x)
	if !ok || uintptr(p)&(m.align-1) != 0 || !m.h.Owns(p) || b.locks > 0 && p != b.at {
		m.s.failf("Lock(%v) gave %p, %v; it has %d locks at %p", b.x, p, ok, b.locks, b.at)
	}
	b.locks, b.at = b.locks+1, p
}

func (m *moving) unlock() {
	if len(m.live) == 0 {
		return
	}
	b := &m.live[m.s.n(len(m.live))]
	m.s.note("Unlock index", uintptr(b.x.Index()), uint64(b.locks), 0)
	if b.locks == 0 {
		m.s.refused("an unlock of a block that is not locked", m.h.Stats, func() { m.h.Unlock(b.x) })
	} else if b.locks--; !m.h.Unlock(b.x) {
		m.s.failf("Unlock(%v) says stale", b.x)
	}
}

// compact moves a little, or all there is; then, with nothing locked, no free byte may lie in
// front of a block.
func (m *moving) compact() {
	budget := compact.Budget{Bytes: m.s.between(1, 256<<10)}
	all := m.s.one(20)
	if all {
		budget = compact.Budget{}
	}
	m.s.note("Compact bytes", 0, uint64(budget.Bytes), 0)
	n, done := m.h.Compact(budget)
	if all && !done || !all && n > budget.Bytes {
		m.s.failf("Compact(%+v) moved %d, done %v", budget, n, done)
	}
	if !all || m.s.n(4) > 0 {
		return
	}
	locked, seen, gap := 0, 0, false
	m.h.Blocks(func(b compact.Block) bool {
		if !b.Free && gap && !b.Locked && locked == 0 {
			m.s.failf("after Compact a gap lies in front of the block at %d", b.Offset)
		}
		if gap = gap || b.Free; b.Locked {
			locked++
		}
		if !b.Free {
			seen++
		}
		return true
	})
	if seen != len(m.live) {
		m.s.failf("Blocks yields %d live blocks, want %d", seen, len(m.live))
	}
}

// wrong tries what must have no effect.
func (m *moving) wrong() {
	if len(m.stale) == 0 {
		return
	}
	x, before := m.stale[m.s.n(len(m.stale))], m.h.Stats()
	m.s.note("stale index", uintptr(x.Index()), uint64(x.Generation()), 0)
	_, bytes := m.h.Bytes(x)
	_, lock := m.h.Lock(x)
	if bytes || lock || m.h.Free(x) || m.h.Unlock(x) || m.h.Free(compact.Handle{}) || m.h.Stats() != before {
		m.s.failf("the stale handle %v did something", x)
	}
}

func (m *moving) reset() {
	m.s.note("Reset", 0, 0, 0)
	for len(m.live) > 0 {
		m.verify(m.live[len(m.live)-1])
		m.forget(len(m.live) - 1)
	}
	m.h.Reset()
}

func (m *moving) check() {
	m.s.must("Check", m.h.Check())
	var cost uint64
	for _, b := range m.live {
		m.verify(b)
		cost += uint64((max(b.size, 1) + m.align - 1) &^ (m.align - 1))
	}
	st := m.h.Stats()
	if st.Live != uint64(len(m.live)) || st.Allocs != m.allocs || st.Frees != m.frees || st.Requested != m.requested ||
		st.InUse != cost || st.Peak < st.InUse || st.InUse > st.Committed {
		m.s.failf("%d live of %d bytes and %d rounded, %d allocated, %d freed; the books say %+v",
			len(m.live), m.requested, cost, m.allocs, m.frees, st)
	}
}

func (m *moving) finish() {
	for i := range m.live {
		for ; m.live[i].locks > 0; m.live[i].locks-- {
			m.h.Unlock(m.live[i].x)
		}
	}
	for len(m.live) > 0 {
		m.free(len(m.live) - 1)
	}
	m.check()
	m.s.must("Close", m.h.Close())
	m.s.must("Close again", m.h.Close())
	if _, err := m.h.Alloc(1); !errors.Is(err, memory.ErrClosed) {
		m.s.failf("Alloc after Close: %v", err)
	}
}
