package arena

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/internal/saved"
	"github.com/strata-go/strata/memory/save"
)

// SaveState implements [save.State]: it saves the bytes in use, the live marks and the statistics. After loading, the
// Marks that were valid when the state was saved are valid again. A Mark that was made later must not be used: Rewind
// may accept it as another Mark.
//
// Hooks are code and are not saved. Loading drops the hooks that were registered after the state was saved. If a hook
// of the saved state has run since, or an earlier load has dropped it, loading fails with an error that wraps
// save.ErrLayout. From a slot of [save.Set.NewCanonical] such a load may succeed: a hook that was registered later may
// count as the dropped one.
//
// If a hook is running, saving and loading fail with an error that wraps save.ErrBusy. If the arena is closed, they
// fail with an error that wraps memory.ErrClosed.
func (l *Linear) SaveState(c *save.Coder) {
	switch {
	case l.base == nil:
		c.Fail(memory.ErrClosed)
		return
	case l.busy:
		c.Busy("a hook of an arena is running")
		return
	}
	l.mem.SaveState(c)
	save.Num(c, &l.limit)
	l.saveHooks(c)
	for _, v := range [...]*uintptr{&l.off, &l.floor, &l.peak, &l.refs} {
		save.Num(c, v)
	}
	for _, v := range [...]*uint64{&l.book, &l.allocs, &l.kept, &l.dropped, &l.failures, &l.serial, &l.epoch} {
		save.Num(c, v)
	}
	save.List(c, &l.marks)
	save.List(c, &l.cuts)
	save.List(c, &l.ledger.blocks)
	if c.BeginContent() {
		c.Raw(l.base, l.off)
		c.EndContent()
	}
}

func (l *Linear) saveHooks(c *save.Coder) {
	n := l.hooked.SaveState(c, len(l.hooks), func(i int) saved.HookID { return l.hooks[i].id })
	clear(l.hooks[n:])
	l.hooks = l.hooks[:n]
}

// SaveState implements [save.State]: it saves the arena as [Linear.SaveState] does. If a load cannot commit the memory
// that it needs, the error wraps that of page.Prefix.Ensure. If the function of page.Limit.OnSoft saves or loads during
// a commit of this arena, the error wraps save.ErrBusy.
func (g *Growing) SaveState(c *save.Coder) {
	g.lin.SaveState(c)
	if g.lin.base != nil && c.Loading() {
		g.lin.limit = g.lin.mem.Committed()
	}
}

// SaveState saves the readable frames and the frame number. A [Ref] is valid after loading if it was valid when the
// state was saved. A Ref that was made later must not be used after loading: Get may return another object. The errors
// and the rules for hooks and Marks are those of [Linear.SaveState]. A load may also have to commit memory, and fail as
// in [Growing.SaveState]. If the function of page.Limit.OnSoft saves or loads during an Advance, the error wraps
// save.ErrBusy.
func (f *Frames) SaveState(c *save.Coder) {
	if f.cur.base == nil {
		c.Fail(memory.ErrClosed)
		return
	}
	c.Same("the number of buffers", uint64(len(f.ring)))
	frame := c.Word(f.frame)
	for i := range f.ring {
		c.EnterAt("buffer", i)
		f.ring[i].SaveState(c)
		if l := &f.ring[i]; c.Loading() {
			l.limit = min(l.limit, l.mem.Committed())
			switch {
			case l.limit > 0:
				l.full = f.full
			case l.base != nil:
				l.full = &l.short
			}
		}
		c.Leave()
	}
	if c.Loading() {
		f.frame = frame
		f.cur = &f.ring[frame%uint64(len(f.ring))]
	}
}

// States yields the buffers, for package save: see save.Composite.
func (f *Frames) States(yield func(save.State) bool) {
	for i := range f.ring {
		if !yield(&f.ring[i]) {
			return
		}
	}
}

// SaveState implements [save.State]: it saves the live blocks, their order and the statistics. If the arena is closed,
// saving and loading fail with an error that wraps memory.ErrClosed.
func (s *StepBack) SaveState(c *save.Coder) {
	if s.base == nil {
		c.Fail(memory.ErrClosed)
		return
	}
	s.mem.SaveState(c)
	save.Num(c, &s.off)
	save.Num(c, &s.allocs)
	save.Num(c, &s.peak)
	save.Num(c, &s.failures)
	save.List(c, &s.steps)
	if c.BeginContent() {
		c.Raw(s.base, s.off)
		c.EndContent()
	}
}

var errFile = fmt.Errorf("arena: a Window cannot be in a file: %w", save.ErrPortable)

// CanWrite returns an error that wraps save.ErrPortable: a Window cannot be in a file.
func (w *Window[T]) CanWrite() error { return errFile }

// SaveState implements [save.State]: it saves the kept entries, their places and Pushed. If T has a container, the
// allocator of its elements must be an earlier part: see [save.Coder.Elements]. If the Window is closed, saving and
// loading fail with an error that wraps memory.ErrClosed.
func (w *Window[T]) SaveState(c *save.Coder) {
	if w.slots == nil {
		c.Fail(memory.ErrClosed)
		return
	}
	c.Elements(reflect.TypeFor[T]())
	w.mem.SaveState(c)
	c.Same("the size of an entry", uint64(unsafe.Sizeof(w.slots[0])))
	save.Num(c, &w.next)
	save.Num(c, &w.length)
	save.Num(c, &w.pushed)
	save.Num(c, &w.peak)
	if c.BeginOwnContent() {
		save.Vec(c, w.slots[w.next-w.length:w.next])
		c.EndContent()
	}
}

// SaveState implements [save.State]: it saves the bytes in use of all regions that have live blocks, and the
// statistics. If the arena is closed, saving and loading fail with an error that wraps memory.ErrClosed. If a load
// cannot commit the memory that it needs, the error wraps that of page.Prefix.Ensure. If the function of
// page.Limit.OnSoft saves or loads during a commit of this arena, the error wraps save.ErrBusy.
func (r *Region) SaveState(c *save.Coder) {
	if r.base == nil {
		c.Fail(memory.ErrClosed)
		return
	}
	r.mem.SaveState(c)
	c.Same("the size of a region", uint64(r.RegionBytes()))
	for _, v := range [...]*uintptr{&r.off, &r.limit, &r.full, &r.peak} {
		save.Num(c, v)
	}
	for _, v := range [...]*int{&r.current, &r.opened, &r.misses} {
		save.Num(c, v)
	}
	save.Num(c, &r.allocs)
	save.Num(c, &r.failures)
	save.Var(c, &r.open)
	save.List(c, &r.live)
	save.List(c, &r.regions)
	save.List(c, &r.empty)
	if n := len(r.regions); c.Loading() && cap(r.empty) < n {
		r.empty = append(make([]uint32, 0, cap(r.regions)), r.empty...)
	}
	r.saveSizes(c)
	if c.BeginContent() {
		for k := range uintptr(len(r.regions)) {
			from := k << r.shift
			if r.regions[k].live > 0 || int(k) == r.current {
				c.Raw(unsafe.Add(r.base, from), r.end(k)-from)
			}
		}
		c.EndContent()
	}
}

// saveSizes visits the requested sizes that debug builds keep, in the order of the blocks.
func (r *Region) saveSizes(c *save.Coder) {
	if !invariant.Debug {
		return
	}
	n := c.Count(len(r.sizes))
	switch {
	case c.Saving():
		for g := range uintptr(len(r.live)) * 64 {
			if off := g << granuleShift; r.live[g>>6]>>(g&63)&1 != 0 {
				c.Word(uint64(off))
				c.Word(uint64(r.sizes[off]))
			}
		}
		return
	case c.Loading():
		clear(r.sizes)
	}
	for range n {
		off, size := c.Word(0), c.Word(0)
		if c.Loading() {
			r.sizes[uintptr(off)] = uintptr(size)
		}
	}
}
