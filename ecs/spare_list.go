package ecs

// A spare is a chunk without rows that a table keeps, so that an entity that comes and goes costs no call
// of the allocator. Without a bound, an entity that passed through a thousand archetypes left a thousand
// spares, and a wave of entities that came as a batch to each of a thousand archetypes left a thousand large ones.
//
// The rule: a table keeps at most one spare. The spareTables tables that got theirs last keep it. Older ones
// keep theirs as long as all spares together take at most spareBudget, or a spareShare of all blocks. The bytes
// of a spare are those of its block and of its columns in the Go heap. Entities that come and go in that many
// archetypes cost no call of the allocator.
const (
	spareTables = 4
	spareBudget = 64 << 10
	spareShare  = 16
)

// spareList lists the tables that got a spare, the oldest first.
//
// Invariants, verified in this order by check:
//
//	(1) the list has n tables, linked in both directions; each names one of its chunks and the bytes of it
//	(2) bytes is the sum of theirs
//	(3) every table with a spare is in the list and names it, unless a batch tells observers before it
//	    begins; some of the list may have rows in that chunk again
type spareList struct {
	oldest, newest uint32 // index in archetypes.tables + 1; 0 when there is none
	n              int
	bytes          uint64
}

// spareLink is the place of a table in spareList.
type spareLink struct {
	older, newer uint32 // index in archetypes.tables + 1; 0 at the end
	number       uint32 // of the chunk that was the spare
	bytes        uint32 // of it; 0 while the table is not listed
}

// spareBytes returns what chunk i of t takes: at most the largest block and as much or one row in the Go heap.
func (s *store) spareBytes(t *table, i int) uint32 {
	k := &t.chunks[i]
	return uint32(s.sizes[s.chunks[k.number].class]) + k.cap*t.heapBytes
}

// listSpare makes t, if it has a spare, the newest of the list, and has older tables give theirs back
// while the list is over its bound. These wait for freePending.
//
//go:noinline
func (s *store) listSpare(t *table) {
	if t.spares() == 0 {
		return
	}
	k, last := &s.spareList, len(t.chunks)-1
	if t.spareLink.bytes == 0 || k.newest != uint32(t.index)+1 {
		s.unlistSpare(t)
		t.spareLink.older = k.newest
		if k.newest != 0 {
			s.tables[k.newest-1].spareLink.newer = uint32(t.index) + 1
		} else {
			k.oldest = uint32(t.index) + 1
		}
		k.newest = uint32(t.index) + 1
		k.n++
	}
	k.bytes -= uint64(t.spareLink.bytes)
	t.spareLink.number, t.spareLink.bytes = t.chunks[last].number, s.spareBytes(t, last)
	k.bytes += uint64(t.spareLink.bytes)
	s.boundSpares()
}

// boundSpares has the oldest tables of the list give their spares back while it is over its bound.
func (s *store) boundSpares() {
	k := &s.spareList
	for k.n > spareTables && k.bytes > max(spareBudget, s.bytes/spareShare) {
		oldest := s.tables[k.oldest-1]
		s.unlistSpare(oldest)
		s.dropChunks(oldest, oldest.used())
	}
}

// unlistSpare takes t out of the list, if it is there.
func (s *store) unlistSpare(t *table) {
	k, was := &s.spareList, t.spareLink
	if was.bytes == 0 {
		return
	}
	if was.older != 0 {
		s.tables[was.older-1].spareLink.newer = was.newer
	} else {
		k.oldest = was.newer
	}
	if was.newer != 0 {
		s.tables[was.newer-1].spareLink.older = was.older
	} else {
		k.newest = was.older
	}
	k.n--
	k.bytes -= uint64(was.bytes)
	t.spareLink = spareLink{}
}

// spareList verifies the invariants of spareList.
func (c *checker) spareList(w *World) {
	k, bytes, n, before := &w.store.spareList, uint64(0), 0, uint32(0)
	for i := k.oldest; i != 0; i = w.store.tables[i-1].spareLink.newer { // (1)
		if uint64(i) > uint64(len(w.store.tables)) || n > k.n {
			c.that(false, "spares: the list meets table %d of %d, or more than %d", i-1, len(w.store.tables), k.n)
			return
		}
		t := w.store.tables[i-1]
		c.that(t.spareLink.older == before, "spares: table %d is behind table %d of the list, not %d", i-1, int64(t.spareLink.older)-1, int64(before)-1)
		c.that(c.namesSpare(w, t), "spares: table %d names chunk %d of %d bytes", i-1, t.spareLink.number, t.spareLink.bytes)
		before = i
		bytes += uint64(t.spareLink.bytes)
		n++
	}
	c.that(n == k.n && bytes == k.bytes && before == k.newest, "spares: %d tables with %d bytes, the newest %d, not %d with %d, %d", k.n, k.bytes, k.newest, n, bytes, before) // (2)
	listed := 0
	for i, t := range w.store.tables { // (3)
		if t.spareLink.bytes != 0 {
			listed++
		}
		if n := len(t.chunks); n > 0 && t.spares() > 0 && w.guard.notifying == 0 {
			c.that(t.spareLink.bytes != 0 && t.chunks[n-1].number == t.spareLink.number, "spares: table %d has %d spares and names chunk %d of %d bytes", i, t.spares(), t.spareLink.number, t.spareLink.bytes)
		}
	}
	c.that(listed == n, "spares: %d tables are listed of %d", listed, n)
}

// names reports whether the chunk that a table in the list names is one of its own.
func (c *checker) namesSpare(w *World, t *table) bool {
	n := t.spareLink.number
	if t.spareLink.bytes == 0 || uint64(n) >= uint64(len(w.store.chunks)) {
		return false
	}
	d := &w.store.chunks[n]
	return uint64(d.table) == uint64(t.index)+1 && uint64(d.pos) < uint64(len(t.chunks)) && t.chunks[d.pos].number == n &&
		uint64(d.class) < uint64(len(w.store.sizes)) && t.spareLink.bytes == w.store.spareBytes(t, int(d.pos))
}
