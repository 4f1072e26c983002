package stack

import "github.com/strata-go/strata/memory"

// A Mark remembers the blocks of an End, for a Rewind. It is spent by its Rewind, by a Rewind
// to an older mark and by Reset; marks nest like brackets.
type Mark struct {
	end    *End
	serial uint64
	depth  int
}

// A place is a live mark as the End remembers it.
type place struct {
	serial uint64
	blocks int
}

// Mark opens a scope: blocks from here on are freed by Rewind(mark), and the older ones cannot
// be freed or resized before it. Cost: constant; it allocates on the Go heap only when scopes
// nest deeper than ever before. On a closed buffer it panics with a *memory.Misuse.
func (e *End) Mark() Mark {
	if e.base == nil {
		panic(e.misuse("Mark", nil, 0))
	}
	e.owner.Touch()
	e.serial++
	e.floor = len(e.blocks)
	e.marks = append(e.marks, place{e.serial, e.floor})
	return Mark{end: e, serial: e.serial, depth: len(e.marks) - 1}
}

// Rewind frees every block allocated since the mark. A mark of another End, one from before a
// Reset and one that is spent are refused: Rewind panics with a *memory.Misuse and nothing has
// changed. Cost: constant.
func (e *End) Rewind(m Mark) {
	if why := e.refuseMark(m); why != "" {
		panic(&memory.Misuse{Package: "stack", Op: "Rewind", Reason: why})
	}
	e.owner.Touch()
	blocks := e.marks[m.depth].blocks
	e.marks = e.marks[:m.depth]
	e.floor = 0
	if m.depth > 0 {
		e.floor = e.marks[m.depth-1].blocks
	}
	if blocks < len(e.blocks) {
		e.cut(blocks)
	}
}

func (e *End) refuseMark(m Mark) string {
	switch {
	case e.base == nil:
		return "the stack is closed"
	case m.end != e:
		return "the mark was made by another end, or by none"
	case m.depth >= len(e.marks) || e.marks[m.depth].serial != m.serial:
		return "the mark is spent: it was rewound, an older one was, or the end was reset"
	}
	return ""
}
