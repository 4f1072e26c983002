package remote

import (
	"fmt"
	"sync/atomic"
	"unsafe"
	"weak"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// A Freer frees blocks of an inbox's target from a goroutine that does not own the target. One goroutine at a time may
// use it. Each worker makes its own Freer and closes it when the worker ends.
//
// A Freer collects blocks in a batch. It pushes the batch to the inbox if the batch is full, if the sizes passed to
// Free reach Config.Bytes, at Flush and at Close. After a Reset of the inbox, the next call of Free or FreeAny pushes
// the old batch. The owner's next drain frees pushed blocks, even if the Freer was closed meanwhile. Blocks that are
// never pushed stay live in the target. After a push the Freer needs an empty batch. If the owner has returned none,
// the Freer makes one on the Go heap.
//
// Free and FreeAny only record the address, and check the range of the [Target] if it has one. The target detects any
// other bad address at the drain. If a block is freed twice, the owner may allocate its address again after the first
// drain. The drain of the second free then frees the new block. Debug builds (-tags memdebug or -race) detect this if
// the target is [Generational], and the second Free or FreeAny was called before the address was allocated again. See
// the table in the package comment.
type Freer struct {
	// Invariants, verified by Check, with Config.Batch == size:
	//
	//	(1) open:   cur is a batch of this Freer's home, 0 <= n < size, offs is all but the last
	//	            slot of cur.offs, and span is join's, or 0
	//	(2) closed: cur == nil, offs is nil, n == 0
	//	(3) bytes < limit, and bytes == 0 if n == 0
	//	(4) epoch is not ahead of the inbox's
	//	(5) the spare batches of the home are its own, with all their slots, each listed once

	base uintptr        // the target's first byte, as a number: a Freer may outlive it
	span atomic.Uintptr // bytes from it, 1 if it has none; 0 once the inbox was reset
	offs []uintptr      // all but the last of cur's: the last one is slow, it pushes
	n    int            // blocks in cur

	cur          *batch
	home         *home
	bytes, limit uintptr // of what Free put into cur; and at how many it is pushed
	owner        invariant.Owner
	abandoned    uint64                               // blocks of this Freer that found the inbox closed
	epoch        uint32                               // of the inbox when span was last set: that of every block in cur
	_            [2*lineBytes - 12 - 10*ptrBytes]byte // n is written all the time: no neighbours
}

// NewFreer returns a Freer of the inbox. NewFreer is safe for concurrent use. If the inbox is closed, the Freer
// abandons every block that is passed to it. Cost: a mutex and two Go allocations. If no closed Freer has left its
// batches for reuse, NewFreer makes about three more Go allocations.
func (in *Inbox) NewFreer() *Freer {
	in.mu.Lock()
	defer in.mu.Unlock()
	f := &Freer{base: in.addr, limit: in.bytes}
	if k := len(in.idle); k > 0 {
		f.home = in.idle[k-1]
		in.idle = in.idle[:k-1]
	} else {
		f.home = &home{in: in}
		in.homes = append(in.homes, f.home)
	}
	f.home.user = weak.Make(f)
	f.join()
	f.open()
	return f
}

// join has what follows belong to the inbox's present epoch. Inbox.Reset sets the epoch first
// and span then, so either the new epoch is seen here or span is 0 in the end.
func (f *Freer) join() (span uintptr) {
	span = max(f.home.in.span, 1) // 1 where the target has no base: FreeAny's fast path has no slots then
	f.span.Store(span)
	f.epoch = f.home.in.epoch.Load()
	return span
}

// open starts an empty batch.
func (f *Freer) open() {
	f.cur = f.home.take()
	f.n, f.bytes = 0, 0
	if f.cur.offs != nil {
		f.offs = f.cur.offs[:len(f.cur.offs)-1]
	}
}

// FreeAny passes the block at p to the target's owner. The owner frees the block when it drains the inbox. The caller
// must not use the block after FreeAny. If p is nil, FreeAny does nothing, also on a closed Freer. If the inbox is
// closed when the batch is pushed, the block is abandoned, and Flush and Close report that. If the owner resets the
// target and the inbox before the drain, the block is stale (see [Inbox.Reset]): the reset of the target frees it.
//
// On a closed Freer, and for a pointer outside the range of the [Target], FreeAny panics with a *memory.Misuse. The
// target detects every other bad pointer at the drain. Cost: one store, and one compare-and-swap in Config.Batch calls.
func (f *Freer) FreeAny(p unsafe.Pointer) {
	if invariant.Debug {
		f.owner.Touch()
	}
	off := uintptr(p) - f.base
	if n := f.n; off < f.span.Load() && uint(n) < uint(len(f.offs)) {
		if invariant.Debug {
			f.cur.stamps.set(n, f.home.in.dated, p)
		}
		f.offs[n] = off
		f.n = n + 1
		return
	}
	f.freeSlow(p, off)
}

// freeSlow does what FreeAny's fast path does not: nil, the last slot, the first block after a
// reset of the inbox, targets without a base, and misuse.
//
//go:noinline
func (f *Freer) freeSlow(p unsafe.Pointer, off uintptr) {
	if p == nil {
		return
	}
	if f.cur == nil {
		panic(&memory.Misuse{Package: "remote", Op: "Free", Addr: uintptr(p), Reason: "the Freer is closed"})
	}
	span := f.span.Load()
	if span == 0 {
		span = f.renew()
	}
	b := f.cur
	if invariant.Debug {
		b.stamps.set(f.n, f.home.in.dated, p)
	}
	switch {
	case b.ptrs != nil:
		b.ptrs[f.n] = p
	case off < span:
		b.offs[f.n] = off
	default:
		panic(&memory.Misuse{Package: "remote", Op: "Free", Addr: uintptr(p), Reason: "the pointer lies outside the target's memory"})
	}
	f.n++
	if f.n == b.slots() {
		f.publish()
	}
}

// renew follows the inbox into a new epoch and returns span: what had gathered in the old one
// is pushed, for the owner to count.
func (f *Freer) renew() uintptr {
	if f.n > 0 {
		f.publish()
	}
	return f.join()
}

// Free is [Freer.FreeAny] for a block of size bytes, and panics as FreeAny does. Free also pushes the batch if the
// sizes that were passed to Free for this batch reach Config.Bytes. The size is not checked.
func (f *Freer) Free(p unsafe.Pointer, size uintptr) {
	f.FreeAny(p)
	switch {
	case p == nil || f.n == 0: // nothing, or pushed already
	case size >= f.limit-f.bytes:
		f.publish()
	default:
		f.bytes += size
	}
}

// publish pushes the current batch and opens the next one.
func (f *Freer) publish() {
	b, h := f.cur, f.home
	b.n, b.epoch = int32(f.n), f.epoch
	h.pushed.Store(h.pushed.Load() + uint64(b.n))
	if !push(&h.in.head, b) {
		f.abandoned += uint64(b.n)
		h.abandoned.Store(h.abandoned.Load() + uint64(b.n))
		clear(b.ptrs) // as Inbox.finish does
		h.put(b)
	}
	f.open()
}

// Flush pushes the current batch. If any block of this Freer was ever abandoned because the inbox was closed, the error
// wraps memory.ErrClosed. An abandoned block is not freed: its memory is released only with that of the target. On a
// closed Freer, Flush panics with a *memory.Misuse. Cost: one compare-and-swap if the batch is not empty.
func (f *Freer) Flush() error {
	f.owner.Touch()
	if f.cur == nil {
		panic(&memory.Misuse{Package: "remote", Op: "Flush", Reason: "the Freer is closed"})
	}
	if f.n > 0 {
		f.publish()
	}
	if f.abandoned > 0 {
		return fmt.Errorf("remote: %d blocks were freed after the inbox had closed and are abandoned: %w", f.abandoned, memory.ErrClosed)
	}
	return nil
}

// Close calls [Freer.Flush], closes the Freer and returns the error of Flush. The Freer is closed also if Flush fails.
// The owner still frees the pushed blocks. A second Close returns nil and does nothing. Cost: that of Flush, and a
// mutex.
func (f *Freer) Close() error {
	if f.cur == nil {
		return nil
	}
	err := f.Flush()
	f.home.put(f.cur)
	in := f.home.in
	in.mu.Lock()
	f.home.user = weak.Pointer[Freer]{}
	in.idle = append(in.idle, f.home)
	in.mu.Unlock()
	f.cur, f.offs, f.home = nil, nil, nil
	return err
}

// Pending returns the number of blocks in the current batch, which are not pushed yet. On a closed Freer, Pending
// returns 0.
func (f *Freer) Pending() int { return f.n }
