package compact

import (
	"fmt"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/save"
)

var errFile = fmt.Errorf("compact: a Heap cannot be in a file: %w", save.ErrPortable)

// CanWrite returns an error that wraps save.ErrPortable: a Heap cannot be in a file.
func (h *Heap) CanWrite() error { return errFile }

// SaveState saves the live blocks, how often each is locked, the gaps, and a move that Compact has begun. After a load
// the handles, addresses and slices that were valid when the state was saved are valid again; all others are not. The
// generations of handles go back, too. So a handle that was made after the state was saved may later name another
// block.
//
// If Config.Align or the reservation differs from the saved state, loading fails with an error that wraps
// save.ErrLayout. If a load cannot commit the memory that it needs, the error wraps that of the source. If the heap is
// closed, saving and loading fail with an error that wraps memory.ErrClosed. During a call of the page source they fail
// with an error that wraps save.ErrBusy.
func (h *Heap) SaveState(c *save.Coder) {
	if h.base == nil {
		c.Fail(memory.ErrClosed)
		return
	}
	c.Same("the alignment", uint64(h.align))
	h.mem.SaveState(c)
	version := h.version()
	for _, v := range [...]*uint32{&h.spare, &h.cursor, &h.again} {
		save.Num(c, v)
	}
	for _, v := range [...]*uint64{&h.allocs, &h.frees, &h.failures, &h.used, &h.peak, &h.requested} {
		save.Num(c, v)
	}
	save.Var(c, &h.moving)
	save.Var(c, &h.bins)
	save.List(c, &h.records)
	if c.Loading() {
		h.shifts = version + 1 - h.allocs - h.frees // no version comes twice
		h.fitCommitted()
	}
	if c.BeginOwnContent() {
		h.saveContent(c)
		c.EndContent()
	}
}

// fitCommitted makes the last gap end with the committed memory. If it does, the gaps keep their order.
func (h *Heap) fitCommitted() {
	if last := &h.records[h.records[head].prev]; last.end()+last.gap != h.mem.Committed() {
		h.fitTail()
	}
}

// saveContent visits the live blocks, of a block that moves both parts, and in debug builds everything.
func (h *Heap) saveContent(c *save.Coder) {
	if invariant.Debug {
		n := c.Count(int(h.mem.Committed()))
		c.Raw(h.base, uintptr(n))
		return
	}
	for i := h.records[head].next; i != head; i = h.records[i].next {
		r := &h.records[i]
		off, n := r.off, r.size
		if m := &h.moving; i == m.record {
			c.Raw(h.at(off), m.done)
			off, n = off+m.way+m.done, n-m.done
		}
		c.Raw(h.at(off), n)
	}
}
