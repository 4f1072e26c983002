package arena

import (
	"cmp"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/internal/saved"
	"github.com/strata-go/strata/memory/page"
)

// A Linear is a bump allocator over one buffer of fixed size. Alloc advances an offset. Rewind and Reset move the
// offset back and free every block above it. Free moves the offset back only for the newest block.
//
//	base            last      off                     limit
//	  | older blocks | newest  |  free                  | guard
//
// Blocks are not zeroed. They belong to the caller until the Free, Rewind, Reset or Close that frees them, until a
// state without them is loaded, or until the source ends. A block of size 0 has no bytes and may share its address with
// another block. Only debug builds (-tags memdebug or -race) detect a double free of a block of size 0. A Linear
// belongs to one goroutine at a time.
//
// A Linear is closed after Close, and after its source has ended. In a closed Linear, Alloc fails with
// LinearConfig.Closed, by default memory.ErrClosed; Resize, Mark, Rewind, OnReset, RunHooks, Reset and a Free of a
// block panic with a *memory.Misuse. If the source ends before Close, the hooks do not run.
//
// The metadata records only the start of the newest block. For the newest block, Free and Resize check the size to
// the byte. For any other block, they check only that it lies in the bytes in use and does not overlap the newest
// block. Debug builds record every block and check every size to the byte.
type Linear struct {
	// Invariants, verified by Check in this order:
	//
	//	(1) off <= limit <= committed
	//	(2) the newest block starts at 0 or above
	//	(3) peak <= reserved
	//	(4) dropped <= total()
	//	(5) marks ascend in place, in blocks and in hooks, up to what is live now; kept and
	//	    floor are the number of blocks and the place at the newest one, or 0
	//	(6) cuts ascend in epoch, up to epoch, and in place; refs <= off+1
	//	(7) in debug builds the ledger has the live blocks, in order and apart
	base  unsafe.Pointer // nil once closed
	off   uintptr        // first free byte, from base
	limit uintptr        // end of the usable bytes, from base
	book  uint64         // allocations not counted in allocs << 32 | size of the newest block, or unknown
	full  *error         // the error of an Alloc that does not fit: &short, FramesConfig.Full or &closed

	allocs   uint64  // see total
	busy     bool    // a hook is running
	kept     uint64  // blocks that the newest live Mark protects from Free
	floor    uintptr // off at that Mark
	peak     uintptr // highest off at a Free, Rewind or Reset; Stats takes the current one into account
	dropped  uint64  // allocations that were freed
	failures uint64
	marks    []place      // the live marks, outermost first
	serial   uint64       // of the newest mark; never reused
	hooks    []hook       // in order of registration
	hooked   saved.HookID // of the hook that was registered last
	refs     uintptr      // end of the last live object with a Ref
	epoch    uint64       // counts the cuts
	cuts     []cut        // the cuts that ended objects with Refs
	ledger   ledger       // every block, in debug builds
	short    error        // the error of an Alloc that does not fit while it is open; in a ring of the last commit that failed
	closed   error        // the error of an Alloc once closed
	mem      page.Prefix
	member   member // in debug builds
	owner    invariant.Owner
}

// unknown is the size of the newest block in book if that block was freed. Count and size share a word because another
// store would make Alloc slower by a tenth. The cost in builds other than debug is small. A block of 4 GiB or more is
// checked by its size modulo 4 GiB, and one of 4 GiB less a byte not at all. Two thousand million Allocs without a
// Free, Rewind or Reset may be counted as none. New counts a T of 4 GiB once more.
const unknown = 1<<32 - 1

// LinearConfig configures [NewLinear].
type LinearConfig struct {
	// Bytes is the capacity in bytes. NewLinear commits all of it. 0 means 1 MiB.
	Bytes uintptr
	// Full is the error of an Alloc that does not fit. It should wrap memory.ErrOutOfMemory. Nil means an error that
	// wraps it and names Bytes.
	Full error
	// Closed is the error of Alloc when the arena is closed. It should wrap memory.ErrClosed; nil means ErrClosed
	// itself. If a call on the closed arena panics with a *memory.Misuse, its text contains Closed, too.
	Closed error
}

// NewLinear returns a Linear with memory of src. If src is nil, it is page.Default(). If src fails, the error wraps the
// error that page.NewCommitted returns. If NewLinear fails, it releases its reservation. If src cannot release it, the
// addresses stay reserved.
func NewLinear(src page.Source, cfg LinearConfig) (*Linear, error) {
	cfg.Bytes = cmp.Or(cfg.Bytes, 1<<20)
	l := new(Linear)
	if err := l.init(src, cfg.Bytes, cfg.Bytes, cfg.Bytes, 0); err != nil {
		return nil, fmt.Errorf("arena: new Linear of %d bytes: %w", cfg.Bytes, err)
	}
	l.closed = cmp.Or(cfg.Closed, memory.ErrClosed)
	if l.short = cfg.Full; l.short == nil {
		l.short = fmt.Errorf("%s: no space in the Linear of %d bytes; raise LinearConfig.Bytes: %w", l.mem.NameOr("arena"), cfg.Bytes, memory.ErrOutOfMemory)
	}
	return l, nil
}

// init reserves want bytes, at worst least, and commits the first usable ones. l must not move afterwards.
func (l *Linear) init(src page.Source, want, least, usable, step uintptr) error {
	mem, err := page.NewCommitted(src, want, least, step, usable)
	if err != nil {
		return err
	}
	l.mem, l.base, l.limit, l.book, l.full = mem, mem.Base(), usable, unknown, &l.short
	l.short, l.closed, l.marks = memory.ErrOutOfMemory, memory.ErrClosed, make([]place, 0, 8)
	l.mem.Watch(l.shut)
	return nil
}

// Alloc returns size bytes aligned to align, a power of two up to 4096. If size is 0, the pointer is aligned and not
// nil. If align is invalid, the error is memory.ErrAlign, also if the arena is closed. If align is valid and the arena
// is closed, the error is LinearConfig.Closed, by default memory.ErrClosed. If the block does not fit, the error is
// LinearConfig.Full, also if size exceeds the capacity. In a frame of a [Frames] it is FramesConfig.Full. By default
// both wrap memory.ErrOutOfMemory. If the commit of the frame failed, Alloc returns the error of the commit: see
// [Frames.Advance]. Cost: about a dozen instructions, inlined.
func (l *Linear) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	if invariant.Debug {
		l.mustBeCurrent("Alloc")
	}
	mask := align - 1
	start := (l.off + mask) &^ mask
	end := start + size
	if align&mask != 0 || mask > memory.MaxAlign-1 { // not a power of two, or too large
		return nil, memory.ErrAlign
	}
	if end > l.limit || end < start { // the second half: start+size has wrapped
		l.failures++
		return nil, *l.full
	}
	l.off = end
	l.book |= unknown // one more turns it to zero and counts
	l.book += uint64(uint32(size)) + 1
	if invariant.Debug {
		l.debugAlloc(start, size)
	}
	return unsafe.Add(l.base, start), nil
}

func (l *Linear) debugAlloc(start, size uintptr) {
	l.owner.Touch()
	l.ledger.add(start, size)
	invariant.Fresh(unsafe.Add(l.base, start), size)
}

// New allocates one zeroed T. The parameter t is the proof that T contains no Go pointer. For the lifetime of the
// object see [Linear]. If T has size 0, the object must not be read: there may be no memory at its address. The errors
// are those of [Linear.Alloc]. For the zero Type, New returns the same error as for an object that does not fit. Cost:
// Alloc and the zeroing, inlined. For a T above 128 KiB use [MakeSlice]: New would also allocate a T on the Go heap.
func New[T any](l *Linear, t memory.Type[T]) (v *T, err error) {
	if invariant.Debug {
		l.mustBeCurrent("New")
	}
	// It repeats the code of Alloc: a call would exceed the inliner's budget of 80 nodes, which this code uses up.
	start := (l.off + unsafe.Alignof(*v) - 1) & -unsafe.Alignof(*v)
	// This cannot wrap: a Go type has less than half the address space, and off is within a reservation,
	// which has at least 128 KiB less than half.
	end := start + unsafe.Sizeof(*v)
	if end > l.limit || !t.Valid() {
		l.failures++
		return nil, *l.full
	}
	l.off = end
	l.book |= unknown
	l.book += uint64(unsafe.Sizeof(*v)) + 1
	if invariant.Debug {
		l.debugAlloc(start, end-start)
	}
	v = (*T)(unsafe.Add(l.base, start))
	if unsafe.Sizeof(*v) > 0 {
		var zero T // above 128 KiB on the Go heap; a clear in place costs 12 nodes more
		*v = zero
	}
	return
}

// MakeSlice allocates n zeroed values of T, as a slice with length and capacity n. Appending to the slice allocates a
// copy on the Go heap. For the lifetime of the slice see [Linear]. The error is memory.ErrTooLarge if n is negative, if
// n times the size of T overflows, or if t is the zero Type. All other errors are those of [Linear.Alloc]. If MakeSlice
// fails, the slice is nil.
func MakeSlice[T any](l *Linear, t memory.Type[T], n int) ([]T, error) {
	s, err := MakeSliceUninit(l, t, n)
	clear(s)
	return s, err
}

// MakeSliceUninit is [MakeSlice] without zeroing: the values are undefined. It returns the errors of MakeSlice.
func MakeSliceUninit[T any](l *Linear, t memory.Type[T], n int) ([]T, error) {
	size, ok := align.Mul(n, unsafe.Sizeof(*new(T)))
	if !ok || !t.Valid() {
		l.failures++
		return nil, memory.ErrTooLarge
	}
	p, err := l.Alloc(size, unsafe.Alignof(*new(T)))
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*T)(p), n), nil
}

// Base returns the start of the reservation, to which offsets of blocks are relative. It is constant while the arena is
// open. If the arena is closed, Base returns nil.
func (l *Linear) Base() unsafe.Pointer { return l.base }

// Owns reports whether p lies in the arena's reservation. p need not be in a live block. If the memory has been
// released or the source has ended, Owns returns false.
func (l *Linear) Owns(p unsafe.Pointer) bool { return l.mem.Contains(p) }

// Available returns the free bytes. The padding for the alignment of a block takes some of them. If the arena is
// closed, Available returns 0.
func (l *Linear) Available() uintptr {
	if l.base == nil {
		return 0
	}
	return l.limit - l.off
}

// Used returns the bytes in use, with padding and with blocks that were freed but not reclaimed. If the arena is
// closed, Used returns 0.
func (l *Linear) Used() uintptr {
	if l.base == nil {
		return 0
	}
	return l.off
}

// Reset runs the hooks, newest first, and frees every block. All marks and Refs expire. If a hook panics, nothing is
// freed (see [Linear.OnReset]). If a hook ends the source, the arena is closed afterwards. Reset panics with a
// *memory.Misuse if the arena is closed or one of its hooks is running. Cost: constant, plus the hooks.
func (l *Linear) Reset() { l.reset("Reset", nil) }

// reset is Reset. If ring is not nil, it also begins the ring's next frame: a second call would make Advance twice as
// slow.
func (l *Linear) reset(op string, ring *Frames) {
	l.open(op, nil, 0)
	if l.busy || len(l.hooks) > 0 {
		if l.runHooks(op, 0); l.base == nil {
			return
		}
	}
	if len(l.marks) > 0 {
		l.marks, l.kept, l.floor = l.marks[:0], 0, 0
	}
	l.cutRefs(0)
	l.drop(0, 0)
	if ring != nil {
		if l.limit == 0 {
			ring.ready(l)
		}
		ring.frame++
		ring.cur = l
	}
}

// Close runs the hooks, frees every block and releases the memory. Afterwards the caller must not use pointers into the
// arena. If a hook panics, nothing is freed (see [Linear.OnReset]). Close panics with a *memory.Misuse if one of the
// hooks is running.
//
// If the memory cannot be released, Close returns an error. All blocks are freed nevertheless, and Close can be called
// again. If a part of the memory was decommitted before the error, the arena is closed. If nothing was decommitted, the
// arena stays open and can be used. After a Close that succeeded, and after the source has ended, Close does nothing
// and returns nil.
func (l *Linear) Close() error {
	if l.mem.Base() == nil {
		return nil
	}
	if l.base != nil {
		l.reset("Close", nil)
	}
	defer func() { // also if the source panics
		if l.mem.Base() == nil || l.mem.Committed() < l.limit {
			l.shut()
		}
	}()
	if err := l.mem.Close(); err != nil {
		return fmt.Errorf("arena: close: %w", err)
	}
	return nil
}

// shut puts the metadata into the state of a closed arena and touches no block. If the source has ended, the hooks are
// dropped, because their blocks are gone.
func (l *Linear) shut() {
	l.peak = max(l.peak, l.Used())
	l.base, l.limit, l.full = nil, 0, &l.closed
	l.allocs = l.total()
	l.off, l.book = 1, unknown // beyond limit, so that Alloc fails at size 0 too
	l.marks, l.kept, l.floor, l.hooks = nil, 0, 0, nil
	l.dropped = l.allocs
	l.ledger.cut(0)
	l.epoch = ^uint64(0) // of no Ref, also of none that was made after a state was saved and loaded
}

// Stats returns the statistics. Peak is exact. A block that was freed but not reclaimed counts in InUse and Live, and
// not in Frees. Failures also counts requests to the closed arena and requests with the zero Type.
func (l *Linear) Stats() memory.Stats {
	used := l.Used()
	return memory.Stats{
		Reserved: uint64(l.mem.Reserved()), Committed: uint64(l.mem.Committed()),
		InUse: uint64(used), Peak: uint64(max(l.peak, used)),
		Live: l.live(), Allocs: l.total(), Frees: l.dropped, Failures: l.failures,
	}
}

// open panics unless the arena is open.
func (l *Linear) open(op string, p unsafe.Pointer, size uintptr) {
	if l.base == nil {
		panic(l.misuseClosed(op, p, size))
	}
	l.owner.Touch()
}

// misuseClosed adds LinearConfig.Closed, if it is set: the owner of the arena knows when it is open.
func (l *Linear) misuseClosed(op string, p unsafe.Pointer, size uintptr) *memory.Misuse {
	reason := "the arena is closed"
	if l.closed != nil && l.closed != memory.ErrClosed {
		reason += ": " + l.closed.Error()
	}
	return misuse(op, p, size, reason)
}

func misuse(op string, p unsafe.Pointer, size uintptr, reason string) *memory.Misuse {
	return &memory.Misuse{Package: "arena", Op: op, Addr: uintptr(p), Size: size, Reason: reason}
}
