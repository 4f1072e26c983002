package remote

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// Target is the owner's side: any allocator that can free a block without its size.
type Target = memory.AnyFreer

// Based is what a target may offer: all its blocks, now and later, lie in the size bytes
// from base, until the inbox is closed. Then batches hold offsets, which the collector need
// not look at (doc.go has the figures), and Freer.Free refuses pointers from elsewhere.
type Based interface {
	Base() (base unsafe.Pointer, size uintptr)
}

const (
	defaultBatch = 32 // doc.go has the figures of 8, 32 and 64
	maxBatch     = 64 // what a worker that pauses may keep from the owner
)

// An Inbox receives the blocks that other goroutines free and hands them to their allocator
// on the goroutine that owns it.
//
//	Freer --batch--> head -> batch -> batch        pushed by any Freer
//	                  | Swap
//	                  v
//	                 rest -> batch                 being freed into the target, from slot at
//	                          | empty
//	Freer <--Swap-- home <----+                    pushed by the owner
//
// Drain, DrainSome, Pending, Close and Check belong to the goroutine that owns the target;
// NewFreer and Stats to anyone. No method waits for another goroutine, except for the
// mutex of the registration.
//
// Invariants, verified by Check in this order:
//
//	(1) every batch in rest and behind head holds 1 to Config.Batch blocks and has its home here
//	(2) no batch is waiting twice
//	(3) 0 <= at <= rest.n, and at == 0 where rest is nil
//	(4) drained == before + at
//	(5) blocks waiting <= pushed - abandoned - drained, with equality while no Freer pushes
type Inbox struct {
	head atomic.Pointer[batch] // nil, the newest batch, or sealed
	_    [lineBytes - 8]byte

	rest    *batch         // taken from head and not yet freed
	at      int            // slots of rest that are freed
	inside  bool           // in a drain, to catch a target that calls back
	target  Target         // nil once closed
	base    unsafe.Pointer // of a Based target, for the owner; nil once closed
	before  uint64         // blocks drained from the batches before rest
	emptied uint64         // batches before rest
	drained atomic.Uint64  // before + at, for Stats
	batches atomic.Uint64  // emptied, for Stats
	owner   invariant.Owner

	mu    sync.Mutex
	homes []*home // of all Freers that ever lived at the same time
	idle  []*home // those whose Freer has closed

	size       int     // Config.Batch
	addr, span uintptr // base as a number and the bytes from it, for Freers; 0, 0: not Based
}

// Config configures New.
type Config struct {
	// Batch is how many frees share one compare-and-swap, 1 to 64. A larger one costs less
	// per block and keeps more blocks waiting. 0 means 32.
	Batch int
}

// New makes the inbox of target. The goroutine that owns target owns the inbox too.
func New(target Target, cfg Config) (*Inbox, error) {
	if target == nil {
		return nil, fmt.Errorf("remote: New needs the allocator that is to free the blocks, not nil")
	}
	if cfg.Batch == 0 {
		cfg.Batch = defaultBatch
	}
	if cfg.Batch < 1 || cfg.Batch > maxBatch {
		return nil, fmt.Errorf("remote: a batch of %d frees; it is 1 to %d, or 0 for %d", cfg.Batch, maxBatch, defaultBatch)
	}
	in := &Inbox{target: target, size: cfg.Batch}
	if t, ok := target.(Based); ok {
		in.base, in.span = t.Base()
		in.addr = uintptr(in.base)
		if in.base == nil || in.span == 0 {
			return nil, fmt.Errorf("remote: the target's base is %p with %d bytes; it needs memory first", in.base, in.span)
		}
	}
	return in, nil
}

// Pending reports whether Drain would find anything. Cost: one atomic load, inlined.
func (in *Inbox) Pending() bool {
	top := in.head.Load()
	return in.rest != nil || top != nil && top != sealed
}

// Drain frees everything that has arrived into the target and returns how many blocks that
// were. What arrives during the call may wait for the next one. On a closed inbox it panics
// with a *memory.Misuse. Cost: one atomic load when empty; otherwise one swap, one
// compare-and-swap per batch and one FreeAny per block.
//
// A block that the target refuses, a double free or a foreign pointer, panics with the
// target's *memory.Misuse under the name of this call. It is taken out first: whoever
// recovers may drain on.
func (in *Inbox) Drain() int {
	if in.rest == nil && in.head.Load() == nil {
		return 0
	}
	return in.drain("Drain", math.MaxInt)
}

// DrainSome is Drain for at most limit blocks; the rest waits for the next call, before
// anything newer. It bounds the work of a frame. A limit below 1 frees nothing.
func (in *Inbox) DrainSome(limit int) int {
	if limit < 1 || in.rest == nil && in.head.Load() == nil {
		return 0
	}
	return in.drain("DrainSome", limit)
}

//go:noinline
func (in *Inbox) drain(op string, limit int) int {
	in.owner.Touch()
	if in.target == nil || in.inside {
		panic(in.misuse(op))
	}
	in.inside = true
	defer in.settle(op)
	start := in.before + uint64(in.at)
	done := 0
	if in.rest != nil {
		done = in.free(limit)
	}
	if done < limit && in.head.Load() != sealed { // Close seals before it drains
		in.rest = in.head.Swap(nil)
		in.free(limit - done)
	}
	return int(in.before + uint64(in.at) - start)
}

// free frees up to limit blocks of rest into the target. Each block is counted before the
// target sees it, so that a refused one is behind us.
func (in *Inbox) free(limit int) int {
	done := 0
	for b := in.rest; b != nil; b = in.rest {
		end := b.n
		if left := limit - done; left < end-in.at {
			end = in.at + left
		}
		done += end - in.at
		if in.base != nil {
			in.freeOffsets(b.offs[in.at:end])
		} else {
			in.freePointers(b.ptrs[in.at:end])
		}
		if in.at < b.n {
			break
		}
		in.finish(b)
	}
	return done
}

func (in *Inbox) freeOffsets(offs []uintptr) {
	base, target := in.base, in.target
	for _, off := range offs {
		in.at++
		target.FreeAny(unsafe.Add(base, off))
	}
}

func (in *Inbox) freePointers(ptrs []unsafe.Pointer) {
	target := in.target
	for _, p := range ptrs {
		in.at++
		target.FreeAny(p)
	}
}

// finish sends b, which is empty, home. Its next is read first: from the push on, b is its
// Freer's to use again.
func (in *Inbox) finish(b *batch) {
	in.before += uint64(b.n)
	in.emptied++
	in.rest, in.at = b.next, 0
	clear(b.ptrs) // a pointer that outlives the target's memory must not lie where the collector looks
	push(&b.home.empty, b)
}

// settle ends a drain: it publishes the count, and puts the name of the call on a refusal.
func (in *Inbox) settle(op string) {
	in.inside = false
	in.drained.Store(in.before + uint64(in.at))
	in.batches.Store(in.emptied)
	if r := recover(); r != nil {
		if m, ok := r.(*memory.Misuse); ok {
			r = &memory.Misuse{Package: "remote", Op: op, Addr: m.Addr, Size: m.Size,
				Reason: "a Freer's block was refused: " + m.Error()}
		}
		panic(r)
	}
}

// Close drains what has arrived and refuses what comes later: Freers that push then abandon
// their blocks and report memory.ErrClosed. Close the inbox before its target; the blocks
// that Freers still hold go with the target's memory. A second Close does nothing. If the
// target refuses a block, Close panics as Drain does and may be called again.
func (in *Inbox) Close() error {
	if in.target == nil {
		return nil
	}
	if in.head.Load() != sealed {
		last := &in.rest
		for *last != nil {
			last = &(*last).next
		}
		*last = in.head.Swap(sealed)
	}
	in.drain("Close", math.MaxInt)
	in.target, in.base = nil, nil
	return nil
}

func (in *Inbox) misuse(op string) *memory.Misuse {
	reason := "the inbox is closed"
	if in.inside {
		reason = "the target's FreeAny drains the inbox that is freeing into it"
	}
	return &memory.Misuse{Package: "remote", Op: op, Reason: reason}
}
