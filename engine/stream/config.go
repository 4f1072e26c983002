package stream

import (
	"errors"
	"fmt"
	"io/fs"
	"time"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// Config configures New.
type Config struct {
	// FS is where the files are. It is read by all workers at once. Only regular files are
	// read; where FS is an fs.StatFS it is asked before the file is opened. A folder is best
	// opened with os.OpenRoot, whose FS no link leaves. Required.
	FS fs.FS
	// Heap returns the allocator of a worker, from 0: each worker allocates from its own only,
	// for as long as the streamer is open. It is called once for each, by New. The allocator
	// must not call the streamer. Required.
	Heap func(worker int) memory.Allocator
	// Free sends a block home. It is called on the game goroutine, while a worker may be using
	// the heap that the block came from: push to an inbox. Where it panics, as with a
	// *memory.Misuse, it must not have freed: the block is kept and sent again by the next
	// Settle, by a Scope's Cancel, or at Close. Required.
	Free func(p unsafe.Pointer, size uintptr)
	// Drain, if not nil, is called on the worker's goroutine, once for each Cancel of a scope,
	// after every block was sent home, and after Settle: the place to empty the worker's inbox.
	// It may come while the worker has another asset in hand. It must return, and not call the
	// streamer. A panic is an error of the log.
	Drain func(worker int)
	// Workers is how many goroutines read and decode. 0 means 2, and 1 in a browser.
	Workers int
	// Patience is how long one call of FS may take: then its worker is given up, with its
	// heap, and the asset has failed with ErrHangs. Close waits 2 s at most. 0 means 10 s.
	Patience time.Duration
	// MaxBytes bounds each file, and what is decoded of it. 0 means 16 MiB.
	MaxBytes int64
	// Assets is how many assets there may be at once, with what is cached. 0 means 512.
	Assets int
	// Tickets is how many tickets may be open. 0 means four times Assets.
	Tickets int
	// Resident bounds what is decoded, in bytes: in the hands of workers, on its way, loaded. What
	// nobody has a ticket for is kept while there is room, and goes first when there is none,
	// the longest without a ticket first; what does not fit beside the rest waits. 0 means no
	// bound, and nothing is kept without a ticket.
	Resident int64
	// Upload bounds one Poll. The zero Budget means 1 MiB and 2 ms.
	Upload Budget
	// Retries is how often an asset that has failed is tried again by itself: after Backoff
	// Polls, then after twice as many, and so on. 0 means that only Ticket.Retry, a new request,
	// Reload and a changed file do. Backoff 0 means 30.
	Retries, Backoff int
	// Watch is how often the files of what is loaded, or has failed, are looked at, by workers
	// that have nothing else to do; what has changed is loaded again. 0 means never.
	Watch time.Duration
}

// A Budget bounds what one Poll hands over. 0 means no bound.
type Budget struct {
	Bytes int64         // as decoded
	Time  time.Duration // wall time of the deliver functions
}

const (
	defaultMaxBytes = 16 << 20
	defaultAssets   = 512
	defaultBackoff  = 30
	maxWorkers      = 64
	loggedErrors    = 64
)

func (c *Config) complete() error {
	if c.FS == nil || c.Heap == nil || c.Free == nil {
		return errors.New("FS, Heap and Free are required")
	}
	if c.Upload == (Budget{}) {
		c.Upload = Budget{Bytes: 1 << 20, Time: 2 * time.Millisecond}
	}
	var err error
	check := func(name string, v *int64, most, otherwise int64) {
		if *v == 0 {
			*v = otherwise
		}
		if err == nil && (*v < 0 || *v > most) {
			err = fmt.Errorf("%s %d; allowed: 1 to %d, or 0 for %d", name, *v, most, otherwise)
		}
	}
	count := func(name string, v *int, most, otherwise int) {
		n := int64(*v)
		check(name, &n, int64(most), int64(otherwise))
		*v = int(n)
	}
	count("Workers", &c.Workers, maxWorkers, defaultWorkers)
	check("MaxBytes", &c.MaxBytes, 1<<30, defaultMaxBytes)
	count("Assets", &c.Assets, 1<<20, defaultAssets)
	count("Tickets", &c.Tickets, 1<<22, 4*c.Assets)
	count("Retries", &c.Retries, 1000, 0)
	count("Backoff", &c.Backoff, 1<<20, defaultBackoff)
	check("Resident", &c.Resident, 1<<50, 0)
	check("Upload.Bytes", &c.Upload.Bytes, 1<<50, 0)
	check("Upload.Time", (*int64)(&c.Upload.Time), int64(time.Hour), 0)
	check("Patience", (*int64)(&c.Patience), int64(24*time.Hour), int64(defaultPatience))
	check("Watch", (*int64)(&c.Watch), int64(24*time.Hour), 0)
	return err
}
