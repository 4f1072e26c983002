package stream

import (
	"fmt"
	"io/fs"
	"reflect"
	"time"
)

// A request is the record of a request.
//
// Invariants:
//
//	(1) gen is odd exactly while it is open
//	(2) an open handle is in the list of its entry, and in that of its scope
type request struct {
	gen        uint32
	entry      uint32
	eta        Priority
	scope      *Scope
	next, prev uint32 // in the list of the entry, +1
	far, near  uint32 // in the list of the scope, +1
}

// A Handle is a request for an asset whose value is a T. If an asset has an open handle, the streamer loads the asset
// and keeps it loaded. All copies of a Handle are one handle. The zero Handle is closed. The methods of a Handle are
// for the game goroutine. On a closed handle the methods do nothing and return zero values. [Request] describes the
// handle of a refused request.
type Handle[T any] struct {
	s     *Streamer
	index uint32
	gen   uint32
	err   error // the request was refused
}

// In is the owner of a request: a [*Scope] or a [*Streamer]. [Scope.Cancel] closes the handles of a [*Scope]. Handles
// of a [*Streamer] belong to no scope.
type In interface{ scope() *Scope }

func (s *Streamer) scope() *Scope { return &s.root }

// Request requests the file with the given name as an asset of T's kind. If several handles for values of type T
// request one file, the file is loaded once, with the most urgent of their priorities. A cached asset is Loaded at
// once. A failed asset is loaded again.
//
// If the request is refused, the State of the new handle is Failed and never changes. Its Err wraps ErrKind, ErrFull,
// ErrClosed or ErrNoWorkers, or reports that name is no path of a file (see fs.ValidPath). A request for a missing file
// is not refused: the asset fails when a worker opens the file. Request costs O(log n) in the number of queued assets
// and O(n) in the handles of the asset. It allocates only for an error.
func Request[T any](in In, name string, p Priority) Handle[T] {
	sc := in.scope()
	s := sc.s
	k := s.kinds[reflect.TypeFor[T]()]
	if k == nil {
		return Handle[T]{s: s, err: fmt.Errorf("%w: %v, for %q", ErrKind, reflect.TypeFor[T](), name)}
	}
	index, gen, err := s.request(sc, k, name, p)
	if err != nil {
		err = &LoadError{Kind: k.name, Name: name, During: "requesting", Err: err}
	}
	return Handle[T]{s, index, gen, err}
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
		return 0, 0, fmt.Errorf("%w: allowed are Config.Handles = %d", ErrFull, len(s.requests))
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
	t, e := &s.requests[index], &s.entries[i]
	*t = request{gen: t.gen + 1, entry: i, eta: ETA(float32(p)), scope: sc, next: e.first, far: sc.first}
	if t.next != 0 {
		s.requests[t.next-1].prev = index + 1
	}
	if t.far != 0 {
		s.requests[t.far-1].near = index + 1
	}
	e.first, sc.first = index+1, index+1
	sc.open++
	if e.requests++; e.requests == 1 && e.state == Loaded {
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

// newEntry takes a vacant entry for an asset, or that of the least recently used cached asset.
func (s *Streamer) newEntry(k *kind, name string) (uint32, error) {
	if !fs.ValidPath(name) || name == "." {
		return 0, fmt.Errorf("it is not a path inside the file system; allowed: slash-separated, no leading slash, no . or .. element")
	}
	if len(s.vacant) == 0 && s.oldest != 0 {
		s.evict(s.oldest - 1) // its blocks are freed in the next Poll
	}
	if len(s.vacant) == 0 {
		return 0, fmt.Errorf("%w: allowed are Config.Assets = %d", ErrFull, len(s.entries))
	}
	i := s.place(k, name)
	s.names[key{k, name}] = i
	if s.evicted.lately(key{k, name}, s.entries[i].asked) {
		s.stats.Thrash++
	}
	return i, nil
}

// place takes a vacant entry, of which there must be one.
func (s *Streamer) place(k *kind, name string) uint32 {
	i := s.vacant[len(s.vacant)-1]
	s.vacant = s.vacant[:len(s.vacant)-1]
	s.seq++
	e := &s.entries[i]
	e.kind, e.name, e.seq, e.asked = k, name, s.seq, s.now()
	return i
}

// rank gives entry i the lowest of its handles' priorities, and its reload as well.
func (s *Streamer) rank(i uint32) {
	e := &s.entries[i]
	eta := Last
	for t := e.first; t != 0; t = s.requests[t-1].next {
		eta = min(eta, s.requests[t-1].eta)
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
				s.blocked.fix(s.entries, i)
			}
		}
		if e.next == 0 {
			return
		}
		i = e.next - 1
		e = &s.entries[i]
	}
}

// expect records when an asset in flight will be needed. A time that has passed is kept.
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

// find returns an open handle and its asset, or nil.
func (s *Streamer) find(index, gen uint32) (*request, *entry) {
	if gen&1 == 0 || int(index) >= len(s.requests) || s.requests[index].gen != gen {
		return nil, nil
	}
	t := &s.requests[index]
	return t, &s.entries[t.entry]
}

// shut closes an open handle. Assets that end because of it are in leaving.
func (s *Streamer) shut(index uint32) {
	t := &s.requests[index]
	e, sc := &s.entries[t.entry], t.scope
	unlink := func(next, prev uint32, first *uint32, at func(*request) (next, prev *uint32)) {
		if prev == 0 {
			*first = next
		} else {
			n, _ := at(&s.requests[prev-1])
			*n = next
		}
		if next != 0 {
			_, p := at(&s.requests[next-1])
			*p = prev
		}
	}
	unlink(t.next, t.prev, &e.first, func(t *request) (*uint32, *uint32) { return &t.next, &t.prev })
	unlink(t.far, t.near, &sc.first, func(t *request) (*uint32, *uint32) { return &t.far, &t.near })
	i := t.entry
	*t = request{gen: t.gen + 1}
	if t.gen != 0 { // a handle whose generations are used up is retired
		s.free = append(s.free, index)
	}
	sc.open--
	if e.requests--; e.requests > 0 {
		s.rank(i)
		return
	}
	if e.state == Loaded && e.next == 0 && !e.changed && s.cfg.Resident > 0 && !s.closing {
		s.cache(i)
		return
	}
	s.discard(i)
}

// discard ends entry i, which has no handle.
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
		s.wake.Broadcast() // it may wait for space
	case Ready:
		s.stats.CancelledReady++
		s.stats.Wasted += uint64(e.size)
		if !e.parts {
			e.kind.unseen(e.value)
		}
		s.leave(i, e.parts)
	case delivering:
		s.unname(i)
		s.set(i, cancelled) // see finish
		s.revoked++
	case Loaded:
		s.leave(i, true)
	case Failed:
		s.vacate(i)
	}
}

// leave ends entry i. flush calls Release, if it was delivered, and frees its blocks.
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

// Close closes the handle. Closing the last handle of an asset ends its use. An asset that is not loaded is cancelled.
// A loaded asset is cached if Config.Resident is not 0 and no reload of the asset is due or in flight. In all other
// cases a loaded asset is released. An asset that is being decoded counts against Config.Assets until its worker has
// stopped.
//
// A second Close does not affect the asset. Close also releases assets that were evicted since the last Poll, and frees
// their blocks. Only Close of the zero Handle does nothing. If Kind.Release or Config.Free panics, Close completes its
// work, and then the panic continues to the caller.
func (t Handle[T]) Close() {
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

// Priority changes the priority of this handle. The asset has the most urgent priority of its handles. NaN means Last.
// Priority costs O(log n) in the number of queued assets and O(n) in the handles of the asset.
func (t Handle[T]) Priority(p Priority) {
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

// Get returns the value. If the asset is not Loaded, or the handle is closed, ok is false. If the kind has
// Kind.Stays, the value may point to blocks. These blocks are valid until the handle is closed, or until a later Poll
// delivers a reload of the asset.
func (t Handle[T]) Get() (v T, ok bool) {
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

// State returns the state of the asset. If the handle is closed, State returns Vacant. If the request was refused,
// State returns Failed.
func (t Handle[T]) State() State {
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

// Err returns the error of the handle. If the request was refused, Err returns the reason. If the asset is Failed, or
// Waiting after a failed attempt, Err returns a *LoadError. If the asset is Loaded, Err returns a *LoadError if its
// last reload failed, or if Config.Watch could not check its file. In all other cases Err returns nil.
func (t Handle[T]) Err() error {
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

// Retry queues the asset again if it is Failed, or Waiting for another attempt. In other states Retry does nothing. It
// also does nothing after a refused request, and after all workers were abandoned. Retry does not renew the automatic
// retries of Config.Retries.
func (t Handle[T]) Retry() {
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
