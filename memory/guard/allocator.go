package guard

import (
	"cmp"
	"errors"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// An Allocator wraps an inner allocator and checks every block. Alignments and lifetimes are as in inner. An
// Allocator belongs to one goroutine at a time, even if inner is safe for concurrent use. New blocks are filled with
// 0xCD, freed blocks with 0xDD.
//
// An Allocator has every optional interface of package memory except memory.Trimmer. To trim, call Flush, and Trim of
// inner. If inner lacks an optional interface, the comment of the method says what it does instead.
//
// Each fault is a *memory.Misuse. Blocks that are live or in quarantine are recorded, and so are the last freed blocks
// (see Config.History). For a recorded block the Misuse names the size and the call sites of the allocation and of the
// free. A call that detects a fault panics with the Misuse, or passes the Misuse to Config.OnFault. Check and Close
// return the Misuse as an error instead. In the comments of the methods, "reports" means this behavior. If inner or
// OnFault panics before all damage is reported, the next call that reports damage reports the rest.
//
// After Close, Alloc fails with memory.ErrClosed. SizeOf, Resize, Reset, and a Free or FreeAny of a block report a
// fault. If the memory of inner has ended, for example because a manager closed it, the guard behaves as after Close.
// The guard detects this end only if inner is a memory.Owner: Owns of inner must have changed from true to false for a
// block that is live or in quarantine. If inner is no Owner, close inner only through its guard: otherwise the guard
// reads memory that was released.
type Allocator struct {
	// Invariants, verified by Check in this order:
	//
	//	(1) every record is in one ring, by its state, or spare; next and prev mirror each other
	//	(2) names[r.addr] names r for each record in a ring, and names has no other entry
	//	(3) a record's memory is known unless it is gone, and its sites exist
	//	(4) inUse and requested are the sums over live records, held over those in quarantine
	//	(5) held <= Config.QuarantineBytes, and at most Config.History records are gone
	//	(6) live == allocs - frees, and inUse <= peak
	//	(7) all canaries are intact, and blocks in quarantine are filled with 0xDD
	inner memory.Allocator
	cfg   Config
	books
	sites sites

	allocs   uint64 // blocks allocated since New
	frees    uint64 // blocks freed since New, in quarantine or not
	failures uint64
	peak     uint64 // high-water mark of inUse, bytes
	closed   bool
	found    []*memory.Misuse // damage that was not reported yet
	report   error            // of a Close in which inner panicked, for the next one
	witness  unsafe.Pointer   // a block that inner owns and has allocated; nil: none
	owner    invariant.Owner
}

// Config configures [New]. New refuses values out of range.
type Config struct {
	// CanaryBytes is the size in bytes of each canary, from 1 to 4096. 0 means 16. The front canary is padded to the
	// alignment of its block. The padding is checked, too.
	CanaryBytes uintptr
	// QuarantineBytes is the capacity of the quarantine in bytes. The quarantine keeps freed blocks, with canaries,
	// from reuse, so that a write after free is detected. 0 means no quarantine: a freed block is returned to inner
	// at once. An inner allocator with frees in LIFO order requires 0. If a block with its canaries is larger than
	// QuarantineBytes, it is not quarantined.
	QuarantineBytes uintptr
	// History is the number of freed blocks that stay recorded after they were returned to inner. A double free of a
	// recorded block is reported with the call sites. A double free of another block is reported as a foreign or interior
	// pointer. 0 means 1024.
	History int
	// Frames is the number of callers in a call site, from 1 to 16. 0 means 8.
	Frames int
	// OnFault, if not nil, is called with each fault instead of a panic. Faults that Check and Close find are returned,
	// and not passed to OnFault. If OnFault returns, an invalid free is ignored, and a damaged block is treated as an
	// intact block. OnFault must not use the allocator.
	OnFault func(*memory.Misuse)
}

// withDefaults fills in the defaults and says what is wrong with the rest.
func (c Config) withDefaults() (Config, error) {
	c.CanaryBytes = cmp.Or(c.CanaryBytes, 16)
	c.History = cmp.Or(c.History, 1024)
	c.Frames = cmp.Or(c.Frames, 8)
	if c.CanaryBytes > maxCanary {
		return c, fmt.Errorf("config: CanaryBytes %d: want 1 to %d: %w", c.CanaryBytes, maxCanary, memory.ErrConfig)
	}
	if c.History < 0 {
		return c, fmt.Errorf("config: History %d: want 0 or more: %w", c.History, memory.ErrConfig)
	}
	if c.Frames < 0 || c.Frames > maxFrames {
		return c, fmt.Errorf("config: Frames %d: want 1 to %d: %w", c.Frames, maxFrames, memory.ErrConfig)
	}
	return c, nil
}

// maxCanary is a page: a longer overflow reaches the page guards.
const maxCanary = 4096

// New returns a guard around inner. Afterwards inner must be used only through the guard, except for Trim. Close of
// the guard closes inner if inner is an io.Closer. If inner is nil or a field is out of range, the error wraps
// memory.ErrConfig.
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

// Inner returns the allocator that was passed to New, also after Close.
func (a *Allocator) Inner() memory.Allocator { return a.inner }

// Alloc returns a block of size bytes, aligned to al and filled with 0xCD. If size is 0, the block has canaries only.
// If the error of inner wraps memory.ErrOutOfMemory, Alloc empties the quarantine, reports damage in it (see
// [Allocator]), and tries again. If inner returns the address of a block that is live or in quarantine, inner was used
// or reset without the guard: Alloc reports this fault. If OnFault returns, Alloc continues and returns the block.
//
// If the alignment is invalid, the error is memory.ErrAlign. If the size with the canaries overflows, the error is
// memory.ErrTooLarge. If inner fails, Alloc returns the error of inner.
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
	if err != nil && a.held > 0 && errors.Is(err, memory.ErrOutOfMemory) && !a.ended() {
		a.shrinkQuarantine("Alloc", 0)
		a.raise()
		start, err = a.inner.Alloc(total, al)
	}
	if err != nil {
		a.failures++
		return nil, err
	}
	if a.closed { // by a function that inner has called; inner has stayed open
		a.inner.Free(start, total)
		return nil, memory.ErrClosed
	}
	o, ok := a.inner.(memory.Owner)
	passed := ok && !o.Owns(start)
	if ok && !passed {
		a.witness = start
	}
	i := a.admit(unsafe.Add(start, front))
	r := &a.records[i]
	r.busy, r.passed = false, passed
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

// admit returns a record for a block that inner has allocated, in no ring. If its address is in use, inner was used or
// reset without the guard.
func (a *Allocator) admit(p unsafe.Pointer) uint32 {
	i, known := a.names[uintptr(p)]
	if !known {
		return a.newRecord(p)
	}
	if r := &a.records[i]; r.state != gone {
		if !r.busy { // else inner has freed it, and has called a function that allocates
			a.fault(a.misuse("Alloc", i, "inner returned a block that is "+r.state.String()+": it was reset or used without the guard"+a.history(i)))
		}
		if r.state == live {
			a.frees++
		}
	}
	a.unlink(i)
	a.records[i].block = p
	return i
}

// Free verifies the canaries of a block, fills the block with 0xDD and puts it into quarantine. To make space, the
// oldest blocks in quarantine are verified and returned to inner. A block that is larger than the quarantine is
// returned to inner at once. The parameter size is the size that was requested from Alloc or the last successful
// Resize. If p is nil, Free does nothing.
//
// Damage is reported. If Free panics, p is still live, and reported damage is repaired. If OnFault returns after damage,
// p is freed. A double free, a foreign or interior pointer and a wrong size are reported and change nothing. A double
// free is not detected after Alloc has returned the same address again. If Free of inner panics, Free panics with the
// same value, and the bytes of p may be overwritten.
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

// FreeAny is [Allocator.Free] for a caller who does not know the size. If p is nil, FreeAny does nothing. FreeAny
// reports the misuse that Free reports, except a wrong size. Inner need not be a memory.AnyFreer.
func (a *Allocator) FreeAny(p unsafe.Pointer) {
	if p == nil {
		return
	}
	if i := a.find("FreeAny", p, 0); i != 0 {
		a.retire("FreeAny", i, a.sites.caller(a.cfg.Frames))
	}
}

// retire ends the live record i. If inner refuses the block, as one in LIFO order may, or the oldest in quarantine, or a
// report panics, the block is still live, but its bytes may be lost. A guard around a relies on that.
func (a *Allocator) retire(op string, i, site uint32) {
	a.owner.Touch()
	a.inspect(op, i)
	n, serial := a.records[i].total(), a.records[i].serial
	if n <= a.cfg.QuarantineBytes {
		a.shrinkQuarantine(op, a.cfg.QuarantineBytes-n)
	}
	a.raise()
	// A function that inner has called may have closed a, or freed the block.
	if a.closed || a.records[i].state != live || a.records[i].serial != serial {
		return
	}
	fill(a.records[i].bytes(), &freedPage)
	if a.held+n <= a.cfg.QuarantineBytes {
		a.unlink(i)
		a.push(quarantined, i)
	} else if !a.release(i) {
		return
	}
	a.records[i].freeSite = site
	a.frees++
}

// inspect raises what is wrong with the bytes of record i, and what waits in found.
func (a *Allocator) inspect(op string, i uint32) {
	a.note(op, i)
	a.raise()
}

// note adds what is wrong with the bytes of record i to found. It puts them right, so that nothing is reported twice and
// whoever recovers may free the block, or reset them all.
func (a *Allocator) note(op string, i uint32) {
	if found := a.damage(op, i); found != nil {
		a.found = append(a.found, found...)
		a.repair(i)
	}
}

// repair writes the canaries of record i, and the bytes of a block in quarantine.
func (a *Allocator) repair(i uint32) {
	r := &a.records[i]
	r.paint()
	if r.state == quarantined {
		fill(r.bytes(), &freedPage)
	}
}

// Resize verifies the canaries of a block, reports damage, and changes the size in place if inner can. Resize returns
// true if it succeeds. New bytes are filled with 0xCD. If inner is no memory.Resizer or cannot resize the block,
// Resize returns false. A nil p, and the misuse that Free detects, are reported. If OnFault returns after misuse,
// Resize returns false. If Resize of inner panics, Resize panics with the same value: the size is unchanged, but bytes
// behind newSize may be overwritten. If SizeOf of inner then reports that the block is smaller, its size is newSize.
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
	if !ok || total < newSize || !a.resizeInner(z, i, total) || a.closed {
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

// resizeInner has inner resize the memory of record i to total bytes. Should inner panic, the canaries are put right:
// inner may have filled what it had cut off at first.
func (a *Allocator) resizeInner(z memory.Resizer, i uint32, total uintptr) bool {
	r := &a.records[i]
	serial, returned := r.serial, false
	r.busy = total < r.total()
	defer func() {
		if a.closed || a.records[i].serial != serial {
			return
		}
		r := &a.records[i]
		if r.busy = false; returned || r.state != live || a.ended() || a.lost(i) {
			return
		}
		// A Counter whose OnEvent panics cannot always resize back.
		if s, ok := a.inner.(memory.Sizer); ok && total < r.total() && s.SizeOf(r.start()) < r.total() {
			a.unlink(i)
			r.size = total - uintptr(r.front) - uintptr(r.back)
			a.push(live, i)
		}
		r.paint()
	}()
	ok := z.Resize(r.start(), r.total(), total)
	returned = true
	return ok
}

// Base returns Base of inner. If inner is no memory.Baser, and after Close, Base returns nil.
func (a *Allocator) Base() unsafe.Pointer {
	if b, ok := a.inner.(memory.Baser); ok && !a.closed {
		return b.Base()
	}
	return nil
}

// Extent returns [memory.Extent] of inner: the number of bytes from Base in which blocks may lie. After Close, Extent
// returns 0.
func (a *Allocator) Extent() uintptr {
	if a.closed {
		return 0
	}
	return memory.Extent(a.inner)
}

// Owns returns the result of Owns of inner, if inner is a memory.Owner. If inner is no Owner, Owns reports whether p
// lies in a block that is live or in quarantine, or in the canaries of such a block. The cost is then proportional to
// the largest number of blocks that were recorded at once. After Close, Owns returns false.
func (a *Allocator) Owns(p unsafe.Pointer) bool {
	if o, ok := a.inner.(memory.Owner); ok {
		return !a.ended() && o.Owns(p)
	}
	return a.covering(p) != 0
}

// SizeOf returns the requested size in bytes of the live block at p, or the new size after a successful Resize. If no
// live block starts at p, SizeOf reports a fault. If OnFault returns, SizeOf returns 0.
func (a *Allocator) SizeOf(p unsafe.Pointer) uintptr {
	return a.records[a.find("SizeOf", p, 0)].size
}
