package tiers

import (
	"unsafe"

	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/slab"
)

var slabRow = row{
	Info: Info{
		Name: "slab", Text: "blocks up to 4 KiB; freed one by one",
		Color: 0xc792ea, Reserve: 64 << 20,
	},
	state:    func(m *Manager) state { return &m.slab },
	most:     64<<30 - regionBytes, // of slab: 64 KiB less than 64 GiB
	tagRoute: routeSlab,
	tagged:   true,
}

// slabTier has the heap of small blocks. Without tags Free, FreeAny and Resize call the heap themselves.
type slabTier struct {
	basic
	noHooks
	heap  *slab.Heap
	front *slab.Heap // what Alloc calls: heap, or with a trace or samples a relay that records
	notes slabNotes
	idle  returner
}

// Slab returns the heap for blocks up to Config.SlabMax, 4 KiB by default. It passes larger requests to Large.
func (m *Manager) Slab() *slab.Heap { return m.slab.heap }

func (s *slabTier) build(m *Manager) (err error) {
	part := m.parts[Slab].Memory()
	s.notes = slabNotes{base: uintptr(part.Base), size: part.Size}
	if s.heap, err = slab.New(m.limits[Slab], slab.Config{Reserve: m.cfg.Reserve[Slab], MaxSize: m.cfg.SlabMax, Large: m.large.heap}); err != nil {
		return err
	}
	s.heap.OnShort(m.drain)
	if s.front = s.heap; m.recorder != nil || m.sampler != nil {
		s.front = slab.NewRelay(m.allocUntagged)
	}
	return nil
}

func (s *slabTier) free(m *Manager, op string, p unsafe.Pointer, size uintptr, known bool) bool {
	n, class := s.notes.at(p)
	if n != nil && known && n.size(class) != size {
		panic(m.otherSize(op, p, size, n.tag(), n.size(class)))
	}
	if known {
		s.heap.Free(p, size)
	} else {
		s.heap.FreeAny(p)
	}
	if n != nil {
		s.notes.remove(n, class)
	}
	m.recorder.freed(Slab, p)
	m.sampler.freed(p)
	return true
}

func (s *slabTier) resize(m *Manager, p unsafe.Pointer, oldSize, newSize uintptr) (ok, live bool) {
	n, class := s.notes.at(p)
	if n != nil && n.size(class) != oldSize {
		panic(m.otherSize("Resize", p, oldSize, n.tag(), n.size(class)))
	}
	if ok = s.heap.Resize(p, oldSize, newSize); ok && n != nil {
		s.notes.resized(n, class, newSize)
	}
	if ok {
		m.recorder.resized(Slab, p, newSize)
		m.sampler.resized(p, newSize)
	}
	return ok, true
}

func (s *slabTier) sizeOf(_ *Manager, p unsafe.Pointer) (uintptr, bool) {
	return s.heap.SizeOf(p), true
}
func (s *slabTier) stats(*Manager) stats { return s.heap.Stats() }
func (s *slabTier) check(c *checker)     { c.Join(s.heap.Check()) }
func (s *slabTier) beginLevel()          { s.heap.BeginEpoch() }

func (s *slabTier) leaks(m *Manager, l *Leak, byTag *[MaxTags + 1]Leak) {
	for p, size := range s.heap.Young {
		l.add(size)
		byTag[s.notes.tagOf(p)].add(size)
	}
	if invariant.Exact {
		return
	}
	l.since(m.atLevel[Slab], m.Stats(Slab))
	for _, t := range m.tags {
		byTag[t.id].since(t.atLevel.stats(), s.notes.counts[t.id].stats())
	}
}

func (s *slabTier) close(e *ending, stage stage) {
	if stage == closeHeaps && s.heap != nil {
		e.add("the slab", func() error {
			e.m.sampler.close()
			return s.heap.Close()
		})
	}
}

func (s *slabTier) lose(m *Manager) { m.sampler.close() }
