package ecs

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// Commands collects structural changes, also while the world is locked. Apply executes the commands in the order in
// which they were given. Only Spawn of [World.Commands] has an effect before Apply: it creates its entity at once. If
// the entity or the target of a command is stale at Apply, the command is skipped. So two bullets may destroy one
// enemy.
//
// Apply works in steps. A step is a sequence of additions, removals and changes of targets for one entity, without
// other commands in between. A Spawn directly before them belongs to the step, as in the commands that [Map1.Spawn]
// gives. If a step has a Spawn and an [AddRelation] with a stale target, Apply skips the whole step and removes the
// entity. If the two are in different steps, the entity stays without the relation.
//
// The buffer of [World.Commands] accepts no commands in a closed world and in a parallel run. In these cases all
// methods except Len and Skipped, and functions such as [AddTo], panic with a [*memory.Misuse].
//
// In a parallel run use the buffer of [Task.Commands]. Outside of a body, all methods of this buffer except Skipped,
// and functions such as AddTo, panic with a [*memory.Misuse]. Its Apply and Discard always panic.
//
// In steady state, commands and Apply allocate in the Go heap only for new archetypes, and for columns of types with
// pointers. [World.Shrink] frees the buffers of World.Commands.
type Commands struct {
	// Invariants, verified in this order by check:
	//
	//	(1) a command has one of seven kinds, and names a component of the world, or a relation
	//	(2) the value of an addition is in words, or in the queue of its type
	//	(3) placeholders have an index in resolved; creations too, and their entity is not created yet
	noCopy   noCopy
	w        *World
	ops      []command
	words    []uint64     // values of pointer-free components, each from a whole word on
	queues   []valueQueue // by component, as long as needed
	skipped  int
	targets  targetSet     // targets set by the group that is being applied
	resolved []Entity      // entities of placeholders
	task     *taskCommands // nil in the commands of a World
}

type commandKind uint8

const (
	commandSpawn commandKind = iota
	commandAdd
	commandRemove
	commandRelate // commandAdd with a target
	commandTurn   // changes the target
	commandDestroy
	commandCreate // a Spawn in a parallel run
)

type command struct {
	e      Entity
	target Entity
	at     int // value: index into words or into the component's queue
	kind   commandKind
	id     ID
}

// A valueQueue has values of one type with pointers, where the collector sees them.
type valueQueue interface {
	len() int
	store(p unsafe.Pointer, i int)
	at(i int) unsafe.Pointer
	take(from valueQueue, i int) (at int) // appends a value of another queue of the same type
	another() valueQueue
	clear()
}

type typedQueue[T any] struct{ values []T }

func (q *typedQueue[T]) len() int { return len(q.values) }

func (q *typedQueue[T]) store(p unsafe.Pointer, i int) { *(*T)(p) = q.values[i] }

func (q *typedQueue[T]) at(i int) unsafe.Pointer { return unsafe.Pointer(&q.values[i]) }

func (q *typedQueue[T]) take(from valueQueue, i int) int {
	q.values = append(q.values, from.(*typedQueue[T]).values[i])
	return len(q.values) - 1
}

func (q *typedQueue[T]) another() valueQueue { return new(typedQueue[T]) }

func (q *typedQueue[T]) clear() {
	clear(q.values)
	q.values = q.values[:0]
}

// Commands returns the command buffer of the world. All calls return the same buffer. In a parallel run
// Commands panics with a [*memory.Misuse]: use [Task.Commands] there.
func (w *World) Commands() *Commands {
	w.guard.notInParallel("Commands")
	if w.commands == nil {
		w.commands = &Commands{w: w}
	}
	return w.commands
}

// Len returns the number of commands that wait for Apply, each Spawn included. While Apply calls an observer, Len
// also counts the commands that were already executed. For the commands of a [Task], Len returns the number given in
// the current batch.
func (cmd *Commands) Len() int {
	if cmd.task != nil {
		cmd.mustAccept("Len")
		return len(cmd.ops) - cmd.task.starts[len(cmd.task.starts)-1].ops
	}
	return len(cmd.ops)
}

// Skipped returns the number of commands that the last Apply skipped because their entity or target was stale. If Apply
// skipped a whole step, each of its commands counts. Before the first Apply, and for the commands of a [Task], Skipped
// returns 0.
func (cmd *Commands) Skipped() int { return cmd.skipped }

// Spawn creates an entity without components at once, so that other commands can name the entity. Spawn is allowed
// while queries are open, while a batch is filled, and in observers. Only a filter of [NewFilterOf] without IDs can
// match an entity without components. Errors are those of World.NewEntity. On error Spawn returns the zero Entity, and
// no entity was created. Apply reports the creation to observers: see [World.OnCreate]. Spawn panics with a
// [*memory.Misuse] in a closed world, in a parallel run, and while the world calls its allocator or Config.Pages. It
// also panics during WriteJSON, ReadJSON, WriteBinary and ReadBinary. For Spawn of a [Task] see [Task.Commands].
func (cmd *Commands) Spawn() (Entity, error) {
	if cmd.task != nil {
		cmd.mustAccept("Spawn")
		return cmd.spawnLater(), nil
	}
	w := cmd.w
	if w.guard.closed() || w.guard.allocating || w.guard.inParallel || w.guard.texts > 0 {
		w.guard.refuse("Spawn")
	}
	e, _, err := w.store.spawn(w.store.tables[0])
	if err != nil {
		return Entity{}, err
	}
	cmd.ops = append(cmd.ops, command{e: e, kind: commandSpawn})
	if w.observers.observed != 0 {
		w.observers.delay(e)
	}
	return e, nil
}

// Destroy removes e with all its components at the next Apply. If e is stale at Apply, the command is
// skipped. Destroy panics with a [*memory.Misuse] when cmd accepts no commands, as [Commands] describes.
func (cmd *Commands) Destroy(e Entity) {
	cmd.mustAccept("Destroy")
	cmd.ops = append(cmd.ops, command{e: cmd.toPlaceholder(e), kind: commandDestroy})
}

// AddTo adds the component with value v to e at the next Apply. If e has the component at Apply, the
// command overwrites it with v. If e is stale at Apply, the command is skipped. AddTo panics with a
// [*memory.Misuse] if c is a relation (see [AddRelation]) or belongs to another world, or when cmd
// accepts no commands, as [Commands] describes.
func AddTo[T any](cmd *Commands, c Component[T], e Entity, v T) {
	checkComponent(cmd, c, "AddTo")
	if cmd.w.store.relating.has(c.ID()) {
		cmd.w.store.refuseNoTarget("AddTo", c.ID())
	}
	add(cmd, c.comp, command{e: cmd.toPlaceholder(e), kind: commandAdd, id: c.ID()}, v)
}

// AddRelation adds the relation with value v and a target to e at the next Apply. If e has the relation at Apply, the
// command changes its value and its target. If e or the target is stale at Apply, the command is skipped. If the target
// is stale and the step has the Spawn of e, the whole step is skipped: see [Commands]. If e would get a fifth relation,
// Apply panics. AddRelation panics with a [*memory.Misuse] if r belongs to another world, or when cmd accepts no
// commands, as [Commands] describes.
func AddRelation[T any](cmd *Commands, r Relation[T], e Entity, v T, target Entity) {
	checkComponent(cmd, r.Component, "AddRelation")
	add(cmd, r.comp, command{e: cmd.toPlaceholder(e), kind: commandRelate, id: r.ID(), target: cmd.toPlaceholder(target)}, v)
}

// SetTargetOf changes the target of e for the relation at the next Apply. If e does not have the relation
// at Apply, the command does nothing. If e or the target is stale at Apply, the command is skipped.
// SetTargetOf panics with a [*memory.Misuse] if r belongs to another world, or when cmd accepts no
// commands, as [Commands] describes.
func SetTargetOf[T any](cmd *Commands, r Relation[T], e, target Entity) {
	checkComponent(cmd, r.Component, "SetTargetOf")
	cmd.ops = append(cmd.ops, command{e: cmd.toPlaceholder(e), kind: commandTurn, id: r.ID(), target: cmd.toPlaceholder(target)})
}

// add appends the command op with value v.
func add[T any](cmd *Commands, c *component, op command, v T) {
	op.at = put(cmd, c, v)
	cmd.ops = append(cmd.ops, op)
}

// put stores the value of an addition and returns its index.
func put[T any](cmd *Commands, c *component, v T) (at int) {
	if c.pointerful {
		for len(cmd.queues) <= int(c.id) {
			cmd.queues = append(cmd.queues, nil)
		}
		q, _ := cmd.queues[c.id].(*typedQueue[T])
		if q == nil {
			q = new(typedQueue[T])
			cmd.queues[c.id] = q
		}
		q.values = append(q.values, v)
		return len(q.values) - 1
	}
	if n := int((unsafe.Sizeof(v) + 7) / 8); n > 0 {
		at = cmd.extendWords(n)
		*(*T)(unsafe.Pointer(&cmd.words[at])) = v
	}
	return at
}

// extendWords extends words by n and returns the index of the first new one.
func (cmd *Commands) extendWords(n int) int {
	at := len(cmd.words)
	for cap(cmd.words) < at+n {
		cmd.words = append(cmd.words[:cap(cmd.words)], 0)
	}
	cmd.words = cmd.words[:at+n]
	return at
}

// RemoveFrom removes the component from e at the next Apply. If e does not have the component at Apply, the
// command does nothing. If e is stale at Apply, the command is skipped. For a Relation r pass r.Component.
// RemoveFrom panics with a [*memory.Misuse] if c belongs to another world, or when cmd accepts no commands,
// as [Commands] describes.
func RemoveFrom[T any](cmd *Commands, c Component[T], e Entity) {
	checkComponent(cmd, c, "RemoveFrom")
	cmd.ops = append(cmd.ops, command{e: cmd.toPlaceholder(e), kind: commandRemove, id: c.ID()})
}

func checkComponent[T any](cmd *Commands, c Component[T], op string) {
	if c.w != cmd.w {
		panic(&memory.Misuse{Package: "ecs", Op: op, Reason: "the component was registered with another world"})
	}
	cmd.mustAccept(op)
}

// Apply executes all commands in order, and moves the row of an entity at most once in each step: see [Commands].
// Observers see only the result of a step: a component that is removed and added again counts as written.
//
// On error the steps before the failed one have been applied. The failed step and all later ones still wait for
// Apply. If the error wraps [memory.ErrOutOfMemory] or [ErrLimit], free memory or remove entities and call Apply
// again, or call Discard. If the world closed itself, the error wraps [memory.ErrClosed], and the commands were
// dropped. Other errors of the allocator and of Config.Pages are wrapped.
//
// Two kinds of failure would recur at each Apply. If a row would not fit a chunk, the error wraps [memory.ErrTooLarge].
// If an entity would get a fifth relation, Apply panics with a [*memory.Misuse]. In both cases Apply drops the failed
// step, and the error or the panic names the entity. The entity is unchanged, or removed if its Spawn is part of the
// step. Later steps wait for the next Apply. If the allocator itself returns memory.ErrTooLarge, the failed step waits,
// too.
//
// If the allocator or an observer panics, the commands that were not applied still wait. Apply also panics with a
// [*memory.Misuse] if the world is locked, if an observer leaves it locked, or if these are the commands of a [Task].
func (cmd *Commands) Apply() error {
	cmd.mustApply("Apply")
	cmd.w.guard.mutable("Apply")
	cmd.skipped = 0
	done := 0
	defer func() {
		done = min(done, len(cmd.ops)) // the allocator may have closed the world
		if cmd.ops = cmd.ops[:copy(cmd.ops, cmd.ops[done:])]; len(cmd.ops) == 0 {
			cmd.clear()
		}
	}()
	for done < len(cmd.ops) {
		if err := cmd.applyGroup(cmd.ops[done:], &done); err != nil {
			return err
		}
		cmd.w.store.freePending()
		if err := cmd.w.guard.stillMutable("Apply"); err != nil { // an observer may also have left a query open
			return err
		}
	}
	return nil
}

// applyGroup executes the first command and those after it for the same entity, up to a Destroy, and
// adds their number to done. Commands with a stale target are ignored.
func (cmd *Commands) applyGroup(ops []command, done *int) error {
	w := cmd.w
	fresh := ops[0].kind == commandSpawn || ops[0].kind == commandCreate
	if ops[0].kind == commandCreate {
		if err := cmd.spawnPlaceholder(*done); err != nil {
			return err
		}
	}
	e := cmd.resolve(ops[0].e)
	if ops[0].kind == commandDestroy {
		alive, err := w.destroy("Apply", e)
		if err != nil {
			return err
		}
		if !alive {
			cmd.skipped++
		}
		*done++
		return nil
	}
	n := 1
	for n < len(ops) && ops[n].e == ops[0].e && ops[n].kind < commandDestroy && ops[n].kind != commandSpawn {
		n++
	}
	r := w.store.index.find(e)
	if r == nil {
		if fresh {
			delete(w.observers.delayed, e)
		}
		cmd.skipped += n
		*done += n
		return nil
	}
	loc := r.loc
	t := w.store.tableAt(loc)
	m, given := t.mask, mask{}
	stale, lost, excess := 0, false, false
	cmd.targets.n = 0
	for i := range ops[:n] {
		switch op := &ops[i]; op.kind {
		case commandAdd:
			m[op.id>>6] |= 1 << (op.id & 63)
			given[op.id>>6] |= 1 << (op.id & 63)
		case commandRemove:
			m[op.id>>6] &^= 1 << (op.id & 63)
			cmd.targets.drop(op.id)
		case commandRelate, commandTurn:
			target := cmd.resolve(op.target)
			if !w.Alive(target) {
				stale++
				lost = lost || op.kind == commandRelate
				continue
			}
			if op.kind == commandTurn && !m.has(op.id) {
				continue
			}
			m[op.id>>6] |= 1 << (op.id & 63)
			given[op.id>>6] |= 1 << (op.id & 63)
			if excess = excess || cmd.targets.full(op.id); !excess {
				cmd.targets.set("Apply", op.id, target)
			}
		}
	}
	switch {
	case fresh && lost:
		err := cmd.undoSpawn(e) // first: if an observer panics, the step waits
		cmd.skipped += n
		*done += n
		return err
	case excess || w.store.exceeds(&m):
		if fresh {
			_ = cmd.undoSpawn(e)
		}
		*done += n
		panic(&memory.Misuse{Package: "ecs", Op: "Apply", Reason: excessReason + "; the commands of " + e.String() + " were dropped"})
	}
	k, retargets := w.store.keyAfter("Apply", t, m, &cmd.targets)
	if retargets || m != t.mask {
		tr, err := w.store.transitionTo(t, k, retargets)
		if errors.Is(err, memory.ErrTooLarge) { // again at each Apply
			if fresh {
				if err := cmd.undoSpawn(e); err != nil {
					return err
				}
			}
			*done += n
			return fmt.Errorf("ecs: Apply: the commands of %v were dropped: %w", e, err)
		}
		if err != nil {
			return err
		}
		if w.observers.observed != 0 {
			if err = w.observers.notifyLoss("Apply", loc, tr.to); err != nil {
				return err
			}
		}
		if loc, err = w.store.relocate(e.index, r, tr); err != nil {
			return err
		}
	}
	for i := range ops[:n] {
		cmd.write(&ops[i], loc)
	}
	cmd.skipped += stale
	*done += n
	if w.observers.observed != 0 {
		if fresh {
			w.observers.notifyDelayed(e, loc, given.and(m))
		}
		return w.observers.notifyAdded(e, given.and(m), t.mask)
	}
	return nil
}

// undoSpawn removes the entity of a Spawn, whose creation was not reported. It returns an error if an observer of its
// components, or Free, closed the allocator.
func (cmd *Commands) undoSpawn(e Entity) error {
	o := &cmd.w.observers
	if o.observed != 0 {
		o.delay(e)
	}
	_, err := cmd.w.destroy("Apply", e)
	delete(o.delayed, e)
	if cmd.w.store.freePending(); err == nil { // Apply may fail next
		err = cmd.w.guard.closedItself()
	}
	return err
}

// write stores the value of an addition, unless a later command of the group removed the component.
func (cmd *Commands) write(op *command, loc uint32) {
	w := cmd.w
	if op.kind != commandAdd && op.kind != commandRelate || w.store.column(loc>>rowBits, op.id) == nil ||
		op.kind == commandRelate && !w.Alive(cmd.resolve(op.target)) {
		return
	}
	comp := w.store.comps[op.id]
	p := w.store.cell(loc, op.id, comp.size)
	switch {
	case comp.pointerful:
		cmd.queues[op.id].store(p, op.at)
	case comp.size > 0:
		copyRow(p, unsafe.Pointer(&cmd.words[op.at]), comp.size)
	}
	if len(comp.named) > 0 && len(cmd.resolved) > 0 {
		cmd.resolveValue(p, comp.named)
	}
}

// Discard drops all waiting commands and destroys the entities of their Spawns. OnRemove of the components reports
// these entities; OnCreate and OnRemove of the world do not. Commands that observers give during Discard wait for the
// next Apply. If an observer panics, all commands still wait. Discard panics with a [*memory.Misuse] if the world is
// locked or if these are the commands of a [Task].
func (cmd *Commands) Discard() {
	cmd.mustApply("Discard")
	cmd.w.guard.mutable("Discard")
	n := len(cmd.ops)
	for i := range n {
		if op := &cmd.ops[i]; op.kind == commandSpawn {
			e := cmd.resolve(op.e)
			if cmd.w.observers.observed != 0 {
				cmd.w.observers.delay(e) // also if the observers came after Spawn
			}
			if _, err := cmd.w.destroy("Discard", e); err != nil {
				cmd.w.guard.refuse("Discard")
			}
			delete(cmd.w.observers.delayed, e)
		}
	}
	if cmd.ops = cmd.ops[:copy(cmd.ops, cmd.ops[n:])]; len(cmd.ops) == 0 { // observers may have appended more
		cmd.clear()
	}
	cmd.w.store.freePending()
}

// clear empties the buffers and keeps them.
func (cmd *Commands) clear() {
	cmd.ops = cmd.ops[:0]
	cmd.words = cmd.words[:0]
	cmd.resolved = cmd.resolved[:0]
	if cmd.task == nil {
		clear(cmd.w.observers.delayed)
	}
	for _, q := range cmd.queues {
		if q != nil {
			q.clear()
		}
	}
}

// trim releases the buffers, unless commands wait in them.
func (cmd *Commands) trim() {
	if len(cmd.ops) == 0 {
		cmd.ops, cmd.words, cmd.resolved, cmd.queues = nil, nil, nil, nil
		cmd.w.observers.delayed = nil
	}
}
