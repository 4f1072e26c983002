package ecs

import "unsafe"

// A span walks the rows that a batch appended to a table, one run per chunk.
type span struct {
	t     *table
	chunk int // the next run's position in t.chunks
	row   uint32
	left  int
}

// next returns the next run of rows: the location of its first and its length, 0 at the end.
func (s *span) next() (loc uint32, n int) {
	if s.left == 0 || s.chunk >= len(s.t.chunks) { // the allocator may have closed the world
		return 0, 0
	}
	k := &s.t.chunks[s.chunk]
	loc = k.number<<rowBits + s.row
	n = min(int(k.cap-s.row), s.left)
	s.left -= n
	if s.row += uint32(n); s.row == k.cap {
		s.chunk, s.row = s.chunk+1, 0
	}
	return loc, n
}

// reserve makes room for n more rows in t without adding them, or changes nothing. It
// returns the span that they will take.
func (s *store) reserve(t *table, n int) (span, error) {
	all := span{t: t, chunk: t.tail, row: t.tailN, left: n}
	if t.tailN == t.limit {
		all.chunk, all.row = t.used(), 0
	}
	if t.capacity()-t.rows() < n {
		if err := s.addChunks(t, n); err != nil {
			return span{}, err
		}
	}
	return all, nil
}

// commit adds the rows of a span that reserve returned.
func (s *store) commit(all span) {
	if all.left == 0 {
		return
	}
	t := all.t
	rows := t.rows() + all.left
	i := all.chunk
	for int(t.chunks[i].first)+int(t.chunks[i].cap) < rows {
		i++
	}
	s.setTail(t, i, uint32(rows)-t.chunks[i].first)
}

// spawnBatch creates n entities in t with zeroed components, or changes nothing.
func (s *store) spawnBatch(t *table, n int) (span, error) {
	if n <= 0 {
		return span{}, nil
	}
	if n > int(s.index.usable-s.index.live) {
		return span{}, s.index.full
	}
	if worn := s.index.usable < s.index.max; worn || int(s.index.bump)+n > len(s.index.recs) { // worn: not every slot from bump on is one to take
		if err := s.index.reserveSlots(n); err != nil {
			return span{}, err
		}
	}
	all, err := s.reserve(t, n)
	if err != nil {
		return span{}, err
	}
	s.commit(all)
	for run := all; ; {
		loc, n := run.next()
		if n == 0 {
			return all, nil
		}
		s.index.takeRun(s.entitiesFrom(loc, n), loc)
		for i := range t.columns {
			k := &t.columns[i]
			clear(unsafe.Slice((*byte)(s.cell(loc, k.comp.id, uintptr(k.size))), uintptr(n)*uintptr(k.size)))
		}
		s.stampRows(loc, n, t.mask) // before fill, which may panic
	}
}

// entitiesFrom returns n entities from loc on, which are all in one chunk.
func (d *directory) entitiesFrom(loc uint32, n int) []Entity {
	return unsafe.Slice(d.entity(loc), n)
}

// moveAll moves every row of src to the table that k names, which keyAfter made, and returns the
// rows' new span. On error nothing has changed. The caller writes the cells that are new to
// the rows, and frees pending blocks.
func (w *World) moveAll(op string, src *table, k key, retargets bool) (span, error) {
	n := src.rows()
	if n == 0 {
		return span{}, nil
	}
	e, err := w.store.transitionTo(src, k, retargets)
	if err != nil {
		return span{}, err
	}
	all, err := w.store.reserve(e.to, n)
	if err != nil {
		return span{}, err
	}
	if w.observers.observed != 0 {
		if err := w.observers.notifyLosses(op, src, e.to); err != nil {
			return span{}, err
		}
		if all, err = w.store.reserve(e.to, n); err != nil { // an observer may have spawned into it
			w.store.trimSpares(e.to)
			return span{}, err
		}
	}
	w.store.commit(all)
	s := all
	to, room := s.next()
	for i := range src.used() {
		from, left := src.chunks[i].number<<rowBits, src.rowsIn(i)
		for left > 0 {
			if room == 0 {
				to, room = s.next()
			}
			k := min(left, room)
			w.store.moveRun(e, to, from, k)
			to, room = to+uint32(k), room-k
			from, left = from+uint32(k), left-k
		}
	}
	w.store.clearTable(src)
	return all, nil
}

// moveRun copies n rows between chunks along e and points their records at the copies.
func (s *store) moveRun(e *transition, to, from uint32, n int) {
	es := s.entitiesFrom(to, n)
	copy(es, s.entitiesFrom(from, n))
	for i := range es {
		s.index.at(es[i].index).loc = to + uint32(i)
	}
	for i := range e.moves {
		m := &e.moves[i]
		size := uintptr(m.size)
		copyBytes(s.cell(to, m.id, size), s.cell(from, m.id, size), uintptr(n)*size)
	}
	if len(e.heap) > 0 {
		s.moveHeap(e, to, from, n)
	}
}
