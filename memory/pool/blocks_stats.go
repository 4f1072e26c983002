package pool

import (
	"errors"
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// Size returns the size of a slot in bytes: BlocksConfig.Size, or 64 if that is 0, rounded up to a multiple of 16 and
// of Align.
func (b *Blocks) Size() uintptr { return b.size }

// Len returns the number of live slots. If the pool is closed, Len returns 0.
func (b *Blocks) Len() int { return int(b.opened) - int(b.n) }

// Cap returns the largest number of slots that can be live at once. If the pool is closed, Cap returns 0.
func (b *Blocks) Cap() int { return int(b.capacity) }

// Grow makes space for a total of n live slots. It commits the memory and allocates the metadata for the first n slots
// of the reservation. After Grow, Get does not fail, and calls neither the source nor the Go heap, until n slots are
// live, Trim is called or a state is loaded.
//
// If the pool is closed, the error is memory.ErrClosed. If n is negative or exceeds Cap, the error wraps
// memory.ErrTooLarge. If memory or metadata is not available, the error is the one that Get returns. A Grow that fails
// changes at most Stats.Failures. But if the source ends during Grow, the pool is closed.
func (b *Blocks) Grow(n int) error {
	if b.base == nil {
		return memory.ErrClosed
	}
	b.owner.Touch()
	if n < 0 || uintptr(n) > b.capacity {
		b.failures++
		return fmt.Errorf("pool: Blocks of %d bytes: Grow to %d slots, there are %d; raise BlocksConfig.Capacity: %w", b.size, n, b.capacity, memory.ErrTooLarge)
	}
	if err := b.provide(uintptr(n)); err != nil {
		b.failures++
		return err
	}
	return nil
}

// Reset frees every slot and keeps the committed memory. Cost: clearing a bit for every 16 bytes of the slots that
// have metadata. Reset panics with a *memory.Misuse if the pool is closed.
func (b *Blocks) Reset() {
	if b.base == nil {
		panic(b.misuse("Reset", nil, 0))
	}
	b.owner.Touch()
	invariant.Freed(b.base, b.opened*b.size)
	b.forget(0)
	b.n = 0
	clear(b.live)
}

// forget lowers opened and records how high it was.
func (b *Blocks) forget(opened uintptr) {
	b.peak, b.soiled = max(b.peak, b.opened), max(b.soiled, b.opened)
	b.opened = opened
}

// Trim returns the memory after the last live slot to the source, in whole pages of the source (page.SizeOf). Trim also
// sorts the vacant slots, so that the lowest slots are used next and a later Trim may return more memory. Cost:
// proportional to the slots that were used, and a Go allocation.
//
// If the pool is closed, the error is memory.ErrClosed. If the source fails, the error wraps that of the source, and
// nothing has changed. If the source ends during Trim, the pool is closed and the error wraps memory.ErrClosed.
func (b *Blocks) Trim() error {
	if b.base == nil {
		return memory.ErrClosed
	}
	b.owner.Touch()
	vacant, _ := b.vacant()
	last := b.opened
	for last > 0 && vacant[(last-1)>>6]>>((last-1)&63)&1 != 0 {
		last--
	}
	if err := b.mem.Trim(last * b.size); err != nil {
		return fmt.Errorf("pool: trim: %w", err)
	}
	b.forget(last)
	b.n = 0
	for i := last; i > 0; i-- {
		if vacant[(i-1)>>6]>>((i-1)&63)&1 != 0 {
			b.free[b.n] = uint32((i - 1) * (b.size >> granuleShift))
			b.n++
		}
	}
	return nil
}

// vacant returns a bit for each opened slot, set if it is on the stack, and the errors in the stack. It does not use
// the live bits, because memfast builds have none.
func (b *Blocks) vacant() ([]uint64, []error) {
	var errs []error
	set := make([]uint64, (b.opened+63)>>6)
	perSlot := b.size >> granuleShift
	for at, g := range b.free[:min(b.n, uint(len(b.free)))] {
		slot := uintptr(g) / perSlot
		switch {
		case uintptr(g)%perSlot != 0:
			errs = append(errs, fmt.Errorf("pool: free[%d] is granule %d, where no slot starts", at, g))
		case slot >= b.opened:
			errs = append(errs, fmt.Errorf("pool: free[%d] is slot %d of %d opened", at, slot, b.opened))
		case set[slot>>6]>>(slot&63)&1 != 0:
			errs = append(errs, fmt.Errorf("pool: slot %d is vacant twice", slot))
		default:
			set[slot>>6] |= 1 << (slot & 63)
		}
	}
	return set, errs
}

// Close frees every slot and releases the memory. Afterwards the caller must not use pointers into the pool. If the
// page source cannot release the memory, Close fails: all slots are freed, the pool stays open, and Close can be
// retried. If the pool is closed, Close does nothing and returns nil.
func (b *Blocks) Close() error {
	if b.base == nil {
		return nil
	}
	b.Reset()
	if err := b.mem.Close(); err != nil {
		return fmt.Errorf("pool: close: %w", err)
	}
	b.lost()
	return nil
}

// Stats returns the statistics. Peak is an upper bound: it exceeds the high-water mark of InUse by the bytes of at most
// 63 slots. Loading a state sets Peak and all counters to the saved values.
func (b *Blocks) Stats() memory.Stats {
	live := uint64(b.opened) - uint64(b.n)
	return memory.Stats{
		Reserved: uint64(b.mem.Reserved()), Committed: uint64(b.mem.Committed()),
		InUse: live * uint64(b.size), Peak: uint64(max(b.peak, b.opened) * b.size),
		Live: live, Allocs: b.allocs, Frees: b.allocs - live, Failures: b.failures,
	}
}

// Check returns the errors in the metadata, or nil. Debug builds also report writes to vacant slots.
func (b *Blocks) Check() error {
	errs := []error{b.mem.Check()}
	if b.base == nil {
		if b.n != 0 || b.opened|b.capacity|b.soiled != 0 || len(b.free)+len(b.live)+len(b.asked) != 0 {
			errs = append(errs, fmt.Errorf("pool: closed, with %d vacant, %d opened, capacity %d, metadata for %d", b.n, b.opened, b.capacity, len(b.free)))
		}
		return errors.Join(append(errs, b.stack.Check(0), b.bits.Check(0))...)
	}
	if err := b.checkShape(); err != nil {
		return errors.Join(append(errs, err)...) // the rest divides by size and indexes by opened
	}
	vacant, bad := b.vacant()
	errs = append(errs, bad...)
	if invariant.Debug {
		errs = append(errs, b.checkPoison(vacant)...)
	}
	if invariant.Exact {
		errs = append(errs, b.checkLive(vacant)...)
	}
	errs = append(errs, b.stack.Check(b.capacity*4), b.bits.Check(b.words(b.capacity)*8))
	if uint64(b.opened)-uint64(b.n) > b.allocs {
		errs = append(errs, fmt.Errorf("pool: %d slots live of %d allocated", b.Len(), b.allocs))
	}
	return errors.Join(errs...)
}

func (b *Blocks) checkShape() error {
	if !align.Valid(b.align) || b.align < granuleBytes || b.size == 0 || b.size%b.align != 0 ||
		b.capacity == 0 || b.capacity > b.mem.Reserved()/b.size {
		return fmt.Errorf("pool: %d slots of %d bytes aligned to %d are invalid, or do not fit the %d bytes reserved",
			b.capacity, b.size, b.align, b.mem.Reserved())
	}
	entries := uintptr(len(b.free))
	if b.n > uint(b.opened) || b.opened > entries || entries > b.capacity || b.opened > b.mem.Committed()/b.size ||
		uintptr(len(b.live)) != b.words(entries) || invariant.Debug && uintptr(len(b.asked)) != entries {
		return fmt.Errorf("pool: %d vacant, %d opened, metadata for %d, capacity %d, %d words of bits, %d bytes committed are not in order",
			b.n, b.opened, entries, b.capacity, len(b.live), b.mem.Committed())
	}
	if b.peak > b.capacity || b.soiled > b.capacity {
		return fmt.Errorf("pool: peak %d or soiled %d is above the capacity of %d", b.peak, b.soiled, b.capacity)
	}
	return nil
}

// checkPoison verifies the poison of vacant slots, and the requested sizes of the others.
func (b *Blocks) checkPoison(vacant []uint64) (errs []error) {
	for slot := range b.opened {
		if vacant[slot>>6]>>(slot&63)&1 == 0 {
			if b.asked[slot] > b.size+1 {
				errs = append(errs, fmt.Errorf("pool: slot %d of %d bytes was requested with %d", slot, b.size, b.asked[slot]-1))
			}
		} else if what := damage(unsafe.Add(b.base, slot*b.size), b.size); what != "" {
			errs = append(errs, fmt.Errorf("pool: slot %d: %s", slot, what))
		}
	}
	return errs
}

func (b *Blocks) checkLive(vacant []uint64) []error {
	var errs []error
	perSlot := b.size >> granuleShift
	for w, word := range b.live {
		for ; word != 0; word &= word - 1 {
			g := uintptr(w<<6 + bits.TrailingZeros64(word))
			slot := g / perSlot
			switch {
			case g%perSlot != 0 || slot >= b.opened:
				errs = append(errs, fmt.Errorf("pool: granule %d has its live bit set, but no opened slot starts there", g))
			case vacant[slot>>6]>>(slot&63)&1 != 0:
				errs = append(errs, fmt.Errorf("pool: slot %d is vacant and has its live bit set", slot))
			default:
				vacant[slot>>6] |= 1 << (slot & 63) // accounted for
			}
		}
	}
	for slot := range b.opened {
		if vacant[slot>>6]>>(slot&63)&1 == 0 {
			errs = append(errs, fmt.Errorf("pool: slot %d is neither vacant nor has its live bit set", slot))
		}
	}
	return errs
}
