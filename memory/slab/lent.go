package slab

import (
	"encoding/binary"
	"sync/atomic"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/invariant"
)

// What a note says of the block that starts at its granule; home also where none does.
const (
	home    = iota // on the heap's stack, or live in the heap's own books
	stashed        // in a cache
	used           // with a caller of a Cache or of the Central
)

// notes are a byte per granule of 64 KiB. They are kept in words, because that is what can be
// compared and swapped.
type notes [noteGranules / 4]uint32

const noteGranules = 64 << 10 / granule

// A lending says which blocks a heap has lent to its Central and the caches, by 64 KiB. Those
// have notes from the first block that is lent until all of their units are vacant, so they
// cost a sixteenth of the memory in use, in the Go heap. Where no notes are, no block is out.
//
// From and to home a note moves under the Central's lock. From used to stashed it is moved by
// a compare and swap: of two goroutines that free one block one wins, and the other one is
// told. From stashed to used it is just set, by the one cache that has the block.
//
// Builds with memfast have one array of notes for all, and nothing in it.
type lending []atomic.Pointer[notes]

// blank is what is noted everywhere in memfast builds: nothing, but that blocks are out.
var blank notes

// lend notes that the block at off is out. The Central's lock is held.
func (l lending) lend(off uintptr, state uint8) {
	n := l.at(off)
	if n == nil {
		n = &blank
		if invariant.Exact {
			n = new(notes)
		}
		l[off/noteGranules].Store(n)
	}
	if invariant.Exact {
		n.set(off, state)
	}
}

// at returns the notes for granule off, or nil.
func (l lending) at(off uintptr) *notes { return l[off/noteGranules].Load() }

// state returns the note of granule off; home in memfast builds.
func (l lending) state(off uintptr) uint8 {
	if n := l.at(off); n != nil {
		return n.state(off)
	}
	return home
}

// below returns the notes of the granules below limit. Behind it there are none, and whoever looks
// for some does not pay for the reservation.
func (l lending) below(limit uintptr) lending {
	return l[:(limit+noteGranules-1)/noteGranules]
}

// isHome reports whether the notes of the 64 granules from off on are all home.
func (l lending) isHome(off uintptr) bool {
	n := l.at(off)
	for i := uintptr(0); n != nil && i < 64; i += 4 {
		if !n.quiet(off + i) {
			return false
		}
	}
	return true
}

// drop forgets all notes.
func (l lending) drop() {
	for i := range l {
		l[i].Store(nil)
	}
}

// forget drops the notes of memory whose units are all vacant.
func (l lending) forget(place []uint8) {
	const units = noteGranules / unitGranules
	for i := range l {
		if l[i].Load() == nil {
			continue
		}
		used := false
		for _, at := range place[i*units : min((i+1)*units, len(place))] {
			used = used || at != vacant
		}
		if !used {
			l[i].Store(nil)
		}
	}
}

// lane returns how far the byte of granule off lies from the low end of its word.
func lane(off uintptr) uintptr { return (off ^ endian) & 3 * 8 }

// endian is 3 where the first byte of a word is its highest.
var endian = uintptr(binary.NativeEndian.Uint16([]byte{0, 3})) & 3

func (n *notes) state(off uintptr) uint8 {
	return uint8(atomic.LoadUint32(&n[off%noteGranules/4]) >> lane(off))
}

// quiet reports whether the four granules from off on are home.
func (n *notes) quiet(off uintptr) bool { return atomic.LoadUint32(&n[off%noteGranules/4]) == 0 }

// move changes a note, unless it is not what the caller believes. Its neighbours in the word
// may be changed by others meanwhile.
func (n *notes) move(off uintptr, from, to uint8) bool {
	w, at := &n[off%noteGranules/4], lane(off)
	for {
		old := atomic.LoadUint32(w)
		if uint8(old>>at) != from {
			return false
		}
		if atomic.CompareAndSwapUint32(w, old, old^uint32(from^to)<<at) {
			return true
		}
	}
}

// set writes the note of a block that nobody else can have. A store of its byte costs a
// nanosecond where a locked one costs as much as the rest of Cache.Alloc; machines keep bytes
// and the words around them coherent, but the race detector must be told.
func (n *notes) set(off uintptr, state uint8) {
	if !invariant.Debug {
		*(*uint8)(unsafe.Add(unsafe.Pointer(n), off%noteGranules)) = state
		return
	}
	for !n.move(off, n.state(off), state) {
	}
}
