package ecs

import (
	"errors"
	"slices"
	"testing"

	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// kindred is a world in which every book of relations has something to say: a kin with idle tables,
// one with two relations, dead targets with rows, edges of every kind, commands that wait.
func kindred(t *testing.T) (w *World, child Relation[childOf], ps []Entity) {
	w, _ = newTestWorld(t, Config{ChunkBytes: 1024})
	child = mustRelation[childOf](t, w)
	like := mustRelation[likes](t, w)
	m := NewMap2[position, childOf](w)
	ps = newEntities(t, w, 3)
	for range sweepAfter + 4 {
		p := must[Entity](t)(w.NewEntity())
		e := must[Entity](t)(m.To(child.ID(), p).NewEntity(position{}, childOf{}))
		w.Remove(p)
		w.Remove(e)
	}
	for i, p := range ps {
		if err := m.To(child.ID(), p).NewBatch(30+i, nil); err != nil {
			t.Fatal(err)
		}
	}
	es := entities(w, NewFilter1[position](w).To(child.ID(), ps[0]))
	for i, e := range es[:4] {
		err := like.Add(e, likes{1}, ps[i%2])
		_, retargets := child.SetTarget(e, ps[2])
		if err := errors.Join(err, retargets, NewMap2[velocity, burning](w).Add(e, velocity{}, burning{}), mustRegisterTest[health](t, w).Add(e, health{})); err != nil {
			t.Fatal(err)
		}
	}
	w.Remove(ps[1])
	AddRelation(w.Commands(), child, es[5], childOf{}, ps[0])
	SetTargetOf(w.Commands(), like, es[1], ps[2])
	return w, child, ps
}

func TestCheck_EndsWhateverTheBooksOfRelationsHold(t *testing.T) {
	testenv.Long(t)
	w, child, ps := kindred(t)
	if len(w.store.variants) < 3 || len(w.store.variants[mask{1 | 1<<2}].idle) == 0 {
		t.Fatalf("%d kins", len(w.store.variants))
	}
	var edges []*transition
	var kins []*variants
	for _, t := range w.store.tables {
		edges = append(append(append(edges, t.byComponent...), t.multi...), t.retargeting...)
		if t.variants != nil && !slices.Contains(kins, t.variants) {
			kins = append(kins, t.variants)
		}
	}
	var lists []*targetTables
	for _, l := range []relationTarget{{child.ID(), ps[0]}, {child.ID(), ps[2]}} {
		lists = append(lists, w.store.tablesOf(l))
	}
	tables := w.store.tables
	if n := memtest.EveryNthBit(t, testenv.Step(12), w.Check, &tables, &edges, &kins, &lists, &w.store.relating, &w.store.epoch, &w.store.nextSince); n.Integers < 300 || n.Named < n.Flipped/2 { // generations, sweeps and credit may be any
		t.Errorf("%+v", n)
	}
	f := NewFilter1[position](w).To(child.ID(), ps[0])
	f.Len()
	if n := memtest.EveryNthBit(t, testenv.Step(4), f.Check, f); n.Named < tried(n, 300) {
		t.Errorf("%+v", n)
	}
}

func TestCheck_NamesEachInvariantOfRelations(t *testing.T) {
	w, child, ps := kindred(t)
	home := w.store.lookup(&key{mask{1 | 1<<2}, targets{ps[0]}})
	other := w.store.lookup(&key{mask{1 | 1<<2}, targets{ps[2]}})
	f := home.variants
	list := w.store.tablesOf(relationTarget{child.ID(), ps[0]})
	plain := w.store.tables[0]
	idle := f.idle[0]
	var turn *transition
	var from, near *table
	for _, t := range w.store.tables {
		if len(t.retargeting) > 0 && t.retargeting[0].gen == t.retargeting[0].to.gen {
			turn, from = t.retargeting[0], t
		}
		for _, e := range t.byComponent {
			if e != nil && t.variants != nil && e.to.variants != nil && e.gen == e.to.gen {
				near = t
			}
		}
	}
	if turn == nil || near == nil {
		t.Fatal("no such edges")
	}
	for _, c := range []fault{
		{"relations", "of 6 component types", set(&w.store.relating, w.store.relating.with(maskBit(200)))},
		{"directory 5", "from class 1, Config says", set(&w.store.first, 1)},
		{"table 1 first", "from class 3 to 4, not", set(&home.first, 3)},
		{"table 1 last", "from class 0 to 3, not", set(&home.last, 3)},
		{"kin 1 none", "it is not of the kin of its mask", set(&home.variants, nil)},
		{"kin 1 plain", "it has targets and no relation", set(&plain.variants, f)},
		{"kin 1 plain targets", "it has targets and no relation", set(&plain.targets[0], ps[0])},
		{"kin 2 tables", "tables, not", set(&f.tables, f.tables[1:])},
		{"kin 2 relations", "tables, not", set(&f.relations, []ID{1})},
		{"kin 2 lost", "it is not of the kin of its mask", set(&w.store.variants, map[mask]*variants{})},
		{"kin 2 of nothing", "kins of", func() func() {
			w.store.variants[mask{1}] = f
			return func() { delete(w.store.variants, mask{1}) }
		}},
		{"kin 3 idle", "its kin says otherwise", set(&home.idle, true)},
		{"kin 3 not idle", "its kin says otherwise", set(&idle.idle, false)},
		{"kin 3 twice", "or is so twice", set(&f.idle, append(slices.Clone(f.idle), idle))},
		{"kin 3 targets", "idle, with 0 chunks", set(&idle.targets[0], ps[0])},
		{"kin 3 edges", "idle, with 0 chunks", set(&idle.multi, []*transition{turn})},
		{"kin 4 lost", "not its", set(&list.tables, nil)},
		{"kin 4 another", "not its", set(&list.tables, append(slices.Clone(list.tables), other))},
		{"kin 4 targets", "variants: number 1 of slot 1 is", set(&home.targets[0], ps[2])},
		{"kin 4 of no relation", "target 3 is of no relation", set(&home.targets[3], ps[2])},
		{"kin 1 since", "it has targets and no relation", set(&plain.since, 1)},
		{"kin 3 since", "idle, with 0 chunks", set(&idle.since, 1)},
		{"kin 4 since", "its tables are not in order", set(&home.since, w.store.nextSince)},
		{"kin 4 order", "its tables are not in order", set(&list.tables[0].since, list.tables[len(list.tables)-1].since+1)},
		{"kin 4 no lists", "lists are found of", set(&child.comp.targets, slotIndex{})},
		{"kin 4 list range", "lists: number 1 of slot 15 is 99 of", set(&child.comp.targets.pages[1][15], 99)},
		{"kin 4 list chain", "lists: number 5 of slot", set(&list.next, list.number+1)},
		{"kin 4 list page", "lists: a page of slots is out of range", set(&child.comp.targets.dir[0], 99)},
		{"kin 4 list number", "it has number 77", set(&list.number, 77)},
		{"kin 4 list of another", "not its 3 tables", set(&list.of.id, 1)},
		{"kin 4 list waits", "and waits: true", set(&w.store.spareLists, append(slices.Clone(w.store.spareLists), list.number))},
		{"kin 4 list waits out of range", "lists are found of", set(&w.store.spareLists, append(slices.Clone(w.store.spareLists), 77))},
		{"kin 4 lists of no relation", "it is no relation, and has", set(&w.store.comps[2].targets, child.comp.targets)},
		{"kin 4 old list", "lists are found of", set(&w.store.oldLists, map[relationTarget]*targetTables{{child.ID(), Entity{77, 1}}: list})},
		{"kin 5 none", "not where its mask", set(&f.byTarget, slotIndex{})},
		{"kin 5 map", "1 in the map and", set(&f.inMap, 1)},
		{"kin 5 range", "variants: number 1 of slot 15 is 99 of", set(&f.byTarget.pages[1][15], 99)},
		{"kin 5 chain", "variants: number 5 of slot", set(&home.next, uint32(home.index)+1)},
		{"kin 5 page", "variants: a page of slots is out of range", set(&f.byTarget.dir[0], 99)},
		{"kin 5 slot", "or of another slot", set(&f.byTarget.pages[1][15], uint32(home.index)+1)},
		{"kin 5 several", "with 2 relations", set(&w.store.variants[mask{1 | 1<<1 | 1<<2}].byTarget, f.byTarget)},
		{"edge 2", "turns to no other target", set(&turn.to, from)},
		{"edge 2 two", "two turns", set(&from.retargeting, append(slices.Clone(from.retargeting), turn))},
		{"command 1 relation", "kind 3 of component 2", set(&w.commands.ops[0].id, 2)},
		{"command 1 turn", "kind 4 of component 2", set(&w.commands.ops[1].id, 2)},
	} {
		c.test(t, w.Check)
	}
	g := NewFilter1[position](w).To(child.ID(), ps[0])
	g.Len()
	for _, c := range []fault{
		{"filter 3 seen", "filter: 3 archetypes seen, 1 targets", set(&g.filter.seen, 3)},
		{"filter 3 targets", "archetypes seen, 9 targets", set(&g.filter.targets.n, 9)},
		{"filter 3 relation", "filter: target 0 is of component 2", set(&g.filter.targets.list[0].id, 2)},
		{"filter 3 matches", "filter: 0 matches, not", set(&g.filter.matches, nil)},
		{"filter 3 listed", "of the tables of target", set(&g.filter.listed, 99)},
		{"filter 3 list", "of the tables of target", set(&g.filter.list, w.store.tablesOf(relationTarget{child.ID(), ps[2]}))},
		{"filter 3 epoch", "of no tables match, in epoch", set(&g.filter.epoch, w.store.epoch+1)},
	} {
		c.test(t, g.Check)
	}
}

// relationLife uses everything that moves rows between targets. step runs one operation until it is done.
func relationLife(t *testing.T, w *World, step stepper) {
	child, like := mustRelation[childOf](t, w), mustRelation[likes](t, w)
	m, f := NewMap2[position, childOf](w), NewFilter1[position](w)
	ps := newEntitiesBy(w, 3, step)
	for i, p := range ps {
		step("NewBatch", func() error { return m.To(child.ID(), p).NewBatch(60+i, nil) })
	}
	es := entities(w, f.To(child.ID(), ps[0]))
	step("Add", func() error { return like.Add(es[0], likes{1}, ps[1]) })
	step("SetTarget", func() error { _, err := child.SetTarget(es[0], ps[2]); return err })
	step("SetTarget of many", func() error { _, err := child.SetTargetAll(f.To(child.ID(), ps[1]), ps[0]); return err })
	if n := f.To(child.ID(), ps[0]).Len(); n != 120 || f.To(child.ID(), ps[1]).Len() != 0 {
		t.Fatalf("%d of the first, %d of the second", n, f.Len())
	}
	step("AddAll", func() error {
		_, err := NewMap2[childOf, velocity](w).To(child.ID(), ps[1]).AddAll(f.To(child.ID(), ps[0]), childOf{}, velocity{})
		return err
	})
	if n := f.To(child.ID(), ps[1]).Len(); n != 120 {
		t.Fatalf("%d of the second", n)
	}
	cmd := w.Commands()
	AddRelation(cmd, like, es[1], likes{7}, ps[0])
	SetTargetOf(cmd, child, es[1], ps[2])
	step("Apply", cmd.Apply)
	step("Remove", func() error { w.Remove(ps[1]); return nil })
	if at, ok := like.Target(es[1]); !ok || at != ps[0] {
		t.Fatalf("%v", at)
	}
	for range 2 * sweepAfter { // tables are retired and used again
		var p Entity
		step("NewEntity", func() (err error) { p, err = w.NewEntity(); return })
		step("NewEntity", func() error { _, err := m.To(child.ID(), p).NewEntity(position{}, childOf{}); return err })
		step("RemoveTree", func() error { child.RemoveTree(p); return nil })
	}
	step("RemoveTree", func() error { child.RemoveTree(ps[2]); return nil })
	step("Remove of a relation", func() error { _, err := child.Remove(es[0]); return err })
	step("RemoveAll", func() error { w.RemoveAll(f.ToAny()); return nil })
}

func newEntitiesBy(w *World, n int, step stepper) (es []Entity) {
	for range n {
		step("NewEntity", func() error {
			e, err := w.NewEntity()
			if err == nil {
				es = append(es, e)
			}
			return err
		})
	}
	return es
}

func TestRelations_OutOfMemoryChangesNothing(t *testing.T) {
	for _, persist := range []bool{false, true} {
		n := everyRefusal(t, Config{ChunkBytes: 1024, MaxChunkBytes: 1024}, persist, func(w *World, step stepper) { relationLife(t, w, step) })
		if n < 5 {
			t.Errorf("only %d requests failed", n)
		}
	}
}

func TestRelations_SurviveAnAllocatorThatPanics(t *testing.T) {
	testenv.Long(t)
	for _, inFree := range []bool{false, true} {
		n := everyPanic(t, Config{ChunkBytes: 1024}, inFree, func(w *World, step stepper) { relationLife(t, w, step) })
		if n < 10 {
			t.Errorf("inFree %v: only %d panics", inFree, n)
		}
	}
}
