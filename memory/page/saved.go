package page

import (
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/save"
)

// SaveState saves the number of committed bytes, because this number decides where an allocator places its next block.
// [Prefix.SaveHoles] saves which pages are dropped. In a fitting pass SaveState calls [Prefix.Fit] for the saved number,
// and in the loading pass Committed becomes this number. If the source refuses to decommit bytes above it, they stay
// committed.
//
// If p is closed, saving and loading fail with an error that wraps memory.ErrClosed. If p is busy (see [Prefix.Busy]),
// the error wraps save.ErrBusy. If Reserved differs from the saved reservation, loading fails with an error that wraps
// save.ErrLayout.
func (p *Prefix) SaveState(c *save.Coder) {
	if p.mem.Base == nil {
		c.Fail(memory.ErrClosed)
		return
	}
	if p.busy {
		c.Busy("memory is being committed or decommitted")
		return
	}
	c.Covers(p.mem.Base, p.size)
	c.Same("the reservation", uint64(p.size))
	n := c.Word(uint64(p.committed))
	switch {
	case c.Failed():
	case n > uint64(p.size) || n%Granule != 0:
		c.Differs("%d bytes were committed of %d", n, p.size)
	case c.Fitting():
		p.Fit(c, uintptr(n))
	case c.Loading():
		if more := uintptr(n) - p.committed; uintptr(n) > p.committed && more <= p.spare {
			p.committed, p.spare = uintptr(n), p.spare-more
		}
		_ = p.Trim(uintptr(n))
		p.failEnded(c)
	}
}

// failEnded makes a load fail if the source has ended.
func (p *Prefix) failEnded(c *save.Coder) {
	if p.mem.Base == nil {
		c.Fail(memory.ErrClosed)
	}
}

// SaveHoles saves which pages are dropped (see [Prefix.Drop]). SaveState of an allocator must call it after the
// allocator's metadata was saved or loaded.
//
// A fitting pass commits the pages that are dropped now and were not dropped in the saved state. If a commit fails,
// loading fails with an error that wraps the source's error. The load drops the pages of the saved state that are not
// dropped now. If the source refuses to decommit the bytes [from, to), SaveHoles calls undrop, which must record that
// these bytes stay committed.
func (p *Prefix) SaveHoles(c *save.Coder, undrop func(from, to uintptr)) {
	if c.Loading() {
		p.takeReady()
	}
	count := 0
	for from, to := p.NextHole(0); from < to; from, to = p.NextHole(to) {
		count++
	}
	at, filled := uintptr(0), uintptr(0)
	for range c.Count(count) {
		from, to := p.NextHole(at)
		at = to
		from, to = uintptr(c.Word(uint64(from))), uintptr(c.Word(uint64(to)))
		if c.Fitting() && !c.Failed() {
			if (from|to)%p.page != 0 || from < filled || to <= from || to > p.size {
				c.Differs("the bytes [%d, %d) were dropped", from, to)
			}
			p.fitHoles(c, filled, from)
			filled = to
		}
		if c.Loading() {
			p.dropRest(from, to, undrop)
		}
	}
	if c.Fitting() {
		p.fitHoles(c, filled, p.committed)
	}
	p.failEnded(c)
}

// dropRest drops the pages of [from, to) that are not dropped. It calls undrop for those that the source refuses to
// decommit.
func (p *Prefix) dropRest(from, to uintptr, undrop func(from, to uintptr)) {
	for from < to && p.mem.Base != nil { // the source may end
		end, next := p.NextHole(from)
		if end = min(end, to); from < end && p.Drop(from, end-from) != nil && p.mem.Base != nil {
			undrop(from, end)
		}
		from = next
	}
}
