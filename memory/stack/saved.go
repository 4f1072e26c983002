package stack

import (
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/save"
)

// SaveState implements [save.State]: it saves the live blocks, the marks and the statistics. After loading, the Marks
// that were valid when the state was saved are valid again. A Mark that was made later must not be used: Rewind may
// accept it as another Mark. If the Stack is closed, saving and loading fail with an error that wraps memory.ErrClosed.
func (s *Stack) SaveState(c *save.Coder) {
	if s.mem.SaveState(c); !c.Failed() {
		s.saveState(c)
	}
}

// SaveState implements [save.State]: it saves the live blocks, the marks and the statistics of both Ends. For Marks see
// [Stack.SaveState]. If the Double is closed, saving and loading fail with an error that wraps memory.ErrClosed.
func (d *Double) SaveState(c *save.Coder) { saveEnds(c, &d.mem, &d.bottom, &d.top) }

// SaveState implements [save.State]: it saves the live blocks, the marks and the statistics of both Ends. For Marks see
// [Stack.SaveState]. If the Pivot is closed, saving and loading fail with an error that wraps memory.ErrClosed.
func (p *Pivot) SaveState(c *save.Coder) { saveEnds(c, &p.mem, &p.forward, &p.backward) }

func saveEnds(c *save.Coder, mem *page.Prefix, a, b *End) {
	if mem.SaveState(c); !c.Failed() {
		a.saveState(c)
	}
	if !c.Failed() {
		b.saveState(c)
	}
}

func (e *End) saveState(c *save.Coder) {
	if e.base == nil {
		c.Fail(memory.ErrClosed)
		return
	}
	save.Num(c, &e.edge)
	save.Num(c, &e.peak)
	save.Num(c, &e.floor)
	for _, v := range [...]*uint64{&e.allocs, &e.failures, &e.serial} {
		save.Num(c, v)
	}
	save.List(c, &e.blocks)
	save.List(c, &e.marks)
	if c.BeginContent() {
		low := min(e.origin, e.edge)
		c.Raw(unsafe.Add(e.base, low), max(e.origin, e.edge)-low)
		c.EndContent()
	}
}
