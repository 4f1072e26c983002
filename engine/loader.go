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
//	    picture that is Ready
//	(2) waiting[w] is the number of pictures whose block came from worker w, is published and
//	    has not gone home; handed of all blocks are on the game goroutine, on their way
//	(3) stats.Staging is the sum of all blocks that the workers' heaps have handed out
//	(4) acked[w] == epoch: worker w holds nothing from before the last cancellation
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
	busy    int // workers with an asset in hand

	epoch    uint64
	acked    []uint64
	waiting  []int
	handed   int
	released []uint64 // blocks of each worker that went home: what a starved worker waits for

	events uint64 // how often news was broadcast
	seen   uint64 // events at the last Wait

	stats  LoaderStats
	errors []error // the newest, oldest first
	group  sync.WaitGroup
}

// LoaderConfig configures NewLoader.
type LoaderConfig struct {
	// FS is where the files are. It is read by all workers at once. Required.
	FS fs.FS
	// Workers is how many goroutines read and decode. 0 means 2, and 1 in a browser.
	Workers int
	// Heap returns the allocator of a worker, from 0: each worker allocates from its own only,
	// for as long as the loader is open. It is called once for each, by NewLoader. Required.
	Heap func(worker int) memory.Allocator
	// Free sends a staging block home. It is called on the game goroutine, while a worker may
	// be using the heap that the block came from: push to an inbox. Required.
	Free func(p unsafe.Pointer, size uintptr)
	// Drain, if not nil, is called on the worker's goroutine, once for each cancellation, after
	// every block was sent home, and after Settle: the place to empty the worker's inbox.
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
	for w, heap := range heaps {
		l.group.Add(1)
		go (&worker{loader: l, index: w, heap: heap}).loop()
	}
	return l, nil
}

// RequestPicture asks for the PNG at path, known to people as id. Higher priorities come first,
// equal ones in the order of their requests. The error says that the id is empty, or that
// path is not one of an fs.FS, or is or wraps ErrRequested (the id is taken, in either scope),
// ErrLoaderFull or ErrLoaderClosed; a file that does not exist is found later, by a worker.
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
	l.stats.Failures++
	if len(l.errors) == loggedErrors {
		copy(l.errors, l.errors[1:])
		l.errors = l.errors[:loggedErrors-1]
	}
	l.errors = append(l.errors, e.err)
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

// Errors returns the failures of the loader's life, the newest 64, oldest first; each is a
// *LoadError. Stats().Failures counts them all. It allocates.
func (l *Loader) Errors() []error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]error(nil), l.errors...)
}
