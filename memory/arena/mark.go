package arena

// A Mark remembers the top of a Linear, for a Rewind. It is spent by its Rewind, by a
// Rewind to an older mark and by Reset; marks nest like brackets.
type Mark struct {
	arena  *Linear
	serial uint64
	depth  int
	off    uintptr
	live   uint64
	hooks  int
}

// A place is a live mark as the arena remembers it.
type place struct {
	serial uint64
	off    uintptr
}

// newestMark returns where the newest live mark stands, or 0.
func (l *Linear) newestMark() uintptr {
	if len(l.marks) == 0 {
		return 0
	}
	return l.marks[len(l.marks)-1].off
}

// Mark opens a scope: blocks from here on are freed by Rewind(mark) or by Reset. Cost:
// constant; it allocates on the Go heap only when scopes nest deeper than ever before.
func (l *Linear) Mark() Mark {
	l.open("Mark", nil, 0)
	l.serial++
	l.marks = append(l.marks, place{l.serial, l.off})
	l.floor = l.off
	return Mark{arena: l, serial: l.serial, depth: len(l.marks) - 1, off: l.off, live: l.allocs - l.dropped, hooks: len(l.hooks)}
}

// Rewind runs the hooks registered since the mark, newest first, and frees every block
// allocated since. A mark of another arena, one from before a Reset and one that is spent
// are refused: Rewind panics with a *memory.Misuse and nothing has changed.
func (l *Linear) Rewind(m Mark) {
	l.open("Rewind", nil, 0)
	switch {
	case m.arena != l:
		panic(l.misuse("Rewind", nil, 0, "the mark was made by another arena, or by none"))
	case m.depth >= len(l.marks) || l.marks[m.depth].serial != m.serial:
		panic(l.misuse("Rewind", nil, 0, "the mark is spent: it was rewound, an older one was, or the arena was reset"))
	}
	l.runHooks(m.hooks)
	l.marks = l.marks[:m.depth]
	l.drop(m.off, m.live)
	l.floor = l.newestMark()
}

// OnReset has f run when everything allocated so far dies: at Reset, at Close, or at the
// Rewind to a mark made before now. Hooks run newest-first while the blocks are still
// intact; f must not allocate from the arena. A hook is removed before it runs, so one that
// panics does not run twice.
func (l *Linear) OnReset(f func()) {
	l.open("OnReset", nil, 0)
	l.hooks = append(l.hooks, f)
}

func (l *Linear) runHooks(keep int) {
	for len(l.hooks) > keep {
		last := len(l.hooks) - 1
		f := l.hooks[last]
		l.hooks[last] = nil
		l.hooks = l.hooks[:last]
		f()
	}
}
