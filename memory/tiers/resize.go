package tiers

import (
	"unsafe"

	"github.com/strata-go/strata/memory/internal/invariant"
)

// Resize changes the size of a live block where it lies, from oldSize, with which it was asked
// for, to newSize, with which it is freed from then on, and reports whether it could. False means
// that nothing has changed. On the game goroutine. What Free would refuse panics with the same
// *memory.Misuse. By tier:
//
//	slab      within the class of the block
//	large     to less always; to more where what lies behind it is free or not committed yet
//	frame     the newest block of the frame that is open, within its buffer; outside a frame,
//	          and the blocks of frames that are over, to less at most
//	level     the newest block, within the tier's budget
//	static    never, and workers' blocks never: the one has a place in the plan, the other is
//	          for its worker to resize. A size that stays the same is fine.
//	pools     misuse, as in Free: an object has the size of its type
//
// A block keeps its tier, its age and so its place in the books: one that was allocated before the
// level is no leak of the level when it has grown in place. [memory.Grow] on a manager moves what
// cannot stay to the slab or, above 4 KiB, to the large tier, and it is the level's then. That is
// right for blocks of those two; let the blocks of a frame or level grow through its own arena,
// and a worker's through its [Worker], or they are the general heap's from then on, to be freed
// one by one.
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

// resizeRare resizes what does not lie in slab or large, or panics with what is wrong.
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

// Resize changes the size of a live block where it lies, on the worker's own goroutine, having
// first taken in what has come home; see [tlsf.Heap.Resize].
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
	if ok && w.tags != nil {
		if tag, was := w.tags.at(p); tag != 0 {
			w.tags.resized(p, tag, was, newSize)
		}
	}
	return ok
}
