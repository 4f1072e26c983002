package tiers

import (
	"sync/atomic"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/remote"
	"github.com/strata-go/strata/memory/tlsf"
)

// A Worker is the heap of one worker goroutine. The worker allocates from it without a lock;
// the game goroutine frees its blocks with Manager.FreeAny, and they come home through an
// inbox that the worker empties on its next allocation.
type Worker struct {
	heap  *tlsf.Heap
	inbox *remote.Inbox
	limit *page.Limit
	// The books as the worker last published them, for readers on other goroutines.
	shown [8]atomic.Uint64
}

// A target is where an inbox frees to, and the range in which its blocks lie: knowing that,
// batches hold offsets, which the collector need not scan.
type target struct {
	memory.AnyFreer
	part page.Memory
}

// Base returns the range.
func (t target) Base() (unsafe.Pointer, uintptr) { return t.part.Base, t.part.Size }

func newWorker(src *page.Limit, part page.Memory) (*Worker, error) {
	heap, err := tlsf.New(src, tlsf.Config{Reserve: part.Size})
	if err != nil {
		return nil, err
	}
	inbox, err := remote.New(target{heap, part}, remote.Config{Batch: 8}) // staging blocks are few and large
	if err != nil {
		return nil, err
	}
	w := &Worker{heap: heap, inbox: inbox, limit: src}
	w.publish()
	return w, nil
}

// Alloc returns a block of the worker's heap, having first taken in what has come home. It
// lives until Free on the worker's goroutine or Manager.FreeAny on the game's.
func (w *Worker) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	w.inbox.Drain()
	p, err := w.heap.Alloc(size, align)
	w.publish()
	return p, err
}

// Free gives back a block on the worker's own goroutine.
func (w *Worker) Free(p unsafe.Pointer, size uintptr) {
	w.heap.Free(p, size)
	w.publish()
}

// Settle takes in what has come home and publishes the books, for a worker that has nothing
// to allocate. Worker's goroutine.
func (w *Worker) Settle() {
	if w.inbox.Drain() > 0 {
		w.publish()
	}
}

// Stats returns the books as of the worker's last operation. Safe for concurrent use.
func (w *Worker) Stats() memory.Stats {
	return memory.Stats{
		Reserved: w.shown[0].Load(), Committed: w.shown[1].Load(), InUse: w.shown[2].Load(), Peak: w.shown[3].Load(),
		Live: w.shown[4].Load(), Allocs: w.shown[5].Load(), Frees: w.shown[6].Load(), Failures: w.shown[7].Load(),
	}
}

func (w *Worker) publish() {
	s := w.heap.Stats()
	for i, v := range [...]uint64{s.Reserved, s.Committed, s.InUse, s.Peak, s.Live, s.Allocs, s.Frees, s.Failures} {
		w.shown[i].Store(v)
	}
}

func (w *Worker) close() error {
	if err := w.inbox.Close(); err != nil {
		return err
	}
	return w.heap.Close()
}
