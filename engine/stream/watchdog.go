package stream

import (
	"errors"
	"fmt"
	"time"
)

// A call of the file system may never return: a named pipe without a writer, a server that is
// gone. No goroutine can be ended from outside, so the worker that made the call is given up:
// its asset fails with an error that names the file, nobody waits for it any longer, and what
// it holds of its heap stays as it is, counted in Stats.Staging, because nobody else may
// free there. Should the call return after all, the goroutine ends without touching anything.
//
// That is why a file is read into a buffer of the Go heap and copied: a call that returns
// late writes where nobody looks, also when the heap has long been closed.

// ErrHangs is wrapped by the error of an asset if a call of the file system took longer than Config.Patience, or longer
// than 2 s in Streamer.Close.
var ErrHangs = errors.New("stream: the file system does not answer")

// ErrNoWorkers is wrapped by the errors of new requests, of queued assets and of assets that wait for space, after
// every worker was abandoned.
var ErrNoWorkers = errors.New("stream: no worker is left: each was abandoned, see Streamer.Errors")

var errGoexit = errors.New("the goroutine was ended by runtime.Goexit")

const (
	defaultPatience = 10 * time.Second // a disk that has to spin up takes less
	closePatience   = 2 * time.Second  // nobody wants the file any more

	// A watchdog that comes later than this stood still with the whole process, as in a debugger.
	stoodStill = time.Second
)

// patience is how long a call of the file system may take.
func (s *Streamer) patience() time.Duration {
	if s.closing {
		return min(s.cfg.Patience, closePatience)
	}
	return s.cfg.Patience
}

// ask makes a call of the file system, and has it watched. The error is that of f, or says
// that it panicked, or is errCancelled (then f was not called) or errAbandoned (then the
// worker is gone: it must return without touching heap and books).
func (w *worker) ask(call string, f func() error) error {
	if err := w.watch(call); err != nil {
		return err
	}
	err := guarded("the file system", f)
	if w.unwatch() {
		return errAbandoned
	}
	return err
}

// callClose is the call that is made of a file which nobody wants as well.
const callClose = "Close"

func (w *worker) watch(call string) error {
	s := w.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if call != callClose {
		if err := w.wanted(); err != nil {
			return err
		}
	}
	w.call, w.asked = call, time.Now()
	w.deadline = w.asked.Add(s.patience())
	w.watchdog.Reset(s.patience())
	return nil
}

func (w *worker) unwatch() (gone bool) {
	s := w.s
	s.mu.Lock()
	defer s.mu.Unlock()
	w.gone = w.lost
	if !w.gone {
		w.call = ""
		w.watchdog.Stop()
	}
	return w.gone
}

// expire is called by the watchdog. It may come late, when the call has returned and
// another one began.
func (w *worker) expire() {
	s := w.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.call == "" || w.lost || w.ended {
		return
	}
	left := time.Until(w.deadline)
	if left < -stoodStill { // so did the call
		w.deadline = time.Now().Add(s.patience())
		left = s.patience()
	}
	if left > 0 {
		w.watchdog.Reset(left)
		return
	}
	s.abandon(w, fmt.Errorf("%w: %s did not return within %v", ErrHangs, w.call, time.Since(w.asked).Round(time.Millisecond)))
}

// hurry leaves the calls that are under way the time that Close waits. With the lock.
func (s *Streamer) hurry() {
	for _, w := range s.workers {
		if w.call == "" || w.lost {
			continue
		}
		if by := time.Now().Add(s.patience()); by.Before(w.deadline) {
			w.deadline = by
			w.watchdog.Reset(s.patience())
		}
	}
}

// abandon gives w up, with the lock. The last one to go takes with it what waits for a worker,
// so that nobody waits for that.
func (s *Streamer) abandon(w *worker, why error) {
	w.lost = true
	w.watchdog.Stop()
	s.running--
	s.stats.Abandoned++
	why = fmt.Errorf("%w; worker %d and its heap are given up", why, w.index)
	switch {
	case w.inHand:
		w.inHand = false
		s.busy--
		e := &s.entries[w.entry]
		s.leaveAlone(e.name)
		lost := &LoadError{Kind: e.kind.name, Name: e.name, During: "reading", Err: why}
		why = lost
		s.charge(e.kind, -w.reserved) // what it holds is staged for good, and nobody's asset
		w.reserved = 0
		if e.state == cancelled {
			s.vacate(w.entry)
			break
		}
		if e.of != 0 {
			s.entries[e.of-1].err = lost
			s.vacate(w.entry)
			break
		}
		e.err = lost
		s.set(w.entry, Failed)
	case w.watching != "":
		s.leaveAlone(w.watching)
		why = fmt.Errorf("stream: looking for a change of %q: %w", w.watching, why)
	}
	s.log(why)
	s.lost = append(s.lost, why)
	if s.running == 0 {
		s.failAll(ErrNoWorkers)
	}
}

// leaveAlone ends the checks of Config.Watch for a file in whose call a worker was abandoned. Each further check would
// cost another worker, and so would a reload.
func (s *Streamer) leaveAlone(name string) {
	for i := range s.entries {
		if e := &s.entries[i]; e.name == name {
			e.hung = e.state != Vacant
		}
	}
}

// failAll fails what waits for a worker that will never come.
func (s *Streamer) failAll(why error) {
	s.look = 0
	for i := range s.entries {
		e, i := &s.entries[i], uint32(i)
		switch {
		case e.state == Queued:
			s.queue.remove(s.entries, i)
		case e.state == Waiting && e.retryAt == 0:
			s.blocked.remove(s.entries, i)
		case e.state == Waiting:
			s.retries--
			e.retryAt = 0
			s.set(i, Failed)
			continue
		default:
			continue
		}
		s.fail(i, "reading", why)
	}
}

// guarded calls f and turns a panic into an error that says whose it was.
func guarded(whose string, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = panicked(whose, v)
		}
	}()
	return f()
}

func panicked(whose string, v any) error {
	if e, ok := v.(error); ok {
		return fmt.Errorf("%s panicked: %w", whose, e)
	}
	return fmt.Errorf("%s panicked: %v", whose, v)
}

// unlocked calls f without the lock, which is held again afterwards, however f ends.
func (s *Streamer) unlocked(f func()) {
	s.mu.Unlock()
	defer s.mu.Lock()
	f()
}
