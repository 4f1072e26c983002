package tiers

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/remote"
	"github.com/strata-go/strata/memory/slab"
	"github.com/strata-go/strata/memory/tlsf"
)

// A Worker is the heap of one worker goroutine. The game goroutine frees its blocks with
// Manager.Free, and they come home through an inbox that the worker empties on its next
// allocation.
//
// A lock is held during each operation, so that the level's borders, Check and Stats see the
// heap between two operations and never in one. In the course of a frame the game goroutine
// does not wait for it: where a worker has it, Stats are the last ones that were seen.
// The lock orders calls, and not the end of the memory: whoever closes the manager, or ends its
// source, does so when the worker's goroutine has ended.
// After the manager's Close, Alloc fails with memory.ErrClosed, Free panics with a
// *memory.Misuse and Settle does nothing.
type Worker struct {
	mu    sync.Mutex
	heap  *tlsf.Heap
	inbox *remote.Inbox
	limit *page.Limit
	over  bool // closed

	m     *Manager
	part  *page.Carve     // its part of the reservation
	tags  *largeNotes     // nil without Config.Tags
	sizes invariant.Lives // of the blocks, for the game goroutine in debug builds
	views []*WorkerTag    // what Tag returned

	scratch scratch

	soft atomic.Uint64 // how often committed bytes rose past the soft mark
	told uint64        // of these, the ones that Config.OnSoft knows of; the game goroutine's

	last struct {
		sync.Mutex
		stats memory.Stats // as they were last seen
		tags  []tagCounts  // by tag; nil without Config.Tags
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

// A gameTarget is the target of the manager's inbox, to which blocks of slab go in runs.
type gameTarget struct {
	target
	m    *Manager
	slab *slab.Heap // that of m, also after Close
}

// Generation is that of the slab, which asks the large heap, for remote.Generational.
func (t gameTarget) Generation(p unsafe.Pointer) uint32 { return t.slab.Generation(p) }

// FreeRun frees the blocks of slab at the front of offs, as slab.Heap.FreeRun does. It leaves the
// first one that is not of slab, and with tags every one, to FreeAny.
func (t gameTarget) FreeRun(base unsafe.Pointer, offs []uintptr) int {
	if t.m.cfg.Tags {
		return 0
	}
	return t.slab.FreeRun(base, offs)
}

// A workerTarget is the target of a worker's inbox.
type workerTarget struct {
	target
	heap *tlsf.Heap
}

// Generation is that of the heap, for remote.Generational.
func (t workerTarget) Generation(p unsafe.Pointer) uint32 { return t.heap.Generation(p) }

// share returns the budget of each of the workers: a byte at least, for which nothing can be
// committed, since 0 is no limit to a page.Limit.
func (c *Config) share(workers int) uintptr { return max(c.Budget[Inbox]/uintptr(workers), 1) }

// newWorker makes the heap of a worker in its part of the reservation, with an equal share of
// the tier's budget.
func newWorker(m *Manager, part *page.Carve) (*Worker, error) {
	cfg := &m.cfg
	w := &Worker{m: m, part: part, limit: page.NewLimit(part, cfg.share(cfg.Workers))}
	if cfg.OnSoft != nil {
		w.limit.OnSoft(cfg.softMark(w.limit.Budget()), func(_, _ uintptr) { w.soft.Add(1) })
	}
	if cfg.Tags {
		w.tags = &largeNotes{base: uintptr(part.Memory().Base), size: part.Memory().Size}
		w.last.tags = make([]tagCounts, MaxTags+1)
	}
	size, addresses := cfg.scratchBytes()
	own := page.Memory{Base: part.Memory().Base, Size: cfg.Reserve[Inbox] - addresses}
	w.sizes.Open(own.Base, own.Size, grainShift)
	var err error
	if w.heap, err = newLarge(w.limit, own.Size); err != nil {
		return nil, err
	}
	if err = w.scratch.init(w.limit, size); err != nil {
		return nil, err
	}
	batch := cfg.FreeItems
	if batch == 0 {
		batch = 8 // staging blocks are few and large
	}
	w.inbox, err = remote.New(workerTarget{target{inboxFreer{w}, own}, w.heap}, remote.Config{Batch: batch, Bytes: cfg.FreeBytes})
	return w, err
}

// Alloc returns a block of the worker's heap, having first taken in what has come home. It is
// not zeroed, and lives until Free on the worker's goroutine or Manager.Free on the game's.
// The errors are those of [tlsf.Heap.Alloc].
func (w *Worker) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.alloc(size, align)
}

// alloc is Alloc with the lock held.
func (w *Worker) alloc(size, align uintptr) (unsafe.Pointer, error) {
	if !w.over {
		w.inbox.Drain()
	}
	p, err := w.heap.Alloc(size, align)
	if invariant.Debug && err == nil {
		w.sizes.BeginAt(p, size)
	}
	return p, err
}

// Free gives back a block on the worker's own goroutine, with the size it was asked for, to
// the byte; else it panics with a *memory.Misuse.
func (w *Worker) Free(p unsafe.Pointer, size uintptr) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heap.Free(p, size)
	w.freed(p)
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

// NewFreer lets any other goroutine free blocks of this worker's, as Manager.Free does on the game's:
// they come home at the worker's next Alloc, Resize or Settle, or at EndLevel. Config.FreeItems and
// FreeBytes say how many wait for each other before they are sent: a full batch is sent at once, in
// one compare-and-swap, and neither side waits for the other. What has been sent waits for the worker,
// however long that takes, and is bounded by what it has live. Other blocks than this worker's,
// and those of its scratch arena, panic with a *memory.Misuse in the call that frees them; a
// double free makes the call that takes it in panic. What arrives after Close is abandoned, as Flush
// and Close of the Freer say. Safe for concurrent use; the Freer itself belongs to one goroutine.
func (w *Worker) NewFreer() *remote.Freer { return w.inbox.NewFreer() }

// RemoteFrees returns the statistics of blocks that Freers and the manager free for this worker: those
// sent, and those freed. Safe for concurrent use.
func (w *Worker) RemoteFrees() remote.Stats { return w.inbox.Stats() }

// Stats returns the worker's books as they were between two of its operations: now, or where
// it is in the midst of one, when Stats was called last. It waits for no worker, and is safe
// for concurrent use.
func (w *Worker) Stats() memory.Stats {
	w.last.Lock()
	defer w.last.Unlock()
	if w.mu.TryLock() {
		w.last.stats = w.heap.Stats().Add(w.scratch.stats)
		w.mu.Unlock()
	}
	return w.last.stats
}

func (w *Worker) inTask() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.scratch.busy
}

func (w *Worker) beginEpoch() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heap.BeginEpoch()
}

// young takes in what has come home and adds the blocks of this level that are live.
func (w *Worker) young(l *Leak, byTag *[MaxTags + 1]Leak) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.inbox.Drain()
	for p, size := range w.heap.Young {
		l.add(size)
		if w.tags != nil {
			byTag[w.tags.tagOf(p)].add(size)
		}
	}
}

// lose ends what stands on the worker's part, with the lock held: others may ask for Stats.
func (w *Worker) lose() {
	defer w.lockToEnd()()
	w.part.Close()
}

// lockToEnd locks and returns what unlocks. Where the source ends in the midst of a call that the
// worker makes of it, the method that is under way has the lock, and would be waited for in vain;
// only EndTask has it not.
func (w *Worker) lockToEnd() (unlock func()) {
	if w.part.Busy() {
		if !w.mu.TryLock() {
			return func() {}
		}
	} else {
		w.mu.Lock()
	}
	return w.mu.Unlock
}

func (w *Worker) close() error {
	defer w.lockToEnd()()
	if err := w.inbox.Close(); err != nil {
		return err
	}
	w.over = true
	w.scratch.over()
	if w.tags != nil {
		w.tags.close()
	}
	return w.heap.Close()
}

// mostWaiting returns how many bytes of blocks may wait for a batch to fill.
func (w *Worker) mostWaiting() uintptr {
	most := w.limit.Budget() / linkShare
	if b := w.m.cfg.FreeBytes; b > 0 {
		most = min(most, b)
	}
	return most
}
