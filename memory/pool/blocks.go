package pool

import (
	"cmp"
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/internal/watch"
	"github.com/strata-go/strata/memory/page"
)

const (
	// granuleShift: slots are multiples of 16 bytes, the alignment that callers of general allocators expect. A
	// live bit for a granule costs 0.8 %. It needs no division to find the slot of a pointer or to detect an
	// interior one.
	granuleShift = 4
	granuleBytes = 1 << granuleShift

	// batchSlots and batchBytes bound the slots that one refill opens: enough that refills are rare, and few
	// enough that Peak, which is derived from them, is accurate.
	batchSlots = 64
	batchBytes = 16 << 10

	// defaultReserve is the default address space of a pool.
	defaultReserve = 64 << 20
)

// A Blocks is a pool of untyped slots of equal size. The slots lie in one reservation, which is committed in steps. A
// slot never moves.
//
//	base              opened            committed            reserved
//	  | slot | slot | slot | not yet used   | - - - - - - - - - | guard
//
// Slots are not zeroed. A slot belongs to the caller until the Put, Free, FreeAny, Reset or Close that frees it, until
// a state without it is loaded, or until the source ends. A Blocks belongs to one goroutine at a time.
//
// A Blocks is closed after a Close that succeeded, and after its source has ended (see [page.Watched]). In a closed
// Blocks, Get, Alloc, Grow and Trim fail with memory.ErrClosed; Put, SizeOf, Reset, and a Free or FreeAny of a slot
// panic with a *memory.Misuse.
//
// A commit of the Blocks may call the function of page.Limit.OnSoft. If that function calls Get, Alloc or Grow of this
// Blocks, and the call must commit memory, the call panics with a *memory.Misuse. Within that function Trim returns no
// memory, and Close frees all slots but fails.
//
// A wrong pointer, or a Free with a size that is larger than a slot, panics with a *memory.Misuse before anything
// changes. Debug builds (-tags memdebug or -race) also check that Free gets the size that Alloc got. These builds fill
// freed slots. In them TryGet, Get and Alloc also panic with a *memory.Misuse if a slot that they return or prepare was
// written to after it was freed.
//
// Builds with -tags memfast do not record which slots are live. They detect pointers outside the used slots, misaligned
// pointers, and more frees than there are live slots. While other slots are live, they do not detect the pointer of a
// freed slot, nor an interior pointer at a multiple of 16 bytes from Base. Check reports a free of such a pointer until
// its address is allocated again, or until Trim or Reset.
type Blocks struct {
	// Invariants, verified by Check in this order:
	//
	//	(1) align is a power of two from 16 to memory.MaxAlign, size a positive multiple of it, and
	//	    capacity slots fit the reservation
	//	(2) n <= opened <= capacity, opened slots are committed and the metadata has entries for all of
	//	    them; peak and soiled are at most capacity
	//	(3) free[:n] are distinct granules where opened slots start
	//	(4) the live bits are set for exactly the other opened slots (not in memfast builds)
	//	(5) opened - n <= allocs
	//	(6) in debug builds, vacant slots contain poison, and no block was requested with more than
	//	    size bytes
	//	(7) closed metadata has no slot

	base   unsafe.Pointer // nil once closed
	free   []uint32       // free[:n] are the granules of vacant slots, the next one last
	n      uint
	live   []uint64 // bit g is set while a live slot starts at granule g
	allocs uint64   // slots allocated since New

	size     uintptr // bytes from slot to slot
	align    uintptr // every slot is a multiple of it
	opened   uintptr // slots that were allocated at least once since New, Reset or Trim: the first ones
	capacity uintptr // slots
	peak     uintptr // the highest value that a Reset or Trim lowered
	failures uint64
	full     error // of a Get without a vacant slot
	mem      page.Prefix
	owner    invariant.Owner
	watchers watch.List
	stack    page.Table // of free
	bits     page.Table // of live

	// In debug builds only:
	lives  invariant.Lives
	soiled uintptr   // slots up to there were opened before; those that are committed contain poison
	asked  []uintptr // by slot: the size that Alloc was called with and 1, 0 after Get
}

// BlocksConfig configures [NewBlocks]. NewBlocks refuses values out of range.
type BlocksConfig struct {
	// Size is the number of bytes of a slot, rounded up to a multiple of 16 and of Align. 0 means 64.
	Size uintptr
	// Align is the alignment of every slot, a power of two up to memory.MaxAlign. 0, 1, 2, 4 and 8 mean 16.
	Align uintptr
	// Capacity is the largest number of slots that can be live at once. If the system refuses the address space,
	// NewBlocks halves the number: see [Blocks.Cap]. Memory is committed when slots are first used, but [page.Heap]
	// allocates all of it in NewBlocks. 0 means as many slots as fit in 64 MiB, at least one. All slots together have
	// at most 64 GiB, on 32-bit systems less than 2 GiB.
	Capacity int
}

// NewBlocks returns a Blocks with a reservation of src; nothing is committed. If src is nil, it is page.Default(). If
// the system refuses the address space, NewBlocks halves the capacity until the system grants it, but not below 16 KiB
// or one slot: see [Blocks.Cap]. If a field is out of range, the error wraps memory.ErrConfig. If src fails, the error
// wraps that of page.NewPrefix. If NewBlocks fails, it releases its reservation. If src cannot release it, the
// addresses stay reserved.
func NewBlocks(src page.Source, cfg BlocksConfig) (*Blocks, error) {
	cfg.Size = cmp.Or(cfg.Size, 64)
	cfg.Align = cmp.Or(cfg.Align, granuleBytes)
	if !align.Valid(cfg.Align) {
		return nil, fmt.Errorf("pool: new Blocks: Align %d: want a power of two from 1 to %d: %w: %w", cfg.Align, memory.MaxAlign, memory.ErrConfig, memory.ErrAlign)
	}
	al := max(cfg.Align, granuleBytes)
	size := align.Up(cfg.Size, al)
	if size < cfg.Size {
		return nil, fmt.Errorf("pool: new Blocks: Size %d: want at most %d: %w: %w", cfg.Size, align.Down(^uintptr(0), al), memory.ErrConfig, memory.ErrTooLarge)
	}
	cfg.Capacity = cmp.Or(cfg.Capacity, int(max(defaultReserve/size, 1)))
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
	b.full = fmt.Errorf("%s: no vacant block of %d, %d bytes each; free blocks or raise BlocksConfig.Capacity: %w", mem.NameOr("pool"), capacity, size, memory.ErrOutOfMemory)
	b.stack, b.bits = page.NewTable(src, capacity*4), page.NewTable(src, b.words(capacity)*8)
	b.lives.Open(b.base, b.mem.Reserved(), granuleShift)
	b.mem.Watch(b.lost)
	return b, nil
}

// maxGranules is the number of granules that the 32-bit entries of the free stack can name: 64 GiB.
const maxGranules = 1 << 32

// TryGet returns a vacant slot that is prepared (see [Blocks.Get]). If there is none, or the pool is closed, TryGet
// returns nil: call Get, which prepares slots. TryGet inlines. Grow prepares no slots. After Reset no slot is prepared,
// and after Trim only the slots up to the last live one.
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

// Get returns a vacant slot. It prefers the slot that was freed last. If the pool is closed, the error is
// memory.ErrClosed. If Cap slots are live, the error wraps memory.ErrOutOfMemory and names Cap. If memory cannot be
// committed, the error wraps that of page.Prefix.Ensure. If the Go heap has no space for the metadata, the error wraps
// that of page.ProbeHeap.
//
// Cost: a pop from the stack of vacant slots, and a bit. If the stack is empty, Get prepares up to 64 slots in at most
// 16 KiB, or one larger slot. Preparing commits their memory, adds them to the stack and may double the metadata, for
// which the package comment has the cost.
func (b *Blocks) Get() (unsafe.Pointer, error) {
	if p := b.TryGet(); p != nil {
		return p, nil
	}
	return b.refill()
}

// Put frees a slot. Put panics with a *memory.Misuse if p is not the start of a live slot of b. A nil p panics, and
// so does every Put on a closed pool. Put inlines, so its message does not name the kind of misuse; the message of
// [Blocks.FreeAny] does. For memfast builds see [Blocks].
func (b *Blocks) Put(p unsafe.Pointer) {
	// The rotation moves a misalignment into the high bits: one comparison detects it together with
	// addresses outside.
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

// mayLive reports whether granule g was allocated once and some slot is live, which is all that memfast builds know. It
// keeps their stack within its bounds.
func (b *Blocks) mayLive(g uint64) bool {
	return g < uint64(b.opened)*uint64(b.size>>granuleShift) && b.n < uint(b.opened)
}

const notLive = "not the start of a live slot: freed twice, interior, foreign, or the pool is closed"

//go:noinline
func (b *Blocks) refill() (unsafe.Pointer, error) {
	if b.base == nil {
		return nil, memory.ErrClosed
	}
	left := b.capacity - b.opened
	if left == 0 {
		b.failures++
		return nil, b.full
	}
	k := min(max(batchBytes/b.size, 1), batchSlots, left)
	if ready := min(uintptr(len(b.free)), b.mem.Committed()/b.size); ready > b.opened {
		k = min(k, ready-b.opened) // so that no Get calls the source for the slots of a Grow
	}
	err := b.provide(b.opened + k)
	if err != nil && k > 1 {
		k = 1
		err = b.provide(b.opened + 1)
	}
	if err != nil {
		b.failures++
		return nil, err
	}
	b.open(k)
	return b.TryGet(), nil
}

// open makes the next k slots vacant, the lowest on top. The memory and the metadata must be there, and no other slot
// may be vacant.
func (b *Blocks) open(k uintptr) {
	if invariant.Debug {
		b.debugOpen(b.opened + k)
	}
	perSlot := b.size >> granuleShift
	for i := b.opened + k; i > b.opened; i-- {
		b.free[b.n] = uint32((i - 1) * perSlot)
		b.n++
	}
	b.opened += k
}

// provide commits memory for the first slots and grows the metadata to describe them. The stack has an entry for every
// opened slot, so that Put never grows it. The metadata comes first, so that nothing is committed if it has no memory.
func (b *Blocks) provide(slots uintptr) error {
	n := uintptr(0) // slots of the new metadata; 0: as many as now
	if slots > uintptr(len(b.free)) {
		n = max(slots, min(2*uintptr(len(b.free)), b.capacity))
		err := b.prepare(n)
		if err != nil && n > slots {
			n = slots
			err = b.prepare(n)
		}
		if err != nil {
			return b.shortOf(err)
		}
	}
	b.soiled = min(b.soiled, b.mem.Committed()/b.size) // decommitted memory is zero when it is committed again
	if err := b.mem.Ensure(slots * b.size); err != nil || n == 0 {
		return b.shortOf(err)
	}
	b.lengthen(n)
	if invariant.Debug {
		b.asked = extend(b.asked, n)
		b.lives.Prepare(n * (b.size >> granuleShift))
	}
	return nil
}

func (b *Blocks) shortOf(err error) error {
	if err == nil {
		return nil
	}
	return shortOf(fmt.Sprintf("Blocks of %d bytes", b.size), err)
}

// prepare makes sure that lengthen has memory for n slots, or returns why it has not.
func (b *Blocks) prepare(n uintptr) error {
	if b.stack.Prepare(n*4) && b.bits.Prepare(b.words(n)*8) {
		return nil
	}
	return page.ProbeHeap(b.metadata(n))
}

// lengthen makes the metadata reach to slot n.
func (b *Blocks) lengthen(n uintptr) {
	b.stack.Prepare(n * 4)
	b.bits.Prepare(b.words(n) * 8)
	b.free = page.Lengthen(&b.stack, b.free, n)
	b.live = page.Lengthen(&b.bits, b.live, b.words(n))
}

// words returns the words of live bits of n slots, and metadata the bytes of all their metadata.
func (b *Blocks) words(n uintptr) uintptr    { return (n*(b.size>>granuleShift) + 63) >> 6 }
func (b *Blocks) metadata(n uintptr) uintptr { return n*4 + b.words(n)*8 }

// extend lengthens s to n entries with zeros, in the Go heap.
func extend(s []uintptr, n uintptr) []uintptr { return page.Lengthen(new(page.Table), s, n) }
