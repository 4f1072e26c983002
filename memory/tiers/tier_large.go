package tiers

import (
	"unsafe"

	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/tlsf"
)

var largeRow = row{
	Info: Info{
		Name: "large", Text: "blocks above 4 KiB; freed one by one",
		Color: 0xff8fa3, Reserve: 64 << 20,
	},
	state:    func(m *Manager) state { return &m.large },
	most:     largeGranule << 28, // of tlsf: 2^28 granules
	tagRoute: routeLarge,
	tagged:   true,
}

// largeTier has the heap of large blocks. Without tags Free, FreeAny and Resize call the heap themselves.
type largeTier struct {
	basic
	noHooks
	heap  *tlsf.Heap
	notes largeNotes
	idle  returner
}

// Large returns the heap for blocks above Config.SlabMax, 4 KiB by default.
func (m *Manager) Large() *tlsf.Heap { return m.large.heap }

const (
	// largeStep is how much the large tier commits at a time. A system call costs as much as the first use
	// of one or two pages. If a heap of 600 KiB grows, half of its last step is unused on average: less than
	// a twentieth.
	largeStep = 32 << 10
	// fewBlocks is how many descriptors a large heap starts with: as many as fit into 18 KiB with its
	// anchors. Their number doubles when it must, with 32 bytes copied for each.
	fewBlocks = 32
	// largeGranule is the granule of the large tier. Its blocks usually have more than 4 KiB, so rounding takes an eighth of
	// a block at most. Up to 16 KiB each size has a list of its own, and there are fewer sizes. So a search takes a
	// free block that fits more often, and the metadata has a quarter of the size that it has with 256 bytes.
	largeGranule = 1 << 10
	// workerGranule is the granule of a worker's heap, which also has small blocks.
	workerGranule = 256
)

// newLarge makes a heap of size bytes for the large tier or a worker.
func newLarge(src page.Source, size, granule, quick uintptr) (*tlsf.Heap, error) {
	return tlsf.New(src, tlsf.Config{Reserve: size, Granule: granule, Step: min(largeStep, size), Blocks: fewBlocks, QuickBytes: quick})
}

func (s *largeTier) build(m *Manager) (err error) {
	part := m.parts[Large].Memory()
	s.notes = largeNotes{base: uintptr(part.Base), size: part.Size, granule: largeGranule}
	if s.heap, err = newLarge(m.limits[Large], m.cfg.Reserve[Large], largeGranule, m.cfg.QuickBytes); err != nil {
		return err
	}
	s.heap.OnShort(func() { m.drain(true) })
	return nil
}

func (s *largeTier) free(m *Manager, op string, p unsafe.Pointer, size uintptr, known bool) bool {
	tag, noted := s.notes.at(p)
	if tag != 0 && known && noted != size {
		panic(m.otherSize(op, p, size, tag, noted))
	}
	if known {
		s.heap.Free(p, size)
	} else {
		s.heap.FreeAny(p)
	}
	if tag != 0 {
		s.notes.remove(p, tag, noted)
	}
	m.recorder.freed(Large, p)
	m.sampler.freed(p)
	return true
}

func (s *largeTier) resize(m *Manager, p unsafe.Pointer, oldSize, newSize uintptr) (ok, live bool) {
	tag, noted := s.notes.at(p)
	if tag != 0 && noted != oldSize {
		panic(m.otherSize("Resize", p, oldSize, tag, noted))
	}
	if ok = s.heap.Resize(p, oldSize, newSize); ok && tag != 0 {
		s.notes.resized(p, tag, noted, newSize)
		t := m.tags[tag-1]
		t.peak = max(t.peak, m.taggedBytes(tag))
	}
	if ok {
		m.recorder.resized(Large, p, newSize)
		m.sampler.resized(p, newSize)
	}
	return ok, true
}

func (s *largeTier) sizeOf(_ *Manager, p unsafe.Pointer) (uintptr, bool) {
	return s.heap.SizeOf(p), true
}
func (s *largeTier) stats(*Manager) stats { return s.heap.Stats() }
func (s *largeTier) check(c *checker)     { c.Join(s.heap.Check()) }
func (s *largeTier) beginLevel()          { s.heap.BeginEpoch() }

func (s *largeTier) leaks(_ *Manager, l *Leak, byTag *[MaxTags + 1]Leak) {
	for p, size := range s.heap.Young {
		l.add(size)
		byTag[s.notes.tagOf(p)].add(size)
	}
}

func (s *largeTier) close(e *ending, stage stage) {
	if stage == closeHeaps && s.heap != nil {
		e.add("the large heap", s.heap.Close)
	}
}
