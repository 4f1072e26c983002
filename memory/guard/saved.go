package guard

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/save"
)

// CanSave returns nil if inner is a [save.State] that can be saved, and has a base address: see [memory.Baser]. If not,
// the error wraps memory.ErrConfig or the error of CanSave of inner. After Close, inner needs no base address.
func (a *Allocator) CanSave() error {
	if _, ok := a.inner.(save.State); !ok {
		return fmt.Errorf("guard: inner is a %T, which is no save.State: %w", a.inner, memory.ErrConfig)
	}
	if r, ok := a.inner.(save.Refuser); ok {
		if err := r.CanSave(); err != nil {
			return fmt.Errorf("guard: inner: %w", err)
		}
	}
	if a.Base() == nil && !a.ended() {
		return fmt.Errorf("guard: inner, a %T, has no base address: %w", a.inner, memory.ErrConfig)
	}
	return nil
}

// States yields inner, for package save: see save.Composite.
func (a *Allocator) States(yield func(save.State) bool) {
	if inner, ok := a.inner.(save.State); ok {
		yield(inner)
	}
}

// SaveState saves the inner allocator, the statistics, and the records of all blocks: live, in quarantine or freed.
// After a load, canaries and patterns are verified as before, and reports name the call sites of the saved records.
// Inner is saved by the guard: do not add inner to the Set. Do not pass a guard to [save.Metadata], which does not save
// canaries. If inner cannot be saved, saving and loading fail with the error of [Allocator.CanSave]. If a block lies
// outside of the range from Base to Base+Extent, saving fails with an error that wraps memory.ErrConfig. After Close,
// saving and loading fail with an error that wraps memory.ErrClosed.
func (a *Allocator) SaveState(c *save.Coder) {
	if !c.Loading() && a.ended() || a.closed {
		c.Fail(memory.ErrClosed)
		return
	}
	inner, ok := a.inner.(save.State)
	base := a.Base()
	if !ok || base == nil {
		c.Fail(a.CanSave())
		return
	}
	c.Enter("inner")
	inner.SaveState(c)
	c.Leave()
	c.Same("Config.CanaryBytes", uint64(a.cfg.CanaryBytes))
	c.Same("Config.QuarantineBytes", uint64(a.cfg.QuarantineBytes))
	c.Same("Config.History", uint64(a.cfg.History))
	for _, v := range [...]*uint64{&a.allocs, &a.frees, &a.failures, &a.peak, &a.inUse, &a.requested} {
		save.Num(c, v)
	}
	save.Num(c, &a.held)
	save.Num(c, &a.goneCount)
	save.Num(c, &a.spare)
	if p := c.Pointer(a.witness, base); c.Loading() {
		a.witness = p
	}
	if n := c.Word(uint64(len(a.sites.list))); n > uint64(len(a.sites.list)) {
		c.Differs("%d call sites were known, %d are", n, len(a.sites.list))
	}
	a.saveRecords(c, base)
}

// saveRecords visits the records. The names follow from them.
func (a *Allocator) saveRecords(c *save.Coder, base unsafe.Pointer) {
	n := c.Count(len(a.records))
	switch {
	case c.Failed():
		return
	case c.Fitting() && n > cap(a.records):
		a.records = append(make([]record, 0, n), a.records...)
	case c.Loading():
		a.records = a.records[:cap(a.records)][:n]
		clear(a.names)
	}
	extent := a.Extent()
	for i := range n {
		var r record
		if i < len(a.records) {
			r = a.records[i]
		}
		r.saveState(c, base)
		switch {
		case c.Failed():
			return
		case c.Saving() && r.block != nil && r.addr-uintptr(base) >= extent:
			c.Fail(fmt.Errorf("guard: a block of %d bytes lies outside of the range of inner, a %T: %w", r.size, a.inner, memory.ErrConfig))
		case c.Loading():
			if o, ok := a.inner.(memory.Owner); ok && r.block != nil {
				r.passed = !o.Owns(r.start())
			}
			if a.records[i] = r; r.addr != 0 {
				a.names[r.addr] = uint32(i)
			}
		}
	}
}

// saveState visits a record, with its address as an offset.
func (r *record) saveState(c *save.Coder, base unsafe.Pointer) {
	off := uint64(0)
	if r.addr != 0 {
		off = uint64(r.addr-uintptr(base)) + 1
	}
	off = c.Word(off)
	save.Num(c, &r.size)
	save.Num(c, &r.front)
	save.Num(c, &r.back)
	save.Num(c, &r.serial)
	save.Num(c, &r.allocSite)
	save.Num(c, &r.freeSite)
	save.Num(c, &r.next)
	save.Num(c, &r.prev)
	save.Num(c, &r.state)
	if !c.Loading() {
		return
	}
	r.addr, r.block, r.busy, r.passed = 0, nil, false, false
	if off != 0 {
		r.addr = uintptr(base) + uintptr(off-1)
	}
	if off != 0 && r.state <= quarantined {
		r.block = unsafe.Add(base, uintptr(off-1))
	}
}

// errStomp is the error of both methods below.
var errStomp = fmt.Errorf("guard: a Stomp cannot be saved: its freed blocks have no memory to load into: %w", memory.ErrConfig)

// CanSave returns an error that wraps memory.ErrConfig, because a Stomp cannot be saved: see [Stomp.SaveState].
func (s *Stomp) CanSave() error { return errStomp }

// SaveState always fails with an error that wraps the error of CanSave. Loading would have to commit the pages of freed
// blocks again, and dangling pointers to these blocks would no longer fault. To save a game with a Stomp, do not add
// the Stomp to the Set.
func (s *Stomp) SaveState(c *save.Coder) { c.Fail(errStomp) }
