// Package goheap allocates blocks from the Go heap. The demo's -mem compares a game that uses these
// allocators with one in tiers.
//
// [Plain] makes an object for each block and leaves it to the collector. [Pooled] reuses freed blocks. Both are safe
// for concurrent use. Only pointers keep a block alive, so callers must store them where the collector finds them. The
// collector does not look into blocks: they must contain no Go pointers.
package goheap

import (
	"math/bits"
	"sync"
	"unsafe"
)

// Plain makes an object of the Go heap for each block. Blocks are zeroed. Free does nothing.
type Plain struct{}

// Alloc returns a zeroed block, aligned to align, a power of two. The error is always nil: if size is too large, Alloc
// panics as make does.
func (Plain) Alloc(size, align uintptr) (unsafe.Pointer, error) {
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

// Free does nothing: the collector frees the block.
func (Plain) Free(unsafe.Pointer, uintptr) {}

// Pooled keeps freed blocks in a sync.Pool for each power of two. Blocks above 1 MiB are left to the collector. A
// reused block is not zeroed. The zero Pooled is ready for use.
type Pooled struct{ classes [21]sync.Pool }

// pooledMost is the largest block that is reused: larger ones are few, and rounding them up wastes too much.
const pooledMost = 1 << 20

// classOf returns the class whose blocks are at least size bytes.
func classOf(size uintptr) int { return bits.Len64(uint64(max(size, 16) - 1)) }

// Alloc returns a freed block, not zeroed, or a new zeroed block. The block is aligned to align, a power of two up to 8
// KiB. The error is always nil: if size is too large, Alloc panics as make does.
func (h *Pooled) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	if size > pooledMost {
		return Plain{}.Alloc(size, align)
	}
	k := classOf(max(size, align)) // a block of a power of two is aligned to it, up to a page
	// A Pool of pointers allocates nothing in Get and Put.
	if p, ok := h.classes[k].Get().(unsafe.Pointer); ok {
		return p, nil
	}
	return Plain{}.Alloc(1<<k, min(uintptr(1)<<k, 64))
}

// Free keeps a block of up to 1 MiB for reuse. size is the size that was requested. A nil block is
// ignored.
func (h *Pooled) Free(p unsafe.Pointer, size uintptr) {
	if p != nil && size <= pooledMost {
		h.classes[classOf(size)].Put(p)
	}
}
