package ecs

import (
	"slices"

	"pgregory.net/rapid"
)

// A record of writes: when each component of an entity was written last, in the ticks of the world.
type stamped struct{ pos, brain, tag, child, heat uint64 }

// A seen is what an entity had when the model last looked. A write gives a value another address, and
// counts in tags or kids where there is no value.
type seen struct {
	values
	at stamped
}

// ticking is what the model knows of ticks.
type ticking struct {
	on      bool
	seen    map[Entity]seen
	moments []uint64 // what Tick returned
	since   *Filter1[position]
	writer  *Filter1[position]
	any     *FilterOf // reads nothing but the tag
}

// track has the world track from a tick near which something happens.
func (m *model) track(t *rapid.T) {
	m.on = rapid.Bool().Draw(t, "tracked")
	if !m.on {
		return
	}
	if err := m.w.Track(m.pos.ID(), m.brain.ID(), m.tag.ID(), m.child.ID(), m.heat); err != nil {
		t.Fatal(err)
	}
	m.w.store.tick = sample(t, []uint64{1, 1<<30 - 3, 1<<31 - 5, 1<<32 - 4, 1<<32 + 1<<31}, "start")
	m.w.store.clamped = m.w.store.tick
}

// begin makes a tick that the model remembers, and lets many others pass now and then.
func (m *model) begin(t *rapid.T) {
	if !m.on {
		return
	}
	if rapid.IntRange(0, 4).Draw(t, "leap") == 0 {
		if m.w.store.tick = m.w.store.clamped + clampEvery - 1; Tick(m.w.store.tick) == 0 {
			m.w.store.tick--
		}
	}
	now := m.w.store.tick
	if got := m.w.Tick(); got != Tick(now) || got == 0 {
		t.Fatalf("Tick = %d in %d", got, now)
	}
	m.moments = append(m.moments, now)
	m.moments = slices.DeleteFunc(m.moments, func(at uint64) bool { return m.w.store.tick-at >= 1<<32-2 })
}

// note looks at what has been written since it last did, which is in this tick.
func (m *model) note() {
	before := m.seen
	m.seen = make(map[Entity]seen, len(m.ents))
	for e, v := range m.ents {
		s, known := before[e]
		mark := func(at *uint64, same bool) {
			if !known || !same {
				*at = m.w.store.tick
			}
		}
		mark(&s.at.pos, v.pos == s.pos)
		mark(&s.at.brain, v.brain == s.brain)
		mark(&s.at.heat, v.heat == s.heat)
		mark(&s.at.tag, v.tag == s.tag && v.tags == s.tags)
		mark(&s.at.child, v.child == s.child && v.kids == s.kids)
		s.values = *v
		m.seen[e] = s
	}
}

// changed reports whether e has a component of ids that was written after a moment.
func (m *model) changed(e Entity, moment uint64, ids []ID) bool {
	v, at := m.ents[e], m.seen[e].at
	for _, id := range ids {
		has, when := false, uint64(0)
		switch id {
		case m.pos.ID():
			has, when = v.pos != nil, at.pos
		case m.brain.ID():
			has, when = v.brain != nil, at.brain
		case m.tag.ID():
			has, when = v.tag, at.tag
		case m.child.ID():
			has, when = !v.child.IsZero(), at.child
		case m.heat:
			has, when = v.heat != nil, at.heat
		}
		if has && (moment == 0 || m.w.store.tick-when < min(m.w.store.tick-moment, maxAge)) {
			return true
		}
	}
	return false
}

// look draws a moment and components, and returns those that have a position and changed, in order.
func (m *model) look(t *rapid.T) (moment uint64, ids []ID, want []Entity) {
	if moment = 0; len(m.moments) > 0 && rapid.IntRange(0, 9).Draw(t, "since ever") > 0 {
		moment = sample(t, m.moments, "since")
	}
	which := rapid.IntRange(1, 31).Draw(t, "components")
	for i, id := range []ID{m.heat, m.pos.ID(), m.brain.ID(), m.child.ID(), m.tag.ID()} {
		if which>>i&1 != 0 {
			ids = append(ids, id)
		}
	}
	for _, e := range inOrder(m.all) {
		if m.changed(e, moment, ids) {
			want = append(want, e)
		}
	}
	return moment, ids, want
}

// ticks compares what changed with the model, in all ways to walk.
func (m *model) ticks(t *rapid.T) {
	if !m.on {
		return
	}
	m.note()
	moment, ids, want := m.look(t)
	f := m.since.ChangedSince(Tick(moment), ids...)
	var all, chunks, rows []Entity
	for e, p := range f.All() {
		if *p != *m.ents[e].pos {
			t.Fatalf("All meets %v with %v", e, *p)
		}
		all = append(all, e)
	}
	for es, ps := range f.Chunks() {
		for i, e := range es {
			if ps[i] != *m.ents[e].pos {
				t.Fatalf("Chunks meets %v with %v", e, ps[i])
			}
		}
		chunks = append(chunks, es...)
	}
	q := f.Query()
	for q.Next() {
		if *q.Get() != *m.ents[q.Entity()].pos {
			t.Fatalf("a query meets %v with %v", q.Entity(), *q.Get())
		}
		rows = append(rows, q.Entity())
	}
	var met Results[[]Entity]
	met.Prepare(f)
	f.Parallel(m.teams[1], func(task *Task, es []Entity, _ []position) { *met.At(task) = append(*met.At(task), es...) })
	for name, got := range map[string][]Entity{"All": all, "Chunks": chunks, "Query": rows, "Parallel": slices.Concat(met.Values()...)} {
		if !slices.Equal(got, want) {
			t.Fatalf("%s since %d in %d of %v: %v, not %v", name, moment, m.w.store.tick, ids, got, want)
		}
	}
	if err := f.Check(); err != nil || f.Len() != len(want) || len(want) > 0 && f.EntityAt(len(want)-1) != want[len(want)-1] {
		t.Fatalf("%d changed, not %d, %v", f.Len(), len(want), err)
	}
	n := 0
	for e := range m.any.ChangedSince(Tick(moment), ids...).All() {
		if !m.changed(e, moment, ids) {
			t.Fatalf("FilterOf meets %v", e)
		}
		n++
	}
	for e, v := range m.ents {
		if v.tag && m.changed(e, moment, ids) {
			n--
		}
	}
	if n != 0 {
		t.Fatalf("FilterOf is off by %d", n)
	}
}

// rewrite writes what changed, through pointers and columns that note it.
func (m *model) rewrite(t *rapid.T) {
	if !m.on {
		return
	}
	m.note()
	moment, ids, want := m.look(t)
	f := m.writer.ChangedSince(Tick(moment), ids...)
	wrote := func(e Entity, p *position) {
		if len(want) == 0 || want[0] != e {
			t.Fatalf("a loop that writes meets %v, not the first of %v", e, want)
		}
		want = want[1:]
		p.X += 2
		is := *p
		m.ents[e].pos = &is
		if m.told != nil {
			m.told[e].pos = &is
		}
	}
	switch rapid.IntRange(0, 4).Draw(t, "loop") {
	case 0:
		for e, p := range f.All() {
			wrote(e, p)
		}
	case 1:
		for es, ps := range f.Chunks() {
			for i, e := range es {
				wrote(e, &ps[i])
			}
		}
	case 2:
		q := f.Query()
		for q.Next() {
			wrote(q.Entity(), q.Get())
		}
	case 3:
		q := f.Query()
		for q.NextChunk() {
			es, ps := q.Columns()
			for i, e := range es {
				wrote(e, &ps[i])
			}
		}
	case 4:
		f.Parallel(m.teams[0], func(_ *Task, es []Entity, ps []position) {
			for i, e := range es {
				wrote(e, &ps[i])
			}
		})
	}
	if len(want) != 0 {
		t.Fatalf("a loop that writes left out %v", want)
	}
}
