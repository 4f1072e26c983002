package ecs

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

var (
	// ErrStale says that the entity is not alive.
	ErrStale = errors.New("ecs: entity is not alive")

	// ErrLimit is wrapped by every error that reports a limit which more memory does not raise. The
	// error names the limit and its number: Config.MaxEntities, MaxComponents, or the 2,097,152
	// numbers of chunks that a world has.
	ErrLimit = errors.New("ecs: limit reached")

	// ErrTooManyComponents says that the world has MaxComponents types already. It wraps ErrLimit.
	ErrTooManyComponents = fmt.Errorf("ecs: a world holds at most 256 component types: %w", ErrLimit)
)

// Config sizes a World. The zero Config means the defaults.
type Config struct {
	// ChunkBytes is the size of block that every row must fit, and of which an archetype takes four
	// after its first small ones: a power of two from 1 KiB to 64 KiB. Default 16 KiB.
	ChunkBytes int

	// MaxChunkBytes is the size at which blocks stop growing: an archetype takes four of
	// ChunkBytes, four of four times as much, and so on, and then blocks of this size. A batch
	// skips a size if it fills at least half of the next one, or a third up to four times
	// ChunkBytes. A power of two from ChunkBytes to 4 MiB. Default 256 times ChunkBytes, at most
	// 4 MiB. Set it to ChunkBytes if the allocator has blocks of one size, as a pool.
	//
	// A chunk has at most 131,072 rows, and its columns in the Go heap take at most the bytes of
	// a block of its size, or one row. Its own block is then smaller.
	MaxChunkBytes int

	// FirstChunkBytes is the size of the first block of an archetype, after which it takes one of
	// each size in steps of four up to ChunkBytes. An archetype of entities with a [Relation], of
	// which there is one for each target, takes four of each. A power of two from 1 KiB to
	// ChunkBytes; a row that does not fit begins with the next size. Default 1 KiB, and ChunkBytes
	// if MaxChunkBytes is no larger.
	FirstChunkBytes int

	// MaxEntities is the largest number of entities alive at once, from 1 to 1<<28.
	// Default 1<<20. It costs 8 bytes of address space per entity, from the first one on, and
	// 8 bytes of memory per entity once they are used.
	MaxEntities int

	// Pages is where the index of entities lies; nil means page.Default. Name the source of a
	// budget, as that of a tier, for the index to count there.
	Pages page.Source
}

const (
	defaultChunkBytes  = 16 << 10
	defaultMaxEntities = 1 << 20
	minChunkBytes      = 1 << 10
	maxFirstBytes      = 64 << 10
	maxChunkBytes      = 32 * maxRows // 4 MiB

	// maxClasses is the number of sizes from minChunkBytes to maxChunkBytes by steps of four,
	// of which one may be cut short by ChunkBytes.
	maxClasses = 8

	// chunkAlign is one cache line, so that no two chunks share one.
	chunkAlign = 64
)

func (c Config) withDefaults() (Config, error) {
	if c.ChunkBytes == 0 {
		c.ChunkBytes = defaultChunkBytes
	}
	if c.MaxChunkBytes == 0 {
		c.MaxChunkBytes = min(max(c.ChunkBytes, 0)*256, maxChunkBytes)
	}
	if c.FirstChunkBytes == 0 {
		c.FirstChunkBytes = minChunkBytes
		if c.MaxChunkBytes == c.ChunkBytes {
			c.FirstChunkBytes = c.ChunkBytes
		}
	}
	if c.MaxEntities == 0 {
		c.MaxEntities = defaultMaxEntities
	}
	if c.ChunkBytes < minChunkBytes || c.ChunkBytes > maxFirstBytes || c.ChunkBytes&(c.ChunkBytes-1) != 0 {
		return c, fmt.Errorf("ecs: Config.ChunkBytes is %d; it must be a power of two from %d to %d",
			c.ChunkBytes, minChunkBytes, maxFirstBytes)
	}
	if c.MaxChunkBytes < c.ChunkBytes || c.MaxChunkBytes > maxChunkBytes || c.MaxChunkBytes&(c.MaxChunkBytes-1) != 0 {
		return c, fmt.Errorf("ecs: Config.MaxChunkBytes is %d; it must be a power of two from ChunkBytes, %d, to %d",
			c.MaxChunkBytes, c.ChunkBytes, maxChunkBytes)
	}
	if c.FirstChunkBytes < minChunkBytes || c.FirstChunkBytes > c.ChunkBytes || c.FirstChunkBytes&(c.FirstChunkBytes-1) != 0 {
		return c, fmt.Errorf("ecs: Config.FirstChunkBytes is %d; it must be a power of two from %d to ChunkBytes, %d",
			c.FirstChunkBytes, minChunkBytes, c.ChunkBytes)
	}
	if c.MaxEntities < 1 || c.MaxEntities > maxMaxEntities {
		return c, fmt.Errorf("ecs: Config.MaxEntities is %d; it must be from 1 to %d", c.MaxEntities, maxMaxEntities)
	}
	return c, nil
}

// sizes returns the sizes of chunks, in bytes, the smallest first, and the place of ChunkBytes.
func (c Config) sizes() (s []uintptr, first int) {
	for size := c.FirstChunkBytes; size < c.ChunkBytes; size *= 4 {
		s = append(s, uintptr(size))
	}
	first = len(s)
	for size := c.ChunkBytes; size < c.MaxChunkBytes; size *= 4 {
		s = append(s, uintptr(size))
	}
	return append(s, uintptr(c.MaxChunkBytes)), first
}

// A World holds entities and their components. It belongs to one goroutine at a time, and
// must not be copied.
//
// While a query is open, a batch is filled or an [Observer] is told, the world is locked: creating, removing
// and every other structural change panics with a [*memory.Misuse], because it would move
// rows under the query. Use [World.Commands] there. A loop over All or Chunks of a filter locks
// nothing: a structural change in its body is carried out, and the loop panics with a
// [*memory.Misuse] at its next step, unless it is left before. Reading and writing components is always
// allowed. The allocator must not change the world from within Alloc or Free, as a callback
// at a soft mark might: that panics, too. Let it set a flag, and look at it between systems.
//
// When the allocator ends first the world closes itself, and touches no block any more: at
// once where the allocator has a Watch method, as page.Watched says, and otherwise as soon as
// its Alloc says [memory.ErrClosed]. Until then it cannot know; close the world first.
//
// What a closed World does: every structural call and every command panics with a
// [*memory.Misuse], every Entity is stale, queries are empty, the figures are those of an
// empty world.
//
// An [Entity], an [ID] and a [Component] belong to the world that made them. A filter, a
// mapper or a component that is used with another one panics; an ID is just a number. Worlds
// number their entities alike, so an Entity of another world is mostly alive here and names another
// entity. This is not detected: do not mix them.
//
// A panic out of the allocator, an observer, the callback of a batch or the loop over a query
// leaves the books in order (Check says nil) and loses no block: what was still to be
// freed goes back with the next structural change, Shrink or Close. A loop over All or Chunks
// that is left by a panic leaves nothing behind; a loop over a query leaves it open: defer its
// Close, or call [World.EndQueries].
type World struct {
	noCopy    noCopy
	store     store
	guard     guard
	observers observers
	commands  *Commands
	tree      []Entity             // buffer of RemoveTree
	resources map[reflect.Type]any // looked up by type, never iterated
	unwatch   func()               // stops watching the allocator
}

// A store is everything that a world contains: entities, component types, archetypes and their chunks.
type store struct {
	index entityIndex
	directory
	archetypes
	registry
	clock
	guard *guard // of the world
	cfg   Config
}

// New makes an empty world whose pointer-free columns live in chunks from mem, to which it
// gives every chunk back by Close at the latest.
//
// The error wraps [memory.ErrConfig]: mem is nil, or it names the field of cfg that is out of range.
// New itself asks mem and cfg.Pages for nothing.
func New(mem memory.Allocator, cfg Config) (*World, error) {
	if mem == nil {
		return nil, fmt.Errorf("ecs: New without an allocator: %w", memory.ErrConfig)
	}
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, memory.ErrConfig)
	}
	w := &World{store: store{
		index:      newEntityIndex(cfg),
		directory:  newDirectory(mem, cfg),
		archetypes: archetypes{byKey: make(map[key]*table)},
		registry:   registry{byType: make(map[reflect.Type]*component)},
		clock:      clock{tick: 1, clamped: 1},
		cfg:        cfg,
	}}
	w.guard.onClosed = w.allocatorClosed
	w.store.guard, w.store.index.guard, w.observers.store = &w.guard, &w.guard, &w.store
	if _, err := w.store.tableFor(key{}); err != nil {
		return nil, err
	}
	w.unwatch = watch(mem, w.guard.onClosed)
	return w, nil
}

// Close gives every chunk back to the allocator. Pointers into columns become invalid,
// every entity becomes stale, and structural calls panic with a [*memory.Misuse]. Closing
// again gives back what a panic of the allocator left over, mostly nothing. The error is that
// of Config.Pages, which could not take the index back; Close can be tried again.
func (w *World) Close() error {
	if !w.guard.closed() {
		w.guard.mutable("Close")
		w.guard.locked = closedMark
		w.removeEverything()
	}
	w.store.freePending()
	w.unwatch()
	return w.store.index.close()
}

// Reset removes all entities, drops pending commands and gives every chunk back to the
// allocator. Component types, archetypes, filters and resources stay. Entities from before
// stay stale. Cost: a free per chunk, nothing per entity, unless removal is observed.
func (w *World) Reset() {
	w.guard.mutable("Reset")
	if w.observers.observed != 0 {
		for _, t := range w.store.tables {
			w.observers.notifyRemovals(t, "Reset")
		}
	}
	w.removeEverything()
	w.store.freePending()
}

func (w *World) removeEverything() {
	if w.commands != nil {
		w.commands.clear()
	}
	w.store.index.reset()
	for _, t := range w.store.tables {
		w.store.dropChunks(t, 0)
	}
}

// Alive reports whether e names an entity that exists.
func (w *World) Alive(e Entity) bool { return w.store.index.find(e) != nil }

// Len returns the number of entities.
func (w *World) Len() int { return int(w.store.index.live) }

// Remove destroys e with all its components and reports whether it was alive. The last row
// of its archetype moves into the row that became free.
func (w *World) Remove(e Entity) bool {
	w.guard.mutable("Remove")
	alive := w.destroy(e)
	w.store.freePending()
	return alive
}

// destroy is Remove for a caller who settles.
func (w *World) destroy(e Entity) bool {
	r := w.store.index.find(e)
	if r == nil {
		return false
	}
	if w.observers.observed != 0 {
		w.observers.notifyRemoval(r.loc)
	}
	loc := r.loc
	w.store.index.release(e.index, r)
	w.store.vacate(loc)
	return true
}

// NewEntity creates an entity without components.
func (w *World) NewEntity() (Entity, error) {
	w.guard.mutable("NewEntity")
	e, loc, err := w.store.spawn(w.store.tables[0])
	if err == nil && w.observers.observed != 0 {
		w.observers.notifyCreated(loc, 1, mask{})
	}
	return e, err
}

// CopyEntity creates an entity with the components of e and their values; what those point at, the
// two share. The error is [ErrStale], or wraps [memory.ErrOutOfMemory] or [ErrLimit]; nothing has changed then.
func (w *World) CopyEntity(e Entity) (Entity, error) {
	w.guard.mutable("CopyEntity")
	r := w.store.index.find(e)
	if r == nil {
		return Entity{}, ErrStale
	}
	from := r.loc
	t := w.store.tableAt(from)
	twin, loc, err := w.store.spawn(t)
	if err != nil {
		return Entity{}, err
	}
	for i := range t.columns {
		id, size := t.columns[i].comp.id, uintptr(t.columns[i].size)
		copyRow(w.store.cell(loc, id, size), w.store.cell(from, id, size), size)
	}
	for i := range t.heap {
		comp := t.heap[i].comp
		comp.copyCells(w.store.cell(loc, comp.id, comp.size), w.store.cell(from, comp.id, comp.size), 1)
	}
	if w.observers.observed != 0 {
		w.observers.notifyCreated(loc, 1, t.mask)
	}
	return twin, nil
}

// spawn creates an entity in the next row of t, whose cells hold old bytes: the caller
// writes every one.
func (s *store) spawn(t *table) (Entity, uint32, error) {
	if s.index.live >= s.index.usable {
		return Entity{}, 0, s.index.full
	}
	if !s.index.ready() {
		if err := s.index.reserveSlots(1); err != nil {
			return Entity{}, 0, err
		}
	}
	if t.tailN == t.limit {
		if err := s.grow(t); err != nil {
			return Entity{}, 0, err
		}
	}
	row := t.tailN
	t.tailN++
	loc := t.tailLoc + row
	e := s.index.take(loc)
	*entityAt(t.tailBase, row) = e
	return e, loc, nil
}

// tableFor returns the table with exactly these components and targets, making it when it is new.
func (s *store) tableFor(k key) (*table, error) {
	if t := s.byKey[k]; t != nil {
		return t, nil
	}
	if k.mask.any(&s.relating) {
		return s.variantTable(k)
	}
	t, err := newTable(k.mask, s.comps, &s.directory, false)
	if err != nil {
		return nil, err
	}
	s.enlist(t)
	s.byKey[k] = t
	return t, nil
}

// enlist numbers a new table.
func (a *archetypes) enlist(t *table) {
	t.index = len(a.tables)
	a.tables = append(a.tables, t)
}

// names lists the component types of a mask, in order of registration.
func names(m mask, comps []*component) (s []string) {
	for id := range m.ids() {
		s = append(s, comps[id].name)
	}
	return s
}
