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

// notes are a byte per granule of a slab. They are kept in words, because that is what can be
// compared and swapped.
type notes [slabGranules / 4]uint32

// A lending says which blocks a heap has lent to its Central and the caches, by slab. A slab
// has notes from the first block that is lent until it is recycled, so they cost a sixteenth
// of the slabs in use, in the Go heap. Where no notes are, no block is out.
//
// From and to home a note moves under the Central's lock. From used to stashed it is moved by
// a compare and swap: of two goroutines that free one block one wins, and the other one is
// told. From stashed to used it is just set, by the one cache that has the block.
//
// Builds with memfast have one array of notes for all slabs, and nothing in it.
type lending []atomic.Pointer[notes]

// blank is what every slab notes in memfast builds: nothing, but that blocks are out.
var blank notes

// lend notes that the block at off is out. The Central's lock is held.
func (l lending) lend(off uintptr, state uint8) {
	n := l.at(off)
	if n == nil {
		n = &blank
		if invariant.Exact {
			n = new(notes)
		}
		l[off/slabGranules].Store(n)
	}
	if invariant.Exact {
		n.set(off, state)
	}
}

// at returns the notes of the slab that holds granule off, or nil.
func (l lending) at(off uintptr) *notes { return l[off/slabGranules].Load() }

// state returns the note of granule off; home in memfast builds.
func (l lending) state(off uintptr) uint8 {
	if n := l.at(off); n != nil {
		return n.state(off)
	}
	return home
}

// drop forgets the notes of slabs first to end-1.
func (l lending) drop(first, end uintptr) {
	for i := first; i < end; i++ {
		l[i].Store(nil)
	}
}

// lane returns how far the byte of granule off lies from the low end of its word.
func lane(off uintptr) uintptr { return (off ^ endian) & 3 * 8 }

// endian is 3 where the first byte of a word is its highest.
var endian = uintptr(binary.NativeEndian.Uint16([]byte{0, 3})) & 3

func (n *notes) state(off uintptr) uint8 {
	return uint8(atomic.LoadUint32(&n[off%slabGranules/4]) >> lane(off))
}

// quiet reports whether the four granules from off on are home.
func (n *notes) quiet(off uintptr) bool { return atomic.LoadUint32(&n[off%slabGranules/4]) == 0 }

// move changes a note, unless it is not what the caller believes. Its neighbours in the word
// may be changed by others meanwhile.
func (n *notes) move(off uintptr, from, to uint8) bool {
	w, at := &n[off%slabGranules/4], lane(off)
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
		*(*uint8)(unsafe.Add(unsafe.Pointer(n), off%slabGranules)) = state
		return
	}
	for !n.move(off, n.state(off), state) {
	}
}
