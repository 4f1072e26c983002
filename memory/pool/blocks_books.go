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

// Size returns the bytes of a slot.
func (b *Blocks) Size() uintptr { return b.size }

// Len returns how many slots are live.
func (b *Blocks) Len() int { return int(b.carved) - int(b.n) }

// Cap returns how many slots can be live at once; 0 once closed.
func (b *Blocks) Cap() int { return int(b.capacity) }

// Grow commits memory for n slots in all, the live ones included, and makes room in the books,
// so that no later Get up to there calls the system or allocates on the Go heap. Errors are
// Get's; on error nothing has changed.
func (b *Blocks) Grow(n int) error {
	if b.base == nil {
		return memory.ErrClosed
	}
	b.owner.Touch()
	if n < 0 || uintptr(n) > b.capacity {
		b.failures++
		return memory.ErrTooLarge
	}
	if err := b.room(uintptr(n)); err != nil {
		b.failures++
		return err
	}
	return nil
}

// Reset frees every slot; committed memory is kept. Cost: clearing one bit per 16 bytes that
// were in use. On a closed pool it panics with a *memory.Misuse.
func (b *Blocks) Reset() {
	if b.base == nil {
		panic(b.misuse("Reset", nil, 0))
	}
	b.owner.Touch()
	invariant.Freed(b.base, b.carved*b.size)
	b.forget(0)
	b.n = 0
	clear(b.live)
}

// forget lowers carved and remembers how high it was.
func (b *Blocks) forget(carved uintptr) {
	b.peak, b.soiled = max(b.peak, b.carved), max(b.soiled, b.carved)
	b.carved = carved
}

// Trim gives the memory behind the last live slot back to the source, in whole granules of
// page.Granule, and sorts the vacant slots so that the lowest are used next, which makes a
// later Trim give back more. Cost: proportional to the slots carved, and a Go allocation.
func (b *Blocks) Trim() error {
	if b.base == nil {
		return memory.ErrClosed
	}
	b.owner.Touch()
	vacant, _ := b.vacant()
	last := b.carved
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

// vacant returns a bit per carved slot, set where the stack holds it, and what is wrong with
// the stack. It asks the stack, not the live bits, because memfast builds have none.
func (b *Blocks) vacant() ([]uint64, []error) {
	var errs []error
	set := make([]uint64, (b.carved+63)>>6)
	perSlot := b.size >> granuleShift
	for at, g := range b.free[:min(b.n, uint(len(b.free)))] {
		slot := uintptr(g) / perSlot
		switch {
		case uintptr(g)%perSlot != 0:
			errs = append(errs, fmt.Errorf("pool: free[%d] is granule %d, where no slot starts", at, g))
		case slot >= b.carved:
			errs = append(errs, fmt.Errorf("pool: free[%d] is slot %d of %d carved", at, slot, b.carved))
		case set[slot>>6]>>(slot&63)&1 != 0:
			errs = append(errs, fmt.Errorf("pool: slot %d is vacant twice", slot))
		default:
			set[slot>>6] |= 1 << (slot & 63)
		}
	}
	return set, errs
}

// Close releases the memory: no pointer into the pool may be used any more. A second Close
// does nothing. If the memory cannot be released the pool is empty but open, and Close may
// be called again.
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

// Stats derives the books. Peak is an upper bound: at most one refill, 64 slots or 16 KiB,
// above the true one.
func (b *Blocks) Stats() memory.Stats {
	live := uint64(b.carved) - uint64(b.n)
	return memory.Stats{
		Reserved: uint64(b.mem.Reserved()), Committed: uint64(b.mem.Committed()),
		InUse: live * uint64(b.size), Peak: uint64(max(b.peak, b.carved) * b.size),
		Live: live, Allocs: b.allocs, Frees: b.allocs - live, Failures: b.failures,
	}
}

// Check verifies the equations above the type.
func (b *Blocks) Check() error {
	errs := []error{b.mem.Check()}
	if b.base == nil {
		if b.n != 0 || b.carved|b.capacity|b.soiled != 0 || len(b.free)+len(b.live)+len(b.asked) != 0 {
			errs = append(errs, fmt.Errorf("pool: closed, with %d vacant, %d carved, capacity %d, books for %d", b.n, b.carved, b.capacity, len(b.free)))
		}
		return errors.Join(errs...)
	}
	if err := b.checkShape(); err != nil {
		return errors.Join(append(errs, err)...) // what follows divides by size and indexes by carved
	}
	vacant, bad := b.vacant()
	errs = append(errs, bad...)
	if invariant.Debug {
		errs = append(errs, b.checkPoison(vacant)...)
	}
	if invariant.Exact {
		errs = append(errs, b.checkLive(vacant)...)
	}
	if uint64(b.carved)-uint64(b.n) > b.allocs {
		errs = append(errs, fmt.Errorf("pool: %d slots live of %d handed out", b.Len(), b.allocs))
	}
	return errors.Join(errs...)
}

func (b *Blocks) checkShape() error {
	if !align.Valid(b.align) || b.align < granuleBytes || b.size == 0 || b.size%b.align != 0 ||
		b.capacity == 0 || b.capacity > b.mem.Reserved()/b.size {
		return fmt.Errorf("pool: %d slots of %d bytes aligned to %d are none, or do not fit the %d bytes reserved",
			b.capacity, b.size, b.align, b.mem.Reserved())
	}
	books := uintptr(len(b.free))
	if b.n > uint(b.carved) || b.carved > books || books > b.capacity || b.carved > b.mem.Committed()/b.size ||
		uintptr(len(b.live)) != b.words(books) || invariant.Debug && uintptr(len(b.asked)) != books {
		return fmt.Errorf("pool: %d vacant, %d carved, room for %d, capacity %d, %d words of bits, %d bytes committed are not in order",
			b.n, b.carved, books, b.capacity, len(b.live), b.mem.Committed())
	}
	if b.peak > b.capacity || b.soiled > b.capacity {
		return fmt.Errorf("pool: peak %d or soiled %d is above the capacity of %d", b.peak, b.soiled, b.capacity)
	}
	return nil
}

// checkPoison verifies what debug builds know of vacant slots, and of the others what was asked.
func (b *Blocks) checkPoison(vacant []uint64) (errs []error) {
	for slot := range b.carved {
		if vacant[slot>>6]>>(slot&63)&1 == 0 {
			if b.asked[slot] > b.size+1 {
				errs = append(errs, fmt.Errorf("pool: slot %d of %d bytes was asked for with %d", slot, b.size, b.asked[slot]-1))
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
			case g%perSlot != 0 || slot >= b.carved:
				errs = append(errs, fmt.Errorf("pool: granule %d has its live bit set, and no carved slot starts there", g))
			case vacant[slot>>6]>>(slot&63)&1 != 0:
				errs = append(errs, fmt.Errorf("pool: slot %d is vacant and has its live bit set", slot))
			default:
				vacant[slot>>6] |= 1 << (slot & 63) // accounted for
			}
		}
	}
	for slot := range b.carved {
		if vacant[slot>>6]>>(slot&63)&1 == 0 {
			errs = append(errs, fmt.Errorf("pool: slot %d is neither vacant nor has its live bit set", slot))
		}
	}
	return errs
}
