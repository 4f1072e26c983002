package stack

import (
	"sort"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// An End is one edge of a buffer and the blocks behind it. It comes with a [Stack], a
// [Double] or a [Pivot], whose Close closes it.
//
//	rising:   origin | block 0 | block 1 |edge ······ wall
//	falling:  wall ······ edge| block 1 | block 0 | origin
//
// Blocks are not zeroed. They belong to the caller until the Free, Rewind, Reset or Close
// that frees them. A block of size 0 takes one byte, so that no two live blocks share an
// address and no double free goes unseen. One goroutine at a time, also where two Ends share
// a buffer. After Close, or once the source has ended, every Alloc fails with memory.ErrClosed.
//
// Invariants, verified by Check in this order:
//
//	(1) the blocks follow each other from origin to edge: each starts where the one before
//	    it ends, after less than memory.MaxAlign bytes of padding (more in front of a
//	    falling block that was shrunk)
//	(2) edge lies between origin and wall
//	(3) floor is the number of blocks at the newest live mark, or 0; marks do not shrink, and
//	    their serials ascend up to serial
//	(4) len(blocks) <= allocs
type End struct {
	base   unsafe.Pointer // nil once closed
	edge   uintptr        // from base, between the newest block and the free bytes
	wall   *uintptr       // where edge must stop: limit, or the edge of the other End
	blocks []block        // live, oldest first
	floor  int            // blocks that the newest mark protects
	falls  bool           // edge moves towards base
	allocs uint64         // successful allocations since New

	origin   uintptr // edge while nothing is live
	limit    uintptr // the wall of an End whose room is its own
	peak     uintptr // most bytes in use when something was freed; Stats joins the current ones
	failures uint64
	marks    []place // the live marks, outermost first
	serial   uint64  // of the newest mark ever made; never reused
	owner    invariant.Owner
}

// A block is one live allocation.
type block struct {
	off   uintptr // from base
	size  uintptr // as asked for; size 0 takes one byte
	under uintptr // edge before it, which its Free restores
}

// startBlocks is the room of a fresh log: nesting up to here costs no Go allocation.
const startBlocks = 64

// open makes e an empty End whose edge starts at origin and stops at *wall; nil means limit.
func (e *End) open(base unsafe.Pointer, origin, limit uintptr, wall *uintptr) {
	if wall == nil {
		wall = &e.limit
	}
	e.base, e.origin, e.edge, e.limit, e.wall = base, origin, origin, limit, wall
	e.blocks = make([]block, 0, startBlocks)
}

// shut puts the books into the state of a closed buffer and touches no block.
func (e *End) shut() {
	e.peak = max(e.peak, e.Used())
	e.base, e.origin, e.edge, e.limit = nil, 0, 0, 0
	e.blocks, e.marks, e.floor = nil, nil, 0
}

// Alloc returns size bytes aligned to align, a power of two up to 4096, at the edge. The
// error is bare: memory.ErrOutOfMemory, memory.ErrTooLarge where size exceeds the
// whole room, memory.ErrAlign or memory.ErrClosed.
func (e *End) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	mask := align - 1
	room := max(size, 1)
	under, wall := e.edge, *e.wall
	var off, edge uintptr
	var full bool
	if e.falls {
		off = (under - room) &^ mask
		edge = off
		full = room > under-wall || off < wall
	} else {
		off = (under + mask) &^ mask
		edge = off + room
		full = edge > wall || edge < off // the second half: off+room has wrapped
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
		invariant.Fresh(p, room)
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
	return memory.ErrOutOfMemory
}

// Free gives back the newest block, with the size it has now. Nil is a no-op. Everything else
// panics with a *memory.Misuse that names p and the newest block: an older block, one that the
// newest mark protects, an interior or foreign pointer, a wrong size, a block freed already.
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

// cut frees all blocks but the n oldest; there are more than n.
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

// Resize changes the size of the newest block in place and reports whether it could. A block
// at a rising edge grows up to the wall. One at a falling edge cannot move its start, so it
// grows into its own padding only, and what shrinking saves comes back with its Free. False
// also for a block that is older or that the newest mark protects; nothing has changed then.
// What is no live block of oldSize bytes panics with a *memory.Misuse.
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

// Newest returns the newest block and its size, or nil and 0 where nothing is live.
func (e *End) Newest() (p unsafe.Pointer, size uintptr) {
	n := len(e.blocks)
	if n == 0 {
		return nil, 0
	}
	return unsafe.Add(e.base, e.blocks[n-1].off), e.blocks[n-1].size
}

// Len returns how many blocks are live.
func (e *End) Len() int { return len(e.blocks) }

// Used returns the bytes in use, padding included.
func (e *End) Used() uintptr {
	if e.falls {
		return e.origin - e.edge
	}
	return e.edge - e.origin
}

// Available returns the bytes up to the wall, before padding for alignment.
func (e *End) Available() uintptr {
	if e.falls {
		return e.edge - *e.wall
	}
	return *e.wall - e.edge
}

// Base returns the address from which the offsets of blocks count, constant until Close; nil
// once closed.
func (e *End) Base() unsafe.Pointer { return e.base }

// Extent returns how many bytes from Base blocks may lie in: what other Ends of the buffer have
// in front of this one counts; 0 once closed.
func (e *End) Extent() uintptr { return max(e.origin, e.limit) }

// Owns reports whether p lies between the origin and the edge, where the live blocks are.
func (e *End) Owns(p unsafe.Pointer) bool {
	return e.base != nil && uintptr(p)-uintptr(e.base)-min(e.origin, e.edge) < e.Used()
}

// Reset frees every block of this End; its marks are spent. Cost: constant. On a closed
// buffer it panics with a *memory.Misuse.
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

// Stats derives the books of this End. Reserved and Committed are the bytes from the origin to
// the wall, as it stands: the free ones between the Ends of a Double count in both. Peak is
// exact.
func (e *End) Stats() memory.Stats {
	used, live := e.Used(), uint64(len(e.blocks))
	room := uint64(used + e.Available())
	return memory.Stats{
		Reserved: room, Committed: room,
		InUse: uint64(used), Peak: uint64(max(e.peak, used)),
		Live: live, Allocs: e.allocs, Frees: e.allocs - live, Failures: e.failures,
	}
}
