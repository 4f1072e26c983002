package remote

import (
	"cmp"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// Target is the allocator that owns the blocks: any allocator that can free a block without its size.
//
// A target has a range if it is a [memory.Baser], its Base is not nil, and its [memory.Extent] is above 0. Batches then
// contain offsets, which the garbage collector does not scan, and Freer.FreeAny panics for pointers outside the range.
// [New] reads the range once: it must not change until the inbox is closed. Without a range are, for example, a
// slab.Cache, a slab.Heap with Config.Large, a tlsf.Heap with several pools, and an allocator of package compose with
// two parts.
type Target = memory.AnyFreer

// RunFreer is an optional interface of a target. FreeRun frees many blocks in one call, with the checks of FreeAny for
// each block. slab.Heap implements RunFreer. Debug builds (-tags memdebug or -race) do not use FreeRun, and call
// FreeAny for each block.
type RunFreer interface {
	// FreeRun frees the blocks that start `offs` bytes from base, in order. It must stop at the first block that it
	// does not free, and return the number of freed blocks. The inbox passes that block to FreeAny, and the blocks
	// after it to FreeRun again. If the target has no range, base is nil and offs contains addresses. FreeRun must not
	// change or keep offs.
	//
	// If FreeRun panics, [Inbox.Drain] panics as after a panic of FreeAny. All blocks of offs then count as drained:
	// those that FreeRun had not freed stay live.
	FreeRun(base unsafe.Pointer, offs []uintptr) int
}

// Generational is an optional interface of a target. With it, debug builds (-tags memdebug or -race) detect an address
// that was allocated again between Freer.Free and the drain. These types implement Generational: slab.Heap,
// slab.Central, slab.Cache, tlsf.Heap, freelist.Heap, buddy.Heap, pool.Blocks, and compositions of them.
type Generational interface {
	// Generation returns the number of blocks that have started at p so far, modulo 2^32. Generation must be safe for
	// concurrent use, also after the target is closed: a Freer may outlive it. p may be any address.
	Generation(p unsafe.Pointer) uint32
}

const (
	defaultBatch = 32       // doc.go has the figures of 8, 32 and 64
	maxBatch     = 64       // what a worker that pauses may keep from the owner
	defaultBytes = 64 << 10 // to write as much takes microseconds, to push a batch 20 ns
)

// An Inbox receives blocks that other goroutines free. It passes them to their allocator, the target, on the goroutine
// that owns the target. This goroutine is the owner of the Inbox.
//
// Only the owner may call the methods, with two exceptions: NewFreer and Stats are safe for concurrent use.
//
// If the target is reset, reset the inbox, too: see [Inbox.Reset]. For double frees see [Freer].
type Inbox struct {
	//	Freer --batch--> head -> batch -> batch        pushed by any Freer
	//	                  | Swap
	//	                  v
	//	                 rest -> batch                 being freed into the target, from slot at
	//	                          | empty
	//	Freer <--Swap-- home <----+                    pushed by the owner
	//
	// Invariants, verified by Check in this order:
	//
	//	(1) every batch in rest and after head has 1 to Config.Batch blocks, its home here,
	//	    and an epoch not ahead of the inbox's; one that is half drained is of the present one
	//	(2) no batch is waiting twice
	//	(3) 0 <= at < rest.n, and at == 0 if rest is nil
	//	(4) drained == before + at, and batches == emptied
	//	(5) blocks waiting <= pushed - abandoned - drained - stale, with equality while no Freer
	//	    pushes
	//	(6) an open inbox has its target, and base is addr as a pointer
	//	(7) each idle home is one of homes and has no Freer
	//
	// During a drain drained and batches are behind, and at may have reached rest.n. Only a FreeAny
	// that calls Check can see that.

	head atomic.Pointer[batch] // nil, the newest batch, or sealed
	_    [lineBytes - ptrBytes]byte

	epoch      atomic.Uint32 // resets so far, modulo 2^32: written by the owner
	size       int           // Config.Batch
	bytes      uintptr       // Config.Bytes
	addr, span uintptr       // base as a number and the bytes from it, for Freers; 0, 0: no range
	_          [lineBytes - 5*ptrBytes]byte

	rest    *batch         // taken from head and not yet freed
	at      int            // slots of rest that are freed
	inside  bool           // in a drain, to catch a target that calls back
	target  Target         // nil once closed
	runs    RunFreer       // the target, if it is one; nil in debug builds, which look at each block
	base    unsafe.Pointer // of the range, for the owner; nil once closed
	before  uint64         // blocks drained from the batches before rest
	emptied uint64         // batches before rest, stale ones included
	drained atomic.Uint64  // before + at, for Stats
	batches atomic.Uint64  // emptied, for Stats
	stale   atomic.Uint64  // blocks of epochs that have ended
	waits   waits          // what is in rest, in debug builds
	dated   Generational   // the target, if it is one, in debug builds; not changed by Close
	owner   invariant.Owner

	mu    sync.Mutex
	homes []*home // of all Freers that ever lived at the same time
	idle  []*home // those whose Freer has closed
}

// Config configures [New]. New refuses values out of range.
type Config struct {
	// Batch is the number of blocks in a batch, from 1 to 64. The blocks of a batch share one compare-and-swap: a
	// larger batch costs less per block and keeps more blocks waiting. 0 means 32.
	Batch int
	// Bytes is a limit for the sum of the sizes passed to Freer.Free. A batch that reaches this sum is pushed
	// although it is not full. Blocks passed to Freer.FreeAny do not count. 0 means 64 KiB.
	Bytes uintptr
}

// New returns the inbox of target. The goroutine that owns target owns the inbox, too. The inbox does not close target.
// If target is nil or Batch is out of range, the error wraps memory.ErrConfig.
func New(target Target, cfg Config) (*Inbox, error) {
	if invariant.Nil(target) {
		return nil, fmt.Errorf("remote: new Inbox: target nil: want the allocator that frees the blocks: %w", memory.ErrConfig)
	}
	cfg.Batch = cmp.Or(cfg.Batch, defaultBatch)
	if cfg.Batch < 1 || cfg.Batch > maxBatch {
		return nil, fmt.Errorf("remote: new Inbox: Batch %d: want 1 to %d, or 0 for %d: %w", cfg.Batch, maxBatch, defaultBatch, memory.ErrConfig)
	}
	cfg.Bytes = cmp.Or(cfg.Bytes, defaultBytes)
	in := &Inbox{target: target, size: cfg.Batch, bytes: cfg.Bytes}
	if !invariant.Debug {
		in.runs, _ = target.(RunFreer)
	}
	if invariant.Debug {
		in.dated, _ = target.(Generational)
	}
	if t, ok := target.(memory.Baser); ok {
		if base, span := t.Base(), memory.Extent(target); base != nil && span > 0 {
			in.base, in.addr, in.span = base, uintptr(base), span
		}
	}
	return in, nil
}

// Pending reports whether blocks or stale batches wait for Drain. After a Close that returned, Pending returns false.
// Cost: one atomic load, inlined.
func (in *Inbox) Pending() bool {
	top := in.head.Load()
	return in.rest != nil || top != nil && top != sealed
}

// Drain passes the blocks that have arrived to the target: the target frees them. Drain returns the number of these
// blocks. Stale blocks are dropped and not counted: see [Inbox.Reset]. Blocks that arrive during Drain may wait for the
// next call. On a closed inbox, and from within the target's FreeAny or FreeRun, Drain panics with a *memory.Misuse.
//
// If the target refuses a block, for example after a double free, Drain panics with a *memory.Misuse whose reason
// contains the target's message. The refused block counts as drained in Stats. After a recover, the next Drain
// continues with the other blocks. Any other panic of the target passes through unchanged and has the same effects. If
// FreeRun itself panics, more blocks are lost: see [RunFreer].
//
// Cost: one atomic load if the inbox is empty. If not, one swap, one compare-and-swap per batch, and one FreeAny per
// block or one FreeRun per batch.
func (in *Inbox) Drain() int {
	if in.rest == nil && in.head.Load() == nil {
		return 0
	}
	return in.drain("Drain", math.MaxInt)
}

// DrainSome is [Inbox.Drain] for at most limit blocks, to bound the work of a frame. It returns how many it has freed.
// The other blocks wait for the next call. Batches are not always freed in the order in which they arrived. If limit is
// below 1, DrainSome frees nothing. Stale blocks do not count towards the limit. DrainSome panics as Drain does.
func (in *Inbox) DrainSome(limit int) int {
	if in.rest == nil && in.head.Load() == nil {
		return 0
	}
	return in.drain("DrainSome", max(limit, 0))
}

//go:noinline
func (in *Inbox) drain(op string, limit int) int {
	in.enter(op)
	in.inside = true
	defer in.settle(op)
	start := in.before + uint64(in.at)
	if invariant.Debug {
		in.take(nil) // so that a second free is found while the first one waits
	}
	done := 0
	if in.rest != nil {
		done = in.free(limit)
	}
	if done < limit {
		in.take(nil)
		in.free(limit - done)
	}
	return int(in.before + uint64(in.at) - start)
}

// enter refuses calls on a closed inbox, and out of a drain.
func (in *Inbox) enter(op string) {
	in.owner.Touch()
	if in.target == nil {
		panic(&memory.Misuse{Package: "remote", Op: op, Reason: "the inbox is closed"})
	}
	if in.inside {
		panic(&memory.Misuse{Package: "remote", Op: op, Reason: "the target's FreeAny calls the inbox that is freeing into it"})
	}
}

// take adds what has arrived to rest and leaves head as the head of the list, unless that is
// sealed.
func (in *Inbox) take(head *batch) {
	if in.head.Load() == sealed {
		return
	}
	last := &in.rest
	for *last != nil {
		last = &(*last).next
	}
	*last = in.head.Swap(head)
	if invariant.Debug {
		in.waits.add(*last, in.epoch.Load())
	}
}

// free frees up to limit blocks of rest into the target. Each block is counted before the
// target sees it, so that a refused one is behind us.
func (in *Inbox) free(limit int) int {
	done := 0
	epoch := in.epoch.Load()
	for b := in.rest; b != nil; b = in.rest {
		if b.epoch != epoch {
			in.drop(b)
			continue
		}
		end := int(b.n)
		if left := limit - done; left < end-in.at {
			end = in.at + left
		}
		done += end - in.at
		switch {
		case in.runs != nil:
			in.freeRuns(b, end)
		case in.base != nil:
			in.freeOffsets(b, b.offs[in.at:end])
		default:
			in.freePointers(b, b.ptrs[in.at:end])
		}
		if in.at < int(b.n) {
			break
		}
		in.finish(b)
	}
	return done
}

// freeRuns frees slots at to end of b, by runs.
func (in *Inbox) freeRuns(b *batch, end int) {
	base, offs := in.base, b.offs
	if offs == nil { // addresses; b.ptrs keeps what they point to
		base, offs = nil, unsafe.Slice((*uintptr)(unsafe.Pointer(unsafe.SliceData(b.ptrs))), len(b.ptrs))
	}
	for in.at < end {
		first := in.at
		in.at = end // should it panic
		n := min(max(in.runs.FreeRun(base, offs[first:end]), 0), end-first)
		in.at = first + n
		if in.at == end {
			return
		}
		in.at++ // it is behind us before the target sees it, as every block is
		if b.offs == nil {
			in.target.FreeAny(b.ptrs[first+n])
		} else {
			in.target.FreeAny(unsafe.Add(base, offs[first+n]))
		}
	}
}

func (in *Inbox) freeOffsets(b *batch, offs []uintptr) {
	base, target := in.base, in.target
	for _, off := range offs {
		in.at++
		if invariant.Debug {
			in.mustBeNewest(b, unsafe.Add(base, off))
		}
		target.FreeAny(unsafe.Add(base, off))
	}
}

func (in *Inbox) freePointers(b *batch, ptrs []unsafe.Pointer) {
	target := in.target
	for _, p := range ptrs {
		in.at++
		if invariant.Debug {
			in.mustBeNewest(b, p)
		}
		target.FreeAny(p)
	}
}

// mustBeNewest panics in debug builds if the block at p, in the slot before at of b, was freed
// before: if another one waits, or if its address was allocated again since Freer.Free.
func (in *Inbox) mustBeNewest(b *batch, p unsafe.Pointer) {
	if reason := b.stamps.stale(in.at-1, in.dated, p); reason != "" {
		in.waits.less(uintptr(p))
		panic(&memory.Misuse{Package: "remote", Op: "Free", Addr: uintptr(p), Reason: reason})
	}
	in.waits.once(uintptr(p))
}

// drop takes b, the first batch of rest, out and does not free its blocks from at on.
func (in *Inbox) drop(b *batch) {
	in.before += uint64(in.at)
	in.stale.Store(in.stale.Load() + uint64(int(b.n)-in.at))
	in.rest, in.at = b.next, 0
	in.sendHome(b)
}

// finish ends b, of which every block was freed.
func (in *Inbox) finish(b *batch) {
	in.before += uint64(b.n)
	in.rest, in.at = b.next, 0
	in.sendHome(b)
}

// sendHome sends b, which is in no list, home. From the push on, b is its Freer's to use again.
func (in *Inbox) sendHome(b *batch) {
	in.emptied++
	clear(b.ptrs) // a pointer that outlives the target's memory must not lie where the collector looks
	push(&b.home.empty, b)
}

// settle ends a drain: it finishes a batch whose last block was refused, publishes the count,
// and puts the name of the call on a refusal.
func (in *Inbox) settle(op string) {
	if b := in.rest; b != nil && in.at == int(b.n) {
		in.finish(b)
	}
	in.inside = false
	in.publish()
	if r := recover(); r != nil {
		if m, ok := r.(*memory.Misuse); ok {
			r = &memory.Misuse{Package: "remote", Op: op, Addr: m.Addr, Size: m.Size,
				Reason: "the target refused the block of a Freer: " + m.Error()}
		}
		panic(r)
	}
}

// publish lets Stats see the owner's counts.
func (in *Inbox) publish() {
	in.drained.Store(in.before + uint64(in.at))
	in.batches.Store(in.emptied)
}
