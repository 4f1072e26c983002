package plan

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/save"
)

var errFile = fmt.Errorf("plan: an Arena cannot be in a file: %w", save.ErrPortable)

// CanWrite returns an error that wraps save.ErrPortable: an Arena cannot be in a file.
func (a *Arena) CanWrite() error { return errFile }

// SaveState saves the current moment and the bytes of the buffers that live at this moment. Outside of a run, that is
// before Begin and after Reset, SaveState saves the whole block. Debug builds always save the whole block. If the arena
// is closed, saving and loading fail with an error that wraps memory.ErrClosed. If the plan of the saved arena had
// another Total or another number of buffers, loading fails with an error that wraps save.ErrLayout. A Set with an
// Arena cannot be written to a file.
func (a *Arena) SaveState(c *save.Coder) {
	if a.base == nil {
		c.Fail(memory.ErrClosed)
		return
	}
	c.Covers(a.base, a.plan.total)
	c.Same("the size of the plan", uint64(a.plan.total))
	c.Same("the number of buffers", uint64(len(a.plan.buffers)))
	save.Num(c, &a.now)
	save.Bool(c, &a.begun)
	if !c.BeginOwnContent() {
		return
	}
	if invariant.Debug || !a.begun {
		c.Raw(a.base, a.plan.total)
	} else {
		for i := range a.plan.buffers {
			if b := &a.plan.buffers[i]; b.Birth <= a.now && a.now < b.Death {
				c.Raw(unsafe.Add(a.base, a.plan.offsets[i]), b.Size)
			}
		}
	}
	c.EndContent()
}
