package ecs

// newDraft returns a world with the component types of w, for what is read before w has it. It has
// no index, and its chunks are of the allocator of w.
func (w *World) newDraft() *World {
	s := &World{
		directory: newDirectory(w.mem, w.cfg),
		byKey:     make(map[key]*table),
		related:   related{relating: w.relating, kins: make(map[mask]*kin)},
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

// discard gives back what a draft holds.
func (w *World) discard(s *World) {
	if s == nil {
		return
	}
	if s.open >= closedMark && w.open < closedMark { // the allocator said so
		w.lost()
	}
	if w.open >= closedMark {
		return
	}
	for _, t := range s.tables {
		s.dropChunks(t, 0)
	}
	w.takeChunks(s, nil)
	w.settle()
}

// takeChunks makes the chunks of a draft those of w, which has none. The tables of the draft are in
// w what place says.
func (w *World) takeChunks(s *World, place []*table) {
	s.widen(len(w.comps))
	for i := range s.chunks {
		if c := &s.chunks[i]; c.table != 0 {
			c.table = uint32(place[c.table-1].index) + 1
		}
	}
	w.columns, w.width, w.segments = s.columns, s.width, s.segments
	w.waiting, w.live, w.bytes = s.waiting, s.live, s.bytes
	w.makeLanes()
}

// adopt makes w what was read. It cannot fail.
func (w *World) adopt(r *jsonReader) {
	place := make([]*table, len(r.into.tables))
	for i, t := range r.into.tables {
		place[i] = w.adoptTable(t)
	}
	base := w.targeted
	for _, t := range r.aimed {
		if w.byKey[t.key()] == t {
			w.targeted = base + t.since
			w.aim(t)
		}
	}
	w.takeChunks(r.into, place)
	w.adoptIndex(r)
	if w.observed&tracking != 0 { // what was read is written now
		for _, t := range w.tables {
			w.noteRows(t, t.mask)
		}
	}
}

// adoptTable returns what a table of a draft is in w: the one with the same components and targets,
// to which its chunks go, or itself; nil where it is idle and w knows its kin.
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
	if t.kin != nil {
		switch f := w.kins[t.mask]; {
		case f == nil:
			w.kins[t.mask] = t.kin
		case f != t.kin && t.idle:
			return nil
		case f != t.kin:
			t.kin = f
			f.tables = append(f.tables, t)
			f.credit--
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

// indexFor has records up to slot last at hand, or changes nothing.
func (w *World) indexFor(last uint32) error {
	n := recordsFor(last)
	if n <= cap(w.ents.recs) {
		return nil
	}
	err := w.commitRecords(n)
	if err != nil && cap(w.ents.recs) == 0 {
		_ = w.ents.mem.Close() // what cannot be given back is for Close to try again
	}
	return err
}

// recordsFor returns how many records are in use where slot last is.
func recordsFor(last uint32) int {
	if last == 0 {
		return 0
	}
	return (int(last)/runRecords + 1) * runRecords
}

// adoptIndex makes the index what was read: no slot has a generation that the text does not name.
func (w *World) adoptIndex(r *jsonReader) {
	x := &w.ents
	x.peak = x.peakNow()
	x.recs = x.recs[:cap(x.recs)]
	clear(x.recs)
	x.recs = x.recs[:recordsFor(r.named.last)]
	x.bump, x.live, x.lastLife, x.room = r.next, 0, 0, x.max
	for i := range x.recs {
		switch gen := r.named.at(uint32(i)); {
		case i == 0:
			x.recs[i].gen = retiredGen
		case gen == retiredGen:
			x.room--
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
		for i := range run.slots() {
			*link = i
			link = &x.at(i).loc
		}
	}
	*link = 0
}
