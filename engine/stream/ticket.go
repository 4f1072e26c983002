package stream

import (
	"fmt"
	"io/fs"
	"reflect"
	"time"
)

// A ticket is a request in the books.
//
// Invariants:
//
//	(1) gen is odd exactly while it is open
//	(2) an open ticket is in the list of its entry, and in that of its scope
type ticket struct {
	gen        uint32
	entry      uint32
	eta        Priority
	scope      *Scope
	next, prev uint32 // in the list of the entry, +1
	far, near  uint32 // in the list of the scope, +1
}

// A Ticket is a request for an asset whose value is a T. The asset is there, or on its way, for
// as long as one ticket for it is open. A Ticket is a small value without memory of its own: it
// may be copied, and all copies are the same ticket. The zero Ticket is closed. It belongs to
// the game goroutine.
type Ticket[T any] struct {
	s     *Streamer
	index uint32
	gen   uint32
	err   error // the request was refused
}

// In is where a request belongs to: a [*Scope], or a [*Streamer], which is a scope that lasts
// until Close.
type In interface{ scope() *Scope }

func (s *Streamer) scope() *Scope { return &s.root }

// Request asks for the file of that name, of the kind whose values are Ts; the lower of the
// priorities of all its tickets counts. Asked for twice it is loaded once. What is cached is
// there at once, what has failed is tried again. There is no error to check: a request that
// was refused is a ticket that has Failed, and Err wraps ErrKind, ErrFull, ErrClosed or
// ErrNoWorkers, or says that name is not one of an fs.FS. A file that does not exist is found
// later, by a worker. Request costs O(log n) in what is queued, and does not allocate.
func Request[T any](in In, name string, p Priority) Ticket[T] {
	sc := in.scope()
	s := sc.s
	k := s.kinds[reflect.TypeFor[T]()]
	if k == nil {
		return Ticket[T]{s: s, err: fmt.Errorf("%w: %v, for %q", ErrKind, reflect.TypeFor[T](), name)}
	}
	index, gen, err := s.request(sc, k, name, p)
	if err != nil {
		err = &LoadError{Kind: k.name, Name: name, During: "requesting", Err: err}
	}
	return Ticket[T]{s, index, gen, err}
}

func (s *Streamer) request(sc *Scope, k *kind, name string, p Priority) (index, gen uint32, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closing:
		return 0, 0, ErrClosed
	case s.running == 0:
		return 0, 0, ErrNoWorkers
	case len(s.free) == 0:
		return 0, 0, fmt.Errorf("%w: %d tickets", ErrFull, len(s.tickets))
	}
	i, known := s.names[key{k, name}]
	if !known {
		if i, err = s.newEntry(k, name); err != nil {
			return 0, 0, err
		}
	}
	s.stats.Requests++
	index = s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	t, e := &s.tickets[index], &s.entries[i]
	*t = ticket{gen: t.gen + 1, entry: i, eta: ETA(float32(p)), scope: sc, next: e.first, far: sc.first}
	if t.next != 0 {
		s.tickets[t.next-1].prev = index + 1
	}
	if t.far != 0 {
		s.tickets[t.far-1].near = index + 1
	}
	e.first, sc.first = index+1, index+1
	sc.open++
	if e.tickets++; e.tickets == 1 && e.state == Loaded {
		s.uncache(i)
		s.stats.Hits++
	}
	s.rank(i)
	switch {
	case !known:
		s.enqueue(i)
	case e.state == Failed:
		e.tries = 0
		s.restart(i)
	}
	return index, t.gen, nil
}

// newEntry takes a place for what nobody has asked for yet; where all are taken, that of the
// cached asset which was without a ticket for the longest.
func (s *Streamer) newEntry(k *kind, name string) (uint32, error) {
	if !fs.ValidPath(name) || name == "." {
		return 0, fmt.Errorf("it is not a path inside the file system; allowed: slash-separated, no leading slash, no . or .. element")
	}
	if len(s.vacant) == 0 && s.oldest != 0 {
		s.evict(s.oldest - 1) // its blocks go home in the next Poll
	}
	if len(s.vacant) == 0 {
		return 0, fmt.Errorf("%w: %d assets", ErrFull, len(s.entries))
	}
	i := s.place(k, name)
	s.names[key{k, name}] = i
	if s.evicted.lately(key{k, name}, s.entries[i].asked) {
		s.stats.Thrash++
	}
	return i, nil
}

// place takes a vacant place, of which there is one.
func (s *Streamer) place(k *kind, name string) uint32 {
	i := s.vacant[len(s.vacant)-1]
	s.vacant = s.vacant[:len(s.vacant)-1]
	s.seq++
	e := &s.entries[i]
	e.kind, e.name, e.seq, e.asked = k, name, s.seq, s.now()
	return i
}

// rank gives entry i the lowest of its tickets' priorities, and its reload as well.
func (s *Streamer) rank(i uint32) {
	e := &s.entries[i]
	eta := Last
	for t := e.first; t != 0; t = s.tickets[t-1].next {
		eta = min(eta, s.tickets[t-1].eta)
	}
	s.expect(e, eta)
	for {
		if e.eta != eta {
			e.eta = eta
			switch {
			case e.pos < 0:
			case e.state == Queued:
				s.queue.fix(s.entries, i)
			case e.state == Ready:
				s.ready.fix(s.entries, i)
			default:
				s.room.fix(s.entries, i)
			}
		}
		if e.next == 0 {
			return
		}
		i = e.next - 1
		e = &s.entries[i]
	}
}

// expect notes when an asset on its way will be needed. What was needed before now is so from then on.
func (s *Streamer) expect(e *entry, eta Priority) {
	switch {
	case e.state == Loaded:
	case eta == Last:
		e.due = time.Time{}
	default:
		now := s.now()
		if late := !e.due.IsZero() && e.due.Before(now); !late || eta > 0 {
			e.due = now.Add(time.Duration(min(max(float64(eta), 0), 1e6) * float64(time.Second)))
		}
	}
}

// find returns an open ticket and its asset, or nil.
func (s *Streamer) find(index, gen uint32) (*ticket, *entry) {
	if gen&1 == 0 || int(index) >= len(s.tickets) || s.tickets[index].gen != gen {
		return nil, nil
	}
	t := &s.tickets[index]
	return t, &s.entries[t.entry]
}

// shut closes an open ticket. What leaves because of it is in leaving.
func (s *Streamer) shut(index uint32) {
	t := &s.tickets[index]
	e, sc := &s.entries[t.entry], t.scope
	unlink := func(next, prev uint32, first *uint32, at func(*ticket) (next, prev *uint32)) {
		if prev == 0 {
			*first = next
		} else {
			n, _ := at(&s.tickets[prev-1])
			*n = next
		}
		if next != 0 {
			_, p := at(&s.tickets[next-1])
			*p = prev
		}
	}
	unlink(t.next, t.prev, &e.first, func(t *ticket) (*uint32, *uint32) { return &t.next, &t.prev })
	unlink(t.far, t.near, &sc.first, func(t *ticket) (*uint32, *uint32) { return &t.far, &t.near })
	i := t.entry
	*t = ticket{gen: t.gen + 1}
	if t.gen != 0 { // a worn out ticket must never be another one
		s.free = append(s.free, index)
	}
	sc.open--
	if e.tickets--; e.tickets > 0 {
		s.rank(i)
		return
	}
	if e.state == Loaded && e.next == 0 && !e.changed && s.cfg.Resident > 0 && !s.closing {
		s.cache(i)
		return
	}
	s.discard(i)
}

// discard ends entry i, which nobody wants any more.
func (s *Streamer) discard(i uint32) {
	e := &s.entries[i]
	switch e.state {
	case Queued, Waiting:
		s.stats.CancelledQueued++
		s.vacate(i)
	case Decoding:
		s.stats.CancelledDecoding++
		s.unname(i)
		s.set(i, cancelled)
		s.wake.Broadcast() // it may wait for room
	case Ready:
		s.stats.CancelledReady++
		s.stats.Wasted += uint64(e.size)
		s.leave(i, e.parts)
	case delivering:
		s.unname(i)
		s.set(i, cancelled) // see finish
	case Loaded:
		s.leave(i, true)
	case Failed:
		s.vacate(i)
	}
}

// leave has entry i go: to be released, where it was delivered, and its blocks to be sent home
// by flush.
func (s *Streamer) leave(i uint32, delivered bool) {
	e := &s.entries[i]
	l := leaver{kind: e.kind, name: e.name, held: e.held}
	if delivered && e.kind.release != nil {
		l.value = e.value
	}
	if l.value != nil || l.held.n > 0 {
		s.leaving = append(s.leaving, l)
	}
	s.vacate(i)
}

// Close closes the ticket. With the last one the asset is cancelled, in the queue and in the
// middle of its decoding, or cached, or released. One in the middle of its decoding keeps its place
// among Config.Assets until its worker has let go of it. A second Close does nothing. A panic of
// Release or Config.Free goes on to the caller when everything else is done.
func (t Ticket[T]) Close() {
	s := t.s
	if s == nil {
		return
	}
	s.mu.Lock()
	if k, _ := s.find(t.index, t.gen); k != nil && t.err == nil {
		s.shut(t.index)
	}
	s.mu.Unlock()
	s.flush()
}

// Priority changes when the asset is needed, for this ticket. O(log n) while it is queued.
func (t Ticket[T]) Priority(p Priority) {
	if t.s == nil || t.err != nil {
		return
	}
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	if k, _ := t.s.find(t.index, t.gen); k != nil {
		k.eta = ETA(float32(p))
		t.s.rank(k.entry)
	}
}

// Get returns the value; ok is false until it is Loaded, and once the ticket is closed. What
// lies in blocks of the asset is valid until the ticket is closed, or the asset is reloaded by
// a later Poll.
func (t Ticket[T]) Get() (v T, ok bool) {
	if t.s == nil || t.err != nil {
		return v, false
	}
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	if _, e := t.s.find(t.index, t.gen); e != nil && e.state == Loaded {
		return *e.value.(*T), true
	}
	return v, false
}

// State returns how far the asset has come: Vacant where the ticket is closed.
func (t Ticket[T]) State() State {
	switch {
	case t.err != nil:
		return Failed
	case t.s == nil:
		return Vacant
	}
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	_, e := t.s.find(t.index, t.gen)
	switch {
	case e == nil:
		return Vacant
	case e.state == delivering:
		return Ready
	}
	return e.state
}

// Err returns why the asset has failed, or why the last attempt did and it Waits for another,
// or the last reload, of what is Loaded: a *LoadError; nil otherwise.
func (t Ticket[T]) Err() error {
	if t.s == nil || t.err != nil {
		return t.err
	}
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	if _, e := t.s.find(t.index, t.gen); e != nil {
		return e.err
	}
	return nil
}

// Retry tries an asset that has failed, or waits for another attempt, again, now.
func (t Ticket[T]) Retry() {
	if t.s == nil || t.err != nil {
		return
	}
	s := t.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if k, e := s.find(t.index, t.gen); k != nil && s.running > 0 && !s.closing && (e.state == Failed || e.state == Waiting && e.retryAt != 0) {
		s.stats.Retries++
		s.restart(k.entry)
	}
}
