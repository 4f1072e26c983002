package ecs

import (
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// maxMap is the largest number of components that one mapper sets at once.
const maxMap = 12

// A mapper is the part of Map1 to Map12 that does not depend on types.
type mapper struct {
	_     [0]func() // mappers are not compared: the compiler would generate a function that does for each type of each Map
	w     *World
	table *table // the archetype with exactly these components; nil until it is needed
	bits  mask
	drop  mask // components that Exchange takes away, none of bits
	ids   [maxMap]ID
	n     int // of ids

	// The last ways of Add, Exchange and Remove: entities of one system mostly come from one
	// archetype, and it is then all that is looked at.
	lastAdd, lastExchange, lastRemove cachedTransition

	targets  targetSet // the targets of its relations
	relating bool      // it has relations
	epoch    uint64    // of the world when table was found

	was mask // components of the entity that add was last asked for, before; while observed
}

// A cachedTransition is where entities of one archetype go.
type cachedTransition struct {
	from  *table
	tr    *transition // nil where they stay
	epoch uint64      // of the world: tables may have been retired since
}

func (m *mapper) init(w *World, ids ...ID) {
	m.w = w
	m.n = copy(m.ids[:], ids)
	m.bits = w.store.maskOf("NewMap", ids)
	m.relating = m.bits.any(&w.store.relating)
}

// A setting has the methods that configure a mapper and return it, as a [narrowing] those of a filter. Map begins with
// it. The mapper is a field with a name, because for an embedded one the compiler would generate its methods again for
// each type of each Map.
type setting[Map any] struct{ mapper mapper }

// To sets the target of the relation with this ID for all later operations of the mapper. The target replaces an
// earlier target of the relation. To does not check that the target is alive: the operations do. To returns m. It
// panics with a [*memory.Misuse] if the ID is not a relation that m adds, or if m has targets of four other relations.
// It also panics in a parallel run and in a closed world.
func (m *setting[Map]) To(id ID, target Entity) Map {
	m.mapper.setTarget(id, target)
	return *(*Map)(unsafe.Pointer(&m))
}

// Removes sets the components that all later calls of Exchange and ExchangeAll remove. The components replace those of
// an earlier Removes; without IDs none are removed. Removes returns m. It panics with a [*memory.Misuse] if m adds one
// of the components, if an ID is passed twice, or if the world does not have an ID.
func (m *setting[Map]) Removes(ids ...ID) Map {
	m.mapper.removes(ids)
	return *(*Map)(unsafe.Pointer(&m))
}

// Has reports whether e is alive and has all components of the mapper.
func (m *setting[Map]) Has(e Entity) bool { return m.mapper.has(e) }

// Remove removes the components of the mapper from e and returns true. It ignores components that e does not have. It
// returns false without an error if e is stale or has none of the components. If the archetype without them needs a
// chunk that is not available, the error wraps [ErrLimit], or the error of the allocator, such as
// [memory.ErrOutOfMemory]. On error Remove returns false, and no entity has changed. Remove panics with a
// [*memory.Misuse] if the world is locked.
func (m *setting[Map]) Remove(e Entity) (bool, error) { return m.mapper.remove(e) }

// RemoveAll removes the components of the mapper from every entity that s matches, archetype by archetype.
// It returns the number of entities that had any of the components. Errors are those of Remove. On error
// RemoveAll returns the number of entities changed before; the archetype that failed and all later ones are
// unchanged. It panics with a [*memory.Misuse] if the world is locked, if s belongs to another world, or if
// s has a ChangedSince.
func (m *setting[Map]) RemoveAll(s Selection) (int, error) { return m.mapper.removeAll(s) }

// setTarget chooses the target of relation id, from now on.
func (m *mapper) setTarget(id ID, target Entity) {
	m.w.mustRelate("To", id)
	if !m.bits.has(id) {
		panic(&memory.Misuse{Package: "ecs", Op: "To", Reason: "relation " + m.w.store.comps[id].name + " is not what the mapper adds"})
	}
	m.targets.set("To", id, target)
	m.table = nil
}

// mustRelate panics where id is no relation of w.
func (w *World) mustRelate(op string, id ID) {
	w.guard.mustBeOpen(op)
	if c := w.store.known(op, id); !w.store.relating.has(id) {
		panic(&memory.Misuse{Package: "ecs", Op: op, Reason: "component " + c.name + " is no relation"})
	}
}

// checkTargets reports whether the targets of all relations of m are alive. It panics where one was not named.
func (m *mapper) checkTargets(op string) error {
	for id := range m.bits.and(m.w.store.relating).ids() {
		if _, ok := m.targets.find(id); !ok {
			m.w.store.refuseNoTarget(op, id)
		}
	}
	if !m.w.store.targetsAlive(&m.targets) {
		return errTarget
	}
	return nil
}

// mustRegister is Register for constructors that name several types.
func mustRegister[T any](w *World, op string) ID {
	c, err := register[T](w)
	return c.must(op, err)
}

// must returns the ID of c, or panics with err.
func (c *component) must(op string, err error) ID {
	if err != nil {
		panic(&memory.Misuse{Package: "ecs", Op: op, Reason: err.Error() + "; Register the types first to handle this"})
	}
	return c.id
}

// target returns the archetype that new entities go to.
func (m *mapper) target() (*table, error) {
	if m.relating {
		if err := m.checkTargets("NewEntity"); err != nil {
			return nil, err
		}
	}
	if m.table == nil || m.epoch != m.w.store.epoch {
		k, _ := m.w.store.keyAfter("NewEntity", nil, m.bits, &m.targets)
		t, err := m.w.store.tableFor(k)
		if err != nil {
			return nil, err
		}
		m.table, m.epoch = t, m.w.store.epoch
	}
	return m.table, nil
}

// spawn creates an entity whose cells the caller writes.
func (m *mapper) spawn() (Entity, uint32, error) {
	m.w.guard.mutable("NewEntity")
	t := m.table
	if t == nil || m.relating || m.epoch != m.w.store.epoch {
		var err error
		if t, err = m.target(); err != nil {
			return Entity{}, 0, err
		}
	}
	return m.w.store.spawn(t)
}

// A spawning is a call of Spawn of Map1 to Map12.
type spawning struct {
	m   *mapper
	cmd *Commands
	n   int // values that were given
	at  int // index of the next addition
	e   Entity
	err error
}

// spawnBy gives the commands of Spawn. The caller gives the values.
func (m *mapper) spawnBy(cmd *Commands) (s spawning) {
	if cmd.w != m.w {
		reason := "the commands are of another world"
		if m.w.guard.closed() {
			reason = closedReason
		}
		panic(&memory.Misuse{Package: "ecs", Op: "Spawn", Reason: reason})
	}
	cmd.mustAccept("Spawn")
	if m.relating {
		if s.err = m.checkTargets("Spawn"); s.err != nil {
			return s
		}
	}
	if s.e, s.err = cmd.Spawn(); s.err != nil {
		return s
	}
	s.m, s.cmd, s.at = m, cmd, len(cmd.ops)
	e := cmd.toPlaceholder(s.e)
	for _, id := range m.ids[:m.n] {
		cmd.ops = append(cmd.ops, command{e: e, kind: commandAdd, id: id})
		if target, ok := m.targets.find(id); ok {
			op := &cmd.ops[len(cmd.ops)-1]
			op.kind, op.target = commandRelate, target
		}
	}
	return s
}

// give sets the value of the next addition.
func give[T any](s *spawning, v T) {
	if s.err == nil {
		s.cmd.ops[s.at].at = put(s.cmd, s.m.w.store.comps[s.m.ids[s.n]], v)
		s.at++
		s.n++
	}
}

// created ends NewEntity after the cells are written. It inlines.
func (m *mapper) created(e Entity, loc uint32) (_ Entity, err error) {
	if m.w.observers.observed != 0 {
		e, err = m.notifyCreated(e, loc)
	}
	return e, err
}

//go:noinline
func (m *mapper) notifyCreated(e Entity, loc uint32) (Entity, error) {
	if m.w.observers.observed&(1<<createEvent) == 0 && !m.w.reportsWrites(&m.bits) {
		return e, nil
	}
	return m.w.observers.notifyCreated(e, loc, m.bits)
}

// newColumns creates n entities and calls fill for each run of rows in one chunk, unless there is none. The world is
// locked meanwhile.
func (m *mapper) newColumns(n int, none bool, fill func(loc uint32, n int)) (err error) {
	m.w.guard.mutable("NewBatch")
	t, err := m.target()
	if err != nil {
		return err
	}
	all, err := m.w.store.spawnBatch(t, n)
	if err != nil {
		return err
	}
	m.w.guard.beginFill()
	defer func() { err = m.w.endFill(all) }()
	rows := all
	for loc, n := rows.next(); n > 0 && !none; loc, n = rows.next() {
		fill(loc, n)
	}
	return nil
}

// removes says what Exchange takes away, from now on.
func (m *mapper) removes(ids []ID) {
	drop := m.w.store.maskOf("Removes", ids)
	if both := m.bits.and(drop); !both.empty() {
		panic(&memory.Misuse{Package: "ecs", Op: "Removes", Reason: "component " + names(both, m.w.store.comps)[0] + " is what the mapper adds"})
	}
	m.drop, m.lastExchange = drop, cachedTransition{}
}

// add moves e to where it has all components of m and none of those that swap takes, and returns
// where. The caller writes the cells, and calls written.
func (m *mapper) add(op string, e Entity, swap bool) (uint32, error) {
	w := m.w
	w.guard.mutable(op)
	r := w.store.index.find(e)
	if r == nil {
		return 0, ErrStale
	}
	t := w.store.tableAt(r.loc)
	last := &m.lastAdd
	if swap {
		last = &m.lastExchange
	}
	if t != last.from || last.epoch != w.store.epoch || m.relating {
		if m.relating {
			if err := m.checkTargets(op); err != nil {
				return 0, err
			}
		}
		if err := m.findTransition(op, last, t, t.mask.without(m.removed(swap)).with(m.bits), &m.targets); err != nil {
			return 0, err
		}
	}
	tr := last.tr // an observer may call Removes, which forgets it
	if w.observers.observed != 0 {
		m.was = t.mask
		if swap && tr != nil {
			if err := w.observers.notifyLoss(op, r.loc, tr.to); err != nil {
				return 0, err
			}
		}
	}
	if tr == nil {
		return r.loc, nil
	}
	return w.store.relocate(e.index, r, tr)
}

// written ends add after the caller has written the cells. It inlines.
func (m *mapper) written(e Entity) error {
	if m.w.observers.observed != 0 || m.w.store.pending != 0 {
		return m.notifyWritten(e)
	}
	return nil
}

// notifyWritten calls the observers and frees pending blocks.
//
//go:noinline
func (m *mapper) notifyWritten(e Entity) (err error) {
	if m.w.observers.observed != 0 && m.w.reportsWrites(&m.bits) {
		err = m.w.observers.notifyAdded(e, m.bits, m.was)
	}
	m.w.store.freePending()
	return err
}

// removed returns the components that an operation takes away.
func (m *mapper) removed(swap bool) mask {
	if swap {
		return m.drop
	}
	return mask{}
}

// findTransition finds the way from t to the table with the given components and targets.
//
//go:noinline
func (m *mapper) findTransition(op string, last *cachedTransition, t *table, after mask, to *targetSet) error {
	w := m.w
	k, retargets := w.store.keyAfter(op, t, after, to)
	if k.mask == t.mask && !retargets {
		*last = cachedTransition{from: t, epoch: w.store.epoch}
		return nil
	}
	tr, err := w.store.transitionTo(t, k, retargets)
	if err == nil {
		*last = cachedTransition{from: t, tr: tr, epoch: w.store.epoch}
	}
	return err
}

// has is Has of Map1 to Map12.
func (m *mapper) has(e Entity) bool {
	r := m.w.store.index.find(e)
	return r != nil && m.w.store.tableAt(r.loc).mask.all(&m.bits)
}

// remove is Remove of Map1 to Map12.
func (m *mapper) remove(e Entity) (bool, error) {
	w := m.w
	w.guard.mutable("Remove")
	r := w.store.index.find(e)
	if r == nil {
		return false, nil
	}
	if t := w.store.tableAt(r.loc); t != m.lastRemove.from || m.lastRemove.epoch != w.store.epoch {
		if err := m.findTransition("Remove", &m.lastRemove, t, t.mask.without(m.bits), nil); err != nil {
			return false, err
		}
	}
	if m.lastRemove.tr == nil {
		return false, nil
	}
	if err := w.removeComponents("Remove", e, r, m.lastRemove.tr); err != nil {
		return false, err
	}
	return true, nil
}

// removeAll is RemoveAll of Map1 to Map12.
func (m *mapper) removeAll(s Selection) (int, error) {
	m.w.guard.mutable("RemoveAll")
	f := s.selection()
	f.checkWorld(m.w, "RemoveAll")
	total := 0
	for _, t := range f.matches {
		if !t.mask.any(&m.bits) || t.rows() == 0 {
			continue
		}
		k, _ := m.w.store.keyAfter("RemoveAll", t, t.mask.without(m.bits), nil)
		moved, err := m.w.moveAll("RemoveAll", t, k, false)
		if err != nil {
			return total, err
		}
		total += moved.left
		m.w.store.freePending()
	}
	return total, nil
}

// addAll gives every entity that s matches the components of m, takes those in drop, and calls
// write with each run of rows. Archetypes that stay as they are come first: then no row is written
// twice, though rows may move into an archetype that s matches as well.
func (m *mapper) addAll(op string, s Selection, swap bool, write func(loc uint32, n int)) (int, error) {
	w := m.w
	w.guard.mutable(op)
	f := s.selection()
	f.checkWorld(w, op)
	if m.relating {
		if err := m.checkTargets(op); err != nil {
			return 0, err
		}
	}
	// An observer may narrow the filter and configure the mapper: that is for the next call.
	matches, drop, to := f.matches, m.removed(swap), m.targets
	total := 0
	for i := range matches {
		t := matches[i]
		if t.rows() == 0 {
			continue
		}
		if k, retargets := w.store.keyAfter(op, t, t.mask.without(drop).with(m.bits), &to); retargets || k.mask != t.mask {
			continue
		}
		for k := range t.used() {
			write(t.chunks[k].number<<rowBits, t.rowsIn(k))
		}
		total += t.rows()
		if w.observers.observed != 0 {
			if err := w.observers.notifyWritten(t, op, m.bits); err != nil {
				return total, err
			}
		}
	}
	for i := range matches {
		t := matches[i]
		if t.rows() == 0 {
			continue
		}
		k, retargets := w.store.keyAfter(op, t, t.mask.without(drop).with(m.bits), &to)
		if !retargets && k.mask == t.mask {
			continue
		}
		moved, err := w.moveAll(op, t, k, retargets)
		if err != nil {
			return total, err
		}
		total += moved.left
		all, was := moved, t.mask
		for loc, n := moved.next(); n > 0; loc, n = moved.next() {
			write(loc, n)
		}
		if w.observers.observed != 0 {
			if err := w.observers.notifyMoved(op, all, m.bits, was); err != nil {
				return total, err
			}
		}
		w.store.freePending()
	}
	return total, nil
}

// cellsOf returns n components from loc on, which are all in one chunk.
func cellsOf[T any](s *store, loc uint32, id ID, n int) []T {
	return unsafe.Slice((*T)(s.cell(loc, id, unsafe.Sizeof(*new(T)))), n)
}

func fillCells[T any](s *store, loc uint32, id ID, n int, v T) {
	cells := cellsOf[T](s, loc, id, n)
	for i := range cells {
		cells[i] = v
	}
}
