package main

import "unsafe"

// takenWords makes one map cover 4,096 units.
const takenWords = 64

// taken is the units of address space that live blocks cover, a bit each. It is a table of small maps by address,
// because the addresses are not known in advance.
//
// Invariant: a unit's bit is set exactly if a live block has a byte in it.
type taken struct {
	shift uint // a unit is 1<<shift bytes
	maps  map[uintptr]*[takenWords]uint64
	near  uintptr // the map used last, and its number plus one
	last  *[takenWords]uint64
}

// take claims the units of a block and reports whether they were free. A block of size 0
// covers none.
func (t *taken) take(p unsafe.Pointer, size uintptr) bool {
	free := true
	t.each(p, size, func(word *uint64, mask uint64) {
		free = free && *word&mask == 0
		*word |= mask
	})
	return free
}

// drop gives the units of a block back.
func (t *taken) drop(p unsafe.Pointer, size uintptr) {
	t.each(p, size, func(word *uint64, mask uint64) { *word &^= mask })
}

// free reports whether no live block has a byte at p.
func (t *taken) free(p unsafe.Pointer) (free bool) {
	t.each(p, 1, func(word *uint64, mask uint64) { free = *word&mask == 0 })
	return free
}

// clear forgets every block.
func (t *taken) clear() {
	for _, m := range t.maps {
		clear(m[:])
	}
}

// each calls f for every word that has bits of [p, p+size), with a mask of those bits.
func (t *taken) each(p unsafe.Pointer, size uintptr, f func(word *uint64, mask uint64)) {
	if size == 0 {
		return
	}
	first, last := uintptr(p)>>t.shift, (uintptr(p)+size-1)>>t.shift
	for unit := first; unit <= last; {
		end := min(last, unit|63) // of this word
		mask := ^uint64(0) << (unit & 63) & (^uint64(0) >> (63 - end&63))
		f(&t.page(unit / (64 * takenWords))[unit/64%takenWords], mask)
		unit = end + 1
	}
}

func (t *taken) page(n uintptr) *[takenWords]uint64 {
	if t.near == n+1 {
		return t.last
	}
	m := t.maps[n]
	if m == nil {
		m = new([takenWords]uint64)
		t.maps[n] = m
	}
	t.near, t.last = n+1, m
	return m
}
