package tiers

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/remote"
)

// Free frees a block of any tier except Pools, on the game goroutine. size is the size that was requested, or the last
// one that a successful Resize received. Free of nil does nothing. If p lies in no tier, or the check of its tier
// fails, Free panics with a *memory.Misuse and changes nothing. The checks are
//
//	slab      a live block starts at p, and its class serves the size; with Config.Tags a tagged block: to the byte.
//	          memfast builds miss some freed blocks and interior pointers
//	large     a live block starts at p, and was requested with this size, to the byte
//	static    a declared buffer starts at p and has this size, to the byte
//	frame     the bytes lie in the used part of the arena of a readable frame; if the arena has a newest block,
//	          they are this block or lie below it
//	level     the bytes lie in the used part of the level arena; if it has a newest block, they are this block
//	          or lie below it
//	inbox     the bytes lie in a worker's heap, and in debug builds the newest block at p has this
//	          size, to the byte. The worker detects other misuse when it frees the block
//	pools     always fails: objects are freed through their pool
//
// Debug builds also check the size in slab to the byte, and in frame and level that a live block of that size starts at
// p. Free of a static buffer only checks: the buffer stays valid until EndLevel. In frame and level Free frees only the
// newest block, see [arena.Linear.Free]; the other blocks are freed with their arena.
//
// A block of a worker is sent: the worker frees it at its next Alloc, Resize or Settle. EndLevel, [Manager.Rest],
// [Manager.Close], and a Set that saves or loads the worker free sent blocks as well. Outside a frame the block is
// sent at once. Inside a frame the block is sent at EndFrame, or earlier if its batch is full, see
// [Config.FreeItems].
func (m *Manager) Free(p unsafe.Pointer, size uintptr) {
	off := uintptr(p) - uintptr(m.base)
	if off < m.size {
		switch Tier(m.route[off>>regionShift]) {
		case Slab:
			m.slab.heap.Free(p, size)
			return
		case Large:
			m.large.heap.Free(p, size)
			return
		}
	}
	m.freeRare("Free", p, size, true)
}

// FreeAny is [Manager.Free] without the size. It makes the same checks, except those of the size. In frame and level
// FreeAny frees nothing, and checks only that p lies in the used part of the arena or at its end. FreeAny sends a
// worker's block to the worker at once, also inside a frame.
func (m *Manager) FreeAny(p unsafe.Pointer) {
	off := uintptr(p) - uintptr(m.base)
	if off < m.size {
		switch Tier(m.route[off>>regionShift]) {
		case Slab:
			m.slab.heap.FreeAny(p)
			return
		case Large:
			m.large.heap.FreeAny(p)
			return
		}
	}
	m.freeRare("FreeAny", p, 0, false)
}

// freeRare frees blocks outside slab and large, and all blocks if there are tags.
//
//go:noinline
func (m *Manager) freeRare(op string, p unsafe.Pointer, size uintptr, known bool) {
	if p == nil {
		return
	}
	route, ok := m.routeOf(p)
	if !ok {
		panic(m.misuse(op, p, size, m.foreign()))
	}
	live := false
	switch route { // with tags most blocks are of these two, and a call through states costs 3 ns more
	case routeSlab:
		live = m.slab.free(m, op, p, size, known)
	case routeLarge:
		live = m.large.free(m, op, p, size, known)
	default:
		live = m.states[tierOfRoute[route]].free(m, op, p, size, known)
	}
	if !live {
		panic(m.misuse(op, p, size, m.dead(tierOfRoute[route])))
	}
}

// dead returns the reason for a misuse at an address at which no live block of the tier starts.
func (m *Manager) dead(t Tier) string {
	return fmt.Sprintf("no live block of the %s tier: it was freed with its %s, or never existed", t, moments[table[t].Freed])
}

// SizeOf returns the size in bytes of a live block of slab or large, or of a static buffer. For a block of slab this is
// the size of its size class, for the others the requested size. If several static buffers start at p, the result is
// the largest of their sizes. For any other address SizeOf panics with a *memory.Misuse, except that memfast builds
// miss some freed blocks and interior pointers in slab.
func (m *Manager) SizeOf(p unsafe.Pointer) uintptr {
	t, ok := m.tierOf(p)
	if !ok {
		panic(m.misuse("SizeOf", p, 0, m.foreign()))
	}
	size, kept := m.states[t].sizeOf(m, p)
	if !kept {
		panic(m.misuse("SizeOf", p, 0, fmt.Sprintf("the %s tier keeps no sizes that the game goroutine may read", t)))
	}
	return size
}

// Owns reports whether p lies in the address space of a tier, whether or not in a live block. After Close the result
// is false.
func (m *Manager) Owns(p unsafe.Pointer) bool {
	_, ok := m.tierOf(p)
	return ok
}

// Base returns the address from which the offsets of all tiers count. The address is constant until Close; after
// Close Base returns nil.
func (m *Manager) Base() unsafe.Pointer { return m.base }

// Extent returns the size in bytes of the tiers' address space, from Base on. The size is constant until Close;
// after Close Extent returns 0.
func (m *Manager) Extent() uintptr { return m.size }

// NewFreer returns a Freer, through which one other goroutine can free blocks of every tier that FreeAny accepts.
// NewFreer is safe for concurrent use.
//
// The Freer collects blocks in a batch. It sends the batch when the batch is full, see [Config.FreeItems], and at Flush
// and Close. Sending is one compare-and-swap, and neither goroutine waits for the other. The game goroutine frees the
// blocks in the next BeginFrame, EndLevel, Rest or Close, or when Alloc needs memory. A Set that saves or loads the
// manager frees them as well. Free large blocks with Freer.Free, because Freer.FreeAny counts no bytes: large blocks
// would wait until the batch has enough blocks.
//
// Freer.Free and Freer.FreeAny panic with a *memory.Misuse if the address lies outside the tiers, and if the Freer is
// closed. No call checks the size. Other misuse, such as a double free or an object of a pool, is detected when the game
// goroutine frees the batch. The call that frees the batch panics, and the next such call continues after the wrong
// block. A double free may not be detected if the block was allocated again. Blocks that are sent after the manager's
// Close are not freed. In that case Flush and Close of the Freer return an error that wraps memory.ErrClosed.
func (m *Manager) NewFreer() *remote.Freer { return m.returned.NewFreer() }

func (m *Manager) foreign() string {
	if m.phase >= closing && m.size == 0 {
		return "the manager is closed"
	}
	return "no tier of this manager owns the address"
}

func (m *Manager) noWorker(k int) *memory.Misuse {
	return &memory.Misuse{Package: "tiers", Op: "Worker", Reason: fmt.Sprintf("there is no worker %d of %d; they count from 0", k, len(m.inbox.workers))}
}

func (m *Manager) misuse(op string, p unsafe.Pointer, size uintptr, reason string) *memory.Misuse {
	return &memory.Misuse{Package: "tiers", Op: op, Addr: uintptr(p), Size: size, Reason: reason}
}
