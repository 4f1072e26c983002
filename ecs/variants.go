package ecs

import (
	"fmt"
	"slices"

	"github.com/strata-go/strata/memory"
)

// MaxRelations is the largest number of relations that one entity can have at once.
const MaxRelations = 4

// targets are those of the relations in a mask, in order of registration; the rest is zero.
type targets [MaxRelations]Entity

// A key names a table: entities with the same components and the same targets are in one.
type key struct {
	mask    mask
	targets targets
}

// A relationTarget is the target that an operation gives to a relation.
type relationTarget struct {
	id     ID
	target Entity
}

// targetSet are at most one for each of the relations that an entity can have.
type targetSet struct {
	n    int
	list [MaxRelations]relationTarget
}

// set chooses the target of relation id.
func (p *targetSet) set(op string, id ID, target Entity) {
	for i := range p.n {
		if p.list[i].id == id {
			p.list[i].target = target
			return
		}
	}
	if p.n == MaxRelations {
		refuseRelations(op)
	}
	p.list[p.n] = relationTarget{id: id, target: target}
	p.n++
}

// drop forgets what was chosen for relation id.
func (p *targetSet) drop(id ID) {
	for i := range p.n {
		if p.list[i].id == id {
			p.n--
			p.list[i] = p.list[p.n]
			return
		}
	}
}

// find returns the target that was chosen for relation id.
func (p *targetSet) find(id ID) (Entity, bool) {
	for i := range p.n {
		if p.list[i].id == id {
			return p.list[i].target, true
		}
	}
	return Entity{}, false
}

// targetsAlive reports whether all targets are.
func (s *store) targetsAlive(p *targetSet) bool {
	for i := range p.n {
		if s.index.find(p.list[i].target) == nil {
			return false
		}
	}
	return true
}

func refuseRelations(op string) {
	panic(&memory.Misuse{Package: "ecs", Op: op, Reason: excessReason})
}

const excessReason = "an entity has at most 4 relations"

// full reports whether set would refuse relation id.
func (p *targetSet) full(id ID) bool {
	if p.n < MaxRelations {
		return false
	}
	_, ok := p.find(id)
	return !ok
}

// exceeds reports whether m has more relations than an entity can have.
func (r *registry) exceeds(m *mask) bool {
	if !m.any(&r.relating) {
		return false
	}
	n := 0
	for range m.and(r.relating).ids() {
		n++
	}
	return n > MaxRelations
}

// targetTables are the tables of one relation and target, in the order in which they became so.
type targetTables struct {
	tables []*table
	of     relationTarget
	number uint32 // in archetypes.targetLists
	next   uint32 // see slotted
	swept  uint64 // the epoch of the last sweep that looked through it
}

// A variants is the tables with the same components, of which some are relations: one for each
// combination of targets. Nothing is done about a table when its target is removed. When tables
// of a variants have come about as often as there are living ones, a sweep retires those without rows whose
// target is dead. They wait to be used for other targets. Where a variants has more tables than
// there are lists of targets, as one with two relations may, all without rows are retired. Otherwise each
// pair of targets would keep one. That bounds the tables of a variants by twice the lists, or those with
// rows where they are more, and some, at a constant cost per table.
//
// Invariants, verified in this order by check:
//
//	(1) every table has the variants of its mask, or nil where that has no relation
//	(2) tables are those of the variants, in order of creation; relations are those in their mask
//	(3) a table is idle if it is in idle of its variants, and only then; it has no row, no chunk, no edge and
//	    no since, and neither byTarget nor archetypes.byKey nor a list of a target leads to it
//	(4) every other one is once in the list of each of its targets, and no other tables are there; these
//	    are in the order of since, which is below archetypes.nextSince
//	(5) each of those is in a chain of byTarget, if there is one relation, or is one of inMap in archetypes.byKey
type variants struct {
	relations []ID
	tables    []*table
	idle      []*table
	sweepIn   int       // tables to come about before the next sweep
	byTarget  slotIndex // index in archetypes.tables + 1 of the table that got a target with that slot last
	inMap     int       // tables that are in archetypes.byKey
}

func newVariants(relations mask) *variants {
	return &variants{relations: slices.Collect(relations.ids()), sweepIn: sweepAfter}
}

// sweepAfter is how many tables come about between two sweeps where few are alive.
const sweepAfter = 8

// archetypes are the tables of a world.
type archetypes struct {
	tables      []*table       // in order of creation, which is the order of iteration
	byKey       map[key]*table // all except idle ones and those in byTarget of variants
	variants    map[mask]*variants
	targetLists []*targetTables                  // of all relations, found by component.targets or oldLists
	oldLists    map[relationTarget]*targetTables // those for which a chain has no place
	spareLists  []uint32                         // numbers of unused ones, for reuse
	laid        int                              // tables, and what loads have added so that filters look again: never returns to an earlier value
	skew        int                              // of laid: what loads have added
	epoch       uint64                           // counts sweeps that retired tables: cached tables from before may be wrong
	nextSince   uint64                           // counts tables that got targets
}

// target returns the target of relation id; false where the table does not have it.
func (t *table) target(id ID) (Entity, bool) {
	if t.variants != nil {
		for i, r := range t.variants.relations {
			if r == id {
				return t.targets[i&(MaxRelations-1)], true
			}
		}
	}
	return Entity{}, false
}

// keyAfter returns the key of entities of t, which may be nil, once they have the components in m
// and the targets in p, which may be nil. retargets says whether a relation gets a
// target that t does not have.
func (s *store) keyAfter(op string, t *table, m mask, p *targetSet) (k key, retargets bool) {
	k.mask = m
	if !m.any(&s.relating) {
		return k, false
	}
	n := 0
	for id := range m.and(s.relating).ids() {
		if n == MaxRelations {
			refuseRelations(op)
		}
		var was, target Entity
		had, given := false, false
		if t != nil {
			was, had = t.target(id)
		}
		if p != nil {
			target, given = p.find(id)
		}
		if !given {
			if !had {
				s.refuseNoTarget(op, id)
			}
			target = was
		}
		retargets = retargets || !had || was != target
		k.targets[n] = target
		n++
	}
	return k, retargets
}

func (r *registry) refuseNoTarget(op string, id ID) {
	panic(&memory.Misuse{Package: "ecs", Op: op, Reason: "relation " + r.comps[id].name + " needs a target; use Relation.Add, AddRelation, or To of a mapper"})
}

// key returns what names the table.
func (t *table) key() key { return key{mask: t.mask, targets: t.targets} }

// variantTable returns the table of a key with relations, which is new.
func (s *store) variantTable(k key) (*table, error) {
	f := s.variants[k.mask]
	if f == nil {
		f = newVariants(k.mask.and(s.relating))
	}
	if len(f.idle) == 0 && f.sweepIn <= 0 {
		s.sweep(f)
		if s.guard.closed() { // closed from within Free, and the records with it
			return nil, fmt.Errorf("ecs: the tables of a relation: %w", memory.ErrClosed)
		}
	}
	var t *table
	if n := len(f.idle); n > 0 {
		t = f.idle[n-1]
		f.idle = f.idle[:n-1]
		t.idle = false
	} else {
		if len(f.tables) > 0 {
			t = f.tables[0].sibling()
		} else {
			var err error
			if t, err = newTable(k.mask, s.comps, &s.directory, true); err != nil {
				return nil, err
			}
			s.variants[k.mask] = f
		}
		t.variants = f
		s.enlist(t)
		f.tables = append(f.tables, t)
	}
	f.sweepIn--
	t.targets = k.targets
	s.name(t)
	s.indexTargets(t)
	return t, nil
}

// indexTargets makes t the newest table of each of its targets.
func (s *store) indexTargets(t *table) {
	t.since = s.nextSince
	s.nextSince++
	for i, id := range t.variants.relations {
		s.addToTarget(relationTarget{id, t.targets[i&(MaxRelations-1)]}, t)
	}
}

// sibling returns an empty table with the same columns.
func (t *table) sibling() *table {
	return &table{mask: t.mask, columns: t.columns, heap: t.heap, caps: t.caps, first: t.first, last: t.last, step: t.step, rowBytes: t.rowBytes, heapBytes: t.heapBytes}
}

// sweep retires the tables of f that have no row and a dead target, or no row where there are too
// many. Those that came about first are used again first.
func (s *store) sweep(f *variants) {
	had := len(f.idle)
	crowded := len(f.tables)-had > len(s.targetLists)-len(s.spareLists)
	for i := len(f.tables) - 1; i >= 0; i-- {
		if t := f.tables[i]; !t.idle && t.tailN == 0 && (crowded || s.hasStaleTarget(t)) {
			s.unname(t)
			s.dropChunks(t, 0)
			t.byComponent, t.multi, t.retargeting = nil, nil, nil
			t.gen++
			t.idle = true
			f.idle = append(f.idle, t)
		}
	}
	f.sweepIn = len(f.tables) - len(f.idle) + sweepAfter
	if len(f.idle) == had {
		return
	}
	s.epoch++
	for _, t := range f.idle[had:] {
		for i, id := range f.relations {
			s.removeIdle(relationTarget{id, t.targets[i]})
		}
		t.targets, t.since = targets{}, 0
	}
	s.freePending()
}

// hasStaleTarget reports whether a target of t is dead.
func (s *store) hasStaleTarget(t *table) bool {
	for i := range t.variants.relations {
		if s.index.find(t.targets[i]) == nil {
			return true
		}
	}
	return false
}
