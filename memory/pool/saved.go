package pool

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/internal/saved"
	"github.com/strata-go/strata/memory/save"
)

// SaveState saves the live objects, the generations of all slots and the order of the vacant slots. After loading, the
// handles that were valid when the state was saved are valid again, and their objects have the same addresses. Loading
// also sets the generations back. A handle that was made after the state was saved may therefore later belong to
// another object. If another process loads a file, objects have the same slots but other addresses, and only the
// handles in the file are valid.
//
// If the saved pool had another capacity, loading fails with an error that wraps save.ErrLayout. A pool that reads a
// file needs only as many slots as the saved pool has prepared: [Pool.New] prepares them in batches. If a load cannot
// commit the memory that it needs, the error wraps that of page.Prefix.Ensure. If the pool is closed, saving and loading
// fail with an error that wraps memory.ErrClosed. If the function of page.Limit.OnSoft saves or loads a slot during a
// commit of this pool, the error wraps save.ErrBusy.
func (p *Pool[T]) SaveState(c *save.Coder) {
	if p.base == nil {
		c.Fail(memory.ErrClosed)
		return
	}
	c.Enter(p.name)
	defer c.Leave()
	if c.Portable() {
		p.saveFile(c)
		return
	}
	c.Elements(reflect.TypeFor[T]())
	c.Same("the size of an object", uint64(stride[T]()))
	p.mem.SaveState(c)
	meta(&p.slots).saveSlots(c)
	saveRows[T](c, &p.slots, "slot", p.base, p.ready())
}

// SaveState saves both parts as [Pool.SaveState] does. A Set with a Split cannot be written to a file.
func (p *Split[Hot, Cold]) SaveState(c *save.Coder) {
	if p.hotBase == nil {
		c.Fail(memory.ErrClosed)
		return
	}
	c.Enter(p.name)
	defer c.Leave()
	c.Elements(reflect.TypeFor[Hot]())
	c.Elements(reflect.TypeFor[Cold]())
	c.Same("the size of a hot part", uint64(stride[Hot]()))
	c.Same("the size of a cold part", uint64(stride[Cold]()))
	p.hot.SaveState(c)
	p.cold.SaveState(c)
	meta(&p.slots).saveSlots(c)
	saveRows[Hot](c, &p.slots, "hot slot", p.hotBase, uint(p.hot.Committed()/stride[Hot]()))
	saveRows[Cold](c, &p.slots, "cold slot", p.coldBase, uint(p.cold.Committed()/stride[Cold]()))
}

// saveSlots visits the metadata. The key is not part of it: it belongs to the pool, and not to its state.
func (s *metadata) saveSlots(c *save.Coder) {
	c.Same("the capacity", uint64(s.capacity))
	var w [8]uint64 // the compiler would write a literal elsewhere first, and copy it
	w[0], w[1], w[2], w[3], w[4] = uint64(s.n), uint64(s.opened), uint64(s.retired), uint64(s.peak), uint64(s.soiled)
	w[5], w[6], w[7] = s.allocs, s.failures, uint64(len(s.gens))
	c.Enter("counts") // of a difference: the number of objects is among them
	c.Words(w[:])
	c.Leave()
	if c.Loading() {
		s.n, s.opened, s.retired, s.peak, s.soiled = uint(w[0]), uint(w[1]), uint(w[2]), uint(w[3]), uint(w[4])
		s.allocs, s.failures = w[5], w[6]
	}
	entries := uint(w[7]) // they decide how many slots refill opens
	n := uint(0)
	if c.Saving() {
		n = s.known()
	}
	n = uint(c.Count(int(n)))
	vacant, open := uint(c.Count(int(s.n))), uint(c.Count(int(s.opened)))
	if c.Failed() {
		return
	}
	if c.Fitting() || c.Loading() {
		had := uint(len(s.gens))
		s.lengthen(entries)
		if c.Fitting() {
			s.shorten(had)
		}
	}
	if c.Scanning() && n > uint(cap(s.gens)) {
		c.Differs("%d slots were in use of %d", n, cap(s.gens))
		return
	}
	save.Vec(c, s.gens[:n])
	save.Vec(c, s.free[:vacant])
	save.Vec(c, s.live[:(open+63)/64])
	if c.Loading() {
		clear(s.gens[n:])
		clear(s.live[(open+63)/64:])
		s.shorten(entries)
	}
}

// known returns how many slots have had an object: those behind have generation 0.
func (s *metadata) known() uint {
	const many = 64 // at once: most of the slots behind have generation 0
	n := uint(len(s.gens))
	for n >= s.opened+many && [many]uint32(s.gens[n-many:]) == [many]uint32{} {
		n -= many
	}
	for n > s.opened && s.gens[n-1] == 0 {
		n--
	}
	return n
}

// shorten makes the metadata end at slot n, and keeps its arrays.
func (s *metadata) shorten(n uint) {
	s.gens, s.free, s.live = s.gens[:n], s.free[:n], s.live[:(n+63)>>6]
}

// saveRows visits the slots at base, of which ready are committed: the live ones, or in debug builds all that may contain
// poison.
func saveRows[T any](c *save.Coder, s *slots, name string, base unsafe.Pointer, ready uint) {
	if invariant.Debug {
		n := c.Count(int(max(s.opened, min(s.soiled, ready))))
		c.Rows(name, reflect.TypeFor[T](), base, stride[T](), n)
		if c.Loading() && uint(n) < ready { // the source may have kept what is behind: that is not poison
			s.soiled = min(s.soiled, uint(n))
		}
		return
	}
	c.Slots(name, reflect.TypeFor[T](), base, stride[T](), s.live, s.opened)
}

// SaveState saves the live slots and the order of the vacant slots. After loading, the slots that were live have the
// same addresses and bytes. A Set with a Blocks cannot be written to a file.
//
// If the saved pool had another slot size or capacity, loading fails with an error that wraps save.ErrLayout. If a load
// cannot commit the memory that it needs, the error wraps that of page.Prefix.Ensure. If the pool is closed, saving and
// loading fail with an error that wraps memory.ErrClosed. If the function of page.Limit.OnSoft saves or loads during a
// commit of this pool, the error wraps save.ErrBusy.
func (b *Blocks) SaveState(c *save.Coder) {
	if b.base == nil {
		c.Fail(memory.ErrClosed)
		return
	}
	c.Same("the size of a slot", uint64(b.size))
	c.Same("the capacity", uint64(b.capacity))
	b.mem.SaveState(c)
	// No Count for opened: Metadata saves less than a byte for each slot. The entries decide how many slots refill opens.
	var w [7]uint64 // see saveSlots
	w[0], w[1], w[2], w[3] = uint64(b.opened), uint64(len(b.free)), uint64(b.peak), uint64(b.soiled)
	w[4], w[5], w[6] = uint64(b.n), b.allocs, b.failures
	if c.Words(w[:]); c.Loading() {
		b.opened, b.peak, b.soiled, b.n = uintptr(w[0]), uintptr(w[2]), uintptr(w[3]), uint(w[4])
		b.allocs, b.failures = w[5], w[6]
	}
	open, entries := uintptr(w[0]), uintptr(w[1])
	vacant, asked := c.Count(int(b.n)), c.Count(len(b.asked))
	if c.Failed() {
		return
	}
	if had := uintptr(len(b.free)); c.Fitting() || c.Loading() {
		if entries > had {
			b.lengthen(entries)
		}
		if c.Fitting() {
			b.free, b.live = b.free[:had], b.live[:b.words(had)]
		}
	}
	if c.Scanning() && open > uintptr(cap(b.free)) {
		c.Differs("%d slots were in use of %d", open, cap(b.free))
		return
	}
	save.Vec(c, b.free[:vacant])
	if invariant.Exact {
		n := b.words(open)
		if save.Vec(c, b.live[:n]); c.Loading() {
			clear(b.live[n:])
		}
	}
	if c.Loading() {
		b.free, b.live = b.free[:entries], b.live[:b.words(entries)]
	}
	if invariant.Debug {
		b.saveDebug(c, asked)
	}
	if c.BeginContent() {
		b.saveContent(c)
		c.EndContent()
	}
}

// saveDebug visits what debug builds record for each slot.
func (b *Blocks) saveDebug(c *save.Coder, asked int) {
	if had := len(b.asked); (c.Fitting() || c.Loading()) && asked > had {
		b.asked = extend(b.asked, uintptr(asked))
		if c.Fitting() {
			b.asked = b.asked[:had]
		}
	}
	if asked > cap(b.asked) {
		c.Fail(fmt.Errorf("%w: %d slots of %d", save.ErrLayout, asked, cap(b.asked)))
		return
	}
	if save.Vec(c, b.asked[:asked]); c.Loading() {
		b.asked = b.asked[:asked]
	}
	saved.Lives(c, &b.lives)
}

// saveContent visits runs of live slots. Builds without live bits, and debug builds, visit all.
func (b *Blocks) saveContent(c *save.Coder) {
	switch live := b.opened - uintptr(b.n); {
	case invariant.Debug:
		n := c.Count(int(max(b.opened, min(b.soiled, b.mem.Committed()/b.size))))
		c.Raw(b.base, uintptr(n)*b.size)
		if c.Loading() && uintptr(n) < b.mem.Committed()/b.size { // see saveRows
			b.soiled = min(b.soiled, uintptr(n))
		}
		return
	case !invariant.Exact, c.Whole(live, b.opened):
		c.Raw(b.base, b.opened*b.size)
		return
	}
	perSlot := b.size >> granuleShift
	for i := uintptr(0); i < b.opened; i++ {
		first := i
		for i < b.opened && b.live[i*perSlot>>6]>>(i*perSlot&63)&1 != 0 {
			i++
		}
		if i > first {
			c.Raw(unsafe.Add(b.base, first*b.size), (i-first)*b.size)
		}
	}
}

var errFile = fmt.Errorf("pool: only a Pool can be in a file: %w", save.ErrPortable)

// CanWrite returns an error that wraps save.ErrPortable: a Split cannot be in a file.
func (p *Split[Hot, Cold]) CanWrite() error { return errFile }

// CanWrite returns an error that wraps save.ErrPortable: a Registry cannot be in a file.
func (r *Registry) CanWrite() error { return errFile }

// States yields the pools, for package save: see save.Composite.
func (r *Registry) States(yield func(save.State) bool) {
	for _, p := range r.pools {
		if !yield(p) {
			return
		}
	}
}

// SaveState saves the pools in the order of their registration, each as [Pool.SaveState] does. If a pool was registered
// after the state was saved, loading fails with an error that wraps save.ErrLayout and names the newest pool. If the
// registry or one of its pools is closed, saving and loading fail with an error that wraps memory.ErrClosed. A Set with
// a Registry cannot be written to a file: instead add each pool to the Set.
func (r *Registry) SaveState(c *save.Coder) {
	if r.closed {
		c.Fail(memory.ErrClosed)
		return
	}
	if n := c.Count(len(r.pools)); n != len(r.pools) && !c.Failed() {
		c.Differs("%d pools were registered and %d are; the last is %q", n, len(r.pools), r.pools[len(r.pools)-1].Name())
		return
	}
	for _, p := range r.pools {
		p.SaveState(c)
	}
}
