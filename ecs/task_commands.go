package ecs

import (
	"slices"

	"github.com/strata-go/strata/memory"
)

// Each worker collects the commands of its pieces in a buffer of its own. When a pass is over they
// go to World.Commands, piece by piece: then they are where they would be if one goroutine had
// run all, and there is one order, one Apply and one rule for what fails.

// taskCommands is what makes a Commands that of a Task. It is nil in that of a World.
//
// Invariant, verified by Check of Workers: between passes it is empty, as are its Commands.
type taskCommands struct {
	task    *Task
	gen     uint32       // generation of the entities that are to be
	starts  []batchStart // where the commands of a piece begin, in the order of pieces
	spawned uint32       // in this pass
}

// A batchStart is the state of the buffer when a piece gave its first command.
type batchStart struct {
	batch   int
	ops     int
	words   int
	spawned uint32
}

// notYet is set in the index of an entity that is to be: more than any slot has, so that it is
// stale whoever looks it up.
const placeholderBit = 1 << 31

// Commands returns the commands of the piece, valid until the body returns. They wait in
// [World.Commands] when Parallel returns, those of the first piece first, whoever ran it: Apply
// goes on with them, and Len and Discard count them. Where Parallel panics they are dropped.
//
// Spawn of these commands makes no entity before Apply: what it returns is stale, save for the
// commands of the same piece, which name the entity by it. Observers are told of the creation
// then, and memory is asked for: the error of Spawn is always nil. Apply and Discard panic with a
// [*memory.Misuse], as does every use outside of a body.
func (t *Task) Commands() *Commands {
	t.mustBeInBody("Commands")
	if t.commands == nil {
		t.commands = &Commands{task: &taskCommands{task: t}}
		t.beginCommands(t.w)
	}
	return t.commands
}

// beginCommands makes the commands, if there are any, those of a new pass.
func (t *Task) beginCommands(w *World) {
	if cmd := t.commands; cmd != nil {
		cmd.w = w
		cmd.task.gen = (t.ws.serial*maxWorkers+uint32(t.worker))<<1 | 1
	}
}

// dropCommands empties the commands, if there are any.
func (t *Task) dropCommands() {
	if cmd := t.commands; cmd != nil {
		cmd.clear()
		cmd.task.starts, cmd.task.spawned = cmd.task.starts[:0], 0
	}
}

// mustAccept panics where no command may be given now.
func (cmd *Commands) mustAccept(op string) {
	g := cmd.task
	if g == nil {
		cmd.w.guard.mustBeOpen(op)
		return
	}
	g.task.mustBeInBody(op)
	if n := len(g.starts); n == 0 || g.starts[n-1].batch != g.task.batch {
		g.starts = append(g.starts, batchStart{g.task.batch, len(cmd.ops), len(cmd.words), g.spawned})
	}
}

// mustApply panics where a task's commands are to do what only a world's do.
func (cmd *Commands) mustApply(op string) {
	if cmd.task != nil {
		panic(&memory.Misuse{Package: "ecs", Op: op, Reason: "commands of a Task wait in World.Commands when the pass is over"})
	}
}

// A placeholder is how commands name an entity that a pass asked for: notYet and its place in
// Commands.made, in those of a Task its number in the pass. No generation of an Entity that
// anybody has is 0 there.
func placeholder(n uint32) Entity { return Entity{index: placeholderBit | n} }

func isPlaceholder(e Entity) bool { return e.gen == 0 && e.index >= placeholderBit }

// validPlaceholder reports whether e, where it is a place, is one of cmd.
func (cmd *Commands) validPlaceholder(e Entity) bool {
	return !isPlaceholder(e) || int64(e.index&^placeholderBit) < int64(len(cmd.resolved))
}

// resolve returns the entity that a command names.
func (cmd *Commands) resolve(e Entity) Entity {
	if isPlaceholder(e) {
		return cmd.resolved[e.index&^placeholderBit]
	}
	return e
}

// spawnLater is Spawn of a task.
func (cmd *Commands) spawnLater() Entity {
	g := cmd.task
	e := Entity{index: placeholderBit | g.spawned, gen: g.gen}
	cmd.ops = append(cmd.ops, command{e: placeholder(g.spawned), kind: commandCreate})
	g.spawned++
	return e
}

// toPlaceholder returns e, or its place where Spawn of the same piece has returned it.
func (cmd *Commands) toPlaceholder(e Entity) Entity {
	if g := cmd.task; g != nil && e.gen == g.gen && e.index >= placeholderBit {
		if n := e.index &^ placeholderBit; n < g.spawned && n >= g.starts[len(g.starts)-1].spawned {
			return placeholder(n)
		}
	}
	return e
}

// spawnPlaceholder spawns the entity of command i, a creation, which is then a Spawn like any other.
func (cmd *Commands) spawnPlaceholder(i int) error {
	w := cmd.w
	e, loc, err := w.store.spawn(w.store.tables[0])
	if err != nil {
		return err
	}
	op := &cmd.ops[i] // not before: the allocator may have given commands
	op.kind, cmd.resolved[op.e.index&^placeholderBit] = commandSpawn, e
	if w.observers.observed != 0 {
		w.observers.notifyCreated(loc, 1, mask{})
		w.guard.mutable("Apply")
	}
	return nil
}

// collect moves what the pieces gave to the commands of w, in their order.
func (ws *Workers) collect(w *World) {
	for {
		var first *Commands
		for _, t := range ws.tasks {
			if cmd := t.commands; cmd != nil && len(cmd.task.starts) > 0 &&
				(first == nil || cmd.task.starts[0].batch < first.task.starts[0].batch) {
				first = cmd
			}
		}
		if first == nil {
			return
		}
		if w.commands == nil {
			w.commands = &Commands{w: w}
		}
		w.commands.takeBatch(first)
	}
}

// takeBatch moves the first piece that from holds to the end of cmd. What remains of from's
// buffers is let go by dropCommands.
func (cmd *Commands) takeBatch(from *Commands) {
	g := from.task
	at, end := g.starts[0], batchStart{ops: len(from.ops), words: len(from.words), spawned: g.spawned}
	if len(g.starts) > 1 {
		end = g.starts[1]
	}
	g.starts = slices.Delete(g.starts, 0, 1)
	first, words := uint32(len(cmd.resolved)), len(cmd.words)
	for range end.spawned - at.spawned {
		cmd.resolved = append(cmd.resolved, Entity{})
	}
	cmd.words = append(cmd.words, from.words[at.words:end.words]...)
	for _, op := range from.ops[at.ops:end.ops] {
		for _, e := range []*Entity{&op.e, &op.target} {
			if isPlaceholder(*e) {
				e.index += first - at.spawned
			}
		}
		if op.kind == commandAdd || op.kind == commandRelate {
			if cmd.w.store.comps[op.id].pointerful {
				op.at = cmd.queueOf(op.id, from.queues[op.id]).take(from.queues[op.id], op.at)
			} else {
				op.at += words - at.words
			}
		}
		cmd.ops = append(cmd.ops, op)
	}
}

// queueOf returns the queue of a component, which it makes like the given one.
func (cmd *Commands) queueOf(id ID, like valueQueue) valueQueue {
	for int(id) >= len(cmd.queues) {
		cmd.queues = append(cmd.queues, nil)
	}
	if cmd.queues[id] == nil {
		cmd.queues[id] = like.another()
	}
	return cmd.queues[id]
}
