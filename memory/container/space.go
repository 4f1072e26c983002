package container

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// maxCount is the most elements of a container, in every build: what counts them has 32 bits
// and must be an int where an int has 32, too.
const maxCount = 1<<31 - 1

// ErrNoBase says that offsets mean nothing in an allocator: its blocks lie in several ranges of
// addresses, it is no [memory.Baser], it does not tell how far its blocks reach, or it is closed.
var ErrNoBase = errors.New("the allocator has no Base from which offsets count, up to a known Extent")

// A Space is where containers have their blocks: an allocator and the address that its offsets
// count from. Containers hold offsets only, so that one and the same container can be read
// through another Space, whose memory is a copy.
//
// It lies in the Go heap, is made once, and is passed to every method. What writes to a
// container follows the goroutine rule of its allocator; while nobody writes, any number of
// goroutines may read. Where the allocator serves several at once, as slab.Central and
// compose.Locked do, each goroutine that writes has a Space of its own.
//
// Once the allocator is closed nothing may be read, as from any of its blocks, also not by the search
// of a Set or an Intern: debug builds panic with a *memory.Misuse then. What needs memory and reads none, as the growth of a Vec or Ring, a first element and
// every Reserve, fails with memory.ErrClosed in every build, and Free panics with a *memory.Misuse.
//
// What an allocator calls in the midst of an Alloc or a Free, as the soft mark of a budget, may read
// containers, change elements and remove some; what was to be inserted behind these goes to the end.
// To make a container of this Space grow, shrink or go there, to Clear Strings or Intern a new text, or
// to add to one that grows or shrinks what there will be no room for, is a *memory.Misuse: the one that
// is growing may be half moved. While the old block of a container that has moved is freed, the
// container has the new one; while the only block of one is freed, it is empty.
//
// An allocator that gets a second range of addresses, as tlsf.Heap.AddPool gives it one, serves
// what its containers have and no more: what needs memory fails with ErrNoBase.
type Space struct {
	base  unsafe.Pointer
	a     memory.Allocator
	baser memory.Baser
	owner invariant.Owner
	reach uint64 // bytes from base that belonged to the allocator in Use: it may have more since
	busy  bool   // the allocator is at work
}

// In returns the space of the blocks of a, which must be a [memory.Baser] that says how far they reach:
// a memory.StatsReporter, or one with a method Extent() uintptr. The error wraps ErrNoBase. The Space is
// valid as long as a is not closed, also across its resets, which end the containers.
func In(a memory.Allocator) (*Space, error) {
	sp := new(Space)
	if err := sp.Use(a); err != nil {
		return nil, err
	}
	return sp, nil
}

// Use makes sp the space of the blocks of a, as In does, without an allocation: for memory that
// is another one each frame. On error sp has not changed. Out of what the allocator calls while it
// works for a container it is a *memory.Misuse.
func (sp *Space) Use(a memory.Allocator) error {
	sp.idle()
	b, ok := a.(memory.Baser)
	if !ok || invariant.Nil(a) || b.Base() == nil {
		return fmt.Errorf("container: a space in %T: %w", a, ErrNoBase)
	}
	base := b.Base()
	n := extentOf(a)
	if n == 0 || uintptr(base)+n < n {
		return fmt.Errorf("container: a space in %T, whose blocks may reach %d bytes from its Base: want 1 to %d: %w", a, n, ^uintptr(0)-uintptr(base), ErrNoBase)
	}
	sp.base, sp.a, sp.baser, sp.reach = base, a, b, uint64(n)
	return nil
}

// Allocator returns what the blocks come from.
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

// open says why nothing can be had: memory.ErrClosed, since in a closed allocator Alloc alone is
// an error, and to Resize or to look at a block is misuse; or ErrNoBase, where the next block might
// lie in another range than those before.
func (sp *Space) open() error {
	switch {
	case sp.baser.Base() == sp.base:
		return nil
	case sp.gone():
		return memory.ErrClosed
	}
	return fmt.Errorf("container: more of %T, which has got a second range of addresses: %w", sp.a, ErrNoBase)
}

// gone reports whether the allocator, which has another Base or none, does not own the old one.
func (sp *Space) gone() bool {
	o, ok := sp.a.(memory.Owner)
	return !ok || !o.Owns(sp.base)
}

// offset is the inverse of at.
func (sp *Space) offset(p unsafe.Pointer) uint64 { return uint64(uintptr(p) - uintptr(sp.base)) }

// grow changes the size of a block in place, where the allocator can. Else it returns a copy, and the
// old block, if there is one, is for replace to free, once the container has the new one: who is told
// of a Free may change what it finds. oldSize 0 stands for no block. When it fails, or when the
// allocator panics, nothing has changed.
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

// take returns a block of bytes that may hold anything.
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

// free gives a block back; size 0 stands for no block.
func (sp *Space) free(off uint64, size uintptr) {
	if size > 0 {
		sp.begin()
		defer sp.end()
		sp.mustBeSized(off, size)
		sp.a.Free(sp.at(off), size)
	}
}

// begin is called before the allocator, and end after it, also where it panics.
func (sp *Space) begin() {
	sp.idle()
	sp.busy = true
}

// idle panics while the allocator is at work.
func (sp *Space) idle() {
	sp.owner.Touch()
	if sp.busy {
		panic(&memory.Misuse{Package: "container", Op: "Space", Addr: uintptr(sp.base),
			Reason: "a container grows, shrinks, is freed or gets a text, or the Space an allocator, out of what the allocator calls while it works for another one: do it after"})
	}
}

func (sp *Space) end() { sp.busy = false }

// replace frees the old block of a container that has a new one. Where the allocator panics, back
// has the container return to the old one, with what it holds by then, and the new one goes. Where
// back reports that there is no room for that, the container stays, and the old block with nobody.
func (sp *Space) replace(off uint64, size uintptr, newOff uint64, newSize uintptr, back func() bool) {
	sp.giveBack(off, size, func() {
		if back() {
			sp.free(newOff, newSize)
		}
	})
}

// giveBack frees a block that a container has no more. Where the allocator panics undo makes it so
// that it has.
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

// mustBeBlock panics where the allocator knows that no block of size bytes is at off: before books that
// lie in the block are believed.
func (sp *Space) mustBeBlock(off uint64, size uintptr) {
	if z, ok := sp.a.(memory.Sizer); ok && size > 0 {
		sp.mustBeWithin(off, size)
		has := size
		if m := misuse(func() { has = z.SizeOf(sp.at(off)) }); m != nil && m.Package != "compose" { // see whyNot
			panic(m)
		}
		if has < size {
			panic(ruined("Space", "the block is smaller than the container"))
		}
	}
}

// mustBeSized panics where the allocator knows a block at off and it is not one of size bytes: a
// container's header was written over, and the allocator must not get a wrong size from it. Of an
// address where no block is the allocator has a Misuse of its own.
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

// mustBeWithin panics where a block of size bytes at off does not lie in the allocator's range: the
// address must not even be formed.
func (sp *Space) mustBeWithin(off uint64, size uintptr) {
	if uint64(size) <= sp.reach && off <= sp.reach-uint64(size) {
		return
	}
	if n := uint64(extentOf(sp.a)); sp.baser.Base() == sp.base && (uint64(size) > n || off > n-uint64(size)) {
		panic(sp.badHeader(off, size, fmt.Sprintf("the allocator has %d bytes of addresses", n)))
	}
}

// noBlock panics where a header cannot be what its container wrote: its counts contradict each other, or
// it has an offset and no block, so that to free it would forget one.
func noBlock(bad bool, op string) {
	if bad {
		panic(ruined(op, "the counts in the header contradict each other"))
	}
}

//go:noinline
func (sp *Space) badHeader(off uint64, size uintptr, why string) *memory.Misuse {
	return &memory.Misuse{Package: "container", Op: "Space", Size: size, Reason: fmt.Sprintf(
		"the header of the container says that it has %d bytes at offset %d, but %s: it was written over; Check says more", size, off, why)}
}

// ruined is what stops a caller whose container's bytes cannot be what the container wrote.
//
//go:noinline
func ruined(op, what string) *memory.Misuse {
	return &memory.Misuse{Package: "container", Op: op, Reason: what + ": the block died with a Reset of its allocator, or was written over; Check says more"}
}

// added is what stops a Shrink whose container has got more elements than there will be room for.
//
//go:noinline
func added(op string) *memory.Misuse {
	return &memory.Misuse{Package: "container", Op: op, Reason: "elements were added out of what the allocator calls while it shrinks: do it after"}
}

// bytesOf returns count times size in bytes, or memory.ErrTooLarge.
func bytesOf(count int, size uintptr) (uintptr, error) {
	bytes, ok := align.Mul(count, size)
	if !ok || count > maxCount {
		return 0, memory.ErrTooLarge
	}
	return bytes, nil
}

// bound panics as s[i] does in a slice of n elements. These have no size: what is left of it is a
// comparison, and the panic of the runtime.
func (sp *Space) bound(i int, n uint32) { _ = unsafe.Slice((*struct{})(sp.base), int(n))[i] }
