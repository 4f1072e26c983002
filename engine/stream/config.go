package stream

import (
	"errors"
	"fmt"
	"io/fs"
	"time"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// Config configures New. FS, Heap and Free are required. If a number is negative or above its limit, New returns an
// error.
type Config struct {
	// FS has the files. All workers read from FS concurrently. Only regular files are read, and an empty file is an
	// error. If FS is an fs.StatFS, Stat is called before Open. Open a folder with os.OpenRoot, so that no link leads
	// out of the folder. Required.
	FS fs.FS
	// Heap returns the allocator of a worker, whose number is from 0 to Workers - 1. New calls Heap once for each worker.
	// Until the streamer is closed, only this worker allocates from this heap. The allocator must not call the streamer.
	// Its Alloc must first free the blocks that Free has pushed to the worker's inbox, as tiers.Worker does: the streamer
	// does not call Drain when a heap is full. Required.
	Heap func(worker int) memory.Allocator
	// Free returns a block to its heap. Free is called on the game goroutine while the worker may be using the heap.
	// So Free must push the block to an inbox of the worker, a list from which Drain frees blocks. If Free panics, for
	// example with a *memory.Misuse, it must not have freed the block. The next Streamer.Settle, Scope.Cancel or
	// Streamer.Close then passes the block to Free again. Required.
	Free func(p unsafe.Pointer, size uintptr)
	// Drain, if not nil, is called on the worker's goroutine after each Scope.Cancel, Streamer.Settle and
	// Streamer.Close. These calls first pass their blocks to Config.Free. One call of Drain may serve several of them.
	// Drain should free the blocks in the worker's inbox. Drain may run inside Heap.Alloc, Reader.Wanted or a Read of a
	// decode function, but never inside a call of the worker's allocator. Drain must return, and must not call the
	// streamer. A panic of Drain is logged as an error.
	Drain func(worker int)
	// Workers is the number of goroutines that read and decode, at most 64. 0 means 2; in a browser 0 means 1.
	Workers int
	// Patience is the longest time that one call of FS may take, at most 24 h. After a longer call the worker is
	// abandoned, and the error of the asset wraps ErrHangs. The streamer never uses an abandoned worker and its heap
	// again, and the blocks of this asset stay allocated. In Streamer.Close a call may take at most 2 s, or Patience if
	// that is less. 0 means a Patience of 10 s.
	Patience time.Duration
	// MaxBytes is the largest size of a file in bytes. It is also the largest sum of the asset's decoded blocks.
	// MaxBytes is at most 1 GiB. 0 means 16 MiB.
	MaxBytes int64
	// Assets is the maximum number of assets, at most 1<<20. Cached assets count, and each reload counts until it has
	// ended. 0 means 512.
	Assets int
	// Handles is the maximum number of open handles, at most 1<<22. 0 means four times Assets.
	Handles int
	// Resident is the budget for the bytes of assets that are being decoded, wait for delivery or are loaded. A loaded
	// asset without a handle is cached. If another asset needs space, or the number of assets is Assets, the least
	// recently used cached asset is evicted. If an asset does not fit beside the assets with handles, it waits. An
	// asset larger than the budget fails with ErrTooLarge. Resident is at most 1<<50. If Resident is 0, the bytes are
	// not limited, and no asset is cached.
	Resident int64
	// Upload is the budget of one Poll. The zero Budget means 1 MiB and 2 ms.
	Upload Budget
	// Retries is the number of automatic retries of a failed asset, at most 1000. A reload that failed, and an asset
	// whose worker was abandoned (see Patience), are not retried automatically. The first retry comes after Backoff
	// Polls, each further retry after twice as many Polls as the last one. If Retries is 0, only Handle.Retry, a new
	// request, Reload and a changed file load the asset again. A Backoff of 0 means 30; the largest Backoff is 1<<20.
	Retries, Backoff int
	// Watch is the interval in which idle workers check the files of loaded and failed assets, at most 24 h. A change
	// has the effect of Streamer.Reload. If a worker was abandoned in a call for a file, the file is not checked again
	// before the asset is loaded again. 0 means never.
	Watch time.Duration
}

// A Budget limits what one Poll delivers. The first asset of a Poll is delivered regardless of both limits. If only one
// field is 0, this field is not limited. If both are 0, the default of Config.Upload applies.
type Budget struct {
	Bytes int64         // decoded bytes, at most 1<<50
	Time  time.Duration // wall-clock time since Poll began, at most 1 h; checked between two assets
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
	count("Handles", &c.Handles, 1<<22, 4*c.Assets)
	count("Retries", &c.Retries, 1000, 0)
	count("Backoff", &c.Backoff, 1<<20, defaultBackoff)
	check("Resident", &c.Resident, 1<<50, 0)
	check("Upload.Bytes", &c.Upload.Bytes, 1<<50, 0)
	check("Upload.Time", (*int64)(&c.Upload.Time), int64(time.Hour), 0)
	check("Patience", (*int64)(&c.Patience), int64(24*time.Hour), int64(defaultPatience))
	check("Watch", (*int64)(&c.Watch), int64(24*time.Hour), 0)
	return err
}
