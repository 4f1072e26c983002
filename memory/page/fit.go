package page

import (
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/save"
)

// A load that is refused must change nothing, and committing may call functions of the program, which may use the
// allocators. So the fitting passes commit memory that the Prefix hides: spare bytes behind Committed, and holes that are
// ready. No allocator changes before the load, and what the load does not use is decommitted when it ends. An allocator
// that needs memory meanwhile takes the hidden bytes. The next fitting pass then finds that they are missing.

// Fit commits memory for a load in a fitting pass (see [save.Coder.Fitting]), so that Ensure(n) cannot fail afterwards.
// Committed is unchanged until that Ensure, or until SaveState loads. If the commit fails, the pass fails with an error
// that wraps the source's error. When the load ends, the bytes that were not used are decommitted. If p is busy (see
// [Prefix.Busy]) and n exceeds Committed, the error wraps save.ErrBusy. If p is closed and n is not 0, the error wraps
// memory.ErrClosed. n must be at most Reserved.
func (p *Prefix) Fit(c *save.Coder, n uintptr) {
	fitted := p.Fitted()
	switch {
	case c.Failed() || n <= p.committed:
		return
	case p.busy:
		c.Busy("memory is being committed or decommitted")
		return
	case n > p.size: // or p is closed
		c.Fail(p.Ensure(n))
		return
	case n <= fitted:
		return
	}
	if p.busy { // a file is read by a function of the source
		c.Busy("memory is being committed or decommitted")
		return
	}
	c.Commit(p.unfit)
	p.busy = true
	defer func() { p.busy = false }()
	to := min(align.Up(n, p.page), p.size)
	err := p.src.Commit(p.mem, fitted, to-fitted)
	if p.mem.Base == nil {
		err = memory.ErrClosed
	}
	if err != nil {
		c.Fail(err)
		return
	}
	p.spare = to - p.committed
	p.open = max(p.open, to)
}

// Fitted returns Committed, plus the number of bytes after it that [Prefix.Fit] has committed for a load.
func (p *Prefix) Fitted() uintptr { return p.committed + p.spare }

// fitHoles commits the dropped pages of [from, to) for a load.
func (p *Prefix) fitHoles(c *save.Coder, from, to uintptr) {
	for off, end := p.NextHole(from); !c.Failed() && off < min(end, to); off, end = p.NextHole(end) {
		end = min(end, to)
		for at := off; at < end; at += p.page {
			if p.holes.gone(at / p.page) {
				c.Commit(p.unfit)
				c.Fail(p.provideReady(at, end-at))
				break
			}
		}
	}
}

// provideReady is provide for a load: it records what is committed, also if the source fails or panics.
func (p *Prefix) provideReady(off, n uintptr) error {
	p.busy = true
	defer func() { p.busy = false }()
	if p.holes.ready == nil {
		p.holes.ready = make([]uint64, len(p.holes.set))
	}
	return p.provide(off, n)
}

// provide commits the pages of [off, off+n), which are holes, unless they are ready. During a load they are ready then.
func (p *Prefix) provide(off, n uintptr) error {
	for end := off + n; off < end; {
		ready, to := isSet(p.holes.ready, off/p.page), off+p.page
		for to < end && isSet(p.holes.ready, to/p.page) == ready {
			to += p.page
		}
		if !ready {
			err := p.src.Commit(p.mem, off, to-off)
			if p.mem.Base == nil {
				return memory.ErrClosed
			}
			if err != nil {
				return err
			}
			if p.holes.ready != nil {
				mark(&p.holes.ready, off/p.page, (to-off)/p.page, true)
			}
		}
		off = to
	}
	return nil
}

// takeReady makes the ready holes committed pages.
func (p *Prefix) takeReady() {
	for i := range uintptr(len(p.holes.ready)) << 6 {
		if isSet(p.holes.ready, i) {
			mark(&p.holes.set, i, 1, false)
			p.holes.bytes -= p.page
		}
	}
	p.holes.ready = nil
}

// dropSpare decommits the spare bytes.
func (p *Prefix) dropSpare() error {
	if p.spare == 0 {
		return nil
	}
	was := p.busy
	p.busy = true
	defer func() { p.busy = was }()
	m := p.mem
	m.open = uintptr(p.mem.Base) + p.open
	if err := p.decommit(m, p.committed, p.spare); err != nil {
		return err
	}
	p.spare, p.open = 0, p.committed
	return nil
}

// unfit decommits what a load has not used. What the source refuses to decommit stays as it is, until Trim or Close, or
// until it is needed.
func (p *Prefix) unfit() {
	if p.busy || p.mem.Base == nil {
		return
	}
	_ = p.dropSpare()
	p.busy = true
	defer func() { p.busy = false }()
	m, left := p.mem, false
	m.inside = !invariant.Debug
	for i := uintptr(0); i < uintptr(len(p.holes.ready))<<6; i++ {
		first := i
		for isSet(p.holes.ready, i) {
			i++
		}
		if i == first {
			continue
		}
		if err := p.decommit(m, first*p.page, (i-first)*p.page); err == nil {
			mark(&p.holes.ready, first, i-first, false)
		} else {
			left = true
		}
	}
	if !left {
		p.holes.ready = nil
	}
}
