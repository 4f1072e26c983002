package engine

import (
	"errors"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// A worker is one goroutine with a heap that no other goroutine allocates from. What it holds
// between two locks of the loader is in its variables only: an entry that it works on is
// changed by nobody else, but for the state Cancelled, which it finds when it comes back.
type worker struct {
	loader *Loader
	index  int
	heap   memory.Allocator
	entry  uint32 // the asset in hand
}

// stagingAlign keeps pixels on cache lines of their own, and vector stores aligned.
const stagingAlign = 64

// A block is memory of a worker's heap.
type block struct {
	p    unsafe.Pointer
	size uintptr
}

func (b block) bytes() []byte { return unsafe.Slice((*byte)(b.p), b.size) }

// A result is a loaded asset on its way from the worker to the books.
type result struct {
	block
	width, height int
}

func (w *worker) loop() {
	l := w.loader
	defer l.group.Done()
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		switch {
		case l.acked[w.index] != l.epoch:
			w.acknowledge()
		case l.closing:
			return
		case len(l.queue.heap) > 0:
			w.work()
		default:
			l.wake.Wait()
		}
	}
}

// acknowledge tells the game goroutine that this worker holds nothing of the cancelled level.
// It is called with the lock, which it gives up for the call of Drain.
func (w *worker) acknowledge() {
	l := w.loader
	epoch := l.epoch
	if l.cfg.Drain != nil {
		l.mu.Unlock()
		l.cfg.Drain(w.index)
		l.mu.Lock()
	}
	l.acked[w.index] = epoch
	l.announce()
}

// work loads the first asset of the queue. It is called with the lock, which it gives up
// while it reads and decodes.
func (w *worker) work() {
	l := w.loader
	w.entry = l.queue.pop(l.entries)
	l.set(w.entry, Reading)
	l.busy++
	e := &l.entries[w.entry]
	path, picture := e.path, e.picture
	l.mu.Unlock()

	res, during, err := w.load(path, picture)

	l.mu.Lock()
	l.busy--
	switch {
	case e.state == Cancelled:
		l.mu.Unlock()
		w.free(res.block)
		l.mu.Lock()
	case err != nil:
		l.fail(w.entry, during, err)
	default:
		w.publish(e, res)
	}
}

func (w *worker) publish(e *entry, res result) {
	l := w.loader
	e.worker, e.block, e.size, e.width, e.height = w.index, res.p, res.size, res.width, res.height
	l.set(w.entry, Ready)
	if e.picture {
		l.waiting[w.index]++
		l.ready.push(l.entries, w.entry)
	}
	l.announce()
}

// alloc takes a block from the worker's heap. While the heap is full of pictures that wait for
// their upload it waits for one to go home, so that a small heap makes loading slower and
// not impossible. The error is the heap's, or errCancelled.
func (w *worker) alloc(size uintptr) (block, error) {
	l := w.loader
	for {
		l.mu.Lock()
		released := l.released[w.index]
		l.mu.Unlock()
		p, err := w.heap.Alloc(size, stagingAlign)
		if err == nil {
			w.account(int64(size))
			return block{p, size}, nil
		}
		if !errors.Is(err, memory.ErrOutOfMemory) {
			return block{}, err
		}
		if again, cancelled := w.starve(released); cancelled {
			return block{}, errCancelled
		} else if !again {
			return block{}, err
		}
	}
}

// starve waits until more blocks than released went home; again is false where none can.
func (w *worker) starve(released uint64) (again, cancelled bool) {
	l := w.loader
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		switch {
		case l.entries[w.entry].state == Cancelled:
			return false, true
		case l.released[w.index] != released:
			return true, false
		case l.waiting[w.index] == 0:
			return false, false
		}
		l.wake.Wait()
	}
}

// free gives a block back that was not published, on the goroutine that it belongs to.
func (w *worker) free(b block) {
	if b.p != nil {
		w.heap.Free(b.p, b.size)
		w.account(-int64(b.size))
	}
}

func (w *worker) account(bytes int64) {
	w.loader.mu.Lock()
	w.loader.stats.Staging += uint64(bytes)
	w.loader.stats.StagingPeak = max(w.loader.stats.StagingPeak, w.loader.stats.Staging)
	w.loader.mu.Unlock()
}

// goOn says whether the asset in hand is still wanted, and counts what was read since.
func (w *worker) goOn(read int) error {
	l := w.loader
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stats.BytesRead += uint64(read)
	if l.entries[w.entry].state == Cancelled {
		return errCancelled
	}
	return nil
}

// decoding moves the asset in hand on to the next state.
func (w *worker) decoding() error {
	l := w.loader
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.entries[w.entry].state == Cancelled {
		return errCancelled
	}
	l.set(w.entry, Decoding)
	return nil
}
