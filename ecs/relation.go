package ecs

import (
	"fmt"
	"iter"
	"unsafe"
)

// errTarget is what operations say of a target that is not alive.
var errTarget = fmt.Errorf("ecs: the target of a relation: %w", ErrStale)

// A Relation is a component with a target, which is an entity: ChildOf, Likes, DockedAt. A Relation has
// all methods of [Component], and T may be empty. An entity has each relation at most once, with one
// target. It has up to [MaxRelations] different relations.
//
// Entities with the same components and targets are stored together, in the chunks of one table. A filter that is
// narrowed to a target by To iterates over exactly the entities with this target. A filter without a target iterates
// over the entities of all targets. The first chunk of a table usually has Config.FirstChunkBytes. A target costs some
// 500 bytes in addition to its chunks. The 2,097,152 chunk numbers of a world bound the number of targets in use at
// once.
//
// Adding and removing other components keeps the targets of an entity, and [World.CopyEntity] copies them.
// Changing the target moves the row, as adding a component does. OnSet reports a change of the target as a
// write.
//
// # When a target is removed
//
// Removing a target does not change the entities that relate to it, and costs nothing for each of them. They
// keep the relation and its value, but their target is stale: Target returns false, and a filter narrowed to
// the stale target matches nothing. A filter that only requires the relation still matches them. An entity that
// is created later is never taken for the removed target.
//
// For entities with a stale target, SetTarget sets another target, and Remove removes the relation.
// [Relation.RemoveTree] of the removed target removes the entities.
//
// If the target of a table is stale and the table has no rows, the table is reused for another target. So a world does
// not grow when its targets are removed and new ones are created. If entities have several relations, there can be more
// tables than targets. Then all tables without rows are reused, even if their targets are alive.
//
// # Errors
//
// To of a mapper must set a target for each of the mapper's relations before the mapper adds them. Add of a
// Component panics with a [*memory.Misuse] for a relation that the entity does not have. [AddTo] panics for every
// relation. If a target is not alive, operations return an error that wraps [ErrStale], and nothing has
// changed. Apply skips commands with such a target.
type Relation[T any] struct{ Component[T] }

// RegisterRelation makes T a relation of w and returns it. If T is a relation of w already, RegisterRelation returns
// the existing one. If T is registered as a component without a target, RegisterRelation returns an error. Mappers and
// filters register the types that they name, so register relations first. Other errors and panics are those of
// [Register].
func RegisterRelation[T any](w *World) (Relation[T], error) {
	if w == nil {
		refuseNilWorld("RegisterRelation")
	}
	n := len(w.store.comps)
	c, err := Register[T](w)
	if err != nil {
		return Relation[T]{}, err
	}
	if len(w.store.comps) > n {
		if w.store.variants == nil {
			w.store.variants = make(map[mask]*variants)
		}
		w.store.relating = w.store.relating.with(maskBit(c.ID()))
	} else if !w.store.relating.has(c.ID()) {
		return Relation[T]{}, fmt.Errorf("ecs: %s is a component without a target; register it as a relation first", w.store.comps[c.ID()].name)
	}
	return Relation[T]{c}, nil
}

// Add adds the relation with value v and a target to e. If e has the relation already, Add changes its value and its
// target. The error is [ErrStale] if e is stale, and wraps [ErrStale] if the target is stale. Other errors are those
// of [Component.Add]. On error no entity has changed. Add panics with a [*memory.Misuse] if the world is locked, or
// if e has MaxRelations other relations.
func (r Relation[T]) Add(e Entity, v T, target Entity) error {
	w := r.w
	w.guard.mutable("Add")
	notify := w.observers.observed != 0 && w.reportsWrite(r.comp)
	had := notify && r.Has(e)
	rec := w.store.index.find(e)
	if rec == nil {
		return ErrStale
	}
	if err := w.retarget("Add", e, rec, r.ID(), target); err != nil {
		return err
	}
	*(*T)(w.store.cell(rec.loc, r.ID(), unsafe.Sizeof(v))) = v
	var err error
	if notify {
		err = w.observers.notifyOne(e, r.ID(), had)
	}
	w.store.freePending()
	return err
}

// SetTarget changes the target of e, calls observers of OnSet, and returns true. The new target may equal the old one.
// If e is stale or does not have the relation, SetTarget returns false without an error. If the target is stale, the
// error wraps [ErrStale]. Other errors are those of [Component.Add]. On error SetTarget returns true, because e has the
// relation, and no entity has changed. SetTarget panics with a [*memory.Misuse] if the world is locked.
func (r Relation[T]) SetTarget(e, target Entity) (bool, error) {
	w := r.w
	w.guard.mutable("SetTarget")
	if !r.Has(e) {
		return false, nil
	}
	err := w.retarget("SetTarget", e, w.store.index.find(e), r.ID(), target)
	if err != nil {
		return true, err
	}
	if w.observers.observed != 0 && w.reportsWrite(r.comp) {
		err = w.observers.notifyOne(e, r.ID(), true)
	}
	w.store.freePending()
	return true, err
}

// retarget moves the entity of rec to the table in which relation id has the target.
func (w *World) retarget(op string, e Entity, rec *record, id ID, target Entity) error {
	if w.store.index.find(target) == nil {
		return errTarget
	}
	t := w.store.tableAt(rec.loc)
	if was, ok := t.target(id); ok && was == target {
		return nil
	}
	var p targetSet
	p.set(op, id, target)
	k, retargets := w.store.keyAfter(op, t, t.mask.with(maskBit(id)), &p)
	tr, err := w.store.transitionTo(t, k, retargets)
	if err == nil {
		_, err = w.store.relocate(e.index, rec, tr)
	}
	return err
}

// Target returns the target of e. It returns the zero Entity and false if e is stale, if e does not have the
// relation, or if the target is stale.
func (r Relation[T]) Target(e Entity) (Entity, bool) { return r.w.store.targetOf(e, r.ID()) }

func (s *store) targetOf(e Entity, id ID) (Entity, bool) {
	rec := s.index.find(e)
	if rec == nil {
		return Entity{}, false
	}
	target, ok := s.tableAt(rec.loc).target(id)
	if !ok || s.index.find(target) == nil {
		return Entity{}, false
	}
	return target, true
}

// Each ranges over the entities that have the relation with this target, in the order of a filter with To. If the
// target is stale, Each yields nothing. Loops over Each can be nested to any depth, for a walk through a tree: the body
// may range over Each of the entity that it got. The loop does not lock the world, and may be left in any way, also by
// a panic. If the body calls a method for structural changes, even without effect, the next step of the loop panics
// with a [*memory.Misuse]. The next step also panics if the world has closed itself. In a parallel run the loop panics
// when it begins.
//
// Cost: a look-up, and a visit to each table of the target (see [Relation]). The world keeps one filter for each depth of
// nesting until [World.Shrink], so that loops do not allocate in steady state.
func (r Relation[T]) Each(target Entity) iter.Seq[Entity] {
	return func(yield func(Entity) bool) {
		for t := r.w.beginEach(r.comp.id, target); t != nil; t = t.nextEach() {
			es := t.es.pointer()
			for i := 0; i < t.rows; i++ {
				if !yield(*(*Entity)(unsafe.Add(es, uintptr(i)*entityBytes))) {
					t.leaveEach()
					return
				}
			}
		}
	}
}

// beginEach begins a loop over the entities with a target, by a filter of w that no other loop has.
//
//go:noinline
func (w *World) beginEach(id ID, target Entity) *rowRun {
	w.guard.notInParallel("Each")
	list := w.store.tablesOf(relationTarget{id, target})
	if list == nil || w.store.index.find(target) == nil {
		return nil
	}
	var f *filter
	if n := len(w.eachFilters); n > 0 {
		f, w.eachFilters = w.eachFilters[n-1], w.eachFilters[:n-1]
	} else {
		f = &filter{w: w, stride: 1, seen: -1}
	}
	f.need, f.targets.n, f.targets.list[0] = maskBit(id), 1, relationTarget{id, target}
	f.matches, f.list, f.listed, f.epoch = f.matches[:0], list, 0, w.store.epoch
	s := f.begin()
	if s == nil {
		w.eachFilters = append(w.eachFilters, f)
	}
	return s
}

// nextEach is next for a loop over Each.
//
//go:noinline
func (s *rowRun) nextEach() *rowRun {
	f := s.it.f
	if s.rows == 0 {
		s.it.refuse("Each")
	}
	next := s.next()
	if next == nil {
		f.w.eachFilters = append(f.w.eachFilters, f)
	}
	return next
}

// leaveEach is leave for a loop over Each.
//
//go:noinline
func (s *rowRun) leaveEach() {
	s.leave()
	s.it.f.w.eachFilters = append(s.it.f.w.eachFilters, s.it.f)
}

// SetTargetAll sets the target of every entity that s matches and that has the relation. It returns the number of
// these entities, including entities that had the target already. If the target is stale, SetTargetAll changes
// nothing, returns 0, and the error wraps [ErrStale]. Other errors are those of Component.Add. On such an error
// SetTargetAll returns how many of the entities have the target now; the others are unchanged. SetTargetAll
// panics with a [*memory.Misuse] if the world is locked, if s belongs to another world, or if s has a
// ChangedSince.
func (r Relation[T]) SetTargetAll(s Selection, target Entity) (int, error) {
	return r.w.retargetAll(s, r.ID(), target)
}

func (w *World) retargetAll(s Selection, id ID, target Entity) (int, error) {
	const op = "SetTargetAll"
	w.guard.mutable(op)
	f := s.selection()
	f.checkWorld(w, op)
	if w.store.index.find(target) == nil {
		return 0, errTarget
	}
	var p targetSet
	p.set(op, id, target)
	matches, total := f.matches, 0
	for _, t := range matches { // those that stay come first: see addAll
		if was, ok := t.target(id); ok && was == target {
			total += t.rows()
			if w.observers.observed != 0 {
				if err := w.observers.notifyWritten(t, op, maskBit(id)); err != nil {
					return total, err
				}
			}
		}
	}
	for _, t := range matches {
		if was, ok := t.target(id); !ok || was == target || t.rows() == 0 {
			continue
		}
		k, retargets := w.store.keyAfter(op, t, t.mask, &p)
		moved, err := w.moveAll(op, t, k, retargets)
		if err != nil {
			return total, err
		}
		total += moved.left
		if w.observers.observed != 0 {
			if err := w.observers.notifyMoved(op, moved, maskBit(id), maskBit(id)); err != nil {
				return total, err
			}
		}
		w.store.freePending()
	}
	return total, nil
}

// RemoveTree removes e, all entities whose target of the relation is e, all entities whose target is one of those,
// and so on. It returns the number of removed entities. If e is stale, RemoveTree does not count e, but removes the
// others. Entities are removed before their targets. If e is itself in a cycle of targets, e is removed before the
// other entities of the cycle.
//
// If an observer panics, the entities that were already removed stay removed. RemoveTree panics with a [*memory.Misuse]
// if the world is locked. Cost: for each removed entity that of World.Remove, and a visit to each table whose target is
// the entity (see [Relation]). RemoveTree keeps its list of entities in the Go heap until [World.Shrink].
func (r Relation[T]) RemoveTree(e Entity) int {
	w := r.w
	w.guard.mutable("RemoveTree")
	tree := append(w.tree[:0], e)
	for i := 0; i < len(tree); i++ {
		if i > 0 && tree[i] == e { // e relates to one of its own tree
			continue
		}
		list := w.store.tablesOf(relationTarget{r.ID(), tree[i]})
		if list == nil {
			continue
		}
		for _, t := range list.tables {
			for k := range t.used() {
				tree = append(tree, w.store.entitiesFrom(t.chunks[k].number<<rowBits, t.rowsIn(k))...)
			}
		}
	}
	w.tree = tree
	n := 0
	for i := len(tree) - 1; i >= 0; i-- {
		alive, err := w.destroy("RemoveTree", tree[i])
		if err != nil {
			w.guard.refuse("RemoveTree")
		}
		if alive {
			n++
		}
	}
	w.store.freePending()
	return n
}
