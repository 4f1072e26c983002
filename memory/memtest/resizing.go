package memtest

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// resizes verifies what Resize may and may not do: the block stays where it is with its
// contents, no other one is touched, the books say what has happened, a refusal changes nothing,
// and a block grown to what it was granted is its own.
func resizes(t testing.TB, s Subject) {
	a := s.make(t, nil)
	r, ok := a.(memory.Resizer)
	if !ok || s.FixedSize != 0 {
		return
	}
	m := &machine{tb: t, s: s, a: a, shadow: NewShadow(t)}
	for i := range uint32(30) {
		m.alloc(s.size(i*7+2), s.align(i))
		m.sample()
	}
	for i := range uint32(400) {
		m.resizeOne(r, i, s.size(i*2_654_435_761>>7))
		m.sample()
		m.count()
		check(t, a)
		if i%40 == 0 {
			m.shadow.VerifyAll()
		}
	}
	m.finish()
}

// resizeOne resizes a block, and holds the allocator to what it says of it.
func (m *machine) resizeOne(r memory.Resizer, i uint32, size uintptr) {
	m.tb.Helper()
	k := m.pick(i * 31 << 4)
	b, before := m.shadow.Live()[k], stats(m.tb, m.a)
	ok := r.Resize(b.Ptr, b.Size, size)
	after := stats(m.tb, m.a)
	switch {
	case ok:
		m.shadow.Resize(k, size)
		if after.Live != before.Live || after.Allocs != before.Allocs || after.Frees != before.Frees {
			m.tb.Fatalf("Resize changed the books from %+v to %+v", before, after)
		}
	case size <= b.Size && m.s.Shrinks:
		m.tb.Fatalf("Resize(%p) from %d to %d bytes was refused; less always fits", b.Ptr, b.Size, size)
	case !m.s.unchanged(before, after):
		m.tb.Fatalf("a Resize that was refused changed the books from %+v to %+v", before, after)
	default:
		m.shadow.Verify(b)
	}
}

// resizesWithoutMemory has the system refuse everything: what is committed can be resized into,
// what is not is a refusal that changes nothing, and less still fits.
func resizesWithoutMemory(t testing.TB, s Subject) {
	src := NewFaulty()
	a := s.make(t, src)
	r, ok := a.(memory.Resizer)
	if !ok || s.FixedSize != 0 {
		return
	}
	m := &machine{tb: t, s: s, a: a, shadow: NewShadow(t)}
	for i := range uint32(12) {
		m.alloc(s.size(i*77+3), s.align(i))
		m.sample()
	}
	src.FailAt, src.ForGood = src.Calls()+1, true
	for i := range uint32(100) {
		b := m.shadow.Live()[m.pick(i*31<<4)]
		m.resizeOne(r, i, []uintptr{s.MaxSize, b.Size + b.Size/2 + 1, b.Size / 2}[(i+i/12)%3]) // each block all of them
		m.sample()
		m.count()
		check(t, a)
	}
	src.FailAt = 0
	m.finish()
}

// grows puts blocks through memory.Grow, in place or not: the contents come along, a failure
// leaves the block where it is, and the books have one block as before.
func grows(t testing.TB, s Subject) {
	a := s.make(t, nil)
	if s.FixedSize != 0 {
		return
	}
	m := &machine{tb: t, s: s, a: a, shadow: NewShadow(t)}
	for i := range uint32(16) {
		m.alloc(s.size(i*37+2), s.align(i))
		m.sample()
	}
	for i := range uint32(300) {
		m.growOne(i, s.size(i*2_654_435_761>>9))
		m.sample()
		m.count()
		check(t, a)
		if i%40 == 0 {
			m.shadow.VerifyAll()
		}
	}
	m.finish()
}

// growOne grows a block. One in LIFO order that must move is a Misuse.
func (m *machine) growOne(i uint32, size uintptr) {
	m.tb.Helper()
	k := m.pick(i * 31 << 4)
	b, before := m.shadow.Live()[k], stats(m.tb, m.a)
	var p unsafe.Pointer
	var err error
	raised := caught(func() { p, err = memory.Grow(m.a, b.Ptr, b.Size, size, b.Align) })
	after := stats(m.tb, m.a)
	m.allocs += after.Allocs - before.Allocs
	if p != b.Ptr { // for a moment there were both, and nobody saw it
		m.committed = max(m.committed, before.Committed+after.Committed)
	}
	switch {
	case raised != nil:
		var misuse *memory.Misuse
		if !m.s.LIFO || !errors.As(raised, &misuse) || after.Live != before.Live || after.InUse != before.InUse {
			m.tb.Fatalf("Grow from %d to %d bytes: %v; books %+v, then %+v", b.Size, size, raised, before, after)
		}
		m.shadow.VerifyAll()
	case err != nil:
		m.refused++
		if p != b.Ptr || !exhausts(err) || !m.s.unchanged(before, after) {
			m.tb.Fatalf("Grow of %p from %d to %d bytes = %p, %v; books %+v, then %+v", b.Ptr, b.Size, size, p, err, before, after)
		}
		m.shadow.Verify(b)
	default:
		m.shadow.Move(k, p, size)
		if after.Allocs-before.Allocs > 1 { // what is live, count compares
			m.tb.Fatalf("Grow changed the books from %+v to %+v", before, after)
		}
	}
}
