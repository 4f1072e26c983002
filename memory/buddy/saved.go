package buddy

import (
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/internal/saved"
	"github.com/strata-go/strata/memory/save"
)

// SaveState saves the live blocks and the order of the free lists. Debug builds also save the free memory. If MinBlock,
// System or the reservation differs from the saved state, loading fails with an error that wraps save.ErrLayout. If a
// load cannot commit the memory that it needs, the error wraps the source's error. If the heap is closed, saving and
// loading fail with an error that wraps memory.ErrClosed. During a call of the page source they fail with an error that
// wraps save.ErrBusy.
func (h *Heap) SaveState(c *save.Coder) {
	if h.base == nil {
		c.Fail(memory.ErrClosed)
		return
	}
	c.Same("the unit", uint64(h.grain))
	c.Same("the system", uint64(h.system))
	before := h.committed()
	h.mem.SaveState(c)
	end := uint32(c.Count(int(before)))
	save.Var(c, &h.counts)
	save.Num(c, &h.mask)
	save.Var(c, &h.lists)
	if c.Failed() || uint64(end) > uint64(len(h.entries)) {
		c.Differs("%d units were committed", end)
		return
	}
	if save.Vec(c, h.entries[:end]); c.Loading() {
		if before > end {
			clear(h.entries[end:before])
		}
		h.adoptFrom(end)
	}
	saved.Lives(c, &h.lives)
	if c.BeginContent() {
		h.saveContent(c, end)
		c.EndContent()
	}
}

// adoptFrom makes what is committed behind unit before free memory.
func (h *Heap) adoptFrom(before uint32) {
	if now := h.committed(); h.base != nil && now > before {
		h.poison(before, now)
		h.adopt(h.ladder.whole(), before, now)
	}
}

// saveContent visits the live blocks: their request if it lies at their start. Debug builds visit the poison, too.
func (h *Heap) saveContent(c *save.Coder, end uint32) {
	if invariant.Debug {
		c.Raw(h.base, h.grain.Bytes(end))
		return
	}
	for at := uint32(0); at < end; {
		e := &h.entries[at]
		if e.state&(live|free) == 0 {
			at++
			continue
		}
		units := h.ladder.size[e.rung]
		switch {
		case e.state&handed != 0:
			c.Raw(unsafe.Add(h.base, h.grain.Bytes(at)), uintptr(e.next))
		case e.state&live != 0:
			c.Raw(unsafe.Add(h.base, h.grain.Bytes(at)), h.grain.Bytes(units))
		}
		at += units
	}
}
