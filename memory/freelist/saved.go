package freelist

import (
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/internal/saved"
	"github.com/strata-go/strata/memory/save"
)

// SaveState saves the live blocks, the free runs, and the place where NextFit continues. Debug builds also save the
// free memory. If the Granule, the Policy or the reservation differs from the saved state, loading fails with an error
// that wraps save.ErrLayout. If a load cannot commit the memory that it needs, the error wraps the source's error. If
// the heap is closed, saving and loading fail with an error that wraps memory.ErrClosed. During a call of the page
// source they fail with an error that wraps save.ErrBusy.
func (h *Heap) SaveState(c *save.Coder) {
	if h.base == nil {
		c.Fail(memory.ErrClosed)
		return
	}
	c.Same("the granule", uint64(h.grain))
	c.Same("the policy", uint64(h.policy))
	before := h.committed()
	h.mem.SaveState(c)
	end := uint32(c.Count(int(before)))
	save.Var(c, &h.counts)
	save.Num(c, &h.rover)
	save.List(c, &h.runs)
	if c.Failed() || uint64(end) > uint64(len(h.live)) {
		c.Differs("%d granules were committed", end)
		return
	}
	if save.Vec(c, h.live[:end]); c.Loading() {
		if before > end {
			clear(h.live[end:before])
		}
		h.adopt(end)
	}
	saved.Lives(c, &h.lives)
	if c.BeginContent() {
		h.saveContent(c, end)
		c.EndContent()
	}
}

// adopt makes what is committed behind granule before free memory.
func (h *Heap) adopt(before uint32) {
	if now := h.committed(); h.base != nil && now > before {
		h.poison(before, now)
		h.give(before, now-before)
	}
}

// saveContent visits what lies between the free runs. In debug builds these contain poison.
func (h *Heap) saveContent(c *save.Coder, end uint32) {
	at := uint32(0)
	for _, r := range h.runs {
		if !invariant.Debug && r.off < end {
			h.saveGranules(c, at, r.off)
			at = r.off + r.size
		}
	}
	if at < end {
		h.saveGranules(c, at, end)
	}
}

func (h *Heap) saveGranules(c *save.Coder, from, to uint32) {
	c.Raw(unsafe.Add(h.base, h.grain.Bytes(from)), h.grain.Bytes(to-from))
}
