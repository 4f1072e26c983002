package arena

import (
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// A Ref names an object of a Frames ring and knows its frame: looked up too late it says so,
// where a plain pointer would read another frame's bytes. It holds no Go pointer and may be
// stored anywhere.
type Ref[T any] struct {
	frame uint64 // the frame of the object, plus 1: the zero Ref names nothing
	off   uintptr
}

// RefTo returns a Ref to an object that was allocated in f's current frame. Any other
// pointer panics with a *memory.Misuse.
func RefTo[T any](f *Frames, p *T) Ref[T] {
	off := uintptr(unsafe.Pointer(p)) - uintptr(f.cur.base)
	if p == nil || off > f.cur.off || unsafe.Sizeof(*p) > f.cur.off-off {
		panic(&memory.Misuse{
			Package: "arena", Op: "RefTo", Addr: uintptr(unsafe.Pointer(p)), Size: unsafe.Sizeof(*p),
			Reason: "the object was not allocated in the current frame of this ring",
		})
	}
	return Ref[T]{frame: f.frame + 1, off: off}
}

// Get returns the object while its frame is readable, and ok == false afterwards. f must be
// the ring that the Ref was made on.
func (r Ref[T]) Get(f *Frames) (p *T, ok bool) {
	age := f.frame + 1 - r.frame // wraps to a huge age for the zero Ref
	if r.frame == 0 || age >= uint64(len(f.ring)) {
		return nil, false
	}
	l := &f.ring[(r.frame-1)%uint64(len(f.ring))]
	if r.off > l.off || unsafe.Sizeof(*p) > l.off-r.off { // rewound since
		return nil, false
	}
	return (*T)(unsafe.Add(l.base, r.off)), true
}
