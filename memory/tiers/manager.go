package tiers

import (
	"runtime"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/remote"
	"github.com/strata-go/strata/memory/slab"
	"github.com/strata-go/strata/memory/tlsf"
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
//	(2) every region of the reservation routes to the tier whose range holds it, and the ranges
//	    are the carves', one after the other
//	(3) the committed bytes of each tier, and of each worker, are what its allocator says, and
//	    within its budget; those of the pools are at least what the pools have in use
//	(4) frames is at the manager's frame, and cur is its arena inside a frame
//	(5) no counter has gone back since BeginLevel, nor since BeginFrame, which came later
//	(6) every tag counts live blocks, and all together no more than the tiers have
type Manager struct {
	base  unsafe.Pointer
	size  uintptr // bytes from base; 0 once closed, so that nothing is owned
	route []uint8 // by region: a Tier, or Count+k for worker k
	src   *ground
	whole page.Memory
	cfg   Config

	cur     *arena.Linear  // this frame's, or shut.frame
	lev     *arena.Growing // the level's, or shut.level
	shut    shut
	carves  []*page.Carve      // by tier, then by worker
	limits  [Count]*page.Limit // Inbox: nil, the workers have one each
	static  static
	frames  *arena.Frames
	level   *arena.Growing
	slab    *slab.Heap
	large   *tlsf.Heap
	pools   []*poolEntry    // an array is never changed: whoever is asked for its books may remove others
	walking bool            // pools are being reset or closed
	hooks   [Count][]func() // of the tiers that have no arena to keep them; in order of registration
	hooked  uint8           // a bit for each tier whose hooks the present EndLevel or Close has begun to run
	hooking bool            // a hook of the last of these is running
	border  string          // the call at a border that is running, see enter
	tried   bool            // a Close has begun; the next one completes
	tags    tags
	workers []*Worker
	outbox  []outbox      // the game goroutine's way to each worker
	home    *remote.Inbox // blocks that other goroutines free

	homeClosed bool

	phase   phase
	ending  uint64 // number of the EndLevel or Close under way; see poolEntry.ended
	tight   bool   // the last frame used more than the soft mark of its buffer
	frame   uint64 // frames begun
	levels  uint64 // levels begun
	left    Leaks  // what the last EndLevel told
	atLevel [Count]memory.Stats
	atFrame [Count]memory.Stats
	history [Count]ring
	pacer   pacer
	rss     rssReader
	dropped runtime.Cleanup
	unwatch func() // nil where the source has no end of its own
	owner   invariant.Owner
}

// Alloc allocates from the slab, and above 4 KiB from the large tier: the general heap of the
// game goroutine. The block is not zeroed and lives until Free, also beyond the level, which
// then reports it. Before it carves new blocks and before it gives up, what other goroutines
// have freed is taken in.
func (m *Manager) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	return m.slab.Alloc(size, align)
}

// Frame returns this frame's arena, for the time until EndFrame; what it hands out stays
// readable for N-1 frames more. Outside a frame it returns an arena that is closed, and in
// debug builds panics with a *memory.Misuse.
func (m *Manager) Frame() *arena.Linear {
	if invariant.Debug && m.phase&inFrame == 0 {
		panic(m.outside("Frame", "a frame; BeginFrame first"))
	}
	return m.cur
}

// Frames returns the ring of frame arenas, for [arena.RefTo] and [arena.Ref.Get].
func (m *Manager) Frames() *arena.Frames { return m.frames }

// FrameAt returns the bytes that a frame has in use, to be read: with age 0 of the frame that is
// open or was the last, else of the one age frames before it, up to Config.Frames-1. They are valid
// until as many frames have begun since that it expires, as [arena.Frames.At] has it. What is not
// readable is nil, and in debug builds a *memory.Misuse that says why.
func (m *Manager) FrameAt(age int) []byte { return m.frames.At(age) }

// Level returns the arena of the level, for the time until EndLevel. Outside a level it returns
// an arena that is closed, and in debug builds panics with a *memory.Misuse.
func (m *Manager) Level() *arena.Growing {
	if invariant.Debug && m.phase&inLevel == 0 {
		panic(m.outside("Level", "a level; BeginLevel first"))
	}
	return m.lev
}

func (m *Manager) outside(op, where string) *memory.Misuse {
	if m.phase >= closing {
		return &memory.Misuse{Package: "tiers", Op: op, Reason: "the manager is closed"}
	}
	return &memory.Misuse{Package: "tiers", Op: op, Reason: "outside " + where}
}

// Slab returns the heap for blocks up to 4 KiB; larger ones it passes on to Large.
func (m *Manager) Slab() *slab.Heap { return m.slab }

// Large returns the heap for blocks above 4 KiB.
func (m *Manager) Large() *tlsf.Heap { return m.large }

// Worker returns the heap of worker k, from 0, for the use of one goroutine. Where there is
// none it panics with a *memory.Misuse.
func (m *Manager) Worker(k int) *Worker {
	if uint(k) >= uint(len(m.workers)) {
		panic(m.noWorker(k))
	}
	return m.workers[k]
}

// Workers returns how many worker heaps there are.
func (m *Manager) Workers() int { return len(m.workers) }
