package stack

import (
	"cmp"
	"sort"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/internal/tally"
	"github.com/strata-go/strata/memory/page"
)

// An End allocates blocks in a part of a buffer, from its origin to its wall. The edge, the offset between the live
// blocks and the free bytes, moves with each Alloc and Free. Alloc moves a rising edge up, and a falling edge down. An
// End is part of a [Stack], a [Double] or a [Pivot], and is closed with it.
//
//	rising:   origin | block 0 | block 1 |edge ······ wall
//	falling:  wall ······ edge| block 1 | block 0 | origin
//
// Blocks are not zeroed. They belong to the caller until the Free, Rewind, Reset or Close that frees them, until a
// state without them is loaded, or until the source ends. A block of size 0 takes one byte, so no two live blocks share
// an address. A double free is detected unless a new block has the same address and size.
//
// All Ends of a buffer together belong to one goroutine at a time. A buffer is closed after Close, and after its
// source has ended. In a closed buffer, Alloc fails with memory.ErrClosed; Resize, Mark, Rewind, Reset and a Free
// of a block panic with a *memory.Misuse.
type End struct {
	// Invariants, verified by Check in this order:
	//
	//	(1) the blocks follow each other from origin to edge: each starts where the one before it ends,
	//	    after less than memory.MaxAlign bytes of padding (more before a falling block that was shrunk)
	//	(2) edge lies between origin and wall
	//	(3) floor is the number of blocks at the newest live mark, or 0; marks do not shrink, and their
	//	    serials ascend up to serial
	//	(4) len(blocks) <= allocs

	base   unsafe.Pointer // nil once closed
	edge   uintptr        // from base, between the newest block and the free bytes
	wall   *uintptr       // where edge must stop: limit, or the edge of the other End
	blocks []block        // live, oldest first
	floor  int            // blocks that the newest mark protects
	falls  bool           // edge moves towards base
	allocs uint64         // successful allocations since New

	origin   uintptr // edge while nothing is live
	limit    uintptr // the wall of an End that shares no free bytes
	peak     uintptr // most bytes in use when something was freed; Stats takes the current ones into account
	failures uint64
	name     string // in errors
	refusals tally.Refusals
	marks    []place // the live marks, outermost first
	serial   uint64  // of the newest mark; never reused
	owner    invariant.Owner
}

// A block is one live allocation.
type block struct {
	off   uintptr // from base
	size  uintptr // as requested; size 0 takes one byte
	under uintptr // edge before it, which its Free restores
}

// startBlocks is the capacity of a new log: so many live blocks need no Go allocation.
const startBlocks = 64

// open makes e an empty End in mem, whose edge starts at origin and stops at *wall; nil means limit.
func (e *End) open(mem *page.Prefix, origin, limit uintptr, wall *uintptr) {
	wall = cmp.Or(wall, &e.limit)
	e.base, e.origin, e.edge, e.limit, e.wall = mem.Base(), origin, origin, limit, wall
	e.name = mem.NameOr("stack") + ": alloc"
	e.blocks = make([]block, 0, startBlocks)
}

// shut puts the metadata into the state of a closed buffer and touches no block.
func (e *End) shut() {
	e.peak = max(e.peak, e.Used())
	e.base, e.origin, e.edge, e.limit = nil, 0, 0, 0
	e.blocks, e.marks, e.floor = nil, nil, 0
}

// Alloc returns size bytes aligned to align, a power of two up to 4096, at the edge. If size is 0, the block takes one
// byte. If the buffer is closed, the error is memory.ErrClosed. If align is invalid, the error is memory.ErrAlign. If
// size exceeds the capacity, the error is memory.ErrTooLarge. If the block does not fit now, the error is a
// *memory.Exhausted. Cost: constant. Alloc allocates on the Go heap only if more than 64 blocks are live, and more than
// ever before.
func (e *End) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	mask := align - 1
	bytes := max(size, 1)
	under, wall := e.edge, *e.wall
	var off, edge uintptr
	var full bool
	if e.falls {
		off = (under - bytes) &^ mask
		edge = off
		full = bytes > under-wall || off < wall
	} else {
		off = (under + mask) &^ mask
		edge = off + bytes
		full = edge > wall || edge < off // the second half: off+bytes has wrapped
	}
	if full || mask/memory.MaxAlign|align&mask != 0 {
		return nil, e.refuse(size, align)
	}
	e.edge = edge
	e.allocs++
	e.blocks = append(e.blocks, block{off, size, under})
	p := unsafe.Add(e.base, off)
	if invariant.Debug {
		e.owner.Touch()
		invariant.Fresh(p, bytes)
	}
	return p, nil
}

//go:noinline
func (e *End) refuse(size, al uintptr) error {
	if e.base == nil {
		return memory.ErrClosed
	}
	if !align.Valid(al) {
		return memory.ErrAlign
	}
	e.failures++
	if size > max(e.origin, e.limit)-min(e.origin, e.limit) {
		return memory.ErrTooLarge
	}
	need := max(size, 1)
	if e.falls {
		need += (e.edge - need) & (al - 1)
	} else {
		need += -e.edge & (al - 1)
	}
	return e.refusals.Of(memory.Exhausted{Op: e.name, Need: need, Have: max(e.edge, *e.wall) - min(e.edge, *e.wall), Limit: max(e.origin, e.limit) - min(e.origin, e.limit)})
}

// Free frees the newest block. The parameter size is the size that was requested, or the new size of the last Resize
// that returned true. If p is nil, Free does nothing. Free panics with a *memory.Misuse for an older block, a block
// that the newest mark protects, and an interior or foreign pointer. Free also panics for a wrong size, a double
// free, and if the buffer is closed.
func (e *End) Free(p unsafe.Pointer, size uintptr) {
	n := len(e.blocks) - 1
	if n < e.floor || e.blocks[n].off != uintptr(p)-uintptr(e.base) || e.blocks[n].size != size {
		if p == nil {
			return
		}
		panic(e.misuse("Free", p, size))
	}
	e.owner.Touch()
	e.cut(n)
}

// cut frees all blocks but the n oldest. There must be more than n.
func (e *End) cut(n int) {
	e.peak = max(e.peak, e.Used())
	under := e.blocks[n].under
	if invariant.Debug {
		low, high := min(under, e.edge), max(under, e.edge)
		invariant.Freed(unsafe.Add(e.base, low), high-low)
	}
	e.edge = under
	e.blocks = e.blocks[:n]
}

// Resize changes the size of the newest block in place and reports whether it did. If there is no space, Resize returns
// false and changes nothing. For an older block, and for a block that the newest mark protects, Resize always returns
// false. Resize panics with a *memory.Misuse if p is nil or not a live block of oldSize bytes, or if the buffer is
// closed.
//
// At a rising edge, the block can grow as far as the other edge or the end of the buffer. At a falling edge, the start
// of the block cannot move. Such a block can only grow into its own padding and into bytes that it gave up by
// shrinking. The bytes that it gives up are reclaimed when the block is freed.
func (e *End) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	e.owner.Touch()
	off := uintptr(p) - uintptr(e.base)
	i := e.at(off)
	if i < 0 || e.blocks[i].off != off || e.blocks[i].size != oldSize {
		panic(e.misuse("Resize", p, oldSize))
	}
	b := &e.blocks[i]
	end, stop := off+max(newSize, 1), *e.wall
	if e.falls {
		stop = b.under
	}
	if i != len(e.blocks)-1 || i < e.floor || end > stop || end < off {
		return false
	}
	e.peak = max(e.peak, e.Used())
	if was := off + max(oldSize, 1); end > was {
		invariant.Fresh(unsafe.Add(e.base, was), end-was)
	} else {
		invariant.Freed(unsafe.Add(e.base, end), was-end)
	}
	if !e.falls {
		e.edge = end
	}
	b.size = newSize
	return true
}

// at returns the index of the block with the highest start that is not above off, or -1.
// The newest one is tried first.
func (e *End) at(off uintptr) int {
	n := len(e.blocks)
	switch {
	case n > 0 && e.blocks[n-1].off == off:
		return n - 1
	case !e.falls:
		return sort.Search(n, func(i int) bool { return e.blocks[i].off > off }) - 1
	}
	if i := sort.Search(n, func(i int) bool { return e.blocks[i].off <= off }); i < n {
		return i
	}
	return -1
}

// Newest returns the newest live block and its size in bytes. If no block is live or the buffer is closed, Newest
// returns nil and 0.
func (e *End) Newest() (p unsafe.Pointer, size uintptr) {
	n := len(e.blocks)
	if n == 0 {
		return nil, 0
	}
	return unsafe.Add(e.base, e.blocks[n-1].off), e.blocks[n-1].size
}

// Len returns the number of live blocks. If the buffer is closed, Len returns 0.
func (e *End) Len() int { return len(e.blocks) }

// Used returns the bytes in use, with padding. The bytes that a block at a falling edge (see [End]) gave up by
// shrinking stay in use until the block is freed. If the buffer is closed, Used returns 0.
func (e *End) Used() uintptr {
	if e.falls {
		return e.origin - e.edge
	}
	return e.edge - e.origin
}

// Available returns the free bytes. The padding for the alignment of a block takes some of them. The two Ends of a
// [Double] share their free bytes, so both return the same number. If the buffer is closed, Available returns 0.
func (e *End) Available() uintptr {
	if e.falls {
		return e.edge - *e.wall
	}
	return *e.wall - e.edge
}

// Base returns the start of the buffer, to which offsets of blocks are relative. It is constant while the buffer is
// open. If the buffer is closed, Base returns nil.
func (e *End) Base() unsafe.Pointer { return e.base }

// Extent returns the number of bytes from Base in which blocks of this End may lie. In a [Double] and a [Pivot], this
// range may also contain blocks of the other End. If the buffer is closed, Extent returns 0.
func (e *End) Extent() uintptr { return max(e.origin, e.limit) }

// Owns reports whether p lies among the live blocks of this End and their padding: between the origin and the edge.
// Owns returns false for blocks of another End, and if the buffer is closed.
func (e *End) Owns(p unsafe.Pointer) bool {
	return e.base != nil && uintptr(p)-uintptr(e.base)-min(e.origin, e.edge) < e.Used()
}

// Reset frees every block of this End. All marks of this End expire. Cost: constant. Reset panics with a
// *memory.Misuse if the buffer is closed.
func (e *End) Reset() {
	if e.base == nil {
		panic(e.misuse("Reset", nil, 0))
	}
	e.owner.Touch()
	e.marks, e.floor = e.marks[:0], 0
	if len(e.blocks) > 0 {
		e.cut(0)
	}
}

// Stats returns the statistics of this End. Reserved and Committed are Used plus Available, so the free bytes of a
// [Double] count for both Ends. If the buffer is closed, both are 0. Peak is exact.
func (e *End) Stats() memory.Stats {
	used, live := e.Used(), uint64(len(e.blocks))
	reach := uint64(used + e.Available())
	return memory.Stats{
		Reserved: reach, Committed: reach,
		InUse: uint64(used), Peak: uint64(max(e.peak, used)),
		Live: live, Allocs: e.allocs, Frees: e.allocs - live, Failures: e.failures,
	}
}
