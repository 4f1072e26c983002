package page

import (
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/save"
)

// SaveState saves the number of committed bytes, because it decides where an allocator places its next block. Dropped
// pages are saved by [Prefix.SaveHoles]. Before a load, SaveState commits the bytes that are missing. If that fails,
// loading fails with an error that wraps that of [Prefix.Ensure]. During the load it decommits the bytes above the
// saved number; if the source refuses that, more bytes stay committed.
//
// If p is closed, the error wraps memory.ErrClosed. If p is busy, it wraps save.ErrBusy. If Reserved differs from
// the saved reservation, loading fails with an error that wraps save.ErrLayout.
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

// SaveHoles saves which pages are dropped, see [Prefix.Drop]. Call it after saving the metadata that undrop changes.
//
// If other pages are dropped than in the state to load, SaveHoles calls fill before the load. fill must commit all
// dropped pages again. If fill fails, loading fails with an error that wraps that of fill. The load then drops the
// pages that were dropped in the saved state. If the source refuses to decommit the bytes [from, to), SaveHoles calls
// undrop, which must record that they stay committed.
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
