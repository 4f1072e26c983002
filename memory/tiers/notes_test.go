package tiers

import (
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/findings"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// notesWords is how many words of 4 bytes the notes of a manager's slab have in leaves.
func notesWords(m *Manager) int { return int(m.slab.notes.next) }

func TestSlabNotes_AnEmptiedLeafStaysForTheNextBlock(t *testing.T) {
	m := newManager(t, tagged())
	a := newTag(t, m, "a")
	a.Free(alloc(t, a, 1000), 1000)
	before, units := notesWords(m), len(m.slab.notes.units)
	if n := testing.AllocsPerRun(1000, func() {
		p, _ := a.Alloc(1000, 16)
		m.FreeAny(p)
	}); n != 0 || notesWords(m) != before || len(m.slab.notes.units) != units {
		t.Errorf("%v Go allocations, %d words and then %d", n, before, notesWords(m))
	}
	if u := m.slab.notes.units[0]; u.leaf() == 0 || u.class() != 1024 {
		t.Errorf("the unit has leaf %d for blocks of %d", u.leaf(), u.class())
	}
	must(t, m.Check())
}

// The heap has blocks of one class after the other everywhere; the leaves are the same again and
// again, and never more than two words for each place there could be.
func TestSlabNotes_LeavesChangeHandsWithTheClassesAndStayBounded(t *testing.T) {
	m := newManager(t, tagged())
	a := newTag(t, m, "a")
	var after []int // rounds
	for range 3 {
		for _, size := range []uintptr{1024, 16, 4096, 112, 32, 24, 500, 48, 200, 2048} {
			var all []unsafe.Pointer
			for range 20_000 {
				p, err := a.Alloc(size, 16)
				if err != nil {
					break
				}
				all = append(all, p)
			}
			if s := a.Stats(); s.Live != uint64(len(all)) || s.Requested != uint64(len(all))*uint64(size) || len(all) < 500 {
				t.Fatalf("%d blocks of %d bytes: %+v", len(all), size, s)
			}
			must(t, m.Check())
			for i, p := range all {
				if m.Inspect().TagOf(p) != a {
					t.Fatalf("block %d of %d bytes has no tag", i, size)
				}
				a.Free(p, size)
			}
			must(t, m.Check())
		}
		after = append(after, notesWords(m))
	}
	most := 2 * int(leafWords(0)) * (len(m.slab.notes.units) + 1)
	if after[2] > most || after[2]-after[1] > after[1]-after[0] {
		t.Errorf("words %v of at most %d", after, most)
	}
	if s := a.Stats(); s.Live != 0 || s.InUse != 0 || s.Requested != 0 {
		t.Errorf("%+v", s)
	}
}

// Blocks that were freed past the manager, whose KiB is of another class by now, are counted as
// freed when a tag has a block there again.
func TestSlabNotes_WhatIsOfAnotherClassByNowIsForgotten(t *testing.T) {
	cfg := tagged()
	cfg.Reserve[Slab] = 1 << 20
	m := newManager(t, cfg)
	a, b := newTag(t, m, "a"), newTag(t, m, "b")
	var all []unsafe.Pointer
	for {
		p, err := m.Slab().Alloc(512, 16)
		if err != nil {
			break
		}
		m.Slab().Free(p, 512)
		if p, err = a.Alloc(512, 16); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	for _, p := range all {
		m.Slab().Free(p, 512)
	}
	if s := a.Stats(); s.Live != uint64(len(all)) {
		t.Fatalf("%+v", s)
	}
	n := 0
	for range 1 << 20 / 1024 {
		if _, err := b.Alloc(500+512, 16); err == nil {
			n++
		}
	}
	if s := a.Stats(); n < 500 || s.Live > uint64(len(all)-n) || s.Frees < uint64(n) || b.Stats().Live != uint64(n) {
		t.Errorf("%d blocks of another class: a has %+v, b %+v", n, s, b.Stats())
	}
}

// The general heap has blocks whose sizes the notes of large hold apart.
func TestLargeNotes_SizesAboveWhatAWordHolds(t *testing.T) {
	cfg := tagged()
	cfg.Reserve[Large], cfg.Reserve[Inbox] = 128<<20, 64<<20
	m := newManager(t, cfg)
	a := newTag(t, m, "a")
	for _, al := range []memory.Allocator{a, m.Worker(0).Tag(a)} {
		sizes := []uintptr{hugeSize - 1, hugeSize}
		var live []unsafe.Pointer
		sum := uint64(0)
		for _, size := range sizes {
			live = append(live, alloc(t, al, size))
			sum += uint64(size)
		}
		must(t, m.Check())
		r := al.(memory.Resizer)
		for _, to := range []uintptr{hugeSize + 1, hugeSize - 1, 5000, hugeSize} {
			if !r.Resize(live[1], sizes[1], to) {
				t.Fatalf("from %d to %d", sizes[1], to)
			}
			sum += uint64(to) - uint64(sizes[1])
			sizes[1] = to
			if s := a.Stats(); s.Requested != sum || s.Live != 2 {
				t.Errorf("resized to %d: %+v", to, s)
			}
			must(t, m.Check())
		}
		for i, p := range live {
			al.Free(p, sizes[i])
		}
		if s := a.Stats(); s.Requested != 0 || s.InUse != 0 || s.Live != 0 {
			t.Errorf("%+v", s)
		}
	}
	if n := len(m.large.notes.huge) + len(m.inbox.workers[0].tags.huge); n != 0 {
		t.Errorf("%d large sizes are left", n)
	}
	must(t, m.Check())
	p := alloc(t, a, hugeSize)
	m.Large().Free(p, hugeSize) // past the manager
	q := alloc(t, a, hugeSize+5)
	if s := a.Stats(); q != p || s.Live != 1 || s.Requested != hugeSize+5 || len(m.large.notes.huge) != 1 {
		t.Errorf("%p and %p: %+v", p, q, s)
	}
	must(t, m.Check())
	if invariant.Exact && !m.Resize(q, hugeSize+5, hugeSize) {
		t.Error("a block did not get smaller")
	}
}

// A leaf has the words of its 4 KiB in the order of their addresses, and no others.
func TestLargeNotes_ALeafsWordsAreInOrder(t *testing.T) {
	m := newManager(t, tagged())
	w := m.Worker(0)
	v := w.Tag(newTag(t, m, "a"))
	var live [40]unsafe.Pointer
	for i := range live {
		live[i] = alloc(t, v, uintptr(i+1))
	}
	s := w.tags
	for i, p := range live {
		off := uintptr(p) - s.base
		if got := s.chunks[0][uintptr(s.units[off/largeUnit])+off%largeUnit/grain]; got != 1<<24|uint32(i+1) {
			t.Errorf("the word of block %d is %#x", i, got)
		}
	}
	if s.next != 16+3*16 || s.chunks[0][15] != 0 || s.chunks[0][s.next] != 0 {
		t.Errorf("the leaves end at %d", s.next)
	}
}

// A manager that is closed keeps no notes, whose books say that every block is gone.
func TestNotes_OfAClosedManagerAreEmptyAndSound(t *testing.T) {
	m := newManager(t, tagged())
	a := newTag(t, m, "a")
	w := m.Worker(0).Tag(a)
	for _, size := range []uintptr{16, 1000, 5000, hugeSize} {
		if p, err := a.Alloc(size, 16); err == nil {
			a.Free(p, size)
		}
		_ = alloc(t, a, min(size, 100_000))
		_ = alloc(t, w, min(size, 100_000))
	}
	slab, large, worker := &m.slab.notes, &m.large.notes, m.inbox.workers[0].tags
	if slab.next == 0 || large.next == 0 || worker.next == 0 {
		t.Fatal("no notes")
	}
	_ = m.Close()
	var f findings.List
	if slab.units != nil || slab.chunks != nil || slab.spare != [leafKinds]uint32{} || !slab.checkLeaves(&f) {
		t.Errorf("the slab's: %+v, %v", slab, f.Err())
	}
	for _, s := range []*largeNotes{large, worker} {
		if s.units != nil || s.chunks != nil || s.huge != nil || !s.checkLeaves(&f) {
			t.Errorf("those of large blocks: %+v, %v", s, f.Err())
		}
	}
	if s := a.Stats(); !f.None() || s.Live != 0 || s.InUse != 0 || s.Allocs == 0 || s.Frees != s.Allocs {
		t.Errorf("%+v, %v", s, f.Err())
	}
}
