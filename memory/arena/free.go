package arena

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/invariant"
)

// Free frees a block. If p is nil, Free does nothing. If the block is the newest one and was allocated after the newest
// Mark, Free reclaims its bytes. The bytes of any other block are reclaimed by a Rewind, Reset or Close.
//
// The newest block is the block of the last Alloc. After a Reset, and after a Free that reclaimed bytes, there is no
// newest block until the next Alloc or Rewind. A Rewind restores the newest block of the time of its Mark, if there was
// one.
//
// Free checks that the `size` bytes at p lie in the bytes in use. If there is a newest block, they must be this block,
// or lie below it. Debug builds check that p and size are the address and the size of a live block. If a check fails,
// or the arena is closed, Free panics with a *memory.Misuse. Only debug builds detect a second Free of a block whose
// bytes were not reclaimed.
//
// If the newest block has bytes, an older block of size 0 may have the same address. Outside debug builds, a Free of
// size 0 at this address therefore does nothing.
func (l *Linear) Free(p unsafe.Pointer, size uintptr) {
	if p == nil {
		return
	}
	l.open("Free", p, size)
	off := uintptr(p) - uintptr(l.base)
	newest := l.isNewest(off, size)
	if !newest || invariant.Debug {
		l.mayBe("Free", p, size)
	}
	switch {
	case newest && l.live() > l.kept:
		l.cutRefs(off)
		l.drop(off, l.live()-1)
	case invariant.Debug:
		l.ledger.free(off, size)
		invariant.Freed(p, size)
	}
}

// Resize changes the size of the newest block (see [Linear.Free]) in place and reports whether it did. If the capacity
// is too small, Resize returns false and changes nothing. For any other block, for a block from before the newest Mark
// and for a block of size 0, Resize always returns false. If the block shrinks, the Refs of objects in the bytes that
// it gives up expire. Misuse panics as in [Linear.Free]. A nil p panics, too.
func (l *Linear) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	l.open("Resize", p, oldSize)
	l.mustBeCurrent("Resize")
	off := uintptr(p) - uintptr(l.base)
	newest := l.isNewest(off, oldSize)
	if !newest || invariant.Debug {
		if l.mayBe("Resize", p, oldSize); !newest {
			return false
		}
	}
	if oldSize == 0 || off < l.floor || newSize > l.limit-off { // the first two are resizable, without isNewest
		return false
	}
	if newSize > oldSize {
		invariant.Fresh(unsafe.Add(p, oldSize), newSize-oldSize)
	} else {
		l.peak = max(l.peak, l.off)
		l.cutRefs(off + newSize)
		invariant.Freed(unsafe.Add(p, newSize), oldSize-newSize)
	}
	l.off = off + newSize
	l.book ^= uint64(uint32(oldSize) ^ uint32(newSize))
	if invariant.Debug {
		l.ledger.resize(newSize)
	}
	return true
}

// resizable reports whether [off, off+size) is the newest block and may change its size. A block of size 0 may share its
// address with one from before the mark.
func (l *Linear) resizable(off, size uintptr) bool {
	return l.isNewest(off, size) && size != 0 && off >= l.floor
}

// mayBe panics if no live block can be [p, p+size).
func (l *Linear) mayBe(op string, p unsafe.Pointer, size uintptr) {
	if why := l.whyNot(uintptr(p)-uintptr(l.base), size); why != "" {
		panic(misuse(op, p, size, why))
	}
}

// whyNot returns why no live block can be [off, off+size), or "" if one can.
func (l *Linear) whyNot(off, size uintptr) string {
	if invariant.Debug {
		return l.ledger.whyNot(off, size)
	}
	last := l.last()
	if off <= last && size <= last-off || l.isNewest(off, size) {
		return ""
	}
	return l.reason(off)
}

// isNewest reports whether [off, off+size) is the newest block, to the byte.
func (l *Linear) isNewest(off, size uintptr) bool {
	return size == l.off-off && uint32(size) == uint32(l.book) && uint32(size) != unknown && off <= l.off
}

// last returns where the newest block starts, or the top if that is not known.
func (l *Linear) last() uintptr {
	if uint32(l.book) == unknown {
		return l.off
	}
	return l.off - uintptr(uint32(l.book))
}

// reason returns why no block can start at off.
func (l *Linear) reason(off uintptr) string {
	last := l.last()
	has := l.off - last
	switch {
	case off >= l.off || has == 0:
		return "the block does not lie in the live part of this arena: foreign, or freed already"
	case off == last:
		return fmt.Sprintf("wrong size: the block has %d bytes", has)
	case off > last:
		return fmt.Sprintf("interior pointer: it points %d bytes into a block of %d", off-last, has)
	}
	return fmt.Sprintf("wrong size: the newest block starts %d bytes behind it", last-off)
}

// live returns the number of blocks that were not freed.
func (l *Linear) live() uint64 { return l.total() - l.dropped }

// total returns the number of successful allocations since New.
func (l *Linear) total() uint64 { return l.allocs + l.book>>32 }

// drop moves the top down to off, where live blocks were live. The newest one is then not known. The caller has cut the
// Refs: the two functions together would not inline.
func (l *Linear) drop(off uintptr, live uint64) {
	l.peak = max(l.peak, l.off)
	invariant.Freed(unsafe.Add(l.base, off), l.off-off)
	l.off = off
	l.dropped = l.total() - live
	l.book |= unknown
	if int64(l.book) < 0 { // half of what it can count to
		l.allocs = l.total()
		l.book = unknown
	}
	if invariant.Debug {
		l.ledger.cut(live)
	}
}
