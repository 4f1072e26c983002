package container

import (
	"errors"
	"testing"

	"github.com/strata-go/strata/memory/tlsf"
)

// Elements of no size have no block, and the allocator may have committed nothing: where they would
// lie, even the test of a pointer for nil faults, which debug builds and those for a debugger make.
func TestContainers_ElementsOfNoSizeTouchNoMemory(t *testing.T) {
	h, err := tlsf.New(nil, tlsf.Config{})
	must(t, err)
	sp := space(t, h)
	type none = struct{}
	var v Vec[none]
	var r Ring[none]
	for i := range 10 {
		must(t, errors.Join(v.Append(sp, none{}), r.PushBack(sp, none{}), r.PushFront(sp, none{}), v.Insert(sp, i/2, none{})))
	}
	if !v.TryAppend(sp, none{}) {
		t.Error("there is no room")
	}
	v.Set(sp, 3, v.At(sp, 2))
	*v.Ptr(sp, 3) = v.SwapRemove(sp, 1)
	for i := range v.Slice(sp) {
		p := &v.Slice(sp)[i]
		*p = none{}
	}
	r.Set(sp, 3, r.At(sp, 2))
	*r.Ptr(sp, 3) = none{}
	front, back := r.Slices(sp)
	if v.Len() != 20 || r.Len() != 20 || len(front)+len(back) != 20 {
		t.Errorf("%d and %d elements", v.Len(), r.Len())
	}
	v.Pop(sp)
	r.PopBack(sp)
	r.PopFront(sp)
	must(t, errors.Join(v.Check(sp), r.Check(sp)))
	if s := h.Stats(); s.Committed != 0 || s.Live != 0 {
		t.Errorf("%+v", s)
	}
	must(t, h.Close())
}
