package ecs

import (
	"github.com/strata-go/strata/memory/save"
)

// The tables of a relation get other targets when they are used again. What finds them is saved, too. The transitions
// are not: a table that changes its targets by a load counts as retired, so that transitions to it are looked up again.

// saveTargets visits what changes when a table is retired and used again.
func (t *table) saveTargets(c *save.Coder) {
	now, idle, next, since := t.targets, t.idle, t.next, t.since
	for i := range now {
		save.Num(c, &now[i].index)
		save.Num(c, &now[i].gen)
	}
	save.Bool(c, &idle)
	save.Num(c, &next)
	save.Num(c, &since)
	if c.Loading() {
		t.become(now, idle, next, since)
	}
}

// become gives a table other targets. If they differ, transitions from and to the table are no longer valid.
func (t *table) become(now targets, idle bool, next uint32, since uint64) {
	if t.targets != now || t.idle != idle {
		t.byComponent, t.multi, t.retargeting = nil, nil, nil
		t.gen++
	}
	t.targets, t.idle, t.next, t.since = now, idle, next, since
}

// unnameVariants removes the tables with targets from the map.
func (s *store) unnameVariants() {
	for _, t := range s.tables {
		if t.variants != nil && !t.idle {
			delete(s.byKey, t.key())
		}
	}
}

// forgetTables drops all tables but the first, and all targets. No table has rows.
func (s *store) forgetTables() {
	s.unnameVariants()
	s.cutTables(1)
	s.forgetTargets()
}

// forgetTargets drops what finds tables by their targets. No table has a relation.
func (s *store) forgetTargets() {
	s.targetLists, s.spareLists, s.oldLists, s.nextSince = nil, nil, nil, 0
	for id := range s.relating.ids() {
		s.comps[id].targets = slotIndex{}
	}
}

// saveRelations visits what finds the tables by their targets. The state has the first n tables and these relations.
// Relations that were registered later have no table.
func (s *store) saveRelations(c *save.Coder, n int, relating mask) {
	save.Num(c, &s.nextSince)
	save.List(c, &s.spareLists)
	for _, k := range s.comps {
		if relating.has(k.id) {
			k.targets.saveState(c)
		} else if c.Loading() {
			k.targets = slotIndex{}
		}
	}
	s.saveLists(c, n)
	for i := range n {
		s.saveVariants(c, i, n)
	}
	if c.Loading() {
		s.nameVariants(n)
	}
}

func (x *slotIndex) saveState(c *save.Coder) {
	save.List(c, &x.pages)
	save.List(c, &x.dir)
}

// saveVariants visits the variants of table i, if it is the first of them.
func (s *store) saveVariants(c *save.Coder, i, n int) {
	f := new(variants)
	if i < len(s.tables) && s.tables[i].variants != nil {
		f = s.tables[i].variants
	}
	if !c.Flag(c.Saving() && len(f.tables) > 0 && f.tables[0].index == i) {
		return
	}
	c.EnterAt("variants", i)
	save.Num(c, &f.sweepIn)
	save.Num(c, &f.inMap)
	f.byTarget.saveState(c)
	f.idle = s.saveNumbers(c, f.idle, n)
	c.Leave()
}

// saveNumbers visits a list of tables by their numbers, which are below n.
func (s *store) saveNumbers(c *save.Coder, list []*table, n int) []*table {
	count := c.Count(len(list))
	if c.Loading() {
		list = list[:0]
	}
	for i := range count {
		number := 0
		if c.Saving() {
			number = list[i].index
		}
		if number = int(c.Word(uint64(number))); uint(number) >= uint(n) && !c.Failed() {
			c.Differs("table %d of %d", number, n)
			return list
		}
		if c.Loading() {
			list = append(list, s.tables[number])
		}
	}
	return list
}

// saveLists visits the lists of tables by target.
func (s *store) saveLists(c *save.Coder, count int) {
	n := c.Count(len(s.targetLists))
	if c.Loading() {
		for len(s.targetLists) < n {
			s.targetLists = append(s.targetLists, &targetTables{number: uint32(len(s.targetLists))})
		}
		s.targetLists = s.targetLists[:n]
	}
	var none targetTables
	for i := range n {
		list := &none
		if i < len(s.targetLists) {
			list = s.targetLists[i]
		}
		of, next := list.of, list.next
		save.Num(c, &of.id)
		save.Num(c, &of.target.index)
		save.Num(c, &of.target.gen)
		save.Num(c, &next)
		tables := s.saveNumbers(c, list.tables, count)
		if c.Loading() {
			*list = targetTables{tables: tables, of: of, number: uint32(i), next: next}
		}
	}
}

// nameVariants puts the tables and lists that no chain has into the maps.
func (s *store) nameVariants(n int) {
	for _, t := range s.tables[:n] {
		if t.variants == nil || t.idle {
			continue
		}
		i := t.variants.byTarget.at(t.targets[0].index)
		for i != 0 && s.tables[i-1] != t {
			i = s.tables[i-1].next
		}
		if i == 0 || len(t.variants.relations) != 1 {
			s.byKey[t.key()] = t
		}
	}
	clear(s.oldLists)
	for _, list := range s.targetLists {
		if (list.of == relationTarget{}) {
			continue
		}
		i := s.comps[list.of.id].targets.at(list.of.target.index)
		for i != 0 && s.targetLists[i-1] != list {
			i = s.targetLists[i-1].next
		}
		if i == 0 {
			if s.oldLists == nil {
				s.oldLists = make(map[relationTarget]*targetTables)
			}
			s.oldLists[list.of] = list
		}
	}
}
