package engine

import (
	"errors"
	"fmt"
	"time"
)

// A call of the file system may never return: a named pipe without a writer, a server that is
// gone. No goroutine can be ended from outside, so the worker that made the call is given up:
// its asset fails with an error that names the file, nobody waits for it any longer, and what
// it holds of its heap stays as it is, counted in LoaderStats.Staging, because nobody else may
// free there. Should the call return after all, the goroutine ends without touching anything.
//
// That is why a file is read into a buffer of the Go heap and copied: a call that returns
// late writes where nobody looks, also when the heap has long been closed.

// ErrHangs is why a file failed whose file system did not answer within LoaderConfig.Patience.
var ErrHangs = errors.New("engine: the file system does not answer")

// ErrNoWorkers is why nothing can be loaded any longer: every worker was given up.
var ErrNoWorkers = errors.New("engine: no worker is left: each was given up, see Loader.Errors")

var errGoexit = errors.New("the goroutine was ended by runtime.Goexit")

const (
	defaultPatience = 10 * time.Second // a disk that has to spin up takes less
	closePatience   = 2 * time.Second  // nobody wants the file any more

	// A watchdog that comes later than this stood still with the whole process, as in a debugger.
	stoodStill = time.Second
)

// patience is how long a call of the file system may take.
func (l *Loader) patience() time.Duration {
	if l.closing {
		return min(l.cfg.Patience, closePatience)
	}
	return l.cfg.Patience
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
	l := w.loader
	l.mu.Lock()
	defer l.mu.Unlock()
	if call != callClose {
		if err := w.wanted(); err != nil {
			return err
		}
	}
	w.call, w.asked = call, time.Now()
	w.deadline = w.asked.Add(l.patience())
	w.watchdog.Reset(l.patience())
	return nil
}

func (w *worker) unwatch() (gone bool) {
	l := w.loader
	l.mu.Lock()
	defer l.mu.Unlock()
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
	l := w.loader
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.call == "" || w.lost || w.ended {
		return
	}
	left := time.Until(w.deadline)
	if left < -stoodStill { // so did the call
		w.deadline = time.Now().Add(l.patience())
		left = l.patience()
	}
	if left > 0 {
		w.watchdog.Reset(left)
		return
	}
	l.abandon(w, fmt.Errorf("%w: %s did not return within %v", ErrHangs, w.call, time.Since(w.asked).Round(time.Millisecond)))
}

// hurry leaves the calls that are under way the time that Close waits. With the lock.
func (l *Loader) hurry() {
	for _, w := range l.workers {
		if w.call == "" || w.lost {
			continue
		}
		if by := time.Now().Add(l.patience()); by.Before(w.deadline) {
			w.deadline = by
			w.watchdog.Reset(l.patience())
		}
	}
}

// abandon gives w up, with the lock. The last one to go takes with it what is queued, so
// that nobody waits for that.
func (l *Loader) abandon(w *worker, why error) {
	w.lost = true
	w.watchdog.Stop()
	l.running--
	l.stats.Abandoned++
	why = fmt.Errorf("%w; worker %d and its heap are given up", why, w.index)
	if w.inHand {
		w.inHand = false
		l.busy--
		e := &l.entries[w.entry]
		lost := &LoadError{ID: e.id, Path: e.path, During: Reading, Err: why}
		if e.state == Decoding {
			lost.During = Decoding
		}
		why = lost
		if e.state != Cancelled {
			l.set(w.entry, Failed)
			e.err = lost
		}
	}
	l.log(why)
	l.lost = append(l.lost, why)
	for l.running == 0 && len(l.queue.heap) > 0 {
		l.fail(l.queue.pop(l.entries), Reading, ErrNoWorkers)
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

// outside calls f without the lock, which is held again afterwards, however f ends.
func (l *Loader) outside(f func()) {
	l.mu.Unlock()
	defer l.mu.Lock()
	f()
}
