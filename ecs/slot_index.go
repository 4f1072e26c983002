package ecs

import "slices"

// A slotIndex maps slots of entities to numbers above 0, as a map would. Targets mostly have slots that are close to
// each other. Two loads find one in a cache line that the search before has loaded, and a removal leaves nothing that
// a later search must skip. With maps a world whose 20,000 targets were made again and again took twice as long.
type slotIndex struct {
	pages [][slotPage]uint32 // 0 says that a slot has none; the first page is that of no slot and stays 0
	dir   []uint32           // of slot / slotPage: its page, or 0
}

// slotPage is one cache line.
const slotPage = 16

// at returns the number of a slot, or 0.
func (x *slotIndex) at(slot uint32) uint32 {
	if i := slot / slotPage; uint(i) < uint(len(x.dir)) {
		return x.pages[x.dir[i]][slot%slotPage]
	}
	return 0
}

// set gives a slot a number; 0 takes it away.
func (x *slotIndex) set(slot, n uint32) {
	i := int(slot / slotPage)
	if i >= len(x.dir) {
		x.dir = append(x.dir, make([]uint32, i+1-len(x.dir))...)
	}
	if x.dir[i] == 0 {
		if len(x.pages) == 0 {
			x.pages = make([][slotPage]uint32, 1)
		}
		x.pages = append(x.pages, [slotPage]uint32{})
		x.dir[i] = uint32(len(x.pages) - 1)
	}
	x.pages[x.dir[i]][slot%slotPage] = n
}

// all calls f with every slot that has a number, and reports whether its pages can be found.
func (x *slotIndex) all(f func(slot, n uint32)) bool {
	for i, page := range x.dir {
		if uint64(page) >= uint64(len(x.pages)) {
			return false
		}
		for k, n := range x.pages[page] {
			if n != 0 {
				f(uint32(i)*slotPage+uint32(k), n)
			}
		}
	}
	return true
}

// perSlot is how many tables, or lists, of different targets that had the same slot a slotIndex leads to: those that
// came last. They form a chain. Older ones are in a map, so that a chain does not grow with the number of targets
// that are gone and whose entities are not.
const perSlot = 4

// slotted is what a slotIndex leads to: each has the number of the next in its chain, or 0.
type slotted interface{ nextInSlot() *uint32 }

func (t *table) nextInSlot() *uint32           { return &t.next }
func (list *targetTables) nextInSlot() *uint32 { return &list.next }

// push puts number n of all, counted from 1, at the front of the chain of a slot. It returns the number of the one
// that has no place there any more, or 0.
func push[T slotted](x *slotIndex, all []T, slot, n uint32) (old uint32) {
	*all[n-1].nextInSlot() = x.at(slot)
	x.set(slot, n)
	for range perSlot - 1 {
		if n = *all[n-1].nextInSlot(); n == 0 {
			return 0
		}
	}
	last := all[n-1].nextInSlot()
	old, *last = *last, 0
	return old
}

// pull takes number n of all out of the chain of a slot; false if it is not there.
func pull[T slotted](x *slotIndex, all []T, slot, n uint32) bool {
	own := all[n-1].nextInSlot()
	if i := x.at(slot); i == n {
		x.set(slot, *own)
	} else {
		for ; i != 0 && *all[i-1].nextInSlot() != n; i = *all[i-1].nextInSlot() {
		}
		if i == 0 {
			return false
		}
		*all[i-1].nextInSlot() = *own
	}
	*own = 0
	return true
}

// lookup returns the table that k names, or nil.
func (s *store) lookup(k *key) *table {
	if !k.mask.any(&s.relating) || s.draft {
		return s.byKey[*k]
	}
	f := s.variants[k.mask]
	if f == nil {
		return nil
	}
	for i := f.byTarget.at(k.targets[0].index); i != 0; i = s.tables[i-1].next {
		if s.tables[i-1].targets == k.targets {
			return s.tables[i-1]
		}
	}
	if f.inMap == 0 {
		return nil
	}
	return s.byKey[*k]
}

// sameKey returns the table with the key of t, or nil.
func (s *store) sameKey(t *table) *table {
	k := t.key()
	return s.lookup(&k)
}

// name has lookup find t, which has its components, targets, variants and index. The slots of a draft may be any.
func (s *store) name(t *table) {
	f := t.variants
	if f != nil && len(f.relations) == 1 && !s.draft {
		old := push(&f.byTarget, s.tables, t.targets[0].index, uint32(t.index)+1)
		if old == 0 {
			return
		}
		t = s.tables[old-1]
	}
	s.byKey[t.key()] = t
	if f != nil && !s.draft {
		f.inMap++
	}
}

// unname takes name back from a table with relations.
func (s *store) unname(t *table) {
	if !pull(&t.variants.byTarget, s.tables, t.targets[0].index, uint32(t.index)+1) {
		delete(s.byKey, t.key())
		t.variants.inMap--
	}
}

// tablesOf returns the list of a target, or nil.
func (s *store) tablesOf(l relationTarget) *targetTables {
	for i := s.comps[l.id].targets.at(l.target.index); i != 0; i = s.targetLists[i-1].next {
		if s.targetLists[i-1].of == l {
			return s.targetLists[i-1]
		}
	}
	return s.oldLists[l]
}

// addToTarget appends t to the list of a target.
func (s *store) addToTarget(l relationTarget, t *table) {
	list := s.tablesOf(l)
	if list == nil {
		list = s.newList(l)
	}
	list.tables = append(list.tables, t)
}

// newList returns an empty list for a target that has none.
func (s *store) newList(l relationTarget) (list *targetTables) {
	if n := len(s.spareLists); n > 0 {
		list = s.targetLists[s.spareLists[n-1]]
		s.spareLists = s.spareLists[:n-1]
	} else {
		list = &targetTables{number: uint32(len(s.targetLists))}
		s.targetLists = append(s.targetLists, list)
	}
	list.of = l
	if old := push(&s.comps[l.id].targets, s.targetLists, l.target.index, list.number+1); old != 0 {
		if s.oldLists == nil {
			s.oldLists = make(map[relationTarget]*targetTables)
		}
		s.oldLists[s.targetLists[old-1].of] = s.targetLists[old-1]
	}
	return list
}

// removeIdle takes the idle tables from the list of a target, all at once.
func (s *store) removeIdle(l relationTarget) {
	list := s.tablesOf(l)
	if list == nil || list.swept == s.epoch {
		return
	}
	list.swept = s.epoch
	if list.tables = slices.DeleteFunc(list.tables, func(t *table) bool { return t.idle }); len(list.tables) > 0 {
		return
	}
	if !pull(&s.comps[l.id].targets, s.targetLists, l.target.index, list.number+1) {
		delete(s.oldLists, l)
	}
	list.of = relationTarget{}
	s.spareLists = append(s.spareLists, list.number)
}
