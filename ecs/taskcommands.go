package ecs

import (
	"slices"

	"github.com/strata-go/strata/memory"
)

// Each worker collects the commands of its pieces in a buffer of its own. When a pass is over they
// go to World.Commands, piece by piece: then they are where they would be if one goroutine had
// run all, and there is one order, one Apply and one rule for what fails.

// given is what makes a Commands that of a Task. It is nil in that of a World.
//
// Invariant, verified by Check of Workers: between passes it is empty, as are its Commands.
type given struct {
	task    *Task
	mark    uint32 // generation of the entities that are to be
	cuts    []cut  // where the commands of a piece begin, in the order of pieces
	spawned uint32 // in this pass
}

// A cut is the state of the buffer when a piece gave its first command.
type cut struct {
	piece   int
	ops     int
	words   int
	spawned uint32
}

// notYet is set in the index of an entity that is to be: more than any slot has, so that it is
// stale whoever looks it up.
const notYet = 1 << 31

// Commands returns the commands of the piece, valid until the body returns. They wait in
// [World.Commands] when Parallel returns, those of the first piece first, whoever ran it: Apply
// goes on with them, and Len and Discard count them. Where Parallel panics they are dropped.
//
// Spawn of these commands makes no entity before Apply: what it returns is stale, save for the
// commands of the same piece, which name the entity by it. Observers are told of the creation
// then, and memory is asked for: the error of Spawn is always nil. Apply and Discard panic with a
// [*memory.Misuse], as does every use outside of a body.
func (t *Task) Commands() *Commands {
	t.within("Commands")
	if t.commands == nil {
		t.commands = &Commands{given: &given{task: t}}
		t.beginCommands(t.w)
	}
	return t.commands
}

// beginCommands makes the commands, if there are any, those of a new pass.
func (t *Task) beginCommands(w *World) {
	if cmd := t.commands; cmd != nil {
		cmd.w = w
		cmd.given.mark = (t.ws.serial*maxWorkers+uint32(t.worker))<<1 | 1
	}
}

// dropCommands empties the commands, if there are any.
func (t *Task) dropCommands() {
	if cmd := t.commands; cmd != nil {
		cmd.forget()
		cmd.given.cuts, cmd.given.spawned = cmd.given.cuts[:0], 0
	}
}

// ready panics where no command may be given now.
func (cmd *Commands) ready(op string) {
	g := cmd.given
	if g == nil {
		cmd.w.unclosed(op)
		return
	}
	g.task.within(op)
	if n := len(g.cuts); n == 0 || g.cuts[n-1].piece != g.task.piece {
		g.cuts = append(g.cuts, cut{g.task.piece, len(cmd.ops), len(cmd.words), g.spawned})
	}
}

// applicable panics where a task's commands are to do what only a world's do.
func (cmd *Commands) applicable(op string) {
	if cmd.given != nil {
		panic(&memory.Misuse{Package: "ecs", Op: op, Reason: "commands of a Task wait in World.Commands when the pass is over"})
	}
}

// A place is how commands name an entity that a pass asked for: notYet and its place in
// Commands.made, in those of a Task its number in the pass. No generation of an Entity that
// anybody has is 0 there.
func place(n uint32) Entity { return Entity{index: notYet | n} }

func isPlace(e Entity) bool { return e.gen == 0 && e.index >= notYet }

// hasPlace reports whether e, where it is a place, is one of cmd.
func (cmd *Commands) hasPlace(e Entity) bool {
	return !isPlace(e) || int64(e.index&^notYet) < int64(len(cmd.made))
}

// real returns the entity that a command names.
func (cmd *Commands) real(e Entity) Entity {
	if isPlace(e) {
		return cmd.made[e.index&^notYet]
	}
	return e
}

// spawnLater is Spawn of a task.
func (cmd *Commands) spawnLater() Entity {
	g := cmd.given
	e := Entity{index: notYet | g.spawned, gen: g.mark}
	cmd.ops = append(cmd.ops, command{e: place(g.spawned), kind: commandCreate})
	g.spawned++
	return e
}

// named returns e, or its place where Spawn of the same piece has returned it.
func (cmd *Commands) named(e Entity) Entity {
	if g := cmd.given; g != nil && e.gen == g.mark && e.index >= notYet {
		if n := e.index &^ notYet; n < g.spawned && n >= g.cuts[len(g.cuts)-1].spawned {
			return place(n)
		}
	}
	return e
}

// create spawns the entity of command i, a creation, which is then a Spawn like any other.
func (cmd *Commands) create(i int) error {
	w := cmd.w
	e, loc, err := w.spawn(w.tables[0])
	if err != nil {
		return err
	}
	op := &cmd.ops[i] // not before: the allocator may have given commands
	op.kind, cmd.made[op.e.index&^notYet] = commandSpawn, e
	if w.observed != 0 {
		w.tellNew(loc, 1, mask{})
		w.mutable("Apply")
	}
	return nil
}

// collect moves what the pieces gave to the commands of w, in their order.
func (ws *Workers) collect(w *World) {
	for {
		var first *Commands
		for _, t := range ws.tasks {
			if cmd := t.commands; cmd != nil && len(cmd.given.cuts) > 0 &&
				(first == nil || cmd.given.cuts[0].piece < first.given.cuts[0].piece) {
				first = cmd
			}
		}
		if first == nil {
			return
		}
		if w.commands == nil {
			w.commands = &Commands{w: w}
		}
		w.commands.takePiece(first)
	}
}

// takePiece moves the first piece that from holds to the end of cmd. What remains of from's
// buffers is let go by dropCommands.
func (cmd *Commands) takePiece(from *Commands) {
	g := from.given
	at, end := g.cuts[0], cut{ops: len(from.ops), words: len(from.words), spawned: g.spawned}
	if len(g.cuts) > 1 {
		end = g.cuts[1]
	}
	g.cuts = slices.Delete(g.cuts, 0, 1)
	first, words := uint32(len(cmd.made)), len(cmd.words)
	for range end.spawned - at.spawned {
		cmd.made = append(cmd.made, Entity{})
	}
	cmd.words = append(cmd.words, from.words[at.words:end.words]...)
	for _, op := range from.ops[at.ops:end.ops] {
		for _, e := range []*Entity{&op.e, &op.target} {
			if isPlace(*e) {
				e.index += first - at.spawned
			}
		}
		if op.kind == commandAdd || op.kind == commandRelate {
			if cmd.w.comps[op.id].pointerful {
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
