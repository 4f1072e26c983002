package ecs

import (
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// A tickFilter is what a filter has to do with ticks: which it looks at, and which it notes.
//
// Invariants, verified in this order by Check of the filter:
//
//	(1) stampIDs[:nStamps] are companions of components of the world, writes are components of it
//	(2) usesTicks says whether there is anything of it
type tickFilter struct {
	usesTicks bool // all that a walk without ticks looks at
	nStamps   int  // 0 unless ChangedSince narrows the filter
	stampIDs  [maxFilter]ID
	since     Tick
	writes    mask
}

// addWrites has loops over f note what they write.
func (f *filter) addWrites(ids []ID) {
	f.w.guard.mustBeOpen("Writes")
	m := f.w.store.maskOf("Writes", ids)
	f.interrupt("Writes")
	f.writes = f.writes.with(m)
	f.usesTicks = f.nStamps > 0 || !f.writes.empty()
}

// changedSince narrows f to what changed, in place of what it was narrowed to.
func (f *filter) changedSince(t Tick, ids []ID) {
	w := f.w
	w.guard.mustBeOpen("ChangedSince")
	if len(ids) < 1 || len(ids) > maxFilter {
		panic(&memory.Misuse{Package: "ecs", Op: "ChangedSince", Reason: "name from 1 to 8 components"})
	}
	m := w.store.maskOf("ChangedSince", ids)
	if m = m.without(w.store.tracked); !m.empty() {
		panic(&memory.Misuse{Package: "ecs", Op: "ChangedSince", Reason: "component " + names(m, w.store.comps)[0] + " is not tracked; call World.Track before any entity has it"})
	}
	f.interrupt("ChangedSince")
	for i, id := range ids {
		f.stampIDs[i] = w.store.comps[id].ticks.id
	}
	f.nStamps, f.since, f.usesTicks = len(ids), t, true
}

// A filterPos is how far a walk over a filter has come.
type filterPos struct {
	m, c      uint32 // the match and the chunk in it that come next
	row, rows uint32 // of the chunk before that: the row that comes next, where the filter looks at ticks
}

// nextRun is chunk for a filter that has to do with ticks: the next rows that f matches, n from first on in
// one chunk, of which it returns the number and the block; no rows at the end.
//
//go:noinline
func (f *filter) nextRun(s *filterPos) (number uint32, base unsafe.Pointer, first, n int) {
	for {
		if s.row == s.rows {
			if _, _, n = f.chunk(&s.m, &s.c); n == 0 {
				return 0, nil, 0, 0
			}
			s.row, s.rows = 0, uint32(n)
		}
		t := f.matches[s.m]
		number = t.chunks[s.c-1].number
		first, n = f.runIn(t, number, int(s.row), int(s.rows))
		if s.row = uint32(first + n); n > 0 {
			return number, f.w.store.chunks[number].base, first, n
		}
	}
}

// runIn returns the first of the rows from row to end of a chunk of t that f matches, and how many do from
// there on without a gap, at the end 0. They are noted as written where f says so.
func (f *filter) runIn(t *table, number uint32, row, end int) (first, n int) {
	first, n = row, end-row
	if !f.usesTicks {
		return first, n
	}
	if f.nStamps > 0 {
		s := f.stampsOf(number)
		first = s.firstChanged(row, end)
		n = s.firstUnchanged(first, end) - first
	}
	if n > 0 {
		f.w.store.stampRows(number<<rowBits+uint32(first), n, f.writes.and(t.mask))
	}
	return first, n
}

// countChanged returns the location of changed row i; where there is none, the number of changed rows and false.
func (f *filter) countChanged(i int) (loc uint32, n int, ok bool) {
	for _, t := range f.matches {
		for c := range t.used() {
			s, end := f.stampsOf(t.chunks[c].number), t.rowsIn(c)
			for row := s.firstChanged(0, end); row < end; row = s.firstChanged(row+1, end) {
				if n == i {
					return t.chunks[c].number<<rowBits + uint32(row), n, true
				}
				n++
			}
		}
	}
	return 0, n, false
}

// A stampView is the stamps of one chunk that a filter looks at.
type stampView struct {
	n       int // of the components that the filter names, those that are there
	columns [maxFilter]address
	now     uint32
	age     uint32 // stamps that are younger count
}

func (f *filter) stampsOf(number uint32) (s stampView) {
	s.now, s.age = uint32(f.w.store.tick), f.w.store.ageSince(f.since)
	columns := f.w.store.row(number)
	for i := 0; i < f.nStamps; i++ {
		if a := columns[f.stampIDs[i&(maxFilter-1)]]; a != 0 {
			s.columns[s.n&(maxFilter-1)] = a
			s.n++
		}
	}
	return s
}

// firstChanged returns the first changed row of those from row to end, or end.
func (s *stampView) firstChanged(row, end int) int {
	if s.n == 0 {
		return end
	}
	if s.n > 1 {
		for row < end && !s.changed(row) {
			row++
		}
		return row
	}
	stamps, now, age := unsafe.Slice((*uint32)(s.columns[0].pointer()), end), s.now, s.age
	for ; row+4 <= len(stamps); row += 4 { // where few have changed this is most of the time
		s := stamps[row : row+4 : row+4]
		if now-s[0] < age || now-s[1] < age || now-s[2] < age || now-s[3] < age {
			break
		}
	}
	for row < len(stamps) && now-stamps[row] >= age {
		row++
	}
	return row
}

// firstUnchanged returns the first row from row to end that has not changed, or end.
func (s *stampView) firstUnchanged(row, end int) int {
	if s.n > 1 {
		for row < end && s.changed(row) {
			row++
		}
		return row
	}
	if row == end {
		return end
	}
	stamps, now, age := unsafe.Slice((*uint32)(s.columns[0].pointer()), end), s.now, s.age
	for row < len(stamps) && now-stamps[row] < age {
		row++
	}
	return row
}

// changed reports whether one of several stamps of a row counts.
func (s *stampView) changed(row int) bool {
	for i := 0; i < s.n; i++ {
		stamp := *(*uint32)(unsafe.Add(s.columns[i&(maxFilter-1)].pointer(), uintptr(row)*tickBytes))
		if s.now-stamp < s.age {
			return true
		}
	}
	return false
}

// tickFilter verifies the invariants of tickFilter.
func (c *checker) tickFilter(f *filter) {
	if !c.that(f.nStamps >= 0 && f.nStamps <= maxFilter, "filter: it looks at %d ticks", f.nStamps) {
		return
	}
	for i, id := range f.stampIDs[:f.nStamps] {
		c.that(f.w.store.companions.has(id), "filter: tick %d that it looks at is component %d", i, id)
	}
	c.that(f.writes.below(len(f.w.store.comps)) && !f.writes.any(&f.w.store.companions), "filter: it writes %v", f.writes)
	c.that(f.usesTicks == (f.nStamps > 0 || !f.writes.empty()), "filter: it looks at %d ticks and writes %v, watchful: %v", f.nStamps, f.writes, f.usesTicks)
}
