package pool

import (
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// The methods of memory.Allocator, for callers that use the interface.

// Alloc is [Blocks.Get] for a block of size bytes aligned to al. If the pool is closed, the error is memory.ErrClosed.
// If al is not a power of two up to memory.MaxAlign, the error is memory.ErrAlign. If a slot has fewer bytes or a
// smaller alignment, the error is memory.ErrTooLarge. All other errors are those of Get. A block of size 0 takes a
// slot, too.
func (b *Blocks) Alloc(size, al uintptr) (unsafe.Pointer, error) {
	if !align.Valid(al) || size > b.size || al > b.align {
		return nil, b.refuse(al)
	}
	p, err := b.Get()
	if invariant.Debug && err == nil {
		b.asked[b.slot(p)] = size + 1
	}
	return p, err
}

//go:noinline
func (b *Blocks) refuse(al uintptr) error {
	switch {
	case b.base == nil:
		return memory.ErrClosed
	case !align.Valid(al):
		return memory.ErrAlign
	}
	b.failures++
	return memory.ErrTooLarge
}

// Free is [Blocks.Put] with a check of size, which must not exceed the size of a slot. If p is nil, Free does
// nothing. Misuse panics with a *memory.Misuse that names the kind of misuse. If the block was allocated by Alloc,
// debug builds check that size is the size that was passed to Alloc.
func (b *Blocks) Free(p unsafe.Pointer, size uintptr) {
	if p == nil {
		return
	}
	if size > b.size || !b.starts(p) || invariant.Debug && !b.wasAsked(p, size) {
		panic(b.misuse("Free", p, size))
	}
	b.Put(p)
}

// FreeAny is [Blocks.Free] without a size. If p is nil, FreeAny does nothing. FreeAny panics with a *memory.Misuse if
// p is not the start of a live slot, or if the pool is closed.
func (b *Blocks) FreeAny(p unsafe.Pointer) {
	if p == nil {
		return
	}
	if !b.starts(p) {
		panic(b.misuse("FreeAny", p, 0))
	}
	b.Put(p)
}

// Base returns the start of the reservation, to which offsets of blocks are relative. It is constant while the pool is
// open. If the pool is closed, Base returns nil.
func (b *Blocks) Base() unsafe.Pointer { return b.base }

// Generation returns the number of blocks that have started at p so far, modulo 2^32, in debug builds (-tags memdebug
// or -race). For an address where no block can start, and in other builds, Generation returns 0. Generation is safe for
// concurrent use, also after Close.
func (b *Blocks) Generation(p unsafe.Pointer) uint32 { return b.lives.GenerationAt(p) }

// Owns reports whether p lies in the reservation. p need not be in a live block. If the pool is closed, Owns returns
// false.
func (b *Blocks) Owns(p unsafe.Pointer) bool { return b.mem.Contains(p) }

// SizeOf returns the usable size of a live block in bytes: the size of a slot. SizeOf panics with a *memory.Misuse if p
// is not a live block, or if the pool is closed. For memfast builds see [Blocks].
func (b *Blocks) SizeOf(p unsafe.Pointer) uintptr {
	if !b.starts(p) {
		panic(b.misuse("SizeOf", p, 0))
	}
	return b.size
}

// starts reports whether a live slot starts at p, as exactly as the build allows.
func (b *Blocks) starts(p unsafe.Pointer) bool {
	g := bits.RotateLeft64(uint64(uintptr(p)-uintptr(b.base)), -granuleShift)
	if !invariant.Exact {
		return b.mayLive(g)
	}
	return g>>6 < uint64(len(b.live)) && b.live[g>>6]>>(g&63)&1 != 0
}

//go:noinline
func (b *Blocks) misuse(op string, p unsafe.Pointer, size uintptr) *memory.Misuse {
	m := &memory.Misuse{Package: "pool", Op: op, Addr: uintptr(p), Size: size}
	off := uintptr(p) - uintptr(b.base)
	switch {
	case b.base == nil:
		m.Reason = "the pool is closed"
	case off >= b.capacity*b.size:
		m.Reason = "foreign pointer: it lies outside this pool"
	case off%b.size != 0:
		m.Reason = "interior pointer: no slot starts there"
	case off/b.size >= b.opened:
		m.Reason = "the slot was not allocated since the last Reset or Trim"
	case !b.starts(p):
		m.Reason = "double free: the slot is vacant"
	case size > b.size:
		m.Reason = fmt.Sprintf("wrong size: a slot of this pool has %d bytes", b.size)
	default:
		m.Reason = fmt.Sprintf("wrong size: the block was requested with %d bytes", b.asked[b.slot(p)]-1)
	}
	return m
}
