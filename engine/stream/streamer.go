package stream

import (
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/histogram"
)

// A Streamer reads and decodes files on worker goroutines and delivers the results on the game
// goroutine, in portions.
//
//	Request --> queue --> worker: Decode into blocks of its own heap --> ready
//	              ^                                                        |
//	              +-- Waiting for space, or for another attempt            v
//	                                                             Poll: Deliver --> Get
//	                                                                       |
//	          heap <-- (inbox) <-- Config.Free <-- leaving <-- delivered, closed, evicted
//
// All methods, also the methods of handles and scopes, are for the game goroutine, unless their comment states
// otherwise. A file that cannot be loaded is a failed asset with a logged error. Other assets are not affected. Assets
// are completed in an order that differs from run to run, so the simulation must not depend on it.
type Streamer struct {
	cfg   Config
	now   func() time.Time
	kinds map[reflect.Type]*kind // written on the game goroutine, and under mu

	mu   sync.Mutex // guards the parts below
	wake sync.Cond  // workers: there is work, a block was freed, cancelled, closing
	news sync.Cond  // game goroutine: something became ready or failed, or was acknowledged
	assets
	handles
	residency
	crew
	cancellation
	departures
	delivery
	changes
	record
}

// assets are the entries by state. Invariants, beside those of entry:
//
//	(1) names has each entry that can be requested, under its kind and name, and no other
//	(2) vacant has each index of an unused entry
//	(3) queue has the entries that are Queued, ready those that are Ready and not parked, and blocked those that wait for
//	    space
type assets struct {
	entries []entry
	vacant  []uint32
	names   map[key]uint32
	queue   order
	ready   order
	blocked order
	retries int // entries that wait for another attempt
	seq     uint64
}

// handles are what the game has requested. Invariant, beside those of request:
//
//	(1) free has each index of an unused handle
type handles struct {
	requests []request
	free     []uint32
	root     Scope
}

// residency counts the bytes of assets. Invariants:
//
//	(1) resident is the sum of the sizes of entries and of what workers have reserved, and never above Config.Resident, if
//	    that is not 0
//	(2) the links older lead from newest to each cached entry once, and end at oldest
type residency struct {
	resident int64
	newest   uint32 // of what is cached, +1
	oldest   uint32
	evicted  evictions
}

// A crew is the workers. Invariant, beside those of worker:
//
//	(1) running workers are neither lost nor ended; starved <= busy <= running
type crew struct {
	workers []*worker
	picks   uint64
	running int     // workers that have neither ended nor been abandoned
	busy    int     // workers with an asset
	starved int     // of those, that wait for space in their heaps
	lost    []error // why workers were abandoned: each names its file
	closing bool
	over    bool // closing, and the last epoch is raised: workers acknowledge it and end
}

// A cancellation raises the epoch. Invariant:
//
//	(1) acked[w] == epoch: worker w has nothing that was cancelled before, or is lost
type cancellation struct {
	epoch uint64
	acked []uint64
}

// departures are assets that end, and their blocks. Invariant:
//
//	(1) stats.Staging is the sum of all blocks that the workers' heaps have allocated: of entries, of workers, of those
//	    that are lost, passed to Free, leaving, and strays
type departures struct {
	handed   []int    // blocks of each worker in the call of Config.Free
	released []uint64 // freed blocks of each worker: a starved worker waits for a change
	leaving  []leaver // assets that end: released and freed without the lock
	strays   []leaver // blocks that Config.Free refused
}

// A delivery is the state of Poll and Wait.
type delivery struct {
	polls   uint64
	polling bool
	parked  []uint32 // entries that were delivered in part
	revoked int      // entries that are cancelled while their deliver function runs: 0 or 1
	credit  int64    // bytes that the oldest asset may have, see share
	events  uint64   // how often news was broadcast
	seen    uint64   // events at the last Wait
}

// changes are the files that are checked for changes.
type changes struct {
	changed int // entries whose file has changed, and those that will be reloaded
	looked  time.Time
	look    int // entries whose files are still to be checked
}

// A record has the statistics.
type record struct {
	stats   Stats
	latency histogram.Durations
	handing histogram.Durations
	leads   leads
	frays   float64 // the sum of what surveys found
	surveys int
	errors  []error // the newest, oldest first
}

// A key identifies an asset.
type key struct {
	kind *kind
	name string
}

// New returns a streamer and starts its workers. If cfg is invalid, or if Heap returns nil, New returns an error and
// starts no goroutine. The caller must Close the streamer.
func New(cfg Config) (*Streamer, error) {
	if err := cfg.complete(); err != nil {
		return nil, fmt.Errorf("stream: new: %w", err)
	}
	heaps := make([]memory.Allocator, cfg.Workers)
	for w := range heaps {
		if heaps[w] = cfg.Heap(w); heaps[w] == nil {
			return nil, fmt.Errorf("stream: new: no heap for worker %d of %d", w, cfg.Workers)
		}
	}
	n := cfg.Assets
	s := &Streamer{cfg: cfg, now: time.Now, kinds: map[reflect.Type]*kind{},
		assets: assets{entries: make([]entry, n), vacant: make([]uint32, n), names: make(map[key]uint32, n),
			queue: order{make([]uint32, 0, n)}, ready: order{make([]uint32, 0, n)}, blocked: order{make([]uint32, 0, n)}},
		handles:      handles{requests: make([]request, cfg.Handles), free: make([]uint32, cfg.Handles)},
		crew:         crew{running: cfg.Workers},
		cancellation: cancellation{acked: make([]uint64, cfg.Workers)},
		departures: departures{handed: make([]int, cfg.Workers), released: make([]uint64, cfg.Workers),
			leaving: make([]leaver, 0, n)},
		delivery: delivery{parked: make([]uint32, 0, n)},
		record:   record{errors: make([]error, 0, loggedErrors)},
	}
	s.root = Scope{s: s, name: "game"}
	s.wake.L, s.news.L = &s.mu, &s.mu
	for i := range s.vacant {
		s.vacant[i] = uint32(n - 1 - i)
		s.entries[i] = vacantEntry()
	}
	for i := range s.free {
		s.free[i] = uint32(len(s.free) - 1 - i)
	}
	s.stats.counts[Vacant] = n
	for i, heap := range heaps {
		w := &worker{s: s, index: i, heap: heap, buf: make([]byte, portion)}
		w.reader, w.lend = Reader{w: w}, Heap{w}
		w.watchdog = time.AfterFunc(time.Hour, w.expire)
		w.watchdog.Stop()
		s.workers = append(s.workers, w)
	}
	for _, w := range s.workers {
		go w.loop()
	}
	return s, nil
}

// set changes the state of entry i and keeps the counts.
func (s *Streamer) set(i uint32, to State) {
	e := &s.entries[i]
	s.stats.counts[e.state]--
	s.stats.counts[to]++
	switch {
	case to == Loaded && e.state != Loaded:
		e.kind.loaded += e.size
	case to != Loaded && e.state == Loaded:
		e.kind.loaded -= e.size
	}
	e.state = to
}

// log adds err to the newest errors.
func (s *Streamer) log(err error) {
	s.stats.Failures++
	if len(s.errors) == loggedErrors {
		copy(s.errors, s.errors[1:])
		s.errors = s.errors[:loggedErrors-1]
	}
	s.errors = append(s.errors, err)
	s.announce()
}

// announce wakes the game goroutine.
func (s *Streamer) announce() {
	s.events++
	s.news.Broadcast()
}

// Errors returns the newest 64 errors since New, oldest first. An error is a *LoadError, with three exceptions: a panic
// of a worker's Drain, a panic of Stats of its heap, and the abandonment of a worker without an asset. Stats().Failures
// counts all errors. Errors allocates.
func (s *Streamer) Errors() []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]error(nil), s.errors...)
}

// enqueue queues entry i to be loaded from the start.
func (s *Streamer) enqueue(i uint32) {
	s.set(i, Queued)
	s.queue.push(s.entries, i)
	s.wake.Broadcast() // Signal might wake a worker that waits for space
}

// fail records why entry i failed. An entry that is retried automatically waits. A failed reload
// leaves the old value in place, with the error.
func (s *Streamer) fail(i uint32, during string, reason error) {
	e := &s.entries[i]
	why := &LoadError{Kind: e.kind.name, Name: e.name, During: during, Err: reason}
	if e.of != 0 {
		why.During = "reloading, " + during
		old := &s.entries[e.of-1]
		old.err, old.stamp = why, e.stamp // not again, until the file changes
		s.vacate(i)
		s.log(why)
		return
	}
	e.err = why
	s.log(why)
	if e.tries < s.cfg.Retries && s.running > 0 && !s.closing {
		e.retryAt = s.polls + uint64(s.cfg.Backoff)<<min(e.tries, 20)
		e.tries++
		s.retries++
		s.stats.Retries++
		s.set(i, Waiting)
		return
	}
	s.set(i, Failed)
	if e.changed {
		s.restart(i)
	}
}

// restart queues an entry that has failed, or that waits for another attempt.
func (s *Streamer) restart(i uint32) {
	e := &s.entries[i]
	if e.state == Waiting && e.retryAt != 0 {
		s.retries--
	}
	if e.changed {
		e.changed = false
		s.changed--
	}
	e.err, e.retryAt, e.missing, e.hung = nil, 0, false, false
	s.enqueue(i)
}

// vacate makes entry i vacant. Its blocks have another owner by now.
func (s *Streamer) vacate(i uint32) {
	e := &s.entries[i]
	switch {
	case e.pos < 0:
	case e.state == Queued:
		s.queue.remove(s.entries, i)
	case e.state == Waiting:
		s.blocked.remove(s.entries, i)
	case e.state == Ready:
		s.ready.remove(s.entries, i)
	}
	if e.state == Waiting && e.retryAt != 0 {
		s.retries--
	}
	if e.size != 0 {
		s.charge(e.kind, -e.size)
	}
	s.unname(i)
	s.set(i, Vacant)
	*e = vacantEntry()
	s.vacant = append(s.vacant, i)
}

// unname removes entry i from the names, and unlinks its reload, or the entry that it would replace.
func (s *Streamer) unname(i uint32) {
	e := &s.entries[i]
	if k := (key{e.kind, e.name}); e.of == 0 {
		if at, ok := s.names[k]; ok && at == i {
			delete(s.names, k)
		}
	} else {
		s.entries[e.of-1].next = 0
		e.of = 0
	}
	if next := e.next; next != 0 {
		s.entries[next-1].of = 0
		e.next = 0
		s.discard(next - 1)
	}
	if e.changed {
		e.changed = false
		s.changed--
	}
}
