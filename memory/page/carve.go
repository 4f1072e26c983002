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
// A Carve may cut up a part that another one has cut, as a manager within a manager does, if
// its source is that other one or stands on it (see [Layered]). If the source is [Watched], as
// that other one and a [Limit] on it are, it is closed with it.
//
// Invariants, verified by Check:
//
//	(1) next <= mem.Size, and next is a multiple of BaseAlign or mem.Size
//	(2) a closed Carve has no memory and nobody who watches
type Carve struct {
	src      Source
	mem      Memory
	next     uintptr
	calls    int        // of src that are under way
	watchers []*watcher // oldest first
	unwatch  func()     // takes back that the end of src closes this one; nil: src has none
}

type watcher struct{ lost func() }

// carves are all that are open, so that no two cut up the same bytes. A Carve that was
// dropped without Close leaves the list when it is collected.
var carves struct {
	sync.Mutex
	open []weak.Pointer[Carve]
}

// NewCarve cuts from mem, a reservation of src or a part of one, which stays the caller's to
// release, after Close. The error wraps memory.ErrConfig if src is nil, if mem is empty, not aligned
// to BaseAlign or not of whole granules, or if another open Carve cuts from some of the same bytes
// and they are not a part that it has cut off. If src has ended it is memory.ErrClosed. Cost:
// proportional to the open Carves of the process.
func NewCarve(src Source, mem Memory) (*Carve, error) {
	if src == nil || mem.Base == nil || mem.Size == 0 || !mem.sound() {
		return nil, fmt.Errorf("page: a Carve of %d bytes at %p from the source %T; wanted are a source and whole granules of %d, aligned to %d: %w",
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

// enlist takes c up among those that are open.
func (c *Carve) enlist() error {
	carves.Lock()
	defer carves.Unlock()
	carves.open = slices.DeleteFunc(carves.open, func(w weak.Pointer[Carve]) bool {
		o := w.Value()
		return o == nil || o.mem.Base == nil
	})
	for _, w := range carves.open {
		if o := w.Value(); o != nil && o.overlaps(c.mem) && !(o.cut(c.mem) && o.under(c.src)) {
			return fmt.Errorf("page: the %d bytes at %p overlap the %d bytes at %p that another Carve cuts up: %w",
				c.mem.Size, c.mem.Base, o.mem.Size, o.mem.Base, memory.ErrConfig)
		}
	}
	carves.open = append(carves.open, weak.Make(c))
	return nil
}

// cut reports whether m is a part that c has cut off: cutting that up again is nobody else's
// business. All of c's own bytes are no part.
func (c *Carve) cut(m Memory) bool {
	off := uintptr(m.Base) - uintptr(c.mem.Base)
	return off < c.next && m.Size <= c.next-off && m.Size < c.mem.Size
}

// under reports whether what src does passes through c.
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

// Close ends c: what stands on it is told, newest first and each once, and must not touch its
// memory any more. The large reservation is the caller's, to be released afterwards. A second
// Close does nothing. If somebody who is told panics the others are told all the same, and the
// panic goes on.
func (c *Carve) Close() {
	carves.Lock()
	unwatch := c.unwatch
	c.src, c.mem, c.next, c.unwatch = nil, Memory{}, 0, nil
	carves.Unlock()
	if unwatch != nil {
		unwatch()
	}
	c.tell()
}

func (c *Carve) tell() {
	defer func() {
		if len(c.watchers) > 0 {
			c.tell() // the last one did not return
		}
	}()
	for n := len(c.watchers); n > 0; n = len(c.watchers) {
		w := c.watchers[n-1]
		c.watchers = slices.Delete(c.watchers, n-1, n)
		w.lost()
	}
}

// Watch has lost called at Close; it returns nil once closed, see [Watched].
func (c *Carve) Watch(lost func()) (unwatch func()) {
	if c.src == nil {
		return nil
	}
	w := &watcher{lost}
	c.watchers = append(c.watchers, w)
	return func() {
		c.watchers = slices.DeleteFunc(c.watchers, func(o *watcher) bool { return o == w })
	}
}

// Left returns the bytes of address space that are still uncut.
func (c *Carve) Left() uintptr { return c.mem.Size - c.next }

// Reset lets c cut from the front again. Everything that was cut before must have been
// decommitted and be in nobody's hands: while somebody watches it is a [*memory.Misuse].
func (c *Carve) Reset() {
	if n := len(c.watchers); n > 0 {
		panic(&memory.Misuse{Package: "page", Op: "Reset", Addr: uintptr(c.mem.Base), Size: c.mem.Size,
			Reason: fmt.Sprintf("%d still stand on this Carve: close them first", n)})
	}
	c.next = 0
}

// PageSize passes on; a closed Carve commits nothing, in Granules.
func (c *Carve) PageSize() uintptr { return SizeOf(c.src) }

// AheadTo passes on.
func (c *Carve) AheadTo() uintptr { return aheadOf(c.src) }

// Busy reports whether the source of c commits or decommits for it just now: whoever is told of
// the end of c then is called out of there.
func (c *Carve) Busy() bool { return c.calls > 0 }

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

// Commit passes on, at m's place in the large reservation. What c has not cut is a
// [*memory.Misuse].
func (c *Carve) Commit(m Memory, off, size uintptr) error {
	if c.src == nil {
		return memory.ErrClosed
	}
	checkRange("Commit", m, off, size)
	c.calls++
	defer func() { c.calls-- }()
	return c.src.Commit(c.mem, c.place("Commit", m)+off, size)
}

// Decommit passes on, at m's place in the large reservation.
func (c *Carve) Decommit(m Memory, off, size uintptr) error {
	if c.src == nil {
		return memory.ErrClosed
	}
	checkRange("Decommit", m, off, size)
	c.calls++
	defer func() { c.calls-- }()
	return c.src.Decommit(c.mem, c.place("Decommit", m)+off, size)
}

// Release does nothing: addresses go back with the whole.
func (c *Carve) Release(Memory) error { return nil }

// place returns where m lies in the large reservation, and panics if that is nowhere.
func (c *Carve) place(op string, m Memory) uintptr {
	off := uintptr(m.Base) - uintptr(c.mem.Base)
	if off >= c.next || m.Size > c.next-off {
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
