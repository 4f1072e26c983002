package engine

import (
	"errors"
	"fmt"
	"time"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// A worker is one goroutine with a heap that no other goroutine allocates from. What it holds
// between two locks of the loader is in its variables only: an entry that it works on is
// changed by nobody else, but for the state Cancelled, which it finds when it comes back.
//
// Invariants:
//
//	(1) the blocks in held are the worker's alone: neither published nor free
//	(2) once it is lost, its goroutine touches neither its heap nor the loader's books
type worker struct {
	loader *Loader
	index  int
	heap   memory.Allocator
	entry  uint32   // the asset in hand
	held   [2]block // the file and the pixels, so that a panic loses neither
	buf    []byte   // what is read from a file goes through here, on the Go heap: see ask
	gone   bool     // lost, as its goroutine knows it

	// Guarded by the mutex of the loader.
	inHand   bool
	ended    bool
	lost     bool      // given up, see abandon
	call     string    // of the file system, under way; or ""
	asked    time.Time // when it began
	deadline time.Time // when it is given up
	watchdog *time.Timer
}

const (
	heldFile = iota
	heldPixels
)

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
	defer w.end()
	w.serve()
}

// serve works until the loader closes or the worker is lost.
func (w *worker) serve() {
	l := w.loader
	l.mu.Lock()
	defer l.mu.Unlock()
	for !w.lost {
		switch {
		case l.acked[w.index] != l.epoch:
			w.acknowledge()
		case l.over:
			w.ended = true
			return
		case len(l.queue.heap) > 0:
			w.work()
		default:
			l.wake.Wait()
		}
	}
}

// end books that the goroutine ends. One that did not come to its end by itself was ended
// by runtime.Goexit inside a call that is not ours.
func (w *worker) end() {
	l := w.loader
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case w.lost:
	case w.ended:
		l.running--
		w.watchdog.Stop()
		l.news.Broadcast()
	default:
		l.abandon(w, errGoexit)
	}
}

// acknowledge tells the game goroutine that this worker holds nothing of the cancelled level.
// It is called with the lock, which it gives up for the call of Drain.
func (w *worker) acknowledge() {
	l := w.loader
	epoch := l.epoch
	if l.cfg.Drain != nil {
		var err error
		l.outside(func() {
			err = guarded("Drain", func() error { l.cfg.Drain(w.index); return nil })
		})
		if err != nil {
			l.log(fmt.Errorf("engine: worker %d: %w", w.index, err))
		}
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
	w.inHand = true
	e := &l.entries[w.entry]
	path, picture := e.path, e.picture

	var res result
	var during State
	var err error
	l.outside(func() { res, during, err = w.load(path, picture) })

	if w.lost {
		return // the entry may be another's by now
	}
	if e.state == Cancelled {
		l.outside(func() { _ = w.drop() }) // nobody wants to know
	}
	l.busy--
	w.inHand = false
	switch {
	case e.state == Cancelled:
	case errors.Is(err, errStarved): // again, when the cancellation is acknowledged
		l.set(w.entry, Queued)
		l.queue.push(l.entries, w.entry)
		l.wake.Broadcast() // another worker may have room
	case err != nil:
		l.fail(w.entry, during, err)
	default:
		w.publish(e, res)
	}
}

func (w *worker) publish(e *entry, res result) {
	l := w.loader
	w.held = [2]block{}
	e.worker, e.block, e.size, e.width, e.height = w.index, res.p, res.size, res.width, res.height
	l.set(w.entry, Ready)
	if e.picture {
		l.waiting[w.index]++
		l.ready.push(l.entries, w.entry)
	}
	l.announce()
}

// alloc takes a block from the worker's heap, and holds it as what. While the heap is full of
// pictures that wait for their upload it waits for one to go home, so that a small heap makes
// loading slower and not impossible. The error is the heap's, errCancelled, or errStarved.
func (w *worker) alloc(what int, size uintptr) (block, error) {
	l := w.loader
	for {
		l.mu.Lock()
		released := l.released[w.index]
		l.mu.Unlock()
		p, err := w.heap.Alloc(size, stagingAlign)
		if err == nil {
			w.held[what] = block{p, size}
			w.account(int64(size))
			return w.held[what], nil
		}
		if !errors.Is(err, memory.ErrOutOfMemory) {
			return block{}, err
		}
		if again, stop := w.starve(released); stop != nil {
			return block{}, stop
		} else if !again {
			return block{}, err
		}
	}
}

// starve waits until more blocks than released went home; again is false where none can. It
// stops for a cancellation of the asset in hand, and for any other one: the game goroutine
// may be waiting for this worker, and whoever waits for room must not be waited for.
func (w *worker) starve(released uint64) (again bool, stop error) {
	l := w.loader
	l.mu.Lock()
	defer l.mu.Unlock()
	l.starved++
	defer func() { l.starved-- }()
	l.news.Broadcast() // Wait may be called by the one who holds the room
	for {
		switch {
		case l.entries[w.entry].state == Cancelled:
			return false, errCancelled
		case l.acked[w.index] != l.epoch:
			return false, errStarved
		case l.released[w.index] != released:
			return true, nil
		case l.waiting[w.index] == 0:
			return false, nil
		}
		l.wake.Wait()
	}
}

// free gives back what the worker holds as what, on the goroutine that it belongs to. A
// block that the heap does not take back is held no longer, and stays counted as staged.
func (w *worker) free(what int) error {
	b := w.held[what]
	w.held[what] = block{}
	if b.p == nil || w.gone {
		return nil
	}
	if err := guarded("the worker's heap", func() error { w.heap.Free(b.p, b.size); return nil }); err != nil {
		return err
	}
	w.account(-int64(b.size))
	return nil
}

// drop gives back everything that the worker holds.
func (w *worker) drop() error { return errors.Join(w.free(heldPixels), w.free(heldFile)) }

func (w *worker) account(bytes int64) {
	w.loader.mu.Lock()
	w.loader.stats.Staging += uint64(bytes)
	w.loader.stats.StagingPeak = max(w.loader.stats.StagingPeak, w.loader.stats.Staging)
	w.loader.mu.Unlock()
}

// goOn says whether the asset in hand is still wanted, and counts what was read since. Where
// it is, it acknowledges the cancellation of others: nobody waits for the whole of an asset.
func (w *worker) goOn(read int) error {
	l := w.loader
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stats.BytesRead += uint64(read)
	return w.wanted()
}

// wanted is goOn with the lock, which it gives up for the call of Drain.
func (w *worker) wanted() error {
	l := w.loader
	for {
		switch {
		case l.entries[w.entry].state == Cancelled:
			return errCancelled
		case l.acked[w.index] == l.epoch:
			return nil
		}
		w.acknowledge()
	}
}

// decoding moves the asset in hand on to the next state.
func (w *worker) decoding() error {
	l := w.loader
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := w.wanted(); err != nil {
		return err
	}
	l.set(w.entry, Decoding)
	return nil
}
