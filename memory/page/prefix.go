package page

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
)

// A Prefix is a reservation whose first bytes are committed, a step at a time: the ground
// that every growing family stands on. Its base never moves. One goroutine at a time.
//
// Invariants, verified by Check:
//
//	(1) committed <= size <= mem.Size, and all three are multiples of Granule
//	(2) step is a multiple of Granule, up to mem.Size while p is open, and page a power of two from Granule to BaseAlign
//	(3) a closed Prefix has neither base nor size nor committed bytes
type Prefix struct {
	src       Source
	mem       Memory  // as the source gave it: that is what it wants back
	size      uintptr // what of mem is used: as much as was asked for
	committed uintptr
	step      uintptr // 0: a share of what is committed
	page      uintptr // what the source commits and gives back at once
	busy      bool    // the source is at work, and may call whoever waits for a mark
	unwatch   func()  // nil: nobody watches
	ticket    *ticket // nil where builds do not watch for those that are dropped
}

// NewPrefix is [Reserve] for an allocator that grows. Nothing is committed. step, in bytes, is
// how much Ensure commits at least; 0 means 1/32 of what is committed, from a Granule to 256 KiB:
// what a small heap does not use stays small, and to grow to 4 MiB takes some 100 system calls of
// a microsecond. Of a source that reserves more than it was asked for, the rest stays unused.
func NewPrefix(src Source, want, least, step uintptr) (Prefix, error) {
	if src == nil {
		src = Default()
	}
	mem, size, err := reserve(src, want, least)
	if err != nil {
		return Prefix{}, err
	}
	return Prefix{src: src, mem: mem, size: size, step: align.Up(min(step, size), Granule), page: SizeOf(src), ticket: watchDropped(size)}, nil
}

// Reserve reserves want bytes of src (nil means [Default]), or half as many, and half of that,
// down to least, where the operating system refuses: a limit on address space is no reason not
// to run. What is had then leaves room for the Go heap, or is least. A [Carve] that has less left is: whoever cut it up chose the sizes. A source that
// reserves less than it was asked for, or not as [Source] says, is refused and has its memory
// back.
func Reserve(src Source, want, least uintptr) (Memory, error) {
	if src == nil {
		src = Default()
	}
	mem, _, err := reserve(src, want, least)
	return mem, err
}

// reserve returns the memory, and how many bytes were asked for in the end.
func reserve(src Source, want, least uintptr) (Memory, uintptr, error) {
	least = min(max(least, Granule), max(want, Granule))
	mem, err := src.Reserve(want)
	for err != nil && RefusedBySystem(err) && want/2 >= least {
		want /= 2
		if mem, err = src.Reserve(want); err != nil || want/2 < least {
			continue
		}
		// What is left of a limit may be less than the Go heap takes at once when it grows next.
		if err = HeapRoom(askedFor); err != nil {
			if failed := src.Release(mem); failed != nil {
				return Memory{}, 0, failed
			}
		}
	}
	if err != nil {
		return Memory{}, 0, err
	}
	size := align.Up(want, Granule)
	if mem.Base == nil || mem.Size < size || !mem.sound() {
		err := fmt.Errorf("page: %T reserved %d bytes at %p for %d; wanted are whole granules of %d, aligned to %d",
			src, mem.Size, mem.Base, want, Granule, BaseAlign)
		if mem.Base != nil {
			err = errors.Join(err, src.Release(mem))
		}
		return Memory{}, 0, err
	}
	return mem, size, nil
}

// NewPrefixWithBooks is NewPrefix for an allocator whose books lie in the Go heap and grow with
// the reservation: books returns their bytes for so many bytes reserved. Go ends the process
// when its heap cannot grow, so where the system, asked first, would not back the books beside
// the reservation, half as much is reserved, and half of that, down to least; the error is a
// *memory.Exhausted then.
func NewPrefixWithBooks(src Source, want, least, step uintptr, books func(reserved uintptr) uint64) (Prefix, error) {
	for {
		p, err := NewPrefix(src, want, least, step)
		if err != nil {
			return Prefix{}, err
		}
		need := books(p.Reserved())
		refusal := roomFor(need)
		if refusal == nil {
			return p, nil
		}
		want = min(want, p.Reserved()) / 2
		if err := p.Close(); err != nil || want < max(least, Granule) {
			limit := &memory.Exhausted{Op: "page: books", Need: uintptr(min(need, uint64(^uintptr(0)))), Cause: refusal}
			return Prefix{}, errors.Join(limit, err)
		}
	}
}

// NewCommitted is NewPrefix of want bytes for an allocator that commits the first n of them at
// once. Where they cannot be had, where the source panics, as in the callback at a soft mark, and
// where it ends meanwhile, which is memory.ErrClosed, nothing is kept.
func NewCommitted(src Source, want, least, step, n uintptr) (p Prefix, err error) {
	if p, err = NewPrefix(src, want, least, step); err != nil {
		return Prefix{}, err
	}
	committed := false
	defer func() {
		if p.endWatch(); !committed {
			p, err = Prefix{}, errors.Join(err, p.Close())
		}
	}()
	p.Watch(func() {}) // so that Ensure knows
	err = p.Ensure(n)
	committed = err == nil
	return p, err
}

// RefusedBySystem reports whether err is the operating system's no, and not that of a Carve or a
// Limit, whose refusals have no cause behind them: where it is a limit on address space a smaller
// reservation may be had.
func RefusedBySystem(err error) bool {
	if e := (*memory.Exhausted)(nil); errors.As(err, &e) {
		return e.Cause != nil
	}
	return errors.Is(err, memory.ErrOutOfMemory)
}

// Watch has lost called, once, when the source of p ends before p does, as a [Carve] does when
// the manager that it belongs to is closed: the addresses may be somebody else's from then on.
// By then p is closed and has no memory. lost puts the books of whoever stands on p into the
// state of a closed allocator, and touches no block. p must not be copied afterwards. A source
// that has no end of its own, as the system's, calls nobody; one that has ended already calls
// at once. A second Watch takes the place of the first; on a closed Prefix it does nothing.
func (p *Prefix) Watch(lost func()) {
	w, ok := p.src.(Watched)
	if !ok || p.mem.Base == nil {
		return
	}
	p.endWatch()
	tell := func() {
		p.unwatch = nil
		p.shut()
		lost()
	}
	if p.unwatch = w.Watch(tell); p.unwatch == nil {
		tell()
	}
}

// shut puts the books of p into the closed state.
func (p *Prefix) shut() {
	p.mem, p.size, p.committed = Memory{}, 0, 0
	p.ticket.end()
	p.endWatch()
}

func (p *Prefix) endWatch() {
	if unwatch := p.unwatch; unwatch != nil {
		p.unwatch = nil
		unwatch()
	}
}

// Base returns the first byte, aligned to BaseAlign; nil once closed.
func (p *Prefix) Base() unsafe.Pointer { return p.mem.Base }

// Reserved returns the size of the reservation in bytes; 0 once closed.
func (p *Prefix) Reserved() uintptr { return p.size }

// Busy reports whether the source of p is at work for it: whoever is told of the end of the source
// then is called out of Ensure, Trim or Close of p itself.
func (p *Prefix) Busy() bool { return p.busy }

// Committed returns how many bytes from Base are usable.
func (p *Prefix) Committed() uintptr { return p.committed }

// Contains reports whether q lies in the reservation.
func (p *Prefix) Contains(q unsafe.Pointer) bool { return uintptr(q)-uintptr(p.mem.Base) < p.size }

// Ensure makes at least the first n bytes usable and commits in steps. Fresh bytes are
// zero. When the step cannot be had it tries for exactly what is needed. On error nothing
// has changed.
//
// Whom a [Limit] calls in the middle of it, at its soft mark, may give back what stands on other
// Prefixes. On p itself Trim does nothing then, Close is an error, and Ensure panics with a
// [*memory.Misuse] where it would have to commit.
func (p *Prefix) Ensure(n uintptr) error {
	if n <= p.committed {
		return nil
	}
	return p.grow(n)
}

// What Ensure commits where nobody chose a step.
const (
	stepShare = 32
	maxStep   = 256 << 10
)

func (p *Prefix) grow(n uintptr) error {
	switch {
	case p.mem.Base == nil:
		return memory.ErrClosed
	case n > p.size:
		return &memory.Exhausted{Op: "page: grow", Need: n, Have: p.size - p.committed, Limit: p.size}
	case p.busy:
		panic(&memory.Misuse{Package: "page", Op: "Ensure", Addr: uintptr(p.mem.Base), Size: n,
			Reason: "the Prefix is committing or giving back: what a budget's mark calls must not allocate from that budget"})
	}
	p.busy = true
	defer func() { p.busy = false }()
	exact := align.Up(n, Granule) - p.committed
	ahead := p.Ahead(n) - p.committed
	got, err := commitSome(p.src, p.mem, p.committed, exact, ahead)
	if p.mem.Base == nil {
		return memory.ErrClosed // the source has ended meanwhile
	}
	p.committed += got
	return err
}

// Ahead returns the most bytes from Base that are usable after Ensure(n): what books that are to
// describe them must reach to. n is at most Reserved.
func (p *Prefix) Ahead(n uintptr) uintptr {
	if n <= p.committed {
		return p.committed
	}
	step := p.step
	if step == 0 {
		step = min(align.Down(p.committed/stepShare, Granule), maxStep)
	}
	ahead := align.Up(p.committed+max(align.Up(n, Granule)-p.committed, step), p.page)
	if to := aheadOf(p.src); to > 0 {
		base := uintptr(p.mem.Base)
		ahead = align.Up(base+ahead, to) - base
	}
	return min(ahead, p.size)
}

// Trim gives back the memory behind the first n bytes, in whole pages, and keeps the addresses. The caller vouches that nothing lives there.
func (p *Prefix) Trim(n uintptr) error {
	if n >= p.committed || p.busy {
		return nil
	}
	keep := align.Up(n, p.page)
	if keep >= p.committed {
		return nil
	}
	p.busy = true
	defer func() { p.busy = false }()
	if err := p.src.Decommit(p.mem, keep, p.committed-keep); err != nil {
		return err
	}
	if p.mem.Base == nil {
		return memory.ErrClosed // the source has ended meanwhile
	}
	p.committed = keep
	return nil
}

var errGrowing = errors.New("page: a Prefix cannot be closed while it commits: what a budget's mark calls must not close what is growing")

// Close releases the addresses; whoever still holds a pointer into them must not use it.
// A second Close does nothing. If the memory cannot be given back p stays open and says so, for
// another try; what it had committed may be gone by then. Where the source has ended there is
// nothing to give back, which is no error.
func (p *Prefix) Close() error {
	if p.mem.Base == nil {
		return nil
	}
	if p.busy {
		return errGrowing
	}
	err := p.Trim(0)
	if err == nil {
		p.busy = true
		defer func() { p.busy = false }()
		err = p.src.Release(p.mem)
	}
	if err != nil && !errors.Is(err, memory.ErrClosed) {
		return err
	}
	p.shut()
	return nil
}

// Check verifies the equations above the type.
func (p *Prefix) Check() error {
	var errs []error
	if p.committed > p.size || p.committed%Granule != 0 {
		errs = append(errs, fmt.Errorf("page: committed %d is not whole granules within the reservation of %d bytes", p.committed, p.size))
	}
	if p.size > p.mem.Size || p.size%Granule != 0 || p.mem.Size%Granule != 0 || p.mem.Base == nil && p.size != 0 {
		errs = append(errs, fmt.Errorf("page: %d bytes are used of the %d bytes that were reserved at %p", p.size, p.mem.Size, p.mem.Base))
	}
	if p.page&(p.page-1) != 0 || p.page > BaseAlign || p.page < Granule && p.src != nil {
		errs = append(errs, fmt.Errorf("page: pages of %d bytes; from %d to %d are possible", p.page, Granule, BaseAlign))
	}
	if p.step%Granule != 0 || p.mem.Base != nil && p.step > p.mem.Size {
		errs = append(errs, fmt.Errorf("page: step %d is not a multiple of %d, up to the %d bytes that were reserved", p.step, Granule, p.mem.Size))
	}
	return errors.Join(errs...)
}
