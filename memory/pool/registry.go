package pool

import (
	"errors"
	"fmt"
	"iter"
	"reflect"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
)

// A Registry holds a pool per type, so that a new Enemy comes from the pool of enemies and
// the books of all of them are found in one place. Pools are visited in the order of their
// registration. One goroutine at a time. The zero Registry is empty and takes memory from
// page.Default().
//
// NewIn and FreeIn look the pool up, which costs a map lookup each; code per entity holds the
// *Pool that Register or [Of] returned. The registry closes its pools. One that is closed
// already, by hand or because the source has ended, is left out of Reset and Trim.
type Registry struct {
	src    page.Source
	pools  []member
	byType map[reflect.Type]member
	closed bool
	owner  invariant.Owner
}

// A member is a Pool[T] without its type.
type member interface {
	Name() string
	Cap() int // 0 once closed
	Stats() memory.Stats
	Reset()
	Trim() error
	Close() error
	Check() error
}

// ErrUnregistered says that a type has no pool in the registry.
var ErrUnregistered = errors.New("pool: type is not registered")

// NewRegistry returns an empty registry whose pools will take their memory from src; nil
// means page.Default().
func NewRegistry(src page.Source) *Registry {
	return &Registry{src: src}
}

// Register makes the pool of T in r, which closes it. The error is New's, memory.ErrClosed, or wraps
// memory.ErrConfig if T has a pool already. On error nothing has changed.
func Register[T any](r *Registry, cfg Config) (*Pool[T], error) {
	if r.closed {
		return nil, memory.ErrClosed
	}
	r.owner.Touch()
	t := reflect.TypeFor[T]()
	if old, ok := r.byType[t]; ok {
		return nil, fmt.Errorf("pool: register %s: want a type without a pool, it has one named %q: %w", t, old.Name(), memory.ErrConfig)
	}
	p, err := New[T](r.src, cfg)
	if err != nil {
		return nil, err
	}
	if r.byType == nil {
		r.byType = make(map[reflect.Type]member)
	}
	r.pools = append(r.pools, p)
	r.byType[t] = p
	return p, nil
}

// Of returns the pool of T, to be held: it lives as long as the registry. Cost: a map lookup.
func Of[T any](r *Registry) (*Pool[T], bool) {
	p, ok := r.byType[reflect.TypeFor[T]()].(*Pool[T])
	return p, ok
}

// NewIn begins a zeroed T in its pool. The error is [Pool.New]'s, or wraps [ErrUnregistered]:
// a pool is made by [Register] only, when the game loads, and not by the first use in a frame.
func NewIn[T any](r *Registry) (memory.Handle[T], *T, error) {
	p, ok := Of[T](r)
	switch {
	case ok:
		return p.New()
	case r.closed:
		return memory.Handle[T]{}, nil, memory.ErrClosed
	}
	return memory.Handle[T]{}, nil, unregistered[T]()
}

// FreeIn ends the object of h in the pool of T and reports true; false when h is stale, as it
// is in every registry but the one that made it, and nothing happens. Where T has no pool, which
// no handle can be right for, it panics with a *memory.Misuse; on a closed registry all are stale.
func FreeIn[T any](r *Registry, h memory.Handle[T]) bool {
	p, ok := Of[T](r)
	switch {
	case ok:
		return p.Free(h)
	case r.closed:
		return false
	}
	panic(&memory.Misuse{Package: "pool", Op: "FreeIn", Reason: unregistered[T]().Error()})
}

func unregistered[T any]() error {
	return fmt.Errorf("%w: %s: call Register first", ErrUnregistered, reflect.TypeFor[T]())
}

// Len returns the number of pools.
func (r *Registry) Len() int { return len(r.pools) }

// All yields name and books of every pool in the order of registration. It does not allocate.
func (r *Registry) All() iter.Seq2[string, memory.Stats] {
	return func(yield func(string, memory.Stats) bool) {
		for _, p := range r.pools {
			if !yield(p.Name(), p.Stats()) {
				return
			}
		}
	}
}

// Stats sums the books of all pools. It does not allocate.
func (r *Registry) Stats() memory.Stats {
	var sum memory.Stats
	for _, p := range r.pools {
		sum = sum.Add(p.Stats())
	}
	return sum
}

// Reset resets every pool. On a closed registry, and where all pools are, it panics with a
// *memory.Misuse.
func (r *Registry) Reset() {
	if r.allClosed() {
		panic(&memory.Misuse{Package: "pool", Op: "Reset", Reason: "the registry is closed"})
	}
	r.owner.Touch()
	for _, p := range r.pools {
		if p.Cap() != 0 {
			p.Reset()
		}
	}
}

// Trim trims every pool and joins their errors. On a closed registry, and where all pools are,
// the error is memory.ErrClosed.
func (r *Registry) Trim() error {
	if r.allClosed() {
		return memory.ErrClosed
	}
	r.owner.Touch()
	return r.join(func(p member) error {
		if p.Cap() == 0 {
			return nil
		}
		return p.Trim()
	})
}

// allClosed reports whether nothing is left to be had: no pool of some is open.
func (r *Registry) allClosed() bool {
	if r.closed || len(r.pools) == 0 {
		return r.closed
	}
	for _, p := range r.pools {
		if p.Cap() != 0 {
			return false
		}
	}
	return true
}

// Close closes every pool and joins their errors; where there are any the registry stays open,
// without objects, and Close may be called again. A closed registry registers nothing, and a
// second Close does nothing.
func (r *Registry) Close() error {
	if err := r.join(member.Close); err != nil {
		return err
	}
	r.closed = true
	return nil
}

// Check checks every pool and joins their errors.
func (r *Registry) Check() error {
	err := r.join(member.Check)
	if len(r.byType) != len(r.pools) {
		err = errors.Join(err, fmt.Errorf("pool: %d types have a pool, there are %d pools", len(r.byType), len(r.pools)))
	}
	for _, p := range r.pools {
		if r.closed && p.Cap() != 0 {
			err = errors.Join(err, fmt.Errorf("pool: the registry is closed, and pool %s is not", p.Name()))
		}
	}
	return err
}

func (r *Registry) join(f func(member) error) error {
	var errs []error
	for _, p := range r.pools {
		if err := f(p); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", p.Name(), err))
		}
	}
	return errors.Join(errs...)
}
