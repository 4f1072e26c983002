package page

import (
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/save"
)

// SaveState saves the number of committed bytes, because this number decides where an allocator places its next block.
// [Prefix.SaveHoles] saves which pages are dropped. A load begins with a pass that changes no state. In this pass
// SaveState commits the bytes that are missing. If the commit fails, loading fails with an error that wraps that of
// [Prefix.Ensure]. After this pass SaveState decommits the bytes above the saved number. If the source refuses to
// decommit them, they stay committed.
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
	case c.Fitting() && uintptr(n) > p.committed:
		if c.Commit() {
			c.Fail(p.Ensure(uintptr(n)))
		}
	case c.Loading():
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
// A load calls fill and undrop only if the pages that are dropped now differ from those of the saved state. The
// function fill is called first. It must commit all pages that are dropped now. If fill fails, loading fails with an
// error that wraps that of fill. The load then drops the pages of the saved state. If the source refuses to decommit
// the bytes [from, to), SaveHoles calls undrop, which must record that these bytes stay committed.
func (p *Prefix) SaveHoles(c *save.Coder, fill func() error, undrop func(from, to uintptr)) {
	count, same := 0, true
	for from, to := p.NextHole(0); from < to; from, to = p.NextHole(to) {
		count++
	}
	n := c.Count(count)
	same = n == count
	at, inside := uintptr(0), uintptr(0)
	for range n {
		from, to := p.NextHole(at)
		was, end := uintptr(c.Word(uint64(from))), uintptr(c.Word(uint64(to)))
		same = same && was == from && end == to
		if c.Fitting() && c.Undoing() {
			for from, to = p.NextHole(was); from < min(to, end); from, to = p.NextHole(to) {
				inside += min(to, end) - max(from, was)
			}
			_, to = p.NextHole(at)
		}
		at = to
		if c.Loading() && !same {
			p.dropRest(was, end, undrop)
		}
	}
	p.failEnded(c)
	if c.Undoing() && inside == p.holes.bytes { // the load drops all saved pages again
		same = true
	}
	if c.Fitting() && !c.Failed() && !same && (p.holes.bytes == 0 || c.Commit()) {
		c.Fail(fill())
	}
}

// dropRest drops the pages of [from, to) that are not dropped. Some are, if this undoes a load that has filled only a
// part of them. It calls undrop for those that the source refuses to decommit.
func (p *Prefix) dropRest(from, to uintptr, undrop func(from, to uintptr)) {
	for from < to && p.mem.Base != nil { // the source may end
		end, next := p.NextHole(from)
		if end = min(end, to); from < end && p.Drop(from, end-from) != nil && p.mem.Base != nil {
			undrop(from, end)
		}
		from = next
	}
}
