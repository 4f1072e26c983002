package ecs

import (
	"errors"
	"slices"

	"github.com/strata-go/strata/memory"
	"pgregory.net/rapid"
)

// observeRelations keeps what is told of relations.
func (m *model) observeRelations(expect func(bool, Entity)) {
	told := func(e Entity) {
		target, ok := m.w.store.tableAt(m.w.store.index.find(e).loc).target(m.child.ID()) // a twin may be one of a stale target
		expect(ok, e)
		m.told[e].child = target
	}
	m.child.OnAdd(func(e Entity, _ *childOf) {
		expect(m.told[e].child.IsZero(), e)
		if told(e); m.told[e].child.IsZero() {
			panic("a relation to nothing")
		}
	})
	m.child.OnSet(func(e Entity, _ *childOf) {
		expect(!m.told[e].child.IsZero(), e)
		told(e)
	})
	m.child.OnRemove(func(e Entity, _ *childOf) {
		expect(!m.told[e].child.IsZero() && m.child.Has(e), e)
		m.told[e].child = Entity{}
	})
	m.like.OnAdd(func(e Entity, v *likes) {
		expect(m.told[e].like == nil, e)
		is := *v
		m.told[e].like = &is
	})
	m.like.OnSet(func(e Entity, v *likes) {
		expect(m.told[e].like != nil, e)
		is := *v
		m.told[e].like = &is
	})
	m.like.OnRemove(func(e Entity, v *likes) {
		expect(m.told[e].like != nil && *m.told[e].like == *v, e)
		m.told[e].like = nil
	})
}

// relate changes relations of one entity.
func (m *model) relate(t *rapid.T) {
	e, target := m.pick(t), m.pick(t)
	v, to := m.ents[e], m.ents[target]
	p, _, _, _ := m.stamp()
	much := likes{int32(m.tick)}
	var err error
	ok, has := true, true
	switch rapid.IntRange(0, 6).Draw(t, "which") {
	case 0, 1:
		if err = m.child.Add(e, childOf{}, target); err == nil {
			v.child = target
			v.kids++
		}
	case 2:
		if err = m.like.Add(e, much, target); err == nil {
			v.like, v.liked = &much, target
		}
	case 3:
		has = v != nil && !v.child.IsZero()
		if ok, err = m.child.SetTarget(e, target); ok && err == nil {
			v.child = target
			v.kids++
		}
	case 4:
		has = v != nil && v.like != nil
		if ok, err = m.like.SetTarget(e, target); ok && err == nil {
			v.liked = target
		}
	case 5:
		has, to = v != nil && !v.child.IsZero(), &values{}
		if ok, err = m.child.Remove(e); ok && err == nil {
			v.child = Entity{}
		}
		ok = ok || err != nil
	case 6:
		var born Entity
		v = &values{pos: &p, child: target}
		if born, err = m.born1.To(m.child.ID(), target).NewEntity(p, childOf{}); !m.refused(t, err, 1) {
			m.born(born, v)
		} else if errors.Is(err, ErrLimit) {
			return
		}
	}
	if ok != has || err == nil && has && (v == nil || to == nil) || errors.Is(err, ErrStale) && v != nil && to != nil ||
		err != nil && !errors.Is(err, ErrStale) && !errors.Is(err, memory.ErrOutOfMemory) {
		t.Fatalf("%v to %v: %v, %v", e, target, ok, err)
	}
}

// relateAll changes relations of many.
func (m *model) relateAll(t *rapid.T) {
	if rapid.IntRange(0, 2).Draw(t, "rare") > 0 || m.mem.failAt != 0 {
		return
	}
	target := m.pick(t)
	alive := m.ents[target] != nil
	switch rapid.IntRange(0, 3).Draw(t, "which") {
	case 0:
		n, err := m.child.SetTargetAll(m.all, target)
		for _, v := range m.ents {
			if alive && v.pos != nil && !v.child.IsZero() {
				v.child = target
				v.kids++
				n--
			}
		}
		if n != 0 || errors.Is(err, ErrStale) == alive {
			t.Fatalf("SetTargetAll is off by %d, %v", n, err)
		}
	case 1:
		p, _, _, _ := m.stamp()
		n, err := m.born1.To(m.child.ID(), target).AddAll(m.tame, p, childOf{})
		for _, v := range m.ents {
			if alive && v.pos != nil && v.arm != nil && v.odd != nil && !v.tag {
				v.pos, v.child = &p, target
				v.kids++
				n--
			}
		}
		if n != 0 || errors.Is(err, ErrStale) == alive {
			t.Fatalf("AddAll is off by %d, %v", n, err)
		}
	case 2:
		below := m.below(target)
		if n := m.child.RemoveTree(target); n != len(below) {
			t.Fatalf("RemoveTree(%v) = %d, not %d", target, n, len(below))
		}
		for _, e := range below {
			m.died(e)
		}
	case 3:
		n := m.w.RemoveAll(m.near.To(m.child.ID(), target))
		for _, e := range slices.Clone(m.order) {
			if v := m.ents[e]; alive && v.pos != nil && v.child == target {
				m.died(e)
				n--
			}
		}
		if n != 0 {
			t.Fatalf("RemoveAll of %v is off by %d", target, n)
		}
	}
}

// below returns what RemoveTree(e) is to remove.
func (m *model) below(e Entity) (es []Entity) {
	in := map[Entity]bool{e: true}
	if m.ents[e] != nil {
		es = append(es, e)
	}
	for more := true; more; {
		more = false
		for _, o := range m.order {
			if v := m.ents[o]; !in[o] && !v.child.IsZero() && in[v.child] {
				in[o], more = true, true
				es = append(es, o)
			}
		}
	}
	return es
}

// targets compares all targets with the model, and a filter to one.
func (m *model) targets(t *rapid.T) {
	for e, v := range m.ents {
		child, ok := m.child.Target(e)
		if ok != (m.ents[v.child] != nil) || ok && child != v.child || m.child.Has(e) == v.child.IsZero() {
			t.Fatalf("%v is a child of %v, %v, not of %v", e, child, ok, v.child)
		}
		liked, ok := m.like.Target(e)
		if ok != (v.like != nil && m.ents[v.liked] != nil) || ok && liked != v.liked || m.like.Has(e) != (v.like != nil) {
			t.Fatalf("%v likes %v, %v, not %v", e, liked, ok, v.liked)
		}
		if l, ok := m.like.Get(e); ok && *l != *v.like {
			t.Fatalf("%v likes %v, not %v", e, *l, *v.like)
		}
	}
	for range 2 {
		target := m.pick(t)
		near := m.near.To(m.child.ID(), target)
		second := rapid.IntRange(0, 3).Draw(t, "second") == 0
		if second {
			near = m.both.ToAny().To(m.like.ID(), target).To(m.child.ID(), target)
		}
		n := 0
		for e, p := range near.All() {
			if v := m.ents[e]; v == nil || v.child != target || *v.pos != *p || second && v.liked != target {
				t.Fatalf("a filter to %v meets %v", target, e)
			}
			n++
		}
		for _, v := range m.ents {
			if m.ents[target] != nil && v.pos != nil && v.child == target && (!second || v.like != nil && v.liked == target) {
				n--
			}
		}
		if err := near.Check(); n != 0 || err != nil {
			t.Fatalf("a filter to %v is off by %d, %v", target, n, err)
		}
	}
}
