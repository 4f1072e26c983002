package ecs

import (
	"fmt"
	"unsafe"
)

// errTarget is what operations say of a target that is not alive.
var errTarget = fmt.Errorf("ecs: the target of a relation: %w", ErrStale)

// A Relation is a component that says how its entity relates to another one, its target: ChildOf,
// Likes, DockedAt. It does all that a [Component] does, and T may be empty. An entity has it once,
// towards one target, and up to [MaxRelations] different ones.
//
// Entities with the same components and targets lie together, so that a filter narrowed to a
// target, by its To, walks those entities and nothing else. A filter that names no target walks
// the entities of all. Each target that entities relate to has tables of its own, in chunks from
// Config.FirstChunkBytes on: some 500 bytes beside a chunk of 1 KiB. There are at most 2,097,152
// chunks in a world, and so no more targets at once that have anything related to them.
//
// Whatever changes an entity keeps the targets of the relations that stay; [World.CopyEntity]
// copies them. Changing the target moves the row, as adding a component does, and is told as a
// write, by OnSet.
//
// # When a target is removed
//
// Nothing happens to the entities that relate to it, and it costs nothing: they keep the relation
// and its value. Its target is stale from then on: Target says (Entity{}, false), a filter narrowed
// to the stale entity matches nothing, one that asks for the relation alone still matches them.
// No entity that is created later is ever taken for the target. SetTarget gives them another one,
// Remove takes the relation, and [Relation.RemoveTree] removes them, before or after the
// target itself.
//
// A table without rows whose target is dead is used again for another one: targets that come and
// go do not make a world grow. Where entities have several relations, so are tables for targets that
// no entity has together, once there are more tables than targets.
//
// A mapper that has a relation among its types needs a target, by its To, before it is used. Add of
// a Component and [AddTo] panic with a [*memory.Misuse] for a relation that the entity has not. A
// target that is not alive is an error that wraps [ErrStale]; nothing has changed then.
type Relation[T any] struct{ Component[T] }

// RegisterRelation makes T a relation of w, or finds it when it is one already. It is an error
// where T is a component without a target: register relations before mappers and filters name them.
// Errors else as [Register].
func RegisterRelation[T any](w *World) (Relation[T], error) {
	n := len(w.store.comps)
	c, err := Register[T](w)
	if err != nil {
		return Relation[T]{}, err
	}
	if len(w.store.comps) > n {
		if w.store.variants == nil {
			w.store.variants, w.store.byTarget = make(map[mask]*variants), make(map[relationTarget]*targetTables)
		}
		w.store.relating = w.store.relating.with(maskBit(c.ID()))
	} else if !w.store.relating.has(c.ID()) {
		return Relation[T]{}, fmt.Errorf("ecs: %s is a component without a target; register it as a relation first", w.store.comps[c.ID()].name)
	}
	return Relation[T]{c}, nil
}

// Add gives e the relation to target with value v, or changes both where e has it. The error is
// [ErrStale], or wraps it where the target is stale, or wraps [memory.ErrOutOfMemory] or [memory.ErrTooLarge], as
// that of Component.Add; nothing has changed then. It panics with a [*memory.Misuse] where e has MaxRelations others.
func (r Relation[T]) Add(e Entity, v T, target Entity) error {
	w := r.w
	w.guard.mutable("Add")
	had := w.observers.observed != 0 && r.Has(e)
	rec := w.store.index.find(e)
	if rec == nil {
		return ErrStale
	}
	if err := w.retarget("Add", e, rec, r.ID(), target); err != nil {
		return err
	}
	*(*T)(w.store.cell(rec.loc, r.ID(), unsafe.Sizeof(v))) = v
	if w.observers.observed != 0 {
		w.observers.notifyOne(e, r.ID(), had)
	}
	w.store.freePending()
	return nil
}

// SetTarget changes the target of e and reports whether e had the relation; false when e is stale.
// Errors as Add.
func (r Relation[T]) SetTarget(e, target Entity) (bool, error) {
	w := r.w
	w.guard.mutable("SetTarget")
	if !r.Has(e) {
		return false, nil
	}
	if err := w.retarget("SetTarget", e, w.store.index.find(e), r.ID(), target); err != nil {
		return true, err
	}
	if w.observers.observed != 0 {
		w.observers.notifyOne(e, r.ID(), true)
	}
	w.store.freePending()
	return true, nil
}

// retarget moves the entity of rec to where relation id has the target.
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

// Target returns the entity that e relates to; false when e is stale or has not the relation, or
// when its target is stale.
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

// SetTargetAll changes the target of every entity that s matches and that has the relation, table by
// table, and returns their number. On error it is the number changed before; the table that failed
// and those after it are as they were.
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
				w.observers.notifyWritten(t, op, maskBit(id))
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
			w.observers.notifyMoved(op, moved, maskBit(id), maskBit(id))
		}
		w.store.freePending()
	}
	return total, nil
}

// RemoveTree removes e, all entities that relate to it, all that relate to those, and so on, and
// returns their number. Where e is stale it removes those that were related to it. Entities go
// before their targets. Cost: as World.Remove for each, and a look at the tables of each.
func (r Relation[T]) RemoveTree(e Entity) int {
	w := r.w
	w.guard.mutable("RemoveTree")
	tree := append(w.tree[:0], e)
	for i := 0; i < len(tree); i++ {
		if i > 0 && tree[i] == e { // e relates to one of its own tree
			continue
		}
		list := w.store.byTarget[relationTarget{r.ID(), tree[i]}]
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
		if w.destroy(tree[i]) {
			n++
		}
	}
	w.store.freePending()
	return n
}
