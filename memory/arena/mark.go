package arena

import "github.com/strata-go/strata/memory/internal/saved"

// A Mark is the top of a Linear or Growing at some time, for [Linear.Rewind]. A Mark expires when the arena is rewound
// to this Mark or to an older one, and when the arena is reset or closed. For the load of a state see
// [Linear.SaveState]. A Mark contains a Go pointer, so a block must not contain a Mark. The zero Mark is never valid.
type Mark struct {
	arena  *Linear
	serial uint64
	depth  int
}

// A place is a live mark in the arena's metadata.
type place struct {
	serial uint64
	off    uintptr // the top
	newest uint64  // the size in Linear.book
	live   uint64  // blocks
	hooks  int     // how many were registered
}

// Mark returns a Mark of the current top. [Linear.Rewind] to this Mark frees the blocks that are allocated after
// Mark. While the Mark is valid, Free does not reclaim blocks from before the Mark, and Resize returns false for
// them. Mark panics with a *memory.Misuse if the arena is closed. Cost: constant. Mark allocates on the Go heap only
// if more than 8 marks nest, and deeper than ever before.
func (l *Linear) Mark() Mark {
	l.open("Mark", nil, 0)
	l.mustBeCurrent("Mark")
	l.serial++
	l.kept, l.floor = l.live(), l.off
	l.marks = append(l.marks, place{l.serial, l.off, l.book & unknown, l.kept, len(l.hooks)})
	return Mark{arena: l, serial: l.serial, depth: len(l.marks) - 1}
}

// Rewind runs the hooks that were registered since m, newest first, and frees every block that was allocated since m.
// The Mark m and all newer Marks expire, and so do the Refs of the freed objects. The newest block at the time of m is
// the newest block again. If a hook panics, nothing is freed (see [Linear.OnReset]). If a hook ends the source, the
// arena is closed afterwards.
//
// Rewind panics with a *memory.Misuse before anything changes if the arena is closed or one of its hooks is running. It
// also panics if m has expired or is a Mark of another arena.
func (l *Linear) Rewind(m Mark) {
	l.open("Rewind", nil, 0)
	switch {
	case m.arena != l:
		panic(misuse("Rewind", nil, 0, "the mark was made by another arena, or by none"))
	case m.depth >= len(l.marks) || l.marks[m.depth].serial != m.serial:
		panic(misuse("Rewind", nil, 0, "the mark has expired: the arena was rewound to it or to an older one, or was reset"))
	}
	to := &l.marks[m.depth]
	if l.busy || len(l.hooks) > to.hooks {
		if l.runHooks("Rewind", to.hooks); l.base == nil {
			return
		}
		to = &l.marks[m.depth] // a hook may have lengthened the list
	}
	l.marks = l.marks[:m.depth]
	l.kept, l.floor = 0, 0
	if m.depth > 0 {
		l.kept, l.floor = l.marks[m.depth-1].live, l.marks[m.depth-1].off
	}
	l.cutRefs(to.off)
	l.drop(to.off, to.live)
	l.book ^= unknown ^ to.newest
}

type hook struct {
	run func()
	id  saved.HookID
}

// OnReset registers the hook f. The hook runs once, before the blocks allocated so far are freed: at Reset, at Close,
// or at a Rewind to a Mark from before OnReset. In [Frames] it also runs when the frame expires. [Linear.RunHooks] runs
// it earlier. Hooks run newest first, and a hook is removed before it runs. If a hook panics or ends its goroutine,
// nothing has been freed, all marks stay valid, and the remaining hooks stay registered. If the source ends, also
// within a hook, the arena is closed and the remaining hooks are dropped.
//
// f may allocate from the arena, free blocks of it and make marks. New blocks are freed with the other blocks. If f
// calls Reset, Rewind, Close, OnReset or RunHooks of the arena, the call panics with a *memory.Misuse. OnReset panics
// with a *memory.Misuse if the arena is closed, if one of its hooks is running, or if f is nil.
func (l *Linear) OnReset(f func()) {
	l.open("OnReset", nil, 0)
	l.mustBeCurrent("OnReset")
	l.idle("OnReset")
	if f == nil {
		panic(misuse("OnReset", nil, 0, "the hook is nil"))
	}
	l.hooks = append(l.hooks, hook{f, l.hooked.Next()})
}

// RunHooks runs the hooks, newest first. RunHooks itself frees nothing. Use it to run the hooks of several arenas before
// the first one is reset. Each hook is removed before it runs. If a hook panics, the older hooks stay registered.
// RunHooks panics with a *memory.Misuse if the arena is closed or one of its hooks is running. For the rules of hooks
// see [Linear.OnReset].
func (l *Linear) RunHooks() {
	l.open("RunHooks", nil, 0)
	l.runHooks("RunHooks", 0)
}

// Busy reports whether a hook of the arena is running. While a hook runs, Reset, Rewind, OnReset, RunHooks and Close
// panic.
func (l *Linear) Busy() bool { return l.busy }

// idle panics while a hook runs.
func (l *Linear) idle(op string) {
	if l.busy {
		panic(misuse(op, nil, 0, "a hook of this arena is running: it may only allocate and free"))
	}
}

// runHooks runs all hooks but the keep oldest, for op. It panics if one of them is running already. A hook may close the
// source, and the arena with it.
func (l *Linear) runHooks(op string, keep int) {
	l.idle(op)
	l.busy = true
	defer func() { l.busy = false }()
	for len(l.hooks) > keep {
		n := len(l.hooks) - 1
		f := l.hooks[n].run
		l.hooks[n] = hook{}
		l.hooks = l.hooks[:n]
		// If f panics, the marks stay, and the next hook to be registered belongs to the newest.
		for i := len(l.marks) - 1; i >= 0 && l.marks[i].hooks > n; i-- {
			l.marks[i].hooks = n
		}
		f()
	}
}
