package arena

import (
	"sync/atomic"
	"unsafe"
)

// A Ref is a checked pointer to an object in a [Frames]. Get returns the object until the Ref expires, and false
// afterwards. A plain pointer would read the bytes of another object after that time.
//
// A Ref expires when bytes of its object are reclaimed: when the frame of the object expires, and at a Rewind, Reset or
// Close that frees the object. If the object is in the newest block, the Ref also expires when Free reclaims the block,
// or when Resize cuts off bytes of the object. All Refs expire when the source ends. For the load of a state see
// [Frames.SaveState]. An object of size 0 counts as one byte.
//
// A Ref has 24 bytes (20 bytes on 32-bit systems) and contains no Go pointer. A Ref may be stored anywhere and
// compared. The zero Ref and a Ref of another Frames are never valid.
type Ref[T any] struct {
	_      [0]*T // a Ref of another type does not convert to this one
	off    uintptr
	epoch  uint64 // of the buffer, when the Ref was made
	ring   uint32
	buffer uint32
}

// A cut is a drop of a Linear's top that freed an object with a Ref. The list keeps only those cuts that no later one
// reaches below, so the first one after an epoch is the lowest since then.
type cut struct {
	epoch uint64 // which the cut began
	low   uintptr
}

// rings numbers the rings of the process from 1. It wraps after four thousand million.
var rings atomic.Uint32

// RefTo returns a Ref to the object p of f's current frame. RefTo panics with a *memory.Misuse if p is nil or lies
// outside the bytes in use of the current frame, or if f is closed. RefTo does not check that an object begins at p.
func RefTo[T any](f *Frames, p *T) Ref[T] {
	l := f.cur
	l.open("RefTo", unsafe.Pointer(p), unsafe.Sizeof(*p))
	off := uintptr(unsafe.Pointer(p)) - uintptr(l.base)
	if p == nil || off > l.off || unsafe.Sizeof(*p) > l.off-off {
		panic(misuse("RefTo", unsafe.Pointer(p), unsafe.Sizeof(*p), "the object was not allocated in the current frame of this ring"))
	}
	l.refs = max(l.refs, off+max(unsafe.Sizeof(*p), 1))
	return Ref[T]{off: off, epoch: l.epoch, ring: f.id, buffer: uint32(f.frame % uint64(len(f.ring)))}
}

// Get returns the object and true. If the Ref has expired, is the zero Ref, or belongs to another ring than f, Get
// returns nil and false. Cost: constant. If blocks above the object were reclaimed, the cost is the logarithm of the
// number of such reclaims in the frame.
func (r Ref[T]) Get(f *Frames) (p *T, ok bool) {
	if r.ring != f.id || uint64(r.buffer) >= uint64(len(f.ring)) {
		return nil, false
	}
	l := &f.ring[r.buffer]
	if r.epoch != l.epoch && !l.survived(r.epoch, r.off+max(unsafe.Sizeof(*p), 1)) {
		return nil, false
	}
	return (*T)(unsafe.Add(l.base, r.off)), true
}

// cutRefs expires the Refs of objects that end above low.
func (l *Linear) cutRefs(low uintptr) {
	if low < l.refs {
		l.recordCut(low)
	}
}

// recordCut costs constant time on average. The list has at most as many cuts as there are live blocks below objects
// whose Refs have expired.
//
//go:noinline
func (l *Linear) recordCut(low uintptr) {
	n := len(l.cuts)
	for n > 0 && l.cuts[n-1].low >= low {
		n--
	}
	l.epoch++
	l.cuts = append(l.cuts[:n], cut{l.epoch, low})
	l.refs = low
}

// survived reports whether no cut since epoch reached below end.
func (l *Linear) survived(epoch uint64, end uintptr) bool {
	if l.base == nil {
		return false
	}
	low, high := 0, len(l.cuts)
	for low < high {
		if mid := (low + high) / 2; l.cuts[mid].epoch <= epoch {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low == len(l.cuts) || l.cuts[low].low >= end
}
