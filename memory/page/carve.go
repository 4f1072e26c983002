package page

import (
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
)

// A Carve is a Source that cuts its reservations out of one larger one, front to back, so
// that everything built on it lies in one range of addresses and a pointer's owner is found
// by comparing. What is released is not cut again before the Carve itself is dropped: a
// stale pointer then cannot land in somebody else's blocks. One goroutine at a time.
type Carve struct {
	src  Source
	mem  Memory
	next uintptr
}

// NewCarve cuts from mem, which stays the caller's to release, after all that was cut.
func NewCarve(src Source, mem Memory) *Carve { return &Carve{src: src, mem: mem} }

// Left returns the bytes of address space that are still uncut.
func (c *Carve) Left() uintptr { return c.mem.Size - c.next }

// Reset lets c cut from the front again. Everything that was cut before must have been
// decommitted and be in nobody's hands.
func (c *Carve) Reset() { c.next = 0 }

// Memory returns the range that c cuts from.
func (c *Carve) Memory() Memory { return c.mem }

// Reserve cuts off the next size bytes, and one granule of guard behind them.
func (c *Carve) Reserve(size uintptr) (Memory, error) {
	size, err := roundReserve(size)
	if err != nil {
		return Memory{}, err
	}
	if size > c.Left() {
		return Memory{}, &memory.Exhausted{Op: "page: carve", Need: size, Have: c.Left(), Limit: c.mem.Size}
	}
	m := Memory{Base: unsafe.Add(c.mem.Base, c.next), Size: size}
	c.next = min(align.Up(c.next+size+Granule, BaseAlign), c.mem.Size)
	return m, nil
}

// Commit passes on, at m's place in the large reservation.
func (c *Carve) Commit(m Memory, off, size uintptr) error {
	checkRange("Commit", m, off, size)
	return c.src.Commit(c.mem, c.place(m)+off, size)
}

// Decommit passes on, at m's place in the large reservation.
func (c *Carve) Decommit(m Memory, off, size uintptr) error {
	checkRange("Decommit", m, off, size)
	return c.src.Decommit(c.mem, c.place(m)+off, size)
}

// Release does nothing: addresses go back with the whole.
func (c *Carve) Release(Memory) error { return nil }

func (c *Carve) place(m Memory) uintptr { return uintptr(m.Base) - uintptr(c.mem.Base) }
