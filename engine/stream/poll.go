package stream

import (
	"errors"
	"time"
)

// share is the part of what is done that goes to the oldest request instead of the most urgent
// one: a tenth of what workers begin, and of the bytes that Poll hands over.
const share = 10

// errDeliverPanicked is the error of an asset whose deliver function panicked. The panic continues.
var errDeliverPanicked = errors.New("the deliver function panicked")

// Poll does one frame's share of the work. It returns the number of assets that it tried to deliver, including assets
// that failed or were delivered in part. Poll delivers ready assets within Config.Upload, evicts cached assets, begins
// retries and frees blocks. Call Poll once a frame. Poll never waits for a worker, and does not allocate while nothing
// changes. Poll delivers the first asset regardless of its size, so every Poll makes progress. It ends if the time is
// up, or if the next asset does not fit into Config.Upload, even if a later one would.
//
// If Deliver panics or returns an error other than ErrMore, the asset or its reload fails, and the new blocks are
// freed. A panic continues to the caller. Other assets stay ready. Deliver and Release may call every method of the
// streamer. Inside a callback of Poll, and after Close, Poll returns 0 at once.
func (s *Streamer) Poll() (n int) {
	s.mu.Lock()
	if s.polling || s.closing {
		s.mu.Unlock()
		return 0
	}
	start := s.now()
	s.polling = true
	s.polls++
	s.revive()
	s.makeRoom()
	s.watchFiles(start)
	s.mu.Unlock()

	used := int64(0)
	defer func() { // also where Deliver panics
		defer s.polled(start, used)
		s.flush()
	}()
	for n = 0; ; n++ {
		if n > 0 && s.cfg.Upload.Time > 0 && s.now().Sub(start) >= s.cfg.Upload.Time {
			return n
		}
		left := int64(-1) // no bound
		if n > 0 && s.cfg.Upload.Bytes > 0 {
			left = max(s.cfg.Upload.Bytes-used, 0)
		}
		i, size, ok := s.nextReady(left)
		if !ok {
			return n
		}
		used += size
		s.hand(i)
	}
}

// polled ends a Poll: what was delivered in part is ready again.
func (s *Streamer) polled(start time.Time, used int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range s.parked {
		if e := &s.entries[i]; e.state == Ready && e.parked {
			e.parked = false
			s.ready.push(s.entries, i)
		}
	}
	s.parked = s.parked[:0]
	s.polling = false
	s.handing.Add(s.now().Sub(start))
	s.stats.FrameBytesMax = max(s.stats.FrameBytesMax, used)
}

// nextReady takes what is to be delivered next out of the order; ok is false where there is
// nothing, or it has more bytes than left (if that is not negative).
func (s *Streamer) nextReady(left int64) (i uint32, size int64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ready.heap) == 0 {
		s.credit = 0
		return 0, 0, false
	}
	i = s.ready.heap[0]
	old := i
	if s.credit > 0 {
		old = s.ready.oldest(s.entries)
	}
	if s.credit >= max(s.cost(old), 1)*(share-1) {
		i = old
	}
	if size = s.cost(i); left >= 0 && size > left {
		return 0, 0, false
	}
	if i == old && s.credit > 0 {
		s.credit = max(s.credit-size*(share-1), 0)
	} else {
		s.credit += size
	}
	s.ready.remove(s.entries, i)
	s.set(i, delivering)
	return i, size, true
}

// cost is what delivering counts against the budget: the bytes of the asset, once.
func (s *Streamer) cost(i uint32) int64 {
	if e := &s.entries[i]; !e.started {
		return e.size
	}
	return 0
}

// hand calls the deliver function of entry i.
func (s *Streamer) hand(i uint32) {
	s.mu.Lock()
	e := &s.entries[i]
	k, name, v := e.kind, e.name, e.value
	var old any
	if e.of != 0 {
		old = s.entries[e.of-1].value
	}
	e.started = true
	s.mu.Unlock()
	err := errDeliverPanicked // unless it returns
	defer func() { s.finish(i, err) }()
	if k.deliver == nil {
		err = nil
	} else {
		err = k.deliver(name, v, old)
	}
}

// finish books what became of entry i, whose deliver function has ended.
func (s *Streamer) finish(i uint32, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := &s.entries[i]
	switch {
	case e.state == cancelled: // from inside the call
		s.revoked--
		s.stats.CancelledReady++
		s.leave(i, err == nil || e.parts || errors.Is(err, ErrMore))
		s.announce()
	case errors.Is(err, ErrMore):
		s.set(i, Ready)
		e.parked, e.parts = true, true
		s.parked = append(s.parked, i)
	case err != nil:
		s.takeBack(i)
		s.fail(i, "delivering", err)
	case e.of != 0:
		s.replace(i)
	default:
		s.stats.Deliveries++
		s.stats.BytesDelivered += uint64(e.size)
		now := s.now()
		s.latency.Add(now.Sub(e.asked))
		if !e.due.IsZero() {
			s.leads.add(e.due.Sub(now))
		}
		s.set(i, Loaded)
		e.err, e.tries = nil, 0
		s.sendBlocks(i)
	}
}

// sendBlocks has the blocks of a delivered entry go home, where they do not stay.
func (s *Streamer) sendBlocks(i uint32) {
	if e := &s.entries[i]; !e.kind.stays && e.held.n > 0 {
		s.leaving = append(s.leaving, leaver{held: e.held})
		e.held = holding{}
	}
}

// takeBack has entry i be as one that was never decoded.
func (s *Streamer) takeBack(i uint32) {
	e := &s.entries[i]
	s.charge(e.kind, -e.size)
	l := leaver{kind: e.kind, name: e.name, held: e.held}
	if e.parts && e.kind.release != nil {
		l.value = e.value
	}
	s.leaving = append(s.leaving, l)
	e.held, e.size, e.value, e.started, e.parts = holding{}, 0, nil, false, false
}

// A leaver is what an asset leaves behind: a value to be released, blocks to be sent home.
type leaver struct {
	kind  *kind
	name  string
	value any // nil: nothing to release
	held  holding
}

// flush releases what leaves and sends its blocks home, without the lock. What panics costs
// nothing else: the last panic goes on to the caller when everything is done.
func (s *Streamer) flush() {
	var bad any
	s.mu.Lock()
	for n := len(s.leaving); n > 0; n-- {
		if len(s.leaving) == 0 { // somebody else did it, from inside a call
			break
		}
		l := s.leaving[len(s.leaving)-1]
		s.leaving = s.leaving[:len(s.leaving)-1]
		s.handed[l.held.worker] += int(l.held.n)
		s.mu.Unlock()
		if v := s.bye(&l); v != nil {
			bad = v
		}
		s.mu.Lock()
	}
	s.mu.Unlock()
	if bad != nil {
		panic(bad)
	}
}

// bye releases l and sends its blocks home. Where Release or Config.Free panics it returns with
// what; where they end the goroutine the blocks are not lost either.
func (s *Streamer) bye(l *leaver) (bad any) {
	n := int(l.held.n)
	home := int64(0)
	done := false
	defer func() {
		s.mu.Lock()
		s.handed[l.held.worker] -= n
		s.released[l.held.worker] += uint64(n) - uint64(l.held.n)
		s.stats.Staging -= home
		if l.held.n > 0 && done { // refused
			s.strays = append(s.strays, leaver{held: l.held})
		} else if l.held.n > 0 {
			s.leaving = append(s.leaving, leaver{held: l.held})
		}
		s.wake.Broadcast()
		s.mu.Unlock()
	}()
	if l.value != nil {
		if bad = caught(func() { l.kind.release(l.name, l.value) }); bad == nil {
			l.kind.recycle(l.value)
		}
	}
	for at := int(l.held.n) - 1; at >= 0; at-- {
		b := l.held.blocks[at]
		v := caught(func() { s.cfg.Free(b.p, b.size) })
		if v != nil {
			bad = v
			continue
		}
		home += int64(b.size)
		l.held.n--
		l.held.blocks[at] = l.held.blocks[l.held.n]
	}
	done = true
	return bad
}

// caught returns what f panicked with, or nil.
func caught(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

// Wait blocks until Poll may have work, or until nothing is in flight. After Wait a Poll may still find nothing to
// deliver. While a retry of Config.Retries counts Polls, Wait returns after about a millisecond at the latest. After
// Close, Wait returns at once. Wait is for headless runs and tests. A game with frames calls Poll in each frame
// instead.
func (s *Streamer) Wait() {
	if s.wait() {
		time.Sleep(time.Millisecond)
	}
}

// wait is Wait, and reports whether a pause remains: there is nothing to do but to count Polls.
func (s *Streamer) wait() (pause bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.events == s.seen && !s.pending() && s.underWay() && !(s.starved > 0 && s.polling) {
		s.news.Wait()
	}
	pause = s.events == s.seen && s.retries > 0 && len(s.ready.heap)+len(s.leaving)+s.changed == 0 && !s.closing
	s.seen = s.events
	return pause
}

// pending reports whether a Poll will do something.
func (s *Streamer) pending() bool {
	return len(s.ready.heap)+len(s.leaving)+s.retries+s.changed > 0
}

// underWay reports whether a worker will do something without Poll.
func (s *Streamer) underWay() bool {
	c := &s.stats.counts
	return !s.closing && (c[Queued]+c[Decoding]+c[cancelled]-s.revoked > 0 || s.look > 0 || !s.acknowledged())
}
