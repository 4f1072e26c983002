package guard

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// An Allocator is its inner allocator with every block watched. Alignments, lifetimes and the
// goroutine rule are inner's. Fresh blocks are filled with 0xCD, freed ones with 0xDD. It has
// every capability of package memory but Trim, for which Flush and then Inner's: where inner
// lacks another one, the method's comment says how it is made up for.
//
// What is found is a *memory.Misuse that names the block, its size, the call site of its
// allocation and, where it was freed, of the free. It is raised as a panic, or passed to
// Config.OnFault; Check and Close return it as an error.
//
// After Close every Alloc fails with memory.ErrClosed, and what cannot return an error raises.
// The same holds once the memory of inner is gone, as when the manager below it was closed: the
// guard asks an inner that is a memory.Owner before it looks at a block. One that is none must
// be closed through its guard.
//
// Invariants, verified by Check in this order:
//
//	(1) every record is in one ring, by its state, or spare; next and prev mirror each other
//	(2) names[r.addr] names r for each record in a ring, and names holds nothing else
//	(3) a record's memory is known unless it is gone, and its sites exist
//	(4) inUse and requested are the sums over live records, held over those in quarantine
//	(5) held <= Config.QuarantineBytes, and at most Config.History records are gone
//	(6) live == allocs - frees, and inUse <= peak
//	(7) all canaries are intact, and what is in quarantine is filled with 0xDD
type Allocator struct {
	inner memory.Allocator
	cfg   Config
	books
	sites sites

	allocs   uint64 // blocks handed out since New
	frees    uint64 // blocks that came back, in quarantine or not
	failures uint64
	peak     uint64 // highest inUse, bytes
	closed   bool
	witness  unsafe.Pointer // a block that inner owns, has handed out and not back; nil: none
	owner    invariant.Owner
}

// Config configures New.
type Config struct {
	// CanaryBytes is the size in bytes of each canary, from 1 to 4096. 0 means 16. The front
	// one is padded to the alignment of its block, and all of it is verified.
	CanaryBytes uintptr
	// QuarantineBytes is how many bytes of freed blocks, canaries included, are kept from
	// reuse so that writes after the free can be seen. 0 means none: blocks go back to inner
	// at once, which is the only way for one that takes frees in LIFO order. A block larger
	// than the whole is not quarantined.
	QuarantineBytes uintptr
	// History is how many freed blocks are remembered after inner has them back, to tell a
	// double free, with its call sites, from a foreign pointer. 0 means 1024.
	History int
	// Frames is how many callers a call site keeps, from 1 to 16. 0 means 8.
	Frames int
	// OnFault receives what is found instead of a panic. When it returns, a bad free has been
	// ignored, and a damaged block is treated as if it were whole. It must not use the
	// allocator.
	OnFault func(*memory.Misuse)
}

// withDefaults fills in the defaults and says what is wrong with the rest.
func (c Config) withDefaults() (Config, error) {
	if c.CanaryBytes == 0 {
		c.CanaryBytes = 16
	}
	if c.History == 0 {
		c.History = 1024
	}
	if c.Frames == 0 {
		c.Frames = 8
	}
	if c.CanaryBytes > maxCanary {
		return c, fmt.Errorf("canaries of %d bytes; from 1 to %d are possible: %w", c.CanaryBytes, maxCanary, memory.ErrConfig)
	}
	if c.History < 0 {
		return c, fmt.Errorf("a history of %d blocks; it must not be negative: %w", c.History, memory.ErrConfig)
	}
	if c.Frames < 0 || c.Frames > maxFrames {
		return c, fmt.Errorf("%d frames a call site; from 1 to %d are possible: %w", c.Frames, maxFrames, memory.ErrConfig)
	}
	return c, nil
}

// maxCanary is a page: a longer run off the end than that meets the page guards.
const maxCanary = 4096

// New watches inner, which from now on must be used through the guard alone. Close closes it.
func New(inner memory.Allocator, cfg Config) (*Allocator, error) {
	if invariant.Nil(inner) {
		return nil, fmt.Errorf("guard: new Allocator: the inner allocator is nil: %w", memory.ErrConfig)
	}
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("guard: new Allocator: %w", err)
	}
	return &Allocator{inner: inner, cfg: cfg, books: newBooks(), sites: newSites()}, nil
}

// Inner returns what the guard watches.
func (a *Allocator) Inner() memory.Allocator { return a.inner }

// Alloc returns size bytes aligned to align, filled with 0xCD; size 0 gives a block of canaries
// alone. The error is inner's, or memory.ErrTooLarge where the canaries overflow the size.
// Before it gives up for want of memory it empties the quarantine, and raises what it finds.
func (a *Allocator) Alloc(size, al uintptr) (unsafe.Pointer, error) {
	if a.ended() {
		return nil, memory.ErrClosed
	}
	if !align.Valid(al) {
		return nil, memory.ErrAlign
	}
	a.owner.Touch()
	front := align.Up(a.cfg.CanaryBytes, al)
	total := front + size + a.cfg.CanaryBytes
	if total < size {
		a.failures++
		return nil, memory.ErrTooLarge
	}
	start, err := a.inner.Alloc(total, al)
	if err != nil && a.held > 0 && errors.Is(err, memory.ErrOutOfMemory) {
		a.raise(a.shrinkQuarantine("Alloc", 0))
		start, err = a.inner.Alloc(total, al)
	}
	if err != nil {
		a.failures++
		return nil, err
	}
	if o, ok := a.inner.(memory.Owner); ok && o.Owns(start) { // not so for what inner passed on
		a.witness = start
	}
	i := a.admit(unsafe.Add(start, front))
	r := &a.records[i]
	r.size, r.front, r.back = size, uint32(front), uint32(a.cfg.CanaryBytes)
	r.serial = a.allocs + 1
	r.allocSite, r.freeSite = a.sites.caller(a.cfg.Frames), 0
	a.push(live, i)
	a.allocs++
	a.peak = max(a.peak, a.inUse)
	r.paint()
	fill(r.bytes(), &freshPage)
	return r.block, nil
}

// admit returns a record for a block that inner has handed out, in no ring. An address that
// is in use already means that inner was used or reset behind the guard's back.
func (a *Allocator) admit(p unsafe.Pointer) uint32 {
	i, known := a.names[uintptr(p)]
	if !known {
		return a.newRecord(p)
	}
	if r := &a.records[i]; r.state != gone {
		a.fault(a.misuse("Alloc", i, "inner handed out a block that is "+r.state.String()+": it was reset or used behind the guard"+a.history(i)))
		if r.state == live {
			a.frees++
		}
	}
	a.unlink(i)
	a.records[i].block = p
	return i
}

// Free takes back a block with the size it was asked for, verifies its canaries, fills it with
// 0xDD and puts it into quarantine. A double free, a foreign or interior pointer and a wrong
// size are all told apart, always and exactly, and change nothing.
func (a *Allocator) Free(p unsafe.Pointer, size uintptr) {
	if p == nil {
		return
	}
	i := a.find("Free", p, size)
	if i == 0 {
		return
	}
	if r := &a.records[i]; r.size != size {
		m := a.misuse("Free", i, fmt.Sprintf("wrong size: the block was requested with %d bytes, not %d%s", r.size, size, a.history(i)))
		m.Size = size
		a.fault(m)
		return
	}
	a.retire("Free", i, a.sites.caller(a.cfg.Frames))
}

// FreeAny is Free for a caller who does not know the size; all other checks are made. inner
// need not have it.
func (a *Allocator) FreeAny(p unsafe.Pointer) {
	if p == nil {
		return
	}
	if i := a.find("FreeAny", p, 0); i != 0 {
		a.retire("FreeAny", i, a.sites.caller(a.cfg.Frames))
	}
}

// retire ends the live record i. Should inner refuse the block, as one in LIFO order may, or
// the oldest in quarantine, nothing has changed, but the bytes may be lost.
func (a *Allocator) retire(op string, i, site uint32) {
	a.owner.Touch()
	a.inspect(op, i)
	r := &a.records[i]
	var found []*memory.Misuse
	if n := r.total(); n > a.cfg.QuarantineBytes {
		fill(r.bytes(), &freedPage)
		a.release(i)
	} else {
		found = a.shrinkQuarantine(op, a.cfg.QuarantineBytes-n)
		fill(r.bytes(), &freedPage)
		a.unlink(i)
		a.push(quarantined, i)
	}
	r.freeSite = site
	a.frees++
	a.raise(found)
}

// inspect raises what is wrong with the bytes of record i. It puts them right first, so that
// nothing is reported twice and whoever recovers may free the block, or reset them all.
func (a *Allocator) inspect(op string, i uint32) {
	found := a.damage(op, i)
	if found == nil {
		return
	}
	r := &a.records[i]
	r.paint()
	if r.state == quarantined {
		fill(r.bytes(), &freedPage)
	}
	a.raise(found)
}

// Resize resizes a block in place if inner can. The canaries are verified first. What a block
// gains is filled with 0xCD. It is false where inner is no memory.Resizer.
func (a *Allocator) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	i := a.find("Resize", p, oldSize)
	if i == 0 {
		return false
	}
	r := &a.records[i]
	if r.size != oldSize {
		a.fault(a.misuse("Resize", i, fmt.Sprintf("wrong size: the block was requested with %d bytes, not %d%s", r.size, oldSize, a.history(i))))
		return false
	}
	a.owner.Touch()
	a.inspect("Resize", i)
	total := uintptr(r.front) + newSize + uintptr(r.back)
	start, serial := r.start(), r.serial
	z, ok := a.inner.(memory.Resizer)
	if !ok || total < newSize || !z.Resize(start, r.total(), total) {
		return false
	}
	r = &a.records[i] // now: who was told of a commit may have made more
	if r.state != live || r.serial != serial || r.size != oldSize {
		if r.state != gone && r.serial == serial { // freed or resized by it: inner has the block as the record has
			z.Resize(start, total, r.total())
		}
		return false
	}
	a.unlink(i)
	r.size = newSize
	a.push(live, i)
	a.peak = max(a.peak, a.inUse)
	r.paint()
	if newSize > oldSize {
		fill(r.bytes()[oldSize:], &freshPage)
	}
	return true
}

// Base is inner's, where inner is a memory.Baser; else nil.
func (a *Allocator) Base() unsafe.Pointer {
	if b, ok := a.inner.(memory.Baser); ok && !a.closed {
		return b.Base()
	}
	return nil
}

// Extent returns how many bytes from Base the blocks reach at most: what inner says, or has reserved;
// 0 once closed.
func (a *Allocator) Extent() uintptr {
	if a.closed {
		return 0
	}
	switch in := a.inner.(type) {
	case interface{ Extent() uintptr }:
		return in.Extent()
	case memory.StatsReporter:
		return uintptr(in.Stats().Reserved)
	}
	return 0
}

// Owns reports what inner does; where inner cannot tell, whether p lies in a block that is live
// or in quarantine, at a cost proportional to those.
func (a *Allocator) Owns(p unsafe.Pointer) bool {
	if o, ok := a.inner.(memory.Owner); ok {
		return !a.ended() && o.Owns(p)
	}
	return a.covering(p) != 0
}

// SizeOf returns the size in bytes that the live block at p was requested with. Anything else
// than the start of a live block is raised, and 0 if OnFault returns.
func (a *Allocator) SizeOf(p unsafe.Pointer) uintptr {
	return a.records[a.find("SizeOf", p, 0)].size
}
