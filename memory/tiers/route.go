package tiers

import (
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/remote"
)

// Alloc allocates from the slab, and above 4 KiB from the large tier: the general heap of the
// game goroutine. The block lives until Free.
func (m *Manager) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	return m.slab.Alloc(size, align)
}

// Free is FreeAny: finding the tier takes a range check and a byte of the route table, and
// the tier finds the size. It makes the Manager a memory.Allocator.
func (m *Manager) Free(p unsafe.Pointer, _ uintptr) { m.FreeAny(p) }

// FreeAny frees a block of any tier, on the game goroutine. A block of the static, frame or
// level tier dies with its tier: freeing it early does nothing. A worker's block goes home through
// the worker's inbox, at the latest with EndFrame. A pool's object must be freed through its
// pool; that, and a pointer that no tier owns, panics with a *memory.Misuse.
func (m *Manager) FreeAny(p unsafe.Pointer) {
	if p == nil {
		return
	}
	off := uintptr(p) - uintptr(m.base)
	if off >= m.size {
		panic(m.misuse(p, "no tier of this manager owns the address"))
	}
	switch t := m.route[off>>regionShift]; Tier(t) {
	case Slab:
		m.slab.FreeAny(p)
	case Large:
		m.large.FreeAny(p)
	case Static, Frame, Level:
	case Pools:
		panic(m.misuse(p, "the block belongs to a pool; free it through its pool's handle"))
	default:
		m.freers[t-Count].Free(p)
	}
}

// TierOf returns the tier that owns the address, and false where none does. The blocks of a
// worker are of the Inbox tier.
func (m *Manager) TierOf(p unsafe.Pointer) (Tier, bool) {
	off := uintptr(p) - uintptr(m.base)
	if off >= m.size {
		return 0, false
	}
	return min(Tier(m.route[off>>regionShift]), Inbox), true
}

// Owns reports whether p lies in one of the tiers.
func (m *Manager) Owns(p unsafe.Pointer) bool {
	_, ok := m.TierOf(p)
	return ok
}

// NewFreer lets another goroutine free blocks of the slab and large tiers: they are batched,
// and come home at the next BeginFrame. Safe for concurrent use; the Freer itself belongs to
// one goroutine.
func (m *Manager) NewFreer() *remote.Freer { return m.home.NewFreer() }

func (m *Manager) misuse(p unsafe.Pointer, reason string) *memory.Misuse {
	return &memory.Misuse{Package: "tiers", Op: "Free", Addr: uintptr(p), Reason: reason}
}
