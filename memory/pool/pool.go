package pool

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
)

// A Pool holds objects of one type, named by handles. Objects never move; a freed one leaves a
// vacancy that the next New fills, and nothing is swapped into it.
//
//	off the heap   | T | T |   | T |   | - - -      stride sizeof(T)
//	Go heap        generations, live bits, stack of vacant slots
//
// Objects are zeroed by New. They belong to the pool; a pointer is good until the Free, Reset
// or Close that ends the object, a handle is good for ever and turns stale then. One goroutine
// at a time, but Get, Len and iteration only read: several goroutines may do that while none
// changes the pool. After Close, and once the source has ended (see [page.Watched]), every New
// fails and every handle is stale. Builds with -tags memdebug or -race fill freed objects, and
// New panics with a *memory.Misuse where one was written to since.
//
// A handle of another pool is stale, also of one that was closed before this one was made:
// each pool folds a key of its own into its handles. Of the first 2^k pools of a process two
// can take a handle for each other's only in a slot that one of them has reused 2^(31-k)
// times: among a thousand pools, after two million lives in one slot. Pools that are made 2^31
// pools apart have the same key.
//
// Invariants, verified by Check: those of the books (see slots), and the carved slots are
// committed.
type Pool[T any] struct {
	_    [0]*T          // a Pool of another type does not convert to this one
	base unsafe.Pointer // nil once closed
	slots
	mem   page.Prefix
	name  string
	owner invariant.Owner
}

// Config configures New, NewSplit and Register.
type Config struct {
	// Capacity is the most objects that can live at once. It costs address space only:
	// memory is committed as slots are first used. 0 means as many as 64 MiB hold, at
	// least one. The most is 2^32-2, and 2^27-1 on 32 bits, where the books take the rest.
	Capacity int
	// Name is what reports call the pool. "" means the type's name.
	Name string
}

// New makes a pool of T on src; nil means page.Default(). Nothing is committed yet. The error
// is a [*memory.PointerError] when T holds a Go pointer, wraps memory.ErrConfig for a Capacity that
// can never work, or wraps what src returned. Where the system refuses as much address space, half is asked for, down
// to one object: see Cap.
func New[T any](src page.Source, cfg Config) (*Pool[T], error) {
	name, err := nameFor[T](cfg)
	if err != nil {
		return nil, fmt.Errorf("pool: new: %w", err)
	}
	p := &Pool[T]{name: name}
	p.mem, p.capacity, err = reserve(src, cfg.Capacity, stride[T](), stride[T]())
	if err != nil {
		return nil, fmt.Errorf("pool: new Pool of %s: %w", name, err)
	}
	p.base, p.key = p.mem.Base(), newKey()
	p.mem.Watch(p.lost)
	return p, nil
}

// lost is called when the source has ended: the addresses may be somebody else's.
func (p *Pool[T]) lost() {
	p.base = nil
	p.close()
}

// stride is the distance of two T; an empty T takes a byte.
func stride[T any]() uintptr { return max(unsafe.Sizeof(*new(T)), 1) }

// nameFor checks T and names the pool.
func nameFor[T any](cfg Config) (string, error) {
	if err := memory.PointerFree[T](); err != nil {
		return "", err
	}
	if cfg.Name == "" {
		return fmt.Sprintf("%T", *new(T)), nil
	}
	return cfg.Name, nil
}

// maxSlots is what 32 bits of index name, less what would wear out a generation; on 32 bits
// the books of more would not fit beside the slots.
const maxSlots = min(worn, math.MaxInt/16)

// reserve takes address space for capacity objects of size bytes, of objects of total bytes
// with all their parts.
func reserve(src page.Source, capacity int, size, total uintptr) (page.Prefix, uint, error) {
	if capacity == 0 {
		capacity = int(max(defaultReserve/total, 1))
	}
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

// New begins an object, zeroed, in the slot most recently freed if there is one. The error is
// bare memory.ErrOutOfMemory at capacity, memory.ErrClosed, or the source's when memory cannot
// be committed. Cost: a pop, a generation, a bit and the zeroing; every 64 slots or 16 KiB of
// first use, a refill.
func (p *Pool[T]) New() (memory.Handle[T], *T, error) {
	if invariant.Debug {
		p.owner.Touch()
		p.verifyNext(p)
	}
	i, gen, ok := p.take()
	if !ok {
		if err := p.more(); err != nil {
			return memory.Handle[T]{}, nil, err
		}
		i, gen, _ = p.take()
	}
	v := p.at(uint(i))
	*v = *new(T)
	return memory.MakeHandle[T](i, gen^p.key), v, nil
}

// Get returns the object of h, or ok == false when h is stale, zero or not of this pool's
// making. It inlines.
func (p *Pool[T]) Get(h memory.Handle[T]) (v *T, ok bool) {
	i, gen := h.Index(), h.Generation()^p.key
	if uint(i) >= uint(len(p.gens)) || p.gens[i] != gen || gen&1 == 0 {
		return nil, false
	}
	return (*T)(unsafe.Add(p.base, uintptr(i)*unsafe.Sizeof(*v))), true
}

// Free ends the object of h and reports true; false when h is stale, and nothing happens.
func (p *Pool[T]) Free(h memory.Handle[T]) bool {
	i, gen := h.Index(), h.Generation()^p.key
	if !p.has(i, gen) {
		return false
	}
	if invariant.Debug {
		p.owner.Touch()
		invariant.Freed(unsafe.Pointer(p.at(uint(i))), unsafe.Sizeof(*new(T)))
	}
	p.drop(i, gen)
	return true
}

// at returns slot i, which is carved.
func (p *Pool[T]) at(i uint) *T {
	return (*T)(unsafe.Add(p.base, uintptr(i)*unsafe.Sizeof(*new(T))))
}

// ensure, soil and damage make p the ground of its slots.
func (p *Pool[T]) ensure(n uint) error {
	p.soiled = min(p.soiled, uint(p.mem.Committed()/stride[T]())) // what was given back comes back zero
	return p.mem.Ensure(uintptr(n) * stride[T]())
}

func (p *Pool[T]) soil(i, end uint) {
	invariant.Freed(unsafe.Pointer(p.at(i)), uintptr(end-i)*unsafe.Sizeof(*new(T)))
}

func (p *Pool[T]) damage(i uint) (unsafe.Pointer, string) {
	at := unsafe.Pointer(p.at(i))
	return at, damage(at, unsafe.Sizeof(*new(T)))
}

//go:noinline
func (p *Pool[T]) more() error { return p.refill(stride[T](), p) }

// Grow commits memory for n objects in all, the live ones included, and makes room in the
// books, so that no later New up to there calls the system or allocates on the Go heap.
// Errors are New's, and memory.ErrTooLarge beyond Cap; on error nothing has changed.
func (p *Pool[T]) Grow(n int) error {
	p.owner.Touch()
	return p.grow(n, p)
}

// Name returns the name that reports use.
func (p *Pool[T]) Name() string { return p.name }

// Len returns how many objects live.
func (p *Pool[T]) Len() int { return int(p.count()) }

// Cap returns how many objects can live at once, retired slots included; 0 once closed.
func (p *Pool[T]) Cap() int { return int(p.capacity) }

// All yields the live objects in order of address. The body may do anything: an object that it
// frees is not visited any more, one that it makes is visited or not, and Reset, Close or a
// panic end the walk and leave the pool as the body left it.
func (p *Pool[T]) All() iter.Seq2[memory.Handle[T], *T] {
	return func(yield func(memory.Handle[T], *T) bool) {
		for c := p.Cursor(); c.Next(); {
			if !yield(c.Handle(), c.Value()) {
				return
			}
		}
	}
}

// Cursor starts an iteration that calls nothing back: see [Cursor].
func (p *Pool[T]) Cursor() Cursor[T] {
	return Cursor[T]{slots: &p.slots, base: (*T)(p.base), rest: p.first()}
}

// Reset ends every object; committed memory is kept, and every handle is stale. Cost: a step
// per live object. On a closed pool it panics with a *memory.Misuse.
func (p *Pool[T]) Reset() {
	if p.base == nil {
		panic(&memory.Misuse{Package: "pool", Op: "Reset", Reason: "the pool is closed"})
	}
	p.owner.Touch()
	if invariant.Debug {
		for c := p.Cursor(); c.Next(); {
			invariant.Freed(unsafe.Pointer(c.Value()), unsafe.Sizeof(*new(T)))
		}
	}
	p.reset()
}

// Trim gives the memory behind the last live object back to the source, in whole granules of
// page.Granule, and sorts the vacant slots so that the lowest are used next. Handles keep
// their meaning. Cost: proportional to the slots carved.
func (p *Pool[T]) Trim() error {
	if p.base == nil {
		return memory.ErrClosed
	}
	p.owner.Touch()
	last := p.last()
	if err := p.mem.Trim(uintptr(last) * stride[T]()); err != nil {
		return fmt.Errorf("pool: trim %s: %w", p.name, err)
	}
	p.trim(last)
	return nil
}

// Close releases the memory: no pointer into the pool may be used any more. A second Close
// does nothing. If the memory cannot be released the pool is empty but open, and Close may
// be called again.
func (p *Pool[T]) Close() error {
	if p.base == nil {
		return nil
	}
	p.Reset()
	p.trim(0) // the memory may be gone although the addresses could not be released
	if err := p.mem.Close(); err != nil {
		return fmt.Errorf("pool: close %s: %w", p.name, err)
	}
	p.base = nil
	p.close()
	return nil
}

// Stats derives the books. Peak is an upper bound: at most one refill, 64 objects or 16 KiB,
// above the true one.
func (p *Pool[T]) Stats() memory.Stats {
	s := p.stats(stride[T]())
	s.Reserved, s.Committed = uint64(p.mem.Reserved()), uint64(p.mem.Committed())
	return s
}

// Check verifies the invariants.
func (p *Pool[T]) Check() error {
	if p.base == nil {
		return errors.Join(p.mem.Check(), p.checkClosed())
	}
	if err := p.checkGround(&p.mem, stride[T]()); err != nil {
		return errors.Join(p.mem.Check(), err)
	}
	return errors.Join(p.mem.Check(), p.check(p))
}
