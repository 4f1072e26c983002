package pool

import (
	"errors"
	"fmt"
	"iter"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/save"
)

// A Split is a [Pool] whose objects have two parts in two regions: Hot for the fields that every frame reads, and
// Cold for the rest. One handle finds both parts, and an iteration over Hot reads no byte of Cold.
//
//	hot    | H | H |   | H |   | - - -
//	cold   | CCCCC | CCCCC |       | CCCCC |       | - - -      same slot number
//
// Lifetimes, zeroing, the goroutine rule, panics, stale handles and the state after Close are as in [Pool]. The handles
// have the type of the hot part.
type Split[Hot, Cold any] struct {
	_ [0]*Hot // a Split of other types does not convert to this one
	_ [0]*Cold

	hotBase, coldBase unsafe.Pointer // nil once closed
	slots
	hot, cold page.Prefix
	name      string
	owner     invariant.Owner
}

// NewSplit returns a Split with two reservations of src; nothing is committed. If src is nil, it is page.Default(). A
// Capacity of 0 means 64 MiB divided by the size of both parts together, but at least one object. If the system refuses
// the address space, the capacity is halved as in [New]: see [Split.Cap]. The errors are those of New, for either part.
// If NewSplit fails, it releases its reservations. If src cannot release one, its addresses stay reserved.
func NewSplit[Hot, Cold any](src page.Source, cfg Config) (*Split[Hot, Cold], error) {
	name, err := nameFor[Hot](cfg)
	if err != nil {
		return nil, fmt.Errorf("pool: new Split: hot: %w", err)
	}
	if err := memory.PointerFree[Cold](); err != nil {
		return nil, fmt.Errorf("pool: new Split: cold: %w", err)
	}
	p := &Split[Hot, Cold]{name: name}
	if err := p.init(src, cfg.Capacity); err != nil {
		return nil, fmt.Errorf("pool: new Split of %s: %w", name, err)
	}
	return p, nil
}

func (p *Split[Hot, Cold]) init(src page.Source, capacity int) (err error) {
	hot, hots, err := reserve(src, capacity, stride[Hot](), p.stride())
	if err != nil {
		return err
	}
	defer func() { // also if the source panics
		if p.hotBase == nil {
			err = errors.Join(err, hot.Close())
		}
	}()
	cold, colds, err := reserve(src, capacity, stride[Cold](), p.stride())
	if err != nil {
		return err
	}
	p.hot, p.cold = hot, cold
	p.hotBase, p.coldBase, p.key = hot.Base(), cold.Base(), newKey()
	meta(&p.slots).limit(src, p.name, min(hots, colds))
	p.hot.Watch(p.lost)
	p.cold.Watch(p.lost)
	return nil
}

// lost is called when the source of a region has ended: see Pool.
func (p *Split[Hot, Cold]) lost() {
	p.hotBase, p.coldBase = nil, nil
	meta(&p.slots).close()
}

// stride is the bytes of an object with both parts.
func (p *Split[Hot, Cold]) stride() uintptr { return stride[Hot]() + stride[Cold]() }

// New allocates an object with both parts zeroed. It returns the handle, the hot part and the cold part. The errors
// and the cost are as in [Pool.New]. A failed New returns the zero Handle and nil twice.
func (p *Split[Hot, Cold]) New() (memory.Handle[Hot], *Hot, *Cold, error) {
	if invariant.Debug {
		p.owner.Touch()
		meta(&p.slots).verifyNext(p)
	}
	i, gen, ok := meta(&p.slots).take()
	if !ok {
		return p.newMore()
	}
	h, c := p.at(i)
	zero(h)
	zero(c)
	return memory.MakeHandle[Hot](i, gen^p.key), h, c, nil
}

// Get returns both parts and true. If h is stale, zero, or of another pool, Get returns nil, nil and false. Get, Hot
// and Cold inline.
func (p *Split[Hot, Cold]) Get(h memory.Handle[Hot]) (hot *Hot, cold *Cold, ok bool) {
	i, gen := h.Index(), h.Generation()^p.key
	if uint(i) >= uint(len(p.gens)) || p.gens[i] != gen || gen&1 == 0 {
		return nil, nil, false
	}
	return (*Hot)(unsafe.Add(p.hotBase, uintptr(i)*unsafe.Sizeof(*hot))),
		(*Cold)(unsafe.Add(p.coldBase, uintptr(i)*unsafe.Sizeof(*cold))), true
}

// Hot returns the hot part and true, without reading the cold part. If h is stale, zero, or of another pool, Hot
// returns nil and false.
func (p *Split[Hot, Cold]) Hot(h memory.Handle[Hot]) (v *Hot, ok bool) {
	i, gen := h.Index(), h.Generation()^p.key
	if uint(i) >= uint(len(p.gens)) || p.gens[i] != gen || gen&1 == 0 {
		return nil, false
	}
	return (*Hot)(unsafe.Add(p.hotBase, uintptr(i)*unsafe.Sizeof(*v))), true
}

// Cold returns the cold part and true, without reading the hot part. If h is stale, zero, or of another pool, Cold
// returns nil and false.
func (p *Split[Hot, Cold]) Cold(h memory.Handle[Hot]) (v *Cold, ok bool) {
	i, gen := h.Index(), h.Generation()^p.key
	if uint(i) >= uint(len(p.gens)) || p.gens[i] != gen || gen&1 == 0 {
		return nil, false
	}
	return (*Cold)(unsafe.Add(p.coldBase, uintptr(i)*unsafe.Sizeof(*v))), true
}

// Free frees both parts of the object of h and returns true. If h is stale, zero, or of another pool, Free does
// nothing and returns false.
func (p *Split[Hot, Cold]) Free(h memory.Handle[Hot]) bool {
	i, gen := h.Index(), h.Generation()^p.key
	if !meta(&p.slots).has(i, gen) {
		return false
	}
	if invariant.Debug {
		p.owner.Touch()
		p.soil(uint(i), uint(i)+1)
	}
	meta(&p.slots).drop(i, gen)
	return true
}

func (p *Split[Hot, Cold]) at(i uint32) (*Hot, *Cold) {
	return (*Hot)(unsafe.Add(p.hotBase, uintptr(i)*unsafe.Sizeof(*new(Hot)))),
		(*Cold)(unsafe.Add(p.coldBase, uintptr(i)*unsafe.Sizeof(*new(Cold))))
}

// ready, ensure, soil and damage make p the backing of its slots. If the cold region refuses, or its source panics, the
// hot one decommits what it has just committed.
func (p *Split[Hot, Cold]) ready() uint {
	return uint(min(p.hot.Committed()/stride[Hot](), p.cold.Committed()/stride[Cold]()))
}

func (p *Split[Hot, Cold]) ensure(n uint) (err error) {
	p.soiled = min(p.soiled, p.ready()) // as in Pool
	before, committed := p.hot.Committed(), false
	if err := p.hot.Ensure(uintptr(n) * stride[Hot]()); err != nil {
		return err
	}
	defer func() {
		if committed {
			return
		}
		if failed := p.hot.Trim(before); failed != nil {
			err = errors.Join(err, failed) // otherwise unwrapped, as New promises for memory.ErrClosed
		}
	}()
	if err := p.cold.Ensure(uintptr(n) * stride[Cold]()); err != nil {
		return err
	}
	if committed = true; p.hotBase == nil { // a function that the source has called has closed p
		return memory.ErrClosed
	}
	return nil
}

func (p *Split[Hot, Cold]) fit(c *save.Coder, n uint) {
	p.hot.Fit(c, uintptr(n)*stride[Hot]())
	p.cold.Fit(c, uintptr(n)*stride[Cold]())
}

func (p *Split[Hot, Cold]) soil(i, end uint) {
	h, c := p.at(uint32(i))
	invariant.Freed(unsafe.Pointer(h), uintptr(end-i)*unsafe.Sizeof(*h))
	invariant.Freed(unsafe.Pointer(c), uintptr(end-i)*unsafe.Sizeof(*c))
}

func (p *Split[Hot, Cold]) damage(i uint) (unsafe.Pointer, string) {
	h, c := p.at(uint32(i))
	if what := damage(unsafe.Pointer(h), unsafe.Sizeof(*h)); what != "" {
		return unsafe.Pointer(h), what
	}
	return unsafe.Pointer(c), damage(unsafe.Pointer(c), unsafe.Sizeof(*c))
}

// newMore is New if no prepared slot is vacant.
//
//go:noinline
func (p *Split[Hot, Cold]) newMore() (memory.Handle[Hot], *Hot, *Cold, error) {
	if err := meta(&p.slots).refill(p.stride(), p); err != nil {
		return memory.Handle[Hot]{}, nil, nil, err
	}
	return p.New()
}

// Grow is [Pool.Grow] for both regions. If the cold region cannot be committed, Grow decommits what it has committed
// of the hot region. If that fails, too, the memory stays committed, and the error wraps both errors. New does the same.
func (p *Split[Hot, Cold]) Grow(n int) error {
	p.owner.Touch()
	return meta(&p.slots).grow(n, p)
}

// Name returns Config.Name. If Config.Name is empty, Name returns the name of the type Hot with its package.
func (p *Split[Hot, Cold]) Name() string { return p.name }

// Len returns the number of live objects. If the pool is closed, Len returns 0.
func (p *Split[Hot, Cold]) Len() int { return int(meta(&p.slots).count()) }

// Cap returns the number of slots, retired ones included, as [Pool.Cap]. If the pool is closed, Cap returns 0.
func (p *Split[Hot, Cold]) Cap() int { return int(p.capacity) }

// All returns an iterator over the hot parts of the live objects, in the order of their addresses, as [Pool.All].
func (p *Split[Hot, Cold]) All() iter.Seq2[memory.Handle[Hot], *Hot] {
	return func(yield func(memory.Handle[Hot], *Hot) bool) {
		for i := range meta(&p.slots).each {
			h, _ := p.at(uint32(i))
			if !yield(memory.MakeHandle[Hot](uint32(i), p.gens[i]^p.key), h) {
				return
			}
		}
	}
}

// Reset frees every object and keeps the committed memory, as [Pool.Reset]. Reset panics with a *memory.Misuse if the
// pool is closed.
func (p *Split[Hot, Cold]) Reset() {
	if p.hotBase == nil {
		panic(closedReset(p.name))
	}
	p.owner.Touch()
	if invariant.Debug {
		for i := range meta(&p.slots).each {
			p.soil(i, i+1)
		}
	}
	meta(&p.slots).reset()
}

// Trim is [Pool.Trim] for both regions, with one difference. If the source fails for one region, the other region may
// be trimmed nevertheless, and the vacant slots are sorted.
func (p *Split[Hot, Cold]) Trim() error {
	if p.hotBase == nil {
		return memory.ErrClosed
	}
	p.owner.Touch()
	// The metadata first: a slot behind the last live one may lose its memory, or keep it if the source
	// refuses, but must not be used without an ensure.
	last := meta(&p.slots).last()
	meta(&p.slots).trim(last)
	if p.hot.Busy() || p.cold.Busy() {
		return nil // an ensure, which would lose what it has committed in the other region
	}
	err := errors.Join(p.hot.Trim(uintptr(last)*stride[Hot]()), p.cold.Trim(uintptr(last)*stride[Cold]()))
	if err != nil {
		return fmt.Errorf("pool: trim %s: %w", p.name, err)
	}
	return nil
}

// Close is [Pool.Close] for both regions. If no region can be released, Close returns an error, and the pool stays
// open without objects. If only one region is released, Close returns an error, and the pool is closed. In both cases
// Close can be retried.
func (p *Split[Hot, Cold]) Close() error {
	if p.hotBase != nil {
		p.Reset()
		meta(&p.slots).trim(0) // the memory may be decommitted although the addresses could not be released
	}
	defer func() { // also if the source panics between the two
		if p.hot.Base() == nil || p.cold.Base() == nil {
			p.lost()
		}
	}()
	if err := errors.Join(p.hot.Close(), p.cold.Close()); err != nil {
		return fmt.Errorf("pool: close %s: %w", p.name, err)
	}
	return nil
}

// Stats returns the sum of the statistics of both regions, as [Pool.Stats]. An object counts as one block, which has
// the bytes of both parts.
func (p *Split[Hot, Cold]) Stats() memory.Stats {
	s := meta(&p.slots).stats(p.stride())
	s.Reserved = uint64(p.hot.Reserved()) + uint64(p.cold.Reserved())
	s.Committed = uint64(p.hot.Committed()) + uint64(p.cold.Committed())
	return s
}

// Check returns the errors in the metadata, or nil. Debug builds also report writes to vacant slots.
func (p *Split[Hot, Cold]) Check() error {
	mems := errors.Join(p.hot.Check(), p.cold.Check())
	if p.hotBase == nil {
		return errors.Join(mems, meta(&p.slots).checkClosed())
	}
	if err := errors.Join(meta(&p.slots).checkBacking(&p.hot, stride[Hot]()), meta(&p.slots).checkBacking(&p.cold, stride[Cold]())); err != nil {
		return errors.Join(mems, err)
	}
	return errors.Join(mems, meta(&p.slots).check(p))
}
