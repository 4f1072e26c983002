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
//	(1) committed <= mem.Size, and committed is a multiple of Granule
//	(2) step is a positive multiple of Granule
//	(3) a closed Prefix has neither base nor committed bytes
type Prefix struct {
	src       Source
	mem       Memory
	committed uintptr
	step      uintptr
	unwatch   func()  // nil: nobody watches
	ticket    *ticket // nil where builds do not watch for those that are dropped
}

// NewPrefix reserves want bytes of src (nil means [Default]), or half as many, and half of
// that, down to least, where the operating system refuses: a limit on address space is no
// reason not to run. A [Carve] that has less left is: whoever cut it up chose the sizes.
// Nothing is committed. step, in bytes, is how much Ensure commits at least; 0 means 256 KiB,
// a system call per 64 pages of 4 KiB.
func NewPrefix(src Source, want, least, step uintptr) (Prefix, error) {
	if src == nil {
		src = Default()
	}
	if step == 0 {
		step = 256 << 10
	}
	least = min(max(least, Granule), max(want, Granule))
	mem, err := src.Reserve(want)
	for err != nil && refusedBySystem(err) && want/2 >= least {
		want /= 2
		mem, err = src.Reserve(want)
	}
	if err != nil {
		return Prefix{}, err
	}
	if mem.Base == nil || uintptr(mem.Base)%BaseAlign != 0 || mem.Size < want || mem.Size%Granule != 0 {
		return Prefix{}, fmt.Errorf("page: %T reserved %d bytes at %p for %d; wanted are whole granules of %d, aligned to %d",
			src, mem.Size, mem.Base, want, Granule, BaseAlign)
	}
	return Prefix{src: src, mem: mem, step: align.Up(step, Granule), ticket: watchDropped(mem.Size)}, nil
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

// refusedBySystem reports whether the operating system said no, and not a Carve or a Limit,
// whose refusals have no cause behind them.
func refusedBySystem(err error) bool {
	if e := (*memory.Exhausted)(nil); errors.As(err, &e) {
		return e.Cause != nil
	}
	return errors.Is(err, memory.ErrOutOfMemory)
}

// Watch has lost called, once, when the source of p ends before p does, as a [Carve] does when
// the manager that it belongs to is closed: the addresses may be somebody else's from then on.
// By then p is closed and has no memory. lost puts the books of whoever stands on p into the
// state of a closed allocator, and touches no block. p must not be copied afterwards. A source
// that has no end of its own, as the system's, calls nobody.
func (p *Prefix) Watch(lost func()) {
	if w, ok := p.src.(Watched); ok && p.mem.Base != nil {
		p.unwatch = w.Watch(func() {
			p.mem, p.committed, p.unwatch = Memory{}, 0, nil
			p.ticket.end()
			lost()
		})
	}
}

// Base returns the first byte, aligned to BaseAlign; nil once closed.
func (p *Prefix) Base() unsafe.Pointer { return p.mem.Base }

// Reserved returns the size of the reservation in bytes; 0 once closed.
func (p *Prefix) Reserved() uintptr { return p.mem.Size }

// Committed returns how many bytes from Base are usable.
func (p *Prefix) Committed() uintptr { return p.committed }

// Contains reports whether q lies in the reservation.
func (p *Prefix) Contains(q unsafe.Pointer) bool { return p.mem.Contains(q) }

// Ensure makes at least the first n bytes usable and commits in steps. Fresh bytes are
// zero. When the step cannot be had it tries for exactly what is needed. On error nothing
// has changed.
func (p *Prefix) Ensure(n uintptr) error {
	if n <= p.committed {
		return nil
	}
	if p.mem.Base == nil {
		return memory.ErrClosed
	}
	if n > p.mem.Size {
		return &memory.Exhausted{Op: "page: grow", Need: n, Have: p.mem.Size - p.committed, Limit: p.mem.Size}
	}
	exact := align.Up(n, Granule) - p.committed
	ahead := min(max(exact, p.step), p.mem.Size-p.committed)
	got, err := commitSome(p.src, p.mem, p.committed, exact, ahead)
	p.committed += got
	return err
}

// Trim gives back the memory behind the first n bytes, in whole granules, and keeps the
// addresses. The caller vouches that nothing lives there.
func (p *Prefix) Trim(n uintptr) error {
	keep := align.Up(n, Granule)
	if keep >= p.committed {
		return nil
	}
	if err := p.src.Decommit(p.mem, keep, p.committed-keep); err != nil {
		return err
	}
	p.committed = keep
	return nil
}

// Close releases the addresses; whoever still holds a pointer into them must not use it.
// A second Close does nothing. If the memory cannot be given back p stays open and says so.
func (p *Prefix) Close() error {
	if p.mem.Base == nil {
		return nil
	}
	if err := p.Trim(0); err != nil {
		return err
	}
	if err := p.src.Release(p.mem); err != nil {
		return err
	}
	p.mem = Memory{}
	p.ticket.end()
	if p.unwatch != nil {
		p.unwatch()
		p.unwatch = nil
	}
	return nil
}

// Check verifies the equations above the type.
func (p *Prefix) Check() error {
	var errs []error
	if p.committed > p.mem.Size || p.committed%Granule != 0 {
		errs = append(errs, fmt.Errorf("page: committed %d is not whole granules within the reservation of %d bytes", p.committed, p.mem.Size))
	}
	if p.src != nil && (p.step == 0 || p.step%Granule != 0) {
		errs = append(errs, fmt.Errorf("page: step %d is not a positive multiple of %d", p.step, Granule))
	}
	return errors.Join(errs...)
}
