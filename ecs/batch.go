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
func (w *World) reserve(t *table, n int) (span, error) {
	s := span{t: t, chunk: t.tail, row: t.tailN, left: n}
	if t.tailN == t.limit {
		s.chunk, s.row = t.used(), 0
	}
	if t.capacity()-t.rows() < n {
		if err := w.addChunks(t, n); err != nil {
			return span{}, err
		}
	}
	return s, nil
}

// commit adds the rows of a span that reserve returned.
func (w *World) commit(s span) {
	if s.left == 0 {
		return
	}
	rows := s.t.rows() + s.left
	i := s.chunk
	for int(s.t.chunks[i].first)+int(s.t.chunks[i].cap) < rows {
		i++
	}
	w.setTail(s.t, i, uint32(rows)-s.t.chunks[i].first)
}

// spawnBatch creates n entities in t with zeroed components, or changes nothing.
func (w *World) spawnBatch(t *table, n int) (span, error) {
	if n <= 0 {
		return span{}, nil
	}
	if n > int(w.ents.usable-w.ents.live) {
		return span{}, w.full
	}
	if worn := w.ents.usable < w.ents.max; worn || int(w.ents.bump)+n > len(w.ents.recs) { // worn: not every slot from bump on is one to take
		if err := w.reserveSlots(n); err != nil {
			return span{}, err
		}
	}
	all, err := w.reserve(t, n)
	if err != nil {
		return span{}, err
	}
	w.commit(all)
	for s := all; ; {
		loc, n := s.next()
		if n == 0 {
			return all, nil
		}
		w.ents.takeRun(w.entitiesFrom(loc, n), loc)
		for i := range t.columns {
			k := &t.columns[i]
			clear(unsafe.Slice((*byte)(w.cell(loc, k.comp.id, uintptr(k.size))), uintptr(n)*uintptr(k.size)))
		}
		if w.observed&tracking != 0 {
			w.stampRows(loc, n, t.mask) // they exist, whatever becomes of who fills them
		}
	}
}

// entitiesFrom returns n entities from loc on, which are all in one chunk.
func (w *World) entitiesFrom(loc uint32, n int) []Entity {
	return unsafe.Slice(w.entity(loc), n)
}

// moveAll moves every row of src to the table that k names, which keyAfter made, and returns the
// rows' new span. On error nothing has changed. The caller writes the cells that are new to
// the rows, and settles.
func (w *World) moveAll(op string, src *table, k key, retargets bool) (span, error) {
	n := src.rows()
	if n == 0 {
		return span{}, nil
	}
	e, err := w.transitionTo(src, k, retargets)
	if err != nil {
		return span{}, err
	}
	all, err := w.reserve(e.to, n)
	if err != nil {
		return span{}, err
	}
	if w.observed != 0 {
		w.notifyLosses(op, src, e.to)
		if all, err = w.reserve(e.to, n); err != nil { // an observer may have spawned into it
			w.trimSpares(e.to)
			return span{}, err
		}
	}
	w.commit(all)
	s := all
	to, room := s.next()
	for i := range src.used() {
		from, left := src.chunks[i].number<<rowBits, src.rowsIn(i)
		for left > 0 {
			if room == 0 {
				to, room = s.next()
			}
			k := min(left, room)
			w.moveRun(e, to, from, k)
			to, room = to+uint32(k), room-k
			from, left = from+uint32(k), left-k
		}
	}
	w.clearTable(src)
	return all, nil
}

// moveRun copies n rows between chunks along e and points their records at the copies.
func (w *World) moveRun(e *transition, to, from uint32, n int) {
	es := w.entitiesFrom(to, n)
	copy(es, w.entitiesFrom(from, n))
	for i := range es {
		w.ents.at(es[i].index).loc = to + uint32(i)
	}
	for i := range e.moves {
		m := &e.moves[i]
		size := uintptr(m.size)
		copyBytes(w.cell(to, m.id, size), w.cell(from, m.id, size), uintptr(n)*size)
	}
	if len(e.heap) > 0 {
		w.moveHeap(e, to, from, n)
	}
}
