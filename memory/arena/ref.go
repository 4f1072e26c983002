package arena

import (
	"sync/atomic"
	"unsafe"
)

// A Ref names an object of a Frames ring: it resolves exactly as long as the object is the
// one that it was made for, and says so afterwards, where a plain pointer would read another
// object's bytes. What takes the object's bytes back ends its Refs: the end of its frame, a
// Rewind, Reset or Close, a Free of the newest block, a Resize that cuts it off. A Ref to a T of size 0, which has no place of
// its own, ends with the object below it at the latest.
//
// A Ref has 24 bytes, 20 on 32 bits, holds no Go pointer and may be stored anywhere and
// compared. The zero Ref names nothing, and one of another ring nothing here.
type Ref[T any] struct {
	_      [0]*T // a Ref of another type does not convert to this one
	off    uintptr
	epoch  uint64 // of the buffer, when the Ref was made
	ring   uint32
	buffer uint32
}

// A cut is a drop of a Linear's top that freed an object with a Ref. In the list of cuts only
// those stay that no later one reaches below, so that the first one behind an epoch is the
// lowest of all since.
type cut struct {
	epoch uint64 // that it began
	low   uintptr
}

// rings numbers the rings of the process from 1. It comes round after four thousand million.
var rings atomic.Uint32

// RefTo returns a Ref to an object that was allocated in f's current frame. Any other
// pointer panics with a *memory.Misuse.
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

// Get returns the object while it lives and its frame is readable, and ok == false afterwards.
// Cost: constant, or the logarithm of the frees in the frame that had Refs above the object.
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

// cutRefs ends the Refs to what ends above low.
func (l *Linear) cutRefs(low uintptr) {
	if low < l.refs {
		l.recordCut(low)
	}
}

// recordCut costs constant time on average. The list is as long as there are live blocks
// below objects whose Refs were ended, at most.
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
