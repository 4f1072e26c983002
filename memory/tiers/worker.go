package tiers

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/remote"
	"github.com/strata-go/strata/memory/tlsf"
)

// A Worker is the heap of one worker goroutine. The game goroutine frees its blocks with
// Manager.Free, and they come home through an inbox that the worker empties on its next
// allocation.
//
// A lock is held during each operation, so that the level's borders, Check and Stats see the
// heap between two operations and never in one. In the course of a frame the game goroutine
// does not wait for it: where a worker has it, Stats are the last ones that were seen.
// After the manager's Close, Alloc fails with memory.ErrClosed, Free panics with a
// *memory.Misuse and Settle does nothing.
type Worker struct {
	mu    sync.Mutex
	heap  *tlsf.Heap
	inbox *remote.Inbox
	limit *page.Limit
	over  bool // closed

	soft atomic.Uint64 // how often committed bytes rose past the soft mark
	told uint64        // of these, the ones that Config.OnSoft knows of; the game goroutine's

	last struct {
		sync.Mutex
		stats memory.Stats // as they were last seen
	}
}

// A target is where an inbox frees to, and the range in which its blocks lie: knowing that,
// batches hold offsets, which the collector need not scan.
type target struct {
	memory.AnyFreer
	part page.Memory
}

// Base returns the range.
func (t target) Base() (unsafe.Pointer, uintptr) { return t.part.Base, t.part.Size }

// newWorker makes the heap of a worker in its part of the reservation, with an equal share of
// the tier's budget.
func newWorker(part *page.Carve, cfg *Config) (*Worker, error) {
	w := &Worker{limit: page.NewLimit(part, cfg.Budget[Inbox]/uintptr(cfg.Workers))}
	if cfg.OnSoft != nil {
		w.limit.OnSoft(cfg.softMark(w.limit.Budget()), func(_, _ uintptr) { w.soft.Add(1) })
	}
	var err error
	if w.heap, err = tlsf.New(w.limit, tlsf.Config{Reserve: cfg.Reserve[Inbox]}); err != nil {
		return nil, err
	}
	w.inbox, err = remote.New(target{w.heap, part.Memory()}, remote.Config{Batch: 8}) // staging blocks are few and large
	return w, err
}

// Alloc returns a block of the worker's heap, having first taken in what has come home. It is
// not zeroed, and lives until Free on the worker's goroutine or Manager.Free on the game's.
// The errors are those of [tlsf.Heap.Alloc].
func (w *Worker) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over {
		w.inbox.Drain()
	}
	return w.heap.Alloc(size, align)
}

// Free gives back a block on the worker's own goroutine, with the size it was asked for, to
// the byte; else it panics with a *memory.Misuse.
func (w *Worker) Free(p unsafe.Pointer, size uintptr) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heap.Free(p, size)
}

// Settle takes in what has come home, for a worker that has nothing to allocate. Worker's
// goroutine.
func (w *Worker) Settle() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over {
		w.inbox.Drain()
	}
}

// Stats returns the worker's books as they were between two of its operations: now, or where
// it is in the midst of one, when Stats was called last. It waits for no worker, and is safe
// for concurrent use.
func (w *Worker) Stats() memory.Stats {
	w.last.Lock()
	defer w.last.Unlock()
	if w.mu.TryLock() {
		w.last.stats = w.heap.Stats()
		w.mu.Unlock()
	}
	return w.last.stats
}

func (w *Worker) beginEpoch() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heap.BeginEpoch()
}

// young takes in what has come home and adds the blocks of this level that are live.
func (w *Worker) young(l *Leak) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.inbox.Drain()
	for _, size := range w.heap.Young {
		l.add(size)
	}
}

func (w *Worker) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.inbox.Close(); err != nil {
		return err
	}
	w.over = true
	return w.heap.Close()
}

// An outbox is the game goroutine's way to a worker's inbox.
type outbox struct {
	freer   *remote.Freer
	waiting uintptr // bytes of the blocks in freer, as far as they are known
	most    uintptr // that may wait
}

// outboxShare: no more than a sixteenth of a worker's budget waits for a batch to fill.
const outboxShare = 16

// send sends a block home, together with the next ones if it may wait for them.
func (o *outbox) send(p unsafe.Pointer, size uintptr, wait bool) {
	o.freer.Free(p)
	if o.waiting += size; o.freer.Pending() == 0 {
		o.waiting = 0 // the batch was full
	}
	if !wait || o.waiting > o.most {
		_ = o.flush() // fails for a closed inbox only, which has taken this block's memory with it
	}
}

func (o *outbox) flush() error {
	o.waiting = 0
	if o.freer.Pending() == 0 {
		return nil
	}
	return o.freer.Flush()
}
