package pool

import (
	"errors"
	"fmt"
	"iter"
	"reflect"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

// A Registry holds a pool per type, so that a new Enemy comes from the pool of enemies and
// the books of all of them are found in one place. Pools are visited in the order of their
// registration. One goroutine at a time.
type Registry struct {
	src    page.Source
	pools  []member
	byType map[reflect.Type]member
	closed bool
}

// A member is a Pool[T] without its type.
type member interface {
	Name() string
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
	return &Registry{src: src, byType: make(map[reflect.Type]member)}
}

// Register makes the pool of T in r, which closes it. The error is New's, memory.ErrClosed, or
// says that T has a pool already; nothing has changed then.
func Register[T any](r *Registry, cfg Config) (*Pool[T], error) {
	if r.closed {
		return nil, memory.ErrClosed
	}
	t := reflect.TypeFor[T]()
	if old, ok := r.byType[t]; ok {
		return nil, fmt.Errorf("pool: register %s: it has a pool already, named %q", t, old.Name())
	}
	p, err := New[T](r.src, cfg)
	if err != nil {
		return nil, err
	}
	r.pools = append(r.pools, p)
	r.byType[t] = p
	return p, nil
}

// Of returns the pool of T. Cost: a map lookup; per-entity code keeps the *Pool instead.
func Of[T any](r *Registry) (*Pool[T], bool) {
	p, ok := r.byType[reflect.TypeFor[T]()].(*Pool[T])
	return p, ok
}

// NewIn begins a zeroed T in its pool. The error is [Pool.New]'s, or wraps [ErrUnregistered]:
// a pool is made by [Register] only, when the game loads, and not by the first use in a frame.
func NewIn[T any](r *Registry) (memory.Handle[T], *T, error) {
	p, ok := Of[T](r)
	if !ok {
		return memory.Handle[T]{}, nil, fmt.Errorf("%w: %s: call Register first", ErrUnregistered, reflect.TypeFor[T]())
	}
	return p.New()
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

// Reset resets every pool. On a closed registry it panics with a *memory.Misuse.
func (r *Registry) Reset() {
	if r.closed {
		panic(&memory.Misuse{Package: "pool", Op: "Reset", Reason: "the registry is closed"})
	}
	for _, p := range r.pools {
		p.Reset()
	}
}

// Trim trims every pool and joins their errors.
func (r *Registry) Trim() error {
	if r.closed {
		return memory.ErrClosed
	}
	return r.join(member.Trim)
}

// Close closes every pool and joins their errors; where there are any it may be called again.
// A closed registry registers nothing.
func (r *Registry) Close() error {
	r.closed = true
	return r.join(member.Close)
}

// Check checks every pool and joins their errors.
func (r *Registry) Check() error { return r.join(member.Check) }

func (r *Registry) join(f func(member) error) error {
	var errs []error
	for _, p := range r.pools {
		if err := f(p); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", p.Name(), err))
		}
	}
	return errors.Join(errs...)
}
