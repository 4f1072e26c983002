package arena

import (
	"cmp"
	"fmt"
	"math"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
)

// A Window keeps the newest Keep entries of a stream, always as one slice. Examples are physics states to roll back
// to, the inputs of the last ticks, and the lines of a chat. A Window is a linear buffer with more capacity than
// Keep. When the buffer is full, the kept entries are copied to its front. Unlike in a ring, a reader needs no modulo
// and no second slice.
//
//	slots         next-length      next          capacity
//	  | gone, gone | kept, kept, … | free          |
//
//	full:         copies at most Keep-1 entries to the front; the next one follows them
//
// Of Capacity-Keep+1 calls of Push, one copies up to Keep-1 entries, and the others copy none. On average a Push
// copies less than Keep/(Capacity-Keep) entries: 1/3 with the default Capacity of 4 times Keep.
//
// The entries belong to the Window. A slice or pointer that a method returns is valid until the next Push, Drop,
// Reset or Close, until a state is loaded, or until the source ends. In builds with -race or -tags memdebug, removed
// entries are filled with 0xDD. A Window belongs to one goroutine at a time. A Window is closed after Close, also if
// Close fails, and after its source has ended. A closed Window is empty. Push, Drop and Reset of a closed Window panic
// with a *memory.Misuse.
type Window[T any] struct {
	// Invariants, verified by Check in this order:
	//
	//	(1) 1 <= keep < len(slots), and slots start at the base of the committed memory and end in it
	//	(2) 0 <= length <= keep, and length <= next <= len(slots)
	//	(3) length <= pushed, and 0 <= peak <= keep

	slots  []T // off the Go heap; nil once closed
	next   int // index of the next entry
	length int // entries that are kept
	keep   int
	pushed uint64
	peak   int // highest length at a Drop, Reset or Close
	mem    page.Prefix
	owner  invariant.Owner
}

// WindowConfig configures [NewWindow]. NewWindow refuses values out of range.
type WindowConfig struct {
	// Keep is the number of entries to keep, 1 or more. 0 means 64, a little more than a second of ticks.
	Keep int
	// Capacity is the number of entries in the buffer. It must exceed Keep; a larger Capacity makes copies rarer. 0
	// means 4 times Keep. The whole buffer is committed at once.
	Capacity int
}

// NewWindow returns a Window with memory of src. If src is nil, it is page.Default(). The parameter t is the proof that
// T contains no Go pointer. If a field is out of range or t is the zero Type, the error wraps memory.ErrConfig. If src
// fails, the error wraps the error that page.NewCommitted returns. If NewWindow fails, it releases its reservation. If
// src cannot release it, the addresses stay reserved.
func NewWindow[T any](src page.Source, t memory.Type[T], cfg WindowConfig) (*Window[T], error) {
	cfg.Keep = cmp.Or(cfg.Keep, 64)
	if cfg.Keep > math.MaxInt/4 && cfg.Capacity == 0 {
		return nil, fmt.Errorf("arena: new Window: Keep %d: want 1 to %d: %w: %w", cfg.Keep, math.MaxInt/4, memory.ErrConfig, memory.ErrTooLarge)
	}
	cfg.Capacity = cmp.Or(cfg.Capacity, 4*cfg.Keep)
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

// Push adds v as the newest entry. If the Window already has Keep entries, Push removes the oldest one. Push panics
// with a *memory.Misuse if the Window is closed. Cost: a copy of v. Of Capacity-Keep+1 calls, one also copies up to
// Keep-1 entries.
func (w *Window[T]) Push(v T) {
	if w.next == len(w.slots) {
		w.compact()
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

// compact copies the kept entries to the front, without the oldest if the next entry replaces it.
//
//go:noinline
func (w *Window[T]) compact() {
	w.open("Push")
	n := min(w.length, w.keep-1)
	copy(w.slots, w.slots[w.next-n:])
	w.length, w.next = n, n
	w.wipe(n, len(w.slots))
}

// wipe fills removed entries, in debug builds.
func (w *Window[T]) wipe(from, to int) {
	if invariant.Debug && from < to {
		invariant.Freed(unsafe.Pointer(&w.slots[from]), uintptr(to-from)*unsafe.Sizeof(w.slots[0]))
	}
}

// Last returns the newest n entries, oldest first. If there are fewer than n entries, it returns all of them. If n is
// not positive, the slice is empty. The capacity of the slice is its length. The slice is valid until the next Push,
// Drop, Reset or Close, until a state is loaded, or until the source ends.
func (w *Window[T]) Last(n int) []T {
	n = min(max(n, 0), w.length)
	return w.slots[w.next-n : w.next : w.next]
}

// All returns all entries, oldest first. The rules of [Window.Last] apply to the slice.
func (w *Window[T]) All() []T { return w.Last(w.length) }

// At returns the entry of an age: the newest entry has age 0, the one before it age 1. If there is no entry of this
// age, At returns nil. The pointer is valid until the next Push, Drop, Reset or Close, until a state is loaded, or
// until the source ends.
func (w *Window[T]) At(age int) *T {
	if uint(age) >= uint(w.length) {
		return nil
	}
	return &w.slots[w.next-1-age]
}

// Len returns the number of entries, at most Keep. If the Window is closed, Len returns 0.
func (w *Window[T]) Len() int { return w.length }

// Keep returns the largest number of entries that the Window keeps: WindowConfig.Keep, or 64 if WindowConfig.Keep is
// 0.
func (w *Window[T]) Keep() int { return w.keep }

// Pushed returns the number of entries pushed since NewWindow, including those that were removed. If Drop and Reset
// have removed none, the push with the number k, counted from 0, made the entry of age Pushed()-1-k. A load sets Pushed
// to the saved number.
func (w *Window[T]) Pushed() uint64 { return w.pushed }

// Drop removes the newest n entries, as a rollback does before it pushes new ones. If there are fewer than n entries,
// Drop removes all of them. Entries that Push removed do not return. Drop panics with a *memory.Misuse if n is
// negative or the Window is closed.
func (w *Window[T]) Drop(n int) {
	w.open("Drop")
	if n < 0 {
		panic(misuse("Drop", nil, 0, fmt.Sprintf("%d entries: want 0 or more", n)))
	}
	n = min(n, w.length)
	w.peak = max(w.peak, w.length)
	w.wipe(w.next-n, w.next)
	w.next -= n
	w.length -= n
}

// Reset removes all entries. Reset panics with a *memory.Misuse if the Window is closed.
func (w *Window[T]) Reset() {
	w.open("Reset")
	w.wipe(0, w.next)
	w.empty()
}

func (w *Window[T]) empty() {
	w.peak = max(w.peak, w.length)
	w.next, w.length = 0, 0
}

// open panics if the Window is closed.
func (w *Window[T]) open(op string) {
	if w.slots == nil {
		panic(misuse(op, nil, 0, "the window is closed"))
	}
	w.owner.Touch()
}

// Owns reports whether p lies in the reservation of the Window. If the memory has been released or the source has
// ended, Owns returns false.
func (w *Window[T]) Owns(p unsafe.Pointer) bool { return w.mem.Contains(p) }

// Close releases the memory. Afterwards the caller must not use a result of Last, All or At. If the memory cannot be
// released, Close returns an error. The Window is closed in this case, too, and another Close tries again to release
// the memory. After a Close that succeeded, and after the source has ended, Close does nothing and returns nil.
func (w *Window[T]) Close() error {
	w.shut()
	if err := w.mem.Close(); err != nil {
		return fmt.Errorf("arena: close: %w", err)
	}
	return nil
}

// shut puts the metadata into the state of a closed Window and touches no entry.
func (w *Window[T]) shut() {
	w.empty()
	w.slots = nil
}

// Stats returns the statistics. Each kept entry counts as a live block, and each removed entry as a freed one. Peak
// is exact.
func (w *Window[T]) Stats() memory.Stats {
	size, used := uint64(unsafe.Sizeof(*new(T))), uint64(w.length)
	return memory.Stats{
		Reserved: uint64(w.mem.Reserved()), Committed: uint64(w.mem.Committed()),
		InUse: used * size, Peak: uint64(max(w.peak, w.length)) * size,
		Live: used, Allocs: w.pushed, Frees: w.pushed - used,
		Requested: used * size, Measured: used * size,
	}
}
