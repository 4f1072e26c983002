package compose

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/save"
)

// canSave returns an error that names the part if it cannot be saved.
func (p *part) canSave(name string) error {
	if _, ok := p.Allocator.(save.State); !ok {
		return fmt.Errorf("compose: the %s allocator, a %T, is no save.State: %w", name, p.Allocator, memory.ErrConfig)
	}
	if r, ok := p.Allocator.(save.Refuser); ok {
		if err := r.CanSave(); err != nil {
			return fmt.Errorf("compose: the %s allocator: %w", name, err)
		}
	}
	return nil
}

// saveState visits the part.
func (p *part) saveState(c *save.Coder, name string) {
	c.Enter(name)
	defer c.Leave()
	if s, ok := p.Allocator.(save.State); ok {
		s.SaveState(c)
	} else {
		c.Fail(p.canSave(name))
	}
}

// States yields the allocator, if it can be saved.
func (p *part) States(yield func(save.State) bool) {
	if s, ok := p.Allocator.(save.State); ok {
		yield(s)
	}
}

// States yields the parts that can be saved.
func (c *pair) States(yield func(save.State) bool) {
	for i := range c.parts {
		if s, ok := c.parts[i].Allocator.(save.State); ok && !yield(s) {
			return
		}
	}
}

func (l *locked) States(yield func(save.State) bool)  { l.in.States(yield) }
func (c *counted) States(yield func(save.State) bool) { c.in.States(yield) }

// CanSave returns an error if a part is no save.State, or cannot be saved.
func (c *pair) CanSave() error {
	for i := range c.parts {
		if err := c.parts[i].canSave(c.names[i]); err != nil {
			return err
		}
	}
	return nil
}

// SaveState saves both parts. After Close it fails with memory.ErrClosed.
func (c *pair) SaveState(s *save.Coder) {
	if c.closed {
		s.Fail(memory.ErrClosed)
	}
	for i := range c.parts {
		if s.Failed() {
			return
		}
		c.parts[i].saveState(s, c.names[i])
	}
}

// SaveState saves both parts, and the number of refused requests.
func (f *fallback) SaveState(c *save.Coder) {
	f.pair.SaveState(c)
	save.Num(c, &f.failures)
}

func (l *locked) CanSave() error {
	defer l.enter().Unlock()
	return l.in.canSave("inner")
}

// SaveState saves inner with the mutex locked.
func (l *locked) SaveState(c *save.Coder) {
	defer l.enter().Unlock()
	l.in.saveState(c, "inner")
}

func (c *counted) CanSave() error { return c.in.canSave("inner") }

// SaveState saves inner, the statistics and the table of live blocks. OnEvent is not called.
func (c *counted) SaveState(s *save.Coder) {
	switch {
	case c.event:
		s.Busy("OnEvent is running")
		return
	case !s.Loading() && c.ended() || c.closed:
		s.Fail(memory.ErrClosed)
		return
	}
	c.in.saveState(s, "inner")
	for _, v := range [...]*uint64{&c.allocs, &c.frees, &c.failures, &c.peak} {
		save.Num(s, v)
	}
	if c.in.baser == nil {
		if s.Loading() {
			c.witness = nil // the saved one has no offset
		}
		c.blocks.saveState(s, 0)
		return
	}
	base := c.in.baser.Base()
	if p := s.Pointer(c.witness, base); s.Loading() {
		c.witness = p
	}
	c.blocks.saveState(s, uintptr(base))
}

// saveState visits the blocks, with their addresses as offsets from base. Which slot a block has depends on the history
// of the table and on base, so canonical states have the blocks in the order of their addresses.
func (t *table) saveState(c *save.Coder, base uintptr) {
	n := c.Count(t.n)
	if c.Saving() {
		slots := t.slots
		if c.Canonical() {
			slots = slices.Clone(slots)
			slices.SortFunc(slots, func(a, b slot) int { return cmp.Compare(a.addr-base, b.addr-base) })
		}
		for _, s := range slots {
			if s.addr != 0 {
				c.Word(uint64(s.addr - base))
				c.Word(uint64(s.size))
			}
		}
		return
	}
	for c.Fitting() && 4*n > 3*len(t.slots) {
		t.grow()
	}
	if c.Loading() {
		t.clear()
	}
	for range n {
		off, size := c.Word(0), c.Word(0)
		if c.Loading() {
			t.add(base+uintptr(off), uintptr(size))
		} else if c.Failed() {
			return
		}
	}
}
