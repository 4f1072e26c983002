package ecs

import "unsafe"

// A processor fetches ahead of a loop that goes through memory in order, and has to begin anew where a
// chunk ends: the first lines of each column of the next one come one after the other then, which
// takes a microsecond or so where they are in no cache, some 7 % of a walk over a million entities.
// A look at those lines before the chunk that precedes them is walked costs some ns, and takes
// half of that away.
const (
	aheadRows  = 4096 // of a chunk whose walk hides it, and of one that is worth it
	aheadLines = 4    // of each column: a processor that has met those goes on by itself
	lineBytes  = 64
)

// A column of so many rows, each of a byte or more, has the lines that are looked at.
const _ = uint(aheadRows - aheadLines*lineBytes)

// lookAhead brings the first lines of the chunk that comes behind that of t into the cache.
//
//go:noinline
func (f *filter) lookAhead(t *ticket) {
	number, ok := f.behind(&t.spot)
	if !ok {
		return
	}
	columns := f.w.row(number)
	for i := 0; i < f.n; i++ {
		if k := f.w.comps[f.ids[i]]; k.size > 0 && !k.pointerful {
			lookAt(columns[k.id].pointer())
		}
	}
}

// behind returns the number of the chunk that a walk at s comes to next, where it is of the same table and
// has room for aheadRows.
func (f *filter) behind(s *spot) (number uint32, ok bool) {
	if int(s.m) >= len(f.matches) {
		return 0, false
	}
	t := f.matches[s.m]
	if int(s.c) > t.tail || t.chunks[s.c].cap < aheadRows {
		return 0, false
	}
	return t.chunks[s.c].number, true
}

// lookAt reads the first lines from p on. What it returns is for nobody: with it the compiler leaves no
// load out. Cells that another goroutine writes at the time mean nothing to it.
//
//go:noinline
//go:norace
func lookAt(p unsafe.Pointer) (sum byte) {
	for range aheadLines {
		sum += *(*byte)(p)
		p = unsafe.Add(p, lineBytes)
	}
	return sum
}
