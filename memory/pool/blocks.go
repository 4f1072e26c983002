package pool

import (
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
)

const (
	// granuleShift: slots are multiples of 16 bytes, the alignment that every caller of a
	// general allocator counts on. A live bit per granule is 0.8 % and needs no division
	// to find the slot of a pointer, nor to tell an interior one from the start.
	granuleShift = 4
	granuleBytes = 1 << granuleShift

	// batchSlots and batchBytes bound what one refill carves: rarely enough that it does not
	// show, little enough that Peak, which is derived from it, stays honest.
	batchSlots = 64
	batchBytes = 16 << 10

	// defaultReserve is the address space of a pool whose Config does not say.
	defaultReserve = 64 << 20
)

// A Blocks is a pool of equal untyped slots in one reservation that is committed in steps,
// so that a slot never moves.
//
//	base              carved            committed            reserved
//	  | slot | slot | slot | not yet carved | - - - - - - - - - | guard
//
// Slots are not zeroed. A slot belongs to the caller until the Put, Free, Reset or Close that
// frees it. One goroutine at a time. After Close, and once the source has ended (see
// [page.Watched]), every Get and Alloc fails with memory.ErrClosed.
//
// Every misuse of a pointer is a *memory.Misuse that has changed nothing, and so is a size that
// no slot serves. Builds with -tags memdebug or -race also know the size of each Alloc, to the
// byte, fill what is freed, and panic where it was written to since. Builds with -tags memfast
// keep no live bits: they refuse pointers outside what was ever handed out, misaligned ones,
// and more frees than there are live slots, and do not see a second free while other slots
// live, nor an interior pointer at a multiple of 16; Check names what those left behind.
//
// Invariants, verified by Check in this order:
//
//	(1) align is a power of two from 16 to memory.MaxAlign, size a positive multiple of it, and
//	    capacity slots fit the reservation
//	(2) n <= carved <= capacity, carved slots are committed and the books have room for all of
//	    them; peak and soiled are at most capacity
//	(3) free[:n] are distinct granules where carved slots start
//	(4) the live bits are set for exactly the other carved slots (not in memfast builds)
//	(5) carved - n <= allocs
//	(6) in debug builds, vacant slots hold poison, and no block was asked for with more than
//	    size bytes
//	(7) closed books hold no slot
type Blocks struct {
	base   unsafe.Pointer // nil once closed
	free   []uint32       // free[:n] are the granules of vacant slots, the next one last
	n      uint
	live   []uint64 // bit g is set while a live slot starts at granule g
	allocs uint64   // slots handed out since New

	size     uintptr // bytes from slot to slot
	align    uintptr // every slot is a multiple of it
	carved   uintptr // slots handed out at least once since New, Reset or Trim
	capacity uintptr // slots
	peak     uintptr // the highest carved that a Reset or Trim forgot
	failures uint64
	mem      page.Prefix
	owner    invariant.Owner
	watchers []*watcher // oldest first

	// In debug builds only:
	lives  invariant.Lives
	soiled uintptr   // slots from carved up to there were carved before; what is committed of them holds poison
	asked  []uintptr // by slot: the size that Alloc was asked for and 1, 0 after Get
}

// BlocksConfig configures NewBlocks.
type BlocksConfig struct {
	// Size of a slot in bytes, rounded up to a multiple of 16 and of Align. 0 means 64.
	Size uintptr
	// Align of every slot, a power of two up to memory.MaxAlign. 0 means 16, the least.
	Align uintptr
	// Capacity is the most slots that can live at once. It costs address space only: memory
	// is committed as slots are first used. 0 means as many as 64 MiB hold, at least one.
	Capacity int
}

// NewBlocks reserves from src; nil means page.Default(). Nothing is committed yet. Where the
// system refuses as much address space, half is asked for, down to one slot: see Cap. The error
// wraps memory.ErrConfig for a configuration that can never work, or what src returned.
func NewBlocks(src page.Source, cfg BlocksConfig) (*Blocks, error) {
	if cfg.Size == 0 {
		cfg.Size = 64
	}
	if cfg.Align == 0 {
		cfg.Align = granuleBytes
	}
	if !align.Valid(cfg.Align) {
		return nil, fmt.Errorf("pool: new Blocks: Align %d: want a power of two from 1 to %d: %w: %w", cfg.Align, memory.MaxAlign, memory.ErrConfig, memory.ErrAlign)
	}
	al := max(cfg.Align, granuleBytes)
	size := align.Up(cfg.Size, al)
	if size < cfg.Size {
		return nil, fmt.Errorf("pool: new Blocks: Size %d: want at most %d: %w: %w", cfg.Size, align.Down(^uintptr(0), al), memory.ErrConfig, memory.ErrTooLarge)
	}
	if cfg.Capacity == 0 {
		cfg.Capacity = int(max(defaultReserve/size, 1))
	}
	want, ok := align.Mul(cfg.Capacity, size)
	if !ok || uint64(want)>>granuleShift > maxGranules {
		return nil, fmt.Errorf("pool: new Blocks: Capacity %d of Size %d: want 1 slot to %d bytes: %w: %w",
			cfg.Capacity, size, uint64(maxGranules)<<granuleShift, memory.ErrConfig, memory.ErrTooLarge)
	}
	mem, err := page.NewPrefix(src, want, size, 0)
	if err != nil {
		return nil, fmt.Errorf("pool: new Blocks of %d times %d bytes: %w", cfg.Capacity, size, err)
	}
	capacity := min(uintptr(cfg.Capacity), mem.Reserved()/size)
	b := &Blocks{base: mem.Base(), size: size, align: al, capacity: capacity, mem: mem}
	b.lives.Open(b.base, b.mem.Reserved(), granuleShift)
	b.mem.Watch(b.lost)
	return b, nil
}

// maxGranules is what the 32-bit entries of the free stack can name: 64 GiB.
const maxGranules = 1 << 32

// TryGet is Get without growth and without a reason: it inlines, and returns nil when no slot
// that was ever used is vacant. Call Get then.
func (b *Blocks) TryGet() unsafe.Pointer {
	n := b.n - 1
	if n >= uint(len(b.free)) {
		return nil
	}
	g := b.free[n]
	p := unsafe.Add(b.base, uintptr(g)<<granuleShift)
	if invariant.Debug {
		b.debugGet(p)
	}
	if invariant.Exact {
		b.live[g>>6] |= 1 << (g & 63)
	}
	b.n = n
	b.allocs++
	return p
}

// Get returns a slot, the one most recently freed if there is one. The error is bare
// memory.ErrOutOfMemory at capacity, memory.ErrClosed, or the source's when memory cannot be
// committed. Cost: a pop and a bit; every 64 slots or 16 KiB of first use, a refill.
func (b *Blocks) Get() (unsafe.Pointer, error) {
	if p := b.TryGet(); p != nil {
		return p, nil
	}
	return b.refill()
}

// Put gives a slot back. A pointer that is not the start of a live slot of b panics with a
// *memory.Misuse, nil and everything after Close included. It inlines, so its message cannot
// tell the cases apart; that of FreeAny, which calls, does. For memfast builds see [Blocks].
func (b *Blocks) Put(p unsafe.Pointer) {
	// The rotation moves a misalignment into the high bits: one comparison refuses it
	// together with what lies outside.
	g := bits.RotateLeft64(uint64(uintptr(p)-uintptr(b.base)), -granuleShift)
	w := g >> 6
	if invariant.Exact && (w >= uint64(len(b.live)) || b.live[w]>>(g&63)&1 == 0) || !invariant.Exact && !b.mayLive(g) {
		panic(&memory.Misuse{Package: "pool", Op: "Put", Addr: uintptr(p), Reason: notLive})
	}
	if invariant.Exact {
		b.live[w] &^= 1 << (g & 63)
	}
	if invariant.Debug {
		b.debugPut(p)
	}
	b.free[b.n] = uint32(g)
	b.n++
}

// mayLive is what memfast builds know of granule g: it was handed out once, and some slot
// lives. It keeps their stack within its bounds.
func (b *Blocks) mayLive(g uint64) bool {
	return g < uint64(b.carved)*uint64(b.size>>granuleShift) && b.n < uint(b.carved)
}

const notLive = "not the start of a live slot: freed twice, interior, foreign, or the pool is closed"

//go:noinline
func (b *Blocks) refill() (unsafe.Pointer, error) {
	if b.base == nil {
		return nil, memory.ErrClosed
	}
	left := b.capacity - b.carved
	if left == 0 {
		b.failures++
		return nil, memory.ErrOutOfMemory
	}
	k := min(max(batchBytes/b.size, 1), batchSlots, left)
	err := b.room(b.carved + k)
	if err != nil && k > 1 {
		k = 1
		err = b.room(b.carved + 1)
	}
	if err != nil {
		b.failures++
		return nil, err
	}
	b.carve(k)
	return b.TryGet(), nil
}

// carve makes the next k slots vacant, the lowest on top. There is room for them, and no
// other slot is vacant.
func (b *Blocks) carve(k uintptr) {
	if invariant.Debug {
		b.debugCarve(b.carved + k)
	}
	perSlot := b.size >> granuleShift
	for i := b.carved + k; i > b.carved; i-- {
		b.free[b.n] = uint32((i - 1) * perSlot)
		b.n++
	}
	b.carved += k
}

// room commits memory for the first slots and grows the metadata to hold them. The stack has an
// entry for every slot carved, not for every slot vacant now: Put never grows it. The Go heap is
// asked first, so that on error nothing is committed.
func (b *Blocks) room(slots uintptr) error {
	n := uintptr(0) // slots that the metadata is to hold; 0: as many as now
	if slots > uintptr(len(b.free)) {
		n = max(slots, min(2*uintptr(len(b.free)), b.capacity))
		err := page.ProbeHeap(b.books(n))
		if err != nil && n > slots {
			n = slots
			err = page.ProbeHeap(b.books(n))
		}
		if err != nil {
			return err
		}
	}
	b.soiled = min(b.soiled, b.mem.Committed()/b.size) // what was given back comes back zero
	if err := b.mem.Ensure(slots * b.size); err != nil || n == 0 {
		return err
	}
	b.free = extend(b.free, n)
	b.live = extend(b.live, b.words(n))
	if invariant.Debug {
		b.asked = extend(b.asked, n)
		b.lives.Prepare(n * (b.size >> granuleShift))
	}
	return nil
}

// words is how many words of live bits n slots take, and books the bytes of all their books.
func (b *Blocks) words(n uintptr) uintptr { return (n*(b.size>>granuleShift) + 63) >> 6 }
func (b *Blocks) books(n uintptr) uintptr { return n*4 + b.words(n)*8 }

// extend lengthens s with zeroes to n entries.
func extend[E uint32 | uint64 | uintptr](s []E, n uintptr) []E {
	t := make([]E, max(n, uintptr(len(s))))
	copy(t, s)
	return t
}
