package arena

// A Mark remembers the top of a Linear, for a Rewind. It is spent by its Rewind, by a
// Rewind to an older mark and by Reset; marks nest like brackets.
type Mark struct {
	arena  *Linear
	serial uint64
	depth  int
}

// A place is a live mark as the arena remembers it.
type place struct {
	serial uint64
	off    uintptr // the top
	newest uint32  // the size in Linear.book
	live   uint64  // blocks
	hooks  int     // how many were registered
}

// Mark opens a scope: blocks from here on are freed by Rewind(mark) or by Reset. Cost:
// constant; it allocates on the Go heap only when scopes nest deeper than ever before.
func (l *Linear) Mark() Mark {
	l.open("Mark", nil, 0)
	l.serial++
	l.kept, l.floor = l.live(), l.off
	l.marks = append(l.marks, place{l.serial, l.off, uint32(l.book), l.kept, len(l.hooks)})
	return Mark{arena: l, serial: l.serial, depth: len(l.marks) - 1}
}

// Rewind runs the hooks registered since the mark, newest first, and frees every block
// allocated since. A mark of another arena, one from before a Reset and one that is spent
// are refused, and so is a Rewind from one of the arena's hooks: it panics with a
// *memory.Misuse and nothing has changed.
func (l *Linear) Rewind(m Mark) {
	l.open("Rewind", nil, 0)
	switch {
	case m.arena != l:
		panic(misuse("Rewind", nil, 0, "the mark was made by another arena, or by none"))
	case m.depth >= len(l.marks) || l.marks[m.depth].serial != m.serial:
		panic(misuse("Rewind", nil, 0, "the mark is spent: it was rewound, an older one was, or the arena was reset"))
	}
	to := &l.marks[m.depth]
	if l.busy || len(l.hooks) > to.hooks {
		if l.runHooks("Rewind", to.hooks); l.base == nil {
			return
		}
		to = &l.marks[m.depth] // a hook may have made the list longer
	}
	l.marks = l.marks[:m.depth]
	l.kept, l.floor = 0, 0
	if m.depth > 0 {
		l.kept, l.floor = l.marks[m.depth-1].live, l.marks[m.depth-1].off
	}
	l.cutRefs(to.off)
	l.drop(to.off, to.live)
	l.book ^= unknown ^ uint64(to.newest)
}

// OnReset has f run when everything allocated so far dies: at Reset, at Close, or at the
// Rewind to a mark made before now. Hooks run newest-first while the blocks are still
// intact. A hook is removed before it runs: if it panics, nothing has been freed, all marks
// stand, and the next Reset, Rewind or Close runs the ones that are left.
//
// f may use the arena: what it allocates and marks dies with what it runs for. It must not
// reset, rewind or close the arena nor register another hook there: that panics with a
// *memory.Misuse, which comes out of the Reset, Rewind or Close unless f recovers it. So does a
// nil f, at once.
func (l *Linear) OnReset(f func()) {
	l.open("OnReset", nil, 0)
	l.idle("OnReset")
	if f == nil {
		panic(misuse("OnReset", nil, 0, "the hook is nil"))
	}
	l.hooks = append(l.hooks, f)
}

// RunHooks runs the hooks, newest first, and frees nothing: the owner of several arenas runs the
// hooks of all of them before it resets the first one. Each hook is removed before it runs, also
// where it panics. On a closed arena, and from one of its hooks, RunHooks panics with a
// *memory.Misuse.
func (l *Linear) RunHooks() {
	l.open("RunHooks", nil, 0)
	l.runHooks("RunHooks", 0)
}

// Busy reports whether a hook of the arena is running: Reset, Rewind and Close are refused then.
func (l *Linear) Busy() bool { return l.busy }

// idle panics while a hook runs.
func (l *Linear) idle(op string) {
	if l.busy {
		panic(misuse(op, nil, 0, "a hook of this arena is running: it may allocate and free, no more"))
	}
}

// runHooks runs all hooks but the keep oldest, for op. It panics where one of them runs
// already. A hook may close the source, and the arena with it.
func (l *Linear) runHooks(op string, keep int) {
	l.idle(op)
	l.busy = true
	defer func() { l.busy = false }()
	for len(l.hooks) > keep {
		n := len(l.hooks) - 1
		f := l.hooks[n]
		l.hooks[n] = nil
		l.hooks = l.hooks[:n]
		// Should f panic, the marks stay, and what is registered next belongs to the newest.
		for i := len(l.marks) - 1; i >= 0 && l.marks[i].hooks > n; i-- {
			l.marks[i].hooks = n
		}
		f()
	}
}
