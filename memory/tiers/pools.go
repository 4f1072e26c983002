package tiers

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/save"
)

// A Pool is a member of the pools tier, such as a [pool.Pool]. The manager calls its methods on the game goroutine:
// Reset at EndLevel, Reset and then Close at Close, and Stats at any time. Stats must change nothing. No other
// goroutine may use a registered pool, for example to load a level: it would race with the Stats of a meter or an
// overlay in each frame. If the Pool is also a memory.Checker, Manager.Check calls its Check.
type Pool interface {
	Stats() memory.Stats
	Reset()
	Close() error
}

// A poolEntry is a registration.
type poolEntry struct {
	name  string
	pool  Pool
	reset func() // nil: it keeps its objects when the level ends
	tag   *Tag   // that it counts for, or nil

	number  uint64 // of the registration, from 1; loading restores it for later pools, as that of a saved.HookID
	serial  uint64 // of the registration, from 1, so that a load finds out that it is another
	ended   uint64 // the poolsTier.ending in which it was reset last
	traced  traced // by the recorder
	atLevel stats  // when the level began or it was registered
	kept    stats  // after its last reset, or when it was registered
	touched uint64 // bytes that are taken to be resident, as of the last poolsTier.stats
}

// PoolSource returns the page source for pools, component columns and particle columns. It provides memory of the pools
// tier, within the tier's budget. Pass it to the constructor of a pool. Set the Capacity or the Reserve of the pool:
// without it most pools reserve 64 MiB, half of the tier's default Reserve. Then register the pool with AddPool. For a
// particles.System pass AddPool the result of its method Pool, as the example Manager of package particles does.
//
// If a pool is not registered, the statistics have only its committed bytes, and EndLevel does not reset it. Its memory
// is released with the manager. Before you close a registered pool yourself, call RemovePool: otherwise EndLevel fails.
// The memory of a closed pool returns to the budget, but its address space is never used again. So make pools once, and
// reset them. After Close the source fails with memory.ErrClosed.
func (m *Manager) PoolSource() page.Source { return m.limits[Pools] }

// NewPool makes a pool in the pools tier and registers it under the name of the pool, as [Manager.AddPool] does. If
// cfg.Capacity is 0, the pool may grow to an eighth of the tier's address space, but to at most 64 MiB. With the
// default Reserve that is 16 MiB. NewPool returns the error of [pool.New]. If m is nil, the error wraps
// memory.ErrConfig. While EndLevel or Close resets the pools, NewPool panics with a *memory.Misuse and makes no pool.
// Once Close has reset the pools, the error wraps memory.ErrClosed.
func NewPool[T any](m *Manager, cfg pool.Config) (*pool.Pool[T], error) {
	return newPool[T](m, nil, "NewPool", cfg)
}

// NewPoolIn is [NewPool] for a pool whose memory counts under the tag t. It panics with a *memory.Misuse if t is nil or
// zero.
func NewPoolIn[T any](t *Tag, cfg pool.Config) (*pool.Pool[T], error) {
	return newPool[T](t.of("NewPoolIn"), t, "NewPoolIn", cfg)
}

// newPool first checks whether the pool may be registered: the address space that it takes from the tier is not
// reused before the manager is closed.
func newPool[T any](m *Manager, t *Tag, op string, cfg pool.Config) (*pool.Pool[T], error) {
	switch {
	case m == nil:
		return nil, fmt.Errorf("tiers: new pool: the manager is nil: %w", memory.ErrConfig)
	case m.phase >= closing:
		return nil, fmt.Errorf("tiers: new pool: %w", memory.ErrClosed)
	}
	m.settled(op)
	if cfg.Capacity == 0 {
		cfg.Capacity = int(max(min(m.parts[Pools].Memory().Size/8, 64<<20)/max(unsafe.Sizeof(*new(T)), 1), 1))
	}
	p, err := pool.New[T](m.PoolSource(), cfg)
	if err != nil {
		return nil, err
	}
	m.addPool(t, p.Name(), p)
	return p, nil
}

// AddPool registers a pool that was built on PoolSource. The statistics of the tier then include the pool's statistics.
// EndLevel resets the pool, also if the pool was made before BeginLevel. Close resets and then closes the pool. A
// [Funcs] without ResetFunc is not reset. EndLevel and Close begin with the newest pool. EachPool and the leak report
// return the name. AddPool panics with a *memory.Misuse if the pool is nil, closed or already registered, while
// EndLevel or Close resets the pools, and once Close has reset them.
//
// A pool may have a method InUse() error. Manager.Close calls InUse before anything changes. If InUse returns an
// error, for example because of an open query, Close returns an error that wraps it, and changes nothing.
func (m *Manager) AddPool(name string, p Pool) { m.addPool(nil, name, p) }

// AddPool is [Manager.AddPool] for a pool whose memory counts under the tag while it is registered. It panics with a
// *memory.Misuse if t is nil or zero.
func (t *Tag) AddPool(name string, p Pool) { t.of("AddPool").addPool(t, name, p) }

func (m *Manager) addPool(t *Tag, name string, p Pool) {
	m.made("AddPool")
	if invariant.Nil(p) {
		panic(m.badPool(name, "the pool is nil"))
	}
	if closedPool(p) {
		panic(m.badPool(name, "the pool is closed"))
	}
	for _, e := range m.pools.all {
		if same(e.pool, p) {
			panic(m.badPool(name, fmt.Sprintf("the pool is registered already, as %q", e.name)))
		}
	}
	e := &poolEntry{name: name, pool: p, reset: p.Reset, tag: t}
	if f, ok := p.(*Funcs); ok {
		e.reset = f.ResetFunc
	}
	m.register(e)
}

// Funcs is a Pool whose methods call functions. Use Funcs for memory whose owner lacks the methods of a Pool, or for
// memory that must not be reset with the level. The zero Funcs has no bytes and does nothing. Register a pointer to the
// Funcs with AddPool. Each function may be nil.
type Funcs struct {
	StatsFunc func() memory.Stats // returns the statistics and must change nothing; if nil, they are zero
	// ResetFunc is called at EndLevel and Close. If ResetFunc is nil, the pool's contents outlive the level, and
	// EndLevel reports by how much the pool has grown. AddPool reads ResetFunc: a later change has no effect.
	ResetFunc func()
	CloseFunc func() error // called at Close, after ResetFunc
}

// Stats calls StatsFunc. If it is nil, Stats returns the zero Stats.
func (f *Funcs) Stats() (s memory.Stats) {
	if f.StatsFunc != nil {
		s = f.StatsFunc()
	}
	return s
}

// Reset calls ResetFunc, if it is not nil.
func (f *Funcs) Reset() {
	if f.ResetFunc != nil {
		f.ResetFunc()
	}
}

// Close calls CloseFunc and returns its error. If CloseFunc is nil, Close returns nil.
func (f *Funcs) Close() error {
	if f.CloseFunc == nil {
		return nil
	}
	return f.CloseFunc()
}

func (m *Manager) register(e *poolEntry) {
	if m.phase >= closing {
		panic(m.badPool(e.name, "the manager is closed"))
	}
	m.settled("AddPool")
	e.atLevel = e.read()
	e.kept = e.atLevel
	m.pools.registered++
	m.pools.serial++
	e.number, e.serial = m.pools.registered, m.pools.serial
	m.pools.all = append(m.pools.all, e)
}

// RemovePool unregisters a pool without resetting or closing it, for an owner who closes it before the manager. It
// reports whether the pool was registered. A pool whose type is not comparable is never found: register a pointer.
// While EndLevel or Close resets or closes pools, RemovePool of a registered pool panics with a *memory.Misuse.
func (m *Manager) RemovePool(p Pool) bool {
	for i := range m.pools.all {
		if same(m.pools.all[i].pool, p) {
			m.settled("RemovePool")
			m.recorder.dropped(m.pools.all[i])
			m.pools.all = append(m.pools.all[:i:i], m.pools.all[i+1:]...)
			return true
		}
	}
	return false
}

// settled panics while the pools are being reset or closed.
func (m *Manager) settled(op string) {
	if m.pools.busy {
		panic(&memory.Misuse{Package: "tiers", Op: op, Reason: "the pools are being reset or closed"})
	}
}

// same reports whether two registered values are one. Values that do not compare are not.
func same(a, b Pool) bool {
	return a != nil && b != nil && reflect.TypeOf(a).Comparable() && reflect.TypeOf(b).Comparable() && a == b
}

func (m *Manager) badPool(name, reason string) *memory.Misuse {
	return &memory.Misuse{Package: "tiers", Op: "AddPool", Reason: fmt.Sprintf("%q: %s", name, reason)}
}

// closedPool reports whether p is a pool of package pool that is closed: an open one has a slot.
func closedPool(p Pool) bool {
	s, ok := p.(interface {
		Cap() int
		Grow(n int) error
		SaveState(*save.Coder)
	})
	return ok && s.Cap() == 0
}

// open returns an error if the program has closed the pool.
func (p *poolEntry) open() error {
	if closedPool(p.pool) {
		return fmt.Errorf("pool %q was closed while registered; call RemovePool: %w", p.name, memory.ErrClosed)
	}
	return nil
}

func (p *poolEntry) read() stats { return p.pool.Stats() }
