package ecs

import (
	"cmp"
	"slices"
)

// variants verifies the invariants of variants.
func (c *checker) variants(w *World) {
	of := make(map[mask][]*table)
	ways := make(map[relationTarget][]*table)
	idle := make(map[*table]*variants)
	for _, f := range w.store.variants {
		for _, t := range f.idle {
			idle[t] = f
		}
	}
	for i, t := range w.store.tables {
		if !t.mask.any(&w.store.relating) {
			c.that(t.variants == nil && !t.idle && t.targets == targets{} && t.gen == 0 && t.since == 0, "table %d: it has targets and no relation", i) // (1)
			continue
		}
		f := w.store.variants[t.mask]
		if !c.that(f != nil && t.variants == f, "table %d: it is not of the kin of its mask", i) {
			continue
		}
		of[t.mask] = append(of[t.mask], t)
		c.that(t.idle == (idle[t] == f), "table %d: idle %v, its kin says otherwise", i, t.idle) // (3)
		if t.idle {
			c.that(t.targets == targets{} && t.since == 0 && len(t.chunks) == 0 && len(t.byComponent)+len(t.multi)+len(t.retargeting) == 0, "table %d: idle, with %d chunks", i, len(t.chunks))
			continue
		}
		for n, id := range f.relations[:min(len(f.relations), MaxRelations)] {
			l := relationTarget{id, t.targets[n]}
			ways[l] = append(ways[l], t)
		}
		for n := len(f.relations); n < MaxRelations; n++ {
			c.that(t.targets[n] == Entity{}, "table %d: target %d is of no relation", i, n)
		}
	}
	for m, tables := range of {
		f := w.store.variants[m]
		ids := slices.Collect(m.and(w.store.relating).ids())
		c.that(slices.Equal(f.tables, tables) && slices.Equal(f.relations, ids) && len(ids) <= MaxRelations, "kin %v: %d tables, not %d", m, len(f.tables), len(tables)) // (2)
		for i, t := range f.idle {
			c.that(t.idle && t.variants == f && idle[t] == f, "kin %v: idle table %d is not, or is so twice", m, i)
			delete(idle, t)
		}
	}
	c.that(len(of) == len(w.store.variants), "%d kins of %d masks", len(w.store.variants), len(of))
	if !c.targetLists(&w.store) {
		return
	}
	for l, tables := range ways { // (4)
		if !c.that(int(l.id) < len(w.store.comps), "relation %d of %d component types has targets", l.id, len(w.store.comps)) {
			continue
		}
		list := w.store.tablesOf(l)
		c.that(list != nil && sameTables(list.tables, tables) && list.swept <= w.store.epoch, "relation %d to %v: not its %d tables", l.id, l.target, len(tables))
		if list != nil && len(list.tables) > 0 {
			last := list.tables[len(list.tables)-1]
			c.that(slices.IsSortedFunc(list.tables, bySince) && last.since < w.store.nextSince, "relation %d to %v: its tables are not in order", l.id, l.target)
		}
	}
	lists := len(w.store.targetLists) - len(w.store.spareLists)
	c.that(len(ways) == lists, "%d lists in use for %d targets", lists, len(ways))
}

// chains verifies those of a slotIndex, and returns how many numbers they have and whether they can be walked.
func (c *checker) chains(what string, x *slotIndex, most int, slotOf, next func(n uint32) uint32) (met int, sound bool) {
	sound = true
	ok := x.all(func(slot, n uint32) {
		for length := 0; n != 0 && sound; n = next(n) {
			met++
			length++
			sound = c.that(length <= perSlot && uint64(n) <= uint64(most) && slotOf(n) == slot, "%s: number %d of slot %d is %d of %d, or of another slot", what, length, slot, n, most)
			if !sound {
				return
			}
		}
	})
	return met, c.that(ok, "%s: a page of slots is out of range", what) && sound
}

// byTarget verifies invariant (5) of variants, and returns the number of tables in chains and whether tables can be
// looked up.
func (c *checker) byTarget(s *store) (found int, sound bool) {
	sound = true
	for m, f := range s.variants {
		n, ok := c.chains("variants", &f.byTarget, len(s.tables), func(n uint32) uint32 { return s.tables[n-1].targets[0].index }, func(n uint32) uint32 { return s.tables[n-1].next })
		c.that((n == 0 || len(f.relations) == 1) && n+f.inMap == len(f.tables)-len(f.idle), "variants %v: of %d tables %d are in chains, %d in the map and %d are idle, with %d relations", m, len(f.tables), n, f.inMap, len(f.idle), len(f.relations))
		found += n
		sound = sound && ok
	}
	return found, sound
}

// targetLists verifies that each list in use is found, and that the others wait. It reports whether lists can be
// looked up.
func (c *checker) targetLists(s *store) bool {
	found, sound := 0, true
	for i, k := range s.comps {
		n, ok := c.chains("lists", &k.targets, len(s.targetLists), func(n uint32) uint32 { return s.targetLists[n-1].of.target.index }, func(n uint32) uint32 { return s.targetLists[n-1].next })
		c.that(n == 0 || s.relating.has(ID(i)), "component %d: it is no relation, and has %d lists", i, n)
		found += n
		sound = sound && ok
	}
	if !sound {
		return false
	}
	spare := make(map[uint32]bool)
	for _, number := range s.spareLists {
		spare[number] = true
	}
	for i, list := range s.targetLists {
		waits := spare[uint32(i)]
		c.that(int64(list.number) == int64(i) && waits == (len(list.tables) == 0) && waits == (list.of == relationTarget{}), "list %d: it has number %d, %d tables of relation %d to %v, and waits: %v",
			i, list.number, len(list.tables), list.of.id, list.of.target, waits)
	}
	waiting := len(spare)
	c.that(found+len(s.oldLists) == len(s.targetLists)-waiting && waiting == len(s.spareLists), "%d and %d lists are found of %d, of which %d wait", found, len(s.oldLists), len(s.targetLists), len(s.spareLists))
	return true
}

// bySince orders tables by when they got their targets.
func bySince(a, b *table) int { return cmp.Compare(a.since, b.since) }

// sameTables reports whether a, in any order, is b, in which none is twice.
func sameTables(a, b []*table) bool {
	if len(a) != len(b) {
		return false
	}
	in := make(map[*table]bool, len(b))
	for _, t := range b {
		in[t] = true
	}
	for _, t := range a {
		if !in[t] {
			return false
		}
		delete(in, t)
	}
	return true
}
