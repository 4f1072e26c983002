package engine

import (
	"errors"
	"fmt"
	"unsafe"
)

// An Asset names something that was requested from a [Loader]. It is 8 bytes without
// pointers. It is valid until its level is cancelled, for [ScopeGame] until the loader is
// closed; after that it is stale, and looking it up yields ok == false. The zero Asset is
// never valid. Generations are odd while a place is taken, as in [memory.Handle].
type Asset struct {
	index uint32
	gen   uint32
}

// String prints place and generation, as "#12.7".
func (a Asset) String() string { return fmt.Sprintf("#%d.%d", a.index, a.gen) }

// A PictureAsset is an Asset whose file is a PNG and that is handed out by Upload.
type PictureAsset struct{ Asset }

// A FileAsset is an Asset whose bytes are handed out by Take, as they are.
type FileAsset struct{ Asset }

// A Picture is what Upload's sink gets. Its pixels lie in a staging block outside the Go
// heap: they belong to the loader and are gone when the sink returns.
type Picture struct {
	Asset         PictureAsset
	ID, Path      string
	Width, Height int    // in pixels, both at least 1
	Pixels        []byte // premultiplied RGBA, 4*Width*Height bytes, row by row from the top
}

// A File is what Take's function gets; Data is gone when the function returns.
type File struct {
	Asset    FileAsset
	ID, Path string
	Data     []byte
}

// Scope says when an asset ends.
type Scope uint8

// The scopes.
const (
	ScopeLevel Scope = iota // at the next CancelLevel
	ScopeGame               // at Close; CancelLevel leaves it alone
)

func (s Scope) String() string { return nameOf([]string{"level", "game"}, int(s), "Scope") }

func nameOf(names []string, i int, kind string) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%s(%d)", kind, i)
}

// State is how far an asset has come.
//
//	queued -> reading -> decoding (pictures) -> ready -> uploaded
//	   any of the first five -> cancelled;  any but cancelled -> failed
//	   reading, decoding -> queued: its worker was out of room when a level was left
type State uint8

// The states.
const (
	Vacant    State = iota // no asset
	Queued                 // no worker has begun
	Reading                // a worker reads the file
	Decoding               // a worker decodes the picture
	Ready                  // waits in its staging block for Upload or Take
	Uploaded               // was handed to the sink, or taken; its staging block is free
	Failed                 // see Err
	Cancelled              // its level is being left
	stateCount
)

var stateNames = []string{"vacant", "queued", "reading", "decoding", "ready", "uploaded", "failed", "cancelled"}

func (s State) String() string { return nameOf(stateNames, int(s), "State") }

// Finished reports whether nothing more will happen to the asset.
func (s State) Finished() bool { return s == Uploaded || s == Failed || s == Cancelled }

// The errors of a Loader, to be tested with errors.Is.
var (
	ErrLoaderClosed = errors.New("engine: the loader is closed")
	ErrRequested    = errors.New("engine: the asset was requested already; ids are unique")
	ErrLoaderFull   = errors.New("engine: the loader holds as many assets as it was configured for")
	ErrStale        = errors.New("engine: the asset is stale: its level was cancelled, or it is zero")
	ErrNotReady     = errors.New("engine: the asset is not ready")
	ErrTooLarge     = errors.New("engine: larger than LoaderConfig.MaxBytes allows")

	errCancelled = errors.New("engine: cancelled")
	errStarved   = errors.New("engine: no room until somebody uploads") // back to the queue
	errAbandoned = errors.New("engine: the worker was given up")
)

// A LoadError says which asset could not be loaded and why; it wraps the reason.
type LoadError struct {
	ID, Path string
	During   State // Reading, Decoding or Ready, where the sink refused it
	Err      error
}

func (e *LoadError) Error() string {
	what := e.During.String()
	if e.During == Ready {
		what = "handing over"
	}
	return fmt.Sprintf("engine: asset %q: %s %s: %v", e.ID, what, e.Path, e.Err)
}

// Unwrap returns the reason.
func (e *LoadError) Unwrap() error { return e.Err }

// An entry is an asset in the books of the loader, guarded by its mutex.
//
// Invariants:
//
//	(1) gen is odd exactly where state is not Vacant
//	(2) block is not nil only in state Ready, or Cancelled until it goes home; then it came
//	    from the heap of worker
//	(3) err is not nil exactly in state Failed
type entry struct {
	gen      uint32
	state    State
	scope    Scope
	picture  bool // else a file
	level    uint64
	priority int
	seq      uint64 // order of requests
	id, path string

	worker        int
	block         unsafe.Pointer
	size          uintptr
	width, height int
	err           error
}

// An order is a heap of indices into the entries: first the higher priority, then the
// earlier request. With one worker the order of loading depends on nothing else.
type order struct {
	heap []uint32
}

func before(es []entry, a, b uint32) bool {
	if es[a].priority != es[b].priority {
		return es[a].priority > es[b].priority
	}
	return es[a].seq < es[b].seq
}

func (o *order) push(es []entry, i uint32) {
	o.heap = append(o.heap, i)
	for at := len(o.heap) - 1; at > 0; {
		up := (at - 1) / 2
		if !before(es, o.heap[at], o.heap[up]) {
			return
		}
		o.heap[at], o.heap[up] = o.heap[up], o.heap[at]
		at = up
	}
}

func (o *order) pop(es []entry) uint32 {
	top, last := o.heap[0], len(o.heap)-1
	o.heap[0] = o.heap[last]
	o.heap = o.heap[:last]
	o.sift(es, 0)
	return top
}

func (o *order) sift(es []entry, at int) {
	for {
		first := at
		for child := 2*at + 1; child <= 2*at+2 && child < len(o.heap); child++ {
			if before(es, o.heap[child], o.heap[first]) {
				first = child
			}
		}
		if first == at {
			return
		}
		o.heap[at], o.heap[first] = o.heap[first], o.heap[at]
		at = first
	}
}

// keep drops every index that is no longer in the state, and restores the order.
func (o *order) keep(es []entry, s State) {
	kept := o.heap[:0]
	for _, i := range o.heap {
		if es[i].state == s {
			kept = append(kept, i)
		}
	}
	o.heap = kept
	for at := len(kept)/2 - 1; at >= 0; at-- {
		o.sift(es, at)
	}
}
