package main

import (
	"bytes"
	"encoding/json"
	"io"

	ark "github.com/mlange-42/ark/ecs"
	"github.com/strata-go/strata/ecs"
)

// watchingRows are of observers, change ticks and JSON.
func watchingRows(limit int) []row {
	n, many := min(crowd, limit), min(100_000, limit)
	return []row{
		{name: "create and remove with observers of both", unit: "ns", n: n, sides: []contestant{
			{ours, func(s *stand) side { return strataObserved(s, n) }},
			{arks, func(*stand) side { return arkObserved(n) }},
		}},
		{name: "walk 100k of which 1 % changed", unit: "ns", n: many, sides: []contestant{
			{ours, func(s *stand) side { return strataChanged(s, many) }},
			{bare, func(*stand) side { return sliceChanged(many) }},
		}},
		{name: "walk 100k by All and note the change", unit: "ns", n: many, sides: []contestant{
			{ours, func(s *stand) side { return strataNoted(s, many) }},
			{bare, func(*stand) side { return sliceNoted(many) }},
		}},
		{name: "write 100k as JSON", unit: "ns", n: many, few: 3, sides: []contestant{
			{ours, func(s *stand) side { return strataWrites(s, many) }},
			{bare, func(*stand) side { return sliceWrites(many) }},
		}},
		{name: "read 100k from JSON", unit: "ns", n: many, few: 3, sides: []contestant{
			{ours, func(s *stand) side { return strataReads(s, many) }},
			{bare, func(*stand) side { return sliceReads(many) }},
		}},
	}
}

func strataObserved(s *stand, n int) side {
	w := newStrata(s)
	m := ecs.NewMap2[position, velocity](w)
	es := make([]ecs.Entity, n)
	var seen tally
	w.OnCreate(func(ecs.Entity) { seen.n++ })
	w.OnRemove(func(ecs.Entity) { seen.sum++ })
	return repeated(func() {
		for i := range es {
			es[i] = must(m.NewEntity(newPosition, newVelocity))
		}
	}, func() {
		for _, e := range es {
			w.Remove(e)
		}
	}, func() tally { return seen })
}

func arkObserved(n int) side {
	w := ark.NewWorld()
	m := ark.NewMap2[position, velocity](w)
	es := make([]ark.Entity, n)
	var seen tally
	ark.Observe(ark.OnCreateEntity).Do(func(ark.Entity) { seen.n++ }).Register(w)
	ark.Observe(ark.OnRemoveEntity).Do(func(ark.Entity) { seen.sum++ }).Register(w)
	return repeated(func() {
		for i := range es {
			es[i] = m.NewEntity(&newPosition, &newVelocity)
		}
	}, func() {
		for _, e := range es {
			w.RemoveEntity(e)
		}
	}, func() tally { return seen })
}

// everyHundredth is the distance between entities that change.
const everyHundredth = 100

// strataTracked makes a world of n entities whose positions are tracked.
func strataTracked(s *stand, n int) (*ecs.World, ecs.Component[position]) {
	w := newStrata(s)
	pos := must(ecs.Register[position](w))
	check(w.Track(pos.ID()))
	check(ecs.NewMap2[position, velocity](w).NewBatch(n, func(i int, p *position, v *velocity) { *p, *v = positionOf(i), velocityOf(i) }))
	return w, pos
}

// strataChanged walks what has changed since a tick.
func strataChanged(s *stand, n int) side {
	w, pos := strataTracked(s, n)
	since := w.Tick()
	for i, e := range strataEntities(w) {
		if i%everyHundredth == 0 {
			pos.Touch(e)
		}
	}
	f := ecs.NewFilter2[position, velocity](w).ChangedSince(since, pos.ID())
	return side{run: func(times int) { strataAll2(f, times) }, result: strataTally(w)}
}

// A ticked is a position by hand, with the tick at which it was written last.
type ticked struct {
	ps    []position
	vs    []velocity
	ticks []uint32
}

func tickedOf(n int) ticked {
	return ticked{filled(n, positionOf), filled(n, velocityOf), filled(n, func(i int) uint32 {
		if i%everyHundredth == 0 {
			return 2
		}
		return 1
	})}
}

func (t *ticked) result() tally { return tallyOf(t.ps, t.vs) }

func sliceChanged(n int) side {
	t := tickedOf(n)
	return side{run: func(times int) { t.moveChanged(1, times) }, result: t.result}
}

//go:noinline
func (t *ticked) moveChanged(since uint32, times int) {
	for range times {
		for i, tick := range t.ticks {
			if tick > since {
				move2(&t.ps[i], &t.vs[i])
			}
		}
	}
}

// strataNoted walks all, by a loop that says that it writes positions.
func strataNoted(s *stand, n int) side {
	w, pos := strataTracked(s, n)
	f := ecs.NewFilter2[position, velocity](w).Writes(pos.ID())
	return side{run: func(times int) { strataAll2(f, times) }, result: strataTally(w)}
}

func sliceNoted(n int) side {
	t := tickedOf(n)
	return side{run: func(times int) { t.moveAndNote(3, times) }, result: t.result}
}

//go:noinline
func (t *ticked) moveAndNote(now uint32, times int) {
	for range times {
		vs, ticks := t.vs[:len(t.ps)], t.ticks[:len(t.ps)]
		for i := range t.ps {
			move2(&t.ps[i], &vs[i])
			ticks[i] = now
		}
	}
}

// A record is an entity as encoding/json writes it from slices: what a program without an ECS saves.
type record struct {
	Position position
	Velocity velocity
}

func strataWrites(s *stand, n int) side {
	w := strataOf(s, n, 2)
	return side{run: func(times int) {
		for range times {
			check(w.WriteJSON(io.Discard))
		}
	}, result: strataTally(w)}
}

func sliceWrites(n int) side {
	all := recordsOf(n)
	return side{run: func(times int) {
		for range times {
			check(json.NewEncoder(io.Discard).Encode(all))
		}
	}, result: func() tally { return tallyOfRecords(all) }}
}

func recordsOf(n int) []record {
	return filled(n, func(i int) record { return record{positionOf(i), velocityOf(i)} })
}

func tallyOfRecords(all []record) (t tally) {
	for _, r := range all {
		t.add(r.Position.X, r.Position.Y, r.Velocity.X, r.Velocity.Y)
	}
	return t
}

func strataReads(s *stand, n int) side {
	var text bytes.Buffer
	check(strataOf(s, n, 2).WriteJSON(&text))
	w := newStrata(s)
	ecs.NewMap2[position, velocity](w)
	return side{run: func(times int) {
		for range times {
			w.Reset()
			check(w.ReadJSON(bytes.NewReader(text.Bytes())))
		}
	}, result: strataTally(w)}
}

func sliceReads(n int) side {
	text := must(json.Marshal(recordsOf(n)))
	var all []record
	return side{run: func(times int) {
		for range times {
			all = nil
			check(json.NewDecoder(bytes.NewReader(text)).Decode(&all))
		}
	}, result: func() tally { return tallyOfRecords(all) }}
}
