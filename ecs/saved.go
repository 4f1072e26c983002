package ecs

import (
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/layout"
	"github.com/strata-go/strata/memory/save"
)

// CanSave returns nil if the world can be a part of a save.Set. If a registered component contains Go pointers, the
// error wraps a *memory.PointerError. If the allocator is not a memory.Baser, the error wraps memory.ErrConfig. A
// save.Set calls CanSave.
func (w *World) CanSave() error {
	for _, c := range w.store.comps {
		if c.pointerful {
			return fmt.Errorf("ecs: component %s: %w", c.name, memory.PointerFreeType(c.typ))
		}
	}
	if _, ok := w.store.mem.(memory.Baser); !ok {
		return fmt.Errorf("ecs: the allocator %T has no base address: %w", w.store.mem, errNotSaved)
	}
	return nil
}

var errNotSaved = fmt.Errorf("ecs: it is not saved: %w", memory.ErrConfig)

// SaveState saves all entities with their components, the order of rows, archetypes and vacant slots, and the tick.
// Resources, observers, filters and Commands.Skipped are not saved. Of the observers, loading from memory calls only
// those of [World.OnLoad]. Loading drops archetypes that were created after the save, because the order of archetypes
// is the order of iteration.
//
// Before the world, add its allocator to the Set with [save.Metadata]. The metadata is enough, because the world saves
// its rows itself. If the world has a chunk and the Set lacks the allocator, saving to a slot of save.Set.NewSlot and
// loading fail. The error wraps memory.ErrConfig. If a registered component contains a type of package container, add
// the allocator of its elements with its contents: with metadata alone, the error is the same. For files use another
// Set, with the world and without its allocator.
//
// The error wraps save.ErrBusy in three cases: the world is locked, a command of [World.Commands] waits for Apply, or
// blocks wait to be freed after a panic. Loading from memory stops loops over All and Chunks, as a structural change
// does. Component types that were registered after the save stay, and no entity has them. If [World.Track] was called
// after the save for a component of an archetype of the state, the error of loading wraps save.ErrLayout and names the
// component. If the world is closed, the error wraps memory.ErrClosed. If the method Base of the allocator (see
// memory.Baser) returns nil, the error wraps memory.ErrConfig. If loading must commit memory for the index of entities
// and Config.Pages fails, the error wraps that of Config.Pages. The other errors are those of [World.CanSave].
//
// In a file the world has the form of [World.WriteBinary], without ticks. Loading a file removes the present entities,
// and reads the file as [World.ReadBinary] does. It calls observers for the removed and for the loaded entities.
func (w *World) SaveState(c *save.Coder) {
	s := &w.store
	switch {
	case w.guard.closed():
		c.Fail(memory.ErrClosed)
		return
	case w.guard.locked != 0:
		c.Busy("the world is locked, by a query, a batch, an observer or a parallel run")
		return
	case w.commands != nil && len(w.commands.ops) > 0 && !(c.Portable() && c.Loading()): // those of observers of the load; Reset drops them
		c.Busy(fmt.Sprintf("%d commands wait; call Apply or Discard", len(w.commands.ops)))
		return
	case s.pending != 0:
		c.Busy("blocks wait to be freed")
		return
	}
	if c.Portable() {
		w.saveFile(c)
		return
	}
	n := c.Count(len(s.comps))
	if n > len(s.comps) {
		c.Differs("%d component types were registered, %d are", n, len(s.comps))
	}
	if c.Failed() {
		return
	}
	if err := w.CanSave(); err != nil {
		c.Fail(err)
		return
	}
	if boxed := s.boxedBelow(n); boxed != nil {
		c.Elements(boxed)
	}
	save.Num(c, &s.tick)
	save.Num(c, &s.clamped)
	c.Enter("index")
	s.index.saveState(c)
	c.Leave()
	if !c.Failed() {
		s.saveChunks(c)
	}
	if !c.Failed() {
		s.saveTables(c, n)
	}
	if c.Loading() {
		s.layoutVersion++
		s.epoch++
		w.guard.stopAll(nil)
		_ = w.observers.notifyLoad()
	}
}

// boxedBelow returns the newest of the first n component types that has a container, or nil. Types that were registered
// after a save have no rows in it.
func (r *registry) boxedBelow(n int) reflect.Type {
	if n == len(r.comps) || r.boxed == nil {
		return r.boxed
	}
	for i := n - 1; i >= 0; i-- {
		if t := r.comps[i].typ; t != nil && layout.HasContainer(t) {
			return t
		}
	}
	return nil
}

// saveState visits the records up to the last that was ever used.
func (x *entityIndex) saveState(c *save.Coder) {
	c.Same("Config.MaxEntities", uint64(x.max))
	known := 0
	if c.Saving() { // otherwise the end of the records may be decommitted
		known = x.known()
	}
	// The reservation of an index without a record stays at a load, but is no part of what the world is. After a Reset
	// there are records: the generations of idle slots count.
	room := cap(x.recs)
	spare := c.Canonical() && len(x.recs) == 0 && known == 0
	if spare {
		room = 0
	}
	if c.Flag(x.mem.Base() != nil && !spare) {
		if x.mem.Base() == nil && !c.Failed() {
			c.Differs("the index had entities")
			return
		}
		x.mem.SaveState(c)
	}
	n, size := int(c.Word(uint64(len(x.recs)))), int(c.Word(uint64(room)))
	known = c.Count(known)
	if c.Failed() {
		return
	}
	was := cap(x.recs)
	if n > size || known > size || !c.Scanning() && uintptr(size)*recordBytes > max(x.mem.Fitted(), uintptr(was)*recordBytes) {
		c.Differs("the index had %d records of %d", n, size)
		return
	}
	if c.Loading() && size > 0 {
		x.recs = unsafe.Slice((*record)(x.mem.Base()), size)[:n]
		clear(x.recs[min(known, n):n])
		clear(x.recs[n:size][max(known-n, 0):])
	}
	for _, v := range [...]*uint32{&x.free, &x.bump, &x.live, &x.peak, &x.usable, &x.lastLife} {
		save.Num(c, v)
	}
	c.Rows("record", nil, unsafe.Pointer(unsafe.SliceData(x.recs)), recordBytes, known)
	if !c.Loading() {
		return
	}
	if size == 0 { // the index grows again as that of a new world
		_ = x.mem.Trim(0)
		x.recs = nil
	}
	if end := min(was, int(x.mem.Committed()/recordBytes)); end > size { // committed in whole steps, or Trim was refused
		clear(unsafe.Slice((*record)(x.mem.Base()), end)[size:])
	}
}

// known returns how many records are not zero, up to the last one.
func (x *entityIndex) known() int {
	all := x.recs[:cap(x.recs)]
	n := len(all)
	for n >= 64 && *(*[64]record)(all[n-64:]) == ([64]record{}) { // most are zero
		n -= 64
	}
	for n > 0 && all[n-1] == (record{}) {
		n--
	}
	return n
}

// saveChunks visits the directory. The addresses of columns follow from it: see saveTables.
func (s *store) saveChunks(c *save.Coder) {
	base := s.mem.(memory.Baser).Base()
	if base == nil {
		c.Fail(fmt.Errorf("ecs: the allocator has no base address: %w", errNotSaved))
		return
	}
	n := c.Count(len(s.chunks))
	if c.Loading() {
		s.resizeDirectory(n)
	}
	for i := range n {
		var k chunk
		if i < len(s.chunks) {
			k = s.chunks[i]
		}
		k.base = c.Pointer(k.base, base)
		save.Num(c, &k.table)
		save.Num(c, &k.pos)
		save.Num(c, &k.class)
		save.Num(c, &k.run)
		if c.Loading() {
			s.chunks[i] = k
		}
	}
	save.Var(c, &s.vacant)
	save.Num(c, &s.live)
	save.Num(c, &s.bytes)
	save.Var(c, &s.spareList)
}

// resizeDirectory makes space for n segments, without a column.
func (s *store) resizeDirectory(n int) {
	s.chunks = resized(s.chunks, n)
	s.columns = resized(s.columns, n*int(s.width))
	for _, k := range s.comps {
		k.addresses = resized(k.addresses, n)
	}
}

// resized returns a slice of n zeros, in the array of v if it is long enough.
func resized[T any](v []T, n int) []T {
	if cap(v) < n {
		return make([]T, n)
	}
	clear(v[:cap(v)])
	return v[:n]
}

// saveTables visits the tables and their rows, in the order of the tables, which is the order of iteration. Tables that
// came about after the state was saved are dropped, and with them all rows of types other than the first comps.
func (s *store) saveTables(c *save.Coder, comps int) {
	n := c.Count(len(s.tables))
	if c.Loading() {
		s.unnameVariants()
	}
	for i := range n {
		if c.Failed() {
			return
		}
		c.EnterAt("table", i)
		if t := s.savedTable(c, i, comps); !c.Failed() {
			s.saveTable(c, t)
		}
		c.Leave()
	}
	if c.Loading() {
		s.cutTables(n)
	}
	if relating := s.relating.lowest(comps); !relating.empty() {
		c.Enter("relations")
		s.saveRelations(c, n, relating)
		c.Leave()
	} else if c.Loading() {
		s.forgetTargets()
	}
}

// savedTable visits the components of table i. If the world has others there, loading makes the rest of the tables again.
// In the passes before, savedTable returns a table that only describes rows. The state has the first comps types.
func (s *store) savedTable(c *save.Coder, i, comps int) *table {
	var t *table
	var m mask
	if i < len(s.tables) {
		t = s.tables[i]
		m = t.mask
	}
	for k := range m {
		m[k] = c.Word(m[k])
	}
	if !c.Failed() && !m.below(comps) {
		c.Differs("archetype %v of %d component types", m, comps)
		return nil
	}
	if comps < len(s.comps) && !c.Failed() {
		for id := range m.and(s.tracked).ids() {
			if k := s.comps[id]; int(k.ticks.id) >= comps {
				c.Differs("component %s was not tracked", k.name)
				return nil
			}
		}
	}
	if c.Failed() || t != nil && t.mask == m {
		return t
	}
	made, err := newTable(m, s.comps, &s.directory, m.any(&s.relating))
	if err != nil {
		c.Fail(err)
		return nil
	}
	if c.Loading() {
		s.cutTables(i)
		s.addLoaded(made)
	}
	return made
}

// addLoaded makes t the last table. A table with targets gets its name later.
func (s *store) addLoaded(t *table) {
	s.enlist(t)
	if !t.mask.any(&s.relating) {
		s.name(t)
		return
	}
	f := s.variants[t.mask]
	if f == nil {
		f = newVariants(t.mask.and(s.relating))
		s.variants[t.mask] = f
	}
	t.variants = f
	f.tables = append(f.tables, t)
}

// cutTables drops all tables but the first n. Their rows belong to a state that is replaced.
func (s *store) cutTables(n int) {
	dropped := len(s.tables) - n
	if dropped <= 0 {
		return
	}
	for _, t := range s.tables[n:] {
		t.gen++ // transitions to it are looked up again
		f := t.variants
		if f == nil {
			delete(s.byKey, t.key())
		} else if last := len(f.tables) - 1; last >= 0 && f.tables[last].index >= n { // not cut yet
			i, _ := slices.BinarySearchFunc(f.tables, n, func(t *table, n int) int { return t.index - n })
			clear(f.tables[i:])
			if f.tables = f.tables[:i]; i == 0 {
				delete(s.variants, t.mask)
			}
		}
	}
	clear(s.tables[n:])
	s.tables = s.tables[:n]
	s.skew += dropped + 1
	s.laid = n + s.skew
}

func (s *store) saveTable(c *save.Coder, t *table) {
	n, tail, tailN := c.Count(len(t.chunks)), int(c.Word(uint64(t.tail))), uint32(c.Word(uint64(t.tailN)))
	save.Var(c, &t.spareLink)
	if t.mask.any(&s.relating) {
		t.saveTargets(c)
	}
	if c.Loading() {
		t.chunks = resized(t.chunks, n)
	}
	for i := range n {
		var k tableChunk
		if i < len(t.chunks) {
			k = t.chunks[i]
		}
		save.Num(c, &k.number)
		save.Num(c, &k.first)
		k.cap = uint32(c.Word(uint64(k.cap)))
		if c.Failed() {
			return
		}
		rows := k.cap
		if i == tail {
			rows = tailN
		}
		if i > tail || rows > k.cap {
			rows = 0
		}
		if c.Loading() {
			t.chunks[i] = k
			s.setColumns(t, k.number, s.chunks[k.number].base)
		}
		s.saveRows(c, t, &k, int(rows))
	}
	if c.Loading() {
		s.setTail(t, tail, tailN)
	}
}

var entityType = reflect.TypeFor[Entity]()

// saveRows visits the first n rows of a chunk, column by column.
func (s *store) saveRows(c *save.Coder, t *table, k *tableChunk, n int) {
	var base unsafe.Pointer
	if n > 0 && (c.Saving() || c.Loading()) {
		base = s.chunks[k.number].base
	}
	c.Rows(save.Entity, entityType, base, entityBytes, n)
	end := uintptr(k.cap) * entityBytes
	for i := range t.columns {
		col := &t.columns[i]
		var off uintptr
		off, end = col.place(end, uintptr(k.cap))
		if col.size == 0 {
			continue
		}
		p := base
		if p != nil {
			p = unsafe.Add(base, off)
		}
		c.Rows(col.comp.name, col.comp.typ, p, uintptr(col.size), n)
	}
}
