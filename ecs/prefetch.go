package ecs

import "unsafe"

// A processor fetches ahead of a loop that goes through memory in order, and has to begin anew where a
// chunk ends: the first lines of each column of the next one come one after the other then, which
// takes a microsecond or so where they are in no cache, some 4 % of a walk over a million entities.
// So a loop goes through the last rows of a large chunk by themselves, and the first lines of the next are
// looked at before: they come while those rows are walked, and stay until they are needed, as lines
// that were looked at a whole chunk before do not. That takes all of it away.
const (
	prefetchMinRows  = 4096 // of a chunk that is worth it
	prefetchTailRows = 2048 // of its end: more time than the lines take, and less memory than the nearest cache but one has
	prefetchLines    = 16   // of each column: a processor that has met those goes on by itself
	lineBytes        = 64
)

// A column of so many rows, each of a byte or more, has the lines that are looked at.
const _ = uint(prefetchMinRows - prefetchLines*lineBytes)

// splitTail has t, which is at the n rows of a chunk, leave the last of them for tailRun if another large one
// comes behind.
//
//go:noinline
func (t *iterator) splitTail(n int) {
	if _, ok := t.f.following(&t.filterPos); ok {
		t.cur.set(n-prefetchTailRows, t.f.stride)
		t.tailRows, t.cached = prefetchTailRows, 0
	}
}

// tailRun has t go on to the rows that splitTail has left, and looks at the chunk behind them.
//
//go:noinline
func (t *iterator) tailRun() *rowRun {
	s := t.cur
	t.f.prefetchNext(&t.filterPos)
	t.shift(uintptr(s.rows))
	s.set(int(t.tailRows), t.f.stride)
	t.tailRows = 0
	return s
}

// prefetchNext brings the first lines of the chunk that a walk at s comes to next into the cache.
func (f *filter) prefetchNext(s *filterPos) {
	number, ok := f.following(s)
	if !ok {
		return
	}
	columns := f.w.store.row(number)
	for i := 0; i < f.n; i++ {
		if k := f.w.store.comps[f.ids[i]]; k.size > 0 && !k.pointerful {
			readLines(columns[k.id].pointer())
		}
	}
}

// following returns the number of the chunk that a walk at s comes to next, where it is of the same table and
// has space for prefetchMinRows.
func (f *filter) following(s *filterPos) (number uint32, ok bool) {
	if int(s.m) >= len(f.matches) {
		return 0, false
	}
	t := f.matches[s.m]
	if int(s.c) > t.tail || t.chunks[s.c].cap < prefetchMinRows {
		return 0, false
	}
	return t.chunks[s.c].number, true
}

// readLines reads the first lines from p on. What it returns is for nobody: with it the compiler leaves no
// load out. Cells that another goroutine writes at the time mean nothing to it.
//
//go:noinline
//go:norace
func readLines(p unsafe.Pointer) (sum byte) {
	for range prefetchLines {
		sum += *(*byte)(p)
		p = unsafe.Add(p, lineBytes)
	}
	return sum
}
