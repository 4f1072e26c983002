package main

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/slab"
)

// round is how many operations the workers share between two barriers.
const round = 4096

// cached models slab.Central with a Cache per worker. The workers run beside each other for a
// round; at the barrier their blocks are laid over each other, and some change hands. What a
// worker does follows from the seed; which addresses it gets depends on the scheduler.
type cached struct {
	s       *segment
	central *slab.Central
	workers []*worker
	taken   taken
	steps   int
	most    uintptr
}

// A worker is a goroutine's cache and the blocks that are its own for now.
type worker struct {
	rand
	k       int
	central *slab.Central
	cache   *slab.Cache
	live    []block
	ids     uint64
	most    uintptr
	allocs  uint64
	corpse  error
}

func openCaches(s *segment) model {
	most := uintptr(4096)
	h, err := slab.New(nil, slab.Config{Reserve: 32 << 20, Classes: slab.ClassTable(s.n(4)), MaxSize: most})
	s.must("New", err)
	central, err := slab.NewCentral(h)
	s.must("NewCentral", err)
	m := &cached{s: s, central: central, most: most}
	m.taken = taken{shift: 4, maps: map[uintptr]*[takenWords]uint64{}}
	for k := range 2 + s.n(3) {
		m.workers = append(m.workers, &worker{rand: rand{s.uint64()}, k: k, central: m.central, cache: slab.NewCache(m.central), most: most})
	}
	return m
}

func (m *cached) step() {
	if m.steps++; m.steps%round == 0 {
		m.round()
	}
}

// round lets every worker do its share, and then looks at all blocks together.
func (m *cached) round() {
	m.s.note("round of workers", 0, uint64(len(m.workers)), 0)
	var wg sync.WaitGroup
	for _, w := range m.workers {
		wg.Go(func() { w.work(round / len(m.workers)) })
	}
	wg.Wait()
	m.taken.clear()
	for _, w := range m.workers {
		m.s.must(fmt.Sprintf("worker %d", w.k), w.corpse)
		for _, b := range w.live {
			if !m.taken.take(b.p, b.size) {
				m.s.failf("%v of worker %d meets a live block", b, w.k)
			}
		}
	}
	for range 64 {
		from, to := m.workers[m.s.n(len(m.workers))], m.workers[m.s.n(len(m.workers))]
		if n := len(from.live); n > 0 {
			b := from.live[n-1]
			from.live = from.live[:n-1]
			to.live = append(to.live, b)
		}
	}
	if m.s.one(16) {
		m.workers[m.s.n(len(m.workers))].cache.Flush()
	}
	if m.s.one(64) {
		m.s.must("Trim", m.central.Trim())
	}
}

// work runs on the worker's goroutine; what goes wrong is left in corpse.
func (w *worker) work(ops int) {
	defer func() {
		if r := recover(); r != nil {
			w.corpse = fmt.Errorf("%v", r)
		}
	}()
	for range ops {
		var a interface {
			memory.Allocator
			memory.AnyFreer
		} = w.cache
		if w.one(32) {
			a = w.central
		}
		if len(w.live) < 20 || len(w.live) < 800 && w.one(2) {
			w.alloc(a)
			continue
		}
		i := w.n(len(w.live))
		b := w.live[i]
		if off, ok := b.intact(); !ok {
			panic(fmt.Sprintf("byte %d of %v has changed", off, b))
		}
		w.live[i] = w.live[len(w.live)-1]
		w.live = w.live[:len(w.live)-1]
		if w.one(4) {
			a.FreeAny(b.p)
		} else {
			a.Free(b.p, b.size)
		}
	}
}

func (w *worker) alloc(a memory.Allocator) {
	size, align := w.size(w.most), w.align(256)
	p, err := a.Alloc(size, align)
	if err != nil {
		panic(fmt.Sprintf("Alloc(%d, %d) with %d live: %v", size, align, len(w.live), err))
	}
	if uintptr(p)%align != 0 {
		panic(fmt.Sprintf("Alloc(%d, %d) gave %p", size, align, p))
	}
	w.ids++
	w.allocs++
	b := block{p, size, align, w.ids<<8 | uint64(w.k)}
	b.fill()
	w.live = append(w.live, b)
}

func (m *cached) check() {
	m.s.must("Check", m.central.Check())
	live, requested := 0, uint64(0)
	for _, w := range m.workers {
		held, _ := w.cache.Cached()
		live += held + len(w.live)
		for _, b := range w.live {
			requested += uint64(b.size)
		}
	}
	if st := m.central.Stats(); st.Live != uint64(live) || st.InUse < requested || st.Allocs-st.Frees != st.Live {
		m.s.failf("%d blocks are live or cached, %d bytes requested; the books say %+v", live, requested, st)
	}
	m.misuse()
}

// misuse is what a cache promises to refuse at once.
func (m *cached) misuse() {
	alien := new([64]byte)
	for _, w := range m.workers {
		m.s.refused("a foreign pointer", m.central.Stats, func() { w.cache.Free(unsafe.Pointer(alien), 16) })
		if n := len(w.live); n > 0 {
			b := w.live[n-1]
			wrong := m.central.SizeOf(b.p) + 1
			m.s.refused("a size beyond the class", m.central.Stats, func() { w.cache.Free(b.p, wrong) })
		}
	}
}

func (m *cached) finish() {
	for _, w := range m.workers {
		for _, b := range w.live {
			w.cache.Free(b.p, b.size)
		}
		w.live = nil
	}
	m.check()
	if err := m.central.Close(); err == nil {
		m.s.failf("a Central with open caches was closed")
	}
	for _, w := range m.workers {
		m.s.must("Cache.Close", w.cache.Close())
		m.s.must("Cache.Close again", w.cache.Close())
	}
	if st := m.central.Stats(); st.Live != 0 || st.InUse != 0 {
		m.s.failf("all is freed; the books say %+v", st)
	}
	m.s.must("Check", m.central.Check())
	closing(m.s, m.central)
}
