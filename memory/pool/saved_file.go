package pool

import (
	"reflect"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/layout"
	"github.com/strata-go/strata/memory/save"
)

// CanWrite returns nil if objects of the pool can be in a file: see save.Portable. If T has a field that has no meaning
// in another process, such as an address, the error names the path of the field. Handles in T are no error here,
// because save.Set.Portable checks them.
func (p *Pool[T]) CanWrite() error {
	_, err := layout.OfHandles(reflect.TypeFor[T](), func(reflect.Type) error { return nil })
	return err
}

// RowType returns the type T, for package save: see save.Portable.
func (p *Pool[T]) RowType() reflect.Type { return reflect.TypeFor[T]() }

// HandleKey returns the type of the pool's handles, and the key of the pool: see save.HandleOwner.
func (p *Pool[T]) HandleKey() (handle reflect.Type, key uint32) {
	return reflect.TypeFor[memory.Handle[T]](), p.key
}

// saveFile visits the pool in a file. The capacity may differ if the slots fit.
func (p *Pool[T]) saveFile(c *save.Coder) {
	end := meta(&p.slots).saveFileSlots(c, p)
	if c.Failed() {
		return
	}
	c.Slots("slot", reflect.TypeFor[T](), p.base, stride[T](), p.live, end)
	if c.Loading() {
		meta(&p.slots).poisonVacant(p)
		c.Fail(p.Check())
	}
}

// saveFileSlots visits the metadata and returns how many slots are open. The fit commits their memory.
func (s *metadata) saveFileSlots(c *save.Coder, g backing) (end uint) {
	known, open, vacant := uint(c.Count(int(s.known()))), uint(c.Count(int(s.opened))), uint(c.Count(int(s.n)))
	retired, allocs, failures := uint(c.Count(int(s.retired))), c.Word(s.allocs), c.Word(s.failures)
	switch {
	case c.Failed():
	case known > s.capacity:
		c.Differs("the file has %d slots, the capacity is %d", known, s.capacity)
	case open > known || vacant+retired > open:
		c.Differs("%d slots are open and %d vacant, of %d", open, vacant, known)
	case c.Fitting():
		had := uint(len(s.gens))
		s.lengthen(known)
		s.shorten(had)
		g.fit(c, open)
	case c.Loading(): // which also commits, because loading another part may have called Trim
		s.lengthen(known)
		c.Fail(s.provide(open, g))
	}
	if c.Failed() {
		return 0
	}
	if c.Loading() {
		s.soiled, s.peak = max(s.soiled, s.opened, open), max(s.peak, s.opened)
		s.n, s.opened, s.retired, s.allocs, s.failures = vacant, open, retired, allocs, failures
		clear(s.gens)
		clear(s.live)
	}
	save.Vec(c, s.gens[:known])
	save.Vec(c, s.free[:vacant])
	save.Vec(c, s.live[:(open+63)/64])
	return open
}

// poisonVacant poisons what is not live, in debug builds.
func (s *metadata) poisonVacant(g backing) {
	if !invariant.Debug {
		return
	}
	for i := range min(s.soiled, g.ready()) {
		if s.live[i>>6]>>(i&63)&1 == 0 {
			g.soil(i, i+1)
		}
	}
}
