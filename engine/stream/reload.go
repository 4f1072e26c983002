package stream

import (
	"fmt"
	"slices"
	"time"
)

// Reload makes the next Poll load the file with the given name again, for every kind whose asset of this file is Loaded
// or Failed. A cached asset without handles is released instead. A reload in flight is restarted, a first load in
// flight is not. Reload returns true if it has found such an asset that does not already wait for the next Poll. After
// all workers were abandoned, the next Poll drops the reload without an error.
//
// The old value stays loaded until the new value is delivered. Kind.Deliver gets both values. If the reload fails, the
// old value stays, and the error is logged and returned by Handle.Err. Until the delivery the new value takes a place
// of Config.Assets, too. If all places are taken by assets that are not cached, the reload fails, and its error wraps
// ErrFull.
func (s *Streamer) Reload(name string) (any bool) {
	s.mu.Lock()
	for i := range s.entries {
		e := &s.entries[i]
		if e.name != name || e.of != 0 || e.changed || e.state != Loaded && e.state != Failed {
			continue
		}
		e.changed = true
		s.changed++
		any = true
	}
	s.announce()
	s.mu.Unlock()
	return any
}

// revive begins what is to be loaded again: changed files, and attempts that are due.
func (s *Streamer) revive() {
	if s.retries+s.changed == 0 {
		return
	}
	for i := range s.entries {
		e, i := &s.entries[i], uint32(i)
		switch {
		case e.state == Waiting && e.retryAt != 0 && e.retryAt <= s.polls:
			s.restart(i)
		case !e.changed:
		case s.running == 0:
			e.changed = false
			s.changed--
		case e.state == Failed:
			e.tries = 0
			s.restart(i)
		case e.state == Loaded && e.requests == 0:
			s.uncache(i)
			s.discard(i)
		case e.state == Loaded:
			s.renew(i)
		}
	}
}

// renew requests what is to take the place of entry i.
func (s *Streamer) renew(i uint32) {
	e := &s.entries[i]
	e.changed, e.hung = false, false
	s.changed--
	if n := e.next; n != 0 { // on its way, and of a file that is another one by now
		e.next, s.entries[n-1].of = 0, 0
		s.discard(n - 1)
	}
	if len(s.vacant) == 0 && s.oldest != 0 {
		s.evict(s.oldest - 1)
	}
	if len(s.vacant) == 0 {
		e.err = &LoadError{Kind: e.kind.name, Name: e.name, During: "reloading", Err: fmt.Errorf("%w: allowed are Config.Assets = %d", ErrFull, len(s.entries))}
		s.log(e.err)
		return
	}
	s.stats.Reloads++
	n := s.place(e.kind, e.name)
	s.entries[n].of, s.entries[n].eta = i+1, e.eta
	e.next = n + 1
	s.enqueue(n)
}

// replace puts what was delivered as entry n in the place of what it is the reload of.
func (s *Streamer) replace(n uint32) {
	e := &s.entries[n]
	old := &s.entries[e.of-1]
	s.charge(old.kind, -old.size)
	old.kind.loaded += e.size - old.size
	if old.requests == 0 {
		s.stats.Cached += e.size - old.size
	}
	if old.held.n > 0 {
		s.leaving = append(s.leaving, leaver{held: old.held})
	}
	at := e.of - 1
	old.held, old.value, old.size, old.need = e.held, e.value, e.size, e.need
	old.stamp, old.err, old.missing = e.stamp, nil, false
	s.stats.Deliveries++
	s.stats.BytesDelivered += uint64(e.size)
	e.held, e.size, e.value = holding{}, 0, nil // the other's, by now
	s.vacate(n)
	s.sendBlocks(at)
}

// watchFiles has idle workers look at the files once every Config.Watch, and not before the last look has ended: a call
// that hangs costs one worker only.
func (s *Streamer) watchFiles(now time.Time) {
	if s.cfg.Watch == 0 || s.look > 0 || s.running == 0 || slices.ContainsFunc(s.workers, func(w *worker) bool { return w.watching != "" && !w.lost }) {
		return
	}
	if s.looked.IsZero() {
		s.looked = now
	}
	if now.Sub(s.looked) >= s.cfg.Watch {
		s.looked = now
		s.look = len(s.entries)
		s.wake.Broadcast()
	}
}
