package tiers

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/remote"
)

// Free gives back a block of any tier, with the size it was asked for, on the game goroutine.
// It panics with a *memory.Misuse, and nothing has changed, where the tier's books can tell
// that this is no live block of that size:
//
//	slab      a block starts there, is live, and its class serves the size
//	large     a block starts there, is live, and was asked for with the size, to the byte
//	static    a declared buffer starts there and has the size, to the byte
//	frame     the bytes lie in what a readable frame has in use
//	level     the bytes lie in what the level has in use
//	workers   the bytes lie in a worker's heap, and in debug builds the newest block there has
//	          the size, to the byte. The worker finds what else is wrong with the address when
//	          it takes the block in: its metadata is not the game's to read
//	pools     never: an object is freed through its pool
//
// A static buffer lives on until EndLevel. In frame and level the newest block is given back
// and the others die with their arena; blocks have no books there, so that an address inside
// of one passes for a block. A worker's block goes home through the worker's inbox: at once
// outside a frame, and inside one with EndFrame at the latest, or when more than a sixteenth
// of the worker's budget waits. Free makes the Manager a memory.Allocator.
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

// FreeAny is Free for a caller who does not know the size: all checks are made but those on it.
// A worker's block goes home at once.
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

// freeRare frees what does not lie in slab or large, or panics with what is wrong.
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

// dead says what is wrong with an address at which no live block of the tier starts.
func (m *Manager) dead(t Tier) string {
	return fmt.Sprintf("no live block of the %s tier: it was freed with its %s, or never existed", t, moments[table[t].Freed])
}

// SizeOf returns the usable bytes of a live block of slab or large, and the size of a static
// buffer: of its class in slab, what was asked for in the others. Every other address panics
// with a *memory.Misuse: arenas keep no sizes, pools have types, and a worker's books are the
// worker's.
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

// Owns reports whether p lies in one of the tiers, live or not.
func (m *Manager) Owns(p unsafe.Pointer) bool {
	_, ok := m.tierOf(p)
	return ok
}

// Base returns the address from which the offsets of all tiers count, constant until Close; nil
// once closed.
func (m *Manager) Base() unsafe.Pointer { return m.base }

// Extent returns how many bytes from Base the tiers take in address space; 0 once closed.
func (m *Manager) Extent() uintptr { return m.size }

// NewFreer returns a Freer, with which another goroutine frees blocks as FreeAny does. They are
// batched, and are freed at the next BeginFrame or EndLevel, or when Alloc needs them. NewFreer is
// safe for concurrent use; the Freer belongs to one goroutine. Config.FreeItems and FreeBytes bound
// the blocks and bytes of a batch: a full one is sent at once, in one compare-and-swap, and neither
// side waits for the other. What has been sent waits for the game, and is bounded by what is live.
// Free large blocks with Free: FreeAny counts no bytes, and they would wait for the batch to fill.
//
// Free and FreeAny panic with a *memory.Misuse if the address lies outside of [Manager.Base] and
// [Manager.Extent], and on a closed Freer. Other blocks that FreeAny refuses, as a double free or an
// object of a pool, are found later: the call that frees the batch panics, and the next call goes on
// after that block. Blocks that are sent after Close are not freed; Flush and Close of the Freer
// return an error that wraps memory.ErrClosed then.
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
