package page

import (
	"math/bits"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// holes are the pages of a Prefix, below its committed end, that [Prefix.Drop] has decommitted.
type holes struct {
	set   []uint64 // a bit per page; nil before the first Drop
	ready []uint64 // those that a load has committed: see fit; nil without a load
	bytes uintptr  // in the pages of set
}

func (h *holes) has(page uintptr) bool { return isSet(h.set, page) }

func isSet(set []uint64, page uintptr) bool {
	return page>>6 < uintptr(len(set)) && set[page>>6]>>(page&63)&1 != 0
}

// mark makes n pages from first on holes, or no holes. They are not ready.
func (h *holes) mark(first, n uintptr, hole bool) {
	mark(&h.set, first, n, hole)
	mark(&h.ready, first, n, false)
}

// mark sets or clears n bits from first on. Behind the words all bits are clear.
func mark(set *[]uint64, first, n uintptr, on bool) {
	if need := (first + n + 63) >> 6; on && need > uintptr(len(*set)) {
		*set = append(*set, make([]uint64, need-uintptr(len(*set)))...)
	}
	for i := first; i < min(first+n, uintptr(len(*set))<<6); i++ {
		if on {
			(*set)[i>>6] |= 1 << (i & 63)
		} else {
			(*set)[i>>6] &^= 1 << (i & 63)
		}
	}
}

// Dropped returns the number of bytes below Committed that are dropped (see [Prefix.Drop]).
func (p *Prefix) Dropped() uintptr { return p.holes.bytes }

// Droppable returns the largest range of whole units within [off, end). A unit is a page of the source. If the source
// has commit boundaries (see [Ahead]), a unit is the memory between two of them, so that no huge page is split. If
// there is no whole unit, or if the range ends above Committed, Droppable returns two equal offsets. Droppable does not
// test whether pages of the range are dropped: [Prefix.Drop] panics for such a range.
func (p *Prefix) Droppable(off, end uintptr) (from, to uintptr) {
	unit := max(p.page, aheadOf(p.src))
	base := uintptr(p.mem.Base)
	from, to = align.Up(base+off, unit)-base, align.Down(base+end, unit)-base
	if from >= to || to > p.committed {
		return off, off
	}
	return from, to
}

// Around returns the smallest range of whole units that contains [off, end). For units see [Prefix.Droppable]. The
// range is cut off at Base and at Committed. off must be at most Committed.
func (p *Prefix) Around(off, end uintptr) (from, to uintptr) {
	unit := max(p.page, aheadOf(p.src))
	base := uintptr(p.mem.Base)
	return max(align.Down(base+off, unit), base) - base, min(align.Up(base+end, unit)-base, p.committed)
}

// Drop decommits n bytes at off and keeps their addresses. Committed still includes these bytes. The caller must not
// use them before Fill: an access need not fault (see Holes in the package comment). The bytes must be one or more
// whole pages (see [SizeOf]) that are committed and not dropped. If they are not, or if p is closed or busy (see
// [Prefix.Busy]), Drop panics with a [*memory.Misuse].
//
// Drop makes one call of the source. If the source fails, Drop returns its error. If the source panics, Drop panics
// with the same value. Nothing has changed in both cases. If the source ends during the call and p watches it (see
// [Prefix.Watch]), p is closed and the error is memory.ErrClosed.
func (p *Prefix) Drop(off, n uintptr) error {
	p.mustBe("Drop", off, n, false)
	p.busy = true
	defer func() { p.busy = false }()
	m := p.mem
	m.inside = !invariant.Debug // there a stale pointer shall fault
	if err := p.decommit(m, off, n); err != nil {
		return err
	}
	p.holes.mark(off/p.page, n/p.page, true)
	p.holes.bytes += n
	return nil
}

// decommit makes a call of the source. If the source ends during it, the error is memory.ErrClosed, whatever the source
// returns.
func (p *Prefix) decommit(m Memory, off, n uintptr) error {
	err := p.src.Decommit(m, off, n)
	if p.mem.Base == nil {
		return memory.ErrClosed
	}
	return err
}

// Fill commits n dropped bytes at off again. They are zero afterwards. They must be one or more whole pages, all of
// them dropped. If they are not, or if p is closed or busy (see [Prefix.Busy]), Fill panics with a [*memory.Misuse].
// Fill makes one call of the source, or after a failed load one for each run of bytes that the load has not committed.
// If the source fails, Fill returns its error, and the bytes stay dropped. A soft limit, the end of the source and a
// panic have the same effects as in [Prefix.Ensure].
func (p *Prefix) Fill(off, n uintptr) error {
	p.mustBe("Fill", off, n, true)
	p.busy = true
	defer func() { p.busy = false }()
	if err := p.provide(off, n); err != nil {
		return err
	}
	p.holes.mark(off/p.page, n/p.page, false)
	p.holes.bytes -= n
	return nil
}

// NextHole returns the first range [from, to) of dropped bytes at off or above. If off lies in such a range, from is
// off. If there is no such range, both offsets equal Committed.
func (p *Prefix) NextHole(off uintptr) (from, to uintptr) {
	if p.holes.bytes == 0 { // most often: spares the divisions
		return p.committed, p.committed
	}
	page, end := off/max(p.page, 1), min(uintptr(len(p.holes.set))<<6, p.committed/max(p.page, 1))
	for page < end && !p.holes.has(page) {
		page++
	}
	if page >= end {
		return p.committed, p.committed
	}
	last := page + 1
	for last < end && p.holes.has(last) {
		last++
	}
	return max(off, page*p.page), last * p.page
}

// mustBe panics unless [off, off+n) are whole committed pages that are all holes, or none of them.
func (p *Prefix) mustBe(op string, off, n uintptr, hole bool) {
	reason := ""
	switch {
	case p.busy:
		reason = "the Prefix is committing or decommitting"
	case p.mem.Base == nil:
		reason = "the Prefix is closed"
	case n == 0 || off%p.page != 0 || n%p.page != 0 || off > p.committed || n > p.committed-off:
		reason = "the bytes are not whole pages of the committed memory"
	}
	for i := off; reason == "" && i < off+n; i += p.page {
		if p.holes.has(i/p.page) != hole {
			reason = "the bytes are not all dropped, or some are"
		}
	}
	if reason != "" {
		panic(&memory.Misuse{Package: "page", Op: op, Addr: uintptr(unsafe.Add(p.mem.Base, off)), Size: n, Reason: reason})
	}
}

// trimHoles is Trim if there may be holes behind keep: a call of the source for each run of pages between them.
func (p *Prefix) trimHoles(keep uintptr) error {
	for p.committed > keep {
		page, end := (p.committed-1)/p.page, p.committed/p.page
		if p.holes.gone(page) {
			p.holes.mark(page, 1, false)
			p.holes.bytes -= p.page
			p.committed = page * p.page
			continue
		}
		for page > keep/p.page && !p.holes.gone(page-1) {
			page--
		}
		if err := p.cut(page * p.page); err != nil {
			return err
		}
		for i := page; i < end; i++ {
			if p.holes.has(i) { // it was ready
				p.holes.mark(i, 1, false)
				p.holes.bytes -= p.page
			}
		}
	}
	return nil
}

// gone reports whether a page is a hole that no load has committed.
func (h *holes) gone(page uintptr) bool { return h.has(page) && !isSet(h.ready, page) }

// count returns the bytes of the holes below end, and whether there are others.
func (h *holes) count(pageBytes, end uintptr) (bytes uintptr, others bool) {
	for i, w := range h.set {
		bytes += uintptr(bits.OnesCount64(w)) * pageBytes
		if top := uintptr(i)<<6 + uintptr(64-bits.LeadingZeros64(w)); w != 0 && top*pageBytes > end {
			others = true
		}
	}
	return bytes, others
}
