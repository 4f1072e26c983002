package ecs

// newDraft returns a world that ReadJSON fills before w adopts it. It has the component types and the
// allocator of w, and no index.
func (s *store) newDraft() *store {
	d := &store{
		cfg:        s.cfg,
		registry:   s.registry,
		archetypes: archetypes{byKey: make(map[key]*table), variants: make(map[mask]*variants)},
		directory:  newDirectory(s.mem, s.cfg),
		guard:      s.guard,
	}
	d.draft = true
	d.widen(len(d.comps))
	root := s.tables[0].sibling()
	d.enlist(root)
	d.name(root)
	return d
}

// discard frees the chunks of a draft. If the world has closed itself, Close frees them.
func (s *store) discard(d *store) {
	switch {
	case d == nil:
		return
	case s.guard.closed():
		d.leaveBlocks()
		return
	}
	for _, t := range d.tables {
		d.dropChunks(t, 0)
	}
	s.takeChunks(d, nil)
	s.freePending()
}

// takeChunks moves the chunks of a draft to s, which has none. place has the table of s for each table
// of the draft.
func (s *store) takeChunks(d *store, place []*table) {
	d.widen(len(s.comps))
	for i := range d.chunks {
		if c := &d.chunks[i]; c.table != 0 {
			c.table = uint32(place[c.table-1].index) + 1
		}
	}
	s.columns, s.width, s.segments = d.columns, d.width, d.segments
	s.pending, s.live, s.bytes = d.pending, d.live, d.bytes
	s.rebuildAddresses()
}

// adopt moves the draft to w. It cannot fail.
func (s *store) adopt(r *reader) {
	s.forgetTables()
	s.layoutVersion++
	s.epoch++ // cached tables may be among them
	place := make([]*table, len(r.into.tables))
	for i, t := range r.into.tables {
		place[i] = s.adoptTable(t)
	}
	for _, t := range r.targeted {
		s.nextSince = t.since
		s.indexTargets(t)
	}
	s.takeChunks(r.into, place)
	s.adoptIndex(r)
	for _, t := range s.tables { // reading counts as writing
		s.stampTable(t, t.mask)
	}
}

// adoptTable returns the table of w for one of the draft. The first table of w, which has no components, takes
// over the chunks; otherwise w takes the table itself.
func (s *store) adoptTable(t *table) *table {
	known := s.sameKey(t)
	if t.idle {
		known = nil
	}
	if known != nil {
		known.chunks, known.held = t.chunks, t.held
		known.tail, known.tailN, known.tailBase, known.tailLoc, known.limit = t.tail, t.tailN, t.tailBase, t.tailLoc, t.limit
		return known
	}
	if t.variants != nil {
		s.variants[t.mask] = t.variants // of the draft: forgetTables left none
	}
	s.enlist(t)
	if t.idle {
		t.since = 0
		return t
	}
	s.name(t)
	return t
}

// indexFor commits records up to slot last, or changes nothing.
func (x *entityIndex) indexFor(last uint32) error {
	n := recordsFor(last)
	if n <= cap(x.recs) {
		return nil
	}
	reserved := x.mem.Base() != nil // a saved state may need it
	err := x.commitRecords(n)
	if err != nil && !reserved {
		_ = x.mem.Close() // Close retries if this fails
	}
	return err
}

// recordsFor returns the number of records in use if last is the highest slot.
func recordsFor(last uint32) int {
	if last == 0 {
		return 0
	}
	return (int(last)/runRecords + 1) * runRecords
}

// adoptIndex replaces the index with what was read: slots that the text does not name have generation 0.
func (s *store) adoptIndex(r *reader) {
	x := &s.index
	x.peak = x.peakNow()
	n := recordsFor(r.named.Last())
	clear(x.recs[:cap(x.recs)][n:])
	x.recs = x.recs[:n]
	x.bump, x.live, x.lastLife, x.usable = r.next, 0, 0, x.max
	for i := range x.recs {
		gen := r.named.At(uint32(i))
		if gen == retiredGen {
			x.usable--
		}
		x.recs[i] = record{gen: gen}
	}
	if n > 0 {
		x.recs[0].gen = retiredGen
	}
	for _, t := range s.tables {
		for k := range t.used() {
			loc := t.chunks[k].number << rowBits
			for row, e := range s.entitiesFrom(loc, t.rowsIn(k)) {
				x.at(e.index).loc = loc + uint32(row)
				if x.live++; e.gen == lastGen {
					x.lastLife++
				}
			}
		}
	}
	link := &x.free
	for _, run := range r.free {
		for i := range run.Slots() {
			*link = i
			link = &x.at(i).loc
		}
	}
	*link = 0
}
