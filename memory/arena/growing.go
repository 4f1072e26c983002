package arena

import (
	"cmp"
	"errors"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
)

// A Growing is a [Linear] whose memory grows. It reserves address space for as many bytes as it may ever use, and
// commits them in steps. Blocks do not move. A block may be as large as the reservation.
//
//	base           off    limit               reserved
//	  | live blocks | free | not yet committed  | guard
//
// Reset keeps the committed memory, and Trim returns unused memory. Everything else is as in Linear: the rules for
// owners and goroutines, the marks and hooks, and the panics after Close.
//
// A commit of the arena may call the function of page.Limit.OnSoft. If that function calls Alloc or Resize of this
// arena, and the call must commit memory, the call panics with a *memory.Misuse. Within that function Trim does
// nothing, and Close frees all blocks but fails.
//
// The alternative, a chain of chunks, wastes the end of each chunk, needs a rule for blocks larger than a chunk, and
// searches all chunks for an owner.
type Growing struct {
	lin Linear // with limit == committed
}

// GrowingConfig configures [NewGrowing].
type GrowingConfig struct {
	// Reserve is the address space in bytes, and so the largest number of bytes in use. It is rounded up to 16 KiB. 0
	// means 64 MiB. If the system refuses so much, NewGrowing halves the reservation until the system grants it, but
	// not below Step. [page.Heap], the source of js and -race builds, allocates all of it in NewGrowing.
	Reserve uintptr
	// Step is the smallest number of bytes that are committed at once, at most Reserve. It is rounded up to 16
	// KiB. If the rest of the reservation or the source has less than Step, fewer bytes are committed. 0 means
	// 128 KiB.
	Step uintptr
	// Closed is the error of Alloc when the arena is closed. It should wrap memory.ErrClosed; nil means ErrClosed
	// itself. If a call on the closed arena panics with a *memory.Misuse, its text contains Closed, too.
	Closed error
}

// NewGrowing returns a Growing with a reservation of src; nothing is committed. If src is nil, it is page.Default(). If
// Step, or its default, exceeds Reserve, the error wraps memory.ErrConfig. If src fails, the error wraps the error that
// page.NewCommitted returns. If NewGrowing fails, it releases its reservation. If src cannot release it, the addresses
// stay reserved.
func NewGrowing(src page.Source, cfg GrowingConfig) (*Growing, error) {
	cfg.Reserve = cmp.Or(cfg.Reserve, 64<<20)
	cfg.Step = cmp.Or(cfg.Step, 128<<10)
	if cfg.Step > cfg.Reserve {
		return nil, fmt.Errorf("arena: new Growing: Step %d: want at most %d, the Reserve: %w", cfg.Step, cfg.Reserve, memory.ErrConfig)
	}
	g := new(Growing)
	if err := g.lin.init(src, cfg.Reserve, cfg.Step, 0, cfg.Step); err != nil {
		return nil, fmt.Errorf("arena: new Growing of %d bytes: %w", cfg.Reserve, err)
	}
	g.lin.closed = cmp.Or(cfg.Closed, memory.ErrClosed)
	return g, nil
}

// TryAlloc is [Growing.Alloc] without growth and without an error. TryAlloc inlines. TryAlloc returns nil if the block
// does not fit the committed memory, the alignment is invalid or the arena is closed. NewGrowing commits nothing, so
// the first block that has bytes needs Alloc. A TryAlloc that returns nil does not count in Stats.Failures.
func (g *Growing) TryAlloc(size, align uintptr) unsafe.Pointer {
	l := &g.lin
	mask := align - 1
	start := (l.off + mask) &^ mask
	end := start + size
	if align&mask != 0 || mask > memory.MaxAlign-1 || end > l.limit || end < start {
		return nil
	}
	l.off = end
	l.book |= unknown
	l.book += uint64(uint32(size)) + 1
	if invariant.Debug {
		l.debugAlloc(start, size)
	}
	return unsafe.Add(l.base, start)
}

// Alloc returns size bytes aligned to align, a power of two up to 4096, and commits memory if needed. If the arena is
// closed, the error is GrowingConfig.Closed, by default memory.ErrClosed. If align is invalid, the error is
// memory.ErrAlign. If size exceeds the reservation, the error wraps memory.ErrTooLarge. All other errors are those of
// page.Prefix.Ensure. They wrap memory.ErrOutOfMemory if the reservation, the budget or the system is exhausted.
func (g *Growing) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	if p := g.TryAlloc(size, align); p != nil {
		return p, nil
	}
	return g.grow(size, align)
}

//go:noinline
func (g *Growing) grow(size, al uintptr) (unsafe.Pointer, error) {
	l := &g.lin
	if l.base == nil {
		return nil, cmp.Or(l.closed, memory.ErrClosed)
	}
	if !align.Valid(al) {
		return nil, memory.ErrAlign
	}
	start := align.Up(l.off, al)
	if size > l.mem.Reserved() {
		l.failures++
		return nil, l.mem.TooLarge(size)
	}
	if err := l.mem.Ensure(start + size); err != nil {
		l.failures++
		return nil, err
	}
	l.limit = l.mem.Committed()
	if p := g.TryAlloc(size, al); p != nil {
		return p, nil
	}
	return g.Alloc(size, al) // a function of OnSoft has used some of the committed memory
}

// NewIn is [New] for a Growing. If t is the zero Type, the error is memory.ErrTooLarge. All other errors are those of
// [Growing.Alloc].
func NewIn[T any](g *Growing, t memory.Type[T]) (*T, error) {
	if !t.Valid() {
		g.lin.failures++
		return nil, memory.ErrTooLarge
	}
	p, err := g.Alloc(unsafe.Sizeof(*new(T)), unsafe.Alignof(*new(T)))
	if err != nil {
		return nil, err
	}
	v := (*T)(p)
	if unsafe.Sizeof(*v) > 0 { // otherwise its address may not be committed
		clear(unsafe.Slice(v, 1))
	}
	return v, nil
}

// MakeSliceIn is [MakeSlice] for a Growing. The error is memory.ErrTooLarge if n is negative, if n times the size of T
// overflows, or if t is the zero Type. All other errors are those of [Growing.Alloc].
func MakeSliceIn[T any](g *Growing, t memory.Type[T], n int) ([]T, error) {
	s, err := MakeSliceUninitIn(g, t, n)
	clear(s)
	return s, err
}

// MakeSliceUninitIn is [MakeSliceIn] without zeroing: the values are undefined. It returns the errors of MakeSliceIn.
func MakeSliceUninitIn[T any](g *Growing, t memory.Type[T], n int) ([]T, error) {
	size, ok := align.Mul(n, unsafe.Sizeof(*new(T)))
	if !ok || !t.Valid() {
		g.lin.failures++
		return nil, memory.ErrTooLarge
	}
	p, err := g.Alloc(size, unsafe.Alignof(*new(T)))
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*T)(p), n), nil
}

// Free frees a block, as [Linear.Free], and panics as Linear.Free does. Free reclaims the bytes of the block only if it
// is the newest block and newer than the newest Mark.
func (g *Growing) Free(p unsafe.Pointer, size uintptr) { g.lin.Free(p, size) }

// Resize changes the size of the newest block in place, as [Linear.Resize], and commits memory if needed. If the
// reservation is too small or the memory is not available, Resize returns false. Misuse panics as in Linear.Resize.
func (g *Growing) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	return g.lin.Resize(p, oldSize, newSize) || g.growNewest(p, oldSize, newSize)
}

// growNewest is Resize for a live block that does not fit the committed memory.
//
//go:noinline
func (g *Growing) growNewest(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	l := &g.lin
	off := uintptr(p) - uintptr(l.base)
	if !l.resizable(off, oldSize) {
		return false
	}
	total, dropped := l.total(), l.dropped
	if l.mem.Ensure(off+newSize) != nil { // a sum that wraps commits nothing, and Resize refuses it
		return false
	}
	l.limit = l.mem.Committed()
	// A function that the source has called, as page.Limit.OnSoft, may have freed the block.
	return l.total() == total && l.dropped == dropped && l.Resize(p, oldSize, newSize)
}

// Base returns the start of the reservation, to which offsets of blocks are relative. It is constant while the arena is
// open. If the arena is closed, Base returns nil.
func (g *Growing) Base() unsafe.Pointer { return g.lin.base }

// Owns reports whether p lies in the arena's reservation. p need not be in a live block. If the memory has been
// released or the source has ended, Owns returns false.
func (g *Growing) Owns(p unsafe.Pointer) bool { return g.lin.Owns(p) }

// Used returns the bytes in use, with padding and with blocks that were freed but not reclaimed. If the arena is
// closed, Used returns 0.
func (g *Growing) Used() uintptr { return g.lin.Used() }

// Mark returns a Mark for [Growing.Rewind], as [Linear.Mark]. Mark panics with a *memory.Misuse if the arena is
// closed.
func (g *Growing) Mark() Mark { return g.lin.Mark() }

// Rewind runs the hooks registered since m and frees every block that was allocated since m, as [Linear.Rewind]. It
// panics as Linear.Rewind does. Committed memory is kept.
func (g *Growing) Rewind(m Mark) { g.lin.Rewind(m) }

// OnReset registers a hook that runs before the blocks allocated so far are freed. The rules and panics are those of
// [Linear.OnReset].
func (g *Growing) OnReset(f func()) { g.lin.OnReset(f) }

// RunHooks runs the hooks, newest first, and frees nothing. It panics as [Linear.RunHooks] does.
func (g *Growing) RunHooks() { g.lin.RunHooks() }

// Busy reports whether a hook of the arena is running, as [Linear.Busy].
func (g *Growing) Busy() bool { return g.lin.busy }

// Reset runs the hooks and frees every block, as [Linear.Reset]. It panics as Linear.Reset does. Committed memory is
// kept.
func (g *Growing) Reset() { g.lin.Reset() }

// Trim returns the committed memory above the bytes in use to the source, in whole pages of the source (page.SizeOf).
// If the arena is closed, the error is memory.ErrClosed. If the source fails, the error wraps that of the source, and
// nothing has changed. If the source ends during Trim, the arena is closed and the error wraps memory.ErrClosed.
func (g *Growing) Trim() error {
	l := &g.lin
	if l.base == nil {
		return memory.ErrClosed
	}
	if err := l.mem.Trim(l.off); err != nil {
		return fmt.Errorf("arena: trim: %w", err)
	}
	l.limit = l.mem.Committed()
	return nil
}

// Close runs the hooks and releases the memory. It fails and panics as [Linear.Close] does.
func (g *Growing) Close() error { return g.lin.Close() }

// Stats returns the statistics. Peak is exact. A block that was freed but not reclaimed counts in InUse and Live, and
// not in Frees.
func (g *Growing) Stats() memory.Stats { return g.lin.Stats() }

// Check returns the errors in the metadata, or nil.
func (g *Growing) Check() error {
	err := g.lin.Check()
	if g.lin.base != nil && g.lin.limit != g.lin.mem.Committed() {
		err = errors.Join(err, fmt.Errorf("arena: limit %d differs from the %d bytes committed", g.lin.limit, g.lin.mem.Committed()))
	}
	return err
}
