package ecs

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/layout"
)

// An ID is the number of a component type in its world. IDs start at 0 and rise in order of registration.
// If a type is tracked, its ticks take a number of their own when [World.Track] is called.
type ID uint8

// A component is what a world knows of one type.
//
// Invariants, verified in this order by check:
//
//	(1) id is its place in registry.comps, and registry.byType has it under typ, or registry.byName under its
//	    name where RegisterSize made it
//	(2) size and pointerful are those of typ; without typ it is not, and size is a multiple of align
//	(3) words are the scalars of typ, none where it is pointerful; without typ all of its bytes
//	(4) what is a companion has neither typ nor words, tickBytes, and ticks of its owner
type component struct {
	id         ID
	pointerful bool
	size       uintptr
	align      int          // where there is no typ
	typ        reflect.Type // nil of what RegisterSize made
	name       string
	words      []word     // what Hash reads of a pointer-free value
	named      []uintptr  // offsets of each Entity in a value
	targets    slotIndex  // of a relation: number + 1 of the list of the target that had a slot last
	ticks      *component // its companion, see ticks; nil unless it is tracked
	owner      *component // whose companion it is; nil of all others

	// addresses is where its column lies in each segment, by number: a copy of what directory.columns has,
	// verified with it.
	// Component.Get waits for an entity's record and then for its cell; what it does in between for
	// the one keeps the processor from asking for those of the next, and the way through columns,
	// which leads over a product, took a quarter longer in a world of a million entities.
	addresses []address

	// For pointerful types only: typed copies, so that the collector sees every store.
	makeColumn func(n int) unsafe.Pointer
	copyCells  func(dst, src unsafe.Pointer, n int)
	clearCells func(p unsafe.Pointer, n int)
}

// A registry has the component types of a world.
type registry struct {
	comps      []*component // by ID
	boxed      reflect.Type // the newest component type with a container; nil: none
	byType     map[reflect.Type]*component
	byName     map[string]*component // of RegisterSize
	relating   mask                  // the relations
	tracked    mask                  // the components with a companion
	companions mask
}

// A Component gives access to one component type of one world. Create it once with [Register] and copy it freely: its
// size is two words. The zero Component is not usable: its methods panic.
type Component[T any] struct {
	//lint:ignore U1000 it is there for its type
	of   [0]*T // no Component of another type converts to this one
	w    *World
	comp *component
}

// Register makes T a component type of w and returns it. If T is a component type of w already, Register
// returns the existing one.
//
// Columns of types without Go pointers are in chunks of the allocator. Columns of types with pointers of
// any kind are in the Go heap, where the collector sees them. Strings, slices, maps, functions and
// interfaces count as pointers. [World.Column] reports in Pointerful whether a type has pointers.
//
// The error wraps [ErrTooManyComponents], or [memory.ErrTooLarge] if T has more than Config.ChunkBytes - 24 bytes. This
// bound also applies to types with pointers. Register panics with a [*memory.Misuse] if w is nil. If T is new to w,
// Register also panics in a parallel run.
func Register[T any](w *World) (Component[T], error) {
	c, err := register[T](w)
	if err != nil {
		return Component[T]{}, err
	}
	return Component[T]{w: w, comp: c}, nil
}

// register is Register for constructors of mappers and filters. It does not name Component[T], whose methods the
// compiler would then generate for each type that only a mapper or a filter names.
//
//go:noinline
func register[T any](w *World) (*component, error) {
	if w == nil {
		refuseNilWorld("Register")
	}
	c, fresh, err := w.register(reflect.TypeFor[T]())
	if fresh && c.pointerful {
		bindHeapColumn[T](c)
	}
	return c, err
}

func refuseNilWorld(op string) {
	panic(&memory.Misuse{Package: "ecs", Op: op, Reason: "the world is nil"})
}

// register returns the component of a type, and whether it is new. If it is pointerful and new, the caller binds its
// typed copies.
func (w *World) register(typ reflect.Type) (c *component, fresh bool, err error) {
	if c := w.store.byType[typ]; c != nil {
		return c, false, nil
	}
	c = &component{size: typ.Size(), typ: typ, name: typ.String(), pointerful: memory.PointerFreeType(typ) != nil, named: entitiesIn(nil, typ, 0)}
	if err := w.addType(c); err != nil {
		return nil, false, err
	}
	if !c.pointerful {
		c.words = hashWords(typ)
	}
	if layout.HasContainer(typ) {
		w.store.boxed = typ
	}
	w.store.byType[typ] = c
	return c, true, nil
}

// addType numbers a new component, or changes nothing.
func (w *World) addType(c *component) error {
	w.guard.notInParallel("Register")
	if len(w.store.comps) == MaxComponents {
		return fmt.Errorf("%w: cannot add %s", ErrTooManyComponents, c.name)
	}
	if c.size > w.store.sizes[w.store.first]-columnAlign-entityBytes {
		return fmt.Errorf("ecs: component %s of %d bytes does not fit a chunk of %d; raise Config.ChunkBytes: %w",
			c.name, c.size, w.store.sizes[w.store.first], memory.ErrTooLarge)
	}
	c.id = ID(len(w.store.comps))
	c.addresses = make([]address, len(w.store.chunks))
	w.store.comps = append(w.store.comps, c)
	w.store.widen(len(w.store.comps))
	return nil
}

func bindHeapColumn[T any](c *component) {
	c.makeColumn = func(n int) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(make([]T, n))) }
	c.copyCells = func(dst, src unsafe.Pointer, n int) {
		copy(unsafe.Slice((*T)(dst), n), unsafe.Slice((*T)(src), n))
	}
	c.clearCells = func(p unsafe.Pointer, n int) { clear(unsafe.Slice((*T)(p), n)) }
}

// isZero reports whether n cells from p on are zero.
func (c *component) isZero(p unsafe.Pointer, n int) bool {
	for i := range n {
		if !reflect.NewAt(c.typ, unsafe.Add(p, uintptr(i)*c.size)).Elem().IsZero() {
			return false
		}
	}
	return true
}

const addressBytes = uint64(unsafe.Sizeof(address(0)))

// columnAt returns row 0 of the column in the chunk of an entity that is alive, by its record in a word, nil
// where it has none. There is an address for each segment.
func (c *component) columnAt(record uint64) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(c.addresses)), record>>(locShift+rowBits)%maxSegments*addressBytes))
}

// ID returns the number of the type in its world, for filters and for methods of World.
func (c Component[T]) ID() ID { return c.comp.id }

// Get returns a pointer to the component of e. It returns nil and false if e is stale or does not have the component.
// The pointer is valid until e gains or loses a component or changes a target, or until any entity leaves the
// archetype of e. It also becomes invalid when a state is loaded, and when the world or its allocator is closed.
// Creating entities never moves the component.
func (c Component[T]) Get(e Entity) (v *T, ok bool) {
	if n, x := uint(e.index), &c.w.store.index; n < uint(len(x.recs)) {
		if r := x.recs[n].word(); uint32(r>>genShift) == e.gen {
			if p := c.comp.columnAt(r); p != nil {
				return (*T)(unsafe.Add(p, r>>locShift&rowMask*uint64(unsafe.Sizeof(*v)))), true
			}
		}
	}
	return
}

// Column returns the components of the entities es, one for each. Use it in a loop over Chunks for a component
// that only some of the archetypes have. es must be the entities of a chunk, as a filter yields them, or a
// part of them without gaps. Column returns nil if es is empty, or if the archetype of es does not have the
// component. The slice is valid as long as es. Column panics with a [*memory.Misuse] if es is not part of a
// chunk of this world.
func (c Component[T]) Column(es []Entity) []T {
	p, n := c.w.store.columnOf(c.comp.id, es)
	return unsafe.Slice((*T)(p), n)
}

// columnOf is Column without the type.
func (s *store) columnOf(id ID, es []Entity) (unsafe.Pointer, int) {
	if len(es) == 0 {
		return nil, 0
	}
	r := s.index.find(es[0])
	if r == nil || s.entity(r.loc) != &es[0] || s.rowsFrom(r.loc) < len(es) {
		panic(&memory.Misuse{Package: "ecs", Op: "Column", Reason: "the entities are no part of a chunk; take them from Chunks or Columns"})
	}
	if s.column(r.loc>>rowBits, id) == nil {
		return nil, 0
	}
	return s.cell(r.loc, id, s.comps[id].size), len(es)
}

// rowsFrom returns the number of rows from loc to the end of its chunk.
func (s *store) rowsFrom(loc uint32) int {
	t, pos := s.tableAt(loc), int(s.chunks[loc>>rowBits].pos)
	return t.rowsIn(pos) - int(loc-t.chunks[pos].number<<rowBits)
}

// Has reports whether e is alive and has the component.
func (c Component[T]) Has(e Entity) bool {
	_, ok := c.Get(e)
	return ok
}

// Set writes v to the component of e, calls observers of OnSet, and returns true. It returns false if e is
// stale or does not have the component. Set is not a structural change. If an observer of OnSet watches the
// component, Set panics with a [*memory.Misuse] in a parallel run.
func (c Component[T]) Set(e Entity, v T) bool {
	p, ok := c.Get(e)
	if !ok {
		return false
	}
	watched := c.w.observers.observed != 0 && c.w.observers.watched[setEvent].has(c.comp.id)
	if !watched && c.comp.ticks == nil {
		*p = v
		return true
	}
	if watched {
		c.w.guard.notInParallel("Set")
	}
	*p = v
	_ = c.w.observers.notifyOne(e, c.ID(), true)
	return true
}

// Add adds the component with value v to e. If e has the component already, Add overwrites it with v. If e is stale,
// the error is [ErrStale]. If a row with all components of e would not fit a chunk, the error wraps
// [memory.ErrTooLarge]. Other errors wrap [ErrLimit], or the error of the allocator, such as [memory.ErrOutOfMemory].
// On error no entity has changed, but a new archetype stays.
//
// Add is a structural change: it panics with a [*memory.Misuse] if the world is locked. If e is alive and the
// component is a relation that e does not have, Add panics as well: use [Relation.Add].
func (c Component[T]) Add(e Entity, v T) error {
	c.w.guard.mutable("Add")
	notify := c.w.observers.observed != 0 && c.w.reportsWrite(c.comp)
	had := notify && c.Has(e)
	p, err := c.w.store.addComponent(e, c.ID(), unsafe.Sizeof(v))
	if err != nil {
		return err
	}
	*(*T)(p) = v
	if notify {
		err = c.w.observers.notifyOne(e, c.ID(), had)
	}
	c.w.store.freePending()
	return err
}

// reportsWrite reports whether an observer is called or a tick recorded when c is added or written. Other types are
// none of its business: whatever is observed or tracked of them, c costs what it did.
func (w *World) reportsWrite(c *component) bool {
	return c.ticks != nil || w.observers.watched[addEvent].has(c.id) || w.observers.watched[setEvent].has(c.id)
}

// reportsWrites is reportsWrite for any of the components in m.
func (w *World) reportsWrites(m *mask) bool {
	return m.any(&w.store.tracked) || m.any(&w.observers.watched[addEvent]) || m.any(&w.observers.watched[setEvent])
}

// Remove removes the component from e and returns true. It returns false without an error if e is stale or does not
// have the component. Remove moves e to the archetype without the component. If this needs a chunk that is not
// available, the error wraps [ErrLimit], or the error of the allocator, such as [memory.ErrOutOfMemory]. On error
// Remove returns false, and e keeps the component. Remove is a structural change: it panics with a [*memory.Misuse] if
// the world is locked.
func (c Component[T]) Remove(e Entity) (bool, error) { return c.w.removeComponent(e, c.comp.id) }

// removeComponent is Remove of a component without its type.
func (w *World) removeComponent(e Entity, id ID) (bool, error) {
	w.guard.mutable("Remove")
	r := w.store.index.find(e)
	if r == nil {
		return false, nil
	}
	t := w.store.tableAt(r.loc)
	if !t.mask.has(id) {
		return false, nil
	}
	tr, err := w.store.transitionBy("Remove", t, id)
	if err != nil {
		return false, err
	}
	if err = w.removeComponents("Remove", e, r, tr); err != nil {
		return false, err
	}
	return true, nil
}

// addComponent returns the cell of component id of e, moving e where it has none. The caller
// writes the cell, and frees pending blocks.
func (s *store) addComponent(e Entity, id ID, size uintptr) (unsafe.Pointer, error) {
	r := s.index.find(e)
	if r == nil {
		return nil, ErrStale
	}
	loc := r.loc
	t := s.tableAt(loc)
	if !t.mask.has(id) {
		tr, err := s.transitionBy("Add", t, id)
		if err != nil {
			return nil, err
		}
		if loc, err = s.relocate(e.index, r, tr); err != nil {
			return nil, err
		}
	}
	return s.cell(loc, id, size), nil
}

// removeComponents moves the entity of r along tr, on which it loses components, and frees pending blocks.
func (w *World) removeComponents(op string, e Entity, r *record, tr *transition) error {
	if w.observers.observed&(1<<removeEvent) != 0 {
		if err := w.observers.notifyLoss(op, r.loc, tr.to); err != nil {
			return err
		}
	}
	if _, err := w.store.relocate(e.index, r, tr); err != nil {
		return err
	}
	w.store.freePending()
	return nil
}
