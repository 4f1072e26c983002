package ecs

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// A Tick is a point in time of a world, as returned by [World.Tick]. The zero Tick is before all others.
//
// ChangedSince of a filter compares a Tick with the ticks of writes. Ticks wrap around after 1<<32. A Tick
// that is more than 1<<31 ticks old, or in the future, counts as 1<<31 ticks old. At a thousand ticks a
// second 1<<31 ticks are 24 days.
type Tick uint32

const (
	tickBytes = unsafe.Sizeof(Tick(0))

	// maxAge is the age in ticks from which on all ages are equal.
	maxAge = 1 << 31

	// clampEvery is the number of ticks after which all stamps older than maxAge are reset to that age.
	// By then a stamp of maxAge is at most 3<<30 ticks old, so ages never exceed 32 bits.
	clampEvery = 1 << 30
)

// A clock is the time of a world.
//
// A tracked component has a companion: a hidden component that is in no table's mask and has no ID for
// users. Its column follows that of its owner, and has a stamp per row, the tick of the last write. So
// all operations that move rows move the stamps, and only writes must update them.
//
// Invariants, verified in this order by check:
//
//	(1) registry.tracked has the components with a companion, registry.companions has the companions
//	(2) observers.observed has tracking if something is tracked
//	(3) fewer than clampEvery ticks have passed since clamped, and the lower half of tick is not 0
//	(4) stamps of rows are not newer than tick, and were not older than maxAge at clamped
type clock struct {
	tick    uint64 // the current tick; the lower half is the Tick
	clamped uint64 // the tick at which no stamp was older than maxAge
}

// Tick returns the current tick and starts the next one, so all later writes are newer than the result. A
// system stores the result after it has processed changes, and later passes it to ChangedSince. Tick panics
// with a [*memory.Misuse] in a parallel run and in a closed world.
//
// Cost: an addition, and a scan of all stamps once in 1<<30 ticks.
func (w *World) Tick() Tick {
	w.guard.mustBeOpen("Tick")
	now := Tick(w.store.tick)
	if w.store.tick++; Tick(w.store.tick) == 0 {
		w.store.tick++
	}
	if w.store.tick-w.store.clamped >= clampEvery {
		w.store.clamp()
	}
	return now
}

// clamp resets stamps that are older than maxAge to that age.
func (s *store) clamp() {
	s.clamped = s.tick
	for _, t := range s.tables {
		for id := range t.mask.and(s.tracked).ids() {
			for i := range t.used() {
				stamps := s.stamps(t.chunks[i].number<<rowBits, t.rowsIn(i), id)
				for row, stamp := range stamps {
					if s.age(stamp) > maxAge {
						stamps[row] = Tick(s.tick - maxAge)
					}
				}
			}
		}
	}
}

// age returns how many ticks ago t was, or more than maxAge for a Tick of the future.
func (k *clock) age(t Tick) uint32 { return uint32(k.tick) - uint32(t) }

// ageSince returns the age below which stamps are newer than t.
func (k *clock) ageSince(t Tick) uint32 {
	if t == 0 {
		return ^uint32(0) // no stamp is that old
	}
	return min(k.age(t), maxAge)
}

// Track makes the world record, for each entity, the tick of the last write of these components.
// ChangedSince of filters reads the ticks. Call Track after Register, before any entity has one of the
// components. Tracking a component again does nothing. Types of all kinds can be tracked, also empty types
// and relations.
//
// These operations count as writes:
//   - creating or copying an entity with the component, also by ReadJSON and ReadBinary,
//   - every operation that adds the component or overwrites its value, such as Add, Set and Apply,
//   - setting the target of the relation, even to the same target.
//
// Writes through pointers and columns from Get, Ptr, All, Chunks, queries and parallel runs are not
// detected. Declare them with Writes of the filter, or call Touch.
//
// Cost: 4 bytes per entity and component, which [World.Column] reports separately, and a store per write.
// Components that are not tracked cost a check per write.
//
// If the world has no [ID] left for the ticks, the error wraps [ErrTooManyComponents]. If a component and its ticks do
// not fit a chunk, the error wraps [memory.ErrTooLarge]. If an archetype has one of the components already, even
// without entities, the error names the component. On error nothing has changed.
//
// Track panics with a [*memory.Misuse] if the world does not have an ID, or if an ID is passed twice. It
// also panics in a parallel run, in a closed world, and during WriteJSON, ReadJSON, WriteBinary and ReadBinary.
func (w *World) Track(ids ...ID) error {
	w.guard.mustBeOpen("Track")
	if w.guard.texts > 0 { // rows read so far have no stamps
		w.guard.refuse("Track")
	}
	fresh := w.store.maskOf("Track", ids).without(w.store.tracked)
	n := len(w.store.comps)
	for id := range fresh.ids() {
		c := w.store.comps[id]
		if n++; n > MaxComponents {
			return fmt.Errorf("%w: cannot track %s", ErrTooManyComponents, c.name)
		}
		if !c.pointerful && columnAlign+alignUp(c.size)+tickBytes > w.store.sizes[w.store.first] {
			return fmt.Errorf("ecs: component %s of %d bytes and its ticks do not fit a chunk of %d; raise Config.ChunkBytes: %w",
				c.name, c.size, w.store.sizes[w.store.first], memory.ErrTooLarge)
		}
	}
	for _, t := range w.store.tables {
		if had := t.mask.and(fresh); !had.empty() {
			return fmt.Errorf("ecs: an archetype already has component %s; call Track before any entity has it", names(had, w.store.comps)[0])
		}
	}
	for id := range fresh.ids() {
		owner := w.store.comps[id]
		owner.ticks = &component{id: ID(len(w.store.comps)), size: tickBytes, name: "ticks of " + owner.name, owner: owner, addresses: make([]address, len(w.store.chunks))}
		w.store.comps = append(w.store.comps, owner.ticks)
		w.store.companions = w.store.companions.with(maskBit(owner.ticks.id))
	}
	w.store.widen(len(w.store.comps))
	if w.store.tracked = w.store.tracked.with(fresh); !w.store.tracked.empty() {
		w.observers.observed |= tracking
	}
	return nil
}

// stamps returns the stamps of component id for n entities from loc on, all in one chunk.
func (s *store) stamps(loc uint32, n int, id ID) []Tick {
	return cellsOf[Tick](s, loc, s.comps[id].ticks.id, n)
}

// stampRows records that the components in m of n > 0 entities from loc on are written now.
func (s *store) stampRows(loc uint32, n int, m mask) {
	for id := range m.and(s.tracked).ids() {
		stamps := s.stamps(loc, n, id)
		stamps[0] = Tick(s.tick)
		for done := 1; done < n; done *= 2 { // for a thousand rows a third of the time of a loop
			copy(stamps[done:], stamps[:done])
		}
	}
}

// stampSpan is stampRows for the rows of a batch.
func (s *store) stampSpan(rows span, m mask) {
	for loc, n := rows.next(); n > 0; loc, n = rows.next() {
		s.stampRows(loc, n, m)
	}
}

// stampTable is stampRows for all rows of t.
func (s *store) stampTable(t *table, m mask) {
	for i := range t.used() {
		s.stampRows(t.chunks[i].number<<rowBits, t.rowsIn(i), m)
	}
}

// Touch records that the component of e is written now, and returns true. Call Touch after a write through
// a pointer. It returns false if e is stale or does not have the component. If the component is not
// tracked, Touch records nothing and returns the same result. Observers are not called.
func (c Component[T]) Touch(e Entity) bool { return c.w.TouchID(e, c.ID()) }

// TouchID is Component.Touch for the component with this ID. It returns false if w does not have the ID.
func (w *World) TouchID(e Entity, id ID) bool {
	if !w.HasID(e, id) {
		return false
	}
	w.store.stampRows(w.store.index.find(e).loc, 1, maskBit(id))
	return true
}
