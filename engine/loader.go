package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// A Loader reads files and decodes pictures in worker goroutines, and hands them to the game
// goroutine in portions.
//
//	Request --> queue --> worker: read into a block, decode into a staging block --> ready
//	                      of its own heap                                             |
//	          heap <-- (inbox) <-- LoaderConfig.Free <-- Upload, Take, CancelLevel <--+
//
// All methods belong to the game goroutine. A file that cannot be loaded is a failed asset
// with an error in the log, and the loader goes on; when files arrive must not matter to the
// simulation.
//
// Invariants, under the mutex:
//
//	(1) an entry is in queue exactly where it is Queued, and in ready exactly where it is a
//	    picture that is Ready and has its block; a Ready entry without one is in the hands of
//	    the game, and there are at most handed of those
//	(2) waiting[w] is the number of pictures whose block came from worker w, is published and
//	    has not gone home; handed of all blocks are on the game goroutine, on their way
//	(3) stats.Staging is the sum of all blocks that the workers' heaps have handed out: of
//	    entries, of workers, of those that are lost, in hand, and of strays
//	(4) acked[w] == epoch: worker w holds nothing of a level that was cancelled, or is lost
//	(5) vacant holds each index of a Vacant entry once, but for those that are worn out
//	(6) running workers are neither lost nor ended; starved <= busy <= running
type Loader struct {
	cfg LoaderConfig
	now func() time.Time

	mu      sync.Mutex
	wake    sync.Cond // workers: there is work, a block went home, cancelled, closing
	news    sync.Cond // game goroutine: something became ready or finished, or was acknowledged
	entries []entry
	vacant  []uint32
	queue   order
	ready   order
	level   uint64 // entries of lower levels are being cancelled
	seq     uint64
	closing bool
	closed  bool // a Close has come to its end
	over    bool // closing, and the last epoch is raised: workers acknowledge it and end
	workers []*worker
	running int     // workers that have neither ended nor been given up
	busy    int     // workers with an asset in hand
	starved int     // of those, that wait for room in their heaps
	lost    []error // why workers were given up: each names its file

	epoch    uint64
	acked    []uint64
	waiting  []int
	handed   int
	released []uint64 // blocks of each worker that went home: what a starved worker waits for
	strays   []stray  // blocks that LoaderConfig.Free refused

	events uint64 // how often news was broadcast
	seen   uint64 // events at the last Wait

	stats  LoaderStats
	errors []error // the newest, oldest first
}

// LoaderConfig configures NewLoader.
type LoaderConfig struct {
	// FS is where the files are. It is read by all workers at once. Only regular files are
	// read; where FS is an fs.StatFS it is asked before the file is opened. A folder is best
	// opened with os.OpenRoot, whose FS no link leaves. Required.
	FS fs.FS
	// Patience is how long one call of FS may take: then its worker is given up, with its
	// heap, and the file has failed with ErrHangs. Close waits 2 s at most. 0 means 10 s.
	Patience time.Duration
	// Workers is how many goroutines read and decode. 0 means 2, and 1 in a browser.
	Workers int
	// Heap returns the allocator of a worker, from 0: each worker allocates from its own only,
	// for as long as the loader is open. It is called once for each, by NewLoader. The
	// allocator must not call the loader. Required.
	Heap func(worker int) memory.Allocator
	// Free sends a staging block home. It is called on the game goroutine, while a worker may
	// be using the heap that the block came from: push to an inbox. Where it panics, as with
	// a *memory.Misuse, it must not have freed: the block is kept and sent again at the next
	// cancellation, or at Close. Required.
	Free func(p unsafe.Pointer, size uintptr)
	// Drain, if not nil, is called on the worker's goroutine, once for each cancellation, after
	// every block was sent home, and after Settle: the place to empty the worker's inbox. It
	// may come while the worker has an asset of the game in hand. It must return, and not call
	// the loader. A panic is an error of the log.
	Drain func(worker int)
	// MaxBytes bounds each file, and the pixels of each picture. 0 means 16 MiB.
	MaxBytes int64
	// Assets is how many assets there may be at once. 0 means 512.
	Assets int
}

const (
	defaultMaxBytes = 16 << 20
	defaultAssets   = 512
	maxWorkers      = 64
	loggedErrors    = 64
)

func (c *LoaderConfig) complete() error {
	if c.Workers == 0 {
		c.Workers = defaultWorkers
	}
	if c.Patience == 0 {
		c.Patience = defaultPatience
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = defaultMaxBytes
	}
	if c.Assets == 0 {
		c.Assets = defaultAssets
	}
	switch {
	case c.FS == nil || c.Heap == nil || c.Free == nil:
		return errors.New("FS, Heap and Free are required")
	case c.Workers < 0 || c.Workers > maxWorkers:
		return fmt.Errorf("%d workers; allowed: 1 to %d, or 0 for %d", c.Workers, maxWorkers, defaultWorkers)
	case c.Patience < 0:
		return fmt.Errorf("a patience of %v; allowed: nothing negative, 0 for %v", c.Patience, defaultPatience)
	case c.MaxBytes < 0 || c.MaxBytes > 1<<30:
		return fmt.Errorf("MaxBytes %d; allowed: 1 to %d, or 0 for %d", c.MaxBytes, 1<<30, defaultMaxBytes)
	case c.Assets < 0 || c.Assets > 1<<20:
		return fmt.Errorf("room for %d assets; allowed: 1 to %d, or 0 for %d", c.Assets, 1<<20, defaultAssets)
	}
	return nil
}

// NewLoader starts the workers. The error says what is wrong with cfg, or that Heap gave
// nil; then nothing was started.
func NewLoader(cfg LoaderConfig) (*Loader, error) {
	if err := cfg.complete(); err != nil {
		return nil, fmt.Errorf("engine: new Loader: %w", err)
	}
	heaps := make([]memory.Allocator, cfg.Workers)
	for w := range heaps {
		if heaps[w] = cfg.Heap(w); heaps[w] == nil {
			return nil, fmt.Errorf("engine: new Loader: no heap for worker %d of %d", w, cfg.Workers)
		}
	}
	l := &Loader{cfg: cfg, now: time.Now,
		entries: make([]entry, cfg.Assets), vacant: make([]uint32, cfg.Assets),
		queue: order{make([]uint32, 0, cfg.Assets)}, ready: order{make([]uint32, 0, cfg.Assets)},
		acked: make([]uint64, cfg.Workers), waiting: make([]int, cfg.Workers), released: make([]uint64, cfg.Workers),
		errors: make([]error, 0, loggedErrors),
	}
	l.wake.L, l.news.L = &l.mu, &l.mu
	for i := range l.vacant {
		l.vacant[i] = uint32(cfg.Assets - 1 - i)
	}
	l.stats.Counts[Vacant] = cfg.Assets
	l.running = cfg.Workers
	for i, heap := range heaps {
		w := &worker{loader: l, index: i, heap: heap}
		w.watchdog = time.AfterFunc(time.Hour, w.expire)
		w.watchdog.Stop()
		l.workers = append(l.workers, w)
	}
	for _, w := range l.workers {
		go w.loop()
	}
	return l, nil
}

// RequestPicture asks for the PNG at path, known to people as id. Higher priorities come first,
// equal ones in the order of their requests. The error says that the id is empty, or that
// path is not one of an fs.FS, or is or wraps ErrRequested (the id is taken, in either scope),
// ErrLoaderFull, ErrLoaderClosed or ErrNoWorkers; a file that does not exist is found later,
// by a worker.
func (l *Loader) RequestPicture(scope Scope, id, path string, priority int) (PictureAsset, error) {
	a, err := l.request(entry{scope: scope, picture: true, id: id, path: path, priority: priority})
	return PictureAsset{a}, err
}

// RequestFile is RequestPicture for a file whose bytes are wanted as they are, by Take.
func (l *Loader) RequestFile(scope Scope, id, path string, priority int) (FileAsset, error) {
	a, err := l.request(entry{scope: scope, id: id, path: path, priority: priority})
	return FileAsset{a}, err
}

func (l *Loader) request(e entry) (Asset, error) {
	if e.id == "" {
		return Asset{}, fmt.Errorf("engine: request of %q: the id is empty", e.path)
	}
	if !fs.ValidPath(e.path) || e.path == "." {
		return Asset{}, fmt.Errorf("engine: request of asset %q: %q is not a path inside the file system; allowed: slash-separated, no leading slash, no . or .. element", e.id, e.path)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing {
		return Asset{}, ErrLoaderClosed
	}
	if l.running == 0 {
		return Asset{}, ErrNoWorkers
	}
	for i := range l.entries {
		if o := &l.entries[i]; o.state != Vacant && o.state != Cancelled && o.id == e.id && !l.old(o) {
			return Asset{}, fmt.Errorf("%w: %q, from %s", ErrRequested, e.id, o.path)
		}
	}
	if len(l.vacant) == 0 {
		return Asset{}, ErrLoaderFull
	}
	i := l.vacant[len(l.vacant)-1]
	l.vacant = l.vacant[:len(l.vacant)-1]
	l.seq++
	e.gen, e.seq, e.level = l.entries[i].gen+1, l.seq, l.level
	l.entries[i] = e // Vacant, so that set counts
	l.set(i, Queued)
	l.queue.push(l.entries, i)
	l.stats.Requests++
	l.wake.Broadcast() // Signal might wake a worker that waits for room
	return Asset{i, e.gen}, nil
}

// old reports whether e belongs to a level that is being cancelled.
func (l *Loader) old(e *entry) bool { return e.scope == ScopeLevel && e.level < l.level }

// set changes the state of entry i and keeps the counts.
func (l *Loader) set(i uint32, s State) {
	e := &l.entries[i]
	l.stats.Counts[e.state]--
	l.stats.Counts[s]++
	e.state = s
}

// find returns the entry of a, or nil where a is stale.
func (l *Loader) find(a Asset) *entry {
	if int(a.index) >= len(l.entries) || a.gen&1 == 0 || l.entries[a.index].gen != a.gen {
		return nil
	}
	return &l.entries[a.index]
}

// fail records why entry i failed.
func (l *Loader) fail(i uint32, during State, reason error) {
	e := &l.entries[i]
	e.err = &LoadError{ID: e.id, Path: e.path, During: during, Err: reason}
	l.set(i, Failed)
	l.log(e.err)
}

// log keeps err among the newest.
func (l *Loader) log(err error) {
	l.stats.Failures++
	if len(l.errors) == loggedErrors {
		copy(l.errors, l.errors[1:])
		l.errors = l.errors[:loggedErrors-1]
	}
	l.errors = append(l.errors, err)
	l.announce()
}

// announce tells the game goroutine that something changed.
func (l *Loader) announce() {
	l.events++
	l.news.Broadcast()
}

// State returns how far a has come; ok is false where a is stale.
func (l *Loader) State(a Asset) (s State, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.find(a); e != nil {
		return e.state, true
	}
	return Vacant, false
}

// Err returns why a failed: a *LoadError, or nil where it did not, or ErrStale.
func (l *Loader) Err(a Asset) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.find(a); e != nil {
		return e.err
	}
	return ErrStale
}

// Errors returns the failures of the loader's life, the newest 64, oldest first: each is a
// *LoadError, or says that a worker's Drain panicked, or that an idle worker was given up.
// Stats().Failures counts them all. It allocates.
func (l *Loader) Errors() []error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]error(nil), l.errors...)
}
