package ecs

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

type childOf struct{}
type likes struct{ Much int32 }
type knows struct{ Name string }

func mustRelation[T any](t testing.TB, w *World) Relation[T] {
	t.Helper()
	r, err := RegisterRelation[T](w)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// met returns the entities of a filter's loop, which Len, EntityAt and Query agree with.
func met(t testing.TB, f *Filter1[position]) (es []Entity) {
	t.Helper()
	for e := range f.All() {
		if f.EntityAt(len(es)) != e {
			t.Errorf("EntityAt(%d) is not %v", len(es), e)
		}
		es = append(es, e)
	}
	q := f.Query()
	for n := 0; q.Next(); n++ {
		if q.Entity() != es[n] {
			t.Errorf("Query meets %v, not %v", q.Entity(), es[n])
		}
	}
	if f.Len() != len(es) || f.Check() != nil {
		t.Errorf("Len is %d of %d, %v", f.Len(), len(es), f.Check())
	}
	return es
}

func newEntities(t testing.TB, w *World, n int) (es []Entity) {
	for range n {
		es = append(es, must[Entity](t)(w.NewEntity()))
	}
	return es
}

func TestRelation_AFilterToATargetMeetsItsOwn(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	child := mustRelation[childOf](t, w)
	m, tag := NewMap1[position](w), mustRegisterTest[burning](t, w)
	parents := newEntities(t, w, 3)
	var want [3][]Entity
	for i := range 60 {
		e := must[Entity](t)(m.NewEntity(position{X: float32(i)}))
		if i%2 == 0 {
			if err := tag.Add(e, burning{}); err != nil {
				t.Fatal(err)
			}
		}
		if err := child.Add(e, childOf{}, parents[i%3]); err != nil {
			t.Fatal(err)
		}
		want[i%3] = append(want[i%3], e)
	}
	f := NewFilter1[position](w)
	for round := range 2 {
		for i, p := range parents {
			got := met(t, f.To(child.ID(), p))
			slices.SortFunc(got, func(a, b Entity) int { return int(a.index) - int(b.index) })
			if !slices.Equal(got, want[i]) {
				t.Errorf("round %d: of %v it meets %v, want %v", round, p, got, want[i])
			}
			if got := met(t, NewFilter1[position](w).With(tag.ID()).To(child.ID(), p)); len(got) != 10 {
				t.Errorf("%d of %v burn", len(got), p)
			}
			for _, e := range want[i] {
				if at, ok := child.Target(e); !ok || at != p {
					t.Errorf("the target of %v is %v", e, at)
				}
			}
		}
	}
	if n := len(met(t, f.ToAny())); n != 60 {
		t.Errorf("without a target it meets %d", n)
	}
	if n := testing.AllocsPerRun(50, func() {
		for _, p := range parents {
			for range f.To(child.ID(), p).All() {
			}
		}
	}); n != 0 {
		t.Errorf("another target costs %v allocations", n)
	}
}

func TestRelation_SetTargetMovesTheRowAndIsToldAsAWrite(t *testing.T) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
	like := mustRelation[likes](t, w)
	m := NewMap2[position, brain](w)
	ps := newEntities(t, w, 2)
	var said []string
	like.OnAdd(func(e Entity, v *likes) { at, _ := like.Target(e); said = append(said, "add "+at.String()) })
	like.OnSet(func(e Entity, v *likes) { at, _ := like.Target(e); said = append(said, "set "+at.String()) })
	like.OnRemove(func(e Entity, v *likes) { at, _ := like.Target(e); said = append(said, "remove "+at.String()) })
	e := must[Entity](t)(m.NewEntity(position{1, 2}, brain{Name: "b"}))
	for _, err := range []error{like.Add(e, likes{3}, ps[0]), like.Add(e, likes{4}, ps[0]), like.Add(e, likes{5}, ps[1])} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []Entity{ps[0], ps[0], ps[1]} {
		if ok, err := like.SetTarget(e, p); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	twin := must[Entity](t)(w.CopyEntity(e))
	if at, ok := like.Target(twin); !ok || at != ps[1] {
		t.Errorf("the twin's target is %v", at)
	}
	if _, err := like.Remove(e); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(said, "; "), "add #1.1; set #1.1; set #2.1; set #1.1; set #1.1; set #2.1; add #2.1; remove #2.1"; got != want {
		t.Errorf("told %q\nwant %q", got, want)
	}
	if ok, err := like.SetTarget(e, ps[0]); ok || err != nil {
		t.Errorf("SetTarget without the relation: %v, %v", ok, err)
	}
	for _, e := range []Entity{e, twin} {
		if p, b, ok := m.Get(e); !ok || *p != (position{1, 2}) || b.Name != "b" {
			t.Errorf("%v is %v, %v", e, p, b)
		}
	}
	if v, ok := like.Get(twin); !ok || v.Much != 5 {
		t.Errorf("%v", v)
	}
}

// TestRelation_ATargetThatDiesChangesNoRow holds the rule that is written at Relation.
func TestRelation_ATargetThatDiesChangesNoRow(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	child, like := mustRelation[childOf](t, w), mustRelation[likes](t, w)
	ps := newEntities(t, w, 2)
	e := must[Entity](t)(NewMap2[position, childOf](w).To(child.ID(), ps[0]).NewEntity(position{7, 7}, childOf{}))
	if err := like.Add(e, likes{9}, ps[1]); err != nil {
		t.Fatal(err)
	}
	at, _ := like.Get(e)
	f := NewFilter1[position](w).To(child.ID(), ps[0])
	if len(met(t, f)) != 1 {
		t.Error("not met before")
	}
	w.Remove(ps[0])
	if now, ok := like.Get(e); !ok || now != at {
		t.Error("the row has moved")
	}
	heir := must[Entity](t)(w.NewEntity()) // in the slot of the target
	if target, ok := child.Target(e); ok || !target.IsZero() || !child.Has(e) || heir.index != ps[0].index {
		t.Errorf("its target is %v", target)
	}
	if len(met(t, f)) != 0 || len(met(t, f.To(child.ID(), heir))) != 0 || len(met(t, f.ToAny())) != 1 {
		t.Error("a filter to the stale target meets it, or one to none does not")
	}
	if err := NewMap1[velocity](w).Add(e, velocity{}); err != nil { // it keeps the stale target
		t.Fatal(err)
	}
	if target, ok := like.Target(e); !ok || target != ps[1] || !child.Has(e) {
		t.Errorf("it likes %v", target)
	}
	if ok, err := child.SetTarget(e, heir); !ok || err != nil {
		t.Error(ok, err)
	}
	if target, ok := child.Target(e); !ok || target != heir || len(met(t, f.To(child.ID(), heir))) != 1 {
		t.Errorf("its new target is %v", target)
	}
	if err := w.Check(); err != nil {
		t.Error(err)
	}
}

func TestRemoveTree_TakesAllBelowAndNothingElse(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	child := mustRelation[childOf](t, w)
	alone := false
	w.OnRemove(func(e Entity) {
		if alone {
			return
		}
		for f := range NewFilter1[childOf](w).To(child.ID(), e).All() {
			t.Errorf("%v goes before %v, which relates to it", e, f)
		}
	})
	es := newEntities(t, w, 40)
	for i := range es[1:] {
		if err := child.Add(es[i+1], childOf{}, es[i/2]); err != nil { // a heap: children of i are 2i+1 and 2i+2
			t.Fatal(err)
		}
	}
	if n := child.RemoveTree(es[1]); n != 24 || w.Len() != 16 || w.Alive(es[1]) || w.Alive(es[3]) || !w.Alive(es[2]) || !w.Alive(es[0]) {
		t.Errorf("%d went, %d are left", n, w.Len())
	}
	alone = true
	w.Remove(es[2])
	alone = false
	if n := child.RemoveTree(es[2]); n != 14 || w.Len() != 1 { // of a stale one what is left below it
		t.Errorf("%d went, %d are left", n, w.Len())
	}
	ring := newEntities(t, w, 3)
	for i, e := range ring {
		if err := child.Add(e, childOf{}, ring[(i+1)%3]); err != nil {
			t.Fatal(err)
		}
	}
	alone = true // no order holds in a ring
	if n := child.RemoveTree(ring[1]); n != 3 || w.Len() != 1 || child.RemoveTree(ring[1]) != 0 || child.RemoveTree(Entity{}) != 0 {
		t.Errorf("%d of a ring", n)
	}
}

func TestRelation_BatchesTakeATarget(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	child := mustRelation[childOf](t, w)
	m, f := NewMap2[position, childOf](w), NewFilter1[position](w)
	ps := newEntities(t, w, 3)
	for i, p := range ps {
		if err := m.To(child.ID(), p).NewBatch(10+i, nil); err != nil {
			t.Fatal(err)
		}
	}
	told := 0
	child.OnSet(func(e Entity, _ *childOf) {
		if at, _ := child.Target(e); at == ps[1] {
			told++
		}
	})
	if n, err := child.SetTargetAll(f.To(child.ID(), ps[0]), ps[1]); n != 10 || err != nil || told != 10 {
		t.Errorf("%d, %v, told %d", n, err, told)
	}
	if n := len(met(t, f.To(child.ID(), ps[1]))); n != 21 {
		t.Errorf("%d", n)
	}
	told = 0
	if n, err := child.SetTargetAll(f.ToAny(), ps[1]); n != 33 || err != nil || told != 33 || len(met(t, f.To(child.ID(), ps[1]))) != 33 {
		t.Errorf("%d, %v, told %d", n, err, told)
	}
	bare, all := NewMap1[position](w), NewFilter1[position](w)
	if err := bare.NewBatch(5, nil); err != nil {
		t.Fatal(err)
	}
	give := NewMap2[childOf, velocity](w).To(child.ID(), ps[2])
	if n, err := give.AddAll(all, childOf{}, velocity{1, 1}); n != 38 || err != nil || len(met(t, f.To(child.ID(), ps[2]))) != 38 {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := NewMap1[health](w).Removes(give.mapper.ids[1]).ExchangeAll(f, health{}); n != 38 || err != nil || len(met(t, f)) != 38 {
		t.Errorf("%d, %v: the target stays", n, err)
	}
	if n, err := NewMap1[childOf](w).RemoveAll(f); n != 38 || err != nil || len(met(t, f)) != 0 || len(met(t, all)) != 38 {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := child.SetTargetAll(all, ps[0]); n != 0 || err != nil {
		t.Errorf("%d, %v of entities without the relation", n, err)
	}
}

func TestCommands_RelateAndTurn(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	child, know := mustRelation[childOf](t, w), mustRelation[knows](t, w)
	ps := newEntities(t, w, 3)
	es := newEntities(t, w, 4)
	cmd := w.Commands()
	AddRelation(cmd, child, es[0], childOf{}, ps[0])
	AddRelation(cmd, know, es[0], knows{"a"}, ps[1])
	SetTargetOf(cmd, child, es[0], ps[2])
	SetTargetOf(cmd, child, es[1], ps[0]) // which it has not
	AddRelation(cmd, know, es[2], knows{"b"}, ps[1])
	RemoveFrom(cmd, know.Component, es[2])
	AddRelation(cmd, know, es[2], knows{"c"}, ps[0])
	cmd.Destroy(ps[1])
	SetTargetOf(cmd, know, es[2], ps[1]) // stale by then
	AddRelation(cmd, know, es[3], knows{"d"}, ps[1])
	AddRelation(cmd, child, es[3], childOf{}, ps[0])
	AddRelation(cmd, know, es[2], knows{"e"}, ps[1])
	if err := cmd.Apply(); err != nil || cmd.Skipped() != 3 || w.Check() != nil {
		t.Fatal(err, cmd.Skipped(), w.Check())
	}
	if at, ok := child.Target(es[0]); !ok || at != ps[2] {
		t.Errorf("%v", at)
	}
	if _, ok := know.Target(es[0]); ok || !know.Has(es[0]) || child.Has(es[1]) || know.Has(es[3]) {
		t.Error("a command did what it should not")
	}
	if at, ok := know.Target(es[2]); !ok || at != ps[0] || (*must2(know.Get(es[2]))).Name != "c" {
		t.Errorf("%v", at)
	}
	if at, ok := child.Target(es[3]); !ok || at != ps[0] {
		t.Errorf("%v", at)
	}
	for want, f := range map[string]func(){
		"ecs.AddTo: relation ecs.childOf needs a target; use Relation.Add, AddRelation, or To of a mapper": func() { AddTo(cmd, child.Component, es[0], childOf{}) },
	} {
		if text := misuse(t, f); text != want {
			t.Error(text)
		}
	}
}

func TestRelation_MisuseAndStaleTargets(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	child := mustRelation[childOf](t, w)
	pos := mustRegisterTest[position](t, w)
	p, e := must[Entity](t)(w.NewEntity()), must[Entity](t)(NewMap1[position](w).NewEntity(position{}))
	dead := must[Entity](t)(w.NewEntity())
	w.Remove(dead)
	f, m := NewFilter1[position](w), NewMap2[position, childOf](w)
	const needs = ": relation ecs.childOf needs a target; use Relation.Add, AddRelation, or To of a mapper"
	for want, do := range map[string]func(){
		"ecs.NewEntity" + needs:                                    func() { m.NewEntity(position{}, childOf{}) },
		"ecs.Add" + needs:                                          func() { m.Add(e, position{}, childOf{}) },
		"ecs.AddAll" + needs:                                       func() { m.AddAll(f, position{}, childOf{}) },
		"ecs.Exchange" + needs:                                     func() { m.Exchange(e, position{}, childOf{}) },
		"ecs.To: component ecs.position is no relation":            func() { f.To(pos.ID(), p) },
		"ecs.To: the world does not have this component ID":        func() { f.To(200, p) },
		"ecs.To: relation ecs.childOf is not what the mapper adds": func() { NewMap1[velocity](w).To(child.ID(), p) },
		"ecs.To: a query over this filter is open; narrow a filter before its queries, or create another": func() {
			q := f.Query()
			defer q.Close()
			f.To(child.ID(), p)
		},
	} {
		if text := misuse(t, do); text != want {
			t.Errorf("%q, want %q", text, want)
		}
	}
	if text := misuse(t, func() { child.Component.Add(e, childOf{}) }); text != "ecs.Add"+needs {
		t.Error(text)
	}
	for _, target := range []Entity{dead, {}, MakeEntity(900_000, 1)} {
		m.To(child.ID(), target)
		_, created := m.NewEntity(position{}, childOf{})
		_, all := m.AddAll(f, position{}, childOf{})
		_, retargets := child.SetTargetAll(f, target)
		for op, err := range map[string]error{
			"Add": child.Add(e, childOf{}, target), "NewEntity": created, "NewBatch": m.NewBatch(3, nil), "Map.Add": m.Add(e, position{}, childOf{}),
			"Exchange": m.Exchange(e, position{}, childOf{}), "AddAll": all, "SetTargetAll": retargets,
		} {
			if !errors.Is(err, ErrStale) || err.Error() != "ecs: the target of a relation: ecs: entity is not alive" {
				t.Errorf("%s to %v: %v", op, target, err)
			}
		}
		if f.To(child.ID(), target).Len() != 0 || f.Check() != nil {
			t.Errorf("a filter to %v: %d, %v", target, f.Len(), f.Check())
		}
		f.ToAny()
	}
	if err := child.Add(dead, childOf{}, p); err != ErrStale {
		t.Error(err)
	}
	if err := child.Add(e, childOf{}, p); err != nil {
		t.Fatal(err)
	}
	if ok, err := child.SetTarget(e, dead); !ok || !errors.Is(err, ErrStale) {
		t.Error(ok, err)
	}
	if at, ok := child.Target(e); !ok || at != p || w.Len() != 2 {
		t.Errorf("%v, %d entities", at, w.Len())
	}
	if _, err := RegisterRelation[position](w); err == nil || err.Error() != "ecs: ecs.position is a component without a target; register it as a relation first" {
		t.Error(err)
	}
	if again := mustRelation[childOf](t, w); again != child {
		t.Error("a relation is registered twice")
	}
}

type (
	rel2 struct{}
	rel3 struct{}
)

func TestRelation_FourPerEntityAndNotOneMore(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	ids := []ID{mustRelation[likes](t, w).ID(), mustRelation[knows](t, w).ID(), mustRelation[rel2](t, w).ID(), mustRelation[rel3](t, w).ID()}
	ps := newEntities(t, w, 4)
	m := NewMap5[rel3, knows, likes, rel2, position](w)
	f := NewFilter1[position](w)
	for i, id := range ids {
		m.To(id, ps[i])
		f.To(id, ps[i])
	}
	e := must[Entity](t)(m.NewEntity(rel3{}, knows{}, likes{}, rel2{}, position{1, 1}))
	for i, id := range ids {
		if at, ok := w.store.targetOf(e, id); !ok || at != ps[i] {
			t.Errorf("relation %d is to %v", id, at)
		}
		if f.Len() != 1 || f.To(id, ps[(i+1)%4]).Len() != 0 || f.To(id, ps[i]).Len() != 1 || f.Check() != nil {
			t.Errorf("a filter to all four: %v", f.Check())
		}
	}
	fifth := mustRelation[childOf](t, w)
	const one = "an entity has at most 4 relations"
	before := w.Hash(0)
	for want, do := range map[string]func(){
		"ecs.Add: " + one: func() { fifth.Add(e, childOf{}, ps[0]) },
		"ecs.To: " + one:  func() { f.To(fifth.ID(), ps[0]) },
		"ecs.NewEntity: " + one: func() {
			m := newMapper(w, append(slices.Clone(ids), fifth.ID())...)
			for _, id := range m.ids[:5] {
				m.setTarget(id, ps[0])
			}
		},
	} {
		if text := misuse(t, do); text != want && !strings.HasSuffix(text, one) {
			t.Errorf("%q, want %q", text, want)
		}
	}
	if w.Hash(0) != before || w.Check() != nil || fifth.Has(e) {
		t.Errorf("the refused relation changed the world: %v", w.Check())
	}
}

// Archetypes that nobody is in any more match, and could not take what a batch adds.
func TestRelation_BatchesPassOverArchetypesWithoutEntities(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	ps := newEntities(t, w, 5)
	ids := []ID{mustRelation[likes](t, w).ID(), mustRelation[knows](t, w).ID(), mustRelation[rel2](t, w).ID(), mustRelation[rel3](t, w).ID()}
	four := NewMap5[rel3, knows, likes, rel2, position](w)
	for i, id := range ids {
		four.To(id, ps[i])
	}
	e := must[Entity](t)(four.NewEntity(rel3{}, knows{}, likes{}, rel2{}, position{}))
	one, with, f := mustRelation[childOf](t, w), mustRegisterTest[velocity](t, w), NewFilter1[position](w)
	fifth := NewMap1[childOf](w).To(one.ID(), ps[4])
	add := func() (n int) {
		n = must[int](t)(fifth.AddAll(f, childOf{}))
		return n + must[int](t)(fifth.Removes(with.ID()).ExchangeAll(f, childOf{}))
	}
	if text := misuse(t, func() { add() }); !strings.HasSuffix(text, "an entity has at most 4 relations") {
		t.Error(text)
	}
	w.Remove(e)
	if n := add(); n != 0 || w.Check() != nil {
		t.Errorf("%d entities were given a relation, %v", n, w.Check())
	}
	must[Entity](t)(NewMap1[position](w).NewEntity(position{}))
	if n := add(); n != 2 || w.Check() != nil {
		t.Errorf("%d entities were given a relation, not one by each call, %v", n, w.Check())
	}
}

func TestHash_KnowsTargets(t *testing.T) {
	seen := map[uint64]int{}
	for at := range 3 {
		w, _ := newTestWorld(t, Config{})
		child := mustRelation[childOf](t, w)
		ps := newEntities(t, w, 3)
		must[Entity](t)(NewMap1[childOf](w).To(child.ID(), ps[at]).NewEntity(childOf{}))
		seen[w.Hash(0)] = at
	}
	if len(seen) != 3 {
		t.Error("worlds with other targets hash the same")
	}
}
