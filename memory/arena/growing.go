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

// A Growing is a Linear whose block grows: it reserves address space for the most it may
// ever hold and commits it a step at a time. Nothing moves, blocks of any size up to the
// reservation fit without a chunk of their own, and addresses stay contiguous.
//
//	base           off    limit               reserved
//	  | live blocks | free | not yet committed  | guard
//
// A chain of chunks was the alternative: it wastes the tail of each chunk, needs a rule for
// blocks larger than a chunk, and finds an owner in O(chunks). Reset keeps what is
// committed; Trim gives it back. Otherwise all is as for [Linear], whose invariants hold,
// with limit == committed.
type Growing struct {
	lin Linear
}

// GrowingConfig configures NewGrowing.
type GrowingConfig struct {
	// Reserve is the address space, and so the most that can be in use. 0 means 64 MiB. A
	// system that refuses as much is asked for half, down to Step.
	Reserve uintptr
	// Step is how much is committed at least when more is needed. 0 means 128 KiB.
	Step uintptr
}

// NewGrowing reserves from src; nil means page.Default(). Nothing is committed yet. The error wraps
// memory.ErrConfig for a configuration that can never work, or what src returned.
func NewGrowing(src page.Source, cfg GrowingConfig) (*Growing, error) {
	if cfg.Reserve == 0 {
		cfg.Reserve = 64 << 20
	}
	if cfg.Step == 0 {
		cfg.Step = 128 << 10
	}
	if cfg.Step > cfg.Reserve {
		return nil, fmt.Errorf("arena: new Growing: Step %d: want at most %d, the Reserve: %w", cfg.Step, cfg.Reserve, memory.ErrConfig)
	}
	g := new(Growing)
	if err := g.lin.init(src, cfg.Reserve, cfg.Step, 0, cfg.Step); err != nil {
		return nil, fmt.Errorf("arena: new Growing of %d bytes: %w", cfg.Reserve, err)
	}
	return g, nil
}

// TryAlloc is Alloc without growth and without a reason: it inlines, and returns nil when the
// committed part is full, the alignment is bad or the arena is closed.
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

// Alloc is Linear.Alloc that commits more memory when it must. The error wraps
// memory.ErrOutOfMemory with the numbers when the reservation, the budget or the system is
// exhausted, or is bare memory.ErrAlign, memory.ErrTooLarge or memory.ErrClosed.
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
		return nil, memory.ErrClosed
	}
	if !align.Valid(al) {
		return nil, memory.ErrAlign
	}
	start := align.Up(l.off, al)
	if size > l.mem.Reserved() {
		l.failures++
		return nil, memory.ErrTooLarge
	}
	if err := l.mem.Ensure(start + size); err != nil {
		l.failures++
		return nil, err
	}
	l.limit = l.mem.Committed()
	if p := g.TryAlloc(size, al); p != nil {
		return p, nil
	}
	return g.Alloc(size, al) // who was told of the commit has taken some of it
}

// NewIn is [New] on a Growing; the error is Alloc's, or memory.ErrTooLarge for the zero Type.
func NewIn[T any](g *Growing, t memory.Type[T]) (*T, error) {
	if !t.Valid() {
		return nil, memory.ErrTooLarge
	}
	p, err := g.Alloc(unsafe.Sizeof(*new(T)), unsafe.Alignof(*new(T)))
	if err != nil {
		return nil, err
	}
	v := (*T)(p)
	if unsafe.Sizeof(*v) > 0 { // else nothing may be committed there
		*v = *new(T)
	}
	return v, nil
}

// MakeSliceIn is [MakeSlice] on a Growing.
func MakeSliceIn[T any](g *Growing, t memory.Type[T], n int) ([]T, error) {
	size, ok := align.Mul(n, unsafe.Sizeof(*new(T)))
	if !ok || !t.Valid() {
		g.lin.failures++
		return nil, memory.ErrTooLarge
	}
	p, err := g.Alloc(size, unsafe.Alignof(*new(T)))
	if err != nil {
		return nil, err
	}
	s := unsafe.Slice((*T)(p), n)
	clear(s)
	return s, nil
}

// Free is Linear.Free: it gives back the newest block.
func (g *Growing) Free(p unsafe.Pointer, size uintptr) { g.lin.Free(p, size) }

// Resize is Linear.Resize that commits more memory when it must: growth is bounded by the
// reservation, and false where the memory cannot be had.
func (g *Growing) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	return g.lin.Resize(p, oldSize, newSize) || g.growNewest(p, oldSize, newSize)
}

// growNewest is Resize for a live block that does not fit what is committed.
//
//go:noinline
func (g *Growing) growNewest(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	l := &g.lin
	off := uintptr(p) - uintptr(l.base)
	if !l.resizable(off, oldSize) {
		return false
	}
	total, dropped := l.total(), l.dropped
	if l.mem.Ensure(off+newSize) != nil { // of a sum that wraps nothing is committed, and Resize refuses it
		return false
	}
	l.limit = l.mem.Committed()
	// What the source told of it, as page.Limit.OnSoft does, may have freed the block.
	return l.total() == total && l.dropped == dropped && l.Resize(p, oldSize, newSize)
}

// Base returns the address from which the offsets of blocks count, constant until Close; nil
// once closed.
func (g *Growing) Base() unsafe.Pointer { return g.lin.base }

// Owns reports whether p lies in the reservation.
func (g *Growing) Owns(p unsafe.Pointer) bool { return g.lin.Owns(p) }

// Used returns the bytes in use, padding included.
func (g *Growing) Used() uintptr { return g.lin.Used() }

// Mark is Linear.Mark.
func (g *Growing) Mark() Mark { return g.lin.Mark() }

// Rewind is Linear.Rewind.
func (g *Growing) Rewind(m Mark) { g.lin.Rewind(m) }

// OnReset is Linear.OnReset.
func (g *Growing) OnReset(f func()) { g.lin.OnReset(f) }

// RunHooks is Linear.RunHooks.
func (g *Growing) RunHooks() { g.lin.RunHooks() }

// Busy is Linear.Busy.
func (g *Growing) Busy() bool { return g.lin.busy }

// Reset is Linear.Reset; committed memory is kept for the next level.
func (g *Growing) Reset() { g.lin.Reset() }

// Trim gives the memory above the live blocks back to the source, in whole granules.
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

// Close is Linear.Close.
func (g *Growing) Close() error { return g.lin.Close() }

// Stats derives the books. Peak is exact.
func (g *Growing) Stats() memory.Stats { return g.lin.Stats() }

// Check verifies the invariants.
func (g *Growing) Check() error {
	err := g.lin.Check()
	if g.lin.base != nil && g.lin.limit != g.lin.mem.Committed() {
		err = errors.Join(err, fmt.Errorf("arena: limit %d differs from the %d bytes committed", g.lin.limit, g.lin.mem.Committed()))
	}
	return err
}
