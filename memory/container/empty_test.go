package container

import (
	"errors"
	"testing"
	"unsafe"

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

// An entry of a Map of nothing lies in the block, and not behind it.
func TestMap_EntriesOfNoSizeLieInItsBlock(t *testing.T) {
	h, err := tlsf.New(nil, tlsf.Config{})
	must(t, err)
	sp := space(t, h)
	liesInItsBlock(t, sp, struct{}{}, [0]uint64{})
	liesInItsBlock(t, sp, uint8(7), struct{}{})
	must(t, h.Close())
}

func liesInItsBlock[K comparable, V any](t *testing.T, sp *Space, k K, v V) {
	t.Helper()
	for seed := range uint64(40) { // so that each group is somebody's home
		m := NewMap[K, V](seed)
		must(t, errors.Join(m.Reserve(sp, 20), m.Set(sp, k, v)))
		in := func(p *V) {
			if at := uintptr(unsafe.Pointer(p)) - uintptr(sp.at(m.off)); at >= m.bytes() {
				t.Errorf("%T: a value lies %d bytes from the start of a block of %d", m, at, m.bytes())
			}
		}
		in(m.Ptr(sp, k))
		p, was, err := m.GetOrSet(sp, k, v)
		if in(p); !was || err != nil {
			t.Errorf("%T: there %t, %v", m, was, err)
		}
		for _, p := range m.Ptrs(sp) {
			in(p)
		}
		must(t, m.Check(sp))
		if !m.Delete(sp, k) || m.Len() != 0 || m.Has(sp, k) {
			t.Errorf("%T: not deleted", m)
		}
		must(t, errors.Join(m.Check(sp), m.Set(sp, k, v)))
		if m.DeleteFunc(sp, func(K, V) bool { return true }); m.Len() != 0 {
			t.Errorf("%T: %d left", m, m.Len())
		}
		must(t, m.Check(sp))
		m.Free(sp)
	}
}
