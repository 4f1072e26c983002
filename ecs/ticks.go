package ecs

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// A Tick is a moment of a world, as [World.Tick] returned it. The zero Tick is before everything.
//
// A filter's ChangedSince compares with it what was written when. Ticks may run over: one that is more
// than 1<<31 ticks old, or that the world has not come to, counts as being 1<<31 ticks old, which at
// a thousand ticks a second are 24 days.
type Tick uint32

const (
	tickBytes = unsafe.Sizeof(Tick(0))

	// maxAge is the age, in ticks, at which all that is older looks the same.
	maxAge = 1 << 31

	// clampEvery is how many ticks pass until no stamp is left that is older than maxAge. One of
	// maxAge has come to 3<<30 then: ages never pass 32 bits.
	clampEvery = 1 << 30
)

// ticks are what a world knows of the times of writes.
//
// A component that is tracked has a companion, a component of its own that no mask of a table has and no
// user can name. Its column lies behind that of its owner, and holds for each row the stamp, the
// tick of the last write. So whatever moves a row takes the stamps along, and only who writes
// a component has to note it.
//
// Invariants, verified in this order by check:
//
//	(1) tracked has the components with a companion, hidden has the companions
//	(2) observed says whether anything is tracked
//	(3) less than clampEvery ticks have passed since clamped, and the lower half of tick is not 0
//	(4) the stamps of rows are no newer than tick, and were not older than maxAge when it was clamped
type clock struct {
	tick    uint64 // the present one; its lower half is the Tick
	clamped uint64 // the one at which no stamp was older than maxAge
}

// Tick returns the present tick and begins the next one: whatever is written from now on is newer
// than what it returned. A system keeps what it returned when it had looked, and asks for what changed
// since the next time. It panics with a [*memory.Misuse] in a pass and in a world that is closed.
//
// Cost: an addition, and once in 1<<30 ticks a look at each stamp.
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

// clamp makes stamps that are older than maxAge as old as that.
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

// age returns how many ticks ago t was. Of a Tick that is to come it is more than maxAge.
func (k *clock) age(t Tick) uint32 { return uint32(k.tick) - uint32(t) }

// ageSince returns the age below which stamps are newer than t.
func (k *clock) ageSince(t Tick) uint32 {
	if t == 0 {
		return ^uint32(0) // no stamp is so old
	}
	return min(k.age(t), maxAge)
}

// Track has the world note, for each entity, when it was last given these components or they were written,
// from now on: for ChangedSince of filters. It is called behind Register, before any entity has one of
// them. Tracking again does nothing. Types of all kinds can be tracked, also empty ones and relations.
//
// Written means that the component came with a creation or a copy, by Add, Exchange, a batch or a
// command, or was there and was given another value by one of these or by Set, or another target. Writes
// through pointers and columns, as Get, Ptr, All, Chunks, queries and passes hand out, nobody sees: there
// Writes of the filter or Touch say so.
//
// It costs 4 bytes an entity and component, which [World.Column] shows on a line of their own, and a
// store with each write. What is not tracked costs nothing.
//
// The error says which component an archetype has already, or wraps [ErrTooManyComponents], where a
// component that is tracked counts as two, or [memory.ErrTooLarge]; nothing has changed then. It panics
// with a [*memory.Misuse] for an ID that w does not know or that is named twice, in a pass, while w is
// written or read as JSON, and in a world that is closed.
func (w *World) Track(ids ...ID) error {
	w.guard.mustBeOpen("Track")
	if w.guard.texts > 0 { // what is read so far has columns without the ticks
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
			return fmt.Errorf("ecs: component %s of %d bytes and the ticks of it do not fit a chunk of %d; raise Config.ChunkBytes: %w",
				c.name, c.size, w.store.sizes[w.store.first], memory.ErrTooLarge)
		}
	}
	for _, t := range w.store.tables {
		if had := t.mask.and(fresh); !had.empty() {
			return fmt.Errorf("ecs: an archetype has component %s already; track it before any entity has it", names(had, w.store.comps)[0])
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

// stamps returns those of component id of n entities from loc on, which are all in one chunk.
func (s *store) stamps(loc uint32, n int, id ID) []Tick {
	return cellsOf[Tick](s, loc, s.comps[id].ticks.id, n)
}

// stampRows notes that the components in m of n entities, at least one, from loc on are written now.
func (s *store) stampRows(loc uint32, n int, m mask) {
	for id := range m.and(s.tracked).ids() {
		stamps := s.stamps(loc, n, id)
		stamps[0] = Tick(s.tick)
		for done := 1; done < n; done *= 2 { // a third of the time of a loop over a thousand
			copy(stamps[done:], stamps[:done])
		}
	}
}

// stampSpan is note for the rows of a batch.
func (s *store) stampSpan(rows span, m mask) {
	for loc, n := rows.next(); n > 0; loc, n = rows.next() {
		s.stampRows(loc, n, m)
	}
}

// stampTable is note for all rows of t.
func (s *store) stampTable(t *table, m mask) {
	for i := range t.used() {
		s.stampRows(t.chunks[i].number<<rowBits, t.rowsIn(i), m)
	}
}

// Touch notes that the component of e is written now, for one who writes it through a pointer; false
// when e is stale or has none. Where the component is not tracked it does nothing else. It is nobody's
// event.
func (c Component[T]) Touch(e Entity) bool { return c.w.TouchID(e, c.ID()) }

// TouchID is Component.Touch for a component that is known by its ID.
func (w *World) TouchID(e Entity, id ID) bool {
	if !w.HasID(e, id) {
		return false
	}
	w.store.stampRows(w.store.index.find(e).loc, 1, maskBit(id))
	return true
}
