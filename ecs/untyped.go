package ecs

import (
	"fmt"
	"iter"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// These functions access components by ID, for scripts, editors and saved states that do not know the Go
// types. They cost one look-up more per call than a Component.

// RegisterSize makes a component type of size bytes without a Go type, and returns its ID. If RegisterSize
// was called before with the same arguments, it returns the same ID. Values must not contain Go pointers.
// World.Hash reads all bytes of a value.
//
// The error wraps [ErrTooManyComponents], or [memory.ErrTooLarge] if size exceeds Config.ChunkBytes - 24.
// RegisterSize also returns an error if name is empty, or if align is not 1, 2, 4, 8 or 16. A size that is negative
// or not a multiple of align is an error. A name that is registered with another size or alignment is an error, too.
// size may be 0. In a closed world and in a parallel run RegisterSize panics with a [*memory.Misuse].
func (w *World) RegisterSize(name string, size, align int) (ID, error) {
	w.guard.mustBeOpen("RegisterSize")
	if name == "" || size < 0 || align < 1 || align > columnAlign || align&(align-1) != 0 || size%align != 0 {
		return 0, fmt.Errorf("ecs: component %q of %d bytes, aligned to %d: want a name, an alignment of 1, 2, 4, 8 or 16, and a size that is a multiple of it", name, size, align)
	}
	if c := w.store.byName[name]; c != nil {
		if c.size != uintptr(size) || c.align != align {
			return 0, fmt.Errorf("ecs: component %q of %d bytes, aligned to %d, is already registered with %d, aligned to %d", name, size, align, c.size, c.align)
		}
		return c.id, nil
	}
	c := &component{size: uintptr(size), align: align, name: name}
	if err := w.addType(c); err != nil {
		return 0, err
	}
	c.words = rawWords(c.size)
	if w.store.byName == nil {
		w.store.byName = make(map[string]*component)
	}
	w.store.byName[name] = c
	return c.id, nil
}

// IDs ranges over all component types in order of registration, without the ticks of tracked types.
func (w *World) IDs() iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for i := 0; i < len(w.store.comps); i++ {
			if w.store.comps[i].owner == nil && !yield(ID(i)) {
				return
			}
		}
	}
}

// Name returns the name of a component type. It is the name passed to RegisterSize, or the name of the Go
// type with its package. Name panics with a [*memory.Misuse] if w does not have the ID.
func (w *World) Name(id ID) string { return w.store.known("Name", id).name }

// ID returns the ID of the component type with this name, and true. If no type has the name, it returns 0 and false. If
// several types have the name, ID returns the type that was registered first. It does not find ticks of tracked types.
func (w *World) ID(name string) (ID, bool) {
	for _, c := range w.store.comps {
		if c.name == name && c.owner == nil {
			return c.id, true
		}
	}
	return 0, false
}

// knows reports whether id is a component type other than a companion.
func (r *registry) knows(id ID) bool { return int(id) < len(r.comps) && r.comps[id].owner == nil }

// known returns the component with an ID.
func (r *registry) known(op string, id ID) *component {
	if !r.knows(id) {
		panic(&memory.Misuse{Package: "ecs", Op: op, Reason: "the world does not have this component ID"})
	}
	return r.comps[id]
}

// Ptr returns the address of a component of e. It returns nil if e is stale or does not have the component, or if w
// does not have the ID. The component at the address has ColumnStats.Size bytes. The address is valid until the next
// structural change; [Component.Get] has the exact conditions. If the type has Go pointers, write the component only
// through a pointer to a value of this type. Observers are not called for writes through the address, and the ticks of
// tracked types do not change.
func (w *World) Ptr(e Entity, id ID) unsafe.Pointer {
	r := w.store.index.find(e)
	if r == nil || !w.store.knows(id) {
		return nil
	}
	p := w.store.column(r.loc>>rowBits, id)
	if p == nil {
		return nil
	}
	return unsafe.Add(p, uintptr(r.loc&rowMask)*w.store.comps[id].size)
}

// HasID reports whether e is alive and has the component. It returns false if w does not have the ID.
func (w *World) HasID(e Entity, id ID) bool { return w.Ptr(e, id) != nil }

// AddID adds the component with a zero value to e and returns its address. The address is valid as long as an address
// that [World.Ptr] returns. Observers see the zero value. If e has the component already, its value stays and observers
// are not called. If e is stale, the error is [ErrStale]. Other errors are those of Component.Add. On error the address
// is nil, and no entity has changed.
//
// AddID is a structural change: it panics with a [*memory.Misuse] if the world is locked. AddID also panics with a
// [*memory.Misuse] if w does not have the ID. If e is alive and the ID is a relation that e does not have, AddID panics
// as well: use RelateID.
func (w *World) AddID(e Entity, id ID) (unsafe.Pointer, error) {
	w.guard.mutable("AddID")
	comp := w.store.known("AddID", id)
	if p := w.Ptr(e, id); p != nil {
		return p, nil
	}
	p, err := w.store.addComponent(e, id, comp.size)
	if err != nil {
		return nil, err
	}
	return w.finishAdd(e, comp, p)
}

// RelateID adds the relation with a target and a zero value to e. If e has the relation already, RelateID changes the
// target and keeps the value. It returns the address of the value, which is valid as long as an address that
// [World.Ptr] returns. Errors are those of Relation.Add. On error the address is nil, and no entity has changed.
// RelateID panics with a [*memory.Misuse] if the world is locked, if the ID is not a relation of w, or if e has
// MaxRelations other relations.
func (w *World) RelateID(e Entity, id ID, target Entity) (unsafe.Pointer, error) {
	w.guard.mutable("RelateID")
	w.mustRelate("RelateID", id)
	r := w.store.index.find(e)
	if r == nil {
		return nil, ErrStale
	}
	had := w.HasID(e, id)
	if err := w.retarget("RelateID", e, r, id, target); err != nil {
		return nil, err
	}
	if !had {
		return w.finishAdd(e, w.store.comps[id], w.Ptr(e, id))
	}
	return w.finishChange(e, id, true)
}

// finishAdd zeroes the cell at p, which is new to e, and ends with finishChange. Cells of types with Go pointers are zero
// already.
func (w *World) finishAdd(e Entity, comp *component, p unsafe.Pointer) (unsafe.Pointer, error) {
	if !comp.pointerful {
		clear(unsafe.Slice((*byte)(p), comp.size))
	}
	return w.finishChange(e, comp.id, false)
}

// finishChange notifies observers, frees pending blocks and returns the address of the component. It returns an error
// if the allocator was closed meanwhile.
func (w *World) finishChange(e Entity, id ID, had bool) (unsafe.Pointer, error) {
	if w.observers.observed != 0 && w.reportsWrite(w.store.comps[id]) {
		_ = w.observers.notifyOne(e, id, had)
	}
	w.store.freePending()
	return w.Ptr(e, id), w.guard.closedItself()
}

// TargetID returns the target of e for the relation with this ID. If e or the target is stale, or e does not have the
// relation, TargetID returns the zero Entity and false. The result is the same if the ID is no relation of w.
func (w *World) TargetID(e Entity, id ID) (Entity, bool) { return w.store.targetOf(e, id) }

// RemoveID removes the component with this ID from e. Results and errors are those of Component.Remove. RemoveID
// panics with a [*memory.Misuse] if w does not have the ID. RemoveID is a structural change: it also panics with a
// [*memory.Misuse] if the world is locked.
func (w *World) RemoveID(e Entity, id ID) (bool, error) {
	w.store.known("RemoveID", id)
	return w.removeComponent(e, id)
}

// A FilterOf is a filter over component types given by ID. Only [NewFilterOf] makes a FilterOf that can be used. It has
// all methods of [Filter1] except Query. In a parallel run all methods except Check panic with a [*memory.Misuse]; All
// and Chunks panic when their loop begins.
type FilterOf struct {
	narrowing[*FilterOf]
	sizes [maxFilter]uintptr
}

// NewFilterOf returns a filter that reads up to eight columns, one for each of ids. Without ids it matches all
// entities, also those without components, until it is narrowed. It panics with a [*memory.Misuse] if w is nil, or if
// ids has more than eight elements. It also panics if one of them is not a component of w, or if one is passed twice.
func NewFilterOf(w *World, ids ...ID) *FilterOf {
	if len(ids) > maxFilter {
		panic(&memory.Misuse{Package: "ecs", Op: "NewFilterOf", Reason: fmt.Sprintf("a filter reads up to %d columns, not %d; name others with With", maxFilter, len(ids))})
	}
	if w == nil {
		refuseNilWorld("NewFilterOf")
	}
	f := new(FilterOf)
	f.filter.init(w, ids...)
	for i, id := range ids {
		f.sizes[i] = w.store.comps[id].size
	}
	return f
}

// Addresses has the addresses of one entity's components, or of a chunk's columns, in the order of the IDs that were
// passed to [NewFilterOf]. All further elements are nil. The addresses are valid until the next structural change.
type Addresses [maxFilter]unsafe.Pointer

// All ranges over all matching entities and the addresses of their components, as Filter1.All does.
func (f *FilterOf) All() iter.Seq2[Entity, Addresses] {
	return func(yield func(Entity, Addresses) bool) {
		for t := f.filter.begin(); t != nil; t = t.next() {
			es, columns := t.es.pointer(), f.columnsOf(t)
			for i := 0; i < t.rows; i++ {
				row := columns
				for k := range f.filter.n {
					row[k&(maxFilter-1)] = unsafe.Add(row[k&(maxFilter-1)], uintptr(i)*f.sizes[k&(maxFilter-1)])
				}
				if !yield(*(*Entity)(unsafe.Add(es, uintptr(i)*entityBytes)), row) {
					t.leave()
					return
				}
			}
		}
	}
}

// Chunks ranges over the chunks of all matching entities, as Filter1.Chunks does. It yields the entities and the
// addresses of the columns. A column has ColumnStats.Size bytes per entity. Chunks may yield a large chunk in two
// steps. With ChangedSince it yields runs of changed entities.
func (f *FilterOf) Chunks() iter.Seq2[[]Entity, Addresses] {
	return func(yield func([]Entity, Addresses) bool) {
		for t := f.filter.begin(); t != nil; t = t.next() {
			if !yield(unsafe.Slice((*Entity)(t.es.pointer()), t.rows), f.columnsOf(t)) {
				t.leave()
				return
			}
		}
	}
}

// Parallel calls body for all matching entities on several goroutines, as Filter1.Parallel does. It passes the
// addresses of the columns. A column has ColumnStats.Size bytes per entity.
func (f *FilterOf) Parallel(ws *Workers, body func(t *Task, es []Entity, columns Addresses)) {
	f.filter.parallel(ws, f, body, body == nil)
}

func (f *FilterOf) runBatch(t *Task, body any) {
	var columns Addresses
	for i := range f.filter.n {
		k := i & (maxFilter - 1)
		columns[k] = unsafe.Add(t.cols[k].pointer(), t.row*f.sizes[k])
	}
	body.(func(*Task, []Entity, Addresses))(t, unsafe.Slice((*Entity)(unsafe.Add(t.es.pointer(), t.row*entityBytes)), t.n), columns)
}

func (f *FilterOf) columnsOf(s *rowRun) (a Addresses) {
	for i := range f.filter.n {
		a[i&(maxFilter-1)] = s.cols[i&(maxFilter-1)].pointer()
	}
	return a
}
