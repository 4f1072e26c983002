package game

import (
	"fmt"
	"math/bits"
	"sync"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// A goHeap makes an object of the Go heap for each block, as make does, zeroed as make does, and leaves
// it to the collector: Free does nothing, and no book is kept. The block lives as long as a pointer leads
// to it. It may be used by any number of goroutines.
type goHeap struct{}

func (goHeap) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	if align <= 8 {
		return unsafe.Pointer(unsafe.SliceData(make([]uint64, (size+7)/8))), nil
	}
	// Size classes of multiples of 64 are aligned to 64, those of whole pages to pages.
	p := unsafe.Pointer(unsafe.SliceData(make([]uint64, (size+align-1)/align*align/8)))
	if pad := -uintptr(p) & (align - 1); pad != 0 {
		b := make([]uint64, (size+align)/8+1)
		p = unsafe.Pointer(unsafe.SliceData(b))
		p = unsafe.Add(p, -uintptr(p)&(align-1))
	}
	return p, nil
}

func (goHeap) Free(unsafe.Pointer, uintptr) {}

// A pooledHeap keeps blocks that were given back in a sync.Pool for each power of two. What lies in it is
// a pointer, so that Get and Put allocate nothing. Blocks above pooledMost are the collector's: there are
// few, and nobody keeps twice the room for them. It may be used by any number of goroutines.
type pooledHeap struct{ classes [21]sync.Pool }

const pooledMost = 1 << 20

// classOf returns the class whose blocks have room for size bytes.
func classOf(size uintptr) int { return bits.Len64(uint64(max(size, 16) - 1)) }

func (h *pooledHeap) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	if size > pooledMost {
		return goHeap{}.Alloc(size, align)
	}
	k := classOf(max(size, align)) // a block of a power of two is aligned to it, up to a page
	if p, ok := h.classes[k].Get().(unsafe.Pointer); ok {
		return p, nil
	}
	return goHeap{}.Alloc(1<<k, min(uintptr(1)<<k, 64))
}

func (h *pooledHeap) Free(p unsafe.Pointer, size uintptr) {
	if p != nil && size <= pooledMost {
		h.classes[classOf(size)].Put(p)
	}
}

// blocks are those of an allocator that books without pointers have by number. In the tiers a number is an
// offset from the manager's reservation. On the Go heap, where only pointers keep things alive, it is the
// index of a pointer in a table, which is what a column of slices would be in a plain game: the collector
// follows each to its block.
type blocks struct {
	a    memory.Allocator
	base unsafe.Pointer   // of the manager's reservation; nil on the Go heap
	held []unsafe.Pointer // on the Go heap; nil where a number is free
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

// replace lets a number's block be p, which is the allocator's, and gives the old one back. It returns the
// number that p has then.
func (b *blocks) replace(n uint64, old uintptr, p unsafe.Pointer) uint64 {
	b.a.Free(b.at(n), old)
	if b.base != nil {
		return uint64(uintptr(p) - uintptr(b.base))
	}
	b.held[n] = p
	return n
}

// at returns the block of a number, until it is given back.
func (b *blocks) at(n uint64) unsafe.Pointer {
	if b.base != nil {
		return unsafe.Add(b.base, n)
	}
	return b.held[n]
}

// give gives a block back.
func (b *blocks) give(n uint64, size uintptr) {
	b.a.Free(b.at(n), size)
	if b.base == nil {
		b.held[n] = nil
		b.free = append(b.free, uint32(n))
	}
}

// check verifies that so many blocks are held, and the other numbers free.
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
