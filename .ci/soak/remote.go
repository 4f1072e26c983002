package main

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/remote"
)

// homing models remote: the owner allocates, several goroutines free, and every block must return to the owner
// exactly once, unchanged. It lies between inbox and heap, so that it sees each block. Blocks passed to a Freer are
// in away until they return.
type homing struct {
	*heap
	inbox    *remote.Inbox
	freers   []*errand
	drained  uint64
	expected uint64
}

// An errand is a goroutine with a Freer, and the blocks that it will be given next.
type errand struct {
	next  []block
	work  chan []block
	ended chan error
}

// A target is the heap as the inbox sees it.
type target struct{ m *homing }

func (t target) FreeAny(p unsafe.Pointer) { t.m.home(p) }

// A based target says where all its blocks lie.
type based struct {
	target
	mem page.Memory
}

func (b based) Base() unsafe.Pointer { return b.mem.Base }
func (b based) Extent() uintptr      { return b.mem.Size }

// A witness is a Source that remembers its reservation.
type witness struct {
	page.Source
	mem page.Memory
}

func (w *witness) Reserve(size uintptr) (page.Memory, error) {
	mem, err := w.Source.Reserve(size)
	w.mem = mem
	return mem, err
}

// openRemote puts an inbox before the heap that open returns.
func openRemote(open func(*segment, page.Source) heapConfig) func(*segment) model {
	return func(s *segment) model {
		w := &witness{Source: page.Default()}
		m := &homing{heap: newHeap(s, open(s, w))}
		m.away = map[unsafe.Pointer]block{}
		var to remote.Target = target{m}
		if s.one(2) {
			to = based{target{m}, w.mem}
		}
		var err error
		m.inbox, err = remote.New(to, remote.Config{Batch: s.n(65)})
		s.must("New", err)
		for range 1 + s.n(4) {
			m.freers = append(m.freers, m.start())
		}
		return m
	}
}

// start begins a goroutine that verifies what it is given and frees it.
func (m *homing) start() *errand {
	e := &errand{work: make(chan []block, 4), ended: make(chan error, 1)}
	f := m.inbox.NewFreer()
	go func() {
		var err error
		for blocks := range e.work {
			for _, b := range blocks {
				if off, ok := b.intact(); !ok && err == nil {
					err = fmt.Errorf("byte %d of %v changed before a Freer freed it", off, b)
				}
				f.FreeAny(b.p)
			}
			if len(blocks)%3 == 0 {
				f.Flush()
			}
		}
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		e.ended <- err
	}()
	return e
}

func (m *homing) step() {
	s := m.s
	switch roll := s.n(1000); {
	case roll < 350 && len(m.live) > 0:
		m.give(s.n(len(m.live)))
	case roll < 370:
		s.note("Drain", 0, 0, 0)
		m.drain(m.inbox.Drain)
	case roll < 390:
		n := s.n(100)
		s.note("DrainSome", 0, uint64(n), 0)
		m.drain(func() int { return m.inbox.DrainSome(n) })
	case roll < 392:
		k := s.n(len(m.freers))
		m.stop(m.freers[k])
		m.freers[k] = m.start()
	case roll < 600:
		m.alloc()
	default:
		m.heap.step()
	}
}

// alloc counts the blocks that are away.
func (m *homing) alloc() {
	if len(m.live)+len(m.away) < m.blocks {
		m.heap.alloc()
	}
}

// give hands block i to a Freer. Its bytes stay taken until it is home.
func (m *homing) give(i int) {
	b := m.live[i]
	last := len(m.live) - 1
	m.live[i] = m.live[last]
	m.live = m.live[:last]
	m.away[b.p] = b
	m.expected++
	m.s.note("give p size id", uintptr(b.p), uint64(b.size), b.id)
	e := m.freers[m.s.n(len(m.freers))]
	if e.next = append(e.next, b); len(e.next) >= 1+m.s.n(100) {
		e.work <- e.next
		e.next = nil
	}
}

// home takes a block back on the owner's goroutine.
func (m *homing) home(p unsafe.Pointer) {
	b, ok := m.away[p]
	if !ok {
		m.s.failf("%p came home and was not away", p)
	}
	delete(m.away, p)
	m.verify(b)
	m.taken.drop(b.p, b.size)
	m.frees++
	m.requested -= uint64(b.size)
	m.drained++
	m.a.(memory.AnyFreer).FreeAny(p)
	m.corpse = b
}

func (m *homing) drain(f func() int) {
	before := m.drained
	if n := f(); uint64(n) != m.drained-before {
		m.s.failf("Drain says %d, and %d came", n, m.drained-before)
	}
}

// stop ends a goroutine, having given it the rest of its blocks.
func (m *homing) stop(e *errand) {
	e.work <- e.next
	close(e.work)
	m.s.must("Freer", <-e.ended)
}

// gather makes every block return.
func (m *homing) gather() {
	var wg sync.WaitGroup
	for _, e := range m.freers {
		wg.Go(func() { m.stop(e) })
	}
	wg.Wait()
	m.drain(m.inbox.Drain)
	st := m.inbox.Stats()
	if len(m.away) > 0 || m.drained != m.expected || st.InFlight != 0 || st.Drained != m.drained || st.Pushed != m.drained ||
		st.Freers != 0 || st.Abandoned != 0 || m.inbox.Pending() {
		m.s.failf("%d blocks went away, %d came home, %d are missing; the inbox says %+v", m.expected, m.drained, len(m.away), st)
	}
	for i := range m.freers {
		m.freers[i] = m.start()
	}
}

func (m *homing) check() {
	m.gather()
	m.s.must("Inbox.Check", m.inbox.Check())
	m.heap.check()
}

func (m *homing) finish() {
	m.gather()
	for _, e := range m.freers {
		m.stop(e)
	}
	m.s.must("Inbox.Close", m.inbox.Close())
	m.s.must("Inbox.Close again", m.inbox.Close())
	m.heap.finish()
}
