package tiers

import (
	"runtime"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/remote"
	"github.com/strata-go/strata/memory/save"
)

// A Manager has all of a game's memory: one reservation, divided into tiers that are freed at different moments. It
// also paces the collector and keeps the statistics of all tiers.
//
// The manager belongs to one goroutine, the game goroutine. A worker goroutine uses only its own [Worker]. Other
// goroutines free blocks through a Freer of [Manager.NewFreer]. If a method panics because of misuse, a callback or a
// hook, completed steps are kept, and the call can be retried. A second Close continues after callbacks that fail, see
// [Manager.Close].
//
// Slab, Large, Frame and similar methods return allocators. The caller may allocate, resize, free, trim and read with
// them, and use Mark and Rewind of the arenas. Only the manager may reset, advance or close them. The arena of
// [Manager.Declare] is an exception: the caller may call its Begin, Advance and Reset. Free tagged blocks of slab and
// large only through the manager, a [Tag] or a Freer. Resize them only through the manager or a Tag.
//
// After Close, Alloc, NewPool, SetBudget, Tag and Rest fail with memory.ErrClosed. Declare, BeginFrame and the other
// calls of frames and levels fail with [ErrOrder]. Free of a block, Resize, SizeOf, AddPool and OnReset panic with a
// *memory.Misuse. Owns returns false. In Stats no bytes are in use, committed or reserved.
//
// Close every Manager. A Manager that becomes unreachable without Close keeps its reservation; debug builds report this
// on standard error.
//
// A New that fails returns a nil Manager, which is not usable: its methods panic.
type Manager struct {
	// Invariants, verified by Check in this order:
	//
	//	(1) every tier passes its own Check, and so does every pool that has a method Check
	//	(2) the parts of the reservation fulfil the invariants of space
	//	(3) the committed bytes of each tier, and of each worker, are those of its allocator, and
	//	    within its budget; those of the pools are at least what the pools have in use
	//	(4) the state of frames and levels, and the history, are consistent
	//	(5) no counter has decreased since BeginLevel, nor since BeginFrame, which came later
	//	(6) every tag counts live blocks, and all tags together count at most the blocks of the tiers
	space
	course
	cfg Config

	states [Count]state  // the tiers by number: those below and what the table adds
	built  [Count]uint64 // bytes that their allocators reserved in New
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
	recorder *recorder // of Config.Trace; nil without one
	sampler  *sampler  // of Config.SampleBytes, for slab and large; nil without
	pacer    *gcpace.Pacer
	unreturned
	unreturnable bool // Decommit of the source only zeroes

	saving  save.State // of State without a selection; nil before the first SaveState
	dropped runtime.Cleanup
	owner   invariant.Owner
}

// A course records the state of frames and levels, and which call runs callbacks.
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
	touched [Count]uint64 // bytes that are taken to be resident, as of the last Snapshot
	rss     rssReader
}

// Alloc allocates a block for the game goroutine: from the large tier if size is above Config.SlabMax (4 KiB by
// default), and if not, from the slab. size may be 0. The block is not zeroed. It is valid until it is freed, also
// after its level has ended. If a block was allocated inside a level and is live at the end of this level, EndLevel
// reports it as a leak. align is a power of two from 1 to 4096. Alloc returns the errors of [slab.Heap.Alloc].
//
// Other goroutines send the blocks that they free to the game goroutine. If the size class has no free block, Alloc
// frees up to 32 of the sent blocks. Before Alloc fails for lack of memory, it frees all sent blocks. If FreeAny would
// panic for a sent address, for example after a double free, Alloc panics with a *memory.Misuse: see
// [Manager.NewFreer].
func (m *Manager) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	return m.slab.front.Alloc(size, align)
}

// made panics if m is nil. The calls that come first in a program have this check; with it Alloc and the accessors would
// cost more.
func (m *Manager) made(op string) {
	if m == nil {
		panic(&memory.Misuse{Package: "tiers", Op: op, Reason: "the manager is nil; look at the error of New"})
	}
}

func (m *Manager) outside(op, where string) *memory.Misuse {
	if m.phase >= closing {
		return &memory.Misuse{Package: "tiers", Op: op, Reason: "the manager is closed"}
	}
	return &memory.Misuse{Package: "tiers", Op: op, Reason: "outside " + where}
}

// Worker returns the heap of worker k, from 0 to Workers()-1, for the use of one goroutine. For any other k it panics
// with a *memory.Misuse.
func (m *Manager) Worker(k int) *Worker {
	if uint(k) >= uint(len(m.inbox.workers)) {
		panic(m.noWorker(k))
	}
	return m.inbox.workers[k]
}

// Workers returns the number of worker heaps.
func (m *Manager) Workers() int { return len(m.inbox.workers) }

// Collect runs a collection of the Go heap now, see [gcpace.Pacer.Collect].
func (m *Manager) Collect() { m.pacer.Collect() }
