package compact

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
)

// A Handle names a block of a Heap. A handle has 8 bytes and no pointer, and may be stored anywhere. Once the block is
// freed, the handle is stale. Reset, Close, the load of a state without the block, and the end of the page source also
// free the block. The zero Handle is stale, too. For a stale handle methods return false and change nothing.
//
// A handle of another heap is stale, too, also if that heap is closed. There is one rare exception. If a process has
// made 2^k heaps, the wrong heap can accept a handle after 2^(30-k) blocks with the same index (see [memory.Handle]).
type Handle = memory.Handle[Block]

// A Heap allocates blocks by handle. Compact moves the blocks. If Compact has begun to move a block, Lock, Bytes and
// Resize of that block finish the move.
//
// Blocks are not zeroed, and start at multiples of Config.Align. A block belongs to the caller until Free, Reset,
// Close, the load of a state without it, or the end of the page source. The collector does not scan blocks, so they
// must contain no Go pointers. One goroutine at a time may call a Heap. After a Close that succeeded, and after the end
// of its page source, Alloc and Trim return memory.ErrClosed, every handle is stale, and Compact and Reset panic with a
// *memory.Misuse.
//
// No build detects the use of a slice of Bytes after the next Compact, or of an address of Lock after the Unlock.
// Debug builds fill free memory with 0xDD when a block was freed, has shrunk, or has moved away.
type Heap struct {
	//	records  1: head, gap 0 | 2: a, gap 16 | 3: b, gap 96 | 4: spare | 5: L, gap 32 | …
	//	            next ------------> next ---------> next ----------------> next --> … --> 1
	//	memory             | aaaaa |· | bbbbbbb |······| LLLL |·· | - not committed - | guard
	//
	// Invariants, verified by Check in this order:
	//
	//	(1) the ring of records starts at the head and has no holes: each block starts where the
	//	    gap before it ends, the last gap ends at what is committed; prev mirrors next
	//	(2) records in the ring have odd generations, but for the head; all others have even ones
	//	    and are spare or, with generation 0, retired
	//	(3) a block has the room that its size needs, and while it moves its way besides
	//	(4) each gap is in the bin of its size, once, bins hold nothing else, and bits say which
	//	    are empty
	//	(5) in front of the cursor, and of where the next pass begins, there is no gap but before
	//	    locked blocks
	//	(6) the block that moves is after the cursor, unlocked, and not yet all moved
	//	(7) used and requested are the sums over live blocks; live == allocs - frees; used <= peak
	//	(8) key is even, so that a handle's generation is odd where the record's is

	base    unsafe.Pointer // nil once closed
	align   uintptr
	records []record
	key     uint32 // in a handle's generation, by XOR
	spare   uint32 // unused records, linked by next; 0 ends
	cursor  uint32 // where Compact goes on: the record whose gap is next
	again   uint32 // where it begins its next pass; 0: it need not
	moving  move
	bins    bins

	allocs    uint64 // blocks handed out since New
	frees     uint64 // blocks freed since New
	failures  uint64
	used      uint64 // bytes of live blocks, rounding included
	peak      uint64 // highest used
	requested uint64 // bytes of live blocks
	shifts    uint64 // changes of the map of blocks other than by an Alloc, Free or Reset of one
	mem       page.Prefix
	owner     invariant.Owner
}

// A record is a live block, or spare. Record 0 is not used, so that the index 0 ends lists.
type record struct {
	off, size  uintptr // bytes
	room       uintptr // bytes that the block takes, whole multiples of the alignment
	gap        uintptr // free bytes behind it
	next, prev uint32  // in order of address, a ring over the head; next links spare ones
	nextGap    uint32  // in the bin of gap; 0 ends
	prevGap    uint32
	gen        uint32 // odd: live
	locks      uint32
}

// head is the record of a block without bytes at the base; it owns the gap in front of the first.
const head = 1

func (r *record) live() bool { return r.gen&1 == 1 }

// end returns where the gap of r starts.
func (r *record) end() uintptr { return r.off + r.room }

// Config configures [New]. New refuses values out of range.
type Config struct {
	// Reserve is the address space in bytes. It bounds the memory in use. The maximum is 2^30 times Align. On 32-bit
	// systems the maximum is almost 2 GiB. 0 means 64 MiB. If the system refuses so much, New halves Reserve until the
	// system agrees, but not below Step.
	Reserve uintptr
	// Align is the alignment of every block in bytes, and the unit of block sizes: a power of two from 16 to 4096. 0
	// means 16.
	Align uintptr
	// Step is the least number of bytes that are committed at once if no gap is large enough. If the reservation has
	// fewer bytes left, or if the page source refuses a step, fewer bytes are committed. 0 means 256 KiB, or Reserve
	// if Reserve is less. Step must not exceed Reserve.
	Step uintptr
	// Blocks is the number of records that New allocates, of 56 bytes each, on 32-bit systems 40. The maximum is 2^30,
	// and on 32-bit systems less than 2 GiB of records. 0 means 1024. If there are more blocks, the records are copied
	// to a larger array.
	Blocks int
}

// withDefaults fills in the defaults. The error names the first wrong field.
func (c Config) withDefaults() (Config, error) {
	c.Reserve = cmp.Or(c.Reserve, 64<<20)
	c.Align = cmp.Or(c.Align, minAlign)
	c.Step = cmp.Or(c.Step, min(256<<10, c.Reserve))
	c.Blocks = cmp.Or(c.Blocks, 1024)
	if !align.Valid(c.Align) || c.Align < minAlign {
		return c, fmt.Errorf("config: Align %d: want a power of two from %d to %d: %w", c.Align, minAlign, memory.MaxAlign, memory.ErrConfig)
	}
	if c.Step > c.Reserve {
		return c, fmt.Errorf("config: Step %d: want at most %d, the Reserve: %w", c.Step, c.Reserve, memory.ErrConfig)
	}
	if c.Blocks < 0 || c.Blocks > maxRecords {
		return c, fmt.Errorf("config: Blocks %d: want 1 to %d: %w", c.Blocks, maxRecords, memory.ErrConfig)
	}
	if uint64(c.Reserve/c.Align) > maxRecords {
		return c, fmt.Errorf("config: Reserve %d: want at most %d with an Align of %d: %w", c.Reserve, uint64(maxRecords)*uint64(c.Align)+uint64(c.Align)-1, c.Align, memory.ErrConfig)
	}
	return c, nil
}

const (
	minAlign = 16 // the smallest alignment that C's malloc gives, too
	// maxRecords keeps indices within 32 bits, worn-out records included.
	maxRecords = 1 << 30
)

// New returns an empty heap with address space from src, and commits no memory yet. A nil src means page.Default().
// If a field is out of range, the error wraps memory.ErrConfig. If the Go heap has no space for the records, the
// error wraps memory.ErrOutOfMemory. If src fails, the error wraps that of src.
func New(src page.Source, cfg Config) (*Heap, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("compact: new Heap: %w", err)
	}
	books, ok := align.Mul(head+1+cfg.Blocks, unsafe.Sizeof(record{}))
	if !ok {
		return nil, fmt.Errorf("compact: new Heap: Blocks %d: want at most %d: %w: %w",
			cfg.Blocks, math.MaxInt/unsafe.Sizeof(record{})-head-1, memory.ErrConfig, memory.ErrTooLarge)
	}
	if err := page.ProbeHeap(books); err != nil {
		return nil, fmt.Errorf("compact: new Heap: %d records: %w", cfg.Blocks, err)
	}
	mem, err := page.NewPrefix(src, cfg.Reserve, cfg.Step, cfg.Step)
	if err != nil {
		return nil, fmt.Errorf("compact: new Heap of %d bytes: %w", cfg.Reserve, err)
	}
	h := &Heap{
		base: mem.Base(), align: cfg.Align, mem: mem, cursor: head, key: newKey(),
		records: make([]record, head+1, head+1+cfg.Blocks),
	}
	h.records[head].next, h.records[head].prev = head, head
	h.mem.Watch(h.lost)
	return h, nil
}

// serial counts the heaps of the process.
var serial atomic.Uint32

// newKey returns a key that no other heap has, with the lowest bit 0. The count is reversed, so the keys of two heaps
// differ in high bits. So a record must be reused a hundred million times before its handles equal those of another
// heap.
func newKey() uint32 { return bits.Reverse32(serial.Add(1)) &^ 1 }

// Alloc makes a block of size bytes. The block is not zeroed. A block of size 0 takes Config.Align bytes. Alloc moves
// no block.
//
// If the heap is closed before Alloc, or its page source ends during Alloc, the error is memory.ErrClosed. If the size,
// rounded up to Config.Align, exceeds the reservation, the error is memory.ErrTooLarge. If no gap was found and memory
// cannot grow, the error is a *memory.Exhausted that wraps the error of page.Prefix.Ensure. In this case a Compact may
// help. With an error the Handle is zero. If the function of page.Limit.OnSoft calls Alloc or Resize during a commit of
// this heap, and the call must commit memory, the call panics with a *memory.Misuse.
//
// If some gap is an eighth larger than the request, Alloc always finds a gap. Otherwise Alloc looks at 32 gaps of about
// the right size at most, and may miss one that suffices. Cost, also of a failure: constant, plus a system call when
// the heap grows by a step. If there are more blocks than ever before, Alloc may copy the records.
func (h *Heap) Alloc(size uintptr) (Handle, error) {
	room := align.Up(max(size, 1), h.align)
	if h.base == nil {
		return Handle{}, memory.ErrClosed
	}
	if room < size || room > h.mem.Reserved() {
		h.failures++
		return Handle{}, memory.ErrTooLarge
	}
	h.owner.Touch()
	i, ok := h.fit(room)
	if !ok {
		var err error
		if i, err = h.grow(room); err != nil {
			if h.base == nil {
				return Handle{}, memory.ErrClosed // a function of OnSoft has closed the source
			}
			h.failures++
			return Handle{}, err
		}
	}
	k := h.newRecord()
	h.place(i, k, size, room)
	return memory.MakeHandle[Block](k, h.records[k].gen^h.key), nil
}

// place puts record k, as a block of size bytes, at the start of the gap of record i.
func (h *Heap) place(i, k uint32, size, room uintptr) {
	h.unlinkGap(i)
	r, before := &h.records[k], &h.records[i]
	*r = record{
		off: before.end(), size: size, room: room, gap: before.gap - room,
		next: before.next, prev: i, gen: r.gen + 1,
	}
	before.gap = 0
	h.records[r.next].prev = k
	before.next = k
	h.linkGap(k)
	h.allocs++
	h.requested += uint64(size)
	h.used += uint64(room)
	h.peak = max(h.peak, h.used)
	invariant.Fresh(h.at(r.off), size)
}

// newRecord returns an unused record, with an even generation.
func (h *Heap) newRecord() uint32 {
	if i := h.spare; i != 0 {
		h.spare = h.records[i].next
		return i
	}
	h.records = append(h.records, record{})
	return uint32(len(h.records) - 1)
}

// grow commits enough after the last block and returns the record whose gap it is.
func (h *Heap) grow(room uintptr) (uint32, error) {
	for {
		last := h.records[head].prev
		if err := h.mem.Ensure(h.records[last].end() + room); err != nil {
			return 0, &memory.Exhausted{Op: h.mem.NameOr("compact") + ": alloc", Need: room, Have: h.largestGap(), Limit: h.mem.Reserved(), Cause: err}
		}
		h.fitTail()
		last = h.records[head].prev // again: a function of the source may have freed, moved or allocated
		if h.records[last].gap >= room {
			return last, nil
		}
	}
}

// fitTail makes the last gap end where committed memory does.
func (h *Heap) fitTail() {
	last := h.records[head].prev
	h.unlinkGap(last)
	r := &h.records[last]
	r.gap = h.mem.Committed() - r.end()
	h.linkGap(last)
	h.shifts++
}

// Free frees a block and returns true. If x is stale, Free returns false. If the block is locked, Free panics with
// a *memory.Misuse.
func (h *Heap) Free(x Handle) bool {
	r := h.find(x)
	if r == nil {
		return false
	}
	if r.locks != 0 {
		panic(h.misuse("Free", r, fmt.Sprintf("block %v is locked %d times; unlock it first", x, r.locks)))
	}
	h.owner.Touch()
	if h.moving.record == x.Index() {
		h.endMove() // the rest of the block is not copied
	}
	invariant.Freed(h.at(r.off), r.room)
	h.frees++
	h.requested -= uint64(r.size)
	h.used -= uint64(r.room)
	h.absorb(x.Index(), r)
	h.discard(x.Index(), r)
	return true
}

// absorb adds the block and the gap of record i to the gap of the record before.
func (h *Heap) absorb(i uint32, r *record) {
	h.unlinkGap(i)
	h.unlinkGap(r.prev)
	before := &h.records[r.prev]
	switch {
	case i == h.cursor:
		h.cursor = r.prev
	case r.off < h.records[h.cursor].off:
		h.revisit(r)
	}
	if i == h.again {
		h.again = r.prev
	}
	before.gap += r.room + r.gap
	before.next = r.next
	h.records[r.next].prev = r.prev
	h.linkGap(r.prev)
}

// discard makes record i, in no ring, spare, or retires it when its generations are used up.
func (h *Heap) discard(i uint32, r *record) {
	gen := r.gen + 1
	*r = record{gen: gen}
	if gen != 0 {
		r.next = h.spare
		h.spare = i
	}
}

// Lock returns the address of a block, aligned to Config.Align. The block does not move until Unlock was called as
// often as Lock. Reset, Close and the end of the page source also make the address invalid; for the load of a state see
// [Heap.SaveState]. If x is stale, Lock returns nil and false. Cost: constant, but if Compact has begun to move the
// block, Lock moves the remaining bytes. If the block has 2^32-1 Locks without an Unlock, Lock panics with a
// *memory.Misuse.
func (h *Heap) Lock(x Handle) (unsafe.Pointer, bool) {
	r := h.find(x)
	if r == nil {
		return nil, false
	}
	h.owner.Touch()
	if r.locks == ^uint32(0) {
		panic(h.misuse("Lock", r, fmt.Sprintf("block %v is locked %d times, which is all that the count can hold", x, r.locks)))
	}
	h.arrive(x.Index())
	r.locks++
	return h.at(r.off), true
}

// Unlock undoes one Lock and returns true. If x is stale, Unlock returns false. The address must not be used after
// the last Unlock. If the block is not locked, Unlock panics with a *memory.Misuse.
func (h *Heap) Unlock(x Handle) bool {
	r := h.find(x)
	if r == nil {
		return false
	}
	if r.locks == 0 {
		panic(h.misuse("Unlock", r, fmt.Sprintf("block %v is not locked", x)))
	}
	h.owner.Touch()
	r.locks--
	if r.locks == 0 && h.records[r.prev].gap != 0 && r.off <= h.records[h.cursor].off {
		h.revisit(r)
	}
	return true
}

// Bytes returns a block as a slice. The slice's length and capacity are the block's size. If x is stale, Bytes returns
// nil and false. If the block is not locked, the slice is valid until the next Compact. If it is locked, the slice is
// valid until the last Unlock. Free of the block, Reset, Close and the end of the page source make every slice invalid;
// for the load of a state see [Heap.SaveState]. After a Resize that shrinks the block, the bytes beyond the new size do
// not belong to the block. Cost: as [Heap.Lock].
func (h *Heap) Bytes(x Handle) ([]byte, bool) {
	r := h.find(x)
	if r == nil {
		return nil, false
	}
	h.owner.Touch()
	h.arrive(x.Index())
	return unsafe.Slice((*byte)(h.at(r.off)), r.size), true
}

// Size returns the requested size of the block in bytes, or the new size after a successful Resize. If x is stale,
// Size returns 0 and false.
func (h *Heap) Size(x Handle) (uintptr, bool) {
	r := h.find(x)
	if r == nil {
		return 0, false
	}
	return r.size, true
}

// find returns the record of x, or nil if x is stale, zero or of another heap.
func (h *Heap) find(x Handle) *record {
	i, gen := x.Index(), x.Generation()^h.key
	if uint(i) >= uint(len(h.records)) || h.records[i].gen != gen || gen&1 == 0 {
		return nil
	}
	return &h.records[i]
}

func (h *Heap) at(off uintptr) unsafe.Pointer { return unsafe.Add(h.base, off) }

func (h *Heap) misuse(op string, r *record, reason string) *memory.Misuse {
	return &memory.Misuse{Package: "compact", Op: op, Addr: uintptr(h.base) + r.off, Size: r.size, Reason: reason}
}

// Owns reports whether p lies in the address space of the heap, whether or not in a live block. On a closed heap Owns
// returns false.
func (h *Heap) Owns(p unsafe.Pointer) bool { return h.mem.Contains(p) }

// Reset frees every block, locked or not, and keeps the committed memory. Every handle is stale afterwards. On a
// closed heap it panics with a *memory.Misuse. Cost: a step per live block.
func (h *Heap) Reset() {
	if h.base == nil {
		panic(&memory.Misuse{Package: "compact", Op: "Reset", Reason: "the heap is closed"})
	}
	h.owner.Touch()
	if invariant.Debug {
		for i := h.records[head].next; i != head; i = h.records[i].next {
			invariant.Freed(h.at(h.records[i].off), h.records[i].room)
		}
	}
	h.empty()
}

// empty frees every block in the metadata, without touching the memory.
func (h *Heap) empty() {
	for i := h.records[head].next; i != head; {
		r := &h.records[i]
		next := r.next
		h.discard(i, r)
		i = next
	}
	h.records[head] = record{next: head, prev: head}
	h.bins = bins{}
	h.moving = move{}
	h.cursor, h.again = head, 0
	h.frees = h.allocs
	h.used, h.requested = 0, 0
	h.fitTail()
}

// lost closes the heap after its source has been closed.
func (h *Heap) lost() {
	h.empty()
	h.base = nil
}

// Trim returns the memory after the last block to the page source, in whole pages of the source. Blocks do not move, so
// call Compact first to return more. On a closed heap the error is memory.ErrClosed. If the source fails, the error
// wraps the error of the source, and nothing has changed. If the function of page.Limit.OnSoft calls Trim during a
// commit of this Heap, Trim does nothing and returns nil. If the source ends during Trim, the heap is closed and the
// error wraps memory.ErrClosed.
func (h *Heap) Trim() error {
	if h.base == nil {
		return memory.ErrClosed
	}
	h.owner.Touch()
	if err := h.mem.Trim(h.records[h.records[head].prev].end()); err != nil {
		return fmt.Errorf("compact: trim: %w", err)
	}
	h.fitTail()
	return nil
}

// Close frees every block, locked or not, and releases the memory. Addresses of blocks are dangling afterwards. If the
// memory cannot be released, Close returns an error that wraps the error of the source. Close also fails if the
// function of page.Limit.OnSoft calls it during a commit of this Heap. After an error the heap is empty but open, and
// Close can be retried. After a successful Close, and after the end of the source, Close does nothing and returns nil.
func (h *Heap) Close() error {
	if h.base == nil {
		return nil
	}
	h.Reset()
	defer h.fitTail() // memory may be decommitted although the addresses could not be released, or the source panics
	if err := h.mem.Close(); err != nil {
		return fmt.Errorf("compact: close: %w", err)
	}
	h.base = nil
	return nil
}
