package compose

import (
	"sync"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// A Locked lets any number of goroutines use one allocator, one at a time, behind a mutex. Every
// method may be called from any goroutine; a block may be freed by another one than that which
// allocated it. All else is the inner allocator's: alignment, zeroing, lifetimes, errors, misuse.
//
// A panic of the inner allocator passes through and leaves the mutex unlocked. What inner calls
// from inside one of its methods, as a hook at Reset or a mark of a budget, holds the mutex:
// there it must use Inner, since the Locked would wait for itself.
//
// The mutex orders calls, and not the end of the memory itself: whoever ends what inner stands on, as
// the Close of a manager and of a page.Carve do, first waits for the goroutines that use the Locked.
// They would fault on their own blocks otherwise. To end inner alone, Close of the Locked holds the
// mutex.
type Locked struct {
	mu     sync.Mutex
	in     part
	closed bool
}

// NewLocked puts a mutex around inner, which is used through it alone from now on.
func NewLocked(inner memory.Allocator) (*Locked, error) {
	if err := usable("new Locked", "inner", inner); err != nil {
		return nil, err
	}
	return &Locked{in: partOf(inner)}, nil
}

// Inner returns the allocator behind the mutex.
func (l *Locked) Inner() memory.Allocator { return l.in.Allocator }

// Can returns what the inner allocator can.
func (l *Locked) Can() Capabilities { return l.in.can() }

// Do runs f with the inner allocator under the mutex: what belongs together needs one Lock. f
// must not use the Locked, nor keep inner. A panic of f passes through.
func (l *Locked) Do(f func(inner memory.Allocator)) {
	defer l.enter("Do", nil, 0).Unlock()
	f(l.in.Allocator)
}

// enter locks, and panics, unlocked, where the allocator is closed.
func (l *Locked) enter(op string, p unsafe.Pointer, size uintptr) *sync.Mutex {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		panic(misuse(op, p, size, "the allocator is closed"))
	}
	return &l.mu
}

// Alloc is the inner allocator's.
func (l *Locked) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, memory.ErrClosed
	}
	return l.in.Alloc(size, align)
}

// Free is the inner allocator's.
func (l *Locked) Free(p unsafe.Pointer, size uintptr) {
	if p != nil {
		defer l.enter("Free", p, size).Unlock()
		l.in.Free(p, size)
	}
}

// FreeAny is the inner allocator's; where that has none it panics with a *memory.Misuse.
func (l *Locked) FreeAny(p unsafe.Pointer) {
	if p != nil {
		defer l.enter("FreeAny", p, 0).Unlock()
		l.in.freeAny(p, "inner")
	}
}

// SizeOf is the inner allocator's; where that has none it panics with a *memory.Misuse.
func (l *Locked) SizeOf(p unsafe.Pointer) uintptr {
	defer l.enter("SizeOf", p, 0).Unlock()
	return l.in.sizeOf(p, "inner")
}

// Resize is the inner allocator's; false where that has none.
func (l *Locked) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	defer l.enter("Resize", p, oldSize).Unlock()
	return l.in.resize(p, oldSize, newSize, "inner")
}

// Owns is the inner allocator's; false where that cannot tell.
func (l *Locked) Owns(p unsafe.Pointer) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.closed && l.in.owns(p)
}

// Base is the inner allocator's; nil where that has none, and once closed. A container.Space on the
// Locked is for one goroutine; another one has its own.
func (l *Locked) Base() unsafe.Pointer {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	return l.in.base()
}

// Extent returns how many bytes from Base the blocks reach at most.
func (l *Locked) Extent() uintptr {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.in.extent()
}

// Reset is the inner allocator's; where that has none it panics with a *memory.Misuse. The
// blocks of every goroutine die.
func (l *Locked) Reset() {
	defer l.enter("Reset", nil, 0).Unlock()
	if l.in.resetter == nil {
		l.in.lacks("Reset", nil, "inner")
	}
	l.in.resetter.Reset()
}

// Trim is the inner allocator's; errors.ErrUnsupported where that has none.
func (l *Locked) Trim() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return memory.ErrClosed
	}
	return l.in.trim()
}

// Stats is the inner allocator's; zero where that reports none.
func (l *Locked) Stats() memory.Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.in.stats()
}

// Check is the inner allocator's.
func (l *Locked) Check() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.in.check()
}

// Close closes the inner allocator, which answers all calls from then on. Without a Close of its
// own it is left as it is, and the Locked closed.
func (l *Locked) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = l.in.closer == nil
	return l.in.close()
}
