package memtest

import (
	"unsafe"

	"github.com/strata-go/strata/memory/page"
)

// marginBytes is the address space on either side of a reservation: as far outside of it a test
// looks for an allocator that takes foreign memory for its own.
const marginBytes = 1 << 20

// Margins is a page.Source that reserves an additional 1 MiB on either side of each reservation and never commits
// these margins. Tests can therefore form pointers just outside a reservation. Without margins such a pointer may
// refer to an unused part of the Go heap, which ends the process under -race. A Margins belongs to one goroutine
// at a time.
type Margins struct {
	Source page.Source
	held   []margin
}

// A margin is one reservation: what was asked for, and what lies around it.
type margin struct{ inner, outer page.Memory }

// NewMargins returns a Margins on page.Default().
func NewMargins() *Margins { return &Margins{Source: page.Default()} }

// Reserve reserves size bytes between two margins. If size is 0, or overflows with the margins, Reserve returns the
// result of Source.Reserve(size).
func (m *Margins) Reserve(size uintptr) (page.Memory, error) {
	if size == 0 || size+2*marginBytes < size {
		return m.Source.Reserve(size) // the error is the source's
	}
	outer, err := m.Source.Reserve(size + 2*marginBytes)
	if err != nil {
		return page.Memory{}, err
	}
	inner := page.Memory{Base: unsafe.Add(outer.Base, marginBytes), Size: outer.Size - 2*marginBytes}
	m.held = append(m.held, margin{inner, outer})
	return inner, nil
}

// find returns the index of the reservation that contains mem, and the offset of mem in what
// surrounds it.
func (m *Margins) find(mem page.Memory) (i int, off uintptr) {
	for i, h := range m.held {
		if h.inner.Contains(mem.Base) {
			return i, uintptr(mem.Base) - uintptr(h.outer.Base)
		}
	}
	panic("memtest: the memory is not of this source")
}

// Commit commits bytes of mem, by Source. Commit panics if mem does not begin in a reservation of m.
func (m *Margins) Commit(mem page.Memory, off, size uintptr) error {
	i, at := m.find(mem)
	return m.Source.Commit(m.held[i].outer, at+off, size)
}

// Decommit decommits bytes of mem, by Source. Decommit panics if mem does not begin in a reservation of m.
func (m *Margins) Decommit(mem page.Memory, off, size uintptr) error {
	i, at := m.find(mem)
	return m.Source.Decommit(m.held[i].outer, at+off, size)
}

// Release releases mem with its margins. Release panics if mem does not begin in a reservation of m.
func (m *Margins) Release(mem page.Memory) error {
	i, _ := m.find(mem)
	if err := m.Source.Release(m.held[i].outer); err != nil {
		return err
	}
	m.held = append(m.held[:i], m.held[i+1:]...)
	return nil
}

// Under returns Source, which reserves without margins.
func (m *Margins) Under() page.Source { return m.Source }

// Outside returns addresses before and after every reservation that was not released. The distances of these addresses
// from the reservation double from one byte to 1 MiB. They all lie in margins, so Owns of every allocator on m must
// return false for them.
func (m *Margins) Outside() (all []unsafe.Pointer) {
	for _, h := range m.held {
		for d := uintptr(1); d <= marginBytes; d *= 2 {
			all = append(all, unsafe.Add(h.outer.Base, marginBytes-d), unsafe.Add(h.inner.Base, h.inner.Size+d-1))
		}
	}
	return all
}
