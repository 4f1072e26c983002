package ecs

import "github.com/strata-go/strata/memory"

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

// allocatorClosed makes w a closed world without touching a block: the allocator was closed, and its
// addresses may be somebody else's by now. In a pass other goroutines read the books: it calls
// no body any more then, and ends with this.
func (w *World) allocatorClosed() {
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
	for _, t := range w.store.tables {
		t.chunks, t.held, t.spareLink = nil, nil, spareLink{}
		w.store.setTail(t, 0, 0)
	}
	w.store.segments, w.store.columns = segments{}, nil
	w.store.rebuildAddresses()
	w.store.pending, w.store.live, w.store.bytes, w.store.spareList = 0, 0, 0, spareList{}
}
