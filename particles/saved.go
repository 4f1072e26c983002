package particles

import (
	typ "reflect"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/save"
)

// SaveState saves the live particles, the bounds, the statistics and the state of the random numbers. Kinds are not
// saved. Before a state is loaded, register the same kinds in the same order. More kinds may follow.
//
// With fewer kinds or another Capacity loading fails with an error that wraps save.ErrLayout. In a file the Capacity
// may differ if the particles fit. A file lacks Stats.Peak. If a load cannot commit memory for the particles, the error
// wraps the error of the source. If the System is closed, saving and loading fail with an error that wraps
// memory.ErrClosed. If a callback of the source saves or loads a save.Slot during a commit of this System, this fails
// with an error that wraps save.ErrBusy.
func (s *System) SaveState(c *save.Coder) {
	if s.closed {
		c.Fail(memory.ErrClosed)
		return
	}
	if c.Portable() {
		s.saveFile(c)
		return
	}
	c.Same("the capacity", uint64(s.max))
	if n := c.Word(uint64(len(s.kinds))); n > uint64(len(s.kinds)) {
		c.Differs("%d kinds were registered, %d are", n, len(s.kinds))
		return
	}
	for i := range s.mem {
		c.EnterAt("memory", i)
		s.mem[i].SaveState(c)
		c.Leave()
	}
	n, usable := c.Count(s.n), int(c.Word(uint64(s.usable)))
	if c.Failed() {
		return
	}
	if c.Loading() {
		s.n, s.usable = n, usable
		s.slice()
	}
	save.Bool(c, &s.refused)
	save.Num(c, &s.rng)
	save.Num(c, &s.peak)
	s.saveLive(c, n)
}

// saveLive visits what a slot and a file have in common: statistics, bounds, and the first n rows of all columns.
func (s *System) saveLive(c *save.Coder, n int) {
	for _, v := range [...]*uint64{&s.emitted, &s.dropped, &s.failures} {
		save.Num(c, v)
	}
	save.Var(c, &s.bounds)
	save.Var(c, &s.alive)
	saveColumn[uint8](s, c, 0, n, "kind")
	saveColumn[uint8](s, c, 1, n, "tint")
	for i, name := range [...]string{"x", "y", "vx", "vy", "left"} {
		saveColumn[float32](s, c, 2+i, n, name)
	}
	saveColumn[birth](s, c, 7, n, "birth")
}

// saveColumn visits the first n rows of a column.
func saveColumn[T uint8 | float32 | birth](s *System, c *save.Coder, column, n int, name string) {
	var first unsafe.Pointer
	if n > 0 {
		first = s.first(column)
	}
	c.Rows(name, typ.TypeFor[T](), first, unsafe.Sizeof(*new(T)), n)
}
