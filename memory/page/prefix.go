package page

import (
	"cmp"
	"errors"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// A Prefix is a reservation whose first bytes are committed, in steps. All growing allocators are built on a Prefix.
// The base of an open Prefix never moves. The zero Prefix is a closed one. A Prefix belongs to one goroutine at a
// time; it must not be copied after Watch.
type Prefix struct {
	// Invariants, verified by Check:
	//
	//	(1) committed <= size <= mem.Size, and all three are multiples of Granule
	//	(2) step is a multiple of Granule, up to mem.Size while p is open, and page a power of two from Granule to BaseAlign
	//	(3) a closed Prefix has neither base nor size nor committed bytes
	//	(4) every hole is a page below committed, and their bytes are counted
	//	(5) committed+spare <= open <= mem.Size, and open is a multiple of Granule; mem permits nothing
	//	(6) committed+spare <= size, and spare is a multiple of Granule; without a hole there is no ready one

	src       Source
	mem       Memory   // as the source returned it, for Release
	size      uintptr  // the bytes of mem that were asked for and are used
	committed uintptr  // bytes
	spare     uintptr  // bytes behind them that a load has committed: see fit
	open      uintptr  // bytes from the base that may be accessible: committed ones, spare ones, and holes that were trimmed
	step      uintptr  // bytes; 0: a share of committed
	page      uintptr  // the bytes that the source commits and decommits at once
	holes     holes    // dropped pages
	busy      bool     // a call of the source is running, which may call OnSoft
	unwatch   func()   // nil without Watch
	tracker   *tracker // nil in builds that do not detect dropped ones
}

// NewPrefix reserves `want` bytes, or at least `least` bytes, for an allocator that grows. It reserves as [Reserve]
// does and returns the error of Reserve. If the source reserves more than requested, the rest is not used. Nothing is
// committed.
//
// Each commit of Ensure adds at least step bytes, rounded up to a Granule. The end of the reservation, a budget or the
// source may allow less: see [Prefix.Ensure]. If step is 0, it is 1/32 of the committed bytes, rounded down to a
// Granule, from a Granule to 256 KiB. A small heap thus stays small, and growing to 4 MiB takes about 120 system calls
// of a microsecond.
func NewPrefix(src Source, want, least, step uintptr) (Prefix, error) {
	src = cmp.Or(src, Default())
	mem, size, err := reserve(src, want, least)
	if err != nil {
		return Prefix{}, err
	}
	return Prefix{src: src, mem: mem, size: size, step: align.Up(min(step, size), Granule), page: SizeOf(src), tracker: watchDropped(size)}, nil
}

// Reserve reserves `want` bytes of src. If src is nil, Reserve uses [Default]. If the operating system refuses,
// Reserve halves the size and tries again, but not below `least` bytes or a [Granule]. After halving, Reserve also
// tests whether the Go heap can still grow. If it cannot, Reserve halves the size again, unless that is below the same
// bound. If a [Carve] has too few bytes left, Reserve fails at once.
//
// If src is an interface with a nil pointer, the error wraps memory.ErrConfig. If src fails, Reserve returns its
// error. If the memory that src returns is smaller than requested or not as [Source] requires, Reserve releases the
// memory and fails.
func Reserve(src Source, want, least uintptr) (Memory, error) {
	src = cmp.Or(src, Default())
	mem, _, err := reserve(src, want, least)
	return mem, err
}

// reserve returns the memory, and the bytes that were requested in the last attempt.
func reserve(src Source, want, least uintptr) (Memory, uintptr, error) {
	if invariant.Nil(src) {
		return Memory{}, 0, fmt.Errorf("page: the source is a nil %T: want a page source, or no value for page.Default: %w", src, memory.ErrConfig)
	}
	least = min(max(least, Granule), max(want, Granule))
	mem, err := src.Reserve(want)
	for err != nil && RefusedBySystem(err) && want/2 >= least {
		want /= 2
		if mem, err = src.Reserve(want); err != nil || want/2 < least {
			continue
		}
		// The rest of a limit may be less than the Go heap needs to grow.
		if err = ProbeHeap(leastProbe); err != nil {
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
		err := fmt.Errorf("page: %T reserved %d bytes at %p for %d: want whole granules of %d, aligned to %d",
			src, mem.Size, mem.Base, want, Granule, BaseAlign)
		if mem.Base != nil {
			err = errors.Join(err, src.Release(mem))
		}
		return Memory{}, 0, err
	}
	return mem, size, nil
}

// NewPrefixWithMetadata is [NewPrefix] for an allocator whose metadata lies in the Go heap and grows with the
// reservation. The function `bytes` returns the size of the metadata for a reservation of `reserved` bytes.
//
// Go ends the process if its heap cannot grow. Therefore NewPrefixWithMetadata halves the reservation, down to `least`
// bytes, if the system has no memory for the metadata, or if the metadata exceeds 1 GiB. If the metadata is still too
// large, the error wraps a *memory.Exhausted. If the source fails to release a reservation, the error also wraps the
// source's error, and the reservation stays. Other errors are those of NewPrefix.
func NewPrefixWithMetadata(src Source, want, least, step uintptr, bytes func(reserved uintptr) uint64) (Prefix, error) {
	for {
		p, err := NewPrefix(src, want, least, step)
		if err != nil {
			return Prefix{}, err
		}
		need := bytes(p.Reserved())
		refusal := probeMetadata(need)
		if refusal == nil {
			return p, nil
		}
		want = min(want, p.Reserved()) / 2
		if err := p.Close(); err != nil || want < max(least, Granule) {
			limit := &memory.Exhausted{Op: "page: metadata", Need: uintptr(min(need, uint64(^uintptr(0)))), Cause: refusal}
			return Prefix{}, errors.Join(limit, err)
		}
	}
}

// NewCommitted is [NewPrefix] for an allocator that commits the first n bytes at once. If the reservation fails,
// NewCommitted returns the error of NewPrefix. If the commit fails, or if the source ends during it, the error wraps
// the error of [Prefix.Ensure]. The commit panics as Ensure does. If NewCommitted fails or panics, the reservation is
// released, unless the source fails to release it.
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
	p.Watch(func() {}) // so that Ensure detects the end of the source
	err = p.Ensure(n)
	committed = err == nil
	return p, err
}

// RefusedBySystem reports whether err, an error of a [Source], is a refusal of the operating system. In this case a
// smaller reservation may succeed. RefusedBySystem returns true if err wraps memory.ErrOutOfMemory, with one
// exception: a [*memory.Exhausted] without a Cause is a refusal of a [Carve] or a [Limit].
func RefusedBySystem(err error) bool {
	if e := (*memory.Exhausted)(nil); errors.As(err, &e) {
		return e.Cause != nil
	}
	return errors.Is(err, memory.ErrOutOfMemory)
}

// Watch registers the function lost. It is called once, if the source of p ends while p is open. A [Carve], for
// example, ends when it is closed. When lost is called, p is closed and has no memory. lost must close the allocator
// that uses p. It must not access a block, because other code may use the addresses already. If p is open and its
// source has ended before, Watch closes p and calls lost at once. If the source cannot end (see [Watched]), lost is
// never called.
//
// p must not be copied after Watch. A second Watch replaces the function of the first. If p is closed before Watch,
// Watch does nothing.
func (p *Prefix) Watch(lost func()) {
	w, ok := p.src.(Watched)
	if !ok || p.mem.Base == nil {
		return
	}
	p.endWatch()
	ended := func() {
		p.unwatch = nil
		p.shut()
		lost()
	}
	if p.unwatch = w.Watch(ended); p.unwatch == nil {
		ended()
	}
}

// shut closes p without releasing anything.
func (p *Prefix) shut() {
	p.mem, p.size, p.committed, p.spare, p.open, p.holes = Memory{}, 0, 0, 0, 0, holes{}
	p.tracker.end()
	p.endWatch()
}

func (p *Prefix) endWatch() {
	if unwatch := p.unwatch; unwatch != nil {
		p.unwatch = nil
		unwatch()
	}
}

// Base returns the address of the first byte, aligned to BaseAlign. It is constant while p is open. If p is closed,
// Base returns nil.
func (p *Prefix) Base() unsafe.Pointer { return p.mem.Base }

// Reserved returns the size of the reservation in bytes, or 0 if p is closed.
func (p *Prefix) Reserved() uintptr { return p.size }

// NameOr returns the name of the source, if the source is a [Limit] with a name (see [Limit.Name]). Otherwise it
// returns other.
func (p *Prefix) NameOr(other string) string {
	if l, ok := p.src.(*Limit); ok {
		return cmp.Or(l.name, other)
	}
	return other
}

// Advice returns Advice.Reserve of the source, if the source is a [Limit] (see [Limit.Advise]). Otherwise it returns
// "".
func (p *Prefix) Advice() string {
	if l, ok := p.src.(*Limit); ok {
		return l.advice.Reserve
	}
	return ""
}

// TooLarge returns the error for a request of size bytes that exceeds the reservation. The error is memory.ErrTooLarge.
// If [Prefix.Advice] is not empty, the error wraps memory.ErrTooLarge, and contains the name of the source and the
// advice.
func (p *Prefix) TooLarge(size uintptr) error {
	if advice := p.Advice(); advice != "" && size > p.size {
		return fmt.Errorf("%s: need %d bytes, reserved are %d; %s: %w", p.NameOr("page"), size, p.size, advice, memory.ErrTooLarge)
	}
	return memory.ErrTooLarge
}

// Busy reports whether the source is running a call for p. During such a call Trim does nothing, and Close fails. Drop
// and Fill panic with a [*memory.Misuse]. Ensure also panics with one if it would raise Committed. If the source ends
// during such a call, the function of [Prefix.Watch] runs before the call returns.
func (p *Prefix) Busy() bool { return p.busy }

// Committed returns the number of bytes from Base that are committed or dropped (see [Prefix.Drop]), a multiple of
// [Granule]. If p is closed, it returns 0.
func (p *Prefix) Committed() uintptr { return p.committed }

// Contains reports whether q lies in the reservation, in committed memory or not. If p is closed, Contains returns
// false.
func (p *Prefix) Contains(q unsafe.Pointer) bool { return uintptr(q)-uintptr(p.mem.Base) < p.size }

// Ensure commits memory so that at least the first n bytes are committed. New bytes are zero. Bytes that [Prefix.Drop]
// has decommitted count as committed here: only [Prefix.Fill] commits them again. Ensure commits in steps (see
// [NewPrefix]). If a budget or the source refuses a whole step, Ensure tries less, down to the bytes that it needs. If
// n bytes are committed already, Ensure does nothing.
//
// If n bytes are not committed and p is closed, the error is memory.ErrClosed. If n exceeds the reservation, the error
// is a [*memory.Exhausted]. If the source fails, Ensure returns its error, and nothing has changed. If the source ends
// during the call and p watches it (see [Prefix.Watch]), p is closed and the error is memory.ErrClosed.
//
// The function of [Limit.OnSoft] may be called within Ensure, and may decommit memory of other Prefixes. While it runs,
// p is busy (see [Prefix.Busy]). An Ensure of p that would raise Committed then panics with a [*memory.Misuse]. If the
// function panics, Ensure panics with the same value, and nothing is committed.
func (p *Prefix) Ensure(n uintptr) error {
	if n <= p.committed {
		return nil
	}
	return p.grow(n)
}

// The bytes that Ensure commits if step is 0.
const (
	stepShare = 32
	maxStep   = 256 << 10
)

func (p *Prefix) grow(n uintptr) error {
	switch {
	case p.mem.Base == nil:
		return memory.ErrClosed
	case n > p.size:
		return &memory.Exhausted{Op: p.NameOr("page") + ": reservation", Need: n - p.committed, Have: p.size - p.committed, Limit: p.size, Advice: p.Advice()}
	case p.busy:
		panic(&memory.Misuse{Package: "page", Op: "Ensure", Addr: uintptr(p.mem.Base), Size: n,
			Reason: "the Prefix is committing or decommitting: a function of OnSoft must not allocate from its own budget"})
	}
	fitted, to := p.Fitted(), p.Ahead(n)
	if n <= fitted {
		p.committed = min(to, fitted)
		p.spare = fitted - p.committed
		return nil
	}
	p.busy = true
	defer func() { p.busy = false }()
	exact := align.Up(n, Granule) - fitted
	got, err := commitSome(p.src, p.mem, fitted, exact, to-fitted)
	if p.mem.Base == nil {
		return memory.ErrClosed // the source has ended during the call
	}
	if err != nil {
		return err
	}
	p.committed, p.spare = fitted+got, 0
	p.open = max(p.open, p.committed)
	return nil
}

// Ahead returns the largest value that Committed could have after a call of Ensure(n). Ahead itself commits nothing. If
// n bytes are committed already, it returns Committed. n must be at most Reserved.
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

// Trim decommits the memory after the first n bytes, in whole pages, and keeps the addresses. The caller must use only
// the first n bytes. Trim does nothing and returns nil if p is closed or busy (see [Prefix.Busy]), or if nothing can be
// decommitted. If the source fails, Trim returns its error, and Committed is unchanged, or lower if some bytes of p are
// dropped (see [Prefix.Drop]). The memory up to Committed is unchanged. If the source ends during the call and p
// watches it (see [Prefix.Watch]), p is closed and the error is memory.ErrClosed.
func (p *Prefix) Trim(n uintptr) error {
	if n >= p.Fitted() || p.busy {
		return nil
	}
	if err := p.dropSpare(); err != nil {
		return err
	}
	keep := align.Up(n, p.page)
	if keep >= p.committed {
		return nil
	}
	p.busy = true
	defer func() { p.busy = false }()
	if p.holes.bytes > 0 {
		return p.trimHoles(keep)
	}
	return p.cut(keep)
}

// cut decommits the bytes from keep on, which are no holes. Holes behind them, which are trimmed already, become
// inaccessible with them.
func (p *Prefix) cut(keep uintptr) error {
	m := p.mem
	m.open = uintptr(p.mem.Base) + p.open
	if err := p.decommit(m, keep, p.committed-keep); err != nil {
		return err
	}
	p.committed, p.open = keep, keep
	return nil
}

var errGrowing = errors.New("page: a Prefix cannot be closed while it commits: a function of OnSoft must not close what is growing")

// Close decommits the memory and releases the addresses. The caller must not use pointers into the reservation
// afterwards. If p is closed, Close does nothing and returns nil. If the source fails, Close returns its error and p
// stays open. Close can be retried, but the memory may be decommitted already. If p is busy, Close fails and changes
// nothing. If the source has ended, Close succeeds.
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

// Check returns the errors in the metadata, joined, or nil.
func (p *Prefix) Check() error {
	var errs []error
	if p.committed > p.size || p.committed%Granule != 0 {
		errs = append(errs, fmt.Errorf("page: committed %d is not whole granules within the reservation of %d bytes", p.committed, p.size))
	} else if p.open < p.Fitted() || p.open > p.mem.Size || p.open%Granule != 0 || p.mem.inside || p.mem.open != 0 {
		errs = append(errs, fmt.Errorf("page: %d bytes are accessible: want the %d committed ones, to %d", p.open, p.committed, p.mem.Size))
	}
	if p.spare%Granule != 0 || p.spare > p.size-min(p.committed, p.size) {
		errs = append(errs, fmt.Errorf("page: a load has committed %d bytes behind %d of %d", p.spare, p.committed, p.size))
	}
	if p.size > p.mem.Size || p.size%Granule != 0 || p.mem.Size%Granule != 0 || p.mem.Base == nil && p.size != 0 {
		errs = append(errs, fmt.Errorf("page: %d bytes are used of the %d reserved bytes at %p", p.size, p.mem.Size, p.mem.Base))
	}
	if p.page&(p.page-1) != 0 || p.page > BaseAlign || p.page < Granule && p.src != nil {
		errs = append(errs, fmt.Errorf("page: pages of %d bytes: want %d to %d", p.page, Granule, BaseAlign))
	}
	if bytes, others := p.holes.count(p.page, p.committed); others || bytes != p.holes.bytes {
		errs = append(errs, fmt.Errorf("page: %d bytes are dropped, the holes below %d have %d", p.holes.bytes, p.committed, bytes))
	}
	if p.step%Granule != 0 || p.mem.Base != nil && p.step > p.mem.Size {
		errs = append(errs, fmt.Errorf("page: step %d is not a multiple of %d, up to the %d reserved bytes", p.step, Granule, p.mem.Size))
	}
	return errors.Join(errs...)
}
