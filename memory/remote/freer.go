package remote

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// A Freer frees blocks of an inbox's target from a goroutine that does not own it. It
// belongs to one goroutine at a time; a worker makes its own, and defers Close.
//
// Blocks gather in a batch and are pushed when the batch is full, at Flush and at Close.
// Once pushed they are the owner's, also when the Freer is gone. What was never flushed
// stays live in the target.
//
// Invariants, with Config.Batch == size:
//
//	(1) open:   cur != nil, offs == cur.offs[:size-1] or nil, n < size
//	(2) closed: cur == nil, offs is nil, n == 0
type Freer struct {
	base, span uintptr   // the target's range, as numbers: a Freer may outlive it. span 0: none
	offs       []uintptr // all but the last of cur's: the last one is slow, it pushes
	n          int       // blocks in cur

	cur       *batch
	home      *home
	owner     invariant.Owner
	abandoned uint64                             // blocks of this Freer that found the inbox closed
	_         [2*lineBytes - 8 - 8*ptrBytes]byte // n is written all the time: no neighbours
}

// NewFreer registers a Freer. Any goroutine may call it. On a closed inbox the Freer
// abandons whatever it is given. Cost: a mutex and, unless a closed Freer left its home,
// five Go allocations.
func (in *Inbox) NewFreer() *Freer {
	in.mu.Lock()
	defer in.mu.Unlock()
	f := &Freer{base: in.addr, span: in.span}
	if k := len(in.idle); k > 0 {
		f.home = in.idle[k-1]
		in.idle = in.idle[:k-1]
	} else {
		f.home = &home{in: in}
		in.homes = append(in.homes, f.home)
	}
	f.open()
	return f
}

// open starts an empty batch.
func (f *Freer) open() {
	f.cur = f.home.take()
	f.n = 0
	if f.span != 0 {
		f.offs = f.cur.offs[:len(f.cur.offs)-1]
	}
}

// Free hands the block at p to the target's owner, which frees it when it drains the inbox.
// The caller must not touch the block any more. A nil pointer is a no-op. If the inbox is
// closed the block is abandoned, which Flush and Close report.
//
// On a closed Freer, and for a pointer outside the range of a [Based] target, it panics with
// a *memory.Misuse. A double free, and every other bad pointer, is found by the target, at
// the drain. Cost: one store, and one compare-and-swap in Config.Batch calls.
func (f *Freer) Free(p unsafe.Pointer) {
	if invariant.Debug {
		f.owner.Touch()
	}
	off := uintptr(p) - f.base
	if n := f.n; off < f.span && uint(n) < uint(len(f.offs)) {
		f.offs[n] = off
		f.n = n + 1
		return
	}
	f.freeSlow(p, off)
}

// freeSlow does what Free's fast path does not: nil, the last slot, targets without a base,
// and misuse.
//
//go:noinline
func (f *Freer) freeSlow(p unsafe.Pointer, off uintptr) {
	if p == nil {
		return
	}
	b := f.cur
	switch {
	case b == nil:
		panic(&memory.Misuse{Package: "remote", Op: "Free", Addr: uintptr(p), Reason: "the Freer is closed"})
	case f.span == 0:
		b.ptrs[f.n] = p
	case off < f.span:
		b.offs[f.n] = off
	default:
		panic(&memory.Misuse{Package: "remote", Op: "Free", Addr: uintptr(p), Reason: "the pointer lies outside the target's memory"})
	}
	f.n++
	if f.n == b.slots() {
		f.publish()
	}
}

// publish pushes the current batch and opens the next one.
func (f *Freer) publish() {
	b, h := f.cur, f.home
	b.n = f.n
	h.pushed.Store(h.pushed.Load() + uint64(b.n))
	if !push(&h.in.head, b) {
		f.abandoned += uint64(b.n)
		h.abandoned.Store(h.abandoned.Load() + uint64(b.n))
		clear(b.ptrs) // as Inbox.finish does
		h.put(b)
	}
	f.open()
}

// Flush pushes what has gathered. The error is or wraps memory.ErrClosed once blocks of this
// Freer were abandoned because the inbox had closed: they were not freed, and never will be
// one by one; they go with the target's memory. On a closed Freer it panics with a
// *memory.Misuse.
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

// Close flushes, with Flush's error, and ends the Freer. What it pushed arrives all the
// same. A second Close does nothing.
func (f *Freer) Close() error {
	if f.cur == nil {
		return nil
	}
	err := f.Flush()
	f.home.put(f.cur)
	in := f.home.in
	in.mu.Lock()
	in.idle = append(in.idle, f.home)
	in.mu.Unlock()
	f.cur, f.offs, f.home = nil, nil, nil
	return err
}

// Pending returns how many blocks wait for the batch to fill.
func (f *Freer) Pending() int { return f.n }
