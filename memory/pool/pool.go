package pool

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/save"
)

// A Pool has objects of one type, which are found by handles. Objects never move. A freed object leaves a vacant slot
// that a later New uses.
//
//	off the heap   | T | T |   | T |   | - - -      stride sizeof(T)
//	metadata       generations, live bits, stack of vacant slots
//
// Objects are zeroed by New and belong to the pool. A pointer to an object is valid until the Free, Reset or Close that
// frees the object, until a state without the object is loaded, or until the source ends. Afterwards the handle of the
// object is stale; for a load see [Pool.SaveState]. A Pool belongs to one goroutine at a time. Get, Len and iterations
// only read: several goroutines may read a pool while none changes it.
//
// A Pool is closed after a Close that succeeded, and after its source has ended (see [page.Watched]). New, Grow and
// Trim of a closed Pool fail with memory.ErrClosed, Reset panics with a *memory.Misuse, and all handles are stale.
//
// A commit of the Pool may call the function of page.Limit.OnSoft. If that function calls New or Grow of this Pool, and
// the call must commit memory, the call panics with a *memory.Misuse. Within that function Trim returns no memory, and
// Close frees all objects but fails.
//
// Debug builds (-tags memdebug or -race) fill freed objects. In these builds New panics with a *memory.Misuse if a slot
// that it returns or prepares was written to after it was freed.
//
// A handle of one pool is stale in every other pool that the process has made, with a rare exception. If a process has
// made 2^k pools, the wrong pool can accept a handle after 2^(31-k) reuses of its slot: with a thousand pools, after
// two million.
type Pool[T any] struct {
	// Invariants, verified by Check: those of slots, and the opened slots are committed.

	_    [0]*T          // a Pool of another type does not convert to this one
	base unsafe.Pointer // nil once closed
	slots
	mem   page.Prefix
	name  string
	owner invariant.Owner
}

// Config configures [New], [NewSplit] and [Register]. They refuse values out of range.
type Config struct {
	// Capacity is the largest number of objects that can be live at once. If the system refuses the address space, the
	// constructor halves the number: see [Pool.Cap]. Memory is committed when slots are first used, but [page.Heap],
	// the source of js and -race builds, allocates all of it in New. 0 means as many objects as fit in 64 MiB, at least
	// one; tiers.NewPool has another default. The maximum is 2^32-2, on 32-bit systems 2^27-1. Capacity times the size
	// of an object, or of a part of a [Split], must fit an int.
	Capacity int
	// Name is the name of the pool in reports. "" means the name of T with its package, such as "game.Shot". For a
	// [Split] it is the name of Hot.
	Name string
}

// New returns a pool of T with a reservation of src; nothing is committed. If src is nil, it is page.Default(). If the
// system refuses the address space, New halves the capacity until the system grants it, but not below 16 KiB or one
// object: see [Pool.Cap].
//
// If T contains a Go pointer, the error wraps a [*memory.PointerError]. If Capacity is out of range, the error wraps
// memory.ErrConfig. If src fails, the error wraps the error that page.NewPrefix returns. If New fails, it releases its
// reservation. If src cannot release it, the addresses stay reserved.
func New[T any](src page.Source, cfg Config) (*Pool[T], error) {
	name, err := nameFor[T](cfg)
	if err != nil {
		return nil, fmt.Errorf("pool: new: %w", err)
	}
	p := &Pool[T]{name: name}
	mem, capacity, err := reserve(src, cfg.Capacity, stride[T](), stride[T]())
	if err != nil {
		return nil, fmt.Errorf("pool: new Pool of %s: %w", name, err)
	}
	p.mem, p.base, p.key = mem, mem.Base(), newKey()
	meta(&p.slots).limit(src, name, capacity)
	p.mem.Watch(p.lost)
	return p, nil
}

// lost is called when the source has ended. The addresses may have a new owner.
func (p *Pool[T]) lost() {
	p.base = nil
	meta(&p.slots).close()
}

// stride is the distance of two T in bytes. An empty T takes one.
func stride[T any]() uintptr { return max(unsafe.Sizeof(*new(T)), 1) }

// nameFor checks T and returns the name of the pool.
func nameFor[T any](cfg Config) (string, error) {
	if err := memory.PointerFree[T](); err != nil {
		return "", err
	}
	if cfg.Name == "" {
		return fmt.Sprintf("%T", *new(T)), nil
	}
	return cfg.Name, nil
}

// maxSlots is the number of slots that 32 bits of index can name, less those whose generation could not be retired. On 32
// bits the metadata of more would not fit the address space.
const maxSlots = min(worn, math.MaxInt/16)

// reserve reserves address space for capacity objects of size bytes. total is the size of an object with all its parts.
func reserve(src page.Source, capacity int, size, total uintptr) (page.Prefix, uint, error) {
	capacity = cmp.Or(capacity, int(max(defaultReserve/total, 1)))
	want, ok := align.Mul(capacity, size)
	if !ok || uint64(capacity) > maxSlots {
		return page.Prefix{}, 0, fmt.Errorf("config: Capacity %d of %d bytes each: want 1 to %d: %w: %w",
			capacity, size, min(maxSlots, math.MaxInt/uint64(max(size, 1))), memory.ErrConfig, memory.ErrTooLarge)
	}
	mem, err := page.NewPrefix(src, want, size, 0)
	if err != nil {
		return page.Prefix{}, 0, err
	}
	return mem, uint(min(uintptr(capacity), mem.Reserved()/size)), nil
}

// New allocates a zeroed object in a vacant slot. It prefers the slot that was freed last. If the pool is closed, the
// error is memory.ErrClosed. If Cap slots are live or retired, the error wraps memory.ErrOutOfMemory. If memory cannot
// be committed, the error wraps that of page.Prefix.Ensure. If the Go heap has no space for the metadata, the error
// wraps that of page.ProbeHeap. An error that wraps memory.ErrOutOfMemory names the pool. A failed New returns the zero
// Handle and nil.
//
// Cost: a pop from the stack of vacant slots, a generation, a bit and the zeroing. If the stack is empty, New prepares
// up to 64 slots in at most 16 KiB, or one larger slot. Preparing commits their memory, adds them to the stack and may
// double the metadata.
func (p *Pool[T]) New() (memory.Handle[T], *T, error) {
	if invariant.Debug {
		p.owner.Touch()
		meta(&p.slots).verifyNext(p)
	}
	i, gen, ok := meta(&p.slots).take()
	if !ok {
		return p.newMore()
	}
	v := p.at(uint(i))
	zero(v)
	return memory.MakeHandle[T](i, gen^p.key), v, nil
}

// zero zeroes *v in place. *new(T) would copy zeros from the stack, or from the Go heap if T is large, as a variable is.
func zero[T any](v *T) {
	if unsafe.Sizeof(*v) > 1<<10 {
		clear(unsafe.Slice(v, 1))
		return
	}
	var zeros T
	*v = zeros
}

// Get returns the object of h and true. If h is stale, zero, or of another pool, Get returns nil and false. Get
// inlines.
func (p *Pool[T]) Get(h memory.Handle[T]) (v *T, ok bool) {
	i, gen := h.Index(), h.Generation()^p.key
	if uint(i) >= uint(len(p.gens)) || p.gens[i] != gen || gen&1 == 0 {
		return nil, false
	}
	return (*T)(unsafe.Add(p.base, uintptr(i)*unsafe.Sizeof(*v))), true
}

// Free frees the object of h and returns true. If h is stale, zero, or of another pool, Free does nothing and returns
// false.
func (p *Pool[T]) Free(h memory.Handle[T]) bool {
	i, gen := h.Index(), h.Generation()^p.key
	if !meta(&p.slots).has(i, gen) {
		return false
	}
	if invariant.Debug {
		p.owner.Touch()
		invariant.Freed(unsafe.Pointer(p.at(uint(i))), unsafe.Sizeof(*new(T)))
	}
	meta(&p.slots).drop(i, gen)
	return true
}

// at returns slot i, which is opened.
func (p *Pool[T]) at(i uint) *T {
	return (*T)(unsafe.Add(p.base, uintptr(i)*unsafe.Sizeof(*new(T))))
}

// ready, ensure, soil and damage make p the backing of its slots.
func (p *Pool[T]) ready() uint { return uint(p.mem.Committed() / stride[T]()) }

func (p *Pool[T]) ensure(n uint) error {
	p.soiled = min(p.soiled, p.ready()) // decommitted memory is zero when it is committed again
	return p.mem.Ensure(uintptr(n) * stride[T]())
}

func (p *Pool[T]) fit(c *save.Coder, n uint) { p.mem.Fit(c, uintptr(n)*stride[T]()) }

func (p *Pool[T]) soil(i, end uint) {
	invariant.Freed(unsafe.Pointer(p.at(i)), uintptr(end-i)*unsafe.Sizeof(*new(T)))
}

func (p *Pool[T]) damage(i uint) (unsafe.Pointer, string) {
	at := unsafe.Pointer(p.at(i))
	return at, damage(at, unsafe.Sizeof(*new(T)))
}

// newMore is New if no prepared slot is vacant.
//
//go:noinline
func (p *Pool[T]) newMore() (memory.Handle[T], *T, error) {
	if err := meta(&p.slots).refill(stride[T](), p); err != nil {
		return memory.Handle[T]{}, nil, err
	}
	return p.New()
}

// Grow makes space for a total of n live objects. It commits the memory and allocates the metadata for the first n
// slots of the reservation. After Grow, New does not fail, and calls neither the source nor the Go heap, until n slots
// are live or retired, Trim is called or a state is loaded.
//
// If the pool is closed, the error is memory.ErrClosed. If n is negative or exceeds Cap, the error wraps
// memory.ErrTooLarge. If memory or metadata is not available, the error is the one that New returns. A Grow that fails
// changes at most Stats.Failures. But if the source ends during Grow, the pool is closed.
func (p *Pool[T]) Grow(n int) error {
	p.owner.Touch()
	return meta(&p.slots).grow(n, p)
}

// Name returns Config.Name. If Config.Name is empty, Name returns the name of the type T with its package.
func (p *Pool[T]) Name() string { return p.name }

// Len returns the number of live objects. If the pool is closed, Len returns 0.
func (p *Pool[T]) Len() int { return int(meta(&p.slots).count()) }

// Cap returns the number of slots. Retired slots are included, but are not used again (see [memory.Handle]): the
// largest number of live objects is lower by their number. If the pool is closed, Cap returns 0.
func (p *Pool[T]) Cap() int { return int(p.capacity) }

// LiveSlots returns which slots have a live object, and the size of a slot in bytes. A handle with the Index i belongs
// to slot i. Bit i%64 of live[i/64] is set if slot i has a live object. Slots beyond the end of live have no live
// object. The words belong to the pool and must not be changed. They are valid until the next call of another method.
// If the pool is closed, live is nil.
func (p *Pool[T]) LiveSlots() (live []uint64, size uintptr) { return p.live, stride[T]() }

// All returns an iterator over the live objects, in the order of their addresses, which is not the order of New. The
// loop may change the pool. An object that it frees is not visited afterwards. An object that it makes may be visited
// or not. Each slot is visited at most once, so the loop ends. After a Reset the loop visits no older object, and after
// Close it visits none. All inlines. If most slots are live, [Pool.Runs] is faster.
func (p *Pool[T]) All() iter.Seq2[memory.Handle[T], *T] {
	return func(yield func(memory.Handle[T], *T) bool) {
		for i := range meta(&p.slots).each {
			if !yield(memory.MakeHandle[T](uint32(i), p.gens[i]^p.key), p.at(i)) {
				return
			}
		}
	}
}

// Reset frees every object and keeps the committed memory. All handles become stale. The next objects get the slots in
// ascending order, as in a new pool. Cost: a step for each slot that was used. Reset panics with a *memory.Misuse if
// the pool is closed.
func (p *Pool[T]) Reset() {
	if p.base == nil {
		panic(closedReset(p.name))
	}
	p.owner.Touch()
	if invariant.Debug {
		for _, v := range p.All() {
			invariant.Freed(unsafe.Pointer(v), unsafe.Sizeof(*v))
		}
	}
	meta(&p.slots).reset()
}

func closedReset(name string) *memory.Misuse {
	return &memory.Misuse{Package: "pool", Op: "Reset", Reason: name + ": the pool is closed; if a manager resets it, call RemovePool before Close"}
}

// Trim returns the memory after the last live object to the source, in whole pages of the source (page.SizeOf). Handles
// stay valid. Trim also sorts the vacant slots, so that the next objects get the lowest slots. Cost: proportional to
// the slots that were used.
//
// If the pool is closed, the error is memory.ErrClosed. If the source fails, the error wraps that of the source, and
// nothing has changed. If the source ends during Trim, the pool is closed and the error wraps memory.ErrClosed.
func (p *Pool[T]) Trim() error {
	if p.base == nil {
		return memory.ErrClosed
	}
	p.owner.Touch()
	last := meta(&p.slots).last()
	if err := p.mem.Trim(uintptr(last) * stride[T]()); err != nil {
		return fmt.Errorf("pool: trim %s: %w", p.name, err)
	}
	meta(&p.slots).trim(last)
	return nil
}

// Close frees every object and releases the memory. Afterwards the caller must not use pointers into the pool. If the
// page source cannot release the memory, Close fails: all objects are freed, the pool stays open, and Close can be
// retried. If the pool is closed, Close does nothing and returns nil.
func (p *Pool[T]) Close() error {
	if p.base == nil {
		return nil
	}
	p.Reset()
	meta(&p.slots).trim(0) // the memory may be decommitted although the addresses could not be released
	if err := p.mem.Close(); err != nil {
		return fmt.Errorf("pool: close %s: %w", p.name, err)
	}
	p.base = nil
	meta(&p.slots).close()
	return nil
}

// Stats returns the statistics. Peak is an upper bound: it exceeds the high-water mark of the live and retired slots by
// the bytes of at most 63 slots. After a load of a file, Peak also includes the vacant slots of the file. Loading
// restores the counters, and from a save.Slot also Peak.
func (p *Pool[T]) Stats() memory.Stats {
	s := meta(&p.slots).stats(stride[T]())
	s.Reserved, s.Committed = uint64(p.mem.Reserved()), uint64(p.mem.Committed())
	return s
}

// Check returns the errors in the metadata, or nil. Debug builds also report writes to vacant slots.
func (p *Pool[T]) Check() error {
	if p.base == nil {
		return errors.Join(p.mem.Check(), meta(&p.slots).checkClosed())
	}
	if err := meta(&p.slots).checkBacking(&p.mem, stride[T]()); err != nil {
		return errors.Join(p.mem.Check(), err)
	}
	return errors.Join(p.mem.Check(), meta(&p.slots).check(p))
}
