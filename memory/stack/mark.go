package stack

import "github.com/strata-go/strata/memory"

// A Mark is the state of an End at some time, for [End.Rewind]. A Mark expires when the End is rewound to this Mark or
// to an older one, and when the End is reset or closed. For the load of a state see [Stack.SaveState]. A Mark contains
// a Go pointer, so a block must not contain a Mark. The zero Mark is never valid.
type Mark struct {
	end    *End
	serial uint64
	depth  int
}

// A place is a live mark in the metadata of an End.
type place struct {
	serial uint64
	blocks int
}

// Mark returns a Mark of the current edge. [End.Rewind] to this Mark frees the blocks that are allocated after Mark.
// While the Mark is valid, the blocks from before it are protected: Free panics and Resize returns false for them. Mark
// panics with a *memory.Misuse if the buffer is closed. Cost: constant. Mark allocates on the Go heap only if marks
// nest deeper than ever before.
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

// Rewind frees every block that was allocated since m. The Mark m and all newer Marks expire. If the buffer is closed,
// or if m has expired or is a Mark of another End, Rewind panics with a *memory.Misuse before anything changes. Cost:
// constant.
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
		return "the mark has expired: the end was rewound to it or to an older one, or was reset"
	}
	return ""
}
