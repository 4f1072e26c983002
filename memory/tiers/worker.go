package tiers

import (
	"cmp"
	"strconv"
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

// A Worker is the heap of one worker goroutine. Only that goroutine may call its methods. But Stats, RemoteFrees and
// NewFreer are safe for concurrent use, and the game goroutine may call [Worker.Tag] before the worker's goroutine
// starts.
//
// The game goroutine frees the worker's blocks with Manager.Free, and other goroutines with a Freer of NewFreer. Both
// only send the blocks. A sent block is freed at the worker's next Alloc, Resize or Settle, or when the manager runs
// EndLevel, [Manager.Rest] or Close. A save.Set that saves or loads the worker frees sent blocks as well.
//
// Methods that use the heap hold the worker's lock. Stats does not wait for the lock: while another call holds it,
// Stats returns the result of the last call of Stats. These methods of the manager wait for the lock: BeginLevel,
// EndLevel, Check, Rest and Close. [Inspector.EachSample] and a save.Set that saves or loads the worker wait as well.
//
// Close the manager, or its page source, only after the worker's goroutine has ended. After the close, Alloc fails with
// memory.ErrClosed, Settle does nothing, and Free and Resize of a block panic with a *memory.Misuse.
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
	idle    returner // the game goroutine's, with the lock held

	soft atomic.Uint64 // how often committed bytes rose past the soft mark
	told uint64        // of these, the ones that Config.OnSoft has received; the game goroutine's

	last struct {
		sync.Mutex
		stats memory.Stats // as they were last seen
		tags  []tagCounts  // by tag; nil without Config.Tags
	}

	recorder *recorder // of the manager, or nil
	sampler  *sampler  // of this worker, or nil
	thread   uint32    // in a trace: its index plus 1
}

// A target is where an inbox frees to, and the range of its blocks. With the range, batches contain offsets, which
// the collector does not scan.
type target struct {
	memory.AnyFreer
	part page.Memory
}

// Base and Extent return the range.
func (t target) Base() unsafe.Pointer { return t.part.Base }
func (t target) Extent() uintptr      { return t.part.Size }

// A gameTarget is the target of the manager's inbox, to which blocks of slab go in runs.
type gameTarget struct {
	target
	m    *Manager
	slab *slab.Heap // that of m, also after Close
}

// Generation is that of the slab, which asks the large heap, for remote.Generational.
func (t gameTarget) Generation(p unsafe.Pointer) uint32 { return t.slab.Generation(p) }

// FreeRun frees the blocks of slab at the front of offs, as slab.Heap.FreeRun does. It leaves the
// first one that is not of slab, and with tags or a trace every one, to FreeAny.
func (t gameTarget) FreeRun(base unsafe.Pointer, offs []uintptr) int {
	if t.m.cfg.watched() {
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

// share returns the budget of each worker. It is at least one byte, with which nothing can be committed, because 0
// means no limit to a page.Limit.
func (c *Config) share(workers int) uintptr { return max(c.Budget[Inbox]/uintptr(workers), 1) }

// newWorker makes the heap of worker k in its part of the reservation, with an equal share of
// the tier's budget.
func newWorker(m *Manager, k int, part *page.Carve) (*Worker, error) {
	cfg := &m.cfg
	w := &Worker{m: m, recorder: m.recorder, sampler: newSampler(cfg.SampleBytes, part.Memory().Base, uint64(k)+1), thread: uint32(k) + 1, part: part, limit: page.NewLimit(part, cfg.share(cfg.Workers)).Name("tiers: inbox of worker " + strconv.Itoa(k)).Advise(cfg.advice(Inbox))}
	if cfg.OnSoft != nil {
		w.limit.OnSoft(cfg.softMark(w.limit.Budget()), func(_, _ uintptr) { w.soft.Add(1) })
	}
	if cfg.Tags {
		w.tags = &largeNotes{base: uintptr(part.Memory().Base), size: part.Memory().Size, granule: workerGranule}
		w.last.tags = make([]tagCounts, MaxTags+1)
	}
	size, addresses := cfg.scratchBytes()
	own := page.Memory{Base: part.Memory().Base, Size: cfg.Reserve[Inbox] - addresses}
	w.sizes.Open(own.Base, own.Size, grainShift)
	var err error
	if w.heap, err = newLarge(w.limit, own.Size, workerGranule, 0); err != nil {
		return nil, err
	}
	if err = w.scratch.init(w.limit, size); err != nil {
		return nil, err
	}
	batch := cmp.Or(cfg.FreeItems, 8) // blocks of workers are few and large
	w.inbox, err = remote.New(workerTarget{target{inboxFreer{w}, own}, w.heap}, remote.Config{Batch: batch, Bytes: cfg.FreeBytes})
	return w, err
}

// Alloc returns a block of the worker's heap. The block is not zeroed. It is valid until it is freed: by Free on the
// worker's goroutine, by Manager.Free on the game goroutine, or by a Freer. Alloc first frees the blocks that other
// goroutines have sent. If no live block starts at a sent address, for example after a double free, Alloc panics with
// a *memory.Misuse. Alloc returns the errors of [tlsf.Heap.Alloc].
func (w *Worker) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.alloc(0, size, align)
}

// alloc is Alloc with the lock held, under a tag or 0.
func (w *Worker) alloc(tag uint8, size, align uintptr) (unsafe.Pointer, error) {
	if !w.over {
		w.inbox.Drain()
	}
	p, err := w.heap.Alloc(size, align)
	if invariant.Debug && err == nil {
		w.sizes.BeginAt(p, size)
	}
	if err == nil && w.recorder != nil {
		w.recorder.alloc(Inbox, w.thread, p, size, align)
	}
	if err == nil {
		w.sampler.alloc(Inbox, tag, p, size)
	}
	return p, err
}

// Free frees a block on the worker's goroutine. size is the requested size, to the byte, or the last one that a
// successful Resize received. Free panics with a *memory.Misuse, and changes nothing, if p is not the start of a live
// block of this size in this worker's heap. Free of nil does nothing.
func (w *Worker) Free(p unsafe.Pointer, size uintptr) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heap.Free(p, size)
	w.freed(p)
}

// Settle frees the blocks that Manager.Free and Freers have sent to this worker. Alloc does the same, so only a worker
// that does not allocate for a long time needs Settle. Settle panics as Alloc does. Call Settle on the worker's
// goroutine.
func (w *Worker) Settle() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over {
		w.inbox.Drain()
	}
}

// NewFreer returns a Freer, through which one other goroutine can free blocks of this worker. NewFreer is safe for
// concurrent use.
//
// The Freer collects blocks in a batch. It sends the batch when the batch is full, see [Config.FreeItems] and
// [Config.FreeBytes], and at Flush and Close. The worker frees the sent blocks at its next Alloc, Resize or Settle.
// EndLevel, [Manager.Rest], [Manager.Close], and a Set that saves or loads the worker free them as well, on the
// game goroutine.
//
// Freer.Free and Freer.FreeAny panic with a *memory.Misuse if the Freer is closed, or if the address lies outside
// this worker's heap or in its scratch arena. No call checks the size. Other misuse panics in the call that frees the
// batch; a double free may not be detected if the block was allocated again. Blocks that are sent after the manager's
// Close are not freed. In that case Flush and Close of the Freer return an error that wraps memory.ErrClosed.
func (w *Worker) NewFreer() *remote.Freer { return w.inbox.NewFreer() }

// RemoteFrees returns the statistics of the inbox to which Freers and the manager send blocks of this worker, so that
// they are freed in its heap. Safe for concurrent use.
func (w *Worker) RemoteFrees() remote.Stats { return w.inbox.Stats() }

// Stats returns the statistics of the worker's heap and scratch arena. If the worker is inside a call, Stats does not
// wait, and returns its previous result, or the zero Stats if there is none. The statistics of the scratch arena change
// at BeginTask and EndTask. Peak is the sum of both peaks, an upper bound. Safe for concurrent use.
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
	return w.scratch.busy && !w.scratch.ended
}

func (w *Worker) beginEpoch() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heap.BeginEpoch()
}

// young frees the blocks that others have sent and adds the blocks of this level that are live.
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

// lose closes what is built on the worker's part, with the lock held: other goroutines may call Stats.
func (w *Worker) lose() {
	defer w.lockToEnd()()
	w.part.Close()
}

// lockToEnd locks and returns the function that unlocks. If the source ends during a call by the worker, the
// worker's running method has the lock, and waiting for it would deadlock. Only EndTask runs without the lock.
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
	w.sampler.close()
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
