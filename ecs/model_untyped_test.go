package ecs

import (
	"errors"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"pgregory.net/rapid"
)

// byName changes one entity by IDs that Go types have as well, as a script does: what it does is what
// the typed calls do, and observers of both are the same.
func (m *model) byName(t *rapid.T) {
	switch e := m.pick(t); rapid.IntRange(0, 2).Draw(t, "which") {
	case 0:
		m.addByName(t, e)
	case 1:
		m.removeByName(t, e)
	case 2:
		m.relateByName(t, e, m.pick(t))
	}
}

// A namedCell is one of the model's by its ID: what an entity has of it, and how it comes and goes.
type namedCell struct {
	id   ID
	has  bool
	gain func()
	lose func()
	sees func(p unsafe.Pointer) bool // whether the value is what the entity has
}

// named returns the components of an entity, which may be no entity.
func (m *model) named(v *values) []namedCell {
	if v == nil {
		v = &values{}
	}
	return []namedCell{
		{m.pos.ID(), v.pos != nil, func() { v.pos = &position{} }, func() { v.pos = nil }, func(p unsafe.Pointer) bool { return *(*position)(p) == *v.pos }},
		{m.odd.ID(), v.odd != nil, func() { v.odd = &odd{} }, func() { v.odd = nil }, func(p unsafe.Pointer) bool { return *(*odd)(p) == *v.odd }},
		{m.brain.ID(), v.brain != nil, func() { v.brain = &brain{} }, func() { v.brain = nil }, func(p unsafe.Pointer) bool { return *(*brain)(p) == *v.brain }},
		{m.tag.ID(), v.tag, func() { v.tag = true; v.tags++ }, func() { v.tag = false }, func(unsafe.Pointer) bool { return v.tag }},
		{m.child.ID(), !v.child.IsZero(), nil, func() { v.child = Entity{} }, func(unsafe.Pointer) bool { return !v.child.IsZero() }},
		{m.like.ID(), v.like != nil, nil, func() { v.like = nil }, func(p unsafe.Pointer) bool { return *(*likes)(p) == *v.like }},
	}
}

// addByName gives e a component, zeroed; what it has stays, and a relation that it has not is misuse.
func (m *model) addByName(t *rapid.T, e Entity) {
	v := m.ents[e]
	c := sample(t, m.named(v), "component")
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(*memory.Misuse); !ok || v == nil || c.has || c.gain != nil {
				panic(r)
			}
		}
	}()
	p, err := m.w.AddID(e, c.id)
	if m.oom(t, err) {
		if errors.Is(err, ErrStale) != (v == nil) {
			t.Fatalf("AddID(%v): %v", e, err)
		}
		return
	}
	if !c.has {
		c.gain()
	}
	if p != m.w.Ptr(e, c.id) || !c.sees(p) {
		t.Fatalf("AddID gives %v another %s", e, m.w.Name(c.id))
	}
}

func (m *model) removeByName(t *rapid.T, e Entity) {
	c := sample(t, m.named(m.ents[e]), "component")
	ok, err := m.w.RemoveID(e, c.id)
	if m.oom(t, err) {
		return
	}
	if ok != c.has {
		t.Fatalf("RemoveID(%v, %s) = %t", e, m.w.Name(c.id), ok)
	}
	c.lose()
}

// relateByName relates e to a target: a new relation is zeroed, the value of one that is there stays.
func (m *model) relateByName(t *rapid.T, e, target Entity) {
	v, to := m.ents[e], m.ents[target]
	id := m.child.ID()
	if rapid.Bool().Draw(t, "like") {
		id = m.like.ID()
	}
	p, err := m.w.RelateID(e, id, target)
	if m.oom(t, err) || v == nil || to == nil {
		if errors.Is(err, ErrStale) != (v == nil || to == nil) {
			t.Fatalf("RelateID(%v, %v): %v", e, target, err)
		}
		return
	}
	switch {
	case id == m.child.ID():
		v.child = target
		v.kids++
	case v.like == nil:
		v.like, v.liked = &likes{}, target
	default:
		v.liked = target
	}
	now, ok := m.w.TargetID(e, id)
	if !ok || now != target || p != m.w.Ptr(e, id) || id == m.like.ID() && *(*likes)(p) != *v.like {
		t.Fatalf("RelateID(%v, %v) gives %v, %v", e, target, now, ok)
	}
}
