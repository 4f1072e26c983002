package engine

import (
	"errors"
	"fmt"
	"time"
	"unsafe"
)

// A Budget bounds one call of Upload. 0 means no bound.
type Budget struct {
	Bytes int           // of pixels
	Time  time.Duration // wall time of the calls of sink
}

// Upload hands ready pictures to sink, in the order of priority, until the budget is used
// up, and sends their staging blocks home. The first is handed out whatever its size, so that
// every call makes progress; another one only if its bytes fit and time is left. It returns
// how many it handed out. A picture that sink refuses is a failed asset, and so is one whose
// sink panics: the panic goes on to the caller, the block goes home, the rest stays ready. While
// nothing is ready Upload costs one lock; it never waits for a worker to finish.
func (l *Loader) Upload(b Budget, sink func(Picture) error) int {
	var start time.Time
	used := 0
	for n := 0; ; n++ {
		left := -1 // no bound
		if n > 0 && b.Bytes > 0 {
			left = max(b.Bytes-used, 0)
		}
		if n > 0 && b.Time > 0 && l.now().Sub(start) >= b.Time {
			return n
		}
		pic, worker, ok := l.next(left)
		if !ok {
			return n
		}
		if n == 0 && b.Time > 0 {
			start = l.now()
		}
		used += len(pic.Pixels)
		l.deliver(pic, worker, sink)
	}
}

// next takes the first ready picture out of the books, with its block; ok is false where
// there is none, or it has more bytes than left (if that is not negative).
func (l *Loader) next(left int) (pic Picture, worker int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.ready.heap) == 0 {
		return Picture{}, 0, false
	}
	if first := &l.entries[l.ready.heap[0]]; left >= 0 && first.size > uintptr(left) {
		return Picture{}, 0, false
	}
	i := l.ready.pop(l.entries)
	e := &l.entries[i]
	pic = Picture{
		Asset: PictureAsset{Asset{i, e.gen}}, ID: e.id, Path: e.path, Width: e.width, Height: e.height,
		Pixels: unsafe.Slice((*byte)(e.block), e.size),
	}
	l.handed++
	e.block = nil // from here on it is ours, whatever sink does to the level
	return pic, e.worker, true
}

func (l *Loader) deliver(pic Picture, worker int, sink func(Picture) error) {
	defer l.sendHome(block{unsafe.Pointer(unsafe.SliceData(pic.Pixels)), uintptr(len(pic.Pixels))}, worker, true)
	err := errSinkPanicked // unless it returns
	defer func() { l.delivered(pic.Asset.Asset, len(pic.Pixels), err) }()
	err = sink(pic)
}

// What is said of a file whose taker did not return; the panic itself goes on to the caller.
var (
	errSinkPanicked = errors.New("the sink panicked")
	errUsePanicked  = errors.New("the function that took it panicked")
)

// delivered books that the game had its look at a; err is what it said.
func (l *Loader) delivered(a Asset, bytes int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.find(a)
	switch {
	case e == nil || e.state != Ready: // cancelled from inside the call
	case err != nil:
		l.fail(a.index, Ready, err)
		return
	default:
		l.set(a.index, Uploaded)
	}
	l.stats.BytesUploaded += uint64(bytes)
	l.stats.Uploads++
}

// sendHome gives a published block back to the heap of its worker, on the game goroutine.
// A panic of Free goes on to the caller, and the block becomes a stray.
func (l *Loader) sendHome(b block, worker int, picture bool) {
	home := false
	defer func() { l.sent(b, worker, picture, home) }()
	l.cfg.Free(b.p, b.size)
	home = true
}

// sent books what became of a block; a stray is none that a starved worker waits for.
func (l *Loader) sent(b block, worker int, picture, home bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.handed--
	if picture {
		l.waiting[worker]--
	}
	if home {
		l.stats.Staging -= uint64(b.size)
		l.released[worker]++
	} else {
		l.strays = append(l.strays, stray{b, worker})
	}
	l.wake.Broadcast()
}

// A stray is a block that LoaderConfig.Free panicked over. It is of no entry any more.
type stray struct {
	block
	worker int
}

// caught returns what f panicked with, or nil.
func caught(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

// Take hands the bytes of a file that is Ready to use and sends its block home, whatever use
// returns; that is also what Take returns. Where use panics the file has failed. Otherwise nothing is called and the error is
// ErrNotReady, ErrStale, or the *LoadError of a file that failed.
func (l *Loader) Take(a FileAsset, use func(File) error) error {
	f, worker, err := l.takeFile(a)
	if err != nil {
		return err
	}
	defer l.sendHome(block{unsafe.Pointer(unsafe.SliceData(f.Data)), uintptr(len(f.Data))}, worker, false)
	err = errUsePanicked // unless it returns
	defer func() { l.delivered(a.Asset, len(f.Data), err) }()
	err = use(f)
	return err
}

func (l *Loader) takeFile(a FileAsset) (f File, worker int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.find(a.Asset)
	switch {
	case e == nil:
		return File{}, 0, ErrStale
	case e.state == Failed:
		return File{}, 0, e.err
	case e.picture || e.state != Ready || e.block == nil:
		return File{}, 0, fmt.Errorf("%w: asset %q is %v", ErrNotReady, e.id, e.state)
	}
	f = File{Asset: a, ID: e.id, Path: e.path, Data: unsafe.Slice((*byte)(e.block), e.size)}
	l.handed++
	e.block = nil
	return f, e.worker, nil
}
