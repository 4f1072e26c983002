package page

import (
	"fmt"
	"slices"
	"sync"
	"unsafe"
	"weak"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
)

// A Carve is a Source that cuts its reservations out of one larger one, front to back, so
// that everything built on it lies in one range of addresses and a pointer's owner is found
// by comparing. What is released is not cut again before the Carve itself is dropped: a
// stale pointer then cannot land in somebody else's blocks. One goroutine at a time.
//
// Whoever releases the large reservation closes the Carve first. From then on it refuses
// everything with memory.ErrClosed, and what stands on it has been told (see [Watched]).
//
// Invariants, verified by Check:
//
//	(1) next <= mem.Size, and next is a multiple of BaseAlign or mem.Size
//	(2) a closed Carve has no memory and nobody who watches
type Carve struct {
	src      Source
	mem      Memory
	next     uintptr
	watchers []*watcher // oldest first
}

type watcher struct{ lost func() }

// carves are all that are open, so that no two cut up the same bytes. A Carve that was
// dropped without Close leaves the list when it is collected.
var carves struct {
	sync.Mutex
	open []weak.Pointer[Carve]
}

// NewCarve cuts from mem, which stays the caller's to release, after Close. It fails where
// another open Carve cuts from some of the same bytes, unless they are a part that it has cut
// off. Cost: the open Carves of the process.
func NewCarve(src Source, mem Memory) (*Carve, error) {
	carves.Lock()
	defer carves.Unlock()
	carves.open = slices.DeleteFunc(carves.open, func(w weak.Pointer[Carve]) bool {
		c := w.Value()
		return c == nil || c.mem.Base == nil
	})
	for _, w := range carves.open {
		if o := w.Value(); o != nil && o.overlaps(mem) && !o.cut(mem) {
			return nil, fmt.Errorf("page: the %d bytes at %p overlap the %d bytes at %p that another Carve cuts up", mem.Size, mem.Base, o.mem.Size, o.mem.Base)
		}
	}
	c := &Carve{src: src, mem: mem}
	carves.open = append(carves.open, weak.Make(c))
	return c, nil
}

// cut reports whether m is a part that c has cut off: cutting that up again is nobody else's
// business. All of c's own bytes are no part.
func (c *Carve) cut(m Memory) bool {
	off := uintptr(m.Base) - uintptr(c.mem.Base)
	return off < c.next && m.Size <= c.next-off && m.Size < c.mem.Size
}

func (c *Carve) overlaps(m Memory) bool {
	return uintptr(c.mem.Base)-uintptr(m.Base) < m.Size || uintptr(m.Base)-uintptr(c.mem.Base) < c.mem.Size
}

// Close ends c: what stands on it is told, newest first, and must not touch its memory any
// more. The large reservation is the caller's, to be released afterwards. A second Close does
// nothing.
func (c *Carve) Close() {
	carves.Lock()
	c.src, c.mem, c.next = nil, Memory{}, 0
	carves.Unlock()
	for n := len(c.watchers); n > 0; n = len(c.watchers) {
		w := c.watchers[n-1]
		c.watchers = c.watchers[:n-1]
		w.lost()
	}
	c.watchers = nil
}

// Watch has lost called at Close.
func (c *Carve) Watch(lost func()) (unwatch func()) {
	w := &watcher{lost}
	c.watchers = append(c.watchers, w)
	return func() {
		c.watchers = slices.DeleteFunc(c.watchers, func(o *watcher) bool { return o == w })
	}
}

// Left returns the bytes of address space that are still uncut.
func (c *Carve) Left() uintptr { return c.mem.Size - c.next }

// Reset lets c cut from the front again. Everything that was cut before must have been
// decommitted and be in nobody's hands.
func (c *Carve) Reset() { c.next = 0 }

// Memory returns the range that c cuts from; the zero Memory once closed.
func (c *Carve) Memory() Memory { return c.mem }

// Reserve cuts off the next size bytes, and one granule of guard behind them.
func (c *Carve) Reserve(size uintptr) (Memory, error) {
	if c.src == nil {
		return Memory{}, memory.ErrClosed
	}
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
	if c.src == nil {
		return memory.ErrClosed
	}
	checkRange("Commit", m, off, size)
	return c.src.Commit(c.mem, c.place("Commit", m)+off, size)
}

// Decommit passes on, at m's place in the large reservation.
func (c *Carve) Decommit(m Memory, off, size uintptr) error {
	if c.src == nil {
		return memory.ErrClosed
	}
	checkRange("Decommit", m, off, size)
	return c.src.Decommit(c.mem, c.place("Decommit", m)+off, size)
}

// Release does nothing: addresses go back with the whole.
func (c *Carve) Release(Memory) error { return nil }

// place returns where m lies in the large reservation, and panics if that is nowhere.
func (c *Carve) place(op string, m Memory) uintptr {
	off := uintptr(m.Base) - uintptr(c.mem.Base)
	if off > c.next || m.Size > c.mem.Size-off {
		panic(&memory.Misuse{Package: "page", Op: op, Addr: uintptr(m.Base), Size: m.Size, Reason: "the memory was not cut by this Carve"})
	}
	return off
}

// Check verifies the equations above the type.
func (c *Carve) Check() error {
	switch {
	case c.next > c.mem.Size || c.next%BaseAlign != 0 && c.next != c.mem.Size:
		return fmt.Errorf("page: the next cut at %d is no multiple of %d within %d bytes", c.next, BaseAlign, c.mem.Size)
	case c.mem.Base == nil && len(c.watchers) > 0:
		return fmt.Errorf("page: %d stand on a closed Carve", len(c.watchers))
	}
	return nil
}
