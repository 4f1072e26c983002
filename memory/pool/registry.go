package pool

import (
	"errors"
	"fmt"
	"iter"
	"reflect"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/save"
)

// A Registry has at most one pool for each type, and the common statistics of its pools. It visits the pools in the
// order of registration. A Registry belongs to one goroutine at a time. The zero Registry is empty and reserves from
// page.Default().
//
// [NewIn] and [FreeIn] look up the pool in a map. Code that runs for each entity should keep the *Pool that [Register]
// or [Of] returned. [Registry.Close] closes the pools. Reset and Trim skip a pool that is closed already, by a call of
// its Close or because its source has ended.
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
	SaveState(*save.Coder)
}

// ErrUnregistered means that a type has no pool in the registry.
var ErrUnregistered = errors.New("pool: type is not registered")

// NewRegistry returns an empty registry whose pools reserve from src. If src is nil, it is page.Default().
func NewRegistry(src page.Source) *Registry {
	return &Registry{src: src}
}

// Register makes the pool of T in r. Close of r closes the pool. If r is closed, the error is memory.ErrClosed. If T
// has a pool already, open or closed, the error wraps memory.ErrConfig. All other errors are those of [New]. If
// Register fails, nothing has changed.
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

// Of returns the pool of T and true. If T was not registered, Of returns nil and false. After Close of the registry,
// and if the source has ended, the pool is closed. Cost: a map lookup.
func Of[T any](r *Registry) (*Pool[T], bool) {
	p, ok := r.byType[reflect.TypeFor[T]()].(*Pool[T])
	return p, ok
}

// NewIn allocates a zeroed T in the pool of T. If T has a pool, NewIn returns the results of [Pool.New]. If T has none,
// NewIn fails: on a closed r the error is memory.ErrClosed, on an open r it wraps [ErrUnregistered].
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

// FreeIn frees the object of h in the pool of T and returns true. If h is stale or r is closed, FreeIn does nothing
// and returns false. A handle of another registry is stale. If r is open and T has no pool, FreeIn panics with a
// *memory.Misuse.
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

// Len returns the number of pools, closed ones included.
func (r *Registry) Len() int { return len(r.pools) }

// All returns an iterator over name and statistics of every pool, closed ones included, in the order of registration.
// The call does not allocate.
func (r *Registry) All() iter.Seq2[string, memory.Stats] {
	return func(yield func(string, memory.Stats) bool) {
		for _, p := range r.pools {
			if !yield(p.Name(), p.Stats()) {
				return
			}
		}
	}
}

// Stats returns the sum of the statistics of all pools, closed ones included. Peak is an upper bound. The call does
// not allocate.
func (r *Registry) Stats() memory.Stats {
	var sum memory.Stats
	for _, p := range r.pools {
		sum = sum.Add(p.Stats())
	}
	return sum
}

// Reset resets every pool that is open. Reset panics with a *memory.Misuse if the registry is closed. It also panics
// if the registry has pools and every pool is closed.
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

// Trim trims every pool that is open, and returns the errors, joined. If the registry is closed, the error is
// memory.ErrClosed. If the registry has pools and every pool is closed, the error is memory.ErrClosed, too.
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

// allClosed reports whether the registry is closed, or has pools and all of them are closed.
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

// Close closes every pool and returns the errors of the pools, joined. If Close fails, the registry stays open, and
// Close can be retried. A pool that failed stays open without objects; the other pools are closed. After a Close that
// succeeded, Close does nothing and returns nil.
func (r *Registry) Close() error {
	if err := r.join(member.Close); err != nil {
		return err
	}
	r.closed = true
	return nil
}

// Check returns the errors of every pool and of the registry, or nil.
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
