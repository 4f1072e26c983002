package tiers

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/findings"
)

// tags verifies the notes of every heap that the game goroutine may read, and the tags' peaks.
func (c *checker) tags() {
	m := c.m
	small, large := &m.slab.notes, &m.large.notes
	if base, ok := c.notes(Slab, small.base, small.size); ok {
		c.Join(small.check("tiers: slab", m.Stats(Slab), base, m.slab.heap.SizeOf, len(m.tags)))
	}
	if base, ok := c.notes(Large, large.base, large.size); ok {
		c.Join(large.check("tiers: large", m.Stats(Large), base, m.large.heap.SizeOf, len(m.tags)))
	}
	for i, t := range m.tags {
		if t.m != m || int(t.id) != i+1 || t.frame.tag != t || t.level.tag != t || t.frame.level || !t.level.level {
			c.Add("tag %d, %q, calls itself %d", i+1, t.name, t.id)
			return
		}
		if m.cfg.Tags && t.peak < m.taggedBytes(t.id) {
			c.Add("tag %q has %d bytes in use, and had %d at most", t.name, m.taggedBytes(t.id), t.peak)
		}
		if a := &t.frame; a.begun > m.frame.begun || a.Taken().Bytes > uint64(m.frame.ring.Stats().Reserved) {
			c.Add("tag %q took %d bytes of frame %d, and it is frame %d", t.name, a.taken.Bytes, a.begun, m.frame.begun)
		}
		if a := &t.level; a.taken.Bytes > m.level.arena.Stats().Reserved || a.taken != (Bumped{}) && m.phase&inLevel == 0 {
			c.Add("tag %q took %d bytes in %d blocks of the level", t.name, a.taken.Bytes, a.taken.Blocks)
		}
	}
}

// notes reports whether the notes of a tier are of its addresses, which start at base.
func (c *checker) notes(t Tier, at, size uintptr) (base unsafe.Pointer, ok bool) {
	part := c.m.parts[t].Memory()
	if ok = at == uintptr(part.Base) && size == part.Size; !ok {
		c.Add("the notes of %s are of %d bytes at %#x, which it is not", t, size, at)
	}
	return part.Base, ok
}

// check verifies the equations above slabNotes, and that each note is of a live block. have are the
// figures of the slab, which starts at base. Errors begin with of.
func (s *slabNotes) check(of string, have memory.Stats, base unsafe.Pointer, sizeOf func(unsafe.Pointer) uintptr, tags int) error {
	f := findings.List{Of: of}
	if !s.checkLeaves(&f) {
		return f.Err()
	}
	sums := make([]tagCounts, len(s.counts))
	for i, u := range s.units {
		if u == 0 {
			continue
		}
		for k, n := range s.leaf(u.leaf(), u.kind()) {
			if n == 0 {
				continue
			}
			off := uintptr(i)<<unitShift + n.place()<<placeShift
			if id := int(n.tag()); id > tags || id >= len(sums) || id == 0 || n.place()>>u.kind() != uintptr(k) || off >= s.size || n.size(u.class()) > u.class() {
				f.Add("the note %#x at KiB %d, place %d, is of tag %d of %d", uint32(n), i, k, id, tags)
				continue
			}
			checkLive(&f, n.tag(), sizeOf, unsafe.Add(base, off), u.class())
			sums[n.tag()].out(u.class(), n.size(u.class()))
		}
	}
	checkCounts(s.counts, sums, have, &f)
	return f.Err()
}

// check verifies the equations above largeNotes, and that each note is of a live block.
func (s *largeNotes) check(of string, have memory.Stats, base unsafe.Pointer, sizeOf func(unsafe.Pointer) uintptr, tags int) error {
	f := findings.List{Of: of}
	if !s.checkLeaves(&f) {
		return f.Err()
	}
	huge := map[uintptr]uintptr{}
	for _, h := range s.huge {
		if off := uintptr(h.grain) * grain; h.size < hugeSize || huge[off] != 0 {
			f.Add("the block at %d has %d bytes, which is no large size, or is there twice", off, h.size)
		} else {
			huge[off] = uintptr(h.size)
		}
	}
	sums := make([]tagCounts, len(s.counts))
	for i, leaf := range s.units {
		if leaf == 0 {
			continue
		}
		for k := range uintptr(largePlace) {
			off := uintptr(i)*largeUnit + k*grain
			w := *s.word(off)
			if w == 0 {
				continue
			}
			id, size := int(w>>24), uintptr(w%(1<<24))
			if id > tags || id >= len(sums) || id == 0 {
				f.Add("the note %#x at %d is of tag %d of %d", w, off, id, tags)
				continue
			}
			if size == hugeSize {
				size = huge[off]
				delete(huge, off)
			}
			checkLive(&f, uint8(id), sizeOf, unsafe.Add(base, off), size)
			sums[id].out(s.takes(size), size)
		}
	}
	for off, size := range huge {
		f.Add("the block at %d has %d bytes, and no note", off, size)
	}
	checkCounts(s.counts, sums, have, &f)
	return f.Err()
}

// checkCounts verifies the counts against the sums over the notes, and both against the heap's statistics.
func checkCounts(by, sums []tagCounts, have memory.Stats, f *findings.List) {
	var all memory.Stats
	for id := range by {
		b, sum := by[id], sums[id]
		if b.used != sum.used || b.requested != sum.requested || b.allocs-b.frees != sum.allocs || b.peak < b.used {
			f.Add("tag %d counts %+v, and its blocks are %d of %d bytes, requested with %d", id, b, sum.allocs, sum.used, sum.requested)
		}
		all = all.Add(b.stats())
	}
	if all.InUse > have.InUse || all.Live > have.Live || all.Allocs > have.Allocs || all.Frees > have.Frees {
		f.Add("the tags have %d blocks of %d bytes, of %d handed out and %d freed; the heap has %d of %d, of %d and %d",
			all.Live, all.InUse, all.Allocs, all.Frees, have.Live, have.InUse, have.Allocs, have.Frees)
	}
}

// live verifies that the block of a note is live and has the size that the note says. It is not
// where it was freed past the manager.
func checkLive(f *findings.List, tag uint8, sizeOf func(unsafe.Pointer) uintptr, p unsafe.Pointer, size uintptr) {
	defer func() {
		if m, ok := recover().(*memory.Misuse); ok {
			f.Add("tag %d: the block at %p is not live, and was freed past the manager: %w", tag, p, m)
		}
	}()
	if got := sizeOf(p); got != size {
		f.Add("tag %d: the block at %p has %d bytes, its note says %d", tag, p, got, size)
	}
}

// checkLeaves verifies that the leaves of units and the spare ones are apart, and are all words.
func (s *slabNotes) checkLeaves(f *findings.List) (sound bool) {
	all := uint64(len(s.chunks)) << chunkShift
	if uint64(s.next) > all || s.next%leafWords(0) != 0 || uintptr(len(s.units)) > s.size>>unitShift {
		f.Add("the leaves have %d words of %d, and %d units of %d bytes", s.next, all, len(s.units), s.size)
		return false
	}
	owner := make([]bool, s.next)
	words := min(leafWords(0), s.next)
	take := func(leaf uint32, kind uint) bool {
		n := leafWords(kind)
		if leaf < leafWords(0) || leaf%n != 0 || uint64(leaf)+uint64(n) > uint64(s.next) {
			f.Add("leaf %d, of %d words, does not lie in %d words", leaf, n, s.next)
			return false
		}
		for i := range n {
			if owner[leaf+i] {
				f.Add("leaf %d is there twice", leaf)
				return false
			}
			owner[leaf+i] = true
		}
		words += n
		return true
	}
	for i, u := range s.units {
		if u == 0 {
			continue
		}
		if c := u.class(); c == 0 || c > maxClass {
			f.Add("KiB %d has blocks of %d bytes", i, c)
			return false
		}
		if !take(u.leaf(), u.kind()) {
			return false
		}
	}
	for kind, leaf := range s.spare {
		for ; leaf != 0; leaf = uint32(*s.word(leaf)) {
			if !take(leaf, uint(kind)) {
				return false
			}
			for _, n := range s.leaf(leaf, uint(kind))[1:] {
				if n != 0 {
					f.Add("the spare leaf %d has the note %#x", leaf, uint32(n))
				}
			}
		}
	}
	if words != s.next {
		f.Add("the leaves have %d words of %d", words, s.next)
	}
	return true
}

// checkLeaves verifies that the units' leaves are apart, and are all words.
func (s *largeNotes) checkLeaves(f *findings.List) (sound bool) {
	all := uint64(len(s.chunks)) << chunkShift
	if uint64(s.next) > all || s.next%largePlace != 0 || uintptr(len(s.units)) > s.size/largeUnit {
		f.Add("the leaves have %d words of %d, and %d units of %d bytes", s.next, all, len(s.units), s.size)
		return false
	}
	seen, words := make([]bool, s.next/largePlace), min(largePlace, s.next)
	for i, leaf := range s.units {
		if leaf == 0 {
			continue
		}
		if leaf%largePlace != 0 || leaf >= s.next || seen[leaf/largePlace] {
			f.Add("the 4 KiB number %d have leaf %d of %d words, which is no leaf, or is there twice", i, leaf, s.next)
			return false
		}
		seen[leaf/largePlace] = true
		words += largePlace
	}
	if words != s.next {
		f.Add("the leaves have %d words of %d", words, s.next)
	}
	return true
}

// checkTags verifies the notes of a worker's heap; its lock is held.
func (w *Worker) checkTags() error {
	if w.tags == nil {
		return nil
	}
	part := w.part.Memory()
	if w.tags.base != uintptr(part.Base) || w.tags.size != part.Size {
		return fmt.Errorf("the notes are of %d bytes at %#x, which the heap is not", w.tags.size, w.tags.base)
	}
	return w.tags.check("tags", w.heap.Stats(), part.Base, w.heap.SizeOf, len(w.m.tags))
}
