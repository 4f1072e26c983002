package ecs

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

var (
	// ErrStale reports that an entity, or the target of a relation, is not alive.
	ErrStale = errors.New("ecs: entity is not alive")

	// ErrLimit is wrapped by errors about limits that more memory does not raise. There are three: Config.MaxEntities,
	// MaxComponents, and the 2,097,152 chunk numbers of a world. A chunk for up to 2048 rows takes one number. A larger
	// one takes a number for each 2048 rows, rounded up to 2, 4, 8, 16, 32 or 64 numbers. The error text names the limit
	// that was reached, and its value.
	ErrLimit = errors.New("ecs: limit reached")

	// ErrTooManyComponents reports that a world would have more than MaxComponents types. A tracked type counts as
	// two. ErrTooManyComponents wraps ErrLimit.
	ErrTooManyComponents = fmt.Errorf("ecs: a world holds at most 256 component types: %w", ErrLimit)
)

// Config sizes a World. A field that is zero selects its default; New refuses values out of range.
// All sizes are in bytes.
type Config struct {
	// ChunkBytes bounds the size of a row. A row with its Entity, pointer-free components, ticks and padding must fit a
	// block of ChunkBytes. ChunkBytes is a power of two from 1 KiB to 64 KiB. Default 16 KiB.
	ChunkBytes int

	// MaxChunkBytes is the largest block size: a power of two from ChunkBytes to 4 MiB. Default 256 times ChunkBytes,
	// but at most 4 MiB. If the allocator has blocks of one size only, such as a pool, set MaxChunkBytes to ChunkBytes,
	// and align the blocks to 64 bytes.
	//
	// An archetype takes the blocks below ChunkBytes first, see FirstChunkBytes. It then takes four blocks of
	// ChunkBytes, four that are four times as large, and so on. After these all blocks have MaxChunkBytes. If many
	// entities are created at once, the archetype may skip sizes. It takes a larger block early if these entities fill
	// at least half of it. For a block of at most four times ChunkBytes, a third is enough.
	//
	// A chunk has at most 131,072 rows. Columns of types with pointers are in the Go heap. Those of one chunk together
	// have at most 256 KiB. They also have at most as many bytes as the block that is next in the order above. A chunk of
	// one row may exceed these two bounds. If the bounds allow fewer rows than the block has space for, the chunk takes a
	// smaller block.
	MaxChunkBytes int

	// FirstChunkBytes is the size of the first block of an archetype: a power of two from 1 KiB to ChunkBytes. Default 1
	// KiB, or ChunkBytes if MaxChunkBytes equals ChunkBytes. An archetype has one block of each size below ChunkBytes;
	// each size is four times the one before. If a row does not fit the first block, the archetype begins with the next
	// size. With a [Relation], each combination of targets has blocks of its own: four of the first size, and eight of
	// each further size below ChunkBytes.
	FirstChunkBytes int

	// MaxEntities is the largest number of entities alive at once, from 1 to 1<<28. Default 1<<20. The first entity,
	// created or read, reserves 8 bytes of address space for each of MaxEntities. If the system refuses this, the world
	// reserves less, and fewer entities fit. If Pages is a page.Carve with fewer bytes left, no entity can be created, and
	// the error wraps memory.ErrOutOfMemory. Memory is committed for at least 4096 entities at a time.
	MaxEntities int

	// Pages is the page source of the entity index. If it is nil, page.Default is used. Pass the source of a
	// budget, such as a tier's, to charge the index to it.
	Pages page.Source
}

const (
	defaultChunkBytes  = 16 << 10
	defaultMaxEntities = 1 << 20
	minChunkBytes      = 1 << 10
	maxFirstBytes      = 64 << 10
	maxChunkBytes      = 32 * maxRows // 4 MiB

	// maxClasses is the number of sizes from minChunkBytes to maxChunkBytes in steps of four, plus one
	// because ChunkBytes may cut a step short.
	maxClasses = 8

	// chunkAlign is a cache line, so that no two chunks share one.
	chunkAlign = 64
)

func (c Config) withDefaults() (Config, error) {
	c.ChunkBytes = cmp.Or(c.ChunkBytes, defaultChunkBytes)
	c.MaxChunkBytes = cmp.Or(c.MaxChunkBytes, min(max(c.ChunkBytes, 0)*256, maxChunkBytes))
	if c.FirstChunkBytes == 0 {
		c.FirstChunkBytes = minChunkBytes
		if c.MaxChunkBytes == c.ChunkBytes {
			c.FirstChunkBytes = c.ChunkBytes
		}
	}
	c.MaxEntities = cmp.Or(c.MaxEntities, defaultMaxEntities)
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

// sizes returns the sizes of chunks in bytes, in ascending order, and the index of ChunkBytes.
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

// A World contains entities and their components. It belongs to one goroutine at a time and must not be
// copied.
//
// # Structural changes
//
// Structural changes create or remove entities, add or remove components, or change targets. Reset, Shrink, Close,
// ReadJSON and ReadBinary are structural changes, too. [World.Locked] lists when the world is locked, for example while
// a query is open. A structural change of a locked world panics with a [*memory.Misuse]. Use [World.Commands] instead:
// only its Spawn can create an entity in a locked world. Components of a locked world can be read and written; in a
// parallel run the rules of Parallel of [Filter1] apply.
//
// A loop over All or Chunks of a filter does not lock the world. A structural change in the body of the
// loop takes effect. If the loop goes on after the change, it panics with a [*memory.Misuse] at its next
// step. A call without effect counts as a change, such as removing a stale entity or a component that is not there.
//
// A save.Set that loads a state moves rows, too, so a loop that goes on panics in the same way. In a locked world such
// a load fails with an error: see [World.SaveState].
//
// Alloc and Free of the allocator must not change the world, for example in the callback of page.Limit.OnSoft. Such a
// change panics. Set a flag in the callback and check the flag between systems.
//
// # When the allocator is closed first
//
// Close the world before its allocator. If the allocator is closed first, the world closes itself. If the allocator has
// a Watch method, as described at page.Watched, the world closes itself at once, or at the end of a parallel run.
// Without a Watch method the world closes itself when Alloc returns [memory.ErrClosed]. Until then it accesses its
// blocks, which the allocator has freed: the program may end with a fault that cannot be recovered. Of the allocators
// of this module only the Blocks of package pool have a Watch method.
//
// If Config.Pages has a Watch method and is closed after the first entity was created, the world closes itself, too.
// Close then calls Alloc to find out whether the allocator is closed. If Alloc does not return memory.ErrClosed, Close
// frees the blocks of the world.
//
// In a closed World each structural change except Close, and each command, panics with a [*memory.Misuse].
// Each Entity is stale, queries are empty, and statistics count no entities and no chunks.
//
// # Several worlds
//
// An [Entity], an [ID] and a [Component] belong to the world that created them. If a filter or a Component
// is passed to a method or to the commands of another world, the call panics with a [*memory.Misuse]. An ID
// is only a number. Worlds number entities alike, so an Entity of another world usually names a different
// entity here. IDs and entities of another world are not detected.
//
// # Panics
//
// The world stays valid if code that it calls panics or calls [runtime.Goexit]. Such code is the allocator, an
// observer, the callback of a batch, a reader, a writer, and the body of a loop. Check returns nil, and no block is
// lost except one whose Free panicked. Blocks that still had to be freed are freed by a later structural change or by
// Close. If the body of a loop over a query panics, the query stays open: defer its Close, or call [World.EndQueries].
type World struct {
	noCopy      noCopy
	store       store
	guard       guard
	observers   observers
	commands    *Commands
	tree        []Entity             // buffer of RemoveTree
	eachFilters []*filter            // of loops over Each that have ended
	resources   map[reflect.Type]any // looked up by type, never iterated
	unwatch     func()               // stops watching the allocator
	serial      uint32               // number of the next batch, see Workers
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

// New creates an empty world. Pointer-free columns are in chunks. The world allocates them from mem, aligned to 64
// bytes, and Close frees them.
//
// The error wraps [memory.ErrConfig] if mem is nil. If a field of cfg is out of range, the error wraps
// [memory.ErrConfig] and names the field. If mem has a Watch method that returns nil, because mem was closed, the error
// wraps [memory.ErrClosed]. New does not allocate from mem or cfg.Pages. With another closed allocator New succeeds and
// the first entity fails.
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
	w.guard.onClosed, w.guard.onPagesEnd = w.allocatorClosed, w.closeItself
	w.store.guard, w.store.index.guard, w.observers.store = &w.guard, &w.guard, &w.store
	if _, err := w.store.tableFor(key{}); err != nil {
		return nil, err
	}
	if w.unwatch, err = watch(mem, w.guard.onClosed); err != nil {
		return nil, fmt.Errorf("ecs: New: %w", err)
	}
	return w, nil
}

// Close frees all chunks and the entity index. Pending commands are dropped, and observers are not called. Pointers
// into columns become invalid, every entity becomes stale, and later structural changes panic with a
// [*memory.Misuse]. If Config.Pages cannot release the index, Close returns the error of Config.Pages. Closing again
// retries this release and frees blocks that a panic of the allocator left. Close panics with a [*memory.Misuse] if
// the world is locked and not yet closed.
func (w *World) Close() error {
	if !w.guard.closed() {
		w.guard.mutable("Close")
		w.guard.locked = closedMark
		w.removeEverything()
	}
	w.store.freePending()
	w.store.freeLeft()
	w.unwatch()
	return w.store.index.close()
}

// Reset removes all entities, drops pending commands and frees all chunks. It calls the observers of removal. Every
// Entity becomes stale. Component types, archetypes, filters, observers, resources and the tick stay. Reset panics with
// a [*memory.Misuse] if the world is locked.
//
// A world after Reset is not like a new world. Slots keep their generations, so that an Entity from before stays stale.
// Archetypes keep their order, which is the order of iteration. So the same operations as in a new world can give other
// generations, another order and another [World.Hash]. If a run must repeat exactly, create a new world, or load a
// state that a save.Set saved before the first entity was created.
//
// Cost: a visit to each archetype and a free per chunk. Entities cost nothing, unless an observer watches removal.
func (w *World) Reset() {
	w.guard.mutable("Reset")
	if w.reset() != nil {
		w.guard.refuse("Reset")
	}
}

// reset is Reset. It returns an error if an observer closed the allocator.
func (w *World) reset() error {
	if w.observers.observed != 0 {
		for _, t := range w.store.tables {
			if err := w.observers.notifyRemovals(t, "Reset"); err != nil {
				return err
			}
		}
	}
	w.removeEverything()
	w.store.freePending()
	return nil
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

// Alive reports whether e is an entity of w that was created and not removed.
func (w *World) Alive(e Entity) bool { return w.store.index.find(e) != nil }

// Len returns the number of entities alive.
func (w *World) Len() int { return int(w.store.index.live) }

// Remove destroys e with all its components and returns true. It returns false if e is stale. The last row
// of the archetype moves to the row of e, so pointers to both rows become invalid. Remove is a structural
// change: it panics with a [*memory.Misuse] if the world is locked.
func (w *World) Remove(e Entity) bool {
	w.guard.mutable("Remove")
	alive, err := w.destroy("Remove", e)
	if err != nil {
		w.guard.refuse("Remove")
	}
	w.store.freePending()
	return alive
}

// destroy is Remove without freeing pending blocks, for op. It returns an error if an observer closed the allocator.
func (w *World) destroy(op string, e Entity) (alive bool, err error) {
	r := w.store.index.find(e)
	if r == nil {
		return false, nil
	}
	loc := r.loc
	if o := &w.observers; o.observed&(1<<removeEvent|1<<destroyEvent) != 0 {
		if o.observed&(1<<destroyEvent) != 0 || w.store.tableAt(loc).mask.any(&o.watched[removeEvent]) {
			if err := o.notifyRemoval(op, loc); err != nil {
				return false, err
			}
			loc = r.loc
		}
	}
	w.store.index.release(e.index, r)
	w.store.vacate(loc)
	return true, nil
}

// NewEntity creates an entity without components. The error wraps [ErrLimit], or the error of the allocator or of
// Config.Pages, such as [memory.ErrOutOfMemory]. On error NewEntity returns the zero Entity, and no entity has
// changed. Memory of the entity index may have been committed. NewEntity panics with a [*memory.Misuse] if the world
// is locked.
func (w *World) NewEntity() (Entity, error) {
	w.guard.mutable("NewEntity")
	e, loc, err := w.store.spawn(w.store.tables[0])
	if err == nil && w.observers.observed != 0 {
		return w.observers.notifyCreated(e, loc, mask{})
	}
	return e, err
}

// CopyEntity creates an entity with the components of e, copies of their values, and the same targets, stale ones
// included. If a value contains pointers or types of package container, both entities share the memory that these refer
// to. If e is stale, the error is [ErrStale]. Other errors are those of World.NewEntity. On error CopyEntity returns
// the zero Entity, and no entity has changed. CopyEntity panics with a [*memory.Misuse] if the world is locked.
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
		return w.observers.notifyCreated(twin, loc, t.mask)
	}
	return twin, nil
}

// spawn creates an entity in the next row of t. The cells are not initialized: the caller writes each.
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

// tableFor returns the table with exactly these components and targets. It creates the table if needed.
func (s *store) tableFor(k key) (*table, error) {
	if t := s.lookup(&k); t != nil {
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
	s.name(t)
	return t, nil
}

// enlist adds a new table.
func (a *archetypes) enlist(t *table) {
	t.index = len(a.tables)
	a.tables = append(a.tables, t)
	a.laid = len(a.tables) + a.skew
}

// names returns the names of the component types in m, in order of registration.
func names(m mask, comps []*component) (s []string) {
	for id := range m.ids() {
		s = append(s, comps[id].name)
	}
	return s
}
