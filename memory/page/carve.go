package page

import (
	"fmt"
	"slices"
	"sync"
	"unsafe"
	"weak"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/internal/watch"
)

// A Carve is a Source that takes its reservations from one large reservation, front to back. All its reservations lie
// in one range of addresses: a comparison shows whether a pointer belongs to the Carve. Released addresses are not
// reserved again until Reset, so that a stale pointer does not point into a newer block. A Carve belongs to one
// goroutine at a time.
//
// The caller must close the Carve before releasing the large reservation. A Carve is closed after Close, and after its
// source has ended, if the source is [Watched]. Allocators in the Carve are closed with it. In a closed Carve, Reserve,
// Commit and Decommit fail with memory.ErrClosed.
//
// A Carve may divide a reservation of another Carve. The source of the inner Carve must be the outer Carve, or
// a source that passes calls on to the outer Carve (see [Layered]).
type Carve struct {
	// Invariants, verified by Check:
	//
	//	(1) next <= mem.Size, and next is a multiple of BaseAlign or mem.Size
	//	(2) a closed Carve has no memory and no watchers

	src      Source
	mem      Memory
	next     uintptr // bytes from the front that are reserved
	calls    int     // calls of src that are running
	watchers watch.List
	unwatch  func() // stops watching src; nil if src is not Watched
}

// This list has all open Carves, so that no two divide the same bytes. A Carve that became garbage without Close
// is removed when it is collected.
var carves struct {
	sync.Mutex
	open []weak.Pointer[Carve]
}

// NewCarve returns a Carve of mem. mem must be a reservation of src, or a part of such a reservation. The caller still
// owns mem and must release it after Close.
//
// The error wraps memory.ErrConfig if src is nil, or if mem is empty, not aligned to BaseAlign or not of whole
// granules. It also wraps memory.ErrConfig if mem overlaps the memory of another open Carve. The only exception is a
// Carve inside an outer Carve. Its mem must lie in a reservation of the outer Carve, and be smaller than the outer
// [Carve.Memory]. Its src must be the outer Carve or pass calls on to the outer Carve (see [Layered]). If src is
// [Watched] and has ended, the error is memory.ErrClosed. Cost: proportional to the open Carves of the process.
func NewCarve(src Source, mem Memory) (*Carve, error) {
	if invariant.Nil(src) || mem.Base == nil || mem.Size == 0 || !mem.sound() {
		return nil, fmt.Errorf("page: a Carve of %d bytes at %p from the source %T: want a source and whole granules of %d, aligned to %d: %w",
			mem.Size, mem.Base, src, Granule, BaseAlign, memory.ErrConfig)
	}
	c := &Carve{src: src, mem: mem}
	if err := c.enlist(); err != nil {
		return nil, err
	}
	if w, ok := src.(Watched); ok {
		if c.unwatch = w.Watch(c.Close); c.unwatch == nil {
			c.Close()
			return nil, memory.ErrClosed
		}
	}
	return c, nil
}

// enlist adds c to the open Carves.
func (c *Carve) enlist() error {
	carves.Lock()
	defer carves.Unlock()
	carves.open = slices.DeleteFunc(carves.open, func(w weak.Pointer[Carve]) bool {
		o := w.Value()
		return o == nil || o.mem.Base == nil
	})
	for _, w := range carves.open {
		if o := w.Value(); o != nil && o.overlaps(c.mem) && !(o.cut(c.mem) && o.under(c.src)) {
			return fmt.Errorf("page: the %d bytes at %p overlap the %d bytes at %p of another Carve: %w",
				c.mem.Size, c.mem.Base, o.mem.Size, o.mem.Base, memory.ErrConfig)
		}
	}
	carves.open = append(carves.open, weak.Make(c))
	return nil
}

// cut reports whether m lies in the reserved bytes of c, but is not all of c. Then another Carve may divide it.
func (c *Carve) cut(m Memory) bool {
	off := uintptr(m.Base) - uintptr(c.mem.Base)
	return off < c.next && m.Size <= c.next-off && m.Size < c.mem.Size
}

// under reports whether src passes calls on to c.
func (c *Carve) under(src Source) bool {
	for {
		switch s := src.(type) {
		case *Carve:
			if s == c {
				return true
			}
			src = s.src
		case Layered:
			src = s.Under()
		default:
			return false
		}
	}
}

func (c *Carve) overlaps(m Memory) bool {
	return uintptr(c.mem.Base)-uintptr(m.Base) < m.Size || uintptr(m.Base)-uintptr(c.mem.Base) < c.mem.Size
}

// Close ends c. It calls the functions that are registered with Watch, newest first, each once. These functions close
// the allocators in c. Close decommits nothing: a [Limit] below c still counts the committed bytes. After Close the
// caller must release the memory that NewCarve received. A second Close does nothing. If a function panics, Close calls
// the other functions nevertheless, and then panics with the value of the last panic.
func (c *Carve) Close() {
	carves.Lock()
	unwatch := c.unwatch
	c.src, c.mem, c.next, c.unwatch = nil, Memory{}, 0, nil
	carves.Unlock()
	if unwatch != nil {
		unwatch()
	}
	c.watchers.Tell()
}

// Watch registers a function lost that is called once, when c is closed or its source ends. The function unwatch
// removes lost again. If c is closed already, Watch returns nil and does not call lost.
func (c *Carve) Watch(lost func()) (unwatch func()) {
	if c.src == nil {
		return nil
	}
	return c.watchers.Add(lost)
}

// Left returns the bytes of address space that are not reserved yet, or 0 if c is closed. Guards and the alignment of
// reservations count as reserved.
func (c *Carve) Left() uintptr { return c.mem.Size - c.next }

// Reset makes all addresses of c available again. Before Reset, the caller must decommit all reservations of c. The
// caller must not use these reservations afterwards. If an allocator still watches c (see [Carve.Watch]), Reset panics
// with a [*memory.Misuse]. If c is closed, Reset does nothing.
func (c *Carve) Reset() {
	if n := c.watchers.Len(); n > 0 {
		panic(&memory.Misuse{Package: "page", Op: "Reset", Addr: uintptr(c.mem.Base), Size: c.mem.Size,
			Reason: fmt.Sprintf("%d allocators still use this Carve: close them first", n)})
	}
	c.next = 0
}

// PageSize returns [SizeOf] of the source, in bytes. If c is closed, it returns [Granule].
func (c *Carve) PageSize() uintptr { return SizeOf(below(c)) }

// AheadTo returns the boundary in bytes that the source prefers for commits (see [Ahead]). AheadTo returns 0 if the
// source has no such boundary, or if c is closed.
func (c *Carve) AheadTo() uintptr { return aheadOf(below(c)) }

// Busy reports whether the source is running Commit or Decommit for c. If c ends during such a call, the functions
// of [Carve.Watch] run before the call returns.
func (c *Carve) Busy() bool { return c.calls > 0 }

// Memory returns the memory that NewCarve received, or the zero Memory if c is closed.
func (c *Carve) Memory() Memory { return c.mem }

// Reserve reserves the next size bytes, rounded up to a Granule and aligned to BaseAlign. At least one granule after
// them is never reserved, as a guard. A reservation that ends where c ends has no such guard. If size is 0, or larger
// than any system can reserve, the error wraps memory.ErrConfig. If fewer bytes are left, the error is a
// [*memory.Exhausted].
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

// Commit commits size bytes of the reservation m, from the offset off. If the source fails, Commit returns its error.
// Commit of an open Carve panics with a [*memory.Misuse] if m does not lie in the reserved addresses of c. It also
// panics if the range does not consist of whole granules inside m, or if the source panics.
func (c *Carve) Commit(m Memory, off, size uintptr) error {
	if c.src == nil {
		return memory.ErrClosed
	}
	checkRange("Commit", m, off, size)
	c.calls++
	defer func() { c.calls-- }()
	return c.src.Commit(c.mem, c.place("Commit", m)+off, size)
}

// Decommit decommits size bytes of the reservation m, from the offset off. If the source fails, Decommit returns its
// error. Decommit of an open Carve panics with a [*memory.Misuse] if m does not lie in the reserved addresses of c. It
// also panics if the range does not consist of whole granules inside m, or if the source panics.
func (c *Carve) Decommit(m Memory, off, size uintptr) error {
	if c.src == nil {
		return memory.ErrClosed
	}
	checkRange("Decommit", m, off, size)
	c.calls++
	defer func() { c.calls-- }()
	whole := c.mem
	whole.inside, whole.open = m.inside, m.open
	return c.src.Decommit(whole, c.place("Decommit", m)+off, size)
}

// Release does nothing and returns nil: the addresses are released with the large reservation.
func (c *Carve) Release(Memory) error { return nil }

// place returns the offset of m in the large reservation, and panics if m is not in it.
func (c *Carve) place(op string, m Memory) uintptr {
	off := uintptr(m.Base) - uintptr(c.mem.Base)
	if off >= c.next || m.Size > c.next-off {
		panic(&memory.Misuse{Package: "page", Op: op, Addr: uintptr(m.Base), Size: m.Size, Reason: "the memory is not a reservation of this Carve"})
	}
	return off
}

// Check returns the first error in the metadata, or nil.
func (c *Carve) Check() error {
	switch {
	case c.next > c.mem.Size || c.next%BaseAlign != 0 && c.next != c.mem.Size:
		return fmt.Errorf("page: the next reservation at %d is not a multiple of %d within %d bytes", c.next, BaseAlign, c.mem.Size)
	case c.mem.Base == nil && c.watchers.Len() > 0:
		return fmt.Errorf("page: %d watchers of a closed Carve", c.watchers.Len())
	}
	return nil
}
