package ecs

// A table without rows keeps one chunk for the next entity. Without a bound, an entity that passed
// through a thousand archetypes left a thousand chunks.
//
// The rule: the keptEmpties tables that became empty last keep a chunk. Older ones keep theirs as
// long as those of all empty tables together take at most keptBytes, or a keptShare of all chunks.
// Entities that come and go in that many archetypes cost no call of the allocator. A table with rows keeps
// at most one chunk behind them, as the type says.
const (
	keptEmpties = 4
	keptBytes   = 64 << 10
	keptShare   = 16
)

// emptyTables lists the tables that became empty and have a chunk, the oldest first.
//
// Invariants, verified in this order by check:
//
//	(1) the list has n tables, linked in both directions; each has a chunk
//	(2) bytes is the sum of their first chunks; every table without rows that has a chunk is in the
//	    list, unless a batch tells observers before it begins; some of the list may have rows again
type emptyTables struct {
	oldest, newest uint32 // index in World.tables + 1; 0 when there is none
	n              int
	bytes          uint64
}

// emptyLink is the place of a table in empties.
type emptyLink struct {
	older, newer uint32 // index in World.tables + 1; 0 at the end
	bytes        uint32 // of its first chunk; 0 while it is not listed
}

// listEmpty makes t, which has a chunk and no rows, the newest of the list, and has older tables give
// their chunks back while the list is over its bound. These wait for settle.
//
//go:noinline
func (w *World) listEmpty(t *table) {
	k := &w.emptyTables
	if len(t.chunks) == 0 {
		return
	}
	if t.emptyLink.bytes == 0 || k.newest != uint32(t.index)+1 {
		w.unlistEmpty(t)
		t.emptyLink = emptyLink{older: k.newest, bytes: uint32(w.sizes[w.chunks[t.chunks[0].number].class])}
		if k.newest != 0 {
			w.tables[k.newest-1].emptyLink.newer = uint32(t.index) + 1
		} else {
			k.oldest = uint32(t.index) + 1
		}
		k.newest = uint32(t.index) + 1
		k.n++
		k.bytes += uint64(t.emptyLink.bytes)
	}
	for k.n > keptEmpties && k.bytes > max(keptBytes, w.bytes/keptShare) {
		oldest := w.tables[k.oldest-1]
		w.unlistEmpty(oldest)
		if oldest.tailN == 0 {
			w.dropChunks(oldest, 0)
		}
	}
}

// unlistEmpty takes t out of the list, when it is there.
func (w *World) unlistEmpty(t *table) {
	k, was := &w.emptyTables, t.emptyLink
	if was.bytes == 0 {
		return
	}
	if was.older != 0 {
		w.tables[was.older-1].emptyLink.newer = was.newer
	} else {
		k.oldest = was.newer
	}
	if was.newer != 0 {
		w.tables[was.newer-1].emptyLink.older = was.older
	} else {
		k.newest = was.older
	}
	k.n--
	k.bytes -= uint64(was.bytes)
	t.emptyLink = emptyLink{}
}

// emptyTables verifies the invariants of empties.
func (c *checker) emptyTables(w *World) {
	k, bytes, n, before := &w.emptyTables, uint64(0), 0, uint32(0)
	for i := k.oldest; i != 0; i = w.tables[i-1].emptyLink.newer { // (1)
		if uint64(i) > uint64(len(w.tables)) || n > k.n {
			c.that(false, "empties: the list meets table %d of %d, or more than %d", i-1, len(w.tables), k.n)
			return
		}
		t := w.tables[i-1]
		c.that(t.emptyLink.older == before && t.emptyLink.bytes != 0 && len(t.chunks) > 0, "empties: table %d has %d chunks and is behind table %d", i-1, len(t.chunks), t.emptyLink.older)
		before = i
		bytes += uint64(t.emptyLink.bytes)
		n++
	}
	c.that(n == k.n && bytes == k.bytes && before == k.newest, "empties: %d tables with %d bytes, the newest %d, not %d with %d, %d", k.n, k.bytes, k.newest, n, bytes, before)
	listed := 0
	for i, t := range w.tables { // (2)
		if t.emptyLink.bytes != 0 {
			listed++
			continue
		}
		c.that(t.tailN != 0 || len(t.chunks) == 0 || w.notifying > 0, "empties: table %d is empty with %d chunks and not listed", i, len(t.chunks))
	}
	c.that(listed == n, "empties: %d tables are listed of %d", n, listed)
}
