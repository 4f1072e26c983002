package tiers

import (
	"runtime"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/remote"
)

// A Manager holds a game's memory: one reservation, cut into tiers that die at different
// moments, the collector's pacing, and the books of it all.
//
// It belongs to the game goroutine. Workers use only their own [Worker]; other goroutines
// free blocks through [Manager.NewFreer]. If a misuse, a callback or a hook panics out of a method,
// completed steps are kept, and the call can be retried. The second Close completes, see
// [Manager.Close].
//
// The tiers' own allocators, as Slab and Frames return them, are for allocating and reading:
// to reset, advance or close them is the manager's.
//
// After Close, Alloc fails with memory.ErrClosed, Declare, BeginFrame and the like with
// ErrOrder, what cannot return an error panics with a *memory.Misuse that says so, Owns and
// TierOf are false, and Stats has counts but no bytes.
//
// Invariants, verified by Check in this order:
//
//	(1) every tier and every pool that can passes its own Check
//	(2) the parts of the reservation are as the space says
//	(3) the committed bytes of each tier, and of each worker, are what its allocator says, and
//	    within its budget; those of the pools are at least what the pools have in use
//	(4) the course and the history are consistent
//	(5) no counter has gone back since BeginLevel, nor since BeginFrame, which came later
//	(6) every tag counts live blocks, and all together no more than the tiers have
type Manager struct {
	space
	course
	cfg Config

	states [Count]state // the tiers by number: those below and what the table adds
	static staticTier
	frame  frameTier
	level  levelTier
	pools  poolsTier
	slab   slabTier
	large  largeTier
	inbox  inboxTier

	tags           []*Tag        // that of id 1 first
	returned       *remote.Inbox // blocks that other goroutines have freed
	returnedClosed bool
	record
	pacer   pacer
	dropped runtime.Cleanup
	owner   invariant.Owner
}

// A course says where the game is in its frames and levels, and which call runs callbacks.
type course struct {
	phase   phase
	running string      // the call that begins or ends something and is under way, see enter
	hooked  [Count]bool // tiers whose hooks the present EndLevel or Close has begun to run
	hooking bool        // a hook of the last of these is running
	tried   bool        // a Close has begun; the next one completes
}

// A record has the manager's statistics of the past.
type record struct {
	left    Leaks // of the last EndLevel
	atLevel [Count]stats
	atFrame [Count]stats
	history [Count]ring
	rss     rssReader
}

// Alloc allocates from the slab, and above 4 KiB from the large tier: the general heap of the
// game goroutine. The block is not zeroed and lives until Free, also beyond the level, which
// then reports it. Before it carves new blocks and before it gives up, what other goroutines
// have freed is taken in.
func (m *Manager) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	return m.slab.heap.Alloc(size, align)
}

func (m *Manager) outside(op, where string) *memory.Misuse {
	if m.phase >= closing {
		return &memory.Misuse{Package: "tiers", Op: op, Reason: "the manager is closed"}
	}
	return &memory.Misuse{Package: "tiers", Op: op, Reason: "outside " + where}
}

// Worker returns the heap of worker k, from 0, for the use of one goroutine. Where there is
// none it panics with a *memory.Misuse.
func (m *Manager) Worker(k int) *Worker {
	if uint(k) >= uint(len(m.inbox.workers)) {
		panic(m.noWorker(k))
	}
	return m.inbox.workers[k]
}

// Workers returns how many worker heaps there are.
func (m *Manager) Workers() int { return len(m.inbox.workers) }
