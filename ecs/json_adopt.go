package ecs

// newDraft returns a world that ReadJSON fills before w adopts it. It has the component types and the
// allocator of w, and no index.
func (w *World) newDraft() *World {
	s := &World{
		directory: newDirectory(w.mem, w.cfg),
		byKey:     make(map[key]*table),
		related:   related{relating: w.relating, variants: make(map[mask]*variants)},
		comps:     w.comps,
		cfg:       w.cfg,
	}
	s.draft = true
	s.widen(len(s.comps))
	root := w.tables[0].sibling()
	s.enlist(root)
	s.byKey[root.key()] = root
	return s
}

// discard frees the chunks of a draft.
func (w *World) discard(s *World) {
	if s == nil {
		return
	}
	if s.locked >= closedMark && w.locked < closedMark { // reported by the allocator
		w.allocatorClosed()
	}
	if w.locked >= closedMark {
		return
	}
	for _, t := range s.tables {
		s.dropChunks(t, 0)
	}
	w.takeChunks(s, nil)
	w.freePending()
}

// takeChunks moves the chunks of a draft to w, which has none. place has the table of w for each
// table of the draft.
func (w *World) takeChunks(s *World, place []*table) {
	s.widen(len(w.comps))
	for i := range s.chunks {
		if c := &s.chunks[i]; c.table != 0 {
			c.table = uint32(place[c.table-1].index) + 1
		}
	}
	w.columns, w.width, w.segments = s.columns, s.width, s.segments
	w.pending, w.live, w.bytes = s.pending, s.live, s.bytes
	w.rebuildAddresses()
}

// adopt moves the draft to w. It cannot fail.
func (w *World) adopt(r *jsonReader) {
	place := make([]*table, len(r.into.tables))
	for i, t := range r.into.tables {
		place[i] = w.adoptTable(t)
	}
	base := w.nextSince
	for _, t := range r.targeted {
		if w.byKey[t.key()] == t {
			w.nextSince = base + t.since
			w.indexTargets(t)
		}
	}
	w.takeChunks(r.into, place)
	w.adoptIndex(r)
	if w.observed&tracking != 0 { // reading counts as writing
		for _, t := range w.tables {
			w.stampTable(t, t.mask)
		}
	}
}

// adoptTable returns the table of w for one of the draft. A table of w with the same components and
// targets takes over the chunks; otherwise w takes the table itself. If it is idle and w has its kin, it
// returns nil.
func (w *World) adoptTable(t *table) *table {
	known := w.byKey[t.key()]
	if t.idle {
		known = nil
	}
	if known != nil {
		known.chunks, known.held = t.chunks, t.held
		known.tail, known.tailN, known.tailBase, known.tailLoc, known.limit = t.tail, t.tailN, t.tailBase, t.tailLoc, t.limit
		return known
	}
	if t.variants != nil {
		switch f := w.variants[t.mask]; {
		case f == nil:
			w.variants[t.mask] = t.variants
		case f != t.variants && t.idle:
			return nil
		case f != t.variants:
			t.variants = f
			f.tables = append(f.tables, t)
			f.sweepIn--
		}
	}
	w.enlist(t)
	if t.idle {
		t.since = 0
		return t
	}
	w.byKey[t.key()] = t
	return t
}

// indexFor commits records up to slot last, or changes nothing.
func (w *World) indexFor(last uint32) error {
	n := recordsFor(last)
	if n <= cap(w.ents.recs) {
		return nil
	}
	err := w.commitRecords(n)
	if err != nil && cap(w.ents.recs) == 0 {
		_ = w.ents.mem.Close() // Close retries if this fails
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
func (w *World) adoptIndex(r *jsonReader) {
	x := &w.ents
	x.peak = x.peakNow()
	x.recs = x.recs[:cap(x.recs)]
	clear(x.recs)
	x.recs = x.recs[:recordsFor(r.named.Last())]
	x.bump, x.live, x.lastLife, x.usable = r.next, 0, 0, x.max
	for i := range x.recs {
		switch gen := r.named.At(uint32(i)); {
		case i == 0:
			x.recs[i].gen = retiredGen
		case gen == retiredGen:
			x.usable--
			fallthrough
		default:
			x.recs[i].gen = gen
		}
	}
	for _, t := range w.tables {
		for k := range t.used() {
			loc := t.chunks[k].number << rowBits
			for row, e := range w.entitiesFrom(loc, t.rowsIn(k)) {
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
