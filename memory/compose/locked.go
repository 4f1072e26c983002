package compose

import (
	"sync"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// NewLocked returns an allocator that is safe for concurrent use: each of its methods except Generation and States
// locks mu and calls inner. Any goroutine may free any block, also one of another goroutine. Alignment, zeroing,
// lifetimes, errors, statistics and the detection of misuse are as in inner.
//
// inner must have Owns, Stats, Check and Close. If a method is missing, the error wraps memory.ErrConfig and names
// the method. If inner is nil, the error wraps memory.ErrConfig, too. If mu is nil, the allocator has its own mutex.
// A caller that passes a mutex can lock it and use inner directly, for several calls under one lock. Code that has
// not locked mu must not use inner.
//
// If a method of inner panics, the mutex is unlocked. If inner calls a function, as a hook at Reset or the function
// of a soft limit, the mutex stays locked during the call. Such a function must use inner directly: a call of the
// locked allocator would wait forever.
//
// Close closes inner. Before the memory of inner ends, for example by Close of a manager, the caller must stop the
// other goroutines that use the allocator. Otherwise these goroutines fault on their blocks. A container.Space belongs
// to one goroutine, so each goroutine needs its own.
//
// Cost: an uncontended mutex; goroutines that call at the same time wait for each other.
func NewLocked(inner memory.Allocator, mu *sync.Mutex) (Allocator, error) {
	in, err := newPart("new Locked", "inner", inner)
	if err != nil {
		return nil, err
	}
	if mu == nil {
		mu = new(sync.Mutex)
	}
	return expose(&locked{mu, in}, in.can()), nil
}

type locked struct {
	mu *sync.Mutex
	in part
}

func (l *locked) whole() whole { return l }

// enter locks the mutex and returns it for a deferred Unlock.
func (l *locked) enter() *sync.Mutex {
	l.mu.Lock()
	return l.mu
}

func (l *locked) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	defer l.enter().Unlock()
	return l.in.Alloc(size, align)
}

func (l *locked) Free(p unsafe.Pointer, size uintptr) {
	defer l.enter().Unlock()
	l.in.Free(p, size)
}

func (l *locked) FreeAny(p unsafe.Pointer) {
	defer l.enter().Unlock()
	l.in.anyFreer.FreeAny(p)
}

func (l *locked) SizeOf(p unsafe.Pointer) uintptr {
	defer l.enter().Unlock()
	return l.in.sizer.SizeOf(p)
}

func (l *locked) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	defer l.enter().Unlock()
	return l.in.resizer.Resize(p, oldSize, newSize)
}

func (l *locked) Owns(p unsafe.Pointer) bool {
	defer l.enter().Unlock()
	return l.in.owner.Owns(p)
}

func (l *locked) Base() unsafe.Pointer {
	defer l.enter().Unlock()
	return l.in.baser.Base()
}

func (l *locked) Extent() uintptr {
	defer l.enter().Unlock()
	return memory.Extent(l.in.Allocator)
}

// Generation calls Generation of inner without the lock: any goroutine may call that method at any time.
func (l *locked) Generation(p unsafe.Pointer) uint32 { return l.in.generation(p) }

func (l *locked) Reset() {
	defer l.enter().Unlock()
	l.in.resetter.Reset()
}

func (l *locked) Trim() error {
	defer l.enter().Unlock()
	return l.in.trimmer.Trim()
}

func (l *locked) Stats() memory.Stats {
	defer l.enter().Unlock()
	return l.in.reporter.Stats()
}

func (l *locked) Check() error {
	defer l.enter().Unlock()
	return l.in.checker.Check()
}

func (l *locked) Close() error {
	defer l.enter().Unlock()
	return l.in.closer.Close()
}
