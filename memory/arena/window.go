package arena

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
)

// A Window keeps the newest Keep entries of a stream, as one slice, always: the physics states
// that a rollback returns to, the inputs of the last ticks, the lines of a chat. It is a linear
// buffer of more entries than it keeps. When it is full, the entries that are kept are copied to
// its front; so readers meet no seam, and need no modulo, as they do in a ring.
//
//	slots         next-length      next          capacity
//	  | gone, gone | kept, kept, … | free          |
//
//	full:         copies length-1 entries to the front, where the next one fits behind them
//
// One Push in Capacity-Keep+1 copies Keep-1 entries, the others none: fewer than
// Keep/(Capacity-Keep) a push on average, 1/3 with the default of 4 times Keep.
//
// The entries belong to the Window. A slice or pointer that it returns is valid until the next
// Push, Drop, Reset or Close; in builds with -race or -tags memdebug entries that are gone are
// filled with 0xDD. One goroutine at a time. After Close, or once the source has ended, it is
// empty, and Push, Drop and Reset panic with a *memory.Misuse.
//
// Invariants, verified by Check in this order:
//
//	(1) 1 <= keep < len(slots), and slots start at the base of what is committed and end in it
//	(2) 0 <= length <= keep, and length <= next <= len(slots)
//	(3) length <= pushed, and 0 <= peak <= keep
type Window[T any] struct {
	slots  []T // off the Go heap; nil once closed
	next   int // where the next entry goes
	length int // entries that are kept
	keep   int
	pushed uint64
	peak   int // highest length seen by a Drop, Reset or Close
	mem    page.Prefix
	owner  invariant.Owner
}

// WindowConfig configures NewWindow.
type WindowConfig struct {
	// Keep is how many entries are kept. 0 means 64, a second of ticks and a little more.
	Keep int
	// Capacity is how many entries there is room for, more than Keep: the larger it is, the
	// fewer copies. 0 means 4 times Keep. All of it is committed at once.
	Capacity int
}

// NewWindow takes the memory of a Window from src; nil means page.Default(). t is the proof that T
// holds no Go pointer. The error wraps memory.ErrConfig for a configuration that can never work and
// for the zero Type, or what src returned. On error nothing is kept.
func NewWindow[T any](src page.Source, t memory.Type[T], cfg WindowConfig) (*Window[T], error) {
	if cfg.Keep == 0 {
		cfg.Keep = 64
	}
	if cfg.Keep > math.MaxInt/4 && cfg.Capacity == 0 {
		return nil, fmt.Errorf("arena: new Window: Keep %d: want 1 to %d: %w: %w", cfg.Keep, math.MaxInt/4, memory.ErrConfig, memory.ErrTooLarge)
	}
	if cfg.Capacity == 0 {
		cfg.Capacity = 4 * cfg.Keep
	}
	if cfg.Keep < 0 || cfg.Capacity <= cfg.Keep {
		return nil, fmt.Errorf("arena: new Window: Keep %d of Capacity %d: want a Keep of 1 or more and a larger Capacity: %w", cfg.Keep, cfg.Capacity, memory.ErrConfig)
	}
	bytes, ok := align.Mul(cfg.Capacity, unsafe.Sizeof(*new(T)))
	if !t.Valid() {
		return nil, fmt.Errorf("arena: new Window: the zero Type: want one of memory.TypeFor: %w", memory.ErrConfig)
	}
	if !ok {
		return nil, fmt.Errorf("arena: new Window: Capacity %d of %d bytes each: want at most %d: %w: %w",
			cfg.Capacity, unsafe.Sizeof(*new(T)), math.MaxInt/max(unsafe.Sizeof(*new(T)), 1), memory.ErrConfig, memory.ErrTooLarge)
	}
	bytes = max(bytes, 1)
	mem, err := page.NewCommitted(src, bytes, bytes, bytes, bytes)
	if err != nil {
		return nil, fmt.Errorf("arena: new Window of %d entries: %w", cfg.Capacity, err)
	}
	w := &Window[T]{slots: unsafe.Slice((*T)(mem.Base()), cfg.Capacity), keep: cfg.Keep, mem: mem}
	w.mem.Watch(w.shut)
	return w, nil
}

// Push adds v as the newest entry; the oldest one is gone where Keep were kept. Cost: a copy of
// v, and once in Capacity-Keep+1 calls one of Keep-1 entries.
func (w *Window[T]) Push(v T) {
	if w.next == len(w.slots) {
		w.makeRoom()
	}
	w.slots[w.next] = v
	w.next++
	w.pushed++
	if w.length < w.keep {
		w.length++
	} else if invariant.Debug {
		w.wipe(w.next-w.keep-1, w.next-w.keep)
	}
	if invariant.Debug {
		w.owner.Touch()
	}
}

// makeRoom copies what is kept, less the oldest entry where the next one takes its place, to the
// front.
//
//go:noinline
func (w *Window[T]) makeRoom() {
	w.open("Push")
	n := min(w.length, w.keep-1)
	copy(w.slots, w.slots[w.next-n:])
	w.length, w.next = n, n
	w.wipe(n, len(w.slots))
}

// wipe fills entries that are gone, in debug builds.
func (w *Window[T]) wipe(from, to int) {
	if invariant.Debug && from < to {
		invariant.Freed(unsafe.Pointer(&w.slots[from]), uintptr(to-from)*unsafe.Sizeof(w.slots[0]))
	}
}

// Last returns the newest n entries, the oldest of them first, or all there are where those are
// fewer; its capacity is its length. It is valid until the next Push, Drop, Reset or Close.
func (w *Window[T]) Last(n int) []T {
	n = min(max(n, 0), w.length)
	return w.slots[w.next-n : w.next : w.next]
}

// All returns every entry that is kept, the oldest first, as [Window.Last].
func (w *Window[T]) All() []T { return w.Last(w.length) }

// At returns the entry that was pushed age pushes before the newest one, whose age is 0; nil
// where no such entry is kept. It is valid as long as what Last returns.
func (w *Window[T]) At(age int) *T {
	if uint(age) >= uint(w.length) {
		return nil
	}
	return &w.slots[w.next-1-age]
}

// Len returns how many entries are kept, at most Keep.
func (w *Window[T]) Len() int { return w.length }

// Keep returns how many entries are kept at most.
func (w *Window[T]) Keep() int { return w.keep }

// Pushed counts all calls of Push since New: the entry of the k-th, from 0, has the age
// Pushed()-1-k, if none was dropped.
func (w *Window[T]) Pushed() uint64 { return w.pushed }

// Drop forgets the newest n entries, as a rollback does before it pushes them anew, or all of
// them where there are fewer. What was gone before stays gone: the Window is that much shorter
// until as many are pushed. A negative n, and a closed Window, panic with a *memory.Misuse.
func (w *Window[T]) Drop(n int) {
	w.open("Drop")
	if n < 0 {
		panic(misuse("Drop", nil, 0, fmt.Sprintf("%d entries; from 0 are possible", n)))
	}
	n = min(n, w.length)
	w.peak = max(w.peak, w.length)
	w.wipe(w.next-n, w.next)
	w.next -= n
	w.length -= n
}

// Reset forgets every entry. On a closed Window it panics with a *memory.Misuse.
func (w *Window[T]) Reset() {
	w.open("Reset")
	w.wipe(0, w.next)
	w.empty()
}

func (w *Window[T]) empty() {
	w.peak = max(w.peak, w.length)
	w.next, w.length = 0, 0
}

// open panics where the Window is closed.
func (w *Window[T]) open(op string) {
	if w.slots == nil {
		panic(misuse(op, nil, 0, "the window is closed"))
	}
	w.owner.Touch()
}

// Owns reports whether p lies in the memory of the Window.
func (w *Window[T]) Owns(p unsafe.Pointer) bool { return w.mem.Contains(p) }

// Close releases the memory: nothing that Last or At returned may be used any more. A second
// Close does nothing. If the memory cannot be released the Window is closed all the same, and
// another Close tries again.
func (w *Window[T]) Close() error {
	w.shut()
	if err := w.mem.Close(); err != nil {
		return fmt.Errorf("arena: close: %w", err)
	}
	return nil
}

// shut puts the books into the state of a closed Window and touches no entry.
func (w *Window[T]) shut() {
	w.empty()
	w.slots = nil
}

// Stats derives the books: a block is an entry that is kept. Peak is exact.
func (w *Window[T]) Stats() memory.Stats {
	size, used := uint64(unsafe.Sizeof(*new(T))), uint64(w.length)
	return memory.Stats{
		Reserved: uint64(w.mem.Reserved()), Committed: uint64(w.mem.Committed()),
		InUse: used * size, Peak: uint64(max(w.peak, w.length)) * size,
		Live: used, Allocs: w.pushed, Frees: w.pushed - used,
		Requested: used * size, Measured: used * size,
	}
}
