package compose

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// A Counted keeps books of what goes through it: blocks and bytes live, the most there were,
// requests that were refused. They are its own, not those of the inner allocator: several
// Counteds around one heap tell its users apart.
//
//	ai, err := compose.NewCounted(heap, compose.CountedConfig{})
//	...
//	ai.Stats().InUse
//
// It remembers the address and the size of every live block, in the Go heap, and so makes up for
// an inner allocator that has only Alloc and Free: FreeAny and SizeOf work on every one, SizeOf
// to the byte, and a double free, a foreign or interior pointer and a wrong size are a
// *memory.Misuse, exactly, before inner is touched. A block of size 0 costs inner one byte, so
// that every block has an address of its own.
//
// InUse, Requested and Measured are all the bytes that callers asked for. Reserved, Committed,
// LargestFree and Free are inner's where it reports any; else Reserved and Committed are InUse.
//
// Blocks that die behind its back, by a Reset or Rewind of inner, are live in its books, until
// Reset or until inner hands their address out again: then that Alloc panics with a
// *memory.Misuse, the books have forgotten the old block, inner has the new one back, and the
// next call works. An inner allocator whose source has ended, as its own books and its Owns say,
// takes the Counted with it. All else is inner's: alignment, zeroing, the goroutine rule.
//
// Invariants, verified by Check in this order:
//
//	(1) those of the table of blocks
//	(2) allocs - frees blocks are live, none once closed, and their bytes are no more than peak
//	(3) inner, if it reports, has as many blocks live at least
type Counted struct {
	in      part
	blocks  table
	onEvent func(Event)

	allocs   uint64
	frees    uint64
	failures uint64
	peak     uint64 // highest blocks.sum, bytes
	closed   bool
	telling  bool           // OnEvent is running
	witness  unsafe.Pointer // the newest block, freed or not
	owner    invariant.Owner
}

// CountedConfig configures NewCounted.
type CountedConfig struct {
	// OnEvent is told of every call that does something: of an Alloc and a Resize when inner has
	// done it, of a Free and a Reset before, and before these books are changed. It may ask the
	// Counted for Stats, Check, Owns, Base and what it Can; every other call is a *memory.Misuse.
	// If it panics the call has not happened: inner gets the block of an Alloc back, and that of a
	// Resize has its old size again, though what it was cut off may hold anything. Only where inner
	// can do that no more, since OnEvent has used the room, has a Resize happened. nil: nobody is
	// told.
	OnEvent func(Event)
}

// An Event is one call of a Counted.
type Event struct {
	Op   Op
	Addr uintptr // of the block; 0 for Refused and Emptied
	Size uintptr // bytes asked for; for Emptied the bytes that were live
	Old  uintptr // bytes before a Resized
	Err  error   // of a Refused
}

// An Op is the kind of an Event.
type Op uint8

// The kinds of events.
const (
	Allocated Op = iota // by Alloc
	Freed               // by Free or FreeAny
	Resized             // by Resize
	Refused             // an Alloc that failed, for whatever reason
	Emptied             // by Reset
)

func (o Op) String() string {
	if names := [...]string{"allocated", "freed", "resized", "refused", "emptied"}; int(o) < len(names) {
		return names[o]
	}
	return fmt.Sprintf("Op(%d)", uint8(o))
}

// NewCounted keeps books of what goes through it to inner.
func NewCounted(inner memory.Allocator, cfg CountedConfig) (*Counted, error) {
	if err := usable("new Counted", "inner", inner); err != nil {
		return nil, err
	}
	c := &Counted{in: partOf(inner), onEvent: cfg.OnEvent}
	c.blocks.grow()
	return c, nil
}

// Inner returns what it counts for.
func (c *Counted) Inner() memory.Allocator { return c.in.Allocator }

// Can returns what inner can, and what the books make up for.
func (c *Counted) Can() Capabilities {
	return c.in.can() | Owns | Sizes | FreesAny | Reports | Checks
}

// Alloc returns a block of inner, whose error it passes on. Cost: a probe of the table.
func (c *Counted) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	if c.closed {
		return nil, memory.ErrClosed
	}
	c.enter("Alloc", nil, size)
	p, err := c.in.Alloc(max(size, 1), align)
	if err != nil {
		return nil, c.refused(size, err)
	}
	if i, known := c.blocks.find(uintptr(p)); known {
		c.twice(i, p, size)
	}
	if c.onEvent != nil {
		c.tellOrGiveBack(p, size)
	}
	c.blocks.add(uintptr(p), size)
	c.witness = p
	c.allocs++
	c.peak = max(c.peak, c.blocks.sum)
	return p, nil
}

func (c *Counted) refused(size uintptr, err error) error {
	if wants(err) {
		c.failures++
	}
	c.tell(Event{Op: Refused, Size: size, Err: err})
	return err
}

// tellOrGiveBack tells of an Alloc. If that panics inner gets the block back.
func (c *Counted) tellOrGiveBack(p unsafe.Pointer, size uintptr) {
	told := false
	defer func() {
		if !told {
			c.in.Free(p, max(size, 1))
		}
	}()
	c.tell(Event{Op: Allocated, Addr: uintptr(p), Size: size})
	told = true
}

// twice is what becomes of a block at an address whose block, in slot i, is live by the books.
func (c *Counted) twice(i int, p unsafe.Pointer, size uintptr) {
	old := c.blocks.slots[i].size
	c.blocks.remove(i)
	c.frees++
	c.in.Free(p, max(size, 1))
	panic(misuse("Alloc", p, size, "the inner allocator handed out a block that is live, of %d bytes: it was reset or used behind the books", old))
}

// tell passes an event on, if anybody listens.
func (c *Counted) tell(e Event) {
	if c.onEvent == nil {
		return
	}
	c.telling = true
	defer func() { c.telling = false }()
	c.onEvent(e)
}

// enter refuses a call out of OnEvent, and on a closed allocator.
func (c *Counted) enter(op string, p unsafe.Pointer, size uintptr) {
	if invariant.Debug {
		c.owner.Touch()
	}
	if c.telling || c.closed {
		c.shut(op, p, size)
	}
}

//go:noinline
func (c *Counted) shut(op string, p unsafe.Pointer, size uintptr) {
	if c.closed {
		panic(misuse(op, p, size, "the allocator is closed"))
	}
	panic(misuse(op, p, size, "OnEvent uses the allocator that it is told of"))
}

// slot returns the slot of the live block at p, or panics with a *memory.Misuse.
func (c *Counted) slot(op string, p unsafe.Pointer, size uintptr) int {
	c.enter(op, p, size)
	i, ok := c.blocks.find(uintptr(p))
	if !ok {
		panic(misuse(op, p, size, "no live block starts there: freed twice, interior, or not from this allocator"))
	}
	return i
}

// sized is slot for a caller who says what size the block has.
func (c *Counted) sized(op string, p unsafe.Pointer, size uintptr) int {
	i := c.slot(op, p, size)
	if has := c.blocks.slots[i].size; has != size {
		panic(misuse(op, p, size, "wrong size: the block was requested with %d bytes", has))
	}
	return i
}

// Free gives a block back. A nil pointer is a no-op. What is not a live block, to the byte,
// panics with a *memory.Misuse, as does what inner refuses; nothing has changed then.
func (c *Counted) Free(p unsafe.Pointer, size uintptr) {
	if p != nil {
		c.sized("Free", p, size)
		c.tell(Event{Op: Freed, Addr: uintptr(p), Size: size})
		c.in.Free(p, max(size, 1))
		c.freed(p)
	}
}

// FreeAny is Free for a caller who does not know the size; inner need not have it.
func (c *Counted) FreeAny(p unsafe.Pointer) {
	if p == nil {
		return
	}
	size := c.blocks.slots[c.slot("FreeAny", p, 0)].size
	c.tell(Event{Op: Freed, Addr: uintptr(p), Size: size})
	if c.in.anyFreer != nil {
		c.in.anyFreer.FreeAny(p)
	} else {
		c.in.Free(p, max(size, 1))
	}
	c.freed(p)
}

// freed takes a block out of the books. It is looked up again, since inner may have moved it:
// what it calls may use the allocator.
func (c *Counted) freed(p unsafe.Pointer) {
	if i, ok := c.blocks.find(uintptr(p)); ok {
		c.blocks.remove(i)
		c.frees++
	}
}

// SizeOf returns the size in bytes that the live block at p was requested with.
func (c *Counted) SizeOf(p unsafe.Pointer) uintptr {
	c.ended()
	return c.blocks.slots[c.slot("SizeOf", p, 0)].size
}

// Resize resizes a block in place where inner can. Misuse panics as in Free.
func (c *Counted) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	if c.in.resizer == nil {
		c.ended()
	}
	c.sized("Resize", p, oldSize)
	if !c.in.resize(p, max(oldSize, 1), max(newSize, 1), "inner") {
		return false
	}
	if c.onEvent != nil {
		c.tellOrResizeBack(p, oldSize, newSize)
	}
	c.resized(p, newSize)
	return true
}

// tellOrResizeBack tells of a Resize. If that panics the block has its old size again: who resizes
// must not be left with a block that is smaller than what its books say.
func (c *Counted) tellOrResizeBack(p unsafe.Pointer, oldSize, newSize uintptr) {
	told := false
	defer func() {
		if !told && !c.in.resize(p, max(newSize, 1), max(oldSize, 1), "inner") {
			c.resized(p, newSize)
		}
	}()
	c.tell(Event{Op: Resized, Addr: uintptr(p), Size: newSize, Old: oldSize})
	told = true
}

// resized enters a block's size. It is looked up, since inner may have moved its slot: what it calls
// may use the allocator.
func (c *Counted) resized(p unsafe.Pointer, size uintptr) {
	if i, ok := c.blocks.find(uintptr(p)); ok {
		c.blocks.resize(i, size)
		c.peak = max(c.peak, c.blocks.sum)
	}
}

// Owns reports whether p lies in a live block or, where inner can tell, in its memory. Cost: a
// probe where a block starts, else inner's, else a walk over the blocks.
func (c *Counted) Owns(p unsafe.Pointer) bool {
	if c.ended() || p == nil {
		return false
	}
	if _, ok := c.blocks.find(uintptr(p)); ok {
		return true
	}
	if c.in.owner != nil {
		return c.in.owner.Owns(p)
	}
	for _, s := range c.blocks.slots {
		if s.addr != 0 && uintptr(p)-s.addr < s.size {
			return true
		}
	}
	return false
}
