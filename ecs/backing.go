package ecs

import "github.com/strata-go/strata/memory"

// A watchable allocator tells those who stand on it when its memory goes before they do, as
// page.Watched does one storey below.
type watchable interface {
	Watch(lost func()) (unwatch func())
}

// watch has lost called when mem ends, where mem can tell, and returns what takes that back.
func watch(mem memory.Allocator, lost func()) (unwatch func()) {
	if g, ok := mem.(watchable); ok {
		return g.Watch(lost)
	}
	return func() {}
}

// allocatorClosed makes w a closed world without touching a block: the allocator was closed, and its
// addresses may be somebody else's by now. In a pass other goroutines read the books: it calls
// no body any more then, and ends with this.
func (w *World) allocatorClosed() {
	if w.inParallel {
		w.closedInRun.Store(true)
		return
	}
	if w.locked < closedMark {
		w.EndQueries()
		w.locked += closedMark
	}
	w.stopAll(nil)
	if w.commands != nil {
		w.commands.clear()
	}
	_ = w.ents.close() // what cannot be given back now is for Close to try again
	for _, t := range w.tables {
		t.chunks, t.held, t.spareLink = nil, nil, spareLink{}
		w.setTail(t, 0, 0)
	}
	w.segments, w.columns = segments{}, nil
	w.rebuildAddresses()
	w.pending, w.live, w.bytes, w.spareList = 0, 0, 0, spareList{}
}
