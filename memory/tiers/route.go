package tiers

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
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
			m.slab.Free(p, size)
			return
		case Large:
			m.large.Free(p, size)
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
			m.slab.FreeAny(p)
			return
		case Large:
			m.large.FreeAny(p)
			return
		}
	}
	m.freeRare("FreeAny", p, 0, false)
}

// freeRare frees what does not lie in slab or large, or says what is wrong with it.
//
//go:noinline
func (m *Manager) freeRare(op string, p unsafe.Pointer, size uintptr, known bool) {
	if p == nil {
		return
	}
	off := uintptr(p) - uintptr(m.base)
	if off >= m.size {
		panic(m.misuse(op, p, size, m.foreign()))
	}
	route := m.route[off>>regionShift]
	if route >= routeSlab {
		m.freeTagged(op, route, p, size, known)
		return
	}
	live := true
	switch m.arenaOf(route, p) {
	case Static:
		live = m.static.holds(p, size, known)
	case Frame:
		if live = m.frames.Live(p); live && known {
			m.frames.Free(p, size)
		}
	case Level:
		if live = m.level.Live(p); live && known {
			m.level.Free(p, size)
		}
	case Pools:
		panic(m.misuse(op, p, size, ofPool))
	default:
		if m.inScratch(route, p) {
			panic(m.misuse(op, p, size, ofScratch))
		}
		if known {
			m.mustFitWorker(op, route, p, size)
		}
		m.outbox[route-Count].send(p, size, known && m.phase&inFrame != 0)
	}
	if !live {
		panic(m.misuse(op, p, size, m.dead(route)))
	}
}

// mustFitWorker panics if no block of size bytes can lie at p, in a worker's heap, and in debug builds if
// the newest block there had another size.
func (m *Manager) mustFitWorker(op string, route uint8, p unsafe.Pointer, size uintptr) {
	part := m.carves[route-uint8(Count)+uint8(Inbox)].Memory()
	_, scratch := m.cfg.scratchBytes()
	if size > m.cfg.Reserve[Inbox]-scratch-(uintptr(p)-uintptr(part.Base)) {
		panic(m.misuse(op, p, size, "no block of that size lies there in the worker's heap"))
	}
	if w := m.workers[route-uint8(Count)]; invariant.Debug && w.sizes.GenerationAt(p) != 0 && w.sizes.SizeAt(p) != size {
		panic(m.misuse(op, p, size, fmt.Sprintf("wrong size: the worker's block was requested with %d bytes, not %d", w.sizes.SizeAt(p), size)))
	}
}

// arenaOf returns the tier of a route that is not of slab and large. Where the pools begin a block of no
// bytes may stand that is of the level: behind its last byte, when it is full.
func (m *Manager) arenaOf(route uint8, p unsafe.Pointer) Tier {
	if Tier(route) == Pools && m.level.Live(p) {
		return Level
	}
	return Tier(route)
}

const ofPool = "the block belongs to a pool; free it through its pool's handle"

// dead says what is wrong with an address of static, frame or level.
func (m *Manager) dead(route uint8) string {
	return fmt.Sprintf("no live block of the %s tier: it died with its %s, or never was one", Tier(route), lifetimes[route])
}

// lifetimes are what the blocks of the first tiers die with.
var lifetimes = [...]string{Static: "level", Frame: "frame", Level: "level"}

// SizeOf returns the usable bytes of a live block of slab or large, and the size of a static
// buffer: of its class in slab, what was asked for in the others. Every other address panics
// with a *memory.Misuse: arenas keep no sizes, pools have types, and a worker's books are the
// worker's.
func (m *Manager) SizeOf(p unsafe.Pointer) uintptr {
	t, ok := m.TierOf(p)
	if !ok {
		panic(m.misuse("SizeOf", p, 0, m.foreign()))
	}
	switch t {
	case Slab:
		return m.slab.SizeOf(p)
	case Large:
		return m.large.SizeOf(p)
	case Static:
		if size, ok := m.static.sizeOf(p); ok {
			return size
		}
		panic(m.misuse("SizeOf", p, 0, "no static buffer starts there"))
	}
	panic(m.misuse("SizeOf", p, 0, fmt.Sprintf("the %s tier keeps no sizes that the game goroutine may read", t)))
}

// TierOf returns the tier that owns the address, and false where none does. The blocks of a
// worker are of the Inbox tier.
func (m *Manager) TierOf(p unsafe.Pointer) (Tier, bool) {
	off := uintptr(p) - uintptr(m.base)
	if off >= m.size {
		return 0, false
	}
	return tierOf(m.route[off>>regionShift]), true
}

func tierOf(route uint8) Tier {
	switch route {
	case routeSlab:
		return Slab
	case routeLarge:
		return Large
	}
	return min(Tier(route), Inbox)
}

// Owns reports whether p lies in one of the tiers, live or not.
func (m *Manager) Owns(p unsafe.Pointer) bool {
	_, ok := m.TierOf(p)
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
// Give large blocks to FreeSized: Free counts no bytes, and they would wait for the batch to fill.
//
// Free and FreeSized panic with a *memory.Misuse if the address lies outside of [Manager.Base] and
// [Manager.Extent], and on a closed Freer. Other blocks that FreeAny refuses, as a double free or an
// object of a pool, are found later: the call that frees the batch panics, and the next call goes on
// after that block. Blocks that are sent after Close are not freed; Flush and Close of the Freer
// return an error that wraps memory.ErrClosed then.
func (m *Manager) NewFreer() *remote.Freer { return m.home.NewFreer() }

// Coming returns what Freers have sent to the game goroutine, and what of it has come home. Safe for
// concurrent use.
func (m *Manager) Coming() remote.Stats { return m.home.Stats() }

func (m *Manager) foreign() string {
	if m.phase >= closing && m.size == 0 {
		return "the manager is closed"
	}
	return "no tier of this manager owns the address"
}

func (m *Manager) noWorker(k int) *memory.Misuse {
	return &memory.Misuse{Package: "tiers", Op: "Worker", Reason: fmt.Sprintf("there is no worker %d of %d; they count from 0", k, len(m.workers))}
}

func (m *Manager) misuse(op string, p unsafe.Pointer, size uintptr, reason string) *memory.Misuse {
	return &memory.Misuse{Package: "tiers", Op: op, Addr: uintptr(p), Size: size, Reason: reason}
}
