package main

import (
	"errors"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// A lifo models one end of the allocator types whose newest block is freed first: arenas with marks, stacks, undo
// logs. Blocks of size 0 are left to the unit tests: some allocators cannot distinguish them.
type lifo struct {
	lifoConfig
	*shadow // live in order of age: only the last is ever taken out
	scopes  []scope
	peak    uint64
}

// A scope is a mark and the blocks that are older than it.
type scope struct {
	blocks int
	rewind func()
}

// A lifoConfig is what an allocator type guarantees beyond memory.Allocator.
type lifoConfig struct {
	a     memory.Allocator
	room  uintptr // its capacity in bytes
	mark  func() (rewind func())
	reset func()
	stats func() memory.Stats
	// strict allocators refuse to free any but the newest block; the others ignore it.
	strict bool
	// spends: a mark that was rewound is refused the next time.
	spends bool
	// bounds: blocks older than the newest mark can be neither freed nor resized.
	bounds bool
}

func newLifo(s *segment, cfg lifoConfig) *lifo {
	return &lifo{lifoConfig: cfg, shadow: newShadow(s, 0)}
}

func (l *lifo) step() {
	s := l.s
	switch roll := s.n(1000); {
	case roll < 40:
		l.open()
	case roll < 80:
		l.unwind()
	case roll < 120:
		l.resize()
	case roll < 124:
		l.misuse()
	case roll == 124:
		l.resetAll()
	case roll < 600:
		l.alloc()
	default:
		l.free()
	}
}

func (l *lifo) alloc() {
	size, align := max(l.s.size(2048), 1), l.s.align(256)
	l.s.note("Alloc size align", 0, uint64(size), uint64(align))
	before := l.stats()
	p, err := l.a.Alloc(size, align)
	if err == nil {
		l.born(p, size, align)
		return
	}
	after := l.stats()
	if !errors.Is(err, memory.ErrOutOfMemory) || after.Failures != before.Failures+1 {
		l.s.failf("Alloc(%d, %d): %v; the books went from %+v to %+v", size, align, err, before, after)
	}
	if used := uintptr(before.InUse); used+size+align <= l.room && before.Reserved >= uint64(l.room) {
		l.s.failf("Alloc(%d, %d) with %d of %d bytes in use: %v", size, align, used, l.room, err)
	}
	if after.Failures = before.Failures; after != before {
		l.s.failf("a refused request changed the books from %+v to %+v", before, after)
	}
}

// free gives the newest block back. An arena keeps no log: after a free it may not know which
// block is the newest now, and leaves it to the next rewind.
func (l *lifo) free() {
	i := len(l.live) - 1
	if i < l.floor() {
		return
	}
	b, before := l.live[i], l.stats()
	l.s.note("Free newest p size id", uintptr(b.p), uint64(b.size), b.id)
	l.verify(b)
	l.a.Free(b.p, b.size)
	switch after := l.stats(); {
	case after.Live == before.Live-1:
		l.forget(i)
	case l.strict || after != before:
		l.s.failf("the newest, %v, was freed: the books went from %+v to %+v", b, before, after)
	}
}

// forget drops block i without looking at it: it may have been overwritten by now.
func (l *lifo) forget(i int) {
	b := l.live[i]
	l.taken.drop(b.p, b.size)
	l.frees++
	l.requested -= uint64(b.size)
	l.live = l.live[:i]
}

// floor is how many blocks the newest mark protects.
func (l *lifo) floor() int {
	if n := len(l.scopes); n > 0 && l.bounds {
		return l.scopes[n-1].blocks
	}
	return 0
}

func (l *lifo) open() {
	if len(l.scopes) < 32 {
		l.s.note("Mark", 0, uint64(len(l.live)), 0)
		l.scopes = append(l.scopes, scope{len(l.live), l.mark()})
	}
}

// unwind rewinds to any of the marks, which spends the newer ones too.
func (l *lifo) unwind() {
	if len(l.scopes) == 0 {
		return
	}
	k := l.s.n(len(l.scopes))
	to, newest := l.scopes[k], l.scopes[len(l.scopes)-1]
	l.s.note("Rewind to", 0, uint64(to.blocks), 0)
	l.scopes = l.scopes[:k]
	if l.bounds || to.blocks <= len(l.live) {
		l.diesAll(to.blocks)
		to.rewind()
	}
	if l.spends && l.s.one(4) {
		l.s.refused("a mark that is spent", l.stats, to.rewind)
		l.s.refused("a mark that an older one spent", l.stats, newest.rewind)
	}
}

func (l *lifo) resize() {
	r, ok := l.a.(memory.Resizer)
	i := len(l.live) - 1
	if !ok || i < 0 {
		return
	}
	if l.s.one(4) { // an older one: refused, and nothing happens
		i = l.s.n(len(l.live))
	}
	b, size, before := l.live[i], max(l.s.size(2048), 1), l.stats()
	l.s.note("Resize p old new", uintptr(b.p), uint64(b.size), uint64(size))
	l.verify(b)
	if r.Resize(b.p, b.size, size) {
		if i < l.floor() || i != len(l.live)-1 {
			l.s.failf("%v was resized, and is not the newest", b)
		}
		l.resized(i, size)
	} else if after := l.stats(); after.InUse != before.InUse || after.Live != before.Live {
		l.s.failf("a refused resize changed the books from %+v to %+v", before, after)
	}
}

func (l *lifo) misuse() {
	alien := new([64]byte)
	l.s.note("misuse", 0, uint64(len(l.live)), 0)
	l.s.refused("a foreign pointer", l.stats, func() { l.a.Free(unsafe.Pointer(alien), 16) })
	n := len(l.live)
	if n == 0 {
		return
	}
	last := l.live[n-1]
	l.s.refused("a size beyond what is live", l.stats, func() { l.a.Free(last.p, l.room+1) })
	if !l.strict || n < 2 {
		return
	}
	old := l.live[l.s.n(n-1)]
	l.s.refused("a free out of order", l.stats, func() { l.a.Free(old.p, old.size) })
	l.s.refused("a size one too large", l.stats, func() { l.a.Free(last.p, last.size+1) })
	if last.size > 1 {
		l.s.refused("an interior pointer", l.stats, func() { l.a.Free(unsafe.Add(last.p, 1), last.size-1) })
	}
}

func (l *lifo) resetAll() {
	l.s.note("Reset", 0, 0, 0)
	var stale func()
	if len(l.scopes) > 0 {
		stale = l.scopes[0].rewind
	}
	l.diesAll(0)
	l.scopes = l.scopes[:0]
	l.reset()
	if stale != nil && l.spends {
		l.s.refused("a mark from before the reset", l.stats, stale)
	}
}

func (l *lifo) check() {
	l.verifyAll()
	if c, ok := l.a.(memory.Checker); ok {
		l.s.must("Check", c.Check())
	}
	st := l.stats()
	l.peak = max(l.peak, st.InUse)
	switch {
	case st.Live != uint64(len(l.live)) || st.Allocs != l.allocs || st.Frees != l.frees:
		l.s.failf("%d live, %d allocated, %d freed; the books say %+v", len(l.live), l.allocs, l.frees, st)
	case st.Requested != 0 && st.Requested != l.requested:
		l.s.failf("%d bytes were requested; the books say %+v", l.requested, st)
	case st.InUse < l.requested || st.InUse > st.Committed || st.Committed > st.Reserved || st.Peak < l.peak:
		l.s.failf("%d bytes were requested, at most %d in use; the books say %+v", l.requested, l.peak, st)
	}
}

func (l *lifo) finish() {
	l.resetAll()
	l.check()
	if st := l.stats(); st.Live != 0 || st.InUse != 0 {
		l.s.failf("all is reset; the books say %+v", st)
	}
}
