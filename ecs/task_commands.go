package ecs

import (
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// Each worker collects the commands of its batches in its own buffer. After the run they move to
// World.Commands in batch order, as if one goroutine had run all batches.

// A taskCommands is what the Commands of a Task have in addition.
//
// Invariant, verified by Check of Workers: between runs it is empty, as are its Commands.
type taskCommands struct {
	task    *Task
	gen     uint32       // generation of the placeholders of the newest batch
	starts  []batchStart // in batch order
	taken   int          // starts whose batches collect has moved
	spawned uint32       // in this run
}

// A batchStart is the state of the buffer when a batch gave its first command.
type batchStart struct {
	batch   int
	ops     int
	words   int
	spawned uint32
}

// placeholderBit is set in the index of a placeholder. No slot is that high, so every look-up finds it
// stale.
//
// The rest of the index is the number of the placeholder in its batch, and the generation is that of the batch. Neither
// depends on the worker: a body may store a placeholder in a column, whose bytes are part of the hash.
const placeholderBit = 1 << 31

// generation returns the generation of the placeholders of a batch. It returns after 1<<31 batches.
func (p *parallelRun) generation(batch int) uint32 { return (p.serial+uint32(batch))<<1 | 1 }

// Commands returns the command buffer of the batch that the body runs. The buffer is valid until the body returns. The
// type [Commands] lists its panics. After Parallel the commands of all batches wait in [World.Commands], in batch
// order, regardless of the workers that ran them. Apply, Len and Discard of World.Commands include them. If a body
// panics or calls [runtime.Goexit], the commands of the run are discarded. They are also discarded if the world closes
// itself at the end of the run (see [World]).
//
// Spawn of this buffer returns a placeholder, and Apply of World.Commands creates the entity. Look-ups find the
// placeholder stale. Later commands of the same batch accept the placeholder as their entity or target. The values of
// these commands may have the placeholder in Entity fields, also within structs and arrays: Apply writes the entity
// there. Spawn itself creates nothing, so its error is always nil. Apply allocates the memory of the entities and calls
// the observers.
//
// All other placeholders stay stale: those that a body writes to a column, behind a pointer or into a container, and
// those in commands of another batch. Their bits depend on how many batches the workers and the world ran before, but
// not on the number of workers. If a component has such a placeholder, WriteBinary and WriteJSON return an error, and
// so does reading a file that contains one.
func (t *Task) Commands() *Commands {
	t.mustBeInBody("Commands")
	if t.commands == nil {
		t.commands = &Commands{task: &taskCommands{task: t}}
		t.beginCommands(t.w)
	}
	return t.commands
}

// beginCommands prepares the commands, if there are any, for a new run.
func (t *Task) beginCommands(w *World) {
	if cmd := t.commands; cmd != nil {
		cmd.w = w
	}
}

// dropCommands clears the commands, if there are any.
func (t *Task) dropCommands() {
	if cmd := t.commands; cmd != nil {
		cmd.clear()
		cmd.task.starts, cmd.task.taken, cmd.task.spawned = cmd.task.starts[:0], 0, 0
	}
}

// mustAccept panics unless commands are allowed now.
func (cmd *Commands) mustAccept(op string) {
	g := cmd.task
	if g == nil {
		cmd.w.guard.mustBeOpen(op)
		return
	}
	g.task.mustBeInBody(op)
	if n := len(g.starts); n == 0 || g.starts[n-1].batch != g.task.batch {
		g.gen = g.task.ws.run.generation(g.task.batch)
		g.starts = append(g.starts, batchStart{g.task.batch, len(cmd.ops), len(cmd.words), g.spawned})
	}
}

// mustApply panics for the commands of a task, which only a world can apply.
func (cmd *Commands) mustApply(op string) {
	if cmd.task != nil {
		panic(&memory.Misuse{Package: "ecs", Op: op, Reason: "commands of a Task are applied by World.Commands after the run"})
	}
}

// placeholder returns the form in which commands store a placeholder: placeholderBit and its index in
// Commands.resolved, or in a Task its number in the run. The generation is 0, which no Entity has
// there.
func placeholder(n uint32) Entity { return Entity{index: placeholderBit | n} }

func isPlaceholder(e Entity) bool { return e.gen == 0 && e.index >= placeholderBit }

// validPlaceholder reports whether e is an entity, or a placeholder with an index in resolved.
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
	e := Entity{index: placeholderBit | (g.spawned - g.starts[len(g.starts)-1].spawned), gen: g.gen}
	cmd.ops = append(cmd.ops, command{e: placeholder(g.spawned), kind: commandCreate})
	g.spawned++
	return e
}

// toPlaceholder returns e, or its stored form if Spawn of the same batch returned it.
func (cmd *Commands) toPlaceholder(e Entity) Entity {
	if g := cmd.task; g != nil && e.gen == g.gen && e.index >= placeholderBit {
		first := g.starts[len(g.starts)-1].spawned
		if n := e.index &^ placeholderBit; n < g.spawned-first {
			return placeholder(first + n)
		}
	}
	return e
}

// spawnPlaceholder spawns the entity of command i, which then becomes an ordinary Spawn.
func (cmd *Commands) spawnPlaceholder(i int) error {
	w := cmd.w
	e, _, err := w.store.spawn(w.store.tables[0])
	if err != nil {
		return err
	}
	op := &cmd.ops[i] // not earlier: the allocator may have appended commands
	op.kind, cmd.resolved[op.e.index&^placeholderBit] = commandSpawn, e
	if w.observers.observed != 0 {
		w.observers.delay(e)
	}
	return nil
}

// collect moves the commands of all batches to w, in batch order.
func (ws *Workers) collect(w *World) {
	for {
		var first *Commands
		for _, t := range ws.tasks {
			if cmd := t.commands; cmd != nil && len(cmd.task.starts) > cmd.task.taken &&
				(first == nil || cmd.task.starts[cmd.task.taken].batch < first.task.starts[first.task.taken].batch) {
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

// takeBatch moves the next batch of from to the end of cmd. dropCommands later clears the buffers of
// from.
func (cmd *Commands) takeBatch(from *Commands) {
	g := from.task
	at, end := g.starts[g.taken], batchStart{ops: len(from.ops), words: len(from.words), spawned: g.spawned}
	if g.taken++; g.taken < len(g.starts) {
		end = g.starts[g.taken]
	}
	first, words, gen := uint32(len(cmd.resolved)), len(cmd.words), g.task.ws.run.generation(at.batch)
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
			if named := cmd.w.store.comps[op.id].named; len(named) > 0 {
				cmd.namePlaceholders(cmd.value(&op), named, gen, first, end.spawned-at.spawned)
			}
		}
		cmd.ops = append(cmd.ops, op)
	}
}

// value returns the value of an addition of a type that has Entity fields.
func (cmd *Commands) value(op *command) unsafe.Pointer {
	if cmd.w.store.comps[op.id].pointerful {
		return cmd.queues[op.id].at(op.at)
	}
	return unsafe.Pointer(&cmd.words[op.at])
}

// namePlaceholders gives the placeholders of a batch in the value at p the form in which commands store them. The value
// has an Entity at each of the offsets. The n placeholders of the batch begin at first in resolved.
func (cmd *Commands) namePlaceholders(p unsafe.Pointer, offsets []uintptr, gen, first, n uint32) {
	for _, off := range offsets {
		e := (*Entity)(unsafe.Add(p, off))
		if i := e.index &^ placeholderBit; e.gen == gen && e.index >= placeholderBit && i < n {
			*e = placeholder(first + i)
		}
	}
}

// resolveValue replaces the placeholders in the value at p, which a command has written, by their entities.
func (cmd *Commands) resolveValue(p unsafe.Pointer, offsets []uintptr) {
	for _, off := range offsets {
		if e := (*Entity)(unsafe.Add(p, off)); cmd.validPlaceholder(*e) {
			*e = cmd.resolve(*e)
		}
	}
}

// queueOf returns the queue of a component, and creates one of the same type as like if needed.
func (cmd *Commands) queueOf(id ID, like valueQueue) valueQueue {
	for int(id) >= len(cmd.queues) {
		cmd.queues = append(cmd.queues, nil)
	}
	if cmd.queues[id] == nil {
		cmd.queues[id] = like.another()
	}
	return cmd.queues[id]
}
