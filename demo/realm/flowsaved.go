package realm

import (
	"unsafe"

	"github.com/strata-go/strata/memory/save"
)

// Rest waits until the worker has computed all fields that were requested. As without Rest, [Flow.Update] puts each
// field into use [Ahead] ticks after its request. Until the next Update the worker is idle.
func (f *Flow) Rest() {
	for due := f.due(); f.early < due; f.early++ {
		f.results[f.early] = <-f.done
	}
}

// Resting reports whether [Flow.Rest] would return at once.
func (f *Flow) Resting() bool { return f.early+len(f.done) == f.due() }

// due returns the number of fields that were requested and are not used yet.
func (f *Flow) due() (n int) {
	for k := range f.lanes {
		if f.lanes[k].due != 0 {
			n++
		}
	}
	return n
}

// busy makes the pass fail unless the flow rests.
func (f *Flow) busy(c *save.Coder) bool {
	if f.early == f.due() {
		return false
	}
	c.Busy("the worker of the fields has not rested")
	return true
}

// next returns the result that was asked for first.
func (f *Flow) next() result {
	if f.early == 0 {
		return <-f.done
	}
	res := f.results[0]
	f.early--
	copy(f.results[:], f.results[1:])
	return res
}

// SaveState saves or loads the fields in use and the computed fields that are not in use yet. If [Flow.Rest] was not
// called since the last request, the error wraps save.ErrBusy. The blocks of the fields lie in the memory that begins
// at base. The Set must save this memory before the Flow.
func (f *Flow) SaveState(c *save.Coder, base unsafe.Pointer) {
	if f.busy(c) {
		return
	}
	save.Num(c, &f.tick)
	for k := range f.lanes {
		l := &f.lanes[k]
		c.EnterAt("lane", k)
		save.Bool(c, &l.there)
		save.Num(c, &l.due)
		save.Num(c, &l.asked)
		save.Num(c, &l.next)
		save.Num(c, &l.crowd)
		l.field.saveState(c, base)
		c.Leave()
	}
	early := c.Count(f.early)
	for k := range min(early, Lanes) {
		r := &f.results[k]
		if failed := c.Flag(r.err != nil); c.Loading() {
			if r.err = nil; failed {
				r.err = errSearch
			}
		}
		r.field.saveState(c, base)
	}
	if c.Loading() {
		f.early = early
	}
}

func (f *Field) saveState(c *save.Coder, base unsafe.Pointer) {
	save.Num(c, &f.X0)
	save.Num(c, &f.Y0)
	save.Num(c, &f.Node)
	save.Num(c, &f.Sum)
	for i := range f.tiles {
		if p := (*tile)(c.Pointer(unsafe.Pointer(f.tiles[i]), base)); c.Loading() {
			f.tiles[i] = p
		}
	}
}
