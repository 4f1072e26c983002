package ecs

import (
	"errors"
	"slices"
	"testing"

	"github.com/strata-go/strata/memory"
	"pgregory.net/rapid"
)

// model is the world as maps: what an entity has, and nothing about where.
type model struct {
	w     *World
	mem   *testMemory
	pos   Component[position]
	arm   Component[armour]
	odd   Component[odd]
	tag   Component[burning]
	brain Component[brain]
	pair  *Map2[position, brain]
	trio  *Map3[position, armour, odd]
	swap  *Map2[armour, brain] // for position and burning
	all   *Filter1[position]
	tame  *Filter2[position, armour]
	only  *Filter2[position, brain] // and nothing else

	heat  ID // known at run time
	child Relation[childOf]
	like  Relation[likes]
	born1 *Map2[position, childOf]
	near  *Filter1[position] // to one target after the other
	both  *Filter1[position] // by both relations

	order []Entity // alive, in order of creation
	ents  map[Entity]*values
	dead  []Entity
	tick  int
	told  map[Entity]*tally
	teams []*Workers // of several sizes
	ticking
}

// A tally is what observers know of an entity from what they were told.
type tally struct {
	pos   *position
	brain *brain
	tag   bool
	child Entity
	like  *likes
}

// observe keeps told by events alone: what it holds must be what the world does.
func (m *model) observe() {
	m.told = map[Entity]*tally{}
	expect := func(ok bool, e Entity) {
		if !ok {
			panic("an event of " + e.String() + " does not follow from those before it")
		}
	}
	m.w.OnCreate(func(e Entity) {
		expect(m.told[e] == nil && m.w.Alive(e), e)
		m.told[e] = &tally{}
	})
	m.w.OnRemove(func(e Entity) {
		v := m.told[e]
		expect(v != nil && m.w.Alive(e) && v.pos == nil && v.brain == nil && !v.tag && v.child.IsZero() && v.like == nil, e)
		delete(m.told, e)
	})
	m.pos.OnAdd(func(e Entity, p *position) {
		v, at := m.told[e], *p
		expect(v.pos == nil, e)
		v.pos = &at
	})
	m.pos.OnRemove(func(e Entity, p *position) {
		v := m.told[e]
		expect(v.pos != nil && *v.pos == *p && m.pos.Has(e), e)
		v.pos = nil
	})
	m.pos.OnSet(func(e Entity, p *position) {
		v, at := m.told[e], *p
		expect(v.pos != nil, e)
		v.pos = &at
	})
	m.brain.OnAdd(func(e Entity, b *brain) {
		v, is := m.told[e], *b
		expect(v.brain == nil, e)
		v.brain = &is
	})
	m.brain.OnRemove(func(e Entity, b *brain) {
		v := m.told[e]
		expect(v.brain != nil && *v.brain == *b, e)
		v.brain = nil
	})
	m.brain.OnSet(func(e Entity, b *brain) {
		v, is := m.told[e], *b
		expect(v.brain != nil, e)
		v.brain = &is
	})
	m.observeRelations(expect)
	m.tag.OnAdd(func(e Entity, _ *burning) {
		expect(!m.told[e].tag, e)
		m.told[e].tag = true
	})
	m.tag.OnRemove(func(e Entity, _ *burning) {
		expect(m.told[e].tag, e)
		m.told[e].tag = false
	})
}

// observed compares what observers know with the model.
func (m *model) observed(t *rapid.T) {
	if m.told == nil {
		return
	}
	if len(m.told) != len(m.ents) {
		t.Fatalf("observers know %d entities of %d", len(m.told), len(m.ents))
	}
	for e, v := range m.ents {
		k := m.told[e]
		if k == nil || (k.pos == nil) != (v.pos == nil) || (k.brain == nil) != (v.brain == nil) || k.tag != v.tag ||
			k.pos != nil && *k.pos != *v.pos || k.brain != nil && *k.brain != *v.brain ||
			k.child != v.child || (k.like == nil) != (v.like == nil) || k.like != nil && *k.like != *v.like {
			t.Fatalf("observers know %+v of %v, which is %+v", k, e, v)
		}
	}
}

type values struct {
	pos   *position
	arm   *armour
	odd   *odd
	tag   bool
	brain *brain
	child Entity // the target, zero without the relation
	like  *likes
	liked Entity
	heat  *[3]uint32

	tags, kids int // writes of tag and of child, which have no value
}

func newModel(t testing.TB) *model {
	m := &model{mem: newTestMemory(t), ents: map[Entity]*values{}}
	w, err := New(m.mem, Config{ChunkBytes: 1024, MaxEntities: modelEntities})
	if err != nil {
		t.Fatal(err)
	}
	m.w = w
	m.pos, m.arm, m.odd = mustRegisterTest[position](t, w), mustRegisterTest[armour](t, w), mustRegisterTest[odd](t, w)
	m.tag, m.brain = mustRegisterTest[burning](t, w), mustRegisterTest[brain](t, w)
	m.pair, m.trio = NewMap2[position, brain](w), NewMap3[position, armour, odd](w)
	m.only = NewFilter2[position, brain](w).Exclusive()
	m.swap = NewMap2[armour, brain](w).Removes(m.pos.ID(), m.tag.ID())
	m.child, m.like = mustRelation[childOf](t, w), mustRelation[likes](t, w)
	m.born1, m.near = NewMap2[position, childOf](w), NewFilter1[position](w)
	m.both = NewFilter1[position](w)
	heat, err := w.RegisterSize("heat", 12, 4)
	if err != nil {
		t.Fatal(err)
	}
	m.heat = heat
	m.all = NewFilter1[position](w)
	m.since, m.any = NewFilter1[position](w), NewFilterOf(w, m.tag.ID())
	m.writer = NewFilter1[position](w).Writes(m.pos.ID())
	m.tame = NewFilter2[position, armour](w).With(m.odd.ID()).Without(m.tag.ID())
	return m
}

// stamp returns values that differ from operation to operation.
func (m *model) stamp() (position, armour, odd, brain) {
	m.tick++
	n := m.tick
	return position{float32(n), -float32(n)}, armour{uint8(n), uint64(n) << 20, uint16(n)},
		odd{byte(n), byte(n >> 8), 7}, brain{Name: string(rune('a' + n%26)), Target: &n}
}

func (m *model) born(e Entity, v *values) {
	m.order = append(m.order, e)
	m.ents[e] = v
}

func (m *model) died(e Entity) {
	delete(m.ents, e)
	m.order = slices.DeleteFunc(m.order, func(o Entity) bool { return o == e })
	m.dead = append(m.dead, e)
}

func (m *model) pick(t *rapid.T) Entity {
	if len(m.dead) > 0 && rapid.IntRange(0, 9).Draw(t, "stale") == 0 {
		return sample(t, m.dead, "dead")
	}
	if len(m.order) == 0 {
		return Entity{}
	}
	return sample(t, m.order, "entity")
}

// sample draws one of a slice, as rapid.SampledFrom does, by its index.
func sample[E any](t *rapid.T, of []E, label string) E {
	at := make([]int, len(of))
	for i := range at {
		at[i] = i
	}
	return of[rapid.SampledFrom(at).Draw(t, label)]
}

// oom reports whether err is the refusal that was injected.
func (m *model) oom(t *rapid.T, err error) bool {
	if err != nil && !errors.Is(err, memory.ErrOutOfMemory) && !errors.Is(err, ErrStale) {
		t.Fatal(err)
	}
	return err != nil
}

// modelEntities is Config.MaxEntities of the world: few enough to be reached.
const modelEntities = 300

// refused is oom for the creation of n entities, which fails as well if the world has no place for them, and only then.
func (m *model) refused(t *rapid.T, err error, n int) bool {
	if errors.Is(err, ErrLimit) {
		if m.w.Len()+n <= modelEntities || errors.Is(err, memory.ErrOutOfMemory) {
			t.Fatalf("%d entities more than %d: %v", n, m.w.Len(), err)
		}
		return true
	}
	return m.oom(t, err)
}

func (m *model) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"createPair": func(t *rapid.T) {
			p, _, _, b := m.stamp()
			if e, err := m.pair.NewEntity(p, b); !m.refused(t, err, 1) {
				m.born(e, &values{pos: &p, brain: &b})
			}
		},
		"createTrio": func(t *rapid.T) {
			p, a, o, _ := m.stamp()
			if e, err := m.trio.NewEntity(p, a, o); !m.refused(t, err, 1) {
				m.born(e, &values{pos: &p, arm: &a, odd: &o})
			}
		},
		"copy": func(t *rapid.T) {
			e := m.pick(t)
			twin, err := m.w.CopyEntity(e)
			if v := m.ents[e]; !m.refused(t, err, 1) {
				other := *v
				m.born(twin, &other)
			} else if (err == ErrStale) != (v == nil) {
				t.Fatalf("CopyEntity(%v): %v", e, err)
			}
		},
		"createBare": func(t *rapid.T) {
			if e, err := m.w.NewEntity(); !m.refused(t, err, 1) {
				m.born(e, &values{})
			}
		},
		"batch": func(t *rapid.T) {
			n := rapid.IntRange(0, 80).Draw(t, "n")
			p, a, o, _ := m.stamp()
			m.refused(t, m.trio.NewColumns(n, func(es []Entity, ps []position, as []armour, os []odd) {
				for i, e := range es {
					if ps[i] != (position{}) || as[i] != (armour{}) || os[i] != (odd{}) {
						t.Fatal("a batch begins with old bytes")
					}
					ps[i], as[i], os[i] = p, a, o
					m.born(e, &values{pos: &p, arm: &a, odd: &o})
				}
			}), n)
		},
		"remove": func(t *rapid.T) {
			e := m.pick(t)
			_, alive := m.ents[e]
			if got := m.w.Remove(e); got != alive {
				t.Fatalf("Remove(%v) = %v", e, got)
			}
			if alive {
				m.died(e)
			}
		},
		"removeAll": func(t *rapid.T) {
			if rapid.IntRange(0, 3).Draw(t, "rare") > 0 {
				return
			}
			n := 0
			for _, e := range slices.Clone(m.order) {
				if v := m.ents[e]; v.pos != nil && v.arm != nil && v.odd != nil && !v.tag {
					m.died(e)
					n++
				}
			}
			if got := m.w.RemoveAll(m.tame); got != n {
				t.Fatalf("RemoveAll = %d, want %d", got, n)
			}
		},
		"reset": func(t *rapid.T) {
			if rapid.IntRange(0, 9).Draw(t, "rare") > 0 {
				return
			}
			m.w.Reset()
			for _, e := range slices.Clone(m.order) {
				m.died(e)
			}
		},
		"addRemove":    m.addRemove,
		"addAll":       m.addAll,
		"relate":       m.relate,
		"untyped":      m.untyped,
		"byName":       m.byName,
		"relateAll":    m.relateAll,
		"commands":     m.commandsAction,
		"parallel":     m.parallel,
		"untypedPass":  m.untypedPass,
		"systems":      m.systems,
		"tick":         m.begin,
		"rewrite":      m.rewrite,
		"failNext":     func(t *rapid.T) { m.mem.failNext(rapid.Bool().Draw(t, "persist")) },
		"heal":         func(*rapid.T) { m.mem.heal() },
		"":             m.check,
		"checkLookups": m.lookups,
	}
}

func (m *model) addRemove(t *rapid.T) {
	e := m.pick(t)
	v, alive := m.ents[e]
	p, a, o, b := m.stamp()
	var err error
	var had bool
	want := false
	switch rapid.IntRange(0, 9).Draw(t, "which") {
	case 0:
		if err = m.pos.Add(e, p); err == nil {
			v.pos = &p
		}
	case 1:
		if err = m.tag.Add(e, burning{}); err == nil {
			v.tag = true
			v.tags++
		}
	case 2:
		if err = m.brain.Add(e, b); err == nil {
			v.brain = &b
		}
	case 3:
		if err = m.trio.Add(e, p, a, o); err == nil {
			v.pos, v.arm, v.odd = &p, &a, &o
		}
	case 4:
		want = alive && v.pos != nil
		if had, err = m.pos.Remove(e); err == nil && alive {
			v.pos = nil
		}
	case 5:
		want = alive && v.brain != nil
		if had, err = m.brain.Remove(e); err == nil && alive {
			v.brain = nil
		}
	case 6:
		want = alive && (v.pos != nil || v.arm != nil || v.odd != nil)
		if had, err = m.trio.Remove(e); err == nil && alive {
			v.pos, v.arm, v.odd = nil, nil, nil
		}
	case 7:
		want = alive && v.tag
		if had, err = m.tag.Remove(e); err == nil && alive {
			v.tag = false
		}
	case 8:
		if m.arm.Set(e, a) != (alive && v.arm != nil) {
			t.Fatal("Set disagrees")
		}
		if alive && v.arm != nil {
			v.arm = &a
		}
	case 9:
		if err = m.swap.Exchange(e, a, b); err == nil {
			v.pos, v.tag, v.arm, v.brain = nil, false, &a, &b
		}
	}
	if err == nil && had != want {
		t.Fatalf("removed %v, want %v", had, want)
	}
	if errors.Is(err, ErrStale) == alive && err != nil && !errors.Is(err, memory.ErrOutOfMemory) {
		t.Fatal(err)
	}
	m.oom(t, err)
}

func (m *model) addAll(t *rapid.T) {
	if rapid.IntRange(0, 2).Draw(t, "rare") > 0 || m.mem.failAt != 0 {
		return // a failure half-way is for TestAddAll_ReportsWhatWasDone
	}
	_, a, _, b := m.stamp()
	if rapid.IntRange(0, 4).Draw(t, "exchange") == 0 {
		n := must[int](t2(t))(m.swap.ExchangeAll(m.all, a, b))
		for _, v := range m.ents {
			if v.pos != nil {
				v.pos, v.tag, v.arm, v.brain = nil, false, &a, &b
				n--
			}
		}
		if n != 0 {
			t.Fatalf("ExchangeAll is off by %d", n)
		}
		return
	}
	if rapid.Bool().Draw(t, "remove") {
		n := must[int](t2(t))(NewMap1[brain](m.w).RemoveAll(m.all))
		for _, v := range m.ents {
			if v.pos != nil && v.brain != nil {
				v.brain = nil
				n--
			}
		}
		if n != 0 {
			t.Fatalf("RemoveAll is off by %d", n)
		}
		return
	}
	n := must[int](t2(t))(NewMap1[brain](m.w).AddAll(m.all, b))
	for _, v := range m.ents {
		if v.pos != nil {
			v.brain = &b
			n--
		}
	}
	if n != 0 {
		t.Fatalf("AddAll is off by %d", n)
	}
}

func (m *model) commandsAction(t *rapid.T) {
	if m.mem.failAt != 0 {
		return
	}
	cmd := m.w.Commands()
	skipped := 0
	var fresh Entity // of the newest command, if that is in the group of a Spawn
	group := 0       // its commands
	for range rapid.IntRange(1, 12).Draw(t, "commands") {
		e := m.pick(t)
		p, _, _, b := m.stamp()
		v, alive := m.ents[e]
		kind := rapid.IntRange(0, 6).Draw(t, "command")
		if kind > 0 && (kind == 1 || e != fresh) {
			group = 0
		} else if kind > 0 && group > 0 {
			group++
		}
		switch kind {
		case 0:
			n, err := cmd.Spawn()
			if m.refused(t, err, 1) {
				continue
			}
			AddTo(cmd, m.brain, n, b)
			AddTo(cmd, m.pos, n, p)
			AddTo(cmd, m.tag, n, burning{})
			m.born(n, &values{pos: &p, brain: &b, tag: true})
			fresh, group = n, 4
			continue
		case 1:
			cmd.Destroy(e)
			if alive {
				m.died(e)
			}
		case 2:
			AddTo(cmd, m.pos, e, p)
			if alive {
				v.pos = &p
			}
		case 3:
			AddTo(cmd, m.brain, e, b)
			if alive {
				v.brain = &b
			}
		case 4:
			RemoveFrom(cmd, m.pos, e)
			if alive {
				v.pos = nil
			}
		case 5:
			target := m.pick(t)
			AddRelation(cmd, m.child, e, childOf{}, target)
			if m.ents[target] == nil && alive && group > 0 {
				m.died(e)
				skipped, group = skipped+group, 0
				continue
			} else if m.ents[target] == nil {
				skipped++
				continue
			} else if alive {
				v.child = target
				v.kids++
			}
		case 6:
			target := m.pick(t)
			SetTargetOf(cmd, m.child, e, target)
			if m.ents[target] == nil {
				skipped++
				continue
			} else if alive && !v.child.IsZero() {
				v.child = target
				v.kids++
			}
		}
		if !alive {
			skipped++
		}
	}
	if err := cmd.Apply(); err != nil {
		t.Fatal(err)
	}
	if cmd.Skipped() != skipped || cmd.Len() != 0 {
		t.Fatalf("skipped %d, want %d", cmd.Skipped(), skipped)
	}
}

// parallel moves all positions in one pass, and holds its results to the order of All.
func (m *model) parallel(t *rapid.T) {
	var met Results[[]Entity]
	met.Prepare(m.all)
	moving := NewFilter1[position](m.w).Writes(m.pos.ID())
	moving.Parallel(m.teams[rapid.IntRange(0, 2).Draw(t, "workers")], func(task *Task, es []Entity, ps []position) {
		for i := range ps {
			ps[i].Y += ps[i].X
		}
		*met.At(task) = append(*met.At(task), es...)
	})
	if got := slices.Concat(met.Values()...); !slices.Equal(got, inOrder(m.all)) {
		t.Fatalf("a pass meets %v", got)
	}
	for e, v := range m.ents {
		if v.pos != nil {
			v.pos = &position{v.pos.X, v.pos.Y + v.pos.X}
			if m.told != nil {
				m.told[e].pos = v.pos // nobody is told of writes through columns
			}
		}
	}
}

// systems gives commands in a pass, and has them applied.
func (m *model) systems(t *rapid.T) {
	if m.mem.failAt != 0 {
		return
	}
	type birth struct {
		p position
		v *values
	}
	var births Results[[]birth]
	births.Prepare(m.all)
	kill := rapid.IntRange(2, 9).Draw(t, "kill")
	p, _, _, b := m.stamp()
	dead, next := []Entity(nil), map[Entity]*values{}
	for i, e := range inOrder(m.all) {
		switch i % kill {
		case 0:
			dead = append(dead, e)
		case 1:
			v := *m.ents[e]
			v.pos, v.brain = nil, &b
			next[e] = &v
		}
	}
	if m.w.Len()+m.all.Len() > modelEntities {
		return
	}
	known := len(m.ents)
	m.all.Parallel(m.teams[rapid.IntRange(0, 2).Draw(t, "workers")], func(task *Task, es []Entity, _ []position) {
		cmd := task.Commands()
		for i, e := range es {
			switch n := task.Index() + i; n % kill {
			case 0:
				cmd.Destroy(e)
				child, _ := cmd.Spawn()
				at := position{p.X, float32(n)}
				AddTo(cmd, m.brain, child, b)
				AddTo(cmd, m.pos, child, at)
				*births.At(task) = append(*births.At(task), birth{at, &values{pos: &at, brain: &b}})
			case 1:
				RemoveFrom(cmd, m.pos, e)
				AddTo(cmd, m.brain, e, b)
			}
		}
	})
	if err := m.w.Commands().Apply(); err != nil || m.w.Commands().Skipped() != 0 {
		t.Fatalf("%v, %d skipped", err, m.w.Commands().Skipped())
	}
	for _, e := range dead {
		m.died(e)
	}
	for e, v := range next {
		m.ents[e] = v
	}
	all := slices.Concat(births.Values()...)
	if m.w.Len() != known-len(dead)+len(all) {
		t.Fatalf("%d entities", m.w.Len())
	}
	for e, r := range m.only.All() {
		if _, ok := m.ents[e]; ok {
			continue
		}
		i := slices.IndexFunc(all, func(b birth) bool { return b.p == *r.A })
		if i < 0 {
			t.Fatalf("nobody was spawned at %v", *r.A)
		}
		m.born(e, all[i].v)
		all = slices.Delete(all, i, i+1)
	}
	if len(all) != 0 {
		t.Fatalf("%d are missing", len(all))
	}
}

func (m *model) check(t *rapid.T) {
	m.ticks(t)
	m.observed(t)
	if err := m.w.Check(); err != nil {
		t.Fatal(err)
	}
	if m.w.Len() != len(m.ents) {
		t.Fatalf("%d entities, want %d", m.w.Len(), len(m.ents))
	}
	n, seen := 0, 0
	for _, v := range m.ents {
		if v.pos != nil {
			n++
		}
	}
	q := m.all.Query()
	for q.Next() {
		v := m.ents[q.Entity()]
		if v == nil || v.pos == nil || *v.pos != *q.Get() {
			t.Fatalf("query meets %v with %v", q.Entity(), *q.Get())
		}
		seen++
	}
	for e, p := range m.all.All() {
		if v := m.ents[e]; v == nil || v.pos == nil || *v.pos != *p {
			t.Fatalf("All meets %v with %v", e, *p)
		}
		n--
	}
	if n += seen; seen != n || m.all.Len() != n || m.w.Locked() || len(m.w.guard.running) != 0 {
		t.Fatalf("query saw %d of %d", seen, n)
	}
}

func (m *model) lookups(t *rapid.T) {
	for _, e := range m.dead {
		if _, ok := m.pos.Get(e); ok || m.w.Alive(e) || m.trio.Has(e) {
			t.Fatalf("%v is dead", e)
		}
	}
	for e, v := range m.ents {
		p, okP := m.pos.Get(e)
		b, okB := m.brain.Get(e)
		o, okO := m.odd.Get(e)
		if okP != (v.pos != nil) || okB != (v.brain != nil) || okO != (v.odd != nil) || m.tag.Has(e) != v.tag || !m.w.Alive(e) {
			t.Fatalf("%v has other components", e)
		}
		if okP && *p != *v.pos || okB && *b != *v.brain || okO && *o != *v.odd {
			t.Fatalf("%v has other values", e)
		}
		tp, ta, to, ok := m.trio.Get(e)
		if ok != (v.pos != nil && v.arm != nil && v.odd != nil) || ok && (*tp != *v.pos || *ta != *v.arm || *to != *v.odd) {
			t.Fatalf("%v differs through Map3", e)
		}
	}
	for e, r := range m.tame.All() {
		if v := m.ents[e]; v == nil || v.tag || v.odd == nil || *v.pos != *r.A || *v.arm != *r.B {
			t.Fatalf("All meets %v wrongly", e)
		}
	}
	i := 0
	for es, c := range m.only.Chunks() {
		for k, e := range es {
			v := m.ents[e]
			if v == nil || v.arm != nil || v.odd != nil || v.tag || !v.child.IsZero() || v.like != nil || v.heat != nil || *v.pos != c.A[k] || *v.brain != c.B[k] || m.only.EntityAt(i) != e {
				t.Fatalf("%v has more than the filter names, or is not number %d", e, i)
			}
			i++
		}
	}
	for _, v := range m.ents {
		if v.pos != nil && v.brain != nil && v.arm == nil && v.odd == nil && !v.tag && v.child.IsZero() && v.like == nil && v.heat == nil {
			i--
		}
	}
	if i != 0 {
		t.Fatalf("Exclusive is off by %d", i)
	}
	for es := range m.all.Chunks() {
		bs := m.brain.Column(es)
		for k, e := range es {
			if v := m.ents[e]; (v.brain != nil) != (bs != nil) || bs != nil && bs[k] != *v.brain {
				t.Fatalf("%v has another brain in its column", e)
			}
		}
	}
	m.targets(t)
	m.byID(t)
	seen := map[Entity]bool{}
	q := m.tame.Query()
	for es, c := range m.tame.Chunks() {
		q.NextChunk()
		if qs, ps, as := q.Columns(); &qs[0] != &es[0] || &ps[0] != &c.A[0] || &as[0] != &c.B[0] || len(qs) != len(es) {
			t.Fatal("Chunks and Columns differ")
		}
		for i, e := range es {
			ps, as := c.A, c.B
			v := m.ents[e]
			if seen[e] || v == nil || v.tag || v.odd == nil || *v.pos != ps[i] || *v.arm != as[i] {
				t.Fatalf("columns hold %v wrongly", e)
			}
			seen[e] = true
		}
	}
	if q.NextChunk() {
		t.Fatal("Chunks ends before Columns")
	}
}

func TestWorld_BehavesLikeMaps(t *testing.T) {
	teams := []*Workers{newTestWorkers(t, 1), newTestWorkers(t, 2), newTestWorkers(t, 3)}
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t2(t))
		m.teams = teams
		m.track(t)
		if rapid.Bool().Draw(t, "observed") {
			m.observe()
		}
		t.Repeat(m.actions())
		if err := m.w.Close(); err != nil || len(m.mem.live) != 0 {
			t.Fatalf("%d blocks after Close", len(m.mem.live))
		}
	})
}

// rapidTB lends a *rapid.T to helpers that take a testing.TB.
type rapidTB struct {
	testing.TB
	t *rapid.T
}

func t2(t *rapid.T) testing.TB                      { return rapidTB{t: t} }
func (t rapidTB) Helper()                           {}
func (t rapidTB) Errorf(format string, args ...any) { t.t.Errorf(format, args...) }
func (t rapidTB) Fatal(args ...any)                 { t.t.Fatal(args...) }
