package ecs

import (
	"errors"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// A watchable allocator tells those who stand on it when its memory goes before they do, as
// page.Watched does one storey below.
type watchable interface {
	Watch(lost func()) (unwatch func())
}

// watch has lost called when mem ends, where mem can tell, and returns what takes that back. If mem has ended already,
// the error is memory.ErrClosed.
func watch(mem memory.Allocator, lost func()) (unwatch func(), err error) {
	g, ok := mem.(watchable)
	if !ok {
		return func() {}, nil
	}
	if unwatch = g.Watch(lost); unwatch == nil {
		return nil, memory.ErrClosed
	}
	return unwatch, nil
}

// allocatorClosed makes w a closed world without blocks: the allocator was closed, and other code may use its
// addresses.
func (w *World) allocatorClosed() {
	w.guard.blocksGone, w.guard.left = true, nil
	w.closeItself()
}

// closeItself makes w a closed world without touching a block, because the allocator or Config.Pages was closed. If
// only the latter is known, the blocks are left to Close: the end of a source that both use may be told to w first.
// In a parallel run other goroutines read the world: the run then calls no further body, and ends with closeItself.
func (w *World) closeItself() {
	if w.guard.inParallel {
		w.guard.closedInRun.Store(true)
		return
	}
	if !w.guard.closed() {
		w.EndQueries()
		w.guard.locked += closedMark
	}
	w.guard.stopAll(nil)
	if w.commands != nil {
		w.commands.clear()
	}
	_ = w.store.index.close() // what cannot be given back now is for Close to try again
	w.store.leaveBlocks()
	for _, t := range w.store.tables {
		t.chunks, t.held, t.spareLink = nil, nil, spareLink{}
		w.store.setTail(t, 0, 0)
	}
	w.store.segments, w.store.columns = segments{}, nil
	w.store.rebuildAddresses()
	w.store.pending, w.store.live, w.store.bytes, w.store.spareList = 0, 0, 0, spareList{}
}

// A leftBlock is a block of a world that has closed itself.
type leftBlock struct {
	base unsafe.Pointer
	size uintptr
}

// leave keeps a block for freeLeft, unless the allocator was closed.
func (g *guard) leave(base unsafe.Pointer, size uintptr) {
	if !g.blocksGone {
		g.left = append(g.left, leftBlock{base, size})
	}
}

// leaveBlocks is leave for all blocks of s.
func (s *store) leaveBlocks() {
	for i := range s.chunks {
		if c := &s.chunks[i]; c.base != nil && c.run != 0 {
			s.guard.leave(c.base, s.sizes[c.class])
		}
	}
}

// freeLeft frees the blocks that closeItself has left, unless the allocator was closed, too. An allocator without a
// Watch says so only in Alloc.
func (s *store) freeLeft() {
	g := s.guard
	if len(g.left) == 0 {
		return
	}
	size := g.left[0].size
	base, err := s.callAlloc(size)
	switch {
	case errors.Is(err, memory.ErrClosed):
		g.onClosed()
	case err == nil && base != nil:
		g.leave(base, size)
	}
	defer g.endAlloc(g.beginAlloc())
	for n := len(g.left); n > 0; n = len(g.left) {
		b := g.left[n-1]
		g.left = g.left[:n-1]
		s.mem.Free(b.base, b.size)
	}
}
