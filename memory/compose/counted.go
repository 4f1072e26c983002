package compose

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// CountedConfig configures [NewCounted].
type CountedConfig struct {
	// OnEvent, if not nil, is called once for each event, before the event changes the statistics. There is one exception:
	// Failures already counts a refused Alloc. For an Alloc or a Resize, OnEvent is called after the call of inner. For a
	// Free or a Reset, OnEvent is called before the call of inner. If inner then panics, the event was reported although
	// no block was freed.
	//
	// OnEvent may call Stats, Check, Owns, Base, Extent and Generation of the allocator. If OnEvent calls Alloc, Free,
	// FreeAny, SizeOf, Resize, Reset, Trim or Close of the allocator, that call panics with a *memory.Misuse. A save or a
	// load fails with an error that wraps save.ErrBusy.
	//
	// Close, loading a state, and the end of the memory of inner free blocks without an event. If OnEvent closes the page
	// source of inner, Alloc returns memory.ErrClosed, and Resize returns false. If inner returns the address of a live
	// block, Alloc panics, and the live block counts as freed without an event.
	//
	// If OnEvent panics, the panic passes through, and the call is undone. The new block of an Alloc is freed. The
	// block of a Resize gets its old size back, but bytes that Resize cut off may have changed. If inner cannot undo the
	// Resize, the block keeps its new size. This happens if OnEvent used the memory after the block. It also happens if
	// inner is an arena.Region and the block is not the last one in its region.
	OnEvent func(Event)
}

// An Event describes a call of the allocator that [NewCounted] returns.
type Event struct {
	Op   Op
	Addr uintptr // the address of the block; 0 for Refused and Emptied
	Size uintptr // the requested bytes; for Resized the new size, for Emptied the bytes that were live
	Old  uintptr // for Resized: the old size; else 0
	Err  error   // for Refused: the error of Alloc; else nil
}

// An Op says which call an [Event] describes.
type Op uint8

// The kinds of events.
const (
	Allocated Op = iota // an Alloc
	Freed               // a Free or FreeAny
	Resized             // a Resize that returned true
	Refused             // an Alloc that inner refused, for any reason
	Emptied             // a Reset
)

// String returns a name such as "allocated". For a number that is no kind it returns a text such as "Op(9)".
func (o Op) String() string {
	if names := [...]string{"allocated", "freed", "resized", "refused", "emptied"}; int(o) < len(names) {
		return names[o]
	}
	return fmt.Sprintf("Op(%d)", uint8(o))
}

// NewCounted returns an allocator that passes requests on to inner and keeps its own statistics. Several Counters
// around one heap attribute the memory of the heap to its users:
//
//	ai, err := compose.NewCounted(heap, compose.CountedConfig{})
//	...
//	ai.Stats().InUse
//
// The parameter inner needs only Alloc and Free. If inner is nil, the error wraps memory.ErrConfig. A double free, a
// foreign or interior pointer and a wrong size panic with a *memory.Misuse before inner is called. Requests of size 0
// take one byte of inner, so that each block has its own address. [Counter] describes the statistics.
//
// A Reset of inner, or a Rewind or Advance of an arena, frees blocks without this Counter. These blocks stay live in
// the statistics of the Counter until Reset of the Counter. If Alloc of inner returns the address of such a block
// again, Alloc panics with a *memory.Misuse; the old block then counts as freed, and the next call works. If inner
// reports fewer live blocks than the Counter has, Check returns an error.
//
// If Stats of inner do not count some of its blocks, Check returns an error while such a block is live, and InUse may
// exceed Committed. A slab.Heap does not count the blocks of its Config.Large. Reset leaks these blocks, so use
// [NewBySize] instead. A tiers.Tag counts no block unless tiers.Config.Tags is set.
//
// Close closes inner if inner is an io.Closer, and forgets all blocks without freeing them. If Close of inner fails,
// the Counter is closed nevertheless, and another Close tries again to close inner. If Close of inner panics, the
// Counter is closed only if inner then reports fewer live blocks than the Counter has. If not, nothing has changed. If
// several Counters share one heap, close the heap and not a Counter. To reset the heap, call Reset of every Counter
// before the next Alloc: each call resets inner, and so frees the blocks of all Counters.
//
// Alignment, zeroing and lifetimes are as in inner. The Counter belongs to one goroutine at a time, even if inner is
// safe for concurrent use. Cost: two probes of a hash table for each Alloc and Free, and 16 bytes for each slot of the
// table, which is at most 3/4 full. Only the table is allocated on the Go heap. The table grows only if more blocks are
// live than ever before.
func NewCounted(inner memory.Allocator, cfg CountedConfig) (Counter, error) {
	c, err := newCounted(inner, cfg)
	if err != nil {
		return nil, err
	}
	return expose(c, c.in.can()|sizes).(Counter), nil
}

func newCounted(inner memory.Allocator, cfg CountedConfig) (*counted, error) {
	if err := usable("new Counted", "inner", inner); err != nil {
		return nil, err
	}
	c := &counted{in: partOf(inner), onEvent: cfg.OnEvent}
	c.blocks.grow()
	return c, nil
}

// A counted keeps statistics of the blocks of its inner allocator.
//
// Invariants, verified by Check in this order:
//
//	(1) those of the table of blocks
//	(2) allocs - frees blocks are live, none once closed, and their bytes are no more than peak
//	(3) inner, if it reports statistics, has at least as many live blocks
type counted struct {
	in      part
	blocks  table
	onEvent func(Event)

	allocs   uint64
	frees    uint64
	failures uint64
	peak     uint64 // high-water mark of blocks.sum, bytes
	closed   bool
	event    bool           // OnEvent is running
	witness  unsafe.Pointer // the newest block, live or freed
	owner    invariant.Owner
}

func (c *counted) whole() whole { return c }

func (c *counted) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	if c.closed {
		return nil, memory.ErrClosed
	}
	c.enter("Alloc", nil, size)
	p, err := c.in.Alloc(max(size, 1), align)
	if err != nil {
		return nil, c.refused(size, err)
	}
	if c.closed { // by a function that inner has called; inner has stayed open
		c.in.Free(p, max(size, 1))
		return nil, memory.ErrClosed
	}
	if i, known := c.blocks.find(uintptr(p)); known {
		c.twice(i, p, size)
	}
	if c.onEvent != nil {
		if c.reportOrFree(p, size); c.closed { // OnEvent has closed the source, and called Stats
			return nil, memory.ErrClosed
		}
	}
	c.blocks.add(uintptr(p), size)
	c.witness = p
	c.allocs++
	c.peak = max(c.peak, c.blocks.sum)
	if c.onEvent != nil && c.ended() {
		return nil, memory.ErrClosed
	}
	return p, nil
}

func (c *counted) refused(size uintptr, err error) error {
	if exhausted(err) {
		c.failures++
	}
	c.report(Event{Op: Refused, Size: size, Err: err})
	return err
}

// reportOrFree reports an Alloc. If OnEvent panics, inner gets the block back.
func (c *counted) reportOrFree(p unsafe.Pointer, size uintptr) {
	reported := false
	defer func() {
		if !reported {
			c.in.Free(p, max(size, 1))
		}
	}()
	c.report(Event{Op: Allocated, Addr: uintptr(p), Size: size})
	reported = true
}

// twice handles an address that inner returned although its block, in slot i, is live.
func (c *counted) twice(i int, p unsafe.Pointer, size uintptr) {
	old := c.blocks.slots[i].size
	c.blocks.remove(i)
	c.frees++
	c.in.Free(p, max(size, 1))
	panic(misuse("Alloc", p, size, "the inner allocator returned the address of a live block of %d bytes: the block was freed without this allocator", old))
}

// report calls OnEvent.
func (c *counted) report(e Event) {
	if c.onEvent == nil {
		return
	}
	c.event = true
	defer func() { c.event = false }()
	c.onEvent(e)
}

// enter refuses a call from OnEvent, and a call of a closed allocator.
func (c *counted) enter(op string, p unsafe.Pointer, size uintptr) {
	if invariant.Debug {
		c.owner.Touch()
	}
	if c.event || c.closed {
		c.refuse(op, p, size)
	}
}

//go:noinline
func (c *counted) refuse(op string, p unsafe.Pointer, size uintptr) {
	if c.closed {
		panic(misuse(op, p, size, "the allocator is closed"))
	}
	panic(misuse(op, p, size, "OnEvent calls the allocator of the event: it may call Stats, Check, Owns and Base only"))
}

// slot returns the slot of the live block at p, or panics with a *memory.Misuse.
func (c *counted) slot(op string, p unsafe.Pointer, size uintptr) int {
	c.enter(op, p, size)
	i, ok := c.blocks.find(uintptr(p))
	if !ok {
		panic(misuse(op, p, size, "no live block starts there: freed twice, interior, or not from this allocator"))
	}
	return i
}

// sized is slot, and panics if the block does not have this size.
func (c *counted) sized(op string, p unsafe.Pointer, size uintptr) int {
	i := c.slot(op, p, size)
	if has := c.blocks.slots[i].size; has != size {
		panic(misuse(op, p, size, "wrong size: the block was requested with %d bytes", has))
	}
	return i
}

func (c *counted) Free(p unsafe.Pointer, size uintptr) {
	if p != nil {
		c.sized("Free", p, size)
		c.report(Event{Op: Freed, Addr: uintptr(p), Size: size})
		c.in.Free(p, max(size, 1))
		c.freed(p)
	}
}

func (c *counted) FreeAny(p unsafe.Pointer) {
	if p == nil {
		return
	}
	size := c.blocks.slots[c.slot("FreeAny", p, 0)].size
	c.report(Event{Op: Freed, Addr: uintptr(p), Size: size})
	if c.in.anyFreer != nil {
		c.in.anyFreer.FreeAny(p)
	} else {
		c.in.Free(p, max(size, 1))
	}
	c.freed(p)
}

// freed removes a block from the table. It finds the block again, because functions that inner calls may
// have moved it.
func (c *counted) freed(p unsafe.Pointer) {
	if i, ok := c.blocks.find(uintptr(p)); ok {
		c.blocks.remove(i)
		c.frees++
	}
}

// Generation returns Generation of inner, or 0 if inner does not have this method. Any goroutine may call it.
func (c *counted) Generation(p unsafe.Pointer) uint32 { return c.in.generation(p) }

func (c *counted) SizeOf(p unsafe.Pointer) uintptr {
	c.ended()
	return c.blocks.slots[c.slot("SizeOf", p, 0)].size
}

func (c *counted) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	c.sized("Resize", p, oldSize)
	if !c.in.resizer.Resize(p, max(oldSize, 1), max(newSize, 1)) {
		return false
	}
	if c.onEvent != nil {
		c.reportOrResizeBack(p, oldSize, newSize)
	}
	c.resized(p, newSize)
	return c.onEvent == nil || !c.ended()
}

// reportOrResizeBack reports a Resize. If OnEvent panics, the block gets its old size back: its user must not
// be left with a block that is smaller than the user knows.
func (c *counted) reportOrResizeBack(p unsafe.Pointer, oldSize, newSize uintptr) {
	reported := false
	defer func() {
		if !reported && !c.in.resizer.Resize(p, max(newSize, 1), max(oldSize, 1)) {
			c.resized(p, newSize)
		}
	}()
	c.report(Event{Op: Resized, Addr: uintptr(p), Size: newSize, Old: oldSize})
	reported = true
}

// resized records a block's new size. It finds the block again, because functions that inner calls may have
// moved it.
func (c *counted) resized(p unsafe.Pointer, size uintptr) {
	if i, ok := c.blocks.find(uintptr(p)); ok {
		c.blocks.resize(i, size)
		c.peak = max(c.peak, c.blocks.sum)
	}
}
