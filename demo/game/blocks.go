package game

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// blocks numbers the blocks of an allocator, so that columns without pointers can refer to them. In the tiers
// a number is an offset from the manager's reservation. On the Go heap, where only pointers keep objects alive,
// it is an index into a table of pointers, as a plain game would have a column of slices.
type blocks struct {
	a    memory.Allocator
	base unsafe.Pointer   // of the manager's reservation; nil on the Go heap
	held []unsafe.Pointer // on the Go heap; nil if a number is free
	free []uint32
}

// take returns the number of a new block, which is not zeroed.
func (b *blocks) take(size, align uintptr) (uint64, error) {
	p, err := b.a.Alloc(size, align)
	if err != nil {
		return 0, err
	}
	if b.base != nil {
		return uint64(uintptr(p) - uintptr(b.base)), nil
	}
	k := len(b.free) - 1
	if k < 0 {
		b.held = append(b.held, p)
		return uint64(len(b.held) - 1), nil
	}
	i := b.free[k]
	b.free, b.held[i] = b.free[:k], p
	return uint64(i), nil
}

// replace frees the block of a number, of old bytes, and assigns p, another block of the allocator. It returns the
// number of p.
func (b *blocks) replace(n uint64, old uintptr, p unsafe.Pointer) uint64 {
	b.a.Free(b.at(n), old)
	if b.base != nil {
		return uint64(uintptr(p) - uintptr(b.base))
	}
	b.held[n] = p
	return n
}

// at returns the block of a number, until it is freed.
func (b *blocks) at(n uint64) unsafe.Pointer {
	if b.base != nil {
		return unsafe.Add(b.base, n)
	}
	return b.held[n]
}

// give frees a block.
func (b *blocks) give(n uint64, size uintptr) {
	b.a.Free(b.at(n), size)
	if b.base == nil {
		b.held[n] = nil
		b.free = append(b.free, uint32(n))
	}
}

// check verifies that so many blocks are held, and that all other numbers are free.
func (b *blocks) check(live int) error {
	if b.base != nil {
		return nil
	}
	n := 0
	for _, p := range b.held {
		if p != nil {
			n++
		}
	}
	if n != live || n+len(b.free) != len(b.held) {
		return fmt.Errorf("game: invariant 6: %d blocks are held and %d numbers are free, of %d; %d live", n, len(b.free), len(b.held), live)
	}
	return nil
}
