package container

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// maxCount is the most elements of a container, in every build: a count has 32 bits and must be an int where an int has
// 32.
const maxCount = 1<<31 - 1

// ErrNoBase means that a [Space] cannot use an allocator. The allocator is no [memory.Baser] or is closed, its
// blocks lie in several ranges of addresses, or it does not report the size of the range.
var ErrNoBase = errors.New("the allocator has no Base from which offsets count, up to a known Extent")

// A Space is an allocator for containers, with the base address to which their offsets are relative. Containers store
// only offsets, so a container can also be read through a second Space whose memory is a copy of the first.
//
// A Space lies in the Go heap, is made once, and is passed to methods that use a block. Methods that write to a
// container follow the goroutine rule of its allocator. Any number of goroutines may read while no goroutine writes. If
// the allocator is safe for concurrent use, such as a slab.Central or the allocator of compose.NewLocked, each
// goroutine that writes needs its own Space.
//
// After the allocator is closed, its containers must not be read or written. Map.Set and Strings.Intern read, too, as
// they search first. Debug builds panic with a *memory.Misuse at such an access, but may not detect it if Close could
// not release the memory. Growth of a Vec or Ring, and a Reserve that needs memory, fail with memory.ErrClosed in every
// build, before they read elements. After the close, Free of a container that has memory panics with a *memory.Misuse.
//
// An allocator may call a function of the program within Alloc, Resize or Free, for example page.Limit.OnSoft. The
// function may read containers, change elements and remove elements. A call panics with a *memory.Misuse if it makes a
// container of this Space allocate, resize or free a block, clears a Strings or interns a new string. Strings.Release
// panics, too, if it must free the block of a string above 987 bytes. If the function is called during a Shrink and
// adds more elements than fit the smaller block, Shrink panics with a *memory.Misuse. The container then keeps its old
// block and all elements. During the Free of an old block, the container already uses the new block. During the Free of
// its only block, the container is empty.
//
// If the allocator gets a second range of addresses, as by tlsf.Heap.AddPool, its containers stay readable. Calls that
// need memory, and a Shrink in place, then fail with an error that wraps [ErrNoBase].
type Space struct {
	base  unsafe.Pointer
	a     memory.Allocator
	baser memory.Baser
	owner invariant.Owner
	reach uint64 // bytes from base that belonged to the allocator in Use; it may have more since
	busy  bool   // a call of the allocator is running
}

// In returns a Space of the allocator a. The allocator must be an open [memory.Baser] and report the size of its range,
// as a memory.StatsReporter or by a method Extent() uintptr. For other allocators, and for nil, the error wraps
// [ErrNoBase]. The Space is valid until a is closed. It stays valid after a Reset of a, although Reset frees the blocks
// of all containers.
func In(a memory.Allocator) (*Space, error) {
	sp := new(Space)
	if err := sp.Use(a); err != nil {
		return nil, err
	}
	return sp, nil
}

// Use makes sp the Space of a. The rules are those of [In]. Use allocates on the Go heap only for an error, so it suits
// an allocator that changes each frame. Afterwards sp must not be used for containers of the earlier allocator. If Use
// fails, sp has not changed. Use panics with a *memory.Misuse during an Alloc, Resize or Free for a container of sp.
func (sp *Space) Use(a memory.Allocator) error {
	sp.idle()
	b, ok := a.(memory.Baser)
	if !ok || invariant.Nil(a) || b.Base() == nil {
		return fmt.Errorf("container: a space in %T: %w", a, ErrNoBase)
	}
	base := b.Base()
	n := memory.Extent(a)
	if n == 0 || uintptr(base)+n < n {
		return fmt.Errorf("container: a space in %T, whose blocks may reach %d bytes from its Base: want 1 to %d: %w", a, n, ^uintptr(0)-uintptr(base), ErrNoBase)
	}
	sp.base, sp.a, sp.baser, sp.reach = base, a, b, uint64(n)
	return nil
}

// Allocator returns the allocator of the Space: the one passed to [In], or to the last successful call of Use. A zero
// Space has none: Allocator returns nil, and containers cannot use the Space before Use.
func (sp *Space) Allocator() memory.Allocator { return sp.a }

// at returns the address of an offset.
func (sp *Space) at(off uint64) unsafe.Pointer {
	if invariant.Debug {
		sp.mustLive()
	}
	return unsafe.Add(sp.base, uintptr(off))
}

//go:noinline
func (sp *Space) mustLive() {
	if sp.baser.Base() != sp.base && sp.gone() {
		panic(&memory.Misuse{Package: "container", Op: "Space", Addr: uintptr(sp.base),
			Reason: "the memory of this space is gone: its allocator was closed, and the containers ended with it"})
	}
}

// open returns the error of a call that needs memory: memory.ErrClosed, or ErrNoBase if the next block might lie in
// another range. In a closed allocator only Alloc returns an error; Resize and SizeOf are misuse.
func (sp *Space) open() error {
	switch {
	case sp.baser.Base() == sp.base:
		return nil
	case sp.gone() || sp.closed():
		return memory.ErrClosed
	}
	return fmt.Errorf("container: more of %T, which has got a second range of addresses: %w", sp.a, ErrNoBase)
}

// gone reports whether the allocator, which has another Base or none, does not own the old one.
func (sp *Space) gone() bool {
	o, ok := sp.a.(memory.Owner)
	return !ok || !o.Owns(sp.base)
}

// closed asks an allocator that has another Base or none, and owns the old one: it has got a second range, or its Close
// could not release the memory.
func (sp *Space) closed() bool {
	p, err := sp.a.Alloc(0, 1)
	if err == nil {
		sp.a.Free(p, 0)
	}
	return errors.Is(err, memory.ErrClosed)
}

// offset is the inverse of at.
func (sp *Space) offset(p unsafe.Pointer) uint64 { return uint64(uintptr(p) - uintptr(sp.base)) }

// grow changes the size of a block in place if the allocator can. Otherwise it returns a copy. replace then frees the
// old block, if there is one, once the container has the new one, because a function that Free calls may change the
// container. oldSize 0 means no block. If grow fails or the allocator panics, nothing has changed.
func (sp *Space) grow(off uint64, oldSize, newSize, align uintptr) (uint64, error) {
	sp.begin()
	defer sp.end()
	if err := sp.open(); err != nil {
		return 0, err
	}
	sp.mustBeSized(off, oldSize)
	if oldSize > 0 && sp.resize(off, oldSize, newSize) {
		return off, nil
	}
	p, err := sp.a.Alloc(newSize, align)
	if err != nil {
		return 0, err
	}
	copied := false
	defer func() {
		if !copied {
			sp.a.Free(p, newSize)
		}
	}()
	to := sp.offset(p)
	if oldSize > 0 {
		sp.copy(to, off, min(oldSize, newSize))
	}
	copied = true
	return to, nil
}

// resize resizes a block where it lies, if the allocator can, and has its books refuse what is none.
func (sp *Space) resize(off uint64, oldSize, newSize uintptr) bool {
	if r, ok := sp.a.(memory.Resizer); ok {
		return r.Resize(sp.at(off), oldSize, newSize)
	}
	sp.mustBeBlock(off, oldSize)
	return oldSize == newSize
}

// copy copies n bytes from one offset to another.
func (sp *Space) copy(to, from uint64, n uintptr) {
	copy(unsafe.Slice((*byte)(sp.at(to)), n), unsafe.Slice((*byte)(sp.at(from)), n))
}

// alloc returns a block of zeroed bytes.
func (sp *Space) alloc(size, align uintptr) (uint64, error) {
	off, err := sp.take(size, align)
	if err == nil {
		clear(unsafe.Slice((*byte)(sp.at(off)), size))
	}
	return off, err
}

// take returns a block of undefined bytes.
func (sp *Space) take(size, align uintptr) (uint64, error) {
	sp.begin()
	defer sp.end()
	if err := sp.open(); err != nil {
		return 0, err
	}
	p, err := sp.a.Alloc(size, align)
	if err != nil {
		return 0, err
	}
	return sp.offset(p), nil
}

// free frees a block. Size 0 means no block.
func (sp *Space) free(off uint64, size uintptr) {
	if size > 0 {
		sp.begin()
		defer sp.end()
		sp.mustBeSized(off, size)
		sp.a.Free(sp.at(off), size)
	}
}

// begin is called before the allocator, and end after it, also if it panics.
func (sp *Space) begin() {
	sp.idle()
	sp.busy = true
}

// idle panics while a call of the allocator is running.
func (sp *Space) idle() {
	sp.owner.Touch()
	if sp.busy {
		panic(&memory.Misuse{Package: "container", Op: "Space", Addr: uintptr(sp.base),
			Reason: "the allocator calls a function while it works for a container: the function must not grow, shrink or free a container, intern a string or call Use"})
	}
}

func (sp *Space) end() { sp.busy = false }

// replace frees the old block of a container that has a new one. If the allocator panics, back makes the container use
// the old block again, with its present elements, and the new block is freed. If back returns false because they do not
// fit, the container keeps the new block, and the old one is lost.
func (sp *Space) replace(off uint64, size uintptr, newOff uint64, newSize uintptr, back func() bool) {
	sp.giveBack(off, size, func() {
		if back() {
			sp.free(newOff, newSize)
		}
	})
}

// giveBack frees a block that a container does not have any more. If the allocator panics, undo gives it back to the
// container.
func (sp *Space) giveBack(off uint64, size uintptr, undo func()) {
	done := false
	defer func() {
		if !done {
			undo()
		}
	}()
	sp.free(off, size)
	done = true
}

// mustBeBlock panics if the allocator records no block of size bytes at off. It is called before metadata in the block
// is used.
func (sp *Space) mustBeBlock(off uint64, size uintptr) {
	if z, ok := sp.a.(memory.Sizer); ok && size > 0 {
		sp.mustBeWithin(off, size)
		has := size
		if m := misuse(func() { has = z.SizeOf(sp.at(off)) }); m != nil && !inEvent(m) {
			panic(m)
		}
		if has < size {
			panic(ruined("Space", "the block is smaller than the container"))
		}
	}
}

// mustBeSized panics if the allocator records a block of another size at off: the header of the container was
// overwritten, and the allocator must not get a wrong size from it. If there is no block, the allocator panics by
// itself.
func (sp *Space) mustBeSized(off uint64, size uintptr) {
	if size == 0 {
		return
	}
	sp.mustBeWithin(off, size)
	if z, ok := sp.a.(memory.Sizer); ok {
		if why := misuse(func() { _ = z.SizeOf(sp.at(off)) }); why != nil {
			return
		}
		if why := sp.wrongSize(z, off, size); why != "" {
			panic(sp.badHeader(off, size, why))
		}
	}
}

// mustBeWithin panics if a block of size bytes at off does not lie in the allocator's range: its address must not be
// formed.
func (sp *Space) mustBeWithin(off uint64, size uintptr) {
	if uint64(size) <= sp.reach && off <= sp.reach-uint64(size) {
		return
	}
	if n := uint64(memory.Extent(sp.a)); sp.baser.Base() == sp.base && (uint64(size) > n || off > n-uint64(size)) {
		panic(sp.badHeader(off, size, fmt.Sprintf("the allocator has %d bytes of addresses", n)))
	}
}

// noBlock panics if a header cannot be that of its container: its counts contradict each other, or it has an offset and
// no block, which Free would forget.
func noBlock(bad bool, op string) {
	if bad {
		panic(ruined(op, "the counts in the header contradict each other"))
	}
}

//go:noinline
func (sp *Space) badHeader(off uint64, size uintptr, why string) *memory.Misuse {
	return &memory.Misuse{Package: "container", Op: "Space", Size: size, Reason: fmt.Sprintf(
		"the header of the container says that it has %d bytes at offset %d, but %s: it was overwritten; Check says more", size, off, why)}
}

// ruined is the panic of a call whose container cannot have these bytes.
//
//go:noinline
func ruined(op, what string) *memory.Misuse {
	return &memory.Misuse{Package: "container", Op: op, Reason: what + ": the block was freed by a Reset of its allocator, or was overwritten; Check says more"}
}

// added is the panic of a Shrink whose container has got more elements than will fit.
//
//go:noinline
func added(op string) *memory.Misuse {
	return &memory.Misuse{Package: "container", Op: op, Reason: "the allocator calls a function while it shrinks a container: the function must not add elements"}
}

// bytesOf returns count times size in bytes, or memory.ErrTooLarge.
func bytesOf(count int, size uintptr) (uintptr, error) {
	bytes, ok := align.Mul(count, size)
	if !ok || count > maxCount {
		return 0, memory.ErrTooLarge
	}
	return bytes, nil
}

// bound panics as s[i] does in a slice of n elements. They have no size, so only a comparison and the panic of the
// runtime remain.
func (sp *Space) bound(i int, n uint32) { _ = unsafe.Slice((*struct{})(sp.base), int(n))[i] }
