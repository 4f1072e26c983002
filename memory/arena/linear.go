package arena

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
)

// A Linear is a bump allocator over one block of fixed size. Alloc advances an offset;
// Rewind and Reset move it back and free everything above it.
//
//	base            off                     limit
//	  | live blocks  |  free                  | guard
//
// Blocks are not zeroed. They belong to the caller until the Free, Rewind, Reset or Close
// that frees them. One goroutine at a time. After Close every Alloc fails.
//
// Invariants, verified by Check in this order:
//
//	(1) off <= limit <= committed
//	(2) peak <= reserved
//	(3) dropped <= allocs
//	(4) floor <= off, and floor is where the newest live mark stands, or 0
type Linear struct {
	base   unsafe.Pointer // nil once closed
	off    uintptr        // first free byte, from base
	limit  uintptr        // end of what may be handed out, from base
	allocs uint64         // successful allocations since New

	floor    uintptr // off at the newest live Mark: no Free reaches below
	peak     uintptr // highest off seen by a Free, Rewind or Reset; Stats joins the current one
	dropped  uint64  // allocations that were freed
	failures uint64
	marks    []place  // the live marks, outermost first
	serial   uint64   // of the newest mark ever made; never reused
	hooks    []func() // in order of registration
	mem      page.Prefix
	owner    invariant.Owner
}

// LinearConfig configures NewLinear.
type LinearConfig struct {
	// Bytes is the capacity, committed at once. 0 means 1 MiB.
	Bytes uintptr
}

// NewLinear takes its block from src; nil means page.Default(). The error wraps what src
// returned and nothing is kept.
func NewLinear(src page.Source, cfg LinearConfig) (*Linear, error) {
	if cfg.Bytes == 0 {
		cfg.Bytes = 1 << 20
	}
	l := new(Linear)
	if err := l.init(src, cfg.Bytes, cfg.Bytes, 0); err != nil {
		return nil, fmt.Errorf("arena: new Linear of %d bytes: %w", cfg.Bytes, err)
	}
	return l, nil
}

// init reserves want bytes, at worst usable ones, and commits the first usable bytes.
func (l *Linear) init(src page.Source, want, usable, step uintptr) error {
	mem, err := page.NewPrefix(src, want, usable, step)
	if err != nil {
		return err
	}
	if err := mem.Ensure(usable); err != nil {
		return errors.Join(err, mem.Close())
	}
	l.mem, l.base, l.limit = mem, mem.Base(), usable
	l.marks = make([]place, 0, 8)
	return nil
}

// Alloc returns size bytes aligned to align, a power of two up to 4096. Size 0 gives a
// pointer that is aligned and not nil. The error is bare memory.ErrOutOfMemory or
// memory.ErrAlign. Cost: about ten instructions, inlined.
func (l *Linear) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	mask := align - 1
	start := (l.off + mask) &^ mask
	end := start + size
	if mask/memory.MaxAlign|align&mask != 0 { // too large, or no power of two
		return nil, memory.ErrAlign
	}
	if end > l.limit || end < start { // the second half: start+size has wrapped
		l.failures++
		return nil, memory.ErrOutOfMemory
	}
	l.off = end
	l.allocs++
	if invariant.Debug {
		l.debugAlloc(start, size)
	}
	return unsafe.Add(l.base, start), nil
}

func (l *Linear) debugAlloc(start, size uintptr) {
	l.owner.Touch()
	invariant.Fresh(unsafe.Add(l.base, start), size)
}

// New allocates one zeroed T; t is the proof that T holds no Go pointer. The object lives as
// Alloc's blocks do. The error is memory.ErrOutOfMemory, also for the zero Type. It repeats
// Alloc's bump because a call of Alloc would put it at 114 of the inliner's 80 nodes.
func New[T any](l *Linear, t memory.Type[T]) (*T, error) {
	mask := unsafe.Alignof(*new(T)) - 1
	start := (l.off + mask) &^ mask
	end := start + t.Size()
	if end > l.limit || end < start {
		l.failures++
		return nil, memory.ErrOutOfMemory
	}
	l.off = end
	l.allocs++
	if invariant.Debug {
		l.owner.Touch()
	}
	v := (*T)(unsafe.Add(l.base, start))
	*v = *new(T)
	return v, nil
}

// MakeSlice allocates n zeroed values of T, with length and capacity n: appending more
// moves to the Go heap. The error is memory.ErrOutOfMemory, or memory.ErrTooLarge where n is
// negative, n*size overflows or t is the zero Type.
func MakeSlice[T any](l *Linear, t memory.Type[T], n int) ([]T, error) {
	s, err := MakeSliceUninit(l, t, n)
	clear(s)
	return s, err
}

// MakeSliceUninit is MakeSlice without the zeroing: the values are whatever was there.
func MakeSliceUninit[T any](l *Linear, t memory.Type[T], n int) ([]T, error) {
	size, ok := align.Mul(n, unsafe.Sizeof(*new(T)))
	if !ok || !t.Valid() {
		l.failures++
		return nil, memory.ErrTooLarge
	}
	p, err := l.Alloc(size, unsafe.Alignof(*new(T)))
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*T)(p), n), nil
}

// Free gives back the newest block, down to the newest Mark; for every other block it does
// nothing, the bytes come back with the Rewind or Reset. A pointer outside the arena's live
// bytes, or a size that does not end there, panics with a *memory.Misuse.
func (l *Linear) Free(p unsafe.Pointer, size uintptr) {
	if p == nil {
		return
	}
	l.open("Free", p, size)
	off := uintptr(p) - uintptr(l.base)
	if size == 0 && off <= l.limit {
		return // it has no bytes, and newer frees may have moved the top below its place
	}
	if off > l.off || size > l.off-off {
		panic(l.misuse("Free", p, size, "the block does not lie in the live part of this arena"))
	}
	if off+size == l.off && off >= l.floor && l.allocs > l.dropped {
		l.drop(off, l.allocs-l.dropped-1)
	}
}

// Resize changes the size of the newest block in place and reports whether it could: growth
// is bounded by the capacity. For every other block, one from before the newest Mark and one
// of size 0 it returns false and nothing has changed. Misuse panics as in Free.
func (l *Linear) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	l.open("Resize", p, oldSize)
	off := uintptr(p) - uintptr(l.base)
	if oldSize == 0 && off <= l.limit {
		return false // it may stand on a mark and belong to either side
	}
	if off > l.off || oldSize > l.off-off {
		panic(l.misuse("Resize", p, oldSize, "the block does not lie in the live part of this arena"))
	}
	if off+oldSize != l.off || off < l.floor || newSize > l.limit-off {
		return false
	}
	l.peak = max(l.peak, l.off)
	if newSize > oldSize {
		invariant.Fresh(unsafe.Add(p, oldSize), newSize-oldSize)
	} else {
		invariant.Freed(unsafe.Add(p, newSize), oldSize-newSize)
	}
	l.off = off + newSize
	return true
}

// drop moves the top down to off, where live allocations were live.
func (l *Linear) drop(off uintptr, live uint64) {
	l.peak = max(l.peak, l.off)
	invariant.Freed(unsafe.Add(l.base, off), l.off-off)
	l.off = off
	l.dropped = l.allocs - live
}

// Owns reports whether p lies in the arena's range, live or not.
func (l *Linear) Owns(p unsafe.Pointer) bool { return l.mem.Contains(p) }

// Available returns the bytes left, before padding for alignment.
func (l *Linear) Available() uintptr {
	if l.base == nil {
		return 0
	}
	return l.limit - l.off
}

// Used returns the bytes in use, padding included.
func (l *Linear) Used() uintptr {
	if l.base == nil {
		return 0
	}
	return l.off
}

// Reset runs the hooks, newest first, and frees every block; all marks are spent. Cost:
// constant, plus the hooks. On a closed arena it panics with a *memory.Misuse.
func (l *Linear) Reset() {
	l.open("Reset", nil, 0)
	l.runHooks(0)
	l.marks = l.marks[:0]
	l.floor = 0
	l.drop(0, 0)
}

// Close runs the hooks and releases the memory: no pointer into the arena may be used any
// more. A second Close does nothing. If the memory cannot be released the arena is empty
// but open, and Close may be called again.
func (l *Linear) Close() error {
	if l.base == nil {
		return nil
	}
	l.Reset()
	if err := l.mem.Close(); err != nil {
		l.limit = min(l.limit, l.mem.Committed()) // some of it may have gone already
		return fmt.Errorf("arena: close: %w", err)
	}
	l.base, l.limit = nil, 0
	l.off = 1 // beyond limit, so that Alloc fails at size 0 too
	return nil
}

// Stats derives the books. Peak is exact.
func (l *Linear) Stats() memory.Stats {
	used := l.Used()
	return memory.Stats{
		Reserved: uint64(l.mem.Reserved()), Committed: uint64(l.mem.Committed()),
		InUse: uint64(used), Peak: uint64(max(l.peak, used)),
		Live: l.allocs - l.dropped, Allocs: l.allocs, Frees: l.dropped, Failures: l.failures,
	}
}

// Check verifies the equations above the type.
func (l *Linear) Check() error {
	if l.base == nil {
		return nil
	}
	errs := []error{l.mem.Check()}
	if l.off > l.limit || l.limit > l.mem.Committed() {
		errs = append(errs, fmt.Errorf("arena: off %d, limit %d, committed %d are not in order", l.off, l.limit, l.mem.Committed()))
	}
	if l.peak > l.mem.Reserved() {
		errs = append(errs, fmt.Errorf("arena: peak %d is above the reservation of %d bytes", l.peak, l.mem.Reserved()))
	}
	if l.dropped > l.allocs {
		errs = append(errs, fmt.Errorf("arena: %d blocks freed of %d allocated", l.dropped, l.allocs))
	}
	if l.floor > l.off || l.floor != l.newestMark() {
		errs = append(errs, fmt.Errorf("arena: floor %d, newest mark at %d, top %d do not agree", l.floor, l.newestMark(), l.off))
	}
	return errors.Join(errs...)
}

// open panics unless the arena is open.
func (l *Linear) open(op string, p unsafe.Pointer, size uintptr) {
	if l.base == nil {
		panic(l.misuse(op, p, size, "the arena is closed"))
	}
	l.owner.Touch()
}

func (l *Linear) misuse(op string, p unsafe.Pointer, size uintptr, reason string) *memory.Misuse {
	return &memory.Misuse{Package: "arena", Op: op, Addr: uintptr(p), Size: size, Reason: reason}
}
