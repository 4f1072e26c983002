package ecs

import (
	"slices"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

type eventKind uint8

const (
	createEvent eventKind = iota
	destroyEvent
	addEvent // from here on of a component
	removeEvent
	setEvent
	eventKinds
)

// tracking is the bit of observed behind those of event kinds: something is tracked, see ticks.
const tracking = 1 << eventKinds

// wholeEntity is the mask of an event of no component.
var wholeEntity = mask{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}

// An Observer calls a function whenever the world does what it is told to look for, until Stop.
//
// Creating and adding are told when they are done and all values are written, removing before it
// begins, when all values are still there. A component is gained by creation as by Add, and lost
// by removal of its entity as by Remove. An addition to an entity that has the component is told
// as a write of it. Batches tell archetype by archetype, chunk by chunk, one kind of event after
// the other: creation before addition, removal of components before that of the entity.
// Observers of the same are called in order of registration.
//
// The world is locked meanwhile, as under a query: an observer reads and writes components, the
// one that it is told of included, queries, and gives [World.Commands], for which it may Spawn.
// Those that it gives while Apply is under way are carried out by the same Apply. Every other
// structural change panics with a [*memory.Misuse]. Set is told even within an observer: one
// that sets what it observes calls itself without end.
//
// Where memory is missing for a change, nobody is told of it. One exception: a removal of
// components fails after it was told where the observer itself has spawned entities into the
// memory that was left.
//
// A panic of an observer goes to who made the change. What was to be told when it was done is
// done; what was to be told before is not, in a batch from that archetype on; the observers behind
// it are not called. The world is not locked and Check says nil. An observer that leaves a query
// open makes the change that it was told of panic.
//
// A write through a pointer or a column is nobody's event, neither is Close, nor an allocator that
// ends first: call Reset before Close, which tells of all entities. Where nobody observes, a
// change costs a test of one byte more. With observers an operation on one entity looks at those of
// its events, and a batch calls per entity; telling allocates nothing.
type Observer struct {
	noCopy noCopy
	w      *World // nil once stopped
	call   func(e Entity, p unsafe.Pointer)
	size   uintptr
	id     ID // of its component, where kind is of one
	kind   eventKind
}

// observers are those of a world.
//
// Invariants, verified in this order by check:
//
//	(1) lists[k] holds observers of kind k, in order of registration, none twice or stopped, of
//	    a component of the world where k is of one
//	(2) watched[k] has the components of those in lists[k], or is wholeEntity
//	(3) observed has bit k where lists[k] is not empty, tracking, and nothing else
type observers struct {
	observed uint8 // all that fast paths look at
	watched  [eventKinds]mask
	lists    [eventKinds][]*Observer // never changed in place: one of them may be under way
	store    *store
}

// OnCreate has f called with every entity that was created, its components written. It panics
// with a [*memory.Misuse] where f is nil, the world is closed, or its allocator is being asked, as all that
// make observers.
func (w *World) OnCreate(f func(e Entity)) *Observer {
	return w.observeEntities("OnCreate", createEvent, f)
}

// OnRemove has f called with every entity that is about to be removed, by Reset too.
func (w *World) OnRemove(f func(e Entity)) *Observer {
	return w.observeEntities("OnRemove", destroyEvent, f)
}

// OnAdd has f called with every entity that gained the component, in whatever way, and its value.
func (c Component[T]) OnAdd(f func(e Entity, v *T)) *Observer {
	return observe(c, "OnAdd", addEvent, f)
}

// OnRemove has f called with every entity that is about to lose the component, in whatever way, and
// its value.
func (c Component[T]) OnRemove(f func(e Entity, v *T)) *Observer {
	return observe(c, "OnRemove", removeEvent, f)
}

// OnSet has f called with every entity whose component was written by Set, or by an addition that
// found it there, and its new value.
func (c Component[T]) OnSet(f func(e Entity, v *T)) *Observer {
	return observe(c, "OnSet", setEvent, f)
}

func (w *World) observeEntities(op string, kind eventKind, f func(Entity)) *Observer {
	return w.observe(op, f == nil, &Observer{kind: kind, call: func(e Entity, _ unsafe.Pointer) { f(e) }})
}

//go:noinline
func observe[T any](c Component[T], op string, kind eventKind, f func(Entity, *T)) *Observer {
	return c.w.observe(op, f == nil, &Observer{
		kind: kind, id: c.ID(), size: unsafe.Sizeof(*new(T)),
		call: func(e Entity, p unsafe.Pointer) { f(e, (*T)(p)) },
	})
}

func (w *World) observe(op string, none bool, o *Observer) *Observer {
	w.guard.mustBeOpen(op)
	if w.guard.allocating { // what is half done has not noted what it would be told
		w.guard.refuse(op)
	}
	if none {
		panic(&memory.Misuse{Package: "ecs", Op: op, Reason: "an observer needs a function"})
	}
	o.w = w
	w.observers.setObservers(o.kind, append(slices.Clip(w.observers.lists[o.kind]), o))
	return o
}

// Stop ends the observer: it is not called any more, also not for what is being told. Stopping
// again does nothing.
func (o *Observer) Stop() {
	if w := o.w; w != nil {
		w.guard.notInParallel("Stop")
		o.w = nil
		left := slices.DeleteFunc(slices.Clone(w.observers.lists[o.kind]), func(other *Observer) bool { return other == o })
		w.observers.setObservers(o.kind, left)
	}
}

func (s *observers) setObservers(k eventKind, list []*Observer) {
	s.lists[k], s.watched[k] = list, mask{}
	s.observed &^= 1 << k
	for _, o := range list {
		s.watched[k] = s.watched[k].with(o.mask())
		s.observed |= 1 << k
	}
}

// mask returns the components that the observer is told of.
func (o *Observer) mask() mask {
	if o.kind < addEvent {
		return wholeEntity
	}
	return maskBit(o.id)
}

// notify calls the observers of what happened to the components in m of n entities from loc on.
func (o *observers) notify(k eventKind, loc uint32, n int, m mask) {
	s, g := o.store, o.store.guard
	if !o.watched[k].any(&m) || g.closed() {
		return
	}
	g.locked++
	g.notifying++
	defer g.endNotify()
	for row := range uint32(n) {
		for _, observer := range o.lists[k] {
			if observer.w == nil || k >= addEvent && !m.has(observer.id) {
				continue
			}
			var p unsafe.Pointer
			if k >= addEvent {
				p = s.cell(loc+row, observer.id, observer.size)
			}
			observer.call(*s.entity(loc + row), p)
			if g.closed() { // the allocator has closed the world
				return
			}
		}
	}
}

func (g *guard) endNotify() {
	g.locked--
	g.notifying--
}

// What tells of writes notes them before: those who are told find the stamps as they are.

// notifyCreated tells that n entities with the components in m were created from loc on.
//
//go:noinline
func (o *observers) notifyCreated(loc uint32, n int, m mask) {
	o.store.stampRows(loc, n, m)
	o.notify(createEvent, loc, n, wholeEntity)
	o.notify(addEvent, loc, n, m)
}

// notifyBatch is tellNew for the rows of a batch.
func (o *observers) notifyBatch(s span) {
	if o.observed == 0 || s.left == 0 {
		return
	}
	o.store.stampSpan(s, s.t.mask)
	for loc, n := s.next(); n > 0; loc, n = s.next() {
		o.notify(createEvent, loc, n, wholeEntity)
		o.notify(addEvent, loc, n, s.t.mask)
	}
}

// notifyAdded tells that e was given the components in m, of which it had those in was.
//
//go:noinline
func (o *observers) notifyAdded(e Entity, m, was mask) {
	if r := o.store.index.find(e); r != nil {
		loc := r.loc
		o.store.stampRows(loc, 1, m)
		o.notify(addEvent, loc, 1, m.without(was))
		o.notify(setEvent, loc, 1, m.and(was))
	}
}

// notifyOne is tellAdded for one component.
//
//go:noinline
func (o *observers) notifyOne(e Entity, id ID, had bool) {
	if r := o.store.index.find(e); r != nil {
		k := addEvent
		if had {
			k = setEvent
		}
		o.store.stampRows(r.loc, 1, maskBit(id))
		o.notify(k, r.loc, 1, maskBit(id))
	}
}

// notifyMoved is tellAdded for the rows of a batch, which had the components in was before.
func (o *observers) notifyMoved(op string, s span, m, was mask) {
	o.store.stampSpan(s, m)
	for loc, n := s.next(); n > 0; loc, n = s.next() {
		o.notify(addEvent, loc, n, m.without(was))
		o.notify(setEvent, loc, n, m.and(was))
	}
	o.store.guard.mutable(op)
}

// notifyRemoval tells that the entity at loc is about to be removed. It panics where the world may not
// be changed after that.
//
//go:noinline
func (o *observers) notifyRemoval(loc uint32) {
	o.notify(removeEvent, loc, 1, o.store.tableAt(loc).mask)
	o.notify(destroyEvent, loc, 1, wholeEntity)
	o.store.guard.mutable("Remove")
}

// notifyRemovals is tellEnd for all entities of t. An entity without components that an observer spawns
// meanwhile goes untold, where t is the archetype of such.
func (o *observers) notifyRemovals(t *table, op string) {
	o.notifyRows(removeEvent, t, t.mask)
	o.notifyRows(destroyEvent, t, wholeEntity)
	o.store.guard.mutable(op)
}

// notifyWritten tells that the components in m were written in all rows of t.
func (o *observers) notifyWritten(t *table, op string, m mask) {
	o.store.stampTable(t, m)
	o.notifyRows(setEvent, t, m)
	o.store.guard.mutable(op)
}

// notifyRows tells what happens to all rows of t.
func (o *observers) notifyRows(k eventKind, t *table, m mask) {
	if !o.watched[k].any(&m) {
		return
	}
	for i, used := 0, t.used(); i < used && i < len(t.chunks); i++ {
		o.notify(k, t.chunks[i].number<<rowBits, t.rowsIn(i), m)
	}
}

// notifyLoss tells that the entity at loc is about to lose components on its way to a table, in
// which there is room for it then.
//
//go:noinline
func (o *observers) notifyLoss(op string, loc uint32, to *table) error {
	lost := o.store.tableAt(loc).mask.without(to.mask)
	if !o.watched[removeEvent].any(&lost) {
		return nil
	}
	if to.tailN == to.limit && to.used() == len(to.chunks) {
		if err := o.store.addChunk(to); err != nil {
			return err
		}
		if to.tailN == 0 {
			o.store.setTail(to, 0, 0)
		}
		o.store.listSpare(to)
	}
	o.notify(removeEvent, loc, 1, lost)
	o.store.guard.mutable(op)
	return nil
}

// notifyLosses is tellLoss for all rows of src, when room for them was made in to. It gives that
// room back where an observer panics.
func (o *observers) notifyLosses(op string, src, to *table) {
	lost := src.mask.without(to.mask)
	if !o.watched[removeEvent].any(&lost) {
		return
	}
	if to.tailN == 0 {
		o.store.setTail(to, 0, 0)
	}
	done := false
	defer func() {
		if !done {
			o.store.trimSpares(to)
		}
	}()
	o.notifyRows(removeEvent, src, lost)
	o.store.guard.mutable(op)
	done = true
}
