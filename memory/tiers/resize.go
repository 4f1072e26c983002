package tiers

import (
	"unsafe"

	"github.com/strata-go/strata/memory/internal/invariant"
)

// Resize changes the size in bytes of a live block in place, on the game goroutine, and reports whether it succeeded.
// oldSize is the requested size of the block. If Resize returns true, pass newSize to Free. If it returns false, the
// block is unchanged, but memory may have been committed. New bytes are not zeroed. Resize panics with a *memory.Misuse
// if Free(p, oldSize) would panic, or if p is nil. These new sizes are possible in each tier:
//
//	slab      within its size class
//	large     any smaller size; a larger size if the memory after the block is free or can be committed
//	frame     for the newest block of the open frame: any size that fits into the frame's buffer. Outside a
//	          frame, for the newest block of the last frame: no larger size. Blocks of earlier frames: none
//	level     for the newest block: any size within the tier's budget
//	static    the same size
//	inbox     the same size; the worker's goroutine resizes the block with [Worker.Resize]
//	pools     none: Resize panics, as Free does
//
// In frame and level the conditions of [arena.Linear.Resize] apply, too. A block keeps its tier and its tag. A block
// that is older than the level is no leak, also if it grows in place. If a block cannot grow in place, [memory.Grow] on
// a manager moves it to the slab or, above SlabMax, to the large tier. The moved block belongs to the current level and
// must be freed. So grow blocks of a frame or a level through the arena, and blocks of a worker through the [Worker].
func (m *Manager) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	off := uintptr(p) - uintptr(m.base)
	if off < m.size {
		switch Tier(m.route[off>>regionShift]) {
		case Slab:
			return m.slab.heap.Resize(p, oldSize, newSize)
		case Large:
			return m.large.heap.Resize(p, oldSize, newSize)
		}
	}
	return m.resizeRare(p, oldSize, newSize)
}

// resizeRare resizes blocks outside slab and large, and all blocks if there are tags.
//
//go:noinline
func (m *Manager) resizeRare(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	t, ok := m.tierOf(p)
	if !ok {
		panic(m.misuse("Resize", p, oldSize, m.foreign()))
	}
	ok, live := m.states[t].resize(m, p, oldSize, newSize)
	if !live {
		panic(m.misuse("Resize", p, oldSize, m.dead(t)))
	}
	return ok
}

// Resize changes the size in bytes of a live block in place, on the worker's goroutine, and reports whether it
// succeeded. It first frees the blocks that other goroutines have sent, and panics as [Worker.Alloc] does. See
// [tlsf.Heap.Resize].
func (w *Worker) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over {
		w.inbox.Drain()
	}
	ok := w.heap.Resize(p, oldSize, newSize)
	if invariant.Debug && ok {
		w.sizes.BeginAt(p, newSize)
	}
	if ok && w.recorder != nil {
		w.recorder.resizedBy(Inbox, w.thread, p, newSize)
	}
	if ok {
		w.sampler.resized(p, newSize)
	}
	if ok && w.tags != nil {
		if tag, was := w.tags.at(p); tag != 0 {
			w.tags.resized(p, tag, was, newSize)
		}
	}
	return ok
}
