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
	addEvent // from here on about a component
	removeEvent
	setEvent
	eventKinds
	loadEvent = eventKinds // no bit of observed: it is not about an entity
)

// tracking is the bit of observed after those of event kinds: something is tracked, see clock.
const tracking = 1 << eventKinds

// wholeEntity is the mask of an event that is not about one component.
var wholeEntity = mask{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}

// An Observer calls a function for each event of one kind, until [Observer.Stop] is called.
//
// Creation and addition are reported after the change, when all values are written. Removal is reported before the
// change, when all values still exist. Creating an entity with a component adds the component, and removing the
// entity removes the component. If the entity has a component already, an addition that overwrites it is reported as a
// write.
//
// Batches report archetype by archetype. In each archetype, batches that remove report the components of all
// entities first, chunk by chunk, and then the entities. Other batches report chunk by chunk: in each chunk
// creation before addition, and addition before write. Observers of the same event are called in order of
// registration.
//
// # What an observer may do
//
// The world is locked during the call. An observer may read and write components, including the reported one, open
// queries and use [World.Commands], including Spawn. An Apply in progress also executes commands that an observer
// adds. Other structural changes panic with a [*memory.Misuse]. Set notifies observers even within an observer. So an
// OnSet observer recurses without end if it sets the component that it observes.
//
// An observer must close its queries, because an open query locks the world. If an observer of removal leaves a query
// open, the call that removes panics with a [*memory.Misuse], and the removal does not happen. If another observer
// leaves a query open, Apply, AddAll, ExchangeAll and SetTargetAll panic as well. Other calls return, and the next
// structural change panics.
//
// # Failures
//
// If there is no memory for a change, no observer is called. There are two exceptions. An observer of removal may use
// up the memory by spawning entities: then the change fails after its removals were reported. Loading a file by a
// save.Set reports the removal of the present entities before it needs memory.
//
// If an observer panics, the caller of the change gets the panic, and later observers are not called. [runtime.Goexit]
// in an observer has the same effects, but ends the goroutine. A reported creation, addition or write has happened. A
// reported removal does not happen. A batch that removes leaves this archetype and all later ones unchanged, and Reset
// removes nothing. RemoveTree and Discard keep the reported entity and all entities that were still to be removed.
// After the panic the world is no longer locked, except by queries that the observer left open. Check returns nil.
//
// If an observer closes the allocator, the world closes itself: see [World]. If the call that reported the event has an
// error result, it returns an error that wraps [memory.ErrClosed], even if its change happened before the event. Of the
// other calls Set returns true; Reset, RemoveTree, Discard, World.Remove and World.RemoveAll panic with a
// [*memory.Misuse].
//
// # What is not reported
//
// Writes through pointers and columns are not reported. Close and a closed allocator are not reported either. To have
// all removals reported, call Reset before Close. [World.OnCreate] describes entities of a Spawn that was not applied.
//
// Loading a state from memory, as each rewind does, reports no creation, addition, write or removal. So an index that
// observers keep is wrong afterwards: rebuild it in [World.OnLoad]. [World.ReadJSON], [World.ReadBinary] and loading a
// state from a file report each entity, and then call OnLoad as well.
//
// Cost: without observers a change tests one more byte. With observers an operation on one entity visits the
// observers of its kinds of events, and a batch calls them for each entity. Calls allocate nothing.
type Observer struct {
	noCopy noCopy
	w      *World // nil after Stop
	call   func(e Entity, p unsafe.Pointer)
	size   uintptr
	id     ID // its component, if kind is about one
	kind   eventKind
}

// observers are the observers of a world.
//
// Invariants, verified in this order by check:
//
//	(1) lists[k] has observers of kind k in order of registration, no duplicate or stopped one;
//	    their component is one of the world
//	(2) watched[k] has the components of lists[k], or is wholeEntity
//	(3) observed has bit k if lists[k] is not empty, tracking, and no other bit
type observers struct {
	observed uint8 // the only field that fast paths read
	watched  [eventKinds]mask
	lists    [eventKinds + 1][]*Observer // copied when changed, because it may be iterated; the last has those of loadEvent
	store    *store

	// Entities whose Spawn waits for Apply, which reports their creation. Their removal before it is not reported.
	delayed map[Entity]struct{}
}

// OnCreate calls f for each created entity, after the components of the entity are written. For a Spawn, Apply calls f
// when it has written all components that the step of the Spawn adds: see [Commands]. [Observer.Stop] of the result ends
// the calls.
//
// If an entity is removed and its Spawn was not applied, neither OnCreate nor [World.OnRemove] reports the entity.
// [Component.OnAdd], [Component.OnSet] and [Component.OnRemove] report its components nevertheless.
//
// OnCreate panics with a [*memory.Misuse] if f is nil, in a closed world, in a parallel run, and while the world calls
// its allocator or Config.Pages.
func (w *World) OnCreate(f func(e Entity)) *Observer {
	return w.observeEntities("OnCreate", createEvent, f)
}

// OnRemove calls f for each entity that is about to be removed. Removal by Reset counts, Close does not. An entity
// whose Spawn was not applied is not reported, see [World.OnCreate]. [Observer.Stop] of the result ends the calls.
// OnRemove panics if f is nil, and in the other cases of [World.OnCreate].
func (w *World) OnRemove(f func(e Entity)) *Observer {
	return w.observeEntities("OnRemove", destroyEvent, f)
}

// OnLoad calls f each time that all entities were replaced: after [World.ReadJSON], [World.ReadBinary], and loading by
// a save.Set, from memory or from a file. Use it to rebuild what observers keep outside of the world. f is called once
// for each load, after the observers of the entities. If a load fails before it has changed the world, f is not called.
// If save.Set.Read fails after it has loaded the world, f was called. f is called again when Read restores the former
// state. Parts of a save.Set that come after the world are not loaded yet.
//
// Several functions are called in order of registration. As in every [Observer], the world is locked during the call. f
// may use queries and read components. It should neither write to the world nor give commands: the state would then
// differ from the saved one. During a load by a save.Set f must not panic, use the Set or close an allocator.
// [Observer.Stop] of the result ends the calls. OnLoad panics if f is nil, and in the other cases of [World.OnCreate].
func (w *World) OnLoad(f func()) *Observer {
	return w.observe("OnLoad", f == nil, &Observer{kind: loadEvent, call: func(Entity, unsafe.Pointer) { f() }})
}

// OnAdd calls f for each entity that gained the component, also for an entity that was created with it. v points to the
// value and is valid during the call of f. [Observer.Stop] of the result ends the calls. OnAdd panics if f is nil, and
// in the other cases of [World.OnCreate].
func (c Component[T]) OnAdd(f func(e Entity, v *T)) *Observer {
	return observe(c, "OnAdd", addEvent, f)
}

// OnRemove calls f for each entity that is about to lose the component. Removing the entity and Reset count, Close does
// not. v points to the value and is valid during the call of f. [Observer.Stop] of the result ends the calls. OnRemove
// panics if f is nil, and in the other cases of [World.OnCreate].
func (c Component[T]) OnRemove(f func(e Entity, v *T)) *Observer {
	return observe(c, "OnRemove", removeEvent, f)
}

// OnSet calls f each time a method has overwritten the component of an entity. Examples are Set, and Add if the entity
// has the component already. If T is a relation, setting its target counts, too, even to the same target. Writes
// through pointers are not reported. v points to the new value and is valid during the call of f. [Observer.Stop] of
// the result ends the calls. OnSet panics if f is nil, and in the other cases of [World.OnCreate].
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
	if w.guard.allocating { // the change in progress does not expect new observers
		w.guard.refuse(op)
	}
	if none {
		panic(&memory.Misuse{Package: "ecs", Op: op, Reason: "the function is nil"})
	}
	o.w = w
	w.observers.setObservers(o.kind, append(slices.Clip(w.observers.lists[o.kind]), o))
	if w.commands != nil && w.guard.notifying == 0 { // an observer may run in an Apply, in which some Spawns were reported
		w.observers.delayWaiting(w.commands)
	}
	return o
}

// Stop ends the observer. The function of the observer is not called again, not even for the rest of an event in
// progress. Stopping again does nothing. In a parallel run Stop of an active observer panics with a [*memory.Misuse],
// and the observer stays active.
func (o *Observer) Stop() {
	if w := o.w; w != nil {
		w.guard.notInParallel("Stop")
		o.w = nil
		left := slices.DeleteFunc(slices.Clone(w.observers.lists[o.kind]), func(other *Observer) bool { return other == o })
		w.observers.setObservers(o.kind, left)
	}
}

func (s *observers) setObservers(k eventKind, list []*Observer) {
	s.lists[k] = list
	if k == loadEvent {
		return
	}
	s.watched[k] = mask{}
	s.observed &^= 1 << k
	for _, o := range list {
		s.watched[k] = s.watched[k].with(o.mask())
		s.observed |= 1 << k
	}
}

// mask returns the components that the observer watches.
func (o *Observer) mask() mask {
	if o.kind < addEvent {
		return wholeEntity
	}
	return maskBit(o.id)
}

// notify calls the observers of an event for the components in m of n entities from loc on.
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
			if observer.w == nil || k >= addEvent && !m.has(observer.id) || k == destroyEvent && o.isDelayed(loc+row) {
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

// notifyLoad reports that all entities were replaced. It returns an error if an observer closed the allocator.
func (o *observers) notifyLoad() error {
	g := o.store.guard
	if len(o.lists[loadEvent]) == 0 || g.closed() {
		return g.closedItself()
	}
	g.locked++
	g.notifying++
	defer g.endNotify()
	for _, observer := range o.lists[loadEvent] {
		if observer.w != nil && !g.closed() {
			observer.call(Entity{}, nil)
		}
	}
	return g.closedItself()
}

func (g *guard) endNotify() {
	g.locked--
	g.notifying--
}

// Functions that report writes stamp them first, so observers see current stamps.

// notifyCreated reports that e was created at loc with the components in m. It returns e, or an error if an observer
// closed the allocator.
//
//go:noinline
func (o *observers) notifyCreated(e Entity, loc uint32, m mask) (Entity, error) {
	o.store.stampRows(loc, 1, m)
	o.notify(createEvent, loc, 1, wholeEntity)
	o.notify(addEvent, loc, 1, m)
	if err := o.store.guard.closedItself(); err != nil {
		return Entity{}, err
	}
	return e, nil
}

// delay remembers that the creation of e is not reported yet.
func (o *observers) delay(e Entity) {
	if o.delayed == nil {
		o.delayed = make(map[Entity]struct{})
	}
	o.delayed[e] = struct{}{}
}

// delayWaiting is delay for each Spawn that waits: if there was no observer, Spawn has remembered nothing.
func (o *observers) delayWaiting(cmd *Commands) {
	for i := range cmd.ops {
		if op := &cmd.ops[i]; op.kind == commandSpawn {
			o.delay(cmd.resolve(op.e))
		}
	}
}

// isDelayed reports whether the creation of the entity at loc is not reported yet.
func (o *observers) isDelayed(loc uint32) bool {
	if len(o.delayed) == 0 {
		return false
	}
	_, ok := o.delayed[*o.store.entity(loc)]
	return ok
}

// notifyDelayed reports the creation of e, which Spawn of commands has created and which is at loc. Its components in m
// are written.
func (o *observers) notifyDelayed(e Entity, loc uint32, m mask) {
	delete(o.delayed, e)
	o.store.stampRows(loc, 1, m)
	o.notify(createEvent, loc, 1, wholeEntity)
}

// notifyBatch is notifyCreated for the rows of a batch.
func (o *observers) notifyBatch(s span) error {
	if o.observed != 0 && s.left > 0 {
		o.store.stampSpan(s, s.t.mask)
		for loc, n := s.next(); n > 0; loc, n = s.next() {
			o.notify(createEvent, loc, n, wholeEntity)
			o.notify(addEvent, loc, n, s.t.mask)
		}
	}
	return o.store.guard.closedItself()
}

// notifyAdded reports that e was given the components in m and had those in was before. It returns an error if an
// observer closed the allocator.
//
//go:noinline
func (o *observers) notifyAdded(e Entity, m, was mask) error {
	if r := o.store.index.find(e); r != nil {
		loc := r.loc
		o.store.stampRows(loc, 1, m)
		o.notify(addEvent, loc, 1, m.without(was))
		o.notify(setEvent, loc, 1, m.and(was))
	}
	return o.store.guard.closedItself()
}

// notifyOne is notifyAdded for one component.
//
//go:noinline
func (o *observers) notifyOne(e Entity, id ID, had bool) error {
	if r := o.store.index.find(e); r != nil {
		k := addEvent
		if had {
			k = setEvent
		}
		o.store.stampRows(r.loc, 1, maskBit(id))
		o.notify(k, r.loc, 1, maskBit(id))
	}
	return o.store.guard.closedItself()
}

// notifyMoved is notifyAdded for the rows of a batch, which had the components in was before. It panics if an observer
// left the world locked.
func (o *observers) notifyMoved(op string, s span, m, was mask) error {
	o.store.stampSpan(s, m)
	for loc, n := s.next(); n > 0; loc, n = s.next() {
		o.notify(addEvent, loc, n, m.without(was))
		o.notify(setEvent, loc, n, m.and(was))
	}
	return o.store.guard.stillMutable(op)
}

// notifyRemoval reports that the entity at loc is about to be removed. It panics if an observer left
// the world locked, and returns an error if one closed the allocator.
//
//go:noinline
func (o *observers) notifyRemoval(op string, loc uint32) error {
	o.notify(removeEvent, loc, 1, o.store.tableAt(loc).mask)
	o.notify(destroyEvent, loc, 1, wholeEntity)
	return o.store.guard.stillMutable(op)
}

// notifyRemovals is notifyRemoval for all entities of t. If t is the archetype without components,
// entities that observers spawn during the call are not reported.
func (o *observers) notifyRemovals(t *table, op string) error {
	o.notifyRows(removeEvent, t, t.mask)
	o.notifyRows(destroyEvent, t, wholeEntity)
	return o.store.guard.stillMutable(op)
}

// notifyWritten reports that the components in m were written in all rows of t. It returns an error as notifyMoved does.
func (o *observers) notifyWritten(t *table, op string, m mask) error {
	o.store.stampTable(t, m)
	o.notifyRows(setEvent, t, m)
	return o.store.guard.stillMutable(op)
}

// notifyRows calls notify for all rows of t.
func (o *observers) notifyRows(k eventKind, t *table, m mask) {
	if !o.watched[k].any(&m) {
		return
	}
	for i, used := 0, t.used(); i < used && i < len(t.chunks); i++ {
		o.notify(k, t.chunks[i].number<<rowBits, t.rowsIn(i), m)
	}
}

// notifyLoss reports that the entity at loc is about to lose components by moving to a table. The table
// has space for it afterwards.
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
		o.store.freePending() // nothing is changed yet, and the change may fail
	}
	o.notify(removeEvent, loc, 1, lost)
	return o.store.guard.stillMutable(op)
}

// notifyLosses is notifyLoss for all rows of src, after space was reserved in to. It releases the space
// if an observer panics or closes the allocator.
func (o *observers) notifyLosses(op string, src, to *table) error {
	lost := src.mask.without(to.mask)
	if !o.watched[removeEvent].any(&lost) {
		return nil
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
	err := o.store.guard.stillMutable(op)
	done = err == nil
	return err
}
