package memtest

import (
	"errors"
	"fmt"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// misuses frees, sizes and resizes what must not be: each is a *memory.Misuse that changed
// nothing, and afterwards everything works.
func misuses(t testing.TB, s Subject) {
	a, shadow := s.make(t, nil), NewShadow(t)
	stranger := s.make(t, nil)
	m := &machine{tb: t, s: s, a: a, shadow: shadow}
	for i := range uint32(24) {
		m.alloc(s.size(i*131+64), 16)
		m.sample()
	}
	refuse := refusal{t, s, a, shadow}
	goHeap := make([]uint64, 64)
	for name, p := range map[string]unsafe.Pointer{
		"of the Go heap":       unsafe.Pointer(&goHeap[8]),
		"of another allocator": MustAlloc(t, stranger, s.size(64), 16),
	} {
		refuse.pointer("a block "+name, p, s.size(64))
	}
	refuse.live(len(shadow.Live()) - 1)
	if s.Lenient&OldBlocks == 0 && !s.LIFO && !s.KeepsFreed {
		for i := range 4 {
			refuse.live(i * 5)
		}
	}
	if s.LIFO {
		refuse.one("a block that is not the newest", func() { b := shadow.Live()[3]; a.Free(b.Ptr, b.Size) })
	}
	for range 3 {
		refuse.dead(len(shadow.Live()) - 1)
		if s.Lenient&OldBlocks == 0 && !s.LIFO && !s.KeepsFreed {
			refuse.dead(len(shadow.Live()) / 2)
		}
	}
	shadow.VerifyAll()
	m.run(RandomProgram(9, 200))
	m.finish()
	lateMisuse(t, s)
}

// lateMisuse misuses the newest block of an allocator that has served some thousand others.
func lateMisuse(t testing.TB, s Subject) {
	a, shadow := s.make(t, nil), NewShadow(t)
	size := s.size(257) // 128 if that is served
	for range 2000 {
		a.Free(MustAlloc(t, a, size, 1), size)
	}
	for range 3 {
		shadow.Add(MustAlloc(t, a, size, 1), size, 1)
	}
	refuse := refusal{t, s, a, shadow}
	refuse.live(2)
	refuse.dead(2)
	shadow.FreeAll(a)
	check(t, a)
}

// A refusal holds an allocator to refusing.
type refusal struct {
	t      testing.TB
	s      Subject
	a      memory.Allocator
	shadow *Shadow
}

// one runs f, which must panic with a *memory.Misuse and change nothing.
func (r refusal) one(what string, f func()) {
	r.t.Helper()
	before := stats(r.t, r.a)
	err := caught(f)
	var m *memory.Misuse
	if !errors.As(err, &m) {
		r.t.Errorf("%s: %v; want a *memory.Misuse", what, err)
	} else if r.s.Package != "" && m.Package != r.s.Package || m.Reason == "" {
		r.t.Errorf("%s: %v, which does not say who refuses and why", what, m)
	}
	if after := stats(r.t, r.a); after != before {
		r.t.Errorf("%s changed the books from %+v to %+v", what, before, after)
	}
	check(r.t, r.a)
}

// caught returns what f panics with, as an error, or nil.
func caught(f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			if err, _ = r.(error); err == nil {
				err = fmt.Errorf("panic: %v", r)
			}
		}
	}()
	f()
	return nil
}

// pointer passes p, which is no block, to everything that takes one.
func (r refusal) pointer(what string, p unsafe.Pointer, size uintptr) {
	r.t.Helper()
	r.one("Free of "+what, func() { r.a.Free(p, size) })
	if f, ok := r.a.(memory.AnyFreer); ok {
		r.one("FreeAny of "+what, func() { f.FreeAny(p) })
	}
	if z, ok := r.a.(memory.Sizer); ok {
		r.one("SizeOf of "+what, func() { z.SizeOf(p) })
	}
	if z, ok := r.a.(memory.Resizer); ok {
		r.one("Resize of "+what, func() { z.Resize(p, size, size+1) })
	}
}

// live misuses the i-th oldest block, which stays live.
func (r refusal) live(i int) {
	r.t.Helper()
	b := r.shadow.Live()[i]
	if b.Size >= 24 && r.s.Lenient&Interior == 0 {
		for _, in := range []uintptr{1, 8, 16} {
			p := unsafe.Add(b.Ptr, in)
			r.one("Free of a block's tail", func() { r.a.Free(p, b.Size-in) })
			if f, ok := r.a.(memory.AnyFreer); ok {
				r.one("FreeAny inside a block", func() { f.FreeAny(p) })
			}
			if z, ok := r.a.(memory.Sizer); ok {
				r.one("SizeOf inside a block", func() { z.SizeOf(p) })
			}
			if z, ok := r.a.(memory.Resizer); ok {
				r.one("Resize of a block's tail", func() { z.Resize(p, b.Size-in, b.Size) })
			}
		}
	}
	if r.s.Lenient&WrongSize != 0 {
		return
	}
	r.one("Free with the size of the address space", func() { r.a.Free(b.Ptr, ^uintptr(0)) })
	r.one("Free with a size that is served nowhere", func() { r.a.Free(b.Ptr, 2*r.s.MaxSize+4096) })
	if r.s.FixedSize != 0 {
		r.one("Free with too large a size", func() { r.a.Free(b.Ptr, r.s.FixedSize+1) })
	}
	if z, ok := r.a.(memory.Sizer); ok {
		r.one("Free with a size that the block does not have", func() { r.a.Free(b.Ptr, z.SizeOf(b.Ptr)+1) })
	}
	if z, ok := r.a.(memory.Resizer); ok {
		r.one("Resize from the size of the address space", func() { z.Resize(b.Ptr, ^uintptr(0), 1) })
		r.one("Resize from a size that is served nowhere", func() { z.Resize(b.Ptr, 2*r.s.MaxSize+4096, b.Size) })
	}
	if !r.s.ExactSizes {
		return
	}
	for _, size := range []uintptr{b.Size + 1, b.Size - 1, b.Size / 2, 0} {
		r.one("Free with a wrong size", func() { r.a.Free(b.Ptr, size) })
		if z, ok := r.a.(memory.Resizer); ok {
			r.one("Resize with a wrong size", func() { z.Resize(b.Ptr, size, b.Size) })
		}
	}
}

// dead frees the i-th oldest block, and then once more.
func (r refusal) dead(i int) {
	r.t.Helper()
	b := r.shadow.Take(i)
	r.a.Free(b.Ptr, b.Size)
	if b.Size > 0 && r.s.Lenient&DoubleFree == 0 {
		r.pointer("a block that was freed", b.Ptr, b.Size)
	}
}
