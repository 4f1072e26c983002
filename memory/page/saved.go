package page

import (
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/save"
)

// SaveState saves how many bytes are committed. Which pages are dropped is for the allocator to say. The fit commits what
// was committed, and loading decommits what was committed since: the committed bytes decide where an allocator places
// its next block. If the source refuses to decommit, more bytes stay committed.
func (p *Prefix) SaveState(c *save.Coder) {
	if p.mem.Base == nil {
		c.Fail(memory.ErrClosed)
		return
	}
	if p.busy {
		c.Busy("memory is being committed or decommitted")
		return
	}
	c.Same("the reservation", uint64(p.size))
	n := c.Word(uint64(p.committed))
	switch {
	case c.Failed():
	case n > uint64(p.size) || n%Granule != 0:
		c.Differs("%d bytes were committed of %d", n, p.size)
	case c.Fitting() && uintptr(n) > p.committed:
		c.Again()
		c.Fail(p.Ensure(uintptr(n)))
	case c.Loading():
		_ = p.Trim(uintptr(n))
	}
}

// SaveHoles saves which pages are dropped. If others are dropped now, the fit calls fill, which must commit all of them
// again. Loading then drops those that were. If the source refuses that, it calls undrop, for pages that stay committed.
// Call SaveHoles after the metadata that undrop changes.
func (p *Prefix) SaveHoles(c *save.Coder, fill func() error, undrop func(from, to uintptr)) {
	count, same := 0, true
	for from, to := p.NextHole(0); from < to; from, to = p.NextHole(to) {
		count++
	}
	n := c.Count(count)
	same = n == count
	at := uintptr(0)
	for range n {
		from, to := p.NextHole(at)
		was, end := uintptr(c.Word(uint64(from))), uintptr(c.Word(uint64(to)))
		same = same && was == from && end == to
		at = to
		if c.Loading() && !same && p.Drop(was, end-was) != nil {
			undrop(was, end)
		}
	}
	if c.Fitting() && !c.Failed() && !same {
		if p.holes.bytes > 0 {
			c.Again()
		}
		c.Fail(fill())
	}
}
