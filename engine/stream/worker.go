package stream

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/strata-go/strata/memory"
)

// A worker is one goroutine with a heap that no other goroutine allocates from. What it holds
// between two locks of the streamer is in its variables only: an entry that it works on is
// changed by nobody else, but for the state cancelled, which it finds when it comes back.
//
// Invariants:
//
//	(1) the blocks in held are the worker's alone: neither published nor free
//	(2) once it is lost, its goroutine touches neither its heap nor the streamer's books
//	(3) reserved is not 0 only while it has an asset in hand
type worker struct {
	s      *Streamer
	index  int
	heap   memory.Allocator
	entry  uint32  // the asset in hand
	held   holding // so that a panic loses nothing
	stop   error   // why the asset in hand is not to be finished, whatever its decoder says
	buf    []byte  // what is read from a file goes through here, on the Go heap: see ask
	reader Reader
	lend   Heap
	gone   bool // lost, as its goroutine knows it

	// Guarded by the mutex of the streamer.
	reserved int64 // against Config.Resident
	inHand   bool
	frayed   float64 // of the heap's free bytes, the share outside its largest block, when it was seen last
	pressing bool    // starved, and only what is cached can help
	ended    bool
	lost     bool      // given up, see abandon
	call     string    // of the file system, under way; or ""
	watching string    // the file that is looked at, where no asset is in hand
	asked    time.Time // when the call began
	deadline time.Time // when the worker is given up
	watchdog *time.Timer
}

func (w *worker) loop() {
	defer w.end()
	w.serve()
}

// serve works until the streamer closes or the worker is lost.
func (w *worker) serve() {
	s := w.s
	s.mu.Lock()
	defer s.mu.Unlock()
	for !w.lost {
		switch {
		case s.acked[w.index] != s.epoch:
			w.acknowledge()
		case s.over:
			w.ended = true
			return
		case len(s.queue.heap) > 0:
			w.work(s.pick())
		case s.look > 0:
			w.lookAround()
		default:
			s.wake.Wait()
		}
	}
}

// pick takes the next asset out of the queue: the first, and one time in ten the oldest
// request, so that nothing waits for ever behind what is always more urgent.
func (s *Streamer) pick() uint32 {
	i := s.queue.heap[0]
	if s.picks++; s.picks%share == 0 {
		i = s.queue.oldest(s.entries)
	}
	s.queue.remove(s.entries, i)
	return i
}

// end books that the goroutine ends. One that did not come to its end by itself was ended
// by runtime.Goexit inside a call that is not ours.
func (w *worker) end() {
	s := w.s
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case w.lost:
	case w.ended:
		s.running--
		w.watchdog.Stop()
		s.news.Broadcast()
	default:
		s.abandon(w, errGoexit)
	}
}

// acknowledge tells the game goroutine that this worker holds nothing that was cancelled. It is
// called with the lock, which it gives up for the call of Drain.
func (w *worker) acknowledge() {
	s := w.s
	epoch := s.epoch
	if s.cfg.Drain != nil {
		var err error
		s.unlocked(func() {
			err = guarded("Drain", func() error { s.cfg.Drain(w.index); return nil })
		})
		if err != nil {
			s.log(fmt.Errorf("stream: worker %d: %w", w.index, err))
		}
	}
	s.acked[w.index] = epoch
	s.announce()
}

// work loads an asset. It is called with the lock, which it gives up while it reads and decodes.
func (w *worker) work(i uint32) {
	s := w.s
	w.entry, w.stop = i, nil
	e := &s.entries[i]
	if !w.admit(e) {
		s.await(i)
		return
	}
	s.set(i, Decoding)
	s.busy++
	w.inHand = true
	k, name := e.kind, e.name

	var value any
	var during string
	var err error
	s.unlocked(func() { value, during, err = w.load(k, name); w.survey() })

	if w.lost {
		return // the entry may be another's by now
	}
	if e.state == cancelled && w.held.n > 0 {
		w.stop = errCancelled
		s.unlocked(func() { _ = w.drop() }) // nobody wants to know
	}
	s.busy--
	w.inHand = false
	if e.stamp = w.reader.stamp; e.state == cancelled || err != nil {
		s.charge(k, -w.reserved)
		w.reserved = 0
	}
	switch {
	case e.state == cancelled:
		k.unseen(value)
		s.vacate(i)
		s.announce()
	case w.stop == errStarved: // again, when the cancellation is acknowledged
		s.enqueue(i)
	case w.stop == errNoBudget:
		s.await(i)
	case err != nil:
		s.fail(i, during, err)
	default:
		w.publish(i, value)
	}
}

// admit reserves what the asset is known to need.
func (w *worker) admit(e *entry) bool {
	s := w.s
	if s.cfg.Resident > 0 && s.resident+e.need > s.cfg.Resident {
		return false
	}
	w.reserved = e.need
	s.charge(e.kind, e.need)
	return true
}

// await has entry i wait for room.
func (s *Streamer) await(i uint32) {
	s.set(i, Waiting)
	s.entries[i].passed = false
	s.blocked.push(s.entries, i)
	s.announce() // Poll makes room
}

func (w *worker) publish(i uint32, value any) {
	s := w.s
	e := &s.entries[i]
	e.held, e.value = w.held, value
	e.held.worker = int32(w.index)
	e.size = w.held.bytes()
	e.need = e.size
	w.held = holding{}
	s.charge(e.kind, e.size-w.reserved)
	w.reserved = 0
	s.stats.BytesDecoded += uint64(e.size)
	s.set(i, Ready)
	s.ready.push(s.entries, i)
	s.announce()
}

// load does the work on one asset. On success its blocks are held; on failure nothing is, and
// during says what was being done. A panic is a failure, whoever's it was.
func (w *worker) load(k *kind, name string) (value any, during string, err error) {
	during = "reading"
	defer func() {
		if v := recover(); v != nil {
			err = panicked(during, v)
		}
		if w.stop != nil {
			err = w.stop
		}
		if err != nil {
			value = nil
			if lost := w.drop(); lost != nil {
				err = errors.Join(err, lost)
			}
		}
	}()
	err = w.open(name, func() (err error) {
		during = "decoding"
		value, err = k.decode(&w.reader, &w.lend)
		if r := &w.reader; r.err != nil { // what the decoder makes of it says less
			during, err = "reading", r.err
		}
		return err
	})
	return value, during, err
}

// drop gives back everything that the worker holds, on the goroutine that it belongs to. A
// block that the heap does not take back is held no longer, and stays counted as staged.
func (w *worker) drop() (err error) {
	held := w.held
	w.held = holding{}
	if w.gone {
		return nil
	}
	if w.stop == errCancelled {
		w.s.mu.Lock()
		w.s.stats.Wasted += uint64(held.bytes())
		w.s.mu.Unlock()
	}
	for _, b := range held.blocks[:held.n] {
		lost := guarded("the worker's heap", func() error { w.heap.Free(b.p, b.size); return nil })
		if lost == nil {
			w.account(-int64(b.size))
		}
		err = errors.Join(err, lost)
	}
	return err
}

// survey looks how the worker's heap is frayed, where it says so.
func (w *worker) survey() {
	books, ok := w.heap.(interface{ Stats() memory.Stats })
	if !ok || w.gone {
		return
	}
	share := 0.0
	err := guarded("the worker's heap", func() error { share = books.Stats().External(); return nil })
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	if err != nil {
		w.s.log(fmt.Errorf("stream: worker %d: %w", w.index, err))
		return
	}
	w.frayed = share
	w.s.frays += share
	w.s.surveys++
}

func (w *worker) account(bytes int64) {
	s := w.s
	s.mu.Lock()
	s.stats.Staging += bytes
	s.stats.StagingPeak = max(s.stats.StagingPeak, s.stats.Staging)
	s.mu.Unlock()
}

// wanted says whether the asset in hand is still wanted. Where it is, it acknowledges the
// cancellation of others: nobody waits for the whole of an asset. It is called with the
// lock, which it gives up for the call of Drain.
func (w *worker) wanted() error {
	s := w.s
	for {
		switch {
		case w.lost:
			return errAbandoned
		case w.stop != nil:
			return w.stop
		case w.inHand && s.entries[w.entry].state == cancelled:
			return w.stopped(errCancelled)
		case s.acked[w.index] == s.epoch:
			return nil
		}
		w.acknowledge()
	}
}

// lookAround looks whether the next file in turn has changed. It is called with the lock.
func (w *worker) lookAround() {
	s := w.s
	if s.look--; s.look == 0 {
		s.news.Broadcast() // a Wait may have nothing else to wait for
	}
	i := uint32(s.look)
	e := &s.entries[i]
	if e.state != Loaded && e.state != Failed || e.changed || e.next != 0 || e.hung {
		return
	}
	name, seq, before := e.name, e.seq, e.stamp
	w.watching, w.stop = name, nil
	var now stamp
	var err error
	s.unlocked(func() {
		err = w.ask("Stat", func() error {
			info, err := fs.Stat(s.cfg.FS, name)
			switch {
			case err != nil:
				return reason(err)
			case info == nil:
				return errors.New("the call of Stat gave neither information nor error")
			}
			now = stampOf(info) // it calls methods of the file system
			return nil
		})
	})
	if w.lost {
		return
	}
	w.watching = ""
	if e.seq != seq || e.state != Loaded && e.state != Failed || e.changed {
		return
	}
	switch {
	case err == nil:
		if e.missing || !before.equal(now) {
			e.changed, e.missing = true, false
			s.changed++
			s.announce()
		}
	case e.state == Loaded && !e.missing:
		e.missing = true
		e.err = &LoadError{Kind: e.kind.name, Name: name, During: "looking for a change, the old one stays", Err: err}
		s.log(e.err)
	}
}
